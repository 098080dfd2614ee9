"""`LGBMRanker` on Dask collections, trained by `lightgbm.DaskLGBMRanker`."""

import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from distributed import get_worker

from boostplug.adapters.calling import as_single
from boostplug.core.arrays import Floats
from boostplug.core.checks import check_integer, shown
from boostplug.core.extras import needed_by
from boostplug.core.threads import threads_of_framework
from boostplug.dask.collections import PartitionedSet, partitioned_set, published, queries_of_rows
from boostplug.dask.ranker import RankerOnCollections, fitted_state
from boostplug.data.queries import row_weights
from boostplug.data.tables import check_same_categories, rows_of, schema_of
from boostplug.estimators.columns import counting_features
from boostplug.estimators.inputs import inputs_of
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES as ALIASES
from boostplug.estimators.parameter_names import given_as
from boostplug.estimators.parameters import for_framework
from boostplug.losses import Loss
from boostplug.selection.cut_queries import TrainingSummary

with needed_by("boostplug.dask.LGBMRanker needs", "lightgbm", "dask"):
    import lightgbm as lgb

    from boostplug.estimators import lightgbm as local

_OF_CLUSTER = ("machines", "num_machines", "local_listen_port", "time_out", "tree_learner")  # parameters


class LGBMRanker(RankerOnCollections, local.LGBMRanker):
    """`boostplug.LGBMRanker` that trains on a Dask cluster, on collections whose partitions hold whole queries.

    `lightgbm.DaskLGBMRanker` trains. A loss has the scale of all workers, so the model equals that of one machine if
    the features have the same bins: LightGBM finds the bins of a feature on the rows of one worker. On several workers
    it estimates the number of rows of a leaf from their Hessians, so leaves near ``min_child_samples`` may differ. The
    fitted attributes are those of `boostplug.LGBMRanker`. A cluster trains one ranker at a time.

    Parameters
    ----------
    objective : Loss or str, optional
        One of our losses that does not couple queries (not `AdaRank`: LightGBM lets workers sum nothing in Python), or
        a name of LightGBM's; None is its lambdarank.
    client : distributed.Client, optional
        Default: the current one. It is not pickled.
    time_out : int, default 5
        Minutes that a worker waits for another one before it gives up. Must exceed the time by which the slowest worker
        computes its gradients later than the fastest. LightGBM's own default is 120.
    **lightgbm_params
        As for `lightgbm.LGBMRanker`, without `linear_tree`. Each worker uses the threads that Dask gives it, whatever
        `n_jobs` says; `tree_learner` is "data" or "voting". `random_state` and sampling act on each worker's rows.

    Examples
    --------
    >>> import boostplug as bp
    >>> ranker = bp.dask.LGBMRanker(objective=bp.MPBoost(), n_estimators=50)
    >>> ranker.get_params()["objective__distance__lam"]
    3.0
    """

    _dtype, _local = np.float64, local.LGBMRanker

    def __init__(self, *, client: Any = None, time_out: int = 5, **lightgbm_params: Any) -> None:
        self.client = client
        self.time_out = time_out
        super().__init__(**lightgbm_params)

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        labels: Mapping[str, Any] | None = None,
        position: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        init_model: Any = None,
        **refused: Any,
    ) -> "LGBMRanker":
        """Fit on the workers that hold the partitions.

        Parameters
        ----------
        X : dask.dataframe.DataFrame or dask.array.Array of shape (n_rows, n_features)
            A frame may hold the query ids as a column named qid, which is no feature then.
        y : dask.dataframe.Series or dask.array.Array of shape (n_rows,)
            Grades; with our losses any finite numbers.
        qid : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Query ids, of any type; each query lies in one partition (`partition_by_query`).
        sample_weight : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Weights per row, each 0 or from 1e-100 to 1e100; one that is constant in a query is the query's. (A weight
            per query has no place in partitions of rows.) LightGBM's own objectives take them in single precision.
        labels : mapping of str to dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            More labels by name, for losses that read one of them: ``bp.QBRank().on("sale")``.
        position : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Where users saw each row, from 1; for losses that learn from clicks (`Unbiased`).
        feature_name, categorical_feature
            As for `lightgbm.LGBMRanker.fit`.
        init_model : str, Path, Booster or ranker, optional
            A model of the same columns and categories, in whose scores training starts.
        **refused
            The other parameters of `boostplug.LGBMRanker.fit` raise a TypeError.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries or weights are wrong, queries lie in several partitions, or a parameter cannot be had on
            several machines; before any training. What the loss raises at scores of 0 is raised before any training.
        RuntimeError
            If the loss raises later on a worker: after the last round, in which no tree has a split any more.
        LightGBMError
            If a worker is lost; then LightGBM cannot train on the others again until ``client.restart()``.
        """
        self._check_absent(refused)
        objective, loss = self._objective_of_fit([])
        params = self._params_of_workers(objective, loss)
        given = inputs_of(self, X=X, y=y, qid=qid, weight=sample_weight, labels=labels, position=position)
        given = given.take_columns()
        params |= {"categorical_feature": categorical_feature}
        params = counting_features(params, X, given.columns.values(), self.features)
        categorical_feature = params.pop("categorical_feature")
        client = self._client()
        parts = partitioned_set(client, given, local=self._local_name())
        parts.repeat_warnings()
        model, sample_weight = _check_model(init_model, parts, feature_name), None
        with warnings.catch_warnings(), published([parts]) as name:
            warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")
            if loss is not None:
                params |= {"objective": _Objective(loss, parts.sums_of(loss), name), "metric": "None"}
                sample_weight = parts.numbers()
            elif given.weight is not None:
                sample_weight = parts.blocks(lambda part, *_: row_weights(part.queries))
            trained = lgb.DaskLGBMRanker(client=client, **params)
            trained.fit(
                parts.features,
                parts.labels,
                sample_weight=sample_weight,
                group=parts.blocks(lambda part, *_: part.queries.group),
                feature_name=feature_name,
                categorical_feature=categorical_feature,
                init_model=model,
            )
        for _, text in client.get_events(name):
            raise RuntimeError(text)
        _forget_cluster(trained.booster_)
        self.__dict__.update(fitted_state(trained), _objective=objective)
        self.training_summary_ = TrainingSummary(parts.schema, {"qid": "qid", **given.columns})
        return self

    def _params_of_workers(self, objective: Any, loss: Loss | None) -> dict[str, Any]:
        """Return the parameters of the training, refusing those that the cluster sets, or that need sums."""
        if loss is None and callable(objective):
            raise ValueError(
                f"objective must be one of our losses or a name of LightGBM's, got {shown(objective)}: a function "
                "would see only the rows of one worker"
            )
        if loss is not None and loss.couples_queries:
            raise ValueError(
                f"{loss!r} weighs each query by the scores of all others, which LightGBM cannot add up over its "
                "workers; use boostplug.dask.XGBRanker, or one machine"
            )
        params = {
            name: value
            for name, value in for_framework(self._local_params()).items()
            if name not in {*ALIASES["objective"], *ALIASES["metric"]}
        }
        if named := self._named_metrics():  # of which ours would judge validation sets, and there are none
            params["metric"] = [metric for metric in named if isinstance(metric, str)] or "None"
        params |= {"objective": objective, "time_out": check_integer("time_out", self.time_out, 1, " (minutes)")}
        boosting = {str(value).lower() for value in given_as(params, "boosting").values()}
        if loss is not None and boosting & {"rf", "random_forest"}:  # LightGBM's own error would leave workers waiting
            raise ValueError("boosting='rf' fails with any custom objective in LightGBM; use 'gbdt', 'dart' or 'goss'")
        local_options = (*ALIASES["early_stopping_round"], "linear_tree", "linear_trees")
        self._check_absent({alias: params.get(alias) or None for alias in local_options})
        learners = given_as(params, "tree_learner")
        self._check_absent(
            {f"{alias}={name!r}": name for alias, name in learners.items() if str(name).startswith("feature")}
        )
        return params


class _Objective:
    """A loss as `lightgbm.DaskLGBMRanker` calls it on each worker; the weights are the numbers of partitions.

    The driver has published the queries, and reads the events of that name. A worker that raised would leave the others
    waiting. So it returns NaN in this round and all later ones, with which no worker finds a split, and the driver
    raises the error at the end.
    """

    def __init__(self, loss: Loss, sums: Floats, name: str) -> None:
        self.loss, self.sums, self.name = loss, sums, name
        self.queries: Any = None
        self.failed = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "queries": None}

    def __call__(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[Any, Any]:  # noqa: ARG002 (LightGBM's signature)
        worker = get_worker()
        if not self.failed:
            try:
                self.queries = self.queries or queries_of_rows(weight, self.name)
                with threads_of_framework(worker.state.nthreads):
                    gradient, hessian = self.loss.gradient_hessian(y_pred, self.queries, totals=self.sums)
                return as_single(self.loss, gradient, hessian)[:2]
            except Exception as error:  # noqa: BLE001 (whatever it is, the others must not wait)
                self.failed = True
                text = f"{self.loss!r} failed on worker {worker.address}: {type(error).__name__}: {error}"
                worker.log_event(self.name, text)
        nothing = np.full(len(y_pred), np.nan, np.float32)
        return nothing, nothing


def _check_model(init_model: Any, parts: PartitionedSet, feature_name: Any) -> Any:
    """Return the model to go on from, refusing one of other columns or categories."""
    first = parts.client.submit(lambda part: rows_of(part.X, slice(0, 1)), parts.futures[0]).result()
    model, features = local.model_and_features(init_model, first, feature_name)
    check_same_categories(parts.schema, schema_of(features), "X", "init_model; give both the same with set_categories")
    return model.booster_ if isinstance(model, lgb.LGBMModel) else model


def _forget_cluster(booster: lgb.Booster) -> None:
    """Take the workers' addresses out of a model: one that is loaded and trained on would look for them."""
    lines = rf"^\[({'|'.join(_OF_CLUSTER)}): .*\]\n"
    booster.model_from_string(re.sub(lines, "", booster.model_to_string(num_iteration=-1), flags=re.MULTILINE))
    for name in _OF_CLUSTER:
        booster.params.pop(name, None)
