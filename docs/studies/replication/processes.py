"""Independent jobs over processes, by joblib."""

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pickle import PicklingError
from typing import Any, TypeVar

import joblib

__all__ = ["in_processes"]

J = TypeVar("J")
R = TypeVar("R")

_IDLE = 10  # seconds after which an idle process ends


def in_processes(work: Callable[[J], R], jobs: Iterable[J], n_workers: int) -> Generator[tuple[J, R]]:
    """Yield each job with its result, as they finish. With one worker, jobs run in this process.

    If this process is killed, the others finish their current job, and end.

    Parameters
    ----------
    work : callable
        It must be picklable by cloudpickle: also a lambda or a class of a notebook.
    jobs : iterable
        Read as needed.
    n_workers : int

    Raises
    ------
    RuntimeError
        If a process dies.
    ValueError
        If `work` or a job cannot be pickled.
    """
    begun: dict[int, J] = {}

    def calls() -> Iterator[Any]:
        for number, job in enumerate(jobs):
            begun[number] = job
            yield joblib.delayed(_numbered)(number, work, job)

    parallel = joblib.Parallel(
        n_jobs=n_workers, return_as="generator_unordered", pre_dispatch="n_jobs", idle_worker_timeout=_IDLE
    )
    results = parallel(calls())
    try:
        for number, result in results:
            yield begun.pop(number), result
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
