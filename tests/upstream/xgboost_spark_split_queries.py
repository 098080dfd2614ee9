"""Train SparkXGBRanker on 60 queries of 20 rows; print how many queries its two workers see, by two settings."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyspark
import xgboost as xgb
from pyspark.sql import SparkSession
from xgboost.spark import SparkXGBRanker

FEATURES = ["a", "b", "c"]


def main():
    """Train with each setting, and on one machine."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(1200, 3)), 1)  # few values: bins are the same everywhere
    y = np.digitize(X[:, 0] + rng.normal(size=1200), [0.5, 1.5])
    rows = pd.DataFrame(X, columns=FEATURES).assign(label=y, qid=np.repeat(np.arange(60), 20))
    params = {"objective": "rank:pairwise", "n_estimators": 5, "max_depth": 3}
    alone = xgb.XGBRanker(**params).fit(rows[FEATURES], y, qid=rows["qid"]).predict(rows[FEATURES])

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR").getOrCreate()
    frame = spark.createDataFrame(rows.sample(frac=1.0, random_state=1)).repartition(2)
    lines = []
    for records in (10_000, 90, 0):
        for force in (False, True):
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", records)
            common = {"features_col": FEATURES, "label_col": "label", "qid_col": "qid", "num_workers": 2}
            common["force_repartition"] = force
            with tempfile.TemporaryDirectory() as folder:

                def seen(scores, data, folder=folder):
                    """Note the number of queries, and learn nothing of note."""
                    count = len(data.get_uint_info("group_ptr")) - 1
                    Path(folder, str(xgb.collective.get_rank())).write_text(str(count))
                    return scores - data.get_label(), np.ones_like(scores)

                SparkXGBRanker(**common, n_estimators=1, obj=seen).fit(frame)
                queries = sum(int(path.read_text()) for path in Path(folder).iterdir())
            model = SparkXGBRanker(**common, **params).fit(frame)
            apart = np.abs(model.get_booster().predict(xgb.DMatrix(rows[FEATURES])) - alone).max()
            lines.append(f"{records:18}  {force!s:17}  {queries:15}  {apart:.4f}")
    spark.stop()
    print("XGBoost", xgb.__version__, "pyspark", pyspark.__version__)
    print("maxRecordsPerBatch  force_repartition  queries (of 60)  largest difference to one machine")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
