"""What `compare` does by default where one document of each list was chosen."""

import numpy as np
import pytest
from reports import QUICK, compare_one, names_of

import boostplug as bp

pytest.importorskip("lightgbm")

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
