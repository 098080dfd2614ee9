"""Sums of products of weights over the pairs of different grades."""

from typing import Any

from boostplug.kernels.base.compiling import compiled


@compiled()
def pair_masses(query_group: Any, mass: Any, out: Any) -> None:
    """Write, for each query, the sum of products of the masses of two of its groups.

    A sum of what is positive, and no difference of squares: light pairs beside a heavy document keep their digits.
    """
    for q in range(query_group.shape[0] - 1):
        passed = total = 0.0
        for u in range(query_group[q], query_group[q + 1]):
            total += passed * mass[u]
            passed += mass[u]
        out[q] = total


@compiled()
def gap_sums(query_group: Any, level: Any, mass: Any, out: Any) -> None:
    """Write, for each group, the sum over the query's groups of their mass times the gap of levels, which ascend."""
    for q in range(query_group.shape[0] - 1):
        for step in (1, -1):
            u = query_group[q] if step > 0 else query_group[q + 1] - 1
            passed = total = 0.0
            before = level[u]
            for _ in range(query_group[q + 1] - query_group[q]):
                total += passed * abs(level[u] - before)
                before = level[u]
                passed += mass[u]
                out[u] = total if step > 0 else out[u] + total
                u += step
