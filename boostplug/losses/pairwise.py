"""`PairwiseLoss`: any smooth function of the score difference as a loss, over all pairs of a query."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, partial
from typing import Literal, get_args

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import call_function, check_function
from boostplug.core.values import Space
from boostplug.core.warning import warn_user
from boostplug.data.grade_groups import GradeGroups
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.sampling import Function
from boostplug.losses.base.pair_loss import Normalization, PairFunction
from boostplug.losses.base.smooth_pair_loss import GroupWeight, SmoothPairLoss
from boostplug.losses.base.traits import Traits

Weight = Callable[[Floats, Floats], Floats]
Hessian = Literal["newton", "bound", "global"]

_LARGEST = 1e37  # of g and h, which the frameworks take as float32
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100  # of a pair: sums of them stay finite
_CHECKED = 60.0  # differences up to here must give finite values


@dataclass(frozen=True)
class PairwiseLoss(SmoothPairLoss):
    r"""A loss of your own: any smooth function of the score difference, summed over all pairs in linear time.

    .. math:: J_q(F) = c_q \sum_{r_i > r_j} \sqrt{v_i v_j}\; w(r_i, r_j)\; \rho(F_i - F_j)

    with v the row weights, w of `weight` and :math:`c_q` of `normalization`. Explicit pairs (`boostplug.Pairs`) replace
    those from the grades, and their own weights replace w.

    Parameters
    ----------
    function, first, second : callable
        ρ, ρ' and ρ'': NumPy functions from a float64 array of differences (higher minus lower grade) to an array of the
        same shape. They are finite at least for differences within ±60. They are sampled when the loss is built.
        Derivatives that do not fit are refused there. Define them at the top of a module if the loss is to be pickled.
    weight : callable, optional
        Weight of a pair by its grades: two float64 arrays (higher, lower) to numbers from 1e-100 to 1e100. Default: 1.
    hessian : {"newton", "bound", "global"}
        "newton": :math:`h_i = \sum_j w \rho''`, the true second derivative (kind "exact"). "bound": twice that, which
        dominates the full Hessian at the current scores (kind "bound"). Both need :math:`\rho'' \ge 0`, and more than 0
        at 0, where training begins: a hinge, whose ρ'' is 0, would train a constant model and is refused. "global":
        :math:`h_i = 2 \max(\rho'') \sum_j w`, which no score changes (kind "global"); for any ρ with a bounded ρ''.
    normalization : {"none", "rows", "query"}
        What the pairs of a query weigh together, before `weight`: see `Loss`.

    Attributes
    ----------
    summation : {"linear", "pairs"}
        How pairs are summed. "linear": long lists on a grid of scores. "pairs": by calling the functions for every
        pair, :math:`O(n^2)`. That is so with `weight`, and for functions that no grid describes: rough ones, and those
        that overflow or are not a + b d + c d² far from 0 (a warning says so).

    Notes
    -----
    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q c_q W_q` over the queries that hold a pair, with
    :math:`n_q` documents and :math:`W_q` what the pairs weigh together, :math:`\sum \sqrt{v_i v_j}\, w`.

    Accuracy: lists with more than 16 pairs a document are summed on a grid of scores. There a pair is good to 1e-9 of
    the function's values nearby, plus 1e-11 of the largest value near 0. Others are exact. A Hessian that vanishes is
    held at 1e-16 of the gradient. Outputs are cut at 1e37, values at 1e299.

    Cost: :math:`O(n \log K)` for K grades. With `weight` every pair is summed by itself, :math:`O(n^2)`. Memory is O(n)
    always.

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

    def __post_init__(self) -> None:
        for name in ("function", "first", "second", "weight"):
            given = getattr(self, name)
            if name != "weight" or given is not None:
                check_function(f"PairwiseLoss: {name}", given)
        super().__post_init__()
        pair = self.pair_function
        if self.hessian == "global" and not np.isfinite(pair.largest_second):
            raise ValueError("PairwiseLoss: hessian='global' needs a bounded second derivative; this one keeps growing")
        if self.hessian != "global" and pair.least_second < 0.0:
            raise ValueError(
                f"PairwiseLoss: hessian={self.hessian!r} needs second ≥ 0, and it falls to {pair.least_second:.6g}; "
                "use hessian='global'"
            )
        if pair.grids is None:
            warn_user(
                "PairwiseLoss: the functions are too rough for a grid, overflow, or are not a + b d + c d² far from 0; "
                "pairs are summed one by one, in O(n²) a query",
            )

    @property
    def traits(self) -> Traits:
        """The Hessian is of the kind that its name says; "newton" is exact."""
        return Traits(hessian="exact" if self.hessian == "newton" else self.hessian, pairs=True)

    @property
    def summation(self) -> str:
        """The method by which pairs are summed (see Attributes)."""
        return "linear" if self.weight is None and self.pair_function.grids is not None else "pairs"

    @property
    def search_space(self) -> Space:
        """The normalizations, and the Hessians that the functions allow."""
        space = dict(super().search_space)
        if "hessian" in space:  # a subclass may have parameters of its own
            pair = self.pair_function
            bounded, convex = np.isfinite(pair.largest_second), pair.least_second >= 0.0
            space["hessian"] = tuple(h for h in get_args(Hessian) if (bounded if h == "global" else convex))
        return space

    @property
    def pair_function(self) -> PairFunction:
        """The functions, checked at each call."""
        return _sampled(self.function, self.first, self.second)

    def group_weight(self, queries: Queries) -> GroupWeight | None:
        """Return `weight` by groups."""
        return None if self.weight is None else partial(_weight_of_grades, queries.grade_groups, self.weight)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian of `hessian`, cut at 1e37."""
        gradient, hessian = super().compute_gradient_hessian(scores, queries, scale)
        for out in (gradient, hessian):
            np.clip(out, -_LARGEST, _LARGEST, out=out)
        return gradient, hessian


def _weight_of_grades(groups: GradeGroups, weight: Weight, high: Ints, low: Ints) -> Floats:
    """Return a user's weights of pairs of groups, checked."""
    higher, lower = groups.group_grade[high], groups.group_grade[low]
    values = call_function("PairwiseLoss: weight", "pair", weight, higher, lower)
    bad = ~((values >= _SMALLEST_WEIGHT) & (values <= _LARGEST_WEIGHT))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"PairwiseLoss: weight must be from {_SMALLEST_WEIGHT:g} to {_LARGEST_WEIGHT:g}; weight({higher[at]}, "
            f"{lower[at]}) = {values[at]}"
        )
    return values


@lru_cache(maxsize=32)
def _sampled(function: Function, first: Function, second: Function) -> PairFunction:
    """Check a user's functions and sample them."""
    with np.errstate(all="ignore"):
        _check_derivatives(function, first, second)
        far = np.geomspace(_CHECKED, 1e6, 200)
        d = np.r_[-far[::-1], np.linspace(-_CHECKED, _CHECKED, 24_001), far]
        curvature = np.asarray(second(d), np.float64)
        curvature[~np.isfinite(curvature)] = np.inf
        lowest, highest = float(curvature.min()), float(curvature.max())
        highest_near = float(curvature[np.abs(d) <= _CHECKED].max())
        return PairFunction(
            partial(_call, "function", function),
            partial(_call, "first", first),
            partial(_call, "second", second),
            np.inf if highest > 1.01 * highest_near else 1.001 * max(highest, 0.0),  # between the samples
            least_second=0.0 if lowest >= -1e-12 * max(highest_near, 0.0) else lowest,
        )


def _call(name: str, function: Function, d: Floats) -> Floats:
    """Return a user's function of differences, checked."""
    values = call_function(f"PairwiseLoss: {name}", "difference", function, d)
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"PairwiseLoss: {name} must be finite; {name}({d[at]:.6g}) = {values[at]}")
    return values


def _check_derivatives(function: Function, first: Function, second: Function) -> None:
    """Refuse derivatives that are not the functions' own."""
    d = np.r_[np.linspace(-_CHECKED, _CHECKED, 241), np.linspace(-4.0, 4.0, 161)] + 0.01234
    for of, f, name, df in (("function", function, "first", first), ("first", first, "second", second)):
        at = partial(_call, of, f)
        size = at(d)
        given = _call(name, df, d)
        off = np.full(len(d), np.inf)
        for h in (1e-3, 1e-4):  # the finer one where the function is sharp
            slope = (8.0 * (at(d + h) - at(d - h)) - (at(d + 2.0 * h) - at(d - 2.0 * h))) / (12.0 * h)
            off = np.minimum(off, np.abs(given - slope) - 1e-13 * np.abs(size) / h)
        slack = 1e-4 * (np.abs(given) + 1e-3 * np.abs(given).max()) + 1e-12
        if (off > slack).any():
            worst = int(np.argmax(off - slack))
            raise ValueError(
                f"PairwiseLoss: {name} is not the derivative of {of}: {name}({d[worst]:.6g}) = {given[worst]:.6g}, "
                f"a difference quotient gives {slope[worst]:.6g}"
            )
