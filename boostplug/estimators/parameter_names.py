"""Parameters of the frameworks: aliases, options of their own objectives, and misspelt names."""

import inspect
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from boostplug.core.checks import did_you_mean, shown
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
        "extra_trees": ("extra_tree",),
        "feature_contri": ("fc", "feature_contrib", "feature_penalty", "fp"),
        "feature_fraction": ("colsample_bytree", "sub_feature"),
        "feature_fraction_bynode": ("colsample_bynode", "sub_feature_bynode"),
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

_OF_LOSS = "it is a parameter of the loss, as LambdaRank(truncation=30, norm=True), RankNet(sigmoid=2.0)"
_GAINS = "write gains into the loss, as NDCGBoost(gain=…), and into a metric, as NDCG(gain=…)"
_BALANCE = "ranking has no positive class; weight rows or queries"
_POSITIONS = "boostplug.Unbiased(base=…) is the loss that corrects for positions"
_REGRESSION = "it shapes an objective of regression; the losses of boostplug have parameters of their own"
_ROOTS = "pass the square roots of the labels"
_START = "scores start at 0, or at init_score"
OPTIONS: dict[str, dict[str, str]] = {
    "lightgbm": {
        **dict.fromkeys(("is_unbalance", "unbalance", "unbalanced_sets", "scale_pos_weight"), _BALANCE),
        **dict.fromkeys(("pos_bagging_fraction", "pos_bagging", "pos_sub_row", "pos_subsample"), _BALANCE),
        **dict.fromkeys(("neg_bagging_fraction", "neg_bagging", "neg_sub_row", "neg_subsample"), _BALANCE),
        **dict.fromkeys(("alpha", "fair_c", "poisson_max_delta_step", "tweedie_variance_power"), _REGRESSION),
        "reg_sqrt": _ROOTS,
        "boost_from_average": _START,
        "objective_seed": "it is a parameter of rank_xendcg; seed is for the trees",
        **dict.fromkeys(("lambdarank_truncation_level", "max_position"), _OF_LOSS),
        **dict.fromkeys(("lambdarank_norm", "lambdamart_norm", "sigmoid"), _OF_LOSS),
        "lambdarank_position_bias_regularization": _POSITIONS,
        "label_gain": _GAINS,
    },
    "xgboost": {
        **dict.fromkeys(("lambdarank_pair_method", "lambdarank_num_pair_per_sample"), _OF_LOSS),
        **dict.fromkeys(("lambdarank_normalization", "lambdarank_score_normalization"), _OF_LOSS),
        **dict.fromkeys(("lambdarank_unbiased", "lambdarank_bias_norm"), _POSITIONS),
        "ndcg_exp_gain": _GAINS,
        "scale_pos_weight": _BALANCE,
        **dict.fromkeys(("huber_slope", "quantile_alpha", "expectile_alpha", "tweedie_variance_power"), _REGRESSION),
        **dict.fromkeys(("aft_loss_distribution", "aft_loss_distribution_scale"), _REGRESSION),
    },
}
"""Options of the frameworks' own objectives, which have no effect on a loss of ours, with the remedy for each."""

_OFF = ("false", "-", "0", "0.0", "1", "1.0", "none")  # values that turn an option off
_METRICS = {
    "lightgbm": " none null custom na ndcg lambdarank rank_xendcg xendcg xe_ndcg map mean_average_precision l1 mae l2"
    " mse rmse quantile mape huber fair poisson gamma gamma_deviance tweedie r2 auc average_precision binary_logloss "
    "binary_error cross_entropy cross_entropy_lambda kullback_leibler",
    "xgboost": "ndcg map pre rmse rmsle mae mape mphe logloss error auc aucpr poisson-nloglik gamma-nloglik"
    " gamma-deviance tweedie-nloglik quantile",
}
"""The frameworks' metrics of one score per row."""

POINTWISE = "reg:squarederror"  # XGBoost's regression
NO_GAIN = "label mappings"
"""What LightGBM says of labels beyond its gains."""
GAINS_REMEDY = (
    "LightGBM's own objectives and metrics have gains for labels up to 30; rescale the labels, pass label_gain=[…] "
    'with a gain for each, or take LambdaRank(metric=NDCG(10, gain="linear"))'
)


def check_options(framework: str, parameters: Mapping[str, Any], metrics: Iterable[Any]) -> None:
    """Raise ValueError for options of the framework's own objectives, which would have no effect on a loss of ours.

    Options that a metric of the framework may read too, such as label_gain, pass beside names of its metrics.
    """
    remedies = OPTIONS[framework]
    beside_metric = any(isinstance(metric, str) for metric in metrics)
    for name in sorted(remedies.keys() & parameters.keys()):
        value, for_metrics = parameters[name], remedies[name] in (_GAINS, _REGRESSION)
        is_switch = remedies[name] in (_BALANCE, _POSITIONS, _ROOTS, _START)
        if value is None or (for_metrics and beside_metric) or (is_switch and str(value).lower() in _OFF):
            continue
        raise ValueError(
            f"{name}={shown(value)} is an option of the framework's own objectives, without effect on a loss of "
            f"boostplug; remove it: {remedies[name]}"
        )


def without_options(framework: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that only a framework's own objectives read."""
    return {name: value for name, value in parameters.items() if name not in OPTIONS[framework]}


def given_as(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a parameter of LightGBM's under each of its aliases that is given: None stands for one that is not."""
    return {alias: parameters[alias] for alias in LIGHTGBM_ALIASES[name] if parameters.get(alias) is not None}


def is_dart(parameters: Mapping[str, Any]) -> bool:
    """Return whether the parameters turn on dropout (dart), in which later rounds rescale earlier trees.

    LightGBM's parameter has several names, and upper and lower case are the same.
    """
    boosting = given_as(parameters, "boosting").values()
    return parameters.get("booster") == "dart" or any(str(value).lower() == "dart" for value in boosting)


def check_parameter_names(framework: str, names: Iterable[str], argument: str = "") -> None:
    """Raise for a name that is not a parameter of the framework.

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
        With the nearest name.
    """
    known, title = (_lightgbm(), "LightGBM") if framework == "lightgbm" else (_xgboost(), "XGBoost")
    for name in names if known else ():
        if name not in known and (framework == "lightgbm" or not _is_read_by_xgboost(name)):
            what = f"{argument} holds {shown(name)}, which" if argument else str(name)
            remedy = did_you_mean(name, sorted(known)) or "; leave it out"
            raise ValueError(f"{what} is not a parameter of {title}{remedy}")


@cache
def _lightgbm() -> frozenset[str]:
    """Return LightGBM's parameters, their aliases, and the parameters of its estimators; none if it lists none."""
    lgb = imported("lightgbm", "training needs")
    try:
        aliases = lgb.basic._ConfigAliases._get_all_param_aliases()  # noqa: SLF001 (it is published nowhere else)
    except AttributeError:
        return frozenset()
    estimators = inspect.signature(lgb.LGBMModel.__init__).parameters.keys() - {"self", "kwargs"}
    return frozenset({*aliases, *(alias for several in aliases.values() for alias in several), *estimators})


@cache
def _xgboost() -> frozenset[str]:
    """Return the parameters of XGBoost's estimators and objectives."""
    xgb = imported("xgboost", "training needs")
    estimators = inspect.signature(xgb.XGBModel.__init__).parameters.keys() - {"self", "kwargs"}
    return frozenset({*estimators, *OPTIONS["xgboost"]})


@cache
def _is_read_by_xgboost(name: str) -> bool:
    """Return whether a booster of XGBoost reads a parameter: it warns of those that it does not use."""
    xgb = imported("xgboost", "training needs")
    matrix = xgb.DMatrix(np.zeros((2, 1)), np.zeros(2), group=[2], nthread=1)
    linear = {"booster": "gblinear", "updater": "coord_descent", "feature_selector": "thrifty"}
    for booster in ({}, {"booster": "dart"}, linear):
        with warnings.catch_warnings(record=True) as caught, xgb.config_context(verbosity=1):
            warnings.simplefilter("always")
            with suppress(xgb.core.XGBoostError):  # of a parameter of which 0 is no value
                xgb.Booster({"objective": "rank:ndcg", **booster, name: 0}, [matrix]).save_config()
        if not any("are not used" in str(warning.message) for warning in caught):
            return True
    return False


def is_own_metric(framework: str, name: str) -> bool:
    """Return whether a framework has a metric of this name."""
    name = name.partition("@")[0].rstrip("-") if framework == "xgboost" else name.lower()
    return name in _METRICS.get(framework, "").split(" ")
