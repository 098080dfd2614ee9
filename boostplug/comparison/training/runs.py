"""The methods of a comparison, and their runs: each method trained on each fold with each seed."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Event, get_ident
from typing import Any

import numpy as np

from boostplug.comparison.summary import to_json
from boostplug.comparison.training import tuning
from boostplug.comparison.training.frameworks import FRAMEWORKS, NO_FRAMEWORK, Report, Trainer, Watch
from boostplug.comparison.training.plan import Setting, TrainingPlan
from boostplug.comparison.training.store import Store, has_own_code
from boostplug.core.arrays import Floats
from boostplug.core.threads import threads_of_framework
from boostplug.data.inputs import CheckedInputs
from boostplug.estimators.parameter_names import GAINS_REMEDY, NO_GAIN
from boostplug.losses import Loss
from boostplug.metrics import ECE, ChoiceLogLoss, LogLoss

_OF_PROBABILITIES = (LogLoss, ECE, ChoiceLogLoss)
_NO_LOGITS = ("regression", "reg:squarederror")  # they predict the grade
_warnings: ContextVar[list[str] | None] = ContextVar("_warnings", default=None)
"""User warnings of the run that a thread trains; None outside of runs."""
_NOT_IN_DOCUMENT = {"framework", "method", "notes", "per_query", "scores", "model"}


@dataclass(frozen=True)
class Method:
    """An objective in a framework; a reference is the method with which the framework's other methods are compared."""

    name: str
    framework: str
    objective: Loss | str
    is_reference: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The framework and the name."""
        return self.framework, self.name

    @property
    def names(self) -> dict[str, str]:
        """The framework and the name, as the document has them."""
        return {"framework": self.framework, "method": self.name}

    @property
    def title(self) -> str:
        """The name, with the framework if there is one."""
        return f"{self.name} in {self.framework}" if self.is_trained else self.name

    @property
    def is_trained(self) -> bool:
        """Whether a framework trains it."""
        return self.framework != NO_FRAMEWORK


@dataclass(frozen=True, eq=False, kw_only=True)
class MethodRun:
    """One method on one fold with one seed."""

    framework: str
    method: str
    fold: int
    seed: int
    rounds: int = 0
    rounds_trained: int = 0
    seconds_per_round: float | None = None
    """None where others kept the processor busy."""
    validation: float = 0.0
    test: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    tuned: Setting | None = None
    notes: list[str] = field(default_factory=list)
    curve: list[float] = field(default_factory=list)
    """The metric on the validation part after each round."""
    per_query: dict[str, Floats] = field(default_factory=dict)
    scores: Floats = field(default_factory=lambda: np.zeros(0))
    """On the test part."""
    model: str = ""
    """The booster as its framework's text, as far as the best round."""

    @property
    def names(self) -> dict[str, str]:
        """The framework and the method."""
        return {"framework": self.framework, "method": self.method}

    def document(self) -> dict[str, Any]:
        """Return the run in JSON's types, without what is per query, its names and its notes."""
        return dict(to_json({name: value for name, value in self.to_store().items() if name not in _NOT_IN_DOCUMENT}))

    def to_store(self) -> dict[str, Any]:
        """Return all fields, with the tuned objective as text."""
        tuned = None if self.tuned is None else {**vars(self.tuned), "objective": str(self.tuned.objective)}
        return {**vars(self), "tuned": tuned}

    @classmethod
    def from_store(cls, stored: dict[str, Any], method: Method) -> "MethodRun":
        """Return the run of a method with the fields of `to_store`."""
        arrays = {name: np.array(values, np.float64) for name, values in stored["per_query"].items()}
        tuned = stored["tuned"] and Setting(**stored["tuned"])
        if tuned and isinstance(method.objective, Loss):
            tuned = replace(tuned, objective=Loss.parse(str(tuned.objective))[0])
        of_rows = {"per_query": arrays, "scores": np.array(stored["scores"], np.float64)}
        return cls(**{**stored, **method.names, **of_rows, "tuned": tuned})


@contextmanager
def warnings_of_runs() -> Iterator[None]:
    """Within the block, user warnings of runs become their notes.

    Warnings are caught once for all threads, since `warnings.catch_warnings` in several threads would mix them up.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        elsewhere = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if (texts := _warnings.get()) is None:
                elsewhere(message, category, *place, **more)
            elif issubclass(category, UserWarning):
                texts.append(str(message))

        warnings.showwarning = show
        yield


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Yield a list of the user warnings of this thread within the block."""
    texts = list[str]()
    token = _warnings.set(texts)
    try:
        yield texts
    finally:
        _warnings.reset(token)


class FoldRuns:
    """The runs on one fold; the first run in each framework bins its data, once in each thread.

    Parameters
    ----------
    plan : TrainingPlan
    number : int
        Number of the fold, from 0.
    parts : sequence of CheckedInputs
        Training, validation and test.
    store : Store
        Holds finished runs, and gets new ones.
    half : bool
        Whether the training part is half of that of the other runs in the store.
    ended : Event, optional
        Once it is set, trainings in other threads end as Ctrl-C ends them.
    """

    def __init__(
        self, plan: TrainingPlan, number: int, parts: Sequence[CheckedInputs], store: Store,
        *, half: bool = False, ended: Event | None = None,
    ) -> None:  # fmt: skip
        self.plan, self._number, self._parts, self._ended = plan, number, parts, ended or Event()
        self._store, self._half = store, half
        self._trainers: dict[tuple[str, int], Trainer] = {}
        self.tuned: dict[Method, Setting | None] = {}

    def find(self, method: Method, seed: int) -> MethodRun | None:
        """Return a run that is in the store."""
        stored = None if has_own_code(method.objective) else self._store.get(self._key(method, seed))
        return None if stored is None else MethodRun.from_store(stored, method)

    def _key(self, method: Method, seed: int) -> str:
        objective, leaves = f"{method.framework} {method.objective!r}", self.plan.trees.num_leaves
        return f"{objective} | fold {self._number + 1} | seed {seed} | {leaves} leaves{' | half' * self._half}"

    def run(self, method: Method, seed: int) -> MethodRun:
        """Return a run from the store, or train and store it; the next comparison tries failed runs again."""
        run = self.find(method, seed)
        if run is None:
            run = self._train(method, seed)
            if run.error is None and not has_own_code(method.objective):
                self._store.add(self._key(method, seed), to_json(run.to_store()))
        return run

    def _train(self, method: Method, seed: int) -> MethodRun:
        """Return a run, after tuning if the plan has it; one that failed is a run too.

        Call it within `warnings_of_runs`, which its notes are from.
        """
        fields: dict[str, Any] = {**method.names, "fold": self._number, "seed": seed}
        with _noted() as texts:
            try:
                fields |= self._values(method, seed, self._trainer(method.framework))
            except Exception as error:  # noqa: BLE001 (the table reports any error of an objective)
                fields["error"] = reason(error)
        return MethodRun(**fields, notes=[f"{method.framework} {method.name} warns: {text}" for text in texts])

    def _trainer(self, name: str) -> Trainer:
        key = name, get_ident()  # a training changes the datasets of its framework
        if key not in self._trainers:
            train, valid, test = self._parts
            self._trainers[key] = FRAMEWORKS[name](train, valid, test, self.plan.trees, self.plan.num_threads)
        return self._trainers[key]

    def _watched(
        self, trainer: Trainer, setting: Setting, seed: int, report: Report | None = None
    ) -> tuple[Watch, Floats]:
        """Return a training that was followed, and the scores of the test part."""
        plan, valid = self.plan, self._parts[1].queries

        def stops(number: int, value: float) -> bool:
            if self._ended.is_set():
                raise KeyboardInterrupt
            return report is not None and report(number, value)

        watch = Watch(plan.valid_metric, valid, patience=plan.patience, num_threads=plan.num_threads, report=stops)
        return watch, trainer.run(setting, seed, plan.rounds, watch)

    def _values(self, method: Method, seed: int, trainer: Trainer) -> dict[str, Any]:
        """Return the fields of a run."""
        plan, objective = self.plan, method.objective
        if plan.tune and method not in self.tuned:
            with _noted():  # and dropped
                self.tuned[method] = tuning.tune(trainer, objective, plan, lambda *t: self._watched(trainer, *t)[0])
        setting = self.tuned.get(method) or Setting(objective)
        watch, scores = self._watched(trainer, setting, seed)
        if not np.isfinite(scores).all():
            return {"error": "its scores on the test part are not finite"}
        assert watch.scores is not None
        return values_of_run(plan, self._parts, watch.scores, scores, probabilities=objective not in _NO_LOGITS) | {
            "rounds": watch.best_round,
            "rounds_trained": len(watch.values),
            "seconds_per_round": watch.seconds_per_round,
            "tuned": self.tuned.get(method),
            "curve": watch.values,
            "model": watch.model,
        }


def values_of_run(
    plan: TrainingPlan, parts: Sequence[CheckedInputs], valid: Floats, test: Floats, *, probabilities: bool
) -> dict[str, Any]:
    """Return the fields of a run that follow from its scores.

    Without `probabilities`, metrics that read scores as logits have no value, unless they judge.
    """
    queries = parts[2].queries
    known = [m for m in plan.metrics if probabilities or m == plan.metric or not isinstance(m, _OF_PROBABILITIES)]
    with threads_of_framework(plan.num_threads):
        return {
            "validation": float(plan.valid_metric(valid, parts[1].queries)),
            "test": {m.name: float(m(test, queries)) if m in known else np.nan for m in plan.metrics},
            "per_query": {m.name: m.per_query(test, queries) for m in known if m.has_per_query},
            "scores": test,
        }


def reason(error: Exception) -> str:
    """Return the informative line of an error message; XGBoost wraps it in its C++ stack."""
    line = GAINS_REMEDY if NO_GAIN in str(error) else " ".join(str(error).split("Stack trace:")[0].split())
    if line.startswith("[") and "Check failed:" in line:
        line = line[line.index("Check failed:") :]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
