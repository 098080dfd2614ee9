"""Store of a comparison's finished trainings, and the key that tells comparisons apart."""

import json
import os
import pickle
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from io import BytesIO
from pathlib import Path
from types import FunctionType
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.document import versions
from boostplug.comparison.inputs.frames import PARTS
from boostplug.comparison.summary import Settings, from_json, to_json
from boostplug.comparison.training.frameworks import Part
from boostplug.comparison.training.runs import Method, RunOutcome
from boostplug.comparison.training.store import Store, differences, digest, head_of
from boostplug.comparison.training.tuning import Outcome
from boostplug.core.checks import shown
from boostplug.data.queries import Queries
from boostplug.losses import Loss
from boostplug.metrics import Metric

Floats = NDArray[np.float64]

_COUNT = ("boostplug", "numpy", "numba")  # versions that results hang on, beside those of the frameworks
_COUNTED_SETTINGS = ("rounds", "early_stopping_rounds", "params", "tune", "num_threads", "metric", "metrics")
_PATTERN = "compare-*.results"
_IDENTITY = ("method", "fold", "seed", "error")  # of a run: not written, or in its key
_KNOWN = frozenset({"boostplug", "numpy", *sys.stdlib_module_names})  # whose code is known by their versions
_ROWS = 1 << 16  # of a table at once


class Kept:
    """The finished trainings of a comparison, in a file of a folder that is named by what they depend on.

    Parameters
    ----------
    folder : Path
    head : dict
        What `what_runs_depend_on` returned.
    methods : iterable of Method
    tests : sequence of Part
        The test part of each fold.
    metrics : sequence of Metric
    resume : bool
        Take up what is there. Else nothing must be there.

    Raises
    ------
    OSError
        If the folder or the file cannot be written.
    ValueError
        If there are results and `resume` is not set; or it is set, and there are only those of other comparisons; or
        what is there is damaged, or contradicts itself.
    """

    def __init__(
        self,
        folder: Path,
        head: dict[str, Any],
        methods: Iterable[Method],
        tests: Sequence[Part],
        metrics: Sequence[Metric],
        *,
        resume: bool,
    ) -> None:
        path = folder / _PATTERN.replace("*", digest([json.dumps(head, sort_keys=True).encode()])[:12])
        prints = {method: fingerprint(method.objective) for method in methods}
        unknown = [metric for metric in metrics if fingerprint(metric) is None]
        _warn_of_own_code(unknown, "metric")
        _warn_of_own_code([method.objective for method, found in prints.items() if found is None], "loss")
        known = {} if unknown else {method: found for method, found in prints.items() if found is not None}
        self._names = {method: f"{method.framework} | {found}" for method, found in known.items()}
        if resume and not path.exists():
            _refuse_others(folder, head)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # a name that no file can have
            reason = getattr(error, "strerror", None) or error
            raise OSError(f"the folder {shown(str(folder))} cannot be made ({reason}); name another as store") from None
        self.store = Store(path, head)
        try:
            self._check_entries(path, tests, metrics, resume=resume)
        except ValueError:
            self.store.close()
            raise

    def _check_entries(self, path: Path, tests: Sequence[Part], metrics: Sequence[Metric], *, resume: bool) -> None:
        if self.store.done and not resume:
            raise ValueError(
                f"{path} holds results of this very comparison ({len(self.store.done)} trainings): resume=True "
                "(--resume) goes on from them; to start anew, remove it, or name another folder as store (--store)"
            )
        for key, found in self.store.done.items():
            fault = _fault_of_entry(key, found, tests, metrics)
            if fault is not None:
                raise ValueError(
                    f"{path}: the entry {shown(key)} {fault}; remove the file to start anew, or name another folder as "
                    "store"
                )

    def outcome(self, method: Method, fold: int, seed: int) -> RunOutcome | None:
        """Return a run that is finished."""
        found = self._entry(method, fold, f"seed {seed}")
        if found is None:
            return None
        return replace(_decoded(found), method=method, fold=fold, seed=seed)

    def add(self, cell: RunOutcome) -> None:
        """Keep a run; what failed is tried again by the next comparison."""
        if cell.error is None and cell.method in self._names:
            found = {name: to_json(value) for name, value in vars(cell).items() if name not in _IDENTITY}
            self.store.add(self._key(cell.method, cell.fold, f"seed {cell.seed}"), found)

    def trial(self, method: Method, fold: int, number: int) -> Outcome | None:
        """Return what came of a setting that tuning has tried."""
        found = self._entry(method, fold, f"trial {number}")
        return None if found is None else from_json(Outcome, found)

    def add_trial(self, method: Method, fold: int, number: int, outcome: Outcome) -> None:
        """Keep what came of a setting."""
        if method in self._names:
            self.store.add(self._key(method, fold, f"trial {number}"), to_json(outcome))

    def close(self) -> Path | None:
        """Close the file and return it; remove it where nothing is in it."""
        if self.store.is_empty:
            self.store.remove()
            return None
        self.store.close()
        return self.store.path

    def _entry(self, method: Method, fold: int, which: str) -> Any:
        return self.store.done.get(self._key(method, fold, which)) if method in self._names else None

    def _key(self, method: Method, fold: int, which: str) -> str:
        return f"fold {fold + 1} | {self._names[method]} | {which}"


def what_runs_depend_on(
    folds: Sequence[Sequence[Mapping[str, str]]],
    frameworks: Iterable[str],
    metrics: Iterable[Metric],
    settings: Settings,
) -> dict[str, Any]:
    """Return what each run depends on, beside its method, fold and seed; `folds` are their parts' `print_of_part`."""
    counted = (*_COUNT, *frameworks, *(["optuna"] if settings.tune else []))
    found = versions(*counted)
    return {
        "what": "trainings of boostplug compare, 4",
        "versions": {**{name: found.get(name) for name in counted}, "boostplug's code": _code_of_this_package()},
        "settings": {
            **to_json_types({name: getattr(settings, name) for name in _COUNTED_SETTINGS}),
            **({"seed of the tuning": settings.seeds[0]} if settings.tune else {}),
            "files named in params": _files_named_in(settings.params),
            "the metrics' parameters": joblib.hash([fingerprint(metric) for metric in metrics]),
        },
        "data": {
            f"{what} of {name}, fold {f + 1}": found
            for f, fold in enumerate(folds)
            for name, part in zip(PARTS, fold, strict=True)
            for what, found in part.items()
        },
    }


def print_of_part(part: Part) -> dict[str, str]:
    """Return digests of a part's features, labels, queries and weights, in which the values of another part differ."""
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


def to_json_types(value: Any) -> Any:
    """Return a setting in JSON's types, whole: settings of other content look different."""
    if isinstance(value, Mapping):
        return {str(key): to_json_types(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json_types(item) for item in value]
    if hasattr(value, "tolist"):
        return to_json_types(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    return os.fspath(value) if isinstance(value, os.PathLike) else f"{type(value).__name__} {joblib.hash(value)}"


def fingerprint(value: Loss | Metric | str) -> str | None:
    """Return a digest of a loss or metric; None where nothing tells whether its code is the same in a later process.

    Code of this library, of NumPy and of Python is known by the versions. A user's class or function is known by its
    attribute `version`: its text would not tell, since it may call any other module.
    """
    if isinstance(value, str):
        return value
    try:
        pickler = _Pickler(buffer := BytesIO())
        pickler.dump(value)
    except Exception:  # noqa: BLE001 (whatever a user's value raises)
        return None
    versions_of = {f"{code.__module__}.{code.__qualname__}": getattr(code, "version", None) for code in pickler.own}
    if None in versions_of.values():
        return None
    return str(joblib.hash([buffer.getvalue(), sorted((name, str(found)) for name, found in versions_of.items())]))


def users_modules(value: Any) -> set[str]:
    """Return the users' modules that the classes and functions of a value are from, or raise what pickling it does."""
    pickler = _Pickler(BytesIO())
    pickler.dump(value)
    return {code.__module__ for code in pickler.own}


class _Pickler(pickle.Pickler):
    """Pickles equal values to equal bytes, and notes the users' classes and functions, with the classes' bases."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.fast = True  # without a memo: one string or two equal ones make no difference
        self.own: set[Any] = set()

    def reducer_override(self, obj: Any) -> Any:
        """Note, and leave the rest to pickle."""
        if isinstance(obj, (type, FunctionType)):
            codes = obj.__mro__ if isinstance(obj, type) else (obj,)
            self.own |= {code for code in codes if code.__module__.partition(".")[0] not in _KNOWN}
        return NotImplemented


def _code_of_this_package() -> str:
    """Return a digest of this package's source files: in a clone the code changes while the version stays."""
    folder = Path(__file__).parents[2]
    files = [file for file in sorted(folder.rglob("*.py")) if folder / "replication" not in file.parents]
    return str(joblib.hash([(str(file.relative_to(folder)), file.read_bytes()) for file in files]))


def _files_named_in(params: Any) -> dict[str, str]:
    """Return a digest of each file that a parameter names, such as LightGBM's forcedsplits_filename."""
    if isinstance(params, Mapping):
        return {name: found for value in params.values() for name, found in _files_named_in(value).items()}
    try:
        file = Path(params) if isinstance(params, (str, os.PathLike)) and params else None
        return {} if file is None or not file.is_file() else {str(file): joblib.hash(file.read_bytes())}
    except (OSError, ValueError):  # no name that a file can have
        return {}


def _pieces(X: Any) -> Iterator[Any]:
    """Yield all values of features, in pieces: equal ones for equal features, whatever their layout in memory."""
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


_KEY = re.compile(r"fold (\d+) \| (.+) \| (seed|trial) (\d+)")


def _fault_of_entry(key: str, found: Any, tests: Sequence[Part], metrics: Sequence[Metric]) -> str | None:
    """Return what is wrong with an entry of a store, which may have been made by hand."""
    known = _KEY.fullmatch(key)
    if known is None or not 1 <= int(known[1]) <= len(tests):
        return "is of no fold of this comparison"
    try:
        if known[3] == "trial":
            from_json(Outcome, found)
            return None
        run = _decoded(found)
    except (KeyError, TypeError):
        return f"is no result of a {'training' if known[3] == 'seed' else 'setting'}"
    queries = tests[int(known[1]) - 1].queries
    if any(len(values) != queries.n_queries for values in run.per_query.values()):
        return "does not hold a number for each test query"
    names, of_queries = {metric.name for metric in metrics}, {m.name for m in metrics if m.has_per_query}
    if (
        run.curve is None
        or run.test.keys() != names
        or run.per_query.keys() != of_queries
        or not 1 <= run.rounds <= len(run.curve)
    ):
        return "lacks metrics or rounds"
    means, expected = [run.validation], [run.curve[run.rounds - 1]]
    for metric in metrics:
        if type(metric).sum_and_count is Metric.sum_and_count and not metric.couples_queries:  # else no mean of these
            means.append(run.test[metric.name])
            expected.append(_mean(run.per_query[metric.name], queries))
    if not np.allclose(means, expected, rtol=1e-9, atol=1e-12, equal_nan=True):
        return "contradicts itself: a mean is not that of its values"
    return None


def _decoded(found: Any) -> RunOutcome:
    """Return a run from its entry, which lacks what is in its key."""
    if not isinstance(found, dict) or found.keys() | {*_IDENTITY} != {f.name for f in fields(RunOutcome)}:
        raise TypeError
    outcome: RunOutcome = from_json(RunOutcome, {**found, "method": Method("", "", ""), "fold": 0, "seed": 0})
    return outcome


def _mean(values: Floats, queries: Queries) -> float:
    weight = np.ones(len(values)) if queries.query_weight is None else queries.query_weight
    defined = ~np.isnan(values) & (weight > 0)
    return float(np.average(values[defined], weights=weight[defined])) if defined.any() else float("nan")


def _warn_of_own_code(values: Sequence[Any], what: str) -> None:
    """Warn of losses and metrics whose trainings are not kept, since their code may change without a trace."""
    for value in values:
        warnings.warn(
            f"the {what} {shown(value)} has code of your own, which may change between two runs: its trainings are not "
            'kept in store. Give its class or function an attribute such as version = "1", and change it with the code',
            stacklevel=4,
        )


def _refuse_others(folder: Path, head: dict[str, Any]) -> None:
    """Raise where there are results of other comparisons alone, and say what the nearest differ in."""
    heads = {path: head_of(path) for path in sorted(folder.glob(_PATTERN))}
    damaged = [path for path, found in heads.items() if found is None]
    if damaged:
        raise ValueError(f"{damaged[0]} is damaged; remove it to start anew, or name another folder as store")
    others = {}
    for path, found in heads.items():
        if found is not None:
            words = differences(found, head)
            others[path] = words if found.get("what") == head["what"] else words[:1]  # another form: all else differs
    if others:
        nearest = min(others, key=lambda path: len(others[path]))
        raise ValueError(
            f"{folder} holds no results of this comparison; those in {nearest.name} differ in "
            f"{', '.join(others[nearest])}: go on with what they were made with, or leave out resume (--resume) to "
            "start anew beside them"
        )
    warnings.warn(f"there is nothing to resume in {folder}; starting anew", stacklevel=2)
