"""
A loss of one's own, from scratch
=================================

Derive from ``bp.Loss``, say the value of each query and two derivatives per row.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import boostplug as bp


@dataclass(frozen=True, kw_only=True)
class PseudoHuber(bp.Loss):
    """Robust regression on the grades: Σ v (√(1 + (F - r)²) - 1), v the row weights."""

    traits = bp.Traits(hessian="exact", shift_invariant=False)

    def _parts(self, scores, queries):
        weight = queries.judged * (1.0 if queries.row_weight is None else queries.row_weight)
        off = scores - queries.labels
        return weight, off, np.sqrt(1.0 + off**2)

    def compute_value(self, scores, queries):
        """Return the loss of each query."""
        weight, _, root = self._parts(scores, queries)
        return np.bincount(queries.query_of_row, weight * (root - 1.0), minlength=queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        """Return both derivatives times the scale, by default documents over their weight."""
        weight, off, root = self._parts(scores, queries)
        return scale * weight * off / root, scale * weight / root**3


bp.testing.check_loss(PseudoHuber())  # every property, or an error that names the broken one
fold = bp.datasets.load_bundled()
trees = {"n_estimators": 60, "max_depth": 4, "learning_rate": 0.1, "random_state": 1}
ranker = bp.XGBRanker(objective=PseudoHuber(), **trees)
ranker.fit(fold.train.X, fold.train.y, qid=fold.train.qid)
print(f"test NDCG@10 {ranker.score(fold.test.X, fold.test.y, qid=fold.test.qid):.4f}")

# %%
# Scores are in the unit of the grades, like those of a regression. The many zeros pull rare high
# grades down.

scores = ranker.predict(fold.test.X)
_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
by_grade = [scores[fold.test.y == grade] for grade in range(5)]
axes.boxplot(by_grade, tick_labels=range(5), showfliers=False)
axes.plot(range(1, 6), range(5), "k:", label="score = grade")
axes.set(xlabel="grade of a test document", ylabel="score", title="Scores of each grade")
axes.legend()
plt.show()
