"""LightGBM's `LGBMRanker`, taking our losses and metrics."""

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
from boostplug.plug.aliases import LIGHTGBM as ALIASES
from boostplug.plug.call import assign, evaluate
from boostplug.plug.lightgbm import LightGBM
from boostplug.queries import Queries

try:
    import lightgbm as lgb
except ImportError as error:
    raise ImportError("boostplug.LGBMRanker needs LightGBM: pip install 'boostplug[lightgbm]'") from error

__all__ = ["LGBMRanker"]


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
        aliases = set(ALIASES["objective"][1:]).intersection(self.get_params())
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
        known = [queries, *(q for _, q in sets if q is not queries)]
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
                eval_metric=[_Evaluating(m, known) if isinstance(m, Metric) else m for m in metrics] or None,
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
        return any(self.get_params().get(alias) is not None for alias in ALIASES["metric"])

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
        assign(dataset, self.queries)
        return self.loss(scores, dataset)

    def __deepcopy__(self, _memo: Any) -> "_Assigning":
        return self  # lgb.train copies its parameters; nothing here ever changes


class _Evaluating:
    """A metric as the parent calls it, with arrays: it sees the Dataset they are of, whose queries are known exactly.

    `known` holds the queries of the training set and of each other one, in LightGBM's order.
    """

    def __init__(self, metric: Metric, known: Sequence[Queries]) -> None:
        self.metric, self.known = metric, known

    def __call__(self, labels: Any, scores: Any, weight: Any, group: Any) -> tuple[str, float, bool]:  # noqa: ARG002
        training = LightGBM().training(inspect.currentframe())
        assert training is not None
        for dataset, queries in zip(training.datasets, self.known, strict=True):
            if dataset.get_label() is labels:
                assign(dataset, queries)
                return evaluate(self.metric, scores, dataset)
        raise AssertionError("LightGBM passed labels of a Dataset that its Booster does not know")


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
