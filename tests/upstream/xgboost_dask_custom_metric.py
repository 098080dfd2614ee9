"""Evaluate a metric of one's own in training on two Dask workers: 5 easy queries on one, 50 hard ones on the other."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import xgboost as xgb
from distributed import Client, LocalCluster
from xgboost import dask as dxgb

SIZE, EASY, QUERIES = 20, 5, 55
FEATURES = ["a", "b", "c"]


def ndcg(scores, labels):
    """Return the mean NDCG@10 of queries of SIZE rows each."""
    gain = 2.0 ** labels.reshape(-1, SIZE) - 1
    discount = 1 / np.log2(np.arange(10) + 2)
    order = np.argsort(-scores.reshape(-1, SIZE), axis=1, kind="stable")
    best = np.sort(gain)[:, ::-1][:, :10] @ discount
    reached = np.take_along_axis(gain, order, axis=1)[:, :10] @ discount
    return np.where(best > 0, reached / np.where(best > 0, best, 1), 1).mean()


def custom_metric(scores, data):
    """Return the same as the built-in ndcg@10, as a metric of one's own."""
    return "pre_ndcg", ndcg(scores, data.get_label())


def main():
    """Train, and print what XGBoost says beside what the model scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(QUERIES * SIZE, 3))
    qid = np.repeat(np.arange(QUERIES), SIZE)
    noise = np.where(qid < EASY, 0.1, 3.0)
    y = np.digitize(X[:, 0] + noise * rng.normal(size=len(X)), [0.5, 1.5])
    rows = pd.DataFrame(X, columns=FEATURES).assign(label=y, qid=qid)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        workers = sorted(client.scheduler_info()["workers"])
        parts = [rows[qid < EASY], rows[qid >= EASY]]
        lying = [client.scatter(part, workers=[worker]) for part, worker in zip(parts, workers, strict=True)]
        frame = dd.from_delayed(lying, meta=rows[:0], verify_meta=False).persist()
        data = dxgb.DaskDMatrix(client, frame[FEATURES], frame["label"], qid=frame["qid"])
        params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "verbosity": 0}
        trained = dxgb.train(client, params, data, 3, evals=[(data, "train")], custom_metric=custom_metric)
        scores = trained["booster"].predict(xgb.DMatrix(rows[FEATURES]))
    history = trained["history"]["train"]
    one, other = ndcg(scores[qid < EASY], y[qid < EASY]), ndcg(scores[qid >= EASY], y[qid >= EASY])
    print("XGBoost", xgb.__version__)
    print(f"history, built-in ndcg@10  {history['ndcg@10'][-1]:.4f}")
    print(f"history, the same, custom  {history['pre_ndcg'][-1]:.4f}")
    print(f"all 55 queries             {ndcg(scores, y):.4f}")
    print(f"5 queries of one worker    {one:.4f}")
    print(f"50 queries of the other    {other:.4f}")
    print(f"mean of the two workers    {(one + other) / 2:.4f}")


if __name__ == "__main__":  # each worker imports the script
    main()
