"""Losses on whole lists: a kernel of one's own walks each query's judged documents, whatever their grades.

For losses that are no sum of a function over pairs. Some compare a list with a target (ListNet). In others the weights
of pairs depend on the current ranks (LambdaRank). Such a loss is a dataclass and a kernel:

.. code-block:: python

    @compiled()
    def kernel(first, last, lists, scores, sigmoid, sums):  # sigmoid: whatever the loss hands over
        for q in range(first, last):
            for at in range(lists.start[q], lists.start[q + 1]):
                row = lists.rows[at]
                sums.value[q] += …
                sums.gradient[row] += …
                sums.hessian[row] += …

``kernels.lists.order`` has the order of a list by its scores. There tied documents stand in row order. A kernel passes
what positions are worth through ``average_over_ties``, or the loss says that it has `ties_in_row_order`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.threads import run_over_queries
from boostplug.data.queries import Queries
from boostplug.kernels.base.views import ListSums
from boostplug.losses.base.loss import LARGEST_VALUE


def sums_over_lists(kernel: Callable[..., None], scores: Floats, queries: Queries, *arguments: Any) -> ListSums:
    """Run ``kernel(first, last, lists, scores, *arguments, sums)`` over all lists, in parallel.

    Parameters
    ----------
    kernel : callable
        Compiled; works on the lists ``first <= q < last`` of ``queries.judged_lists.view`` and writes only their rows.
    scores : ndarray of shape (n_rows,)
    queries : Queries
    *arguments
        What the kernel takes besides.

    Returns
    -------
    ListSums
        The value is per query, cut at 1e299.
    """
    judged = queries.judged_lists
    sums = ListSums(np.zeros(len(judged.query)), *np.zeros((2, queries.n_rows)))
    run_over_queries(kernel, judged.start, judged.view, scores, *arguments, sums)
    value = np.zeros(queries.n_queries)
    value[judged.query] = np.minimum(sums.value, LARGEST_VALUE)
    return sums._replace(value=value)
