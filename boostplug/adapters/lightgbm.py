"""Adapter of LightGBM."""

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

import numpy as np

from boostplug.adapters.adapter import Adapter, Fields, MetricLike, Subset, Training, callers
from boostplug.adapters.options import LIGHTGBM, fault_of_options
from boostplug.adapters.parameter_names import LIGHTGBM_ALIASES as ALIASES

_INFINITY = np.float32(1e38)  # LightGBM's replacement for an infinite label or weight
_LEAST_LEAF = 1e-35  # its kZeroThreshold
_RATES = 1e-2  # allows for learning rates and for smaller steps in later rounds
_LARGEST_STEP = 1e29  # beyond it gradients, and Hessians with them, are scaled down to float32's range


class LightGBM(Adapter):
    """Adapter of `lightgbm.Dataset`; weights are per row."""

    framework = "lightgbm"
    kind = "Dataset"
    makes_zeros_of_missing_labels = True

    def read(self, dataset: Any) -> Fields:
        """Return the fields from LightGBM's core, since the copies in Python are outdated after ``set_field``."""
        boundaries = dataset.get_field("group")
        if boundaries is None or len(boundaries) < 2:
            raise ValueError(
                "the lgb.Dataset has no group; pass group=sizes of the queries (rows of a query together) to "
                "lgb.Dataset"
            )
        label, weight = dataset.get_field("label"), dataset.get_field("weight")
        return Fields(label, np.diff(boundaries), weight, dataset.get_field("position"))

    def fault_of_fields(self, fields: Fields, dataset: Any) -> str | None:
        """Return the error for infinite values, which LightGBM clips to 1e38, or for incomplete queries of a subset."""
        for name, values in (("label", fields.labels), ("weight", fields.weight)):
            if values is not None and (np.abs(values) >= _INFINITY).any():
                row = int(np.argmax(np.abs(values) >= _INFINITY))
                return f"{name}[{row}] = {values[row]} is infinite to LightGBM; pass finite numbers below 1e38"
        subset = None if dataset is None else self.subset(dataset)
        return None if subset is None else _partial_queries(subset)

    def fault_of_step(self, gain: float, step: float) -> str | None:  # noqa: ARG002 (gains are of any size)
        """Return the error for leaf values outside LightGBM's range."""
        if step < _LEAST_LEAF / _RATES:
            return f"LightGBM takes leaves of {_LEAST_LEAF:g} and less for 0; those of the first tree are {step:.2g}"
        if step > _LARGEST_STEP:
            return f"LightGBM takes gradients in single precision; leaves of {step:.2g} need larger ones"
        return None

    def fault_of_call(self, scores: Any, dataset: Any, training: Training | None) -> str | None:
        """Return the error for scores and parameters with which LightGBM trains a wrong model on a custom objective."""
        if max(np.max(scores, initial=0.0), -np.min(scores, initial=0.0)) >= _INFINITY:
            return "a score is infinite to LightGBM (1e38 or more); check init_score"
        nested = next((name for name in _given(dataset, training) if "__" in name), None)
        if nested is not None:
            return (
                f"{nested} is not a parameter of LightGBM, whose own rankers accept and ignore unknown names; "
                "build the loss with the parameter, or use boostplug.LGBMRanker"
            )
        fraction = float(_parameter("bagging_fraction", dataset, training) or 1.0)
        bags = fraction < 1.0 and int(_parameter("bagging_freq", dataset, training) or 0)
        if bags and str(_parameter("bagging_by_query", dataset, training)).lower() in {"true", "1", "+"}:
            return (
                "bagging_by_query=True trains a constant model (or on all rows, with a wrong score of the first) with "
                "any custom objective in LightGBM; remove it (bagging_fraction without it samples rows)"
            )
        if str(_parameter("boosting", dataset, training)).lower() in {"rf", "random_forest"}:
            return "boosting='rf' fails with any custom objective in LightGBM; use 'gbdt', 'dart' or 'goss'"
        return None if training is None else self.fault_of_parameters(training.parameters)

    def fault_of_machines(self, dataset: Any, training: Training | None) -> str | None:
        """Return the error for several machines, each of which would call the loss with its own rows only.

        All machines have the same parameters, so all raise together and none waits for the others.
        """
        machines = _parameter("machines", dataset, training) or ()
        listed = machines.split(",") if isinstance(machines, str) else machines
        n = max(int(_parameter("num_machines", dataset, training) or 1), len(listed))
        if n < 2:
            return None
        if training is not None and training.booster is not None:
            training.booster.free_network()  # else its destructor does, during the next training
        return (
            f"LightGBM trains on {n} machines, each of which would scale the loss by its own rows, so the scales may "
            "differ several times; use boostplug.dask.LGBMRanker, which uses one scale for all"
        )

    def fault_of_parameters(self, parameters: Mapping[str, Any]) -> str | None:
        """Return the error for options of LightGBM's own objectives."""
        given = next((parameters[alias] for alias in ALIASES["metric"] if parameters.get(alias) is not None), ())
        metrics = given.split(",") if isinstance(given, str) else [m for m in given if isinstance(m, str)]
        return fault_of_options(LIGHTGBM, parameters, metrics, "LightGBM")

    def threads(self, dataset: Any, training: Training | None) -> int | None:
        """Return LightGBM's parameter `num_threads`, None if it is not given."""
        n = _parameter("num_threads", dataset, training)
        return int(n) if n is not None and int(n) > 0 else None

    def least_hessian(self, dataset: Any, training: Training | None) -> tuple[str, float]:
        """Return `min_sum_hessian_in_leaf`."""
        given = _parameter("min_sum_hessian_in_leaf", dataset, training)
        return "min_sum_hessian_in_leaf", 1e-3 if given is None else float(given)

    def metric_result(self, metric: MetricLike, value: float) -> tuple[str, float, bool]:
        """Return name, value and direction, the result of a feval for `lgb.train`."""
        return metric.name, value, metric.greater_is_better

    def training(self, frame: FrameType | None) -> Training | None:
        """Return the training of the nearest Booster that has called us.

        LightGBM passes an objective the Dataset or arrays, but no parameters. They are read from its Booster, which is
        the caller, or with LightGBM's scikit-learn wrapper the caller's caller.
        """
        kind = getattr(sys.modules.get("lightgbm"), "Booster", None)
        if kind is None:
            return None
        for caller in callers(frame):
            booster = _owner(caller)
            if isinstance(booster, kind):
                sets = [booster.train_set, *booster.valid_sets] if hasattr(booster, "train_set") else []
                return Training(booster.params or {}, sets, booster)
        return None

    def subset(self, dataset: Any) -> Subset | None:
        """Return the parent Dataset of a subset, and the subset's rows in it."""
        if dataset.used_indices is None or dataset.reference is None:
            return None
        return Subset(dataset.reference, dataset.used_indices, dataset.reference.num_data())


def _owner(frame: FrameType) -> Any:
    """Return the object whose method runs in a frame. This is the costly step of the search in the stack."""
    return frame.f_locals.get("self")


def _parameter(name: str, dataset: Any, training: Training | None) -> Any:
    """Return a training parameter under any of its aliases, or None.

    The training has all parameters. The Dataset has those of its construction, possibly for an earlier training, so it
    is used only if the training is not known.
    """
    given = _given(dataset, training)
    return next((given[alias] for alias in ALIASES[name] if given.get(alias) is not None), None)


def _given(dataset: Any, training: Training | None) -> Mapping[str, Any]:
    return (getattr(dataset, "params", None) or {}) if training is None else training.parameters


def _partial_queries(subset: Subset) -> str | None:
    """Return the error for a subset that holds only some rows of a query, or rows repeatedly."""
    boundaries = subset.parent.get_field("group")  # not get_group(), which goes stale
    if boundaries is None or len(boundaries) < 2:
        return None
    rows = np.asarray(subset.rows)
    times = np.bincount(rows, minlength=subset.n_rows)
    if times.max(initial=0) > 1:
        return (
            f"the subset repeats {int((times > 1).sum())} rows (row {int(np.argmax(times > 1))} "
            f"{times[np.argmax(times > 1)]} times), and LightGBM merges the copies of a query into one query; draw "
            "each query once and weight it, or build an lgb.Dataset of the drawn rows with group=sizes"
        )
    sizes = np.diff(boundaries)
    kept = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[rows], minlength=len(sizes))
    cut = np.flatnonzero((kept > 0) & (kept < sizes))
    if not len(cut):
        return None
    q = cut[0]
    return (
        f"the subset cuts {len(cut)} queries in two (query {q}: {kept[q]} of {sizes[q]} rows); for lgb.cv pass "
        "folds=boostplug.group_folds(queries, n_splits), for Dataset.subset the rows of complete queries"
    )
