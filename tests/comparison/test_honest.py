"""`compare` trains what it says: weights without a unit, one meaning of features in all parts, one model."""

import numpy as np
import pandas as pd
import pytest

import boostplug as bp
from boostplug.datasets import RankingData, make_ranking

QUICK = {"rounds": 5, "seeds": 1, "num_threads": 1, "progress": False, "metrics": "NDCG@5"}
BUILT_IN = {"losses": [], "baselines": ["lambdarank", "rank_xendcg", "regression", "rank:ndcg", "reg:squarederror"]}
IN_LIGHTGBM = {"losses": [bp.RankNet()], "baselines": "lambdarank", "frameworks": "lightgbm", **QUICK}


@pytest.fixture(scope="module")
def parts():
    return [make_ranking(n, n_features=6, mean_list_size=10, random_state=seed) for seed, n in enumerate((60, 30, 30))]


def with_weights(part, weight):
    return RankingData(part.X, part.y, qid=part.qid, weight=weight)


def values(result):
    """Return the table's test values."""
    return {(m["framework"], m["method"]): m["runs"][0]["test"] for m in result.document["methods"]}


# --- Weights ---------------------------------------------------------------------------------------------------------


def test_weights_have_no_unit(parts):
    """Built-ins as our losses: their Hessians are compared with constants such as min_sum_hessian_in_leaf."""
    weights = [np.random.default_rng(0).choice([0.5, 1.0, 2.0], part.n_queries) for part in parts]
    methods = {**BUILT_IN, "losses": [bp.RankNet(), bp.QBRank()]}
    plain = bp.compare(*map(with_weights, parts, weights), **methods, **QUICK)
    assert not plain.failed
    sum_to_1 = [w / w.repeat(p.group).sum() for p, w in zip(parts, weights, strict=True)]
    for scaled in (sum_to_1, [1e-60 * w for w in weights]):
        other = bp.compare(*map(with_weights, parts, scaled), **methods, **QUICK)
        for method, of_plain in values(plain).items():
            assert values(other)[method] == pytest.approx(of_plain, abs=1e-9), method
    assert "divided by their mean" in " ".join(str(plain).split())


# --- Features --------------------------------------------------------------------------------------------------------


def frames_of(parts, kinds):
    """Return DataFrames with two columns of categories, as each of `kinds` says."""
    made = []
    for part, kind in zip(parts, kinds, strict=True):
        codes = np.digitize(np.nan_to_num(part.X[:, :2]), [-0.5, 0.0, 0.5])
        names = np.array(["low", "some", "more", "high"])[codes]
        frame = pd.DataFrame(np.nan_to_num(part.X[:, 2:]), columns=list("cdef"))
        frame.insert(0, "a", pd.Categorical(names[:, 0], categories=kind["a"]) if kind["a"] else codes[:, 0])
        frame.insert(1, "b", pd.Categorical(names[:, 1], categories=kind["b"]) if kind["b"] else codes[:, 1])
        made.append(frame.assign(qid=part.qid, grade=part.y))
    return made


def test_categories_are_compared_by_name_and_content(parts):
    order = ["low", "some", "more", "high"]
    plain = {"a": order, "b": None}
    asked = {**IN_LIGHTGBM, "label": "grade"}
    expected = values(bp.compare(*frames_of(parts, [plain] * 3), **asked))
    turned = {"a": order[::-1], "b": None}
    assert values(bp.compare(*frames_of(parts, [plain, turned, turned]), **asked)) == expected
    more = {"a": ["none", *order], "b": None}  # a category that no row has
    assert values(bp.compare(*frames_of(parts, [plain, more, more]), **asked)) == expected
    swapped = {"a": None, "b": order}
    for kinds, name in (([plain, plain, swapped], "test"), ([plain, swapped, plain], "valid")):
        with pytest.raises(ValueError, match=f"in {name}, column 'a' is not categorical .*in the training set it is"):
            bp.compare(*frames_of(parts, kinds), **asked)


def test_new_categories_are_missing_values_with_a_warning(parts):
    order = ["low", "some", "more", "high"]
    train, valid, test = frames_of(parts, [{"a": order, "b": None}] * 3)
    test["a"] = test["a"].cat.rename_categories({"high": "highest"})
    warned = bp.compare(train, valid, test, label="grade", **IN_LIGHTGBM).document["warnings"]
    assert any("in test, column 'a' holds" in text and "'highest'" in text for text in warned), warned


# --- Boosters, warnings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("framework", "params"), [("lightgbm", {"boosting_type": "DART"}), ("xgboost", {"booster": "dart"})]
)
def test_dart_goes_without_early_stopping(parts, framework, params):
    asked = {**QUICK, "losses": [bp.RankNet()], "baselines": [], "frameworks": framework, "params": {framework: params}}
    with pytest.raises(ValueError, match=rf"params\['{framework}'\] asks for dart.*pass early_stopping_rounds=None"):
        bp.compare(*parts, **asked)
    asked["early_stopping_rounds"] = None
    result = bp.compare(*parts, **asked)
    assert not result.failed
    if framework == "xgboost":  # LightGBM's dart with any callable is not repeatable
        best = result.best.fit(parts[0].X, parts[0].y, qid=parts[0].qid)
        found = bp.NDCG(10)(best.predict(parts[2].X), parts[2].queries)
        assert found == result.document["methods"][0]["runs"][0]["test"]["NDCG@10"]


ONE_LOSS = {"losses": ["ranknet"], "baselines": (), "frameworks": "lightgbm", "rounds": 2, "seeds": 1}


def test_a_column_of_places_gets_a_warning():
    """Trained on as a feature, the places that users saw make clicks look like judgements."""
    frame = pd.DataFrame(
        {"qid": np.repeat(np.arange(60), 5), "x": np.arange(300.0) % 7, "place": np.tile([2, 1, 3, 5, 4], 60)}
    )
    frame["label"] = (frame["place"] < 3) * 1
    options = {**ONE_LOSS, "label": "label"}
    found = bp.compare(frame, **options).document["warnings"]
    assert [line for line in found if "'place' numbers the rows of each query" in line]
    assert not any("'x' numbers" in line for line in found)
    assert not any(
        "numbers the rows of each" in line for line in bp.compare(frame, drop=["place"], **options).document["warnings"]
    )


def test_parts_with_and_without_weights_get_a_warning():
    train, valid, test = (make_ranking(40, n_features=3, random_state=s) for s in range(3))
    weighted = [RankingData(part.X, part.y, group=part.group, weight=np.arange(1.0, 41.0)) for part in (train, test)]
    found = bp.compare(weighted[0], valid, weighted[1], **ONE_LOSS).document["warnings"]
    assert "valid has no weights, and train has some: give all parts weights, or none." in found
    found = bp.compare(train, valid, weighted[1], **ONE_LOSS).document["warnings"]
    assert "test has weights, and train has none: give all parts weights, or none." in found
