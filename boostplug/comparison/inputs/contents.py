"""Parts and queries by what they hold: a digest of a part, and queries that stand in two parts."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.columns import PARTS, DataFolds
from boostplug.core.extras import imported
from boostplug.data.inputs import CheckedInputs
from boostplug.data.tables import schema_of

Hashes = NDArray[np.uint64]

_MOST_IDS_NAMED = 3


def digest_of_part(part: CheckedInputs) -> str:
    """Return a digest of a part's features, labels, queries and weights; parts with other values differ."""
    queries, features = part.queries, (schema_of(part.X), _hashes_of_rows(part))
    beside = (queries.boundaries, queries.row_weight, dict(queries.labels_by_name), queries.position)
    return str(joblib.hash((features, beside)))


def have_known_ids(parts: Sequence[CheckedInputs]) -> bool:
    """Return whether equal ids in these parts are equal queries.

    They are not if there are no ids, if they number the queries of each of the parts from 0 or 1, or if the queries are
    pages, which may be shown again.
    """
    ids = [part.ids for part in parts]
    counts = [i.dtype.kind in "iuf" and any(np.array_equal(i - s, np.arange(len(i))) for s in (0, 1)) for i in ids]
    return not all(counts) and not any(part.qid is None or part.queries.position is not None for part in parts)


def shared_queries(folds: DataFolds, read: DataFolds) -> list[tuple[str, int, str, str]]:
    """Return what each two parts share by the ids of queries, or by their rows and labels.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    read : sequence of (train, valid, test)
        The same with all test queries, whose ids say whether they only number these.

    Returns
    -------
    list of (str, int, str, str)
        The later part, the number of its queries that the earlier part holds too, the finding, and the remedy.
    """
    found, of_folds = [], [[content_of_queries(part) for part in fold] for fold in folds]
    for (i, earlier), (j, later) in combinations(enumerate(PARTS), 2):
        ids, n_same = list[Any](), 0
        for fold, of_read, contents in zip(folds, read, of_folds, strict=True):
            same = np.isin(contents[j], contents[i][contents[i] > 0])
            n_same += int(same.sum())
            if have_known_ids([of_read[j], of_read[i]]):
                same |= np.isin(fold[j].ids.astype(str), fold[i].ids.astype(str))
            ids += fold[j].ids[same].tolist()
        if ids:
            n, listed = len(ids), ", ".join(map(str, ids[:_MOST_IDS_NAMED])) + ", …" * (len(ids) > _MOST_IDS_NAMED)
            copies = f", {n_same:,} with the same rows and labels" * bool(n_same)
            what = f"{later} shares {n:,} quer{'y' if n == 1 else 'ies'} with {earlier} (ids {listed}){copies}"
            remedy = "remove the copies" if n_same else "if the ids are of other queries, give each part ids of its own"
            found.append((later, n, what, remedy))
    return found


def content_of_queries(part: CheckedInputs) -> Hashes:
    """Return a hash of the rows and labels of each query, in any order of its rows.

    0 for queries that cannot be told apart: those whose rows are all equal, and pages, which may be shown again.
    """
    rows, queries = _hashes_of_rows(part), part.queries
    is_other = rows != rows[queries.boundaries[queries.query_of_row]]
    is_known = (np.bincount(queries.query_of_row, is_other, queries.n_queries) > 0) & (queries.position is None)
    return np.diff(np.cumsum(np.r_[np.uint64(0), rows])[queries.boundaries]) * is_known


def _hashes_of_rows(part: CheckedInputs) -> Hashes:
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
