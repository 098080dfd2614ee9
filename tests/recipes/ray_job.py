"""Trains on Ray as the guide says; prints how far predictions lie from one machine's, as JSON."""

import json
import sys
from pathlib import Path

import data
import ray
import ray_ranker

import boostplug as bp


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
    booster = ray_ranker.train(whole, data.FEATURES, loss, **train)
    found = {"whole": data.difference(booster, data.alone(loss))}
    try:
        ray_ranker.train(split, data.FEATURES, loss, **train)
    except ValueError as error:
        found["split"] = str(error)
    ray.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
