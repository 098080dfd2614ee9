"""Code from a comparison: the recommended estimator, and the call that repeats the comparison."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np

from boostplug import losses, metrics
from boostplug.comparison.comparison import Comparison, FoldSeed
from boostplug.comparison.inputs.columns import TODAY
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.training.baselines import LINEAR, loss_of_linear, numbers_of
from boostplug.comparison.training.frameworks import FRAMEWORKS, NO_FRAMEWORK, framework_objective
from boostplug.comparison.training.plan import Setting
from boostplug.comparison.training.runs import Method, MethodRun
from boostplug.comparison.training.trees import Trees
from boostplug.core.values import distinct_names
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES, POINTWISE, XGBOOST_ALIASES
from boostplug.losses import LOSSES, ClickLogLoss, Loss
from boostplug.metrics import Metric
from boostplug.rankers.linear import LinearRanker
from boostplug.selection.starting import SHARED

_SEEDS = {"objective_seed": "rank_xendcg", "extra_seed": "extra_trees", "drop_seed": "dart"}  # shown with these only
_NOT_TAKEN = {"metric", "disable_default_eval_metric"}  # not for training without evaluation
_WITH_DEFAULTS = {type(loss) for variants in LOSSES.values() for loss in variants} - {ClickLogLoss}
_RANKERS = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker"}
_SEED, _ROUNDS = "<seed>", "<rounds>"  # in place of the numbers, over which the code loops
_ALWAYS_SHOWN = ("objective", "n_estimators", "learning_rate", "num_leaves", "max_leaves")


def estimator_of(comparison: Comparison, method: Method, runs: Sequence[FoldSeed]) -> dict[str, Any]:
    """Return the arguments of `estimator`, with the first fold's settings if folds differ; none for a column."""
    done = _done(comparison, method, runs) or [*comparison.finished(method).values()]
    if done[0].tuned is not None:
        done = [run for run in done if run.fold == done[0].fold]
    rounds = max(1, int(np.mean([run.rounds for run in done]) + 0.5)) if method.is_trained else None
    return _arguments(comparison, method, done[0].tuned, comparison.plan.seeds[0], rounds)


def _done(comparison: Comparison, method: Method, runs: Sequence[FoldSeed]) -> list[MethodRun]:
    """Return the finished ones of some runs, of methods without seeds one for each fold."""
    finished = comparison.finished(method)
    by_key = {(fold, seed * method.is_trained): finished[fold, seed] for fold, seed in runs if (fold, seed) in finished}
    return [*by_key.values()]


def _arguments(comparison: Comparison, method: Method, tuned: Setting | None, seed: Any, rounds: Any) -> dict[str, Any]:
    """Return the arguments of `estimator` for a run."""
    data, plan, features, params = comparison.data, comparison.plan, comparison.data.features, dict[str, Any]()
    setting = tuned or Setting(method.objective)
    objective: Any = framework_objective(setting.objective) if method.is_trained else method.name
    if method.is_trained:
        params = FRAMEWORKS[method.framework].params_of_run(plan.trees, plan.num_threads, setting, seed)
        if method.framework == "xgboost" and data.has_categories:
            params["enable_categorical"] = True  # trainings set it on their DMatrix; an estimator needs the parameter
        params |= {} if features is None else {"features": features}
    elif method.objective == LINEAR:
        if data.has_categories:  # which it does not read
            features = [*numbers_of(data.folds[0][0].X).columns]
        objective = LinearRanker(loss=loss_of_linear(data), features=features)
    return {"framework": method.framework, "objective": objective, "params": params, "rounds": rounds}


def lines_of(comparison: Comparison, method: Method, runs: Sequence[FoldSeed]) -> str:
    """Return the lines of code that train `CompareResult.model` again from the user's data; empty for a column."""
    if not method.is_trained and method.objective != LINEAR:
        return ""
    data, done = comparison.data, _done(comparison, method, runs)
    several, rounds = len(done) > 1 or len(data.folds) > 1, dict[str, list[dict[int, int]]]()
    for run in done:
        seed, n = (_SEED, _ROUNDS) if several else (run.seed, run.rounds)
        fitted = _fitted(data, estimator(**_arguments(comparison, method, run.tuned, seed, n)))
        fitted = fitted.replace(repr(_SEED), "seed").replace(repr(_ROUNDS), "n")
        fitted += ".model_.to_lightgbm()" * (several and not method.is_trained)
        rounds.setdefault(fitted, [{} for _ in data.folds])[run.fold][run.seed] = run.rounds
    models = []
    for fitted, of_folds in rounds.items():
        over = f"for seed, n in {of_folds[0]}.items()"
        if len(data.folds) > 1:
            over = f"for (train, _, _), rounds in zip(folds, {of_folds})\n    for seed, n in rounds.items()"
        if not method.is_trained:
            over = "for train, _, _ in folds"
        models.append(f"[\n    {fitted}\n    {over}\n]")
    return f"{_lines_of_data(data)}model = " + (f"bp.mean_model({' + '.join(models)})" if several else fitted)


def _lines_of_data(data: LoadedData) -> str:
    """Return the lines of code that read and divide the data as the comparison has."""
    if data.name_in_code not in ("frame", "data"):
        return data.reading
    columns = data.columns
    names: dict[str, Any] = {"qid": columns.qid if data.name_in_code == "frame" else None}
    names |= {"label": columns.label, "folds": len(data.folds)} if data.crossed else {"split": columns.split}
    given = "".join(f", {name}={value!r}" for name, value in names.items() if value is not None)
    parts = "folds" if data.crossed else "train, valid, test"
    return f"{data.reading}{parts} = bp.split_queries({data.name_in_code}{given})\n"


def _fitted(data: LoadedData, model: Any) -> str:
    """Return the code that fits an estimator to ``train`` as the comparison has."""
    objective, in_table = getattr(model, "objective", None), data.columns.label is not None
    names = data.columns._asdict() | {"labels": {name: name for name in data.columns.labels}}
    of = {role: repr(name) if in_table else f"train.{role}" for role, name in names.items()}
    given = [f"train, {of['label']}" if in_table else "train.X, train.y", f"qid={of['qid']}"]
    if data.folds[0][0].queries.row_weight is not None:
        weight = of["weight"]
        if isinstance(objective, str) and objective != POINTWISE:  # which reads weights as they are
            queried = "bp.Queries(train[{label}], qid=train[{qid}], weight=train[{weight}])".format_map(of)
            of_what = "query" if ":" in objective else "row"
            weight = f"(w := {queried if in_table else 'train.queries'}.{of_what}_weight) / w.mean()"
        given.append(f"sample_weight={weight}")
    if isinstance(objective, Loss) and objective.traits.positions:
        given.append(f"position={of['position']}")
    if ".on(" in repr(objective):
        given.append(f"labels={of['labels']}")
    return f"{code(model)}.fit({', '.join(given)})"


def estimator(framework: str, objective: Any, params: Mapping[str, Any], rounds: int | None) -> Any:
    """Return an unfitted estimator that grows the trees of a comparison's run.

    Parameters
    ----------
    framework : str
    objective : Loss, str or LinearRanker
    params : mapping
        Parameters of the run, by the framework's names.
    rounds : int

    Returns
    -------
    LGBMRanker, XGBRanker or LinearRanker
    """
    if framework == NO_FRAMEWORK:
        return objective
    kind = getattr(import_module(f"boostplug.estimators.{framework}"), _RANKERS[framework])
    return kind(objective=objective, n_estimators=rounds, **_under_its_names(kind, framework, params))


def code(model: Any) -> str:
    """Return the line of code that makes an estimator, without defaults and without seeds of nothing."""
    own, given = type(model)().get_params(deep=False), model.get_params(deep=False)
    given = {name: given[name] for name in (*_ALWAYS_SHOWN, *given) if name in given}
    objective = given.get("objective")
    hidden = {seed for seed, user in _SEEDS.items() if user not in str(given)}
    hidden |= {"base_score"} if isinstance(objective, Loss) else set()
    shown = {
        name: in_python(value) if value is objective else repr(_plain(value))
        for name, value in given.items()
        if name in _ALWAYS_SHOWN or (name not in hidden and repr(own.get(name)) != repr(value))
    }
    return f"bp.{type(model).__name__}({', '.join(f'{name}={value}' for name, value in shown.items())})"


def _under_its_names(kind: Any, framework: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters by the names of an estimator's own parameters, whose defaults would win otherwise."""
    own = kind().get_params()
    groups = (LIGHTGBM_ALIASES if framework == "lightgbm" else XGBOOST_ALIASES).values()
    words = {}
    for name, value in params.items():
        if name not in _NOT_TAKEN:
            group = next((names for names in groups if name in names), (name,))
            words[next((other for other in group if other in own), name)] = value
    return words


def in_python(value: Any) -> str:
    """Return the Python code of a value: its ``repr``, with the classes of this library from ``bp``; CRR() in short."""
    if type(value) in _WITH_DEFAULTS and repr(value) == repr(type(value)()):
        return f"bp.{type(value).__name__}()"

    def with_module(found: re.Match[str]) -> str:
        is_ours = hasattr(losses, found[0]) or hasattr(metrics, found[0])
        return f"bp.{found[0]}" if is_ours else found[0]

    return re.sub(r"(?<![\w.'])[A-Z]\w*(?=\()", with_module, repr(_plain(value)))


def _plain(value: Any) -> Any:
    """Return Python's number for NumPy's, whose ``repr`` needs an import."""
    return value.item() if isinstance(value, np.generic) else value


def call(comparison: Comparison) -> str:
    """Return the call of `compare` that repeats the comparison, with paths, or the name of the data in code."""
    plan, data, methods = comparison.plan, comparison.data, comparison.asked or comparison.methods
    losses = {method.name: method.objective for method in methods if isinstance(method.objective, Loss)}
    numbered = list(plan.seeds) == list(range(len(plan.seeds)))
    default = asdict(Trees())
    arguments = {
        "losses": [*losses.values()] if distinct_names([*losses.values()]) == [*losses] else losses,
        "baselines": [m.objective for m in methods if isinstance(m.objective, str) and m.objective != TODAY],
        "incumbent": comparison.incumbent,
        "frameworks": list(dict.fromkeys(method.framework for method in methods if method.is_trained)),
        "rounds": plan.rounds,
        "seeds": len(plan.seeds) if numbered else list(plan.seeds),
        "metrics": [*map(_name_or_metric, plan.metrics)],
        "metric": _name_or_metric(plan.metric),
        "early_stopping_rounds": plan.patience,
        "params": {n: value for n, value in asdict(plan.trees).items() if n in SHARED or value != default[n]},
        "tune": plan.tune,
        "num_threads": plan.num_threads * comparison.jobs,
        "jobs": comparison.jobs,
        **data.columns.given(),
        "propensity": data.propensity and list(data.propensity),
    }
    defaults: dict[str, Any] = {"incumbent": None, "tune": 0, "propensity": None}
    given = [*map(repr, data.paths)] or [data.name_in_code]
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
