"""
The papers' own algorithms
==========================

Boosted stumps and features beside the same ideas on trees, and an ensemble of stumps deployed in
LightGBM.
"""

import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np

import boostplug as bp

fold = bp.datasets.load_bundled()
train, vali, test = fold

rankers = {
    "RankBoost+, stumps": bp.RankBoostRanker(n_estimators=150, random_state=0),
    "RankBoost, stumps": bp.RankBoostRanker(variant="continuous", n_estimators=150, random_state=0),
    "AdaRank-MAP, features": bp.AdaRankRanker(),
}
curves = {}
for name, ranker in rankers.items():
    ranker.fit(train.X, train.y, qid=train.qid)
    curves[name] = [bp.NDCG(10)(scores, vali.queries) for scores in ranker.staged_predict(vali.X)]
    ndcg = ranker.score(test.X, test.y, qid=test.qid)
    print(f"{name:22} NDCG@10 {ndcg:.4f}, {len(curves[name])} rounds")

data = lgb.Dataset(train.X, train.y, group=train.group)
booster = lgb.train(
    {"objective": bp.MPBoost(), "verbose": -1, "num_threads": 1}, data, num_boost_round=60
)
ndcg = bp.NDCG(10)(booster.predict(test.X), test.queries)
print(f"{'MPBoost, trees':22} NDCG@10 {ndcg:.4f}, 60 rounds")
stages = range(1, 61)
curves["MPBoost, trees"] = [
    bp.NDCG(10)(booster.predict(vali.X, num_iteration=n), vali.queries) for n in stages
]

# %%
# A stump asks one question of one feature, a tree several in a row.

_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, curve in curves.items():
    axes.plot(range(1, len(curve) + 1), curve, label=name, marker="." if len(curve) < 20 else None)
axes.set(
    xlabel="round", ylabel="validation NDCG@10", title="Boosting weak rankers and boosting trees"
)
axes.legend(loc="lower right")
plt.show()

# %%
# The ensemble of stumps as a LightGBM model, which predicts the same.

model = rankers["RankBoost+, stumps"].model_
deployed = model.to_lightgbm()
difference = np.abs(deployed.predict(test.X) - model.predict(test.X)).max()
print(f"in LightGBM, largest difference: {difference:.0e}")
