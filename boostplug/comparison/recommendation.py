"""What a comparison recommends, as an estimator that means the same trees, and as the line of code that makes one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostplug.adapters.aliases import LIGHTGBM, XGBOOST
from boostplug.core.extras import imported
from boostplug.core.naming import parameters
from boostplug.core.values import is_value
from boostplug.losses import Loss, LossSum

__all__ = ["code", "estimator", "expression"]

# What changes no tree, or as little as a seed does: it stands in the estimator, and not in the line of code.
_NOT_SHOWN = {
    *("n_jobs", "verbosity", "deterministic", "force_col_wise", "feature_pre_filter", "tree_method", "base_score"),
    *("bagging_seed", "feature_fraction_seed", "extra_seed", "objective_seed", "drop_seed", "random_state"),
}
_NOT_TAKEN = {"metric", "disable_default_eval_metric"}  # of training without evaluation
_ALWAYS_SHOWN = ("n_estimators", "learning_rate", "num_leaves", "max_leaves")


def estimator(framework: str, objective: Loss | str, params: Mapping[str, Any], rounds: int) -> Any:
    """Return an unfitted estimator that grows the trees of a comparison's run.

    Parameters
    ----------
    framework : str
    objective : Loss or str
    params : mapping
        What the run trained with, in the framework's own words.
    rounds : int

    Returns
    -------
    LGBMRanker, XGBRanker or xgboost.XGBRegressor
        The last for XGBoost's regression, which its rankers refuse; its `fit` takes no queries.
    """
    kind = _kind(framework, objective)
    return kind(objective=objective, n_estimators=rounds, **_in_its_words(kind, framework, params))


def code(
    framework: str, objective: Loss | str, params: Mapping[str, Any], rounds: int, *, weighted: bool = False
) -> str:
    """Return the line of code that makes the estimator, but for threads, seeds and what changes no tree.

    Of weighted data, with a comment on how it takes weights: it is made without.
    """
    kind = _kind(framework, objective)
    own = kind().get_params()
    given = {"n_estimators": rounds, **_in_its_words(kind, framework, params)}
    shown = {
        name: value
        for name, value in given.items()
        if name in _ALWAYS_SHOWN or (name not in _NOT_SHOWN and (name not in own or own[name] != value))
    }
    place = "bp" if kind.__module__.startswith("boostplug.") else "xgb"
    arguments = [f"objective={expression(objective)}", *(f"{name}={_plain(value)!r}" for name, value in shown.items())]
    queries = "qid=qid, " if place == "bp" else ""
    fit = f"  # .fit(X, y, {queries}sample_weight=weight / weight.mean())" if weighted else ""
    return f"{place}.{kind.__name__}({', '.join(arguments)}){fit}"


def _kind(framework: str, objective: Loss | str) -> Any:
    if framework == "lightgbm":
        from boostplug.estimators.lightgbm import LGBMRanker

        return LGBMRanker
    if isinstance(objective, str) and not objective.startswith("rank:"):
        return imported("xgboost", "xgb.XGBRegressor needs").XGBRegressor
    from boostplug.estimators.xgboost import XGBRanker

    return XGBRanker


def _in_its_words(kind: Any, framework: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters under the names that an estimator knows them by, of which its defaults would win otherwise."""
    own = kind().get_params()
    groups = (LIGHTGBM if framework == "lightgbm" else XGBOOST).values()
    words = {}
    for name, value in params.items():
        if name not in _NOT_TAKEN:
            group = next((names for names in groups if name in names), (name,))
            words[next((other for other in group if other in own), name)] = value
    words.pop("objective", None)
    return words


def expression(value: Any, *, place: str = "bp.") -> str:
    """Return the expression that makes a value, with what differs from the defaults; `place` is before our names."""
    if isinstance(value, LossSum) and value.weights is not None:
        parts = zip(value.parts, value.weights, strict=True)
        return " + ".join(f"{weight!r} * {expression(part, place=place)}" for part, weight in parts)
    if is_value(value) and repr(value).startswith(f"{type(value).__name__}("):
        ours = type(value).__module__.startswith("boostplug.")
        given = [
            f"{name}={expression(part, place=place)}" for name, part, is_default in parameters(value) if not is_default
        ]
        return f"{place * ours}{type(value).__name__}({', '.join(given)})"
    return str(getattr(value, "__name__", None) or repr(_plain(value)))


def _plain(value: Any) -> Any:
    """Return Python's number in place of NumPy's, whose ``repr`` asks for an import."""
    return value.item() if isinstance(value, np.generic) else value
