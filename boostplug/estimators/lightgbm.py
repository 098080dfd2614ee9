"""LightGBM: reading its Dataset, and an `LGBMRanker` that takes our losses and metrics."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostplug.estimators.inputs import (
    checked,
    evaluation_sets,
    has_labels,
    loss_of,
    metrics_of,
    ranking_score,
    refuse_unused_pairs,
    without_qid,
)
from boostplug.losses import Loss
from boostplug.metrics import NDCG, Metric
from boostplug.pairs import Pairs
from boostplug.plug import call as plug
from boostplug.plug.call import Fields
from boostplug.queries import Queries

try:
    import lightgbm as lgb
except ImportError as error:
    raise ImportError("boostplug.LGBMRanker needs LightGBM: pip install 'boostplug[lightgbm]'") from error

__all__ = ["LGBMRanker"]

_INFINITY = np.float32(1e38)  # what LightGBM makes of an infinite label or weight
_ALIASES = {
    "objective": {"objective", "objective_type", "app", "application", "loss"},
    "metric": {"metric", "metrics", "metric_types"},
    "bagging_by_query": {"bagging_by_query"},
    "num_threads": {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"},
    "boosting": {"boosting", "boosting_type", "boost"},
    "bagging_fraction": {"bagging_fraction", "sub_row", "subsample", "bagging"},
    "bagging_freq": {"bagging_freq", "subsample_freq"},
}


def _parameter(dataset: Any, name: str) -> Any:
    """Return a training parameter under any of its aliases, or None.

    The Booster that is calling us knows all of them; the Dataset knows those it was constructed with, which may be of
    an earlier training: it is asked only where no Booster is calling. Of several aliases LightGBM takes the parameter's
    own name, then the shortest.
    """
    booster = calling_booster()
    params = (getattr(dataset, "params", None) if booster is None else booster.params) or {}
    for alias in sorted(_ALIASES[name], key=lambda a: (a != name, len(a), a)):
        if params.get(alias) is not None:
            return params[alias]
    return None


def calling_booster() -> Any:
    """Return the Booster that is calling us, or None: LightGBM hands an objective only the Dataset, or only arrays."""
    frame = inspect.currentframe()
    for _ in range(12):
        frame = frame.f_back if frame is not None else None
        if frame is None:
            return None
        caller = frame.f_locals.get("self")
        if isinstance(caller, lgb.Booster):
            return caller
    return None


def _is_true(value: Any) -> bool:
    return value is True or str(value).lower() in {"true", "1", "+"}


def read(dataset: Any, *, labels_required: bool = True) -> Fields:
    """Return labels, group sizes and row weights of a constructed `lgb.Dataset`.

    They are read from the core: the Python side's copies go stale after ``set_field``.
    """
    boundaries = dataset.get_field("group")
    if boundaries is None or len(boundaries) < 2:
        raise ValueError(
            "the lgb.Dataset has no group; pass group=sizes of the queries (rows of a query together) to lgb.Dataset"
        )
    labels = dataset.get_field("label")
    if labels is None and not labels_required:
        labels = np.zeros(0)
    if labels is None:
        raise ValueError("the lgb.Dataset has no label; pass label=grades to lgb.Dataset")
    weight = dataset.get_field("weight")
    refuse_infinite(labels, weight)
    _refuse_partial_queries(dataset)
    return Fields(labels=labels, group=np.diff(boundaries), weight=weight)


def refuse_infinite(labels: Any, weight: Any) -> None:
    """Raise for labels and weights that were infinite before LightGBM cut them to 1e38."""
    for name, values in (("label", labels), ("weight", weight)):
        if values is not None and (np.abs(values) >= _INFINITY).any():
            row = int(np.argmax(np.abs(values) >= _INFINITY))
            raise ValueError(f"{name}[{row}] = {values[row]} is infinite to LightGBM; pass finite numbers below 1e38")


def _refuse_partial_queries(dataset: Any) -> None:
    """Raise if the dataset is a subset that cuts a query in two."""
    used, whole = dataset.used_indices, dataset.reference
    if used is None or whole is None:
        return
    boundaries = whole.get_field("group")  # not get_group(), which goes stale
    if boundaries is None or len(boundaries) < 2:
        return
    sizes = np.diff(boundaries)
    kept = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[np.asarray(used)], minlength=len(sizes))
    cut = np.flatnonzero((kept > 0) & (kept < sizes))
    if len(cut):
        q = cut[0]
        raise ValueError(
            f"the subset cuts {len(cut)} queries in two (query {q}: {kept[q]} of {sizes[q]} rows); for lgb.cv pass "
            "folds=boostplug.group_folds(queries, n_splits), for Dataset.subset the rows of whole queries"
        )


def follow_pairs(dataset: Any) -> None:
    """Nothing to do: a subset finds its whole by itself."""


def inherited_preferences(dataset: Any) -> plug.Preferences | None:
    """Return what is left in a subset of the pairs of the whole Dataset."""
    used, whole = dataset.used_indices, dataset.reference
    if used is None or whole is None:
        return None
    preferences = plug.preferences_of(whole)
    return None if preferences is None else preferences.of_rows(np.asarray(used), whole.num_data())


def threads_of(dataset: Any) -> int | None:
    """Return LightGBM's number of threads where its parameters say it."""
    n = _parameter(dataset, "num_threads")
    return int(n) if n is not None and int(n) > 0 else None


def check_objective_call(scores: Any, dataset: Any) -> None:
    """Refuse what LightGBM would train nonsense with, or leave out, under a custom objective."""
    if max(np.max(scores, initial=0.0), -np.min(scores, initial=0.0)) >= _INFINITY:
        raise ValueError("a score is infinite to LightGBM (1e38 or more); check init_score")
    bags = float(_parameter(dataset, "bagging_fraction") or 1.0) < 1.0 and int(_parameter(dataset, "bagging_freq") or 0)
    if bags and _is_true(_parameter(dataset, "bagging_by_query")):
        raise ValueError(
            "bagging_by_query=True trains a constant model with any custom objective in LightGBM; "
            "remove it (bagging_fraction without it samples rows)"
        )
    if str(_parameter(dataset, "boosting")).lower() in {"rf", "random_forest"}:
        raise ValueError("boosting='rf' fails with any custom objective in LightGBM; use 'gbdt', 'dart' or 'goss'")
    if dataset is not None and dataset.get_position() is not None:
        raise ValueError(
            "the lgb.Dataset has position=…, which LightGBM uses in its own lambdarank alone and leaves out here; "
            "pass a Dataset without it"
        )


def metric_result(metric: Metric, value: float) -> tuple[str, float, bool]:
    """Return what `lgb.train` takes from a feval."""
    return metric.name, value, metric.greater_is_better


class LGBMRanker(lgb.LGBMRanker):
    """LightGBM's `LGBMRanker` that takes our losses as `objective` and our metrics as `eval_metric`.

    All parameters and attributes are the parent's. With a built-in objective it is the parent, plus what `fit` adds.

    Parameters
    ----------
    objective : Loss, str or callable, optional
        One of our losses, or anything the parent takes; None is LightGBM's lambdarank.
    **lightgbm_params
        As for `lightgbm.LGBMRanker`.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(n_queries=20, random_state=0)
    >>> ranker = bp.LGBMRanker(objective=bp.MPBoost(), n_estimators=5, num_leaves=4, verbose=-1)
    >>> ranker.fit(data.X, data.y, qid=data.qid).predict(data.X).shape == data.y.shape
    True
    """

    def fit(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        init_score: Any = None,
        group: ArrayLike | None = None,
        eval_set: Any = None,
        eval_names: list[str] | None = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_group: Any = None,
        eval_metric: Any = None,
        eval_at: Sequence[int] = (1, 2, 3, 4, 5),
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: list[Callable[..., Any]] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
        qid: ArrayLike | None = None,
        eval_qid: Any = None,
        pairs: Pairs | None = None,
        eval_pairs: Any = None,
    ) -> "LGBMRanker":
        """Fit; the parent's parameters and these.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            A DataFrame may hold the query ids as a column named qid, which is no feature then.
        y : array-like of shape (n_rows,), or None
            Grades; with our losses any finite numbers. None: there are `pairs` alone.
        qid : array-like of shape (n_rows,), optional
            Query id of each row; the rows of a query stand together. Give `qid`, `group` or a qid column.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            Weights ≥ 0 per query or per row.
        eval_qid : list of array-like, optional
            Query ids of each validation set.
        pairs : Pairs, optional
            Explicit preferences between rows of X, for losses of ours that take them (`Loss.takes_pairs`).
        eval_pairs : list of Pairs or None, optional
            Those of each validation set.
        eval_metric : Metric, str, callable or list of them, optional
            Our metrics, or what the parent takes. Default with our losses, where validation sets have labels: `NDCG` at
            each cut-off of `eval_at`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries or weights are wrong; before any training.
        """
        aliases = _ALIASES["objective"].intersection(self.get_params()) - {"objective"}
        if aliases and self.objective is not None:
            raise ValueError(f"the objective is given twice: as objective and as {min(aliases)}; keep objective")
        objective = self.get_params()[min(aliases)] if aliases else self.objective
        loss = loss_of(objective)
        features, queries = checked(X, y, qid, group, sample_weight, pairs)
        refuse_unused_pairs(objective, loss, pairs)
        if eval_X is not None or eval_y is not None:
            eval_set = _pairs_of(eval_set, eval_X, eval_y)
        sets = evaluation_sets(
            eval_set, eval_qid, eval_group, eval_sample_weight, eval_pairs, (X, y, features, queries)
        )
        metrics = metrics_of(eval_metric)
        if init_score is not None and not np.isfinite(np.asarray(init_score, dtype=np.float64)).all():
            raise ValueError(
                "init_score holds NaN or infinity, of which LightGBM makes 0 and 1e38; pass finite numbers"
            )
        if not metrics and loss is not None and has_labels(sets) and not self._names_metric():
            metrics = [NDCG(k) for k in eval_at]
        known = [queries, *(q for _, q in sets)]
        self._fit_queries = queries
        try:
            super().fit(
                features,
                queries.labels,
                sample_weight=queries.row_weight,
                init_score=init_score,
                group=np.diff(queries.boundaries),
                **_validation_data(sets),
                eval_names=eval_names,
                eval_sample_weight=[q.row_weight for _, q in sets] or None,
                eval_init_score=eval_init_score,
                eval_group=[np.diff(q.boundaries) for _, q in sets] or None,
                eval_metric=[_on_arrays(m, known) if isinstance(m, Metric) else m for m in metrics] or None,
                eval_at=eval_at,
                feature_name=feature_name,
                categorical_feature=categorical_feature,
                callbacks=callbacks,
                init_model=init_model,
            )
        finally:
            del self._fit_queries
        return self

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the parent's predictions; a column named qid is left out."""
        return super().predict(without_qid(X)[0], *args, **kwargs)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        metric: Metric | None = None,
    ) -> float:
        """Return a metric of the predictions: `NDCG` (10) unless `metric` names another; queries as in `fit`."""
        return ranking_score(self, X, y, qid, group, metric, sample_weight)

    def _names_metric(self) -> bool:
        return any(self.get_params().get(alias) is not None for alias in _ALIASES["metric"])

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Hand LightGBM the loss itself, which then sees the Dataset, and no built-in ndcg that refuses our labels."""
        params: dict[str, Any] = super()._process_params(stage)
        if stage == "fit" and isinstance(self._objective, Loss):
            params["objective"] = _Assigning(self._objective, self._fit_queries)
            if not self._names_metric():
                params["metric"] = None
        return params


class _Assigning:
    """A loss as `lgb.train` calls it, for a Dataset whose queries are known in full precision, with their pairs."""

    def __init__(self, loss: Loss, queries: Queries) -> None:
        self.loss, self.queries = loss, queries

    def __call__(self, scores: Any, dataset: Any) -> Any:
        plug.assign(dataset, self.queries)
        return self.loss(scores, dataset)

    def __deepcopy__(self, _memo: Any) -> "_Assigning":
        return self  # lgb.train copies its parameters; nothing here ever changes


def _on_arrays(metric: Metric, known: Sequence[Queries]) -> Callable[..., tuple[str, float, bool]]:
    """Return the metric in the form that LGBMRanker calls: (labels, scores, weight, group)."""

    def call(labels: Any, scores: Any, weight: Any, group: Any) -> tuple[str, float, bool]:
        return metric_result(metric, plug.value_on_arrays(metric, labels, scores, weight, group, known))

    return call


def _pairs_of(eval_set: Any, eval_X: Any, eval_y: Any) -> list[tuple[Any, Any]]:
    """Return LightGBM 4.7's eval_X and eval_y (one each, or tuples) as pairs."""
    if eval_set is not None or eval_X is None or eval_y is None:
        raise ValueError("give eval_X and eval_y together, or eval_set alone")
    if not isinstance(eval_X, tuple):
        eval_X, eval_y = (eval_X,), (eval_y,)
    if len(eval_X) != len(eval_y):
        raise ValueError(f"eval_X and eval_y must hold as many sets; got {len(eval_X)} and {len(eval_y)}")
    return list(zip(eval_X, eval_y, strict=True))


def _validation_data(sets: Sequence[tuple[Any, Queries]]) -> dict[str, Any]:
    """Return the parent's arguments for validation data, under the names that its version prefers."""
    if not sets:
        return {}
    if "eval_X" in inspect.signature(lgb.LGBMRanker.fit).parameters:
        return {"eval_X": tuple(X for X, _ in sets), "eval_y": tuple(queries.labels for _, queries in sets)}
    return {"eval_set": [(X, queries.labels) for X, queries in sets]}
