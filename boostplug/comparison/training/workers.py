"""Independent jobs over processes, by joblib."""

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pickle import PicklingError
from typing import Any, TypeVar

import joblib

J = TypeVar("J")
R = TypeVar("R")

_IDLE = 10  # seconds after which an idle process ends


def in_processes(work: Callable[[J], R], jobs: Iterable[J], n_processes: int) -> Generator[tuple[J, R]]:
    """Yield each job with its result, as they finish. With one process, jobs run in this process.

    If this process is killed, the others finish their current job, and end.

    Parameters
    ----------
    work : callable
        For several processes, it must be picklable by cloudpickle: also a lambda or a class of a notebook.
    jobs : iterable
        Read as needed.
    n_processes : int

    Raises
    ------
    RuntimeError
        If a process dies.
    ValueError
        If `work` or a job cannot be pickled.
    """
    begun: list[J] = []

    def calls() -> Iterator[Any]:
        for job in jobs:
            begun.append(job)
            yield joblib.delayed(_numbered)(len(begun) - 1, work, job)

    parallel = joblib.Parallel(
        n_jobs=n_processes, return_as="generator_unordered", pre_dispatch="n_jobs", idle_worker_timeout=_IDLE
    )
    results = parallel(calls())
    try:
        for number, result in results:
            yield begun[number], result
    except BrokenProcessPool:
        raise RuntimeError("a worker process has died; what was finished before is kept") from None
    except PicklingError as error:
        raise ValueError("a loss, metric or ranker cannot go to another process; use one process") from error
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns when it ends jobs
            results.close()


def _numbered(number: int, work: Callable[[J], R], job: J) -> tuple[int, R]:
    return number, work(job)
