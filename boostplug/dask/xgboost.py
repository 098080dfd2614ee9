"""`XGBRanker` on Dask collections."""

import copy
import uuid
import warnings
from contextlib import ExitStack
from typing import Any, TypeVar

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import xgboost as xgb
from dask.delayed import delayed
from distributed.protocol.pickle import dumps
from numpy.typing import ArrayLike

from boostplug.core.checks import check_instance, check_integer, shown
from boostplug.dask.collections import (
    Part,
    Parts,
    check_features,
    client_of,
    parts_of,
    refuse_on_collections,
    refuse_other_categories,
)
from boostplug.dask.jobs import InterruptedTrainingError, run
from boostplug.dask.workers import Job
from boostplug.data.tables import (
    Table,
    refuse_other_columns,
    refuse_sparse_beside_dense,
    refuse_unknown_categories,
    table_of,
    without_qid,
)
from boostplug.estimators.inputs import one_per_set, pairs_of
from boostplug.estimators.xgboost import XGBRanker as LocalRanker
from boostplug.estimators.xgboost import model_and_columns
from boostplug.losses import Loss
from boostplug.metrics import NDCG, Metric

__all__ = ["XGBRanker"]

_T = TypeVar("_T")

_LOCAL = "boostplug.XGBRanker"
_OF_MATRIX = ("missing", "enable_categorical", "max_bin", "feature_types")
_OWN = ("client", "checkpoint_rounds", "retries")


class XGBRanker(LocalRanker):
    """`boostplug.XGBRanker` on Dask collections: the model that one machine would train.

    A loss is scaled over all workers, metrics and early stopping are those of all data. Queries lie whole in
    partitions (`partition_by_query`); the workers that hold partitions train, each with its own threads unless
    ``n_jobs`` is given.

    With our losses the model equals one machine's to rounding where features are binned alike, which they are if each
    has fewer than ``max_bin`` different values; else the bins are those of quantiles merged over the workers, as they
    are with ``tree_method="approx"``. With ``subsample`` each worker draws among its own rows. Objectives of XGBoost's
    train as they do in ``xgboost.dask``.

    Parameters
    ----------
    objective : Loss or str, default "rank:ndcg"
        One of our losses, or a ranking objective of XGBoost's.
    client : distributed.Client, optional
        Default: the current one. It is shared by clones, and left out of pickles.
    checkpoint_rounds : int, optional
        After so many rounds each, the model goes to the scheduler, from where an interrupted training goes on. If
        rounds draw random numbers (``subsample``, ``colsample_…``, ``booster="dart"``), they begin anew after each
        checkpoint, seeded by the round, as they would if the training went on from there: the model depends on
        `checkpoint_rounds` then, but on no interruption, unless ``subsample`` draws among rows that have moved to
        another worker.
    retries : int, default 0
        How often a training goes on, from the last checkpoint or its beginning, after workers have left the cluster
        or the network between them broke. The data are computed again as far as they are lost, which data that were
        scattered by hand cannot be. Errors of data, loss or metrics are raised at once.
    eval_metric : Metric, str or list of them, optional
        Our metrics, or names of XGBoost's. Default with our losses: ``NDCG(10)``. Functions are refused, as each would
        see the rows of one worker.
    **xgboost_params
        As for `boostplug.XGBRanker`.

    Examples
    --------
    >>> import boostplug as bp
    >>> bp.dask.XGBRanker(objective=bp.MPBoost(), checkpoint_rounds=50, retries=2).get_params()["retries"]
    2
    """

    def __init__(
        self,
        *,
        objective: Loss | str = "rank:ndcg",
        client: Any = None,
        checkpoint_rounds: int | None = None,
        retries: int = 0,
        **xgboost_params: Any,
    ) -> None:
        self.client = client
        self.checkpoint_rounds = checkpoint_rounds
        self.retries = retries
        super().__init__(objective=objective, **xgboost_params)

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that the training gets."""
        return {name: value for name, value in super().get_xgb_params().items() if name not in _OWN}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_group: Any = None,
        eval_qid: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: ArrayLike | None = None,
        pairs: Any = None,
        eval_pairs: Any = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
    ) -> "XGBRanker":
        """Fit on Dask collections, which are computed, partition by partition, where they lie.

        Parameters
        ----------
        X : dask.dataframe.DataFrame or dask.array.Array of shape (n_rows, n_features)
            A frame may have the query ids in a column named qid.
        y : dask.dataframe.Series or dask.array.Array of shape (n_rows,)
            Grades; as qid and sample_weight in the partitions of X.
        qid : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Query id of each row: whole numbers of any size, strings and others. A query's rows lie in one partition,
            in any order.
        sample_weight : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Weights ≥ 0 per row; built-in objectives and metrics get each query's mean weight.
        eval_set : list of pairs (X, y), optional
            Of collections too.
        eval_qid, sample_weight_eval_set : list of collections, optional
            An entry per validation set.
        verbose : bool or int, default True
            Print validation results each round, or each `verbose` rounds, here at the client.
        xgb_model : Booster, XGBModel, str or path, optional
            Of which the training goes on.
        feature_weights : array-like of shape (n_features,), optional
        eval_metric, early_stopping_rounds : optional
            In place of the constructor's.
        group, eval_group, pairs, eval_pairs, base_margin, base_margin_eval_set
            Refused: what they mean is lost where rows are partitioned.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries, weights or parameters are wrong or a query is split; before any training.
        RuntimeError
            If workers have left the cluster, or the network between them broke, more than `retries` times. If there
            was a checkpoint, the ranker then holds its model; the cluster is free for the next `fit`.
        """
        refuse_on_collections(group=group, eval_group=eval_group, pairs=pairs, eval_pairs=eval_pairs)
        if base_margin is not None or base_margin_eval_set is not None:
            raise ValueError(
                "base_margin is not taken with collections; go on from another model with xgb_model=, or use "
                f"{_LOCAL}, which trains on one machine"
            )
        if early_stopping_rounds is None:
            early_stopping_rounds = self.early_stopping_rounds
        loss, metrics = self._objective_and_metrics(self.eval_metric if eval_metric is None else eval_metric)
        _refuse_functions(metrics)
        callbacks = _sendable("callbacks", self._checked_callbacks(early_stopping_rounds) or [])
        retries = check_integer("retries", self.retries, 0)
        if self.checkpoint_rounds is not None:
            check_integer("checkpoint_rounds", self.checkpoint_rounds, 1, ", or None")
        if self.booster == "gblinear" or self.tree_method == "exact":
            name = "booster" if self.booster == "gblinear" else "tree_method"
            raise ValueError(
                f"{name}={getattr(self, name)!r} trains on one machine only; use {_LOCAL}, or leave it out"
            )

        client = client_of(self.client)
        described, evals = _sets(X, y, qid, sample_weight, eval_set, eval_qid, sample_weight_eval_set)
        if early_stopping_rounds is not None and not evals:
            raise ValueError(
                f"early_stopping_rounds={early_stopping_rounds} needs a validation set; pass eval_set and eval_qid"
            )

        def compute() -> list[Parts]:
            sets: list[Parts] = []
            with ExitStack() as held:
                for one in described:
                    parts = parts_of(client, **one, local=_LOCAL, fitted=sets[0].table if sets else None)
                    held.enter_context(parts.released_on_error())
                    sets.append(parts)
                    if self.missing != 0:
                        refuse_sparse_beside_dense(parts.table, sets[0].table, f"{one['where']}X")
                if known is not None:
                    refuse_other_columns(sets[0].table, known, "X beside xgb_model")
                    refuse_unknown_categories(sets[0].table, known, "X beside xgb_model")
                    refuse_other_categories(sets[0].table, known, "X", "xgb_model; fit again without it")
            return sets

        model, known = model_and_columns(xgb_model, self.get_xgb_params())
        sets = compute()
        sets[0].warn_of_merged_labels()
        params, custom = self._training_parameters(loss, metrics, evaluates=bool(evals), model=model)
        job = Job(
            name=f"boostplug-{uuid.uuid4().hex}",
            params=params,
            loss=loss,
            metrics=tuple(custom),
            n_rounds=self.get_num_boosting_rounds(),
            callbacks=callbacks,
            early_stopping_rounds=early_stopping_rounds,
            verbose=verbose,
            matrix={name: getattr(self, name) for name in _OF_MATRIX},
            quantiles=self._grows_on_quantiles(),
            feature_weights=self._checked_feature_weights(feature_weights, sets[0].table.n_columns),
            no_rows=_no_rows(sets[0]),
            n_queries=tuple(parts.n_queries for parts in sets),
            weighted=tuple(one["sample_weight"] is not None for one in described),
            evals=tuple(evals),
            checkpoint_rounds=self.checkpoint_rounds,
            model=None if model is None else bytes(model.save_raw("ubj")),
        )
        try:
            trained = run(client, job, sets, compute, retries)
        except InterruptedTrainingError as error:
            remedy = "the cluster is free: fit again; with retries= and checkpoint_rounds= a training goes on by itself"
            if error.checkpoint is not None:
                self._set(error.checkpoint.model, error.checkpoint.history, sets[0].table)
                remedy += "; the ranker holds the model that is kept"
            raise RuntimeError(f"{error}; {remedy}") from None
        for text in trained.told:
            warnings.warn(text, UserWarning, stacklevel=2)
        assert trained.model is not None
        self._set(trained.model, trained.history, sets[0].table)
        return self

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """Return predictions: of a collection a lazy one of the same kind, a Series or an array, in its partitions.

        A column named qid is left out. Data in memory are predicted here.

        Parameters
        ----------
        X : dask.dataframe.DataFrame, dask.array.Array, or in memory, of shape (n_rows, n_features)
        **kwargs
            The parent's ``output_margin``, ``validate_features`` and ``iteration_range``.

        Raises
        ------
        ValueError
            If X has not the columns that `fit` had.
        """
        if not isinstance(X, (da.Array, dd.DataFrame)):
            return super().predict(X, **kwargs)
        if kwargs.get("base_margin") is not None:
            raise ValueError("base_margin is not taken with collections; add it to the predictions")
        features = without_qid(check_features(X, _LOCAL))[0]
        ranker = self.to_local()
        if kwargs.get("validate_features", True):
            frame = isinstance(features, dd.DataFrame)
            table = table_of(features._meta) if frame else Table(0, features.shape[1], None)  # noqa: SLF001
            refuse_other_columns(table, self._columns())
        model = delayed(ranker)  # once in the graph, whatever the number of partitions
        if isinstance(features, dd.DataFrame):
            meta = features._meta.iloc[:, 0].astype(np.float32).rename(None)  # noqa: SLF001
            return features.map_partitions(_predicted, model, kwargs, meta=meta)
        meta = np.empty(0, np.float32)
        return features.map_blocks(_predicted, model, kwargs, drop_axis=1, dtype=np.float32, meta=meta)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        metric: Metric | None = None,
    ) -> float:
        """Return a metric of the predictions on collections, or on data in memory as the parent does."""
        if not isinstance(X, (da.Array, dd.DataFrame)):
            return super().score(X, y, sample_weight, qid=qid, group=group, metric=metric)
        refuse_on_collections(group=group)
        if metric is None:
            metric = self._first_metric() or NDCG(10)
        check_instance("metric", metric, Metric, "NDCG(10)")
        parts = parts_of(client_of(self.client), X, y, qid=qid, sample_weight=sample_weight, local=_LOCAL)
        return parts.score(self.to_local(), metric)

    def to_local(self) -> LocalRanker:
        """Return a fitted `boostplug.XGBRanker` of the same model and parameters, which needs no cluster.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        booster = self.get_booster()
        kept = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        local = LocalRanker(**kept)
        local._Booster = booster  # noqa: SLF001 (load_model would take the objective that the file names)
        local._fitted_columns = self._columns()  # noqa: SLF001
        local._set_evaluation_result(copy.deepcopy(getattr(self, "evals_result_", {})))  # noqa: SLF001
        return local

    def export(self) -> xgb.XGBRanker:
        """Return a fitted plain `xgboost.XGBRanker`, as `boostplug.XGBRanker.export` does."""
        return self.to_local().export()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> "XGBRanker":
        bare = copy.copy(self)  # without its client, of which there is no copy
        made: XGBRanker = super(XGBRanker, bare).__sklearn_clone__()
        made.client = self.client
        return made

    def _set(self, model: bytes, history: dict[str, Any], columns: Table) -> None:
        self._Booster = xgb.Booster({"n_jobs": self.n_jobs}, model_file=bytearray(model))
        self._fitted_columns = columns
        self._set_evaluation_result(history)


def _sets(
    X: Any, y: Any, qid: Any, weight: Any, eval_set: Any, eval_qid: Any, eval_weight: Any
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the arguments of `parts_of` for each set, and which of them each validation set is: 0 is that of fit."""
    sets = [{"X": X, "y": y, "qid": qid, "sample_weight": weight, "where": ""}]
    pairs = pairs_of(eval_set)
    lists = {"eval_qid": eval_qid, "sample_weight_eval_set": eval_weight}
    for name, values in lists.items():
        if isinstance(values, (dd.Series, dd.DataFrame, da.Array)):
            raise ValueError(f"{name} must be a list with one entry per validation set; pass [{name}]")
    ids, weights = (one_per_set(name, values, len(pairs)) for name, values in lists.items())
    evals = []
    for i, ((X_valid, y_valid), qid_valid, w) in enumerate(zip(pairs, ids, weights, strict=True)):
        if X_valid is X and y_valid is y and qid_valid is None and w is None:
            evals.append(0)
        else:
            evals.append(len(sets))
            where = f"eval_set[{i}]'s "
            sets.append({"X": X_valid, "y": y_valid, "qid": qid_valid, "sample_weight": w, "where": where})
    return sets, evals


def _refuse_functions(metrics: list[Any]) -> None:
    function = next((m for m in metrics if not isinstance(m, (str, Metric))), None)
    if function is not None:
        raise ValueError(
            f"eval_metric holds the function {shown(function)}, which would see the rows of one worker at a time; "
            "pass metrics of boostplug such as NDCG(10), which know all, or names of XGBoost's"
        )


def _sendable(name: str, values: _T) -> _T:
    try:
        dumps(values)
    except Exception as error:  # noqa: BLE001 (pickling raises whatever the object does)
        raise ValueError(f"{name} go to each worker, but cannot be pickled: {error}; leave out what cannot") from None
    return values


def _no_rows(parts: Parts) -> Any:
    """Return the features of no rows, in the form that the partitions have."""
    number = next(number for number, summary in enumerate(parts.summaries) if summary.n_rows)
    return parts.client.submit(_first_rows, parts.futures[number], 0, pure=False).result()


def _first_rows(part: Part, n: int) -> Any:
    return part.X[:n]


def _predicted(features: Any, ranker: LocalRanker, kwargs: dict[str, Any]) -> Any:
    scores = ranker.predict(features, **kwargs) if features.shape[0] else np.empty(0, np.float32)
    return pd.Series(scores, index=features.index) if isinstance(features, pd.DataFrame) else scores
