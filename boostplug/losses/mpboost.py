"""MPBoost: an exponential loss on all pairs that keeps the magnitude of preferences (Zhu et al., CIKM 2009)."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core import buffers
from boostplug.core.checks import frozen, shown
from boostplug.data.grade_groups import GradeRuns, PairRuns
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.exponential_loss import by_grade as kernels
from boostplug.kernels.pairs.exponential_loss import grade_boxes
from boostplug.kernels.pairs.exponential_loss.by_grade import Table
from boostplug.kernels.pairs.exponential_loss.one_query import Curvature, Sums
from boostplug.losses.base.loss import LARGEST_VALUE
from boostplug.losses.base.pair_loss import Normalization, PairLoss, runs_of
from boostplug.losses.base.position_bias import PairCurve
from boostplug.losses.base.relative import ScaledDerivatives, zero_underflowed
from boostplug.losses.directed_distance import (
    BinaryDistance,
    DirectedDistance,
    Distance,
    LinearDistance,
    LogDistance,
    distances_of_gaps,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LONGEST = 1e150  # distance: its square is finite
_SMALLEST = 1e-280  # sum of squares: its inverse, times a number of documents, is finite
_TABULATED = 8_000_000  # distances of a user's function in one table, 64 MB
_FACTORISED = 1500  # grades at most; past it boxes of them take less time, as measured on a million documents
_CURVATURE: dict[str, Curvature] = {
    "newton": Curvature(squared=1.0, constant=0.0),
    "gentle": Curvature(squared=0.0, constant=1.0),
    "bound": Curvature(squared=2.0, constant=0.0),
}


@dataclass(frozen=True, kw_only=True)
class MPBoost(PairLoss):
    r"""Exponential loss on directed distances between grades, over all pairs of a query.

    A pair counts more, the further its grades are apart and the more wrongly it is ranked. Take it for real-valued or
    negative labels, whose gaps have a meaning.

    .. math:: J_q(F) = c_q \sum_{r_i > r_j} \sqrt{v_i v_j}\; w_{ij}, \qquad w_{ij} = e^{-d(r_i - r_j)\,(F_i - F_j)}

    with v the row weights and :math:`c_q` of `normalization`. This is Eq. 10 of Zhu et al. (2009), which has
    :math:`c_q = 1` ("none"). The paper counts each pair in both directions, so its J is twice ours. With explicit
    `Pairs`, the sum runs over these: d is the distance of a pair's margin, and :math:`\sqrt{v_i v_j}` is times the
    pair's own weight.

    Parameters
    ----------
    distance : callable, default LogDistance(lam=3.0)
        The paper's directed distance of a grade gap: `BinaryDistance`, `LinearDistance`, `LogDistance` or
        `LogisticDistance`. Or any function from a float64 array of gaps > 0 to a float64 array of distances. These must
        be positive (the paper's condition 3), else they are refused. They should grow with the gap (condition 4), else
        a warning says so. The function sees gaps rounded to 12 significant digits, so that .3 - .2 and .2 - .1 are one
        gap. Define it at the top of a module if the loss is to be pickled.
    hessian : {"newton", "gentle", "bound"}
        "newton": :math:`h_i = \sum_j d^2 w`, the true second derivative (kind "exact"). "gentle":
        :math:`h_i = \sum_j w`, the paper's GentleBoost step, which takes :math:`|d| ≈ 1` (kind "model"). "bound":
        :math:`h_i = 2 \sum_j d^2 w`, a bound of the full Hessian at the current scores (kind "bound"). There is no
        "global": no quadratic lies above an exponential everywhere.
    normalization : {"rows", "none", "query"}
        What the pairs of a query weigh together: see `Loss`. "none" is the paper's sum.

    Notes
    -----
    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q c_q W_q` over the queries that hold a pair.
    :math:`n_q` is the number of documents, :math:`W_q` the sum over the pairs of their weight times :math:`d^2` (for
    "gentle": of their weight). At equal scores a document's "newton" Hessian is then 2 on average, whatever the lengths
    of the lists and the units of grades and weights.

    Scores far in the wrong order (log w past 69) would not fit the frameworks' float32. Then all rows of the call are
    multiplied by one factor, which leaves every Newton step :math:`-\sum g / \sum h` as it is.

    Cost: O(nK) for a query of n documents and K grades, all pairs exactly. With many real-valued grades (K(K - 1)/2
    past 4n + 64, or K past 1,500) it is O(n log n) time and O(n) memory, one thread a query. Distances are then
    interpolated between boxes of grades, to 1e-10 of each pair's term. 10,000 documents take some 5 to 15 ms, a million
    1 to 2 s. It takes longer where exponents differ by hundreds, at worst as long as all pairs. `BinaryDistance` takes
    O(n) for any grades.

    A function of your own is called once for all gaps. Up to 8 million distances are kept; past that, it is called
    again each time (150 ms for 1,000 documents). More than 8 million gaps in one query (4,000 grades) are refused.

    References
    ----------
    Zhu, Chen, Zhu, Wang, Wang, Chen. A general magnitude-preserving boosting algorithm for search ranking. CIKM 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import BinaryDistance, MPBoost, Queries
    >>> loss = MPBoost(distance=BinaryDistance())
    >>> queries = Queries([2, 1, 0], group=[3])
    >>> loss.value(np.zeros(3), queries)
    array([3.])
    >>> gradient, hessian = loss.gradient_hessian(np.zeros(3), queries)
    >>> gradient
    array([-2.,  0.,  2.])
    >>> hessian
    array([2., 2., 2.])
    """

    distance: Distance = LogDistance(lam=3.0)  # noqa: RUF009 (an immutable value)
    hessian: Literal["newton", "gentle", "bound"] = "newton"
    normalization: Normalization = "rows"

    takes_pairs = True  # a pair's gap is its margin
    hessian_kinds: ClassVar = {"newton": "exact", "gentle": "model", "bound": "bound"}

    def __post_init__(self) -> None:
        if isinstance(self.distance, type) or not callable(self.distance):
            raise ValueError(
                f"MPBoost: distance must be a distance such as LogDistance(lam=3.0), or a function of gaps; "
                f"got {shown(self.distance)}"
            )
        try:
            hash(self.distance)
        except TypeError:
            raise ValueError(
                f"MPBoost: distance must be hashable, since losses are values; got {shown(self.distance)}; pass a "
                "function, or a frozen dataclass with __call__"
            ) from None
        super().__post_init__()

    @property
    def degree_in_labels(self) -> int | None:
        """0 for `BinaryDistance`, -1 for `LinearDistance` (but for "gentle", which takes d for 1), none for others."""
        if isinstance(self.distance, BinaryDistance):
            return 0
        return -1 if isinstance(self.distance, LinearDistance) and self.hessian != "gentle" else None

    @property
    def pair_curve(self) -> PairCurve:
        """The exponential, by the difference times the distance of a gap of 1."""
        rate = float(distances_of_gaps(self.distance, np.ones(1))[0])
        return PairCurve(rate, lambda d: np.exp(-d), lambda d: -np.exp(-d), lambda d: np.exp(-d))

    def weight_of_pairs(self, queries: Queries) -> Floats | None:
        """Return the weighted sum of d² over each query's pairs; None for "gentle", whose Hessian has no d²."""
        runs = runs_of(queries)
        if self.hessian == "gentle" or not len(runs.query):
            return None
        return (
            self._pair_squares(queries, runs) if isinstance(runs, PairRuns) else self._distances(queries, runs).squares
        )

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ_q n_q and Σ_q c_q W_q (see Notes)."""
        with np.errstate(over="ignore"):  # refused below
            documents, weight = super().scale_terms(queries)
        runs, total = runs_of(queries), float(weight[0])
        if len(runs.query) and not (min(total, total / runs.unit) > _SMALLEST and total < math.inf):
            raise ValueError(
                f"MPBoost: {self.distance!r} of the grade gaps is so {'large' if total > 1 else 'small'} that its "
                "square leaves float64's range; rescale the labels"
            )
        return documents, weight

    def _distances(self, queries: Queries, runs: GradeRuns) -> "_PairDistances":
        return queries.remember((MPBoost, self.distance), lambda: _PairDistances(runs.unweighted(), self.distance))

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        runs = runs_of(queries)
        out = np.zeros(queries.n_queries)
        if isinstance(runs, PairRuns):
            exponent = -self._pair_distances(queries, runs) * (scores[runs.winner] - scores[runs.loser])
            with np.errstate(over="ignore"):  # cut below
                terms = runs.weight * np.exp(np.minimum(exponent, math.log(LARGEST_VALUE)))
                out[runs.query] = self.factors(queries) * runs.sums(terms)
            return np.minimum(out, LARGEST_VALUE)
        if len(runs.query):
            distances = self._distances(queries, runs)
            of_rows = distances.sums(runs, scores, self.factors(queries), Curvature(squared=0.0, constant=1.0))
            with np.errstate(divide="ignore"):
                pairs_twice = np.add.reduceat(of_rows.hessian[runs.rows], runs.query_start[:-1])
                log_value = np.log(0.5 * pairs_twice) + of_rows.shift
            out[runs.query] = np.exp(np.minimum(log_value, math.log(LARGEST_VALUE)))
        return out

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> ScaledDerivatives:
        """Return `scale` times the gradient of J and the Hessian of `hessian`, each query over its own e^shift."""
        runs = runs_of(queries)
        if not len(runs.query):
            return ScaledDerivatives(*np.zeros((2, queries.n_rows)), *np.zeros((2, queries.n_queries)))
        factor = self.factors(queries) * scale
        if isinstance(runs, PairRuns):
            sums = kernels.sum_listed(
                scores, runs.view, self._pair_distances(queries, runs), _CURVATURE[self.hessian], factor
            )
            zero_underflowed(sums.gradient, sums.hessian, queries)
            # One shift for all, since a pair may cross queries.
            shift, top = (np.full(queries.n_queries, value[0]) for value in (sums.shift, sums.top))
        else:
            sums = self._distances(queries, runs).sums(runs, scores, factor, _CURVATURE[self.hessian])
            shift, top = np.zeros((2, queries.n_queries))
            shift[runs.query], top[runs.query] = sums.shift, sums.top
        return ScaledDerivatives(sums.gradient, sums.hessian, shift, top)

    def _pair_distances(self, queries: Queries, runs: PairRuns) -> Floats:
        """Return the distance of each explicit pair's margin."""

        def build() -> Floats:
            distances = distances_of_gaps(self.distance, runs.margin)
            _refuse_long(self.distance, distances, "a pair's margin")
            return distances

        return queries.remember((MPBoost, self.distance, "pairs"), build)

    def _pair_squares(self, queries: Queries, runs: PairRuns) -> Floats:
        """Return the weighted sum of d² over each query's explicit pairs."""

        def build() -> Floats:
            with np.errstate(over="ignore"):  # refused as soon as it is summed
                return runs.sums(runs.weight * self._pair_distances(queries, runs) ** 2)

        return queries.remember((MPBoost, self.distance, "squares of pairs"), build)


class _PairDistances:
    """Values that depend only on grades and distance: how each query's pairs are summed, and the distances.

    The tables of a function's distances for many grades are kept up to `_TABULATED` in all; those of the queries past
    it are built anew, part by part, at each call: any number of queries works in bounded memory.

    Attributes
    ----------
    squares : ndarray of shape (n_paired_queries,)
        Sum of d² over each query's pairs, times their weights over the unit of `runs`.
    """

    def __init__(self, runs: GradeRuns, distance: Distance) -> None:
        self.runs = runs
        self.distance = distance
        self.how = np.full(len(runs.query), kernels.FACTORISED)
        n_parted = np.zeros(len(runs.query), np.int64)  # distances that bound a part
        if isinstance(distance, BinaryDistance):
            self.how[:] = kernels.RUNNING
        elif isinstance(distance, DirectedDistance):
            self.how[~runs.few_grades | (runs.n_grades > _FACTORISED)] = kernels.BOXES
        else:
            n_parted[~runs.few_grades] = runs.n_cells[~runs.few_grades]
            _refuse_too_many(runs, n_parted, distance)
        with np.errstate(over="ignore"):
            self.widest = runs.run_grade[runs.query_run[1:] - 1] - runs.run_grade[runs.query_run[:-1]]
        if not np.isfinite(self.widest).all():
            raise ValueError("MPBoost: a query's grades are further apart than float64 can say; rescale the labels")
        self.by_boxes = self.how == kernels.BOXES
        self.all_by_boxes = bool(self.by_boxes.all())
        self.cost = kernels.costs(runs.view, self.how)
        edges = [0]
        while edges[-1] < len(self.how):
            total = np.cumsum(n_parted[edges[-1] :])
            edges.append(edges[-1] + max(1, int(np.searchsorted(total, _TABULATED, "right"))))
        self.parts = [slice(*edge) for edge in pairwise(edges)]
        self.kept = self._build(self.parts[0])
        self.squares = self._squares()

    def _table(self, part: slice) -> Table:
        return self._build(part) if part.start else self.kept

    def _build(self, part: slice) -> Table:
        """Return the distances of some queries."""
        runs, how = self.runs, self.how[part]
        chosen = np.zeros(len(self.how), bool)
        chosen[part] = how == kernels.FACTORISED
        gaps = [runs.run_grade[cells.higher] - runs.run_grade[cells.lower] for cells in runs.cells(chosen)]
        values = distances_of_gaps(self.distance, np.concatenate([np.zeros(0), *gaps]))
        start = np.r_[0, np.cumsum(np.where(chosen, runs.n_cells, 0)[part])]
        kind, parameter = -1, math.nan
        if isinstance(self.distance, DirectedDistance):
            kind, parameter = self.distance.kind, self.distance.parameter
            longest = distances_of_gaps(self.distance, self.widest[part])
        else:
            longest = np.maximum.reduceat(values, start[:-1])
        _refuse_long(self.distance, longest, "the largest grade gap")
        return Table(how, longest, start, values, kind, parameter)

    def _squares(self) -> Floats:
        """Return `squares`: at equal scores each pair's is twice in the Hessians."""
        runs = self.runs
        if not len(runs.query):
            return np.zeros(0)
        scores = frozen(np.zeros(int(runs.rows.max()) + 1))  # as a call's are: others would be compiled for anew
        of_rows = self.sums(runs, scores, np.ones(len(runs.query)), _CURVATURE["newton"])
        with np.errstate(over="ignore"):  # refused in `MPBoost.scale_terms`
            twice: Floats = np.add.reduceat(of_rows.hessian[runs.rows], runs.query_start[:-1]) * np.exp(of_rows.shift)
        return 0.5 * twice

    def sums(self, runs: GradeRuns, scores: Floats, factor: Floats, curvature: Curvature) -> Sums:
        """Return the derivatives of all rows, each query's times its factor; `runs` may weigh pairs otherwise."""
        n_rows, n_queries = len(scores), len(self.how)
        out = Sums(*buffers.zeros(2, n_rows), *np.zeros((2, n_queries)))
        if len(self.parts) == 1 and not self.all_by_boxes:  # a tiny call would notice the slices below
            kernels.sum_over_pairs(scores, runs.view, self.kept, self.cost, curvature, factor, out)
        elif not self.all_by_boxes:
            for part in self.parts:
                view = runs.view._replace(query_run=runs.query_run[part.start : part.stop + 1])
                kernels.sum_over_pairs(
                    scores, view, self._table(part), self.cost[part.start : part.stop + 1], curvature,
                    factor[part], out._replace(shift=out.shift[part], top=out.top[part]),
                )  # fmt: skip
        if self.by_boxes.any():
            kept = self.kept
            distances = grade_boxes.Distances(self.by_boxes, kept.longest, kept.kind, kept.parameter)
            grade_boxes.sum_by_boxes(scores, runs.view, distances, curvature, factor, out)
        return out


def _refuse_long(distance: Distance, distances: Floats, of_what: str) -> None:
    """Raise where a distance's square is too large for float64."""
    if not (distances <= _LONGEST).all():
        raise ValueError(
            f"MPBoost: {distance!r} of {of_what} is {distances.max():.3g}, so large that its square leaves float64's "
            "range; rescale the labels"
        )


def _refuse_too_many(runs: GradeRuns, n_gaps: Ints, distance: Distance) -> None:
    """Raise where a query has more gaps than a function is called for."""
    if (n_gaps > _TABULATED).any():
        q = int(np.argmax(n_gaps))
        raise ValueError(
            f"MPBoost: distance {distance!r} would be called for {n_gaps[q]:,} gaps between the {runs.n_grades[q]:,} "
            f"grades of query {runs.query[q]}, more than {_TABULATED:,}; take a built-in distance such as "
            "LogDistance(lam=3.0), or fewer distinct grades (np.round(labels, 2))"
        )
