"""`XGBRanker` on Dask collections, trained by `xgboost.dask`."""

import copy
import json
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import xgboost as xgb
from distributed import get_worker
from numpy.typing import ArrayLike, NDArray
from xgboost import dask as xgb_dask
from xgboost.callback import EvaluationMonitor, TrainingCallback

from boostplug.adapters.reading import assign
from boostplug.adapters.record import record_of
from boostplug.core.checks import column_names, shown
from boostplug.dask.collections import (
    POSITION,
    Part,
    Parts,
    client_of,
    column_of,
    names_of_columns,
    parts_of,
    refuse_on_collections,
)
from boostplug.dask.job import Job
from boostplug.dask.ranker import RankerOnCollections
from boostplug.data.inputs import Inputs
from boostplug.data.queries import Queries
from boostplug.data.tables import (
    Table,
    refuse_other_categories,
    refuse_other_columns,
    refuse_sparse_beside_dense,
    refuse_unknown_categories,
    table_of,
    without_columns,
)
from boostplug.estimators.inputs import FIT, ColumnPlaces, validation_sets, weight_in_single
from boostplug.estimators.xgboost import XGBRanker as LocalRanker
from boostplug.estimators.xgboost import count_features, model_and_columns
from boostplug.losses import Loss
from boostplug.metrics import Metric

_LOCAL = "boostplug.XGBRanker"
_START = (
    "is not taken with collections; continue another model with xgb_model=, or use boostplug.XGBRanker, which trains "
    "on one machine"
)
_LOST = (
    "the workers lost each other: one has left the cluster (killed, or out of memory), or has raised an error that its "
    "log shows; the cluster is free: fit again, and load again what only that worker held"
)
_WEIGHTS = "label_lower_bound"  # a field of the DMatrix that ranking leaves unused
_FREE = ("label_upper_bound", _WEIGHTS)  # for labels by name; the second where there are no weights
_WARNINGS = "boostplug_warnings"  # an attribute of the booster


class XGBRanker(RankerOnCollections, LocalRanker):
    """`boostplug.XGBRanker` on Dask collections: the model that one machine would train.

    `xgboost.dask` trains. A loss is scaled over all workers, and metrics and early stopping use all queries. Each query
    must lie in one partition (`partition_by_query`). Each worker uses its own threads unless ``n_jobs`` is given.

    With our losses the model equals that of one machine to rounding if each feature has fewer than ``max_bin`` values.
    Otherwise the bins come from quantiles that the workers merge, as they always do with
    ``tree_method="approx"``. With ``subsample`` each worker draws among its own rows. Objectives of XGBoost's train as
    they do in ``xgboost.dask``.

    Parameters
    ----------
    objective : Loss or str, default "rank:ndcg"
        One of our losses, or a ranking objective of XGBoost's.
    client : distributed.Client, optional
        Default: the current one. Clones share it, and pickles leave it out.
    eval_metric : Metric, str or list of them, optional
        Our metrics, or names of XGBoost's. Default with our losses: ``NDCG(10)``. Functions are refused, because each
        would see the rows of one worker.
    **xgboost_params
        As for `boostplug.XGBRanker`.

    Examples
    --------
    >>> import boostplug as bp
    >>> bp.dask.XGBRanker(objective=bp.MPBoost(), max_depth=3).get_params()["objective__distance__lam"]
    3.0
    """

    def __init__(self, *, objective: Loss | str = "rank:ndcg", client: Any = None, **xgboost_params: Any) -> None:
        self.client = client
        super().__init__(objective=objective, **xgboost_params)

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that the training gets."""
        return {name: value for name, value in super().get_xgb_params().items() if name != "client"}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        feature_weights: ArrayLike | None = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        labels: Mapping[str, Any] | None = None,
        eval_labels: Any = None,
        position: Any = None,
        **refused: Any,
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
            Weights ≥ 0 per row, for our losses and metrics. XGBoost's own are refused beside weights, because
            ``xgboost.dask`` takes no weights of queries.
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
        labels : mapping of str to dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            More labels by name, for losses and metrics that read one of them: ``bp.QBRank().on("sale")``. Two at most,
            and one less beside weights, and beside positions: a DMatrix has no more room.
        eval_labels : list of mapping or None, optional
            Those of each validation set, of the same names.
        position : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Where users saw each row, from 1; for losses that learn from clicks (`Unbiased`). Validation needs none.
        **refused
            The other parameters of `boostplug.XGBRanker.fit`; the error says why they are refused.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries, weights or parameters are wrong or a query is split; before any training.
        RuntimeError
            If a worker left the cluster, or the network between the workers broke.
        """
        refuse_on_collections(refused, dict.fromkeys(("base_margin", "base_margin_eval_set"), _START))
        if early_stopping_rounds is None:
            early_stopping_rounds = self.early_stopping_rounds
        loss, metrics = self._objective_and_metrics(self.eval_metric if eval_metric is None else eval_metric)
        _refuse_functions(metrics)
        callbacks = self._checked_callbacks(early_stopping_rounds)
        self._refuse_one_machine()
        client = client_of(self.client)
        given = Inputs(X=X, y=y, qid=qid, weight=sample_weight, labels=labels, position=position, arguments=FIT)
        train = given.split()
        sets = validation_sets(
            eval_set, given, train, Inputs.split, "sample_weight_eval_set",
            qid=eval_qid, weight=sample_weight_eval_set, labels=eval_labels,
        )  # fmt: skip
        described, evals = _different(train, sets)
        places = ColumnPlaces(column_names(X), frozenset(train.columns.values()))
        if early_stopping_rounds is not None and not evals:
            raise ValueError(
                f"early_stopping_rounds={early_stopping_rounds} needs a validation set; pass eval_set and eval_qid"
            )
        _refuse_weights(described, evals, loss, metrics)
        fields = _fields_of_labels(described)
        model, known = model_and_columns(xgb_model, self.get_xgb_params())
        params, custom = self._training_parameters(loss, metrics, evaluates=bool(evals), model=model)
        count_features(params, places)
        feature_weights = self.feature_weights if feature_weights is None else feature_weights
        feature_weights = places.of_features("feature_weights", feature_weights)
        if verbose:
            callbacks.append(EvaluationMonitor(period=1 if verbose is True else verbose, logger=_print))
        job = _XGBoostJob(loss, fields)
        run = partial(
            xgb_dask.train,
            client,
            params,
            num_boost_round=self.get_num_boosting_rounds(),
            obj=None if loss is None else job,
            custom_metric=partial(_evaluated, custom, fields) if custom else None,
            early_stopping_rounds=early_stopping_rounds,
            xgb_model=model,
            verbose_eval=False,
            callbacks=[*callbacks, job],
        )
        with job.running(client, _is_loss_of_worker, _LOST):
            trained, columns = self._trained(run, client, described, evals, known, feature_weights, fields)
        self._keep(trained, columns)
        self._columns_by_role = {"qid": "qid", **train.columns}
        return self

    def _keep(self, trained: Mapping[str, Any], columns: Table) -> None:
        """Keep what was trained, and give the warnings of the workers that the model has brought."""
        booster = trained["booster"]
        for text in json.loads(booster.attr(_WARNINGS)):
            warnings.warn(text, UserWarning, stacklevel=3)
        booster.set_attr(**{_WARNINGS: None})
        self._Booster = xgb.Booster({"n_jobs": self.n_jobs}, model_file=booster.save_raw("ubj"))
        self._fitted_columns = columns
        self._set_evaluation_result(trained["history"])

    def _refuse_one_machine(self) -> None:
        for name, value in (("booster", "gblinear"), ("tree_method", "exact")):
            if getattr(self, name) == value:
                raise ValueError(f"{name}={value!r} trains on one machine only; use {_LOCAL}, or leave it out")

    def _trained(
        self,
        run: Callable[..., dict[str, Any]],
        client: Any,
        described: list[Inputs],
        evals: list[int],
        known: Table | None,
        feature_weights: ArrayLike | None,
        fields: Mapping[str, str],
    ) -> tuple[dict[str, Any], Table]:
        """Return what `run` makes of the sets, once these are computed and checked, and the columns."""
        sets = self._checked_sets(client, described, known)
        matrices = self._matrices(sets, feature_weights, fields)
        named = [(matrices[place], f"validation_{i}") for i, place in enumerate(evals)]
        return run(matrices[0], evals=named), sets[0].table

    def _checked_sets(self, client: Any, described: list[Inputs], known: Table | None) -> list[Parts]:
        """Return the training set and the validation sets, computed and checked.

        `known` describes the columns of the model that the training continues.
        """
        sets: list[Parts] = []
        for one in described:
            parts = parts_of(client, one, local=_LOCAL, fitted=sets[0].table if sets else None)
            sets.append(parts)
            if self.missing != 0:
                refuse_sparse_beside_dense(parts.table, sets[0].table, f"{parts.where}X")
        if known is not None:
            refuse_other_columns(sets[0].table, known, "X beside xgb_model")
            refuse_unknown_categories(sets[0].table, known, "X beside xgb_model")
            refuse_other_categories(sets[0].table, known, "X", "xgb_model; fit again without it")
        sets[0].repeat_warnings()
        return sets

    def _matrices(
        self, sets: list[Parts], feature_weights: ArrayLike | None, fields_of_labels: Mapping[str, str]
    ) -> list[Any]:
        """Return the matrix of each set; a validation set lies on the workers that hold rows of the training set."""
        weights = self._checked_feature_weights(feature_weights, sets[0].table.n_columns)
        matrices: list[Any] = []
        for parts in sets:
            fields: dict[str, Any] = {
                "label": parts.labels,
                "qid": parts.blocks(_codes),
                _WEIGHTS: parts.blocks(partial(_weights, max(parts.ask(_largest_weight)))) if parts.weighted else None,
                "missing": self.missing,
                "enable_categorical": self.enable_categorical,
                "feature_types": self.feature_types,
            }
            for field, name in fields_of_labels.items():
                if name != POSITION or not matrices:
                    fields[field] = parts.blocks(partial(column_of, name))
            if weights is not None:
                fields["feature_weights"] = da.from_array(np.asarray(weights, np.float32))
            if self._grows_on_quantiles():
                ref = matrices[0] if matrices else None
                made = xgb_dask.DaskQuantileDMatrix(
                    parts.client, parts.features, **fields, max_bin=self.max_bin, ref=ref
                )
            else:
                made = xgb_dask.DaskDMatrix(parts.client, parts.features, **fields)
            if matrices:
                made.worker_map = _shares(parts, made, list(matrices[0].worker_map))
            matrices.append(made)
        return matrices

    def _example(self, X: Any, **kwargs: Any) -> NDArray[np.float32]:
        if kwargs.get("base_margin") is not None:
            raise ValueError("base_margin is not taken with collections; add it to the predictions")
        features = without_columns(X, self._columns_by_role.values())
        if kwargs.get("validate_features", True):
            frame = isinstance(features, dd.DataFrame)
            table = table_of(features._meta) if frame else Table(0, features.shape[1], None)  # noqa: SLF001
            refuse_other_columns(table, self._columns())
        return np.zeros(1, np.float32)

    def to_local(self) -> LocalRanker:
        """Return a fitted `boostplug.XGBRanker` of the same model and parameters, which needs no cluster.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        booster = self.get_booster()
        kept = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        local = LocalRanker(**kept)
        local._Booster = booster  # noqa: SLF001 (load_model would take the objective that the file names)
        local._fitted_columns, local._columns_by_role = self._columns(), self._columns_by_role  # noqa: SLF001
        local._set_evaluation_result(copy.deepcopy(getattr(self, "evals_result_", {})))  # noqa: SLF001
        return local


class _XGBoostJob(Job, TrainingCallback):
    """On each worker, the objective of XGBoost and a callback."""

    def __init__(self, loss: Loss | None, fields: Mapping[str, str]) -> None:
        super().__init__(loss)
        self.fields = fields

    def __call__(self, scores: Any, matrix: xgb.DMatrix) -> Any:
        assert self.loss is not None
        _assign_queries(matrix, self.fields)
        return self.derivatives(self.loss, scores, matrix)

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002 (XGBoost's signature)
        self.refuse_to_go_on()
        return False

    def after_training(self, model: Any) -> Any:
        model.set_attr(**{_WARNINGS: json.dumps([*self.texts])})
        return model


def _evaluated(
    metrics: list[Metric], fields: Mapping[str, str], scores: Any, matrix: xgb.DMatrix
) -> list[tuple[str, float]]:
    """Return the values of all metrics, which XGBoost asks for on each worker."""
    _assign_queries(matrix, fields)
    return [metric(scores, matrix) for metric in metrics]


def _different(train: Inputs, sets: list[Inputs]) -> tuple[list[Inputs], list[int]]:
    """Return each set once, the training set first, and the place of each validation set among them."""
    different, places = [train], []
    for one in sets:
        places.append(0 if one is train else len(different))
        different += [] if one is train else [one]
    return different, places


def _is_loss_of_worker(error: Exception) -> bool:
    """Tell it by the text: a folder of XGBoost's source, or what `xgboost.dask` says on another worker."""
    return any(text in str(error) for text in ("/collective/", "Invalid worker address"))


def _shares(parts: Parts, matrix: Any, workers: list[str]) -> dict[str, list[Any]]:
    """Give the partitions of a validation set in turn to the workers that hold rows of the training set.

    XGBoost fails on a worker without training rows, and with categorical columns on one without validation rows.
    """
    futures = [future for held in matrix.worker_map.values() for future in held]
    if parts.table.categories and len(futures) < len(workers):
        raise ValueError(
            f"{parts.where}X has {len(futures)} partitions with rows for {len(workers)} workers, and XGBoost needs "
            "rows on each if columns are categorical; repartition it: "
            f"partition_by_query(ddf, qid, npartitions={2 * len(workers)})"
        )
    futures.sort(key=lambda future: matrix.partition_order[future.key])
    return {worker: futures[i :: len(workers)] for i, worker in enumerate(workers[: len(futures)])}


def _assign_queries(matrix: xgb.DMatrix, fields: Mapping[str, str]) -> None:
    """Have losses and metrics read the weights of rows, and the labels that fields of the matrix hold."""
    if record_of(matrix).assigned is None:
        weight = np.zeros(0) if _WEIGHTS in fields else matrix.get_float_info(_WEIGHTS)
        if weight.size or fields:
            sizes = np.diff(matrix.get_uint_info("group_ptr").astype(np.int64))
            labels = {name: matrix.get_float_info(field) for field, name in fields.items()}
            position = labels.pop(POSITION, None)
            weighed = weight if weight.size else None
            queries = Queries(matrix.get_label(), group=sizes, weight=weighed, labels_by_name=labels)
            known = position is not None and len(position) == queries.n_rows
            assign(matrix, queries.with_positions(position) if known else queries)


def _fields_of_labels(sets: list[Inputs]) -> dict[str, str]:
    """Return which field of a DMatrix holds the label of which name."""
    names = [tuple(one.labels or ()) for one in sets]
    for one, own in zip(sets, names, strict=True):
        if set(own) != set(names[0]):
            raise ValueError(f"{one.where}labels are {list(own)}, the training set's {list(names[0])}; pass the same")
    free = _FREE[: 1 if any(one.weight is not None for one in sets) else 2]
    columns = names_of_columns(sets[0])
    if len(columns) > len(free):
        raise ValueError(
            f"labels has {len(names[0])} names, and on collections a DMatrix has room for "
            f"{len(free) - (POSITION in columns)} (2, and one less beside weights, and beside positions); pass fewer, "
            "or use boostplug.dask.LGBMRanker"
        )
    return dict(zip(free, columns, strict=False))


def _codes(part: Part, first: int) -> NDArray[np.int64]:
    return part.queries.query_of_row + first


def _weights(largest: float, part: Part, _first: int) -> Any:
    """Return weights of rows in a unit in which single precision holds them; `largest` is that of all partitions."""
    return weight_in_single(part.weight, largest)


def _largest_weight(part: Part) -> float:
    return float(part.weight.max(initial=0.0))


def _refuse_functions(metrics: list[Any]) -> None:
    function = next((m for m in metrics if not isinstance(m, (str, Metric))), None)
    if function is not None:
        raise ValueError(
            f"eval_metric holds the function {shown(function)}, which would see the rows of one worker at a time; "
            "pass metrics of boostplug such as NDCG(10), which know all, or names of XGBoost's"
        )


def _refuse_weights(sets: list[Inputs], evals: list[int], loss: Loss | None, metrics: list[Any]) -> None:
    """Raise for weights that XGBoost's own objectives and metrics would not see."""
    name = None if loss is not None or sets[0].weight is None else "objective"
    if name is None and any(sets[place].weight is not None for place in evals):
        name = "eval_metric" if any(isinstance(metric, str) for metric in metrics) else None
    if name is not None:
        raise ValueError(
            f"sample_weight cannot be used by {name}s of XGBoost's on collections, because xgboost.dask takes no "
            f"weights of queries; pass {name}s of boostplug, or use {_LOCAL}, which trains on one machine"
        )


def _print(text: str) -> None:
    """Print at the client, and not on the worker as well."""
    get_worker().log_event("print", text.strip())
