"""XGBoost's `XGBRanker`, taking our losses and metrics."""

from collections.abc import Callable
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
from boostplug.plug.call import assign
from boostplug.queries import Queries

try:
    import xgboost as xgb
    from xgboost.sklearn import ltr_metric_decorator
except ImportError as error:
    raise ImportError("boostplug.XGBRanker needs XGBoost: pip install 'boostplug[xgboost]'") from error

__all__ = ["XGBRanker"]


class XGBRanker(xgb.XGBRanker):
    """XGBoost's `XGBRanker` that takes our losses as `objective` and our metrics as `eval_metric`.

    All parameters and attributes are the parent's. The saved model names the objective rank:pairwise, with a base score
    of 0, and loads in the plain framework.

    Parameters
    ----------
    objective : Loss or str, default "rank:ndcg"
        One of our losses, or a ranking objective of XGBoost's.
    eval_metric : Metric, str, callable or list of them, optional
        Our metrics, or what the parent takes. Default with our losses: ``NDCG(10)``.
    **xgboost_params
        As for `xgboost.XGBRanker`.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(n_queries=20, random_state=0)
    >>> ranker = bp.XGBRanker(objective=bp.MPBoost(), n_estimators=5, max_depth=2)
    >>> ranker.fit(data.X, data.y, qid=data.qid).predict(data.X).shape == data.y.shape
    True
    """

    def __init__(self, *, objective: Loss | str = "rank:ndcg", **xgboost_params: Any) -> None:
        built_in = objective if isinstance(objective, str) else "rank:pairwise"
        super().__init__(objective=built_in, **xgboost_params)
        self.objective = objective

    def fit(
        self,
        X: Any,
        y: ArrayLike | None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Any = None,
        eval_group: Any = None,
        eval_qid: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: ArrayLike | None = None,
        pairs: Pairs | None = None,
        eval_pairs: Any = None,
    ) -> "XGBRanker":
        """Fit; the parent's parameters, of which these go further.

        Parameters
        ----------
        y : array-like of shape (n_rows,), or None
            Grades; with our losses any finite numbers. None: there are `pairs` alone.
        qid : array-like of shape (n_rows,), optional
            Query id of each row; the rows of a query stand together, in any order of ids.
        pairs : Pairs, optional
            Explicit preferences between rows of X, for losses of ours that take them (`Loss.takes_pairs`).
        eval_pairs : list of Pairs or None, optional
            Those of each validation set.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            Weights ≥ 0 per query, or per row for our losses and metrics; built-in ones get each query's mean weight.
        verbose : bool or int, default True
            As for the parent: print validation results each round, or each `verbose` rounds.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries or weights are wrong; before any training.
        """
        loss = loss_of(self.objective)
        if loss is None and not isinstance(self.objective, str):
            raise ValueError(
                f"objective must be one of our losses or a name, got {self.objective!r}; XGBoost's rankers take no "
                "functions: derive a boostplug.Loss, or call xgb.train with obj="
            )
        features, queries = checked(X, y, qid, group, sample_weight, pairs)
        refuse_unused_pairs(self.objective, loss, pairs)
        sets = evaluation_sets(
            eval_set, eval_qid, eval_group, sample_weight_eval_set, eval_pairs, (X, y, features, queries)
        )
        if base_margin_eval_set is not None and len(base_margin_eval_set) != len(sets):
            raise ValueError(
                f"base_margin_eval_set must hold one entry per validation set ({len(sets)}), "
                f"got {len(base_margin_eval_set)}"
            )
        feature_weights = self.feature_weights if feature_weights is None else feature_weights
        train = self._matrix(features, queries, base_margin, None, feature_weights)
        margins = base_margin_eval_set or [None] * len(sets)
        evals = [
            train
            if valid_queries is queries and margin is base_margin
            else self._matrix(X_valid, valid_queries, margin, train, None)
            for (X_valid, valid_queries), margin in zip(sets, margins, strict=True)
        ]

        params = self.get_xgb_params()
        built_in, custom_metric = self._metrics(loss is not None and has_labels(sets))
        params.pop("eval_metric", None)
        if built_in:
            params["eval_metric"] = built_in
        elif custom_metric is not None or loss is not None:
            params["disable_default_eval_metric"] = 1
        if loss is not None:
            params["objective"] = "rank:pairwise"
            if params.get("base_score") is None:
                params["base_score"] = 0.0
        if isinstance(xgb_model, xgb.XGBModel):
            xgb_model = xgb_model.get_booster()
        results: dict[str, Any] = {}
        with xgb.config_context(verbosity=self.verbosity if self.verbosity is not None else 1):
            self._Booster = xgb.train(
                params,
                train,
                num_boost_round=self.get_num_boosting_rounds(),
                evals=[(matrix, f"validation_{i}") for i, matrix in enumerate(evals)],
                obj=loss,
                custom_metric=custom_metric,
                evals_result=results,
                early_stopping_rounds=self.early_stopping_rounds,
                verbose_eval=verbose,
                xgb_model=xgb_model,
                callbacks=self.callbacks,
            )
        self._set_evaluation_result(results)
        return self

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """Return the parent's predictions; a column named qid is left out."""
        return super().predict(without_qid(X)[0], **kwargs)

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
        """Return a metric of the predictions: `metric`, else the first of ours in `eval_metric`, else `NDCG` (10)."""
        if metric is None:
            metric = next((m for m in metrics_of(self.eval_metric) if isinstance(m, Metric)), None)
        return ranking_score(self, X, y, qid, group, metric, sample_weight)

    def _matrix(self, X: Any, queries: Queries, base_margin: Any, ref: Any, feature_weights: Any) -> xgb.DMatrix:
        """Return a (quantile) DMatrix whose labels and weights our losses and metrics read in full precision."""
        fields = {
            "label": queries.labels,
            "group": np.diff(queries.boundaries),
            "weight": queries.query_weight,
            "base_margin": base_margin,
            "feature_weights": feature_weights,
            "missing": self.missing,
            "enable_categorical": self.enable_categorical,
            "feature_types": self.feature_types,
            "nthread": self.n_jobs,
        }
        if self.tree_method in {None, "hist", "auto"} and self.booster != "gblinear":
            matrix = xgb.QuantileDMatrix(X, **fields, max_bin=self.max_bin, ref=ref)
        else:
            matrix = xgb.DMatrix(X, **fields)
        assign(matrix, queries)
        return matrix

    def _metrics(self, ours: bool) -> tuple[list[str], Callable[..., Any] | None]:
        """Return the built-in metrics' names, and one function for all the others."""
        metrics = metrics_of(self.eval_metric) or ([NDCG(10)] if ours else [])
        built_in = [m for m in metrics if isinstance(m, str)]
        custom = [m for m in metrics if not isinstance(m, str)]
        for m in custom:
            if not callable(m):
                raise TypeError(f"eval_metric must hold names, metrics or functions; got {m!r}")
        if not custom:
            return built_in, None
        wrapped = [m if isinstance(m, Metric) else ltr_metric_decorator(m, self.n_jobs) for m in custom]
        return built_in, lambda scores, matrix: [m(scores, matrix) for m in wrapped]
