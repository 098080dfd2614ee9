"""Whole queries in partitions: bringing them together, and seeing whether they are."""

from collections.abc import Callable
from typing import Any, NamedTuple

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from numpy.typing import NDArray

from boostplug.core.checks import check_integer, refuse_rounded_ids, refuse_where, shown

_NAMED = 5  # queries in a message
_PLACE, _HASH = "__boostplug_place", "__boostplug_hash"
_ROWS = 2**40  # that a partition may have


def partition_by_query(ddf: Any, qid: str, npartitions: int | None = None) -> Any:
    """Return the frame with each query whole in one partition, its rows together.

    A shuffle by the hash of the ids, then a sort by id within partitions. Rows of a query keep the order they had: by
    partition, then by place in it, whatever order the shuffle delivers them in. So the result is the same at every
    computation. It is lazy; call ``persist()`` on it before taking features, labels and ids from it, or each
    computation shuffles anew.

    Parameters
    ----------
    ddf : dask.dataframe.DataFrame
    qid : str
        The column of query ids: integers of any size, strings, categories, dates; no missing ones.
    npartitions : int, optional
        Default: as many as before. Some 2 to 4 for each worker; a query is never larger than a partition.

    Returns
    -------
    dask.dataframe.DataFrame
        Its divisions are unknown; its index is what each row had.

    Raises
    ------
    ValueError
        If there is no such column; when computed, if an id is missing.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"qid": ["a", "b", "a", "b"], "x": [1.0, 2.0, 3.0, 4.0]})
    >>> whole = partition_by_query(dd.from_pandas(frame, npartitions=2), "qid")
    >>> check_partitions(whole, "qid")
    """
    _check_frame(ddf, qid)
    if npartitions is not None:
        npartitions = check_integer("npartitions", npartitions, 1, ", or None for as many as before")
    meta = ddf._meta  # noqa: SLF001 (an empty frame of these columns)
    placed = ddf.map_partitions(_with_place, qid, meta=meta.assign(**{_PLACE: np.int64(), _HASH: np.int64()}))
    # By a hash of our own, as Dask rounds unsigned integers beyond 2^63, and all of them come into one partition.
    shuffled = placed.shuffle(on=_HASH, npartitions=npartitions)
    return shuffled.map_partitions(_in_order, qid, meta=meta, clear_divisions=True)


def check_partitions(ddf: Any, qid: str) -> None:
    """Raise if a query lies in several partitions.

    Computes the column of ids alone. The driver sees eight bytes for each query.

    Parameters
    ----------
    ddf : dask.dataframe.DataFrame
    qid : str
        The column of query ids.

    Raises
    ------
    ValueError
        If there is no such column, an id is missing, or queries lie in several partitions; the message says how many
        do, and of some of them where they lie.
    """
    _check_frame(ddf, qid)
    parts = ddf[qid].to_delayed()
    held = dask.persist(*(delayed(ids_of)(part, f"{qid} of partition {p}: {qid}") for p, part in enumerate(parts)))

    def ask(function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return list(dask.compute(*(delayed(function)(ids, *arguments) for ids in held)))

    refuse_split_queries(ask)


class Ids(NamedTuple):
    """The queries of one partition, each once, in the order of their first rows."""

    ids: NDArray[Any]
    hashes: NDArray[np.uint64]
    """The same in every partition for the same id; rarely, of different ids too."""


def ids_of(values: Any, name: str) -> Ids:
    """Return the ids that stand in a column, refusing missing ones."""
    return distinct(values, name)[0]


def distinct(values: Any, name: str) -> tuple[Ids, NDArray[np.int64]]:
    """Return the ids that stand in a column, and for each row the place of its own among them."""
    codes, found = pd.factorize(values)
    _refuse_missing(codes < 0, values, name)
    given = np.asarray(found)
    ids = _plain(given)
    if ids.dtype.kind == "f":
        _refuse_missing(np.isinf(ids)[codes], values, name)
    if given.dtype.kind == "f":
        refuse_rounded_ids(name, given[codes])
    if ids.dtype.kind in "cV":
        raise ValueError(f"{name} must hold ids, numbers or strings; got dtype {ids.dtype}")
    return Ids(ids, _hashes_of(ids)), codes.astype(np.int64)


def refuse_split_queries(ask: Callable[..., list[Any]]) -> None:
    """Raise if a query lies in several partitions.

    ``ask(function, *arguments)`` returns what a function says of each partition's `Ids`.
    """
    hashes = np.concatenate(ask(_hashes))
    once, times = np.unique(hashes, return_counts=True)
    found = _split(ask(_with_hashes, once[times > 1])) if (times > 1).any() else []
    if found:
        named = ", ".join(f"{shown(query)} in {_listed(places)}" for query, places in found[:_NAMED])
        more = f", and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise ValueError(
            f"{len(found)} of {len(hashes) - sum(len(places) - 1 for _, places in found)} queries lie in several "
            f"partitions: {named}{more}; bring each together with boostplug.dask.partition_by_query(ddf, qid)"
        )


def _split(held: list[NDArray[Any]]) -> list[tuple[Any, list[int]]]:
    """Return the ids that several partitions hold, and which: two ids of one hash are distinguished here."""
    places: dict[Any, list[int]] = {}
    for partition, ids in enumerate(held):
        for query in (ids.astype(str) if ids.dtype.kind in "mM" else ids).tolist():
            places.setdefault(query, []).append(partition)
    return [(query, several) for query, several in places.items() if len(several) > 1]


def _hashes(ids: Ids) -> NDArray[np.uint64]:
    return ids.hashes


def _with_hashes(ids: Ids, hashes: NDArray[np.uint64]) -> NDArray[Any]:
    return ids.ids[np.isin(ids.hashes, hashes)]


def _listed(places: list[int]) -> str:
    return f"{', '.join(map(str, places[:-1]))} and {places[-1]}" if len(places) < 5 else f"{len(places)} partitions"


def _plain(ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids of the type that equal ones have in every partition, where some columns are of objects."""
    kind = pd.api.types.infer_dtype(ids) if ids.dtype.kind == "O" else None
    if kind == "integer":
        try:
            return ids.astype(np.int64)
        except OverflowError:
            return ids
    if kind == "floating" or ids.dtype.kind == "f":
        return ids.astype(np.float64)
    return ids.astype(np.int64) if ids.dtype.kind in "ib" or (ids.dtype.kind == "u" and ids.itemsize < 8) else ids


def _hashes_of(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """Return hashes that equal ids have in common, be they whole numbers in one partition and floats in another."""
    hashes: NDArray[np.uint64] = pd.util.hash_array(ids, categorize=False)
    if ids.dtype.kind == "f":
        whole = (ids == np.floor(ids)) & (np.abs(ids) < 2.0**63)
        hashes[whole] = pd.util.hash_array(ids[whole].astype(np.int64), categorize=False)
    return hashes


def _refuse_missing(missing: NDArray[np.bool_], values: Any, name: str) -> None:
    if missing.any():
        refuse_where(name, missing, np.asarray(values, dtype=object), "is not an id; drop such rows, or name the query")


def _with_place(part: pd.DataFrame, qid: str, partition_info: Any = None) -> pd.DataFrame:
    """Return a partition with two numbers for each row: where it stood in the frame, and the hash of its query."""
    number = 0 if partition_info is None else partition_info["number"]
    ids, of_row = distinct(part[qid], f"{qid} of partition {number}: {qid}")
    place = np.arange(len(part), dtype=np.int64) + number * _ROWS
    return part.assign(**{_PLACE: place, _HASH: ids.hashes[of_row].view(np.int64)})


def _in_order(part: pd.DataFrame, qid: str) -> pd.DataFrame:
    """Return a partition's rows by query, those of each as they stood."""
    ordered = part.sort_values(_PLACE).drop(columns=[_PLACE, _HASH])
    try:
        return ordered.sort_values(qid, kind="stable")
    except TypeError:
        raise ValueError(f"{qid} mixes types that cannot be compared; convert the ids to one type") from None


def _check_frame(ddf: Any, qid: Any) -> None:
    if not isinstance(ddf, dd.DataFrame):
        raise TypeError(
            f"ddf must be a dask.dataframe.DataFrame, got {shown(type(ddf).__name__)}; for data in memory use "
            "dask.dataframe.from_pandas, or the rankers of boostplug itself, which train on one machine"
        )
    if not isinstance(qid, str) or qid not in ddf.columns:
        raise ValueError(f"qid must name a column of ddf; got {shown(qid)}, the columns are {shown(list(ddf.columns))}")
