"""Synthetic ranking data that resembles web search, and the fixed set that stands in where no data are given.

Everything that decides a value is an addition, a product, a quotient, a square root or a comparison of uniform draws.
Each is rounded the same on every platform. There is no exponential or logarithm of a library, and no sum in an order of
its choice. So a seed means the same data wherever NumPy's PCG64 and its uniform draws do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_integer, check_number
from boostplug.core.randomness import RandomState, generator
from boostplug.datasets.ranking_data import Fold, RankingData

_N_TRAITS = 6  # hidden properties of a document that decide its relevance
_ABOVE = (0.30, 0.36)  # share of rows above grade 0; of these, the share above each next grade
_LONGEST = 8  # in mean list sizes
# What a column shows, in turn: see _column.
_KINDS = ("match", "count", "match", "quality", "blend", "copy", "match", "context", "step", "noise")
_BUNDLED_SIZES = (250, 90, 150)
_BUNDLED_SEED = 20090719


def make_ranking(
    n_queries: int = 100,
    *,
    n_features: int = 30,
    mean_list_size: float = 30.0,
    n_grades: int = 5,
    noise: float = 0.5,
    missing: float = 0.05,
    empty_queries: float = 0.1,
    random_state: RandomState = None,
) -> RankingData:
    """Make a synthetic ranking data set that is as unpleasant as web search.

    Relevance is a sum of effects of hidden traits. Some are monotone, one peaks in the middle, some are products of
    two, some change with the kind of the query. The columns show the traits in a noisy way, shifted and stretched query
    by query. They are counts, steps and blends, and near copies of each other. Other columns are properties of the
    query, or plain noise. Half of the columns have missing values, several of them at once.

    Parameters
    ----------
    n_queries : int, default 100
    n_features : int, default 30
        Columns of each kind come in turn: with fewer than about 10, some kinds are absent.
    mean_list_size : float, default 30
        Documents per query, ≥ 1; sizes have a long tail, up to 8 times the mean.
    n_grades : int, default 5
        Grades are 0 to ``n_grades - 1``. Each is rarer than the one below, and most documents have grade 0.
    noise : float, default 0.5
        What the columns cannot tell, against the spread (1) of what they can.
    missing : float, default 0.05
        Share of NaN in `X`, from 0 to 0.4 (rounding aside).
    empty_queries : float, default 0.1
        Share of queries without a document above grade 0; every other query has one.
    random_state : int, Generator, RandomState or None, default None
        An integer always gives the same data.

    Returns
    -------
    RankingData
        With ids from 1 in `qid`, and `doc_ids` None.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> data = make_ranking(20, n_features=5, random_state=0)
    >>> data
    RankingData(n_queries=20, n_rows=532, n_features=5)
    >>> data.y[:9]
    array([0., 0., 0., 0., 0., 0., 1., 0., 0.])
    """
    check_integer("n_queries", n_queries, 1)
    check_integer("n_features", n_features, 1)
    check_integer("n_grades", n_grades, 2)
    check_number("mean_list_size", mean_list_size, least=1)
    check_number("noise", noise, least=0, most=1e100)
    check_number("missing", missing, least=0, most=0.4)
    check_number("empty_queries", empty_queries, least=0, most=1)
    rng = generator(random_state)

    group = _list_sizes(rng, n_queries, mean_list_size)
    query = np.repeat(np.arange(n_queries), group)
    context = _normal(rng, n_queries, 3)
    # Documents of one query resemble each other, and the traits of one document too.
    shared, own = _normal(rng, n_queries, _N_TRAITS), _normal(rng, len(query), _N_TRAITS)
    overall = _normal(rng, len(query), 1)[0]
    traits = [0.5 * s[query] + 0.75 * o + 0.45 * overall for s, o in zip(shared, own, strict=True)]

    utility = _utility(own, [c[query] for c in context], overall)
    # No column tells which queries have many relevant documents: grades are harder to predict than orders.
    ease = 2.0 * _normal(rng, n_queries, 1)[0]
    utility = utility + ease[query] + noise * _normal(rng, len(query), 1)[0]
    y = _grades(utility, query, group, n_grades, empty_queries)

    columns: list[Floats] = []
    X = np.empty((len(query), n_features), np.float32)
    for c in range(n_features):
        columns.append(_column(rng, columns, traits, context, query))
        X[:, c] = columns[c]
    _drop(rng, X, missing)
    return RankingData(X=X, y=y, qid=query + 1, group=group)


def load_bundled() -> Fold:
    """Return the fixed data set that the command line and the examples use where no other is given.

    It is made by `make_ranking` from a fixed seed: one world, cut by queries.

    Returns
    -------
    Fold
        Of 250, 90 and 150 queries with 35 documents on average, 30 features, grades 0 to 4.

    Examples
    --------
    >>> load_bundled().train
    RankingData(n_queries=250, n_rows=8384, n_features=30)
    """
    whole = make_ranking(sum(_BUNDLED_SIZES), n_features=30, mean_list_size=36.0, random_state=_BUNDLED_SEED)
    edges = np.cumsum([0, *_BUNDLED_SIZES])
    rows = whole.queries.boundaries[edges]
    parts = (
        RankingData(
            X=whole.X[rows[i] : rows[i + 1]].copy(),
            y=whole.y[rows[i] : rows[i + 1]].copy(),
            qid=whole.qid[rows[i] : rows[i + 1]].copy(),
            group=whole.group[edges[i] : edges[i + 1]].copy(),
        )
        for i in range(len(_BUNDLED_SIZES))
    )
    return Fold(*parts)


def _utility(own: Sequence[Floats], context: Sequence[Floats], overall: Floats) -> Floats:
    """Return what the columns can tell of the relevance of each document; its spread is about 1."""
    a, b, c, d, e, f = own
    kind, weight, _ = context
    saturating = a / (1.0 + np.abs(a))
    peaked = 1.0 - np.abs(b - 0.4)
    either = np.where(kind > 0, c, d)  # queries of one kind ask for c, the others for d
    both = np.minimum(a, c)
    return (
        0.9 * saturating
        + 0.35 * peaked
        + 0.45 * either
        + 0.4 * both
        + 0.3 * e * weight
        + 0.25 * b * f
        + 0.3 * np.maximum(overall, 0.0)
    )


def _grades(utility: Floats, query: NDArray[np.int64], group: NDArray[np.int64], n_grades: int, empty: float) -> Floats:
    """Cut the utility into grades, so that the asked share of queries has nothing above 0."""
    n_rows = len(utility)
    ascending = np.sort(utility)
    y = np.zeros(n_rows)
    share, ratio = _ABOVE
    for _ in range(n_grades - 1):
        at = int(n_rows * (1.0 - share))
        if at >= n_rows - 1:  # nothing is above the largest
            break
        y += utility > ascending[at]
        share *= ratio
    # The queries whose best document is the worst become, or stay, those without a relevant one.
    order = np.lexsort((-utility, query))
    best = order[np.cumsum(group) - group]
    rank = np.empty(len(group), np.int64)
    rank[np.argsort(utility[best], kind="stable")] = np.arange(len(group))
    is_empty = rank < round(empty * len(group))
    y[is_empty[query]] = 0.0
    lifted = best[~is_empty]
    y[lifted] = np.maximum(y[lifted], 1.0)
    return y


def _column(
    rng: np.random.Generator,
    columns: Sequence[Floats],
    traits: Sequence[Floats],
    context: Sequence[Floats],
    query: NDArray[np.int64],
) -> Floats:
    """Return the column after `columns`: some view of the traits, in a unit of its own."""
    c = len(columns)
    kind = _KINDS[c % len(_KINDS)]
    n_queries = len(context[0])
    trait = traits[(c + c // len(_KINDS)) % _N_TRAITS]
    error = _normal(rng, len(query), 1)[0]
    if kind == "context":
        return context[(c // len(_KINDS)) % len(context)][query]
    if kind == "noise":
        return error
    if kind == "match":  # a score on a scale of the query's own, as BM25's
        offset, stretch = _normal(rng, n_queries, 1)[0], 0.5 + rng.random(n_queries)
        return stretch[query] * (trait + 0.5 * error) * 4.0 + 6.0 * offset[query]
    if kind == "count":
        return np.floor(np.maximum(trait + 0.5 * error + 1.0, 0.0) * 3.0)
    if kind == "step":
        return np.floor((trait + 0.4 * error) * 0.8) + 5.0
    if kind == "quality":  # heavy-tailed
        x = trait + 0.6 * error
        return x * x * x * 100.0
    if kind == "blend":
        other = traits[(c + 2) % _N_TRAITS]
        return 0.6 * trait - 0.5 * other + 0.3 * error
    like = columns[int(rng.random() * len(columns))]  # a near copy
    return like * 0.1 + 0.02 * error


def _drop(rng: np.random.Generator, X: NDArray[np.float32], missing: float) -> None:
    """Take values out of every other column. A document without one field lacks several columns at once."""
    n_rows, n_features = X.shape
    every = 2 if n_features > 1 else 1
    affected = len(range(0, n_features, every))
    probability = missing * n_features / affected
    fields = rng.random((3, n_rows))
    for i, c in enumerate(range(0, n_features, every)):
        X[fields[i % 3] < probability, c] = np.nan


def _list_sizes(rng: np.random.Generator, n_queries: int, mean: float) -> NDArray[np.int64]:
    u = rng.random(n_queries)
    tail = 0.1 + 0.675 * u / np.sqrt(1.0 - u)  # of mean 1, falling as the third power
    sizes: Floats = np.minimum(1 + np.floor((mean - 1.0) * tail + 0.5), np.floor(_LONGEST * mean))
    return sizes.astype(np.int64)


def _normal(rng: np.random.Generator, n: int, k: int) -> list[Floats]:
    """Return `k` vectors of nearly normal draws: sums of six uniform ones, in a fixed order."""
    result = []
    for _ in range(k):
        total = rng.random(n)
        for _ in range(5):
            total = total + rng.random(n)
        result.append((total - 3.0) * np.sqrt(2.0))
    return result
