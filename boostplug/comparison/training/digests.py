"""Digests of all that affects the results of a comparison: data, settings, files, versions and code."""

import builtins
import copyreg
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from boostplug.comparison.document import versions
from boostplug.comparison.training.frameworks import DataPart
from boostplug.comparison.training.runs import Plan

_KNOWN = {"boostplug", "numpy", builtins.__name__, copyreg.__name__}  # packages whose code their versions determine
_PACKAGE = Path(__file__).parents[2]
_ROWS = 1 << 16  # rows of a table per block


def inputs_of_comparison(folds: Sequence[Sequence[Mapping[str, str]]], plan: Plan) -> dict[str, str]:
    """Return all that affects a run except its method, fold and seed, by name.

    Parameters
    ----------
    folds : sequence of sequence of mapping
        The `fingerprints_of_part` of each part of each fold.
    plan : Plan
    """
    trees = asdict(plan.trees)
    files = {name: path.read_bytes() for name, path in _files(trees)}
    metrics = [str(digest(metric)) for metric in (plan.metric, plan.valid_metric, *plan.metrics)]
    code = [(str(file.relative_to(_PACKAGE)), file.read_bytes()) for file in sorted(_PACKAGE.rglob("*.py"))]
    found = {
        "data": joblib.hash(folds),
        "rounds": plan.rounds,
        "early_stopping_rounds": plan.patience,
        "params": joblib.hash(trees),
        "files named in params": joblib.hash(files),
        "num_threads": plan.num_threads,
        "tune": (plan.tune, plan.seeds[0]) if plan.tune else 0,
        "metrics": joblib.hash(metrics),
        "code of boostplug": joblib.hash(code),  # in a clone, it changes while the version stays
        **versions(*(["optuna"] if plan.tune else [])),
    }
    return {name: str(value) for name, value in found.items()}


def _files(value: Any, name: str = "") -> Iterator[tuple[str, Path]]:
    """Yield the existing files that parameters name, with the parameters' names."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _files(item, str(key))
    elif isinstance(value, (str, PathLike)) and Path(value).is_file():
        yield name, Path(value)


def digest(value: Any) -> str | None:
    """Return a digest of an objective or metric; None if it contains code that is not of known packages.

    The code of a user's class or function cannot be identified: it may call any other.
    """
    pickler = _Pickler(buffer := BytesIO())
    try:
        pickler.dump(value)
    except Exception:  # noqa: BLE001 (a user's value may raise anything)
        return None
    return str(joblib.hash(buffer.getvalue()))


class _Pickler(pickle.Pickler):
    """Pickles equal values to equal bytes, and nothing whose code is not of known packages."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.fast = True  # without a memo, so that two equal strings are pickled like one used twice

    def reducer_override(self, obj: Any) -> Any:
        """Refuse unknown code, and leave the pickling of everything else to pickle."""
        code = obj if isinstance(getattr(obj, "__module__", None), str) and hasattr(obj, "__qualname__") else type(obj)
        if code.__module__.partition(".")[0] not in _KNOWN:
            raise pickle.PicklingError
        return NotImplemented


def fingerprints_of_part(part: DataPart) -> dict[str, str]:
    """Return digests of a part's features, labels, queries and weights; parts with other values differ."""
    queries = part.queries
    content = {
        "features": [joblib.hash(piece) for piece in _pieces(part.X)],
        "labels": queries.labels,
        "queries": queries.boundaries,
        "weights": queries.row_weight,
        "labels by name": dict(queries.labels_by_name),
        "positions": queries.position,
    }
    return {what: joblib.hash(values) for what, values in content.items()}


def _pieces(X: Any) -> Iterator[Any]:
    """Yield all values of features in blocks, equal for equal features in any memory layout."""
    if hasattr(X, "tocsr"):
        sparse = X.tocsr()
        yield from (sparse.dtype, sparse.shape, sparse.indptr, sparse.indices, sparse.data)
    elif hasattr(X, "iloc"):
        for i, name in enumerate(X.columns):
            column = X.iloc[:, i]
            categories = getattr(column.dtype, "categories", None)
            if categories is None:
                yield (name, str(column.dtype), np.ascontiguousarray(column.to_numpy()))
            else:
                codes = np.ascontiguousarray(column.cat.codes)
                yield (name, column.dtype.ordered, categories.tolist(), codes)
    else:
        array = np.asarray(X)
        yield (array.dtype, array.shape)
        yield from (np.ascontiguousarray(array[start : start + _ROWS]) for start in range(0, len(array), _ROWS))
