"""`boostplug bench out-of-core`: memory and time of a training from Parquet, in memory and in batches."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from boostplug.datasets import batches_by_query
from boostplug.experiments.bench.benchmark import Benchmark, Column, Row
from boostplug.experiments.bench.clock import ask_process
from boostplug.experiments.bench.data import features_and_queries
from boostplug.experiments.bench.figures import Bars
from boostplug.losses import MPBoost
from boostplug.metrics import NDCG
from boostplug.queries import Queries

__all__ = ["OutOfCore", "found"]

_FILES, _QUERIES, _SIZE, _FEATURES, _GRADES = 20, 1_000, 100, 50, 5  # queries of each file
_ROUNDS = 10
_MIB = 2**20
_STATUS = Path("/proc/self/status")
_PROGRAM = """
import json, sys
from boostplug.experiments.bench.out_of_core import found
name, folder, threads, rounds = sys.argv[1:]
print(json.dumps(found(name, folder, int(threads), int(rounds))))
"""


class OutOfCore(Benchmark):
    """A training from a folder of Parquet files, in each of the ways to hold the data."""

    name = "out-of-core"
    title = "training from Parquet, in memory and in batches of whole queries"
    about = f"""\
{_ROUNDS} rounds of MPBoost on {_FILES * _QUERIES * _SIZE:,} documents with {_FEATURES} float32 features, from {_FILES}
Parquet files, each way in a process of its own. *Peak* is its largest resident set, libraries included; *above start*
less what it was when the libraries were imported; *of the features* is that over the bytes of all features as float32.
*Load* is the time until the framework holds its bins, *round* the median from one call of the loss to the next. NDCG@10
is on queries that were not trained on. *In memory*: `pandas.read_parquet` and one float32 matrix, let go when the
bins are made. *Batches*: `batches_by_query`.
"""
    columns = (
        Column("peak_mib", "peak, MiB"),
        Column("above_start_mib", "above start, MiB"),
        Column("of_features", "of the features", "ratio", 2),
        Column("load_seconds", "load, s"),
        Column("round_seconds", "round, s"),
        Column("ndcg", "NDCG@10", digits=4),
    )
    figures = (Bars(name="", title="Memory of a training", columns={"above_start_mib": ""}, unit="MiB above start"),)

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        n_queries = self.setting.count(_QUERIES, 5)
        with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
            self.setting.say("files")
            try:
                _write(Path(folder), n_queries)
            except ImportError:
                self.note("All is left out: pandas or pyarrow is not installed.")
                return
            for name in _WAYS:
                self.setting.say(name)
                values = ask_process(_PROGRAM, name, folder, self.setting.threads, self.setting.count(_ROUNDS, 3))
                if values is None:
                    self.note(f"{name} is left out: the framework is not installed.")
                    continue
                above = values["above_start_mib"]
                if above is not None:
                    values["of_features"] = above * _MIB / (_FILES * n_queries * _SIZE * _FEATURES * 4)
                yield Row("", name, values, peer=False)


def _write(folder: Path, n_queries: int) -> None:
    """Write the files, and one more of queries that nothing is trained on."""
    import pandas as pd
    import pyarrow  # noqa: F401, ICN001 (by which pandas writes)

    (folder / "train").mkdir()
    X, queries = features_and_queries(n_queries, _SIZE, _FEATURES, _GRADES)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(_FEATURES)])
    frame["label"] = queries.labels
    rng = np.random.default_rng(0)
    for number in range(_FILES + 1):
        frame["query"] = queries.query_of_row + number * n_queries
        test = number == _FILES
        frame.to_parquet(
            folder / "test.parquet" if test else folder / "train" / f"part-{number:02}.parquet", index=False
        )
        frame[list(frame.columns[:_FEATURES])] += rng.normal(scale=0.1, size=(len(frame), _FEATURES)).astype(np.float32)


def found(name: str, folder: str, threads: int, rounds: int) -> dict[str, float | None] | None:
    """Return what one way takes of this process; None where its framework is missing."""
    framework, build = _WAYS[name]
    try:
        module = _module(framework)
    except ImportError:
        return None
    import pandas as pd
    import pyarrow.parquet  # noqa: F401 (as read_parquet would)

    test = pd.read_parquet(Path(folder) / "test.parquet")
    X = test.iloc[:, :_FEATURES].to_numpy(np.float32)
    queries = Queries(test["label"], qid=test["query"])
    loss = MPBoost()
    loss.gradient_hessian(np.zeros(queries.n_rows), queries)  # compiled, or read from numba's cache
    start, begun = _mib("VmRSS"), perf_counter()
    data = build(Path(folder), threads)
    load_seconds = perf_counter() - begun
    calls: list[float] = []

    def timed(scores: Any, dataset: Any) -> Any:
        calls.append(perf_counter())
        return loss(scores, dataset)

    if framework == "xgboost":
        parameters = {"objective": "rank:pairwise", "nthread": threads, "max_depth": 6, "base_score": 0.0}
        booster = module.train({**parameters, "disable_default_eval_metric": True}, data, rounds, obj=timed)
        peak = _mib("VmHWM")
        scores = booster.inplace_predict(X)
    else:
        parameters = {"objective": timed, "num_threads": threads, "num_leaves": 63, "verbosity": -1}
        booster = module.train(parameters, data, rounds)
        peak = _mib("VmHWM")
        scores = booster.predict(X)
    return {
        "peak_mib": peak,
        "above_start_mib": None if peak is None or start is None else peak - start,
        "load_seconds": load_seconds,
        "round_seconds": median(np.diff(calls).tolist()),
        "ndcg": float(NDCG(10)(scores, queries)),
    }


def _module(framework: str) -> Any:
    if framework == "xgboost":
        import xgboost

        return xgboost
    import lightgbm

    return lightgbm


def _mib(what: str) -> float | None:
    """Return a line of what Linux says of this process; resource.getrusage would count its parent's memory too."""
    if not _STATUS.exists():
        return None
    return int(next(line for line in _STATUS.read_text().splitlines() if line.startswith(what)).split()[1]) / 1024


def _whole(folder: Path) -> tuple[Any, Any, Any]:
    import pandas as pd

    frame = pd.read_parquet(folder / "train")
    y, qid = frame.pop("label").to_numpy(), frame.pop("query").to_numpy()
    return frame.to_numpy(np.float32), y, qid


def _batches(folder: Path) -> Any:
    return batches_by_query(folder / "train", label="label", qid="query")


def _xgboost_whole(folder: Path, threads: int) -> Any:
    import xgboost as xgb

    X, y, qid = _whole(folder)
    return xgb.QuantileDMatrix(X, y, qid=qid, nthread=threads)


def _xgboost_batches(folder: Path, threads: int, *, cached: bool) -> Any:
    import xgboost as xgb

    if cached:
        return xgb.ExtMemQuantileDMatrix(_batches(folder).data_iter(cache_prefix=folder / "cache"), nthread=threads)
    return xgb.QuantileDMatrix(_batches(folder).data_iter(), nthread=threads)


def _lightgbm_whole(folder: Path, threads: int) -> Any:
    import lightgbm as lgb

    X, y, qid = _whole(folder)
    group = np.unique(qid, return_counts=True)[1]
    return lgb.Dataset(X, y, group=group, params={"num_threads": threads, "verbosity": -1}).construct()


def _lightgbm_batches(folder: Path, threads: int) -> Any:
    import lightgbm as lgb

    batches = _batches(folder)
    params = {"num_threads": threads, "verbosity": -1}
    return lgb.Dataset(batches.sequence(), **batches.fields(), params=params).construct()


_WAYS: dict[str, tuple[str, Callable[[Path, int], Any]]] = {
    "XGBoost, in memory: QuantileDMatrix": ("xgboost", _xgboost_whole),
    "XGBoost, batches: QuantileDMatrix": ("xgboost", partial(_xgboost_batches, cached=False)),
    "XGBoost, batches: ExtMemQuantileDMatrix": ("xgboost", partial(_xgboost_batches, cached=True)),
    "LightGBM, in memory": ("lightgbm", _lightgbm_whole),
    "LightGBM, batches: Sequence": ("lightgbm", _lightgbm_batches),
}
