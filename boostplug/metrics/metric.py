"""`Metric`: base class of the ranking metrics; `MetricOnLabel`: a metric that judges by one of several labels."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boostplug.adapters.reading import adapter_of, dataset_names, queries_of
from boostplug.adapters.workers import NO_QUERIES, in_step
from boostplug.core.arrays import Floats
from boostplug.core.checks import check_instance, check_order, scores_of_rows, shown
from boostplug.core.naming import read_value
from boostplug.core.threads import threads_of_framework
from boostplug.core.values import Range, Space, Value, declared_ranges, name_in_logs
from boostplug.data.named_labels import check_label_name
from boostplug.data.queries import Queries, as_labels

_ON_LABEL = re.compile(r"(.+)\.on\(['\"]?([^()'\"]+)['\"]?\)\s*")


class Metric(Value, ABC):
    """A ranking metric: an immutable, hashable, picklable value.

    ``metric.score(y, scores, qid=)`` takes plain arrays, ``metric(scores, queries)`` a `Queries` or a data set of a
    framework. ``metric.per_query(scores, queries)`` returns the value of each query. A subclass is a frozen dataclass
    of its parameters with one method, `compute_per_query`. What holds for all of them:

    - Documents are ranked by descending score. Scores are real numbers. ±∞ rank at the ends and tie among themselves.
      NaN is refused, since it has no rank.
    - A row that is not labelled is not judged. It keeps its rank and counts as non-relevant, of gain 0 (`trec_eval`'s
      convention). `Bpref` and metrics on pairs of grades and on rank correlation leave it out.
    - A query without rows has no value (NaN). The mean is over the queries that have one, weighted by
      `Queries.query_weight`; NaN where no query has one.

    Parameters that several metrics have, with one meaning:

    - ``k``: the cut-off, documents below it count for nothing; None for the whole list.
    - ``relevant``: documents of at least this grade are relevant (MSLR's script: 2).
    - ``ties``, of documents with equal scores. "average": the expected value over a random order of them, exact and in
      closed form (McSherry & Najork, "Computing information retrieval performance measures efficiently in the presence
      of tied scores", ECIR 2008), as scikit-learn has it. "order": they stay in file order, as in the scripts of LETOR
      and MSLR (where the file's order leaks relevance, a constant score then looks good).
    - ``empty``, the value of a query without relevant documents: "skip", left out of the mean (NaN in `per_query`); 0,
      as in the scripts of LETOR and MSLR, `trec_eval` and ir-measures; 1; or "unweighted", 1 without the weight of the
      query, as ``ndcg@k`` in the logs of LightGBM and XGBoost (without weights the same as 1). None is "skip", but 0
      under LETOR's convention.

    Attributes
    ----------
    greater_is_better : bool
        False for errors.
    couples_queries : bool
        Whether queries count together in the metric's value, so that it is no ratio of `sum_and_count`.
    has_per_query : bool
        False where there is no value of a single query, as of `ECE`.
    """

    greater_is_better: ClassVar[bool] = True
    couples_queries: ClassVar[bool] = False
    has_per_query: ClassVar[bool] = True
    registry: ClassVar[Mapping[str, type["Metric"]]] = {}  # what `parse` knows; boostplug.metrics fills it

    @abstractmethod
    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
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
        checked = scores_of_rows(scores, queries.n_rows, finite=False)
        values = np.array(self.compute_per_query(checked, queries), dtype=np.float64)
        if values.shape != (queries.n_queries,):
            raise ValueError(
                f"{type(self).__name__}.compute_per_query must return one value per query ({queries.n_queries}), got "
                f"shape {values.shape}"
            )
        values[queries.group == 0] = np.nan
        return values

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return two sums over the queries, whose ratio is the metric: of several parts of the data, add both up.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries

        Returns
        -------
        total, count : float
            The values of the queries that have one, times their weights; and these weights.

        Raises
        ------
        TypeError
            If the metric is no such ratio (`couples_queries`).
        """
        if self.couples_queries:
            raise TypeError(
                f"{self.name} counts queries together, so it is not a ratio of sums over queries; call the metric on "
                "all queries at once"
            )
        values = self.per_query(scores, queries)
        defined = ~np.isnan(values)
        if queries.query_weight is None:
            return float(values[defined].sum()), float(defined.sum())
        weight = queries.query_weight[defined]
        return float(weight @ values[defined]), float(weight.sum())

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the mean over queries, or what a framework expects of a metric.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        data : Queries or lightgbm.Dataset or xgboost.DMatrix

        Returns
        -------
        float or tuple
            With `Queries` the weighted mean of `per_query`. With a data set of LightGBM or XGBoost what ``feval`` or
            ``custom_metric`` return.
        """
        if not isinstance(data, Queries):
            return self._on_dataset(scores, data)
        total, count = self.sum_and_count(scores, data)
        return total / count if count > 0 else np.nan

    def _on_dataset(self, scores: Any, dataset: Any) -> tuple[Any, ...]:
        """Return the metric on a framework's dataset in that framework's form."""
        adapter = adapter_of(dataset)
        if adapter is None:
            raise TypeError(
                f"{self.name} got {type(dataset).__name__} as its second argument; it takes (scores, Queries), or "
                f"(scores, {dataset_names()}) as feval of lgb.train or custom_metric of xgb.train. "
                "For a scikit-learn ranker pass it as eval_metric to boostplug.LGBMRanker or boostplug.XGBRanker"
            )
        workers = None if adapter.workers is None else adapter.workers()
        with in_step(workers, 3) as exchange, threads_of_framework(adapter.threads(dataset)):
            queries = queries_of(adapter, dataset)
            scores = scores if queries.n_rows else np.empty(0)
            if workers is None:
                value = float(self(scores, queries))
            else:
                own = (*self.sum_and_count(scores, queries), queries.n_queries)
                total, count, n_queries = exchange.sum(np.array(own))
                if not n_queries:
                    raise ValueError(NO_QUERIES)
                value = float(total / count) if count > 0 else np.nan
        if np.isnan(value):
            raise ValueError(
                f"{self.name} is undefined on every query of a validation set (no relevant document anywhere); "
                "check its labels, or choose the value of such a query with the metric's parameter empty"
            )
        return adapter.metric_result(self.name, value, self.greater_is_better)

    def score(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        labelled: ArrayLike | None = None,
    ) -> float:
        """Return the mean over queries of plain arrays: the grades first, as in scikit-learn's metrics.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Grades: finite real numbers, higher is better.
        scores : array-like of shape (n_rows,)
            Real numbers, higher is better.
        qid : array-like of shape (n_rows,), optional
            Query id of each row (numbers or strings). The rows of a query stand together. Exactly one of `qid` and
            `group` is given; for a single list, ``group=[len(y)]``.
        group : array-like of shape (n_queries,), optional
            Sizes of the queries in row order.
        weight : array-like of shape (n_queries,) or (n_rows,), optional
            As `Queries` takes it: the mean is weighted by query, by the mean weight of its rows.
        labelled : array-like of bool of shape (n_rows,), optional
            False for rows that are not judged, where `y` may be NaN.

        Returns
        -------
        float
            The weighted mean of `per_query`; NaN where no query has a value.

        Raises
        ------
        ValueError
            If an argument has the wrong shape or an impossible value: a grade that is not finite, a NaN score, rows of
            a query that do not stand together. The message names argument, value and remedy.

        Notes
        -----
        Of several metrics of the same data, build `Queries` once and call them on it: ``metric(scores, queries)``.

        Examples
        --------
        >>> from boostplug import NDCG
        >>> round(NDCG(10).score([2, 0, 1, 0, 1], [0.3, 0.9, 0.1, 0.2, 0.7], qid=["a", "a", "a", "b", "b"]), 4)
        0.8295
        """
        check_order(y=y, scores=scores, qid=qid, weight=weight, labelled=labelled)
        # Queries calls them labels, so its messages would name an argument that does not exist here.
        grades = as_labels("y", y, labelled)
        queries = Queries(grades, group=group, qid=qid, weight=weight, labelled=labelled)
        return float(self(scores, queries))

    def on(self, label: str) -> "Metric":
        """Return the metric on one of several labels: it reads `Queries.labels_by_name`, in place of the labels `y`.

        Parameters
        ----------
        label : str
            As `set_labels`, ``Queries(labels_by_name=…)`` and ``fit(labels=…)`` name it.

        Raises
        ------
        ValueError
            If the metric reads another label already, or the name holds spaces or signs that logs do not take.
        """
        return MetricOnLabel(self, label)

    def with_own_labels(self, queries: Queries) -> Queries:
        """Return the queries with the labels that the metric reads: these, unless it is bound to others (`on`)."""
        return queries

    @property
    def name(self) -> str:
        """Short and unique: the class, ``@k``, and in parentheses what differs from the defaults.

        `parse` reads the names without parentheses.
        """
        return name_in_logs(self)

    @property
    def search_space(self) -> Space:
        """The cut-off where there is one, for losses that learn from a metric, and what `search_ranges` says.

        What a metric judges is not searched.
        """
        cut_off = {} if self.parameters(deep=False).get("k") is None else {"k": Range(1, 20, log=True)}
        return cut_off | declared_ranges(self)

    @classmethod
    def parse(cls, text: "str | Metric") -> "Metric":
        """Return the metric of a name such as "NDCG@10", "NDCG(2, convention='letor')" or "MAP(relevant=2)".

        A name without ``@k`` has the class's default cut-off. "NDCG@10.on(sale)" is a metric on one of several labels.
        A `Metric` is returned as it is.

        Raises
        ------
        ValueError
            If there is no such metric; the message lists those that are.
        """
        if isinstance(text, Metric):
            return text
        if isinstance(text, type):
            raise ValueError(f"a metric is the class {text.__name__}; pass {text.__name__}()")
        if not isinstance(text, str):
            raise ValueError(f"a metric is a Metric, or its name such as 'NDCG@10'; got {shown(text)}")
        if (on_label := _ON_LABEL.fullmatch(text)) is not None:
            return cls.parse(on_label[1]).on(on_label[2])
        known = {name.lower(): kind for name, kind in cls.registry.items()}
        metric = read_value(text, known, "metric", f"{', '.join(cls.registry)} (with a cut-off: NDCG@10)")
        if not isinstance(metric, Metric):
            raise ValueError(f"{shown(text)} is not a metric; there are: {', '.join(cls.registry)}")
        return metric


@dataclass(frozen=True, repr=False)
class MetricOnLabel(Metric):
    """A metric whose labels are those of one name, in place of the data's `y`; `Metric.on` makes it.

    Its values are the metric's on data whose labels are these. A row without such a label (NaN) is not judged.

    Parameters
    ----------
    metric : Metric
    label : str
        A name in `Queries.labels_by_name`.
    """

    metric: Metric
    label: str

    def __post_init__(self) -> None:
        check_instance("MetricOnLabel: metric", self.metric, Metric, "NDCG(10)")
        if isinstance(self.metric, MetricOnLabel):
            raise ValueError(f"{self.metric!r} reads the label {self.metric.label!r} already; bind the metric in it")
        check_label_name(self.label)
        for attribute in ("greater_is_better", "couples_queries", "has_per_query"):
            object.__setattr__(self, attribute, getattr(self.metric, attribute))

    def __repr__(self) -> str:
        return f"{self.metric!r}.on({self.label!r})"

    @property
    def name(self) -> str:
        """The metric's, and its label: "NDCG@10.on(sale)"."""
        return f"{self.metric.name}.on({self.label})"

    def with_own_labels(self, queries: Queries) -> Queries:
        """Return the queries with the label of that name."""
        return queries.on(self.label)

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the metric's."""
        return self.metric.compute_per_query(scores, self.with_own_labels(queries))

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the metric's."""
        return self.metric.sum_and_count(scores, self.with_own_labels(queries))

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the metric's, or what a framework expects of one."""
        return (
            self.metric(scores, self.with_own_labels(data))
            if isinstance(data, Queries)
            else super().__call__(scores, data)
        )
