"""`XGBRanker` on Dask collections, trained by `xgboost.dask`."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from distributed import get_worker
from numpy.typing import ArrayLike

from boostplug.adapters.reading import assign, record_of
from boostplug.adapters.workers import in_step
from boostplug.adapters.xgboost import XGBoost
from boostplug.core.checks import shown
from boostplug.core.extras import needed_by
from boostplug.dask.collections import PartitionedSet, partitioned_set, published, queries_of_rows
from boostplug.dask.ranker import RankerOnCollections
from boostplug.data.inputs import Inputs
from boostplug.data.tables import Schema, check_known_categories
from boostplug.estimators.inputs import inputs_of, validation_sets
from boostplug.losses import Loss
from boostplug.metrics import Metric
from boostplug.model.boosters import set_booster
from boostplug.model.xgboost import set_categories
from boostplug.selection.cut_queries import TrainingSummary

with needed_by("boostplug.dask.XGBRanker needs", "xgboost", "dask"):
    import xgboost as xgb
    from xgboost import dask as xgb_dask
    from xgboost.callback import EvaluationMonitor

    from boostplug.estimators.xgboost import XGBRanker as LocalRanker
    from boostplug.estimators.xgboost import model_and_columns

_NUMBERS = "label_lower_bound"  # the field of a DMatrix, unused by ranking, that holds numbers of partitions


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

    _dtype, _local = np.float32, LocalRanker

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
            Each feature's probability of being drawn, as in XGBoost.
        labels : mapping of str to dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            More labels by name, for losses and metrics that read one of them: ``bp.QBRank().on("sale")``.
        eval_labels : list of mapping or None, optional
            Those of each validation set, of the same names.
        position : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Where users saw each row, from 1; for losses that learn from clicks (`Unbiased`). Validation needs none.
        **refused
            The other parameters of `boostplug.XGBRanker.fit` raise a TypeError.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries, weights or parameters are wrong or a query is split; before any training.
        xgboost.core.XGBoostError
            If a worker left the cluster.
        """
        self._check_absent(refused)
        loss, metrics = self._objective_and_metrics(self.eval_metric)
        self._check_local_options(
            loss, metrics, weighted=sample_weight is not None or sample_weight_eval_set is not None
        )
        given = inputs_of(self, X=X, y=y, qid=qid, weight=sample_weight, labels=labels, position=position)
        train = given.take_columns()
        sets = validation_sets(
            eval_set, given, train, Inputs.take_columns, self.framework,
            qid=eval_qid, weight=sample_weight_eval_set, labels=eval_labels,
        )  # fmt: skip
        different = [train, *(one for one in sets if one is not train)]
        if self.early_stopping_rounds is not None and not sets:
            raise ValueError(
                f"early_stopping_rounds={self.early_stopping_rounds} needs a validation set; pass eval_set and eval_qid"
            )
        model, known = model_and_columns(xgb_model, self.get_xgb_params())
        arguments, custom, binned = self._training_arguments(X, train.columns, loss, metrics, bool(sets), model)
        if verbose:
            arguments["callbacks"].append(EvaluationMonitor(period=1 if verbose is True else verbose, logger=_print))
        computed = self._computed(different, known)
        if loss is not None:
            computed[0].sums_of(loss)  # raises or warns before the training
        n_features = computed[0].schema.n_columns
        weights = self._weights_of_features(feature_weights, X, train.columns, n_features)
        with published(computed) as name:
            matrices = self._matrices(computed, weights, binned=binned)
            of_sets = dict(zip(map(id, different), matrices, strict=True))
            trained = xgb_dask.train(
                computed[0].client,
                dtrain=matrices[0],
                evals=[(of_sets[id(one)], f"validation_{i}") for i, one in enumerate(sets)],
                obj=None if loss is None else partial(_gradient_hessian, loss, name),
                custom_metric=partial(_values, custom, name) if custom else None,
                verbose_eval=False,
                **arguments,
            )
        set_booster(self, xgb.Booster({"n_jobs": self.n_jobs}, model_file=trained["booster"].save_raw("ubj")))
        set_categories(self.get_booster(), computed[0].schema.categories)
        self.training_summary_ = TrainingSummary(computed[0].schema, {"qid": "qid", **train.columns})
        if trained["history"]:
            self.evals_result_ = trained["history"]
        return self

    def _check_local_options(self, loss: Loss | None, metrics: list[Any], *, weighted: bool) -> None:
        """Raise for parameters, metrics and weights that only one machine can use."""
        for name, value in (("booster", "gblinear"), ("tree_method", "exact")):
            if getattr(self, name) == value:
                raise ValueError(
                    f"{name}={value!r} trains on one machine only; use {self._local_name()}, or leave it out"
                )
        function = next((m for m in metrics if not isinstance(m, (str, Metric))), None)
        if function is not None:
            raise ValueError(
                f"eval_metric holds the function {shown(function)}, which would see the rows of one worker at a time; "
                "pass metrics of boostplug such as NDCG(10), which know all, or names of XGBoost's"
            )
        built_in = [m for m in metrics if isinstance(m, str)] if loss is not None else [self.objective]
        if built_in and weighted:
            raise ValueError(
                f"sample_weight cannot be used by XGBoost's {built_in[0]!r} on collections, because xgboost.dask takes "
                f"no weights of queries; pass losses and metrics of boostplug, or use {self._local_name()}"
            )

    def _computed(self, sets: list[Inputs], known: Schema | None) -> list[PartitionedSet]:
        """Return the training set and the validation sets, computed and checked.

        `known` is the schema of the model that the training continues.
        """
        train = partitioned_set(self._client(), sets[0], local=self._local_name(), fitted=known, other="xgb_model")
        if known is not None:
            check_known_categories(train.schema, known, "X beside xgb_model")
        train.repeat_warnings()
        found = [
            train,
            *(partitioned_set(self._client(), s, local=self._local_name(), fitted=train.schema) for s in sets[1:]),
        ]
        for one in found:
            self._check_same_sparsity(one.schema, train.schema, f"{one.where}X")
        return found

    def _matrices(self, sets: list[PartitionedSet], feature_weights: ArrayLike | None, *, binned: bool) -> list[Any]:
        """Return the matrix of each set; a validation set lies on the workers that hold rows of the training set."""
        weights = None if feature_weights is None else da.from_array(np.asarray(feature_weights, np.float32))
        fields: dict[str, Any] = {
            "missing": self.missing,
            "enable_categorical": self.enable_categorical,
            "feature_types": self.feature_types,
            "feature_weights": weights,
        }
        matrices: list[Any] = []
        for parts in sets:
            numbers = parts.numbers(before=sum(len(one.futures) for one in sets[: len(matrices)]))
            own = {
                **fields,
                "label": parts.labels,
                "qid": parts.blocks(lambda part, _, first: part.queries.query_of_row + first),
                _NUMBERS: numbers,
            }
            kind = xgb_dask.DaskDMatrix
            if binned:
                kind = xgb_dask.DaskQuantileDMatrix
                own |= {"max_bin": self.max_bin, "ref": matrices[0] if matrices else None}
            matrix = kind(parts.client, parts.features, **own)
            matrix.worker_map = _shares(parts, matrix, list((matrices or [matrix])[0].worker_map))
            matrices.append(matrix)
        return matrices


def _gradient_hessian(loss: Loss, name: str, scores: Any, matrix: xgb.DMatrix) -> Any:
    """Return gradient and Hessian of the loss of a worker's rows, as XGBoost calls an objective."""
    _assign_queries(matrix, name)
    return loss(scores, matrix)


def _values(metrics: list[Metric], name: str, scores: Any, matrix: xgb.DMatrix) -> list[tuple[str, float]]:
    """Return names and values of all metrics, as XGBoost calls a metric."""
    _assign_queries(matrix, name)
    return [metric(scores, matrix) for metric in metrics]


def _assign_queries(matrix: xgb.DMatrix, name: str) -> None:
    """Make losses and metrics read the queries `published` by name; an error on one worker is raised on all."""
    if record_of(matrix).assigned is None:
        with in_step(XGBoost().workers(), 1) as exchange:
            assign(matrix, queries_of_rows(matrix.get_float_info(_NUMBERS), name))
            exchange.sum(np.zeros(1))


def _shares(parts: PartitionedSet, matrix: Any, workers: list[str]) -> dict[str, list[Any]]:
    """Return the futures of each worker, in the order of partitions, as XGBoost would sort them.

    The partitions of a training set stay. Those of a validation set go in turn to the workers that hold rows of the
    training set: XGBoost fails on a worker without training rows, and with categorical columns on one without
    validation rows.
    """
    if workers == list(matrix.worker_map):
        order = matrix.partition_order
        return {worker: sorted(held, key=lambda one: order[one.key]) for worker, held in matrix.worker_map.items()}
    futures = [future for held in matrix.worker_map.values() for future in held]
    if parts.schema.categories and len(futures) < len(workers):
        raise ValueError(
            f"{parts.where}X has {len(futures)} partitions with rows for {len(workers)} workers, and XGBoost needs "
            "rows on each if columns are categorical; repartition it: "
            f"partition_by_query(ddf, qid, npartitions={2 * len(workers)})"
        )
    futures.sort(key=lambda future: matrix.partition_order[future.key])
    return {worker: futures[i :: len(workers)] for i, worker in enumerate(workers[: len(futures)])}


def _print(text: str) -> None:
    """Print at the client, and not on the worker as well."""
    get_worker().log_event("print", text.strip())
