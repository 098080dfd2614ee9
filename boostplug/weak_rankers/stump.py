"""`Stump`: one threshold on one feature, and where thresholds stand between single-precision numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_number
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
