"""XGBoost: reading its DMatrix, and an `XGBRanker` that takes our losses and metrics."""

from typing import TYPE_CHECKING, Any

import numpy as np

from boostplug.frameworks.plug import Fields

try:
    import xgboost as xgb
except ImportError as error:
    raise ImportError("boostplug.XGBRanker needs XGBoost: pip install 'boostplug[xgboost]'") from error

if TYPE_CHECKING:
    from boostplug.metrics import Metric

__all__ = ["XGBRanker"]


def read(dataset: Any) -> Fields:
    """Return labels, group sizes and weights (per query) of an `xgb.DMatrix`."""
    boundaries = dataset.get_uint_info("group_ptr")
    if len(boundaries) < 2:
        raise ValueError(
            "the xgb.DMatrix has no queries; pass qid=ids (sorted) or group=sizes to xgb.DMatrix, or call set_group"
        )
    labels = dataset.get_label()
    if labels.size == 0:
        raise ValueError("the xgb.DMatrix has no label; pass label=grades to xgb.DMatrix")
    weight = dataset.get_weight()
    sizes = np.diff(boundaries.astype(np.int64))
    return Fields(labels=labels, group=sizes, weight=weight if weight.size else None)


def threads_of(dataset: Any) -> int | None:
    """Return the DMatrix's number of threads where it was given one."""
    n = getattr(dataset, "nthread", None)
    return int(n) if n is not None and int(n) > 0 else None


def check_objective_call(scores: Any, dataset: Any) -> None:
    """Nothing to refuse: XGBoost passes no parameters along."""


def metric_result(metric: "Metric", value: float) -> tuple[str, float]:
    """Return what `xgb.train` takes from a custom_metric; it maximises only names that start with auc, pre, map or ndcg."""
    return (f"pre_{metric.name}" if metric.greater_is_better else metric.name), value
