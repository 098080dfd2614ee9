"""Boosters as servers and converters take them: as far as the best iteration, under an objective that they know."""

import json
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import shown
from boostplug.core.extras import imported
from boostplug.data.tables import read_features
from boostplug.model.ensemble import Ensemble
from boostplug.model.formats import TARGETS, converted, fitted_model
from boostplug.model.lightgbm import booster_of, named
from boostplug.model.readers import check_export, columns_of
from boostplug.model.trees import names_of
from boostplug.model.xgboost import booster_of_document, change_leaves, document_of


def export(
    model: Any,
    to: str | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
    name: str | None = None,
    store: str | None = None,
    offset: str | float | None = None,
    X: Any = None,
) -> Any:
    """Return a model as others read it: a plain booster, or with `to` the text that a search engine takes.

    Without `to`, a copy of a trained booster that converters to ONNX and the like can read.

    LightGBM saves a model of a custom objective as ``objective: custom``, which converters refuse. XGBoost's ranking
    objectives are taken for classifiers. The copy says lambdarank and reg:squarederror instead, whose predictions are
    the scores themselves, as those of our losses are. It holds the trees up to the best iteration, if training stopped
    early, and predicts the same, bit for bit. The weights of XGBoost's dart are in its leaves, since onnxmltools reads
    none; its predictions are the same to single precision.

    ``xgb.train(xgb_model=…)`` leaves the best iteration of an earlier training in a booster, and new trees come after
    it. `XGBRanker` clears it. After ``xgb.train`` clear it yourself: ``booster.set_attr(best_iteration=None)``.

    Other objectives keep their names, as their predictions may be no scores. So do LightGBM's linear trees and models
    trained with zero_as_missing: converters that took them would drop the slopes, or see zeros as numbers.

    With `to`, the text scores in the engine as `predict` does here plus `offset`, to single precision. Engines compute
    in it: thresholds are moved so that a single-precision number goes to the same side as in the model. The requests to
    send are in docs/guides/search_engines.md.

    Parameters
    ----------
    model : lightgbm.Booster or xgboost.Booster
        From ``lgb.train``, ``xgb.train``, a file, or a ranker (whose `export` returns a whole plain ranker). With `to`
        also a fitted ranker of either framework, a reference ranker, or an `Ensemble`.
    to : {"solr", "elasticsearch-ltr", "opensearch-ltr", "ranklib", "vespa", "xgboost"}, optional
        - "solr": JSON of a `MultipleAdditiveTreesModel`, all features in the model's order;
        - "elasticsearch-ltr", "opensearch-ltr": JSON of the type model/xgboost+json;
        - "ranklib": XML of the type model/ranklib, features numbered from 1;
        - "vespa": JSON as LightGBM or XGBoost dump it;
        - "xgboost": a plain `xgboost.XGBRanker`, for `eland` and whatever else reads XGBoost's models.
    feature_names : sequence of str, optional
        The engine's names of the features, in the order of the columns. Default: those of the table that the ranker was
        fitted on. A booster has only its own names, in which LightGBM writes a blank as an underscore.
    missing : {"zero", "nan"}, optional
        What the engine holds where a feature is missing. "zero": 0, so a missing value goes where 0 goes. "nan": NaN,
        as OpenSearch since 3.8.0 and the plugin of Elasticsearch since 1.5.9, so it goes where the model sends it.
        Default: "zero", but a model that has learnt from missing values is refused. Vespa and XGBoost treat missing
        values as the model does.
    name : str, optional
        Of the model in Solr. Default: "boostplug".
    store : str, optional
        The feature store in which Solr looks for the model's features. Default: Solr's "_DEFAULT_".
    offset : "auto" or float, optional
        A constant that is added to all scores, as a tree of one leaf. "auto": the least one with which no sum of leaves
        is below 0, because Lucene takes no scores below 0 from queries. The order stays. Default: "auto" for
        "elasticsearch-ltr" and "opensearch-ltr", else 0.
    X : array-like or DataFrame of shape (n_rows, n_features), optional
        Rows, as the model's `predict` takes them, on which `boostplug.testing.check_export` compares the text's scores
        with the model's.

    Returns
    -------
    lightgbm.Booster or xgboost.Booster
        Of the same features, names, categories and attributes. Its training set is gone: `refit` of LightGBM's would
        take the objective by its new name.
    str or xgboost.XGBRanker
        With `to`.

    Raises
    ------
    ValueError
        If the model is none of these, or has several scores per row. With `to`, for categorical splits (Vespa reads
        LightGBM's by texts), objectives whose predictions may not be the scores (Vespa applies the functions of some of
        LightGBM's), linear trees, LightGBM's zero_as_missing, XGBoost's `missing`, features as weak rankers, and names
        that an engine cannot tell apart.
    AssertionError
        If the text scores some rows of `X` otherwise.

    Warns
    -----
    UserWarning
        If missing values that the model knows count as 0, if values near 0 go to another side in Solr, which adds 1e-6
        to each threshold, or if rounds after the best iteration of an `xgboost.Booster` are left out.

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
    if to is None:
        if not all(given is None for given in (feature_names, missing, name, store, offset, X)):
            raise ValueError(
                "feature_names, missing, name, store, offset and X are of an export to an engine; pass to='solr', …"
            )
        return _without_later_rounds(model)
    if not isinstance(to, str) or to not in TARGETS:
        raise ValueError(f"to must be one of {', '.join(TARGETS)}; got {shown(to)}")
    fitted = fitted_model(model)
    plain = fitted if isinstance(fitted, Ensemble) else _without_later_rounds(fitted, model)
    fitted_columns = getattr(model, "_fitted_columns", None)
    names = (fitted_columns and fitted_columns.names) or ()
    if feature_names is None and [name.replace(" ", "_") for name in names] == names_of(plain):
        feature_names = names  # as the table has them, before LightGBM changed them
    known = (fitted_columns and fitted_columns.categories) or {}
    exported, added = converted(plain, to, feature_names, missing, known, name=name, store=store, offset=offset)
    if X is not None:
        if hasattr(model, "_columns_by_role"):
            X = model._selected(X)  # noqa: SLF001
        _check(exported, to, read_features(X, fitted=fitted_columns), plain, feature_names, missing, added)
    return exported


def _check(
    exported: Any,
    to: str,
    X: Any,
    plain: Any,
    feature_names: Sequence[str] | None,
    missing: str | None,
    offset: float,
) -> None:
    """Compare the scores of what was exported with the model's on some rows."""
    if to != "vespa" or not hasattr(plain, "pandas_categorical"):  # else trees may split by LightGBM's categories
        X = columns_of(X).values
    if missing != "nan" and to not in ("vespa", "xgboost"):
        X = np.nan_to_num(X, nan=0.0)
    scores = _predicted(plain, X) + offset
    if to == "xgboost":
        np.testing.assert_allclose(exported.predict(X), scores, rtol=0, atol=1e-5 * np.abs(scores).max(initial=0.0))
    else:
        names = names_of(plain) if feature_names is None else feature_names
        check_export(exported, to, X, scores, feature_names=names, missing=missing, offset=0.0)


def _predicted(plain: Any, rows: Any) -> NDArray[np.floating]:
    """Return the scores of an ensemble or a booster; columns are taken by their places."""
    if type(plain).__module__.partition(".")[0] != "xgboost":
        return np.asarray(plain.predict(rows))
    names = plain.feature_names
    return np.asarray(plain.predict(imported("xgboost", "export needs").DMatrix(rows, feature_names=names)))


def _without_later_rounds(booster: Any, model: Any = None) -> Any:
    """Return a plain booster, with a warning if rounds of one that XGBoost trained itself are left out."""
    plain = plain_booster(booster)
    if type(booster if model is None else model).__module__.partition(".")[0] == "xgboost":
        kept, n_rounds = plain.num_boosted_rounds(), booster.num_boosted_rounds()
        if kept < n_rounds:
            what = f"the export has {kept} of {n_rounds} rounds, up to the best iteration of early stopping"
            remedy = "if a later training with xgb_model= added the others, call booster.set_attr(best_iteration=None)"
            warnings.warn(f"{what}; {remedy} and export again", UserWarning, stacklevel=3)
    return plain


def plain_booster(booster: Any) -> Any:
    """Return a copy of a booster as far as the best iteration, under an objective that converters know."""
    for framework, copied in _COPIES.items():
        kind = getattr(sys.modules.get(framework), "Booster", None)
        if kind is not None and isinstance(booster, kind):
            return copied(booster)
    raise ValueError(
        f"export takes a booster of LightGBM or XGBoost, and with to= a fitted ranker; got {shown(booster)}; pass its "
        "booster_ or get_booster(), or read a file by lgb.Booster(model_file=…) or xgb.Booster(model_file=…)"
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
    document = document_of(booster)
    boosted = document["learner"]["gradient_booster"]
    model = boosted.get("gbtree", boosted)["model"]
    weights = boosted.get("weight_drop") or model.pop("weight_drop", None)  # since XGBoost 3.4 in the model
    for tree, weight in zip(model["trees"], weights or [1.0] * len(model["trees"]), strict=True):
        change_leaves(tree, partial(np.multiply, np.float32(weight)))
    document["learner"]["gradient_booster"] = {"name": "gbtree", "model": model}
    return booster_of_document(document)


_COPIES = {"lightgbm": _lightgbm, "xgboost": _xgboost}
