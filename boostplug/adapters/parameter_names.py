"""Names of the frameworks' parameters: aliases, and misspelt names, which both frameworks ignore and we refuse."""

import difflib
import inspect
import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from boostplug.core.checks import shown
from boostplug.core.extras import imported

# Aliases of the parameters that we read, set or refuse: the main name first, then the others, shortest first. If a user
# gives several, LightGBM takes the first.
LIGHTGBM_ALIASES: dict[str, tuple[str, ...]] = {
    own: (own, *sorted(others, key=lambda other: (len(other), other)))
    for own, others in {
        "bagging_by_query": (),
        "bagging_fraction": ("bagging", "sub_row", "subsample"),
        "bagging_freq": ("subsample_freq",),
        "bagging_seed": ("bagging_fraction_seed",),
        "boosting": ("boost", "boosting_type"),
        "categorical_feature": ("cat_column", "cat_feature", "categorical_column", "categorical_features"),
        "device_type": ("device",),
        "early_stopping_round": ("early_stopping", "early_stopping_rounds", "n_iter_no_change"),
        "eval_at": ("map_at", "map_eval_at", "ndcg_at", "ndcg_eval_at"),
        "feature_contri": ("fc", "feature_contrib", "feature_penalty", "fp"),
        "feature_fraction": ("colsample_bytree", "sub_feature"),
        "interaction_constraints": (),
        "lambda_l2": ("l2_regularization", "lambda", "reg_lambda"),
        "learning_rate": ("eta", "shrinkage_rate"),
        "machines": ("workers", "nodes"),
        "max_bin": ("max_bins",),
        "max_bin_by_feature": (),
        "metric": ("metric_types", "metrics"),
        "min_data_in_leaf": ("min_child_samples", "min_data", "min_data_per_leaf", "min_samples_leaf"),
        "min_sum_hessian_in_leaf": (
            *("min_child_weight", "min_hessian", "min_sum_hessian", "min_sum_hessian_per_leaf"),
        ),
        "monotone_constraints": ("mc", "monotone_constraint", "monotonic_cst"),
        "num_class": ("num_classes",),
        "num_iterations": (
            *("max_iter", "n_estimators", "n_iter", "nrounds", "num_boost_round", "num_iteration", "num_round"),
            *("num_rounds", "num_tree", "num_trees"),
        ),
        "num_leaves": ("max_leaf", "max_leaf_nodes", "max_leaves", "num_leaf"),
        "num_machines": ("num_machine",),
        "num_threads": ("n_jobs", "nthread", "nthreads", "num_thread"),
        "objective": ("app", "application", "loss", "objective_type"),
        "seed": ("random_seed", "random_state"),
        "tree_learner": ("tree", "tree_type", "tree_learner_type"),
        "verbosity": ("verbose",),
    }.items()
}
XGBOOST_ALIASES: dict[str, tuple[str, ...]] = {
    "learning_rate": ("learning_rate", "eta"),
    "nthread": ("nthread", "n_jobs"),
    "reg_lambda": ("reg_lambda", "lambda"),
    "seed": ("seed", "random_state"),
}

_OBJECTIVES = (  # together they cover every parameter of XGBoost's objectives
    *("rank:ndcg", "reg:pseudohubererror", "reg:quantileerror", "reg:tweedie", "reg:expectileerror"),
    *("binary:logistic", "count:poisson", "multi:softmax", "survival:aft"),
)
_NEEDED = {"num_class": 2, "quantile_alpha": 0.5, "expectile_alpha": 0.5}  # required by some objectives
_NO_METRIC = ("", "none", "null", "custom", "na")  # LightGBM's names for none, and for the objective's own
_BOOSTERS: tuple[dict[str, Any], ...] = (
    {"booster": "dart"},
    {"booster": "gblinear"},
    {"booster": "gblinear", "updater": "coord_descent", "feature_selector": "thrifty"},
)


def refuse_unknown_parameters(framework: str, names: Iterable[str], argument: str = "") -> None:
    """Raise for a name that is not a parameter of the framework; the message suggests the nearest name.

    Parameters
    ----------
    framework : str
        The module that users import: "lightgbm" or "xgboost".
    names : iterable of str
        Aliases count as parameters.
    argument : str, optional
        The argument that holds the names, for the message: "params".

    Raises
    ------
    ValueError
    """
    known = _KNOWN[framework]()
    if known is None:  # the framework no longer lists its parameters
        return
    unknown = [name for name in names if name not in known and not (framework == "xgboost" and _xgboost_reads(name))]
    if unknown:
        what = f"{argument} holds {shown(unknown[0])}, which" if argument else str(unknown[0])
        title = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}[framework]
        raise ValueError(f"{what} is not a parameter of {title}; {_remedy(str(unknown[0]), known)}")


@cache
def knows_metric(framework: str, name: str) -> bool:
    """Return whether a framework has a metric of this name, as a booster with it shows."""
    library = imported(framework, "training needs")
    if framework == "xgboost":
        try:
            _configuration(library, {"eval_metric": name}, verbosity=0)
        except library.core.XGBoostError as error:  # a metric may ask for other parameters
            return "Unknown metric" not in str(error)
        return True
    if name.strip().lower() in _NO_METRIC:
        return True
    rows = library.Dataset(np.eye(2), [1, 1], group=[2], params={"verbosity": -1})
    try:
        return bool(library.Booster({"objective": "none", "metric": name, "verbosity": -1}, rows).eval_train())
    except library.basic.LightGBMError:  # the metric exists, and refuses these rows
        return True


def _remedy(name: str, known: Collection[str]) -> str:
    nearest = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {nearest[0]}?" if nearest else "leave it out"


@cache
def _lightgbm() -> frozenset[str] | None:
    """Return LightGBM's parameters, their aliases, and the parameters of its estimators; None if it lists none."""
    lgb = imported("lightgbm", "training needs")
    try:
        aliases = lgb.basic._ConfigAliases._get_all_param_aliases()  # noqa: SLF001 (it is published nowhere else)
    except AttributeError:
        return None
    estimators = inspect.signature(lgb.LGBMModel.__init__).parameters.keys() - {"self", "kwargs"}
    return frozenset({*aliases, *(alias for several in aliases.values() for alias in several), *estimators})


@cache
def _xgboost() -> frozenset[str]:
    """Return the parameters in the configurations of XGBoost's boosters and objectives, and of its estimators."""
    xgb = imported("xgboost", "training needs")
    found = set(inspect.signature(xgb.XGBModel.__init__).parameters) - {"self", "kwargs"}
    for parameters in (*_BOOSTERS, *({"objective": objective, **_NEEDED} for objective in _OBJECTIVES)):
        try:
            found.update(_leaves(json.loads(_configuration(xgb, parameters, verbosity=0))))
        except xgb.core.XGBoostError:  # this version does not have the objective
            continue
    return frozenset({*found, *_NEEDED} - {"name"})


def _leaves(document: Any) -> Iterator[str]:
    """Yield the names of single values in a configuration."""
    for name, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, dict):
            yield from _leaves(value)
        elif not isinstance(value, list):
            yield name
        for entry in value if isinstance(value, list) else ():
            yield from _leaves(entry)


@cache
def _xgboost_reads(name: str) -> bool:
    """Return whether XGBoost reads a parameter that no configuration lists; it warns of unused parameters."""
    xgb = imported("xgboost", "training needs")
    for parameters in ({}, *_BOOSTERS):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                _configuration(xgb, {**parameters, name: 0, "validate_parameters": True}, verbosity=1)
            except xgb.core.XGBoostError:  # 0 is not a valid value
                return True
        if not any("are not used" in str(warning.message) for warning in caught):
            return True
    return False


def _configuration(xgb: Any, parameters: dict[str, Any], *, verbosity: int) -> str:
    """Return XGBoost's configuration for parameters, as JSON."""
    with xgb.config_context(verbosity=verbosity):
        matrix = xgb.DMatrix(np.zeros((2, 1)), np.zeros(2), nthread=1)
        configuration: str = xgb.Booster({"nthread": 1, **parameters}, cache=[matrix]).save_config()
    return configuration


_KNOWN: dict[str, Callable[[], frozenset[str] | None]] = {"lightgbm": _lightgbm, "xgboost": _xgboost}
