"""Number of threads, and parallel execution of kernels over queries.

Kernels release the GIL and write to disjoint rows, so Python threads run them in parallel. One thread computes each
query, in a fixed order, so results are bit-equal for any number of threads. A separate OpenMP pool would compete with
the frameworks' pools, break after a fork, and forbid concurrent calls.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_integer

_CHUNKS_PER_THREAD = 4
_work_per_thread = 200_000  # rows; below it, threads gain nothing beside those of a framework, which spin

_of_framework: ContextVar[int | None] = ContextVar("_of_framework", default=None)
_chosen: int | None = None
_pool: tuple[int, int, ThreadPoolExecutor] | None = None  # (process id, workers, executor)


def set_num_threads(n: int | None) -> None:
    """Set the number of threads for losses and metrics, used if the framework's own setting is not known.

    Parameters
    ----------
    n : int or None
        At least 1. None restores the default: ``OMP_NUM_THREADS`` if set, else all cores that this process may use.

    Raises
    ------
    ValueError
        If `n` is not a positive integer.
    """
    global _chosen  # noqa: PLW0603 (a process-wide setting)
    if n is not None:
        check_integer("n", n, 1, ", or None for the default")
    _chosen = None if n is None else int(n)


def get_num_threads() -> int:
    """Return the current number of threads of losses and metrics."""
    framework = _of_framework.get()
    if framework is not None:
        return framework
    if _chosen is not None:
        return _chosen
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdigit() and int(first) > 0:
        return int(first)
    return cores_of_process()


def cores_of_process() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


@contextmanager
def threads_of_framework(n: int | None) -> Iterator[None]:
    """Use `n` threads within the block, the calling framework's setting, or None if it is not known."""
    token = _of_framework.set(n)
    try:
        yield
    finally:
        _of_framework.reset(token)


@contextmanager
def forced_threads(n: int) -> Iterator[None]:
    """Use `n` threads within the block however little work there is, to test that threads change nothing."""
    global _work_per_thread  # noqa: PLW0603 (a process-wide setting)
    before, _work_per_thread = _work_per_thread, 1
    try:
        with threads_of_framework(n):
            yield
    finally:
        _work_per_thread = before


def _executor(workers: int) -> ThreadPoolExecutor:
    """Return a pool of at least `workers` threads, a new one in a forked child: threads end with a fork."""
    global _pool  # noqa: PLW0603 (one pool per process)
    if _pool is None or _pool[0] != os.getpid() or _pool[1] < workers:
        _pool = (os.getpid(), workers, ThreadPoolExecutor(workers, thread_name_prefix="boostplug"))
    return _pool[2]


def run_over_queries(
    kernel: Callable[..., None], starts: NDArray[np.int64], *arguments: Any, num_threads: int | None = None
) -> None:
    """Call ``kernel(first, last, *arguments)`` on ranges that cover all queries, in parallel.

    Parameters
    ----------
    kernel : callable
        Works on the queries ``first <= q < last`` and writes only their rows; releases the GIL.
    starts : ndarray of shape (n_queries + 1,)
        Cumulative work before each query, in rows of a kernel that takes some 20 ns a row, for balancing.
    *arguments
        What the kernel takes besides.
    num_threads : int, optional
        Default: `get_num_threads`.
    """
    n_queries = len(starts) - 1
    most = min(n_queries, 1 + int(starts[-1] - starts[0]) // _work_per_thread)
    threads = most if most <= 1 else min(most, num_threads or get_num_threads())
    if threads <= 1:
        kernel(0, n_queries, *arguments)
        return
    chunks = min(n_queries, threads * _CHUNKS_PER_THREAD)
    cuts = np.searchsorted(starts, np.linspace(starts[0], starts[-1], chunks + 1))
    cuts[0], cuts[-1] = 0, n_queries
    edges = np.unique(cuts)
    ticket = count()

    def worker() -> None:
        while (i := next(ticket)) < len(edges) - 1:
            kernel(int(edges[i]), int(edges[i + 1]), *arguments)

    helpers = []
    with suppress(RuntimeError):  # the interpreter is shutting down, or can start no more threads
        for _ in range(threads - 1):
            helpers.append(_executor(threads - 1).submit(worker))  # noqa: PERF401 (those that started are known)
    worker()
    for helper in helpers:
        if not helper.cancel():  # one that has not started has nothing left to do
            helper.result()


def run_evenly(kernel: Callable[[int, int], None], n_parts: int, work: int) -> None:
    """Call ``kernel(first, last)`` in parallel on ranges of parts, each of which costs as much as `work` rows."""
    run_over_queries(kernel, np.arange(n_parts + 1) * work)


def numbers_by_query(
    kernel: Callable[..., None], boundaries: NDArray[np.int64], *arguments: Any
) -> NDArray[np.float64]:
    """Return one number per query, written by ``kernel(first, last, *arguments, out)``, run in parallel."""
    out = np.empty(len(boundaries) - 1)
    run_over_queries(kernel, boundaries, *arguments, out)
    return out
