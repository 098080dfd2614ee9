"""Contributions equal those of shap's own algorithm, for models of all kinds that it reads.

shap hands LightGBM's and XGBoost's models back to their own libraries. Here it computes by itself.
"""

import numpy as np
import pytest
from explanation.models import DOUBLE, MODELS, SINGLE, XGBOOST, fitted

from boostplug.explanation.contributions import read_model

# shap splits no categories, reads no gblinear and no features as weak rankers, takes the trees of a round for outputs,
# and leaves out the weights of XGBoost's dart.
UNREAD = [name for name in MODELS if "categories" in name or "polars" in name or "gblinear" in name]
UNREAD += ["AdaRank", "an ensemble", "xgboost, trees of a round", "xgboost, dart"]
READ = [name for name in MODELS if name not in UNREAD]


def booster_of(model, rows):
    if hasattr(model, "model_"):
        return model.model_.to_lightgbm(rows)
    return model.get_booster() if hasattr(model, "get_booster") else getattr(model, "booster_", model)


def numbers_of(name, model, X):
    """Return a table as shap takes it: numbers, and NaN where a value is missing to the model."""
    values = X.toarray() if hasattr(X, "nnz") else np.asarray(X, np.float64)
    missing = 0.0 if hasattr(X, "nnz") else getattr(model, "missing", np.nan)
    return np.where(values == missing, np.nan, values) if name in XGBOOST else values


@pytest.mark.ci
@pytest.mark.parametrize("name", READ)
@pytest.mark.filterwarnings("ignore")  # of shap's imports
def test_contributions_are_those_of_shap(name):
    shap = pytest.importorskip("shap")
    model, rows = fitted(name)
    read = read_model(model, rows)
    explainer = shap.TreeExplainer(booster_of(model, rows), feature_perturbation="tree_path_dependent")
    explainer.model.model_type = "internal"
    expected = explainer.shap_values(numbers_of(name, model, read.X), check_additivity=False)
    found = read.contributions(read.X)
    scale = np.abs(found.sum(axis=1)).max()
    tolerance = scale * (SINGLE if name in XGBOOST else DOUBLE)
    np.testing.assert_allclose(found[:, :-1], expected, rtol=0, atol=tolerance)
    if name not in XGBOOST:  # of whose roots shap takes the weights for the means
        assert found[0, -1] == pytest.approx(np.ravel(explainer.expected_value)[0], abs=tolerance)


def test_shap_reads_twenty_models():
    assert len(READ) >= 20
