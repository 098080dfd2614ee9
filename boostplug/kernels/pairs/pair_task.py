"""Input of the kernels for smooth functions: scores, weights of pairs, and parts, which are ranges of grades."""

from typing import NamedTuple

from boostplug.core.arrays import Floats, Ints
from boostplug.kernels.base.views import GroupArrays


class Parts(NamedTuple):
    """Parts: ranges ``first <= u < last`` of neighbouring grade groups of one query; all pairs in a part are summed."""

    first: Ints
    last: Ints
    query: Ints


class Task(NamedTuple):
    """Input of the sums: scores of rows, the multiplier of scores, and the weights of pairs.

    `GroupArrays` gives the weight of a pair. `gain` has an entry for each group, ascending within a query; weights are
    then multiplied by the gap of both gains. It is empty if grades have no gains. The sums, times the factor of the
    query, are added to `out`, of shape (n_functions, n_rows).
    """

    scores: Floats
    multiplier: float
    groups: GroupArrays
    gain: Floats
    factor: Floats
    out: Floats
