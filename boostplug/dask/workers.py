"""What each worker of an XGBoost job does: matrices of its own partitions, then rounds in step with the others."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import xgboost as xgb
from distributed import get_worker
from distributed.comm import get_address_host
from distributed.protocol.pickle import dumps, loads
from distributed.utils import sync
from numpy.typing import NDArray
from xgboost import collective
from xgboost.callback import CallbackContainer, EarlyStopping, EvaluationMonitor
from xgboost.core import XGBoostError
from xgboost.tracker import RabitTracker

from boostplug.adapters.call import assign
from boostplug.dask.collections import Part, joined, joined_queries
from boostplug.data.queries import Queries
from boostplug.estimators.inputs import relative_weight, weight_in_single, with_float32_labels
from boostplug.losses import Loss
from boostplug.metrics import Metric

__all__ = ["ElsewhereError", "Job", "LostError", "Trained", "abandon", "start_tracker", "stop_tracker", "train"]

_T = TypeVar("_T")
_SAMPLING = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")
_trackers: dict[str, RabitTracker] = {}
_abandoned: set[str] = set()


class LostError(RuntimeError):
    """The network of the job broke, mostly since another worker has left it."""


class ElsewhereError(RuntimeError):
    """Another worker has raised what is wrong."""


@dataclass(frozen=True)
class Job:
    """What all workers of a training are told alike.

    Attributes
    ----------
    name : str
        Under which the scheduler keeps its last checkpoint.
    params : dict
        Of the booster; without ``nthread`` each worker takes its own threads.
    loss : Loss, or None for an objective of XGBoost's
    metrics : tuple of Metric
        Ours; those of XGBoost's are among the parameters.
    n_rounds : int
    callbacks : list of TrainingCallback
    early_stopping_rounds : int, or None
    verbose : bool, int or None
    matrix : dict
        What every matrix takes: ``missing``, ``enable_categorical``, ``max_bin``, ``feature_types``.
    quantiles : bool
        Whether matrices hold bins alone.
    feature_weights : array-like, or None
    no_rows : DataFrame, array or sparse matrix of shape (0, n_features)
        What a worker without rows has in place of them.
    n_queries : tuple of int
        Of each set, as the driver has counted them.
    weighted : tuple of bool
        Whether those sets have weights.
    evals : tuple of int
        Which of the sets each validation set is; 0 is the training set.
    checkpoint_rounds : int, or None
    model : bytes, or None
        What the training goes on from, at the user's wish.
    """

    name: str
    params: dict[str, Any]
    loss: Loss | None
    metrics: tuple[Metric, ...]
    n_rounds: int
    callbacks: list[Any]
    early_stopping_rounds: int | None
    verbose: bool | int | None
    matrix: dict[str, Any]
    quantiles: bool
    feature_weights: Any
    no_rows: Any
    n_queries: tuple[int, ...]
    weighted: tuple[bool, ...]
    evals: tuple[int, ...]
    checkpoint_rounds: int | None
    model: bytes | None

    @property
    def draws(self) -> bool:
        """Whether rounds draw random numbers, of which a booster remembers where it is, but no file of it."""
        given = [self.params.get(name) for name in _SAMPLING]
        return self.params.get("booster") == "dart" or any(share is not None and share != 1 for share in given)


class Checkpoint(NamedTuple):
    """Where a training was after some rounds."""

    n_rounds: int
    model: bytes
    callbacks: list[Any]
    history: dict[str, Any]


class Trained(NamedTuple):
    """What the first worker returns; the others have the same, and return nothing."""

    model: bytes | None
    history: dict[str, Any]
    told: tuple[str, ...] = ()
    """What the loss has warned of."""


def start_tracker(name: str, n_workers: int, dask_worker: Any) -> dict[str, Any]:
    """Start on this worker what brings the workers of a job together; return where they find it."""
    tracker = RabitTracker(n_workers=n_workers, host_ip=get_address_host(dask_worker.address), sortby="task")
    tracker.start()
    _trackers[name] = tracker

    def wait() -> None:
        with suppress(XGBoostError):  # it was stopped
            tracker.wait_for()

    Thread(target=wait, daemon=True).start()
    address: dict[str, Any] = tracker.worker_args()
    return address


def stop_tracker(name: str) -> None:
    """Stop it, so that no worker waits for others that never come."""
    tracker = _trackers.pop(name, None)
    if tracker is not None:
        with suppress(XGBoostError):  # workers were still to come
            tracker.free()


def abandon(name: str) -> None:
    """Have this worker's part in a job end with its current round."""
    _abandoned.add(name)


def train(job: Job, place: int, address: dict[str, Any], sets: list[list[Part]], checkpoint: bytes) -> Trained:
    """Train on one worker, together with all others of the job.

    Parameters
    ----------
    job : Job
    place : int
        This worker's among them, from 0.
    address : dict
        Where they meet.
    sets : list of list of Part
        Of the training set and each validation set, the partitions that lie here.
    checkpoint : bytes
        What an earlier attempt has come to; empty if nothing.

    Raises
    ------
    LostError
        If the network broke.
    ElsewhereError
        If another worker raises.
    """
    try:
        with _together(address, place):
            trained = _trained(job, sets, loads(checkpoint) if checkpoint else None)
    except XGBoostError as error:
        if "/collective/" in str(error):  # the place in XGBoost's source where it was raised
            raise LostError(str(error).partition("Stack trace")[0].strip()) from None
        raise
    return trained if place == 0 else Trained(None, {})


@contextmanager
def _together(address: dict[str, Any], place: int) -> Iterator[None]:
    """Be one worker of a job; should something go wrong, nothing hides it, and the others see the connection break."""
    context = collective.CommunicatorContext(**address, dmlc_task_id=f"{place:08d}")
    context.__enter__()
    try:
        yield
    except BaseException:
        with suppress(XGBoostError):
            context.__exit__()
        raise
    context.__exit__()


def _trained(job: Job, sets: list[list[Part]], checkpoint: Checkpoint | None) -> Trained:
    nthread = job.params.get("n_jobs") or job.params.get("nthread") or get_worker().state.nthreads
    params = {**job.params, "nthread": nthread, "n_jobs": nthread}
    if job.checkpoint_rounds and job.draws:
        params.setdefault("seed_per_iteration", True)
    with xgb.config_context(verbosity=1 if params.get("verbosity") is None else params["verbosity"], nthread=nthread):
        matrices = _matrices(job, sets, nthread)
        return _rounds(job, params, matrices, checkpoint)


def _matrices(job: Job, sets: list[list[Part]], nthread: int) -> list[xgb.DMatrix]:
    """Return the matrix of each set; the first is the training set's."""
    alone = _agreed(
        lambda: [joined_queries(parts, weighted=weighted) for parts, weighted in zip(sets, job.weighted, strict=True)]
    )
    counted = _sums(np.array([queries.n_queries for queries in alone], dtype=np.float64))
    if (counted != job.n_queries).any():
        raise ValueError(
            f"the workers hold {counted.astype(int).tolist()} queries in their sets, the driver has "
            f"counted {list(job.n_queries)}; the collections change from one computation to the next: call persist() "
            "on them first"
        )
    alone[0] = with_float32_labels(alone[0], warn=False)  # the driver has warned
    matrices: list[xgb.DMatrix] = []
    for parts, queries in zip(sets, alone, strict=True):
        matrices.append(_matrix(job, parts, queries, nthread, matrices[0] if matrices else None))
    return matrices


def _matrix(job: Job, parts: list[Part], queries: Queries, nthread: int, ref: xgb.DMatrix | None) -> xgb.DMatrix:
    weight, total = queries.query_weight, 1.0
    if weight is not None:
        largest = _largest(float(weight.max(initial=0.0)))
        total, n_queries = _sums(np.array([weight.sum(), len(weight)]))
        single = weight_in_single(weight, largest)
        weight = single if job.loss is None else relative_weight(weight, float(total / n_queries))
    fields = {
        "label": queries.labels,
        "group": np.diff(queries.boundaries),
        "weight": None if total == 0.0 else weight,  # several workers cannot find quantiles where nothing has weight
    }
    options = {"missing": job.matrix["missing"], "enable_categorical": job.matrix["enable_categorical"]}
    if job.quantiles:
        data = _Batches(parts, job, fields)
        matrix = xgb.QuantileDMatrix(data, **options, nthread=nthread, max_bin=job.matrix["max_bin"], ref=ref)
    else:
        rows = joined([part.X for part in parts]) if parts else job.no_rows
        matrix = xgb.DMatrix(rows, **options, **fields, nthread=nthread, feature_types=job.matrix["feature_types"])
    if total == 0.0:
        matrix.set_info(weight=weight)
    if job.feature_weights is not None and ref is None:
        matrix.set_info(feature_weights=job.feature_weights)
    assign(matrix, queries)
    return matrix


class _Batches(xgb.DataIter):
    """The partitions one after the other, so that XGBoost bins them without a copy of all."""

    def __init__(self, parts: list[Part], job: Job, fields: dict[str, Any]) -> None:
        super().__init__()
        self._tables = [part.X for part in parts] or [job.no_rows]
        sizes = [(part.queries.n_rows, part.queries.n_queries) for part in parts] or [(0, 0)]
        self._ends = np.cumsum([(0, 0), *sizes], axis=0)
        self._types = job.matrix["feature_types"]
        self._fields = fields
        self._at = 0

    def reset(self) -> None:
        """Begin again."""
        self._at = 0

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Hand over the next partition, if there is one."""
        if self._at == len(self._tables):
            return False
        rows, queries = (slice(*ends) for ends in self._ends[self._at : self._at + 2].T)
        weight = self._fields["weight"]
        input_data(
            data=self._tables[self._at],
            label=self._fields["label"][rows],
            group=self._fields["group"][queries],
            weight=None if weight is None else weight[queries],
            feature_types=self._types,
        )
        self._at += 1
        return True


def _rounds(job: Job, params: dict[str, Any], matrices: list[xgb.DMatrix], checkpoint: Checkpoint | None) -> Trained:
    """Return the model after all rounds, and what the metrics said after each.

    These are `xgb.train`'s, which would count the rounds from 0 again where a training goes on.
    """
    evals = [(matrices[place], f"validation_{i}") for i, place in enumerate(job.evals)]
    container = CallbackContainer(
        _callbacks(job) if checkpoint is None else checkpoint.callbacks,
        metric=_custom_metric(job.metrics),
        output_margin=job.loss is not None,
    )
    told: dict[str, None] = {}
    first = 0
    booster = _booster(params, matrices, job.model if checkpoint is None else checkpoint.model)
    if checkpoint is None:
        booster = container.before_training(booster)
    else:
        first = checkpoint.n_rounds
        container.history = checkpoint.history
    for i in range(first, job.n_rounds):
        if job.name in _abandoned:
            raise LostError("the client waits for this worker no more")
        if container.before_iteration(booster, i, matrices[0], evals):
            break
        booster.update(matrices[0], iteration=i, fobj=None if job.loss is None else _telling(job.loss, told))
        if container.after_iteration(booster, i, matrices[0], evals):
            break
        n_rounds = i + 1
        if job.checkpoint_rounds and n_rounds % job.checkpoint_rounds == 0 and n_rounds < job.n_rounds:
            model = _raw(booster)
            if collective.get_rank() == 0:
                kept = Checkpoint(n_rounds, model, container.callbacks, container.history)
                _keep(job.name, kept)
            if job.draws:  # as a training that goes on from here would
                booster = _booster(params, matrices, model)
    booster = container.after_training(booster)
    return Trained(_raw(booster), {name: dict(values) for name, values in container.history.items()}, tuple(told))


def _telling(loss: Loss, told: dict[str, None]) -> Callable[..., Any]:
    """Return a loss whose warnings go to the client, who sees no worker's log."""

    def derivatives(scores: Any, matrix: xgb.DMatrix) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = loss(scores, matrix)
        told.update(dict.fromkeys(str(warning.message) for warning in caught))
        return found

    return derivatives


def _keep(name: str, checkpoint: Checkpoint) -> None:
    """Set the scheduler's `Variable` of this name, which here would need a client, that prints what `_print` sends."""
    worker = get_worker()
    sync(worker.loop, worker.scheduler.variable_set, name=name, data=dumps(checkpoint))


def _callbacks(job: Job) -> list[Any]:
    callbacks = list(job.callbacks)
    if job.verbose:
        period = 1 if job.verbose is True else job.verbose
        callbacks.append(EvaluationMonitor(period=period, logger=_print))
    if job.early_stopping_rounds is not None:
        callbacks.append(EarlyStopping(rounds=job.early_stopping_rounds))
    return callbacks


def _print(text: str) -> None:
    """Print where the user is, and not here as well."""
    get_worker().log_event("print", text.strip())


def _custom_metric(metrics: tuple[Metric, ...]) -> Callable[..., Any] | None:
    return (lambda scores, matrix: [metric(scores, matrix) for metric in metrics]) if metrics else None


def _booster(params: dict[str, Any], matrices: list[xgb.DMatrix], model: bytes | None) -> xgb.Booster:
    return xgb.Booster(params, matrices, model_file=None if model is None else bytearray(model))


def _raw(booster: xgb.Booster) -> bytes:
    return bytes(booster.save_raw("ubj"))


def _agreed(build: Callable[[], _T]) -> _T:
    """Return what a worker makes alone; where that fails on one, no worker goes on."""
    error, built = None, None
    try:
        built = build()
    except Exception as failure:  # noqa: BLE001 (whatever it is, the others must know)
        error = failure
    (failed,) = _sums(np.array([error is not None], dtype=np.float64))
    if error is not None:
        raise error
    if failed:
        raise ElsewhereError("another worker has failed; its error says why")
    return cast("_T", built)


def _sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = collective.allreduce(values, collective.Op.SUM)
    return total


def _largest(value: float) -> float:
    return float(collective.allreduce(np.array([value]), collective.Op.MAX)[0])
