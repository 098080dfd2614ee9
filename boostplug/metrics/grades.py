"""Grades as metrics of pairs and of rank correlation read them."""

import math

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_values
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import ranks

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


def check_on_scale(queries: Queries, top: float) -> None:
    """Raise for labels of judged documents that are not from 0 to the top of the scale, `max_grade`."""
    labels = queries.labels
    outside = queries.labelled_rows & ((labels < 0.0) | (labels > top))
    why = f"is not from 0 to max_grade={top:g}; pass the top of the scale as max_grade="
    check_values("labels", outside, labels, why)


def grades_up_to(max_grade: float, queries: Queries, metric: str, gain: str) -> NDArray[np.float64]:
    """Return the grade of each row, 0 if it is not labelled. Refuse grades below 0 or above the scale's highest."""
    judged, labels = queries.labelled_rows, queries.labels
    why = f"is negative, and so is its {gain}; shift the grades to start at 0"
    check_values("labels", judged & (labels < 0), labels, why)
    grades = np.where(judged, labels, 0.0)
    remedy = f"pass the highest grade of the scale, {metric}(max_grade={grades.max(initial=0.0):g}) for these labels"
    check_values("labels", grades > max_grade, labels, f"is above max_grade={max_grade}; {remedy}")
    return grades
