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


def qbrank(
    scores,
    labels,
    boundaries,
    margin="grade",
    preference_weight=0.5,
    hessian="bound",
    normalization="none",
    weight=None,
    labelled=None,
):
    """Return value per query, gradient and Hessian per row, without scale.

    A pair is active iff z_x > z_y, z = r - h, where the margin is the grade gap, and iff h_x - h_y < margin otherwise.
    """
    n, w = len(labels), preference_weight
    weight = np.ones(n) if weight is None else np.asarray(weight, float)
    labelled = np.ones(n, bool) if labelled is None else np.asarray(labelled)
    value, g, h, terms = np.zeros(len(boundaries) - 1), np.zeros(n), np.zeros(n), np.zeros(n)
    for q, (first, last) in enumerate(pairwise(boundaries)):
        judged = [i for i in range(first, last) if labelled[i] and weight[i] > 0]
        pairs = [(x, y) for x in judged for y in judged if labels[x] > labels[y]]
        c = {"rows": len(judged), "query": 1}.get(normalization, len(pairs)) / max(len(pairs), 1)
        for x, y in pairs:
            v = w * c * math.sqrt(weight[x]) * math.sqrt(weight[y])
            if margin == "grade":
                z_x, z_y = labels[x] - scores[x], labels[y] - scores[y]
                active, short = z_x > z_y, z_x - z_y
            else:
                active, short = scores[x] - scores[y] < margin, margin - (scores[x] - scores[y])
            terms[[x, y]] += v
            if active:
                value[q] += v / 2 * short**2
                g[x] -= v * short
                g[y] += v * short
            if active or hessian == "global":
                h[[x, y]] += 2 * v
        for i in judged:
            value[q] += (1 - w) * weight[i] / 2 * (labels[i] - scores[i]) ** 2
            g[i] -= (1 - w) * weight[i] * (labels[i] - scores[i])
            h[i] += (1 - w) * weight[i]
            terms[i] += (1 - w) * weight[i]
    if normalization == "documents":  # Algorithm 2: the average of a document's targets, inactive pairs included
        for i in range(n):
            g[i] = weight[i] * g[i] / terms[i] if terms[i] > 0 else 0.0
            h[i] = weight[i] if terms[i] > 0 else 0.0
    return value, g, h


def smooth_pairs(
    scores, labels, boundaries, functions, pair_weight=None, normalization="none", weight=None, labelled=None
):
    """Return value per query, gradient and Hessian per row of Σ w(r_i, r_j) ρ(F_i - F_j), without scale.

    `functions` are ρ, ρ' and ρ'' of one difference; `pair_weight` takes query, higher and lower grade.
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
            w = c * math.sqrt(weight[i] * weight[j])
            if pair_weight is not None:
                w *= pair_weight(q, labels[i], labels[j])
            rho, first_, second = (f(scores[i] - scores[j]) for f in functions)
            value[q] += w * rho
            g[i] += w * first_
            g[j] -= w * first_
            h[i] += w * second
            h[j] += w * second
    return value, g, h


def logistic(d):
    """Return σ(d), right for every d."""
    return 1.0 / (1.0 + math.exp(-d)) if d >= 0 else math.exp(d) / (1.0 + math.exp(d))


def ranknet(scores, labels, boundaries, sigmoid=1.0, **options):
    """Return value per query, gradient and Hessian per row, without scale."""
    s = sigmoid
    functions = (
        lambda d: max(0.0, -s * d) + math.log1p(math.exp(-abs(s * d))),
        lambda d: -s * logistic(-s * d),
        lambda d: s * s * logistic(s * d) * logistic(-s * d),
    )
    return smooth_pairs(scores, labels, boundaries, functions, **options)


def ndcg_boost(scores, labels, boundaries, sigmoid=1.0, hessian="newton", gain=None, **options):
    """Return value per query, gradient and Hessian per row, without scale; `gain` of one grade, 2^r - 1 by default."""
    n = len(labels)
    gain = (lambda r: 2.0**r - 1.0) if gain is None else gain
    weight = np.ones(n) if options.get("weight") is None else options["weight"]
    labelled = np.ones(n, bool) if options.get("labelled") is None else options["labelled"]
    ideal = []
    for first, last in pairwise(boundaries):
        gains = sorted((gain(labels[i]) for i in range(first, last) if labelled[i] and weight[i] > 0), reverse=True)
        ideal.append(sum(g / math.log2(1 + j) for j, g in enumerate(gains, 1)))
    s = sigmoid

    def curvature(d):
        gamma = logistic(s * d) * logistic(-s * d)
        return s * s * {"newton": gamma, "bound": 2.0 * gamma, "global": 1.0 / (3.0 * math.sqrt(3.0))}[hessian]

    functions = (
        lambda d: logistic(-s * d),
        lambda d: -s * logistic(s * d) * logistic(-s * d),
        curvature,
    )

    def pair_weight(q, high, low):
        return (gain(high) - gain(low)) / ideal[q] if ideal[q] > 0 else 0.0

    return smooth_pairs(scores, labels, boundaries, functions, pair_weight, **options)


def squared_error(scores, labels, boundaries, centred=False, weight=None, labelled=None):
    """Return value per query, gradient and Hessian per row, without scale."""
    n = len(labels)
    weight = np.ones(n) if weight is None else np.asarray(weight, float)
    labelled = np.ones(n, bool) if labelled is None else np.asarray(labelled)
    value, g, h = np.zeros(len(boundaries) - 1), np.zeros(n), np.zeros(n)
    for q, (first, last) in enumerate(pairwise(boundaries)):
        judged = [i for i in range(first, last) if labelled[i] and weight[i] > 0]
        if not judged or (centred and len(judged) == 1):
            continue
        errors = [labels[i] - scores[i] for i in judged]
        mean = np.average(errors, weights=weight[judged]) if centred else 0.0
        for i, error in zip(judged, errors, strict=True):
            value[q] += weight[i] / 2 * (error - mean) ** 2
            g[i] = -weight[i] * (error - mean)
            h[i] = weight[i]
    return value, g, h


def list_net(scores, labels, boundaries, target="softmax", gamma=0.5, weight=None, labelled=None):
    """Return value per query, gradient and Hessian per row, without scale.

    "xendcg" is what LightGBM's ``rank_xendcg`` reckons; there all weights are 1. `gamma` may be one for each row.
    """
    n = len(labels)
    gamma = np.broadcast_to(gamma, n)
    weight = np.ones(n) if weight is None else np.asarray(weight, float)
    labelled = np.ones(n, bool) if labelled is None else np.asarray(labelled)
    value, g, h = np.zeros(len(boundaries) - 1), np.zeros(n), np.zeros(n)
    for q, (first, last) in enumerate(pairwise(boundaries)):
        judged = [i for i in range(first, last) if labelled[i] and weight[i] > 0]
        if len(judged) < 2:
            continue
        v = weight[judged]
        of_list = sum(v * v) / sum(v)
        over = [  # what the others have over each document: 1/p - 1
            sum(weight[j] / weight[i] * math.exp(scores[j] - scores[i]) for j in judged if j != i) for i in judged
        ]
        rho = [1.0 / (1.0 + x) for x in over]
        rest = [r * x for r, x in zip(rho, over, strict=True)]
        if target == "softmax":
            best = max(labels[judged])
            phi = [w * math.exp(labels[i] - best) for i, w in zip(judged, v, strict=True)]
        else:
            phi = [w * (2.0 ** labels[i] - gamma[i]) for i, w in zip(judged, v, strict=True)]
        share = [x / sum(phi) for x in phi]
        value[q] = of_list * sum(s * math.log1p(x) for s, x in zip(share, over, strict=True))
        terms = []
        for k, (r, s) in enumerate(zip(rho, share, strict=True)):
            others = sum(x for j, x in enumerate(share) if j != k)
            terms.append(r - s if r < 0.5 else others - rest[k])  # the same, but for rounding
        lambdas = terms
        for _ in range(2 if target == "xendcg" else 0):
            parts = [x / y for x, y in zip(terms, rest, strict=True)]
            terms = [r * sum(x for j, x in enumerate(parts) if j != k) for k, r in enumerate(rho)]
            lambdas = [x + y for x, y in zip(lambdas, terms, strict=True)]
        for i, x, r, y in zip(judged, lambdas, rho, rest, strict=True):
            g[i] = of_list * x
            h[i] = of_list * r * y
    return value, g, h


def worth_of_positions(relevant, k):
    """Return what the positions are worth to average precision@k, as `lambda_rank` has it: kept, won."""
    kept, won, hits, passed = [], [], 0.0, 0.0
    for j, r in enumerate(relevant, 1):
        if j <= k:
            hits += r
            passed += r / j
            kept.append(hits / j - passed)
            won.append((hits + 1) / j - passed)
        else:
            kept.append(-passed)
            won.append(-passed)
    return kept, won


def lambda_rank(
    scores,
    labels,
    boundaries,
    metric="ndcg",
    k=None,
    relevant=1,
    gain=None,
    truncation=None,
    sigmoid=1.0,
    norm=False,
    weight=None,
    labelled=None,
    letor=False,
):
    """Return value per query, gradient and Hessian per row, without scale; every pair is visited on its own.

    Without a truncation tied documents have the mean over all positions of their block; with one they are in row order.
    """
    n, s = len(labels), sigmoid
    weight = np.ones(n) if weight is None else np.asarray(weight, float)
    labelled = np.ones(n, bool) if labelled is None else np.asarray(labelled)
    gain = (lambda r: 2.0**r - 1.0) if gain is None else gain
    value, g, h = np.zeros(len(boundaries) - 1), np.zeros(n), np.zeros(n)
    for q, (first, last) in enumerate(pairwise(boundaries)):
        order = sorted(
            (i for i in range(first, last) if labelled[i] and weight[i] > 0), key=lambda i: -scores[i]
        )  # stable
        blocks = [[a] for a in range(len(order))]
        if truncation is None:
            blocks = [[b for b, j in enumerate(order) if scores[j] == scores[i]] for i in order]
        if metric == "ndcg":
            level = [gain(labels[i]) for i in order]
            discount = [1 / math.log2(max(2, p) if letor else 1 + p) for p in range(1, len(order) + 1)]
            ideal = sum(d * x for d, x in list(zip(discount, sorted(level, reverse=True), strict=True))[:k])
            if letor and k is not None and len(order) < k:
                ideal = 0
            kept = won = discount
        else:
            level = [float(labels[i] >= relevant) for i in order]
            ideal = sum(level)
            share = [np.mean([level[b] for b in block]) for block in blocks]
            kept, won = worth_of_positions(share, len(order) if k is None else k)
        total = 0.0
        own, known = [], {}
        for a, i in enumerate(order):
            for b, j in enumerate(order):
                if not level[a] > level[b] or not ideal > 0 or (truncation is not None and min(a, b) >= truncation):
                    continue
                both = blocks[a][0], blocks[b][0]
                if both not in known:
                    places = [(x, y) for x in blocks[a] for y in blocks[b] if x != y]
                    known[both] = np.mean([kept[x] - kept[y] if x < y else won[y] - won[x] for x, y in places])
                w = known[both] * (level[a] - level[b]) / ideal
                if norm and scores[order[0]] != scores[order[-1]]:
                    w /= 0.01 + abs(scores[i] - scores[j])
                d = s * (scores[i] - scores[j])
                w *= math.sqrt(weight[i] * weight[j])
                own.append((i, j, w, d))
                total += 2 * s * w * logistic(-d)
        if norm and total > 0:
            total /= np.mean([weight[i] for i in order])
            own = [(i, j, w * math.log1p(total) / math.log(2.0) / total, d) for i, j, w, d in own]
        for i, j, w, d in own:
            value[q] += w * (max(0.0, -d) + math.log1p(math.exp(-abs(d))))
            g[i] -= s * w * logistic(-d)
            g[j] += s * w * logistic(-d)
            h[i] += s * s * w * logistic(d) * logistic(-d)
            h[j] += s * s * w * logistic(d) * logistic(-d)
    return value, g, h
