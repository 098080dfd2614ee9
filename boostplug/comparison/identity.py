"""Which documents and queries stand in several parts of a comparison, by their ids and by their content."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training import Part

__all__ = ["Content", "content_hashes", "query_codes", "shared_data_warning"]

Hashes = NDArray[np.uint64]

_ROWS = 1 << 16  # of a table at once
_SHIFT = np.uint64(32)
_MISSING = np.uint64(0x7FF8_0000_0000_0001)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_LABEL = np.uint64(0x9E3779B97F4A7C15)
_MOST_NAMED = 3


class Content(NamedTuple):
    """Hashes of a part's documents and queries: equal where features and labels are, in whatever form and order.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), uint64
        Of the features and the label of each document.
    queries : ndarray of shape (n_queries,), uint64
        Of all documents of each query, in any order.
    ids : ndarray of shape (n_queries,)
    """

    rows: Hashes
    queries: Hashes
    ids: NDArray[Any]


def content_hashes(part: Part) -> Content:
    """Return the hashes of a part."""
    queries = part.queries
    rows = _mixed(_feature_hashes(part.X) + _LABEL * _bits(queries.labels))
    starts = queries.boundaries[:-1]
    sizes = np.diff(queries.boundaries)
    sums = np.zeros(queries.n_queries, np.uint64)
    there = sizes > 0
    if there.any():
        sums[there] = np.add.reduceat(rows, starts[there])
    return Content(rows, _mixed(sums + sizes.astype(np.uint64)), part.ids)


def query_codes(contents: Sequence[Content]) -> list[NDArray[np.int64]]:
    """Return a number for each query of several parts: the same where both id and content are."""
    codes: dict[tuple[Any, int], int] = {}
    return [
        np.array(
            [
                codes.setdefault(key, len(codes))
                for key in zip(content.ids.tolist(), content.queries.tolist(), strict=True)
            ],
            dtype=np.int64,
        )
        for content in contents
    ]


def shared_data_warning(a: Content, b: Content, name_a: str, name_b: str) -> str | None:
    """Return a warning where two parts have queries or documents in common; None where they have not.

    What stands several times in one part, such as a document without any feature, tells nothing.
    """
    same = _shared(a.queries, b.queries)
    if same.all() and len(a.queries) == len(b.queries):
        return f"{name_a} and {name_b} hold the same data: metrics on {name_b} say nothing about new queries."
    if same.any():
        return (
            f"{name_b} shares {_named(b.ids[same], 'query', 'queries')} with {name_a}, documents included: metrics on "
            f"{name_b} are too high. Split the data by query."
        )
    rows = int(_shared(a.rows, b.rows).sum())
    if rows:
        return (
            f"{name_b} shares {rows:,} of its {len(b.rows):,} documents with {name_a}, features and label included: "
            f"metrics on {name_b} may be too high. Split the data by query."
        )
    if _are_numbers(a.ids) and _are_numbers(b.ids):  # they only count the queries of each part
        return None
    known = set(a.ids.tolist())
    ids = np.array([i in known for i in b.ids.tolist()], dtype=bool)
    if ids.any():
        return (
            f"{name_b} shares {_named(b.ids[ids], 'query id', 'query ids')} with {name_a}, but not the documents. If "
            "these are the same queries, split the data by query; if not, ignore this warning."
        )
    return None


def _shared(a: Hashes, b: Hashes) -> NDArray[np.bool_]:
    """Return where the second part has hashes that occur in both, and in each of them once."""
    shared: NDArray[np.bool_] = np.isin(b, _once(a)) & np.isin(b, _once(b))
    return shared


def _once(hashes: Hashes) -> Hashes:
    """Return the hashes that occur once."""
    values, counts = np.unique(hashes, return_counts=True)
    once: Hashes = values[counts == 1]
    return once


def _are_numbers(ids: NDArray[Any]) -> bool:
    """Return whether ids only count the queries, from 0 or 1."""
    return ids.dtype.kind in "iuf" and any(np.array_equal(ids, np.arange(s, s + len(ids))) for s in (0, 1))


def _named(ids: NDArray[Any], one: str, many: str) -> str:
    """Return how many there are, and the first of them."""
    listed = ", ".join(map(str, ids[:_MOST_NAMED])) + (", …" if len(ids) > _MOST_NAMED else "")
    return f"{len(ids):,} {one if len(ids) == 1 else many} ({listed})"


def _feature_hashes(X: Any) -> Hashes:
    """Return a hash of each row's features; zeros add nothing, so that sparse and dense rows are alike."""
    factors = np.random.default_rng(0).integers(2**63, 2**64, size=X.shape[1], dtype=np.uint64) | np.uint64(1)
    if hasattr(X, "tocsr"):
        sparse = X.tocsr()
        terms = _bits(sparse.data) * factors[sparse.indices]
        hashes = np.zeros(X.shape[0], np.uint64)
        there = np.diff(sparse.indptr) > 0
        if there.any():
            hashes[there] = np.add.reduceat(terms, sparse.indptr[:-1][there])
        return hashes
    if hasattr(X, "iloc"):
        hashes = np.zeros(len(X), np.uint64)
        for i, factor in enumerate(factors):
            hashes += _of_column(X.iloc[:, i]) * factor
        return hashes
    array = np.asarray(X)
    blocks = [_bits(array[start : start + _ROWS]) @ factors for start in range(0, len(array), _ROWS)]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint64)


def _of_column(column: Any) -> Hashes:
    """Return bits of a pandas column's values; those of categories and strings are of the values themselves."""
    from pandas.api.types import is_numeric_dtype
    from pandas.util import hash_array

    if is_numeric_dtype(column.dtype):
        return _bits(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(hash_array(column.to_numpy(dtype=object)), dtype=np.uint64)


def _bits(values: Any) -> Hashes:
    """Return the bits of numbers as float64, 0 for zeros of both signs, and one value for all NaN."""
    numbers = np.asarray(values, dtype=np.float64) + 0.0
    bits = numbers.view(np.uint64)
    return np.where(np.isnan(numbers), _MISSING, bits ^ (bits >> _SHIFT))


def _mixed(hashes: Hashes) -> Hashes:
    """Return hashes of which sums no longer cancel out (the finaliser of SplitMix64, Steele et al. 2014)."""
    mixed = (hashes ^ (hashes >> np.uint64(30))) * _MIX[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
    return mixed ^ (mixed >> np.uint64(31))
