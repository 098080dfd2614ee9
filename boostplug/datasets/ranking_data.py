"""`RankingData`: what every loader returns; `Fold`: three of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.queries import Queries
from boostplug.threads import Computed

__all__ = ["Fold", "RankingData"]


@dataclass(frozen=True, eq=False, repr=False)
class RankingData(Mapping[str, Any]):
    """A ranking data set; its fields are read as attributes or as keys, like those of scikit-learn's ``Bunch``.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_rows, n_features), float32
        NaN where a value is missing.
    y : ndarray of shape (n_rows,), float64
        Grades, all finite.
    qid : ndarray of shape (n_rows,), int64 or str
        Query of each row; the rows of a query stand together.
    group : ndarray of shape (n_queries,), int64
        Sizes of the queries, in row order.
    doc_ids : ndarray of shape (n_rows,), str, or None
        Names of the documents, empty for a row without one; None where no row has one.
    weight : ndarray of shape (n_rows,), float64, or None
        Weights of the rows; None where all are 1.

    Examples
    --------
    >>> data = RankingData(X=np.eye(3, dtype=np.float32), y=np.array([2.0, 0, 1]), qid=np.array([7, 7, 9]),
    ...                    group=np.array([2, 1]))
    >>> data
    RankingData(n_queries=2, n_rows=3, n_features=3)
    >>> data["group"] is data.group
    True
    >>> data.queries
    Queries(n_queries=2, n_rows=3)
    """

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[Any]
    group: NDArray[np.int64]
    doc_ids: NDArray[np.str_] | None = None
    weight: NDArray[np.float64] | None = None

    __eq__ = object.__eq__  # a mapping's would compare arrays with ==
    __hash__ = object.__hash__

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self))

    def __len__(self) -> int:
        return len(fields(self))

    def __contains__(self, key: object) -> bool:
        return any(key == field.name for field in fields(self))

    def __repr__(self) -> str:
        return f"RankingData(n_queries={self.n_queries}, n_rows={self.n_rows}, n_features={self.n_features})"

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.group)

    @property
    def n_rows(self) -> int:
        """Number of documents."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return int(self.X.shape[1])

    @Computed
    def queries(self) -> Queries:
        """Grades, queries and weights as `boostplug.Queries`, for losses and metrics; built once."""
        return Queries(self.y, group=self.group, weight=self.weight)


class Fold(NamedTuple):
    """Training, validation and test data of equal width: ``train, vali, test = fold``."""

    train: RankingData
    vali: RankingData
    test: RankingData
