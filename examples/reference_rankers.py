"""The papers' own boosting algorithms beside the same ideas on trees, and a stump ensemble deployed in LightGBM."""

import lightgbm as lgb
import numpy as np

import boostplug as bp

fold = bp.datasets.load_bundled()
train, vali, test = fold.train, fold.vali, fold.test
validation = {"eval_set": [(vali.X, vali.y)], "eval_qid": [vali.qid], "early_stopping_rounds": 30}

rankers = {
    "RankBoost+, stumps": bp.RankBoostRanker(n_estimators=150, random_state=0),
    "RankBoost, stumps": bp.RankBoostRanker(variant="continuous", n_estimators=150, random_state=0),
    "AdaRank-MAP, features": bp.AdaRankRanker(),
}
for name, ranker in rankers.items():
    ranker.fit(train.X, train.y, qid=train.qid, **validation)
    score = ranker.score(test.X, test.y, qid=test.qid)
    print(f"{name:22}  NDCG@10 {score:.4f}  {ranker.best_iteration_:3} rounds")

data = lgb.Dataset(train.X, train.y, group=train.group)
booster = lgb.train({"objective": bp.MPBoost(), "verbose": -1, "num_threads": 1}, data, num_boost_round=60)
score = bp.NDCG(10)(booster.predict(test.X), bp.Queries(test.y, qid=test.qid))
print(f"{'MPBoost, trees':22}  NDCG@10 {score:.4f}   60 rounds")

model = rankers["RankBoost+, stumps"].model_
deployed = model.to_lightgbm()
print(f"in LightGBM, largest difference: {np.abs(deployed.predict(test.X) - model.predict(test.X)).max():.0e}")
