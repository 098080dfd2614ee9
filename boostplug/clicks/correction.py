"""`correction`: how much of the position bias a log can correct before that costs more than it brings."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from boostplug.clicks.propensity import Propensity, effective_size
from boostplug.clicks.propensity import propensity as estimated_propensity
from boostplug.clicks.shown import ShownRows, shown_rows, sums
from boostplug.core.arrays import Floats
from boostplug.core.checks import check_instance, scores_of_rows
from boostplug.data.click_log import ClickLog
from boostplug.data.positions import as_propensities, check_propensities

_POWERS = np.arange(21) / 20
_TO_LEARN = 4800.0  # clicks of equal weight after which noise is as large as the mean attraction
_MAX_WEIGHT = 10.0  # as in `Unbiased`
_NO_BIAS = 1e-12  # variance of log θ: propensities that are equal, apart from rounding
_LARGEST_SCALE = 5.0  # of scores with a standard deviation of 1


class Correction(NamedTuple):
    """How much correction a log can carry; it prints as a table."""

    power: float
    """For `Unbiased` with "ips" or "unbiased_lambdamart": from 0, clicks as labels, to 1."""
    ridge: float
    """For `Unbiased` with "additive"."""
    prior_scale: float | None
    """Times the production ranker's scores, what training starts from; None without `scores`."""
    n_clicks: float
    spread: float
    """Variance of how much documents of a query attract, over the square of the mean; 1 if the log cannot tell."""
    order: float
    """How much the shown order knows: 0 where the documents at all positions attract alike, 1 where attraction falls as
    fast as the propensities. Below 0 where it rises; that counts as 0."""
    expected: dict[float, float]
    """The expected correlation of a ranker's scores with attraction, for each power."""

    def __str__(self) -> str:
        none, chosen, all_of_it = (self.expected[power] for power in (0.0, self.power, 1.0))
        rows = [
            ("power", f"{self.power:g}", 'for "ips" and "unbiased_lambdamart": 0 corrects nothing, 1 all'),
            ("ridge", f"{self.ridge:.3g}", 'for "additive"'),
            ("prior_scale", f"{self.prior_scale or 0.0:.3g}", "times the production ranker's scores, to start from"),
            ("n_clicks", f"{self.n_clicks:,.0f}", ""),
            ("spread", f"{self.spread:.3g}", "how much documents of a query differ"),
            ("order", f"{self.order:.3g}", "how much the shown order knows, up to 1"),
            ("expected", f"{chosen:.3g}", f"correlation with attraction; {none:.3g} at power 0, {all_of_it:.3g} at 1"),
        ]
        if self.prior_scale is None:
            del rows[2]
        return "\n".join(f"{name:<11}  {value:>9}  {meaning}".rstrip() for name, value, meaning in rows)


def correction(
    log: ClickLog,
    *,
    propensity: Propensity | ArrayLike | None = None,
    scores: ArrayLike | None = None,
    max_position: int | None = None,
) -> Correction:
    r"""Propose how much of the position bias to correct, and what to start from, by the log alone.

    Correcting clicks takes away the order that was shown, and with it what the production ranker knew. That costs more
    than it brings until the clicks themselves know more. Weights of 1/θ also add variance.

    Parameters
    ----------
    log : ClickLog
        With `query` and `document`, the log tells how much documents differ; else they are taken to differ as much as
        the mean.
    propensity : Propensity, or array-like of shape (n_positions,), optional
        θ of position 1, 2, …. Default: harvested from the log, and smoothed (`boostplug.clicks.propensity`).
    scores : array-like of shape (n_rows,), optional
        The production ranker's scores of the rows, higher is better, for `Correction.prior_scale`.
    max_position : int, optional
        Rows below are left out. Default: the last position of the log.

    Returns
    -------
    Correction

    Raises
    ------
    ValueError
        If there are no clicks, a position has no propensity, or θ is to be harvested from a log that does not allow it.

    Notes
    -----
    The rule takes the model that a page's documents attract as :math:`a`, with mean 1 and variance S (`spread`) within
    a query. A ranker that learns from clicks weighed by :math:`θ^{-q}` learns :math:`a\,θ^{1-q}`, up to noise of
    variance K / n: n is Kish's effective number of clicks at these weights, of which K = 4800 are taken to teach a
    ranker. To the first order in L = log θ, its correlation with attraction is

    .. math:: r(q) = \frac{\sqrt S + (1-q)\,C/\sqrt S}{\sqrt{S + 2 (1-q) C + (1-q)^2 V + K/n(q)}},

    with V the variance of L over the rows shown and C its covariance with a, by the corrected click rates of positions.
    n(q) is taken with weights of at most 10, as `Unbiased` has them. `power` is the q of the largest r. `ridge` is
    .1 (1 - q)/q, from .003 to 10.

    S comes from documents of a query that were shown at least twice: two clicks on one document beside two clicks on
    different ones, each relative to the product of their propensities.

    `prior_scale` is the β of the largest likelihood that a query's clicks fall on its rows in proportion to
    :math:`θ \exp(β\,\text{score})`, from 0 to 5 over the standard deviation of the scores. Train from β times the
    score, as ``init_score`` of LightGBM or ``base_margin`` of XGBoost, and add it to what the model predicts. What the
    features do not explain of such scores stays in the ranking.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(100, random_state=0)
    >>> log = bp.clicks.simulate(data, ranker=[None, None], sessions=2_000, max_position=5, random_state=0)
    >>> corrected = bp.clicks.correction(log, propensity=[1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    >>> loss = bp.Unbiased(method="additive", ridge=corrected.ridge)
    """
    check_instance("log", log, ClickLog, "ClickLog(clicked, qid=qid, position=position)")
    rows = shown_rows(log, max_position)
    if propensity is None:
        propensity = estimated_propensity(log, method="harvesting", smoothing="power_law", max_position=max_position)
    theta = as_propensities(propensity, rows.n_positions)
    check_propensities(rows.place + 1, len(theta))
    theta = theta[: rows.n_positions]
    spread = _spread(log, rows, theta)
    # Variance of log θ, and its covariance with attraction.
    shown, clicks = (sums(rows.place, values, rows.n_positions) for values in (rows.impressions, rows.clicks))
    share, attraction, log_theta = shown / shown.sum(), clicks / (shown * theta), np.log(theta)
    log_theta -= share @ log_theta
    variance = float(share @ log_theta**2)
    covariance = float((share * attraction / (share @ attraction)) @ log_theta)
    order = covariance / variance if variance > _NO_BIAS else 0.0
    covariance = max(0.0, covariance)

    expected = {}
    for power in _POWERS.tolist():
        n, left = effective_size(np.minimum((theta / theta[0]) ** -power, _MAX_WEIGHT), clicks), 1.0 - power
        of_scores = spread + 2.0 * left * covariance + left**2 * variance + _TO_LEARN / n
        expected[power] = float((spread + left * covariance) / np.sqrt(spread * of_scores))
    best = max(expected, key=expected.__getitem__)
    ridge = float(np.clip(0.1 * (1.0 - best) / max(best, 1e-9), 0.003, 10.0))
    scale = None if scores is None else _scale_of(rows, theta, scores_of_rows(scores, log.n_rows, finite=True, log=log))
    return Correction(best, ridge, scale, float(clicks.sum()), spread, order, expected)


def _spread(log: ClickLog, rows: ShownRows, theta: Floats) -> float:
    """Return the relative variance of attraction within a query, from pairs of impressions of one document."""
    if log.query is None or log.document is None:
        return 1.0
    items = rows.items(np.unique(log.document[rows.kept], return_inverse=True)[1])
    n, m = len(items.query), rows.n_queries
    seen = items.impressions * theta[items.place]
    clicks, looks = sums(items.item, items.clicks, n), sums(items.item, seen, n)
    twice = float((clicks**2 - clicks).sum())
    chances = float((looks**2).sum() - (seen * theta[items.place]).sum())
    others = float((sums(items.query, clicks, m) ** 2).sum() - (clicks**2).sum())
    chances_of_others = float((sums(items.query, looks, m) ** 2).sum() - (looks**2).sum())
    if min(twice, chances, others, chances_of_others) <= 0.0:
        return 1.0
    return float(np.clip(twice / chances * chances_of_others / others - 1.0, 0.1, 10.0))


def _scale_of(rows: ShownRows, theta: Floats, scores: Floats) -> float:
    """Return the scale of the scores that explains best on which rows of a query the clicks fall."""
    scores, query, n = scores[rows.kept], rows.query, rows.n_queries
    unit = float(scores.std())
    standard = (scores - scores.mean()) / (unit or 1.0)
    of_query, looks = sums(query, rows.clicks, n), rows.impressions * theta[rows.place]

    def slope(scale: float) -> float:  # of the log likelihood, which is concave
        mass = looks * np.exp(scale * standard)
        return float(rows.clicks @ standard - of_query @ (sums(query, mass * standard, n) / sums(query, mass, n)))

    if slope(0.0) <= 0.0:
        return 0.0
    scale = _LARGEST_SCALE if slope(_LARGEST_SCALE) >= 0.0 else brentq(slope, 0.0, _LARGEST_SCALE, xtol=1e-9)
    return float(scale) / (unit or 1.0)
