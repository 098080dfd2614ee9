"""`Stump`: one threshold on one feature; `Cuts`: all possible stumps of a training set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.cached import cached_property
from boostplug.core.checks import check_integer, check_number, frozen
from boostplug.weak_rankers import cuts as kernels
from boostplug.weak_rankers.cuts import CutCodes
from boostplug.weak_rankers.feature import check_column


@dataclass(frozen=True)
class Stump:
    """Two values: `above` where the feature is greater than the threshold, `below` elsewhere.

    Missing values (NaN) count as lower than every known value.

    Parameters
    ----------
    feature : int
        Column of X.
    threshold : float
        -inf puts all known values above.
    below, above : float, default 0 and 1
        Scores of the two sides.
    """

    feature: int
    threshold: float
    below: float = 0.0
    above: float = 1.0

    def __post_init__(self) -> None:
        check_column(self.feature)
        for name in ("threshold", "below", "above"):
            value = getattr(self, name)
            lowest = name == "threshold" and isinstance(value, (float, np.floating)) and value == -np.inf
            object.__setattr__(self, name, -np.inf if lowest else check_number(name, value))

    def predict(self, X: NDArray[np.floating]) -> Floats:
        """Return the scores of the rows of X, of shape (n_rows,)."""
        column = X[:, self.feature].astype(np.float64)  # a float32 column would round the threshold
        return np.where(column > self.threshold, self.above, self.below)


class Cuts:
    """All cuts ``x[k] > threshold`` of a training set, and the code of each row by feature.

    A feature is cut midway between neighbouring values, and also below its smallest value if some are missing. Features
    are read in single precision, as in the trees of both frameworks and of scikit-learn. A threshold is moved by up to
    half a unit in the last place, to where rounding to single precision changes sides. So a number falls on the same
    side in single and in double precision, here, in LightGBM (double) and in XGBoost (single).

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
    def view(self) -> CutCodes:
        """The fields that kernels read."""
        return CutCodes(self.codes, self.start)

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
        return kernels.sums_above(self.view, values)

    def distinct(self, rows: Ints) -> Ints:
        """Return the first cut of each kind; cuts of one kind split `rows` into the same two parts.

        Which part is above does not matter. A cut with all of `rows` on one side is left out. Cuts are compared by
        62-bit sums of random keys of the rows; two kinds collide with a probability below n_cuts² / 2⁶².
        """
        keys = np.zeros(self.codes.shape[1], np.int64)
        keys[rows] = np.random.default_rng(0).integers(1, 1 << 62, len(rows))
        modulus = (1 << 62) - 1
        sums = kernels.keys_above(self.view, keys, modulus)
        total = int(np.add.reduce(keys.astype(object)) % modulus) if len(rows) else 0
        kind = np.minimum(sums, (total - sums) % modulus)
        _, first = np.unique(kind, return_index=True)
        first = first[kind[first] != 0]
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


def first_best(values: Floats, tolerance: float) -> int:
    """Return the first index whose value is within `tolerance` of the largest, so that rounding does not break ties."""
    return int(np.argmax(values >= values.max() - tolerance))


def largest_single(threshold: Floats) -> NDArray[np.float32]:
    """Return the largest single-precision numbers of at most `threshold`."""
    with np.errstate(over="ignore"):
        rounded = threshold.astype(np.float32)
    below: NDArray[np.float32] = np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    return below


def rounding_edges(threshold: Floats) -> Floats:
    """Return the largest doubles that round to a single-precision number of at most `threshold`.

    ``x <= edge`` equals ``float32(x) <= threshold`` for every double x that is finite in single precision.
    """
    with np.errstate(over="ignore"):
        below = largest_single(threshold)
        above = np.minimum(np.nextafter(below, np.float32(np.inf)).astype(np.float64), 2.0**128)
        edge = 0.5 * (below.astype(np.float64) + above)
        # A double halfway between two floats rounds to the even one; the threshold keeps it on that side.
        return np.where(edge.astype(np.float32) > below, np.nextafter(edge, -np.inf), edge)
