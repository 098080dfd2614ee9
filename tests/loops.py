"""Plain double loops, straight from the equations: slow, obvious, and the yardstick for the kernels."""

import math
from itertools import pairwise

import numpy as np


def mpboost(scores, labels, boundaries, distance, hessian="newton", normalization="none", weight=None, labelled=None):
    """Return value per query, gradient and Hessian per row, without scale.

    Distances are evaluated gap by gap; every pair is visited on its own.
    """
    n = len(labels)
    weight = np.ones(n) if weight is None else np.asarray(weight, float)
    labelled = np.ones(n, bool) if labelled is None else np.asarray(labelled)
    value, g, h = np.zeros(len(boundaries) - 1), np.zeros(n), np.zeros(n)
    for q, (first, last) in enumerate(pairwise(boundaries)):
        judged = [i for i in range(first, last) if labelled[i] and weight[i] > 0]
        pairs = [(i, j) for i in judged for j in judged if labels[i] > labels[j]]
        if not pairs:
            continue
        c = {"none": 1.0, "rows": len(judged) / len(pairs), "query": 1.0 / len(pairs)}[normalization]
        for i, j in pairs:
            d = float(distance(np.array([labels[i] - labels[j]], float))[0])
            w = c * math.sqrt(weight[i] * weight[j]) * math.exp(-d * (scores[i] - scores[j]))
            value[q] += w
            g[i] -= d * w
            g[j] += d * w
            curvature = {"newton": d * d, "gentle": 1.0, "bound": 2.0 * d * d}[hessian] * w
            h[i] += curvature
            h[j] += curvature
    return value, g, h
