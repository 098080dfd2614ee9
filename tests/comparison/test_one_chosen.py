"""What `compare` does by default where one document of each list was chosen."""

import numpy as np
import pytest

import boostplug as bp

pytest.importorskip("lightgbm")

N = 8
QUICK = {"frameworks": "lightgbm", "rounds": 3, "seeds": 1}


def part(seed, n_queries=40, also=0.0):
    """Return lists of which one document each was chosen by a conditional logit; `also` is the label of another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries, N, 3))
    y = np.zeros((n_queries, N))
    chosen = np.argmax(X[..., 0] + rng.gumbel(size=(n_queries, N)), axis=1)
    y[np.arange(n_queries), chosen] = 1.0
    y[0, (chosen[0] + 1) % N] += also
    return bp.RankingData(X.reshape(-1, 3), y.ravel(), group=np.full(n_queries, N))


def methods(result):
    return [method["method"] for method in result.document["methods"]]


def test_lambdarank_stands_without_its_norm_too_and_probabilities_are_judged():
    pytest.importorskip("xgboost")
    result = bp.compare(part(0), part(1), part(2), **QUICK | {"frameworks": None})
    ours = ["ListNet(labels)", "QBRank", "RankNet"]
    built_in = ["lambdarank", "rank_xendcg", "regression", "lambdarank(norm=False)"]
    floors = ["column number 1", "linear"]
    assert methods(result) == [*built_in, *ours, "rank:ndcg", "rank:pairwise", "reg:squarederror", *ours, *floors]
    assert {"NDCG@10", "MRR", "ChoiceLogLoss"} < set(result.to_frame())
    assert any("CRR is left out" in note for note in result.document["notes"])


def test_a_second_relevant_document_anywhere_keeps_the_usual_list():
    for also in (0.5, 1.0):
        result = bp.compare(part(0), part(1), part(2, also=also), **QUICK)
        assert "CRR" in methods(result)
        assert "lambdarank(norm=False)" not in methods(result)


def test_what_is_asked_for_is_what_is_trained():
    result = bp.compare(part(0), part(1), part(2), losses="CRR", baselines="lambdarank", metrics="MAP", **QUICK)
    assert methods(result) == ["lambdarank", "CRR"]
    assert "ChoiceLogLoss" not in result.to_frame()
    assert not any("CRR" in note or "ChoiceLogLoss" in note for note in result.document["notes"])


def test_lambdarank_without_its_norm_is_lightgbms_and_the_estimator_is_the_same_model():
    train, valid, test = part(0), part(1), part(2)
    name = "lambdarank(norm=False)"
    result = bp.compare(train, valid, test, losses=[], baselines=name, early_stopping_rounds=None, **QUICK)
    model = result.best.fit(train.X, train.y, group=train.group)
    assert model.get_params()["lambdarank_norm"] is False
    assert model.objective == "lambdarank"
    assert result.to_frame()["NDCG@10"].item() == bp.NDCG(10)(model.predict(test.X), test.queries)
    normed = bp.compare(train, valid, test, losses=[], baselines="lambdarank", early_stopping_rounds=None, **QUICK)
    assert normed.to_frame()["ChoiceLogLoss"].item() != result.to_frame()["ChoiceLogLoss"].item()
