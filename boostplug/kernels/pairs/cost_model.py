"""Cost model: chooses between the pairwise loop and the tabulated far-field sum.

Costs are in ns, fitted by hand on an AMD EPYC (Zen 5). They are sums, products and roots of whole numbers and of the
range of the scores in widths of a box, so that every processor takes the same way.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import frozen

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAFE_RANGE = 600.0  # of scores: e^300 squared twice is finite

_SHORT = 40  # documents; below it, one by one is faster
_FARTHEST = 2.0**50  # boxes; past it a position within a box means nothing
_LEAST_BLOCK = 32.0
_MOST_BOXES = 1024  # past it the parts of a query are halves anyway


class Costs(NamedTuple):
    """Costs of the sums of some functions.

    Attributes
    ----------
    near, far : float
        A pair, where the scores are within `SAFE_RANGE` and where they are not.
    width : float
        Of a box.
    reach : int
        In boxes.
    n_fields : int
        Polynomials of each block: of each function on each side, twice where gains weigh.
    by_table : bool
        Whether weights come from a table, so that each grade is summed with each other one.
    """

    near: float
    far: float
    width: float
    reach: int
    n_fields: int
    by_table: bool


def _cost_of_fields(n: Ints, extent: Floats, costs: Costs) -> Floats:
    """Return the cost of all polynomials of one block: 12 × 12 terms for each pair of boxes in reach."""
    n_boxes = np.minimum(1.0 + extent / costs.width, n)
    in_reach = 13.0 * n_boxes * np.minimum(n_boxes, 2.0 * costs.reach + 1.0)
    tails = np.where(n_boxes > costs.reach, 60.0 * n_boxes, 0.0)
    cost: Floats = costs.n_fields * (30.0 + in_reach + tails)
    return cost


def block_sizes(n: Ints, extent: Floats, costs: Costs) -> Floats:
    """Return the number of documents of a block at which its pairs and its polynomials cost the same."""
    pair = np.where(extent <= SAFE_RANGE, costs.near, costs.far)
    size = np.sqrt(2.0 * _cost_of_fields(n, extent, costs) / pair)
    best: Floats = np.minimum(np.maximum(size, _LEAST_BLOCK), 0.5 * n)
    return best


@cache
def sizes_by_boxes(costs: Costs) -> Floats:
    """Return `block_sizes` of many documents by the number of their boxes."""
    extent: Floats = costs.width * np.arange(-1.0, _MOST_BOXES)
    return frozen(block_sizes(np.full(len(extent), 1 << 40), extent, costs))


def boxes_win(n: Ints, n_runs: Ints, n_pairs: Floats, extent: Floats, costs: Costs) -> NDArray[np.bool_]:
    """Whether pairs of n documents of so many runs, whose scores range over `extent`, are summed faster in boxes."""
    pair = np.where(extent <= SAFE_RANGE, costs.near, costs.far)
    fields = _cost_of_fields(n, extent, costs)
    cost = 300.0 + (15.0 + 8.0 * costs.n_fields) * n
    if costs.by_table:
        cost += n_runs * fields * (1.0 + 0.4 * n_runs)
    else:
        size = block_sizes(n, extent, costs)
        cost += np.where(n_runs * size <= n, n_runs * fields, n / size * fields + 0.5 * n * size * pair)
    return (n >= _SHORT) & (1.0 + extent / costs.width < _FARTHEST) & (cost < pair * n_pairs)


def limits(n: Ints, n_runs: Ints, n_pairs: Floats, costs: Costs) -> Floats:
    """Return the largest range of the scores, of some, up to which boxes win; -1 where they never do."""
    limit = np.full(len(n), -1.0)
    left = np.flatnonzero(n >= _SHORT)
    n_boxes = 1.0
    while len(left):
        extent = np.full(len(left), n_boxes * costs.width)
        won = boxes_win(n[left], n_runs[left], n_pairs[left], extent, costs)
        left = left[won]
        limit[left] = extent[won]
        all_apart = n[left] < n_boxes  # more of them cost no more
        limit[left[all_apart]] = _FARTHEST * costs.width
        left = left[~all_apart]
        n_boxes *= 1.5
    return limit
