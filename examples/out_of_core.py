"""
Train on data larger than memory
================================

A training on a folder of Parquet: batches of whole queries, bins on disk.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xgboost as xgb

import boostplug as bp

ROWS, columns = 1500, {"label": "grade", "qid": "query"}
fold = bp.datasets.load_bundled()
params = {"objective": "rank:pairwise", "base_score": 0.0, "disable_default_eval_metric": True}
log = {}

with TemporaryDirectory() as place:
    # Files as they may come: sorted by query, cut anywhere.
    for name, data in (("train", fold.train), ("valid", fold.vali)):
        Path(place, name).mkdir()
        frame = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(data.n_features)])
        frame["grade"], frame["query"] = data.y, data.qid
        for part, rows in enumerate(np.array_split(np.arange(len(frame)), 4)):
            frame.iloc[rows].to_parquet(f"{place}/{name}/part.{part}.parquet", index=False)

    train = bp.datasets.batches_by_query(f"{place}/train", **columns, rows=ROWS)
    columns["features"] = train.feature_names
    valid = bp.datasets.batches_by_query(f"{place}/valid", **columns, rows=ROWS)
    sizes = [len(batch.y) for batch in train]
    bins = xgb.ExtMemQuantileDMatrix(train.data_iter(cache_prefix=f"{place}/train.bins"))
    held = xgb.ExtMemQuantileDMatrix(valid.data_iter(cache_prefix=f"{place}/valid.bins"), ref=bins)
    booster = xgb.train(
        params,
        bins,
        num_boost_round=60,
        obj=bp.MPBoost(),
        evals=[(held, "valid")],
        custom_metric=bp.NDCG(10),
        evals_result=log,
        verbose_eval=False,
    )
    del bins, held  # before their files

print(f"test NDCG@10 {bp.NDCG(10)(booster.inplace_predict(fold.test.X), fold.test.queries):.4f}")
_, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.bar(range(len(sizes)), sizes)
axes.axhline(ROWS, color="black", linestyle="--", label="rows=1500")
axes.set(xlabel="batch", ylabel="rows", title="A batch ends where a query does, so none is cut")
axes.legend(loc="lower right")
plt.show()
