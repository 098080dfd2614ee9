"""`propensity`: how likely each position of a result page is looked at, from a click log."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import chdtrc, stdtrit

from boostplug.clicks.harvesting import all_pairs
from boostplug.clicks.regression_em import regression_em
from boostplug.clicks.shown import ShownRows, shown_rows, sums
from boostplug.clicks.smoothing import shrunk_to_power_law
from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_choice, check_instance, check_integer, check_number, frozen
from boostplug.core.extras import imported
from boostplug.core.randomness import RandomState, generator
from boostplug.core.warning import warn_user
from boostplug.data.click_log import ClickLog, features_of_log

Estimator = Callable[[Floats], Floats]

_METHODS = ("randomised", "harvesting", "em")
_FALSE_ALARMS = 1e-4  # share of shuffled logs that the test of their order may refuse


@dataclass(frozen=True, eq=False, repr=False)
class Propensity:
    """How likely each position is looked at, relative to position 1.

    An object of this class can be passed wherever an array of propensities is taken. It prints as a table.

    Attributes
    ----------
    position : ndarray of shape (n_positions,), int64
        1, 2, 3, …
    propensity : ndarray of shape (n_positions,), float64
        θ, with 1 for position 1.
    low, high : ndarray of shape (n_positions,), float64
        Ends of the confidence interval; NaN where the log has one query only.
    clicks, impressions : ndarray of shape (n_positions,), float64
        Of the complete log, down to the last position.
    """

    position: Ints
    propensity: Floats
    low: Floats
    high: Floats
    clicks: Floats
    impressions: Floats

    def __len__(self) -> int:
        return len(self.propensity)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.propensity, dtype=dtype)

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, one row per position.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return imported("pandas", "to_frame() needs").DataFrame(vars(self))

    def __repr__(self) -> str:
        rows = zip(*vars(self).values(), strict=True)
        lines = [f"{p:8d}  {t:10.4f}  {low:6.4f} to {high:6.4f}  {c:8.0f}  {n:11.0f}" for p, t, low, high, c, n in rows]
        return "\n".join(["position  propensity          interval    clicks  impressions", *lines])


def propensity(
    log: ClickLog,
    *,
    method: Literal["randomised", "harvesting", "em"],
    X: Any = None,
    max_position: int | None = None,
    smoothing: Literal["power_law"] | None = None,
    n_bootstrap: int | None = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Propensity:
    r"""Estimate how likely each position is looked at, relative to position 1.

    The model is the position-based one: a document at position p of a page is clicked with probability
    :math:`θ_p` times the probability that it attracts, whatever else the page shows.

    Parameters
    ----------
    log : ClickLog
        Single pages or aggregated (`impressions`).
    method : {"randomised", "harvesting", "em"}
        How the pages were made. The safest comes first.

        - "randomised": the order of every page is random. The clicks at p are compared with those at 1 of the same
          pages. With `query` and `document` the order is checked, on documents that a query has shown more than once;
          without both nothing can check it.
        - "harvesting": several rankers have shown a document of one query at different positions (AllPairs). Needs
          `query` and `document`. Which ranker answers must not depend on who asks.
        - "em": no randomness. A model of relevance separates attraction from position; where the model is poor, so are
          the propensities. Needs `X`, or documents that were shown at several positions. Without `X` the propensities
          come out too large if each document was seen a few times only (see Notes); prefer "harvesting".
    X : features of shape (n_rows, n_features), or mapping of documents to features, optional
        For "em": one row per row of the log; or the features of each document, by its id in `log.document`, which is
        faster if documents were shown often: ``dict(enumerate(X))`` for row numbers. Relevance is then learnt by
        scikit-learn's ``HistGradientBoostingClassifier``. None: a relevance per document of a query, which needs
        `query` and `document`.
    max_position : int, optional
        Rows below are left out. Default: the last position of the log.
    smoothing : {"power_law"} or None, default None
        "power_law" shrinks the propensities towards :math:`p^{-η}`, the more, the less certain they are (see Notes).
        Needs at least 10 resamples, and two queries.
    n_bootstrap : int, optional
        Resamples of the queries (of the pages, in a log without queries). Default: 50; 10 for "em".
    confidence : float, default 0.95
        Of the intervals, between 0 and 1. Their ends are percentiles of the resamples. For "em" they are
        :math:`θ \exp(\pm t s)`, with the standard deviation s of log θ over the resamples and Student's t; the
        resamples start from the estimate. They do not hold the error of a poor model of relevance.
    random_state : int, Generator, RandomState or None, default 0
        Of the resamples.

    Returns
    -------
    Propensity

    Raises
    ------
    ValueError
        If the log lacks a column that the method needs, has one position only, has no clicks at position 1, has too
        little data for a position, or was not shuffled ("randomised").
        The message names column and remedy.

    Notes
    -----
    "harvesting" is AllPairs of Agarwal, Zaitsev, Wang, Li, Najork & Joachims, "Estimating position bias without
    intrusive interventions" (WSDM 2019). "em" is Wang, Golbandi, Bendersky, Metzler & Najork, "Position bias estimation
    for unbiased learning to rank in personal search" (WSDM 2018); each document counts once as relevant and once as
    not, weighted by expected numbers, where the paper draws one of the two.

    "randomised" refuses a log by Friedman's test of the positions of each document of a query. It refuses one in 10,000
    logs of shuffled pages at most.

    "em" without `X` has one unknown relevance per document. In simulated logs of 300 queries and 5 positions its
    propensities were 18 to 28 % too large with 8,000 pages and 14 to 15 % with 128,000. The intervals do not show this
    error. On the same logs a weaker prior of relevance was better with many pages and far worse with few.

    `smoothing` fits η by weighted least squares of log θ on log p, with the relative variances of θ over the resamples,
    :math:`s_p^2`. The variance τ² of the true log θ around this curve is estimated by the method of moments
    (DerSimonian & Laird, 1986), and is 0 where the deviations are no larger than chance. Each deviation of log θ from
    the curve is then multiplied by :math:`τ^2/(τ^2 + s_p^2)`. A position without clicks takes the value of the curve.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(100, random_state=0)
    >>> log = bp.clicks.simulate(data, ranker="random", sessions=20_000, max_position=3, random_state=0)
    >>> bp.clicks.propensity(log, method="randomised")
    position  propensity          interval    clicks  impressions
           1      1.0000  1.0000 to 1.0000      3190        20000
           2      0.4925  0.4684 to 0.5143      1571        20000
           3      0.3429  0.3233 to 0.3609      1094        20000
    """
    check_instance("log", log, ClickLog, "ClickLog(clicked, qid=qid, position=position)")
    check_choice("method", method, _METHODS)
    confidence = check_number("confidence", confidence, above=0, below=1)
    if smoothing is not None:
        check_choice("smoothing", smoothing, ("power_law",), ", or None")
    default = 10 if method == "em" else 50
    n_bootstrap = default if n_bootstrap is None else check_integer("n_bootstrap", n_bootstrap, 10 if smoothing else 2)
    if X is not None and method != "em":
        raise ValueError(f'method="{method}" reads no features; leave X out, or pass method="em"')

    rows = shown_rows(log, max_position)
    estimate = _estimator(method, log, rows, X)
    n = rows.n_queries
    propensity = estimate(np.ones(n))
    propensity[0] = 1.0
    resampled = _resampled(estimate, n, n_bootstrap, generator(random_state))
    if smoothing:
        propensity, resampled = _smoothed(propensity, resampled)
    if (propensity == 0.0).any():
        first = int(np.argmin(propensity)) + 1
        warn_user(
            f"log.clicked: there are no clicks to estimate the propensity of position {first}, so it is 0; "
            f'pass max_position={first - 1}, or smoothing="power_law"'
        )
    low, high = _interval(propensity, resampled, confidence, method)
    clicks, impressions = (sums(rows.place, values, rows.n_positions) for values in (rows.clicks, rows.impressions))
    columns: tuple[Any, ...] = (np.arange(1, rows.n_positions + 1), propensity, low, high, clicks, impressions)
    return Propensity(*map(frozen, columns))


def effective_size(weight: Floats, times: Floats) -> float:
    """Return Kish's effective sample size of weights, each counted some times; 0 where there are none."""
    scaled = weight / weight.max(initial=0.0) if weight.any() else weight  # squares stay finite
    squares = float((scaled**2 * times).sum())
    return float((scaled * times).sum()) ** 2 / squares if squares > 0 else 0.0


def resamples(n: int, n_bootstrap: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each of n queries is in a resample of as many, drawn with replacement."""
    for _ in range(n_bootstrap):
        yield np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)


def _estimator(method: str, log: ClickLog, rows: ShownRows, X: Any) -> Estimator:
    """Return a function from the weight of each query to the propensities."""
    if X is not None:
        features, of_row = features_of_log(X, log)
        features = features.toarray() if hasattr(features, "nnz") else features
        return regression_em(rows.items(of_row[rows.kept]), rows.n_positions, features)
    missing = [name for name in ("query", "document") if getattr(log, name) is None]
    if missing and method != "randomised":
        raise ValueError(f'log.{missing[0]} is missing, and method="{method}" needs it; pass ClickLog({missing[0]}=…)')
    if missing:
        return _randomised(rows)
    document = np.unique(np.asarray(log.document)[rows.kept], return_inverse=True)[1]
    if method == "randomised":
        _check_shuffled(rows, document)
        return _randomised(rows)
    items = rows.items(document)
    if method == "harvesting":
        return all_pairs(items, rows.n_positions)
    if len(items.item) == len(items.query):
        raise ValueError("log.document: each document of a query was shown at one position only; pass X")
    return regression_em(items, rows.n_positions, None)


def _check_shuffled(rows: ShownRows, document: Ints) -> None:
    """Raise if documents of a query keep their positions more than on shuffled pages, by Friedman's test.

    Positions are standardised within each page, to a variance of 1 - 1/k for k positions. S is their sum over
    the n impressions of a document of a query. S²/n is added up over the documents that were shown more than once. On
    shuffled pages the total is a sum of χ² with weights of at most 1, so it is compared with χ² of the same mean.
    """
    page, place, n_pages = rows.page, rows.place.astype(np.float64), int(rows.page.max()) + 1
    positions = np.unique(page * rows.n_positions + rows.place, return_counts=True)[0]  # sorts: faster than its hashing
    share = 1.0 - 1.0 / np.bincount(positions // rows.n_positions)[page]

    def mean_of_page(values: Floats) -> Floats:
        return sums(page, rows.impressions * values, n_pages)[page] / sums(page, rows.impressions, n_pages)[page]

    z = place - mean_of_page(place)
    z *= np.sqrt(share / np.maximum(mean_of_page(z**2), 0.25))  # two positions have a variance of .25
    item = np.unique(rows.query * (document.max() + 1) + document, return_inverse=True)[1]
    n, S, mean = (sums(item, rows.impressions * v, int(item.max()) + 1) for v in (np.ones_like(z), z, share))
    again = n > 1
    if chdtrc((mean[again] / n[again]).sum(), (S[again] ** 2 / n[again]).sum()) < _FALSE_ALARMS:
        raise ValueError(
            'method="randomised" needs shuffled pages, and documents of log keep their positions from page to page; '
            'pass method="harvesting" if several rankers answered, else "em" with X, or log.pages(…) of shuffled pages'
        )


def _randomised(rows: ShownRows) -> Estimator:
    """Return the ratio of the clicks at p to those at 1 of the same pages, a function of the weight of each query."""
    top, n_pages = rows.place == 0, int(rows.page.max()) + 1
    clicks, n = (sums(rows.page[top], values[top], n_pages) for values in (rows.clicks, rows.impressions))
    compared = n[rows.page] > 0
    page, at = rows.page[compared], (rows.query[compared], rows.place[compared])
    shape = (rows.n_queries, rows.n_positions)
    above = csr_array((rows.clicks[compared], at), shape=shape)
    below = csr_array((rows.impressions[compared] * clicks[page] / n[page], at), shape=shape)
    empty = below.sum(axis=0) <= 0
    if empty.any():
        what = f"log has too little data for position {int(np.argmax(empty)) + 1}"
        why = "no page that has it has a click at position 1"
        raise ValueError(f"{what}: {why}; pass max_position, or a longer log")

    def estimate(weight: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            theta: Floats = (weight @ above) / (weight @ below)
        return theta

    return estimate


def _resampled(estimate: Estimator, n: int, n_bootstrap: int, rng: np.random.Generator) -> Floats:
    """Return the propensities of resamples of n queries, one row each; one row of NaN if there is one query."""
    if n == 1:
        return np.full((1, len(estimate(np.ones(1)))), np.nan)
    resampled = np.array([estimate(weight) for weight in resamples(n, n_bootstrap, rng)])
    resampled[:, 0] = 1.0
    resampled[~np.isfinite(resampled)] = np.nan  # of a resample without clicks at position 1
    return resampled


def _smoothed(propensity: Floats, resampled: Floats) -> tuple[Floats, Floats]:
    """Return propensities and those of resamples, all shrunk with the variances over the resamples."""
    if len(resampled) == 1:
        raise ValueError("smoothing needs resamples of queries, and log has one query; pass smoothing=None")
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no resample has a value: neither has the variance
        variance = np.nanvar(resampled, axis=0, ddof=1) / propensity**2
    return shrunk_to_power_law(propensity, variance), np.array(
        [shrunk_to_power_law(draw, variance) for draw in resampled]
    )


def _interval(propensity: Floats, resampled: Floats, confidence: float, method: str) -> tuple[Floats, Floats]:
    if method == "em":
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.log(resampled).std(axis=0, ddof=1) * stdtrit(len(resampled) - 1, (1.0 + confidence) / 2)
        return propensity * np.exp(-spread), propensity * np.exp(spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no resample has a value: neither has the interval
        low, high = np.nanquantile(resampled, [(1.0 - confidence) / 2, (1.0 + confidence) / 2], axis=0)
    return low, high
