"""Arrays that several kernels read, as named tuples: numba takes each as one argument and reads its fields by name."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class GroupArrays(NamedTuple):
    """The documents that stand in a pair, by query and then by grade (`boostplug.data.grade_groups.GradeGroups.view`).

    Query q is the groups ``query_group[q]:query_group[q + 1]``. Group u is the documents
    ``rows[group_start[u]:group_start[u + 1]]`` of grade ``group_grade[u]``, ascending. Document i of the higher grade
    and j of the lower one weigh together ``winner[i] * loser[j]``, with an entry per document, or none where all
    weights are 1; `apart` says whether the two arrays differ. No query has more documents than `longest`, or more
    groups than `most_grades`.
    """

    rows: Ints
    winner: Floats
    loser: Floats
    apart: bool
    group_start: Ints
    group_grade: Floats
    query_group: Ints
    longest: int
    most_grades: int


class PairArrays(NamedTuple):
    """Explicit pairs (`boostplug.data.grade_groups.ListedPairs.view`): those of query q are ``start[q]:start[q + 1]``.

    Where one `crosses` queries, another query's rows get something too: then no two threads at once.
    """

    winner: Ints
    loser: Ints
    weight: Floats
    margin: Floats
    start: Ints
    crosses: bool


class ListArrays(NamedTuple):
    """Judged documents by query, as `JudgedLists.view` makes them: list q holds those at ``start[q]:start[q + 1]``."""

    rows: Ints
    grade: Floats
    weight: Floats
    start: Ints


class ListSums(NamedTuple):
    """Outputs of a kernel over lists: the value of each list, gradient and Hessian of each row; 0 at first."""

    value: Floats
    gradient: Floats
    hessian: Floats
