"""Order of a list by its current scores, and the average over tied positions."""

from typing import Any

from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.base.sorting import Workspace, sort


@compiled()
def order_by_score(scores: Any, lists: Any, q: int, workspace: Workspace) -> int:
    """Write the indices in ``lists.rows`` of list q's documents, best first, to ``workspace.rows``; return the number.

    Their scores become ``workspace.keys``. Tied documents stand in file order: see `average_over_ties`.
    `kernels.base.sorting.workspace_for` makes the workspace.
    """
    start = lists.start[q]
    n: int = lists.start[q + 1] - start
    for j in range(n):
        workspace.keys[j], workspace.rows[j] = scores[lists.rows[start + j]], start + j
    sort(workspace, n)
    return n


@compiled()
def average_over_ties(keys: Any, n: int, values: Any, mean: Any, tied: Any) -> None:
    """Write the values of positions averaged over the orders of tied documents, and the mean differences within ties.

    ``keys[:n]`` descend, ``values[:n]`` do not rise. ``mean[j]`` becomes the mean value of the positions that tie with
    j. ``tied[j]`` becomes the mean difference, larger less smaller, of two of these positions. So the expected
    difference of two documents is ``mean[j] - mean[k]`` if they do not tie, and ``tied[j]`` if they do.
    """
    a = 0
    while a < n:
        b = a
        total, gaps = 0.0, 0.0
        while b < n and keys[b] == keys[a]:
            gaps += total - (b - a) * values[b]
            total += values[b]
            b += 1
        m = b - a
        for j in range(a, b):
            mean[j] = total / m
            tied[j] = 2.0 * gaps / (m * (m - 1.0)) if m > 1 else 0.0
        a = b
