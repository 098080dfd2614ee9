"""`compare` where few queries train: small trees, and the mean of the seeds' models."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.comparison.report.page import page
from boostplug.selection.starting import trees_for

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")


def parts(n_train=30, **given):
    return [bp.datasets.make_ranking(n, random_state=s, **given) for s, n in enumerate((n_train, 15, 40))]


TWO = {"losses": ["CRR", "RankNet"], "baselines": ["lambdarank", "rank:ndcg"], "rounds": 15, "seeds": 2}
TWO["progress"] = False


@pytest.fixture(scope="module")
def result():
    return bp.compare(*parts(), **TWO)


def settings(*data, **more):
    one = {"losses": "RankNet", "baselines": (), "rounds": 1, "seeds": 1, "progress": False}
    return bp.compare(*data, **one, **more).document["settings"]


def test_trees_fit_the_labels_of_the_fold_with_the_fewest_queries_that_hold_a_pair(result):
    expected, why = trees_for(parts()[0].queries)
    found = result.document["settings"]
    assert found["params"].items() >= expected.items()
    assert found["trees"] == why
    for text in (" ".join(str(result).split()), page(result.document)):
        assert f"Trees: {why}." in text
    many = parts(2000, mean_list_size=3)
    assert trees_for(many[0].queries)[0]["num_leaves"] > expected["num_leaves"]
    assert settings([many, parts()])["params"] == found["params"] == settings([parts(), many])["params"]


def test_params_win_under_any_name():
    expected, why = trees_for(parts()[0].queries)
    found = settings(*parts(), params={"num_leaves": 9, "lightgbm": {"colsample_bynode": 1}})
    assert found["params"].items() >= {**expected, "num_leaves": 9, "lightgbm": {"colsample_bynode": 1}}.items()
    assert found["trees"] == f"{why}; params set num_leaves, lightgbm"
    found = settings(*parts(), params={"xgboost": {"colsample_bynode": 1}})
    assert found["params"].items() >= {**expected, "xgboost": {"colsample_bynode": 1}}.items()
    found = settings(*parts(), params={"column_fraction": 0.5})
    assert found["params"]["column_fraction"] == 0.5
    assert "colsample_bytree" not in found["params"]["xgboost"]
    found = settings(*parts(), params={"xgboost": {"gamma": 1}})
    assert found["params"]["xgboost"] == {**expected.get("xgboost", {}), "gamma": 1}


def test_a_call_and_the_lines_of_code_name_the_trees(result):
    expected, _ = trees_for(parts()[0].queries)
    again = eval(result.document["call"], {"bp": bp, **dict(zip(("train", "valid", "test"), parts(), strict=True))})  # noqa: S307
    assert again.document["settings"]["params"] == result.document["settings"]["params"]
    for name in ("lightgbm", "xgboost"):
        best = bp.compare(*parts(), **TWO, frameworks=name)
        for parameter, value in expected.get(name, {}).items():
            assert best.best.get_params()[parameter] == value
            assert f"{parameter}={value}" in best.recommendation


def test_model_is_the_mean_of_the_seeds(result, tmp_path):
    test = parts()[2]
    found = result.document["recommendation"]
    runs = [run for run in result.outcomes.runs if (run.framework, run.method) == (found["framework"], found["method"])]
    matrix = xgb.DMatrix(test.X) if found["framework"] == "xgboost" else test.X
    scores = np.asarray(result.model.predict(matrix), np.float64)
    np.testing.assert_allclose(scores, np.mean([run.scores for run in runs], axis=0), atol=1e-5)
    own = found["mean_of_seeds"]
    assert own["models"] == 2
    assert own["test"]["NDCG@10"] == pytest.approx(bp.NDCG(10).score(test.y, scores, qid=test.qid), abs=1e-4)
    words = "The model is the mean of 2 trained ones, an ordinary booster. On test the mean of them has NDCG@10 ."
    assert words in " ".join(str(result).split())


def test_means_of_several_folds_are_judged_fold_by_fold():
    folds = [parts(), parts()[::-1]]
    found = bp.compare(folds, losses="RankNet", baselines=(), frameworks="lightgbm", rounds=5, seeds=2, progress=False)
    values = []
    for number, (_, _, test) in enumerate(folds):
        scores = np.mean([run.scores for run in found.outcomes.runs if run.fold == number], axis=0)
        values.append(bp.NDCG(10).score(test.y, scores, qid=test.qid))
    mean = found.document["recommendation"]["mean_of_seeds"]
    assert (mean["models"], mean["test"]["NDCG@10"]) == (2, pytest.approx(np.mean(values)))


def test_a_single_seed_has_no_mean():
    found = bp.compare(
        *parts(), losses="RankNet", baselines=(), frameworks="lightgbm", rounds=2, seeds=1, progress=False
    )
    assert found.document["recommendation"]["mean_of_seeds"] is None
    assert isinstance(found.model, lgb.Booster)


def test_resumed_runs_have_their_models(tmp_path):
    given = {"losses": "RankNet", "baselines": (), "rounds": 4, "seeds": 2}
    given |= {"store": tmp_path, "progress": False}
    given |= {"frameworks": ["lightgbm", "xgboost"]}
    first, again = bp.compare(*parts(), **given), bp.compare(*parts(), **given, resume=True)
    values = [[(m["method"], m["test"]) for m in result.document["methods"]] for result in (first, again)]
    assert values[0] == values[1]
    assert again.document["recommendation"]["mean_of_seeds"] == first.document["recommendation"]["mean_of_seeds"]
    X = parts()[2].X
    matrix = X if isinstance(first.model, lgb.Booster) else xgb.DMatrix(X)
    np.testing.assert_array_equal(first.model.predict(matrix), again.model.predict(matrix))


def test_too_large_trees_are_said():
    found = bp.compare(
        *parts(), losses="RankNet", baselines=(), frameworks="lightgbm", rounds=100, early_stopping_rounds=5, seeds=1,
        params={"num_leaves": 60, "learning_rate": 1.0, "min_rows": 1, "lightgbm": {"colsample_bynode": 1}},
        progress=False,
    )  # fmt: skip
    assert found.document["methods"][0]["rounds"] <= 10
    assert "Training stopped within 10 of 100 rounds: RankNet" in str(found)
