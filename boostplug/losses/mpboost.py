"""MPBoost: an exponential loss on all pairs that keeps the magnitude of preferences (Zhu et al., CIKM 2009)."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_function, frozen
from boostplug.core.threads import run_over_queries
from boostplug.data.grade_groups import GradeGroups, ListedPairs, pairs_of_grades
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.exponential import (
    BY_PAIR_UP_TO,
    LARGEST_EXPONENT,
    STORED,
    Curvature,
    Distances,
    sum_exponentials,
)
from boostplug.losses.base.loss import LARGEST_VALUE
from boostplug.losses.base.pair_loss import Normalization, PairFunction, PairLoss, pairs_to_learn
from boostplug.losses.base.traits import HessianKind, Traits
from boostplug.losses.directed_distance import (
    DirectedDistance,
    Distance,
    LogDistance,
    distances_of_gaps,
)

_LONGEST = 1e90  # distance, and one over it: sums of squares times weights, and their inverses, stay finite
_LEVELS = 256  # of the labels of a long list
_CURVATURE: dict[str, Curvature] = {
    "newton": Curvature(squared=1.0, constant=0.0),
    "gentle": Curvature(squared=0.0, constant=1.0),
    "bound": Curvature(squared=2.0, constant=0.0),
}
_OF_VALUE = Curvature(squared=0.0, constant=1.0, beyond=1.0)  # half the sum of its Hessians is the value


@dataclass(frozen=True, kw_only=True)
class MPBoost(PairLoss):
    r"""Exponential loss on directed distances between grades, over all pairs of a query.

    A pair counts more, the further its grades are apart and the more wrongly it is ranked. Take it for real-valued or
    negative labels, whose gaps have a meaning.

    .. math:: J_q(F) = c_q \sum_{r_i > r_j} \sqrt{v_i v_j}\; w_{ij}, \qquad w_{ij} = e^{-d(r_i - r_j)\,(F_i - F_j)}

    with v the row weights and :math:`c_q` of `normalization`. This is Eq. 10 of Zhu et al. (2009), which has
    :math:`c_q = 1` ("none"). The paper counts each pair in both directions, so its J is twice ours. With explicit
    `Pairs`, the sum runs over these. Then d is the distance of a pair's margin, and :math:`\sqrt{v_i v_j}` is times the
    pair's own weight.

    Parameters
    ----------
    distance : callable, default LogDistance(lam=3.0)
        The paper's directed distance of a grade gap: `BinaryDistance`, `LinearDistance`, `LogDistance` or
        `LogisticDistance`. Or any function from a float64 array of gaps > 0 to a float64 array of distances. These must
        be positive (the paper's condition 3), else they are refused. They should grow with the gap (condition 4), else
        a warning says so. The function sees gaps rounded to 12 significant digits: .3 - .2 and .2 - .1 are one gap.
        Define it at the top of a module if the loss is to be pickled. Of the data's largest gap, the distance must be
        from 1e-90 to 1e90.
    hessian : {"newton", "gentle", "bound"}
        "newton": :math:`h_i = \sum_j d^2 w`, the true second derivative (kind "exact"). "gentle":
        :math:`h_i = \sum_j w`, the paper's GentleBoost step, which takes :math:`|d| ≈ 1` (kind "model"). "bound":
        :math:`h_i = 2 \sum_j d^2 w`, a bound of the full Hessian at the current scores (kind "bound"). There is no
        "global": no quadratic lies above an exponential everywhere.
    normalization : {"rows", "none", "query"}
        What the pairs of a query weigh together: see `Loss`. "none" is the paper's sum.

    Notes
    -----
    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q c_q W_q` over the queries that hold a pair. :math:`n_q`
    is the number of documents, :math:`W_q` the sum over the pairs of their weight times :math:`d^2` (for "gentle": of
    their weight). At equal scores a document's "newton" Hessian is then 2 on average. Lengths of lists and units of
    grades and weights do not matter.

    Exponents: a pair's :math:`-d\,(F_i - F_j)` counts up to 60. Beyond, its gradient and Hessian stay as they are
    there, and its value grows linearly. Only scores of a diverged training are so far in the wrong order.

    Many grades: if a list has more than 300 documents and more than 256 grades, labels are rounded to 256 levels of the
    list's range. Each level has the mean of its labels. So grades closer than 1/256 of the range may count as equal.

    Cost: O(nK) for a query of n documents and K grades or levels. In lists of up to 300 documents with many grades all
    pairs are faster, and taken. One thread takes about 3 ms for 10,000 documents of 256 levels, and .3 s for a million.

    A function of your own is called once for all gaps of the data. Its distances are kept, up to 32,640 (256 levels) of
    a long list and 44,850 of a list of 300 documents.

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

    def __post_init__(self) -> None:
        check_function("MPBoost: distance", self.distance, ", such as LogDistance(lam=3.0)")
        super().__post_init__()

    @property
    def traits(self) -> Traits:
        """The kind of Hessian as `hessian` chooses. An explicit pair's gap is its margin."""
        kinds: dict[str, HessianKind] = {"newton": "exact", "gentle": "model", "bound": "bound"}
        return Traits(hessian=kinds[self.hessian], pairs=True)

    @property
    def scaled_pair_function(self) -> PairFunction:
        """The exponential, by the difference times the distance of a gap of 1."""
        rate = float(distances_of_gaps(self.distance, np.ones(1))[0])
        return PairFunction(lambda d: np.exp(-d), lambda d: -np.exp(-d), lambda d: np.exp(-d), steepness=rate)

    def pair_weight_of_queries(self, queries: Queries) -> Floats | None:
        """Return the weighted sum of d² over each query's pairs; None for "gentle", whose Hessian has no d²."""
        pairs = pairs_to_learn(queries)
        if self.hessian == "gentle" or not len(pairs.query):
            return None
        if isinstance(pairs, ListedPairs):
            return pairs.sums(pairs.weight * self._pair_distances(queries, pairs) ** 2)
        return self._distances(queries, pairs).squares

    def _distances(self, queries: Queries, pairs: GradeGroups) -> "_PairDistances":
        return queries.remember((MPBoost, self.distance), lambda: _PairDistances(pairs.unweighted(), self.distance))

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        pairs = pairs_to_learn(queries)
        out = np.zeros(queries.n_queries)
        if isinstance(pairs, ListedPairs):
            exponent = -self._pair_distances(queries, pairs) * (scores[pairs.winner] - scores[pairs.loser])
            beyond = np.maximum(exponent - LARGEST_EXPONENT, 0.0)
            terms = pairs.weight * np.exp(np.minimum(exponent, LARGEST_EXPONENT)) * (1.0 + beyond)
            out[pairs.query] = self.normalization_factors(queries) * pairs.sums(terms)
        elif len(pairs.query):
            factor = self.normalization_factors(queries)
            _, of_rows = self._distances(queries, pairs).sums(pairs, scores, factor, _OF_VALUE)
            out[pairs.query] = 0.5 * np.add.reduceat(of_rows[pairs.rows], pairs.query_start[:-1])
        return np.minimum(out, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian of `hessian`."""
        pairs, curvature = pairs_to_learn(queries), _CURVATURE[self.hessian]
        if not len(pairs.query):
            return np.zeros(queries.n_rows), np.zeros(queries.n_rows)
        factor = self.normalization_factors(queries) * scale
        if not isinstance(pairs, ListedPairs):
            return self._distances(queries, pairs).sums(pairs, scores, factor, curvature)
        d = self._pair_distances(queries, pairs)
        exponent = -d * (scores[pairs.winner] - scores[pairs.loser])
        weight = pairs.weight * np.repeat(factor, np.diff(pairs.start)) * np.exp(np.minimum(exponent, LARGEST_EXPONENT))
        slope, bend = d * weight, (curvature.squared * d * d + curvature.constant) * weight

        def sums(rows: Ints, of_pair: Floats) -> Floats:
            return np.bincount(rows, of_pair, queries.n_rows).astype(np.float64, copy=False)

        gradient = sums(pairs.loser, slope) - sums(pairs.winner, slope)
        return gradient, sums(pairs.loser, bend) + sums(pairs.winner, bend)

    def _pair_distances(self, queries: Queries, pairs: ListedPairs) -> Floats:
        """Return the distance of each explicit pair's margin."""

        def build() -> Floats:
            distances = distances_of_gaps(self.distance, pairs.margin)
            _check_not_extreme(self.distance, distances)
            return distances

        return queries.remember((MPBoost, self.distance, "pairs"), build)


class _PairDistances:
    """Values that depend only on grades and distance.

    Attributes
    ----------
    groups : GradeGroups
        With the labels of long lists rounded to levels.
    distances : Distances
    squares : ndarray of shape (n_paired_queries,)
        Sum of d² over each query's pairs, times their weights over the unit of the grade groups.
    """

    def __init__(self, groups: GradeGroups, distance: Distance) -> None:
        with np.errstate(over="ignore"):  # refused below
            widest = groups.group_grade[groups.query_group[1:] - 1] - groups.group_grade[groups.query_group[:-1]]
        self.groups = rounded(groups)
        if isinstance(distance, DirectedDistance):
            longest = distances_of_gaps(distance, widest)
            kind, parameter, values, start = distance.kind, distance.parameter, np.zeros(0), np.zeros(0, np.int64)
        else:
            grade, query_group = self.groups.group_grade, self.groups.query_group
            pairs = pairs_of_grades(query_group, np.ones(len(widest), bool))
            gaps = np.concatenate([grade[high] - grade[low] for high, low in pairs])
            values = distances_of_gaps(distance, gaps)
            start = np.r_[0, np.cumsum(self.groups.n_grades * (self.groups.n_grades - 1) // 2)]
            longest = np.maximum.reduceat(values, start[:-1])
            kind, parameter = STORED, math.nan
        self.distances = Distances(kind, parameter, frozen(longest), frozen(start), frozen(values))
        _check_not_extreme(distance, longest)
        # At equal scores, the square of each pair's distance is in the Hessians twice.
        scores = frozen(np.zeros(int(groups.rows.max()) + 1))  # frozen as a call's scores: no second compilation
        _, of_rows = self.sums(groups, scores, np.ones(len(longest)), _CURVATURE["newton"])
        self.squares: Floats = 0.5 * np.add.reduceat(of_rows[groups.rows], groups.query_start[:-1])

    def sums(self, groups: GradeGroups, scores: Floats, factor: Floats, curvature: Curvature) -> tuple[Floats, Floats]:
        """Return gradient and Hessian of all rows, each query's times its factor. Pairs weigh as in `groups`."""
        weights = groups.pair_weight_of_documents
        view = (self.groups if weights is None else self.groups.weighted(*weights)).view
        gradient, hessian = np.zeros((2, len(scores)))
        n = self.groups.n_documents
        work = np.r_[0, np.cumsum(n * np.minimum(self.groups.n_grades - 1, n // 2))]
        run_over_queries(sum_exponentials, work, view, scores, self.distances, curvature, factor, gradient, hessian)
        return gradient, hessian


def rounded(groups: GradeGroups) -> GradeGroups:
    """Return the groups with the labels of long lists of many grades rounded to 256 levels of the query's range.

    A list is long above 300 documents, its grades are many above 256. A level has the mean of its grades, weighted by
    their number of documents. Neighbouring grades closer than 1/256 of the range may become one level, whose documents
    form no pairs.
    """
    query, grade = groups.query_of_group, groups.group_grade
    long = ((groups.n_documents > BY_PAIR_UP_TO) & (groups.n_grades > _LEVELS))[query]
    if not long.any():
        return groups
    first, last = groups.query_group[:-1], groups.query_group[1:] - 1
    lowest, span = grade[first][query], (grade[last] - grade[first])[query]
    place = (grade - lowest) / span  # from 0 to 1
    level = np.where(long, np.minimum(np.floor(place * _LEVELS), _LEVELS - 1), np.arange(len(grade)))
    start = np.flatnonzero(np.r_[True, (np.diff(level) != 0) | (np.diff(query) != 0)])
    sizes = np.diff(groups.group_start)
    mean = lowest[start] + span[start] * np.add.reduceat(place * sizes, start) / np.add.reduceat(sizes, start)
    return replace(
        groups,
        group_start=frozen(groups.group_start[np.r_[start, len(grade)]]),
        group_grade=frozen(np.where(long[start], mean, grade[start])),
        query_group=frozen(np.searchsorted(query[start], np.arange(len(groups.query) + 1))),
    )


def _check_not_extreme(distance: Distance, longest: Floats) -> None:
    """Raise where the largest distance is one whose square, times weights and summed, may leave float64's range."""
    largest = longest.max(initial=0.0)
    if len(longest) and not 1.0 / _LONGEST <= largest <= _LONGEST:
        raise ValueError(
            f"MPBoost: {distance!r} of the largest grade gap is {largest:.3g}, beyond 1e-90 to 1e90; rescale the labels"
        )
