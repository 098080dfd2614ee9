"""`evaluate`: what a ranking would be worth to users, from the clicks on another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.clicks.propensity import Propensity, effective_size
from boostplug.clicks.shown import sums
from boostplug.core.checks import (
    check_choice,
    check_instance,
    check_integer,
    check_number,
    refuse_where,
    scores_of_rows,
)
from boostplug.data.boundaries import places_within
from boostplug.data.click_log import ClickLog
from boostplug.data.positions import numbers_of_rows, propensities_of
from boostplug.data.queries import Queries
from boostplug.datasets.synthetic import RandomState, generator
from boostplug.metrics import DCG, Metric, Precision

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_POWERS = (1.0, 0.0, 0.5, 1.5, 2.0)  # of the propensities; the first is the estimate
_LARGEST_CLICK = 1e100  # of click_value: sums are finite
_ROWS = 1 << 22  # of copied pages at once


class Estimate(NamedTuple):
    """A number with its confidence interval; NaN for the ends where the log has one query only."""

    estimate: float
    low: float
    high: float


class Sensitivity(NamedTuple):
    """The estimate with all propensities raised to a power: for θ = (1/p)^η, η is `power` times as large."""

    power: float
    estimate: float
    low: float
    high: float
    effective_sample_size: float


@dataclass(frozen=True)
class Evaluation:
    """The estimated value of a metric for one ranker. It prints as a table.

    Attributes
    ----------
    estimate, low, high : float
        With the ends of the confidence interval; NaN where the log has one query only.
    n_clicks : int
    effective_sample_size : float
        Kish's effective number of clicks, (Σ w)² / Σ w², with the weights w that were used, times `click_value`.
    largest_weight : float
        Of a click, without `click_value`.
    sensitivity : tuple of Sensitivity
        With the propensities to the powers 0 (no correction), 0.5, 1, 1.5 and 2.
    difference : Estimate or None
        To the first ranker, of several: the values of both on the same resamples of queries.
    metric, method : str
    confidence : float
    """

    estimate: float
    low: float
    high: float
    n_clicks: int
    effective_sample_size: float
    largest_weight: float
    sensitivity: tuple[Sensitivity, ...]
    difference: Estimate | None
    metric: str
    method: str
    confidence: float

    def __repr__(self) -> str:
        interval = f"{self.confidence:.0%} interval"
        size, largest = self.effective_sample_size, self.largest_weight
        lines = [
            f"{self.metric} ({self.method}) {self.estimate:.4f}, {interval} {self.low:.4f} to {self.high:.4f}",
            f"{self.n_clicks} clicks, effective sample size {size:.0f}, largest weight {largest:.2f}",
            f"propensity to the power  estimate  {interval:>18}  effective sample size",
        ]
        lines += [
            f"{s.power:23.1f}  {s.estimate:8.4f}  {s.low:8.4f} to {s.high:6.4f}  {s.effective_sample_size:21.0f}"
            for s in self.sensitivity
        ]
        return "\n".join(lines)


class Evaluations(dict[str, Evaluation]):
    """An `Evaluation` for each ranker, by its name. It prints as a table."""

    def __repr__(self) -> str:
        if not self:
            return "Evaluations()"
        first = next(iter(self.values()))
        width = max(6, *map(len, self))
        interval = f"{first.confidence:.0%} interval"
        size, largest, clicks = first.effective_sample_size, first.largest_weight, first.n_clicks
        of_all = f"{clicks} clicks, effective sample size {size:.0f}, largest weight {largest:.2f}"
        lines = [
            f"{first.metric} ({first.method}), {of_all}",
            f"{'ranker':{width}}  estimate  {interval:>18}  difference  {interval:>20}",
        ]
        for name, one in self.items():
            line = f"{name:{width}}  {one.estimate:8.4f}  {one.low:8.4f} to {one.high:6.4f}"
            if one.difference is not None:
                d = one.difference
                line += f"  {d.estimate:+10.4f}  {d.low:+9.4f} to {d.high:+7.4f}"
            lines.append(line)
        return "\n".join(lines)


def evaluate(
    scores: Any,
    log: ClickLog,
    *,
    metric: Metric | str = DCG(10),  # noqa: B008 (immutable)
    method: Literal["ips", "snips", "clipped"] = "ips",
    propensity: Propensity | ArrayLike | None = None,
    eta: float | None = None,
    max_weight: float = 10.0,
    click_value: ArrayLike | None = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Evaluation | Evaluations:
    r"""Estimate the metric of a ranking that was not shown, from clicks on the one that was.

    Each page is sorted by the new scores. A click on the document shown at position p stands for :math:`1/θ_p`
    documents that attract, because users have looked at it with probability :math:`θ_p` only.

    Parameters
    ----------
    scores : array-like of shape (n_rows,), or mapping of str to such arrays
        New scores of the log's rows, higher is better. Of a mapping, each ranker is compared with the first.
    log : ClickLog
        Complete pages. With `impressions`, these are the same for all rows of a page.
    metric : Metric or str, default DCG(10)
        `DCG` or `Precision`: a sum over documents by rank. A click counts as label 1. `NDCG` is refused: clicks do not
        tell the ideal ranking.
    method : {"ips", "snips", "clipped"}, default "ips"
        - "ips": the mean over pages of :math:`\sum_{\text{clicks}} d(\text{rank}) / θ_p`, with the discount d of the
          metric. Unbiased if the propensities are right.
        - "clipped": the same with weights of at most `max_weight`: less variance, and too low.
        - "snips": :math:`\sum d\,w / \sum w` over all clicks, with w = 1/θ. It is the mean discount of a document that
          attracts, on another scale than the metric. A factor of all propensities does not matter. `click_value`
          multiplies d only.
    propensity : Propensity, or array-like of shape (n_positions,)
        θ for positions 1, 2, …: above 0. Exactly one of `propensity` and `eta` is given.
    eta : float
        :math:`θ_p = (1/p)^η`.
    max_weight : float, default 10.0
        At least 1; for "clipped".
    click_value : array-like of shape (n_rows,), optional
        What each click of a row counts, at least 0 where there is one: a price gives revenue in place of clicks. With
        `impressions` it is the mean over the row's clicks. Values of other rows are not read. Default: 1.
    n_bootstrap : int, default 1000
        Resamples of the queries (of the pages, in a log without queries).
    confidence : float, default 0.95
        Of the percentile intervals, between 0 and 1. They hold the chance of clicks and queries, not the error of the
        propensities: see `Evaluation.sensitivity` for these.
    random_state : int, Generator, RandomState or None, default 0

    Returns
    -------
    Evaluation or Evaluations
        The latter, a dictionary, of a mapping.

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

    Examples
    --------
    >>> import boostplug as bp
    >>> log = bp.clicks.ClickLog([1, 0, 0, 1], group=[2, 2], position=[1, 2, 1, 2])
    >>> found = bp.clicks.evaluate([0.1, 0.2, 0.1, 0.2], log, metric=bp.DCG(2), eta=1.0)
    >>> round(found.estimate, 4)  # (0.6309 + 2) / 2
    1.3155
    """
    check_instance("log", log, ClickLog, "ClickLog(clicked, qid=qid, position=position)")
    metric = _metric_of_sums(metric)
    check_choice("method", method, ("ips", "snips", "clipped"))
    max_weight = check_number("max_weight", max_weight, least=1)
    n_bootstrap = check_integer("n_bootstrap", n_bootstrap, 1)
    confidence = check_number("confidence", confidence, above=0, below=1)
    named = _named_scores(scores, log)
    theta = _propensities(propensity, eta, log)
    times = _page_impressions(log)

    rows = np.flatnonzero(log.clicked > 0)
    if not len(rows):
        raise ValueError("log.clicked: there are no clicks, which say nothing of any ranking; pass a longer log")
    clicks, logarithm = log.clicked[rows], np.log(theta[log.position[rows] - 1])
    value = _values_of_clicks(click_value, log)[rows]
    most = max_weight if method == "clipped" else np.inf
    weights = [np.minimum(np.exp(-power * logarithm), most) for power in _POWERS]
    query, n_queries = log.query_of_row, int(log.query_of_row.max()) + 1

    def by_query(values: Floats) -> Floats:
        return sums(query[rows], clicks * values, n_queries)

    discounts = [_discounts(metric, values, log, rows) for values in named.values()]
    above = np.array([[by_query(w * d * value) for w in weights] for d in discounts])
    below = np.array([by_query(w) for w in weights])
    if method != "snips":
        filled = log.boundaries[:-1][log.group > 0]
        below[:] = sums(query[filled], times[filled], n_queries)

    found, resampled = _ratios_of_sums(above, below, n_bootstrap, random_state)
    out = Evaluations()
    sizes = [effective_size(w * value, clicks) for w in weights]
    for i, name in enumerate(named):
        of_powers = [_estimate(found[i, k], resampled[:, i, k], confidence) for k in range(len(_POWERS))]
        rows_of_table = [Sensitivity(p, *e, size) for p, e, size in zip(_POWERS, of_powers, sizes, strict=True)]
        difference = _estimate(found[i, 0] - found[0, 0], resampled[:, i, 0] - resampled[:, 0, 0], confidence)
        out[name] = Evaluation(
            *of_powers[0],
            n_clicks=int(clicks.sum()),
            effective_sample_size=sizes[0],
            largest_weight=float(weights[0].max()),
            sensitivity=tuple(sorted(rows_of_table)),
            difference=difference if i else None,
            metric=metric.name,
            method=method,
            confidence=confidence,
        )
    return out if isinstance(scores, Mapping) else out[""]


def _ratios_of_sums(above: Floats, below: Floats, n_bootstrap: int, random_state: RandomState) -> tuple[Floats, Floats]:
    """Return the ratios of sums over queries, the last axis, and those of resamples, none of a single query."""
    n_queries, found = below.shape[1], above.sum(axis=2) / below.sum(axis=1)
    if n_queries < 2:
        return found, np.empty((0, *found.shape))
    together, rng = np.concatenate([above.reshape(-1, n_queries), below]), generator(random_state)
    draws = np.empty((n_bootstrap, len(together)))
    for draw in draws:
        times = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries)
        draw[:] = together @ times.astype(np.float64)
    draws = draws[(draws[:, found.size :] > 0).all(axis=1)]  # a resample may have no clicks, for "snips"
    return found, draws[:, : found.size].reshape(-1, *found.shape) / draws[:, None, found.size :]


def _estimate(value: float, resampled: Floats, confidence: float) -> Estimate:
    """Return a number with its percentile interval."""
    if not len(resampled):
        return Estimate(float(value), np.nan, np.nan)
    low, high = np.quantile(resampled, [(1.0 - confidence) / 2, (1.0 + confidence) / 2])
    return Estimate(float(value), float(low), float(high))


def _metric_of_sums(metric: Metric | str) -> Metric:
    """Return a metric that is a sum over documents by rank, refusing others."""
    found = Metric.parse(metric)
    if not isinstance(found, (DCG, Precision)):
        raise ValueError(f"metric={found.name} is not a sum over documents by rank; pass DCG(k) or Precision(k)")
    if not found.per_query([0.0], Queries([1.0], group=[1]))[0] > 0:
        raise ValueError(f"metric={found.name} gives a click nothing, because its label is 1; leave out its parameters")
    return found


def _named_scores(scores: Any, log: ClickLog) -> dict[str, Floats]:
    """Return the scores of each ranker by its name, which is empty for a single one."""
    named = {str(name): values for name, values in scores.items()} if isinstance(scores, Mapping) else {"": scores}
    if not named:
        raise ValueError("scores is an empty mapping; pass the scores of at least one ranker")
    return {name: scores_of_rows(values, log.n_rows, finite=False, log=log) for name, values in named.items()}


def _propensities(propensity: Propensity | ArrayLike | None, eta: float | None, log: ClickLog) -> Floats:
    """Return θ of each position down to the last click."""
    if (propensity is None) == (eta is None):
        which = "neither" if eta is None else "both"
        raise ValueError(f"give exactly one of propensity (θ of each position) and eta (θ = (1/p)^eta); got {which}")
    deepest = int(log.position[log.clicked > 0].max(initial=1))
    if eta is not None:
        eta = check_number("eta", eta, least=0, most=20)
        return np.arange(1.0, deepest + 1) ** -eta
    theta = propensities_of(propensity, deepest)
    if len(theta) < deepest:
        raise ValueError(f"propensity has {len(theta)} positions, but log a click at {deepest}; pass one per position")
    return theta


def _values_of_clicks(click_value: ArrayLike | None, log: ClickLog) -> Floats:
    """Return what each click of a row counts; only clicked rows are checked."""
    if click_value is None:
        return np.ones(log.n_rows)
    values = numbers_of_rows("click_value", click_value, log.n_rows, log=log)
    bad = (log.clicked > 0) & ~((values >= 0.0) & (values <= _LARGEST_CLICK))
    refuse_where("click_value", bad, values, f"is not a value of a click; pass numbers from 0 to {_LARGEST_CLICK:g}")
    if not values[log.clicked > 0].any():
        raise ValueError("click_value is 0 for all clicks, so that no ranking has a value; pass what clicks bring")
    return values


def _page_impressions(log: ClickLog) -> Floats:
    """Return how often each row's page was shown, refusing pages whose rows differ in it."""
    times, first = log.shown, log.boundaries[:-1][log.page_of_row]
    why = "differs from the first row of its page; aggregate complete pages, or pass single ones"
    refuse_where("log.impressions", times != times[first], times, why)
    return times


def _discounts(metric: Metric, scores: Floats, log: ClickLog, rows: Ints) -> Floats:
    """Return the metric of the page of each of some rows, if the document of the row were the only one relevant."""
    page = log.page_of_row[rows]
    size, ends = log.group[page], np.cumsum(log.group[page])
    out, start = np.empty(len(rows)), 0
    while start < len(rows):
        stop = max(start + 1, int(np.searchsorted(ends, (ends[start - 1] if start else 0) + _ROWS, side="right")))
        sizes = size[start:stop]
        firsts = np.cumsum(sizes) - sizes
        label = np.zeros(sizes.sum())
        label[firsts + rows[start:stop] - log.boundaries[page[start:stop]]] = 1.0
        copied = scores[np.repeat(log.boundaries[page[start:stop]], sizes) + places_within(sizes)]
        out[start:stop] = metric.per_query(copied, Queries(label, group=sizes))
        start = stop
    return out
