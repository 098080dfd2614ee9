"""Pairs by the positions of their documents: how many there are of each score difference."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.compiling import compiled

__all__ = ["HALF", "WIDTH", "pairs_by_position"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDTH = 0.25  # of a class of differences
HALF = 32  # classes on either side of 0; the outermost ones hold all that is further out
_PARTS = 8  # tables filled side by side, whatever the number of threads: sums come out the same
_SMALL = 20_000  # documents; fewer fill one table


@compiled()
def _count(
    runs: Any, scores: Any, scale: float, position: Any, edges: Any, first: int, last: int, table: Any
) -> None:  # fmt: skip
    """Add the pairs of some parts, part by part, to their tables: weight, and weight times difference."""
    n = table.shape[1]
    row, run = np.empty((2, runs.longest), np.int64)
    weighted, furthest = len(runs.winner) > 0, float(HALF)
    for part in range(first, last):
        for q in range(edges[part], edges[part + 1]):
            n_kept = 0
            for u in range(runs.query_run[q], runs.query_run[q + 1]):
                for at in range(runs.run_start[u], runs.run_start[u + 1]):
                    if position[runs.rows[at]] <= n:
                        row[n_kept], run[n_kept] = at, u
                        n_kept += 1
            for a in range(n_kept):
                i = runs.rows[row[a]]
                for b in range(a):
                    if run[b] == run[a]:
                        break
                    j = runs.rows[row[b]]
                    w = runs.winner[row[a]] * runs.loser[row[b]] if weighted else 1.0
                    d = scale * (scores[i] - scores[j])
                    d = min(max(d, -1e100), 1e100)
                    c = int(np.rint(min(max(d / WIDTH, -furthest), furthest))) + HALF
                    table[part, position[i] - 1, position[j] - 1, c, 0] += w
                    table[part, position[i] - 1, position[j] - 1, c, 1] += w * d


def pairs_by_position(runs: Any, scores: Floats, scale: float, position: Ints, n: int) -> Floats:
    """Return the pairs of different grades at positions up to n, counted by positions and by score difference.

    Parameters
    ----------
    runs : boostplug.kernels.base.views.Runs
    scores : ndarray of shape (n_rows,)
    scale : float
        Multiplies the differences, the winner's score less the loser's; each is then cut at 1e100.
    position : ndarray of shape (n_rows,)
        From 1.
    n : int

    Returns
    -------
    ndarray of shape (n, n, 2 HALF + 1, 2)
        By the winner's position, the loser's, and the class of the difference (the nearest multiple of `WIDTH`): the
        weight of the pairs, and their sum of weight times difference.
    """
    start = runs.run_start[runs.query_run]
    parts = 1 if start[-1] < _SMALL else _PARTS
    edges = np.searchsorted(start, np.linspace(0, start[-1], parts + 1))
    edges[0], edges[-1] = 0, len(start) - 1
    table = np.zeros((parts, n, n, 2 * HALF + 1, 2))
    run_over_queries(lambda first, last: _count(runs, scores, scale, position, edges, first, last, table), start[edges])
    total: Floats = table.sum(axis=0)
    return total
