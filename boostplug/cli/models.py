"""Files of models: which kind one is, by its content."""

import json
from pathlib import Path
from typing import Any

from boostplug.model.boosters import as_booster
from boostplug.model.ensemble import Ensemble


def read_model(path: Path) -> Any:
    """Return the model of a file: a booster of LightGBM or XGBoost, or an `Ensemble`.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    content = path.read_bytes()
    try:
        booster = as_booster(content)
        return Ensemble.from_dict(json.loads(content)) if booster is None else booster
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 (LightGBM's, XGBoost's and JSON's)
        reason = str(error).strip().splitlines()[-1].strip()
        raise ValueError(
            f"{path} is not a model of LightGBM (text), XGBoost (JSON or UBJSON) or Ensemble.save ({reason}); save it "
            "with save_model, or call boostplug.export in Python"
        ) from None


def model_content(model: Any, path: Path) -> bytes:
    """Return the content of a model's file: LightGBM's or an engine's text, or XGBoost's JSON, UBJSON for ``.ubj``."""
    model = getattr(model, "get_booster", lambda: model)()
    if hasattr(model, "save_raw"):
        return bytes(model.save_raw("ubj" if path.suffix == ".ubj" else "json"))
    text = model if isinstance(model, str) else model.model_to_string()
    return str(text).encode(errors="backslashreplace")
