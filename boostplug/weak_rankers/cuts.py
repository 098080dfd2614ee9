"""Sums over the rows on one side of every cut of a feature: one pass over its codes, then a running sum."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_evenly
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled


class CutCodes(NamedTuple):
    """All cuts of all features (`boostplug.weak_rankers.Cuts.view`): feature k has ``start[k]:start[k + 1]``.

    A row of code ``codes[k, i] = c`` is above the first c cuts of the feature and below the others.
    """

    codes: NDArray[np.unsignedinteger]
    start: NDArray[np.int64]


def sums_above(cuts: CutCodes, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each cut, the sum of `values` over the rows above it."""
    out = np.empty(cuts.start[-1])
    run_evenly(lambda a, b: _sums_above(cuts, values, a, b, out), *cuts.codes.shape)
    return out


def keys_above(cuts: CutCodes, keys: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
    """Return, for each cut, the sum of non-negative integer `keys` of the rows above it, modulo `modulus` < 2⁶²."""
    out = np.empty(cuts.start[-1], np.int64)
    run_evenly(lambda a, b: _keys_above(cuts, keys, modulus, a, b, out), *cuts.codes.shape)
    return out


@compiled()
def _sums_above(cuts: Any, values: Any, first: int, last: int, out: Any) -> None:
    codes, start = cuts.codes, cuts.start
    n = unsigned(len(values))
    fours = n - n % unsigned(4)
    for k in range(first, last):
        n_cuts = start[k + 1] - start[k]
        code = codes[k]
        # Four histograms in turn: a second addition to the same bin would wait until the first one is stored.
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
def _keys_above(cuts: Any, keys: Any, modulus: int, first: int, last: int, out: Any) -> None:
    codes, start = cuts.codes, cuts.start
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
