"""Parts of a study that are kept in a folder, so that a run goes on where it was."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import joblib

__all__ = ["all_finished", "finished"]


def finished(store: Path, name: str, job: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """Return a part of a study, from the folder if it is there."""
    path = store / f"{name}.joblib"
    if not path.is_file():
        joblib.dump(job(), path.with_suffix(".part"))
        path.with_suffix(".part").rename(path)
    found: dict[Any, Any] = joblib.load(path)
    return found


def all_finished(store: Path, jobs: Mapping[str, Callable[[], dict[Any, Any]]]) -> dict[str, dict[Any, Any]]:
    """Return all parts of a study by name; what the folder lacks is made on all cores."""
    store.mkdir(parents=True, exist_ok=True)
    work: Callable[..., Any] = joblib.delayed(finished)
    return dict(zip(jobs, joblib.Parallel(n_jobs=-1)(work(store, *job) for job in jobs.items()), strict=True))
