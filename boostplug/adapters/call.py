"""Calls from a framework to a loss or metric: dataset → `Queries` → numbers → the framework's format."""

import inspect
from collections import deque
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.adapter import Adapter, Call, Fields, MetricLike, ObjectiveLike
from boostplug.adapters.first_step import warn_at_first_step
from boostplug.adapters.reading import queries_of, queries_of_arrays, refuse_fault
from boostplug.adapters.record import Record, record_of
from boostplug.adapters.registry import adapter_of, calling, dataset_names
from boostplug.adapters.workers import in_step
from boostplug.core.checks import numbers
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import to_single

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]

_NO_QUERIES = "no worker of the job has any query; pass data with queries"
_of_nobody = Record(arrays=deque(maxlen=1))  # for callers outside a framework that pass arrays


def objective(loss: ObjectiveLike, a: Any, b: Any, weight: Any, group: Any) -> tuple[Floats32, Floats32]:
    """Return gradient and Hessian as float32, for each signature with which the frameworks call an objective."""
    # No variable holds the frame: the reference cycle would keep all arrays alive until garbage collection.
    adapter = adapter_of(b)
    workers = None if adapter is None else adapter.workers()
    with in_step(workers, 1 + loss.n_sums, 1) as exchange:
        if adapter is not None:
            call, record = _call_with_dataset(adapter, _as_floats("scores", a), b, inspect.currentframe()), record_of(b)
        elif adapter_of(a) is not None:
            raise TypeError("the dataset came first: call loss(scores, dataset), as lgb.train and xgb.train do")
        else:
            call, record = _call_with_arrays(a, b, weight, group, inspect.currentframe())
        _refuse_call(loss, call)
        with call.threads():
            more = {}
            if workers is not None:
                own = loss.query_sums(call.scores, call.queries)
                total = exchange.sum(np.r_[call.queries.n_queries, own])
                refuse_fault(None if total[0] else _NO_QUERIES)
                more = {"sums": total[1:]}
            gradient, hessian = loss.gradient_hessian(call.scores, call.queries, **more)
        g, h, has_step = as_float32(loss, gradient, hessian)
        has_step = bool(exchange.sum(np.array([float(has_step)]))[0])
    if call.queries.n_rows:
        warn_at_first_step(loss, call, record, gradient, hessian, has_step=has_step, alone=workers is None)
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
        call = _call_with_dataset(adapter, scores, data, inspect.currentframe(), trains=False)
        refuse_fault(adapter.fault_of_machines(data, call.training))
        with call.threads():
            if workers is None:
                value = float(metric(call.scores, call.queries))
            else:
                own = (*metric.sum_and_count(call.scores, call.queries), call.queries.n_queries)
                total, count, n_queries = exchange.sum(np.array(own))
                refuse_fault(None if n_queries else _NO_QUERIES)
                value = float(total / count) if count > 0 else np.nan
    if np.isnan(value):
        raise ValueError(
            f"{metric.name} is undefined on every query of a validation set (no relevant document anywhere); "
            "check its labels, or choose the value of such a query with the metric's parameter empty"
        )
    return adapter.metric_result(metric, value)


def as_float32(loss: ObjectiveLike, gradient: Any, hessian: Any) -> tuple[Floats32, Floats32, bool]:
    """Return both as float32, and whether any gradient is not 0; rows with too small a Hessian get a gradient of 0."""
    g, h = np.empty(len(gradient), np.float32), np.empty(len(gradient), np.float32)
    row, any_step = to_single(gradient, hessian, g, h)
    if row >= 0:
        raise ValueError(
            f"{loss!r} returned gradient {gradient[row]} and Hessian {hessian[row]} in row {row}; the frameworks take "
            "numbers within float32's ±3.4e38, the Hessian not negative: check weights and scores, or rescale labels"
        )
    return g, h, any_step


def _call_with_dataset(
    adapter: Adapter, scores: Any, dataset: Any, frame: FrameType | None, *, trains: bool = True
) -> Call:
    """Return the call of an objective, or of a metric, with a framework's dataset."""
    training = adapter.training(frame)
    refuse_fault(adapter.fault_of_call(scores, dataset, training) if trains else None)
    adapter.forget_best_round(training)
    queries = queries_of(dataset)
    return Call(_one_per_row(scores, queries), queries, adapter.threads(dataset, training), adapter, training, dataset)


def _call_with_arrays(
    labels: Any, scores: Any, weight: Any, group: Any, frame: FrameType | None
) -> tuple[Call, Record]:
    """Return the call for plain arrays; the record of the training that passes them, if any, keeps their `Queries`."""
    labels, scores = _as_floats("labels", labels), _as_floats("scores", scores)
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
    queries = queries_of_arrays(Fields(labels, _as_floats("group", group), weight), record, adapter)
    return Call(_one_per_row(scores, queries), queries, threads, adapter, training, None), record


def _refuse_call(loss: ObjectiveLike, call: Call) -> None:
    if call.adapter is not None:
        refuse_fault(call.adapter.fault_of_machines(call.dataset, call.training))
    if not call.queries.position_is_rank and not loss.needs_position:
        raise ValueError(
            f"the lgb.Dataset has position=…, which {loss!r} does not read; train boostplug.Unbiased(base=…), or "
            "pass a Dataset without it"
        )


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
