"""`MPBoostRanker`: MPBoost's own Algorithm 1, on decision stumps (Zhu et al., CIKM 2009)."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_choice, check_number
from boostplug.data.grade_groups import GradeRuns, PairRuns
from boostplug.data.queries import Queries
from boostplug.losses import MPBoost
from boostplug.losses.base.pair_loss import runs_of
from boostplug.losses.directed_distance import Distance, LogisticDistance, distances_of_gaps
from boostplug.rankers import factorised_cuts as kernels
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.rankers.factorised_cuts import DirectedPairs, Documents, Factors
from boostplug.rankers.pairs import errors, listed, refuse_no_pairs
from boostplug.weak_rankers import Cuts
from boostplug.weak_rankers.cuts import CutCodes
from boostplug.weak_rankers.stump import first_best

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SMALLEST = 1e-10  # share of all pairs' weight: a cut that parts less is passed over
_ROUNDING = 1e-14  # share of what is summed that rounding may have left in a sum
_TIE = 1e-12  # share of the best decrease: cuts that part the pairs alike differ by less
_LONGEST = 1e150  # distances whose squares float64 holds
_SAFE_EXPONENT = 300.0  # exponents within which no sum of weights leaves float64's range
_LOG_MAX = math.log(np.finfo(np.float64).max)


@dataclass(kw_only=True, eq=False, repr=False)
class MPBoostRanker(ReferenceRanker):
    r"""MPBoost on decision stumps: GentleBoost's steps on an exponential loss of directed distances.

    Zhu, Chen, Zhu, Wang, Wang, Chen, "A general magnitude-preserving boosting algorithm for search ranking", CIKM
    2009, Algorithm 1 and its appendix. I holds the pairs (i, j) and (j, i) of different grades in one query, d is the
    directed distance of their grades, :math:`w^{(1)} = 1/|I|`. Each round

    - fits the stump :math:`f = a \cdot 1[x_k > \theta]` that minimises :math:`\sum_I w_{ij} (d_{ij} - (f_i - f_j))^2`
      (12), over all features and thresholds: :math:`a = \sum_{A_1} w d / \sum_{A_1} w` with the pairs :math:`A_1` that
      have i above the threshold and j below it, whichever grade is the higher (a may be negative);
    - updates :math:`w_{ij} \leftarrow w_{ij} e^{-d_{ij}(f_i - f_j)} / Z_t` (13).

    Theorem 1: the share of pairs in the wrong order, ties included, is at most :math:`\prod_t Z_t`.

    Parameters
    ----------
    distance : callable, default LogisticDistance(beta=0.5)
        As in `boostplug.MPBoost`: `BinaryDistance`, `LinearDistance`, `LogDistance`, `LogisticDistance`, or a function
        from a float64 array of gaps > 0 to positive float64 distances. Explicit `pairs` have the distances of their
        margins. The default is the paper's best on OHSUMED, with its parameter.
    n_estimators : int, default 100
        Rounds.
    step : {"paper", "newton"}, default "paper"
        "paper": as above; (12) is the second-order expansion of :math:`Z_t` where all :math:`|d| \approx 1` (9).
        "newton": the exact expansion, :math:`a = \sum_{A_1} w d / \sum_{A_1} w d^2`, and the cut of its largest
        decrease.
    max_thresholds : int or None, default None
        Features with more cuts keep a random subset of this size. None: all cuts, as in the paper.
    learning_rate : float, default 1.0
        What a is multiplied with; the paper has none.
    random_state : int, RandomState or None, default None
        Draws the thresholds where `max_thresholds` leaves some out.

    Attributes
    ----------
    model_ : Ensemble
    history_ : dict of ndarray of shape (n_rounds,)
        ``alpha`` (a), ``z`` (:math:`Z_t`), ``bound`` (:math:`\prod Z_t = J / |I|`), ``misordering`` (the share of pairs
        of training in the wrong order, ties included, by their initial weights). What no float64 holds is recorded as
        the largest one.
    stop_reason_ : str

    Notes
    -----
    - Z_t < 1 is guaranteed only near the expansion point, for one distance where it is at most √2: longer distances
      overstep, a later round steps back, and ``z`` shows it. `LogDistance` (3) has 1.95 for a gap of 2: on OHSUMED
      (grades 0 to 2) it oversteps in the first round, and from the sixth on adds one stump and takes it back for ever.
      Remedies: a shorter distance, as the paper's tuning of λ on validation data finds, "newton", or a learning rate
      below 1.
    - Thresholds lie midway between neighbouring values; the paper has the values themselves, which part the documents
      of training alike and others a little differently.
    - A pair weighs √(w_i w_j) of its rows. The paper has no weights.
    - Cuts that part less than 1e-10 of the weight of all pairs are passed over: what their steps could gain is beyond
      rounding. Ties go to the first feature, then to the lowest threshold.

    Cost. A round takes O(F n K) for n documents, F features and K grades per query, and memory O(F n + n K). Where a
    query has so many distinct real-valued grades that their pairs outnumber its documents (K(K - 1)/2 past 4n + 64),
    its pairs are listed block by block, in O(n) memory and O(F n²) time: with 46 features a query of 1,000 such
    documents takes .1 s a round, one of 10,000 takes 10 s; with a function as distance twice that. m explicit pairs
    take O(F m).

    Examples
    --------
    >>> X, y, qid = [[3.0, 1.0], [2.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [2, 1, 0, 0], [1, 1, 1, 1]
    >>> ranker = MPBoostRanker(n_estimators=3).fit(X, y, qid=qid)
    >>> ranker.history_["bound"].round(4)
    array([0.7705, 0.6293, 0.5352])
    """

    distance: Distance = LogisticDistance(beta=0.5)  # noqa: RUF009 (an immutable value)
    n_estimators: int = 100
    step: Literal["paper", "newton"] = "paper"
    max_thresholds: int | None = None
    learning_rate: float = 1.0
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        MPBoost(distance=self.distance)  # refuses what is no distance
        check_choice("step", self.step, ("paper", "newton"))
        check_number("learning_rate", self.learning_rate, above=0.0, most=1.0)

    def _rounds(self, training: Training) -> Rounds:
        """Run Algorithm 1; steps are numbered by its lines."""
        queries = training.queries
        refuse_no_pairs(queries)
        cuts = Cuts(training.X, self.max_thresholds, training.random)
        # 1 to 3: the pairs and their weights
        pairs = _WeighedPairs(queries, cuts, self.distance, squared=self.step == "newton")
        scores = np.zeros(queries.n_rows)
        start = log_loss = pairs.weigh(scores)
        n_misordered = pairs.misordered(scores)  # at equal scores: all
        while True:
            # 5: the stump that minimises J_wse
            chosen = pairs.best_cut()
            if chosen is None:
                return "no cut lowers the loss"
            cut, a = chosen
            a *= self.learning_rate
            # 6: the weights
            scores[cuts.above(cut)] += a
            log_loss, before = pairs.weigh(scores), log_loss
            record = {
                "alpha": a,
                "z": math.exp(min(log_loss - before, _LOG_MAX)),
                "bound": math.exp(min(log_loss - start, _LOG_MAX)),
                "misordering": pairs.misordered(scores) / n_misordered,
            }
            yield Round(((cuts.stump(cut), a),), record)


class _WeighedPairs:
    """All pairs with their weights w, and what each cut parts of them.

    The pairs of different grades are factorised where a query has few grades, and listed elsewhere, as explicit ones.
    Sums are over pairs, each once: half of the paper's, which count both directions, and relative to e^shift.
    """

    def __init__(self, queries: Queries, cuts: Cuts, distance: Distance, *, squared: bool) -> None:
        self.cuts = cuts
        self.parts: list[_Factorised | _Listed] = []
        runs = runs_of(queries)
        self._ordered = listed(queries) if isinstance(runs, PairRuns) else runs.view
        if isinstance(runs, PairRuns):
            log_weight = np.log(runs.weight) - np.log(runs.weight.max())
            pairs = DirectedPairs(runs.winner, runs.loser, distances_of_gaps(distance, runs.margin), log_weight)
            self.parts.append(_Listed(lambda: iter((pairs,)), 0.0, cuts.view, squared=squared))
        else:
            root = runs.sqrt_weight / runs.sqrt_weight.max() if len(runs.sqrt_weight) else np.ones(len(runs.rows))
            few, many = runs.few_grades, ~runs.few_grades
            if few.any():
                self.parts.append(_Factorised(runs, few, np.log(root), cuts, distance, squared=squared))
            if many.any():
                blocks = partial(_listed_in_blocks, runs, many, np.log(root), distance)
                heaviest = 2.0 * float(np.log(root[many[runs.query_of_run[runs.run_of_document]]].max()))
                self.parts.append(_Listed(blocks, heaviest, cuts.view, squared=squared))
        longest = max(part.longest for part in self.parts)
        if not 1.0 / _LONGEST < longest < _LONGEST:
            raise ValueError(
                f"MPBoostRanker: the longest {distance!r} of the grade gaps is {longest}; its square leaves float64's "
                "range; rescale the labels"
            )
        self.slope = np.zeros(queries.n_rows)  # Σ_j w_ij d_ij
        self.bins = np.empty(len(cuts) + len(cuts.start) - 1)
        self.mass, self.decrease = np.empty(len(cuts)), np.empty(len(cuts))
        self.all_mass = 0.0

    def weigh(self, scores: Floats) -> float:
        """Take the weights at these scores; return the logarithm of their sum, J/2."""
        shift = max(part.largest_exponent(scores) for part in self.parts)
        self.slope[:] = 0.0
        self.bins[:] = 0.0
        sums = [part.add(scores, shift, self.slope, self.bins) for part in self.parts]
        self.all_mass = sum(mass for _, mass in sums)
        return math.log(sum(weight for weight, _ in sums)) + shift

    def best_cut(self) -> tuple[int, float] | None:
        """Return the cut whose step lowers the loss most, and the step; None where none does."""
        if not len(self.cuts):
            return None
        slope = self.cuts.sums_above(self.slope)
        smallest = max(2.0 * _SMALLEST * self.all_mass, np.finfo(np.float64).tiny)
        mass, decrease = self.mass, self.decrease
        kernels.decreases(self.cuts.view, slope, self.bins, smallest, mass, decrease)
        best = int(np.argmax(decrease))
        if decrease[best] == 0.0:
            return None
        error = 2.0 * np.abs(self.slope).sum() / abs(slope[best]) + self.all_mass / mass[best]
        if _ROUNDING * error >= 1.0:
            return None
        best = first_best(decrease, (_TIE + _ROUNDING * error) * decrease[best])
        return best, float(slope[best] / mass[best])

    def misordered(self, scores: Floats) -> float:
        """Return the initial weight of the pairs in the wrong order, ties included, up to one factor."""
        return sum(errors(self._ordered, scores))


class _Factorised:
    """The pairs of queries of few grades, as factors of their documents."""

    def __init__(
        self,
        runs: GradeRuns,
        few: NDArray[np.bool_],
        log_root: Floats,
        cuts: Cuts,
        distance: Distance,
        *,
        squared: bool,
    ) -> None:
        self.squared = squared
        run_of = runs.run_of_document
        query_of = runs.query_of_run[run_of]
        place = np.flatnonzero(few[query_of])
        place = place[np.argsort(runs.rows[place])]  # a query's documents in file order
        self.rows = runs.rows[place]
        n_grades, sizes = runs.n_grades[few], runs.n_documents[few]
        grade = _grade_of_run(runs)[run_of]
        cell_start = np.r_[0, np.cumsum(n_grades**2)]
        self.documents = Documents(
            start=np.r_[0, np.cumsum(sizes)],
            cell_start=cell_start,
            factor_start=np.r_[0, np.cumsum(sizes * n_grades)],
            query=np.repeat(np.arange(len(sizes)), sizes),
            grade=grade[place].astype(np.int32),
            log_root=log_root[place],
            distance=_distances_of_cells(runs, few, cell_start, distance),
        )
        self.longest = float(self.documents.distance.max())
        self.factors = Factors(
            np.empty(cell_start[-1]), np.empty(cell_start[-1]), np.empty(self.documents.factor_start[-1])
        )
        everywhere = len(self.rows) == cuts.codes.shape[1]
        codes = cuts.codes if everywhere else np.ascontiguousarray(cuts.codes[:, self.rows])
        self.cuts = CutCodes(codes, cuts.start)
        self.order = kernels.order_in_queries(self.documents, self.cuts)

    def largest_exponent(self, scores: Floats) -> float:
        """Return the largest log w."""
        return kernels.largest_factors(self.documents, scores[self.rows], self.factors)

    def add(self, scores: Floats, shift: float, slope: Floats, bins: Floats) -> tuple[float, float]:
        """Add to slope and bins; return the sums of the weights and of what the bins count."""
        slopes, weight, mass = kernels.factorise(
            self.documents, scores[self.rows], shift, self.factors, squared=self.squared
        )
        slope[self.rows] += slopes
        kernels.add_swept(self.documents, self.factors, self.cuts, self.order, bins)
        return weight, mass


class _Listed:
    """Pairs that are listed, block by block.

    Parameters
    ----------
    blocks : callable
        Yields all pairs, each once.
    heaviest : float
        No logarithm of an initial weight is larger, none far from it where all distances are short.
    """

    def __init__(
        self, blocks: Callable[[], Iterator[DirectedPairs]], heaviest: float, cuts: CutCodes, *, squared: bool
    ) -> None:
        self.blocks, self.heaviest, self.cuts, self.squared = blocks, heaviest, cuts, squared
        self.longest = max(float(pairs.distance.max()) for pairs in blocks())

    def largest_exponent(self, scores: Floats) -> float:
        """Return the largest log w; or any that will do, where none is far from it."""
        if self.longest * np.ptp(scores) <= _SAFE_EXPONENT:
            return self.heaviest
        exponents = (p.log_weight - p.distance * (scores[p.winner] - scores[p.loser]) for p in self.blocks())
        return max(float(exponent.max()) for exponent in exponents)

    def add(self, scores: Floats, shift: float, slope: Floats, bins: Floats) -> tuple[float, float]:
        """Add to slope and bins; return the sums of the weights and of what the bins count."""
        weight = mass = 0.0
        for pairs in self.blocks():
            counted = np.empty(len(pairs.winner))
            weight += kernels.weigh_listed(pairs, scores, shift, self.squared, counted, slope)
            mass += float(counted.sum())
            kernels.add_listed(pairs, counted, self.cuts, bins)
        return weight, mass


def _listed_in_blocks(
    runs: GradeRuns, chosen: NDArray[np.bool_], log_root: Floats, distance: Distance
) -> Iterator[DirectedPairs]:
    """Yield the pairs of the chosen queries, listed anew each time: O(n) memory."""
    grade = np.repeat(runs.run_grade, np.diff(runs.run_start))
    for higher, lower in runs.pairs(chosen):
        distances = _distances_between(distance, grade[higher], grade[lower])
        yield DirectedPairs(runs.rows[higher], runs.rows[lower], distances, log_root[higher] + log_root[lower])


def _distances_of_cells(runs: GradeRuns, chosen: NDArray[np.bool_], cell_start: Ints, distance: Distance) -> Floats:
    """Return the directed distance from b to a for all grades a, b of each chosen query, of shape (Σ K²,)."""
    directed = np.zeros(cell_start[-1])
    first_cell = np.zeros(len(chosen), np.int64)
    first_cell[chosen] = cell_start[:-1]
    grade = _grade_of_run(runs)
    for higher, lower in runs.cells(chosen):
        query = runs.query_of_run[higher]
        a, b, n_grades = grade[higher], grade[lower], runs.n_grades[query]
        distances = _distances_between(distance, runs.run_grade[higher], runs.run_grade[lower])
        directed[first_cell[query] + a * n_grades + b] = distances
        directed[first_cell[query] + b * n_grades + a] = -distances
    return directed


def _distances_between(distance: Distance, higher: Floats, lower: Floats) -> Floats:
    with np.errstate(over="ignore"):  # refused as too long
        return distances_of_gaps(distance, higher - lower)


def _grade_of_run(runs: GradeRuns) -> Ints:
    """Return the place of each run's grade among those of its query, from 0 up."""
    return np.arange(len(runs.run_grade)) - runs.query_run[runs.query_of_run]
