"""`Feature`: the value of one feature as a weak ranker, used by AdaRank."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_integer


@dataclass(frozen=True)
class Feature:
    """The value of one feature as a score. A missing value counts as 0.

    0 is the smallest value of LETOR's normalised features. Linear models of both frameworks also add nothing for a
    missing value. So an ensemble of features converts to them exactly.

    Parameters
    ----------
    feature : int
        Column of X.
    """

    feature: int

    def __post_init__(self) -> None:
        check_column(self.feature)

    def predict(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the scores of the rows of X, of shape (n_rows,)."""
        column = X[:, self.feature].astype(np.float64)
        return np.where(np.isnan(column), 0.0, column)


def check_column(feature: int) -> None:
    """Raise unless `feature` is the number of a column."""
    check_integer("feature", feature, 0, remedy="pass the number of a column of X")
