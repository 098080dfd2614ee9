"""`simulate`: a click log of made-up users who look at the results of labelled data."""

from numbers import Real
from typing import Any, Literal

import numpy as np

from boostplug.core.arrays import Bools, Floats, Ints
from boostplug.core.checks import check_choice, check_instance, check_integer, check_number, check_values
from boostplug.core.extras import imported
from boostplug.core.randomness import RandomState, generator
from boostplug.data.boundaries import numbers_of_rows, places_within
from boostplug.data.click_log import ClickLog
from boostplug.data.tables import rows_of
from boostplug.datasets.ranking_data import RankingData
from boostplug.metrics.grades import exp2_less_one

_LARGEST_LABEL = 1000.0  # 2^1000 is finite
_SHARE, _LEAST_QUERIES = 0.01, 10  # of the queries, whose labels train a production ranker
_PRODUCTION = {
    "objective": "lambdarank",
    "num_leaves": 7,
    "min_data_in_leaf": 5,
    "learning_rate": 0.1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbosity": -1,
}
_N_TREES = 20


def simulate(
    data: RankingData,
    *,
    model: Literal["position", "cascade", "dbn"] = "position",
    eta: float = 1.0,
    noise: float = 0.1,
    ranker: Any = None,
    sessions: int = 10_000,
    max_position: int | None = None,
    random_state: RandomState = None,
) -> ClickLog:
    r"""Simulate a click log from labelled data.

    Each session draws a query, uniformly and with replacement. The production ranker orders its documents, and the
    first `max_position` are shown. A document of label y attracts with probability

    .. math:: a = \text{noise} + (1 - \text{noise}) \frac{2^y - 1}{2^{y_{\max}} - 1},

    where :math:`y_{\max}` is the largest label of the data.

    Parameters
    ----------
    data : RankingData
        Labelled data, with labels from 0 to 1000.
    model : "position", "cascade" or "dbn", default "position"
        How users click.

        - "position": the user looks at position p with probability :math:`θ_p = (1/p)^η`, and clicks a document that
          attracts. Documents of one page are independent.
        - "cascade": the user goes down the page and stops at the first document that attracts, which is clicked. After
          a document without a click, the user goes on from p to p + 1 with probability :math:`(p/(p+1))^η`. Without
          clicks, position p is therefore looked at with probability :math:`(1/p)^η`, as in "position".
        - "dbn": as "cascade", but a click ends the session only with the probability that the document satisfies,
          :math:`(2^y - 1)/2^{y_{\max}}`; else the user goes on as without a click.
    eta : float, default 1.0
        η, from 0 to 100: how strongly the position matters. With 0 every position is looked at.
    noise : float, default 0.1
        Probability, from 0 to 1, that a document of label 0 attracts.
    ranker : array-like of shape (n_rows,), object with ``predict(X)``, "random", None, or list of these, default None
        The production ranker: scores of the rows of `data`, or a fitted ranker. Ties are broken at random, once per
        query. "random" shuffles every page anew. None trains LightGBM's lambdarank on the labels of 1 % of the queries,
        at least 10. Of several rankers, each page is made by one drawn at random; ``[None, None]`` trains two on
        different queries.
    sessions : int, default 10000
        Number of result pages.
    max_position : int or None, default None
        Length of a page. None shows all documents of the query.
    random_state : int, Generator, RandomState or None, default None
        An integer always gives the same log.

    Returns
    -------
    ClickLog
        With `query` (number of the query in `data`, from 0), `document` (row number in `data`) and, of several rankers,
        `ranker` (number in the list, from 0). Pages are sorted by query.

    Raises
    ------
    ValueError
        If an argument has an impossible value or a label is negative.
    ImportError
        If `ranker` is None and LightGBM is not installed.

    Notes
    -----
    "position" is the model of Joachims, Swaminathan & Schnabel, "Unbiased learning-to-rank with biased feedback" (WSDM
    2017). "cascade" is Craswell, Zoeter, Taylor & Ramsey, "An experimental comparison of click position-bias models"
    (WSDM 2008), with users who give up. "dbn" is Chapelle & Zhang, "A dynamic Bayesian network click model for web
    search ranking" (WWW 2009), whose chance of going on is the same at every position; here it depends on p. The
    satisfaction is the one of the metric `ERR`.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.RankingData([[1.0], [2.0], [3.0]], [0, 2, 1], qid=[1, 1, 2])
    >>> log = bp.clicks.simulate(data, ranker=[0.3, 0.1, 0.2], sessions=4, random_state=0)
    >>> log.position, log.document
    (array([1, 2, 1, 1, 1]), array([0, 1, 2, 2, 2]))
    """
    found = check_instance("data", data, RankingData, "RankingData(X, y, qid=qid)")
    check_choice("model", model, ("position", "cascade", "dbn"))
    eta = check_number("eta", eta, least=0, most=100)
    noise = check_number("noise", noise, least=0, most=1)
    sessions = check_integer("sessions", sessions, 1)
    if max_position is not None:
        max_position = check_integer("max_position", max_position, 1, ", or None for all documents")
    rng = generator(random_state)
    y, group = found.y, found.group
    check_values("y", (y < 0) | (y > _LARGEST_LABEL), y, "is not a label from 0 to 1000; shift or scale the labels")
    filled = np.flatnonzero(group > 0)
    if not len(filled):
        raise ValueError("data has no rows; pass at least one query with documents")

    of_several = isinstance(ranker, (list, tuple)) and not any(isinstance(entry, Real) for entry in ranker)
    rankers = list(ranker) if of_several else [ranker]
    if not rankers:
        raise ValueError("ranker is an empty list; pass at least one ranker, or None to train one")
    names = [f"ranker[{i}]" for i in range(len(rankers))] if of_several else ["ranker"]
    scores = [_scores(name, one, found, rng) for name, one in zip(names, rankers, strict=True)]

    query = np.sort(filled[rng.integers(len(filled), size=sessions)])
    made_by = rng.integers(len(rankers), size=sessions) if of_several else np.zeros(sessions, np.int64)
    size = group[query] if max_position is None else np.minimum(group[query], max_position)
    page = np.repeat(np.arange(sessions), size)
    position = places_within(size) + 1
    document = np.empty(len(page), np.int64)
    for i, of_rows in enumerate(scores):
        mine = made_by == i
        document[mine[page]] = _documents(found, of_rows, query[mine], size[mine], rng)

    gain = exp2_less_one(y)
    largest = gain.max()
    attraction = noise + (1.0 - noise) * (gain / largest if largest > 0 else gain)
    if model == "position":
        looked_at = (1.0 / position) ** eta
        clicked = rng.random(len(page)) < looked_at * attraction[document]
    else:
        satisfaction = gain / (largest + 1.0) if model == "dbn" else np.ones(len(y))
        clicked = _down_the_page(attraction[document], satisfaction[document], size, eta, rng)
    return ClickLog(
        clicked,
        group=size,
        position=position,
        query=query[page],
        document=document,
        ranker=made_by[page] if of_several else None,
    )


def _scores(name: str, ranker: Any, data: RankingData, rng: np.random.Generator) -> Floats | None:
    """Return a ranker's scores of all rows; None for pages in random order."""
    if isinstance(ranker, str):
        check_choice(name, ranker, ("random",), ", scores, an object with predict(X) or None")
        return None
    if ranker is None:
        return _production_scores(data, rng)
    if not isinstance(ranker, type) and hasattr(ranker, "predict"):
        ranker, name = ranker.predict(data.X), f"{name}.predict(X)"
    scores = numbers_of_rows(name, ranker, data.n_rows, **{"data.X": data.X})
    check_values(name, np.isnan(scores), scores, "has no rank; replace it")
    return scores


def _production_scores(data: RankingData, rng: np.random.Generator) -> Floats:
    """Return the scores of a few small trees that have seen few labels."""
    lgb = imported("lightgbm", "a production ranker (ranker=None) needs")
    filled = np.flatnonzero(data.group > 0)
    n_queries = min(len(filled), max(_LEAST_QUERIES, round(_SHARE * len(filled))))
    chosen = np.zeros(data.n_queries, bool)
    chosen[rng.choice(filled, n_queries, replace=False)] = True
    rows = np.flatnonzero(chosen[data.queries.query_of_row])
    grades, label = np.unique(data.y[rows], return_inverse=True)  # lambdarank takes integers only
    dataset = lgb.Dataset(rows_of(data.X, rows), label, group=data.group[chosen])
    trained = lgb.train({**_PRODUCTION, "label_gain": exp2_less_one(grades).tolist()}, dataset, _N_TREES)
    scores: Floats = trained.predict(data.X, num_threads=1)
    return scores


def _documents(data: RankingData, scores: Floats | None, query: Ints, size: Ints, rng: np.random.Generator) -> Ints:
    """Return the rows of pages, from the highest score down, in random order where there are no scores."""
    start = data.queries.boundaries[query]
    if scores is None:
        return _shuffled(start, data.group[query], size, rng)
    order = np.lexsort((rng.random(len(scores)), -scores, data.queries.query_of_row))
    rows: Ints = order[np.repeat(start, size) + places_within(size)]
    return rows


def _shuffled(start: Ints, n_documents: Ints, size: Ints, rng: np.random.Generator) -> Ints:
    """Return the rows of pages whose documents are drawn without replacement, in random order."""
    first = np.cumsum(n_documents) - n_documents
    within = places_within(n_documents)
    rows = np.repeat(start, n_documents) + within
    for p in range(int(size.max(initial=0))):  # the shuffle of Fisher and Yates, of all pages at once
        longer = size > p
        here = first[longer] + p
        there = here + (rng.random(len(here)) * (n_documents[longer] - p)).astype(np.int64)
        rows[here], rows[there] = rows[there], rows[here]
    shuffled: Ints = rows[within < np.repeat(size, n_documents)]
    return shuffled


def _down_the_page(attraction: Floats, satisfaction: Floats, size: Ints, eta: float, rng: np.random.Generator) -> Bools:
    """Return the clicks of users who go down the page until they are satisfied, or give up."""
    clicked = np.zeros(len(attraction), bool)
    first = np.cumsum(size) - size
    looking = np.flatnonzero(size > 0)
    for p in range(1, int(size.max()) + 1):
        rows = first[looking] + p - 1
        attracts, satisfies, goes_on = rng.random((3, len(rows)))
        clicked[rows] = attracts < attraction[rows]
        stops = clicked[rows] & (satisfies < satisfaction[rows])
        looking = looking[~stops & (goes_on < (p / (p + 1)) ** eta) & (size[looking] > p)]
    return clicked
