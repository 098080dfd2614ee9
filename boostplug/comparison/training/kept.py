"""Results of a comparison's trainings in a `Store`."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from boostplug.comparison.summary import Setting, to_json
from boostplug.comparison.training.digests import digest
from boostplug.comparison.training.runs import Method, Plan, RunOutcome
from boostplug.comparison.training.store import Store
from boostplug.comparison.training.tuning import TrialOutcome
from boostplug.core.checks import shown

_PATTERN = "compare-*.jsonl"  # of files in a folder
_INPUTS = "inputs"  # key of what affects all results of a comparison
_IDENTITY = ("method", "fold", "seed")  # fields of a run that its key holds
_ARRAYS = ("validation_per_query", "curve", "gains", "cutoffs", "reliability", "position_bias")


@dataclass(frozen=True)
class Kept:
    """Stored runs and tuning trials of a comparison; by default nothing is stored.

    Attributes
    ----------
    store : Store
    inputs : str
        Digest of all that affects the results, except method, fold and seed.
    names : mapping of Method to str
        Digests of the methods whose results are stored.
    asked : set
        Keys of the runs that `run` was asked for.
    """

    store: Store = field(default_factory=lambda: Store(None))
    inputs: str = ""
    names: Mapping[Method, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    @classmethod
    def at(
        cls, place: Path, inputs: Mapping[str, str], methods: Iterable[Method], plan: Plan, *, resume: bool
    ) -> "Kept":
        """Return the stored results of a comparison.

        Parameters
        ----------
        place : Path
            A file, or a folder, in which the digest of the inputs names the file. A name without suffix is a folder.
        inputs : mapping
            The `inputs_of_comparison`.
        methods : iterable of Method
        plan : Plan
            With a metric of the user's own, whose code is unknown, nothing is stored.
        resume : bool
            Whether to use results in the file.

        Raises
        ------
        OSError
            If the folder cannot be made.
        ValueError
            If there are results and `resume` is not set, or if it is set and there are only results of other
            comparisons.
        """
        own = joblib.hash(inputs)[:12]
        in_folder = place.is_dir() or not place.suffix
        path = place / _PATTERN.replace("*", own) if in_folder else place
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # not a valid file name
            reason = getattr(error, "strerror", None) or error
            raise OSError(
                f"the folder {shown(str(path.parent))} cannot be made ({reason}); name another as store"
            ) from None
        store = Store(path)
        found = store.get(_INPUTS)
        if resume and in_folder and found is None:
            newest = max(place.glob(_PATTERN), key=lambda file: file.stat().st_mtime, default=None)
            found = newest and Store(newest).get(_INPUTS)
        if found is not None and found != inputs:
            different = [name for name in {**inputs, **found} if inputs.get(name) != found.get(name)]
            raise ValueError(
                f"{place} holds no results of this comparison, only of one with other {', '.join(different)}; name "
                "another place as store (--store), or leave out resume (--resume) to start anew in a folder"
            )
        if store.results.keys() - {_INPUTS} and not resume:
            raise ValueError(
                f"{path} holds results of this very comparison: resume=True (--resume) goes on from them; to start "
                "anew, remove it, or name another place as store (--store)"
            )
        if resume and not store.results:
            warnings.warn(f"there is nothing to resume in {place}; starting anew", stacklevel=3)
        kept = cls(store, own, _names(methods, plan))
        if found is None and kept.names:
            store.add(_INPUTS, dict(inputs))
        return kept

    @property
    def path(self) -> Path | None:
        """The file, if it holds results."""
        path = self.store.path
        return path if path is not None and path.exists() and Store(path).results.keys() - {_INPUTS} else None

    def run(self, method: Method, fold: int, seed: int) -> RunOutcome | None:
        """Return a finished run, or None."""
        key = self._key(method, fold, f"seed {seed}")
        self.asked.add(key)
        found = self.store.get(key)
        if found is None:
            return None
        arrays = {name: np.array(found[name], dtype=np.float64) for name in _ARRAYS if found[name] is not None}
        per_query = {name: np.array(values, dtype=np.float64) for name, values in found["per_query"].items()}
        tuned = None if found["tuned"] is None else Setting(**found["tuned"])
        given = {**found, **arrays, "per_query": per_query, "tuned": tuned, "notes": tuple(found["notes"])}
        return RunOutcome(method, fold, seed, **given)

    def add_run(self, run: RunOutcome) -> None:
        """Store a run; failed runs are tried again by the next comparison."""
        if run.error is None:
            found = {name: value for name, value in vars(run).items() if name not in _IDENTITY}
            self._add(run.method, run.fold, f"seed {run.seed}", found)

    def trial(self, method: Method, fold: int, number: int) -> TrialOutcome | None:
        """Return the outcome of a finished tuning trial, or None."""
        found = self.store.get(self._key(method, fold, f"trial {number}"))
        return None if found is None else TrialOutcome(**found)

    def add_trial(self, method: Method, fold: int, number: int, outcome: TrialOutcome) -> None:
        """Store the outcome of a tuning trial."""
        self._add(method, fold, f"trial {number}", outcome)

    def remove(self) -> bool:
        """Remove the file unless it also holds runs of other methods or seeds; return whether it is gone."""
        path = self.store.path
        if path is None or not path.exists():
            return True
        of_others = Store(path).results.keys() - {_INPUTS} - self.asked
        if not all(" | trial " in key and key.split(" | ")[2] in self.names.values() for key in of_others):
            return False
        path.unlink()
        return True

    def _add(self, method: Method, fold: int, which: str, found: Any) -> None:
        if method in self.names:
            self.store.add(self._key(method, fold, which), to_json(found))

    def _key(self, method: Method, fold: int, which: str) -> str:
        return f"{self.inputs} | fold {fold + 1} | {self.names.get(method)} | {which}"


def _names(methods: Iterable[Method], plan: Plan) -> dict[Method, str]:
    """Return a digest of each method whose results may be stored, and warn of the others."""
    found = {method: digest(method.objective) for method in methods}
    metrics = dict.fromkeys((plan.metric, plan.valid_metric, *plan.metrics))
    unknown = [metric for metric in metrics if digest(metric) is None]
    for value in [*unknown, *(method.objective for method, text in found.items() if text is None)]:
        warnings.warn(
            f"{shown(value)} has code of your own, which may change between two runs: "
            f"{'no training is' if unknown else 'its trainings are not'} kept in store",
            stacklevel=4,
        )
    return {} if unknown else {method: f"{method.framework} {text}" for method, text in found.items() if text}
