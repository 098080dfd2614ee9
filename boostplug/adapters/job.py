"""Collective operations of a training on several workers, for each call of a loss or a metric.

All workers call the same collective operations in the same order. A worker with an error takes part in the next
operation of the others and reports the error there; then all workers raise it. A loss needs two operations per call, a
metric one. Nothing is cached between calls, since one worker might have it and another not.
"""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from boostplug.core.collective import LOCAL, Collective

Floats = NDArray[np.float64]

_MESSAGE_VALUES = 16  # values of one worker in the first operation; more values need a second one
_HEADER = 3


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

    def largest(self, values: Floats) -> Floats:
        """Return the largest of each entry over all workers, in the same shape."""

    def broadcast(self, text: tuple[str, str] | None, rank: int) -> tuple[str, str]:
        """Return the text that the worker `rank` passes; the others' texts are ignored."""


class Call:
    """Collective operations of one call of a loss or metric.

    Attributes
    ----------
    alone : bool
        True if there are no other workers.
    n_queries : int
        Number of this worker's queries; set it before the first operation.
    any_step : bool
        After `largest`: True if any worker had a value.
    """

    def __init__(self, workers: Workers | None) -> None:
        self._workers = workers
        self._n_asked = 0
        self._over = False  # True if all workers raise, so none waits for this one
        self.alone = workers is None
        self.n_queries = 0
        self.any_step = True

    @property
    def totals(self) -> Collective:
        """Collective operations for a loss."""
        return LOCAL if self._workers is None else self

    def gather(self, values: Floats) -> Floats:
        """Return the values of all workers, of shape (n_workers, n_values)."""
        return self._gather(values, None)

    def largest(self, value: float) -> float:
        """Return the largest value of all workers; a worker without values passes -∞."""
        if np.isnan(value):
            raise ValueError("the largest derivative is NaN; check the formulas of the loss, and the weights")
        return self._largest(value, None)

    def finish(self, *, any_step: bool) -> None:
        """Call the remaining operations, which raise if another worker has failed."""
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
        padding = np.zeros(max(0, _MESSAGE_VALUES - len(values)))
        table = _gathered_rows(np.concatenate([head, values[:_MESSAGE_VALUES], padding]), workers)
        failed, n_queries, n_values = table[:, :_HEADER].T
        if failed.any():
            self._raise(int(np.argmax(failed)), error)
        if (n_values != len(values)).any():
            raise RuntimeError(
                f"the workers of the job gather different numbers of values, {n_values.astype(int).tolist()}, because "
                "they call different losses or metrics; start all workers with the same"
            )
        if not n_queries.any():
            raise ValueError("no worker of the job has any query; pass data with queries")
        table = table[:, _HEADER : _HEADER + len(values)]
        if len(values) > _MESSAGE_VALUES:
            table = np.hstack([table, _gathered_rows(values[_MESSAGE_VALUES:], workers)])
        self._over = False
        return table

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
        """Begin an operation. An error in it is raised on all workers, or means that they cannot be reached."""
        if self._n_asked != place or self._workers is None:
            raise RuntimeError("a loss must call gather once and then largest at most once in every call")
        self._n_asked += 1
        self._over = True
        return self._workers

    def _raise(self, rank: int, error: Exception | None) -> NoReturn:
        """Raise the error of the first worker that has failed."""
        assert self._workers is not None
        own = None if error is None or rank != self._workers.rank else _described(error)
        kind, text = self._workers.broadcast(own, rank)
        raise _build_error(kind, f"on worker {rank} of {self._workers.n}: {text}") from error


def _gathered_rows(values: Floats, workers: Workers) -> Floats:
    """Return a table with one row of values per worker, as a sum of tables that are 0 in the other rows."""
    rows = np.zeros((workers.n, len(values)))
    rows[workers.rank] = values
    return workers.sum(rows)


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
def in_step(workers: Workers | None, *, n_questions: int) -> Iterator[Call]:
    """Keep the workers of a job in step during a call, also if it raises.

    Parameters
    ----------
    workers : Workers, or None
        None for a single machine.
    n_questions : int
        Number of collective operations of a call without errors.
    """
    call = Call(workers)
    if workers is None:
        yield call
        return
    try:
        yield call
    except Exception as error:  # noqa: BLE001 (whatever it is, all workers raise it)
        call.fail(error, n_questions)
