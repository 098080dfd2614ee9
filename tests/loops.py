"""Plain double loops, straight from the equations: slow, obvious, and what the losses must equal.

Where a kernel's docstring has a NumPy version for one list, that version takes the place of a loop.
"""

import math
import re
import textwrap
from functools import cache
from itertools import pairwise

import numpy as np

import boostplug as bp
from boostplug.kernels.lists import calibrated, pearson, softmax
from boostplug.losses.base.smooth_pair_loss import SmoothPairLoss

__all__ = ["assert_equal", "expected", "exponential", "judged_rows", "logistic", "numpy_version"]


def expected(loss, scores, queries):
    """Return a loss's value per query, gradient and Hessian per row, without its scale; None where there is no loop."""
    if queries.pairs is not None and not isinstance(loss, (bp.MPBoost, bp.QBRank, bp.RankNet, bp.PairwiseLoss)):
        return None
    match loss:
        case bp.MPBoost():
            return mpboost(loss, scores, queries)
        case bp.QBRank():
            return qbrank(loss, scores, queries)
        case bp.NDCGBoost():
            found = ndcg_boost(loss, scores, queries)
        case bp.RankNet():
            found = ranknet(loss, scores, queries)
        case bp.PairwiseLoss() if loss.hessian != "global":
            found = pairwise_loss(loss, scores, queries)
        case bp.ListNet():
            found = list_net(loss, scores, queries)
        case bp.LambdaRank():
            found = lambda_rank(loss, scores, queries)
        case bp.SquaredError():
            found = squared_error(loss, scores, queries)
        case bp.LogisticError() | bp.CalibratedSoftmax():
            found = calibrated_loss(loss, scores, queries)
        case bp.Correlation():
            found = correlation(loss, scores, queries)
        case _:
            return None
    value, g, h = found
    return value, g, np.maximum(h, 1e-16 * np.abs(g))


def assert_equal(loss, scores, queries, accuracy=1e-9):
    """Check a loss against its loop, to a share of each query's largest derivative and of its value."""
    value, g, h = expected(loss, scores, queries)
    gradient, hessian = loss.gradient_hessian(scores, queries)
    scale = loss.scale(queries)
    vanishing = 1e-13 if isinstance(loss, SmoothPairLoss) else 1e-300  # pairs far apart in the right order count as 0
    for found, exact in ((gradient, scale * g), (hessian, scale * h)):
        for first, last in pairwise(queries.boundaries):
            largest = np.abs(exact[first:last]).max(initial=0.0)
            atol = max(accuracy * largest, 1e-16 * accuracy, vanishing)
            np.testing.assert_allclose(found[first:last], exact[first:last], rtol=0, atol=atol)
    np.testing.assert_allclose(loss.value(scores, queries), value, rtol=accuracy, atol=vanishing)


def exponential(grade):
    """Return 2^r - 1, with all digits for small grades."""
    return 2.0**grade - 1.0 if grade >= 0.5 else math.expm1(grade * math.log(2.0))


def gain_of(gain):
    """Return the function of one grade that a parameter `gain` names."""
    if callable(gain):
        return lambda grade: float(gain(np.array([grade]))[0])
    return {"exp2": exponential, "linear": float}[gain]


def logistic(d):
    """Return σ(d), right for every d."""
    return 1.0 / (1.0 + math.exp(-d)) if d >= 0 else math.exp(d) / (1.0 + math.exp(d))


def zeros(queries):
    return np.zeros(queries.n_queries), np.zeros(queries.n_rows), np.zeros(queries.n_rows)


def judged_rows(queries):
    """Return the weight of each row, and for each query its labelled rows of positive weight."""
    weight = np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight
    labelled = np.ones(queries.n_rows, bool) if queries.labelled is None else queries.labelled
    lists = [[i for i in range(a, b) if labelled[i] and weight[i] > 0] for a, b in pairwise(queries.boundaries)]
    return weight, lists


def preferences(queries):
    """Yield the pairs of each query, as winners, losers, weights and margins, and how many documents take part."""
    weight, lists = judged_rows(queries)
    given, labels = queries.pairs, queries.labels
    for q, rows in enumerate(lists):
        if given is None:
            i, j = (np.array(rows, int)[k] for k in np.nonzero(labels[rows][:, None] > labels[rows]))
            of_pair, margin = np.ones(len(i)), labels[i] - labels[j]
        else:
            own = queries.query_of_row[given.winner] == q
            i, j, ones = given.winner[own], given.loser[own], np.ones(own.sum())
            of_pair = ones if given.weight is None else given.weight[own]
            margin = ones if given.margin is None else given.margin[own]
        v = of_pair * np.sqrt(weight[i]) * np.sqrt(weight[j])
        pairs = tuple(array[v > 0] for array in (i, j, v, margin))
        yield q, pairs, len(rows) if given is None else len(np.union1d(*pairs[:2]))


def factor_of_query(normalization, n, n_pairs):
    return {"rows": n, "query": 1.0}[normalization] / n_pairs if n_pairs and normalization in {"rows", "query"} else 1.0


def pair_sums(queries, normalization, terms):
    """Return sums over pairs. `terms` returns value, slope and curvature for a query, winner, loser and margin."""
    value, g, h = (array.tolist() for array in zeros(queries))  # quicker one by one
    for q, pairs, n in preferences(queries):
        c = factor_of_query(normalization, n, len(pairs[0]))
        for i, j, v, gap in zip(*(array.tolist() for array in pairs), strict=True):
            w = c * v
            own, slope, curvature = terms(q, i, j, gap)
            value[q] += w * own
            g[i] += w * slope
            g[j] -= w * slope
            h[i] += w * curvature
            h[j] += w * curvature
    return np.array(value), np.array(g), np.array(h)


def mpboost(loss, scores, queries):
    scores, distance = scores.tolist(), cache(lambda gap: float(loss.distance(np.array([gap]))[0]))

    def terms(_, i, j, gap):
        d = distance(gap)
        exponent = -d * (scores[i] - scores[j])
        w = math.exp(min(exponent, 60.0))
        return (
            w * (1.0 + max(exponent - 60.0, 0.0)),
            -d * w,
            {"newton": d * d, "gentle": 1.0, "bound": 2.0 * d * d}[loss.hessian] * w,
        )

    return pair_sums(queries, loss.normalization, terms)


def qbrank(loss, scores, queries):
    """Sum over pairs and labels. A pair is active iff z_x > z_y, z = r - h, where the margin is the grade gap.

    In arrays of a query's pairs, so that lists of thousands take seconds.
    """
    w, labels = loss.preference_weight, queries.labels
    value, g, h = zeros(queries)
    share = np.zeros(queries.n_rows)
    for q, (x, y, v, gap), n in preferences(queries):
        if loss.margin == "grade" and queries.pairs is None:
            short = (labels - scores)[x] - (labels - scores)[y]
        else:
            short = (gap if loss.margin == "grade" else loss.margin) - (scores[x] - scores[y])
        v = w * factor_of_query(loss.normalization, n, len(v)) * v  # noqa: PLW2901 (of the loss)
        active = v * np.maximum(0.0, short)
        value[q] = (active * np.maximum(0.0, short)).sum() / 2
        np.add.at(g, x, -active)
        np.add.at(g, y, active)
        for end in (x, y):
            np.add.at(h, end, 2 * v * ((short > 0) | (loss.hessian == "global")))
            np.add.at(share, end, v)
    weight, lists = judged_rows(queries)
    for q, rows in enumerate(lists):
        v = (1 - w) * weight[rows]
        value[q] += (v * (labels[rows] - scores[rows]) ** 2).sum() / 2
        g[rows] -= v * (labels[rows] - scores[rows])
        h[rows] += v
        share[rows] += v
    if loss.normalization == "documents":  # Algorithm 2: the mean of a document's targets, with inactive pairs
        g = np.divide(weight * g, share, out=np.zeros_like(g), where=share > 0)
        h = np.where(share > 0, weight, 0.0)
    return value, g, h


def ranknet(loss, scores, queries):
    s, scores = float(loss.sigmoid), scores.tolist()

    def terms(_, i, j, __):
        d = s * (scores[i] - scores[j])
        return max(0.0, -d) + math.log1p(math.exp(-abs(d))), -s * logistic(-d), s * s * logistic(d) * logistic(-d)

    return pair_sums(queries, loss.normalization, terms)


def pairwise_loss(loss, scores, queries):
    def terms(_, i, j, __):
        d = np.array([scores[i] - scores[j]])
        own, slope, curvature = (float(np.asarray(f(d))[0]) for f in (loss.function, loss.first, loss.second))
        grades = np.array([queries.labels[i]]), np.array([queries.labels[j]])
        w = 1.0 if loss.weight is None or queries.pairs is not None else float(loss.weight(*grades)[0])
        return w * own, w * slope, w * curvature * (2.0 if loss.hessian == "bound" else 1.0)

    return pair_sums(queries, loss.normalization, terms)


def ndcg_boost(loss, scores, queries):
    gain, s, scores = gain_of(loss.gain), float(loss.sigmoid), scores.tolist()
    level = [float(gain(grade)) for grade in queries.labels]
    gains = [[level[i] for i in rows] for rows in judged_rows(queries)[1]]
    ideal = [sum(x / math.log2(1 + p) for p, x in enumerate(sorted(own, reverse=True), 1)) for own in gains]

    def terms(q, i, j, _):
        w = (level[i] - level[j]) / ideal[q] if ideal[q] > 0 else 0.0
        d = s * (scores[i] - scores[j])
        gamma = logistic(d) * logistic(-d)
        curvature = {"newton": gamma, "bound": 2.0 * gamma, "global": 1.0 / (3.0 * math.sqrt(3.0))}[loss.hessian]
        return w * logistic(-d), -w * s * gamma, w * s * s * curvature

    return pair_sums(queries, loss.normalization, terms)


def squared_error(loss, scores, queries):
    value, g, h = zeros(queries)
    weight, lists = judged_rows(queries)
    for q, rows in enumerate(lists):
        if not rows or (loss.centred and len(rows) == 1):
            continue
        errors = [queries.labels[i] - scores[i] for i in rows]
        mean = np.average(errors, weights=weight[rows]) if loss.centred else 0.0
        for i, error in zip(rows, errors, strict=True):
            value[q] += weight[i] / 2 * (error - mean) ** 2
            g[i] = -weight[i] * (error - mean)
            h[i] = weight[i]
    return value, g, h


@cache
def numpy_version(module):
    """Return the function that a docstring defines in its block of code, of at most 20 lines."""
    block = re.search(r"::(?: python)?\n\n((?: {4}.*\n|\n)+)", module.__doc__ + "\n").group(1)
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
    names = {"np": np}
    exec(textwrap.dedent(block), names)  # noqa: S102 (our own text)
    return names[re.search(r"def (\w+)\(", block).group(1)]


def by_list(module, scores, queries, labels, taken, *options):
    """Return what a NumPy version of a kernel gives for each list; `taken` says of its labels whether it counts."""
    value, g, h = zeros(queries)
    weight, lists = judged_rows(queries)
    for q, rows in enumerate(lists):
        if rows and taken(queries.labels[rows]):
            value[q], g[rows], h[rows] = numpy_version(module)(scores[rows], labels[rows], weight[rows], *options)
    return value, g, h


def calibrated_loss(loss, scores, queries):
    """Sum as LogisticError and CalibratedSoftmax do; lists without relevance lack the second part."""
    share, y = getattr(loss, "list_weight", 0.0), np.maximum(queries.labels / loss.max_grade, 1e-300)
    of_rows = by_list(calibrated, scores, queries, y, lambda labels: not labels.any(), 1.0 - share, 0.0)
    both = by_list(calibrated, scores, queries, y, np.any, 1.0 - share, share)
    return tuple(one + other for one, other in zip(of_rows, both, strict=True))


def correlation(loss, scores, queries):
    """Sum as Correlation does."""
    return by_list(pearson, scores, queries, queries.labels, lambda labels: np.ptp(labels) > 0.0, loss.epsilon)


def list_net(loss, scores, queries):
    """Sum as ListNet does; labels as shares are the softmax of their logarithms."""
    if loss.target == "softmax":
        return by_list(softmax, scores, queries, queries.labels, lambda labels: len(labels) > 1)
    with np.errstate(divide="ignore"):
        logs = np.log(queries.labels)
    return by_list(softmax, scores, queries, logs, lambda labels: len(labels) > 1 and labels.any())


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


def lambda_rank(loss, scores, queries):
    """Visit every pair on its own.

    Without a truncation tied documents have the mean over all positions of their block; with one they are in row order.
    """
    metric, k, truncation, s, norm = loss.metric, loss.metric.k, loss.truncation, float(loss.sigmoid), loss.norm
    letor = getattr(metric, "convention", "") == "letor"
    value, g, h = zeros(queries)
    weight, lists = judged_rows(queries)
    labels = queries.labels
    for q, judged in enumerate(lists):
        order = sorted(judged, key=lambda i: -scores[i])  # stable
        blocks = [[a] for a in range(len(order))]
        if truncation is None:
            blocks = [[b for b, j in enumerate(order) if scores[j] == scores[i]] for i in order]
        if isinstance(metric, bp.NDCG):
            level = [gain_of(metric.gain)(labels[i]) for i in order]
            discount = [1 / math.log2(max(2, p) if letor else 1 + p) for p in range(1, len(order) + 1)]
            ideal = sum(d * x for d, x in list(zip(discount, sorted(level, reverse=True), strict=True))[:k])
            if letor and k is not None and len(order) < k:
                ideal = 0
            kept = won = discount
        else:
            level = [float(labels[i] >= metric.relevant) for i in order]
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
                    known[both] = sum(kept[x] - kept[y] if x < y else won[y] - won[x] for x, y in places) / len(places)
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
