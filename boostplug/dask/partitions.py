"""Whole queries in partitions: bringing them together, and seeing whether they are."""

from collections.abc import Sequence
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from numpy.typing import NDArray

from boostplug.core.checks import check_exact_ids, check_integer, check_values, shown

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
        The column of query ids: integers of any size, strings, categories, dates; no missing ones, and of one type in
        all partitions.
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

    Computes the column of ids alone. The driver sees the ids of the queries of each partition.

    Parameters
    ----------
    ddf : dask.dataframe.DataFrame
    qid : str
        The column of query ids.

    Raises
    ------
    ValueError
        If there is no such column, an id is missing, the partitions have ids of different types (whole numbers and
        floats), or queries lie in several partitions; the message says how many do, and where one of them lies.
    """
    _check_frame(ddf, qid)
    columns = enumerate(ddf[qid].to_delayed())
    ids = [delayed(_distinct_ids)(column, f"{qid} of partition {place}: {qid}") for place, column in columns]
    check_whole_queries(dask.compute(*ids))


def ids_and_places(values: Any, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different ids of a column in the order of their first rows, and for each row the place of its id."""
    codes, found = pd.factorize(values)
    ids = np.asarray(found)
    is_float = ids.dtype.kind == "f"
    missing = (codes < 0) | np.isin(codes, np.flatnonzero(np.isinf(ids)) if is_float else [])
    if missing.any():
        check_values(name, missing, np.asarray(values, dtype=object), "is not an id; drop such rows, or name the query")
    if is_float:
        check_exact_ids(name, ids[codes])
    wide = np.float64 if is_float else np.int64
    return ids.astype(wide) if np.can_cast(ids.dtype, wide) else ids, codes.astype(np.int64)


def check_whole_queries(ids: Sequence[NDArray[Any]]) -> None:
    """Raise if a query lies in several partitions, or if these have ids of different types.

    Parameters
    ----------
    ids : sequence of ndarray
        The different ids of each partition.
    """
    if len({part.dtype for part in ids if len(part)}) > 1:
        raise ValueError("the query ids have other types in some partitions; convert them to one with astype")
    held = pd.Series(np.repeat(np.arange(len(ids)), [len(part) for part in ids]))
    query = pd.Series(np.concatenate([part for part in ids if len(part)] or [np.zeros(0)]))
    split = query[query.duplicated(keep=False)]
    if len(split):
        first = split.iloc[0]
        places = held[query == first].tolist()
        raise ValueError(
            f"{split.nunique()} of {query.nunique()} queries lie in several partitions: {shown(first)} in "
            f"{places[0]} and {places[1]}; bring each together with boostplug.dask.partition_by_query(ddf, qid)"
        )


def _distinct_ids(values: Any, name: str) -> NDArray[Any]:
    return ids_and_places(values, name)[0]


def _hashes(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each id, the same in every partition; rarely, different ids have one hash."""
    hashes: NDArray[np.uint64] = pd.util.hash_array(ids, categorize=False)
    return hashes


def _with_place(part: pd.DataFrame, qid: str, partition_info: Any = None) -> pd.DataFrame:
    """Return a partition with two numbers for each row: where it stood in the frame, and the hash of its query."""
    number = 0 if partition_info is None else partition_info["number"]
    ids, of_row = ids_and_places(part[qid], f"{qid} of partition {number}: {qid}")
    place = np.arange(len(part), dtype=np.int64) + number * _ROWS
    return part.assign(**{_PLACE: place, _HASH: _hashes(ids)[of_row].view(np.int64)})


def _in_order(part: pd.DataFrame, qid: str) -> pd.DataFrame:
    """Return a partition's rows by query, those of each as they stood."""
    return part.sort_values([qid, _PLACE]).drop(columns=[_PLACE, _HASH])


def _check_frame(ddf: Any, qid: Any) -> None:
    if not isinstance(ddf, dd.DataFrame):
        raise TypeError(
            f"ddf must be a dask.dataframe.DataFrame, got {shown(type(ddf).__name__)}; for data in memory use "
            "dask.dataframe.from_pandas, or the rankers of boostplug itself, which train on one machine"
        )
    if not isinstance(qid, str) or qid not in ddf.columns:
        raise ValueError(f"qid must name a column of ddf; got {shown(qid)}, the columns are {shown(list(ddf.columns))}")
