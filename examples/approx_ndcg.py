"""
ApproxNDCG: a smooth metric as a loss
=====================================

Qin, Liu & Li (2010): the rank of a document is 1 plus the number of documents above it. With a
smooth step in place of "above", NDCG has a gradient. Nothing is sorted, so ties need no rule.
"""

from dataclasses import dataclass
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

import boostplug as bp


@dataclass(frozen=True, kw_only=True)
class ApproxNDCG(bp.Loss):
    """Σ G_i (1 - 1 / log2(1 + rank_i)) with gains G over the ideal DCG and smooth ranks."""

    sharpness: float = 1.0  # of the step; the scores' unit is its inverse
    # Not convex: where a document falls, others rise. Gains are 2^r - 1.
    traits = bp.Traits(hessian="model", labels=bp.LabelRange(0.0, 30.0))

    def lists(self, scores, queries):
        """Yield the query, rows, leads F_i - F_j, gains times weights, and smooth ranks."""
        lists = queries.judged_lists
        for query, (a, b) in zip(lists.query, pairwise(lists.start), strict=True):
            rows, gain = lists.rows[a:b], 2.0 ** lists.grade[a:b] - 1.0
            best = np.sort(gain)[::-1] @ (1.0 / np.log2(np.arange(2.0, len(gain) + 2.0)))
            lead = self.sharpness * np.subtract.outer(scores[rows], scores[rows])
            rank = 0.5 + expit(-lead).sum(1)  # of itself it counts half
            yield query, rows, lead, lists.weight[a:b] * gain / max(best, 1e-9), rank

    def compute_value(self, scores, queries):
        """Return the loss of each query."""
        value = np.zeros(queries.n_queries)
        for query, _, _, gain, rank in self.lists(scores, queries):
            value[query] = gain @ (1.0 - 1.0 / np.log2(1.0 + rank))
        return value

    def compute_gradient_hessian(self, scores, queries, scale):
        """Return the gradient, and the curvature of each pair as if it were never negative."""
        g, h = np.zeros((2, queries.n_rows))
        for _, rows, lead, gain, rank in self.lists(scores, queries):
            cost = gain * np.log(2.0) / (np.log1p(rank) ** 2 * (1.0 + rank))  # of one rank more
            pull = self.sharpness * expit(lead) * expit(-lead) * np.subtract.outer(cost, cost)
            bend = np.abs(pull) * np.maximum(np.abs(np.tanh(0.5 * lead)), 0.1)  # not 0 at ties
            g[rows], h[rows] = -scale * pull.sum(1), scale * self.sharpness * bend.sum(1)
        return g, h


losses = [ApproxNDCG(), bp.RankNet()]
result = bp.compare(bp.datasets.load_bundled(), losses=losses, rounds=60, seeds=1)
print(result)
result.to_frame().plot.barh("method", "NDCG@10", legend=False, title="test NDCG@10")
plt.show()
