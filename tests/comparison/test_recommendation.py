"""The estimator and the line of code that a comparison recommends grow the trees that it was chosen for."""

from dataclasses import dataclass

import numpy as np
import pytest
import xgboost as xgb

import boostplug as bp
from boostplug.comparison import recommendation
from boostplug.comparison.training.frameworks import FRAMEWORKS, Watch
from boostplug.comparison.training.trees import Setting, Trees
from boostplug.core.values import Range
from boostplug.data.inputs import CheckedInputs
from boostplug.losses import LOSSES
from boostplug.selection.starting import trees_for

QUICK = {"rounds": 4, "num_threads": 1, "progress": False}
BUILT_IN = [(kind.name, name) for kind in FRAMEWORKS.values() for name in kind.baselines]
SOME = [*BUILT_IN, *((name, loss) for name in FRAMEWORKS for loss in (bp.MPBoost(), bp.AdaRank()))]


def fitted(estimator, train):
    """Return an estimator, fitted."""
    options = {"verbose": False} if isinstance(estimator, xgb.XGBModel) else {}
    return estimator.fit(train.X, train.y, qid=train.qid, **options)


def alone(parts, framework, objective, **options):
    built_in = isinstance(objective, str)
    what = {"losses": () if built_in else [objective], "baselines": [objective] if built_in else ()}
    return bp.compare(*parts, **what, frameworks=framework, **{**QUICK, "seeds": [3], **options})


@pytest.mark.parametrize(("framework", "objective"), SOME, ids=str)
def test_the_best_grows_the_trees_of_the_comparison(parts, framework, objective):
    train, _, test = parts
    result = alone(parts, framework, objective)
    (run,) = result.document["methods"][0]["runs"]
    best = result.best
    assert best.n_estimators == run["rounds"]
    scores = fitted(best, train).predict(test.X)
    pieces = [CheckedInputs(part.X, part.queries) for part in parts]
    trained = FRAMEWORKS[framework](*pieces, Trees.from_params(trees_for(train.queries, train.X.shape[1])[0]), 1)
    watch = Watch(bp.NDCG(10), parts[1].queries, patience=None, num_threads=1)
    theirs = trained.run(Setting(objective), 3, run["rounds"], watch)
    np.testing.assert_allclose(scores, theirs, rtol=1e-6, atol=1e-6)
    assert np.ptp(scores) > 0
    assert run["test"]["NDCG@10"] == pytest.approx(bp.NDCG(10)(scores, test.queries), abs=1e-12)


def test_a_round_in_which_lightgbm_finds_no_split_adds_no_tree(parts):
    """LightGBM leaves out such a tree, so after it the model has fewer trees than rounds."""
    rows = [(np.arange(part.n_rows) == 0)[:, None] for part in parts]  # a column that no leaf of 20 rows can use
    pieces = [
        bp.RankingData(np.hstack([part.X[:, :1], of]), part.y, qid=part.qid)
        for part, of in zip(parts, rows, strict=True)
    ]
    given = {"rounds": 30, "params": {"column_fraction": 0.5, "min_rows": 20}}
    for result in (alone(pieces, "lightgbm", loss, **given) for loss in (bp.RankNet(), "lambdarank")):
        model, (run,) = fitted(result.best, pieces[0]), result.document["methods"][0]["runs"]
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
    result = alone(parts, "lightgbm", objective, **some)
    again = alone(parts, "lightgbm", objective, **some, resume="store" in some)
    (run,) = result.document["methods"][0]["runs"]
    assert run["tuned"]["parameters"]
    for one in (result, again):
        scores = fitted(one.best, train).predict(test.X)
        assert run["test"]["NDCG@10"] == pytest.approx(bp.NDCG(10)(scores, test.queries), abs=1e-12)
    assert again.recommendation == result.recommendation


def test_of_folds_that_chose_other_settings_the_first_ones_are_in_it(parts):
    pytest.importorskip("optuna")
    trees = {"num_leaves": 6, "learning_rate": 0.05, "row_fraction": 0.9, "column_fraction": 0.9}
    given = {**QUICK, "losses": bp.QBRank(), "baselines": (), "frameworks": "lightgbm", "seeds": 1, "tune": 4}
    given["params"] = {**trees, "lightgbm": {"extra_trees": False}}
    result = bp.compare([parts, parts[::-1]], **given)
    first, second = (run["tuned"]["parameters"] for run in result.document["methods"][0]["runs"])
    assert first != second
    rate = result.best.get_params()["learning_rate"]
    assert (rate == first["learning_rate"], rate == second["learning_rate"]) == (True, False)


def test_the_line_of_code_names_the_loss():
    registered = [loss for losses in LOSSES.values() for loss in losses]
    for loss in (*registered, bp.AdaRank(metric=bp.MAP(), base=bp.RankNet(sigmoid=2.0))):
        params = FRAMEWORKS["lightgbm"].params_of_run(Trees(), 1, Setting(loss), 0)
        line = recommendation.code(recommendation.estimator("lightgbm", loss, params, 7))
        found = eval(line, {"bp": bp})  # noqa: S307 (ours)
        assert found.get_params(deep=False)["objective"] == loss
        assert found.n_estimators == 7
        assert "objective_seed" not in line


def test_a_loss_at_its_defaults_is_printed_in_short():
    for loss, text in ((bp.CRR(), "bp.CRR()"), (Own(), "Own(sigmoid=1.0, "), (bp.QBRank(preference_weight=0.3), "0.3")):
        assert text in recommendation.code(recommendation.estimator("xgboost", loss, {}, 1))
