"""One added argument in an XGBoost script: obj=a loss over all pairs."""

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
    name = loss or "rank:pairwise"
    print(f"{name}: {best[1]} rounds, test NDCG@10 {bp.NDCG(10)(scores, fold.test.queries):.4f}")

booster.save_model("model.ubj")
plain = xgb.Booster(model_file="model.ubj")
assert (plain.predict(xgb.DMatrix(fold.test.X), iteration_range=best) == scores).all()
