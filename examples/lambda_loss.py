"""
NDCG-Loss2++: weights by rank
=============================

LambdaLoss (Wang et al., CIKM 2018): a pair weighs what swapping its documents changes in a bound
of NDCG. The weights count as constants, so the gradient is not that of the value.
"""

from dataclasses import dataclass
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

import boostplug as bp


@dataclass(frozen=True, kw_only=True)
class NDCGLoss2(bp.Loss):
    """Σ w log(1 + exp(F_j - F_i)) over pairs with r_i > r_j; equal ranks would weigh nothing."""

    mu: float = 10.0
    grades = bp.LabelRange(0.0, 30.0)  # of gains 2^r - 1
    traits = bp.Traits(  # w follows ranks, which jump, and go by row among equal scores
        hessian="model", gradient_of_value=False, ties_in_row_order=True, labels=grades
    )

    def pairs(self, scores, queries):
        """Yield the query, rows, weights w of (winner, loser) and leads F_i - F_j of each list."""
        lists, minus = queries.judged_lists, np.subtract.outer
        for query, (a, b) in zip(lists.query, pairwise(lists.start), strict=True):
            rows, gain, v = lists.rows[a:b], 2.0 ** lists.grade[a:b] - 1.0, lists.weight[a:b]
            d = 1.0 / np.log2(np.arange(2.0, len(rows) + 3.0))  # discounts of the ranks from 1
            rank = np.argsort(np.argsort(-scores[rows], kind="stable"))
            gap = np.maximum(np.abs(minus(rank, rank)), 1)
            w = np.abs(minus(d[rank], d[rank])) + self.mu * (d[gap - 1] - d[gap])
            w *= np.maximum(minus(gain, gain), 0.0) / max(np.sort(gain)[::-1] @ d[:-1], 1e-9)
            yield query, rows, w * np.multiply.outer(v, v) ** 0.5, minus(scores[rows], scores[rows])

    def compute_value(self, scores, queries):
        """Return the loss of each query."""
        value = np.zeros(queries.n_queries)
        for query, _, w, lead in self.pairs(scores, queries):
            value[query] = np.sum(w * np.logaddexp(0.0, -lead))
        return value

    def compute_gradient_hessian(self, scores, queries, scale):
        """Return both derivatives at these weights."""
        g, h = np.zeros((2, queries.n_rows))
        for _, rows, w, lead in self.pairs(scores, queries):
            slope, curve = scale * w * expit(-lead), scale * w * expit(-lead) * expit(lead)
            g[rows], h[rows] = slope.sum(0) - slope.sum(1), curve.sum(0) + curve.sum(1)
        return g, np.maximum(h, 1e-16 * np.abs(g))


result = bp.compare(bp.datasets.load_bundled(), losses=[NDCGLoss2(), "ranknet"], rounds=60, seeds=1)
print(result)
result.to_frame().plot.barh("method", "NDCG@10", legend=False, title="test NDCG@10")
plt.show()
