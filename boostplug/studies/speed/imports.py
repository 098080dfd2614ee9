"""`boostplug bench import`: what importing boostplug costs, and what it loads."""

from collections.abc import Iterator

from boostplug.studies.speed.benchmark import Benchmark, Column, Row, Setting
from boostplug.studies.speed.clock import ask_process
from boostplug.studies.speed.figures import Bars

__all__ = ["Import"]

_MOST = 50.0  # ms of CPU
_PACKAGE, _UNIT = "import boostplug", "import numpy, numba"
_FIRST_TOUCHED = (
    "Queries",
    "MPBoost",
    "NDCG",
    "set_pairs",
    "LGBMRanker",
    "XGBRanker",
    "RankBoostRanker",
    "Ensemble",
    "make_scorer",
    "compare",
    "datasets",
    "testing",
)
_STATEMENTS = (
    _PACKAGE,
    _UNIT,
    *(f"from boostplug import {name}" for name in _FIRST_TOUCHED),
    "import boostplug.cli",
    "import lightgbm",
    "import xgboost",
)

# Runs a statement; says wall and CPU seconds, how many modules it has loaded, and which of the large libraries.
_PROGRAM = """
import json, sys, time
large, statement = sys.argv[1].split(), sys.argv[2]
before, start, cpu = {*sys.modules}, time.perf_counter(), time.process_time()
try:
    exec(statement)
except ImportError as error:
    print(json.dumps(str(error).splitlines()[0]))
else:
    seconds = time.perf_counter() - start, time.process_time() - cpu
    new = {*sys.modules} - before
    print(json.dumps([*seconds, len(new), [name for name in large if name in new]]))
"""
_LARGE = ("numpy", "numba", "scipy", "sklearn", "pandas", "matplotlib", "lightgbm", "xgboost", "optuna", "dask")
_NEEDED = ("numpy", "numba")


class Import(Benchmark):
    """What importing boostplug costs, and what it loads."""

    name = "import"
    title = "imports, each in a new process"
    about = f"""\
What a statement takes in a process that has imported nothing yet, after Python's own start: *wall* is what a user
waits, *CPU* what it costs whatever else the machine does. `{_PACKAGE}` loads a table of names; a name's module is
imported when it is first touched, numpy and numba with the first that computes: the *share* is of what those two take.
The notes say which of {", ".join(_LARGE[2:])} a statement loads.
"""
    columns = (
        Column("milliseconds", "wall, ms"),
        Column("cpu_milliseconds", "CPU, ms"),
        Column("share", "share of numpy and numba", "ratio", 3),
        Column("modules", "modules loaded", "given"),
    )
    figures = (Bars(name="", title="Imports in a new process", columns={"cpu_milliseconds": ""}, unit="ms of CPU"),)

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
            more = [name for name in large if name not in _NEEDED]
            loading.setdefault(", ".join(more) or "none of these libraries", []).append(f"`{statement}`")
        for libraries, statements in loading.items():
            self.note(f"Loaded {libraries}: by {', '.join(statements)}.")
        for statement, (wall, cpu, modules, _) in found.items():
            values = {
                "milliseconds": 1e3 * wall,
                "cpu_milliseconds": 1e3 * cpu,
                "share": cpu / unit,
                "modules": modules,
            }
            yield Row("", statement, values, {"cpu_milliseconds": _MOST} if statement == _PACKAGE else {})

    def _ask_all(self) -> dict[str, tuple[float, float, int, list[str]]]:
        """Return what each statement took, of those whose libraries are installed."""
        found = {}
        for statement in _STATEMENTS:
            self.setting.say(statement)
            answer = ask_process(_PROGRAM, " ".join(_LARGE), statement)
            if isinstance(answer, str):
                self.note(f"`{statement}` is left out: {answer}.")
            else:
                found[statement] = tuple(answer)
        return found
