"""A training on a folder of Parquet that need not fit into memory: batches of whole queries, bins on disk."""

from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb

import boostplug as bp

fold = bp.datasets.load_bundled()
columns = {"label": "grade", "qid": "query"}

# Files as they may come: sorted by query, cut anywhere.
for name, data in (("train", fold.train), ("valid", fold.vali)):
    Path(name).mkdir(exist_ok=True)
    frame = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(data.n_features)])
    frame["grade"], frame["query"] = data.y, data.qid
    for part, rows in enumerate(np.array_split(np.arange(len(frame)), 4)):
        frame.iloc[rows].to_parquet(f"{name}/part.{part}.parquet", index=False)

train = bp.datasets.batches_by_query("train", **columns, rows=3000)
valid = bp.datasets.batches_by_query("valid", **columns, rows=3000, features=train.feature_names)
print(train)

Path("cache").mkdir(exist_ok=True)
bins = xgb.ExtMemQuantileDMatrix(train.data_iter(cache_prefix="cache/train"))
booster = xgb.train(
    {"objective": "rank:pairwise", "base_score": 0.0, "disable_default_eval_metric": True, "eta": 0.1},
    bins,
    num_boost_round=100,
    obj=bp.MPBoost(),
    evals=[(xgb.ExtMemQuantileDMatrix(valid.data_iter(cache_prefix="cache/valid"), ref=bins), "valid")],
    custom_metric=bp.NDCG(10),
    early_stopping_rounds=20,
    verbose_eval=False,
)
booster.save_model("model.ubj")

scores = xgb.Booster(model_file="model.ubj").inplace_predict(fold.test.X)
print(f"test NDCG@10 {bp.NDCG(10)(scores, fold.test.queries):.4f}")
