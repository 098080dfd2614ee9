"""
Any convex loss, by regression trees
====================================

Huber's function of the lead that a pair lacks, boosted on a bound: no round raises the risk.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import boostplug as bp


def pairs_of(queries):
    """Return the rows of all pairs of different grades: winners and losers."""
    found = []
    for first, last in pairwise(queries.boundaries):
        grade = queries.labels[first:last]
        found.append(first + np.array(np.nonzero(np.greater.outer(grade, grade))))
    return np.hstack(found)


class HuberPairs(bp.Loss):
    """0 from a lead of 1 on, a parabola below it, a line from 2 below: outliers count less."""

    traits = bp.Traits(hessian="global")

    def compute_value(self, scores, queries):
        """Return the risk of each query."""
        x, y = queries.remember((HuberPairs,), lambda: pairs_of(queries))
        short = np.maximum(1.0 - (scores[x] - scores[y]), 0.0)
        losses = np.where(short < 2.0, 0.5 * short**2, 2.0 * short - 2.0)
        return np.bincount(queries.query_of_row[x], losses, queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        """Return the gradient, and a diagonal that bounds the Hessian: 2 for each pair of a row."""
        x, y = queries.remember((HuberPairs,), lambda: pairs_of(queries))
        pull, n = np.clip(1.0 - (scores[x] - scores[y]), 0.0, 2.0), queries.n_rows
        gradient = np.bincount(y, pull, n) - np.bincount(x, pull, n)
        return scale * gradient, scale * 2.0 * np.bincount(np.r_[x, y], minlength=n)


fold = bp.datasets.load_bundled()
rounds = {"n_estimators": 25, "learning_rate": 0.3, "random_state": 1}
ranker = bp.QuadraticBoundRanker(loss=HuberPairs(), **rounds)
ranker.fit(fold.train.X, fold.train.y, qid=fold.train.qid)
print(f"test NDCG@10 {ranker.score(fold.test.X, fold.test.y, qid=fold.test.qid):.4f}")

# %%
# The risk after each round, beside what it does for the ranking of test queries.

ndcg = [bp.NDCG(10)(scores, fold.test.queries) for scores in ranker.staged_predict(fold.test.X)]
_, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
left.plot(ranker.history_["risk"], marker=".")
left.set(xlabel="round", ylabel="risk of the training pairs", title="Falls in every round")
right.plot(range(1, len(ndcg) + 1), ndcg, marker=".")
right.set(xlabel="round", ylabel="test NDCG@10", title="May go up and down")
plt.show()
