"""LightGBM: reading its Dataset, and an `LGBMRanker` that takes our losses and metrics."""

from typing import TYPE_CHECKING, Any

import numpy as np

from boostplug.frameworks.plug import Fields

try:
    import lightgbm as lgb
except ImportError as error:
    raise ImportError("boostplug.LGBMRanker needs LightGBM: pip install 'boostplug[lightgbm]'") from error

if TYPE_CHECKING:
    from boostplug.metrics import Metric

__all__ = ["LGBMRanker"]

_ALIASES = {
    "bagging_by_query": {"bagging_by_query"},
    "num_threads": {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"},
    "boosting": {"boosting", "boosting_type", "boost"},
    "bagging_fraction": {"bagging_fraction", "sub_row", "subsample", "bagging"},
    "bagging_freq": {"bagging_freq", "subsample_freq"},
}


def _parameter(dataset: Any, name: str) -> Any:
    """Return a training parameter under any of its aliases, or None; lgb.train writes its own into the dataset."""
    params = getattr(dataset, "params", None) or {}
    for alias in sorted(_ALIASES[name], key=lambda a: a != name):
        if params.get(alias) is not None:
            return params[alias]
    return None


def read(dataset: Any) -> Fields:
    """Return labels, group sizes and row weights of a constructed `lgb.Dataset`."""
    group = dataset.get_group()
    if group is None or not len(group):
        raise ValueError(
            "the lgb.Dataset has no group; pass group=sizes of the queries (rows of a query together) to lgb.Dataset"
        )
    labels = dataset.get_field("label")
    if labels is None:
        raise ValueError("the lgb.Dataset has no label; pass label=grades to lgb.Dataset")
    _refuse_partial_queries(dataset)
    return Fields(labels=labels, group=np.asarray(group), weight=dataset.get_field("weight"))


def _refuse_partial_queries(dataset: Any) -> None:
    """Raise if the dataset is a subset that cuts a query in two."""
    used, whole = dataset.used_indices, dataset.reference
    if used is None or whole is None:
        return
    sizes = whole.get_group()
    if sizes is None:
        return
    sizes = np.asarray(sizes)
    kept = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[np.asarray(used)], minlength=len(sizes))
    cut = np.flatnonzero((kept > 0) & (kept < sizes))
    if len(cut):
        q = cut[0]
        raise ValueError(
            f"the subset cuts {len(cut)} queries in two (query {q}: {kept[q]} of {sizes[q]} rows); for lgb.cv pass "
            "folds=boostplug.group_folds(queries, n_splits), for Dataset.subset the rows of whole queries"
        )


def threads_of(dataset: Any) -> int | None:
    """Return LightGBM's number of threads where its parameters say it."""
    n = _parameter(dataset, "num_threads")
    return int(n) if n is not None and int(n) > 0 else None


def check_objective_call(scores: Any, dataset: Any) -> None:  # noqa: ARG001 (the frameworks' adapters share this form)
    """Refuse parameters under which LightGBM would train nonsense with a custom objective."""
    by_query = _parameter(dataset, "bagging_by_query")
    if by_query is True or str(by_query).lower() in {"true", "1", "+"}:
        raise ValueError(
            "bagging_by_query=True trains a constant model with any custom objective in LightGBM; "
            "remove it (bagging_fraction without it samples rows)"
        )
    if str(_parameter(dataset, "boosting")).lower() in {"rf", "random_forest"}:
        raise ValueError("boosting='rf' fails with any custom objective in LightGBM; use 'gbdt', 'dart' or 'goss'")


def metric_result(metric: "Metric", value: float) -> tuple[str, float, bool]:
    """Return what `lgb.train` takes from a feval."""
    return metric.name, value, metric.greater_is_better
