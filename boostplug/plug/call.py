"""Between a framework's call and a loss or metric: dataset → `Queries` → numbers → what the framework expects.

A dataset's `Queries` live as long as the dataset, and are built anew when its labels, groups or weights change.
"""

import sys
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.single_precision import to_single
from boostplug.pairs import Pairs
from boostplug.queries import Queries
from boostplug.threads import threads_of_framework

if TYPE_CHECKING:
    from boostplug.losses import Loss
    from boostplug.metrics import Metric

__all__ = ["Fields", "Preferences", "assign", "evaluate", "objective", "queries_of", "set_pairs", "value_on_arrays"]

Floats32 = NDArray[np.float32]

_DATASETS = {"lightgbm": "Dataset", "xgboost": "DMatrix"}  # framework -> its class of datasets


@dataclass(frozen=True, eq=False)
class Fields:
    """What a framework's dataset holds, as the framework gives it.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
    group : ndarray of shape (n_queries,)
        Sizes.
    weight : ndarray, or None
        Per query or per row.
    """

    labels: NDArray[Any]
    group: NDArray[Any]
    weight: NDArray[Any] | None

    def same_as(self, other: "Fields") -> bool:
        """Return whether both hold equal values."""
        if (self.weight is None) != (other.weight is None):
            return False
        return (
            np.array_equal(self.labels, other.labels)
            and np.array_equal(self.group, other.group)
            and (self.weight is None or other.weight is None or np.array_equal(self.weight, other.weight))
        )


@dataclass(frozen=True, eq=False)
class Preferences:
    """What `set_pairs` attached to a dataset."""

    pairs: Pairs
    labelled: NDArray[np.bool_] | None

    def of_rows(self, rows: NDArray[np.int64], n_rows: int) -> "Preferences":
        """Return what is left of them in a part of the rows, with a warning where that cuts pairs."""
        if self.labelled is not None and len(self.labelled) != n_rows:
            raise ValueError(f"labelled must hold one bool per row ({n_rows}), got {len(self.labelled)} values")
        pairs, cut = self.pairs.of_rows(rows, n_rows)
        if cut:
            warnings.warn(
                f"{cut} of {len(self.pairs)} pairs have one row in this part of the data and one outside, and are left "
                "out of it; they cross the queries that the folds keep whole",
                UserWarning,
                stacklevel=4,
            )
        return Preferences(pairs, None if self.labelled is None else self.labelled[rows])


_preferences: WeakKeyDictionary[Any, Preferences] = WeakKeyDictionary()
_inherited: WeakKeyDictionary[Any, Preferences] = WeakKeyDictionary()  # of subsets that have none of their own
_read: WeakKeyDictionary[Any, tuple[Fields, Preferences | None, Queries]] = WeakKeyDictionary()
_assigned: WeakKeyDictionary[Any, Queries] = WeakKeyDictionary()
_of_training: WeakKeyDictionary[Any, deque[tuple[Fields, Queries]]] = WeakKeyDictionary()  # by its training set
_recent: deque[tuple[Fields, Queries]] = deque(maxlen=1)  # of callers that pass arrays and are no framework
_warned: WeakKeyDictionary[Queries, bool] = WeakKeyDictionary()


def objective(loss: "Loss", a: Any, b: Any, weight: Any, group: Any) -> tuple[Floats32, Floats32]:
    """Return gradient and Hessian as float32, for any of the ways in which the frameworks call an objective."""
    framework = _framework_of(b)
    if framework is not None:
        framework.check_objective_call(a, b)
        queries, scores, threads = queries_of(b), a, framework.threads_of(b)
    else:
        if _framework_of(a) is not None:
            raise TypeError("the dataset came first: call loss(scores, dataset), as lgb.train and xgb.train do")
        lightgbm = _calling_lightgbm()
        if lightgbm is not None:
            lightgbm.check_objective_call(b, None)
        threads = None if lightgbm is None else lightgbm.threads_of(None)
        queries, scores = _queries_of_arrays(a, weight, group), b
    _check_length(scores, queries)
    with threads_of_framework(threads):
        gradient, hessian = loss.gradient_hessian(scores, queries)
    g, h, any_step = _as_float32(loss, gradient, hessian)
    if not any_step:
        _warn_of_nothing_to_learn(loss, queries)
    return g, h


def evaluate(metric: "Metric", scores: Any, data: Any) -> tuple[str, float, bool] | tuple[str, float]:
    """Return a metric's result on a framework's dataset in that framework's form."""
    framework = _framework_of(data)
    if framework is None:
        raise TypeError(
            f"{metric.name} got {type(data).__name__} as its second argument; it takes (scores, Queries), "
            "(scores, lgb.Dataset) as feval of lgb.train, or (scores, xgb.DMatrix) as custom_metric of xgb.train. "
            "For a scikit-learn ranker pass it as eval_metric to boostplug.LGBMRanker or boostplug.XGBRanker"
        )
    queries = queries_of(data)
    with threads_of_framework(framework.threads_of(data)):
        value = _defined_value(metric, scores, queries)
    result: tuple[str, float, bool] | tuple[str, float] = framework.metric_result(metric, value)
    return result


def value_on_arrays(
    metric: "Metric", labels: Any, scores: Any, weight: Any, group: Any, known: Sequence[Queries] = ()
) -> float:
    """Return a metric's value for callers that pass arrays and no dataset; `known` may hold what they stand for."""
    lightgbm = _calling_lightgbm()
    with threads_of_framework(None if lightgbm is None else lightgbm.threads_of(None)):
        for queries in known:
            if np.array_equal(np.diff(queries.boundaries), group) and np.array_equal(
                queries.labels.astype(np.float32), labels
            ):
                return _defined_value(metric, scores, queries)
        return _defined_value(metric, scores, _queries_of_arrays(labels, weight, group))


def _defined_value(metric: "Metric", scores: Any, queries: Queries) -> float:
    _check_length(scores, queries)
    value = float(metric(scores, queries))
    if np.isnan(value):
        raise ValueError(
            f"{metric.name} is undefined on every query of a validation set (no relevant document anywhere); "
            "check its labels, or choose what such a query counts with the metric's parameter empty"
        )
    return value


def assign(dataset: Any, queries: Queries) -> None:
    """Let losses and metrics use `queries` for `dataset`, in place of what the framework could hold."""
    _assigned[dataset] = queries


def queries_of(dataset: Any) -> Queries:
    """Return the `Queries` of a framework's dataset, built at the first call and whenever its fields have changed."""
    if dataset in _assigned:
        return _assigned[dataset]
    framework = _framework_of(dataset)
    assert framework is not None
    preferences = preferences_of(dataset)
    fields: Fields = framework.read(dataset, labels_required=preferences is None)
    known = _read.get(dataset)
    if known is not None and known[1] is preferences and known[0].same_as(fields):
        return known[2]
    if preferences is None:
        queries = Queries(fields.labels, group=fields.group, weight=fields.weight)
    else:
        labels: NDArray[Any] | None = fields.labels
        if len(fields.labels) == 0 or (preferences.labelled is None and not fields.labels.any()):
            labels = None  # LightGBM makes zeros of missing labels
        queries = Queries(
            labels,
            group=fields.group,
            weight=fields.weight,
            pairs=preferences.pairs,
            labelled=preferences.labelled,
        )
    _read[dataset] = (fields, preferences, queries)
    return queries


def set_pairs(dataset: Any, pairs: Pairs, *, labelled: Any = None) -> None:
    """Attach explicit preferences to a dataset; losses on pairs then use them in place of the grades.

    They follow ``subset``, ``lgb.cv``, ``xgb.cv`` and ``DMatrix.slice``, with rows numbered anew; a warning counts the
    pairs that a part cuts. A later call replaces them.

    Parameters
    ----------
    dataset : lightgbm.Dataset or xgboost.DMatrix
        Constructed or not. Without labels, or with labels that are all 0 (which LightGBM makes of missing ones), no row
        counts as labelled, unless `labelled` says otherwise.
    pairs : Pairs
        Rows of this dataset.
    labelled : array-like of bool of shape (n_rows,), optional
        Which rows have a label that means something.

    Raises
    ------
    TypeError
        If `dataset` is no dataset of LightGBM or XGBoost, or `pairs` no `Pairs`.
    ValueError
        If a row index is beyond the dataset; at the first call of the loss, where the number of rows is known.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> import boostplug as bp
    >>> data = lgb.Dataset(np.arange(4.0).reshape(-1, 1), group=[4])
    >>> bp.set_pairs(data, bp.Pairs([0, 1], [3, 2]))
    """
    framework = _framework_of(dataset)
    if framework is None:
        raise TypeError(f"dataset must be a lightgbm.Dataset or xgboost.DMatrix, got {type(dataset).__name__}")
    if not isinstance(pairs, Pairs):
        raise TypeError(f"pairs must be a boostplug.Pairs(winner, loser), got {type(pairs).__name__}")
    mask = None if labelled is None else np.array(labelled)
    attach(dataset, Preferences(pairs, mask))
    framework.follow_pairs(dataset)


def attach(dataset: Any, preferences: Preferences) -> None:
    """Keep preferences for as long as the dataset lives."""
    _preferences[dataset] = preferences
    _inherited.clear()  # the dataset may be the whole of some


def preferences_of(dataset: Any) -> Preferences | None:
    """Return what `set_pairs` attached to a dataset, or to the whole of which it is a subset."""
    own = _preferences.get(dataset) or _inherited.get(dataset)
    if own is not None:
        return own
    framework = _framework_of(dataset)
    assert framework is not None
    inherited: Preferences | None = framework.inherited_preferences(dataset)
    if inherited is not None:
        _inherited[dataset] = inherited
    return inherited


def _framework_of(data: Any) -> ModuleType | None:
    """Return our adapter for the framework that `data` is a dataset of, or None; imports no framework."""
    for name, kind in _DATASETS.items():
        module = sys.modules.get(name)
        if module is not None and hasattr(module, kind) and isinstance(data, getattr(module, kind)):
            return import_module(f"boostplug.estimators.{name}")
    return None


def _calling_lightgbm() -> ModuleType | None:
    """Return our adapter for LightGBM if a Booster of it is calling us (its LGBMRanker passes arrays alone)."""
    if not hasattr(sys.modules.get("lightgbm"), "Booster"):
        return None
    module = import_module("boostplug.estimators.lightgbm")
    return None if module.calling_booster() is None else module


def _queries_of_arrays(labels: Any, weight: Any, group: Any) -> Queries:
    """Return the `Queries` of plain arrays, from the last few where they hold the same values.

    Those of a training in LightGBM are kept as long as its training set.
    """
    if group is None:
        raise ValueError(
            "group is missing: a ranking objective needs the queries. Use LGBMRanker with fit(…, group=sizes), "
            "or lgb.train on a Dataset with group=sizes; LGBMRegressor and LGBMClassifier pass none"
        )
    fields = Fields(np.asarray(labels), np.asarray(group), None if weight is None else np.asarray(weight))
    lightgbm = _calling_lightgbm()
    training_set = None if lightgbm is None else getattr(lightgbm.calling_booster(), "train_set", None)
    recent = _recent if training_set is None else _of_training.setdefault(training_set, deque(maxlen=16))
    for known, queries in tuple(recent):
        if known.same_as(fields):
            return queries
    if lightgbm is not None:
        lightgbm.refuse_infinite(fields.labels, fields.weight)
    copy = Fields(fields.labels.copy(), fields.group.copy(), None if weight is None else np.array(weight))
    queries = Queries(copy.labels, group=copy.group, weight=copy.weight)
    recent.append((copy, queries))
    return queries


def _check_length(scores: Any, queries: Queries) -> None:
    shape = np.shape(scores)
    if shape != (queries.n_rows,):
        raise ValueError(
            f"the framework passed scores of shape {shape} for {queries.n_rows} rows; a ranking model has one output "
            "per row: leave num_class and multi-output parameters at their defaults"
        )


def _warn_of_nothing_to_learn(loss: "Loss", queries: Queries) -> None:
    if queries in _warned:
        return
    _warned[queries] = True
    runs = queries.grade_runs
    cause = (
        "its gradient has vanished at these scores"
        if len(runs.rows)
        else f"none of the {queries.n_queries} queries holds two documents of different grades (with positive weight)"
    )
    if not queries.labels.any():
        cause += "; all labels are 0, which is what LightGBM makes of missing and of NaN labels"
    warnings.warn(f"{loss!r} has nothing to learn from: {cause}; the model stays constant", UserWarning, stacklevel=4)


def _as_float32(loss: "Loss", gradient: Any, hessian: Any) -> tuple[Floats32, Floats32, bool]:
    """Return both as float32, and whether there is any step; a row whose Hessian would lose its digits takes none."""
    g, h = np.empty(len(gradient), np.float32), np.empty(len(gradient), np.float32)
    row, any_step = to_single(gradient, hessian, g, h)
    if row >= 0:
        raise FloatingPointError(
            f"{loss!r} returned gradient {gradient[row]} and Hessian {hessian[row]} in row {row}; the frameworks take "
            "numbers within float32's ±3.4e38, the Hessian not negative: check weights and scores"
        )
    return g, h, any_step
