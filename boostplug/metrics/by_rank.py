"""Base class of metrics by rank: checks of parameters, queries without relevant documents."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice, check_integer, check_number, frozen, shown
from boostplug.core.naming import parameters
from boostplug.data.queries import Queries
from boostplug.metrics.metric import Metric

Ties = Literal["average", "order"]
Empty = Literal["skip", "unweighted", 0, 1] | None

ABOVE_0 = 5e-324  # the lowest grade above 0


class RankMetric(Metric):
    """A metric of the documents at each rank; it has the parameters of `Metric` that are among its fields."""

    k: int | None = None
    ties: Ties
    empty: Empty = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name, value, _ in parameters(self):
            if name in _CHECKS:
                object.__setattr__(self, name, _CHECKS[name](value))

    @property
    def empty_by_default(self) -> Empty:
        """The value of `empty` if it is None."""
        return "skip"

    @property
    def average(self) -> bool:
        """Whether the value is the expected one over a random order of tied documents."""
        return self.ties == "average"

    def cutoff(self, queries: Queries) -> int:
        """Return the cut-off, at least 1: all rows where k is None."""
        return max(queries.n_rows, 1) if self.k is None else self.k

    def filled(self, values: Floats) -> Floats:
        """Replace the NaN of queries without relevant documents by `empty`."""
        empty = self.empty_by_default if self.empty is None else self.empty
        if empty != "skip":
            values[np.isnan(values)] = 1.0 if empty == "unweighted" else empty
        return values

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the values times the weights, and these weights; see `Metric`, and its ``empty="unweighted"``."""
        weight = queries.query_weight
        if self.empty != "unweighted" or weight is None:
            return super().sum_and_count(scores, queries)
        values, with_rows = self.with_params(empty="skip").per_query(scores, queries), np.diff(queries.boundaries) > 0
        total = np.where(np.isnan(values), 1.0, weight * values)[with_rows].sum()
        return float(total), float(weight[with_rows].sum())


@dataclass(frozen=True)
class BinaryRelevanceMetric(RankMetric):
    """A metric of documents that are relevant or not, by rank."""

    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None
    kernel: ClassVar[Callable[..., Floats]]

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the value of each query."""
        relevant, n_relevant = relevance(queries, self.relevant)
        return self.filled(
            self.kernel(scores, relevant, n_relevant, queries.boundaries, self.cutoff(queries), average=self.average)
        )


@dataclass(frozen=True)
class CutOff:
    """The cut-off, a metric's first parameter: a class that names this base last has its fields first."""

    k: int | None = None


@dataclass(frozen=True)
class CutOffMetric(BinaryRelevanceMetric, CutOff):
    """A metric of relevance that must have a cut-off."""

    k: int = 10

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_integer("k", self.k, 1)
        super().__post_init__()


def relevance(queries: Queries, least: float) -> tuple[Floats, Floats]:
    """Return 1 for each row with a grade of at least `least`, else 0, and how many such rows each query has."""

    def build() -> tuple[Floats, Floats]:
        relevant = queries.labelled_rows & (queries.labels >= least)
        n_relevant = np.bincount(queries.query_of_row[relevant], minlength=queries.n_queries)
        return frozen(relevant.astype(np.float64)), frozen(n_relevant.astype(np.float64))

    return queries.remember(("relevance", least), build, limit=4)


def whole(number: float) -> float:
    """Return a number, as an int where it is whole."""
    return int(number) if number.is_integer() else number


def _checked_empty(empty: Any) -> Any:
    if empty is None or (isinstance(empty, str) and empty in {"skip", "unweighted"}):
        return empty
    if isinstance(empty, (int, float, np.number)) and not isinstance(empty, (bool, np.timedelta64)) and empty in {0, 1}:
        return int(empty)
    raise ValueError(f'empty must be "skip", 0, 1, "unweighted", or None for the default; got {shown(empty)}')


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "k": lambda k: None if k is None else check_integer("k", k, 1, ", or None for the whole list"),
    "relevant": lambda grade: whole(check_number("relevant", grade, otherwise=", the lowest grade that is relevant")),
    "ties": lambda ties: check_choice("ties", ties, ("average", "order")),
    "empty": _checked_empty,
}
