"""Trains on Spark as the guide says; prints how far predictions lie from one machine's, as JSON."""

import json
from dataclasses import dataclass

import data
import numpy as np
import spark_ranker
import xgboost as xgb
from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession
from xgboost.spark import SparkXGBRanker

import boostplug as bp

LOSS, ADARANK = bp.MPBoost(), bp.AdaRank()


@dataclass(frozen=True)
class Failing:
    """A loss that fails on one worker, after the first round."""

    loss: bp.Loss

    def __call__(self, scores, matrix):
        """Fail, or do as the loss does."""
        if BarrierTaskContext.get().partitionId() == 1 and scores.any():
            raise RuntimeError("not on this worker")
        return self.loss(scores, matrix)


def fitted(frame, **more):
    """Return the booster and the history of XGBoost's own class."""
    params = {name: value for name, value in data.PARAMS.items() if name not in {"objective", "eta"}}
    more = {"obj": LOSS, "n_estimators": data.ROUNDS, "learning_rate": data.PARAMS["eta"], **params, **more}
    ranker = SparkXGBRanker(features_col=data.FEATURES, label_col="label", qid_col="qid", num_workers=2, **more)
    model = ranker.fit(frame)
    return model.get_booster(), model.training_summary


def error_of(call):
    """Return what a call raises, in words."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 (Spark's own wraps what a worker raised)
        return str(error)
    return ""


def main():
    """Run all cases in one session."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    rows = data.rows()
    frame = spark.createDataFrame(rows).repartition(2)
    print(json.dumps(results(spark, frame, rows)))
    spark.stop()


def results(spark, frame, rows):
    """Return what came of each case, by name."""
    alone, weighted = data.alone(LOSS), data.alone(LOSS, weighted=True)
    train = {"workers": 2, "rounds": data.ROUNDS, "params": data.PARAMS}
    found = {}

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 100)
    found["job"] = data.difference(spark_ranker.train(frame, data.FEATURES, LOSS, **train), alone)
    job = spark_ranker.train(frame, data.FEATURES, LOSS, weight="weight", **train)
    found["weighted job"] = data.difference(job, weighted)
    job = spark_ranker.train(frame, data.FEATURES, ADARANK, **train)
    found["job of AdaRank"] = data.difference(job, data.alone(ADARANK))
    found["failure"] = error_of(lambda: spark_ranker.train(frame, data.FEATURES, Failing(LOSS), **train))

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 0)
    booster, summary = fitted(frame, force_repartition=True, custom_metric=bp.NDCG(10))
    found["whole"] = data.difference(booster, alone)
    ordered = rows.sort_values("qid", kind="stable")
    scores = booster.predict(xgb.DMatrix(ordered[data.FEATURES])).astype(np.float64)
    true = bp.NDCG(10)(scores, bp.Queries(ordered["label"].to_numpy(), qid=ordered["qid"].to_numpy()))
    found["metric"] = [summary.train_objective_history["pre_NDCG@10"][-1], true]
    return found


if __name__ == "__main__":
    main()
