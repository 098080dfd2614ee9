"""`compare` where few queries train: small trees, and the mean of the seeds' models."""

import numpy as np
import pytest

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")


def parts(n_train=30, **given):
    return [bp.datasets.make_ranking(n, random_state=s, **given) for s, n in enumerate((n_train, 15, 40))]


TWO = {"losses": ["CRR", "RankNet"], "baselines": ["lambdarank", "rank:ndcg"], "rounds": 15, "seeds": 2}
TWO["progress"] = False


@pytest.fixture(scope="module")
def result():
    return bp.compare(*parts(), **TWO)


def test_few_queries_have_small_trees_unless_told_otherwise(result):
    found = result.document["settings"]["params"]
    assert (found["num_leaves"], found["learning_rate"]) == (6, 0.05)
    one = {"losses": "RankNet", "baselines": (), "rounds": 1, "seeds": 1, "progress": False}
    told = bp.compare(*parts(), **one, frameworks="lightgbm", params={"num_leaves": 9})
    found = told.document["settings"]["params"]
    assert (found["num_leaves"], found["learning_rate"]) == (9, 0.05)
    many = bp.compare(*parts(400, mean_list_size=5), **one, frameworks="xgboost")
    assert many.document["settings"]["params"]["num_leaves"] == 15


def test_the_call_repeats_it(result):
    assert "'num_leaves': 6" in result.document["call"]


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
        params={"num_leaves": 60, "learning_rate": 1.0, "min_rows": 1}, progress=False,
    )  # fmt: skip
    assert found.document["methods"][0]["rounds"] <= 10
    assert "Training stopped within 10 of 100 rounds: RankNet" in str(found)
