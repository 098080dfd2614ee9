"""Between a framework's call and a loss or metric: dataset → `Queries` → numbers → what the framework expects.

A dataset's `Queries` live as long as the dataset. In each call its labels, groups and weights are read and compared;
where they have changed, they are checked and its `Queries` are built anew.
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
from boostplug.adapters.job import Workers, in_step
from boostplug.adapters.record import Attached, Reading, Record, record_of
from boostplug.adapters.registry import ADAPTERS, adapter_of, calling, dataset_names
from boostplug.core.checks import numbers
from boostplug.core.collective import LOCAL, Collective
from boostplug.core.threads import OpenMPThreads, threads_of_framework
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.single_precision import TINY, first_step, to_single

__all__ = ["assign", "called_by_get_params", "evaluate", "objective", "queries_of", "refuse_fault"]

Floats32 = NDArray[np.float32]

_RESCALE = ": please rescale the labels (or the margins) so that their gaps are about 1"
_SMALL = 1e-2  # a document's Hessian; losses bring it to the order of 1, and few documents are no fault
_MANY = 1 << 14  # rows; few are the work of one thread
_of_nobody = Record(arrays=deque(maxlen=1))  # callers that pass arrays and are no framework


class _Call(NamedTuple):
    """A framework's call of an objective, understood."""

    scores: Any
    queries: Queries
    threads: int | None
    team: OpenMPThreads | None
    record: Record
    adapter: Adapter | None
    training: Training | None
    dataset: Any


def objective(
    loss: ObjectiveLike, a: Any, b: Any, weight: Any, group: Any, *, totals: Collective | None = None
) -> tuple[Floats32, Floats32]:
    """Return gradient and Hessian as float32, for any of the ways in which the frameworks call an objective.

    `totals` are for callers that know what all machines hold, where the framework's own workers cannot ask each other.
    """
    # A frame that a variable of its own names would keep all that is made here until the garbage is collected.
    with in_step(_workers(b, totals), n_questions=2) as job:
        call = _understood(a, b, weight, group, totals, inspect.currentframe())
        call = call._replace(scores=_one_per_row(call.scores, call.queries))
        if not call.queries.position_is_rank and not loss.needs_position:
            raise ValueError(
                f"the lgb.Dataset has position=…, which {loss!r} does not read; train boostplug.Unbiased(base=…), or "
                "pass a Dataset without it"
            )
        job.n_queries = call.queries.n_queries
        most = 0 if call.record is _of_nobody else 2 * call.queries.n_rows
        with threads_of_framework(call.threads, call.team), call.record.buffers.lent(most):
            gradient, hessian = _derivatives(loss, call, job.totals if totals is None else totals)
        g, h, any_step = _as_float32(loss, gradient, hessian)
        if not job.alone:
            job.finish(any_step=any_step)
            any_step = job.any_step
    if not any_step and call.queries.n_rows and call.record.warned is not call.queries:
        call.record.warned = call.queries
        _warn_of_nothing_to_learn(loss, call)
    # Sums over one worker's rows say little of the trees of all.
    whole = job.alone and totals is None
    booster = None if call.training is None else call.training.booster
    if any_step and whole and call.record.begins(call.queries, loss, booster):
        _look_at_first_step(loss, call, gradient, hessian)
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
    with in_step(_workers(data, None), n_questions=1) as job:
        training = adapter.training(inspect.currentframe())
        refuse_fault(adapter.fault_of_machines(data, training))
        adapter.forget_best_round(training)
        queries = queries_of(data)
        scores = _one_per_row(scores, queries)
        job.n_queries = queries.n_queries
        threads = adapter.threads(data, training)
        with threads_of_framework(threads, _team(adapter, queries, inspect.currentframe())):
            if job.alone:
                value = float(metric(scores, queries))
            else:
                total, count = job.gather(np.array(metric.sum_and_count(scores, queries))).sum(axis=0)
                value = total / count if count > 0 else np.nan
    if np.isnan(value):
        raise ValueError(
            f"{metric.name} is undefined on every query of a validation set (no relevant document anywhere); "
            "check its labels, or choose what such a query counts with the metric's parameter empty"
        )
    return adapter.metric_result(metric, value)


def assign(dataset: Any, queries: Queries) -> None:
    """Let losses and metrics use `queries` for `dataset`, in place of what the framework could hold."""
    record_of(dataset).assigned = queries


def called_by_get_params(frame: FrameType | None) -> bool:
    """Return whether a framework's own scikit-learn estimator asks, in `frame`'s caller, for what it is to train with.

    It lists the parameters of whatever has `get_params`, and hands all that it lists to its training.
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


def _workers(dataset: Any, totals: Collective | None) -> Workers | None:
    adapter = adapter_of(dataset) if totals is None else None
    return None if adapter is None else adapter.workers()


def _understood(a: Any, b: Any, weight: Any, group: Any, totals: Collective | None, frame: FrameType | None) -> _Call:
    adapter = adapter_of(b)
    if adapter is not None:
        call = _call_with_dataset(adapter, _as_floats("scores", a), b, frame)
    elif adapter_of(a) is not None:
        raise TypeError("the dataset came first: call loss(scores, dataset), as lgb.train and xgb.train do")
    else:
        call = _call_with_arrays(_as_floats("labels", a), _as_floats("scores", b), weight, group, frame)
    if call.adapter is not None and totals is None:
        refuse_fault(call.adapter.fault_of_machines(call.dataset, call.training))
    return call


def _derivatives(
    loss: ObjectiveLike, call: _Call, totals: Collective
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if totals is LOCAL:  # a subclass may know no others
        return loss.gradient_hessian(call.scores, call.queries)
    return loss.gradient_hessian(call.scores, call.queries, totals=totals)


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
    """Find the training that passes plain arrays, if there is one; its record keeps their `Queries`."""
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
    for known in tuple(readings):  # as it was, should another thread add to it
        if known.attached is attached and known.fields.same_as(fields):
            return known.queries
    return None


def _built(readings: deque[Reading], fields: Fields, attached: Attached | None) -> Queries:
    labels, also = fields.labels, attached or Attached()
    if labels is not None and also.pairs is not None and also.labelled is None and not labels.any():
        labels = None  # LightGBM makes zeros of missing labels
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
    """Raise where an adapter has found a fault."""
    if fault is not None:
        raise ValueError(fault)


def _as_floats(name: str, values: Any) -> Any:
    """Return numbers as floats: those of a framework as they are, what a user passes once they are checked."""
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


def _warn_of_nothing_to_learn(loss: ObjectiveLike, call: _Call) -> None:
    queries = loss.reads(call.queries)
    cause = why_nothing_is_learnt(queries)
    zeros = call.adapter is not None and call.adapter.makes_zeros_of_missing_labels and not queries.labels.any()
    if cause is None:
        cause = "its gradient has vanished at these scores"
    elif zeros and call.queries.pairs is None:
        cause += "; all labels are 0, which is what LightGBM makes of missing and of NaN labels"
    warnings.warn(f"{loss!r} has nothing to learn from: {cause}; the model stays constant", UserWarning, stacklevel=4)


def _look_at_first_step(loss: ObjectiveLike, call: _Call, gradient: Any, hessian: Any) -> None:
    """Warn where a training that begins meets numbers of a size that its framework cannot follow."""
    fault = _lost_digits(call.queries) or _fault_of_first_step(loss, call, gradient, hessian)
    if fault is not None:
        warnings.warn(fault, UserWarning, stacklevel=4)


def _lost_digits(queries: Queries) -> str | None:
    """Name a label of which the framework's float32 no longer holds all digits; labels that never were float32 do."""
    labels = queries.labels
    lost = (labels != 0.0) & (np.abs(labels) < TINY)
    with np.errstate(over="ignore"):  # infinite, and so not the same
        if not lost.any() or (labels != labels.astype(np.float32)).any():
            return None
    row = int(np.argmax(lost))
    return f"label[{row}] = {labels[row]:.3g} is below {TINY:.2g}, where the framework's float32 loses digits{_RESCALE}"


def _fault_of_first_step(loss: ObjectiveLike, call: _Call, gradient: Any, hessian: Any) -> str | None:
    """Return which absolute threshold of the framework spoils a training from scores of 0.

    Others say nothing of the labels' unit: where they fit, gradients are small; XGBoost's base_score may be far off.
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
    """Return both as float32, and whether there is any step; a row whose Hessian would lose its digits takes none."""
    g, h = np.empty(len(gradient), np.float32), np.empty(len(gradient), np.float32)
    row, any_step = to_single(gradient, hessian, g, h)
    if row >= 0:
        raise ValueError(
            f"{loss!r} returned gradient {gradient[row]} and Hessian {hessian[row]} in row {row}; the frameworks take "
            "numbers within float32's ±3.4e38, the Hessian not negative: check weights and scores"
        )
    return g, h, any_step
