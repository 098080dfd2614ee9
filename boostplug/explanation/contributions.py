"""Contributions of features to the scores of any model: exact TreeSHAP values, as the frameworks compute them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostplug.core.arrays import Floats
from boostplug.core.checks import shown
from boostplug.core.extras import imported
from boostplug.data.tables import Schema, align, as_features, rows_of, schema_of, with_text_categories
from boostplug.model.ensemble import Ensemble
from boostplug.model.trees import names_of
from boostplug.weak_rankers import Feature

_Function = Callable[[Any], Floats]


@dataclass(frozen=True)
class ReadModel:
    """A fitted model and a table that it has read.

    Attributes
    ----------
    table : array, sparse matrix or DataFrame
        The features, as the user has them.
    X : array, sparse matrix or pandas DataFrame
        The same as the model takes them.
    names : tuple of str
        Names of the features.
    scores : callable
        Returns the predictions for rows of `X`.
    contributions : callable
        Returns for rows of `X` the contribution of each feature, of shape (n_rows, n_features + 1); the last column is
        the base. A row adds up to its score.
    """

    table: Any
    X: Any
    names: tuple[str, ...]
    scores: _Function
    contributions: _Function


def read_model(ranker: Any, X: Any) -> ReadModel:
    """Return a fitted ranker or booster with a table, which must have the columns of the training set."""
    ranker = ranker.to_local() if hasattr(ranker, "to_local") else ranker  # of Dask
    table = ranker.select_features(X) if hasattr(ranker, "select_features") else X
    model = _model_of(ranker)
    known = tuple(names_of(model))
    own = getattr(ranker, "training_summary_", None)
    fitted = own and own.schema
    features = as_features(table, fitted=fitted)
    table = features if isinstance(table, (list, tuple)) else table
    here = schema_of(features)
    if fitted is None:
        numbered = known in [tuple(f"{start}{k}" for k in range(len(known))) for start in ("Column_", "f")]
        blank = "_" if hasattr(model, "model_to_string") else " "  # as LightGBM writes it
        written = here.names and tuple(name.replace(" ", blank) for name in here.names)
        columns = Schema(len(known), None if numbered else known, reader=type(ranker).__name__)
        align(features, columns, schema=here._replace(names=written))
    names = here.names or (fitted and fitted.names) or known
    if isinstance(model, Ensemble):
        features = np.asarray(features, np.float64) if hasattr(features, "iloc") else features
        return ReadModel(table, features, names, model.predict, _of_ensemble(model, features))
    if hasattr(model, "save_raw"):
        scores, contributions = _of_xgboost(ranker, model)
    else:
        scores, contributions = ranker.predict, _of_lightgbm(ranker, model)
    if features.shape[0]:
        scores(rows_of(features, [0]))  # raises what the ranker refuses, such as sparse rows after dense ones

    def checked(rows: Any) -> Floats:
        values = contributions(rows)
        if values.ndim != 2 or values.shape[1] != len(known) + 1:
            raise ValueError("ranker has several scores per row, and a ranking has one; pass a model with one output")
        if not np.isfinite(values).all():
            what = "the ranker's trees have leaves of weight 0, with which contributions are not defined"
            raise ValueError(f"{what}; train with min_child_weight above 0")
        return values.astype(np.float64)

    return ReadModel(table, features, names, scores, checked)


def _model_of(ranker: Any) -> Any:
    """Return the booster or ensemble of a fitted ranker, or the ranker if it is one itself."""
    model = ranker.get_booster() if hasattr(ranker, "get_booster") else ranker
    for name in ("booster_", "model_"):
        model = getattr(model, name, model)
    if isinstance(model, Ensemble) or type(model).__name__ == "Booster":
        return model
    if hasattr(ranker, "fit"):
        check_is_fitted(ranker)
    what = "a fitted ranker, a booster of LightGBM or XGBoost, or an Ensemble"
    raise ValueError(f"ranker must be {what}; got {shown(ranker)}")


def _of_lightgbm(ranker: Any, booster: Any) -> _Function:
    averaged = "\naverage_output\n" in booster.model_to_string(num_iteration=1)
    best = booster.best_iteration
    divisor = (best if best > 0 else booster.current_iteration()) if averaged else 1  # LightGBM adds up random forests

    def contributions(rows: Any) -> Floats:
        try:
            values = ranker.predict(rows, pred_contrib=True)
        except imported("lightgbm", "its models need").basic.LightGBMError as error:
            if "linear trees" not in str(error):
                raise
            what = "LightGBM computes no contributions of linear trees"
            raise ValueError(f"{what}; train the ranker without linear_tree") from error
        return np.asarray(values.toarray() if hasattr(values, "toarray") else values) / divisor

    return contributions


def _of_xgboost(ranker: Any, booster: Any) -> tuple[_Function, _Function]:
    if booster is ranker:
        best, options = None, {}
    else:
        best = None if ranker.booster == "gblinear" else booster.attr("best_iteration")
        missing = np.nan if ranker.missing is None else ranker.missing
        options = {"missing": missing, "nthread": ranker.n_jobs, "feature_types": ranker.feature_types}
    matrix = imported("xgboost", "its models need").DMatrix
    rounds = (0, 0 if best is None else int(best) + 1)  # as `predict` of the ranker

    def predicted(rows: Any, **kind: bool) -> Floats:
        rows = matrix(with_text_categories(rows), enable_categorical=True, **options)
        values: Floats = booster.predict(rows, iteration_range=rounds, validate_features=False, **kind)
        return values

    def contributions(rows: Any) -> Floats:
        return predicted(rows, pred_contribs=True)

    return predicted if booster is ranker else ranker.predict, contributions


def _of_ensemble(model: Ensemble, X: Any) -> _Function:
    """Return the contributions of an ensemble, which keeps no counts of rows: they are counted in X.

    A feature as a weak ranker contributes its weight times its distance from the mean of X.
    """
    slope = np.zeros(model.n_features)
    for feature, weight in model.trees_and_slopes[1].items():
        slope[feature] = weight
    trees = [term for term in model.terms if not isinstance(term[0], Feature)]
    booster = replace(model, rounds=[trees]).to_lightgbm(X)
    mean = np.nan_to_num(X).mean(axis=0)

    def contributions(rows: Any) -> Floats:
        values: Floats = booster.predict(rows, pred_contrib=True)
        values[:, :-1] += slope * (np.nan_to_num(rows) - mean)
        values[:, -1] += slope @ mean
        return values

    return contributions
