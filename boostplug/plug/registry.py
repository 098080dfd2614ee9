"""Which frameworks there are."""

from typing import Any

from boostplug.plug.adapter import Adapter
from boostplug.plug.lightgbm import LightGBM
from boostplug.plug.xgboost import XGBoost

__all__ = ["ADAPTERS", "adapter_of", "dataset_names"]

ADAPTERS: tuple[Adapter, ...] = (
    LightGBM(),
    XGBoost(),
)


def adapter_of(data: Any) -> Adapter | None:
    """Return the adapter of the framework that `data` is a dataset of, or None."""
    return next((adapter for adapter in ADAPTERS if adapter.holds(data)), None)


def dataset_names() -> str:
    """Return the classes of datasets by their names, for messages."""
    return " or ".join(adapter.dataset_name for adapter in ADAPTERS)
