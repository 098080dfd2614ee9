"""Options of the frameworks' own objectives, which have no effect on a custom loss and are refused with a remedy.

An option is refused also at its default, unless that value turns the option off, such as is_unbalance=False. None
counts as not given.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from boostplug.adapters.parameter_names import LIGHTGBM_ALIASES
from boostplug.core.checks import shown


class Option(NamedTuple):
    """Remedy for an option that has no effect.

    Attributes
    ----------
    remedy : str
    metrics : tuple of str
        Prefixes of the framework's metrics that read the option too.
    off : tuple of str
        Values that turn the option off, in lower case.
    """

    remedy: str
    metrics: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


_NO, _ONE = ("false", "-", "0", "0.0"), ("1", "1.0")
_BALANCE = Option("ranking has no positive class; weight rows or queries", off=_NO)
_EVERY_PAIR = Option(
    "our losses count every pair of a query, except LambdaRank(truncation=…), where it is a parameter; "
    "AdaRank(metric=NDCG(k)) weights queries by their top k, a loss's normalization= by the length of their lists"
)
_NORM = Option(
    "the loss's own normalization= is none, rows or query, and LambdaRank(truncation=30, norm=True) has LightGBM's"
)
_POSITIONS = Option("boostplug.Unbiased(base=…) is the loss that corrects for positions", off=_NO)
_REGRESSION = Option("it shapes a regression objective; the losses of boostplug have parameters of their own")
_GAINS = (
    "gains are written into the loss, as NDCGBoost(gain=…) or MPBoost(distance=…), and into a metric, as NDCG(gain=…)"
)
_BAGS = Option("ranking has no positive class; pass bagging_fraction", off=_ONE)

LIGHTGBM: dict[str, Option] = {
    **dict.fromkeys(("is_unbalance", "unbalance", "unbalanced_sets"), _BALANCE),
    "scale_pos_weight": _BALANCE._replace(off=_ONE),
    **dict.fromkeys(("pos_bagging_fraction", "pos_bagging", "pos_sub_row", "pos_subsample"), _BAGS),
    **dict.fromkeys(("neg_bagging_fraction", "neg_bagging", "neg_sub_row", "neg_subsample"), _BAGS),
    "sigmoid": Option("it is a parameter of the loss, as RankNet(sigmoid=…) or NDCGBoost(sigmoid=…)"),
    "boost_from_average": Option("scores start at 0, or at init_score", off=_NO),
    "reg_sqrt": _REGRESSION._replace(off=_NO),
    "alpha": Option(
        "it belongs to the objectives huber and quantile; L1 regularisation is lambda_l1", ("huber", "quantile")
    ),
    "fair_c": _REGRESSION._replace(metrics=("fair",)),
    "poisson_max_delta_step": Option("it belongs to the objective poisson; max_delta_step bounds leaves"),
    "tweedie_variance_power": _REGRESSION._replace(metrics=("tweedie",)),
    # max_position and lambdamart_norm: their names before LightGBM 3
    **dict.fromkeys(("lambdarank_truncation_level", "max_position"), _EVERY_PAIR),
    **dict.fromkeys(("lambdarank_norm", "lambdamart_norm"), _NORM),
    "lambdarank_position_bias_regularization": _POSITIONS,
    "label_gain": Option(_GAINS, ("ndcg", "lambdarank", "rank_xendcg", "xendcg", "xe_ndcg")),
    "objective_seed": Option(
        "it belongs to rank_xendcg; here it is ListNet(target='xendcg', random_state=…), and seed= is for the trees"
    ),
}
XGBOOST: dict[str, Option] = {
    **dict.fromkeys(("lambdarank_pair_method", "lambdarank_num_pair_per_sample"), _EVERY_PAIR),
    **dict.fromkeys(("lambdarank_normalization", "lambdarank_score_normalization"), _NORM),
    "lambdarank_unbiased": _POSITIONS,
    "lambdarank_bias_norm": _POSITIONS._replace(off=()),
    "ndcg_exp_gain": Option(_GAINS, ("ndcg",)),
    "scale_pos_weight": _BALANCE._replace(off=_ONE),
    "huber_slope": _REGRESSION._replace(metrics=("mphe",)),
    "quantile_alpha": _REGRESSION._replace(metrics=("quantile",)),
    "expectile_alpha": _REGRESSION._replace(metrics=("expectile",)),
    **dict.fromkeys(
        ("aft_loss_distribution", "aft_loss_distribution_scale"), _REGRESSION._replace(metrics=("aft", "interval"))
    ),
    "tweedie_variance_power": _REGRESSION,
}


def fault_of_options(
    options: Mapping[str, Option], parameters: Mapping[str, Any], metrics: Iterable[str], framework: str
) -> str | None:
    """Return the error for options among `parameters` that nothing reads; `metrics` are the framework's own."""
    given = {name: parameters[name] for name in options.keys() & parameters.keys() if parameters[name] is not None}
    found = [name for name, value in given.items() if str(value).lower() not in options[name].off]
    named = [metric.strip().lower() for metric in metrics] if found else []
    idle = sorted(name for name in found if not any(metric.startswith(options[name].metrics) for metric in named))
    if not idle:
        return None
    remedies = "; ".join(dict.fromkeys(options[name].remedy for name in idle))
    pairs = ", ".join(f"{name}={shown(given[name])}" for name in idle)
    what = "is an option" if len(idle) == 1 else "are options"
    return (
        f"{pairs} {what} of {framework}'s own objectives, without effect on a loss of boostplug; remove it: {remedies}"
    )


def without_options(options: Mapping[str, Option], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that only a framework's own objectives read."""
    return {name: value for name, value in parameters.items() if name not in options}


def is_dart(parameters: Mapping[str, Any]) -> bool:
    """Return whether the parameters turn on dropout (dart), in which later rounds rescale earlier trees.

    LightGBM's parameter has several names, and upper and lower case are the same.
    """
    boosting = (parameters.get(alias) for alias in LIGHTGBM_ALIASES["boosting"])
    return parameters.get("booster") == "dart" or any(str(value).lower() == "dart" for value in boosting)
