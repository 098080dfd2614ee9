"""LightGBM's ranker on a Dask cluster, with our losses at the scale of all workers."""

import math
import re
import socket
import time
import uuid
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlparse

import dask.array as da
import dask.dataframe as dd
import lightgbm as lgb
import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import Event, MultiLock, wait
from distributed.protocol.pickle import dumps, loads
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from boostplug.adapters import call as plug
from boostplug.adapters.aliases import LIGHTGBM as ALIASES
from boostplug.core.checks import check_instance, check_integer, shown
from boostplug.dask.collections import (
    Part,
    Parts,
    check_features,
    client_of,
    joined,
    joined_queries,
    parts_of,
    refuse_on_collections,
)
from boostplug.data.queries import Queries
from boostplug.estimators import lightgbm as local
from boostplug.estimators.inputs import with_float32_labels
from boostplug.losses import Loss
from boostplug.metrics import NDCG, Metric

__all__ = ["LGBMRanker"]

Floats = NDArray[np.float64]

_LOCAL = "boostplug.LGBMRanker"
_NETWORK = {
    "machines": "",
    "num_machines": "1",
    "local_listen_port": "12400",
    "time_out": "120",
    "tree_learner": "serial",
}
_LARGEST = 100.0 * math.log(2.0)  # of derivatives: those beyond 2^100 would need one factor for all workers
_LOOK = 1.0  # seconds after which the driver looks whether all workers are there
_PATIENCE = 10.0  # seconds that workers have to answer once one has failed
_RESTART = "call client.restart(), then fit again; load again what only workers held, as scattered data"
_sockets: dict[str, socket.socket] = {}


class LGBMRanker(local.LGBMRanker):
    """`boostplug.LGBMRanker` that trains on a Dask cluster, on collections whose partitions hold whole queries.

    Each worker that holds rows trains on them, in LightGBM's own network; a loss has the scale of all of them. So the
    model is that of one machine as far as the features' bins are: LightGBM finds each feature's bins on the rows of one
    worker. And on several it estimates the rows of a leaf by their Hessians, so that leaves near ``min_child_samples``
    may differ. The fitted attributes are `boostplug.LGBMRanker`'s.

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
        As for `lightgbm.LGBMRanker`. `n_jobs` is by worker, by default as many threads as Dask gives it; `tree_learner`
        is "data" or "voting". `random_state` and sampling act on each worker's rows.

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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        group: Any = None,
        eval_set: Any = None,
        eval_names: Any = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_group: Any = None,
        eval_metric: Any = None,
        eval_at: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Any = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
        qid: Any = None,
        eval_qid: Any = None,
        pairs: Any = None,
        eval_pairs: Any = None,
        early_stopping_rounds: Any = None,
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
        feature_name, categorical_feature
            As for `lightgbm.LGBMRanker.fit`.
        init_model : str, Path, Booster or ranker, optional
            A model of the same columns, in whose scores training starts.
        **refused
            The other parameters of `boostplug.LGBMRanker.fit`, of which the error says why they cannot be had.

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
        refuse_on_collections(group=group, pairs=pairs, eval_pairs=eval_pairs)
        self._refuse_evaluation(
            eval_set=eval_set, eval_X=eval_X, eval_y=eval_y, eval_qid=eval_qid, eval_group=eval_group,
            eval_names=eval_names, eval_sample_weight=eval_sample_weight, eval_init_score=eval_init_score,
            eval_metric=eval_metric, eval_at=eval_at, early_stopping_rounds=early_stopping_rounds,
        )  # fmt: skip
        if init_score is not None:
            raise ValueError("init_score is not taken with collections; pass init_model, whose scores are the start")
        if callbacks is not None:
            raise ValueError(
                "callbacks are not taken with collections: one that stops or fails on one worker leaves the others "
                "waiting for it; change parameters by round with init_model, a fit after the other"
            )
        time_out = check_integer("time_out", self.time_out, 1, " (minutes)")
        params = self._params_of_workers()
        objective, loss = self._objective_of_fit([])
        _refuse_objective(objective, loss)
        if isinstance(init_model, (str, Path)):
            init_model = lgb.Booster(model_file=init_model)
        client = client_of(self.client)
        parts = parts_of(client, X, y, qid=qid, sample_weight=sample_weight, local=_LOCAL)
        arguments = {
            "init_model": init_model, "feature_name": feature_name, "categorical_feature": categorical_feature,
        }  # fmt: skip
        with parts.released_on_error():
            parts.warn_of_merged_labels()
            terms = None if loss is None else _terms(loss, parts)
            model, told = _train(client, parts, params, arguments, terms, time_out)
        for text in told:
            warnings.warn(text, UserWarning, stacklevel=2)
        self.__dict__.update(_fitted_state(model))
        return self

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Return predictions: of a collection a lazy one, a Series with the frame's index or an array.

        Parameters
        ----------
        X : dask.dataframe.DataFrame, dask.array.Array, or in memory, of shape (n_rows, n_features)
            In partitions of any kind: predictions know no queries. A column named qid is left out.
        *args, **kwargs
            As for `lightgbm.LGBMRanker.predict`; with `pred_leaf` or `pred_contrib` there is a row of numbers for each
            row, in a DataFrame or an Array.
        """
        model = self.to_local()
        if not isinstance(X, (da.Array, dd.DataFrame)):
            return model.predict(X, *args, **kwargs)
        X = check_features(X, _LOCAL)
        few = X._meta_nonempty if isinstance(X, dd.DataFrame) else np.zeros((1, X.shape[1]), X.dtype)  # noqa: SLF001
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a frame that does not know its categories makes some up
            some = np.asarray(model.predict(few, *args, **kwargs))
        predict = partial(_predictions, n_columns=some.shape[1:], args=args, kwargs=kwargs)
        if isinstance(X, dd.DataFrame):
            return X.map_partitions(predict, delayed(model), meta=predict(X._meta, model))  # noqa: SLF001
        shape = {"drop_axis": 1} if some.ndim == 1 else {"chunks": (X.chunks[0], some.shape[1:])}
        return X.map_blocks(predict, delayed(model), **shape, dtype=some.dtype, meta=some[:0])

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
        """Return a metric over all queries, `NDCG` (10) unless `metric` names another; data may be in memory too."""
        if not isinstance(X, (da.Array, dd.DataFrame)):
            return super().score(X, y, sample_weight, qid=qid, group=group, metric=metric)
        refuse_on_collections(group=group)
        metric = NDCG(10) if metric is None else check_instance("metric", metric, Metric, "NDCG(10)")
        parts = parts_of(client_of(self.client), X, y, qid=qid, sample_weight=sample_weight, local=_LOCAL)
        return parts.score(self.to_local(), metric)

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

    def export(self) -> lgb.LGBMRanker:
        """Return ``to_local().export()``: a plain `lightgbm.LGBMRanker` that predicts the same."""
        return self.to_local().export()

    def __sklearn_clone__(self) -> "LGBMRanker":
        params = self.get_params(deep=False)
        shared = {"client": params.pop("client")}  # a connection is not to be copied
        return type(self)(**{name: clone(value, safe=False) for name, value in params.items()}, **shared)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def _local_params(self) -> dict[str, Any]:
        return {
            name: value for name, value in self.get_params(deep=False).items() if name not in {"client", "time_out"}
        }

    def _params_of_workers(self) -> dict[str, Any]:
        """Return the parameters of the worker's rankers, refusing those that the cluster sets, or that need sums."""
        params = self._local_params()
        for own in ("machines", "num_machines", "machine_list_filename"):
            given = next((alias for alias in ALIASES[own] if params.get(alias) is not None), None)
            if given is not None:
                raise ValueError(
                    f"{given}={shown(params[given])}: the workers of the client are the machines; leave it"
                )
        for alias in (*ALIASES["early_stopping_round"], "eval_metric"):
            if params.get(alias):
                self._refuse_evaluation(**{alias: params[alias]})
        for alias in ALIASES["tree_learner"]:
            if params.get(alias) not in {None, "data", "data_parallel", "voting", "voting_parallel"}:
                raise ValueError(
                    f"{alias} must be 'data' or 'voting', as each worker holds rows of its own; got "
                    f"{shown(params[alias])}"
                )
        return params

    def _refuse_evaluation(self, **arguments: Any) -> None:
        for name, value in arguments.items():
            if value is not None:
                raise ValueError(
                    f"{name} is not taken with collections: LightGBM evaluates the rows of each worker alone, and "
                    "workers that stop at different rounds wait for each other; use boostplug.dask.XGBRanker, whose "
                    "metrics are over all workers, or choose the number of rounds by score() of models that init_model "
                    "continues"
                )


class _Stopped(Exception):  # noqa: N818 (no error of its own: it ends a training after one)
    """A worker has failed in this round."""


class _Known:
    """`Totals` of sums that the driver has computed; nothing is asked in training."""

    def __init__(self, sums: Floats) -> None:
        self.sums = sums

    def gather(self, values: Floats) -> Floats:
        if values.shape != self.sums.shape:
            raise ValueError(
                f"the loss asks for {len(values)} sums over all workers, of which its scale_terms gives "
                f"{len(self.sums)}: LightGBM cannot add up more; train with boostplug.dask.XGBRanker"
            )
        return self.sums[np.newaxis]

    def largest(self, value: float) -> float:
        if value > _LARGEST:
            raise ValueError(
                f"derivatives of e^{value:.4g} pass 2^100, and LightGBM's workers cannot agree on a factor that brings "
                "them back; lower learning_rate or the number of rounds, or train with boostplug.dask.XGBRanker"
            )
        return value


@dataclass
class _Job:
    """One worker's side of a training: what its ranker trains with, and what has happened."""

    name: str
    network: dict[str, Any]
    threads: int
    terms: Floats | None
    rank: int
    round: int = 0
    fault: Exception | None = None
    told: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    """Warnings of a round in which this worker had no gradient."""

    def __deepcopy__(self, _memo: Any) -> "_Job":
        return self  # lgb.train copies its parameters

    def gradient_hessian(self, loss: Loss, queries: Queries, scores: Any, dataset: Any) -> Any:
        """Return the derivatives, none after an error: a worker that raised here would leave the others waiting."""
        assert self.terms is not None
        self.round += 1
        try:
            self._refuse_to_go_on()
            plug.assign(dataset, queries)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                g, h = plug.objective(loss, scores, dataset, None, None, totals=_Known(self.terms))
            (self.told if g.any() else self.idle).extend(str(warning.message) for warning in caught)
        except Exception as error:  # noqa: BLE001 (whatever it is, the others are to know)
            self.fault = error
            if self.network:
                self._event(self.round).set()
            g = h = np.zeros(queries.n_rows, np.float32)
        return g, h

    def after_round(self, env: Any) -> None:
        """End the training on all workers alike after the round in which one failed: all have met in its sums."""
        failed = self.fault is not None
        if failed or (self.network and self.terms is not None and self._event(self.round).is_set()):
            env.model.free_network()
            raise _Stopped

    def _refuse_to_go_on(self) -> None:
        """Raise on the first worker once the driver has given up, say by Ctrl-C; the others follow after the round."""
        if self.rank == 0 and self.network and self._event("stop").is_set():
            raise InterruptedError("the fit was interrupted")

    def _event(self, what: Any) -> Any:
        return Event(f"{self.name}-{what}")


class _OnWorker(local.LGBMRanker):
    """The ranker of one worker."""

    _job: _Job

    def _process_params(self, stage: str) -> dict[str, Any]:
        params = super()._process_params(stage)
        job, known = self._job, self.get_params(deep=False)
        if isinstance(self._objective, Loss):
            params["objective"] = _Objective(self._objective, self._fit_queries, job)
        if all(known.get(alias) is None for alias in ALIASES["num_threads"]):
            params["num_threads"] = job.threads
        params.update(job.network)
        if job.network and not any(alias in params for alias in ALIASES["tree_learner"]):
            params["tree_learner"] = "data"
        return params


class _Objective:
    """A loss as `lgb.train` calls it."""

    def __init__(self, loss: Loss, queries: Queries, job: _Job) -> None:
        self.loss, self.queries, self.job = loss, queries, job

    def __call__(self, scores: Any, dataset: Any) -> Any:
        return self.job.gradient_hessian(self.loss, self.queries, scores, dataset)

    def __deepcopy__(self, _memo: Any) -> "_Objective":
        return self


class _Outcome(NamedTuple):
    """What a worker answers."""

    model: Any
    fault: Exception | None
    told: list[str]
    idle: list[str]


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


def _terms(loss: Loss, parts: Parts) -> Floats:
    """Return the terms of the scale of all partitions, numerators and then denominators."""
    answers = parts.ask(_terms_of_part, loss)
    for number, answer in enumerate(answers):
        if isinstance(answer, str):
            raise ValueError(f"in partition {number} of the training set: {answer}")
    terms: Floats = np.sum(answers, axis=0)
    return terms


def _terms_of_part(part: Part, loss: Loss) -> Floats | str:
    try:
        return np.concatenate(loss.scale_terms(with_float32_labels(part.queries, warn=False)))  # the driver warns
    except ValueError as error:
        return str(error)


def _train(
    client: Any, parts: Parts, params: dict[str, Any], arguments: dict[str, Any], terms: Floats | None, time_out: int
) -> tuple[Any, list[str]]:
    """Return the model of the first worker, which all have, and what they warned of."""
    places = parts.by_worker()
    with MultiLock(list(places), client=client):  # two jobs would wait for each other, each on a worker of the other
        outcomes = _job(client, parts, places, params, arguments, terms, time_out)
    told = [text for outcome in outcomes for text in outcome.told]
    if all(outcome.idle for outcome in outcomes):  # a worker alone may well have nothing to learn from
        told.append(f"on all {len(outcomes)} workers: {outcomes[0].idle[0]}")
    return outcomes[0].model, list(dict.fromkeys(told))


def _job(
    client: Any,
    parts: Parts,
    places: dict[str, list[int]],
    params: dict[str, Any],
    arguments: dict[str, Any],
    terms: Floats | None,
    time_out: int,
) -> list[_Outcome]:
    """Return what each worker answers that trains."""
    name = f"boostplug-lightgbm-{uuid.uuid4().hex}"
    threads = client.nthreads()
    networks: list[dict[str, Any]] = [{} for _ in places]
    if len(places) > 1:
        port = next((params[alias] for alias in ALIASES["local_listen_port"] if params.get(alias) is not None), None)
        ports = _ports(client, list(places), name, port)
        machines = [f"{urlparse(address).hostname}:{port}" for address, port in ports.items()]
        networks = [
            {
                "machines": ",".join(machines), "num_machines": len(machines), "local_listen_port": port,
                "time_out": time_out,
            } for port in ports.values()
        ]  # fmt: skip
    futures = {
        address: client.submit(
            _train_on_worker,
            _Job(name, networks[rank], threads[address], terms, rank),
            params,
            arguments,
            [parts.futures[number] for number in numbers],
            workers=[address],
            allow_other_workers=False,
            pure=False,
        )
        for rank, (address, numbers) in enumerate(places.items())
    }
    try:
        return _outcomes(client, futures)
    except BaseException:
        Event(f"{name}-stop", client=client).set()  # so that workers still at it end, too
        client.cancel(list(futures.values()))
        raise


def _ports(client: Any, addresses: list[str], name: str, port: Any) -> dict[str, int]:
    """Return a port for each worker, that of `local_listen_port` or a free one."""
    if port is None:
        asked = [
            client.submit(_free_port, name, workers=[address], allow_other_workers=False, pure=False)
            for address in addresses
        ]
        return dict(zip(addresses, client.gather(asked), strict=True))
    host, times = Counter(urlparse(address).hostname for address in addresses).most_common(1)[0]
    if times > 1:
        raise ValueError(
            f"local_listen_port={port} would be that of {times} workers on {host}; leave it out for free ones"
        )
    return dict.fromkeys(addresses, int(port))


def _free_port(name: str) -> int:
    """Return a port of this worker, held until its training begins."""
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("", 0))
    _sockets[name] = held
    return int(held.getsockname()[1])


def _train_on_worker(job: _Job, params: dict[str, Any], arguments: dict[str, Any], parts: list[Part]) -> _Outcome:
    model = None
    try:
        ranker = _OnWorker(**params)
        ranker._job = job  # noqa: SLF001 (a class of this module)
        weighted = any(part.queries.row_weight is not None for part in parts)
        queries = joined_queries(parts, weighted=weighted)
        data = {
            "X": joined([part.X for part in parts]),
            "y": queries.labels,
            "group": np.diff(queries.boundaries),
            "sample_weight": queries.row_weight,
        }
        if held := _sockets.pop(job.name, None):
            held.close()
        ranker.fit(**data, **arguments, callbacks=[job.after_round])
        ranker.booster_.free_network()
        _forget_network(ranker.booster_, bool(job.network))
        del ranker._job  # noqa: SLF001
        model = ranker if job.rank == 0 else None
    except _Stopped:
        pass
    except Exception as error:  # noqa: BLE001 (the driver raises it)
        job.fault = error
    if job.fault is not None:
        _let_go(job.fault)
        job.fault = _sendable(job.fault)
    return _Outcome(model, job.fault, job.told, job.idle)


def _let_go(error: BaseException | None) -> None:
    """Drop what an error holds by its frames: a Booster that ends later takes down the network of the next training."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def _sendable(error: Exception) -> Exception:
    """Return an error that reaches the driver: this one, or its text where it holds what cannot be pickled."""
    try:
        loads(dumps(error))
    except Exception:  # noqa: BLE001 (pickling raises whatever the object does)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _forget_network(booster: lgb.Booster, together: bool) -> None:
    """Take the workers' addresses out of a model: one that is loaded and trained on would look for them."""
    text = booster.model_to_string(num_iteration=-1)
    if together and "[tree_learner: serial]" in text:
        raise ValueError(
            "LightGBM went over to tree_learner='serial', by which each worker learns from its own rows alone; leave "
            "out linear_tree, or whatever else its warning names"
        )
    for name, default in _NETWORK.items():
        text = re.sub(rf"^\[{name}: .*\]$", f"[{name}: {default}]", text, flags=re.MULTILINE)
        booster.params.pop(name, None)
    booster.model_from_string(text)


def _outcomes(client: Any, futures: dict[str, Any]) -> list[_Outcome]:
    """Return what all workers answer; raise as soon as one is lost or has failed."""
    outcomes: dict[str, _Outcome] = {}
    n_workers = len(client.nthreads())
    until = math.inf
    while True:
        pending = [future for address, future in futures.items() if address not in outcomes]
        with suppress(TimeoutError), client.as_current():
            wait(pending, timeout=_LOOK, return_when="FIRST_COMPLETED")
        for address in sorted(set(futures) - set(client.nthreads())):
            _raise_lost(client, address, n_workers, futures)
        outcomes |= {address: _outcome(futures[address]) for address in futures if futures[address].done()}
        faults = {address: outcome.fault for address, outcome in outcomes.items() if outcome.fault is not None}
        clean = len(outcomes) == len(futures)
        if clean and not faults:
            return [outcomes[address] for address in futures]
        if faults:  # the others end with the round; where the network failed, a worker's end will soon be known
            until = min(until, time.monotonic() + _PATIENCE)
            of_network = any("ocket" in str(fault) for fault in faults.values())
            if (clean and not of_network) or time.monotonic() > until:
                _raise_fault(*next(iter(faults.items())), clean=clean and not of_network)


def _outcome(future: Any) -> _Outcome:
    if future.status == "finished":
        outcome: _Outcome = future.result()
        return outcome
    return _Outcome(None, future.exception() or RuntimeError(f"the training was {future.status}"), [], [])


def _raise_fault(address: str, fault: Exception, *, clean: bool) -> None:
    """Raise what a worker has raised, with its address."""
    fault.add_note(f"raised on worker {address}")
    if not clean:
        fault.add_note(f"LightGBM's workers may still wait for each other: {_RESTART}")
    raise fault


def _raise_lost(client: Any, address: str, n_workers: int, futures: dict[str, Any]) -> None:
    """Raise for a lost worker, once its nanny has started it anew: a restart before that may hang, which we advise.

    Most workers that are left notice at once; one that does not would leave the next fit waiting too.
    """
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        there = client.nthreads()
        busy = [other for other, future in futures.items() if other in there and not future.done()]
        if len(there) >= n_workers and not busy:
            break
        time.sleep(0.1)
    if busy:
        remedy = f"{' and '.join(busy)} may wait for it until time_out: {_RESTART}"
    else:
        remedy = f"fit again; should that fail, {_RESTART}"
    raise RuntimeError(
        f"worker {address} was lost in the training: killed, out of memory, or cut off. LightGBM cannot go on without "
        f"it; {remedy}"
    )


def _fitted_state(ranker: lgb.LGBMRanker) -> dict[str, Any]:
    """Return what a ranker has from `fit`, and not from its parameters."""
    params = ranker.get_params(deep=False)
    return {name: value for name, value in vars(ranker).items() if name not in params and name != "_other_params"}


def _predictions(
    part: Any, model: local.LGBMRanker, *, n_columns: tuple[int, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    empty = part.shape[0] == 0
    values = np.zeros((0, *n_columns)) if empty else np.asarray(model.predict(part, *args, **kwargs))
    if not hasattr(part, "index"):
        return values
    return pd.DataFrame(values, part.index) if n_columns else pd.Series(values, part.index)
