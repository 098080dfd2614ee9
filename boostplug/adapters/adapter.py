"""`Adapter`: the interface to a framework; `ObjectiveLike` and `MetricLike`: the interfaces to losses and metrics."""

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.workers import Workers
from boostplug.core.threads import threads_of_framework
from boostplug.data.queries import Queries

_MAX_FRAMES = 12  # between the framework and this package: wrappers of the framework and of the user


class ObjectiveLike(Protocol):
    """Interface of a loss to the adapters."""

    @property
    def n_sums(self) -> int:
        """Number of entries of `query_sums`."""

    def query_sums(self, scores: Any, queries: Queries) -> NDArray[np.float64]:
        """Return the sums over queries that the derivatives depend on; those of several workers add up."""

    def gradient_hessian(
        self, scores: Any, queries: Queries, *, sums: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return gradient and Hessian per row; `sums` are the `query_sums` of all workers, if there are others."""

    def reads(self, queries: Queries) -> Queries:
        """Return the queries with the labels that it reads."""

    @property
    def needs_position(self) -> bool:
        """True if the loss reads positions."""

    def why_no_order(self, queries: Queries) -> str | None:
        """Return why no pair or list of these queries teaches an order; None if one does, or none is asked for."""


class MetricLike(Protocol):
    """Interface of a metric to the adapters."""

    greater_is_better: ClassVar[bool]

    @property
    def name(self) -> str:
        """Name that the framework prints."""

    def __call__(self, scores: Any, data: Any) -> Any:
        """Return the mean over the queries `data`."""

    def sum_and_count(self, scores: Any, queries: Queries) -> tuple[float, float]:
        """Return two sums whose ratio is that mean, which add up over several workers."""


class Fields(NamedTuple):
    """Fields of a dataset, as the framework returns them.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,), or None
    group : ndarray of shape (n_queries,)
        Sizes.
    weight : ndarray, or None
        Per query or per row.
    position : ndarray of shape (n_rows,), or None
        Categories from 0, where the framework keeps positions as such.
    """

    labels: NDArray[Any] | None
    group: NDArray[Any]
    weight: NDArray[Any] | None
    position: NDArray[Any] | None = None

    def same_as(self, other: "Fields") -> bool:
        """Return whether both hold equal values."""
        return all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in zip(self, other, strict=True))

    def copied(self) -> "Fields":
        """Return a copy with new arrays."""
        return Fields._make(None if values is None else values.copy() for values in self)


class Training(NamedTuple):
    """The training that calls, as far as its framework shows it."""

    parameters: Mapping[str, Any]
    datasets: Sequence[Any]
    """The training set comes first."""
    booster: Any = None
    """Identifies the training."""
    begins: bool = False
    """True if the training is known to be in its first round."""


class Call(NamedTuple):
    """A framework's call of an objective or a metric."""

    scores: Any
    queries: Queries
    n_threads: int | None
    """The framework's number of threads, None if it is not known."""
    adapter: "Adapter | None"
    training: Training | None
    dataset: Any
    """None if the framework passed arrays."""

    def threads(self) -> AbstractContextManager[None]:
        """Use the framework's number of threads within a block."""
        return threads_of_framework(self.n_threads)


class Subset(NamedTuple):
    """Rows of a dataset that make up a subset or slice of it."""

    parent: Any
    """The complete dataset."""
    rows: Any
    n_rows: int
    """Number of rows of the complete dataset."""


class Adapter(Protocol):
    """Interface to one framework: its datasets, parameters, threads and workers.

    A framework must implement `read`, `threads` and `metric_result`. The other methods have defaults. The dataset
    exists when a method is called, so an adapter need not import its framework.

    Attributes
    ----------
    framework : str
        The module that users import.
    kind : str
        Name of the framework's dataset class.
    makes_zeros_of_missing_labels : bool
        True if missing labels cannot be distinguished from grades of 0.
    """

    framework: ClassVar[str]
    kind: ClassVar[str]
    makes_zeros_of_missing_labels: ClassVar[bool] = False

    @property
    def dataset_name(self) -> str:
        """Name of the dataset class in messages."""
        return f"{self.framework}.{self.kind}"

    @abstractmethod
    def read(self, dataset: Any) -> Fields:
        """Return the current fields of a dataset; raise if it has no queries.

        It is called in every round, so checks belong in `fault_of_fields`, which is called only for new fields.
        """

    @abstractmethod
    def threads(self, dataset: Any, training: Training | None) -> int | None:
        """Return the framework's number of threads, None if it is not known."""

    @abstractmethod
    def metric_result(self, metric: MetricLike, value: float) -> tuple[Any, ...]:
        """Return a metric's value in the framework's format."""

    def workers(self) -> Workers | None:
        """Return the workers of the job in which this process trains; None if there are none."""
        return None

    def holds(self, data: Any) -> bool:
        """Return whether `data` is a dataset of this framework, without importing it."""
        kind = getattr(sys.modules.get(self.framework), self.kind, None)
        return kind is not None and isinstance(data, kind)

    def fault_of_fields(self, fields: Fields, dataset: Any) -> str | None:  # noqa: ARG002 (the default: none more)
        """Return the error message for new `fields` that the framework accepts and we refuse; None without a fault.

        `dataset` is None if the framework passed only arrays.
        """
        return None

    def fault_of_call(self, scores: Any, dataset: Any, training: Training | None) -> str | None:  # noqa: ARG002 (as above)
        """Return why the framework would train a wrong model with this call of an objective; checked at every call."""
        return None

    def fault_of_parameters(self, parameters: Mapping[str, Any]) -> str | None:  # noqa: ARG002 (as above)
        """Return the error message for parameters of a training that have no effect on a custom loss."""
        return None

    def fault_of_machines(self, dataset: Any, training: Training | None) -> str | None:  # noqa: ARG002 (as above)
        """Return why a training on several machines cannot use our losses, if the framework offers no `workers`."""
        return None

    def fault_of_step(self, gain: float, step: float) -> str | None:  # noqa: ARG002 (the default: no threshold)
        """Return which absolute threshold of the framework spoils a training; checked at its start.

        `gain` is an upper bound of the total gain of the first tree's splits; `step` is the size of its leaf values.
        """
        return None

    def least_hessian(self, dataset: Any, training: Training | None) -> tuple[str, float]:  # noqa: ARG002 (the default: nothing)
        """Return name and value of the parameter that bounds the sum of a leaf's Hessians from below."""
        return "", 0.0

    def forget_best_round(self, training: Training | None) -> None:  # noqa: ARG002 (the default: nothing is kept)
        """Clear the best round that an earlier training has stored in the model, as a training begins."""
        return

    def training(self, frame: FrameType | None) -> Training | None:  # noqa: ARG002 (the default: it cannot be seen)
        """Return the training whose call has led to `frame`, None if it cannot be found."""
        return None

    def subset(self, dataset: Any) -> Subset | None:  # noqa: ARG002 (the default: a dataset does not know its parent)
        """Return the rows and the parent of a subset, None if the dataset does not hold them."""
        return None

    def on_subsets(self, dataset: Any, callback: Callable[[Any, Subset], None]) -> None:  # noqa: ARG002 (the default: `subset`)
        """Register a callback ``callback(new dataset, Subset)`` for new slices that `subset` cannot identify later."""
        return


def callers(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the nearest frames outside this package, from `frame` up."""
    left = _MAX_FRAMES
    while frame is not None and left:
        if not frame.f_globals.get("__name__", "").startswith("boostplug."):
            yield frame
            left -= 1
        frame = frame.f_back
