"""Checks of `boostplug doctor`: versions, a small training in each framework, threads, and the cache of kernels.

Each training runs in a process of its own, so one that crashes or hangs does not stop the others. This module itself
imports no library, so it works even if NumPy is broken.
"""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from boostplug.core.extras import LIBRARIES, install, is_installed
from boostplug.core.files import write_file
from boostplug.core.version import __version__

TRAININGS = {"RankBoostRanker": "boostplug", "LGBMRanker": "lightgbm", "XGBRanker": "xgboost"}
"""The estimators that are trained, each with the library that it needs."""

_LIBRARIES = (
    *("numpy", "scipy", "numba", "scikit-learn", "joblib", "typer", "rich", "lightgbm", "xgboost"),
    *("pandas", "polars", "pyarrow", "matplotlib", "optuna", "dask", "distributed"),
)
_PACKAGES = str(Path(__file__).parents[2])
_TIMEOUT = 300.0  # seconds: compiling takes some on a slow machine, and waits for another process that compiles
_MARK = "boostplug-doctor:"  # before the answer of a process, since libraries may print too


class Diagnosis:
    """Result of the checks: prints as text to paste into a report, and writes JSON.

    Attributes
    ----------
    document : dict
        All findings in JSON's types, with the user's home folder as ``~``. ``problems`` lists each with its remedy.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        text, home = json.dumps(document), json.dumps(str(Path.home()))[1:-1]
        self.document: dict[str, Any] = json.loads(text.replace(home, "~") if len(home) > 1 else text)

    def to_json(self, path: Path) -> None:
        """Write the document."""
        write_file(path, json.dumps(self.document, indent=1, ensure_ascii=False) + "\n")

    def __str__(self) -> str:
        return "\n".join(_lines(self.document))


def doctor(progress: Callable[[str, int], object] = lambda _description, _steps: None) -> Diagnosis:
    """Return the versions, threads, cache and problems of boostplug and its frameworks on this machine.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(description, steps)``, with one step for each of `TRAININGS`.
    """
    trainings = {}
    for name, library in TRAININGS.items():
        progress(f"training {name}", 0)
        if is_installed(library):
            trainings[name] = _trained_in_new_process(name)
        progress("", 1)
    document = {
        "schema": "boostplug.doctor/2",
        "boostplug": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "trainings": trainings,
        "environment": {name: value for name, value in os.environ.items() if re.match("NUMBA_|OMP_|KMP_", name)},
    }
    return Diagnosis({**document, "problems": list(dict.fromkeys(_problems(document)))})


def _version(library: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(library)
    return None


def _trained_in_new_process(name: str) -> dict[str, Any]:
    """Return the answer of `_train`, or the ``error`` that ended its process."""
    paths = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), _PACKAGES]))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-P", "-m", "boostplug.cli.doctor", name]
    options: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "errors": "replace", "timeout": _TIMEOUT}
    try:
        done = subprocess.run(command, env=environment, check=False, **options)  # noqa: S603 (this file)
    except subprocess.TimeoutExpired:
        return {"error": f"no end within {_TIMEOUT:g} seconds"}
    answer = done.stdout.partition(_MARK)[2]
    if answer:
        return dict(json.loads(answer.splitlines()[0]))
    return {"error": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}


def _train(name: str) -> dict[str, Any]:
    """Train on queries whose first feature is the label, and return the NDCG@10, threads and cache."""
    import joblib
    import numpy as np
    from threadpoolctl import threadpool_info

    import boostplug
    from boostplug.core.threads import get_num_threads
    from boostplug.kernels.base.compiling import compiled_so_far

    ranker = getattr(boostplug, name)(n_estimators=4)
    cores, threads = joblib.cpu_count(), get_num_threads()  # joblib knows a container's limit
    if name != "RankBoostRanker":
        ranker.set_params(objective="CRR")
        threads = max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "openmp")
    if name == "XGBRanker":  # XGBoost stays within the limit by itself
        threads = min(threads, cores)
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 300), np.repeat([1, 2, 3], 100)
    X = np.column_stack([y, rng.normal(size=300)])
    ndcg = float(ranker.fit(X, y, qid=qid).score(X, y, qid=qid))
    kernels = compiled_so_far()
    folders = None if kernels.in_memory else [str(folder) for folder in kernels.folders]
    return {"ndcg": ndcg, "threads": threads, "cores": cores, "folders": folders}


def _problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is installed and does not work, with the remedy."""
    for requirement in metadata.requires("boostplug") or () if _version("boostplug") else ():
        needed = re.match(r"([\w-]+)(?:\[.*?\])?\s*>=\s*([\d.]+)", requirement)
        version = needed and document["libraries"].get(needed[1])
        if needed and version and _numbers(version) < _numbers(needed[2]):
            name, least = needed.groups()
            yield f"{name} {version} is older than {least}: pip install --upgrade '{name}>={least}'"
    for name, found in document["trainings"].items():
        if "error" in found:
            yield f"training fails ({found['error']}): reinstall the library that it names, or report it with this text"
        elif found["ndcg"] != 1.0:
            yield f"{name} reaches an NDCG@10 of {found['ndcg']:.3f} instead of 1: report it with this text"
        elif found["folders"] is None:
            yield (
                "no folder for compiled code can be written to, so every process compiles for seconds: set "
                "NUMBA_CACHE_DIR to a folder that can be written to"
            )
        elif found["threads"] > found["cores"]:
            yield (
                f"{found['threads']} threads share {found['cores']} cores and wait for each other: set "
                f"OMP_NUM_THREADS={found['cores']}"
            )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"boostplug {document['boostplug']}, {document['python']}, {document['system']}"
    yield from ("", "Libraries")
    for name, version in document["libraries"].items():
        remedy = f" ({install(name)})" if name in LIBRARIES else ""
        yield f"  {name:<13} {version or 'not installed' + remedy}"
    yield from ("", "Trainings, which must reach an NDCG@10 of 1")
    for name, found in document["trainings"].items():
        state = f"NDCG@10 {found['ndcg']:.3f}, threads: {found['threads']}" if "ndcg" in found else "fails"
        yield f"  {name:<15} {state}"
    yield from ("", "Compiled code")
    folders = {folder for found in document["trainings"].values() for folder in found.get("folders") or ()}
    yield from (f"  {folder}" for folder in sorted(folders) or ["kept in no folder"])
    yield from (f"  {name}={value}" for name, value in document["environment"].items())
    yield from ("", "What to do" if document["problems"] else "All is well.")
    yield from (f"  {number}. {problem}" for number, problem in enumerate(document["problems"], start=1))


if __name__ == "__main__":
    sys.stdout.write(f"\n{_MARK}{json.dumps(_train(sys.argv[1]))}\n")
