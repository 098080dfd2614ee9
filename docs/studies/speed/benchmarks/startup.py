"""Benchmarks import and cold: imports, and first calls without and with compiled code, in new processes."""

from collections.abc import Iterator
from tempfile import TemporaryDirectory

from boostplug.metrics import NDCG
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.measuring.clock import ask_process
from studies.speed.measuring.data import default_losses

__all__ = ["Cold", "Import"]

_MOST_OF_IMPORT = 50.0  # ms of CPU
_PACKAGE, _UNIT = "import boostplug", "import numpy, numba"
_NAMES = (
    "Queries MPBoost NDCG set_pairs LGBMRanker XGBRanker RankBoostRanker Ensemble make_scorer compare datasets testing"
)
_STATEMENTS = (
    _PACKAGE,
    _UNIT,
    *(f"from boostplug import {name}" for name in _NAMES.split()),
    "import boostplug.cli",
    "import lightgbm",
    "import xgboost",
)

# Runs a statement; says wall and CPU seconds, how many modules it has loaded, and which of the large libraries.
_IMPORT = """
import json, sys, time
large, statement = sys.argv[1].split(), sys.argv[2]
before, start, cpu = {*sys.modules}, time.perf_counter(), time.process_time()
exec(statement)
seconds = time.perf_counter() - start, time.process_time() - cpu
new = {*sys.modules} - before
print(json.dumps([*seconds, len(new), [name for name in large if name in new]]))
"""
_LARGE = "scipy sklearn pandas matplotlib lightgbm xgboost optuna dask"


class Import(Benchmark):
    """Time of imports in new processes, without Python's own start; the share divides by that of numpy and numba."""

    name = "import"
    title = "imports, each in a new process"
    columns = (
        Column("milliseconds", "wall, ms"),
        Column("cpu_milliseconds", "CPU, ms"),
        Column("share", "share of numpy and numba", "ratio", 3),
        Column("modules", "modules loaded", "given"),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        if setting.scale >= 1.0:
            self._ask_all()  # the files are in memory then, and compiled to bytecode

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        found = self._ask_all()
        unit = found[_UNIT][1]
        loading: dict[str, list[str]] = {}
        for statement, (_, _, _, large) in found.items():
            loading.setdefault(", ".join(large) or "none of these libraries", []).append(f"`{statement}`")
        for libraries, statements in loading.items():
            self.note(f"Loaded {libraries}: by {', '.join(statements)}.")
        for statement, (wall, cpu, modules, _) in found.items():
            times = {"milliseconds": 1e3 * wall, "cpu_milliseconds": 1e3 * cpu, "share": cpu / unit}
            targets = {"cpu_milliseconds": _MOST_OF_IMPORT} if statement == _PACKAGE else {}
            yield Row("", statement, {**times, "modules": modules}, targets)

    def _ask_all(self) -> dict[str, tuple[float, float, int, list[str]]]:
        """Return the wall and CPU seconds, the number of modules and the large libraries of each statement."""
        self.setting.say("imports")
        return {statement: tuple(ask_process(_IMPORT, _LARGE, statement)) for statement in _STATEMENTS}


_ALONE_FROM = 0.5  # scale
_MOST, _MOST_TOGETHER, _MOST_CACHED = 3.0, 8.0, 0.4  # seconds of CPU

# Calls each of the classes named module:class; says what the import of boostplug and the calls took.
_FIRST_CALLS = """
import importlib, json, sys, time
import numba, numpy as np
def clocks():
    return time.perf_counter(), time.process_time()
start = clocks()
from boostplug.data.queries import Queries
kinds = [getattr(importlib.import_module(module), kind) for module, kind in (name.split(":") for name in sys.argv[1:])]
imported = clocks()
rng = np.random.default_rng(0)
top = {"LogisticError": {"max_grade": 4.0}, "CalibratedSoftmax": {"max_grade": 4.0}}
queries, scores = Queries(rng.integers(0, 5, 600).astype(float), group=[50] * 12), rng.normal(size=600)
before = clocks()
for kind in kinds:
    value = kind(**top.get(kind.__name__, {}))
    (value.gradient_hessian if hasattr(value, "gradient_hessian") else value)(scores, queries)
after = clocks()
print(json.dumps([*(b - a for a, b in zip(before, after)), imported[1] - start[1]]))
"""


class Cold(Benchmark):
    """The first call of each loss and of NDCG in a new process, after the imports, on 12 lists of 50 documents.

    With an empty `NUMBA_CACHE_DIR` all kernels compile; the next process finds them there. The compile share is the
    share of the CPU seconds that the cache saves. *Import* is the CPU time of boostplug's own modules.
    """

    name = "cold"
    title = "the first call in a new process"
    columns = (
        Column("seconds", "empty cache, wall s", digits=2),
        Column("cpu_seconds", "empty cache, CPU s", digits=2),
        Column("cached_seconds", "used cache, wall s", digits=3),
        Column("cached_cpu_seconds", "used cache, CPU s", digits=3),
        Column("import_cpu_seconds", "import, CPU s", digits=3),
        Column("compile_share", "compile share", "ratio", 3),
    )

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        kinds: dict[str, type] = {**{name: type(loss) for name, loss in default_losses().items()}, "NDCG": NDCG}
        names = {name: f"{kind.__module__}:{kind.__qualname__}" for name, kind in kinds.items()}
        for name, path in names.items() if self.setting.scale >= _ALONE_FROM else ():
            yield self._row(name, [path], _MOST)
        yield self._row("all of them", [*names.values()], _MOST_TOGETHER)

    def _row(self, name: str, paths: list[str], most: float) -> Row:
        self.setting.say(name)
        with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
            (wall, cpu, _), (cached_wall, cached_cpu, imports) = (
                ask_process(_FIRST_CALLS, *paths, NUMBA_CACHE_DIR=folder) for _ in range(2)
            )
        values = {
            "seconds": wall,
            "cpu_seconds": cpu,
            "cached_seconds": cached_wall,
            "cached_cpu_seconds": cached_cpu,
            "import_cpu_seconds": imports,
            "compile_share": 1.0 - cached_cpu / cpu,
        }
        return Row("", name, values, {"cpu_seconds": most, "cached_cpu_seconds": _MOST_CACHED})
