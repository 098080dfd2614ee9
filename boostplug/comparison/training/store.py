"""Finished runs of a comparison in a file of JSON lines, from which only the same comparison continues."""

import errno
import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import joblib

from boostplug.comparison.inputs.columns import DataFolds
from boostplug.comparison.inputs.contents import digest_of_part
from boostplug.comparison.summary import versions
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.core.checks import shown
from boostplug.core.warning import warn_user
from boostplug.losses import Loss
from boostplug.metrics import Metric

_DIGEST = "digest of data, settings, files, versions and code"  # its key in the file
_PACKAGE = Path(__file__).parents[2]


class Store:
    """Results by key. A result is on disk when `add` returns. Several processes may add to one file.

    Parameters
    ----------
    path : Path or None
        File, made with the first result. None: nothing is stored.

    Attributes
    ----------
    results : dict
        The results that were in the file at the start, and those added here, by key. A line that was not written to its
        end, as after a power failure, is left out.

    Raises
    ------
    ValueError
        If the file is not a store.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.results = path, dict[str, Any]()
        content = b"" if path is None or not path.exists() else path.read_bytes()
        for text in content.splitlines():
            try:
                line = json.loads(text)
                self.results[line["key"]] = line["result"]
            except (ValueError, TypeError, KeyError):
                continue
        if content and not self.results and not content.startswith(b'{"key": '):
            raise ValueError(f"{path} holds no results; remove it to start anew, or name another place for results")

    def get(self, key: str) -> Any:
        """Return a result, or None if there is none."""
        return self.results.get(key)

    def add(self, key: str, result: Any) -> None:
        """Store a result in JSON's types; if the disk fails, warn and continue."""
        self.results[key] = result
        if self.path is None:
            return
        line = json.dumps({"key": key, "result": result}).encode() + b"\n"
        try:
            with self.path.open("a+b", buffering=0) as file:
                if file.seek(0, os.SEEK_END):
                    file.seek(-1, os.SEEK_END)
                    line = line if file.read(1) == b"\n" else b"\n" + line  # after a line that was cut off
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 (as the system says it)
        except OSError as error:
            warnings.warn(
                f"{self.path} cannot be written ({error}): a result is not kept there, and the run goes on",
                RuntimeWarning,
                stacklevel=2,
            )


def _digest_of(folds: DataFolds, plan: TrainingPlan) -> str:
    """Return a digest of all that affects a run except its method, fold and seed."""
    data = [digest_of_part(part) for fold in folds for part in fold]
    of_frameworks = [*plan.trees.lightgbm.values(), *plan.trees.xgboost.values()]
    paths = [Path(value) for value in of_frameworks if isinstance(value, (str, PathLike)) and Path(value).is_file()]
    code = [(str(file.relative_to(_PACKAGE)), file.read_bytes()) for file in sorted(_PACKAGE.rglob("*.py"))]
    metrics = [*map(repr, (plan.metric, plan.valid_metric, *plan.metrics))]
    tuned = (plan.tune, plan.seeds[0]) if plan.tune else 0
    settings = (plan.rounds, plan.patience, plan.num_threads, tuned, metrics, asdict(plan.trees))
    files = [(str(path), path.read_bytes()) for path in paths]
    return str(joblib.hash((data, settings, files, versions("optuna"), code)))


def has_own_code(value: Loss | Metric | str) -> bool:
    """Return whether a loss or metric has code of the user's own, so that its text does not identify it."""
    if isinstance(value, str):
        return False
    try:
        read = Loss.parse(repr(value))[0] if isinstance(value, Loss) else Metric.parse(repr(value))
    except ValueError:
        return True
    return bool(read != value)


def open_store(
    path: Path | None, folds: DataFolds, plan: TrainingPlan, objectives: Sequence[Loss | str], *, resume: bool
) -> Store:
    """Return the store of a comparison's runs; without a path it stores nothing.

    With a metric of the user's own nothing is stored, and of losses of the user's own no run; a warning says so.

    Raises
    ------
    OSError
        If the folder of the file cannot be made, or the file cannot be read.
    ValueError
        If the file holds runs of another comparison, or of this one without `resume`.
    """
    if path is None:
        return Store(None)
    digest = _digest_of(folds, plan)
    path.parent.mkdir(parents=True, exist_ok=True)
    metrics = [metric for metric in {plan.metric, plan.valid_metric, *plan.metrics} if has_own_code(metric)]
    own = [*filter(has_own_code, objectives)]
    for value in dict.fromkeys([*metrics, *own]):
        warn_user(
            f"{shown(value)} has code of your own, which may change between two runs: "
            f"{'no training is' if metrics else 'its trainings are not'} kept in store",
        )
    store = Store(path)
    stored = store.get(_DIGEST)
    if stored not in (None, digest):
        raise ValueError(
            f"{path} holds no results of this comparison, only of one with other data, settings, files, versions "
            "or code; name another file as store (--store)"
        )
    if path_with_runs(store) is not None and not resume:
        raise ValueError(
            f"{path} holds results of this very comparison: resume=True (--resume) goes on from them; to start "
            "anew, remove it, or name another file as store (--store)"
        )
    if resume and stored is None:
        warn_user(f"there is nothing to resume in {path}; starting anew")
    if metrics:
        return Store(None)
    if stored is None and len(own) < len(objectives):
        store.add(_DIGEST, digest)
    return store


def path_with_runs(store: Store) -> Path | None:
    """Return the file of a store if it holds runs."""
    return store.path if store.results.keys() - {_DIGEST} else None
