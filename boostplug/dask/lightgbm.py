"""LightGBM's ranker on a Dask cluster, trained by `lightgbm.dask`, with our losses at the scale of all workers."""

import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import lightgbm as lgb
import numpy as np
from distributed import CancelledError, Event, Future, MultiLock, get_worker
from lightgbm import dask as lgb_dask
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from boostplug.adapters import call as framework_call
from boostplug.adapters.aliases import LIGHTGBM as ALIASES
from boostplug.adapters.reading import assign
from boostplug.core.checks import check_integer, column_names, shown
from boostplug.dask.collections import (
    POSITION,
    Part,
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
from boostplug.estimators import lightgbm as local
from boostplug.estimators.inputs import FIT, ColumnPlaces, with_float32_labels
from boostplug.losses import Loss

Floats = NDArray[np.float64]

_LOCAL = "boostplug.LGBMRanker"
_NETWORK = {
    "machines": "",
    "num_machines": "1",
    "local_listen_port": "12400",
    "time_out": "120",
    "tree_learner": "serial",
}
_PATIENCE = 10  # seconds in which workers notice that another has left
_EVALUATION = (
    "is not taken with collections: LightGBM evaluates the rows of each worker alone, and workers that stop at "
    "different rounds wait for each other; use boostplug.dask.XGBRanker, whose metrics are over all workers, or choose "
    "the number of rounds by score() of models that init_model continues"
)
_LOST = (
    "a worker was lost in the training: killed, out of memory, or cut off. LightGBM cannot go on without it; fit "
    "again; if that fails, call client.restart(), fit again, and load again what only workers held"
)
_REASONS = {
    **dict.fromkeys(("eval_set", "eval_X", "eval_y", "eval_qid", "eval_group", "eval_names"), _EVALUATION),
    **dict.fromkeys(("eval_sample_weight", "eval_init_score", "eval_metric", "eval_at"), _EVALUATION),
    "early_stopping_rounds": _EVALUATION,
    "init_score": "is not taken with collections; pass init_model, whose scores are the start",
    "callbacks": (
        "are not taken with collections: one that stops or fails on one worker leaves the others waiting for it; "
        "change parameters by round with init_model, a fit after the other"
    ),
}


class LGBMRanker(RankerOnCollections, local.LGBMRanker):
    """`boostplug.LGBMRanker` that trains on a Dask cluster, on collections whose partitions hold whole queries.

    `lightgbm.dask` trains. A loss has the scale of all workers, so the model equals that of one machine if the features
    have the same bins: LightGBM finds the bins of a feature on the rows of one worker. On several workers it estimates
    the number of rows of a leaf from their Hessians, so leaves near ``min_child_samples`` may differ. The fitted
    attributes are those of `boostplug.LGBMRanker`.

    Parameters
    ----------
    objective : Loss or str, optional
        One of our losses that does not couple queries (not `AdaRank`: LightGBM lets workers sum nothing in Python), or
        a name of LightGBM's; None is its lambdarank.
    client : distributed.Client, optional
        Default: the current one. It is not pickled.
    time_out : int, default 5
        Minutes that a worker waits for another one before it gives up: longer than the gradients of a round differ.
        LightGBM's own default is 120.
    **lightgbm_params
        As for `lightgbm.LGBMRanker`. Each worker uses the threads that Dask gives it, whatever `n_jobs` says;
        `tree_learner` is "data" or "voting". `random_state` and sampling act on each worker's rows.

    Examples
    --------
    >>> import boostplug as bp
    >>> ranker = bp.dask.LGBMRanker(objective=bp.MPBoost(), n_estimators=50)
    >>> ranker.get_params()["objective__distance__lam"]
    3.0
    """

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
            per query has no place in partitions of rows.)
        labels : mapping of str to dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            More labels by name, for losses that read one of them: ``bp.QBRank().on("sale")``.
        position : dask.dataframe.Series or dask.array.Array of shape (n_rows,), optional
            Where users saw each row, from 1; for losses that learn from clicks (`Unbiased`).
        feature_name, categorical_feature
            As for `lightgbm.LGBMRanker.fit`.
        init_model : str, Path, Booster or ranker, optional
            A model of the same columns, in whose scores training starts.
        **refused
            The other parameters of `boostplug.LGBMRanker.fit`; the error says why they are refused.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries or weights are wrong, queries lie in several partitions, or a parameter cannot be had on
            several machines; before any training. What a worker raises in training is raised with its address.
        RuntimeError
            If a worker is lost; then LightGBM cannot train on the others again until ``client.restart()``.
        """
        refuse_on_collections(refused, _REASONS)
        params = {**self._params_of_workers(), "time_out": check_integer("time_out", self.time_out, 1, " (minutes)")}
        objective, loss = self._objective_of_fit([])
        _refuse_objective(objective, loss)
        given = Inputs(X=X, y=y, qid=qid, weight=sample_weight, labels=labels, position=position, arguments=FIT).split()
        places = ColumnPlaces(column_names(X), frozenset(given.columns.values()))
        local.count_features(params, places)
        if isinstance(init_model, (str, Path)):
            init_model = lgb.Booster(model_file=init_model)
        client, job = client_of(self.client), _LightGBMJob(loss)
        with job.running(client, _is_loss_of_worker, _LOST):
            model = self._trained(
                client,
                given,
                params,
                job=job,
                init_model=init_model,
                feature_name=feature_name,
                categorical_feature=places.among_features("categorical_feature", categorical_feature),
            )
        told = model.__dict__.pop("_told")
        _forget_network(model.booster_)
        self.__dict__.update(_fitted_state(model), _columns_by_role={"qid": "qid", **given.columns})
        for text in told:
            warnings.warn(text, UserWarning, stacklevel=2)
        return self

    def _trained(
        self, client: Any, given: Inputs, params: dict[str, Any], *, job: "_LightGBMJob", **arguments: Any
    ) -> Any:
        """Return the model of the first worker, which all have."""
        parts = parts_of(client, given, local=_LOCAL)
        parts.repeat_warnings()
        one_training = MultiLock(sorted(client.nthreads()), client=client)  # two would wait for workers of each other
        names = names_of_columns(given)
        packed = parts.blocks(partial(_weights_and_columns, names), 1 + len(names)) if parts.weighted or names else None
        with one_training, _cancelled_when_lost(client):
            return lgb_dask._train(  # noqa: SLF001 (as its own rankers call it)
                client=client,
                data=parts.features,
                label=parts.labels,
                sample_weight=packed,
                label_names=names,
                group=parts.blocks(_sizes),
                params=params,
                model_factory=_OnWorker,
                sums=None if job.loss is None else np.sum(parts.ask(_query_sums, job.loss), axis=0),
                job=job,
                **arguments,
            )

    def _example(self, X: Any, *args: Any, **kwargs: Any) -> NDArray[Any]:
        few = _example_rows(X) if isinstance(X, dd.DataFrame) else np.zeros((1, X.shape[1]), X.dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a frame that does not know its categories makes some up
            return np.asarray(self.to_local().predict(few, *args, **kwargs))

    def to_local(self) -> local.LGBMRanker:
        """Return the fitted `boostplug.LGBMRanker`, which knows no cluster: its saved model loads in plain LightGBM.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        ranker = local.LGBMRanker(**self._local_params())
        ranker.__dict__.update(_fitted_state(self))
        return ranker

    def refit(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 (whatever they are)
        """Refuse: leaves are estimated anew on one machine, by ``to_local().refit(…)``."""
        raise ValueError("refit is of one machine; call to_local().refit(…) with data in memory")

    def _local_params(self) -> dict[str, Any]:
        return {
            name: value for name, value in self.get_params(deep=False).items() if name not in {"client", "time_out"}
        }

    def _params_of_workers(self) -> dict[str, Any]:
        """Return the parameters of the worker's rankers, refusing those that the cluster sets, or that need sums."""
        params = self._local_params()
        if params["n_jobs"] is None:  # lightgbm.dask warns of it
            del params["n_jobs"]
        for alias in (*ALIASES["early_stopping_round"], "eval_metric"):
            refuse_on_collections({alias: params.get(alias) or None}, {alias: _EVALUATION})
        for alias in ALIASES["tree_learner"]:
            if params.get(alias) not in {None, "data", "data_parallel", "voting", "voting_parallel"}:
                raise ValueError(
                    f"{alias} must be 'data' or 'voting', as each worker holds rows of its own; got "
                    f"{shown(params[alias])}"
                )
        if params.get("linear_tree") or params.get("linear_trees"):
            raise ValueError("linear_tree trains on one machine only: LightGBM ignores the other workers; leave it")
        return params


def _example_rows(X: Any) -> Any:
    """Return rows as a frame may hold them; a column of text may be one of missing values, and its partitions say."""
    few = X._meta_nonempty  # noqa: SLF001
    texts = few.select_dtypes(["object", "string"]).columns
    return few.assign(**dict.fromkeys(texts, np.nan))


class _Stopped(Exception):  # noqa: N818 (no error of its own: it ends a training after one)
    """A worker has failed in this round."""


class _LightGBMJob(Job):
    """On each worker, the objective and the callback that `lgb.train` calls.

    A worker that raised in the objective would leave the others waiting. So it returns no derivatives, all workers
    meet in the sums of the round, and end after it.
    """

    def __init__(self, loss: Loss | None) -> None:
        super().__init__(loss)
        self.round = 0
        self.fault: Exception | None = None

    def __deepcopy__(self, _memo: Any) -> "_LightGBMJob":
        return self  # lgb.train copies its parameters

    def begin(self, queries: Queries, sums: Floats) -> None:
        """Set what a worker knows."""
        self.queries, self.sums = queries, sums

    def __call__(self, scores: Any, dataset: Any) -> Any:
        self.round += 1
        try:
            assign(dataset, self.queries)
            return self.derivatives(framework_call.objective, self.loss, scores, dataset, None, None, sums=self.sums)
        except Exception as error:  # noqa: BLE001 (whatever it is, the others must know)
            self.fault = error
            self._failure().set()
            return (np.zeros(self.queries.n_rows, np.float32),) * 2

    def after_round(self, env: Any) -> None:
        """End the training on all workers after the round in which one failed."""
        if self._failure().is_set():
            env.model.free_network()
            raise _Stopped

    def _failure(self) -> Any:
        """Return what all workers see: whether one has failed in this round."""
        return Event(f"boostplug-{self.name}-{self.round}")


class _OnWorker(local.LGBMRanker):
    """The ranker of one worker."""

    def fit(  # type: ignore[override]
        self, *args: Any, job: _LightGBMJob, sums: Floats | None, label_names: tuple[str, ...], **kwargs: Any
    ) -> "_OnWorker":
        """Fit in step with the other workers."""
        self._job, self._sums = job, sums
        packed = kwargs.get("sample_weight")
        if packed is not None:
            labels = dict(zip(label_names, packed[:, 1:].T, strict=True))
            position = labels.pop(POSITION, None)
            kwargs |= {"sample_weight": packed[:, 0], "labels": labels, "position": position}
        try:
            super().fit(*args, **{**kwargs, "callbacks": None if job.loss is None else [job.after_round]})
        except _Stopped:
            if job.fault is not None:
                raise _without_frames(job.fault) from None
        except Exception as error:  # noqa: BLE001 (whatever it is, it leaves the worker without its frames)
            raise _without_frames(error) from None
        else:  # a worker may have nothing to learn from while others have
            constant = not self.booster_.feature_importance().any()
            self._told = [text for text, learns in job.texts.items() if learns or constant]
        del self._job, self._sums
        return self

    def _fitted_position_bias(self, loss: Any, train: Any) -> None:
        """Say nothing of the pages of one worker."""

    def _process_params(self, stage: str) -> dict[str, Any]:
        params = super()._process_params(stage)
        if self._sums is not None:
            self._job.begin(self._fit_queries, self._sums)
            params["objective"] = self._job
        return params


def _refuse_objective(objective: Any, loss: Loss | None) -> None:
    if loss is None and objective is not None and not isinstance(objective, str):
        raise ValueError(
            f"objective must be one of our losses or a name of LightGBM's, got {shown(objective)}: a function would "
            "see the rows of one worker alone"
        )
    if loss is not None and loss.couples_queries:
        raise ValueError(
            f"{loss!r} weighs each query by the scores of all others, which LightGBM cannot add up over its workers; "
            "use boostplug.dask.XGBRanker, or one machine"
        )


def _query_sums(part: Part, loss: Loss) -> Floats:
    """Return the sums of a partition's queries, which depend on no scores."""
    queries = with_float32_labels(part.queries, warn=False)  # the driver warns
    return loss.query_sums(np.zeros(queries.n_rows), queries)


def _is_loss_of_worker(error: Exception) -> bool:
    return isinstance(error, CancelledError) or (isinstance(error, lgb.basic.LightGBMError) and "ocket" in str(error))


@contextmanager
def _cancelled_when_lost(client: Any) -> Iterator[None]:
    """Cancel the task of a worker that has left the cluster: if no other notices, `lightgbm.dask` waits for ever."""
    over = threading.Event()

    def watch() -> None:
        seconds = 0
        while not over.wait(1.0):
            on_workers = {key for keys in client.processing().values() for key in keys}
            tasks = [Future(key, client) for key in tuple(client.futures) if str(key).startswith("_train_part-")]
            lost = [task for task in tasks if task.status == "pending" and task.key not in on_workers]
            seconds = seconds + 1 if lost else 0
            if seconds > _PATIENCE:
                client.cancel(lost)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _without_frames(error: Exception) -> Exception:
    """Name the worker, and drop the frames: a Booster that ends later takes down the network of the next training."""
    error.add_note(f"raised on worker {get_worker().address}")
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error


def _forget_network(booster: lgb.Booster) -> None:
    """Take the workers' addresses out of a model: one that is loaded and trained on would look for them."""
    text = booster.model_to_string(num_iteration=-1)
    for name, default in _NETWORK.items():
        text = re.sub(rf"^\[{name}: .*\]$", f"[{name}: {default}]", text, flags=re.MULTILINE)
        booster.params.pop(name, None)
    booster.model_from_string(text)


def _fitted_state(ranker: lgb.LGBMRanker) -> dict[str, Any]:
    """Return what a ranker has from `fit`, and not from its parameters."""
    kept = {name: value for name, value in vars(ranker).items() if name.startswith("_") and name != "_other_params"}
    return {**kept, "fitted_": True}


def _weights_and_columns(names: tuple[str, ...], part: Part, _first: int) -> Floats:
    """Return the weights of a part's rows, and more columns of it by name, as one table."""
    return np.column_stack([part.weight, *(column_of(name, part) for name in names)])


def _sizes(part: Part, _first: int) -> NDArray[np.int64]:
    return np.diff(part.queries.boundaries)
