"""A loss on Spark: a barrier job in which each worker has whole queries, and XGBoost's workers find each other."""

import json

import numpy as np
import pandas as pd
import xgboost as xgb
from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

import boostplug as bp

PARAMS = {"objective": "rank:pairwise", "base_score": 0.0, "max_depth": 6, "disable_default_eval_metric": True}


def train(frame, features, loss, *, workers, rounds, params=PARAMS, label="label", qid="qid", weight=None):
    """Return the booster of a Spark DataFrame of features, labels, query ids, and weights of queries (at each row)."""
    whole = frame.repartition(workers, qid)  # by hash: all rows of a query in one partition, whatever it was before

    def work(batches):
        rows = pd.concat(batches, ignore_index=True).sort_values(qid, kind="stable")
        task = BarrierTaskContext.get()
        first, address = task.partitionId() == 0, None
        if first:  # where all of them meet
            tracker = RabitTracker(workers, task.getTaskInfos()[0].address.split(":")[0], sortby="task")
            tracker.start()
            address = tracker.worker_args()
        address = json.loads(task.allGather(json.dumps(address))[0])
        with CommunicatorContext(**address, dmlc_task_id=f"{task.partitionId():08d}"):
            starts = ~rows[qid].duplicated()
            data = xgb.QuantileDMatrix(
                rows[features],
                rows[label],
                group=np.diff(np.append(np.flatnonzero(starts), len(rows))),  # sizes: ids may be of any type
                weight=None if weight is None else rows[weight][starts],
                nthread=1,  # spark.task.cpus
            )
            booster = xgb.train({**params, "nthread": 1}, data, rounds, obj=loss)
        yield pd.DataFrame({"model": [bytes(booster.save_raw())] if first else []})

    [model] = whole.mapInPandas(work, "model binary", barrier=True).collect()
    return xgb.Booster(model_file=bytearray(model["model"]))


def main():
    """Train on the bundled data in two processes of this machine."""
    fold = bp.datasets.load_bundled()
    features = [f"f{i}" for i in range(fold.train.X.shape[1])]
    rows = pd.DataFrame(fold.train.X, columns=features).assign(label=fold.train.y, qid=fold.train.qid)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    booster = train(spark.createDataFrame(rows), features, bp.MPBoost(), workers=2, rounds=50)
    spark.stop()
    scores = booster.predict(xgb.DMatrix(pd.DataFrame(fold.test.X, columns=features)))
    print(f"NDCG@10 {bp.NDCG(10)(scores, bp.Queries(fold.test.y, qid=fold.test.qid)):.4f}")


if __name__ == "__main__":
    main()
