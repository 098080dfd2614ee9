"""`RankMetric`, the base class of metrics by rank: checks of parameters, queries without relevant documents."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice, check_integer, check_number, frozen, shown
from boostplug.data.queries import Queries
from boostplug.metrics.gains import Convention, check_gain
from boostplug.metrics.metric import Metric

Divisor = Literal["relevant", "reachable"]
Ties = Literal["average", "order"]
Empty = Literal["skip", "unweighted", 0, 1] | None

ABOVE_0 = 5e-324  # the lowest grade above 0


class RankMetric(Metric):
    """A metric of the documents at each rank.

    A subclass has as its fields the parameters below that mean something for it, in the order of its constructor. They
    are checked here. Those that are no fields have the values below.
    """

    k: int | None = None
    relevant: float = 1
    convention: Convention = "standard"
    ties: Ties
    empty: Empty = None
    divisor: Divisor = "relevant"

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name, value in self.parameters(deep=False).items():
            if name in _CHECKS:
                object.__setattr__(self, name, _CHECKS[name](value))

    @property
    def average(self) -> bool:
        """Whether the value is the expected one over a random order of tied documents."""
        return self.ties == "average"

    def cutoff(self, queries: Queries) -> int:
        """Return the cut-off, at least 1: all rows where k is None."""
        return max(queries.n_rows, 1) if self.k is None else self.k

    def by_relevance(self, kernel: Callable[..., Floats], scores: Floats, queries: Queries) -> Floats:
        """Return the value of each query, by a kernel that is given which documents are relevant."""
        relevant, n_relevant = relevance(queries, self.relevant)
        k = self.cutoff(queries)
        divisor = np.minimum(n_relevant, k) if self.divisor == "reachable" else n_relevant
        return self.filled(kernel(scores, relevant, divisor, queries.boundaries, k, average=self.average))

    def filled(self, values: Floats) -> Floats:
        """Replace the NaN of queries without relevant documents by `empty`."""
        empty = self.empty
        if empty is None:
            empty = 0 if self.convention == "letor" else "skip"
        if empty != "skip":
            values[np.isnan(values)] = 1.0 if empty == "unweighted" else empty
        return values

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the values times the weights, and these weights; see `Metric`, and its ``empty="unweighted"``."""
        weight = queries.query_weight
        if self.empty != "unweighted" or weight is None:
            return super().sum_and_count(scores, queries)
        values, with_rows = self.with_params(empty="skip").per_query(scores, queries), queries.group > 0
        total = np.where(np.isnan(values), 1.0, weight * values)[with_rows].sum()
        return float(total), float(weight[with_rows].sum())


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


def _as_empty(empty: Any) -> Any:
    if empty is None or (isinstance(empty, str) and empty in {"skip", "unweighted"}):
        return empty
    if isinstance(empty, (int, float, np.number)) and not isinstance(empty, (bool, np.timedelta64)) and empty in {0, 1}:
        return int(empty)
    raise ValueError(f'empty must be "skip", 0, 1, "unweighted", or None for the default; got {shown(empty)}')


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "k": lambda k: None if k is None else check_integer("k", k, 1, ", or None for the whole list"),
    "relevant": lambda grade: whole(check_number("relevant", grade, otherwise=", the lowest grade that is relevant")),
    "convention": lambda name: check_choice("convention", name, ("standard", "letor")),
    "gain": check_gain,
    "divisor": lambda name: check_choice("divisor", name, ("relevant", "reachable")),
    "ties": lambda ties: check_choice("ties", ties, ("average", "order")),
    "empty": _as_empty,
}
