"""Tuning of a method's parameters on the validation part, with one budget and one space of trees for all methods."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from boostplug.comparison.summary import Setting
from boostplug.comparison.training.frameworks import Framework
from boostplug.comparison.training.trees import Trees
from boostplug.core.best_round import BestRound
from boostplug.core.extras import needed_by
from boostplug.core.values import Range
from boostplug.losses import Loss
from boostplug.selection.search import suggest

TREE_SPACE: dict[str, Range] = {
    "learning_rate": Range(0.02, 0.3, log=True),
    "num_leaves": Range(4, 63, log=True),
    "min_rows": Range(1, 100, log=True),
    "min_hessian": Range(1e-3, 10.0, log=True),
    "l2": Range(0.01, 30.0, log=True),
    "row_fraction": Range(0.5, 1.0),
    "column_fraction": Range(0.3, 1.0),
}
"""Search space of the trees, by the names of `Trees`; widened to include given values.

A framework draws those that its `tree_names` has: of the two limits on leaves, rows in LightGBM and Hessian in XGBoost,
which lacks the other.
"""

_DIGITS = 3  # of numbers drawn for trees, which the recommended code shows in full
_FIRST_JUDGED = 5  # trials without pruning, besides the given setting
_HOPELESS = 25.0  # percentile of the others for pruning; the median cost some methods their best setting
_WARM_UP = 5  # no trial is pruned in the first fifth of the rounds
_OF_LOSS = "objective__"  # prefix of a loss's parameters in a trial
_PAIRS: dict[str, tuple[Any, ...]] = {
    "lambdarank_pair_method": ("topk", "mean"),
    "lambdarank_num_pair_per_sample": (1, 2, 4, 8, 16, 32),
    "lambdarank_normalization": (True, False),
}
_OF_BUILT_INS: dict[str, dict[str, tuple[Any, ...]]] = {
    "lambdarank": {
        "sigmoid": (0.25, 0.5, 1.0, 2.0, 4.0),
        "lambdarank_truncation_level": (5, 10, 20, 30, 60),
        "lambdarank_norm": (True, False),
    },
    "rank:ndcg": _PAIRS,
    "rank:pairwise": _PAIRS,
}


def tuned_objective(objective: Loss | str, drawn: Mapping[str, Any]) -> Loss | str:
    """Return the objective that tuning chose, from the initial one and `Setting.drawn`."""
    if isinstance(objective, str) or not drawn:
        return objective
    space = objective.search_space
    return objective.with_params(
        **{name: space[name][value["choice"]] if isinstance(value, dict) else value for name, value in drawn.items()}  # type: ignore[index]
    )


def _drawn(trial: Any, objective: Loss | str) -> dict[str, Any]:
    """Return the values that a trial drew for a loss, in JSON's types: a choice by its index."""
    if isinstance(objective, str):
        return {}
    return {
        name: {"choice": space.index(trial.params[_OF_LOSS + name])}
        if isinstance(space, tuple)
        else trial.params[_OF_LOSS + name]
        for name, space in objective.search_space.items()
    }


def require_optuna() -> Any:
    """Return optuna, silenced."""
    with needed_by("tuning needs", "optuna"):
        import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


@dataclass(frozen=True)
class TrialOutcome:
    """Result of a tuning trial.

    Attributes
    ----------
    value : float
        Validation value after the best round.
    values : list of float
        Validation value after each round.
    pruned : bool
        Whether the trial was ended early as hopeless.
    """

    value: float
    values: list[float]
    pruned: bool = False


class OutOfTime(Exception):  # noqa: N818 (not an error)
    """Time is up before a trial has finished."""


def tune(
    framework: Framework,
    objective: Loss | str,
    trees: Trees,
    *,
    trials: int,
    seed: int,
    run: Callable[..., TrialOutcome],
    rounds: int,
    greater_is_better: bool,
) -> Setting | None:
    """Return the best of `trials` settings on the validation part; the given setting is the first.

    optuna's TPE draws trees from `TREE_SPACE`, the same for every method of a framework. `suggest` draws the parameters
    of a loss; LambdaMART's own parameters are drawn for built-in ones. From some trials on, each round compares a
    trial's best value so far with the values of the completed trials at that round. A trial in the lowest quarter is
    pruned. Pruned and failed settings count as tried.

    Parameters
    ----------
    framework : Framework
    objective : Loss or str
    trees : Trees
        Trees of the first trial.
    trials : int
    seed : int
        Seed of the draws.
    run : callable
        ``run(objective, parameters, report)`` trains and returns a `TrialOutcome`. If `report` is not None, it is
        called after each round with the round's number and value, and ends the training if it returns True. Draws and
        pruning depend only on values, so `run` may report and return those of an earlier training.
    rounds : int
        Largest number of rounds of a training.
    greater_is_better : bool
        For validation values.

    Returns
    -------
    Setting or None
        None if every trial failed.

    Raises
    ------
    OutOfTime
        If `run` does.
    """
    optuna = require_optuna()
    sign = 1.0 if greater_is_better else -1.0
    pruner = optuna.pruners.PercentilePruner(
        100.0 - _HOPELESS, n_startup_trials=_FIRST_JUDGED, n_warmup_steps=max(1, rounds // _WARM_UP)
    )
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed), pruner=pruner)
    best, best_trial = None, BestRound(greater_is_better=greater_is_better)
    failures: list[str] = []
    for i in range(trials):
        trial = study.ask() if i else None  # optuna did not draw the given setting
        chosen, parameters, drawn, report = objective, dict[str, Any](), dict[str, Any](), None
        try:
            if trial is not None:
                chosen, parameters = _suggest(trial, framework, objective, trees)
                drawn, report = _drawn(trial, objective), _report_to(trial, sign)
            outcome = run(chosen, parameters, report)
        except OutOfTime:
            raise
        except Exception as error:  # noqa: BLE001 (an invalid setting; if all are, the method's run reports why)
            outcome = None
            failures.append(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
        if trial is not None:
            state = optuna.trial.TrialState
            if outcome is None or outcome.pruned:
                study.tell(trial, state=state.FAIL if outcome is None else state.PRUNED)
            else:
                study.tell(trial, sign * outcome.value)
        if outcome is None or outcome.pruned:
            continue
        best_trial.add(outcome.value)
        if best is None or best_trial.number == best_trial.n_rounds:
            best = Setting(objective=str(chosen), drawn=drawn, parameters=parameters)
    return best and replace(best, failed=len(failures), failure=failures[0] if failures else "")


def _report_to(trial: Any, sign: float) -> Callable[[int, float], bool]:
    """Return a function of a training's value after each round, which returns whether the trial is hopeless."""
    best = -math.inf

    def report(number: int, value: float) -> bool:
        nonlocal best
        if not math.isnan(value):
            best = max(best, sign * value)
            trial.report(best, number)
        return bool(trial.should_prune())

    return report


def _suggest(
    trial: Any, framework: Framework, objective: Loss | str, trees: Trees
) -> tuple[Loss | str, dict[str, Any]]:
    names = framework.tree_names
    given, fixed = asdict(trees), getattr(trees, framework.name, {})
    grown_by = getattr(framework, "params", names.values())  # without parameters given under another name
    parameters = {
        own: _tree_value(trial, name, given[name])
        for name, own in names.items()
        if own in grown_by and own not in fixed
    }
    if isinstance(objective, str):
        for name, options in _OF_BUILT_INS.get(objective, {}).items():
            if name not in fixed:
                parameters[name] = trial.suggest_categorical(name, options)
        return objective, parameters
    return suggest(trial, objective, prefix=_OF_LOSS), parameters


def _tree_value(trial: Any, name: str, given: float) -> float:
    space = TREE_SPACE[name]
    low, high = space.low, max(space.high, given)
    if given > 0 or not space.log:
        low = min(low, given)
    if space.whole:
        return int(trial.suggest_int(name, int(low), int(high), log=space.log))
    return float(f"{trial.suggest_float(name, low, high, log=space.log):.{_DIGITS}g}")
