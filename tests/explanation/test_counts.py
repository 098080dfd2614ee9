"""SHAP values weigh by counts of rows: models that we write ourselves hold true ones."""

import numpy as np
import pytest
from adapters.harness import lgb, xgb
from explanation.models import HOLES, OF_LIGHTGBM, OF_XGBOOST, QID, SINGLE, Y, fitted, folds
from explanation.shapley import rows_at_nodes, shapley_values

import boostplug as bp
from boostplug.weak_rankers import Tree


@pytest.mark.parametrize("name", ["NDCGBoost, trees", "QBRank", "quadratic bounds", "linear"])
def test_contributions_to_a_reference_ranker_are_shapley_values_with_the_rows_of_the_table(name):
    model, rows = fitted(name)
    trees, slopes = model.model_.trees_and_slopes
    assert not slopes
    several = [tree for tree in trees if len({*tree.feature[~tree.leaf]}) > 1]
    assert several or name == "linear"
    for row in (0, 401):
        expected = sum(shapley_values(tree, rows_at_nodes(tree, rows), rows[row]) for tree in trees)
        frame = bp.why(model, rows, row)
        found = frame["contribution"][np.argsort(frame["feature"])]
        np.testing.assert_allclose(found, expected[:-1], rtol=0, atol=1e-9)
        assert frame.attrs["base"] == pytest.approx(expected[-1], abs=1e-9)


def test_the_base_of_a_reference_ranker_is_its_mean_score():
    for name in ("RankBoost", "AdaRank", "MPBoost", "NDCGBoost, trees", "QBRank", "linear", "an ensemble"):
        model, rows = fitted(name)
        assert bp.why(model, rows, 0).attrs["base"] == pytest.approx(model.predict(rows).mean(), abs=1e-9), name


def test_a_leaf_without_rows_weighs_next_to_nothing():
    """Two rows are on one side of the root: the other side, and the leaf beyond it, get no weight."""
    tree = Tree(
        feature=[0, 1, -1, -1, -1],
        threshold=[0.0, 0.5, 0.0, 0.0, 0.0],
        left=[1, 2, -1, -1, -1],
        right=[4, 3, -1, -1, -1],
        value=[0.0, 0.0, 1.0, 3.0, 9.0],
        missing_left=[True] * 5,
    )
    model = bp.Ensemble([[(tree, 1.0)]], n_features=2)
    frame = bp.why(model, np.array([[-1.0, 0.0], [-1.0, 1.0]]), 0, 1)
    assert frame["contribution"].tolist() == pytest.approx([-2.0, 0.0], abs=1e-3)
    alone = bp.why(model, np.array([[-1.0, 0.0], [-1.0, 1.0]]), 0)
    assert alone.attrs["base"] == pytest.approx(2.0, abs=0.01)


def test_boosters_of_an_ensemble_hold_counts_of_rows():
    model, rows = fitted("QBRank")
    booster = model.model_.to_lightgbm(rows)
    trees = booster.dump_model()["tree_info"]
    roots = {tree["tree_structure"].get("internal_count") for tree in trees} - {None}
    assert roots == {1000 * len(rows)}
    with pytest.raises(ValueError, match="X has 4 features"):
        model.model_.to_lightgbm(rows[:, :4])


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_the_linear_part_of_folds_counts_the_rows_of_training(framework):
    ranker = bp.LGBMRanker(**OF_LIGHTGBM) if framework == "lightgbm" else bp.XGBRanker(**OF_XGBOOST)
    mean, with_linear = folds(ranker), folds(ranker, linear=True)
    base = bp.why(mean, HOLES, 0).attrs["base"]
    linear = with_linear.predict(HOLES) - 2 / 3 * mean.predict(HOLES)
    assert linear.std() > 0.01
    expected = 2 / 3 * base + linear.mean()
    assert bp.why(with_linear, HOLES, 0).attrs["base"] == pytest.approx(expected, abs=SINGLE)


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_the_base_of_a_mean_is_the_mean_of_the_bases(framework):
    if framework == "lightgbm":
        make, params = bp.LGBMRanker, OF_LIGHTGBM | {"subsample_freq": 1}
    else:
        make, params = bp.XGBRanker, OF_XGBOOST
    rankers = [make(**params, random_state=s, subsample=0.5).fit(HOLES, Y, qid=QID) for s in (1, 2)]
    mean = bp.mean_model(rankers)
    assert isinstance(mean, (lgb.Booster, xgb.Booster))
    frames = [bp.why(ranker, HOLES, 5).set_index("feature") for ranker in rankers]
    found = bp.why(mean, HOLES, 5).set_index("feature")
    expected = sum(frame["contribution"] for frame in frames) / 2
    np.testing.assert_allclose(found["contribution"], expected[found.index], rtol=0, atol=SINGLE)
    assert found.attrs["base"] == pytest.approx(np.mean([frame.attrs["base"] for frame in frames]), abs=SINGLE)


def test_the_base_of_lightgbm_is_the_mean_score_in_training():
    for name in ("lightgbm, a loss", "lightgbm, missing values", "lightgbm, categories"):
        model, rows = fitted(name)
        assert bp.why(model, rows, 0).attrs["base"] == pytest.approx(model.predict(rows).mean(), abs=1e-9), name


def test_the_linear_part_of_a_mean_counts_rows_in_xgboost():
    """In LightGBM, whose counts are integers, in proportion."""
    model, rows = fitted("xgboost, folds and linear")
    frame = model.get_booster().trees_to_dataframe()
    assert frame[frame["Node"] == 0]["Cover"].max() == len(rows)
