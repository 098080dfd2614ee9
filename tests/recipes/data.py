"""What the recipes are tried on: shuffled rows of whole and half bins, so that one machine and several bin alike."""

import numpy as np
import pandas as pd
import xgboost as xgb

from boostplug.datasets import make_ranking

FEATURES = [f"f{i}" for i in range(6)]
ROUNDS = 10
PARAMS = {
    "objective": "rank:pairwise",
    "base_score": 0.0,
    "max_depth": 4,
    "eta": 0.3,
    "disable_default_eval_metric": True,
}


def rows():
    """Return features of 21 values, labels, ids and a weight of each query: 60 queries of very different grades."""
    made = make_ranking(60, n_features=6, mean_list_size=20, random_state=0)
    ranks = np.nan_to_num(made.X).argsort(axis=0).argsort(axis=0)
    frame = pd.DataFrame(np.round(20.0 * ranks / len(ranks)), columns=FEATURES)
    few = made.qid % 2 == 0  # clicks in half of the queries
    frame = frame.assign(label=np.where(few, made.y > 1, made.y).astype(float), qid=made.qid.astype(np.int64))
    return frame.assign(weight=1.0 + frame["qid"] % 3).sample(frac=1.0, random_state=1)


def alone(loss, *, weighted=False):
    """Return one machine's booster."""
    frame = rows().sort_values("qid", kind="stable")
    weight = frame.groupby("qid")["weight"].first() if weighted else None
    data = xgb.QuantileDMatrix(frame[FEATURES], frame["label"], qid=frame["qid"], weight=weight, nthread=1)
    return xgb.train({**PARAMS, "nthread": 1}, data, ROUNDS, obj=loss)


def difference(booster, other):
    """Return the largest difference of predictions, over how far they spread."""
    data = xgb.DMatrix(rows()[FEATURES], nthread=1)
    ours, others = booster.predict(data), other.predict(data)
    return float(np.abs(ours - others).max() / others.std())
