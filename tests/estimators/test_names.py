"""Names in place of values: a column of query ids, a loss as the command line spells it, a metric by its name."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework

import boostplug as bp

DATA = bp.datasets.make_ranking(20, random_state=0)
X, Y = pd.DataFrame(DATA.X).add_prefix("f").assign(session=DATA.qid), DATA.y
LIGHTGBM, XGBOOST = FRAMEWORKS.values()


def fit(F, loss=bp.QBRank(), **more):  # noqa: B008 (a value)
    return F.fit(loss, X, Y, qid="session", **more)


@every_framework
def test_a_metric_by_its_name(F):
    ranker = fit(F)
    assert ranker.score(X, Y, qid="session", metric="NDCG@5") == ranker.score(X, Y, qid="session", metric=bp.NDCG(5))


METRICS = {  # what eval_metric (and LightGBM's own parameter) may be, and what is then evaluated: ours and LightGBM's
    "NDCG(convention='letor', ties='order')@10, MRR": ["NDCG@10(letor,order)", "MRR"],
    "mrr": ["MRR"],
    "NDCG@5,ndcg": ["NDCG@5", "ndcg@3"],
    ("map", bp.NDCG(2), "mean_average_precision"): ["NDCG@2", "map@3"],
    "l2": ["l2"],
    "None": [],
}


def evaluated(F, params=None, **more):
    ranker = F.ranker(bp.QBRank(), **(params or {})).fit(X, Y, qid="session", eval_set=[(X, Y)], **F.quiet, **more)
    assert "boostplug" not in repr(ranker.export().get_params())
    return sorted(name.removeprefix("pre_") for results in F.histories(ranker) for name in results)


@pytest.mark.parametrize("names", METRICS)
def test_names_of_metrics_mean_the_same_in_fit_and_in_score(names):
    given = list(names) if isinstance(names, tuple) else names
    at = {"eval_at": [3]} if any(name.islower() for name in METRICS[names]) else {}  # which ours do not read
    for params, more in (({}, {"eval_metric": given}), ({"metrics": given}, {}), ({"metric": given}, {})):
        assert evaluated(LIGHTGBM, params, **more, **at) == sorted(METRICS[names])


@pytest.mark.parametrize(
    ("name", "expected"),
    [("NDCG@10", ["NDCG@10"]), ("mrr", ["MRR"]), (["ndcg@3", "MAP", bp.MRR()], ["MAP", "MRR", "ndcg@3"])],
)
def test_xgboost_takes_our_names_of_metrics(name, expected):
    assert evaluated(XGBOOST, {"eval_metric": name}) == expected


@every_framework
def test_a_misspelt_metric_is_refused(F):
    calls = [({F.metric_parameter: "ndgc"}, {})]
    if F is LIGHTGBM:
        calls += [({}, {"eval_metric": "ndgc"}), ({}, {"eval_metric": ["ndcg", "ndgc"]})]
    for params, more in calls:
        with pytest.raises(ValueError, match=r"eval_metric='ndgc' is no metric of \w+: there is no metric 'ndgc'"):
            evaluated(F, params, **more)


@every_framework
def test_a_loss_by_its_name_also_where_frameworks_differ_in_case_only(F):
    for name, loss in {"LambdaRank": bp.LambdaRank(), "crr": bp.CRR()}.items():
        one, other = (fit(F, objective) for objective in (name, loss))
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
        assert one.get_params()["objective"] == name
    with pytest.raises(ValueError, match="objective='Lambdarank' may be LightGBM's 'lambdarank' or boostplug's"):
        fit(F, "Lambdarank")
