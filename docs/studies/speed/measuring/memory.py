"""What a process of its own tells of a loss: the memory of a call, the threads that one wakes."""

import sys
import threading
import time
from pathlib import Path
from typing import Any

from boostplug.core.threads import set_num_threads
from boostplug.data.queries import Queries
from boostplug.losses import Loss
from studies.speed.measuring.data import grades, named_losses, scores_of

__all__ = [
    "bytes_per_document",
    "count_anew",
    "most_bytes",
    "resident_bytes",
    "status_mib",
    "threads_and_bytes",
    "threads_woken",
]

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # man 5 proc
_PAUSE = 0.02  # seconds in which helping threads let go of the arrays of their last call
_WARM = 400  # queries that compile and start the threads


def threads_and_bytes(n_queries: int, size: int, threads: int) -> dict[str, Any]:
    """Return both, of this process: threads first, before anything has started some."""
    return {"threads": threads_woken(max(2, threads)), "bytes": bytes_per_document(n_queries, size, threads)}


def bytes_per_document(n_queries: int, size: int, threads: int) -> dict[str, dict[str, float]]:
    """Return what calls of each loss take of the resident set, beyond what there was before; empty where not known."""
    if not sys.platform.startswith("linux"):
        return {}
    set_num_threads(threads)
    warm = grades(_WARM, size)
    for loss in named_losses().values():
        loss.gradient_hessian(scores_of(warm), warm)
    return {name: _of_calls(loss, grades(n_queries, size)) for name, loss in named_losses().items()}


def _of_calls(loss: Loss, queries: Queries) -> dict[str, float]:
    scores = scores_of(queries)
    start, per_document = resident_bytes(), 1.0 / queries.n_rows
    most = {}
    for call in ("first", "later"):
        before = count_anew()
        loss.gradient_hessian(scores, queries)
        most[f"{call}_call_bytes"] = per_document * (most_bytes() - before)
    return {**most, "kept_bytes": per_document * (resident_bytes() - start)}


def count_anew() -> int:
    """Start to count the most that this process has had; return what it has."""
    _CLEAR.write_text(_RESET_PEAK)
    return resident_bytes()


def most_bytes() -> int:
    """Return the largest resident set of this process, in bytes, since it was counted anew; on Linux alone."""
    return _bytes("VmHWM")


def resident_bytes() -> int:
    """Return the resident set of this process, in bytes; on Linux alone."""
    return _bytes("VmRSS")


def _bytes(what: str) -> int:
    time.sleep(_PAUSE)
    found = status_mib(what)
    assert found is not None
    return int(found * 2**20)


def status_mib(what: str) -> float | None:
    """Return a line of what Linux says of this process; resource.getrusage would count its parent's memory too."""
    if not _STATUS.exists():
        return None
    return int(next(line for line in _STATUS.read_text().splitlines() if line.startswith(what)).split()[1]) / 1024


def threads_woken(threads: int) -> int:
    """Return how many threads calls of all losses on 100 lists of 10 start."""
    set_num_threads(threads)
    queries = grades(100, 10)
    before = threading.active_count()
    for loss in named_losses().values():
        loss.gradient_hessian(scores_of(queries), queries)
    return threading.active_count() - before
