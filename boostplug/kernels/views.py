"""What several kernels read alike, as named tuples: numba takes them as one argument and reads their fields by name.

A tuple costs no compile time and less than a microsecond a call. Its class and its fields' types are part of a
compiled function's type, their order is not: fields never change places (tests/kernels/test_cache.py says why).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CutCodes", "Listed", "Lists", "Runs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Runs(NamedTuple):
    """The documents that stand in a pair, by query and then by grade (`boostplug.data.grade_groups.GradeRuns.view`).

    Query q is the runs ``query_run[q]:query_run[q + 1]``; run u the documents ``rows[run_start[u]:run_start[u + 1]]``
    of grade ``run_grade[u]``, ascending. `sqrt_weight` has an entry per document, or none where all weights are 1. No
    query has more documents than `longest`, or more runs than `most_grades`.
    """

    rows: Ints
    sqrt_weight: Floats
    run_start: Ints
    run_grade: Floats
    query_run: Ints
    longest: int
    most_grades: int


class Listed(NamedTuple):
    """Explicit pairs (`boostplug.data.grade_groups.PairRuns.view`): query q holds those at ``start[q]:start[q + 1]``.

    Where one `crosses` queries, another query's rows get something too: then no two threads at once.
    """

    winner: Ints
    loser: Ints
    weight: Floats
    margin: Floats
    start: Ints
    crosses: bool


class Lists(NamedTuple):
    """Judged documents by query, as `ListRuns.view` makes them: list q holds those at ``start[q]:start[q + 1]``."""

    rows: Ints
    grade: Floats
    weight: Floats
    start: Ints


class CutCodes(NamedTuple):
    """Every cut of every feature (`boostplug.weak_rankers.Cuts.view`): feature k has ``start[k]:start[k + 1]``.

    A row of code ``codes[k, i] = c`` is above the first c cuts of the feature and below the others.
    """

    codes: NDArray[np.unsignedinteger]
    start: Ints
