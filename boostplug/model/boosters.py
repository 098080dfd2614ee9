"""Boosters of LightGBM and XGBoost from the content of their files."""

from typing import Any

from boostplug.core.extras import imported


def as_booster(content: bytes) -> Any:
    """Return the booster of LightGBM's text, or of XGBoost's JSON or UBJSON; None if the content is neither."""
    if content.startswith(b"tree\n"):
        return imported("lightgbm", "LightGBM's models need").Booster(model_str=content.decode())
    if content.startswith(b"{") and b"learner" in content:  # of other files XGBoost may abort the process
        return imported("xgboost", "XGBoost's models need").Booster(model_file=bytearray(content))
    return None
