"""The runs of a comparison on one fold: tuning, if the plan has it, and training."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.clicks import IPS
from boostplug.comparison.summary import Setting
from boostplug.comparison.training import tuning
from boostplug.comparison.training.frameworks import FRAMEWORKS, DataPart, Framework, Watch
from boostplug.comparison.training.kept import Kept
from boostplug.comparison.training.runs import CUTOFFS, Method, Plan, RunOutcome
from boostplug.core.threads import threads_of_framework
from boostplug.data.queries import Queries
from boostplug.losses import Loss
from boostplug.metrics import ECE, NDCG, LogLoss, Metric
from boostplug.metrics.calibration import bin_sums

Floats = NDArray[np.float64]
Report = Callable[[int, float], bool]


class FoldRuns:
    """The runs on one fold; the first run in each framework bins its data, once.

    Parameters
    ----------
    plan : Plan
    number : int
        Number of the fold, from 0.
    parts : sequence of DataPart
        Training, validation and test.
    kept : Kept, optional
        Stores each finished run and tuning trial. Default: none are stored.
    frameworks : mapping of str to type
        Frameworks by name; default: LightGBM and XGBoost.
    is_late : callable
        Returns whether time is up, so that no training begins.
    """

    def __init__(
        self,
        plan: Plan,
        number: int,
        parts: Sequence[DataPart],
        kept: Kept | None = None,
        *,
        frameworks: Mapping[str, type[Framework]] = FRAMEWORKS,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._plan, self._number, self._parts, self._kept = plan, number, parts, kept or Kept()
        self._frameworks, self._is_late = frameworks, is_late
        self._binned: dict[str, Framework | Exception] = {}
        self._tuned: dict[Method, Setting | None] = {}

    def outcome(self, method: Method, seed: int) -> RunOutcome:
        """Return the outcome of one run.

        Raises
        ------
        OutOfTime
            If time is up before its training begins; finished tuning trials are kept.
        """
        if self._plan.tune and method not in self._tuned:
            self._tuned[method] = self._tune(method)
        self._check_time()
        outcome = self._run(method, seed, self._tuned.get(method))
        self._kept.add_run(outcome)
        return outcome

    def _check_time(self) -> None:
        if self._is_late():
            raise tuning.OutOfTime

    def _framework(self, name: str) -> Framework | Exception:
        if name not in self._binned:
            plan, (train, valid, test) = self._plan, self._parts
            try:
                self._binned[name] = self._frameworks[name](train, valid, test, plan.trees, plan.num_threads)
            except Exception as error:  # noqa: BLE001 (the table reports it: the other framework may accept the data)
                self._binned[name] = error
        return self._binned[name]

    def _watch(self, report: Report | None = None) -> Watch:
        plan, valid = self._plan, self._parts[1]
        return Watch(
            plan.valid_metric, valid.queries, patience=plan.patience, num_threads=plan.num_threads, report=report
        )

    def _tune(self, method: Method) -> Setting | None:
        """Return the setting of a method that is best on the validation part; stored trials are not trained again."""
        plan, framework, numbers = self._plan, self._framework(method.framework), count(1)
        if isinstance(framework, Exception):
            return None

        def run(objective: Loss | str, parameters: Mapping[str, Any], report: Report | None) -> tuning.TrialOutcome:
            number = next(numbers)
            outcome = self._kept.trial(method, self._number, number)
            if outcome is None:
                self._check_time()
                watch = self._watch(report)
                framework.run(objective, plan.seeds[0], plan.rounds, watch, parameters)
                outcome = tuning.TrialOutcome(watch.best_value, watch.values, watch.pruned)
                self._kept.add_trial(method, self._number, number, outcome)
            elif report is not None:
                for i, value in enumerate(outcome.values, 1):  # later settings depend on these values
                    report(i, value)
            return outcome

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tuning.tune(
                framework,
                method.objective,
                plan.trees,
                trials=plan.tune,
                seed=plan.seeds[0],
                run=run,
                rounds=plan.rounds,
                greater_is_better=plan.valid_metric.greater_is_better,
            )

    def _run(self, method: Method, seed: int, tuned: Setting | None) -> RunOutcome:
        """Return the outcome of a training; a failure is an outcome too."""
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
                on_validation = plan.valid_metric.per_query(watch.scores, watch.queries)
                means = {m.name: float(m(scores, queries)) for m in plan.metrics}
                cutoffs = _at_cutoffs(plan.metric, scores, queries)
                reliability = _reliability(plan.metrics, scores, queries)
                position_bias = _position_bias(objective, watch.scores, watch.queries)
        except Exception as error:  # noqa: BLE001 (the table reports any error of an objective)
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
    """Return NDCG at each of `CUTOFFS`, by the conventions of `metric` if it is an NDCG; None if undefined."""
    if getattr(metric, "label", None) == IPS:  # NDCG would read unweighted clicks
        return None
    ndcg = metric if isinstance(metric, NDCG) else NDCG()
    try:
        values = np.array([float(ndcg.with_params(k=k)(scores, queries)) for k in CUTOFFS])
    except ValueError:  # grades without a gain, such as negative ones, which other metrics accept
        return None
    return None if np.isnan(values).all() else values


def _reliability(metrics: Sequence[Metric], scores: Floats, queries: Queries) -> Floats | None:
    """Return the sums of a reliability curve, with the scale of the first metric that evaluates probabilities."""
    found = [(getattr(metric, "metric", metric), metric.reads(queries)) for metric in metrics]  # without their labels
    of_probabilities = [(metric, read) for metric, read in found if isinstance(metric, (ECE, LogLoss))]
    if not of_probabilities:
        return None
    metric, read = of_probabilities[0]
    return bin_sums(scores, read, metric.bins if isinstance(metric, ECE) else ECE().bins, metric.max_grade).ravel()


def _position_bias(objective: Loss | str, scores: Floats, queries: Queries) -> Floats | None:
    """Return the position bias of a loss that learns from clicks, relative to the first position."""
    if isinstance(objective, str) or not objective.needs_position or queries.position is None:
        return None
    curve = objective.position_bias(scores, queries)
    if "bias" in curve:
        found: Floats = np.exp(curve["bias"])
        return found
    return curve["clicked"] if "clicked" in curve else curve["propensity"]


def _reason(error: Exception) -> str:
    """Return the informative line of an error message; XGBoost wraps it in its C++ stack."""
    text = str(error).split("Stack trace:")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = " ".join(lines)
    if line.startswith("[") and "Check failed:" in line:
        line = line[line.index("Check failed:") :]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
