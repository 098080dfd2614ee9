"""Runs of a comparison: each is read from the store, or tuned and trained."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.summary import Setting, Settings
from boostplug.comparison.training import tuning
from boostplug.comparison.training.frameworks import FRAMEWORKS, Framework, Part, Watch
from boostplug.comparison.training.trees import Trees
from boostplug.core.threads import threads_of_framework
from boostplug.data.queries import Queries
from boostplug.losses import Loss
from boostplug.metrics import ECE, NDCG, LogLoss, Metric
from boostplug.metrics.calibration import bin_sums

Floats = NDArray[np.float64]
Report = Callable[[int, float], bool]

CUTOFFS = (1, 2, 3, 5, 10, 20, 50)
"""Cut-offs of the NDCG that each run keeps."""


@dataclass(frozen=True)
class Method:
    """An objective in a framework; the reference is what the framework's other methods are compared with."""

    name: str
    framework: str
    objective: Loss | str
    is_reference: bool = False


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """The outcome of one run: one method, one fold, one seed."""

    method: Method
    fold: int
    seed: int
    rounds: int = 0
    rounds_trained: int = 0
    seconds_per_round: float | None = None
    """None where others kept the processor busy."""
    validation: float = 0.0
    test: dict[str, float] = field(default_factory=dict)
    per_query: dict[str, Floats] = field(default_factory=dict)
    error: str | None = None
    tuned: Setting | None = None
    notes: tuple[str, ...] = ()
    validation_per_query: Floats | None = None
    curve: Floats | None = None
    """The metric on the validation part after each round."""
    gains: Floats | None = None
    """Gains of each feature's splits in the model at its best round; None if the framework has none."""
    cutoffs: Floats | None = None
    """NDCG on the test part at each of `CUTOFFS`; None where the grades allow none."""
    reliability: Floats | None = None
    """`bin_sums` of the test part, flattened; None if no metric judges probabilities."""
    position_bias: Floats | None = None
    """Click probability by position on the validation part, relative to the first; None for other losses."""
    seconds: float | None = None
    """Seconds of the complete training, with the metric after each round."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Settings that all runs of a comparison share."""

    metric: Metric
    metrics: Sequence[Metric]
    trees: Trees
    rounds: int
    patience: int | None
    num_threads: int
    tune: int
    seeds: Sequence[int]

    def settings(self, jobs: int, minutes: float | None) -> Settings:
        """Return what the summary says of it."""
        return Settings(
            metric=self.metric.name,
            metrics=[m.name for m in self.metrics],
            greater_is_better=self.metric.greater_is_better,
            lower_is_better=[m.name for m in self.metrics if not m.greater_is_better],
            seeds=list(self.seeds),
            rounds=self.rounds,
            early_stopping_rounds=self.patience,
            params=asdict(self.trees),
            tune=self.tune,
            num_threads=self.num_threads,
            jobs=jobs,
            minutes=minutes,
        )


class Keeper(Protocol):
    """Store of finished runs and tried settings, with those of an earlier comparison."""

    def outcome(self, method: Method, fold: int, seed: int) -> RunOutcome | None:
        """Return a run that is finished."""

    def add(self, cell: RunOutcome) -> None:
        """Keep a run."""

    def trial(self, method: Method, fold: int, number: int) -> tuning.Outcome | None:
        """Return what came of a setting that tuning has tried."""

    def add_trial(self, method: Method, fold: int, number: int, outcome: tuning.Outcome) -> None:
        """Keep what came of a setting."""


def announced(method: Method, seed: int, fold: int) -> str:
    """Return how a run is called when it begins."""
    return f"{method.framework} {method.name}, seed {seed}, fold {fold + 1}"


class FoldRuns:
    """The runs on one fold; its data are binned once in each framework, when the first run there needs them.

    Parameters
    ----------
    plan : Plan
    number : int
        Of the fold, from 0.
    parts : sequence of Part
        Training, validation and test.
    kept : Keeper or None
    advance : callable
        As `progress_bar` yields it: a step for each run and for each setting that tuning tries.
    frameworks : mapping of str to type
        By name; default: LightGBM and XGBoost.
    is_late : callable
        Whether time is up, so that tuning ends with the round that is at work.
    """

    def __init__(
        self,
        plan: Plan,
        number: int,
        parts: Sequence[Part],
        kept: Keeper | None,
        advance: Callable[[str, int], None],
        frameworks: Mapping[str, type[Framework]] = FRAMEWORKS,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._plan, self._number, self._parts, self._kept, self._advance = plan, number, parts, kept, advance
        self._frameworks, self.is_late = frameworks, is_late
        self._binned: dict[str, Framework | Exception] = {}
        self._tuned: dict[Method, Setting | None] = {}

    def outcome(self, method: Method, seed: int) -> RunOutcome:
        """Return the outcome of one run.

        Raises
        ------
        OutOfTime
            If time is up before the method is tuned; the settings that were tried are kept.
        """
        plan = self._plan
        self._advance(announced(method, seed, self._number), 0)
        setting = None
        if plan.tune:
            if method not in self._tuned:
                self._tuned[method] = self._tune(method, seed)
            setting = self._tuned[method]
        cell = self._run(method, seed, setting)
        if self._kept is not None:
            self._kept.add(cell)
        self._advance("", 1)
        return cell

    def forget(self) -> None:
        """Let go of the binned data; the next run bins them again."""
        self._binned.clear()

    def _trials_of(self, seed: int) -> int:
        """Return how many trials stand in the plan before the runs with a seed."""
        return self._plan.tune if seed == self._plan.seeds[0] else 0

    def _framework(self, name: str) -> Framework | Exception:
        if name not in self._binned:
            train, valid, test = self._parts
            try:
                self._binned[name] = self._frameworks[name](
                    train, valid, test, self._plan.trees, self._plan.num_threads
                )
            except Exception as error:  # noqa: BLE001 (reported in the table: the other framework may take the data)
                self._binned[name] = error
        return self._binned[name]

    def _watch(self, report: Report | None = None) -> Watch:
        plan, valid = self._plan, self._parts[1]
        return Watch(plan.metric, valid.queries, patience=plan.patience, num_threads=plan.num_threads, report=report)

    def _tune(self, method: Method, seed: int) -> Setting | None:
        """Return the setting of a method that does best on the validation part; what is kept is not trained again."""
        plan, framework = self._plan, self._framework(method.framework)
        tried = 0

        def run(objective: Loss | str, parameters: Mapping[str, Any], report: Report | None) -> tuning.Outcome:
            nonlocal tried
            tried += 1
            outcome = None if self._kept is None else self._kept.trial(method, self._number, tried)
            if outcome is None:
                assert not isinstance(framework, Exception)
                outcome = self._try(framework, objective, parameters, report)
                if self._kept is not None:
                    self._kept.add_trial(method, self._number, tried, outcome)
            self._advance("", min(1, self._trials_of(seed)))
            return outcome

        best = None
        if not isinstance(framework, Exception):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                best = tuning.tune(
                    framework,
                    method.objective,
                    plan.trees,
                    trials=plan.tune,
                    seed=plan.seeds[0],
                    run=run,
                    rounds=plan.rounds,
                    greater_is_better=plan.metric.greater_is_better,
                )
        self._advance("", max(0, self._trials_of(seed) - tried))  # those that failed
        return best

    def _try(
        self, framework: Framework, objective: Loss | str, parameters: Mapping[str, Any], report: Report | None
    ) -> tuning.Outcome:
        """Return what comes of a setting, or raise `OutOfTime` where time is up before its end."""
        plan, late = self._plan, self.is_late()
        if late:
            raise tuning.OutOfTime

        def ends(number: int, value: float) -> bool:
            nonlocal late
            late = self.is_late()
            return late or (report is not None and report(number, value))

        watch = self._watch(ends)
        framework.run(objective, plan.seeds[0], plan.rounds, watch, parameters)
        if late:
            raise tuning.OutOfTime
        return tuning.Outcome(watch.best_value, watch.values, watch.pruned)

    def _run(self, method: Method, seed: int, tuned: Setting | None) -> RunOutcome:
        """Return the outcome of a training; what goes wrong in it is an outcome too."""
        plan, framework, queries = self._plan, self._framework(method.framework), self._parts[2].queries
        outcome = partial(RunOutcome, method, self._number, seed)
        if isinstance(framework, Exception):
            return outcome(error=_reason(framework))
        watch, notes = self._watch(), []
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                objective, parameters = method.objective, dict[str, Any]()
                if tuned is not None:
                    objective, parameters = tuning.tuned_objective(objective, tuned.drawn), tuned.parameters
                scores = framework.run(objective, seed, plan.rounds, watch, parameters)
            notes = [
                f"{method.framework} {method.name} warns: {warning.message}"
                for warning in caught
                if issubclass(warning.category, UserWarning)
            ]
            if not np.isfinite(scores).all():
                return outcome(error="its scores on the test part are not finite", notes=tuple(notes))
            with threads_of_framework(plan.num_threads):
                per_query = {m.name: m.per_query(scores, queries) for m in plan.metrics if m.has_per_query}
                assert watch.scores is not None
                on_validation = plan.metric.per_query(watch.scores, watch.queries)
                means = {m.name: float(m(scores, queries)) for m in plan.metrics}
                cutoffs = _at_cutoffs(plan.metric, scores, queries)
                reliability = _reliability(plan.metrics, scores, queries)
                position_bias = _position_bias(objective, watch.scores, watch.queries)
        except Exception as error:  # noqa: BLE001 (whatever an objective raises is reported in the table)
            return outcome(error=_reason(error), notes=tuple(notes))
        return outcome(
            rounds=watch.best_round,
            rounds_trained=len(watch.values),
            seconds_per_round=None if watch.slowed else float(np.median(watch.seconds)),
            seconds=watch.whole,
            validation=watch.best_value,
            test=means,
            per_query=per_query,
            validation_per_query=on_validation,
            curve=np.array(watch.values),
            gains=watch.gains,
            cutoffs=cutoffs,
            reliability=reliability,
            position_bias=position_bias,
            tuned=tuned,
            notes=tuple(notes),
        )


def _at_cutoffs(metric: Metric, scores: Floats, queries: Queries) -> Floats | None:
    """Return NDCG at each of `CUTOFFS`, by the conventions of a metric that is one; None where it has no value."""
    ndcg = metric if isinstance(metric, NDCG) else NDCG()
    try:
        values = np.array([float(ndcg.with_params(k=k)(scores, queries)) for k in CUTOFFS])
    except ValueError:  # of grades that have no gain, as negative ones; the comparison's own metrics take them
        return None
    return None if np.isnan(values).all() else values


def _reliability(metrics: Sequence[Metric], scores: Floats, queries: Queries) -> Floats | None:
    """Return the sums of a reliability curve by the scale of the first metric that judges probabilities."""
    found = [(getattr(metric, "metric", metric), metric.reads(queries)) for metric in metrics]  # one on a label has one
    of_probabilities = [(metric, read) for metric, read in found if isinstance(metric, (ECE, LogLoss))]
    if not of_probabilities:
        return None
    metric, read = of_probabilities[0]
    return bin_sums(scores, read, metric.bins if isinstance(metric, ECE) else ECE().bins, metric.max_grade).ravel()


def _position_bias(objective: Loss | str, scores: Floats, queries: Queries) -> Floats | None:
    """Return the position bias of a loss that learns from clicks, as shares of the first position's clicks."""
    if isinstance(objective, str) or not objective.needs_position or queries.position is None:
        return None
    curve = objective.position_bias(scores, queries)
    if "bias" in curve:
        found: Floats = np.exp(curve["bias"])
        return found
    return curve["clicked"] if "clicked" in curve else curve["propensity"]


def _reason(error: Exception) -> str:
    """Return the line of a message that says something; XGBoost wraps it in its C++ stack."""
    text = str(error).split("Stack trace:")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = " ".join(lines)
    if line.startswith("[") and "Check failed:" in line:
        line = line[line.index("Check failed:") :]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
