"""What a comparison keeps of its finished trainings, and what tells whether they are those of another one."""

import json
import pickle
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from boostplug.checks import shown
from boostplug.experiments.cells import Cell, Method
from boostplug.experiments.document import plain, versions
from boostplug.experiments.store import Store, differences, digest, head_of
from boostplug.experiments.training import Part
from boostplug.experiments.tuning import Outcome
from boostplug.losses import Loss
from boostplug.metrics import Metric

__all__ = ["Kept", "fingerprint", "print_of_part", "users_modules", "what_runs_depend_on"]

_COUNT = ("boostplug", "numpy", "numba")  # versions that results hang on, beside those of the frameworks
_PATTERN = "compare-*.results"
_IDENTITY = ("method", "fold", "seed", "error")  # of a run: not written, or in its key
_ARRAYS = ("validation_per_query", "curve", "gains", "cutoffs")
_ROWS = 1 << 16  # of a table at once


class Kept:
    """The finished trainings of a comparison, in a file of a folder that is named by what they depend on.

    Parameters
    ----------
    folder : Path or None
        None: nothing is kept.
    head : dict
        What `what_runs_depend_on` returned.
    methods : iterable of Method
    resume : bool
        Take up what is there. Else nothing must be there.

    Raises
    ------
    OSError
        If the folder or the file cannot be written, or another process is at work on it.
    ValueError
        If there are results and `resume` is not set; or it is set, and there are those of other comparisons alone; or
        nothing tells whether a method is the same in a later process.
    """

    def __init__(self, folder: Path, head: dict[str, Any], methods: Iterable[Method], *, resume: bool) -> None:
        head = plain(head)
        path = folder / _PATTERN.replace("*", digest([json.dumps(head, sort_keys=True).encode()])[:12])
        self._names = {method: f"{method.framework} | {fingerprint(method.objective)}" for method in methods}
        if resume and not path.exists():
            _refuse_others(folder, head)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # a name that no file can have
            reason = getattr(error, "strerror", None) or error
            raise OSError(f"the folder {shown(str(folder))} cannot be made ({reason}); name another as store") from None
        self.store = Store(path, head)
        if self.store.done and not resume:
            self.store.close()
            raise ValueError(
                f"{path} holds results of this very comparison ({len(self.store.done)} trainings): resume=True "
                "(--resume) goes on from them; to start anew, remove it, or name another folder as store (--store)"
            )

    def cell(self, method: Method, fold: int, seed: int) -> Cell | None:
        """Return a run that is finished."""
        found = self.store.done.get(self._key(method, fold, f"seed {seed}"))
        if found is None:
            return None
        values = {name: np.array(of_metric, dtype=np.float64) for name, of_metric in found["per_query"].items()}
        arrays = {name: np.array(found[name], dtype=np.float64) for name in _ARRAYS if found[name] is not None}
        return Cell(method, fold, seed, **{**found, **arrays, "per_query": values, "notes": tuple(found["notes"])})

    def add(self, cell: Cell) -> None:
        """Keep a run; what failed is tried again by the next comparison."""
        if cell.error is None:
            found = {name: value for name, value in vars(cell).items() if name not in _IDENTITY}
            found["per_query"] = {name: of_metric.tolist() for name, of_metric in cell.per_query.items()}
            found |= {name: found[name].tolist() for name in _ARRAYS if found[name] is not None}
            self.store.add(self._key(cell.method, cell.fold, f"seed {cell.seed}"), found)

    def trial(self, method: Method, fold: int, number: int) -> Outcome | None:
        """Return what came of a setting that tuning has tried."""
        found = self.store.done.get(self._key(method, fold, f"trial {number}"))
        return None if found is None else Outcome(**found)

    def add_trial(self, method: Method, fold: int, number: int, outcome: Outcome) -> None:
        """Keep what came of a setting."""
        self.store.add(self._key(method, fold, f"trial {number}"), asdict(outcome))

    def close(self) -> Path | None:
        """Let others at the file; return it, where there is anything in it."""
        if self.store.done:
            self.store.close()
            return self.store.path
        self.store.remove()
        return None

    def _key(self, method: Method, fold: int, which: str) -> str:
        return f"fold {fold + 1} | {self._names[method]} | {which}"


def what_runs_depend_on(
    folds: Sequence[Sequence[str]], frameworks: Iterable[str], metrics: Iterable[Metric], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what each run depends on, beside its method, fold and seed; `folds` are their parts' `print_of_part`."""
    counted = (*_COUNT, *frameworks, *(["optuna"] if settings["tune"] else []))
    found = versions(*counted)
    return {
        "what": "trainings of boostplug compare, 3",
        "versions": {name: found.get(name) for name in counted},
        "settings": {**settings, "the metrics' code": digest(fingerprint(metric).encode() for metric in metrics)},
        "data": {f"the data of fold {f + 1}": digest(part.encode() for part in fold) for f, fold in enumerate(folds)},
    }


def print_of_part(part: Part) -> str:
    """Return a digest of the values of a part, in which those of another differ."""
    return digest(_pieces(part))


def fingerprint(value: Loss | Metric | str) -> str:
    """Return a digest of a loss or metric, and of the text of the modules that its code stands in.

    Raises
    ------
    ValueError
        If it cannot be pickled, or the text cannot be read: then nothing tells whether it has changed.
    """
    if isinstance(value, str):
        return value
    buffer = BytesIO()
    pickler = _Pickler(buffer)
    try:
        pickler.dump(value)
        texts = [_text_of(name) for name in sorted(pickler.modules)]
    except Exception as error:  # noqa: BLE001 (whatever a user's value raises)
        raise ValueError(
            f"store keeps results of what it knows again in a later process, which it cannot of {shown(value)} "
            f"({error}); define its functions and classes at the top of a file, or leave out store"
        ) from None
    return digest([buffer.getvalue(), *texts])


def users_modules(value: Any) -> set[str]:
    """Return the users' modules that the classes and functions of a value are from, or raise what pickling it does."""
    pickler = _Pickler(BytesIO())
    pickler.dump(value)
    return pickler.modules


class _Pickler(pickle.Pickler):
    """Pickles equal values to equal bytes, and notes the users' modules that their classes and functions are from."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.fast = True  # without a memo: one string or two equal ones make no difference
        self.modules: set[str] = set()

    def reducer_override(self, obj: Any) -> Any:
        """Note, and leave the rest to pickle."""
        if isinstance(obj, (type, FunctionType)):
            kinds = obj.__mro__ if isinstance(obj, type) else (obj,)
            self.modules |= {kind.__module__ for kind in kinds if kind.__module__.partition(".")[0] != "boostplug"}
        return NotImplemented


def _text_of(module: str) -> bytes:
    if module in sys.builtin_module_names:
        return b""
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        raise OSError(f"the text of the module {module} cannot be read")
    return Path(file).read_bytes()


def _pieces(part: Part) -> Iterator[Any]:
    """Yield all values of a part, in pieces."""
    X = part.X
    if hasattr(X, "tocsr"):
        sparse = X.tocsr()
        yield f"{sparse.dtype} {sparse.shape}".encode()
        yield from (sparse.indptr, sparse.indices, sparse.data)
    elif hasattr(X, "iloc"):
        for i, name in enumerate(X.columns):
            column = X.iloc[:, i]
            yield f"{name!r} {column.dtype!r}".encode()
            yield column.to_numpy()
    else:
        array = np.asarray(X)
        yield f"{array.dtype} {array.shape}".encode()
        yield from (array[start : start + _ROWS] for start in range(0, len(array), _ROWS))
    yield from (part.queries.labels, part.queries.boundaries)
    if part.queries.row_weight is not None:
        yield part.queries.row_weight


def _refuse_others(folder: Path, head: dict[str, Any]) -> None:
    """Raise where there are results of other comparisons alone, and say what the nearest differ in."""
    heads = {path: head_of(path) for path in sorted(folder.glob(_PATTERN))}
    damaged = [path for path, found in heads.items() if found is None]
    if damaged:
        raise ValueError(f"{damaged[0]} is damaged; remove it to start anew, or name another folder as store")
    others = {path: differences(found, head) for path, found in heads.items() if found is not None}
    if others:
        nearest = min(others, key=lambda path: len(others[path]))
        raise ValueError(
            f"{folder} holds no results of this comparison; those in {nearest.name} differ in "
            f"{', '.join(others[nearest])}: go on with what they were made with, or leave out resume (--resume) to "
            "start anew beside them"
        )
    warnings.warn(f"there is nothing to resume in {folder}; starting anew", stacklevel=2)
