"""Gains of the grades of queries that hold pairs, and what an ideal order of them is worth."""

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.data.grade_groups import GradeGroups
from boostplug.data.queries import Queries
from boostplug.metrics.gains import Convention, Gain, discounts, gains_in_units


def rising_gains(loss: str, queries: Queries, gain: Gain) -> Floats:
    """Return the gain of each group of `Queries.grade_groups`, ascending within a query, in a unit of the query's.

    Raises
    ------
    ValueError
        If gains fall as grades rise; `loss` is whose they are.
    """
    groups = queries.grade_groups
    query_of_group = groups.query_of_group
    level = gains_in_units(queries, gain)[groups.rows[groups.group_start[:-1]]]
    falls = (np.diff(level) < 0) & (query_of_group[1:] == query_of_group[:-1])
    if falls.any() and callable(gain):
        at = int(np.argmax(falls))
        raise ValueError(
            f"{loss}: gain must not fall as the grade rises: it is {level[at]!s} for grade "
            f"{groups.group_grade[at]!s} and {level[at + 1]!s} for grade {groups.group_grade[at + 1]!s}"
        )
    for q in np.unique(query_of_group[1:][falls]):  # gains of neighbouring floats may fall by rounding
        of_query = slice(groups.query_group[q], groups.query_group[q + 1])
        level[of_query] = np.maximum.accumulate(level[of_query])
    return level


def ideal_dcg(groups: GradeGroups, level: Floats, k: int | None = None, convention: Convention = "standard") -> Floats:
    """Return the ideal DCG@k of each query that holds a pair: its documents stand in pairs all, by ascending gain."""
    if not len(level):
        return np.zeros(0)
    n = groups.n_documents
    discount = discounts(int(n.max()), convention).copy()
    discount[len(discount) if k is None else k :] = 0.0
    rank = np.repeat(groups.query_start[1:], n) - 1 - np.arange(len(groups.rows))
    of_documents = np.repeat(level, np.diff(groups.group_start)) * discount[rank]
    ideal: Floats = np.add.reduceat(of_documents, groups.query_start[:-1])
    return ideal
