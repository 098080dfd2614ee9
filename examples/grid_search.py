"""
Cross-validation over whole queries
===================================

Choosing the distance and the size of trees with scikit-learn's ``GridSearchCV``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV

import boostplug as bp

train = bp.datasets.load_bundled().train
X = pd.DataFrame(train.X).add_prefix("f").assign(qid=train.qid)  # the column qid is no feature

distances = [
    bp.MPBoost(distance=d) for d in (bp.BinaryDistance(), bp.LinearDistance(), bp.LogDistance())
]
leaves = [4, 8, 16, 32]
search = GridSearchCV(
    bp.LGBMRanker(n_estimators=30, random_state=1, verbose=-1, n_jobs=1),
    {"objective": distances, "num_leaves": leaves},
    scoring=bp.make_scorer(bp.NDCG(10)),
    cv=bp.group_folds(train.qid, 3, shuffle=True, random_state=1),
)
search.fit(X, train.y)
best = search.best_params_
print(f"{best['objective'].name}, {best['num_leaves']} leaves: NDCG@10 {search.best_score_:.4f}")

# %%
# The search's table as it is: mean over the folds, and beside it their standard deviation.

results = search.cv_results_
_, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
mean, spread = (
    results[name].reshape(len(leaves), -1).T for name in ("mean_test_score", "std_test_score")
)
picture = axes.imshow(mean, cmap="Blues", aspect="auto")
for i, j in np.ndindex(mean.shape):
    color = "white" if picture.norm(mean[i, j]) > 0.5 else "black"
    axes.text(j, i, f"{mean[i, j]:.3f} ± {spread[i, j]:.3f}", ha="center", va="center", color=color)
axes.set_xticks(range(len(leaves)), leaves)
axes.set_yticks(range(len(distances)), [loss.name for loss in distances])
axes.set(xlabel="leaves", title="NDCG@10 over three folds")
plt.colorbar(picture)
plt.show()
