"""Registry of the frameworks' adapters."""

from types import FrameType
from typing import Any

from boostplug.adapters.adapter import Adapter, Training
from boostplug.adapters.lightgbm import LightGBM
from boostplug.adapters.xgboost import XGBoost

ADAPTERS: tuple[Adapter, ...] = (
    LightGBM(),
    XGBoost(),
)


def adapter_of(data: Any) -> Adapter | None:
    """Return the adapter of the framework to which the dataset `data` belongs, or None."""
    return next((adapter for adapter in ADAPTERS if adapter.holds(data)), None)


def calling(frame: FrameType | None) -> tuple[Adapter, Training] | tuple[None, None]:
    """Return the framework's adapter and the training whose call has led to `frame`, for callers that pass arrays."""
    for adapter in ADAPTERS:
        training = adapter.training(frame)
        if training is not None:
            return adapter, training
    return None, None


def dataset_names() -> str:
    """Return the names of the dataset classes, for messages."""
    return " or ".join(adapter.dataset_name for adapter in ADAPTERS)
