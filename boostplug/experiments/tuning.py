"""Choice of a method's parameters on the validation part, with one budget for every method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from boostplug.best_round import BestRound
from boostplug.experiments.training import Framework
from boostplug.experiments.trees import Trees
from boostplug.losses import Loss
from boostplug.selection.search import suggest

__all__ = ["Tuned", "require_optuna", "tune", "tuned_objective"]

_OF_LOSS = "objective__"  # begins the names that a trial knows a loss's parameters by
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


@dataclass(frozen=True)
class Tuned:
    """What was chosen: the objective with its parameters, and the framework's parameters beside."""

    objective: Loss | str
    parameters: Mapping[str, Any]
    validation: float
    drawn: Mapping[str, Any]
    """What `suggest` drew for a loss, as `tuned_objective` reads it."""

    def as_dict(self) -> dict[str, Any]:
        """Return it in JSON's types."""
        return {"objective": str(self.objective), "drawn": dict(self.drawn), "parameters": dict(self.parameters)}


def tuned_objective(objective: Loss | str, drawn: Mapping[str, Any]) -> Loss | str:
    """Return the objective that tuning chose, from the one that it began with and `Tuned.drawn`."""
    if isinstance(objective, str) or not drawn:
        return objective
    space = objective.search_space
    return objective.with_params(
        **{name: space[name][value["choice"]] if isinstance(value, dict) else value for name, value in drawn.items()}  # type: ignore[index]
    )


def _drawn(trial: Any, objective: Loss | str) -> dict[str, Any]:
    """Return what a trial drew for a loss, in JSON's types: a choice by its place."""
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
    try:
        import optuna
    except ImportError as error:
        raise ImportError("tuning needs optuna: pip install 'boostplug[tune]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def tune(
    framework: Framework,
    objective: Loss | str,
    trees: Trees,
    *,
    trials: int,
    seed: int,
    run: Callable[..., float],
    greater_is_better: bool,
) -> Tuned | None:
    """Return the best of `trials` settings on the validation part, the given one being the first.

    Drawn by optuna's TPE: learning rate, leaves, what `suggest` draws for a loss, and LambdaMART's own parameters where
    it is built in. A setting that fails counts as tried.

    Parameters
    ----------
    framework : Framework
    objective : Loss or str
    trees : Trees
        What the first trial uses.
    trials : int
    seed : int
        Of the draws.
    run : callable
        ``run(objective, parameters)`` trains and returns the validation value.
    greater_is_better : bool
        Of validation values.

    Returns
    -------
    Tuned or None
        None where every trial failed.
    """
    optuna = require_optuna()
    best: Tuned | None = None
    best_trial = BestRound(greater_is_better=greater_is_better)
    sign = 1.0 if greater_is_better else -1.0
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    for i in range(trials):
        trial = study.ask() if i else None
        try:
            chosen, parameters = (objective, {}) if trial is None else _suggest(trial, framework, objective, trees)
            value = run(chosen, parameters)
        except Exception:  # noqa: BLE001 (an impossible setting; if all are, the method's own run reports why)
            if trial is not None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        if trial is not None:
            study.tell(trial, sign * value)
        best_trial.add(value)
        if best is None or best_trial.number == best_trial.n_rounds:
            best = Tuned(chosen, parameters, value, {} if trial is None else _drawn(trial, objective))
    return best


def _suggest(
    trial: Any, framework: Framework, objective: Loss | str, trees: Trees
) -> tuple[Loss | str, dict[str, Any]]:
    rate = trees.learning_rate
    parameters: dict[str, Any] = {
        "learning_rate": trial.suggest_float("learning_rate", min(0.02, rate), max(0.3, rate), log=True),
        framework.leaves: trial.suggest_int("leaves", min(4, trees.num_leaves), max(63, trees.num_leaves), log=True),
    }
    if isinstance(objective, str):
        for name, options in _OF_BUILT_INS.get(objective, {}).items():
            parameters[name] = trial.suggest_categorical(name, options)
        return objective, parameters
    return suggest(trial, objective, prefix=_OF_LOSS), parameters
