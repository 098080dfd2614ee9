"""`Adapter`: what we ask of a framework, and what we know of losses and metrics."""

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.job import Workers
from boostplug.core.collective import Collective
from boostplug.core.threads import OpenMPThreads, openmp_threads_of
from boostplug.data.queries import Queries

__all__ = [
    "Adapter",
    "Fields",
    "MetricLike",
    "ObjectiveLike",
    "Part",
    "Training",
    "callers",
    "openmp_threads_of_caller",
]

_FRAMES = 12  # between the framework and us: wrappers of its own and of the user's


class ObjectiveLike(Protocol):
    """What the adapters use of a loss."""

    def gradient_hessian(
        self, scores: Any, queries: Queries, *, totals: Collective = ...
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both derivatives per row."""

    def reads(self, queries: Queries) -> Queries:
        """Return the queries with the labels that it reads."""

    @property
    def needs_position(self) -> bool:
        """Whether it reads the positions."""


class MetricLike(Protocol):
    """What the adapters use of a metric."""

    greater_is_better: ClassVar[bool]

    @property
    def name(self) -> str:
        """What the framework prints."""

    def __call__(self, scores: Any, data: Any) -> Any:
        """Return the mean over the queries `data`."""

    def sum_and_count(self, scores: Any, queries: Queries) -> tuple[float, float]:
        """Return two sums whose ratio is that mean, which add up over several workers."""


class Fields(NamedTuple):
    """What a framework's dataset holds, as the framework gives it.

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
        """Return them apart from the arrays they came in."""
        return Fields._make(None if values is None else values.copy() for values in self)


class Training(NamedTuple):
    """The training that calls us, as far as its framework lets us see it."""

    parameters: Mapping[str, Any]
    datasets: Sequence[Any]
    """Its own first."""
    booster: Any = None
    """By which one training is told from the next."""
    begins: bool = False
    """Whether it is known to be in its first round."""


class Part(NamedTuple):
    """Some rows of another dataset: what a subset or a slice is made of."""

    whole: Any
    rows: Any
    n_rows: int
    """Of the whole."""


class Adapter(Protocol):
    """The reading half of one framework. It is asked about datasets that exist, so it need not import the framework.

    `read`, `threads` and `metric_result` are every framework's own. The other methods say here what holds for a
    framework that needs no more.

    Attributes
    ----------
    framework : str
        The module that users import.
    kind : str
        The name of its class of datasets.
    makes_zeros_of_missing_labels : bool
        So that they cannot be told from grades of 0.
    """

    framework: ClassVar[str]
    kind: ClassVar[str]
    makes_zeros_of_missing_labels: ClassVar[bool] = False

    @property
    def dataset_name(self) -> str:
        """That class as messages name it."""
        return f"{self.framework}.{self.kind}"

    @abstractmethod
    def read(self, dataset: Any) -> Fields:
        """Return what a dataset holds now, whatever the framework's Python side remembers; refuse one without queries.

        It is called in every round: nothing is checked here that can wait for `fault_of_fields`.
        """

    @abstractmethod
    def threads(self, dataset: Any, training: Training | None) -> int | None:
        """Return the framework's number of threads where it is known, None where not."""

    @abstractmethod
    def metric_result(self, metric: MetricLike, value: float) -> tuple[Any, ...]:
        """Return what the framework takes from a metric."""

    def workers(self) -> Workers | None:
        """Return the workers of the job in which this process trains now, where they can be asked; None outside one."""
        return None

    def team(self, frame: FrameType | None) -> OpenMPThreads | None:  # noqa: ARG002 (the default: threads of our own)
        """Return the framework's threads where it is the framework that has called `frame`, and they wait for us."""
        return None

    def holds(self, data: Any) -> bool:
        """Return whether `data` is a dataset of this framework, without importing it."""
        kind = getattr(sys.modules.get(self.framework), self.kind, None)
        return kind is not None and isinstance(data, kind)

    def fault_of_fields(self, fields: Fields, dataset: Any) -> str | None:  # noqa: ARG002 (the default: none more)
        """Return what is wrong with new `fields` that the framework lets pass, and what to do; None if nothing is.

        `dataset` is None where the framework passed arrays alone.
        """
        return None

    def fault_of_call(self, scores: Any, dataset: Any, training: Training | None) -> str | None:  # noqa: ARG002 (as above)
        """Return why the framework would train nonsense with this call of an objective; asked at every one."""
        return None

    def fault_of_parameters(self, parameters: Mapping[str, Any]) -> str | None:  # noqa: ARG002 (as above)
        """Return what among a training's parameters means nothing beside a loss, and what to do."""
        return None

    def fault_of_machines(self, dataset: Any, training: Training | None) -> str | None:  # noqa: ARG002 (as above)
        """Return why one of several machines cannot call ours by itself: there are no `workers` to ask."""
        return None

    def fault_of_step(self, gain: float, step: float) -> str | None:  # noqa: ARG002 (the default: no threshold)
        """Return which absolute threshold of the framework spoils a training; asked at its start.

        `gain` is what the splits of the first tree can gain together, at most; `step` how far its leaves go.
        """
        return None

    def least_hessian(self, dataset: Any, training: Training | None) -> tuple[str, float]:  # noqa: ARG002 (the default: nothing)
        """Return the parameter that says what the Hessians of a leaf must sum to, and its value, given or default."""
        return "", 0.0

    def forget_best_round(self, training: Training | None) -> None:  # noqa: ARG002 (the default: nothing is kept)
        """Forget, as a training begins, which round an earlier training of its model has found to be the best."""
        return

    def training(self, frame: FrameType | None) -> Training | None:  # noqa: ARG002 (the default: it cannot be seen)
        """Return the training whose call has led to `frame`, where the framework leaves a trace of it."""
        return None

    def part(self, dataset: Any) -> Part | None:  # noqa: ARG002 (the default: a dataset does not know its whole)
        """Return what a dataset is a subset of, where it knows that itself."""
        return None

    def on_parts(self, dataset: Any, tell: Callable[[Any, Part], None]) -> None:  # noqa: ARG002 (the default: `part`)
        """Have ``tell(new dataset, Part)`` called whenever a part is cut, where `part` could not say it later."""
        return


def callers(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the nearest frames that are none of ours, from `frame` up."""
    left = _FRAMES
    while frame is not None and left:
        if not frame.f_globals.get("__name__", "").startswith("boostplug."):
            yield frame
            left -= 1
        frame = frame.f_back


_teams: dict[str, OpenMPThreads | None] = {}


def openmp_threads_of_caller(frame: FrameType | None, module: str) -> OpenMPThreads | None:
    """Return the threads of the library that a framework's `module` calls, where that is above `frame`."""
    if all(caller.f_globals.get("__name__") != module for caller in callers(frame)):
        return None
    if module not in _teams:
        _teams[module] = openmp_threads_of(getattr(sys.modules[module], "_LIB", None))
    return _teams[module]
