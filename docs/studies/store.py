"""Parts of a study that are kept in a folder, so that a run goes on where it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib

__all__ = ["finished"]


def finished(store: Path, name: str, job: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """Return a part of a study, from the folder if it is there."""
    path = store / f"{name}.joblib"
    if not path.is_file():
        joblib.dump(job(), path.with_suffix(".part"))
        path.with_suffix(".part").rename(path)
    found: dict[Any, Any] = joblib.load(path)
    return found
