"""Boosters as servers and converters take them: as far as the best iteration, under an objective that they know."""

import json
import sys
from typing import Any

import numpy as np

from boostplug.core.checks import shown
from boostplug.model.lightgbm import booster_of, named
from boostplug.model.xgboost import singles


def export(booster: Any) -> Any:
    """Return a copy of a trained booster that converters to ONNX and the like can read.

    LightGBM saves a model of a custom objective as ``objective: custom``, which converters refuse. XGBoost's ranking
    objectives are taken for classifiers. The copy says lambdarank and reg:squarederror instead, whose predictions are
    the scores themselves, as those of our losses are. It holds the trees up to the best iteration, if training stopped
    early, and predicts the same, bit for bit. The weights of XGBoost's dart are in its leaves, since onnxmltools reads
    none; its predictions are the same to single precision.

    ``xgb.train(xgb_model=…)`` leaves the best iteration of an earlier training in a booster, and new trees come after
    it. A training with a loss or a metric of ours clears it, and so does `XGBRanker`. After a training with neither,
    clear it yourself: ``booster.set_attr(best_iteration=None)``.

    Other objectives keep their names, as their predictions may be no scores. So do LightGBM's linear trees and models
    trained with zero_as_missing: converters that took them would drop the slopes, or see zeros as numbers.

    Parameters
    ----------
    booster : lightgbm.Booster or xgboost.Booster
        From ``lgb.train``, ``xgb.train``, a file, or a ranker (whose `export` returns a whole plain ranker).

    Returns
    -------
    lightgbm.Booster or xgboost.Booster
        Of the same features, names, categories and attributes. Its training set is gone: `refit` of LightGBM's would
        take the objective by its new name.

    Raises
    ------
    ValueError
        If it is neither, or has several scores per row.

    Examples
    --------
    >>> import boostplug as bp
    >>> import lightgbm as lgb
    >>> data = bp.datasets.make_ranking(n_queries=20, random_state=0)
    >>> train = lgb.Dataset(data.X, data.y, group=data.group)
    >>> booster = lgb.train({"objective": bp.MPBoost(), "num_leaves": 4, "verbose": -1}, train, 5)
    >>> "objective=lambdarank" in bp.export(booster).model_to_string()
    True
    """
    for framework, copied in _COPIES.items():
        kind = getattr(sys.modules.get(framework), "Booster", None)
        if kind is not None and isinstance(booster, kind):
            return copied(booster)
    raise ValueError(
        f"export takes a lightgbm.Booster or an xgboost.Booster; got {shown(booster)}; a ranker has a method export()"
    )


def _lightgbm(booster: Any) -> Any:
    _refuse_several_scores(booster.num_model_per_iteration())
    copied = booster_of(named(booster.model_to_string()))
    copied.best_iteration, copied.best_score = booster.best_iteration, booster.best_score
    return copied


def _xgboost(booster: Any) -> Any:
    learner = json.loads(booster.save_config())["learner"]
    model = learner["learner_model_param"]
    _refuse_several_scores(max(int(model["num_class"]), int(model.get("num_target", 1))))
    best = booster.attr("best_iteration")
    stopped = best is not None and learner["gradient_booster"]["name"] != "gblinear"  # which has no rounds to cut
    copied = booster[: int(best) + 1] if stopped else booster.copy()
    copied.set_attr(**booster.attributes())
    copied = _without_weights(copied)
    if learner["objective"]["name"].startswith("rank:"):
        copied.set_param({"objective": "reg:squarederror"})
    return copied


def _refuse_several_scores(n_scores: int) -> None:
    if n_scores > 1:
        raise ValueError(f"export takes a model of one score per row; got {n_scores}")


def _without_weights(booster: Any) -> Any:
    """Return a booster whose leaves are multiplied by their tree's weight, if it was trained with dropout."""
    if b"weight_drop" not in booster.save_raw("ubj"):
        return booster
    document = json.loads(bytes(booster.save_raw("json")))
    boosted = document["learner"]["gradient_booster"]
    model = boosted.get("gbtree", boosted)["model"]
    weights = boosted.get("weight_drop") or model.pop("weight_drop", None)  # since XGBoost 3.4 in the model
    for tree, weight in zip(model["trees"], weights or [1.0] * len(model["trees"]), strict=True):
        factor = np.where(np.equal(tree["left_children"], -1), weight, 1.0).astype(np.float32)
        tree["split_conditions"] = singles(factor * np.array(tree["split_conditions"], np.float32))
    document["learner"]["gradient_booster"] = {"name": "gbtree", "model": model}
    copied = type(booster)()
    copied.load_model(bytearray(json.dumps(document, ensure_ascii=False).encode()))
    return copied


_COPIES = {"lightgbm": _lightgbm, "xgboost": _xgboost}
