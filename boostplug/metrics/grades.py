"""What metrics of pairs and of rank correlation need to know of the grades."""

import math

import numpy as np
from numpy.typing import NDArray

from boostplug.data.queries import Queries
from boostplug.kernels.metrics import ranks

__all__ = ["exp2_less_one", "grades_of"]

_LN2 = math.log(2.0)


def exp2_less_one(grades: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2^r - 1: exact for whole grades, and with all digits for small ones, where the difference has none."""
    out: NDArray[np.float64] = np.exp2(grades) - 1.0
    small = grades < 0.5
    out[small] = np.expm1(_LN2 * grades[small])
    return out


def grades_of(queries: Queries) -> ranks.Grades:
    """Return the grades of the judged documents; computed once per `Queries`."""
    return queries.remember(
        ("grades",), lambda: ranks.grades_by_query(queries.labels, queries.labelled_rows, queries.boundaries)
    )
