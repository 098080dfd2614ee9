"""A plain loop over explicit pairs, straight from the equation."""

import math

import numpy as np


def mpboost_pairs(scores, queries, distance, hessian="newton", normalization="none"):
    """Return value per query, gradient and Hessian per row, without scale."""
    pairs = queries.pairs
    n = queries.n_rows
    row_weight = np.ones(n) if queries.row_weight is None else queries.row_weight
    weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
    margin = np.ones(len(pairs)) if pairs.margin is None else pairs.margin
    value, g, h = np.zeros(queries.n_queries), np.zeros(n), np.zeros(n)
    kept = [
        (i, j, weight[k] * math.sqrt(row_weight[i] * row_weight[j]), margin[k])
        for k, (i, j) in enumerate(zip(pairs.winner, pairs.loser, strict=True))
    ]
    kept = [pair for pair in kept if pair[2] > 0]
    for q in range(queries.n_queries):
        mine = [pair for pair in kept if queries.query_of_row[pair[0]] == q]
        documents = {i for pair in mine for i in pair[:2]}
        for i, j, v, gap in mine:
            c = {"none": 1.0, "rows": len(documents) / len(mine), "query": 1.0 / len(mine)}[normalization]
            d = float(distance(np.array([gap]))[0])
            w = c * v * math.exp(-d * (scores[i] - scores[j]))
            value[q] += w
            g[i] -= d * w
            g[j] += d * w
            curvature = {"newton": d * d, "gentle": 1.0, "bound": 2.0 * d * d}[hessian] * w
            h[i] += curvature
            h[j] += curvature
    return value, g, h


def qbrank_pairs(scores, queries, w, margin, hessian):
    """Return value per query, gradient and Hessian per row, without scale and normalisation."""
    pairs = queries.pairs
    n = queries.n_rows
    row_weight = np.ones(n) if queries.row_weight is None else queries.row_weight
    labelled = np.ones(n, bool) if queries.labelled is None else queries.labelled
    value, g, h = np.zeros(queries.n_queries), np.zeros(n), np.zeros(n)
    for k, (i, j) in enumerate(zip(pairs.winner, pairs.loser, strict=True)):
        v = (1.0 if pairs.weight is None else pairs.weight[k]) * math.sqrt(row_weight[i] * row_weight[j])
        gap = 1.0 if pairs.margin is None else pairs.margin[k]
        tau = gap if margin == "grade" else margin
        short = max(0.0, tau - (scores[i] - scores[j]))
        value[queries.query_of_row[i]] += w / 2 * v * short**2
        g[i] -= w * v * short
        g[j] += w * v * short
        if short > 0 or hessian == "global":
            h[i] += 2 * w * v
            h[j] += 2 * w * v
    for i in np.flatnonzero(labelled):
        off = scores[i] - queries.labels[i]
        value[queries.query_of_row[i]] += (1 - w) / 2 * row_weight[i] * off**2
        g[i] += (1 - w) * row_weight[i] * off
        h[i] += (1 - w) * row_weight[i]
    return value, g, h
