"""Input of both rankers: features, labels, ids and weights of a fit, checked partition by partition."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from distributed import get_client, wait
from numpy.typing import NDArray

from boostplug.core.checks import shown
from boostplug.dask.partitions import Ids, distinct, refuse_split_queries
from boostplug.data.inputs import Inputs
from boostplug.data.named_labels import check_label_name
from boostplug.data.queries import Queries
from boostplug.data.tables import Table, refuse_other_categories, refuse_other_columns
from boostplug.estimators.inputs import with_float32_labels
from boostplug.metrics import Metric

POSITION = "position of the row"
"""The name under which positions travel beside labels; no label can have it, because of its spaces."""

_SIZES = (
    "is not taken with collections: sizes say nothing of where partitions begin; pass the query id of each row instead"
)
_PAIRS = (
    "on collections are not possible, because pairs number the rows of one table, and a worker does not know the rows "
    "of others; train on one machine, or build the pairs into grades"
)
_REASONS = {"group": _SIZES, "eval_group": _SIZES, "pairs": _PAIRS, "eval_pairs": _PAIRS}
_SET_CATEGORIES = "give both the same with ddf[column].cat.set_categories(…)"


class Summary(NamedTuple):
    """Summary of a partition that the driver holds."""

    n_queries: int
    table: Table
    warnings: tuple[str, ...]
    """Texts of warnings about the partition."""


class Part(NamedTuple):
    """One partition of a training set, on the worker where it lies; the rows of a query stand together."""

    X: Any
    """A DataFrame, an array or a sparse matrix, without the column of ids."""
    queries: Queries
    """Labels and weights too."""
    ids: Ids
    """For each query, in the order of `queries`."""
    summary: Summary

    @property
    def weight(self) -> NDArray[np.float64]:
        """Weights of the rows, 1 where none are given."""
        return np.ones(self.queries.n_rows) if self.queries.row_weight is None else self.queries.row_weight


@dataclass(frozen=True)
class Parts:
    """A training or validation set on the cluster: for each partition a future of its `Part`, and its `Summary`.

    Attributes
    ----------
    client : distributed.Client
    futures : list of Future
    weighted : bool
        Whether rows have weights.
    where : str
        Which set it is, for errors: "eval_set[0]'s ".
    summaries : list of Summary
    """

    client: Any
    futures: list[Any]
    weighted: bool
    where: str = ""
    summaries: list[Summary] = field(default_factory=list)

    @property
    def table(self) -> Table:
        """Rows, columns and their names, of all partitions."""
        return self.filled[0][1].table._replace(n_rows=sum(summary.table.n_rows for summary in self.summaries))

    @property
    def filled(self) -> list[tuple[int, Summary]]:
        """Numbers and summaries of the partitions that have rows."""
        return [(number, summary) for number, summary in enumerate(self.summaries) if summary.table.n_rows]

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what a function says of the `Part` of each partition, called where that lies."""
        holders = self.client.who_has(self.futures)  # on an idle worker it would copy the data
        answers: list[Any] = self.client.gather(
            [
                self.client.submit(
                    function,
                    future,
                    *arguments,
                    workers=list(holders[future.key]) or None,
                    allow_other_workers=True,
                    pure=False,
                )
                for future in self.futures
            ]
        )
        return answers

    def blocks(self, function: Callable[[Part, int], Any], n_columns: int | None = None) -> Any:
        """Return a Dask array with one block per partition that has rows.

        Parameters
        ----------
        function : callable
            ``function(part, first)`` returns the block; `first` is how many queries the partitions before it hold.
        n_columns : int, optional
            Default: the array has one dimension.
        """
        firsts = np.cumsum([0, *(summary.n_queries for summary in self.summaries)])
        shape = (np.nan,) if n_columns is None else (np.nan, n_columns)
        return da.concatenate(
            [
                da.from_delayed(delayed(function)(self.futures[number], int(firsts[number])), shape, dtype=np.float64)
                for number, _ in self.filled
            ],
            allow_unknown_chunksizes=True,
        )

    @property
    def features(self) -> Any:
        """The features of the partitions that have rows, as blocks."""
        return self.blocks(_features, self.table.n_columns)

    @property
    def labels(self) -> Any:
        """Their labels."""
        return self.blocks(_labels)

    def repeat_warnings(self) -> None:
        """Repeat each warning about a partition once, here at the driver."""
        for text in dict.fromkeys(text for summary in self.summaries for text in summary.warnings):
            warnings.warn(text, UserWarning, stacklevel=3)

    def score(self, ranker: Any, metric: Metric) -> float:
        """Return a metric over all queries of the predictions of a ranker; NaN where it is defined on none."""
        total, count = np.sum(self.ask(_sum_and_count, ranker, metric), axis=0)
        return float(total / count) if count else np.nan


def client_of(given: Any) -> Any:
    """Return the client that a ranker was given, or the current one; refuse one that does not wait for answers."""
    try:
        client = get_client() if given is None else given
    except ValueError:
        raise ValueError("there is no Dask client: make one, distributed.Client(…), or pass client=") from None
    if client.asynchronous:
        raise ValueError("client is asynchronous; pass a distributed.Client(asynchronous=False)")
    return client


def parts_of(client: Any, inputs: Inputs, *, local: str, fitted: Table | None = None) -> Parts:
    """Return a set on the cluster once its labels, queries, weights and columns are checked.

    Each partition is checked as a set on one machine would be, where it lies; the driver sees summaries. Queries that
    lie in several partitions are refused.

    Parameters
    ----------
    client : distributed.Client
    inputs : Inputs
        Of Dask collections, after `Inputs.split`. All have the same partitions, with the same numbers of rows.
    local : str
        Which ranker takes data in memory, for errors.
    fitted : Table, optional
        What the columns must be.

    Raises
    ------
    ValueError
        If the collections do not fit each other, a query is split, or what they hold is wrong; the message names the
        partition, and rows by their places in it.
    """
    where = inputs.where
    given = {role: getattr(inputs, role) for role in ("X", "y", "qid", "weight", "position")}
    given = {role: values for role, values in given.items() if values is not None or role in ("X", "y")}
    titles = {role: f"{where}{inputs.argument(role)}" for role in given}
    labels = {check_label_name(name): values for name, values in (inputs.labels or {}).items()}
    pieces = {role: _pieces(values, local, titles[role], 2 if role == "X" else 1) for role, values in given.items()}
    of_labels = {name: _pieces(values, local, f"{where}labels[{name!r}]", 1) for name, values in labels.items()}
    counts = {name: len(its) for name, its in (*pieces.items(), *of_labels.items())}
    if len({*counts.values()}) > 1:
        raise ValueError(
            f"{where}X and its labels must have the same partitions; got {counts}; take all from one frame, or "
            "repartition one as the other is"
        )
    # Columns of one frame share its tasks only while none of their graphs is optimised on its own.
    made = [
        delayed(_part)({r: its[k] for r, its in pieces.items()}, {n: its[k] for n, its in of_labels.items()})
        for k in range(counts["X"])
    ]
    parts = Parts(client, client.compute(made), inputs.weight is not None, where)
    with client.as_current():  # wait asks the current one
        wait(parts.futures)
    summaries = parts.ask(_summary)
    faults = [(number, fault) for number, fault in enumerate(summaries) if isinstance(fault, str)]
    if faults:
        raise ValueError(f"in partition {faults[0][0]} of {where or 'the training set'}: {faults[0][1]}")
    parts.summaries.extend(summaries)
    if not parts.filled:
        raise ValueError(f"{where}X and its labels have no rows")
    _refuse_unlike(parts)
    if fitted is not None:
        refuse_other_columns(parts.table, fitted, f"{where}X")
        refuse_other_categories(parts.table, fitted, f"{where}X", f"the training set; {_SET_CATEGORIES}")
    refuse_split_queries(lambda function, *arguments: parts.ask(_of_ids, function, *arguments))
    return parts


def checked_collection(value: Any, local: str, name: str = "X", n_dimensions: int = 2) -> Any:
    """Return a collection on a cluster, in blocks of whole rows; refuse what lies in memory."""
    if not isinstance(value, (dd.DataFrame, dd.Series, da.Array)):
        raise ValueError(
            f"{name} must be a Dask collection, got {shown(type(value).__name__)}; for data in memory use {local}, "
            "which trains on one machine, or dask.dataframe.from_pandas and dask.array.from_array"
        )
    if value.ndim != n_dimensions:
        remedy = "a dask DataFrame, or a 2-d array" if n_dimensions == 2 else "one column of a frame"
        raise ValueError(f"{name} must have {n_dimensions} dimension(s), got {value.ndim}; pass {remedy}")
    return value.rechunk({1: -1}) if isinstance(value, da.Array) and value.ndim == 2 else value


def _pieces(value: Any, local: str, name: str, n_dimensions: int) -> list[Any]:
    """Return the partitions of a collection as delayed values."""
    pieces = checked_collection(value, local, name, n_dimensions).to_delayed(optimize_graph=False)
    return list(pieces.flat) if isinstance(pieces, np.ndarray) else list(pieces)


def names_of_columns(inputs: Inputs) -> tuple[str, ...]:
    """Return the names of what a framework's own fields do not hold: more labels, and `POSITION`."""
    return (*(inputs.labels or ()), *([] if inputs.position is None else [POSITION]))


def column_of(name: str, part: Part, _first: int = 0) -> NDArray[Any]:
    """Return a label of a partition by its name, or its positions."""
    queries = part.queries
    if name != POSITION:
        return queries.labels_by_name[name]
    assert queries.position is not None
    return queries.position


def refuse_on_collections(refused: Mapping[str, Any], reasons: Mapping[str, str] = MappingProxyType({})) -> None:
    """Raise for arguments of a fit that make no sense for collections; `reasons` adds those of a framework."""
    for name, value in refused.items():
        reason = reasons.get(name) or _REASONS.get(name)
        if reason is None:
            raise TypeError(f"fit got an unexpected keyword argument {name!r}")
        if value is not None:
            raise ValueError(f"{name} {reason}")


def _part(given: dict[str, Any], labels: dict[str, Any]) -> Part | str:
    """Return a partition, or what is wrong with it: an error here would fill the worker's log."""
    n_rows = {name: np.shape(values)[0] for name, values in (*given.items(), *labels.items())}
    if len({*n_rows.values()}) > 1:
        return (
            f"the numbers of rows differ, {n_rows}; take all from one frame, and call persist() on it after a shuffle"
        )
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ids, of_row = distinct(given["qid"], "qid")
            inputs = Inputs(**{**given, "qid": None}, labels=labels, group=np.bincount(of_row))
            if (of_row[1:] < of_row[:-1]).any():
                inputs.checked()  # names rows by their places in the partition
                inputs = inputs.of_rows(np.argsort(of_row, kind="stable"))
            checked = inputs.checked()
            with_float32_labels(checked.queries)
    except ValueError as error:
        return str(error)
    texts = tuple(str(warning.message) for warning in caught)
    summary = Summary(checked.queries.n_queries, checked.table, texts)
    return Part(checked.X, checked.queries, ids, summary)


def _summary(part: Part | str) -> Summary | str:
    return part if isinstance(part, str) else part.summary


def _sum_and_count(part: Part, ranker: Any, metric: Metric) -> tuple[float, float]:
    if not part.queries.n_rows:
        return 0.0, 0.0
    return metric.sum_and_count(np.asarray(ranker.predict(part.X)), part.queries)


def _features(part: Part, _first: int) -> Any:
    return part.X


def _labels(part: Part, _first: int) -> NDArray[np.float64]:
    return part.queries.labels


def _of_ids(part: Part, function: Callable[..., Any], *arguments: Any) -> Any:
    return function(part.ids, *arguments)


def _refuse_unlike(parts: Parts) -> None:
    """Raise where partitions have other columns, or other categories, which would be other numbers."""
    (first, known), *others = parts.filled
    for number, summary in others:
        name = f"{parts.where}X in partition {number}"
        refuse_other_columns(summary.table, known.table, f"{name}, beside partition {first},")
        refuse_other_categories(summary.table, known.table, name, f"partition {first}; call X.categorize() first")
