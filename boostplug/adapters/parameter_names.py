"""Names of the frameworks' parameters, to refuse misspelt ones, which both frameworks ignore."""

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

_OBJECTIVES = (  # together they cover every parameter of XGBoost's objectives
    *("rank:ndcg", "reg:pseudohubererror", "reg:quantileerror", "reg:tweedie", "reg:expectileerror"),
    *("binary:logistic", "count:poisson", "multi:softmax", "survival:aft"),
)
_NEEDED = {"num_class": 2, "quantile_alpha": 0.5, "expectile_alpha": 0.5}  # required by some objectives
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
