"""Benchmark out-of-core: memory and time of a training from Parquet, in memory, in batches, on Dask."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from boostplug.data.queries import Queries
from boostplug.datasets import batches_by_query
from boostplug.losses import MPBoost
from boostplug.metrics import NDCG
from studies.speed.benchmark import Benchmark, Column, Row
from studies.speed.measuring.clock import call_in_process
from studies.speed.measuring.data import features_and_queries
from studies.speed.measuring.examples import example_class
from studies.speed.measuring.frameworks import lightgbm_data
from studies.speed.measuring.memory import status_mib

__all__ = ["OutOfCore", "measured"]

_FILES, _QUERIES, _SIZE, _FEATURES, _GRADES = 20, 1_000, 100, 50, 5  # queries of each file
_ROUNDS = 10
_MIB = 2**20
_NAMES = [f"f{j}" for j in range(_FEATURES)]


class OutOfCore(Benchmark):
    """A training of MPBoost from Parquet files, in a process for each of the ways to hold the data.

    *Above start* is the peak minus the memory after the imports. *Load* lasts until the framework has its bins. A
    *round* is the median time from one call of the loss to the next. NDCG@10 is of queries that were not trained on. On
    Dask, memory is that of the larger of two workers.
    """

    name = "out-of-core"
    title = "training from Parquet: in memory, in batches of whole queries, on two workers of Dask"
    columns = (
        Column("peak_mib", "peak, MiB"),
        Column("above_start_mib", "above start, MiB"),
        Column("of_features", "of the features", "ratio", 2),
        Column("load_seconds", "load, s"),
        Column("round_seconds", "round, s"),
        Column("ndcg", "NDCG@10", digits=4),
    )

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        n_queries = self.setting.count(_QUERIES, 5)
        with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
            self.setting.say("files")
            _write(Path(folder), n_queries)
            for name in _WAYS:
                self.setting.say(name)
                rounds = self.setting.count(_ROUNDS, 3)
                values = call_in_process(measured, name, folder, self.setting.threads, rounds)
                above = values["above_start_mib"]
                if above is not None:
                    values["of_features"] = above * _MIB / (_FILES * n_queries * _SIZE * _FEATURES * 4)
                yield Row("", name, values)


def _write(folder: Path, n_queries: int) -> None:
    """Write the files, and one more of queries that nothing is trained on."""
    import pandas as pd

    (folder / "train").mkdir()
    X, queries = features_and_queries(n_queries, _SIZE, _FEATURES, _GRADES)
    frame = pd.DataFrame(X, columns=_NAMES)
    frame["label"] = queries.labels
    rng = np.random.default_rng(0)
    for number in range(_FILES + 1):
        frame["query"] = queries.query_of_row + number * n_queries
        name = "test.parquet" if number == _FILES else f"train/part-{number:02}.parquet"
        frame.to_parquet(folder / name, index=False)
        frame[_NAMES] += rng.normal(scale=0.1, size=(len(frame), _FEATURES)).astype(np.float32)


def measured(name: str, folder: str, threads: int, rounds: int) -> dict[str, float | None]:
    """Return the memory and time of one way to hold the data."""
    framework, build = _WAYS[name]
    library = _library(framework, on_dask=build is None)
    import pandas as pd
    import pyarrow.parquet  # noqa: F401 (as read_parquet would)

    test = pd.read_parquet(Path(folder) / "test.parquet")
    X = test.iloc[:, :_FEATURES].to_numpy(np.float32)
    queries = Queries(test["label"], qid=test["query"])
    _Timed().gradient_hessian(np.zeros(queries.n_rows), queries)  # compiled, or read from numba's cache
    train = _on_dask if build is None else partial(_in_this_process, build=build)
    start, peak, begun, calls, predict = train(library, Path(folder), threads, rounds)
    return {
        "peak_mib": peak,
        "above_start_mib": None if peak is None or start is None else peak - start,
        "load_seconds": calls[0] - begun,
        "round_seconds": median(np.diff(calls).tolist()),
        "ndcg": float(NDCG(10)(predict(X), queries)),
    }


# One process: its memory in MiB before and at its peak, when training began, when the loss was called, and its model.
_Seen = tuple[float | None, float | None, float, list[float], Callable[[Any], Any]]
_calls: list[float] = []  # seconds


class _Timed(MPBoost):
    """A loss that notes when it is called, wherever that is."""

    def compute_gradient_hessian(self, scores: Any, queries: Queries, scale: float) -> Any:
        _calls.append(perf_counter())
        return super().compute_gradient_hessian(scores, queries, scale)


_TREES: dict[str, dict[str, Any]] = {"xgboost": {"max_depth": 6}, "lightgbm": {"num_leaves": 63, "verbosity": -1}}


def _in_this_process(library: Any, folder: Path, threads: int, rounds: int, build: Callable[..., Any]) -> _Seen:
    start, params = status_mib("VmRSS"), _TREES[library.__name__]
    _calls.clear()
    begun = perf_counter()
    data = build(folder, threads)
    if library.__name__ == "xgboost":
        params = params | {"objective": "rank:pairwise", "nthread": threads, "base_score": 0.0}
        booster = library.train({**params, "disable_default_eval_metric": True}, data, rounds, obj=_Timed())
        return start, status_mib("VmHWM"), begun, list(_calls), booster.inplace_predict
    booster = library.train({**params, "objective": _Timed(), "num_threads": threads}, data, rounds)
    return start, status_mib("VmHWM"), begun, list(_calls), booster.predict


def _on_dask(library: Any, folder: Path, threads: int, rounds: int) -> _Seen:
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    import boostplug.dask as on_dask

    own = {"n_workers": 2, "threads_per_worker": max(1, threads // 2), "processes": True, "memory_limit": 0}
    with LocalCluster(**own, dashboard_address=":0", silence_logs=40) as cluster, Client(cluster) as client:
        started = client.run(_at_start, library.__name__)
        begun = perf_counter()
        frame = dd.read_parquet(folder / "train").rename(columns={"query": "qid"})
        kind = on_dask.XGBRanker if library.__name__ == "xgboost" else on_dask.LGBMRanker
        ranker = kind(objective=_Timed(), n_estimators=rounds, **_TREES[library.__name__])
        ranker.fit(frame.drop(columns=["label"]), frame["label"])
        ended = client.run(_at_end)
        largest = max(started, key=lambda worker: ended[worker][0] or 0.0)
        peak, calls = ended[largest]
        model = ranker.to_local()
    return started[largest], peak, begun, calls, lambda X: model.predict(pd.DataFrame(X, columns=_NAMES))


def _at_start(framework: str) -> float | None:
    """Return a worker's memory once all is imported."""
    _library(framework, on_dask=True)
    _calls.clear()
    return status_mib("VmRSS")


def _at_end() -> tuple[float | None, list[float]]:
    return status_mib("VmHWM"), list(_calls)


def _library(framework: str, *, on_dask: bool) -> Any:
    if on_dask:
        import boostplug.dask  # noqa: F401 (loaded, so that its memory is no part of the training)
    return import_module(framework)


def _frame(folder: Path) -> tuple[Any, Queries]:
    import pandas as pd

    frame = pd.read_parquet(folder / "train")
    queries = Queries(frame.pop("label").to_numpy(), qid=frame.pop("query").to_numpy())
    return frame.to_numpy(np.float32), queries


def _xgboost(folder: Path, threads: int, way: str) -> Any:
    import xgboost as xgb

    if way == "in memory":
        X, queries = _frame(folder)
        return xgb.QuantileDMatrix(X, queries.labels, group=np.diff(queries.boundaries), nthread=threads)
    batches, hands = batches_by_query(folder / "train", **_COLUMNS), example_class("out_of_core.py", "Batches")
    if way == "cached":
        return xgb.ExtMemQuantileDMatrix(hands(batches, str(folder / "cache")), nthread=threads)
    return xgb.QuantileDMatrix(hands(batches), nthread=threads)


def _lightgbm(folder: Path, threads: int, way: str) -> Any:
    if way == "in memory":
        return lightgbm_data(*_frame(folder), {"num_threads": threads})
    import lightgbm as lgb

    batches, rows = batches_by_query(folder / "train", **_COLUMNS), example_class("out_of_core_lightgbm.py", "Rows")
    y, group = map(np.concatenate, zip(*((batch.y, batch.group) for batch in batches), strict=True))
    params = {"num_threads": threads, "verbosity": -1}
    return lgb.Dataset(rows(batches), y, group=group, params=params).construct()


_COLUMNS = {"label": "label", "qid": "query"}
# The framework, and what builds its data set in this process; None on Dask.
_WAYS: dict[str, tuple[str, Callable[[Path, int], Any] | None]] = {
    "XGBoost, in memory: QuantileDMatrix": ("xgboost", partial(_xgboost, way="in memory")),
    "XGBoost, batches: QuantileDMatrix": ("xgboost", partial(_xgboost, way="batches")),
    "XGBoost, batches: ExtMemQuantileDMatrix": ("xgboost", partial(_xgboost, way="cached")),
    "XGBoost, Dask: each of two workers": ("xgboost", None),
    "LightGBM, in memory": ("lightgbm", partial(_lightgbm, way="in memory")),
    "LightGBM, batches: Sequence": ("lightgbm", partial(_lightgbm, way="batches")),
    "LightGBM, Dask: each of two workers": ("lightgbm", None),
}
