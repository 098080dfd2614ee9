"""Contributions of features to the scores of any model: exact TreeSHAP values, as the frameworks compute them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_no_class, column_names, shown
from boostplug.core.extras import imported
from boostplug.data.inputs import selected
from boostplug.data.tables import Schema, align, as_features, check_unique, rows_of, schema_of, with_text_categories
from boostplug.model.ensemble import Ensemble
from boostplug.model.trees import names_of
from boostplug.weak_rankers import Feature

_Function = Callable[[Any], Any]


class ReadModel(NamedTuple):
    """A fitted model and a table that it has read."""

    table: Any
    """The features, as the user has them."""
    X: Any
    """The features as the model takes them."""
    names: tuple[str, ...]
    """Names of the features."""
    scores: _Function
    """Returns the predictions for rows of `X`."""
    contributions: _Function
    """Returns the contribution of each feature to rows of `X`, and in the last column the base, to which they add."""


def read_model(ranker: Any, X: Any) -> ReadModel:
    """Return a fitted ranker or booster with a table, which must have the columns of the training set."""
    model = _model_of(ranker)
    ranker = ranker.to_local() if hasattr(ranker, "to_local") else ranker  # of Dask
    table = ranker.select_features(X) if hasattr(ranker, "select_features") else X
    known, fitted = tuple(names_of(model)), getattr(getattr(ranker, "training_summary_", None), "schema", None)
    table = selected(table, columns_of_model(ranker, table)) if fitted is None else table
    features = as_features(table, fitted=fitted)
    table, here = features if isinstance(table, (list, tuple)) else table, schema_of(features)
    if fitted is None:
        fitted = Schema(len(known), None if _are_numbers(known) else known, reader=type(ranker).__name__)
        align(features, fitted, schema=here._replace(names=here.names and _written(here.names, model)))
    if isinstance(model, Ensemble):
        features = np.asarray(features, np.float64) if hasattr(features, "iloc") else features
        scores, contributions = model.predict, _of_ensemble(model, features)
    elif hasattr(model, "save_raw"):
        predicted = _of_xgboost(ranker, model)
        scores = predicted if ranker is model else ranker.predict
        contributions = partial(predicted, pred_contribs=True)
    else:
        scores, contributions = ranker.predict, _of_lightgbm(ranker, model)
    if features.shape[0]:
        scores(rows_of(features, [0]))  # raises what the ranker refuses, such as sparse rows after dense ones
    return ReadModel(table, features, here.names or fitted.names or known, scores, contributions)


def columns_of_model(ranker: Any, X: Any) -> list[str] | None:
    """Return the columns of a table that a booster names, in its order; None if the table has not all of them."""
    model, names = _model_of(ranker), [name for name in column_names(X) if isinstance(name, str)]
    written, known = _written(names, model), names_of(model)
    check_unique([name for name in written if name in known], "X, with blanks as LightGBM writes them,")
    by_name = dict(zip(written, names, strict=True))
    found = [by_name[name] for name in known if name in by_name]
    return found if len(found) == len(known) else None


def _are_numbers(known: Sequence[str]) -> bool:
    """Return whether a framework has named the features of an array."""
    return [*known] in [[f"{start}{k}" for k in range(len(known))] for start in ("Column_", "f")]


def _written(names: Sequence[str], model: Any) -> tuple[str, ...]:
    """Return names as a model has them: LightGBM's without blanks."""
    return tuple(name.replace(" ", "_" if hasattr(model, "model_to_string") else " ") for name in names)


def _model_of(ranker: Any) -> Any:
    """Return the booster or ensemble of a fitted ranker, or the ranker if it is one itself."""
    check_no_class("ranker", ranker, object)
    if hasattr(ranker, "fit"):
        check_is_fitted(ranker)
    model = getattr(ranker, "booster_", getattr(ranker, "model_", ranker))
    model = ranker.get_booster() if hasattr(ranker, "get_booster") else model
    if not isinstance(model, Ensemble) and type(model).__name__ != "Booster":
        what = "a fitted ranker, a booster of LightGBM or XGBoost, or an Ensemble"
        raise ValueError(f"ranker must be {what}; got {shown(ranker)}")
    return model


def _of_lightgbm(ranker: Any, booster: Any) -> _Function:
    text = booster.model_to_string()
    refused = any(f"\n{mark}\n" in text for mark in ("[linear_tree: 1]", "is_linear=1", "average_output"))
    if refused or booster.num_model_per_iteration() > 1:
        what = "linear trees, random forests and models of several scores per row"
        raise ValueError(f"LightGBM has no contributions to the scores of {what}; train boosted trees of constants")

    def contributions(rows: Any) -> Floats:
        values = ranker.predict(rows, pred_contrib=True)
        return np.asarray(values.toarray() if hasattr(values, "nnz") else values)

    return contributions


def _of_xgboost(ranker: Any, booster: Any) -> Callable[..., Any]:
    """Return what predicts as the ranker does, with more arguments of the booster's `predict`."""
    best = None if getattr(ranker, "booster", "gblinear") == "gblinear" else booster.attr("best_iteration")
    rounds = (0, 0 if best is None else int(best) + 1)
    given = {name: getattr(ranker, name, None) for name in ("missing", "feature_types")}
    given["nthread"] = getattr(ranker, "n_jobs", None)
    matrix = imported("xgboost", "its models need").DMatrix

    def predicted(rows: Any, **kind: bool) -> Any:
        rows = matrix(with_text_categories(rows), enable_categorical=True, **given)
        values = booster.predict(rows, iteration_range=rounds, validate_features=False, **kind)
        if values.ndim != 1 + len(kind):
            raise ValueError("the model has several scores per row, and a ranking has one; train it with one output")
        return values.astype(np.float64)

    return predicted


def _of_ensemble(model: Ensemble, X: Any) -> _Function:
    """Return the contributions of an ensemble, which keeps no counts of rows: they are counted in X.

    A feature as a weak ranker contributes its weight times its distance from the mean of X.
    """
    slopes = model.trees_and_slopes[1]
    slope = np.array([slopes.get(feature, 0.0) for feature in range(model.n_features)])
    trees = [term for term in model.terms if not isinstance(term[0], Feature)]
    booster = replace(model, rounds=[trees]).to_lightgbm(X)
    mean = np.nan_to_num(X).sum(axis=0) / max(1, len(X))

    def contributions(rows: Any) -> Floats:
        values: Floats = booster.predict(rows, pred_contrib=True)
        values[:, :-1] += slope * (np.nan_to_num(rows) - mean)
        values[:, -1] += slope @ mean
        return values

    return contributions
