"""
One added argument in an XGBoost script
=======================================

``obj=`` takes a loss over all pairs. A mean says little about queries: which ones win, and which
lose?
"""

import matplotlib.pyplot as plt
import numpy as np
import xgboost as xgb

import boostplug as bp

fold = bp.datasets.load_bundled()
train = xgb.QuantileDMatrix(fold.train.X, fold.train.y, group=fold.train.group)
valid = xgb.QuantileDMatrix(fold.vali.X, fold.vali.y, group=fold.vali.group, ref=train)
params = {
    "objective": "rank:pairwise",  # what the saved model says; obj replaces its gradient
    "base_score": 0.0,
    "disable_default_eval_metric": True,
    "eta": 0.1,
    "max_leaves": 31,
    "grow_policy": "lossguide",
    "seed": 1,
}

per_query = []
for loss in (None, bp.MPBoost()):
    booster = xgb.train(
        params,
        train,
        num_boost_round=200,
        obj=loss,
        evals=[(valid, "valid")],
        custom_metric=bp.NDCG(10),  # reported as pre_NDCG@10, so that XGBoost maximises it
        early_stopping_rounds=30,
        verbose_eval=False,
    )
    best = (0, booster.best_iteration + 1)
    scores = booster.predict(xgb.DMatrix(fold.test.X), iteration_range=best)
    ndcg = bp.NDCG(10)(scores, fold.test.queries)
    print(f"{loss or 'rank:pairwise'}: {best[1]} rounds, test NDCG@10 {ndcg:.4f}")
    per_query.append(bp.NDCG(10).per_query(scores, fold.test.queries))

# %%
# A bar for each test query that has something to find.

difference = np.sort((per_query[1] - per_query[0])[~np.isnan(per_query[0])])
_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
colours = np.where(difference > 0, "tab:blue", "tab:red")
axes.bar(range(len(difference)), difference, width=1.0, color=colours)
mean = difference.mean()
axes.axhline(mean, color="black", linestyle="--", label=f"mean {mean:+.3f}")
axes.set(xlabel="test queries, sorted", ylabel="NDCG@10, MPBoost − rank:pairwise", xticks=[])
axes.set_title(f"{(difference > 0).sum()} queries win, {(difference < 0).sum()} lose")
axes.legend()
plt.show()
