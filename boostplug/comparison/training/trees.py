"""`Trees`: the parameters of the trees, which all methods of a comparison share."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from boostplug.core.checks import check_integer, check_number, did_you_mean
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES, XGBOOST_ALIASES

# Parameters that a comparison sets, by each of their names in LightGBM and XGBoost.
_OURS: dict[str, tuple[str, ...]] = {
    "objective": LIGHTGBM_ALIASES["objective"],
    "metric": (*LIGHTGBM_ALIASES["metric"], "eval_metric", "disable_default_eval_metric"),
    "rounds": LIGHTGBM_ALIASES["num_iterations"],
    "early_stopping_rounds": LIGHTGBM_ALIASES["early_stopping_round"],
    "seeds": (
        *(*LIGHTGBM_ALIASES["seed"], *XGBOOST_ALIASES["seed"], *LIGHTGBM_ALIASES["bagging_seed"]),
        *("feature_fraction_seed", "extra_seed", "objective_seed", "drop_seed", "seed_per_iteration"),
    ),
    "num_threads": (*LIGHTGBM_ALIASES["num_threads"], *XGBOOST_ALIASES["nthread"]),
    "": (*LIGHTGBM_ALIASES["num_class"], "base_score", *LIGHTGBM_ALIASES["device_type"], "gpu_id"),
}
NAMES_IN_LIGHTGBM = {
    "learning_rate": "learning_rate",
    "num_leaves": "num_leaves",
    "min_rows": "min_data_in_leaf",
    "l2": "lambda_l2",
    "row_fraction": "bagging_fraction",
    "column_fraction": "feature_fraction",
}
"""Names of those parameters of `Trees` that tuning draws."""
NAMES_IN_XGBOOST = {
    "learning_rate": "learning_rate",
    "num_leaves": "max_leaves",
    "min_hessian": "min_child_weight",
    "l2": "reg_lambda",
    "row_fraction": "subsample",
    "column_fraction": "colsample_bytree",
}
_TAKEN = {name: ours for ours, names in _OURS.items() for name in names}


def _limited(default: float, **limits: float) -> Any:
    """Return a field for a number within limits, as `check_integer` and `check_number` take them."""
    return field(default=default, metadata=limits)


@dataclass(frozen=True, kw_only=True)
class Trees:
    """Tree parameters that all methods share, and their names in each framework.

    ================  ==========================  ========================================
    here              LightGBM                    XGBoost (``tree_method="hist"``)
    ================  ==========================  ========================================
    learning_rate     learning_rate               learning_rate
    num_leaves        num_leaves                  max_leaves, ``grow_policy="lossguide"``
    max_depth         max_depth (-1 for none)     max_depth (0 for none)
    max_bin           max_bin                     max_bin
    min_rows          min_data_in_leaf            (there is none)
    min_hessian       min_sum_hessian_in_leaf     min_child_weight
    l2                lambda_l2                   reg_lambda
    row_fraction      bagging_fraction, every 1   subsample
    column_fraction   feature_fraction            colsample_bytree
    ================  ==========================  ========================================

    Seeds act on the two fractions; with both at 1, all seeds of a method give one model. ``rank_xendcg`` draws random
    numbers too. Ranking objectives start at a score of 0; regression starts at the mean grade.

    Parameters
    ----------
    learning_rate : float
        Above 0.
    num_leaves : int
        From 2 to 131072.
    max_bin : int
        From 2.
    max_depth : int
        0: no limit.
    min_rows : int
        From 0.
    min_hessian, l2 : float
        From 0.
    row_fraction, column_fraction : float
        Above 0, at most 1.
    lightgbm, xgboost : mapping, optional
        Further parameters of one framework, which override the above. Options of its own objectives
        (``lambdarank_truncation_level``, ``lambdarank_pair_method``) go only to these. Parameters that `compare` sets
        for all methods (objective, metric, rounds, early stopping, seeds, threads) are refused, under each of their
        names.

    Raises
    ------
    ValueError
        If a value is out of its range.
    """

    learning_rate: float = _limited(0.1, above=0.0)
    num_leaves: int = _limited(15, least=2, most=131_072)  # LightGBM's limit
    max_depth: int = _limited(0, least=0)
    max_bin: int = _limited(255, least=2)
    min_rows: int = _limited(20, least=0)
    min_hessian: float = _limited(1e-3, least=0.0)
    l2: float = _limited(1.0, least=0.0)
    row_fraction: float = _limited(0.9, above=0.0, most=1.0)
    column_fraction: float = _limited(0.9, above=0.0, most=1.0)
    lightgbm: Mapping[str, Any] = field(default_factory=dict)
    xgboost: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for f in fields(self):
            if f.metadata:
                check = check_integer if isinstance(f.default, int) else check_number
                value = check(f.name, getattr(self, f.name), **f.metadata, remedy=f"the default is {f.default}")
                object.__setattr__(self, f.name, value)
        for name in ("lightgbm", "xgboost"):
            given = getattr(self, name)
            if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
                raise ValueError(
                    f"params[{name!r}] must be a dict of further parameters of {name}, got {given!r}; leave it out for "
                    "none"
                )
            taken = sorted(_TAKEN.keys() & given)
            if taken:
                owners = sorted({_TAKEN[key] for key in taken} - {""})
                remedy = f"; use the argument {', '.join(owners)} of compare" if owners else ""
                remedy = "; use losses and baselines" if owners == ["objective"] else remedy
                raise ValueError(
                    f"params[{name!r}] may not set {', '.join(taken)}: compare sets it for all methods{remedy}"
                )
            # The repr of a list is complete; that of a long array leaves out its middle.
            lists = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in given.items()}
            object.__setattr__(self, name, lists)

    @classmethod
    def from_params(cls, params: Mapping[str, Any] | None, defaults: Mapping[str, Any] | None = None) -> "Trees":
        """Return the trees that `params` describes, with `defaults` for other names; raise for unknown names."""
        names = [f.name for f in fields(cls)]
        if params is not None and not isinstance(params, Mapping):
            raise ValueError(f"params must be a dict with keys of {', '.join(names)}; got {params!r}")
        unknown = sorted(set(params or {}).difference(names), key=str)
        if unknown:
            what = f"params has no {', '.join(map(repr, unknown))}"
            raise ValueError(
                f"{what}; it takes {', '.join(names)} "
                '(the last two: dicts of further parameters of that framework, as {"lightgbm": {"extra_trees": True}})'
                f"{did_you_mean(unknown[0], names)}"
            )
        given, ours = cls(**(params or {})), {"lightgbm": {}, "xgboost": {}, **(defaults or {})}
        of_lightgbm = _with_others(LIGHTGBM_ALIASES, ours["lightgbm"], given.lightgbm)
        of_xgboost = _with_others(XGBOOST_ALIASES, ours["xgboost"], given.xgboost)
        return cls(**{**ours, **(params or {}), "lightgbm": of_lightgbm, "xgboost": of_xgboost})

    def for_lightgbm(self, num_threads: int) -> dict[str, Any]:
        """Return LightGBM's parameters: deterministic, and without its own metric."""
        ours = {
            "metric": "None",
            **{own: getattr(self, name) for name, own in NAMES_IN_LIGHTGBM.items()},
            "max_depth": self.max_depth or -1,
            "max_bin": self.max_bin,
            "min_sum_hessian_in_leaf": self.min_hessian,
            "bagging_freq": 1,
            "feature_pre_filter": False,
            "deterministic": True,
            "force_col_wise": True,
            "num_threads": num_threads,
            "verbosity": -1,
        }
        names = LIGHTGBM_ALIASES | {"force_col_wise": ("force_col_wise", "force_row_wise")}
        return _with_others(names, ours, self.lightgbm)

    def for_xgboost(self, num_threads: int) -> dict[str, Any]:
        """Return XGBoost's parameters, without its own metric."""
        ours = {
            "disable_default_eval_metric": True,
            "tree_method": "hist",
            "grow_policy": "lossguide",
            **{own: getattr(self, name) for name, own in NAMES_IN_XGBOOST.items()},
            "max_depth": self.max_depth,
            "max_bin": self.max_bin,
            "nthread": num_threads,
            "verbosity": 0,
        }
        return _with_others(XGBOOST_ALIASES, ours, self.xgboost)


def _with_others(
    names: Mapping[str, tuple[str, ...]], ours: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return our parameters overridden by the given ones, under any of their names."""
    return {k: v for k, v in ours.items() if not given.keys() & names.get(k, ())} | dict(given)
