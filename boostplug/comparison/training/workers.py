"""Independent jobs over threads, by joblib."""

import warnings
from collections.abc import Callable, Generator, Iterable
from threading import Event
from typing import TypeVar

import joblib

J = TypeVar("J")
R = TypeVar("R")


def in_threads(work: Callable[[J], R], jobs: Iterable[J], n_threads: int, ended: Event) -> Generator[tuple[J, R]]:
    """Yield each job with its result, as they finish. With one thread, jobs run in this one.

    `jobs` are read as needed, also by other threads. `ended` is set once no more results are wanted; jobs must then end
    soon.
    """

    def done(job: J) -> tuple[J, R]:
        return job, work(job)

    parallel = joblib.Parallel(n_threads, backend="threading", return_as="generator_unordered", pre_dispatch="n_jobs")
    results = parallel(joblib.delayed(done)(job) for job in jobs)
    try:
        for result in results:  # noqa: UP028 (`yield from` would close the results before `ended` is set)
            yield result
    finally:
        ended.set()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns when it ends jobs
            results.close()
