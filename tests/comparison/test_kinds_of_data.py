"""What `compare` does by itself where few queries train, and where one document of each list was chosen."""

import numpy as np
import pytest
from reports import ONE, QUICK, compare_one, names_of

import boostplug as bp
from boostplug.comparison.report.page import page
from boostplug.selection.starting import trees_for

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")


# --- few queries ------------------------------------------------------------------------------------------------------


def parts(n_train=30, **given):
    return [bp.datasets.make_ranking(n, random_state=s, **given) for s, n in enumerate((n_train, 15, 40))]


@pytest.fixture(scope="module")
def result():
    two = {"losses": ["CRR", "RankNet"], "baselines": ["lambdarank", "rank:ndcg"], "frameworks": None}
    return bp.compare(*parts(), **{**ONE, **two, "rounds": 15, "seeds": 2})


def settings(*data, **more):
    return bp.compare(*data, **{**ONE, "baselines": (), "rounds": 1}, **more).document["settings"]


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
    assert settings([many, parts()])["trees"] == f"in the smallest training part, {why}"


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"num_leaves": 9, "lightgbm": {"colsample_bynode": 1}}, {}),
        ({"xgboost": {"colsample_bynode": 1}}, {}),
        ({"column_fraction": 0.5}, {}),
        ({"xgboost": {"gamma": 1}}, {"xgboost": {**trees_for(parts()[0].queries)[0].get("xgboost", {}), "gamma": 1}}),
    ],
)
def test_params_win_under_any_name(params, expected):
    trees, why = trees_for(parts()[0].queries)
    found = settings(*parts(), params=params)
    assert found["params"].items() >= {**trees, **params, **expected}.items()
    assert found["trees"] == f"{why}; params set {', '.join(params)}"
    if "column_fraction" in params:
        assert "colsample_bytree" not in found["params"]["xgboost"]


def test_model_is_the_mean_of_the_seeds(result):
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


def test_means_of_several_folds_are_judged_fold_by_fold_and_a_single_seed_has_none():
    folds = [parts(), parts()[::-1]]
    found = compare_one(folds, framework="lightgbm", objective=bp.RankNet(), rounds=5, seeds=2)
    values = []
    for number, (_, _, test) in enumerate(folds):
        scores = np.mean([run.scores for run in found.outcomes.runs if run.fold == number], axis=0)
        values.append(bp.NDCG(10).score(test.y, scores, qid=test.qid))
    mean = found.document["recommendation"]["mean_of_seeds"]
    assert (mean["models"], mean["test"]["NDCG@10"]) == (2, pytest.approx(np.mean(values)))
    found = compare_one(*parts(), framework="lightgbm", objective=bp.RankNet())
    assert found.document["recommendation"]["mean_of_seeds"] is None
    assert isinstance(found.model, lgb.Booster)


def test_too_large_trees_are_said():
    params = {"num_leaves": 60, "learning_rate": 1.0, "min_rows": 1, "lightgbm": {"colsample_bynode": 1}}
    given = {"framework": "lightgbm", "objective": bp.RankNet(), "rounds": 100, "early_stopping_rounds": 5}
    found = compare_one(*parts(), **given, params=params)
    assert found.document["methods"][0]["rounds"] <= 10
    assert "Training stopped within 10 of 100 rounds: RankNet" in str(found)


# --- one choice of each list ------------------------------------------------------------------------------------------

N = 8
SOME = {**QUICK, "frameworks": "lightgbm"}


def part(seed, n_queries=40, also=0.0):
    """Return lists of which one document each was chosen by a conditional logit; `also` is the label of another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries, N, 3))
    y = np.zeros((n_queries, N))
    chosen = np.argmax(X[..., 0] + rng.gumbel(size=(n_queries, N)), axis=1)
    y[np.arange(n_queries), chosen] = 1.0
    y[0, (chosen[0] + 1) % N] += also
    return bp.RankingData(X.reshape(-1, 3), y.ravel(), group=np.full(n_queries, N))


def test_lambdarank_stands_without_its_norm_too_and_probabilities_are_judged():
    pytest.importorskip("xgboost")
    result = bp.compare(part(0), part(1), part(2), **QUICK)
    ours = ["ListNet(labels)", "QBRank", "RankNet"]
    built_in = ["lambdarank", "rank_xendcg", "regression", "lambdarank(norm=False)"]
    floors = ["column number 1", "linear"]
    assert names_of(result) == [*built_in, *ours, "rank:ndcg", "rank:pairwise", "reg:squarederror", *ours, *floors]
    assert {"NDCG@10", "MRR", "ChoiceLogLoss"} < set(result.to_frame())
    assert any("CRR is left out" in note for note in result.document["notes"])


def test_a_second_relevant_document_anywhere_keeps_the_usual_list():
    for also in (0.5, 1.0):
        names = names_of(bp.compare(part(0), part(1), part(2, also=also), **SOME))
        assert "CRR" in names
        assert "lambdarank(norm=False)" not in names


def test_what_is_asked_for_is_what_is_trained():
    result = bp.compare(part(0), part(1), part(2), losses="CRR", baselines="lambdarank", metrics="MAP", **SOME)
    assert names_of(result) == ["lambdarank", "CRR"]
    assert "ChoiceLogLoss" not in result.to_frame()
    assert not any("CRR" in note or "ChoiceLogLoss" in note for note in result.document["notes"])


def test_lambdarank_without_its_norm_is_lightgbms_and_the_estimator_is_the_same_model():
    train, valid, test = part(0), part(1), part(2)
    result, normed = (
        compare_one(train, valid, test, framework="lightgbm", objective=name, early_stopping_rounds=None)
        for name in ("lambdarank(norm=False)", "lambdarank")
    )
    model = result.best.fit(train.X, train.y, group=train.group)
    assert (model.objective, model.get_params()["lambdarank_norm"]) == ("lambdarank", False)
    assert result.to_frame()["NDCG@10"].item() == bp.NDCG(10)(model.predict(test.X), test.queries)
    assert normed.to_frame()["ChoiceLogLoss"].item() != result.to_frame()["ChoiceLogLoss"].item()
