"""Input of both rankers: features, labels, ids and weights of a fit, checked partition by partition."""

import threading
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from distributed import Future, get_client, wait
from numpy.typing import NDArray

from boostplug.core.checks import shown
from boostplug.dask.partitions import Ids, distinct, refuse_split_queries
from boostplug.data.inputs import Inputs
from boostplug.data.named_labels import check_label_name
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.data.tables import Table, refuse_other_categories, refuse_other_columns
from boostplug.estimators.inputs import with_float32_labels
from boostplug.losses import Loss
from boostplug.metrics import Metric

_SECONDS = 5.0  # between two looks at the workers
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


@dataclass(frozen=True)
class Parts:
    """A training or validation set on the cluster: for each partition with rows, its `Part` and its `Summary`.

    Attributes
    ----------
    client : distributed.Client
    futures : list of Future
        Of the `Part` of each partition.
    summaries : list of Summary
    queries : list of Future
        Of the `Queries` of each partition.
    where : str
        Start of the name of the set in messages: "eval_set[0]'s ".
    """

    client: Any
    futures: list[Any]
    where: str = ""
    summaries: list[Summary] = field(default_factory=list)
    queries: list[Any] = field(default_factory=list)

    @property
    def table(self) -> Table:
        """Rows, columns and their names, of all partitions."""
        return self.summaries[0].table._replace(n_rows=sum(summary.table.n_rows for summary in self.summaries))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return futures of a function of the `Part` of each partition, called where that lies."""
        holders = self.client.who_has(self.futures)  # on an idle worker it would copy the data
        return [
            self.client.submit(
                function, future, *arguments, workers=list(holders[future.key]) or None, allow_other_workers=True,
                pure=False,
            )
            for future in self.futures
        ]  # fmt: skip

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the results of `submit`."""
        results: list[Any] = self.client.gather(self.submit(function, *arguments))
        return results

    def blocks(self, function: Callable[[Part, int, int], Any], n_columns: int | None = None) -> Any:
        """Return a Dask array with one block per partition.

        Parameters
        ----------
        function : callable
            ``function(part, number, first)`` returns the block; `number` is the partition's, from 0, and `first` how
            many queries the partitions before it hold.
        n_columns : int, optional
            Default: the array has one dimension.
        """
        firsts = np.cumsum([0, *(summary.n_queries for summary in self.summaries)])
        shape = (np.nan,) if n_columns is None else (np.nan, n_columns)
        return da.concatenate(
            [
                da.from_delayed(delayed(function)(future, number, int(firsts[number])), shape, dtype=np.float64)
                for number, future in enumerate(self.futures)
            ],
            allow_unknown_chunksizes=True,
        )

    @property
    def features(self) -> Any:
        """Features, as blocks."""
        return self.blocks(lambda part, _number, _first: part.X, self.table.n_columns)

    @property
    def labels(self) -> Any:
        """Labels, as blocks."""
        return self.blocks(lambda part, _number, _first: part.queries.labels)

    def numbers(self, before: int = 0) -> Any:
        """Return the number that `queries_of_rows` reads for each row, as blocks; `before` partitions have others."""
        return self.blocks(lambda part, number, _first: np.full(part.queries.n_rows, before + number + 2, np.float32))

    def repeat_warnings(self) -> None:
        """Repeat each warning about a partition once, here at the driver."""
        for text in dict.fromkeys(text for summary in self.summaries for text in summary.warnings):
            warnings.warn(text, UserWarning, stacklevel=3)

    def sums_of(self, loss: Loss) -> NDArray[np.float64]:
        """Return the loss's `query_sums` at scores of 0; warn if no partition has a gradient there."""
        sums, faults = zip(*self.map(_sums_and_fault, loss), strict=True)
        if None not in faults:
            warnings.warn(
                f"{loss!r} has nothing to learn from: {faults[0]}; the model stays constant", UserWarning, stacklevel=3
            )
        total: NDArray[np.float64] = np.sum(sums, axis=0)
        return total

    def score(self, ranker: Any, metric: Metric) -> float:
        """Return a metric over all queries of the predictions of a ranker; NaN where it is defined on none."""
        total, count = np.sum(self.map(_sum_and_count, ranker, metric), axis=0)
        return float(total / count) if count else np.nan


@contextmanager
def published(sets: Sequence[Parts]) -> Iterator[str]:
    """Publish the queries of some sets on the cluster for the time of a training, and yield the name for workers."""
    client, name = sets[0].client, f"boostplug-{uuid.uuid4().hex}"
    client.publish_dataset([future for parts in sets for future in parts.queries], name=name)
    try:
        with client.as_current(), _cancelled_without_workers(sets[0]):  # the frameworks use the current client
            yield name
    finally:
        client.unpublish_dataset(name)


@contextmanager
def _cancelled_without_workers(parts: Parts) -> Iterator[None]:
    """Cancel a training when all of its workers have left the cluster: the frameworks would wait for them for ever."""
    client, over = parts.client, threading.Event()
    workers = {address for held in client.who_has(parts.futures).values() for address in held}
    before = {*client.futures}

    def watch() -> None:
        while not over.wait(_SECONDS):
            if workers.isdisjoint(client.nthreads()):
                client.cancel([Future(key, client) for key in {*client.futures} - before])

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def queries_of_rows(numbers: NDArray[Any], name: str) -> Queries:
    """Return the queries of a worker's rows, with all their fields in full precision, except the labels.

    The frameworks concatenate the partitions of a worker in an order of their own, and carry one number per row.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        Number of each row's partition, from 2: LightGBM drops weights that are all 1.
    name : str
        Name under which the queries of all partitions are `published`.
    """
    client = get_client()
    futures = client.get_dataset(name)
    found = numbers[np.flatnonzero(np.diff(numbers, prepend=0.0))]
    parts = client.gather([futures[int(number) - 2] for number in found])
    if not parts:
        return Queries([], group=[])
    weights = [np.ones(part.n_rows) if part.row_weight is None else part.row_weight for part in parts]
    queries = Queries(
        np.concatenate([part.labels for part in parts]),
        group=np.concatenate([np.diff(part.boundaries) for part in parts]),
        weight=np.concatenate(weights),
        labels_by_name={
            name: np.concatenate([part.labels_by_name[name] for part in parts]) for name in parts[0].labels_by_name
        },
        position=None if parts[0].position is None else np.concatenate([part.position for part in parts]),
    )
    return with_float32_labels(queries, warn=False)  # the driver warns


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
    pieces = {role: _pieces(values, local, titles[role]) for role, values in given.items()}
    of_labels = {name: _pieces(values, local, f"{where}labels[{name!r}]") for name, values in labels.items()}
    counts = {name: len(its) for name, its in (*pieces.items(), *of_labels.items())}
    if len({*counts.values()}) > 1:
        raise ValueError(
            f"{where}X and its labels must have the same partitions; got {counts}; take all from one frame, or "
            "repartition one as the other is"
        )
    # Columns of one frame share its tasks only while none of their graphs is optimised on its own.
    made = [
        delayed(_part)(
            f"in partition {k} of {where or 'the training set'}",
            {role: its[k] for role, its in pieces.items()},
            {name: its[k] for name, its in of_labels.items()},
        )
        for k in range(counts["X"])
    ]
    return _checked(Parts(client, client.compute(made), where), fitted)


def _checked(parts: Parts, fitted: Table | None) -> Parts:
    """Return the partitions that have rows, once they fit each other."""
    where = parts.where
    with parts.client.as_current():  # wait takes the current one
        wait(parts.futures)
    parts.client.gather([future for future in parts.futures if future.status == "error"])  # raises the first
    summaries = parts.map(lambda part: part.summary)
    refuse_split_queries(lambda function, *arguments: parts.map(lambda part: function(part.ids, *arguments)))
    filled = [number for number, summary in enumerate(summaries) if summary.table.n_rows]
    if not filled:
        raise ValueError(f"{where}X and its labels have no rows")
    _refuse_unlike({number: summaries[number].table for number in filled}, f"{where}X")
    parts = Parts(parts.client, [parts.futures[n] for n in filled], where, [summaries[n] for n in filled])
    parts.queries.extend(parts.submit(lambda part: part.queries))
    with parts.client.as_current():
        wait(parts.queries)  # a training occupies the workers that would compute them
    if fitted is not None:
        refuse_other_columns(parts.table, fitted, f"{where}X")
        refuse_other_categories(parts.table, fitted, f"{where}X", f"the training set; {_SET_CATEGORIES}")
    return parts


def checked_collection(value: Any, local: str, name: str = "X") -> Any:
    """Return a collection on a cluster, in blocks of whole rows; refuse what lies in memory."""
    if not isinstance(value, (dd.DataFrame, dd.Series, da.Array)):
        raise ValueError(
            f"{name} must be a Dask collection, got {shown(type(value).__name__)}; for data in memory use {local}, "
            "which trains on one machine, or dask.dataframe.from_pandas and dask.array.from_array"
        )
    return value.rechunk({1: -1}) if isinstance(value, da.Array) and value.ndim == 2 else value


def _pieces(value: Any, local: str, name: str) -> list[Any]:
    """Return the partitions of a collection as delayed values."""
    pieces = checked_collection(value, local, name).to_delayed(optimize_graph=False)
    return list(pieces.flat) if isinstance(pieces, np.ndarray) else list(pieces)


def _part(name: str, given: dict[str, Any], labels: dict[str, Any]) -> Part:
    """Return a partition, checked; its name is for errors."""
    n_rows = {role: np.shape(values)[0] for role, values in (*given.items(), *labels.items())}
    if len({*n_rows.values()}) > 1:
        raise ValueError(
            f"{name}: the numbers of rows differ, {n_rows}; take all from one frame, and call persist() on it after a "
            "shuffle"
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
        raise ValueError(f"{name}: {error}") from None
    texts = tuple(str(warning.message) for warning in caught)
    return Part(checked.X, checked.queries, ids, Summary(checked.queries.n_queries, checked.table, texts))


def _sum_and_count(part: Part, ranker: Any, metric: Metric) -> tuple[float, float]:
    return metric.sum_and_count(np.asarray(ranker.predict(part.X)), part.queries)


def _sums_and_fault(part: Part, loss: Loss) -> tuple[NDArray[np.float64], str | None]:
    """Return `query_sums` at scores of 0, and why the loss has no gradient there, None if it has one."""
    queries = with_float32_labels(part.queries, warn=False)
    start = np.zeros(queries.n_rows)
    sums = loss.query_sums(start, queries)
    if loss.gradient_hessian(start, queries)[0].any():
        return sums, None
    return sums, why_nothing_is_learnt(loss.reads(queries)) or "its gradient is 0 at scores of 0"


def _refuse_unlike(tables: Mapping[int, Table], name: str) -> None:
    """Raise where partitions have other columns, or other categories, which would be other numbers."""
    first, known = next(iter(tables.items()))
    for number, table in tables.items():
        refuse_other_columns(table, known, f"{name} in partition {number}, beside partition {first},")
        refuse_other_categories(
            table, known, f"{name} in partition {number}", f"partition {first}; call X.categorize() first"
        )
