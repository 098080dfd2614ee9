"""`PairwiseLoss`: any smooth function of the score difference as a loss, over all pairs of a query."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import called, frozen, shown
from boostplug.core.values import Space
from boostplug.data.grade_groups import GradeGroups
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.pair_task import TABLE, PairWeights
from boostplug.kernels.pairs.tables import Function, tables_of
from boostplug.losses.base.pair_loss import Normalization
from boostplug.losses.base.smooth_pair_loss import PairFunction, PairWeightTotals, SmoothPairLoss

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Weight = Callable[[Floats, Floats], Floats]
Hessian = Literal["newton", "bound", "global"]

_LARGEST = 1e37  # of g and h, which the frameworks take as float32
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100  # of a pair: sums of them stay finite
_CHECKED = 60.0  # differences up to here must give finite values


@dataclass(frozen=True)
class PairwiseLoss(SmoothPairLoss):
    r"""A loss of your own: any smooth function of the score difference, over all pairs of a query, in linear time.

    .. math:: J_q(F) = c_q \sum_{r_i > r_j} \sqrt{v_i v_j}\; w(r_i, r_j)\; \rho(F_i - F_j)

    with v the row weights, w of `weight` and :math:`c_q` of `normalization`. Explicit pairs (`boostplug.Pairs`) take
    the place of those from the grades, with their own weights in place of w.

    Parameters
    ----------
    function, first, second : callable
        ρ, ρ' and ρ'': NumPy functions from a float64 array of differences (higher minus lower grade) to an array of
        the same shape. Finite at least for differences within ±60; sampled when the loss is built, where derivatives
        that do not fit are refused. Define them at the top of a module if the loss is to be pickled.
    weight : callable, optional
        Weight of a pair by its grades: two float64 arrays (higher, lower) to numbers from 1e-100 to 1e100. Default: 1.
    hessian : {"newton", "bound", "global"}
        "newton": :math:`h_i = \sum_j w \rho''`, the true second derivative (kind "exact"); "bound": twice that, which
        dominates the full Hessian at the current scores (kind "bound"). Both need :math:`\rho'' \ge 0`. "global":
        :math:`h_i = 2 \max(\rho'') \sum_j w`, which no score changes (kind "global"); for any ρ with a bounded ρ''.
    normalization : {"none", "rows", "query"}
        What the pairs of a query weigh together, before `weight`: see `Loss`.

    Attributes
    ----------
    summation : {"linear", "linear within", "pairs"}
        How long lists are summed. "linear": in O(n) for scores of any range. "linear within": in O(n) while a query's
        scores lie within `reach` of each other, since the functions do not end in polynomials a + b d + c d²; past it
        by calling the functions for every pair. "pairs": by such calls always, :math:`O(n^2)`, since no table describes
        the functions (a warning says so).
    reach : float
        Largest range of scores for "linear within"; infinite for "linear", 0 for "pairs".

    Notes
    -----
    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q c_q W_q` over the queries that hold a pair, with
    :math:`n_q` documents and :math:`W_q` what the pairs weigh together, :math:`\sum \sqrt{v_i v_j}\, w`.

    Accuracy: in lists with more than 16 pairs a document, a pair is good to 2e-7 of the function's values nearby, plus
    2e-9 of the largest value near 0. Other lists are summed pair by pair, to 1e-11. A Hessian that vanishes is held at
    1e-16 of the gradient. Outputs are cut at 1e37, values at 1e299.

    Cost: :math:`O(n)`; up to :math:`O(n^{1.5})` for many real-valued labels with scores that spread very widely. With
    `weight` every pair is summed by itself, :math:`O(n^2)`. Memory is O(n) always.

    Examples
    --------
    The logistic loss, as `RankNet` has it:

    >>> import numpy as np
    >>> from boostplug.losses.pairwise import PairwiseLoss
    >>> from boostplug import Queries
    >>> loss = PairwiseLoss(
    ...     lambda d: np.logaddexp(0.0, -d),
    ...     lambda d: -1.0 / (1.0 + np.exp(np.minimum(d, 700.0))),
    ...     lambda d: 0.25 / np.cosh(np.clip(d, -700.0, 700.0) / 2.0) ** 2,
    ... )
    >>> loss.summation, loss.hessian_kind
    ('linear', 'exact')
    >>> gradient, hessian = loss.gradient_hessian(np.zeros(3), Queries([2, 1, 0], group=[3]))
    >>> gradient
    array([-1.,  0.,  1.])
    >>> hessian
    array([0.5, 0.5, 0.5])
    """

    function: Function
    first: Function
    second: Function
    _: KW_ONLY
    weight: Weight | None = None
    hessian: Hessian = "newton"
    normalization: Normalization = "none"

    takes_pairs = True
    accuracy = 5e-7
    hessian_kinds: ClassVar = {"newton": "exact", "bound": "bound", "global": "global"}

    def __post_init__(self) -> None:
        for name in ("function", "first", "second", "weight"):
            given = getattr(self, name)
            if not callable(given) and not (name == "weight" and given is None):
                raise ValueError(f"PairwiseLoss: {name} must be a function of arrays; got {shown(given)}")
            try:
                hash(given)
            except TypeError:
                raise ValueError(
                    f"PairwiseLoss: {name} must be hashable; got {shown(given)}; pass a function"
                ) from None
        super().__post_init__()
        sampled = self._sampled
        if self.hessian == "global" and not np.isfinite(sampled.pair.largest_second):
            raise ValueError("PairwiseLoss: hessian='global' needs a bounded second derivative; this one keeps growing")
        if self.hessian != "global" and not sampled.convex:
            raise ValueError(
                f"PairwiseLoss: hessian={self.hessian!r} needs second ≥ 0, but second({sampled.lowest_at:.6g}) = "
                f"{sampled.lowest:.6g}; use hessian='global'"
            )
        if self.summation == "pairs":
            warnings.warn(
                "PairwiseLoss: the functions are too rough for tables; pairs are summed one by one, in O(n²) a query",
                UserWarning,
                stacklevel=3,
            )

    @property
    def _sampled(self) -> "_Sampled":
        return _sampled(self.function, self.first, self.second)

    @property
    def summation(self) -> str:
        """The method by which long lists are summed (see Attributes)."""
        tables = self.pair_function.tables
        return "pairs" if tables is None else "linear" if tables.has_tails else "linear within"

    @property
    def reach(self) -> float:
        """Largest range of a query's scores that is summed in linear time."""
        tables = self.pair_function.tables
        return 0.0 if tables is None else np.inf if tables.has_tails else tables.reach * tables.width

    @property
    def search_space(self) -> Space:
        """The normalizations, and the Hessians that the functions allow."""
        space = dict(super().search_space)
        if "hessian" in space:  # a subclass may have parameters of its own
            bounded, convex = np.isfinite(self._sampled.pair.largest_second), self._sampled.convex
            space["hessian"] = tuple(h for h in self.hessian_kinds if (bounded if h == "global" else convex))
        return space

    @property
    def degree_in_labels(self) -> int | None:
        """0 without `weight`, which may ask more of grades than their order."""
        return 0 if self.weight is None else None

    @property
    def pair_function(self) -> PairFunction:
        """The functions, checked at each call, and their tables."""
        return self._sampled.pair

    def pair_weights(self, queries: Queries) -> "_Weighed":
        """Return what pairs weigh by `weight`."""
        return queries.remember((PairwiseLoss, self.weight), lambda: _weighed(queries.grade_groups, self.weight))

    def _by_calls(self, scores: Floats, queries: Queries) -> Bools:
        """Mask of the queries that are summed by calling the functions for every pair."""
        groups, tables = queries.grade_groups, self.pair_function.tables
        if tables is None or not len(groups.query):
            return np.ones(len(groups.query), np.bool_)
        firsts, of_documents = groups.query_start[:-1], scores[groups.rows]
        extent = np.maximum.reduceat(of_documents, firsts) - np.minimum.reduceat(of_documents, firsts)
        within: Bools = extent <= min(self.reach, tables.width * 2.0**50)
        return ~within | self.pair_weights(queries).without_table

    def sums_over_grades(self, scores: Floats, queries: Queries, factors: Floats, *, value: bool = False) -> Floats:
        """Return the sums of ρ, or of ρ' and ρ'': by tables, and by calls where these do not reach."""
        pair, n, by_calls = self.pair_function, queries.n_rows, self._by_calls(scores, queries)
        out = np.zeros((1 if value else 2, n))
        if not by_calls.all():
            sums, weights = pair.value_sums if value else pair.derivative_sums, self.pair_weights(queries).weights
            out = sums(scores, queries, factors, weights=weights, multiplier=self._multiplier, skipped=by_calls)
        for block in _pairs(queries.grade_groups, self.weight, by_calls):
            d = self._multiplier * (scores[block.row] - scores[block.other])
            w = factors[block.query] * block.weight
            if value:
                out[0] += np.bincount(block.row, w * pair.value(d), n)
                continue
            g, h = w * pair.first(d), w * pair.second(d)
            out[0] += np.bincount(block.row, g, n) - np.bincount(block.other, g, n)
            out[1] += np.bincount(block.row, h, n) + np.bincount(block.other, h, n)
        return out

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian of `hessian`, cut at 1e37."""
        gradient, hessian = super().compute_gradient_hessian(scores, queries, scale)
        for out in (gradient, hessian):
            np.clip(out, -_LARGEST, _LARGEST, out=out)
        return gradient, hessian


class _Pairs(NamedTuple):
    """Some pairs: rows of the higher and the lower grade, index of the query among the paired, weight."""

    row: Ints
    other: Ints
    query: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class _Weighed(PairWeightTotals):
    """Weights by a user's function, in tables unless a query has too many grades."""

    without_table: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))


def _weighed(groups: GradeGroups, weight: Weight | None) -> _Weighed:
    """Call a user's function for each pair of grades."""
    if weight is None:
        return _Weighed(without_table=np.zeros(len(groups.query), np.bool_))
    without_table = ~groups.few_grades
    of_queries, of_groups, tables = np.zeros(len(groups.query)), np.zeros(len(groups.mass)), [np.zeros(0)]
    for high, low in groups.cells(~without_table):
        w = _weight_of_grades(groups, weight, high, low)
        of_queries += np.bincount(
            groups.query_of_group[high], w * (groups.mass[high] * groups.mass[low]), len(of_queries)
        )
        of_groups += np.bincount(high, w * groups.mass[low], len(of_groups))
        of_groups += np.bincount(low, w * groups.mass[high], len(of_groups))
        tables.append(w)
    of_documents = np.repeat(of_groups, np.diff(groups.group_start))
    if len(groups.sqrt_weight):
        of_documents *= groups.sqrt_weight
    place = np.empty(int(groups.rows.max(initial=-1)) + 1, np.int64)
    place[groups.rows] = np.arange(len(groups.rows))
    for block in _pairs(groups, weight, without_table):
        of_queries += np.bincount(block.query, block.weight, len(of_queries))
        for rows in (block.row, block.other):
            of_documents += np.bincount(place[rows], block.weight, len(of_documents))
    in_table = np.where(without_table, 0, groups.n_cells)
    weights = PairWeights(
        TABLE, table=frozen(np.concatenate(tables)), table_start=frozen(np.r_[0, np.cumsum(in_table)][:-1])
    )
    return _Weighed(weights, of_queries, of_documents, without_table)


def _weight_of_grades(groups: GradeGroups, weight: Weight, high: Ints, low: Ints) -> Floats:
    """Return a user's weights of pairs of groups, checked; one number is that of every pair."""
    higher, lower = groups.group_grade[high], groups.group_grade[low]

    def spread(higher: Floats, lower: Floats) -> Any:
        out = weight(higher, lower)
        single = isinstance(out, (int, float)) or getattr(out, "ndim", None) == 0
        return np.full(higher.shape, out) if single else out

    values = called("PairwiseLoss: weight", "pair", spread, higher, lower)
    bad = ~((values >= _SMALLEST_WEIGHT) & (values <= _LARGEST_WEIGHT))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"PairwiseLoss: weight must be from {_SMALLEST_WEIGHT:g} to {_LARGEST_WEIGHT:g}; weight({higher[at]}, "
            f"{lower[at]}) = {values[at]}"
        )
    return values


def _pairs(groups: GradeGroups, weight: Weight | None, chosen: Bools) -> Iterator[_Pairs]:
    """Yield all pairs of the chosen queries, in blocks."""
    if not chosen.any():
        return
    group_of = groups.group_of_document
    query_of = groups.query_of_group[group_of]
    for i, j in groups.pairs(chosen):
        w = np.ones(len(i)) if weight is None else _weight_of_grades(groups, weight, group_of[i], group_of[j])
        if len(groups.view.winner):
            w = w * groups.view.winner[i] * groups.view.loser[j]
        yield _Pairs(groups.rows[i], groups.rows[j], query_of[i], w)


@dataclass(frozen=True, eq=False)
class _Sampled:
    """A user's functions, sampled."""

    pair: PairFunction
    convex: bool
    lowest: float
    lowest_at: float


@lru_cache(maxsize=32)
def _sampled(function: Function, first: Function, second: Function) -> _Sampled:
    """Check a user's functions and sample them into tables."""
    with np.errstate(all="ignore"):
        _check_derivatives(function, first, second)
        far = np.geomspace(_CHECKED, 1e6, 200)
        d = np.r_[-far[::-1], np.linspace(-_CHECKED, _CHECKED, 24_001), far]
        curvature = np.asarray(second(d), np.float64)
        curvature[~np.isfinite(curvature)] = np.inf
        at = int(np.argmin(curvature))
        near = np.abs(d) <= _CHECKED
        largest = 1.001 * max(float(curvature.max()), 0.0)  # between the samples
        if curvature.max() > 1.01 * curvature[near].max():
            largest = np.inf
        convex = bool(curvature[at] >= -1e-12 * max(curvature[near].max(), 0.0))
        lowest, lowest_at = float(curvature[at]), float(d[at])
        pair = PairFunction(
            partial(_call, "function", function),
            partial(_call, "first", first),
            partial(_call, "second", second),
            float(largest),
            tables_of((function, first, second)),
        )
        return _Sampled(pair, convex, lowest, lowest_at)


def _call(name: str, function: Function, d: Floats) -> Floats:
    """Return a user's function of differences, checked."""
    values = called(f"PairwiseLoss: {name}", "difference", function, d)
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"PairwiseLoss: {name} must be finite; {name}({d[at]:.6g}) = {values[at]}")
    return values


def _check_derivatives(function: Function, first: Function, second: Function) -> None:
    """Refuse derivatives that are not the functions' own."""
    d = np.r_[np.linspace(-_CHECKED, _CHECKED, 241), np.linspace(-4.0, 4.0, 161)] + 0.01234
    for (of, f), (name, df) in (
        (("function", function), ("first", first)),
        (("first", first), ("second", second)),
    ):
        at = partial(_call, of, f)
        size = at(d)
        given = _call(name, df, d)
        steps = [1e-3, 1e-4]
        off = np.full(len(d), np.inf)
        for h in steps:  # the finer one where the function is sharp
            slope = (8.0 * (at(d + h) - at(d - h)) - (at(d + 2.0 * h) - at(d - 2.0 * h))) / (12.0 * h)
            off = np.minimum(off, np.abs(given - slope) - 1e-13 * np.abs(size) / h)
        slack = 1e-4 * (np.abs(given) + 1e-3 * np.abs(given).max()) + 1e-12
        if (off > slack).any():
            worst = int(np.argmax(off - slack))
            raise ValueError(
                f"PairwiseLoss: {name} is not the derivative of {of}: {name}({d[worst]:.6g}) = {given[worst]:.6g}, "
                f"a difference quotient gives {slope[worst]:.6g}"
            )
