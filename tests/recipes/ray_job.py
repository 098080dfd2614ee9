"""Trains on Ray as the guide says; prints how far predictions lie from one machine's, as JSON."""

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import data
import ray
import ray.train
import ray_ranker

import boostplug as bp


@dataclass(frozen=True)
class Dying:
    """A loss that kills one worker after the first round, once."""

    loss: bp.Loss
    done: Path

    def __call__(self, scores, matrix):
        """Do as the loss does."""
        if ray.train.get_context().get_world_rank() == 1 and scores.any() and not self.done.exists():
            self.done.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.loss(scores, matrix)


def main(folder):
    """Write a file for each of two workers, and one that splits a query."""
    rows = data.rows()
    whole, split = Path(folder, "whole"), Path(folder, "split")
    for place in (whole, split):
        place.mkdir()
        for part in (0, 1):
            rows[rows["qid"] % 2 == part].to_parquet(place / f"part{part}.parquet")
    rows.head(1).to_parquet(split / "part2.parquet")
    train = {"workers": 2, "rounds": data.ROUNDS, "params": data.PARAMS, "storage": Path(folder, "storage")}
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    loss = bp.AdaRank()
    dying = Dying(loss, Path(folder, "done"))
    booster = ray_ranker.train(whole, data.FEATURES, dying, retries=1, **train)
    found = {"whole": data.difference(booster, data.alone(loss)), "killed": dying.done.exists()}
    try:
        ray_ranker.train(split, data.FEATURES, loss, **train)
    except ValueError as error:
        found["split"] = str(error)
    ray.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
