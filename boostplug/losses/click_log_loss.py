"""ClickLogLoss: log loss of the position-based click model, whose scores are logits of attractiveness."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_values, frozen, scores_of_rows
from boostplug.data.positions import as_propensities, check_propensities, positions_for
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.losses.base.loss import LARGEST_VALUE, Loss
from boostplug.losses.base.traits import LabelRange, Traits


class _Clicks(NamedTuple):
    """The rows of a click log: which were clicked, θ and log(1 - θ) of their positions, and their weights."""

    clicked: NDArray[np.bool_]
    theta: Floats
    log_unseen: Floats
    weight: Floats


@dataclass(frozen=True, kw_only=True)
class ClickLogLoss(Loss):
    r"""Log loss of clicks at positions: scores become the logits of a click on what is seen.

    .. math:: P(\text{click}) = θ_p\, σ(F), \qquad
              J_q(F) = -\sum_i v_i \left[c_i \log(θ_i σ(F_i)) + (1 - c_i) \log(1 - θ_i σ(F_i))\right]

    over the judged documents. :math:`c` is the click, v are the row weights, and :math:`θ_p` is the propensity of
    position p. The probability of a click if the document is seen is :math:`σ(F) = 1 / (1 + e^{-F})`. σ does not depend
    on the position. The probability of a click at another position is that position's θ times σ.

    Labels are clicks: 1 or 0 for each document that was shown. Pass where it was shown as `position`: to ``fit``,
    `Queries` or `boostplug.set_positions`.

    Parameters
    ----------
    propensity : array-like of shape (n_positions,)
        θ of position 1, 2, …, above 0: how likely users look there. Or what `boostplug.clicks.propensity` returns.
        That of position 1 is at most 1. Others above 1, which estimates reach by chance, are taken for 1.

    Notes
    -----
    Clicks tell the product θσ only, so propensities are relative to position 1. With θ = 1 there, σ is the probability
    of a click at position 1.

    Gradient :math:`v (1 - σ) \left(-c + (1 - c) \frac{θσ}{1 - θσ}\right)`. The Hessian is the Fisher information,
    :math:`v\, θσ(1 - σ)^2 / (1 - θσ)` (kind "model"), not below 1e-16 of the gradient. It is the mean of the second
    derivative over clicks, and positive. The second derivative of a row without a click is negative at large scores.
    For θ = 1 all three are those of `LogisticError`. For small θ the Hessian is about θ times as large, so XGBoost's
    ``min_child_weight`` asks for more rows.

    The value holds log θ, which is constant. So it is the log loss of the clicks. Of several `propensity`, the smallest
    value is the best fit.

    If clicks are rare, start from the logit of the mean attractiveness (``init_score``, ``base_margin``). It is the
    number of clicks over the sum of θ. Else the first rounds only find it.

    Scale: outputs are multiplied by the number of judged rows over their total weight: 1 without weights.

    Raises
    ------
    ValueError
        If a label is not 0 or 1, positions are missing, or one has no propensity; if that of position 1 is above 1.

    References
    ----------
    Richardson, Dominowska, Ragno. Predicting clicks: estimating the click-through rate for new ads. WWW 2007: users
    look at a position, then click what they see.

    Chuklin, Markov, de Rijke. Click models for web search. Morgan & Claypool 2015: the position-based model.

    Examples
    --------
    >>> import numpy as np
    >>> import boostplug as bp
    >>> pages = bp.Queries([1, 0], group=[2], position=[1, 2])
    >>> loss = bp.ClickLogLoss(propensity=[1.0, 0.5])
    >>> np.exp(-loss.value(np.zeros(2), pages))  # σ = ½: a click has probability ½, and no click ¾
    array([0.375])
    >>> gradient, hessian = loss.gradient_hessian(np.zeros(2), pages)
    >>> gradient * 6
    array([-3.,  1.])
    """

    propensity: Any

    traits = Traits(
        hessian="model",
        labels=LabelRange(0.0, 1.0, binary=True),
        shift_invariant=False,
        positions=True,
    )

    def __post_init__(self) -> None:
        theta = as_propensities(self.propensity)
        if theta[0] > 1.0:
            raise ValueError(
                f"ClickLogLoss: propensity[0] = {theta[0]:g} is above 1; pass propensities relative to position 1"
            )
        theta = np.minimum(theta, 1.0)
        object.__setattr__(self, "propensity", tuple(theta.tolist()))

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return "position", from 1 to the last one in the data, and "propensity" of each. Scores do not matter."""
        scores_of_rows(scores, queries.n_rows, finite=True)
        n = int(self._positions(queries).max(initial=1))
        return {"position": np.arange(1, n + 1), "propensity": np.array(self.propensity[:n])}

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        clicked, theta, log_unseen, weight = self._clicks(queries)
        minus_log_sigma = np.logaddexp(0.0, -scores)
        click = theta * expit(scores)
        rare = -np.log1p(-np.minimum(click, 0.5))
        frequent = minus_log_sigma - np.logaddexp(log_unseen, -scores)
        value = np.where(clicked, minus_log_sigma - np.log(theta), np.where(click < 0.5, rare, frequent))
        of_query = np.bincount(queries.query_of_row, weight * value, queries.n_queries)
        return np.minimum(of_query, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian."""
        clicked, theta, log_unseen, weight = self._clicks(queries)
        sigma, rest = expit(scores), expit(-scores)
        slope = theta * sigma * expit(-(scores + log_unseen))  # (1 - σ) / (1 - θσ), also where both vanish
        factor = scale * weight
        gradient, hessian = factor * np.where(clicked, -rest, slope), factor * slope * rest
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _positions(self, queries: Queries) -> NDArray[np.int64]:
        """Return the positions, each of which has a propensity."""
        known = queries.position_is_rank
        position = positions_for("ClickLogLoss", queries.position, is_rank=known, needs_rank="ClickLogLoss")
        check_propensities(position, len(self.propensity))
        return position

    def _clicks(self, queries: Queries) -> _Clicks:
        """Return what depends on the data alone, checked and built once for these queries."""
        return queries.remember((ClickLogLoss, self), lambda: self._checked_clicks(queries))

    def _checked_clicks(self, queries: Queries) -> _Clicks:
        y, judged = queries.labels, queries.judged
        place = self._positions(queries) - 1
        check_values("labels", judged & (y != 0) & (y != 1), y, "is not a click; pass 0 or 1")
        theta = np.array(self.propensity)
        with np.errstate(divide="ignore"):  # -inf for θ = 1
            log_unseen = np.log1p(-theta)
        weight = judged.astype(np.float64) if queries.row_weight is None else judged * queries.row_weight
        return _Clicks(y == 1, frozen(theta[place]), frozen(log_unseen[place]), frozen(weight))
