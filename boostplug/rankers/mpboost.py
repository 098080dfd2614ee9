"""`MPBoostRanker`: MPBoost's own Algorithm 1, on decision stumps (Zhu et al., CIKM 2009)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import check_choice
from boostplug.kernels import factorised_cuts as kernels
from boostplug.losses import MPBoost
from boostplug.losses.directed_distance import DirectedDistance, Distance, LogisticDistance
from boostplug.losses.mpboost import distances_of_gaps
from boostplug.losses.normalization import runs_of
from boostplug.queries import Queries
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training, check_learning_rate, refuse_no_pairs
from boostplug.runs import GradeRuns, PairRuns
from boostplug.threads import run_over_queries
from boostplug.weak_rankers import Cuts
from boostplug.weak_rankers.stump import first_best

__all__ = ["MPBoostRanker"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SMALLEST = 1e-10  # share of all pairs' weight: a cut that parts less is passed over
_ROUNDING = 1e-14  # share of what is summed that rounding may have left in a sum
_TIE = 1e-12  # share of the best decrease: cuts that part the pairs alike differ by less
_LONGEST = 1e150  # distances whose squares float64 holds
_BLOCK = 1 << 18  # pairs that are listed at a time
_SAFE_EXPONENT = 300.0  # exponents within which no sum of weights leaves float64's range
_LOG_MAX = math.log(np.finfo(np.float64).max)


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

    def __init__(
        self,
        *,
        distance: Distance = LogisticDistance(beta=0.5),  # noqa: B008 (an immutable value)
        n_estimators: int = 100,
        step: Literal["paper", "newton"] = "paper",
        max_thresholds: int | None = None,
        learning_rate: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.distance = distance
        self.n_estimators = n_estimators
        self.step = step
        self.max_thresholds = max_thresholds
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        MPBoost(distance=self.distance)  # refuses what is no distance
        check_choice("step", self.step, ("paper", "newton"))
        check_learning_rate(self.learning_rate)

    def _rounds(self, training: Training) -> Rounds:
        """Run Algorithm 1; steps are numbered by its lines."""
        queries = training.queries
        refuse_no_pairs(len(runs_of(queries).query), explicit=queries.pairs is not None)
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
        if isinstance(runs, PairRuns):
            self.parts.append(_ListedPairs(runs, cuts, distance, squared=squared))
        else:
            n_grades = np.diff(runs.query_run)
            few = n_grades * (n_grades - 1) // 2 <= 4 * np.diff(runs.run_start[runs.query_run]) + 64
            for kind, which in ((_Factorised, few), (_ListedGrades, ~few)):
                if which.any():
                    self.parts.append(kind(_Documents(runs, which), cuts, distance, squared=squared))
        longest = max(part.longest for part in self.parts)
        if not 1.0 / _LONGEST < longest < _LONGEST:
            raise ValueError(
                f"MPBoostRanker: the longest {distance!r} of the grade gaps is {longest}; its square leaves float64's "
                "range; rescale the labels"
            )
        self.slope = np.zeros(queries.n_rows)  # Σ_j w_ij d_ij
        self.bins = np.empty(len(cuts) + len(cuts.start) - 1)
        self.mass = np.empty(len(cuts))
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
        decrease = np.empty(len(self.cuts))
        smallest = max(2.0 * _SMALLEST * self.all_mass, np.finfo(np.float64).tiny)
        _over_features(
            lambda a, b: kernels.decreases(slope, self.bins, smallest, self.cuts.start, a, b, self.mass, decrease),
            self.cuts,
            self.cuts.codes.shape[1],
        )
        best = int(np.argmax(decrease))
        if decrease[best] == 0.0:
            return None
        error = 2.0 * np.abs(self.slope).sum() / abs(slope[best]) + self.all_mass / self.mass[best]
        if _ROUNDING * error >= 1.0:
            return None
        best = first_best(decrease, (_TIE + _ROUNDING * error) * decrease[best])
        return best, float(slope[best] / self.mass[best])

    def misordered(self, scores: Floats) -> float:
        """Return the initial weight of the pairs in the wrong order, ties included."""
        return sum(part.misordered(scores) for part in self.parts)


class _Documents:
    """The documents of some queries in file order, with their places among the grades.

    Attributes
    ----------
    rows, grade : ndarray of shape (n_docs,)
        Row of X, and place of its grade among those of its query.
    label : ndarray of shape (n_docs,)
    query : ndarray of shape (n_docs,)
    start : ndarray of shape (n_queries + 1,)
    n_grades : ndarray of shape (n_queries,)
    root : ndarray of shape (n_docs,)
        Square root of the weight, the largest of all documents being 1.
    """

    def __init__(self, runs: GradeRuns, which: NDArray[np.bool_]) -> None:
        self.n_grades = np.diff(runs.query_run)[which]
        run_sizes = np.diff(runs.run_start)
        chosen_runs = np.repeat(which, np.diff(runs.query_run))
        chosen = np.repeat(chosen_runs, run_sizes)
        by_file = np.argsort(runs.rows[chosen])
        self.rows = runs.rows[chosen][by_file]
        sizes = np.diff(runs.run_start[runs.query_run])[which]
        self.start = np.r_[0, np.cumsum(sizes)]
        self.query = np.repeat(np.arange(len(sizes)), sizes)
        grade = np.arange(len(run_sizes)) - np.repeat(runs.query_run[:-1], np.diff(runs.query_run))
        self.grade = np.repeat(grade, run_sizes)[chosen][by_file].astype(np.int32)
        self.label = np.repeat(runs.run_grade, run_sizes)[chosen][by_file]
        root = np.ones(len(runs.rows)) if not len(runs.sqrt_weight) else runs.sqrt_weight / runs.sqrt_weight.max()
        self.root = root[chosen][by_file]

    def misordered(self, scores: Floats) -> float:
        """Return the initial weight of the pairs in the wrong order, ties included."""
        scores_of, out = scores[self.rows], np.empty(len(self.n_grades))
        run_over_queries(
            lambda a, b: kernels.misordered(scores_of, self.root, self.start, self.grade, a, b, out), self.start
        )
        return float(out.sum())


class _Factorised:
    """The pairs of queries of few grades, as factors of their documents."""

    def __init__(self, documents: _Documents, cuts: Cuts, distance: Distance, *, squared: bool) -> None:
        self.documents = documents
        self.cuts = cuts
        self.squared = squared
        self.log_root = np.log(documents.root)
        self.cell_start = np.r_[0, np.cumsum(documents.n_grades**2)]
        self.distance = _distances_of_cells(documents, self.cell_start, distance)
        self.longest = float(self.distance.max())
        sizes = np.diff(documents.start)
        self.factor_start = np.r_[0, np.cumsum(sizes * documents.n_grades)]
        self.factor = np.empty(self.factor_start[-1])
        self.top, self.total = np.empty(self.cell_start[-1]), np.empty(self.cell_start[-1])
        everywhere = len(documents.rows) == cuts.codes.shape[1]
        self.codes = cuts.codes if everywhere else np.ascontiguousarray(cuts.codes[:, documents.rows])
        self.order = np.empty(self.codes.shape, np.uint16 if sizes.max() <= 2**16 else np.uint32)
        _over_features(
            lambda a, b: kernels.order_in_queries(
                self.codes, cuts.start, documents.query, documents.start, a, b, self.order
            ),
            cuts,
            len(documents.rows),
        )

    def largest_exponent(self, scores: Floats) -> float:
        """Return the largest log w."""
        d = self.documents
        scores, largest = scores[d.rows], np.empty(len(d.n_grades))
        run_over_queries(
            lambda a, b: kernels.largest_factors(
                scores, self.log_root, d.start, d.grade, self.cell_start, self.distance, a, b, self.top, largest
            ),
            self.factor_start,
        )
        return float(largest.max())

    def add(self, scores: Floats, shift: float, slope: Floats, bins: Floats) -> tuple[float, float]:
        """Add to slope and bins; return the sums of the weights and of what the bins count."""
        d = self.documents
        scores = scores[d.rows]
        slope_of, weight, mass = np.empty(len(d.rows)), np.empty(len(d.n_grades)), np.empty(len(d.n_grades))
        run_over_queries(
            lambda a, b: kernels.factorise(
                scores, self.log_root, d.start, d.grade, self.cell_start, self.distance, self.factor_start, self.top,
                shift, self.squared, a, b, self.factor, self.total, slope_of, weight, mass,
            ),
            self.factor_start,
        )  # fmt: skip
        slope[d.rows] += slope_of
        _over_features(
            lambda a, b: kernels.add_swept(
                self.codes, self.order, d.start, d.grade, self.cell_start, self.factor_start, self.factor, self.total,
                self.cuts.start, a, b, bins,
            ),
            self.cuts,
            len(self.factor),
        )  # fmt: skip
        return float(weight.sum()), float(mass.sum())

    def misordered(self, scores: Floats) -> float:
        """Return the initial weight of the pairs in the wrong order, ties included."""
        return self.documents.misordered(scores)


@dataclass(frozen=True)
class _Pairs:
    """Listed pairs, arrays of shape (n_pairs,): rows, distance, and the logarithm of their initial weight."""

    winner: Ints
    loser: Ints
    distance: Floats
    log_weight: Floats


class _Listed(ABC):
    """Pairs that are listed, block by block.

    Attributes
    ----------
    longest, heaviest : float
        Largest distance and largest logarithm of an initial weight.
    """

    longest: float
    heaviest: float

    def __init__(self, cuts: Cuts, *, squared: bool) -> None:
        self.cuts = cuts
        self.squared = squared

    @abstractmethod
    def _blocks(self) -> Iterator[_Pairs]:
        """Yield all pairs, each once."""

    @abstractmethod
    def misordered(self, scores: Floats) -> float:
        """Return the initial weight of the pairs in the wrong order, ties included."""

    def largest_exponent(self, scores: Floats) -> float:
        """Return the largest log w; or any that will do, where none is far from it."""
        if self.longest * np.ptp(scores) <= _SAFE_EXPONENT:
            return self.heaviest
        exponents = (p.log_weight - p.distance * (scores[p.winner] - scores[p.loser]) for p in self._blocks())
        return max(float(exponent.max()) for exponent in exponents)

    def add(self, scores: Floats, shift: float, slope: Floats, bins: Floats) -> tuple[float, float]:
        """Add to slope and bins; return the sums of the weights and of what the bins count."""
        weight = mass = 0.0
        for pairs in self._blocks():
            counted = np.empty(len(pairs.winner))
            weight += kernels.weigh_listed(
                scores, pairs.winner, pairs.loser, pairs.distance, pairs.log_weight, shift, self.squared, counted, slope
            )
            mass += float(counted.sum())
            self._add_to_bins(pairs, counted, bins)
        return weight, mass

    def _add_to_bins(self, pairs: _Pairs, counted: Floats, bins: Floats) -> None:
        _over_features(
            lambda a, b: kernels.add_listed(
                self.cuts.codes, pairs.winner, pairs.loser, counted, self.cuts.start, a, b, bins
            ),
            self.cuts,
            len(counted),
        )


class _ListedPairs(_Listed):
    """Explicit pairs."""

    def __init__(self, runs: PairRuns, cuts: Cuts, distance: Distance, *, squared: bool) -> None:
        super().__init__(cuts, squared=squared)
        heaviest = runs.weight.max()
        self.weight = runs.weight / heaviest
        log_weight = np.log(runs.weight) - np.log(heaviest)
        self.pairs = _Pairs(runs.winner, runs.loser, _distances_of(distance, runs.margin), log_weight)
        self.longest, self.heaviest = float(self.pairs.distance.max()), 0.0

    def _blocks(self) -> Iterator[_Pairs]:
        yield self.pairs

    def misordered(self, scores: Floats) -> float:
        return float(self.weight[scores[self.pairs.winner] <= scores[self.pairs.loser]].sum())


class _ListedGrades(_Listed):
    """The pairs of queries of many grades, listed anew each time: O(n) memory."""

    def __init__(self, documents: _Documents, cuts: Cuts, distance: Distance, *, squared: bool) -> None:
        super().__init__(cuts, squared=squared)
        self.documents = documents
        self.distance = distance
        self.by_grade = np.lexsort((documents.label, documents.query))
        label, query = documents.label[self.by_grade], documents.query[self.by_grade]
        # A document is paired with those of its query before the first one of its own grade.
        starts = np.r_[True, (query[1:] != query[:-1]) | (label[1:] != label[:-1])]
        self.n_lower = np.flatnonzero(starts)[np.cumsum(starts) - 1] - documents.start[query]
        self.longest = max(float(pairs.distance.max()) for pairs in self._blocks())
        self.heaviest = 2.0 * float(np.log(documents.root.max()))

    def _blocks(self) -> Iterator[_Pairs]:
        d = self.documents
        rows, label, log_root = (values[self.by_grade] for values in (d.rows, d.label, np.log(d.root)))
        first = d.start[d.query]
        ends = np.cumsum(self.n_lower)
        edges = np.searchsorted(ends, np.arange(0, ends[-1], _BLOCK))
        for low, high in pairwise(np.unique(np.r_[edges, len(rows)]).tolist()):
            n_lower = self.n_lower[low:high]
            higher = np.repeat(np.arange(low, high), n_lower)
            lower = np.arange(len(higher)) - np.repeat(np.cumsum(n_lower) - n_lower, n_lower) + first[higher]
            if len(higher):
                with np.errstate(over="ignore"):  # refused as too long
                    gaps = label[higher] - label[lower]
                yield _Pairs(
                    rows[higher], rows[lower], _distances_of(self.distance, gaps), log_root[higher] + log_root[lower]
                )

    def misordered(self, scores: Floats) -> float:
        return self.documents.misordered(scores)


def _distances_of_cells(documents: _Documents, cell_start: Ints, distance: Distance) -> Floats:
    """Return the directed distance from b to a for all grades a, b of each query, of shape (Σ K²,)."""
    labels = np.empty(documents.n_grades.sum())
    first = np.cumsum(documents.n_grades) - documents.n_grades
    labels[first[documents.query] + documents.grade] = documents.label
    gaps = np.empty(cell_start[-1])
    for k in np.unique(documents.n_grades):  # all queries with k grades at once
        of = np.flatnonzero(documents.n_grades == k)
        grades = labels[first[of][:, None] + np.arange(k)]
        place = cell_start[of][:, None] + np.arange(k * k)
        with np.errstate(over="ignore"):  # refused as too long
            gaps[place] = (grades[:, :, None] - grades[:, None, :]).reshape(len(of), -1)
    directed = np.zeros(len(gaps))
    apart = gaps != 0.0
    directed[apart] = np.copysign(_distances_of(distance, np.abs(gaps[apart])), gaps[apart])
    return directed


def _distances_of(distance: Distance, gaps: Floats) -> Floats:
    """Return the distances of gaps > 0; a user's function is checked."""
    return distance(gaps) if isinstance(distance, DirectedDistance) else distances_of_gaps(distance, gaps)


def _over_features(kernel: Callable[[int, int], None], cuts: Cuts, work: int) -> None:
    """Call ``kernel(first, last)`` on ranges of features, each of which takes about `work` steps."""
    run_over_queries(kernel, np.arange(len(cuts.start)) * work)
