"""`evaluate`: what a ranking would be worth to users, from the clicks on another one."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boostplug.clicks.propensity import Propensity, effective_size, resamples
from boostplug.clicks.shown import sums
from boostplug.core.arrays import Floats
from boostplug.core.checks import (
    check_choice,
    check_instance,
    check_integer,
    check_number,
    check_values,
    scores_of_rows,
)
from boostplug.core.randomness import RandomState, generator
from boostplug.data.boundaries import numbers_of_rows
from boostplug.data.click_log import ClickLog
from boostplug.data.positions import as_propensities, check_propensities, weights_of_clicks
from boostplug.data.queries import Queries
from boostplug.metrics import DCG, Metric, Precision
from boostplug.metrics.gains import discounts

_LARGEST_CLICK = 1e100  # of click_value: sums are finite


class Estimate(NamedTuple):
    """A number with its confidence interval; NaN for the ends where the log has one query only."""

    estimate: float
    low: float
    high: float


class Evaluation(NamedTuple):
    """The estimated value of a metric for one ranker."""

    estimate: float
    low: float
    """Ends of the confidence interval; NaN where the log has one query only."""
    high: float
    difference: Estimate | None
    """To the first ranker, of several: the values of both on the same resamples of queries."""
    n_clicks: int
    effective_sample_size: float
    """The number of equal clicks on which the estimate rests: (Σ c)² / Σ c², for what each click adds to it, c."""
    largest_weight: float
    """Of a click, without `click_value`."""


def evaluate(
    scores: Any,
    log: ClickLog,
    *,
    propensity: Propensity | ArrayLike,
    metric: Metric | str = DCG(10),  # noqa: B008 (immutable)
    method: Literal["ips", "snips"] = "ips",
    max_weight: float | None = None,
    click_value: ArrayLike | None = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Evaluation | dict[str, Evaluation]:
    r"""Estimate the metric of a ranking that was not shown, from clicks on the one that was.

    Each page is sorted by the new scores. A click on the document shown at position p stands for :math:`1/θ_p`
    documents that attract, because users have looked at it with probability :math:`θ_p` only.

    Parameters
    ----------
    scores : array-like of shape (n_rows,), or mapping of str to such arrays
        New scores of the log's rows, higher is better. Of a mapping, each ranker is compared with the first.
    log : ClickLog
        Complete pages. With `impressions`, these are the same for all rows of a page.
    propensity : Propensity, or array-like of shape (n_positions,)
        θ for positions 1, 2, …: above 0. Pass ``propensity ** 0.5`` and ``propensity ** 1.5`` too, as arrays, to see
        how much the estimate depends on them.
    metric : Metric or str, default DCG(10)
        `DCG` or `Precision`: a sum over documents by rank. A click counts as label 1. `NDCG` is refused: clicks do not
        tell the ideal ranking.
    method : {"ips", "snips"}, default "ips"
        - "ips": the mean over pages of :math:`\sum_{\text{clicks}} d(\text{rank}) / θ_p`, with the discount d of the
          metric. Unbiased if the propensities are right.
        - "snips": :math:`\sum d\,w / \sum w` over all clicks, with w = 1/θ. It is the mean discount of a document that
          attracts, on another scale than the metric. A factor of all propensities does not matter. `click_value`
          multiplies d only.
    max_weight : float, optional
        At least 1: weights 1/θ are cut there. That lowers the variance, and the estimate.
    click_value : array-like of shape (n_rows,), optional
        What each click of a row counts, at least 0 where there is one, and not 0 for all: a price gives revenue in
        place of clicks. With `impressions` it is the mean over the row's clicks. Values of other rows are not read.
        Default: 1.
    n_bootstrap : int, default 1000
        Resamples of the queries (of the pages, in a log without queries).
    confidence : float, default 0.95
        Of the percentile intervals, between 0 and 1. They hold the chance of clicks and queries, not the error of the
        propensities.
    random_state : int, Generator, RandomState or None, default 0

    Returns
    -------
    Evaluation, or dict of str to Evaluation
        The latter of a mapping.

    Raises
    ------
    ValueError
        If the metric is no sum over documents, the log has no clicks, a clicked position has no propensity, or an
        argument has an impossible value.

    Notes
    -----
    Only documents that were shown can be clicked: the ranking is evaluated on the documents of each page. "ips" is
    Joachims, Swaminathan & Schnabel, "Unbiased learning-to-rank with biased feedback" (WSDM 2017), "snips"
    Swaminathan & Joachims, "The self-normalized estimator for counterfactual learning" (NIPS 2015).

    A click adds c = d w, times its `click_value`. `effective_sample_size` is Kish's of these c (Owen, "Monte Carlo
    theory, methods and examples", 2013, section 9.3), so it depends on the ranking. It is small where few clicks of
    large weight come to the top. If clicks come independently and seldom, the relative standard error of "ips" on the
    same pages is 1 over its root. The interval holds the chance of queries too, and is wider.

    Examples
    --------
    >>> import boostplug as bp
    >>> log = bp.clicks.ClickLog([1, 0, 0, 1], group=[2, 2], position=[1, 2, 1, 2])
    >>> found = bp.clicks.evaluate([0.1, 0.2, 0.1, 0.2], log, metric=bp.DCG(2), propensity=[1, 1 / 2])
    >>> round(found.estimate, 4)  # (0.6309 + 2) / 2
    1.3155
    """
    check_instance("log", log, ClickLog, "ClickLog(clicked, qid=qid, position=position)")
    metric, of_first = _metric_of_sums(metric)
    check_choice("method", method, ("ips", "snips"))
    most = np.inf if max_weight is None else check_number("max_weight", max_weight, least=1)
    n_bootstrap = check_integer("n_bootstrap", n_bootstrap, 1)
    confidence = check_number("confidence", confidence, above=0, below=1)
    named = dict(scores) if isinstance(scores, Mapping) else {"": scores}
    if not named:
        raise ValueError("scores holds no ranker; pass an array, or {name: array}")
    named = {name: scores_of_rows(values, log.n_rows, finite=False, log=log) for name, values in named.items()}
    rows = np.flatnonzero(log.clicked > 0)
    if not len(rows):
        raise ValueError("log.clicked: there are no clicks, which say nothing of any ranking; pass a longer log")
    deepest = int(log.position[rows].max())
    theta = as_propensities(propensity, deepest)
    check_propensities(np.where(log.clicked > 0, log.position, 1), len(theta))
    shown, first = log.shown, log.boundaries[:-1][log.page_of_row]
    why = "differs from the first row of its page; aggregate complete pages, or pass single ones"
    check_values("log.impressions", shown != shown[first], shown, why)

    clicks, weight = log.clicked[rows], weights_of_clicks(theta, log.position[rows], most)
    value = _values_of_clicks(click_value, log)[rows]
    query, n_queries = log.query_of_row, int(log.query_of_row.max()) + 1
    of_clicks = [_discounts(metric, of_first, values, log)[rows] * weight * value for values in named.values()]
    above = np.array([sums(query[rows], clicks * values, n_queries) for values in of_clicks])
    if method == "snips":
        below = sums(query[rows], clicks * weight, n_queries)
    else:
        filled = log.boundaries[:-1][log.group > 0]
        below = sums(query[filled], shown[filled], n_queries)

    ratios, resampled = _ratios_of_sums(above, below, n_bootstrap, random_state)
    out = {
        name: Evaluation(
            *_estimate(ratios[i], resampled[:, i], confidence),
            difference=_estimate(ratios[i] - ratios[0], resampled[:, i] - resampled[:, 0], confidence) if i else None,
            n_clicks=int(clicks.sum()),
            effective_sample_size=effective_size(of_clicks[i], clicks),
            largest_weight=float(weight.max()),
        )
        for i, name in enumerate(named)
    }
    return out if isinstance(scores, Mapping) else out[""]


def _ratios_of_sums(above: Floats, below: Floats, n_bootstrap: int, random_state: RandomState) -> tuple[Floats, Floats]:
    """Return the ratios of sums over queries, the last axis, and those of resamples, none of a single query."""
    times = resamples(len(below), n_bootstrap if len(below) > 1 else 0, generator(random_state))
    resampled = [(above @ t) / (below @ t) for t in times if below @ t > 0]  # one may have no clicks, for "snips"
    return above.sum(axis=1) / below.sum(), np.reshape(resampled, (-1, len(above)))


def _estimate(value: float, resampled: Floats, confidence: float) -> Estimate:
    """Return a number with its percentile interval."""
    if not len(resampled):
        return Estimate(float(value), np.nan, np.nan)
    low, high = np.quantile(resampled, [(1.0 - confidence) / 2, (1.0 + confidence) / 2])
    return Estimate(float(value), float(low), float(high))


def _metric_of_sums(metric: Metric | str) -> tuple[DCG | Precision, float]:
    """Return a metric that is a sum over documents by rank, and its value of a click at rank 1; refuse others."""
    parsed = Metric.parse(metric)
    if not isinstance(parsed, (DCG, Precision)):
        raise ValueError(f"metric={parsed.name} is not a sum over documents by rank; pass DCG(k) or Precision(k)")
    of_first = float(parsed.per_query([0.0], Queries([1.0], group=[1]))[0])
    if not of_first > 0:
        raise ValueError(
            f"metric={parsed.name} gives a click nothing, because its label is 1; leave out its parameters"
        )
    return parsed, of_first


def _values_of_clicks(click_value: ArrayLike | None, log: ClickLog) -> Floats:
    """Return what each click of a row counts; only clicked rows are checked."""
    if click_value is None:
        return np.ones(log.n_rows)
    values = numbers_of_rows("click_value", click_value, log.n_rows, log=log)
    bad = (log.clicked > 0) & ~((values >= 0.0) & (values <= _LARGEST_CLICK))
    check_values("click_value", bad, values, f"is not a value of a click; pass numbers from 0 to {_LARGEST_CLICK:g}")
    if not values[log.clicked > 0].any():
        raise ValueError("click_value is 0 for all clicks, so no ranking has a value; pass what clicks bring")
    return values


def _discounts(metric: DCG | Precision, of_first: float, scores: Floats, log: ClickLog) -> Floats:
    """Return what a click on each row would add to the metric of its page, sorted by the scores; ties share it."""
    rows = np.flatnonzero(sums(log.page_of_row, log.clicked, log.n_pages)[log.page_of_row])  # no other page is sorted
    page = log.page_of_row[rows]
    order = np.lexsort((-scores[rows], page))
    longest = min(metric.k or log.n_rows, int(log.group.max()))
    discount = np.zeros(int(log.group.max()))
    discount[:longest] = of_first * (discounts(longest, metric.convention) if isinstance(metric, DCG) else 1.0)
    values = discount[rows - log.boundaries[page]]
    if metric.average:
        ranked = scores[rows][order]
        first = np.flatnonzero(np.r_[True, (page[1:] != page[:-1]) | (ranked[1:] != ranked[:-1])])
        n = np.diff(np.r_[first, len(rows)])
        values = np.repeat(np.add.reduceat(values, first) / n, n)
    out = np.zeros(log.n_rows)
    out[rows[order]] = values
    return out
