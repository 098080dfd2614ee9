"""`make_scorer`: ranking metrics as scorers of scikit-learn's GridSearchCV and cross_validate."""

from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRequest

from boostplug.core.checks import check_instance, check_order, column_names
from boostplug.data.boundaries import are_contiguous
from boostplug.data.inputs import FIT, Inputs, columns_to_judge
from boostplug.data.queries import Queries
from boostplug.metrics import Metric
from boostplug.selection.cut_queries import QuerySizes, TrainingSummary, query_sizes, warn_of_cut_queries


class RankingScorer(BaseEstimator):
    """A scorer that needs to know the queries: ``scorer(estimator, X, y, qid=…)``.

    It requests `qid` by metadata routing by itself. (scikit-learn's own scorers have no public base class, so this one
    is a `BaseEstimator`, for cloning, with its own request.)

    Parameters
    ----------
    metric : Metric
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def __call__(
        self, estimator: Any, X: Any, y: Any, *, qid: Any = None, group: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the metric of the estimator's predictions. Greater is better, so errors come with a minus.

        Parameters
        ----------
        estimator : object with ``predict``
        X : array-like of shape (n_rows, n_features)
            Given to ``estimator.predict`` as it is. A DataFrame may hold the ids as column ``qid``, or as the column
            that the estimator's `fit` was given by name. So it is with labels and weights.
        y : array-like of shape (n_rows,)
            Grades.
        qid, group : array-like or str, optional
            Query id of each row or their column, or sizes of the queries; at most one of them, and none with a ``qid``
            column.
        sample_weight : array-like of shape (n_rows,) or (n_queries,), optional
            Weights of rows or queries.

        Returns
        -------
        float

        Warns
        -----
        UserWarning
            If a ranker of ours was fitted on other rows of the queries, as where a fold has cut them. If a transformer
            has changed the ids before its fit.

        Raises
        ------
        ValueError
            If the queries are not known, or are given twice.
        """
        ranker = _ranker_in(estimator)
        fitted = getattr(ranker, "training_summary_", TrainingSummary())
        if qid is None and group is None and not {"qid", fitted.columns["qid"]}.intersection(column_names(X)):
            raise ValueError(
                f"{self.metric.name} needs the query of each row. In GridSearchCV and cross_validate, either let X be "
                "a DataFrame with a column of ids, qid or what fit was given as qid='column', or call "
                "sklearn.set_config(enable_metadata_routing=True) and pass params={'qid': qid} (GridSearchCV.fit takes "
                "qid=qid). A direct call takes qid= or group="
            )
        given = Inputs(
            X=X, y=y, qid=qid, group=group, weight=sample_weight, arguments=FIT, **columns_to_judge(fitted.columns)
        )
        queries = self._queries(given.take_columns(), fitted.sizes)
        value = float(self.metric(estimator.predict(X), queries))
        return value if self.metric.greater_is_better else -value

    def _queries(self, given: Inputs, fitted: QuerySizes | None) -> Queries:
        """Return labels, queries and weights. Warn where a ranker was `fitted` on other rows of the queries.

        scikit-learn's `permutation_importance` permutes the column of ids too, in which rows of a query no longer stand
        together. The ids are then those of the call before, with the same labels: no feature, no importance.
        """
        check_order(X=given.X, y=given.y, qid=given.qid, sample_weight=given.weight)
        y = given.labels_of_rows()
        labels = y.tobytes()
        group = given.group
        last, sizes = self.__dict__.get("_last", (b"", None))
        if group is None and last == labels and not are_contiguous(given.qid):
            given, group = replace(given, qid=None), sizes
        queries = Queries(y, qid=given.qid, group=group, weight=given.weight, labels_by_name=given.labels)
        self._last = labels, queries.group
        warn_of_cut_queries(fitted, query_sizes(given.X, given.qid, queries.boundaries))
        return queries

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Say what metadata routing brings to the scorer.

        Parameters
        ----------
        **requests : bool, str or None
            For `qid` (True at first) and `sample_weight` (None at first). True requests it, and False ignores it. None
            makes it an error to pass it. A string requests what is passed under that name.

        Returns
        -------
        RankingScorer
            The scorer itself.

        Raises
        ------
        RuntimeError
            If metadata routing is not enabled.
        TypeError
            If something else is requested.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "set_score_request has no effect while metadata routing is off; call "
                "sklearn.set_config(enable_metadata_routing=True) first"
            )
        if unknown := requests.keys() - {"qid", "sample_weight"}:
            raise TypeError(f"the scorer can request qid and sample_weight, not {', '.join(sorted(unknown))}")
        routing = self.get_metadata_routing()
        for name, alias in requests.items():
            routing.score.add_request(param=name, alias=alias)
        self._metadata_request = routing  # where scikit-learn's clone looks for it
        return self

    def get_metadata_routing(self) -> Any:
        """Return a copy of what the scorer requests."""
        if hasattr(self, "_metadata_request"):
            return deepcopy(self._metadata_request)
        routing = MetadataRequest(owner=type(self).__name__)
        routing.score.add_request(param="qid", alias=True)
        routing.score.add_request(param="sample_weight", alias=None)
        return routing

    def __repr__(self) -> str:
        return f"make_scorer({self.metric!r})"

    def _accept_sample_weight(self) -> bool:
        """Say that weights are taken: scikit-learn asks its own scorers this where routing is off."""
        return True


def _ranker_in(estimator: Any) -> Any:
    """Return the last estimator within a pipeline, a search or a selection of features, else the estimator."""
    names = ("best_estimator_", "estimator_", "steps")
    inner = next((vars(estimator)[name] for name in names if name in vars(estimator)), None)
    if inner is None:
        return estimator
    return _ranker_in(inner[-1][1] if isinstance(inner, list) else inner)


def make_scorer(metric: Metric) -> RankingScorer:
    """Return a scorer of `metric` for GridSearchCV, cross_validate and whatever else takes ``scoring=``.

    The scorer finds the queries in one of these:

    - metadata routing (``sklearn.set_config(enable_metadata_routing=True)``): the scorer requests `qid`, so
      ``cross_validate(…, params={"qid": qid})`` and ``GridSearchCV(…).fit(X, y, qid=qid)`` bring it. An estimator
      whose ``fit`` takes a `qid` requests it with ``set_fit_request(qid=True)``;
    - a column ``qid`` of a DataFrame X, as XGBoost has it, or the column that `fit` was given by name:
      ``GridSearchCV(…).fit(X, y, qid="query_id")``. The estimator gets the column too.

    Folds must not split a query: ``cv=bp.group_folds(qid, 5)``. The scorer warns where it sees that one did. Greater is
    better: the value of an error such as `LogLoss` comes with a minus.

    Parameters
    ----------
    metric : Metric

    Returns
    -------
    RankingScorer
        ``scorer(estimator, X, y, *, qid=None, group=None, sample_weight=None)``; picklable, cloneable.

    Raises
    ------
    ValueError
        If `metric` is not a `Metric`.

    Examples
    --------
    >>> from boostplug.metrics import NDCG
    >>> make_scorer(NDCG(5))
    make_scorer(NDCG(k=5, convention='standard', gain='exp2', ties='average', empty=None))
    """
    return RankingScorer(check_instance("metric", metric, Metric, "NDCG(10)"))
