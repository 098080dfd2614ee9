"""Code from a comparison: the recommended estimator, and the call that repeats the comparison."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from boostplug import losses, metrics
from boostplug.comparison.inputs.frames import TODAY
from boostplug.comparison.outcomes import FoldSeed, Outcomes
from boostplug.comparison.training.floors import LINEAR
from boostplug.comparison.training.frameworks import FRAMEWORKS, WITHOUT_FRAMEWORK, framework_objective
from boostplug.comparison.training.runs import Method
from boostplug.comparison.training.trees import Setting, Trees
from boostplug.core.extras import imported
from boostplug.core.naming import distinct_names
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES, XGBOOST_ALIASES
from boostplug.losses import CRR, ListNet, Loss, MPBoost, NDCGBoost, QBRank, RankNet
from boostplug.metrics import Metric
from boostplug.rankers.linear import LinearRanker

# Parameters that change trees no more than a seed does. The estimator has them, the line of code does not.
_NOT_SHOWN = {
    *("n_jobs", "verbosity", "deterministic", "force_col_wise", "feature_pre_filter", "tree_method", "base_score"),
    *("bagging_seed", "feature_fraction_seed", "extra_seed", "objective_seed", "drop_seed", "random_state"),
}
_NOT_TAKEN = {"metric", "disable_default_eval_metric"}  # not for training without evaluation
_ALWAYS_SHOWN = ("n_estimators", "learning_rate", "num_leaves", "max_leaves")


def estimator_of(outcomes: Outcomes, method: Method, runs: Sequence[FoldSeed]) -> dict[str, Any]:
    """Return the arguments of `estimator`, with the first fold's settings if folds differ; none for a column."""
    finished, plan = outcomes.finished(method), outcomes.plan
    if not method.is_trained:
        needed = LinearRanker(loss=outcomes.linear_loss) if method.objective == LINEAR else method.name
        return {"framework": method.framework, "objective": needed, "params": {}, "rounds": None}
    done = [finished[run] for run in runs if run in finished] or [*finished.values()]
    setting = done[0].tuned or Setting(method.objective)
    if done[0].tuned is not None:
        done = [run for run in done if run.fold == done[0].fold]
    params = FRAMEWORKS[method.framework].params_of_run(plan.trees, plan.num_threads, setting, plan.seeds[0])
    if method.framework == "xgboost" and outcomes.data.has_categories:
        params["enable_categorical"] = True  # trainings set it on their DMatrix; an estimator needs the parameter
    rounds = max(1, int(np.mean([run.rounds for run in done]) + 0.5))
    objective = framework_objective(setting.objective)
    return {"framework": method.framework, "objective": objective, "params": params, "rounds": rounds}


def code_of(outcomes: Outcomes, arguments: Mapping[str, Any]) -> str:
    """Return the line of code that makes the estimator of `estimator_of`, and with folds fits it as the mean of them.

    Empty for a column.
    """
    if arguments["framework"] == WITHOUT_FRAMEWORK:
        return "" if isinstance(arguments["objective"], str) else f"bp.{arguments['objective']!r}"
    if not outcomes.data.crossed or _kind(arguments["framework"], arguments["objective"]).__name__ == "XGBRegressor":
        return code(**arguments, weighted=outcomes.data.is_weighted)
    one = code(**{**arguments, "rounds": outcomes.plan.rounds})
    weights = ", sample_weight=weight / weight.mean()" if outcomes.data.is_weighted else ""
    return f"bp.fit_folds({one}, X, y, qid=qid, n_splits={len(outcomes.data.folds)}{weights})"


def estimator(framework: str, objective: Any, params: Mapping[str, Any], rounds: int | None) -> Any:
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
    LGBMRanker, XGBRanker, LinearRanker or xgboost.XGBRegressor
        XGBRegressor for XGBoost's regression, which XGBRanker refuses; its `fit` takes no queries.
    """
    if framework == WITHOUT_FRAMEWORK:
        return objective
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
    arguments = [f"objective={in_python(objective)}", *(f"{name}={_plain(value)!r}" for name, value in shown.items())]
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


def in_python(value: Any) -> str:
    """Return the Python code of a value: its ``repr``, with the classes of this library from ``bp``."""

    def with_module(found: re.Match[str]) -> str:
        is_ours = hasattr(losses, found[0]) or hasattr(metrics, found[0])
        return f"bp.{found[0]}" if is_ours else found[0]

    return re.sub(r"(?<![\w.'])[A-Z]\w*(?=\()", with_module, repr(_plain(value)))


def _plain(value: Any) -> Any:
    """Return Python's number for NumPy's, whose ``repr`` needs an import."""
    return value.item() if isinstance(value, np.generic) else value


DEFAULT_METRICS = ("NDCG@5", "NDCG@10", "MAP", "KendallTau")
"""Those that `compare` shows by default."""
DEFAULT_LOSSES = (CRR(), QBRank(), MPBoost())
"""The losses that `compare` trains by default: see docs/guides/which_loss.md."""
CHOICE_METRICS = ("NDCG@10", "MRR", "ChoiceLogLoss")
CHOICE_LOSSES = (NDCGBoost(), QBRank(), RankNet(), ListNet(target="labels"))
"""The same where no query has more than one relevant document."""


def call(outcomes: Outcomes) -> str:
    """Return the call of `compare` that repeats the comparison, with paths or ``train, valid, test`` as data."""
    plan, data, methods = outcomes.plan, outcomes.data, outcomes.asked or outcomes.methods
    losses = {method.name: method.objective for method in methods if isinstance(method.objective, Loss)}
    numbered = list(plan.seeds) == list(range(len(plan.seeds)))
    default = asdict(Trees())
    arguments = {
        "losses": [*losses.values()] if distinct_names([*losses.values()]) == [*losses] else losses,
        "baselines": [m.objective for m in methods if isinstance(m.objective, str) and m.objective != TODAY],
        "incumbent": outcomes.incumbent,
        "frameworks": list(dict.fromkeys(method.framework for method in methods if method.is_trained)),
        "rounds": plan.rounds,
        "seeds": len(plan.seeds) if numbered else list(plan.seeds),
        "metrics": [*map(_name_or_metric, plan.metrics)],
        "metric": _name_or_metric(plan.metric),
        "early_stopping_rounds": plan.patience,
        "params": {name: value for name, value in asdict(plan.trees).items() if value != default[name]},
        "tune": plan.tune,
        "num_threads": plan.num_threads * outcomes.jobs,
        "jobs": outcomes.jobs,
        **data.columns.given(),
        "propensity": data.propensity and list(data.propensity),
    }
    defaults: dict[str, Any] = {"incumbent": None, "params": {}, "tune": 0, "propensity": None}
    if data.paths is None:
        given = ["folds"] if len(data.folds) > 1 else ["train", "valid", "test"]
    else:
        given = [*map(repr, data.paths.values())]
    for name, value in arguments.items():
        if name not in defaults or value != defaults[name]:
            given.append(f"{name}={in_python(value)}")
    return f"bp.compare({', '.join(given)})"


def _name_or_metric(metric: Metric) -> Metric | str:
    """Return a metric's name if it reads back as the metric."""
    try:
        return metric.name if Metric.parse(metric.name) == metric else metric
    except ValueError:
        return metric
