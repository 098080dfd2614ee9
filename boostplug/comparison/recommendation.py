"""Code from a comparison: the recommended estimator, and the call that repeats the comparison."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from boostplug.comparison.outcomes import Runs
from boostplug.comparison.training.trees import Trees
from boostplug.core.extras import imported
from boostplug.core.naming import distinct_names, parameters
from boostplug.core.values import is_value
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES, XGBOOST_ALIASES
from boostplug.losses import CRR, Loss, LossOnLabel, LossSum, MPBoost, QBRank
from boostplug.metrics import Metric
from boostplug.metrics.on_label import MetricOnLabel

# Parameters that change trees no more than a seed does. The estimator has them, the line of code does not.
_NOT_SHOWN = {
    *("n_jobs", "verbosity", "deterministic", "force_col_wise", "feature_pre_filter", "tree_method", "base_score"),
    *("bagging_seed", "feature_fraction_seed", "extra_seed", "objective_seed", "drop_seed", "random_state"),
}
_NOT_TAKEN = {"metric", "disable_default_eval_metric"}  # not for training without evaluation
_ALWAYS_SHOWN = ("n_estimators", "learning_rate", "num_leaves", "max_leaves")


def estimator(framework: str, objective: Loss | str, params: Mapping[str, Any], rounds: int) -> Any:
    """Return an unfitted estimator that grows the trees of a comparison's run.

    Parameters
    ----------
    framework : str
    objective : Loss or str
    params : mapping
        Parameters of the run, by the framework's names.
    rounds : int

    Returns
    -------
    LGBMRanker, XGBRanker or xgboost.XGBRegressor
        XGBRegressor for XGBoost's regression, which XGBRanker refuses; its `fit` takes no queries.
    """
    kind = _kind(framework, objective)
    return kind(objective=objective, n_estimators=rounds, **_under_its_names(kind, framework, params))


def code(
    framework: str, objective: Loss | str, params: Mapping[str, Any], rounds: int, *, weighted: bool = False
) -> str:
    """Return the line of code that makes the estimator, without threads, seeds and parameters that do not change trees.

    For weighted data, a comment shows how to pass weights to `fit`.
    """
    kind = _kind(framework, objective)
    own = kind().get_params()
    given = {"n_estimators": rounds, **_under_its_names(kind, framework, params)}
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


def _under_its_names(kind: Any, framework: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters by the names of an estimator's own parameters, whose defaults would win otherwise."""
    own = kind().get_params()
    groups = (LIGHTGBM_ALIASES if framework == "lightgbm" else XGBOOST_ALIASES).values()
    words = {}
    for name, value in params.items():
        if name not in _NOT_TAKEN:
            group = next((names for names in groups if name in names), (name,))
            words[next((other for other in group if other in own), name)] = value
    words.pop("objective", None)
    return words


def expression(value: Any) -> str:
    """Return the expression that makes a value, with the parameters that differ from the defaults."""
    if isinstance(value, LossSum) and value.weights is not None:
        return " + ".join(f"{weight!r} * {expression(part)}" for part, weight in value.weighted)
    if isinstance(value, (LossOnLabel, MetricOnLabel)):
        bound = value.loss if isinstance(value, LossOnLabel) else value.metric
        return f"{expression(bound)}.on({value.label!r})"
    if is_value(value) and repr(value).startswith(f"{type(value).__name__}("):
        place = "bp." if type(value).__module__.startswith("boostplug.") else ""
        given = [f"{name}={expression(part)}" for name, part, is_default in parameters(value) if not is_default]
        return f"{place}{type(value).__name__}({', '.join(given)})"
    return str(getattr(value, "__name__", None) or repr(_plain(value)))


def _plain(value: Any) -> Any:
    """Return Python's number for NumPy's, whose ``repr`` needs an import."""
    return value.item() if isinstance(value, np.generic) else value


DEFAULT_METRICS = ("NDCG@5", "NDCG@10", "MAP", "KendallTau")
"""Those that `compare` shows by default."""
DEFAULT_LOSSES = (CRR(), QBRank(), MPBoost())
"""The losses that `compare` trains by default: see docs/guides/which_loss.md."""


def call(runs: Runs) -> str:
    """Return the call of `compare` that repeats the comparison, with paths or ``train, valid, test`` as data."""
    plan = runs.plan
    trees = _differing(plan.trees)
    losses = _losses(runs)
    as_list = f"[{', '.join(map(expression, losses.values()))}]"
    as_mapping = "{" + ", ".join(f"{name!r}: {expression(loss)}" for name, loss in losses.items()) + "}"
    arguments = {
        "losses": as_list if distinct_names(list(losses.values())) == list(losses) else as_mapping,
        "baselines": repr(_baselines(runs)),
        **({"incumbent": expression(runs.incumbent)} if runs.incumbent else {}),
        "frameworks": repr(_frameworks(runs)),
        "rounds": repr(plan.rounds),
        "seeds": repr(_seeds(plan.seeds)),
        "metrics": f"[{', '.join(map(_metric_text, plan.metrics))}]",
        "metric": _metric_text(plan.metric),
        "early_stopping_rounds": repr(plan.patience),
        **({"params": repr(trees)} if trees else {}),
        **({"tune": repr(plan.tune)} if plan.tune else {}),
        "num_threads": repr(plan.num_threads * runs.jobs),
        **({"jobs": repr(runs.jobs)} if runs.jobs > 1 else {}),
        **{name: repr(column) for name, column in runs.data.columns.given().items()},
        **({"propensity": repr(list(runs.data.propensity))} if runs.data.propensity else {}),
    }
    return f"bp.compare({', '.join([*_data(runs), *(f'{name}={value}' for name, value in arguments.items())])})"


def _data(runs: Runs) -> Iterator[str]:
    """Yield the arguments that name the data."""
    paths = runs.data.paths
    if paths is not None:
        yield from map(repr, paths.values()) if paths else ["bp.datasets.load_bundled()"]
    else:
        yield from ["train", "valid", "test"] if len(runs.tests) == 1 else ["folds"]


def _losses(runs: Runs) -> dict[str, Loss]:
    return {method.name: method.objective for method in runs.methods if isinstance(method.objective, Loss)}


def _baselines(runs: Runs) -> list[str]:
    return [method.objective for method in runs.methods if isinstance(method.objective, str)]


def _frameworks(runs: Runs) -> list[str]:
    return list(dict.fromkeys(method.framework for method in runs.methods))


def _seeds(seeds: Sequence[int]) -> int | list[int]:
    return len(seeds) if list(seeds) == list(range(len(seeds))) else list(seeds)


def _differing(trees: Trees) -> dict[str, Any]:
    """Return the parameters of trees that differ from the defaults."""
    default = asdict(Trees())
    return {name: value for name, value in asdict(trees).items() if value != default[name]}


def _metric_text(metric: Metric) -> str:
    return repr(metric.name) if _is_read_back(metric) else expression(metric)


def _is_read_back(metric: Metric) -> bool:
    try:
        return bool(Metric.parse(metric.name) == metric)
    except ValueError:
        return False
