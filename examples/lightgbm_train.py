"""One changed line in a LightGBM script: objective "lambdarank" becomes a loss over all pairs."""

import lightgbm as lgb

import boostplug as bp

fold = bp.datasets.load_bundled()
train = lgb.Dataset(fold.train.X, fold.train.y, group=fold.train.group)
valid = train.create_valid(fold.vali.X, fold.vali.y, group=fold.vali.group)
params = {"learning_rate": 0.1, "num_leaves": 31, "metric": "None", "seed": 1, "verbose": -1}

for objective in ("lambdarank", bp.MPBoost()):
    booster = lgb.train(
        {**params, "objective": objective},
        train,
        num_boost_round=200,
        valid_sets=[valid],
        feval=bp.NDCG(10),
        callbacks=[lgb.early_stopping(30, verbose=False)],
    )
    scores = booster.predict(fold.test.X)
    print(f"{objective}: {booster.best_iteration} rounds, test NDCG@10 {bp.NDCG(10)(scores, fold.test.queries):.4f}")

# The saved model is an ordinary LightGBM model: it loads where boostplug is not installed.
booster.save_model("model.txt")
assert (lgb.Booster(model_file="model.txt").predict(fold.test.X) == scores).all()
