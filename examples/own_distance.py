"""
A distance of one's own
=======================

How far apart should two grades score? Any growing function of their gap says so to ``MPBoost``.
"""

import matplotlib.pyplot as plt
import numpy as np

import boostplug as bp


def root(gap):
    """Return how far apart two grades should score: positive, ideally growing with the gap."""
    return np.sqrt(gap)


fold = bp.datasets.load_bundled()
ranker = bp.XGBRanker(
    objective=bp.MPBoost(distance=root), n_estimators=60, random_state=1, early_stopping_rounds=10
)
ranker.fit(
    fold.train.X,
    (fold.train.y - 2.0) / 3.0,  # real-valued and negative grades are as good as 0..4
    qid=fold.train.qid,
    eval_set=[(fold.vali.X, fold.vali.y)],
    eval_qid=[fold.vali.qid],
    verbose=False,
)
ndcg = ranker.score(fold.test.X, fold.test.y, qid=fold.test.qid)
print(f"{ranker.objective}: test NDCG@10 {ndcg:.4f}")

# %%
# Beside those that the paper has.

gap = np.linspace(0.02, 4.0, 200)
_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for distance in (bp.BinaryDistance(), bp.LinearDistance(), bp.LogDistance(), bp.LogisticDistance()):
    axes.plot(gap, distance(gap), label=bp.MPBoost(distance=distance).name)
axes.plot(gap, root(gap), "k--", label="root, ours")
axes.set(
    xlabel="gap between two grades", ylabel="distance", title="The wider the gap, the further apart"
)
axes.legend()
plt.show()
