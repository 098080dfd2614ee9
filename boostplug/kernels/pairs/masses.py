"""Sums of products of weights over the pairs of different grades."""

from typing import Any

from boostplug.kernels.base.compiling import compiled


@compiled()
def pair_masses(query_run: Any, mass: Any, out: Any) -> None:
    """Write, for each query, the sum of products of the masses of two of its runs.

    A sum of what is positive, and no difference of squares: light pairs beside a heavy document keep their digits.
    """
    for q in range(query_run.shape[0] - 1):
        passed = total = 0.0
        for u in range(query_run[q], query_run[q + 1]):
            total += passed * mass[u]
            passed += mass[u]
        out[q] = total


@compiled()
def gap_sums(query_run: Any, level: Any, mass: Any, out: Any) -> None:
    """Write, for each run, the sum over the query's runs of their mass times the gap of levels, which ascend."""
    for q in range(query_run.shape[0] - 1):
        for step in (1, -1):
            u = query_run[q] if step > 0 else query_run[q + 1] - 1
            passed = total = 0.0
            before = level[u]
            for _ in range(query_run[q + 1] - query_run[q]):
                total += passed * abs(level[u] - before)
                before = level[u]
                passed += mass[u]
                out[u] = total if step > 0 else out[u] + total
                u += step
