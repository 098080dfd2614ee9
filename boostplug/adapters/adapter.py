"""`Adapter`: the interface to a framework."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Protocol

from numpy.typing import NDArray


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
        for a, b in zip(self, other, strict=True):
            if a is not b and (a is None or b is None or a.shape != b.shape or not (a == b).all()):
                return False
        return True


class Adapter(Protocol):
    """Interface to one framework: its datasets, threads and workers.

    A framework must implement `read` and `metric_result`. The other methods have defaults. The dataset exists when a
    method is called, so an adapter need not import its framework.

    Attributes
    ----------
    framework : str
        The module that users import.
    kind : str
        Name of the framework's dataset class.
    workers : callable, or None
        Returns the workers of the job in which this process trains, None if there are none. None where the framework
        has no sums over workers.
    """

    framework: ClassVar[str]
    kind: ClassVar[str]
    workers: Any = None

    @abstractmethod
    def read(self, dataset: Any) -> Fields:
        """Return the current fields of a dataset. Raise if it has no queries. It is called in every round."""

    @abstractmethod
    def metric_result(self, name: str, value: float, greater_is_better: bool) -> tuple[Any, ...]:
        """Return a metric's value in the framework's format."""

    def threads(self, dataset: Any) -> int | None:  # noqa: ARG002 (the default)
        """Return the dataset's number of threads, None if it has none."""
        return None

    def check(self, fields: Fields, dataset: Any) -> None:  # noqa: ARG002 (the default: nothing more is wrong)
        """Raise ValueError for new `fields` that the framework accepts and that would train a wrong model."""
        return

    def parent(self, dataset: Any) -> Any:  # noqa: ARG002 (the default: a dataset does not know its parent)
        """Return the dataset of which this one is a subset, None if it is none."""
        return None

    def check_no_slices(self, dataset: Any) -> None:  # noqa: ARG002 (the default: `parent`)
        """Make slicing raise, if a slice has lost what is attached to the dataset and does not know its parent."""
        return
