"""Parts and queries by what they hold: a digest of a part, and copies of a query under other ids."""

from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.extras import imported
from boostplug.data.tables import schema_of

Hashes = NDArray[np.uint64]


def digest_of_part(part: DataPart) -> str:
    """Return a digest of a part's features, labels, queries and weights; parts with other values differ."""
    queries, features = part.queries, (schema_of(part.X), _hashes_of_rows(part))
    beside = (queries.boundaries, queries.row_weight, dict(queries.labels_by_name), queries.position)
    return str(joblib.hash((features, beside)))


def content_of_queries(part: DataPart) -> Hashes:
    """Return a hash of the rows and labels of each query, in any order of its rows.

    0 for queries that cannot be told apart: those whose rows are all equal, and pages, which may be shown again.
    """
    rows, queries = _hashes_of_rows(part), part.queries
    is_other = rows != rows[queries.boundaries[queries.query_of_row]]
    is_known = (np.bincount(queries.query_of_row, is_other, queries.n_queries) > 0) & (queries.position is None)
    return np.diff(np.cumsum(np.r_[np.uint64(0), rows])[queries.boundaries]) * is_known


def _hashes_of_rows(part: DataPart) -> Hashes:
    """Return a hash of the features and the label of each row, from sums modulo 2^64, one column at a time."""
    X = part.X.tocsr() if hasattr(part.X, "nnz") else part.X
    label, *factors = np.random.default_rng(0).integers(2**63, size=1 + X.shape[1], dtype=np.uint64)
    rows = label * _hashes(part.queries.labels)
    if hasattr(X, "nnz"):
        rows += type(X)((_hashes(X.data), X.indices, X.indptr), X.shape) @ np.array(factors, np.uint64)
    for j in range(0 if hasattr(X, "nnz") else X.shape[1]):
        rows += factors[j] * _hashes(X.iloc[:, j].array if hasattr(X, "iloc") else X[:, j])
    return _hashes(rows)


def _hashes(values: Any) -> Hashes:
    """Return a hash of each value: of numbers as float64, in which zeros and NaN are equal; of categories by name."""
    if not hasattr(values, "categories") and values.dtype != np.uint64:
        values = np.asarray(values, np.float64) + 0.0
        values[np.isnan(values)] = np.nan
    return np.asarray(imported("pandas", "comparisons need").util.hash_array(values))
