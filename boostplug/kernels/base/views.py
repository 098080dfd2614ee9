"""Named tuples of arrays that several kernels read: one argument for numba, whose fields kernels read by name."""

from typing import NamedTuple

from boostplug.core.arrays import Floats, Ints


class GroupArrays(NamedTuple):
    """Documents that are in a pair, by query and then by grade (`boostplug.data.grade_groups.GradeGroups.view`).

    Query q has the grade groups ``query_group[q]:query_group[q + 1]``. Group u has the grade ``group_grade[u]`` and the
    documents ``rows[group_start[u]:group_start[u + 1]]``; grades ascend. The pair of document i of the higher grade and
    document j of the lower one has the weight ``winner[i] * loser[j]``. Both arrays have an entry per document, or none
    if all weights are 1. `apart` is true if they differ. No query has more than `longest` documents or `most_grades`
    groups.
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
    """Explicit pairs (`boostplug.data.grade_groups.ListedPairs.view`): query q has the pairs ``start[q]:start[q + 1]``.

    `crosses` is true if some pair joins rows of two queries. Threads must then not run side by side.
    """

    winner: Ints
    loser: Ints
    weight: Floats
    margin: Floats
    start: Ints
    crosses: bool


class ListArrays(NamedTuple):
    """Judged documents by query (`JudgedLists.view`): list q has the documents ``start[q]:start[q + 1]``."""

    rows: Ints
    grade: Floats
    weight: Floats
    start: Ints


class ListSums(NamedTuple):
    """Outputs of a kernel over lists, 0 before the call: the value of each list, gradient and Hessian of each row."""

    value: Floats
    gradient: Floats
    hessian: Floats
