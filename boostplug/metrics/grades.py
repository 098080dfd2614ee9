"""What metrics of pairs and ranks need to know of the grades: computed once per `Queries`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import frozen
from boostplug.kernels import ranks
from boostplug.queries import Queries
from boostplug.threads import run_over_queries

__all__ = ["Grades", "discordance", "grades_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grades:
    """The judged documents of each query by grade; rows that are not labelled are left out.

    Attributes
    ----------
    code : ndarray of shape (n_rows,)
        0 for a query's lowest grade, 1 for the next; -1 where not judged.
    rank : ndarray of shape (n_rows,)
        Mean rank of the grade's documents, less the mean rank of all; 0 where not judged.
    n_judged, n_grades : ndarray of shape (n_queries,), int64
        Judged documents, and different grades among them.
    n_pairs : ndarray of shape (n_queries,), float64
        Pairs of judged documents of different grades.
    """

    code: Ints
    rank: Floats
    n_judged: Ints
    n_grades: Ints
    n_pairs: Floats


def grades_of(queries: Queries) -> Grades:
    """Return the grades of the judged documents; computed once per `Queries`."""
    return queries.remember(("grades",), lambda: _grades(queries))


def _grades(queries: Queries) -> Grades:
    judged = frozen(np.ones(queries.n_rows, bool)) if queries.labelled is None else queries.labelled
    labels, starts = queries.labels, queries.boundaries
    code, rank = np.empty(queries.n_rows, np.int64), np.empty(queries.n_rows)
    n_judged, n_grades = np.empty(queries.n_queries, np.int64), np.empty(queries.n_queries, np.int64)
    n_pairs = np.empty(queries.n_queries)
    run_over_queries(
        lambda a, b: ranks.grades_by_query(labels, judged, starts, a, b, code, rank, n_judged, n_grades, n_pairs),
        starts,
    )
    return Grades(frozen(code), frozen(rank), frozen(n_judged), frozen(n_grades), frozen(n_pairs))


def discordance(scores: Floats, queries: Queries, *, in_order: bool) -> tuple[Floats, Floats, Floats]:
    """Return each query's pairs of judged documents: misordered, tied though of different grades, and tied altogether.

    With `in_order` tied documents are ranked in file order, and none are tied.
    """
    grades = grades_of(queries)
    wrong, tied, same_score = (np.empty(queries.n_queries) for _ in range(3))
    starts = queries.boundaries
    run_over_queries(
        lambda a, b: ranks.discordance(
            scores, grades.code, grades.n_grades, starts, in_order, a, b, wrong, tied, same_score
        ),
        starts,
    )
    return wrong, tied, same_score
