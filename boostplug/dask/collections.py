"""Input of both rankers: features, labels, ids and weights of a fit, checked partition by partition."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from boostplug.data.tables import Table, refuse_other_categories, refuse_other_columns, rows_of, table_of
from boostplug.estimators.inputs import with_float32_labels
from boostplug.metrics import Metric

POSITION = "position of the row"
"""The name under which positions travel beside labels; no label can have it, because of its spaces."""

_SIZES = (
    "is not taken with collections: sizes say nothing of where partitions begin; pass {}qid, the query id of each row"
)
_PAIRS = (
    "on collections are not possible, because pairs number the rows of one table, and a worker does not know the rows "
    "of others; train on one machine, or build the pairs into grades"
)
_REASONS = {
    "group": _SIZES.format(""),
    "eval_group": _SIZES.format("eval_"),
    "pairs": _PAIRS,
    "eval_pairs": _PAIRS,
}
_SET_CATEGORIES = "give both the same with ddf[column].cat.set_categories(…)"


class Part(NamedTuple):
    """One partition of a training set, on the worker where it lies; the rows of a query stand together."""

    X: Any
    """A DataFrame, an array or a sparse matrix, without the column of ids."""
    queries: Queries
    """Labels and weights too."""
    ids: Ids
    """For each query, in the order of `queries`."""
    warnings: tuple[str, ...] = ()
    """Texts of warnings about the partition."""


class Summary(NamedTuple):
    """Summary of a partition that the driver holds."""

    n_rows: int = 0
    n_queries: int = 0
    table: Table = Table(0, 0, None)
    weighted: bool = False


@dataclass(frozen=True)
class Parts:
    """A training or validation set on the cluster: for each partition a future of its `Part`, and its `Summary`.

    Attributes
    ----------
    client : distributed.Client
    futures : list of Future
    summaries : list of Summary
    where : str
        Which set it is, for errors: "eval_set[0]'s ".
    """

    client: Any
    futures: list[Any]
    summaries: list[Summary]
    where: str = ""

    @property
    def n_rows(self) -> int:
        """Of all partitions."""
        return sum(summary.n_rows for summary in self.summaries)

    @property
    def table(self) -> Table:
        """Rows, columns and their names, of all partitions."""
        return self._filled()[0][1].table._replace(n_rows=self.n_rows)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self._filled()[0][1].weighted

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what a function says of the `Part` of each partition, called where that lies.

        Raises
        ------
        ValueError
            If the function has raised one, or a partition is wrong; the message names the partition.
        """
        holders = self.client.who_has(self.futures)  # on an idle worker it would copy the data
        answers: list[Any] = self.client.gather(
            [
                self.client.submit(
                    _answer,
                    future,
                    function,
                    *arguments,
                    workers=list(holders[future.key]) or None,
                    allow_other_workers=True,
                    pure=False,
                )
                for future in self.futures
            ]
        )
        wrong = [(number, answer) for number, answer in enumerate(answers) if isinstance(answer, str)]
        if wrong:
            number, fault = wrong[0]
            more = f" (and in {len(wrong) - 1} more partitions)" if len(wrong) > 1 else ""
            raise ValueError(f"in partition {number} of {self.where or 'the training set'}: {fault}{more}")
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
                for number, _ in self._filled()
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
        for text in dict.fromkeys(text for texts in self.ask(_warnings) for text in texts):
            warnings.warn(text, UserWarning, stacklevel=3)

    def score(self, ranker: Any, metric: Metric) -> float:
        """Return a metric over all queries of the predictions of a ranker; NaN where it is defined on none."""
        total, count = np.sum(self.ask(_sum_and_count, ranker, metric), axis=0)
        return float(total / count) if count else np.nan

    def _filled(self) -> list[tuple[int, Summary]]:
        return [(number, summary) for number, summary in enumerate(self.summaries) if summary.n_rows]


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
    labels = {f"labels[{check_label_name(name)!r}]": values for name, values in (inputs.labels or {}).items()}
    labels |= {} if inputs.position is None else {"position": inputs.position}
    X = check_features(inputs.X, local, f"{where}X")
    given = {"X": X, "y": inputs.y, "qid": inputs.qid, "sample_weight": inputs.weight, **labels}
    pieces = {
        name: _pieces(f"{where}{name}", value, local, len_=None if name == "X" else 1)
        for name, value in given.items()
        if not (name == "sample_weight" and value is None)
    }
    for name, its in pieces.items():
        if len(its) != len(pieces["X"]):
            raise ValueError(
                f"{where}{name} has {len(its)} partitions, X has {len(pieces['X'])}; take both from one frame, or "
                "repartition one as the other is"
            )
    # Columns of one frame share its tasks only while none of their graphs is optimised on its own.
    names = names_of_columns(inputs)
    made = [delayed(_part)(*row, names=tuple(pieces), labels=names) for row in zip(*pieces.values(), strict=True)]
    parts = Parts(client, client.compute(made), [], where)
    with client.as_current():  # wait asks the current one
        wait(parts.futures)
    parts.summaries.extend(parts.ask(_summary))
    if not parts.n_rows:
        raise ValueError(f"{where}X and its labels have no rows")
    _refuse_unlike(parts.summaries, where)
    if fitted is not None:
        refuse_other_columns(parts.table, fitted, f"{where}X")
        refuse_other_categories(parts.table, fitted, f"{where}X", f"the training set; {_SET_CATEGORIES}")
    refuse_split_queries(lambda function, *arguments: parts.ask(_of_ids, function, *arguments))
    return parts


def check_features(X: Any, local: str, name: str = "X") -> Any:
    """Return features on a cluster, in blocks of whole rows; refuse what lies in memory."""
    if isinstance(X, da.Array) and X.ndim == 2:
        return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if isinstance(X, dd.DataFrame):
        return X
    if isinstance(X, (da.Array, dd.Series)):
        raise ValueError(f"{name} must be a table, got {X.ndim} dimension(s); pass a dask DataFrame, or a 2-d array")
    raise _in_memory(name, X, local)


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


def _in_memory(name: str, value: Any, local: str) -> ValueError:
    return ValueError(
        f"{name} must be a Dask collection, got {shown(type(value).__name__)}; for data in memory use {local}, which "
        "trains on one machine, or dask.dataframe.from_pandas and dask.array.from_array"
    )


def _pieces(name: str, value: Any, local: str, len_: int | None) -> list[Any]:
    """Return the partitions of a collection as delayed values; `len_` is how many dimensions it must have."""
    if not isinstance(value, (dd.DataFrame, dd.Series, da.Array)):
        raise _in_memory(name, value, local)
    if len_ is not None and value.ndim != len_:
        raise ValueError(f"{name} must be one-dimensional, got {value.ndim} dimensions; pass one column of a frame")
    pieces = value.to_delayed(optimize_graph=False)
    return list(pieces.ravel()) if isinstance(value, da.Array) else list(pieces)


def _part(*columns: Any, names: tuple[str, ...], labels: tuple[str, ...]) -> Part | str:
    """Return a partition, or what is wrong with it: an error here would fill the worker's log."""
    given = dict(zip(names, columns, strict=True))
    n_rows = given["X"].shape[0]
    for name, values in given.items():
        if np.shape(values)[0] != n_rows:
            return (
                f"X has {n_rows} rows and {name} {np.shape(values)[0]}; take them from one frame, and call persist() "
                "on it after a shuffle"
            )
    by_name = dict(zip(labels, columns[len(names) - len(labels) :], strict=True))
    position = by_name.pop(POSITION, None)
    inputs = Inputs(
        X=given["X"],
        y=given["y"],
        group=[n_rows],
        weight=given.get("sample_weight"),
        labels=by_name or None,
        position=position,
    )
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            checked = inputs.checked()
            ids, of_row = distinct(given["qid"], "qid")
            part = _by_query(checked.X, checked.queries, ids, of_row)
            with_float32_labels(part.queries)
        return part._replace(warnings=tuple(str(warning.message) for warning in caught))
    except ValueError as error:
        return str(error)


def _by_query(X: Any, queries: Queries, ids: Ids, of_row: NDArray[np.int64]) -> Part:
    """Return a partition with the rows of each query together, in the order of the first of them."""
    order = np.argsort(of_row, kind="stable")
    if (of_row[1:] < of_row[:-1]).any():
        X = rows_of(X, order)
    optional = {"weight": queries.row_weight, "position": queries.position}
    ordered = queries.replaced(
        labels=queries.labels[order],
        group=np.bincount(of_row, minlength=len(ids.ids)),
        labels_by_name={name: values[order] for name, values in queries.labels_by_name.items()},
        **{name: None if values is None else values[order] for name, values in optional.items()},
    )
    return Part(X, ordered, ids)


def _answer(part: Part | str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function says of a partition, or what is wrong."""
    try:
        return part if isinstance(part, str) else function(part, *arguments)
    except ValueError as error:
        return str(error)


def _summary(part: Part) -> Summary:
    queries = part.queries
    return Summary(queries.n_rows, queries.n_queries, table_of(part.X), queries.row_weight is not None)


def _warnings(part: Part) -> tuple[str, ...]:
    return part.warnings


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


def _refuse_unlike(summaries: list[Summary], where: str) -> None:
    """Raise where partitions have other columns, or other categories, which would be other numbers."""
    filled = [(number, summary) for number, summary in enumerate(summaries) if summary.n_rows]
    first, known = filled[0]
    for number, summary in filled[1:]:
        refuse_other_columns(summary.table, known.table, f"{where}X in partition {number}, beside partition {first},")
        refuse_other_categories(
            summary.table,
            known.table,
            f"{where}X in partition {number}",
            f"partition {first}; call X.categorize() first",
        )
