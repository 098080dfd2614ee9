"""Query boundaries from sizes or ids, and row weights."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import (
    as_floats,
    as_vector,
    check_exact_ids,
    check_order,
    check_values,
    check_weights,
    frozen,
    shown,
)


def boundaries_of(group: ArrayLike | None, qid: ArrayLike | None, n_rows: int, *, rows_of: str = "labels") -> Ints:
    """Return the first row of each query, and `n_rows`: shape (n_queries + 1,).

    Exactly one of `group`, the sizes of the queries, and `qid`, the id of each row, is given. `rows_of` is the
    argument that has `n_rows` entries, for messages.
    """
    if (group is None) == (qid is None):
        which = "neither" if group is None else "both"
        raise ValueError(f"give exactly one of group (sizes of the queries) and qid (id of each row); got {which}")
    if group is None:
        assert qid is not None
        return frozen(_boundaries_of_ids(qid, n_rows, rows_of))
    return frozen(_boundaries_of_sizes(group, n_rows, rows_of))


def ids_of(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return ids as a one-dimensional array, refusing missing ones, and floats that round different ids."""
    ids = as_vector(name, values)
    # NumPy writes a NaN beside texts as the text "nan".
    written = ids if isinstance(values, np.ndarray) or ids.dtype.kind not in "SU" else np.asarray(values, object)
    check_values(name, _missing(written), written, "is not an id; drop such rows, or give them one")
    check_exact_ids(name, ids)
    return ids


def are_contiguous(qid: ArrayLike) -> bool:
    """Return whether the rows of each query stand together."""
    ids = as_vector("qid", qid)
    return len(np.unique(ids)) > int(np.count_nonzero(ids[1:] != ids[:-1]))


def sizes_of(group: ArrayLike) -> Floats:
    """Return the sizes of queries as float64, whose sum does not wrap around as that of int64 would."""
    sizes = as_floats("group", group)
    whole = (sizes >= 0) & (sizes < 1e100) & (sizes == np.floor(sizes))  # their sum is finite
    check_values("group", ~whole, sizes, "is not a size ≥ 0; pass how many rows each query has")
    return in_order_of(None, "group", group, sizes, "of the rows", "the id of each row as qid")


def in_order_of(keys: Any, name: str, values: Any, amounts: Floats, order: str, remedy: str) -> Floats:
    """Return the numbers of a pandas Series in the order of `keys`, which its index must hold. Others stay.

    The default index says nothing of the order. Another one, as `groupby` and `value_counts` make, tells what each
    number belongs to.
    """
    index: Any = getattr(values, "index", None)
    is_range = type(index).__name__ == "RangeIndex"
    is_default = is_range and (keys is None or index.equals(type(index)(len(index))))
    if not hasattr(index, "get_indexer") or is_default or len({*amounts}) < 2:
        return amounts
    places: Ints = index.get_indexer(keys) if keys is not None and index.is_unique else np.array([-1])
    if (places < 0).any():
        raise ValueError(
            f"{name} is a Series with the index {shown([*index[:3]])}, so its values may not be in the order {order}; "
            f"pass {remedy}, or {name}.to_numpy() if they are"
        )
    return amounts[places]


def numbers_of_rows(name: str, values: ArrayLike, n_rows: int, **beside: Any) -> Floats:
    """Return a float64 vector, refusing lengths other than `n_rows`, and the index of `beside` in another order."""
    check_order(**beside, **{name: values})
    out = as_floats(name, values)
    if len(out) != n_rows:
        raise ValueError(f"{name} must hold one number per row ({n_rows}), got {len(out)}")
    return out


def places_within(sizes: Ints) -> Ints:
    """Return the index of each row within its query, from 0."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def row_weight_of(weight: ArrayLike | None, boundaries: Ints, qid: ArrayLike | None = None) -> Floats | None:
    """Return the weight of each row, from weights per row or per query; None if all are 1.

    Weights per query that are a pandas Series by id are matched by the ids in `qid`, one per row.
    """
    if weight is None:
        return None
    w = as_floats("weight", weight)
    n_rows, n_queries = int(boundaries[-1]), len(boundaries) - 1
    if len(w) not in {n_rows, n_queries}:
        raise ValueError(f"weight must have a value per query ({n_queries}) or per row ({n_rows}), got {len(w)} values")
    check_weights("weight", w)
    if len(w) != n_rows:
        keys = None if qid is None else as_vector("qid", qid)[boundaries[:-1]]
        w = in_order_of(keys, "weight", weight, w, "of the queries", "a Series whose index holds the ids in qid")
        w = np.repeat(w, np.diff(boundaries))
    return None if (w == 1.0).all() else frozen(w)


def _boundaries_of_sizes(group: ArrayLike, n_rows: int, rows_of: str) -> Ints:
    sizes = sizes_of(group)
    total = float(sizes.sum())
    if total != n_rows:
        what = f"its {len(sizes)} sizes add up to {total:.20g}, {rows_of} has {n_rows} rows"
        raise ValueError(f"group must add up to the number of rows: {what}; correct them, or pass qid")
    boundaries = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes.astype(np.int64), out=boundaries[1:])
    return boundaries


def _boundaries_of_ids(qid: ArrayLike, n_rows: int, rows_of: str) -> Ints:
    ids = ids_of("qid", qid)
    if len(ids) != n_rows:
        raise ValueError(f"qid must have one id per row: got {len(ids)} for {n_rows} {rows_of}; pass sizes as group")
    try:
        codes = np.unique(ids, return_inverse=True)[1]
    except (TypeError, ValueError):
        raise ValueError("qid mixes types that cannot be compared; convert the ids to one type") from None
    starts = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    boundaries = np.r_[0, starts, n_rows] if n_rows else np.zeros(1, np.int64)
    heads = codes[boundaries[:-1]]
    again = np.ones(len(heads), bool)
    again[np.unique(heads, return_index=True)[1]] = False
    if again.any():
        row = boundaries[:-1][np.argmax(again)]
        what = f"{shown(ids[row])} appears again in row {row} after other ids"
        raise ValueError(f"qid must be contiguous: {what}; sort the rows by qid (stably) first")
    return boundaries.astype(np.int64)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of ids that are None, NaN, infinite, NaT, pandas' NA or an empty text."""
    if values.dtype.kind == "f":
        infinite: NDArray[np.bool_] = ~np.isfinite(values)
        return infinite
    if values.dtype.kind in "SU":
        return np.array(np.char.str_len(values) == 0, dtype=bool)
    if values.dtype.kind not in "OmM":
        return np.zeros(len(values), bool)
    objects = [value if isinstance(value, Hashable) else 0 for value in values]  # others mix types
    return np.array([type(v).__name__ == "NAType" or v in (None, "", b"") or bool(v != v) for v in objects], dtype=bool)  # noqa: PLR0124
