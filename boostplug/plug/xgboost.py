"""What XGBoost's `DMatrix` and its calls mean."""

import inspect
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from boostplug.plug.adapter import Adapter, Fields, MetricLike, Part, Training

__all__ = ["XGBoost"]

_LEAST_GAIN = 1e-6  # of a split, its kRtEps: smaller ones are not made
_LARGEST_GAIN = float(np.finfo(np.float32).max)
_SPLITS = 1e3  # a tree's gain may come in so many, later ones gain less
_MAXIMISED = ("auc", "pre", "map", "ndcg")  # how the names of metrics start that XGBoost maximises


class XGBoost(Adapter):
    """`xgboost.DMatrix`; weights are per query."""

    framework = "xgboost"
    kind = "DMatrix"

    def read(self, dataset: Any) -> Fields:
        """Return labels, group sizes and weights."""
        boundaries = dataset.get_uint_info("group_ptr")
        if len(boundaries) < 2:
            raise ValueError(
                "the xgb.DMatrix has no queries; pass qid=ids (sorted) or group=sizes to xgb.DMatrix, or call set_group"
            )
        labels, weight = dataset.get_label(), dataset.get_weight()
        return Fields(
            labels if labels.size else None, np.diff(boundaries.astype(np.int64)), weight if weight.size else None
        )

    def fault_of_fields(self, fields: Fields, dataset: Any) -> str | None:
        """Name labels of several columns, which XGBoost 3.0 flattens, or the query weights that `xgb.cv` drops."""
        if fields.labels is not None and fields.labels.size > dataset.num_row():
            columns = fields.labels.size // dataset.num_row()
            return f"labels must be one-dimensional; the xgb.DMatrix has {columns} columns of them"
        frame = inspect.currentframe()
        while frame is not None and not _trains(frame):
            frame = frame.f_back
        whole: Any = frame.f_locals["dtrain"] if frame is not None and frame.f_code.co_name == "cv" else None
        if not self.holds(whole) or (whole.get_weight() == 1.0).all():
            return None
        return (
            "xgb.cv drops the query weights of the xgb.DMatrix from its folds; train on the folds of "
            "boostplug.group_folds one by one, or use boostplug.XGBRanker in scikit-learn's cross_validate"
        )

    def fault_of_step(self, gain: float, step: float) -> str | None:  # noqa: ARG002 (of gains alone)
        """Name the range of gains."""
        if gain < _SPLITS * _LEAST_GAIN:
            return f"XGBoost makes no split that gains {_LEAST_GAIN:g} or less; all of the first tree gain {gain:.2g}"
        if gain > _LARGEST_GAIN:
            return f"XGBoost counts gains up to {_LARGEST_GAIN:.2g}; the splits of the first tree gain {gain:.2g}"
        return None

    def threads(self, dataset: Any, training: Training | None) -> int | None:  # noqa: ARG002 (it shows no parameters)
        """Return the DMatrix's number of threads where it was given one."""
        n = getattr(dataset, "nthread", None)
        return int(n) if n is not None and int(n) > 0 else None

    def metric_result(self, metric: MetricLike, value: float) -> tuple[str, float]:
        """Return what `xgb.train` takes: it maximises names that start with auc, pre, map or ndcg, and no other."""
        if metric.greater_is_better:
            return f"pre_{metric.name}", value
        return (f"error_{metric.name}" if metric.name.startswith(_MAXIMISED) else metric.name), value

    def on_parts(self, dataset: Any, tell: Callable[[Any, Part], None]) -> None:
        """Watch `slice` (that of `xgb.cv` too): what it returns does not know its whole."""
        whole = weakref.ref(dataset)

        def slice_and_tell(rindex: Any, allow_groups: bool = False) -> Any:
            matrix = whole()
            assert matrix is not None
            part = type(matrix).slice(matrix, rindex, allow_groups)
            tell(part, Part(matrix, rindex, matrix.num_row()))
            return part

        dataset.slice = slice_and_tell


def _trains(frame: FrameType) -> bool:
    """Return whether a frame is that of xgb.cv, or of xgb.train, inside of which no xgb.cv further up counts."""
    return frame.f_code.co_name in {"cv", "train"} and frame.f_globals.get("__name__") == "xgboost.training"
