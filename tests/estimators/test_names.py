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
    found = kind(objective=bp.QBRank(), **SMALL).fit(X, y, qid="session", eval_set=[(X, y)], verbose=False) if (
        kind.__name__ == "XGBRanker"
    ) else kind(objective=bp.QBRank(), **SMALL).fit(X, y, qid="session", eval_set=[(X, y)])  # fmt: skip
    np.testing.assert_array_equal(found.predict(X), expected.predict(features))
    np.testing.assert_array_equal(found.predict(features), expected.predict(features))
    assert found.score(X, y, qid="session") == expected.score(features, y, qid=X["session"])


@pytest.mark.parametrize("text", ["QBRank(preference_weight=0.3)", "crr", "0.5*RankNet() + 0.5*SquaredError()"])
def test_a_loss_as_the_command_line_spells_it(kind, frame, text):
    X, y = frame
    (loss,) = bp.Loss.parse(text)
    one, other = (kind(objective=objective, **SMALL).fit(X, y, qid="session") for objective in (text, loss))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.get_params()["objective"] == text


def test_a_metric_by_its_name(kind, frame):
    X, y = frame
    ranker = kind(objective=bp.QBRank(), **SMALL).fit(X, y, qid="session")
    assert ranker.score(X, y, qid="session", metric="NDCG@5") == ranker.score(X, y, qid="session", metric=bp.NDCG(5))
