"""Evaluate ndcg in training on two Dask workers: 5 easy queries on one, 50 hard ones on the other."""

import warnings

import dask.dataframe as dd
import lightgbm as lgb
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

SIZE, EASY, QUERIES = 20, 5, 55


def ndcg(scores, labels):
    """Return the mean NDCG@10 of queries of SIZE rows each."""
    gain = 2.0 ** labels.reshape(-1, SIZE) - 1
    discount = 1 / np.log2(np.arange(10) + 2)
    order = np.argsort(-scores.reshape(-1, SIZE), axis=1, kind="stable")
    best = np.sort(gain)[:, ::-1][:, :10] @ discount
    reached = np.take_along_axis(gain, order, axis=1)[:, :10] @ discount
    return np.where(best > 0, reached / np.where(best > 0, best, 1), 1).mean()


def on_workers(client, parts):
    """Return a collection whose first part lies on the first worker and the second on the second."""
    workers = sorted(client.scheduler_info()["workers"])
    lying = [client.scatter(part, workers=[worker]) for part, worker in zip(parts, workers, strict=True)]
    return dd.from_delayed(lying, meta=parts[0].iloc[:0], verify_meta=False).persist()


def main():
    """Train, and print what LightGBM says beside what the model scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(QUERIES * SIZE, 3))
    noise = np.where(np.arange(len(X)) < EASY * SIZE, 0.1, 3.0)
    y = np.digitize(X[:, 0] + noise * rng.normal(size=len(X)), [0.5, 1.5])
    rows = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    sizes = pd.Series([SIZE] * QUERIES)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        frame = on_workers(client, [rows[: EASY * SIZE], rows[EASY * SIZE :]])
        group = on_workers(client, [sizes[:EASY], sizes[EASY:]])
        ranker = lgb.DaskLGBMRanker(client=client, n_estimators=3, num_leaves=7, verbose=-1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker.fit(
                frame[["a", "b", "c"]],
                frame["label"],
                group=group,
                eval_set=[(frame[["a", "b", "c"]], frame["label"])],
                eval_group=[group],
                eval_at=[10],
            )
        scores = ranker.to_local().predict(X)
    print("LightGBM", lgb.__version__)
    print(f"evals_result_              {ranker.evals_result_['valid_0']['ndcg@10'][-1]:.4f}")
    print(f"all 55 queries             {ndcg(scores, y):.4f}")
    print(f"5 queries of one worker    {ndcg(scores[: EASY * SIZE], y[: EASY * SIZE]):.4f}")
    print(f"50 queries of the other    {ndcg(scores[EASY * SIZE :], y[EASY * SIZE :]):.4f}")


if __name__ == "__main__":  # each worker imports the script
    main()
