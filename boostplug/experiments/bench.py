"""`boostplug bench`: what things cost on this machine, and how the cost grows; each benchmark is a function here.

Times are seconds of one call after a first one that compiles; memory is the peak of what NumPy and Python allocate
(compiled kernels allocate O(rows) beside it), measured in a call of its own.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from boostplug.checks import check_number
from boostplug.experiments.document import as_json, versions, write_whole
from boostplug.queries import Queries
from boostplug.rankers import AdaRankRanker, MPBoostRanker, RankBoostRanker, ReferenceRanker
from boostplug.threads import get_num_threads

__all__ = ["BENCHES", "BenchResult", "Row", "bench", "rankers"]


@dataclass(frozen=True)
class Row:
    """One line of a benchmark: what was run on what, and what it took."""

    name: str
    documents: int
    queries: int
    features: int
    pairs: int
    rounds: int
    seconds: float
    megabytes: float

    @property
    def milliseconds_per_round(self) -> float:
        """Time of one round, the start's share included."""
        return 1e3 * self.seconds / max(1, self.rounds)


@dataclass(frozen=True)
class BenchResult:
    """The lines of a benchmark, with what they were measured on."""

    benchmark: str
    rows: tuple[Row, ...]
    threads: int

    def __str__(self) -> str:
        head = ("", "documents", "queries", "features", "pairs", "rounds", "seconds", "ms/round", "peak MB")
        body = [
            (
                row.name,
                f"{row.documents:,}",
                f"{row.queries:,}",
                f"{row.features}",
                f"{row.pairs:,}",
                f"{row.rounds}",
                f"{row.seconds:.2f}",
                f"{row.milliseconds_per_round:.2f}",
                f"{row.megabytes:.1f}",
            )
            for row in self.rows
        ]
        widths = [max(len(line[k]) for line in [head, *body]) for k in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in [head, *body]
        ]
        return "\n".join(
            [*lines, "", f"{self.threads} threads of {cpu_count()}. Time after a first call that compiles."]
        )

    def to_json(self, path: Path) -> None:
        """Write the lines and the versions."""
        document = {
            "benchmark": self.benchmark,
            "threads": self.threads,
            "versions": versions(),
            "rows": [{**asdict(row), "milliseconds_per_round": row.milliseconds_per_round} for row in self.rows],
        }
        write_whole(path, as_json(document))


def bench(name: str, *, scale: float = 1.0) -> BenchResult:
    """Run one of `BENCHES`.

    Parameters
    ----------
    name : str
    scale : float, default 1
        Rounds relative to the benchmark's own, from 0 to 1000; below 1 for a quick look.

    Raises
    ------
    ValueError
        If there is no such benchmark, or `scale` is out of its range.
    """
    if name not in BENCHES:
        raise ValueError(f"there is no benchmark {name!r}; take one of {', '.join(BENCHES)}")
    scale = check_number("scale", scale, least=0.0, most=1000.0, remedy="1 is the benchmark's own")
    return BenchResult(name, tuple(BENCHES[name](scale)), get_num_threads())


def rankers(scale: float = 1.0) -> Iterator[Row]:
    """Yield the reference rankers on the shapes of known data sets, and their growth with documents and with pairs."""
    mq2008 = _data(471, 20, 46, 3)
    ohsumed = _data(63, 155, 45, 3)
    task = _data(40, 100, 136, 2, shares=[0.85, 0.15])
    yield _measure("RankBoost+, 136 features, 255 thresholds", RankBoostRanker(n_estimators=100), task, scale)
    yield _measure(
        "RankBoost, continuous, MQ2008's shape", RankBoostRanker(variant="continuous", n_estimators=300), mq2008, scale
    )
    yield _measure(
        "AdaRank-MAP, OHSUMED's shape", AdaRankRanker(n_estimators=500, no_repeat=False, patience=500), ohsumed, scale
    )
    yield _measure("MPBoost, OHSUMED's shape", MPBoostRanker(n_estimators=500), ohsumed, scale)
    for factor in (1, 2, 4):
        data = _data(200 * factor, 50, 46, 5)
        for name, ranker in (
            ("RankBoost, continuous", RankBoostRanker(variant="continuous", n_estimators=50)),
            ("MPBoost", MPBoostRanker(n_estimators=50)),
        ):
            yield _measure(f"{name}, {factor} × documents", ranker, data, scale)
    for factor in (1, 2, 4):
        data = _data(400 // factor, 10 * factor, 46, 3)
        yield _measure(f"RankBoost+, {factor} × pairs", RankBoostRanker(n_estimators=50), data, scale)


BENCHES: dict[str, Callable[[float], Iterable[Row]]] = {"rankers": rankers}

_Data = tuple[np.ndarray[Any, np.dtype[np.float32]], Queries]


def _data(n_queries: int, size: int, n_features: int, n_grades: int, shares: list[float] | None = None) -> _Data:
    """Return random features, some of which tell the grade, and queries of one size."""
    rng = np.random.default_rng(0)
    n = n_queries * size
    y = rng.choice(n_grades, n, p=shares).astype(np.float64)
    X = rng.normal(size=(n, n_features))
    X[:, ::3] += 0.3 * y[:, None]
    return X.astype(np.float32), Queries(y, group=np.full(n_queries, size))


def _measure(name: str, ranker: ReferenceRanker, data: _Data, scale: float) -> Row:
    """Fit once for the time and once for the memory."""
    X, queries = data
    group = np.diff(queries.boundaries)
    ranker.set_params(n_estimators=max(1, round(ranker.n_estimators * scale)), random_state=0)
    small = slice(0, int(queries.boundaries[2]))
    clone(ranker).set_params(n_estimators=2).fit(X[small], queries.labels[small], group=group[:2])
    start = time.perf_counter()
    ranker.fit(X, queries.labels, group=group)
    seconds = time.perf_counter() - start
    tracemalloc.start()
    try:
        ranker.fit(X, queries.labels, group=group)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return Row(
        name=name,
        documents=queries.n_rows,
        queries=queries.n_queries,
        features=X.shape[1],
        pairs=int(queries.grade_runs.n_pairs.sum()),
        rounds=len(ranker.history_["alpha"]),
        seconds=seconds,
        megabytes=peak / 1e6,
    )
