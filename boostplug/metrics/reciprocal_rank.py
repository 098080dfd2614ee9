"""Metrics of a user who reads from the top: `MRR` and `ERR`."""

from dataclasses import KW_ONLY, dataclass
from math import isfinite
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import check_choice, frozen
from boostplug.kernels import cascade, positions
from boostplug.metrics.average_precision import check_relevant, relevant_rows
from boostplug.metrics.metric import Metric, check_cutoff, check_empty
from boostplug.queries import Queries
from boostplug.threads import run_over_queries

__all__ = ["ERR", "MRR"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_MAX_GRADE = 1000.0  # 2^1000 is finite


@dataclass(frozen=True)
class MRR(Metric):
    r"""Reciprocal rank of the first relevant document.

    .. math:: 1 / \min\{j : \mathrm{rel}_j\}, \text{ or 0 if it exceeds } k

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None for the whole list.
    relevant : float, default=1
        Documents of at least this grade are relevant.
    ties : {"average", "order"}, default="average"
        "average": the expected value over a random order of the tied documents, in closed form (McSherry & Najork,
        ECIR 2008). "order": documents with tied scores stay in file order.
    empty : {"skip", 0, 1} or None, default=None
        Value of a query without relevant documents: left out of the mean (NaN in `per_query`), 0 (`trec_eval`,
        ir-measures), or 1. None is "skip", as for `MAP`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 2, 1, 0], group=[3, 1])
    >>> MRR().per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([0.5, nan])
    >>> round(MRR()([2.0, 2.0, 1.0, 0.5], queries), 4)  # first or second, by chance
    0.75
    """

    k: int | None = None
    relevant: float = 1
    _: KW_ONLY
    ties: Literal["average", "order"] = "average"
    empty: Literal["skip", 0, 1] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_cutoff(self.k))
        object.__setattr__(self, "relevant", check_relevant(self.relevant))
        object.__setattr__(self, "empty", check_empty(self.empty))
        check_choice("ties", self.ties, ("average", "order"))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the reciprocal rank of each query."""
        relevant = relevant_rows(queries, self.relevant)
        out = np.empty(queries.n_queries)
        starts = queries.boundaries
        k = max(queries.n_rows, 1) if self.k is None else self.k
        average = self.ties == "average"
        run_over_queries(
            lambda a, b: positions.reciprocal_rank(scores, relevant, starts, k, average, a, b, out), starts
        )
        if self.empty in {0, 1}:
            out[np.isnan(out)] = self.empty
        return out


@dataclass(frozen=True)
class ERR(Metric):
    r"""Expected reciprocal rank: 1/rank at which a user stops who reads from the top and stops at what satisfies.

    .. math:: \sum_{j \le \min(k, n)} \frac1j R_j \prod_{i < j} (1 - R_i), \qquad
              R_j = \frac{2^{r_{(j)}} - 1}{2^{\mathrm{max\_grade}}}

    Chapelle, Metzler, Zhang & Grinspan, "Expected reciprocal rank for graded relevance" (CIKM 2009), Algorithm 2.
    A perfect ranking scores below 1: ERR is not divided by its ideal.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None for the whole list.
    max_grade : float, default=4
        The highest grade of the scale (not of the data). Grades below 0 or above it are refused.
    ties : {"average", "order"}, default="average"
        "average": the expected value over a random order of the tied documents; exact (a recurrence, no sampling).
        "order": documents with tied scores stay in file order.
    empty : {"skip", 0, 1} or None, default=None
        Value of a query without a grade above 0: left out of the mean (NaN in `per_query`), 0 (what the formula and
        TREC's ``gdeval.pl`` give), or 1. None is "skip", as for `MAP`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 4, 1, 0], group=[3, 1])
    >>> ERR().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)  # 15/16 / 2 + 1/16 · 1/16 / 3
    array([0.4701,    nan])
    """

    k: int | None = None
    _: KW_ONLY
    max_grade: float = 4
    ties: Literal["average", "order"] = "average"
    empty: Literal["skip", 0, 1] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_cutoff(self.k))
        object.__setattr__(self, "max_grade", _check_max_grade(self.max_grade))
        object.__setattr__(self, "empty", check_empty(self.empty))
        check_choice("ties", self.ties, ("average", "order"))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the ERR of each query."""
        average = self.ties == "average"
        order, stops = queries.remember(
            ("chances to stop", self.max_grade, average),
            lambda: _chances_to_stop(queries, self.max_grade, falling=average),
            limit=4,
        )
        out = np.empty(queries.n_queries)
        starts = queries.boundaries
        k = max(queries.n_rows, 1) if self.k is None else self.k
        run_over_queries(
            lambda a, b: cascade.expected_reciprocal_rank(scores, stops, order, starts, k, average, a, b, out), starts
        )
        if self.empty in {0, 1}:
            out[np.isnan(out)] = self.empty
        return out


def _check_max_grade(grade: float) -> float:
    if (
        isinstance(grade, (bool, np.bool_))
        or not isinstance(grade, Real)
        or not isfinite(grade)
        or not 0 < grade <= _LARGEST_MAX_GRADE
    ):
        raise ValueError(
            f"max_grade must be a number above 0 and at most {_LARGEST_MAX_GRADE:g}, the highest grade of the scale; "
            f"got {grade!r}"
        )
    number = float(grade)
    return int(number) if number.is_integer() else number


def _chances_to_stop(queries: Queries, max_grade: float, *, falling: bool) -> tuple[Ints, Floats]:
    """Return the rows of each query, by descending chance if `falling`, and the chances in that order."""
    judged = np.ones(queries.n_rows, bool) if queries.labelled is None else queries.labelled
    grades = queries.labels[judged]
    bad = ~((grades >= 0) & (grades <= max_grade))
    if bad.any():
        at = int(np.argmax(bad))
        if grades[at] < 0:
            why = "is negative, and so is its chance (2^r − 1)/2^max_grade; shift the grades to start at 0"
        else:
            why = (
                f"is above max_grade={max_grade}; pass the highest grade of the scale, "
                f"ERR(max_grade={grades.max():g}) for these labels"
            )
        raise ValueError(f"labels[{np.flatnonzero(judged)[at]}] = {grades[at]!s} {why}")
    chances = np.zeros(queries.n_rows)
    chances[judged] = (np.exp2(grades) - 1.0) / np.exp2(float(max_grade))
    order = np.lexsort((-chances, queries.query_of_row)) if falling else np.arange(queries.n_rows)
    return frozen(order), frozen(chances[order])
