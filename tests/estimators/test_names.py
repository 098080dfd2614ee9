"""Names in place of values: a column of query ids, a loss as the command line spells it, a metric by its name."""

import numpy as np
import pytest

import boostplug as bp

pd = pytest.importorskip("pandas")
RANKERS = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker"}


@pytest.fixture(params=RANKERS)
def kind(request):
    pytest.importorskip(request.param)
    return getattr(bp, RANKERS[request.param])


@pytest.fixture
def frame():
    data = bp.datasets.make_ranking(20, random_state=0)
    return pd.DataFrame(data.X, columns=[f"f{j}" for j in range(data.X.shape[1])]).assign(session=data.qid), data.y


SMALL = {"n_estimators": 5, "max_depth": 3, "n_jobs": 1, "random_state": 0}


def test_queries_by_the_name_of_their_column(kind, frame):
    X, y = frame
    features = X.drop(columns="session")
    expected = kind(objective=bp.QBRank(), **SMALL).fit(features, y, qid=X["session"])
    quiet = {"verbose": False} if kind.__name__ == "XGBRanker" else {}
    found = kind(objective=bp.QBRank(), **SMALL).fit(X, y, qid="session", eval_set=[(X, y)], **quiet)
    np.testing.assert_array_equal(found.predict(X), expected.predict(features))
    np.testing.assert_array_equal(found.predict(features), expected.predict(features))
    assert found.score(X, y, qid="session") == expected.score(features, y, qid=X["session"])


def test_a_metric_by_its_name(kind, frame):
    X, y = frame
    ranker = kind(objective=bp.QBRank(), **SMALL).fit(X, y, qid="session")
    assert ranker.score(X, y, qid="session", metric="NDCG@5") == ranker.score(X, y, qid="session", metric=bp.NDCG(5))


METRICS = {  # what eval_metric (and LightGBM's own parameter) may be, and what is then evaluated: ours and LightGBM's
    "NDCG(convention='letor', ties='order')@10, MRR": ["NDCG@10(letor,order)", "MRR"],
    "mrr": ["MRR"],
    "NDCG@5,ndcg": ["NDCG@5", "ndcg@3"],
    ("map", bp.NDCG(2), "mean_average_precision"): ["NDCG@2", "map@3"],
    "l2": ["l2"],
    "None": [],
}


def evaluated(kind, frame, params=None, **more):
    X, y = frame
    quiet = {} if kind.__name__ == "LGBMRanker" else {"verbose": False}
    ranker = kind(objective=bp.QBRank(), **SMALL | (params or {}))
    ranker.fit(X, y, qid="session", eval_set=[(X, y)], **quiet, **more)
    return sorted(name.removeprefix("pre_") for results in ranker.evals_result_.values() for name in results), ranker


@pytest.mark.parametrize("names", METRICS)
def test_names_of_metrics_mean_the_same_in_fit_and_in_score(frame, names):
    lgb = pytest.importorskip("lightgbm")
    given = list(names) if isinstance(names, tuple) else names
    at = {"eval_at": [3]} if any(name.islower() for name in METRICS[names]) else {}  # which ours do not read
    for params, more in (({}, {"eval_metric": given}), ({"metrics": given}, {}), ({"metric": given}, {})):
        found, ranker = evaluated(bp.LGBMRanker, frame, {**params, "verbose": -1}, **more, **at)
        assert found == sorted(METRICS[names])
        plain = ranker.export()
        assert type(plain) is lgb.LGBMRanker
        assert "boostplug" not in repr(plain.get_params())


@pytest.mark.parametrize("name", ["NDCG@10", "mrr", ["ndcg@3", "MAP", bp.MRR()]])
def test_xgboost_takes_our_names_of_metrics(frame, name):
    pytest.importorskip("xgboost")
    found, ranker = evaluated(bp.XGBRanker, frame, {"eval_metric": name})
    assert found == {"NDCG@10": ["NDCG@10"], "mrr": ["MRR"]}.get(str(name), ["MAP", "MRR", "ndcg@3"])
    assert "boostplug" not in repr(ranker.export().get_params())


def test_a_misspelt_metric_is_refused(kind, frame):
    named = [({"eval_metric": "ndgc"}, {})] if kind.__name__ == "XGBRanker" else []
    named = named or [({}, {"eval_metric": "ndgc"}), ({}, {"eval_metric": ["ndcg", "ndgc"]}), ({"metric": "ndgc"}, {})]
    for params, more in named:
        with pytest.raises(
            ValueError, match=r"eval_metric='ndgc' is no metric of \w+: there is no metric 'ndgc'; there"
        ):
            evaluated(kind, frame, params, **more)


def test_a_loss_by_its_name_also_where_frameworks_differ_in_case_only(kind, frame):
    X, y = frame
    for name, loss in {"LambdaRank": bp.LambdaRank(), "crr": bp.CRR()}.items():
        one, other = (kind(objective=objective, **SMALL).fit(X, y, qid="session") for objective in (name, loss))
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
        assert one.get_params()["objective"] == name
    with pytest.raises(
        ValueError, match="objective='Lambdarank' may be LightGBM's 'lambdarank' or boostplug's 'LambdaR"
    ):
        kind(objective="Lambdarank", **SMALL).fit(X, y, qid="session")
