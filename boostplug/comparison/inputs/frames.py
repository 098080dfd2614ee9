"""One table as a comparison takes it: which columns are features, and which query stands in which part."""

from dataclasses import replace
from math import isclose
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import column_names, shown, vector
from boostplug.data.inputs import Inputs, Source, refuse_absent, refuse_several_ids
from boostplug.data.tables import read_features, split_columns

Ints = NDArray[np.int64]

DEFAULT_SPLIT = (0.6, 0.2, 0.2)
_PARTS = ("train", "valid", "test")
_NAMES = {"train": 0, "training": 0, "valid": 1, "vali": 1, "validation": 1, "dev": 1, "test": 2}
_SEED = 0  # of the queries' order


class Columns(NamedTuple):
    """Columns of a DataFrame that are no features, those that are, and the split by query."""

    label: str | None = None
    qid: str = "qid"
    weight: str | None = None
    position: str | None = None
    labels: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    split: str | tuple[float, ...] | None = None

    def given(self) -> dict[str, Any]:
        """Return what differs from the defaults."""
        return {what: value for what, value in self._asdict().items() if value != Columns._field_defaults[what]}

    @property
    def named(self) -> list[str]:
        """The names of columns that are no features."""
        split = self.split if isinstance(self.split, str) else None
        return [
            name for name in (self.label, self.qid, self.weight, self.position, split, *self.labels) if name is not None
        ]

    def check(self) -> None:
        """Raise for arguments that are no names of columns, and for a split that is none."""
        if isinstance(self.qid, (list, tuple)):
            refuse_several_ids("qid", self.qid)
        for what in ("label", "qid", "weight", "position"):
            name = getattr(self, what)
            if not (isinstance(name, str) or (name is None and what != "qid")):
                example = "; weights as arrays go into RankingData(X, y, weight=…)" if what == "weight" else ""
                raise ValueError(f"{what} must be the name of a DataFrame's column; got {shown(name)}{example}")
        for what in ("labels", "features", "drop"):
            names = getattr(self, what)
            if names is not None and (isinstance(names, str) or not all(isinstance(name, str) for name in names)):
                raise ValueError(f"{what} must be a list of names of columns; got {shown(names)}")
        if self.split is not None and not isinstance(self.split, str):
            _check_shares(self.split)

    def inputs(self, frame: Any, source: Source) -> Inputs:
        """Return features, labels, ids and weights of a DataFrame, with columns left out that are not asked for."""
        there = column_names(frame)
        if self.label is None:
            which, options = "Which column holds the labels?", "label= (--label)"
            if self.qid not in there:
                which, options = "Which columns hold the labels and the query ids?", "label= and qid= (--label, --qid)"
            raise ValueError(f"{which} Pass {options}, of {shown(there)}; or a tuple (DataFrame, labels).")
        for what in ("features", "drop"):
            for name in getattr(self, what) or ():
                refuse_absent(name, what, there)
        kept = there if self.features is None else [*self.features, *self.named]
        left_out = [name for name in there if name not in kept or name in self.drop]
        return Inputs(
            X=split_columns(frame, left_out)[0],
            y=self.label,
            qid=self.qid,
            weight=self.weight,
            position=self.position,
            labels={name: name for name in self.labels} or None,
            arguments={"y": "label"},
            source=source,
            how_to_drop=how_to_drop,
        )


def how_to_drop(names: list[str]) -> str:
    """Return how a comparison leaves columns out."""
    return f"pass drop={names!r} (--drop {','.join(names)})"


def _check_shares(split: Any) -> None:
    """Raise unless a split is three shares above 0 that sum to 1."""
    try:
        shares = [float(share) for share in split]
    except (TypeError, ValueError):
        raise ValueError(
            "split must be the shares of queries for train, valid and test, such as (0.6, 0.2, 0.2), or the name of a "
            f"column that holds 'train', 'valid' and 'test'; got {shown(split)}"
        ) from None
    if len(shares) != len(_PARTS):
        raise ValueError(f"split: give three shares, such as 0.6, 0.2 and 0.2; got {len(shares)}.")
    for name, share in zip(_PARTS, shares, strict=True):
        if not share > 0.0:
            raise ValueError(f"split: each share must be above 0; {name} has {share:g}.")
    if not isclose(sum(shares), 1.0):
        raise ValueError(f"split: the three shares must sum to 1; got {sum(shares):g}.")


def parts_of(frame: Any, columns: Columns, source: Source) -> list[Inputs]:
    """Return the training, validation and test part of one DataFrame, split by query; a query's rows stand together.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or pyarrow
    columns : Columns
        With `split`: the shares of queries, drawn with a fixed seed, or a column that names each row's part.
    source : Source

    Raises
    ------
    ValueError
        If a column is not there or cannot be read, a part would be empty, or a query stands in several parts.
    """
    names = None
    inputs = columns.inputs(frame, source)
    if isinstance(columns.split, str):
        refuse_absent(columns.split, "split", column_names(frame))
        X, (names,) = split_columns(inputs.X, [columns.split])
        inputs = replace(inputs, X=X)
    inputs = inputs.split()
    inputs = replace(inputs, y=inputs.labels_of_rows(), qid=inputs.ids_of_rows())
    inputs = replace(inputs, X=read_features(inputs.X, source.file or "train", how_to_drop=how_to_drop))
    query, first = _numbered(inputs.qid)
    if names is not None:
        part = _parts_by_name(vector("split", names), query, columns.split)
    else:
        part = _drawn_parts(len(first), columns)[query]
    order = np.argsort(first[query], kind="stable")  # queries as they come, their rows together
    return [inputs.of_rows(order[part[order] == k]) for k in range(3)]


def _numbered(ids: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the number of each row's query, and the first row of each query."""
    _, first, query = np.unique(ids.astype(str), return_index=True, return_inverse=True)
    return query, first


def _drawn_parts(n_queries: int, columns: Columns) -> Ints:
    """Return the part of each query, drawn by shares."""
    if n_queries < len(_PARTS):
        found = "1 query" if n_queries == 1 else f"{n_queries} queries"
        raise ValueError(
            f"train holds {found}, and a split into three parts needs at least 3; is {columns.qid!r} the column of "
            "query ids? Pass qid= (--qid)."
        )
    split = DEFAULT_SPLIT if columns.split is None else columns.split
    edges = np.clip(np.round(np.cumsum(split)[:2] * n_queries).astype(int), [1, 2], [n_queries - 2, n_queries - 1])
    return np.searchsorted(edges, np.random.default_rng(_SEED).permutation(n_queries), side="right")


def _parts_by_name(names: NDArray[Any], query: Ints, column: Any) -> Ints:
    part = np.array([_NAMES.get(str(name).strip().lower(), -1) for name in names])
    if (part < 0).any():
        wrong = names[np.argmin(part)]
        raise ValueError(f"column {column!r} must hold 'train', 'valid' and 'test'; got {shown(str(wrong))}")
    missing = [name for k, name in enumerate(_PARTS) if not (part == k).any()]
    if missing:
        raise ValueError(f"column {column!r} names no row for {' and '.join(missing)}; give each part some queries")
    n_parts = np.bincount(np.unique(3 * query + part) // 3)  # of each query
    if (n_parts > 1).any():
        raise ValueError(
            f"column {column!r} puts {int((n_parts > 1).sum())} queries into several parts; give all rows of a query "
            "the same part"
        )
    return part
