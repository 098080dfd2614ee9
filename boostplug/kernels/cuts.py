"""Sums over the rows on one side of every cut of a feature: one pass over its codes, then a running sum.

A row of code c is above the feature's cuts 0, …, c - 1 (see `boostplug.weak_rankers.stump.Cuts`).
"""

from typing import Any

import numba
import numpy as np

from boostplug.kernels.compiling import compiled

__all__ = ["keys_above", "sums_above"]

unsigned = numba.uint64  # a loop over unsigned indices needs no test for negative ones


@compiled()
def sums_above(codes: Any, values: Any, start: Any, first: int, last: int, out: Any) -> None:
    """Write, for the cuts of the features ``first <= k < last``, the sum of `values` over the rows above."""
    n = unsigned(len(values))
    fours = n - n % unsigned(4)
    for k in range(first, last):
        n_cuts = start[k + 1] - start[k]
        code = codes[k]
        # Four histograms in turn: adding twice in a row to one bin would wait for the first sum to be stored.
        bins = np.zeros((4, n_cuts + 1))
        for i in range(unsigned(0), fours, unsigned(4)):
            bins[0, code[i]] += values[i]
            bins[1, code[i + unsigned(1)]] += values[i + unsigned(1)]
            bins[2, code[i + unsigned(2)]] += values[i + unsigned(2)]
            bins[3, code[i + unsigned(3)]] += values[i + unsigned(3)]
        for i in range(fours, n):
            bins[0, code[i]] += values[i]
        total = 0.0
        for c in range(n_cuts, 0, -1):
            total += (bins[0, c] + bins[1, c]) + (bins[2, c] + bins[3, c])
            out[start[k] + c - 1] = total


@compiled()
def keys_above(codes: Any, keys: Any, modulus: int, start: Any, first: int, last: int, out: Any) -> None:
    """Write the sums of non-negative integer `keys` above each cut, modulo `modulus` (below 2⁶²)."""
    for k in range(first, last):
        n_cuts = start[k + 1] - start[k]
        bins = np.zeros(n_cuts + 1, np.int64)
        for i in range(len(keys)):
            c = codes[k, i]
            bins[c] = (bins[c] + keys[i]) % modulus
        total = 0
        for c in range(n_cuts, 0, -1):
            total = (total + bins[c]) % modulus
            out[start[k] + c - 1] = total
