"""
Train XGBoost on data larger than memory
========================================

A training on a folder of Parquet: batches of complete queries, bins on disk.
"""

from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pandas as pd
import xgboost as xgb

import boostplug as bp


class Batches(xgb.DataIter):
    """Hands the batches to XGBoost, which reads them several times."""

    def __init__(self, batches, cache_prefix=None):
        self.batches, self.rest = batches, iter(())
        super().__init__(cache_prefix=cache_prefix)

    def reset(self):
        """Begin again."""
        self.rest = iter(self.batches)

    def next(self, input_data):
        """Hand over a batch; return whether there was one."""
        batch = next(self.rest, None)
        if batch is not None:
            rows = {"data": batch.X, "label": batch.y, "feature_names": batch.feature_names}
            input_data(**rows, group=batch.group, weight=batch.queries.query_weight)
        return batch is not None


fold = bp.datasets.load_bundled()
frame = pd.DataFrame(fold.train.X).rename(columns=str)
frame = frame.assign(grade=fold.train.y, query=fold.train.qid)
params = {"objective": "rank:pairwise", "base_score": 0.0, "disable_default_eval_metric": True}

with TemporaryDirectory() as folder:
    for part in range(4):  # files as they may come: sorted by query, cut anywhere
        rows = frame[2100 * part : 2100 * (part + 1)]
        rows.to_parquet(f"{folder}/{part}.parquet", index=False)
    batches = bp.datasets.batches_by_query(folder, label="grade", qid="query", rows=1500)
    sizes = [batch.n_rows for batch in batches]
    bins = xgb.ExtMemQuantileDMatrix(Batches(batches, f"{folder}/bins"))
    booster = xgb.train(params, bins, num_boost_round=60, obj=bp.MPBoost())
    del bins  # before its files

print(f"test NDCG@10 {bp.NDCG(10)(booster.inplace_predict(fold.test.X), fold.test.queries):.4f}")
_, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.bar(range(len(sizes)), sizes)
axes.set(xlabel="batch", ylabel="rows", title="A batch ends where a query does, so none is cut")
plt.show()
