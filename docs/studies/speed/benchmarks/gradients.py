"""Benchmark gradients: what one call of each loss costs."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from boostplug.data.queries import Queries
from boostplug.losses import LambdaRank
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.measuring.clock import call_in_process, growing, in_turns
from studies.speed.measuring.data import grades, named_losses, real_grades, scores_of
from studies.speed.measuring.frameworks import lightgbm_own
from studies.speed.measuring.memory import threads_and_bytes

__all__ = ["Gradients"]

_QUERIES, _SIZE = 6_000, 120
_SPREADS = (1.0, 3.0, 10.0)
_CALLS = 9
_PART = "MSLR's shape, scores of spread {:g}"
_AT_ONCE = 50  # tiny calls that are timed together
_LONGEST = 10.0  # seconds of a call; what would take more is left out
_PER_SECOND = {"milliseconds": 1e3, "microseconds": 1e6}
_PEER = "LightGBM's lambdarank"

# Shares of lambdarank's own gradient, of the losses as they are by default.
_TARGETS = {"MPBoost": 0.2, "QBRank": 0.2, **dict.fromkeys(("NDCGBoost", "RankNet", "CRR", "AdaRank"), 0.3)}
_TARGETS |= {"LambdaRank": 1.0}
_TARGETS_OF_REAL_GRADES = {"NDCGBoost": 60.0, "RankNet": 60.0}  # ms

_LEAST_QUERIES = 2_000  # the kernel counts pages in lumps
_STEADY = {"MALLOC_MMAP_THRESHOLD_": "65536"}  # arrays that are freed leave glibc's process at once


class Gradients(Benchmark):
    """One `gradient_hessian` of every loss, on the shapes that matter, and the memory that it takes.

    A *share* is the time per document, divided by that of LightGBM's lambdarank gradient on MSLR's shape: a round of
    lambdarank minus a round of squared errors, with trees of two leaves on one feature, from the first round on. One
    query has a million documents with MSLR's grades. Memory is of a separate process, in bytes per document: the peak
    of the first and of a later call above the memory before it, and the memory that stays. The result takes 16 bytes.
    """

    name = "gradients"
    title = "a call of each loss, as a share of lambdarank's own gradient"
    columns = (
        Column("documents", "documents", "given"),
        Column("queries", "queries", "given"),
        Column("milliseconds", "ms"),
        Column("microseconds", "µs"),
        Column("share", "share", "ratio", 3),
        Column("threads_woken", "threads woken"),
        Column("first_call_bytes", "first call, B/document", digits=0),
        Column("later_call_bytes", "later call, B/document", digits=0),
        Column("kept_bytes", "kept, B/document", digits=0),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._losses = named_losses()
        self._mslr = grades(setting.count(_QUERIES, 2), _SIZE)
        self._long = grades(1, setting.count(1_000_000, 10))
        self._tiny = grades(100, 10)
        self._reals = {n: real_grades(1, n) for n in (setting.count(n, 10) for n in (2_000, 20_000, 200_000))}
        self._calls = setting.count(_CALLS, 3)
        self._unit: float | None = None  # seconds of lambdarank's own gradient per document
        self._of_process: list[Row] = []

    def run(self) -> Iterator[Row]:
        """Measure all of it once; memory and threads, which chance hardly touches, in the first run alone."""
        for spread in _SPREADS:
            yield from self._on_mslr(spread)
        self.setting.say("one query")
        calls = self._calls_on(self._long)
        calls = {name: call for name, call in calls.items() if not isinstance(self._losses[name], LambdaRank)}
        yield from self._rows("One query", self._long, in_turns(calls, self._calls))
        yield from self._on_tiny()
        yield from self._on_real_grades()
        self._of_process = self._of_process or [*self._from_a_process()]
        yield from self._of_process

    def _calls_on(self, queries: Queries, spread: float = 1.0) -> dict[str, Callable[[], object]]:
        """Return a call of each loss."""
        scores = scores_of(queries, spread)
        return {name: partial(loss.gradient_hessian, scores, queries) for name, loss in self._losses.items()}

    def _rows(
        self,
        part: str,
        queries: Queries,
        seconds: Mapping[str, float],
        targets: Mapping[str, dict[str, float]] | None = None,
        unit: str = "milliseconds",
    ) -> Iterator[Row]:
        for name, taken in seconds.items():
            share = None if self._unit is None else taken / queries.n_rows / self._unit
            values = {"documents": queries.n_rows, "queries": queries.n_queries, unit: taken * _PER_SECOND[unit]}
            yield Row(part, name, {**values, "share": share}, (targets or {}).get(name, {}))

    def _targets(self, column: str, most: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return the targets of the losses as they are by default."""
        kinds = {name: type(loss) for name, loss in self._losses.items() if type(loss).__name__ in most}
        return {name: {column: most[kind.__name__]} for name, kind in kinds.items() if self._losses[name] == kind()}

    def _on_mslr(self, spread: float) -> Iterator[Row]:
        """Measure the losses in turns with lambdarank's own gradient and, the first time, with the unit of shares."""
        part = _PART.format(spread)
        self.setting.say(part)
        first = spread == _SPREADS[0]
        own = lightgbm_own(self._mslr, self.setting.threads, scores_of(self._mslr, spread))
        unit = lightgbm_own(self._mslr, self.setting.threads) if first else None
        calls = self._calls_on(self._mslr, spread)
        calls |= own.calls | (unit.calls if unit else {})
        seconds = in_turns(calls, self._calls)
        taken = own.taken_from(seconds)
        if unit is not None:
            lambdarank = unit.taken_from(seconds)
            self._unit = None if lambdarank is None else lambdarank / self._mslr.n_rows
            if lambdarank is None:
                self.note("Shares are left out: LightGBM's rounds differ by chance alone.")
        yield from self._rows(part, self._mslr, seconds, self._targets("share", _TARGETS) if first else {})
        yield from self._rows(part, self._mslr, {} if taken is None else {_PEER: taken})

    def _on_tiny(self) -> Iterator[Row]:
        self.setting.say("tiny lists")
        calls = {name: partial(_some, call) for name, call in self._calls_on(self._tiny).items()}
        seconds = {name: taken / _AT_ONCE for name, taken in in_turns(calls, self._calls).items()}
        yield from self._rows("Tiny lists", self._tiny, seconds, unit="microseconds")

    def _on_real_grades(self) -> Iterator[Row]:
        self.setting.say("real-valued grades")
        targets = self._targets("milliseconds", _TARGETS_OF_REAL_GRADES)
        largest, longest = max(self._reals), _LONGEST * min(1.0, self.setting.scale)
        seconds = {}
        for name, loss in self._losses.items():
            calls = {n: partial(loss.gradient_hessian, scores_of(q), q) for n, q in self._reals.items()}
            found = growing(calls, self._calls, longest=longest)
            if largest in found:
                seconds[name] = found[largest]
            else:
                self.note(f"{name} on {largest:,} different grades is left out: it would take more than {longest:g} s.")
        yield from self._rows("Different grades", self._reals[largest], seconds, targets)

    def _from_a_process(self) -> Iterator[Row]:
        self.setting.say("memory")
        n_queries = self.setting.count(_QUERIES, _LEAST_QUERIES)
        found = call_in_process(threads_and_bytes, n_queries, _SIZE, self.setting.threads, **_STEADY)
        yield Row("Tiny lists", "all of them", {"threads_woken": found["threads"]})
        if not found["bytes"]:
            self.note("Memory is left out: this system does not tell the most that a process has had.")
        for name, values in found["bytes"].items():
            yield Row("Memory", name, {"documents": n_queries * _SIZE, **values})


def _some(call: Callable[[], object]) -> None:
    for _ in range(_AT_ONCE):
        call()
