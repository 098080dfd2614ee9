"""Checks of `boostplug doctor`: versions, and a small training in each framework."""

import os
import platform
import warnings
from importlib import import_module, metadata
from typing import Any

from boostplug.core.extras import LIBRARIES, install, is_installed
from boostplug.core.version import __version__

_LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "joblib", "typer", "rich", *LIBRARIES)
_TRAININGS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("rankers", "RankBoostRanker", {}),
    ("estimators.lightgbm", "LGBMRanker", {"objective": "CRR", "verbose": -1}),
    ("estimators.xgboost", "XGBRanker", {"objective": "CRR"}),
)


def doctor() -> tuple[list[str], list[str]]:
    """Return lines about this installation, fit for a report, and its problems, each with the remedy."""
    findings, problems = [f"boostplug {__version__}, Python {platform.python_version()}, {platform.platform()}"], []
    for name in _LIBRARIES:
        try:
            findings.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            findings.append(f"{name} is not installed{f': {install(name)}' if name in LIBRARIES else ''}")
    findings += [f"{name}={value}" for name, value in os.environ.items() if name.startswith(("NUMBA_", "OMP_", "KMP_"))]
    for module, name, parameters in _TRAININGS:
        try:
            if module != "rankers" and not is_installed(module.rpartition(".")[2]):
                continue
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                kind = getattr(import_module(f"boostplug.{module}"), name)
                ndcg, threads = _trained(kind(n_estimators=4, **parameters))
        except Exception as error:  # noqa: BLE001 (a broken library may raise any)
            problems.append(f"{name} fails ({type(error).__name__}: {error}): reinstall the library that it names")
            continue
        findings.append(f"{name}: NDCG@10 {ndcg:.3f}, where 1 is right; threads: {threads}")
        problems += [f"{name} does not learn: report it with this text"] * (ndcg != 1.0)
        problems += [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    return findings, problems


def _trained(ranker: Any) -> tuple[float, str]:
    """Train on queries whose first feature is the label, and return the NDCG@10 and the libraries' threads."""
    import numpy as np
    from threadpoolctl import threadpool_info

    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 300), np.repeat([1, 2, 3], 100)
    X = np.column_stack([y, rng.normal(size=300)])
    ndcg = float(ranker.fit(X, y, qid=qid).score(X, y, qid=qid))
    return ndcg, ", ".join(f"{pool['prefix']} {pool['num_threads']}" for pool in threadpool_info())
