"""Calls from a framework to a loss or metric: dataset → `Queries` → numbers → the framework's format.

A dataset's `Queries` live as long as the dataset. Each call reads its labels, groups and weights and compares them with
the last ones. If they have changed, they are checked and the `Queries` are rebuilt.
"""

import inspect
import warnings
from collections import deque
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.adapter import Adapter, Fields, MetricLike, ObjectiveLike, Training
from boostplug.adapters.attached import attached_to
from boostplug.adapters.record import Attached, Reading, Record, record_of
from boostplug.adapters.registry import ADAPTERS, adapter_of, calling, dataset_names
from boostplug.adapters.workers import in_step
from boostplug.core.checks import numbers
from boostplug.core.threads import OpenMPThreads, threads_of_framework
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.single_precision import TINY, first_step, to_single

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]

_NO_QUERIES = "no worker of the job has any query; pass data with queries"
_RESCALE = ": please rescale the labels (or the margins) so that their gaps are about 1"
_SMALL = 1e-2  # mean Hessian of a document; losses scale it to about 1, so a small sum may only mean few documents
_MANY = 1 << 14  # rows; fewer rows need only one thread
_of_nobody = Record(arrays=deque(maxlen=1))  # for callers outside a framework that pass arrays


class _Call(NamedTuple):
    """Parsed arguments of a framework's call of an objective."""

    scores: Any
    queries: Queries
    threads: int | None
    team: OpenMPThreads | None
    record: Record
    adapter: Adapter | None
    training: Training | None
    dataset: Any


def objective(
    loss: ObjectiveLike, a: Any, b: Any, weight: Any, group: Any, *, sums: Floats | None = None
) -> tuple[Floats32, Floats32]:
    """Return gradient and Hessian as float32, for each signature with which the frameworks call an objective.

    `sums` are the `query_sums` of all workers, for frameworks whose workers cannot exchange values.
    """
    # No variable holds the frame: the reference cycle would keep all arrays alive until garbage collection.
    adapter = adapter_of(b)
    workers = None if adapter is None or sums is not None else adapter.workers()
    with in_step(workers, 1 + loss.n_sums, 1) as exchange:
        call = _understood(a, b, weight, group, sums is None, inspect.currentframe())
        if not call.queries.position_is_rank and not loss.needs_position:
            raise ValueError(
                f"the lgb.Dataset has position=…, which {loss!r} does not read; train boostplug.Unbiased(base=…), or "
                "pass a Dataset without it"
            )
        most = 0 if call.record is _of_nobody else 2 * call.queries.n_rows
        with threads_of_framework(call.threads, call.team), call.record.buffers.lent(most):
            if workers is not None:
                own = loss.query_sums(call.scores, call.queries)
                total = exchange.sum(np.r_[call.queries.n_queries, own])
                n_queries, sums = total[0], total[1:]
                refuse_fault(None if n_queries else _NO_QUERIES)
            gradient, hessian = loss.gradient_hessian(
                call.scores, call.queries, **{} if sums is None else {"sums": sums}
            )
        g, h, has_step = _as_float32(loss, gradient, hessian)
        has_step = bool(exchange.sum(np.array([float(has_step)]))[0])
    if call.queries.n_rows:
        _warn_at_first_step(loss, call, gradient, hessian, has_step=has_step, alone=sums is None)
    return g, h


def evaluate(metric: MetricLike, scores: Any, data: Any) -> tuple[Any, ...]:
    """Return a metric's result on a framework's dataset in that framework's form."""
    adapter = adapter_of(data)
    if adapter is None:
        raise TypeError(
            f"{metric.name} got {type(data).__name__} as its second argument; it takes (scores, Queries), or (scores, "
            f"{dataset_names()}) as feval of lgb.train or custom_metric of xgb.train. "
            "For a scikit-learn ranker pass it as eval_metric to boostplug.LGBMRanker or boostplug.XGBRanker"
        )
    workers = adapter.workers()
    with in_step(workers, 3) as exchange:
        training = adapter.training(inspect.currentframe())
        refuse_fault(adapter.fault_of_machines(data, training))
        adapter.forget_best_round(training)
        queries = queries_of(data)
        scores = _one_per_row(scores, queries)
        threads = adapter.threads(data, training)
        with threads_of_framework(threads, _team(adapter, queries, inspect.currentframe())):
            if workers is None:
                value = float(metric(scores, queries))
            else:
                own = (*metric.sum_and_count(scores, queries), queries.n_queries)
                total, count, n_queries = exchange.sum(np.array(own))
                refuse_fault(None if n_queries else _NO_QUERIES)
                value = float(total / count) if count > 0 else np.nan
    if np.isnan(value):
        raise ValueError(
            f"{metric.name} is undefined on every query of a validation set (no relevant document anywhere); "
            "check its labels, or choose the value of such a query with the metric's parameter empty"
        )
    return adapter.metric_result(metric, value)


def assign(dataset: Any, queries: Queries) -> None:
    """Make losses and metrics use `queries` for `dataset`, in place of the fields of the dataset."""
    record_of(dataset).assigned = queries


def called_by_get_params(frame: FrameType | None) -> bool:
    """Return whether the caller of `frame` is `get_params` of a framework's own scikit-learn estimator.

    The estimator lists the parameters of every object with `get_params` and passes them all to its training.
    """
    caller = None if frame is None else frame.f_back
    if caller is None or caller.f_code.co_name != "get_params":
        return False
    frameworks = {adapter.framework for adapter in ADAPTERS}
    kinds = type(caller.f_locals.get("self")).__mro__
    return any(kind.__module__.partition(".")[0] in frameworks for kind in kinds)


def queries_of(dataset: Any) -> Queries:
    """Return the `Queries` of a framework's dataset, built at the first call and whenever its fields have changed."""
    record = record_of(dataset)
    if record.assigned is not None:
        return record.assigned
    adapter = adapter_of(dataset)
    assert adapter is not None
    attached = attached_to(dataset)
    fields = adapter.read(dataset)
    known = _known(record.read, fields, attached)
    if known is not None:
        return known
    if fields.labels is None and attached is None:
        raise ValueError(f"the {adapter.dataset_name} has no label; pass label=grades to {adapter.dataset_name}")
    refuse_fault(adapter.fault_of_fields(fields, dataset))
    return _built(record.read, fields, attached)


def _understood(a: Any, b: Any, weight: Any, group: Any, alone: bool, frame: FrameType | None) -> _Call:
    adapter = adapter_of(b)
    if adapter is not None:
        call = _call_with_dataset(adapter, _as_floats("scores", a), b, frame)
    elif adapter_of(a) is not None:
        raise TypeError("the dataset came first: call loss(scores, dataset), as lgb.train and xgb.train do")
    else:
        call = _call_with_arrays(_as_floats("labels", a), _as_floats("scores", b), weight, group, frame)
    if call.adapter is not None and alone:
        refuse_fault(call.adapter.fault_of_machines(call.dataset, call.training))
    return call._replace(scores=_one_per_row(call.scores, call.queries))


def _team(adapter: Adapter, queries: Queries, frame: FrameType | None) -> OpenMPThreads | None:
    return adapter.team(frame) if queries.n_rows >= _MANY else None


def _call_with_dataset(adapter: Adapter, scores: Any, dataset: Any, frame: FrameType | None) -> _Call:
    training = adapter.training(frame)
    refuse_fault(adapter.fault_of_call(scores, dataset, training))
    adapter.forget_best_round(training)
    threads = adapter.threads(dataset, training)
    queries = queries_of(dataset)
    team = _team(adapter, queries, frame)
    return _Call(scores, queries, threads, team, record_of(dataset), adapter, training, dataset)


def _call_with_arrays(labels: Any, scores: Any, weight: Any, group: Any, frame: FrameType | None) -> _Call:
    """Return the call for plain arrays; the record of the training that passes them, if any, keeps their `Queries`."""
    record, threads = _of_nobody, None
    adapter, training = calling(frame)
    if adapter is not None and training is not None:
        refuse_fault(adapter.fault_of_call(scores, None, training))
        threads = adapter.threads(None, training)
        record = record_of(training.datasets[0]) if training.datasets else record
    if group is None:
        raise ValueError(
            "group is missing: a ranking objective needs the queries. Use LGBMRanker with fit(…, group=sizes), "
            "or lgb.train on a Dataset with group=sizes; LGBMRegressor and LGBMClassifier pass none"
        )
    weight = None if weight is None else _as_floats("weight", weight)
    fields = Fields(labels, _as_floats("group", group), weight)
    queries = _known(record.arrays, fields, None)
    if queries is None:
        if adapter is not None:
            refuse_fault(adapter.fault_of_fields(fields, None))
        queries = _built(record.arrays, fields.copied(), None)
    team = None if adapter is None else _team(adapter, queries, frame)
    return _Call(scores, queries, threads, team, record, adapter, training, None)


def _known(readings: deque[Reading], fields: Fields, attached: Attached | None) -> Queries | None:
    for known in tuple(readings):  # a copy, since another thread may append
        if known.attached is attached and known.fields.same_as(fields):
            return known.queries
    return None


def _built(readings: deque[Reading], fields: Fields, attached: Attached | None) -> Queries:
    labels, also = fields.labels, attached or Attached()
    if labels is not None and also.pairs is not None and also.labelled is None and not labels.any():
        labels = None  # LightGBM replaces missing labels by zeros
    queries = Queries(
        labels,
        group=fields.group,
        weight=fields.weight,
        pairs=also.pairs,
        labelled=also.labelled,
        labels_by_name=also.labels,
        position=also.position,
    )
    if also.position is None and fields.position is not None:
        queries = queries.with_positions(fields.position + 1, is_rank=False)
    readings.append(Reading(fields, attached, queries))
    return queries


def refuse_fault(fault: str | None) -> None:
    """Raise ValueError for an adapter's error message; do nothing for None."""
    if fault is not None:
        raise ValueError(fault)


def _as_floats(name: str, values: Any) -> Any:
    """Return numbers as floats; arrays of floats, as frameworks pass them, are returned unchecked."""
    return values if isinstance(values, np.ndarray) and values.dtype.kind == "f" else numbers(name, values)


def _one_per_row(scores: Any, queries: Queries) -> Any:
    shape = np.shape(scores)
    if not queries.n_rows and 0 in shape:  # XGBoost 3.4 gives a worker without rows an empty table
        return np.ravel(scores)
    if shape != (queries.n_rows,):
        raise ValueError(
            f"the framework passed scores of shape {shape} for {queries.n_rows} rows; a ranking model has one output "
            "per row: leave num_class and multi-output parameters at their defaults"
        )
    return scores


def _warn_at_first_step(
    loss: ObjectiveLike, call: _Call, gradient: Any, hessian: Any, *, has_step: bool, alone: bool
) -> None:
    """Warn if no row has a gradient, or, at the start of a training, if labels or derivatives are of a bad size.

    Trees are grown from the sums over all workers' rows, so derivatives of one worker are not judged.
    """
    record, fault = call.record, None
    if not has_step and record.warned is not call.queries:
        record.warned = call.queries
        fault = _nothing_to_learn(loss, call)
    elif has_step and alone:
        booster = None if call.training is None else call.training.booster
        if record.begins(call.queries, loss, booster):
            fault = _lost_digits(call.queries) or _fault_of_first_step(loss, call, gradient, hessian)
    if fault is not None:
        warnings.warn(fault, UserWarning, stacklevel=4)


def _nothing_to_learn(loss: ObjectiveLike, call: _Call) -> str:
    queries = loss.reads(call.queries)
    cause = why_nothing_is_learnt(queries)
    zeros = call.adapter is not None and call.adapter.makes_zeros_of_missing_labels and not queries.labels.any()
    if cause is None:
        cause = "its gradient has vanished at these scores"
    elif zeros and call.queries.pairs is None:
        cause += "; all labels are 0, LightGBM's replacement for missing and NaN labels"
    return f"{loss!r} has nothing to learn from: {cause}; the model stays constant"


def _lost_digits(queries: Queries) -> str | None:
    """Return the warning for a label that has lost digits in the framework's float32, None if there is none."""
    labels = queries.labels
    lost = (labels != 0.0) & (np.abs(labels) < TINY)
    with np.errstate(over="ignore"):  # labels beyond float32 become infinite and differ
        if not lost.any() or (labels != labels.astype(np.float32)).any():
            return None
    row = int(np.argmax(lost))
    return f"label[{row}] = {labels[row]:.3g} is below {TINY:.2g}, where the framework's float32 loses digits{_RESCALE}"


def _fault_of_first_step(loss: ObjectiveLike, call: _Call, gradient: Any, hessian: Any) -> str | None:
    """Return the warning for an absolute threshold of the framework that spoils a training from scores of 0.

    At other scores gradients may be small because the scores fit, or large because of XGBoost's base_score.
    """
    if call.adapter is None:
        return None
    if np.any(call.scores):
        with threads_of_framework(call.threads, call.team):
            gradient, hessian = loss.gradient_hessian(np.zeros(call.queries.n_rows), call.queries)
        if not gradient.any():
            return None
    first = first_step(gradient, hessian)
    fault = call.adapter.fault_of_step(first.gain, first.step) if first.gain > 0.0 else None
    if fault is not None:
        return f"{loss!r} learns little or nothing from numbers of this size: {fault}{_RESCALE}"
    name, least = call.adapter.least_hessian(call.dataset, call.training)
    if first.hessian < 2.0 * least and first.mean_hessian < _SMALL:
        return (
            f"{loss!r} learns nothing while {name} is {least:g}: the Hessians of all rows sum to "
            f"{first.hessian:.2g}; lower {name}, or raise the loss's factor of scores (sigmoid), or multiply the "
            "derivatives of a loss of your own"
        )
    return None


def _as_float32(loss: ObjectiveLike, gradient: Any, hessian: Any) -> tuple[Floats32, Floats32, bool]:
    """Return both as float32, and whether any gradient is not 0; rows with too small a Hessian get a gradient of 0."""
    g, h = np.empty(len(gradient), np.float32), np.empty(len(gradient), np.float32)
    row, any_step = to_single(gradient, hessian, g, h)
    if row >= 0:
        raise ValueError(
            f"{loss!r} returned gradient {gradient[row]} and Hessian {hessian[row]} in row {row}; the frameworks take "
            "numbers within float32's ±3.4e38, the Hessian not negative: check weights and scores, or rescale labels"
        )
    return g, h, any_step
