"""A loss on Ray: XGBoostTrainer, each worker of which reads its files of whole queries."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import ray.train
import xgboost as xgb
from ray.train.xgboost import RayTrainReportCallback, XGBoostTrainer

import boostplug as bp

PARAMS = {"objective": "rank:pairwise", "base_score": 0.0, "max_depth": 6, "disable_default_eval_metric": True}


def check_files(files, qid="qid"):
    """Raise where a query is in two files; only ids are read."""
    ids = pd.concat([pd.read_parquet(file, columns=[qid]).drop_duplicates().assign(file=file.name) for file in files])
    split = ids[ids[qid].duplicated(keep=False)].sort_values(qid)
    if len(split):
        raise ValueError(f"queries in several files: {split.head(4).to_dict('records')}; write each into one")


def work(config):
    """Train on the files of this worker; Ray has connected the workers."""
    context, files = ray.train.get_context(), config["files"]
    mine = files[context.get_world_rank() :: context.get_world_size()]  # at least one for each worker
    rows = pd.concat(map(pd.read_parquet, mine), ignore_index=True).sort_values("qid", kind="stable")
    starts = np.flatnonzero(~rows["qid"].duplicated())
    data = xgb.QuantileDMatrix(
        rows[config["features"]], rows["label"], group=np.diff(np.append(starts, len(rows))), nthread=1
    )
    booster = xgb.train({**config["params"], "nthread": 1}, data, config["rounds"], obj=config["loss"])
    with (
        TemporaryDirectory() as folder
    ):  # one report at the end: RayTrainReportCallback's, each round, take two seconds
        booster.save_model(f"{folder}/{RayTrainReportCallback.CHECKPOINT_NAME}")
        first = context.get_world_rank() == 0
        ray.train.report({}, checkpoint=ray.train.Checkpoint.from_directory(folder) if first else None)


def train(folder, features, loss, *, workers, rounds, storage, params=PARAMS, retries=0):
    """Return the booster of a folder of Parquet files; Ray keeps it in `storage`, which all machines can write to."""
    files = sorted(Path(folder).glob("*.parquet"))
    check_files(files)
    config = {"files": files, "features": features, "loss": loss, "rounds": rounds, "params": params}
    trainer = XGBoostTrainer(
        work,
        train_loop_config=config,
        scaling_config=ray.train.ScalingConfig(num_workers=workers),
        run_config=ray.train.RunConfig(
            storage_path=str(storage), failure_config=ray.train.FailureConfig(max_failures=retries)
        ),
    )
    return RayTrainReportCallback.get_model(trainer.fit().checkpoint)


def main():
    """Train on the bundled data in two processes of this machine."""
    fold = bp.datasets.load_bundled()
    features = [f"f{i}" for i in range(fold.train.X.shape[1])]
    rows = pd.DataFrame(fold.train.X, columns=features).assign(label=fold.train.y, qid=fold.train.qid)
    with TemporaryDirectory() as folder:
        for part in (0, 1):
            rows[rows["qid"] % 2 == part].to_parquet(f"{folder}/part{part}.parquet")
        ray.init(num_cpus=3, include_dashboard=False)
        booster = train(folder, features, bp.MPBoost(), workers=2, rounds=50, storage=folder)
    scores = booster.predict(xgb.DMatrix(pd.DataFrame(fold.test.X, columns=features)))
    print(f"NDCG@10 {bp.NDCG(10)(scores, bp.Queries(fold.test.y, qid=fold.test.qid)):.4f}")


if __name__ == "__main__":
    main()
