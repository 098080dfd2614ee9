"""Adapter of LightGBM."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostplug.adapters.adapter import Adapter, Fields
from boostplug.core.warning import warn_user

_INFINITY = np.float32(1e38)  # LightGBM's replacement for an infinite label or weight
_THREADS = ("num_threads", "num_thread", "nthread", "nthreads", "n_jobs")


class LightGBM(Adapter):
    """Adapter of `lightgbm.Dataset`; weights are per row."""

    framework = "lightgbm"
    kind = "Dataset"

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

    def metric_result(self, name: str, value: float, greater_is_better: bool) -> tuple[str, float, bool]:
        """Return name, value and direction, the result of a feval for `lgb.train`."""
        return name, value, greater_is_better

    def threads(self, dataset: Any) -> int | None:
        """Return the parameter `num_threads` of the Dataset, which has those of its first training."""
        for name in _THREADS if dataset.params else ():
            if (n := dataset.params.get(name)) is not None:
                return int(n) if int(n) > 0 else None
        return None

    def check(self, fields: Fields, dataset: Any) -> None:
        """Refuse infinite values, which LightGBM clips to 1e38, incomplete queries, and parameters."""
        for name, values in (("label", fields.labels), ("weight", fields.weight)):
            if values is not None and (np.abs(values) >= _INFINITY).any():
                row = int(np.argmax(np.abs(values) >= _INFINITY))
                raise ValueError(
                    f"{name}[{row}] = {values[row]} is infinite to LightGBM; pass finite numbers below 1e38"
                )
        check_parameters(dataset.params or {})
        check_no_machines(dataset.params or {})
        if self.parent(dataset) is not None:
            _check_complete_queries(dataset)

    def parent(self, dataset: Any) -> Any:
        """Return the Dataset of which this one is a subset."""
        return None if dataset.used_indices is None else dataset.reference


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise for bagging of complete queries, which LightGBM has for its own objectives only; warn of rounded Hessians.

    Most Hessians of a ranking loss are far below the largest, and round to 0.
    """
    on = {name for name, value in parameters.items() if str(value).lower() in {"true", "1", "+"}}
    if "bagging_by_query" in on:
        raise ValueError(
            "bagging_by_query=True trains a constant model (or on all rows, with a wrong score of the first) with "
            "any custom objective in LightGBM; remove it (bagging_fraction without it samples rows); an "
            "lgb.Dataset keeps it from an earlier training: build a new one"
        )
    if "use_quantized_grad" in on and "quant_train_renew_leaf" not in on:
        warn_user(
            "use_quantized_grad=True computes leaf values from Hessians that are rounded to a few levels, so those of "
            "ranking losses are many times too large; pass quant_train_renew_leaf=True too"
        )


def check_no_machines(parameters: Mapping[str, Any]) -> None:
    """Raise for a training on several machines."""
    machines = any(parameters.get(alias) for alias in ("machines", "workers", "nodes"))
    if machines or any(int(parameters.get(alias) or 1) > 1 for alias in ("num_machines", "num_machine")):
        raise ValueError(
            "LightGBM trains on several machines, each of which would scale the loss by its own rows; use "
            "boostplug.dask.LGBMRanker, which uses one scale for all"
        )


def _check_complete_queries(subset: Any) -> None:
    """Raise for a subset that holds only some rows of a query, or rows repeatedly."""
    boundaries = subset.reference.get_field("group")  # not get_group(), which goes stale
    if boundaries is None or len(boundaries) < 2:
        return
    rows = np.asarray(subset.used_indices)
    times = np.bincount(rows, minlength=boundaries[-1])
    if times.max(initial=0) > 1:
        raise ValueError(
            f"the subset repeats {int((times > 1).sum())} rows (row {int(np.argmax(times > 1))} "
            f"{times[np.argmax(times > 1)]} times), and LightGBM merges the copies of a query into one query; draw "
            "each query once and weight it, or build an lgb.Dataset of the drawn rows with group=sizes"
        )
    sizes = np.diff(boundaries)
    kept = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[rows], minlength=len(sizes))
    cut = np.flatnonzero((kept > 0) & (kept < sizes))
    if len(cut):
        q = cut[0]
        raise ValueError(
            f"the subset cuts {len(cut)} queries in two (query {q}: {kept[q]} of {sizes[q]} rows); for lgb.cv pass "
            "folds=boostplug.group_folds(queries, n_splits), for Dataset.subset the rows of complete queries"
        )
