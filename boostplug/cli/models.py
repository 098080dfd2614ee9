"""Files of models: which kind one is, by its content."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from boostplug.core.extras import imported
from boostplug.core.files import write_file
from boostplug.model.ensemble import Ensemble

_EXPORT = re.compile(rb'## LambdaMART|{L\0|\[\s*{\s*"nodeid"|{"(class|learner)"|{"name": "tree"')  # text, UBJSON, JSON


def is_export(path: Path) -> bool:
    """Return whether a file begins as those that `boostplug export` writes, which it may replace."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _EXPORT.match(file.read(40)) is not None


def read_model(path: Path) -> Any:
    """Return the model of a file: a booster of LightGBM or XGBoost, or an `Ensemble`.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    content = path.read_bytes()
    if content.startswith(b"tree\n"):
        lgb = imported("lightgbm", "LightGBM's models need")
        return _loaded(path, lgb.basic.LightGBMError, lambda: lgb.Booster(model_str=content.decode()))
    document = _json(content)
    if content.startswith(b"{") and (document is None or "learner" in document):  # JSON or UBJSON
        xgb = imported("xgboost", "XGBoost's models need")
        return _loaded(path, xgb.core.XGBoostError, lambda: xgb.Booster(model_file=bytearray(content)))
    if document is not None and "rounds" in document:
        return Ensemble.from_dict(document)
    raise ValueError(
        f"{path} is not a model of LightGBM (text), XGBoost (JSON or UBJSON) or Ensemble.save; save it with "
        "save_model, or call boostplug.export in Python"
    )


def _json(content: bytes) -> Any:
    """Return an object of JSON, None where the content is something else."""
    try:
        found = json.loads(content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _loaded(path: Path, refusal: type[Exception], load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (refusal, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise ValueError(f"{path} cannot be read ({reason}); save it again by save_model") from None


def write_model(model: Any, path: Path) -> None:
    """Write what `boostplug.export` returns for an engine: a text, or a ranker of XGBoost."""
    if isinstance(model, str):
        write_file(path, model)
    else:
        model.save_model(path)
