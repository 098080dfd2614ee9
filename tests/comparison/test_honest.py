"""`compare` trains what it says: weights without a unit, one meaning of features in all parts, no hidden choice."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reports import ONE, QUICK, compare_one

import boostplug as bp


def values(result):
    """Return the table's test values."""
    return {(m["framework"], m["method"]): m["runs"][0]["test"] for m in result.document["methods"]}


def test_weights_have_no_unit(parts):
    """Built-ins as our losses: their Hessians are compared with constants such as min_sum_hessian_in_leaf."""
    weights = [np.random.default_rng(0).choice([0.5, 1.0, 2.0], part.n_queries) for part in parts]
    methods = {"baselines": ["lambdarank", "rank_xendcg", "regression", "rank:ndcg", "reg:squarederror"]}
    methods["losses"] = [bp.RankNet(), bp.QBRank()]

    def weighted(weights):
        return bp.compare(*map(lambda part, w: replace(part, weight=w), parts, weights), **methods, **QUICK)

    plain = weighted(weights)
    assert not plain.failed
    for scaled in (
        [w / w.repeat(p.group).sum() for p, w in zip(parts, weights, strict=True)],
        [1e-60 * w for w in weights],
    ):
        other = values(weighted(scaled))
        for method, of_plain in values(plain).items():
            assert other[method] == pytest.approx(of_plain, abs=1e-9), method
    assert "divided by their mean" in " ".join(str(plain).split())


ORDER = ["low", "some", "more", "high"]


def frames_of(parts, *categories):
    """Return DataFrames with a column whose categories have an order, or numbers."""
    frames = []
    for part, order in zip(parts, categories, strict=True):
        codes = np.digitize(np.nan_to_num(part.X[:, 0]), [-0.5, 0.0, 0.5])
        kind = pd.Categorical(np.array(ORDER)[codes], categories=order) if order else codes
        frame = pd.DataFrame(np.nan_to_num(part.X[:, 1:])).add_prefix("f")
        frames.append(frame.assign(kind=kind, qid=part.qid, grade=part.y))
    return frames


def test_categories_are_compared_by_name_and_content(parts):
    asked = {**ONE, "label": "grade"}
    expected = values(bp.compare(*frames_of(parts, ORDER, ORDER, ORDER), **asked))
    for other in (ORDER[::-1], ["none", *ORDER]):  # the second has a category that no row has
        assert values(bp.compare(*frames_of(parts, ORDER, other, other), **asked)) == expected
    for orders, name in (((ORDER, ORDER, None), "test"), ((ORDER, None, ORDER), "valid")):
        with pytest.raises(ValueError, match=f"in {name}, column 'kind' is not categorical .*in the training set it"):
            bp.compare(*frames_of(parts, *orders), **asked)
    train, valid, test = frames_of(parts, ORDER, ORDER, ORDER)
    test["kind"] = test["kind"].cat.rename_categories({"high": "highest"})
    warned = bp.compare(train, valid, test, **asked).document["warnings"]
    assert any("in test, column 'kind' holds" in text and "'highest'" in text for text in warned), warned


@pytest.mark.parametrize(
    ("framework", "params"), [("lightgbm", {"boosting_type": "DART"}), ("xgboost", {"booster": "dart"})]
)
def test_dart_goes_without_early_stopping(parts, framework, params):
    asked = {"framework": framework, "objective": bp.RankNet(), "params": {framework: params}}
    with pytest.raises(ValueError, match=rf"params\['{framework}'\] asks for dart.*pass early_stopping_rounds=None"):
        compare_one(*parts, **asked)
    result = compare_one(*parts, **asked, early_stopping_rounds=None)
    assert not result.failed
    if framework == "xgboost":  # LightGBM's dart with any callable is not repeatable
        best = result.best.fit(parts[0].X, parts[0].y, qid=parts[0].qid)
        found = bp.NDCG(10)(best.predict(parts[2].X), parts[2].queries)
        assert found == result.document["methods"][0]["runs"][0]["test"]["NDCG@10"]


def test_parts_with_and_without_weights_get_a_warning(parts):
    train, valid, _ = parts
    weighted = [bp.RankingData(part.X, part.y, group=part.group, weight=1.0 + part.group) for part in parts]
    for given, warning in (
        (
            (weighted[0], valid, weighted[2]),
            "valid has no weights, and train has some: give all parts weights, or none.",
        ),
        ((train, valid, weighted[2]), "test has weights, and train has none: give all parts weights, or none."),
    ):
        assert warning in bp.compare(*given, **ONE).document["warnings"]
