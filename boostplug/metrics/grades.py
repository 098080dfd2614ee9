"""What metrics of pairs and of rank correlation need to know of the grades."""

from boostplug.kernels import ranks
from boostplug.queries import Queries

__all__ = ["grades_of"]


def grades_of(queries: Queries) -> ranks.Grades:
    """Return the grades of the judged documents; computed once per `Queries`."""
    return queries.remember(
        ("grades",), lambda: ranks.grades_by_query(queries.labels, queries.labelled_rows, queries.boundaries)
    )
