"""The estimator and the line of code that a comparison recommends grow the trees that it was chosen for."""

from dataclasses import dataclass

import numpy as np
import pytest
from reports import TREES, compare_one

import boostplug as bp
from boostplug.comparison import recommendation
from boostplug.core.values import Range
from boostplug.losses import LOSSES


def in_lightgbm(parts, objective, **options):
    return compare_one(*parts, framework="lightgbm", objective=objective, **{"rounds": 4, "seeds": [3], **options})


def fitted(result, train):
    return result.best.fit(train.X, train.y, qid=train.qid)


def test_a_round_in_which_lightgbm_finds_no_split_adds_no_tree(parts):
    """LightGBM leaves out such a tree, so after it the model has fewer trees than rounds."""
    pieces = [  # with a column that no leaf of 20 rows can use
        bp.RankingData(np.c_[part.X[:, 0], np.arange(part.n_rows) == 0], part.y, qid=part.qid) for part in parts
    ]
    for loss in (bp.RankNet(), "lambdarank"):
        result = in_lightgbm(pieces, loss, rounds=30, params={"column_fraction": 0.5, "min_rows": 20})
        model, (run,) = fitted(result, pieces[0]), result.document["methods"][0]["runs"]
        assert model.booster_.num_trees() < run["rounds"]
        np.testing.assert_array_equal(result.model.predict(pieces[2].X), model.predict(pieces[2].X))


@dataclass(frozen=True, kw_only=True)
class Own(bp.RankNet):
    """A user's loss, with a choice that is no word."""

    pair: tuple = (1, 2)

    search_ranges = {"pair": ((1, 2), (3, 4)), "sigmoid": Range(0.5, 2.0)}  # noqa: RUF012 (frozen)


@pytest.mark.parametrize("objective", ["lambdarank", Own()], ids=["lambdarank", "own"])
def test_tuned_parameters_are_in_it(parts, tmp_path, objective):
    pytest.importorskip("optuna")
    train, _, test = parts
    some = {"tune": 8, "params": {"min_rows": 200}}
    if not isinstance(objective, Own):  # its trainings are not kept
        some["store"] = tmp_path / "kept.jsonl"
    result = in_lightgbm(parts, objective, **some)
    again = in_lightgbm(parts, objective, **some, resume="store" in some)
    (run,) = result.document["methods"][0]["runs"]
    assert run["tuned"]["parameters"]
    for one in (result, again):
        scores = fitted(one, train).predict(test.X)
        assert run["test"]["NDCG@10"] == pytest.approx(bp.NDCG(10)(scores, test.queries), abs=1e-12)
    assert again.recommendation == result.recommendation


def test_of_folds_that_chose_other_settings_the_first_ones_are_in_it(parts):
    pytest.importorskip("optuna")
    result = in_lightgbm(
        [[parts, parts[::-1]]], bp.QBRank(), seeds=1, tune=4, params={**TREES, "lightgbm": {"extra_trees": False}}
    )
    first, second = (run["tuned"]["parameters"] for run in result.document["methods"][0]["runs"])
    assert first != second
    rate = result.best.get_params()["learning_rate"]
    assert (rate == first["learning_rate"], rate == second["learning_rate"]) == (True, False)


def test_the_line_of_code_names_the_loss():
    registered = [loss for losses in LOSSES.values() for loss in losses]
    for loss in (*registered, bp.AdaRank(metric=bp.MAP(), base=bp.RankNet(sigmoid=2.0))):
        line = recommendation.code(recommendation.estimator("lightgbm", loss, {}, 7))
        found = eval(line, {"bp": bp})  # noqa: S307 (ours)
        assert found.get_params(deep=False)["objective"] == loss
        assert found.n_estimators == 7
    for loss, text in ((bp.CRR(), "bp.CRR()"), (Own(), "Own(sigmoid=1.0, "), (bp.QBRank(preference_weight=0.3), "0.3")):
        assert text in recommendation.code(recommendation.estimator("xgboost", loss, {}, 1))
