"""Input of the kernels for smooth functions: scores and weights of pairs."""

from typing import NamedTuple

from boostplug.core.arrays import Floats
from boostplug.kernels.base.views import GroupArrays


class Task(NamedTuple):
    """Input of the sums: scores of rows, what multiplies them, and the weights of pairs.

    `GroupArrays` gives the weight of a pair. `gain` has an entry for each group, ascending within a query. Weights are
    then multiplied by the gap of both gains. It is empty if grades have no gains. The sums, times the factor of the
    query, are added to `out`, of shape (n_functions, n_rows).
    """

    scores: Floats
    steepness: float
    groups: GroupArrays
    gain: Floats
    factor: Floats
    out: Floats
