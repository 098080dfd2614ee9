"""
Train LightGBM on data larger than memory
=========================================

A training on a folder of Parquet: LightGBM reads batches twice, and keeps a byte per value.
"""

from tempfile import TemporaryDirectory

import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import boostplug as bp


class Rows(lgb.Sequence):
    """Hands the rows to LightGBM, which asks for them in order, and holds one batch."""

    batch_size = 4096

    def __init__(self, batches):
        self.batches, self.rest, self.X, self.start = batches, None, None, 0

    def __len__(self):
        return self.batches.n_rows

    def __getitem__(self, rows):
        if not isinstance(rows, slice):  # the sample of rows that chooses the bins is float64
            return self[rows : rows + 1][0].astype(np.float64)
        found, row = [], rows.start
        if self.rest is None or row < self.start:
            self.rest, self.start, self.X = iter(self.batches), 0, np.empty((0, 0))
        while row < rows.stop:
            while row >= self.start + len(self.X):
                self.start += len(self.X)
                self.X = next(self.rest).X
            found.append(self.X[row - self.start : rows.stop - self.start])
            row += len(found[-1])
        return np.concatenate(found)


fold = bp.datasets.load_bundled()
frame = pd.DataFrame(fold.train.X).rename(columns=str)
frame = frame.assign(grade=fold.train.y, query=fold.train.qid)
params = {"num_threads": 1, "verbosity": -1, "metric": "None"}

with TemporaryDirectory() as folder:
    frame.to_parquet(f"{folder}/train.parquet", index=False)
    batches = bp.datasets.batches_by_query(folder, label="grade", qid="query", rows=1500)
    y, group = map(np.concatenate, zip(*((batch.y, batch.group) for batch in batches), strict=True))
    data = lgb.Dataset(Rows(batches), y, group=group, params=params)
    booster = lgb.train({**params, "objective": bp.MPBoost()}, data, num_boost_round=60)

print(f"test NDCG@10 {bp.NDCG(10)(booster.predict(fold.test.X), fold.test.queries):.4f}")
lgb.plot_importance(booster, max_num_features=8, title="Splits by feature", grid=False)
plt.show()
