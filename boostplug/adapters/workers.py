"""Sums over the workers of a distributed training, and errors that all workers raise together.

All workers add up the same number of sums in the same order. A worker with an error takes part in the next sum of the
others, and reports the error there. Then all workers raise it. So none waits for a worker whose loss has raised. A
worker that dies is left to the framework.
"""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Protocol

import numpy as np

from boostplug.core.arrays import Floats

NO_QUERIES = "no worker of the job has any query; pass data with queries"


class Workers(Protocol):
    """Interface to the collective operations of a framework."""

    @property
    def rank(self) -> int:
        """Number of this worker, from 0."""

    @property
    def n(self) -> int:
        """Number of workers, at least 2."""

    def sum(self, values: Floats) -> Floats:
        """Return the sum of each entry over all workers, in the same shape."""

    def broadcast(self, text: tuple[str, str] | None, rank: int) -> tuple[str, str]:
        """Return the text that the worker `rank` passes. The others' texts are ignored."""


class WorkerSums:
    """The sums over workers of one call of a loss or metric, each the worker's own on a single machine.

    Parameters
    ----------
    workers : Workers, or None
        None for a single machine.
    lengths : tuple of int
        Number of values of each sum, in order.
    """

    def __init__(self, workers: Workers | None, lengths: tuple[int, ...]) -> None:
        self.workers, self._left = workers, list(lengths)

    def sum(self, values: Floats) -> Floats:
        """Return the sum of each value over all workers."""
        return self._sum(values, None)

    def fail(self, error: Exception) -> NoReturn:
        """Raise on all workers; on this one only if no sum is left or a sum has failed."""
        if self.workers is not None and self._left:
            self._sum(np.zeros(self._left[0]), error)
        raise error

    def _sum(self, values: Floats, error: Exception | None) -> Floats:
        if self.workers is None:
            return values
        length = self._left.pop(0)
        assert len(values) == length
        left, self._left = self._left, []  # an error in the sum itself means that the others cannot be reached
        failed = np.zeros(self.workers.n)
        failed[self.workers.rank] = error is not None
        total = self.workers.sum(np.concatenate([failed, values]))
        if total[: self.workers.n].any():
            self._raise(int(np.argmax(total[: self.workers.n])), error)
        self._left = left
        return total[self.workers.n :]

    def _raise(self, rank: int, error: Exception | None) -> NoReturn:
        """Raise the error of the first worker that has failed."""
        assert self.workers is not None
        own = None if error is None or rank != self.workers.rank else _described(error)
        kind, text = self.workers.broadcast(own, rank)
        raise _build_error(kind, f"on worker {rank} of {self.workers.n}: {text}") from error


def _described(error: Exception) -> tuple[str, str]:
    """Return the nearest built-in class of an error, which every worker has, and its text."""
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    name = "" if kind is type(error) else f"{type(error).__name__}: "
    return kind.__name__, f"{name}{error}"


def _build_error(name: str, text: str) -> Exception:
    kind = getattr(builtins, name)
    try:
        error: Exception = RuntimeError(text) if kind is Exception else kind(text)
    except TypeError:  # subclasses of UnicodeError need more arguments
        return RuntimeError(text)
    return error


@contextmanager
def in_step(workers: Workers | None, *lengths: int) -> Iterator[WorkerSums]:
    """Keep the workers of a training in step during a call, also if it raises; parameters as of `WorkerSums`."""
    sums = WorkerSums(workers, lengths)
    try:
        yield sums
    except Exception as error:  # noqa: BLE001 (whatever it is, all workers raise it)
        sums.fail(error)
