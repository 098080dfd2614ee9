"""`Cuts`: all possible stumps of a training set, and sums over the rows on one side of each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.cached import cached_property
from boostplug.core.checks import check_integer, frozen
from boostplug.core.threads import run_evenly
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled
from boostplug.weak_rankers.stump import Stump, rounding_edges


class Cuts:
    """All cuts ``x[k] > threshold`` of a training set, and the code of each row by feature.

    A feature is cut midway between neighbouring values, and also below its smallest value if some are missing. Features
    are read in single precision, as in the trees of both frameworks and of scikit-learn. A threshold is moved by up to
    half a unit in the last place, to where rounding to single precision changes sides. So a number falls on the same
    side in single and in double precision: here, in LightGBM (double) and in XGBoost (single).

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float32
        Finite, or NaN where missing.
    max_thresholds : int or None
        Features with more cuts keep a random subset of this size. None: all.
    random : numpy.random.RandomState
        Draws the subsets.

    Attributes
    ----------
    start : ndarray of shape (n_features + 1,)
        Feature k has the cuts ``start[k]:start[k + 1]``, thresholds ascending.
    threshold : ndarray of shape (n_cuts,)
    codes : ndarray of shape (n_features, n_rows), unsigned
        Number of the feature's thresholds below each row's value.
    """

    start: Ints
    threshold: Floats
    codes: NDArray[np.unsignedinteger]

    def __init__(self, X: NDArray[np.float32], max_thresholds: int | None, random: np.random.RandomState) -> None:
        if max_thresholds is not None:
            check_integer("max_thresholds", max_thresholds, 1, ", or None for all")
        n_rows, n_features = X.shape
        columns = np.ascontiguousarray(X.T)
        thresholds = []
        for column in columns:
            of_column = _thresholds(column)
            if max_thresholds is not None and len(of_column) > max_thresholds:
                of_column = of_column[np.sort(random.choice(len(of_column), max_thresholds, replace=False))]
            thresholds.append(of_column)
        sizes = np.array([len(of_column) for of_column in thresholds], np.int64)
        codes = np.empty((n_features, n_rows), np.uint8 if sizes.max(initial=0) < 256 else np.uint32)
        for k, column in enumerate(columns):
            codes[k] = np.where(np.isnan(column), 0, np.searchsorted(thresholds[k], column.astype(np.float64)))
        self.start = frozen(np.r_[0, np.cumsum(sizes)])
        self.threshold = frozen(np.concatenate([*thresholds, np.empty(0)]))
        self.codes = frozen(codes)

    @cached_property
    def descending(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows by descending code, of shape (n_features, n_rows), and the number of rows above each cut."""
        order: NDArray[np.int32] = np.empty(self.codes.shape, np.int32)
        for rows, code in zip(order, self.codes, strict=True):
            rows[:] = np.argsort(code, kind="stable")[::-1]
        return order, self.sums_above(np.ones(self.codes.shape[1])).astype(np.int32)

    def __len__(self) -> int:
        return len(self.threshold)

    def feature(self, cut: int) -> int:
        """Return the feature of a cut."""
        return int(np.searchsorted(self.start, cut, side="right")) - 1

    def stump(self, cut: int) -> Stump:
        """Return a cut as a weak ranker: 1 above, 0 below."""
        return Stump(self.feature(cut), float(self.threshold[cut]))

    def above(self, cut: int) -> NDArray[np.bool_]:
        """Return a mask of the rows above a cut, shape (n_rows,)."""
        k = self.feature(cut)
        side: NDArray[np.bool_] = self.codes[k] > cut - self.start[k]
        return side

    def sums_above(self, values: Floats) -> Floats:
        """Return, for each cut, the sum of `values` over the rows above it, of shape (n_cuts,)."""
        out = np.empty(len(self))
        run_evenly(lambda a, b: _sums_above(self.codes, self.start, values, a, b, out), *self.codes.shape)
        return out

    def distinct(self, rows: Ints) -> Ints:
        """Return the first cut of each kind. Cuts of one kind split `rows` into the same two parts.

        Which part is above does not matter. A cut with all of `rows` on one side is left out. Cuts are compared by two
        sums of random integers of the rows above, exact in float64. Two of a million rows' n cuts are taken for one
        with a probability below n² / 2⁶⁵.
        """
        keys = np.zeros((2, self.codes.shape[1]))
        keys[:, rows] = np.random.default_rng(0).integers(1, (1 << 52) // max(1, len(rows)), (2, len(rows)))
        above = np.array([self.sums_above(of_rows) for of_rows in keys])
        total = keys.sum(axis=1, keepdims=True)
        real, imaginary = np.abs(2.0 * above - total)  # alike whichever part is above
        _, first = np.unique(real + 1j * imaginary, return_index=True)
        first = first[(above[0, first] > 0.0) & (above[0, first] < total[0])]
        return frozen(np.sort(first))


def _thresholds(column: NDArray[np.float32]) -> Floats:
    """Return the cuts of one feature, ascending."""
    values = np.unique(column[~np.isnan(column)])
    if not len(values):
        return np.empty(0)
    values = values + np.float32(0.0)  # -0.0 and 0.0 are one value
    low, high = values[:-1].astype(np.float64), values[1:].astype(np.float64)
    edge = rounding_edges(low + 0.5 * (high - low))
    return np.r_[-np.inf, edge] if np.isnan(column).any() else edge


@compiled()
def _sums_above(codes: Any, start: Any, values: Any, first: int, last: int, out: Any) -> None:
    """Write the sums above the cuts of some features: one pass over the codes of each, then a running sum."""
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
