"""Metrics as plain loops over short lists: ties by writing out every order of the tied documents."""

import math
from itertools import combinations, groupby, pairwise, permutations, product

import numpy as np
from loops import exponential

import boostplug as bp

__all__ = ["TooMany", "mean_of", "per_query"]

_MOST_ORDERS = 120


class TooMany(Exception):  # noqa: N818 (no error: a check that is left out)
    """The list is too long, or has too many tied scores, for every order to be written out."""


def per_query(metric, scores, queries):
    """Return the metric of each query; NaN where undefined."""
    judged = queries.labelled_rows
    lists = [range(a, b) for a, b in pairwise(queries.boundaries.tolist())]
    return np.array([_of_list(metric, scores, queries.labels, judged, rows) if rows else np.nan for rows in lists])


def mean_of(metric, scores, queries, values):
    """Return the metric's one value from those of the queries."""
    weight = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
    lists = [range(a, b) for a, b in pairwise(queries.boundaries.tolist())]
    if getattr(metric, "pooled", False):
        weight = weight * [len(_preferences(scores, queries.labels, queries.labelled_rows, rows)) for rows in lists]
    defined = ~np.isnan(values) & (weight > 0)
    if not defined.any():
        return np.nan
    share = weight[defined] / weight[defined].max()
    return float(share @ values[defined] / share.sum())


def _of_list(metric, scores, labels, judged, rows):
    if isinstance(metric, bp.PairError):
        gaps = _preferences(scores, labels, judged, rows)
        if metric.ties == "order":
            raise TooMany
        tie = 1.0 if metric.ties == "full" else 0.5
        return sum(1.0 if gap < 0 else tie if gap == 0 else 0.0 for gap in gaps) / len(gaps) if gaps else np.nan
    if isinstance(metric, (bp.SpearmanRho, bp.KendallTau)):
        return _correlation(metric, scores, labels, [i for i in rows if judged[i]])
    value = _AT_RANKS[type(metric)]
    documents = [(labels[i], bool(judged[i])) for i in rows]
    if isinstance(metric, bp.Bpref):
        documents = [(labels[i], bool(judged[i]), scores[i] > -np.inf) for i in rows]
    values = [value(metric, [documents[i] for i in order]) for order in _orders(metric, [scores[i] for i in rows])]
    if np.isnan(values[0]):
        empty = getattr(metric, "empty", "skip")
        empty = ("skip" if getattr(metric, "convention", None) != "letor" else 0) if empty is None else empty
        return np.nan if empty == "skip" else float(empty)
    return float(np.mean(values))


def _orders(metric, scores):
    """Yield the places of documents by rank: in every order of the tied ones, or as the file has them."""
    ranked = sorted(range(len(scores)), key=lambda i: -scores[i])
    tied = [list(block) for _, block in groupby(ranked, key=lambda i: scores[i])]
    if metric.ties == "order":
        return [ranked]
    if math.prod(math.factorial(min(len(block), 9)) for block in tied) > _MOST_ORDERS:
        raise TooMany
    return [[i for block in blocks for i in block] for blocks in product(*map(permutations, tied))]


def _gain(metric, document):
    grade, judged = document
    if not judged:
        return 0.0
    if callable(metric.gain):
        return float(metric.gain(np.array([grade]))[0])
    return exponential(grade) if metric.gain == "exp2" else grade


def _dcg(metric, gains, k):
    gains = gains[:k]
    if metric.convention == "standard":
        return sum(g / math.log2(1 + j) for j, g in enumerate(gains, 1))
    return sum(g / (1.0 if j < 3 else math.log2(j)) for j, g in enumerate(gains, 1))


def _dcg_of(metric, ranked):
    return _dcg(metric, [_gain(metric, document) for document in ranked], metric.k)


def _ndcg_of(metric, ranked, k="own"):
    k = metric.k if k == "own" else k
    gains = [_gain(metric, document) for document in ranked]
    ideal = _dcg(metric, sorted(gains, reverse=True), k)
    if not ideal > 0:
        return np.nan
    if metric.convention == "letor" and isinstance(metric, bp.NDCG) and k is not None and len(ranked) < k:
        return 0.0
    return _dcg(metric, gains, k) / ideal


def _mean_ndcg_of(metric, ranked):
    return float(np.mean([_ndcg_of(metric, ranked, k) for k in range(1, len(ranked) + 1)]))


def _relevant(metric, ranked):
    return [judged and grade >= metric.relevant for grade, judged in ranked]


def _map_of(metric, ranked):
    relevant = _relevant(metric, ranked)
    if not any(relevant):
        return np.nan
    k = len(ranked) if metric.k is None else metric.k
    divisor = min(sum(relevant), k) if metric.divisor == "reachable" else sum(relevant)
    return sum(sum(relevant[:j]) / j for j in range(1, len(ranked) + 1) if j <= k and relevant[j - 1]) / divisor


def _mrr_of(metric, ranked):
    relevant = _relevant(metric, ranked)
    if not any(relevant):
        return np.nan
    first = relevant.index(True) + 1
    return 1.0 / first if metric.k is None or first <= metric.k else 0.0


def _precision_of(metric, ranked):
    relevant = _relevant(metric, ranked)
    return sum(relevant[: metric.k]) / metric.k if any(relevant) else np.nan


def _err_of(metric, ranked):
    goes_on, total = 1.0, 0.0
    stops = [exponential(grade) / 2.0 ** float(metric.max_grade) if judged else 0.0 for grade, judged in ranked]
    if not any(stops):
        return np.nan
    for j, stop in enumerate(stops[: metric.k], 1):
        total += goes_on * stop / j
        goes_on *= 1.0 - stop
    return total


def _recall_of(metric, ranked):
    relevant = _relevant(metric, ranked)
    return sum(relevant[: metric.k]) / sum(relevant) if any(relevant) else np.nan


def _r_precision_of(metric, ranked):
    relevant = _relevant(metric, ranked)
    return sum(relevant[: sum(relevant)]) / sum(relevant) if any(relevant) else np.nan


def _rbp_of(metric, ranked):
    if metric.max_grade is None:
        relevant = gains = _relevant(metric, ranked)
    else:
        relevant = [judged and grade > 0 for grade, judged in ranked]
        gains = [grade / metric.max_grade if judged else 0.0 for grade, judged in ranked]
    return (1 - metric.p) * sum(metric.p**j * gain for j, gain in enumerate(gains)) if any(relevant) else np.nan


def _bpref_of(metric, ranked):
    relevant = [grade >= metric.relevant for grade, judged, _ in ranked if judged]
    retrieved = [found for _, judged, found in ranked if judged]
    n = sum(relevant)
    least = min(n, len(relevant) - n)
    if n == 0:
        return np.nan
    above = [sum(not other for other in relevant[:i]) for i, one in enumerate(relevant) if one and retrieved[i]]
    return sum(1 - min(more, n) / least if more else 1.0 for more in above) / n


_AT_RANKS = {
    bp.NDCG: _ndcg_of,
    bp.DCG: _dcg_of,
    bp.MeanNDCG: _mean_ndcg_of,
    bp.MAP: _map_of,
    bp.MRR: _mrr_of,
    bp.Precision: _precision_of,
    bp.WTA: _precision_of,
    bp.ERR: _err_of,
    bp.Recall: _recall_of,
    bp.RPrecision: _r_precision_of,
    bp.RBP: _rbp_of,
    bp.Bpref: _bpref_of,
}


def _difference(a, b):
    return 0.0 if a == b else a - b  # equal infinities tie


def _preferences(scores, labels, judged, rows):
    """Return F_i - F_j of every pair in which i has the higher grade."""
    pairs = [(i, j) if labels[i] > labels[j] else (j, i) for i, j in combinations(rows, 2) if labels[i] != labels[j]]
    return [_difference(scores[i], scores[j]) for i, j in pairs if judged[i] and judged[j]]


def _ranks(values):
    return [sum(u > v for u in values) + (sum(u == v for u in values) + 1) / 2 for v in values]


def _correlation(metric, scores, labels, rows):
    x, y = [scores[i] for i in rows], [labels[i] for i in rows]
    if len(set(y)) < 2:
        return np.nan
    if metric.ties == "order":
        place = {i: k for k, i in enumerate(sorted(range(len(x)), key=lambda i: -x[i]))}
        x = [-float(place[i]) for i in range(len(x))]
    n = len(x)
    if isinstance(metric, bp.SpearmanRho):
        a, b = (np.array(_ranks(v)) - (n + 1) / 2 for v in (x, y))
        square = (n - 1) * n * (n + 1) / 12 if metric.ties == "average" else float(a @ a)
        return float(a @ b) / math.sqrt(square * float(b @ b)) if square > 0 else 0.0
    signs = [(np.sign(_difference(x[i], x[j])), np.sign(y[i] - y[j])) for i, j in combinations(range(n), 2)]
    untied = sum(a != 0 for a, _ in signs) if metric.ties == "corrected" else len(signs)
    return sum(a * b for a, b in signs) / math.sqrt(untied * sum(b != 0 for _, b in signs)) if untied else 0.0
