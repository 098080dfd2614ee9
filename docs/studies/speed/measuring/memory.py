"""Measurements in a process of its own: the memory of a call of a loss, and the threads that it starts."""

import sys
import threading
import time
from pathlib import Path
from typing import Any

from boostplug.core.threads import set_num_threads
from boostplug.data.queries import Queries
from boostplug.losses import Loss
from studies.speed.measuring.data import grades, named_losses, scores_of

__all__ = ["count_anew", "resident_bytes", "status_mib", "threads_and_bytes"]

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # man 5 proc
_PAUSE = 0.02  # seconds in which helping threads let go of the arrays of their last call
_WARM = 400  # queries that compile and start the threads


def threads_and_bytes(n_queries: int, size: int, threads: int) -> dict[str, Any]:
    """Return the threads that calls of all losses on 100 lists of 10 start, and the memory of calls of each loss.

    Memory is resident memory per document beyond what there was before; it is known on Linux only.
    """
    set_num_threads(max(2, threads))
    before = threading.active_count()
    _call_all(grades(100, 10))
    started = threading.active_count() - before  # measured first, before anything else starts threads
    if not sys.platform.startswith("linux"):
        return {"threads": started, "bytes": {}}
    set_num_threads(threads)
    _call_all(grades(_WARM, size))
    of_losses = {name: _bytes_of(loss, grades(n_queries, size)) for name, loss in named_losses().items()}
    return {"threads": started, "bytes": of_losses}


def _call_all(queries: Queries) -> None:
    for loss in named_losses().values():
        loss.gradient_hessian(scores_of(queries), queries)


def _bytes_of(loss: Loss, queries: Queries) -> dict[str, float]:
    scores = scores_of(queries)
    start, per_document = resident_bytes(), 1.0 / queries.n_rows
    most = {}
    for call in ("first", "later"):
        before = count_anew()
        loss.gradient_hessian(scores, queries)
        most[f"{call}_call_bytes"] = per_document * (resident_bytes("VmHWM") - before)
    return {**most, "kept_bytes": per_document * (resident_bytes() - start)}


def count_anew() -> int:
    """Reset the peak of this process's memory; return its memory now."""
    _CLEAR.write_text(_RESET_PEAK)
    return resident_bytes()


def resident_bytes(what: str = "VmRSS") -> int:
    """Return the resident memory of this process, or with VmHWM its peak since `count_anew`; on Linux only."""
    time.sleep(_PAUSE)
    return int((status_mib(what) or 0.0) * 2**20)


def status_mib(what: str) -> float | None:
    """Return a line of what Linux says of this process; resource.getrusage would count its parent's memory too."""
    if not _STATUS.exists():
        return None
    return int(next(line for line in _STATUS.read_text().splitlines() if line.startswith(what)).split()[1]) / 1024
