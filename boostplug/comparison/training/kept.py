"""Results of a comparison's trainings in a `Store`, and the digests that distinguish comparisons."""

import pickle
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from types import FunctionType
from typing import Any

import joblib
import numpy as np

from boostplug.comparison.document import versions
from boostplug.comparison.summary import from_json, to_json
from boostplug.comparison.training.frameworks import DataPart
from boostplug.comparison.training.runs import Method, Plan, RunOutcome
from boostplug.comparison.training.store import Store
from boostplug.comparison.training.tuning import TrialOutcome
from boostplug.core.checks import shown
from boostplug.losses import Loss
from boostplug.metrics import Metric

_COUNT = ("boostplug", "numpy", "numba")  # versions that affect results, besides those of the frameworks
_PATTERN = "compare-*.results"
_IDENTITY = ("method", "fold", "seed")  # fields in the key of a run
_KNOWN = frozenset({"boostplug", "numpy", *sys.stdlib_module_names})  # modules whose code their versions determine
_ROWS = 1 << 16  # rows of a table per block


@dataclass(frozen=True)
class Kept:
    """Stored runs and tuning trials of a comparison; by default nothing is stored.

    Attributes
    ----------
    store : Store
    names : mapping of Method to str
        Names in keys of the methods whose code has a version.
    """

    store: Store = field(default_factory=lambda: Store(None))
    names: Mapping[Method, str] = field(default_factory=dict)

    @classmethod
    def from_folder(
        cls, folder: Path, comparison: str, methods: Iterable[Method], metrics: Iterable[Metric], *, resume: bool
    ) -> "Kept":
        """Return the stored results of a comparison in a folder; the comparison's digest names the file.

        Raises
        ------
        OSError
            If the folder cannot be made.
        ValueError
            If there are results and `resume` is not set, or if it is set and there are only results of other
            comparisons.
        """
        path = folder / _PATTERN.replace("*", comparison[:12])
        prints = {method: fingerprint(method.objective) for method in methods}
        unknown = [metric for metric in metrics if fingerprint(metric) is None]
        for value in [*unknown, *(method.objective for method, found in prints.items() if found is None)]:
            warnings.warn(
                f"{shown(value)} has code of your own, which may change between two runs: its trainings are not kept "
                'in store. Give its class or function an attribute such as version = "1", and change it with the code',
                stacklevel=3,
            )
        known = {} if unknown else {method: found for method, found in prints.items() if found is not None}
        if path.exists() and not resume:
            raise ValueError(
                f"{path} holds results of this very comparison: resume=True (--resume) goes on from them; to start "
                "anew, remove it, or name another folder as store (--store)"
            )
        if resume and not path.exists():
            if any(folder.glob(_PATTERN)):
                raise ValueError(
                    f"{folder} holds no results of this comparison, only of others: data, settings, threads and "
                    "versions must be the same; leave out resume (--resume) to start anew beside them"
                )
            warnings.warn(f"there is nothing to resume in {folder}; starting anew", stacklevel=3)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # not a valid file name
            reason = getattr(error, "strerror", None) or error
            raise OSError(f"the folder {shown(str(folder))} cannot be made ({reason}); name another as store") from None
        return cls(Store(path), {method: f"{method.framework} | {found}" for method, found in known.items()})

    @property
    def path(self) -> Path | None:
        """The file, if there is one."""
        path = self.store.path
        return path if path is not None and path.exists() else None

    def run(self, method: Method, fold: int, seed: int) -> RunOutcome | None:
        """Return a finished run, or None."""
        found = self._get(method, fold, f"seed {seed}")
        return None if found is None else from_json(RunOutcome, {**found, "method": method, "fold": fold, "seed": seed})

    def add_run(self, run: RunOutcome) -> None:
        """Store a run; failed runs are tried again by the next comparison."""
        if run.error is None:
            found = {name: to_json(value) for name, value in vars(run).items() if name not in _IDENTITY}
            self._add(run.method, run.fold, f"seed {run.seed}", found)

    def trial(self, method: Method, fold: int, number: int) -> TrialOutcome | None:
        """Return the outcome of a finished tuning trial, or None."""
        found = self._get(method, fold, f"trial {number}")
        return None if found is None else from_json(TrialOutcome, found)

    def add_trial(self, method: Method, fold: int, number: int, outcome: TrialOutcome) -> None:
        """Store the outcome of a tuning trial."""
        self._add(method, fold, f"trial {number}", to_json(outcome))

    def _get(self, method: Method, fold: int, which: str) -> Any:
        return self.store.get(self._key(method, fold, which)) if method in self.names else None

    def _add(self, method: Method, fold: int, which: str, found: Any) -> None:
        if method in self.names:
            self.store.add(self._key(method, fold, which), found)

    def _key(self, method: Method, fold: int, which: str) -> str:
        return f"fold {fold + 1} | {self.names[method]} | {which}"


def digest_of_comparison(folds: Sequence[Sequence[Mapping[str, str]]], frameworks: Iterable[str], plan: Plan) -> str:
    """Return a digest of all inputs of a run except its method, fold and seed.

    Parameters
    ----------
    folds : sequence of sequence of mapping
        The `fingerprints_of_part` of each part of each fold.
    frameworks : iterable of str
    plan : Plan
    """
    counted = (*_COUNT, *frameworks, *(["optuna"] if plan.tune else []))
    found = versions(*counted)
    settings = (plan.rounds, plan.patience, asdict(plan.trees), plan.num_threads)
    tuning = (plan.tune, plan.seeds[0]) if plan.tune else None
    metrics = [fingerprint(metric) for metric in (plan.metric, plan.valid_metric, *plan.metrics)]
    of_versions = [found.get(name) for name in counted]
    return str(joblib.hash([of_versions, _code_of_this_package(), settings, tuning, metrics, folds]))


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


def fingerprint(value: Loss | Metric | str) -> str | None:
    """Return a digest of a loss or metric; None if its code cannot be identified in a later process.

    Versions identify the code of this library, of NumPy and of Python. The attribute `version` identifies a user's
    class or function. Its source text would not, because it may call any other module.
    """
    if isinstance(value, str):
        return value
    try:
        pickler = _Pickler(buffer := BytesIO())
        pickler.dump(value)
    except Exception:  # noqa: BLE001 (a user's value may raise anything)
        return None
    versions_of = {f"{code.__module__}.{code.__qualname__}": getattr(code, "version", None) for code in pickler.own}
    if None in versions_of.values():
        return None
    return str(joblib.hash([buffer.getvalue(), sorted((name, str(found)) for name, found in versions_of.items())]))


class _Pickler(pickle.Pickler):
    """Pickles equal values to equal bytes; collects the users' classes (with their bases) and functions."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.fast = True  # without a memo, so that two equal strings are pickled like one used twice
        self.own: set[Any] = set()

    def reducer_override(self, obj: Any) -> Any:
        """Collect a user's class or function, and leave its pickling to pickle."""
        if isinstance(obj, (type, FunctionType)):
            codes = obj.__mro__ if isinstance(obj, type) else (obj,)
            self.own |= {code for code in codes if code.__module__.partition(".")[0] not in _KNOWN}
        return NotImplemented


def _code_of_this_package() -> str:
    """Return a digest of this package's source files: in a clone, code changes while the version stays."""
    folder = Path(__file__).parents[2]
    files = [file for file in sorted(folder.rglob("*.py")) if folder / "replication" not in file.parents]
    return str(joblib.hash([(str(file.relative_to(folder)), file.read_bytes()) for file in files]))


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
