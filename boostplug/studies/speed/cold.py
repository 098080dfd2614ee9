"""`boostplug bench cold`: the first call in a new process, without and with compiled code on disk."""

from collections.abc import Iterator
from tempfile import TemporaryDirectory

from boostplug.metrics import NDCG
from boostplug.studies.speed.benchmark import Benchmark, Column, Row
from boostplug.studies.speed.clock import ask_process
from boostplug.studies.speed.data import default_losses
from boostplug.studies.speed.figures import Bars

__all__ = ["Cold"]

_ALONE_FROM = 0.5  # scale
_MOST, _MOST_TOGETHER, _MOST_CACHED = 3.0, 8.0, 0.4  # seconds of CPU

# Calls each of the classes named module:class; says what the import of boostplug and the calls took.
_PROGRAM = """
import importlib, json, sys, time
import numba, numpy as np
def clocks():
    return time.perf_counter(), time.process_time()
start = clocks()
from boostplug.data.queries import Queries
kinds = [getattr(importlib.import_module(module), kind) for module, kind in (name.split(":") for name in sys.argv[1:])]
imported = clocks()
rng = np.random.default_rng(0)
queries, scores = Queries(rng.integers(0, 5, 600).astype(float), group=[50] * 12), rng.normal(size=600)
before = clocks()
for kind in kinds:
    value = kind()
    (value.gradient_hessian if hasattr(value, "gradient_hessian") else value)(scores, queries)
after = clocks()
print(json.dumps([*(b - a for a, b in zip(before, after)), imported[1] - start[1]]))
"""


class Cold(Benchmark):
    """The first call of each loss in a fresh process."""

    name = "cold"
    title = "the first call in a new process"
    about = """\
Seconds of the first `gradient_hessian` of a loss, or the first call of NDCG, on 12 lists of 50 documents, with numpy,
numba and the loss imported: *wall* is what a user waits, *CPU* what it costs whatever else the machine does. *Empty
cache*: in a process whose `NUMBA_CACHE_DIR` is an empty folder, so that all kernels compile; *used cache*: in the next
process, which finds them there. The *compile share* is what of the CPU seconds the cache saves. Each alone, then all of
them in one process. *Import* is what boostplug's own modules take of the CPU beyond numpy and numba.
"""
    columns = (
        Column("seconds", "empty cache, wall s", digits=2),
        Column("cpu_seconds", "empty cache, CPU s", digits=2),
        Column("cached_seconds", "used cache, wall s", digits=3),
        Column("cached_cpu_seconds", "used cache, CPU s", digits=3),
        Column("import_cpu_seconds", "import, CPU s", digits=3),
        Column("compile_share", "compile share", "ratio", 3),
    )
    figures = (
        Bars(
            name="",
            title="The first call in a new process",
            columns={"cpu_seconds": "empty cache", "cached_cpu_seconds": "used cache"},
            unit="seconds of CPU",
        ),
    )

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        kinds: dict[str, type] = {**{name: type(loss) for name, loss in default_losses().items()}, "NDCG": NDCG}
        names = {name: f"{kind.__module__}:{kind.__qualname__}" for name, kind in kinds.items()}
        if self.setting.scale >= _ALONE_FROM:
            for name, path in names.items():
                yield self._row(name, [path], _MOST)
        else:
            self.note(f"Each alone is left out below a scale of {_ALONE_FROM:g}.")
        yield self._row("all of them", [*names.values()], _MOST_TOGETHER)

    def _row(self, name: str, paths: list[str], most: float) -> Row:
        self.setting.say(name)
        with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
            (wall, cpu, _), (cached_wall, cached_cpu, imports) = (
                ask_process(_PROGRAM, *paths, NUMBA_CACHE_DIR=folder) for _ in range(2)
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
