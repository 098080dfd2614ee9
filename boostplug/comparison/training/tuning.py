"""Tuning of a method's parameters on the validation part, with one budget and one space of trees for all methods."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from boostplug.comparison.training.frameworks import Report, Trainer, Watch
from boostplug.comparison.training.plan import Setting, TrainingPlan
from boostplug.comparison.training.trees import Trees
from boostplug.core.best_round import BestRound
from boostplug.core.extras import imported
from boostplug.core.values import Range
from boostplug.losses import Loss
from boostplug.selection.search import drawn, suggest

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

_DIGITS_DRAWN = 3  # of numbers drawn for trees, which the recommended code shows in full
_TRIALS_NOT_PRUNED = 5  # trials without pruning, besides the given setting
_PRUNED_PERCENTILE = 25.0  # percentile of the others for pruning; the median cost some methods their best setting
_WARM_UP = 5  # no trial is pruned in the first fifth of the rounds
_OF_XGBOOST_PAIRS: dict[str, tuple[Any, ...]] = {
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
    "rank:ndcg": _OF_XGBOOST_PAIRS,
    "rank:pairwise": _OF_XGBOOST_PAIRS,
}


def silent_optuna() -> Any:
    """Return optuna, silenced."""
    optuna = imported("optuna", "tuning needs")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def tune(
    trainer: Trainer, objective: Loss | str, plan: TrainingPlan, run: Callable[[Setting, int, Report | None], Watch]
) -> Setting | None:
    """Return the best of `plan.tune` settings on the validation part; the given setting is the first.

    optuna's TPE draws trees from `TREE_SPACE`, the same for every method of a framework. `suggest` draws the parameters
    of a loss; LambdaMART's own parameters are drawn for built-in ones. From some trials on, each round compares a
    trial's best value so far with the values of the completed trials at that round. A trial in the lowest quarter is
    pruned. Pruned and failed settings count as tried.

    Parameters
    ----------
    trainer : LightGBMTrainer or XGBoostTrainer
    objective : Loss or str
    plan : TrainingPlan
        Its first seed is that of the draws and of the trainings.
    run : callable
        ``run(setting, seed, report)`` trains and returns a `Watch`. If `report` is not None, it is called after each
        round with the round's number and value, and ends the training if it returns True.

    Returns
    -------
    Setting or None
        None if every trial failed.
    """
    optuna = silent_optuna()
    sign, seed = 1.0 if plan.valid_metric.greater_is_better else -1.0, plan.seeds[0]
    best = BestRound(greater_is_better=True)
    settings, failures = list[Setting](), list[str]()

    def value_of(trial: Any = None) -> float:
        """Train with the setting of a trial, or the given one, and return its value."""
        try:
            setting, report = Setting(objective), None
            if trial is not None:
                setting, report = _suggest(trial, trainer, objective, plan.trees), _report_to(trial, sign)
            watch = run(setting, seed, report)
        except Exception as error:
            failures.append(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
            raise
        if watch.pruned:
            raise optuna.TrialPruned
        best.add(sign * watch.best_value)
        settings.append(setting)
        return sign * float(watch.best_value)

    warm_up = max(1, plan.rounds // _WARM_UP)
    pruner = optuna.pruners.PercentilePruner(
        100.0 - _PRUNED_PERCENTILE, n_startup_trials=_TRIALS_NOT_PRUNED, n_warmup_steps=warm_up
    )
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed), pruner=pruner)
    with suppress(Exception):  # an invalid setting; if all are, the method's run reports why
        value_of()  # optuna did not draw it
    study.optimize(value_of, n_trials=plan.tune - 1, catch=(Exception,))
    if not best.number:
        return None
    return replace(settings[best.number - 1], failed=len(failures), failure=failures[0] if failures else "")


def _report_to(trial: Any, sign: float) -> Report:
    """Return a function of a training's value after each round, which returns whether the trial is hopeless."""
    best = -math.inf

    def report(number: int, value: float) -> bool:
        nonlocal best
        if not math.isnan(value):
            best = max(best, sign * value)
            trial.report(best, number)
        return bool(trial.should_prune())

    return report


def _suggest(trial: Any, trainer: Trainer, objective: Loss | str, trees: Trees) -> Setting:
    """Return a setting that a trial draws."""
    names = trainer.tree_names
    given, fixed = asdict(trees), getattr(trees, trainer.name, {})
    grown_by = getattr(trainer, "params", names.values())  # without parameters given under another name
    parameters = {
        own: _tree_value(trial, name, given[name])
        for name, own in names.items()
        if own in grown_by and own not in fixed
    }
    if isinstance(objective, str):
        for name, options in _OF_BUILT_INS.get(objective, {}).items():
            if name not in fixed:
                parameters[name] = trial.suggest_categorical(name, options)
        return Setting(objective, parameters)
    return Setting(suggest(trial, objective), parameters)


def _tree_value(trial: Any, name: str, given: float) -> float:
    space = TREE_SPACE[name]
    low = min(space.low, given) if given > 0 or not space.log else space.low
    value = drawn(trial, name, Range(low, max(space.high, given), log=space.log))
    return value if space.whole else float(f"{value:.{_DIGITS_DRAWN}g}")
