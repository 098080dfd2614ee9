"""RankNet: the logistic loss of score differences, over all pairs of a query (Burges et al., ICML 2005)."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import frozen
from boostplug.kernels import smooth_pairs as kernels
from boostplug.kernels.smooth_pairs import Kernel, Tail
from boostplug.losses.loss import Loss
from boostplug.losses.normalization import factor_of, runs_of, scale_terms_of
from boostplug.losses.pairwise import (
    SmoothSums,
    derivatives_of_given,
    positive_beside,
    value_of_given,
    value_per_query,
)
from boostplug.queries import Queries

__all__ = ["RankNet"]

Floats = NDArray[np.float64]
Normalization = Literal["none", "rows", "query"]


@dataclass(frozen=True, kw_only=True)
class RankNet(Loss):
    r"""Logistic loss of the score difference, over all pairs of a query, in linear time.

    .. math:: J_q(F) = c_q \sum_{r_i > r_j} \sqrt{v_i v_j}\; \log\left(1 + e^{-s\,(F_i - F_j)}\right)

    with s of `sigmoid`, v the row weights and c_q of `normalization`. Burges et al. (2005), Eq. 3 with target 1.
    Explicit pairs (`boostplug.Pairs`) take the place of those from the grades.

    Parameters
    ----------
    sigmoid : float, default 1.0
        Multiplies score differences.
    normalization : {"none", "rows", "query"}
        What the pairs of a query weigh together, before row weights: "none": their number (c_q = 1), so long lists
        dominate; "rows": the number of the query's judged documents; "query": 1.

    Notes
    -----
    Hessian: h_i = s² Σ_j σ(1 - σ), the true second derivative (kind "exact"). Where it vanishes beside the gradient
    (pairs in the wrong order by 37/s and more) it is held at 1e-16 of the gradient, as XGBoost does.

    Scale: outputs are multiplied by the number of judged documents per pair weight, Σ_q n_q / Σ_q c_q P_q over the
    queries that hold a pair (n_q documents, P_q pairs; row weights left out).

    Accuracy: long lists are summed by tables that are good to 1e-7 of every single pair, at any range of scores;
    others are exact. Cost: O(n) for grades, O(n log n) for many real-valued ones.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender. Learning to rank using gradient descent. ICML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug.losses.ranknet import RankNet
    >>> from boostplug import Queries
    >>> queries = Queries([2, 1, 0], group=[3])
    >>> RankNet().value(np.zeros(3), queries) / np.log(2.0)
    array([3.])
    >>> gradient, hessian = RankNet().gradient_hessian(np.zeros(3), queries)
    >>> gradient
    array([-1.,  0.,  1.])
    >>> hessian
    array([0.5, 0.5, 0.5])
    """

    sigmoid: float = 1.0
    normalization: Normalization = "none"

    hessian_kind = "exact"
    takes_pairs = True

    def __post_init__(self) -> None:
        check_sigmoid("RankNet", self.sigmoid)
        if self.normalization not in get_args(Normalization):
            options = ", ".join(map(repr, get_args(Normalization)))
            raise ValueError(f"RankNet: normalization must be one of {options}; got {self.normalization!r}")

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ_q n_q and Σ_q c_q P_q (see Notes)."""
        return scale_terms_of(self.normalization, runs_of(queries))

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        s = float(self.sigmoid)
        if queries.pairs is not None:
            factor = factor_of(self.normalization, queries.pair_runs)
            return value_of_given(scores, queries, factor, lambda d: _softplus(s * d))
        factor = factor_of(self.normalization, queries.grade_runs)
        return value_per_query(_VALUE(scores, queries, factor, multiplier=self.sigmoid)[0], queries)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the derivatives of J."""
        s = float(self.sigmoid)
        of_slope = scale * s
        if queries.pairs is not None:
            factor = factor_of(self.normalization, queries.pair_runs) * of_slope
            gradient, hessian = derivatives_of_given(
                scores, queries, factor, lambda d: _slope(s * d), lambda d: _curvature(s * d)
            )
        else:
            factor = factor_of(self.normalization, queries.grade_runs) * of_slope
            gradient, hessian = _DERIVATIVES(scores, queries, factor, multiplier=s)
        if s != 1.0:
            hessian *= s
        positive_beside(gradient, hessian)
        return gradient, hessian


def check_sigmoid(owner: str, sigmoid: object) -> None:
    """Refuse what is not a positive finite number."""
    number = isinstance(sigmoid, (int, float, np.number)) and not isinstance(sigmoid, bool)
    if not number or not 0.0 < float(sigmoid) < math.inf:  # type: ignore[arg-type]
        raise ValueError(f"{owner}: sigmoid must be a positive finite number; got {sigmoid!r}")


def _softplus(d: Floats) -> Floats:
    return np.maximum(0.0, -d) + np.log1p(np.exp(-np.abs(d)))


def _slope(d: Floats) -> Floats:
    t = np.exp(-np.abs(d))
    result: Floats = -np.where(d < 0.0, 1.0, t) / (1.0 + t)
    return result


def _curvature(d: Floats) -> Floats:
    t = np.exp(-np.abs(d))
    result: Floats = t / (1.0 + t) ** 2
    return result


_WIDTH, _REACH = 2.5, 7  # 1e-7 of every pair; from 17.5 on the tails are good to 5e-8
_FAR = Tail(c=1.0)
_VALUE = SmoothSums(
    kernels.tables((Kernel(_softplus, Tail(q1=1.0, c=1.0), _FAR),), _WIDTH, _REACH),
    kernels.RANKNET_VALUE,
    frozen(np.ones((1, 1))),
    frozen(np.zeros((1, 1))),
)
_DERIVATIVES = SmoothSums(
    kernels.tables(
        (Kernel(_slope, Tail(q0=-1.0, c=1.0), Tail(c=-1.0)), Kernel(_curvature, _FAR, _FAR, even=True)), _WIDTH, _REACH
    ),
    kernels.RANKNET,
    frozen(np.array([[1.0, 0.0], [0.0, 1.0]])),
    frozen(np.array([[-1.0, 0.0], [0.0, 1.0]])),
)
