"""Input of both rankers: features, labels, ids and weights of a fit, checked partition by partition."""

import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from distributed import get_client, wait
from numpy.typing import NDArray

from boostplug.core.checks import shown
from boostplug.core.warning import warn_user
from boostplug.dask.partitions import check_whole_queries, ids_and_places
from boostplug.data.inputs import LABEL, CheckedInputs, Inputs
from boostplug.data.named_labels import check_label_name
from boostplug.data.queries import Queries, row_weights, why_nothing_is_learnt
from boostplug.data.tables import Schema, check_same_categories, check_same_columns
from boostplug.estimators.inputs import with_float32_labels
from boostplug.losses import Loss
from boostplug.metrics import Metric

_SET_CATEGORIES = "call X.categorize(), or give all the same with ddf[column].cat.set_categories(…)"


class Summary(NamedTuple):
    """What the driver holds of a partition."""

    ids: NDArray[Any]
    """Of the queries, in the order of the rows."""
    n_rows: int
    schema: Schema
    warnings: tuple[str, ...]
    """Texts of warnings about the partition."""


@dataclass(frozen=True)
class PartitionedSet:
    """A training or validation set on the cluster, without the partitions that have no rows.

    Attributes
    ----------
    client : distributed.Client
    futures : list of Future
        Of the `CheckedInputs` of each partition, on the worker where it lies; the rows of a query stand together.
    summaries : list of Summary
        Of each partition.
    where : str
        Start of the name of the set in messages: "eval_set[0]'s ".
    """

    client: Any
    futures: list[Any]
    summaries: list[Summary]
    where: str

    @property
    def schema(self) -> Schema:
        """Schema of the features of each partition."""
        return self.summaries[0].schema

    def submit(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return futures of a function of each partition, called where that lies."""
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

    def blocks(self, function: Callable[[CheckedInputs, int, int], Any], n_columns: int | None = None) -> Any:
        """Return a Dask array with one block per partition.

        Parameters
        ----------
        function : callable
            ``function(part, number, first)`` returns the block; `number` is the partition's, from 0, and `first` how
            many queries the partitions before it hold.
        n_columns : int, optional
            Default: the array has one dimension.
        """
        firsts = np.cumsum([0, *(len(summary.ids) for summary in self.summaries)]).tolist()
        shape = (np.nan,) if n_columns is None else (np.nan, n_columns)
        blocks = [delayed(function)(future, number, firsts[number]) for number, future in enumerate(self.futures)]
        return da.concatenate(
            [da.from_delayed(block, shape, dtype=np.float64) for block in blocks], allow_unknown_chunksizes=True
        )

    @property
    def features(self) -> Any:
        """Features, as blocks."""
        return self.blocks(lambda part, _number, _first: part.X, self.schema.n_columns)

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
            warn_user(text)

    def sums_of(self, loss: Loss) -> NDArray[np.float64]:
        """Return the loss's `totals` at scores of 0; warn if it, or a part of it, learns from no partition."""
        sums, faults = zip(*self.map(_sums_and_fault, loss), strict=True)
        if None not in faults:
            warn_user(min(faults, key=lambda fault: fault.endswith("constant")))
        total: NDArray[np.float64] = np.sum(sums, axis=0)
        return total

    def score(self, ranker: Any, metric: Metric) -> float:
        """Return a metric over all queries of the predictions of a ranker; NaN where it is defined on none."""
        total, count = np.sum(self.map(_sum_and_count, ranker, metric), axis=0)
        return float(total / count) if count else np.nan


@contextmanager
def published(sets: Sequence[PartitionedSet]) -> Iterator[str]:
    """Publish the queries of some sets on the cluster for the time of a training, and yield the name for workers."""
    client, name = sets[0].client, f"boostplug-{uuid.uuid4().hex}"
    queries = [future for one in sets for future in one.submit(lambda part: part.queries)]
    with client.as_current():  # which the frameworks use
        wait(queries)  # a training occupies the workers that would compute them
        client.publish_dataset(queries, name=name)
        try:
            yield name
        finally:
            client.unpublish_dataset(name)


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
    queries = Queries(
        np.concatenate([part.labels for part in parts]),
        group=np.concatenate([part.group for part in parts]),
        weight=np.concatenate([row_weights(part) for part in parts]),
        labels_by_name={
            name: np.concatenate([part.labels_by_name[name] for part in parts]) for name in parts[0].labels_by_name
        },
        position=None if parts[0].position is None else np.concatenate([part.position for part in parts]),
    )
    return with_float32_labels(queries, warn=False)  # the driver warns


def partitioned_set(
    client: Any, inputs: Inputs, *, local: str, fitted: Schema | None = None, other: str = "the training set"
) -> PartitionedSet:
    """Return a set on the cluster, its labels, queries, weights and columns checked.

    Each partition is checked as a set on one machine would be, where it lies; the driver sees summaries. Queries that
    lie in several partitions are refused.

    Parameters
    ----------
    client : distributed.Client
    inputs : Inputs
        Of Dask collections, after `Inputs.take_columns`. All have the same partitions, with the same numbers of rows.
    local : str
        Which ranker takes data in memory, for errors.
    fitted : Schema, optional
        Schema that the columns must match.
    other : str, default "the training set"
        What has the schema `fitted`, for errors.

    Raises
    ------
    ValueError
        If the collections do not fit each other, a query is split, or what they hold is wrong; the message names the
        partition, and rows by their places in it.
    """
    where = inputs.where
    given = {role: getattr(inputs, role) for role in ("X", "y", "qid", "weight", "position")}
    given |= {LABEL + check_label_name(name): values for name, values in (inputs.labels or {}).items()}
    pieces = {
        role: _pieces(values, local, f"{where}{inputs.argument(role)}")
        for role, values in given.items()
        if values is not None or role in ("X", "y")
    }
    counts = {role: len(its) for role, its in pieces.items()}
    if len({*counts.values()}) > 1:
        raise ValueError(
            f"{where}X and its labels must have the same partitions; got {counts}; take all from one frame, or "
            "repartition one as the other is"
        )
    # Columns of one frame share its tasks only while none of their graphs is optimised on its own.
    partitions = [
        delayed(_partition, nout=2)(
            f"in partition {k} of {where or 'the training set'}", dict(zip(pieces, one, strict=True))
        )
        for k, one in enumerate(zip(*pieces.values(), strict=True))
    ]
    futures = client.compute([part for two in partitions for part in two])
    with client.as_current():  # wait takes the current one
        wait(futures)
    if failed := next((future for future in futures if future.status == "error"), None):
        failed.result()  # raises
    summaries = client.gather(futures[1::2])
    check_whole_queries([summary.ids for summary in summaries])
    filled = [number for number, summary in enumerate(summaries) if summary.n_rows]
    if not filled:
        raise ValueError(f"{where}X and its labels have no rows")
    if fitted is None:
        fitted, other = summaries[filled[0]].schema, f"partition {filled[0]}"
    for number in filled:
        name = f"{where}X in partition {number}"
        check_same_columns(summaries[number].schema, fitted, name)
        check_same_categories(summaries[number].schema, fitted, name, f"{other}; {_SET_CATEGORIES}")
    return PartitionedSet(client, [futures[2 * n] for n in filled], [summaries[n] for n in filled], where)


def check_collection(value: Any, local: str, name: str = "X") -> Any:
    """Return a collection on a cluster, in blocks of whole rows; refuse what lies in memory."""
    if not isinstance(value, (dd.DataFrame, dd.Series, da.Array)):
        raise ValueError(
            f"{name} must be a Dask collection, got {shown(type(value).__name__)}; for data in memory use {local}, "
            "which trains on one machine, or dask.dataframe.from_pandas and dask.array.from_array"
        )
    return value.rechunk({1: -1}) if isinstance(value, da.Array) and value.ndim == 2 else value


def _pieces(value: Any, local: str, name: str) -> list[Any]:
    """Return the partitions of a collection as delayed values."""
    pieces = check_collection(value, local, name).to_delayed(optimize_graph=False)
    return list(pieces.flat) if isinstance(pieces, np.ndarray) else list(pieces)


def _partition(name: str, given: dict[str, Any]) -> tuple[CheckedInputs, Summary]:
    """Return a partition, checked, and its summary; its name is for errors."""
    n_rows = {role: np.shape(values)[0] for role, values in given.items()}
    if len({*n_rows.values()}) > 1:
        raise ValueError(
            f"{name}: the numbers of rows differ, {n_rows}; take all from one frame, and call persist() on it after a "
            "shuffle"
        )
    labels = {role.removeprefix(LABEL): given.pop(role) for role in [*given] if role.startswith(LABEL)}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ids, of_row = ids_and_places(given.pop("qid"), "qid")
            inputs = Inputs(**given, labels=labels, group=np.bincount(of_row))
            if (of_row[1:] < of_row[:-1]).any():
                inputs.check()  # names rows by their places in the partition
                inputs = inputs.of_rows(np.argsort(of_row, kind="stable"))
            checked = inputs.check()
            with_float32_labels(checked.queries)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    texts = tuple(str(warning.message) for warning in caught)
    return checked, Summary(ids, checked.queries.n_rows, checked.schema, texts)


def _sum_and_count(part: CheckedInputs, ranker: Any, metric: Metric) -> tuple[float, float]:
    return metric.sum_and_count(np.asarray(ranker.predict(part.X)), part.queries)


def _sums_and_fault(part: CheckedInputs, loss: Loss) -> tuple[NDArray[np.float64], str | None]:
    """Return `totals` at scores of 0, and the warning where the loss, or a part of it, has no gradient there."""
    queries = with_float32_labels(part.queries, warn=False)
    start = np.zeros(queries.n_rows)
    sums = loss.totals(start, queries)
    if loss.gradient_hessian(start, queries)[0].any():
        return sums, loss.fault_of_order(queries)
    cause = why_nothing_is_learnt(loss.with_own_labels(queries)) or "its gradient is 0 at scores of 0"
    return sums, f"{loss!r} has nothing to learn from: {cause}; the model stays constant"
