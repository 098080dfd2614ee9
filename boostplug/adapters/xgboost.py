"""Adapter of XGBoost."""

import sys
from typing import Any, NoReturn

import numpy as np

from boostplug.adapters.adapter import Adapter, Fields
from boostplug.adapters.workers import Workers
from boostplug.core.arrays import Floats

_MAXIMISED = ("auc", "pre", "map", "ndcg")  # prefixes of the metrics that XGBoost maximises


class XGBoost(Adapter):
    """Adapter of `xgboost.DMatrix`; weights are per query."""

    framework = "xgboost"
    kind = "DMatrix"

    def read(self, dataset: Any) -> Fields:
        """Return labels, group sizes and weights."""
        boundaries = dataset.get_uint_info("group_ptr")
        if not dataset.num_row() and self.workers() is not None:  # a worker without data
            return Fields(np.empty(0, np.float32), np.empty(0, np.int64), None)
        if len(boundaries) < 2:
            raise ValueError(
                "the xgb.DMatrix has no queries; pass qid=ids (sorted) or group=sizes to xgb.DMatrix, or call set_group"
            )
        labels, weight = dataset.get_label(), dataset.get_weight()
        return Fields(
            labels if labels.size else None, np.diff(boundaries.astype(np.int64)), weight if weight.size else None
        )

    def metric_result(self, name: str, value: float, greater_is_better: bool) -> tuple[str, float]:
        """Return name and value for `xgb.train`, which maximises only names that start with auc, pre, map or ndcg."""
        if greater_is_better:
            return f"pre_{name}", value
        return (f"error_{name}" if name.startswith(_MAXIMISED) else name), value

    def threads(self, dataset: Any) -> int | None:
        """Return `nthread` of the DMatrix."""
        n = getattr(dataset, "nthread", None)
        return int(n) if n is not None and int(n) > 0 else None

    def workers(self) -> Workers | None:
        """Return the workers of `xgboost.collective`, started by Dask, Spark, Ray or a user's job."""
        collective = sys.modules["xgboost"].collective
        return _Collective(collective) if collective.get_world_size() > 1 else None

    def check(self, fields: Fields, dataset: Any) -> None:
        """Refuse two-dimensional labels, which XGBoost 3.0 flattens."""
        if fields.labels is not None and fields.labels.size > dataset.num_row():
            columns = fields.labels.size // dataset.num_row()
            raise ValueError(f"labels must be one-dimensional; the xgb.DMatrix has {columns} columns of labels")

    def check_no_slices(self, dataset: Any) -> None:
        """Make `slice` raise, which `xgb.cv` calls too: a slice has no reference to its DMatrix."""
        dataset.slice = _refuse_slice


def _refuse_slice(*_: Any, **__: Any) -> NoReturn:
    raise ValueError(
        "slices of an xgb.DMatrix lose its pairs, labels and positions; build an xgb.DMatrix of each part and attach "
        "those of its rows, or use boostplug.XGBRanker with scikit-learn's cross_validate"
    )


class _Collective:
    """Workers connected by XGBoost."""

    def __init__(self, collective: Any) -> None:
        self._collective = collective
        self.rank = int(collective.get_rank())
        self.n = int(collective.get_world_size())

    def sum(self, values: Floats) -> Floats:
        total: Floats = self._collective.allreduce(values, self._collective.Op.SUM).reshape(values.shape)
        return total

    def broadcast(self, text: tuple[str, str] | None, rank: int) -> tuple[str, str]:
        received: tuple[str, str] = self._collective.broadcast(text, rank)
        return received
