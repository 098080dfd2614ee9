"""Boosters of LightGBM and XGBoost: from the content of their files, and within rankers."""

from typing import Any

from boostplug.core.extras import imported


def as_booster(content: bytes) -> Any:
    """Return the booster of LightGBM's text, or of XGBoost's JSON or UBJSON; None if the content is neither."""
    if content.startswith(b"tree\n"):
        return imported("lightgbm", "LightGBM's models need").Booster(model_str=content.decode())
    if content.startswith(b"{") and b"learner" in content:  # of other files XGBoost may abort the process
        return imported("xgboost", "XGBoost's models need").Booster(model_file=bytearray(content))
    return None


def set_booster(ranker: Any, booster: Any) -> None:
    """Make a booster the model of a ranker of either framework, whose parameters stay as they are."""
    if not hasattr(booster, "save_raw"):
        vars(ranker).update(_Booster=booster, fitted_=True)  # LightGBM has no public way
        return
    # In a ranker of its own, because load_model changes parameters, and a booster that others may hold.
    loaded = imported("xgboost", "models of XGBoost need").XGBRanker(n_jobs=ranker.n_jobs)
    loaded.load_model(bytearray(booster.save_raw("ubj")))
    loaded.get_booster().load_config(booster.save_config())
    vars(ranker).update({name: value for name, value in vars(loaded).items() if name not in loaded.get_params()})
