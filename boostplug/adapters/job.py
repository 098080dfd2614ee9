"""A job of several workers: what each call of a loss or a metric asks all of them.

Workers call in step: what one asks, all ask. So a worker on which something goes wrong takes part in the question that
the others ask next, and says there that it has failed; then all raise the same. A loss asks two questions at every
call, a metric one. Nothing is kept from call to call, since one worker might have it and another not.
"""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from boostplug.core.collective import LOCAL, Collective

__all__ = ["Call", "Workers", "in_step"]

Floats = NDArray[np.float64]

_ROOM = 16  # numbers of one worker in a question; more take another
_HEADER = 3


class Workers(Protocol):
    """The workers of a job, as their framework lets them talk to each other."""

    @property
    def rank(self) -> int:
        """The place of this one among them, from 0."""

    @property
    def n(self) -> int:
        """How many there are, at least 2."""

    def sum(self, values: Floats) -> Floats:
        """Return the sum of each entry over all workers, in the same shape."""

    def largest(self, values: Floats) -> Floats:
        """Return the largest of each entry over all workers, in the same shape."""

    def told(self, text: tuple[str, str] | None, rank: int) -> tuple[str, str]:
        """Return what the worker of that rank passes; what others pass is not looked at."""


class Call:
    """One call's questions: to several workers, or to none.

    Attributes
    ----------
    alone : bool
        Whether there is nobody to ask.
    n_queries : int
        This worker's, which it sets before it asks.
    any_step : bool
        Once `largest` was asked: whether any worker had something.
    """

    def __init__(self, workers: Workers | None) -> None:
        self._workers = workers
        self._n_asked = 0
        self._over = False  # no worker asks any more
        self.alone = workers is None
        self.n_queries = 0
        self.any_step = True

    @property
    def totals(self) -> Collective:
        """What a loss asks."""
        return LOCAL if self._workers is None else self

    def gather(self, values: Floats) -> Floats:
        """Return the values of all workers, of shape (n_workers, n_values)."""
        return self._gather(values, None)

    def largest(self, value: float) -> float:
        """Return the largest value of all workers; -∞ is that of nothing."""
        if np.isnan(value):
            raise ValueError("the largest derivative is NaN; check the formulas of the loss, and the weights")
        return self._largest(value, None)

    def finish(self, *, any_step: bool) -> None:
        """Ask what is left to ask: whether anything has gone wrong elsewhere."""
        if self._n_asked == 0:
            self.gather(np.empty(0))
        if self._n_asked == 1:
            self.largest(0.0 if any_step else -np.inf)

    def fail(self, error: Exception, n_questions: int) -> NoReturn:
        """Raise on all workers."""
        if not self._over and self._n_asked < n_questions:
            if self._n_asked == 0:
                self._gather(np.empty(0), error)
            else:
                self._largest(-np.inf, error)
        raise error

    def _gather(self, values: Floats, error: Exception | None) -> Floats:
        workers = self._next(0)
        head = np.array([error is not None, self.n_queries, len(values)], dtype=np.float64)
        told = _side_by_side(np.concatenate([head, values[:_ROOM], np.zeros(max(0, _ROOM - len(values)))]), workers)
        failed, n_queries, n_values = told[:, :_HEADER].T
        if failed.any():
            self._raise(int(np.argmax(failed)), error)
        if (n_values != len(values)).any():
            raise RuntimeError(
                f"the workers of the job gather different numbers of values, {n_values.astype(int).tolist()}: they do "
                "not call the same loss or metric; start all of them with the same"
            )
        if not n_queries.any():
            raise ValueError("no worker of the job has any query; pass data with queries")
        told = told[:, _HEADER : _HEADER + len(values)]
        if len(values) > _ROOM:
            told = np.hstack([told, _side_by_side(values[_ROOM:], workers)])
        self._over = False
        return told

    def _largest(self, value: float, error: Exception | None) -> float:
        workers = self._next(1)
        failed = 0.0 if error is None else float(workers.n - workers.rank)
        first, largest = workers.largest(np.array([failed, value]))
        if first:
            self._raise(workers.n - int(first), error)
        self.any_step = bool(largest > -np.inf)
        self._over = False
        return float(largest)

    def _next(self, place: int) -> Workers:
        """Begin a question: should it raise, then on all workers, or because they cannot be reached."""
        if self._n_asked != place or self._workers is None:
            raise RuntimeError(
                "a loss asks all workers to gather once at every call, then at most once for the largest"
            )
        self._n_asked += 1
        self._over = True
        return self._workers

    def _raise(self, rank: int, error: Exception | None) -> NoReturn:
        """Raise what has gone wrong on the first worker that has failed."""
        assert self._workers is not None
        own = None if error is None or rank != self._workers.rank else _described(error)
        kind, text = self._workers.told(own, rank)
        raise _made(kind, f"on worker {rank} of {self._workers.n}: {text}") from error


def _side_by_side(values: Floats, workers: Workers) -> Floats:
    """Return every worker's values, a row for each: a sum of what is 0 elsewhere."""
    rows = np.zeros((workers.n, len(values)))
    rows[workers.rank] = values
    return workers.sum(rows)


def _described(error: Exception) -> tuple[str, str]:
    """Return the class that every worker knows, and the text."""
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    name = "" if kind is type(error) else f"{type(error).__name__}: "
    return kind.__name__, f"{name}{error}"


def _made(name: str, text: str) -> Exception:
    kind = getattr(builtins, name)
    try:
        error: Exception = RuntimeError(text) if kind is Exception else kind(text)
    except TypeError:  # of UnicodeError's kinds, which are made of more
        return RuntimeError(text)
    return error


@contextmanager
def in_step(workers: Workers | None, *, n_questions: int) -> Iterator[Call]:
    """Keep the workers of a job in step through a call of ours, whatever goes wrong within.

    Parameters
    ----------
    workers : Workers, or None
        None: one machine alone.
    n_questions : int
        How many this call asks where all goes well.
    """
    call = Call(workers)
    if workers is None:
        yield call
        return
    try:
        yield call
    except Exception as error:  # noqa: BLE001 (whatever it is, all workers raise it)
        call.fail(error, n_questions)
