"""`Metric`: what every ranking metric takes and returns, said once; parameter checks."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from operator import index
from sys import modules
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.checks import scores_of_rows
from boostplug.queries import Queries

__all__ = ["Metric", "check_cutoff", "check_empty"]

Floats = NDArray[np.float64]


class Metric(ABC):
    """A ranking metric: an immutable, hashable, picklable value.

    A subclass is a frozen dataclass of its parameters with one method, `compute`. What holds for all of them:

    - Documents are ranked by descending score. Scores are real numbers; ±∞ rank at the ends and tie among themselves;
      NaN is refused, since it has no rank.
    - A row that is not labelled is not judged: it keeps its rank and counts as non-relevant, of gain 0 (`trec_eval`'s
      convention). Metrics on pairs of grades and on rank correlation leave it out.
    - A query without rows has no value (NaN). The mean is over the queries that have one, weighted by
      `Queries.query_weight`; NaN where no query has one.

    Attributes
    ----------
    greater_is_better : bool
        False for errors.
    """

    greater_is_better: ClassVar[bool] = True

    @abstractmethod
    def compute(self, scores: Floats, queries: Queries) -> Floats:
        """Return the value of each query, NaN where undefined.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,), float64, read-only
            Checked: the right shape, contiguous, without NaN.
        queries : Queries

        Returns
        -------
        ndarray of shape (n_queries,), float64
            What it holds for queries without rows does not matter.
        """

    def per_query(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return the value of each query, NaN where the metric is undefined.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
            Real numbers, higher is better; float32 and read-only arrays are fine, and nothing is written to them.
        queries : Queries

        Returns
        -------
        ndarray of shape (n_queries,), float64

        Raises
        ------
        TypeError
            If `queries` is not a `Queries`.
        ValueError
            If a score is NaN or no real number, or their number is not the number of rows.
        """
        if not isinstance(queries, Queries):
            raise TypeError(
                f"queries must be a Queries, got {type(queries).__name__}; build one from the labels and their group "
                "or qid, or call the metric itself on a data set of LightGBM or XGBoost"
            )
        values = np.array(self.compute(scores_of_rows(scores, queries.n_rows, finite=False), queries), dtype=np.float64)
        if values.shape != (queries.n_queries,):
            raise ValueError(
                f"{type(self).__name__}.compute must return one value per query ({queries.n_queries}), got shape "
                f"{values.shape}"
            )
        values[np.diff(queries.boundaries) == 0] = np.nan
        return values

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the mean over queries, or what a framework expects of a metric.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        data : Queries or lightgbm.Dataset or xgboost.DMatrix

        Returns
        -------
        float or tuple
            With `Queries` the weighted mean of `per_query`; with a data set of LightGBM or XGBoost what ``feval`` or
            ``custom_metric`` return.
        """
        if not isinstance(data, Queries):
            from boostplug.plug import call as plug

            return plug.evaluate(self, scores, data)
        values = self.per_query(scores, data)
        defined = ~np.isnan(values)
        if data.query_weight is None:
            return float(values[defined].mean()) if defined.any() else np.nan
        weight = data.query_weight[defined]
        total = weight.sum()
        return float(weight @ values[defined] / total) if total > 0 else np.nan

    @property
    def name(self) -> str:
        """Short and unique: the class, ``@k``, and in parentheses what differs from the defaults."""
        name = type(self).__name__
        options = []
        parameters: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        for field in parameters:
            value = getattr(self, field.name)
            if field.name == "k":
                name += "" if value is None else f"@{value}"
            elif field.default is MISSING or value != field.default:
                options.append(_option(field.name, value))
        if options:
            name += f"({','.join(options)})"
        return "".join(name.split()).replace(":", "_")  # XGBoost splits its lines at both


def _option(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{name}={_callable_name(value) if callable(value) else value}"


def _callable_name(function: Callable[..., Any]) -> str:
    """Return ``module.name`` where that finds the function again, else a name made unique by its hash."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module and name and "<" not in name:
        found: Any = modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is function:
            return f"{module}.{name}"
    label = (name or type(function).__name__).rpartition(".")[2].strip("<>")
    return f"{label}-{hash(function) & 0xFFFFFFFFFFFFFFFF:x}"


def check_cutoff(k: Any, *, whole_list: bool = True) -> int | None:
    """Return the cut-off as an int, or None for the whole list where `whole_list` allows it."""
    if k is None and whole_list:
        return None
    remedy = ", or None for the whole list" if whole_list else ""
    try:
        cutoff = 0 if isinstance(k, (bool, np.bool_)) else index(k)
    except TypeError:
        cutoff = 0
    if cutoff < 1:
        raise ValueError(f"k must be an integer of at least 1{remedy}; got {k!r}")
    return cutoff


def check_empty(empty: Any) -> Any:
    """Return the value of a query without relevant documents: None, "skip", 0 or 1."""
    if empty is None or (isinstance(empty, str) and empty == "skip"):
        return empty
    if isinstance(empty, (int, float, np.number)) and not isinstance(empty, bool) and empty in {0, 1}:
        return int(empty)
    raise ValueError(f'empty must be "skip", 0, 1, or None for the default; got {empty!r}')
