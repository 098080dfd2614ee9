"""
One changed line in a LightGBM script
=====================================

The objective ``"lambdarank"`` becomes a loss over all pairs. The saved model is an ordinary
LightGBM model.
"""

import lightgbm as lgb
import matplotlib.pyplot as plt

import boostplug as bp

fold = bp.datasets.load_bundled()
train = lgb.Dataset(fold.train.X, fold.train.y, group=fold.train.group)
valid = train.create_valid(fold.vali.X, fold.vali.y, group=fold.vali.group)
params = {"learning_rate": 0.1, "num_leaves": 31, "metric": "None", "seed": 1, "verbose": -1}

# %%
# Both objectives stop by the same measure of the validation queries.

_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for objective in ("lambdarank", bp.MPBoost()):
    log = {}
    booster = lgb.train(
        {**params, "objective": objective},
        train,
        num_boost_round=200,
        valid_sets=[valid],
        feval=bp.NDCG(10),
        callbacks=[lgb.early_stopping(30, verbose=False), lgb.record_evaluation(log)],
    )
    scores = booster.predict(fold.test.X)
    name = getattr(objective, "name", objective)
    ndcg = bp.NDCG(10)(scores, fold.test.queries)
    print(f"{name}: {booster.best_iteration} rounds, test NDCG@10 {ndcg:.4f}")
    curve = log["valid_0"]["NDCG@10"]
    (line,) = axes.plot(range(1, len(curve) + 1), curve, label=name)
    axes.plot(booster.best_iteration, max(curve), "o", color=line.get_color())
axes.set(
    xlabel="round",
    ylabel="validation NDCG@10",
    title="The best round of each, and 30 rounds in vain after it",
)
axes.legend()
plt.show()

# %%
# The model loads where boostplug is not installed.

plain = lgb.Booster(model_str=booster.model_to_string())
assert (plain.predict(fold.test.X) == scores).all()
