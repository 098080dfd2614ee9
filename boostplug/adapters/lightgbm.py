"""What LightGBM's `Dataset` and its calls mean."""

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

import numpy as np

from boostplug.adapters.adapter import Adapter, Fields, MetricLike, Part, Training, callers, openmp_threads_of_caller
from boostplug.adapters.aliases import LIGHTGBM as ALIASES
from boostplug.adapters.options import LIGHTGBM, fault_of_options
from boostplug.core.threads import OpenMPThreads

__all__ = ["LightGBM"]

_INFINITY = np.float32(1e38)  # what LightGBM makes of an infinite label or weight
_LEAST_LEAF = 1e-35  # its kZeroThreshold
_RATES = 1e-2  # learning rates and what the loss leaves of later steps
_LARGEST_STEP = 1e29  # beyond it gradients are brought back into float32's range, and Hessians with them


class LightGBM(Adapter):
    """`lightgbm.Dataset`; weights are per row."""

    framework = "lightgbm"
    kind = "Dataset"
    makes_zeros_of_missing_labels = True

    def read(self, dataset: Any) -> Fields:
        """Return the fields from the core: the Python side's copies go stale after ``set_field``."""
        boundaries = dataset.get_field("group")
        if boundaries is None or len(boundaries) < 2:
            raise ValueError(
                "the lgb.Dataset has no group; pass group=sizes of the queries (rows of a query together) to "
                "lgb.Dataset"
            )
        label, weight = dataset.get_field("label"), dataset.get_field("weight")
        return Fields(label, np.diff(boundaries), weight, dataset.get_field("position"))

    def fault_of_fields(self, fields: Fields, dataset: Any) -> str | None:
        """Name what was infinite before LightGBM cut it to 1e38, or a subset that cuts a query in two."""
        for name, values in (("label", fields.labels), ("weight", fields.weight)):
            if values is not None and (np.abs(values) >= _INFINITY).any():
                row = int(np.argmax(np.abs(values) >= _INFINITY))
                return f"{name}[{row}] = {values[row]} is infinite to LightGBM; pass finite numbers below 1e38"
        part = None if dataset is None else self.part(dataset)
        return None if part is None else _partial_queries(part)

    def fault_of_step(self, gain: float, step: float) -> str | None:  # noqa: ARG002 (gains are of any size)
        """Name the range of leaves."""
        if step < _LEAST_LEAF / _RATES:
            return f"LightGBM takes leaves of {_LEAST_LEAF:g} and less for 0; those of the first tree are {step:.2g}"
        if step > _LARGEST_STEP:
            return f"LightGBM takes gradients in single precision; leaves of {step:.2g} need larger ones"
        return None

    def fault_of_call(self, scores: Any, dataset: Any, training: Training | None) -> str | None:
        """Name what LightGBM would train nonsense with, or leave out, under a custom objective."""
        if max(np.max(scores, initial=0.0), -np.min(scores, initial=0.0)) >= _INFINITY:
            return "a score is infinite to LightGBM (1e38 or more); check init_score"
        nested = next((name for name in _given(dataset, training) if "__" in name), None)
        if nested is not None:
            return (
                f"{nested} is no parameter of LightGBM, whose own rankers take any name and do nothing with it; "
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
        """Name a training over several machines, where each would call ours with its own rows alone.

        All of them see the same parameters, and so raise together: none is left waiting.
        """
        machines = _parameter("machines", dataset, training) or ()
        listed = machines.split(",") if isinstance(machines, str) else machines
        n = max(int(_parameter("num_machines", dataset, training) or 1), len(listed))
        if n < 2:
            return None
        if training is not None and training.booster is not None:
            training.booster.free_network()  # or its end does it, in the midst of the next training
        return (
            f"LightGBM trains on {n} machines, each of which would scale the loss by its own rows, up to several times "
            "apart; use boostplug.dask.LGBMRanker, which knows the scale of all"
        )

    def fault_of_parameters(self, parameters: Mapping[str, Any]) -> str | None:
        """Name options of LightGBM's own objectives."""
        given = next((parameters[alias] for alias in ALIASES["metric"] if parameters.get(alias) is not None), ())
        metrics = given.split(",") if isinstance(given, str) else [m for m in given if isinstance(m, str)]
        return fault_of_options(LIGHTGBM, parameters, metrics, "LightGBM")

    def threads(self, dataset: Any, training: Training | None) -> int | None:
        """Return LightGBM's number of threads where its parameters say it."""
        n = _parameter("num_threads", dataset, training)
        return int(n) if n is not None and int(n) > 0 else None

    def team(self, frame: FrameType | None) -> OpenMPThreads | None:
        """Return the threads of the library that `lightgbm.basic` has loaded."""
        return openmp_threads_of_caller(frame, "lightgbm.basic")

    def least_hessian(self, dataset: Any, training: Training | None) -> tuple[str, float]:
        """Return `min_sum_hessian_in_leaf`."""
        given = _parameter("min_sum_hessian_in_leaf", dataset, training)
        return "min_sum_hessian_in_leaf", 1e-3 if given is None else float(given)

    def metric_result(self, metric: MetricLike, value: float) -> tuple[str, float, bool]:
        """Return what `lgb.train` takes from a feval."""
        return metric.name, value, metric.greater_is_better

    def training(self, frame: FrameType | None) -> Training | None:
        """Return the training of the nearest Booster that has called us.

        LightGBM hands an objective only the Dataset, or only arrays, but no parameters. Its Booster is the caller, or
        with its scikit-learn wrapper the caller's caller: the look at the stack ends there in every round.
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

    def part(self, dataset: Any) -> Part | None:
        """Return the whole Dataset of a subset, and its rows there."""
        if dataset.used_indices is None or dataset.reference is None:
            return None
        return Part(dataset.reference, dataset.used_indices, dataset.reference.num_data())


def _owner(frame: FrameType) -> Any:
    """Return the object whose method runs in a frame: the one costly step of the look at the stack."""
    return frame.f_locals.get("self")


def _parameter(name: str, dataset: Any, training: Training | None) -> Any:
    """Return a training parameter under any of its aliases, or None.

    The training knows all of them; the Dataset knows those it was constructed with, which may be of an earlier
    training: it is asked only where no training is seen.
    """
    given = _given(dataset, training)
    return next((given[alias] for alias in ALIASES[name] if given.get(alias) is not None), None)


def _given(dataset: Any, training: Training | None) -> Mapping[str, Any]:
    return (getattr(dataset, "params", None) or {}) if training is None else training.parameters


def _partial_queries(part: Part) -> str | None:
    """Return the complaint about a subset that holds some rows of a query and not the others."""
    boundaries = part.whole.get_field("group")  # not get_group(), which goes stale
    if boundaries is None or len(boundaries) < 2:
        return None
    rows = np.asarray(part.rows)
    times = np.bincount(rows, minlength=part.n_rows)
    if times.max(initial=0) > 1:
        return (
            f"the subset repeats {int((times > 1).sum())} rows (row {int(np.argmax(times > 1))} stands in it "
            f"{times[np.argmax(times > 1)]} times), and LightGBM makes one query of a query that is drawn twice; draw "
            "each once and weigh it, or build an lgb.Dataset of the rows drawn with group=sizes"
        )
    sizes = np.diff(boundaries)
    kept = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[rows], minlength=len(sizes))
    cut = np.flatnonzero((kept > 0) & (kept < sizes))
    if not len(cut):
        return None
    q = cut[0]
    return (
        f"the subset cuts {len(cut)} queries in two (query {q}: {kept[q]} of {sizes[q]} rows); for lgb.cv pass "
        "folds=boostplug.group_folds(queries, n_splits), for Dataset.subset the rows of whole queries"
    )
