"""Total weights of pairs of different grades."""

from typing import Any

from boostplug.kernels.base.compiling import compiled


@compiled()
def pair_masses(query_group: Any, mass: Any, out: Any) -> None:
    """Write the total weight of each query's pairs: the products of the `mass` of two grade groups, summed.

    All terms are positive, so light pairs keep their digits beside a heavy document.
    """
    for q in range(query_group.shape[0] - 1):
        passed = total = 0.0
        for u in range(query_group[q], query_group[q + 1]):
            total += passed * mass[u]
            passed += mass[u]
        out[q] = total


@compiled()
def gap_sums(query_group: Any, level: Any, mass: Any, out: Any) -> None:
    """Write, for each group, the sum over the query's groups of `mass` times the difference of levels, which ascend."""
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
