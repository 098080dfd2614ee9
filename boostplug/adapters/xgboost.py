"""Adapter of XGBoost."""

import inspect
import sys
import weakref
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.adapter import Adapter, Fields, MetricLike, Subset, Training
from boostplug.adapters.options import XGBOOST, fault_of_options
from boostplug.adapters.parameter_names import XGBOOST_ALIASES as ALIASES
from boostplug.adapters.workers import Workers

Floats = NDArray[np.float64]

_LEAST_GAIN = 1e-6  # XGBoost's kRtEps: it makes no split with a smaller gain
_LARGEST_GAIN = float(np.finfo(np.float32).max)
_SPLITS = 1e3  # a tree's gain may be divided among so many splits, and later trees gain less
_ADAPTIVE = {"reg:absoluteerror", "reg:quantileerror"}
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

    def fault_of_fields(self, fields: Fields, dataset: Any) -> str | None:
        """Return the error for two-dimensional labels, which XGBoost 3.0 flattens, or weights that `xgb.cv` drops."""
        if fields.labels is not None and fields.labels.size > dataset.num_row():
            columns = fields.labels.size // dataset.num_row()
            return f"labels must be one-dimensional; the xgb.DMatrix has {columns} columns of labels"
        frame = _training(inspect.currentframe())
        whole: Any = frame.f_locals["dtrain"] if frame is not None and frame.f_code.co_name == "cv" else None
        if not self.holds(whole) or (whole.get_weight() == 1.0).all():
            return None
        return (
            "xgb.cv drops the query weights of the xgb.DMatrix from its folds; train on the folds of "
            "boostplug.group_folds one by one, or use boostplug.XGBRanker in scikit-learn's cross_validate"
        )

    def fault_of_step(self, gain: float, step: float) -> str | None:  # noqa: ARG002 (gains only)
        """Return the error for gains outside XGBoost's range."""
        if gain < _SPLITS * _LEAST_GAIN:
            return f"XGBoost makes no split that gains {_LEAST_GAIN:g} or less; those of the first tree gain {gain:.2g}"
        if gain > _LARGEST_GAIN:
            return f"XGBoost counts gains up to {_LARGEST_GAIN:.2g}; the splits of the first tree gain {gain:.2g}"
        return None

    def fault_of_call(self, scores: Any, dataset: Any, training: Training | None) -> str | None:  # noqa: ARG002 (they may be any)
        """Return the error for options of XGBoost's own objectives, if the parameters are known."""
        return self.fault_of_parameters(_parameters_of(dataset, training))

    def fault_of_parameters(self, parameters: Mapping[str, Any]) -> str | None:
        """Return the error for options of XGBoost's own objectives, and for objectives that set leaves by the labels.

        A ranking objective may be given together with our loss, so that the model stores it. Without `eval_metric`
        it evaluates ndcg.
        """
        if parameters.get("objective") in _ADAPTIVE:
            return (
                f"objective={parameters['objective']!r} together with obj= sets leaves by quantiles of labels, not by "
                "the loss; pass objective='rank:pairwise'"
            )
        given = parameters.get("eval_metric")
        if given is None:
            silent = str(parameters.get("disable_default_eval_metric", 0)).lower() in {"1", "true"}
            given = "ndcg" if parameters.get("objective") in {"rank:ndcg", "rank:pairwise"} and not silent else ()
        metrics = [given] if isinstance(given, str) else [m for m in given if isinstance(m, str)]
        return fault_of_options(XGBOOST, parameters, metrics, "XGBoost")

    def threads(self, dataset: Any, training: Training | None) -> int | None:
        """Return the training's number of threads, else the DMatrix's, else None."""
        parameters = _parameters_of(dataset, training)
        given = [parameters.get(alias) for alias in ALIASES["nthread"]]
        n = next((n for n in (*given, getattr(dataset, "nthread", None)) if n is not None), None)
        return int(n) if n is not None and int(n) > 0 else None

    def workers(self) -> Workers | None:
        """Return the workers of `xgboost.collective`, started by Dask, Spark, Ray or a user's job."""
        collective = sys.modules["xgboost"].collective
        return _Collective(collective) if collective.get_world_size() > 1 else None

    def least_hessian(self, dataset: Any, training: Training | None) -> tuple[str, float]:
        """Return `min_child_weight`, its default if the parameters are not known."""
        given = _parameters_of(dataset, training).get("min_child_weight")
        return "min_child_weight", 1.0 if given is None else float(given)

    def metric_result(self, metric: MetricLike, value: float) -> tuple[str, float]:
        """Return name and value for `xgb.train`, which maximises only names that start with auc, pre, map or ndcg."""
        if metric.greater_is_better:
            return f"pre_{metric.name}", value
        return (f"error_{metric.name}" if metric.name.startswith(_MAXIMISED) else metric.name), value

    def training(self, frame: FrameType | None) -> Training | None:
        """Return the training of the nearest `xgb.train` or `xgb.cv` among the callers; None for ``Booster.update``."""
        caller = _training(frame)
        if caller is None:
            return None
        given = caller.f_locals
        sets = [given.get("dtrain"), *(matrix for matrix, _ in given.get("evals") or ())]
        sets += [matrix for fold in given.get("cvfolds") or () for matrix in (fold.dtrain, fold.dtest)]
        return Training(dict(given.get("params") or {}), sets, given.get("bst"), given.get("i") == 0)

    def forget_best_round(self, training: Training | None) -> None:
        """Clear the best round that early stopping has stored in the model of ``xgb_model=``: new trees follow.

        `xgb.train` trains a copy of the model, so the user's booster stays as it is.
        """
        if training is None or training.booster is None or not training.begins:
            return
        if training.parameters.get("process_type") != "update":  # "update" adds no trees
            training.booster.set_attr(best_iteration=None, best_score=None)

    def on_subsets(self, dataset: Any, callback: Callable[[Any, Subset], None]) -> None:
        """Wrap `slice`, which `xgb.cv` calls too: a slice has no reference to its parent."""
        parent = weakref.ref(dataset)

        def slice_and_notify(rindex: Any, allow_groups: bool = False) -> Any:
            matrix = parent()
            assert matrix is not None
            sliced = type(matrix).slice(matrix, rindex, allow_groups)
            callback(sliced, Subset(matrix, rindex, matrix.num_row()))
            return sliced

        dataset.slice = slice_and_notify


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


def _training(frame: FrameType | None) -> FrameType | None:
    """Return the nearest frame of xgb.train or xgb.cv among the callers."""
    while frame is not None and not (
        frame.f_code.co_name in {"cv", "train"} and frame.f_globals.get("__name__") == "xgboost.training"
    ):
        frame = frame.f_back
    return frame


def _parameters_of(dataset: Any, training: Training | None) -> Mapping[str, Any]:
    """Return the parameters of the training of `dataset`; none if another training runs, with a user's loop inside."""
    if training is None or not any(dataset is other for other in training.datasets):
        return {}
    return training.parameters
