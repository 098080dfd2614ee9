"""Positions on their way to the losses: `set_positions`, ``fit(position=)``, `compare`."""

import pickle

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework

import boostplug as bp

LIGHTGBM = FRAMEWORKS["lightgbm"]

RNG = np.random.default_rng(0)
SIZES = RNG.integers(3, 9, 60)
N = int(SIZES.sum())
POSITION = np.concatenate([RNG.permutation(size) + 1 for size in SIZES])  # no page is sorted, least of all the first
X = RNG.integers(0, 9, (N, 4)).astype(float)
CLICKS = (RNG.random(N) < (0.1 + X[:, 0] / 10.0) / POSITION).astype(float)
QUERIES = bp.Queries(CLICKS, group=SIZES, position=POSITION)
LOSS = bp.Unbiased()


def dataset(F, **given):
    return F.data(F.kinds[0], data=X, label=CLICKS, group=SIZES, **given)


def same(found, expected):
    np.testing.assert_array_equal(found, np.asarray(expected, np.float32))


@every_framework
def test_an_attached_position_is_that_of_queries(F):
    made, scores = dataset(F), RNG.normal(size=N)
    for position in (POSITION, POSITION[::-1]):
        bp.set_positions(made, position)
        same(LOSS(scores, made), LOSS.gradient_hessian(scores, QUERIES.with_positions(position)))


def test_positions_stand_beside_pairs_and_labels():
    made = dataset(LIGHTGBM)
    bp.set_positions(made, POSITION)
    bp.set_labels(made, sale=CLICKS[::-1])
    scores = RNG.normal(size=N)
    sale = bp.Queries(CLICKS[::-1], group=SIZES, position=POSITION)
    same(LOSS.on("sale")(scores, made), LOSS.gradient_hessian(scores, sale))
    both = bp.Queries(CLICKS, group=SIZES, position=POSITION, labels_by_name={"sale": CLICKS[::-1]})
    again = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(LOSS.on("sale").gradient_hessian(scores, again), LOSS.gradient_hessian(scores, sale))
    kept = RNG.random(N) < 0.8
    np.testing.assert_array_equal(both.of_rows(kept).position, POSITION[kept])


@every_framework
def test_fit_takes_them_and_keeps_the_curve(F):
    given = {"x": X, "y": CLICKS, "group": SIZES, "position": POSITION}
    ranker = F.fit(LOSS, **given)
    expected = LOSS.position_bias(ranker.predict(X), QUERIES)
    for name, values in ranker.position_bias_.items():
        np.testing.assert_array_equal(values, expected[name])
    assert set(expected) == {"position", "bias"}
    for bound in (LOSS.on("sale"), 0.5 * LOSS + 0.5 * bp.SquaredError()):
        assert set(F.fit(bound, **given, labels={"sale": CLICKS}).position_bias_) == set(expected)
    with pytest.warns(UserWarning, match=r"position is not used by objective RankNet\("):
        ranker = F.fit(bp.RankNet(), **given)
    assert ranker.position_bias_ is None


@every_framework
def test_judged_tables_validate_without_positions_and_under_names_of_their_own(F):
    clicks = pd.DataFrame(X, columns=list("abcd")).assign(page=np.repeat(np.arange(60), SIZES), clicked=CLICKS)
    judged = pd.DataFrame(X, columns=list("abcd")).assign(query=clicks["page"].astype(str), grade=X[:, 0] % 5)
    given = {"qid": "page", "position": "position", "eval_set": [(judged, "grade")], "eval_qid": ["query"]}
    ranker = F.fit(LOSS, clicks.assign(position=POSITION), "clicked", features=list("abcd"), **given)
    (values,) = next(iter(ranker.evals_result_.values())).values()
    expected = bp.NDCG(10).score(judged["grade"], ranker.predict(judged), qid=judged["query"])
    assert values[-1] == pytest.approx(expected, abs=1e-6)
    assert ranker.score(judged, "grade", qid="query") == expected


def test_lightgbms_own_positions_serve_where_no_ranks_are_needed():
    made = dataset(LIGHTGBM, position=POSITION)
    scores = RNG.normal(size=N)
    with pytest.raises(ValueError, match=r"which RankNet.* does not read"):
        bp.RankNet()(scores, made)
    additive = bp.Unbiased(method="additive")
    expected = additive.gradient_hessian(scores, QUERIES)
    np.testing.assert_allclose(additive(scores, made), expected, rtol=1e-5, atol=1e-6)
    bp.set_positions(made, POSITION)
    same(LOSS(scores, made), LOSS.gradient_hessian(scores, QUERIES))


def test_pages_of_a_log_become_training_data():
    features = np.arange(6.0).reshape(3, 2)
    frame = pd.DataFrame(features, columns=["a", "b"], index=list("xyz"))
    for names in (range(3), "xyz", (7, 1, 0)):
        document = [names[row] for row in (2, 0, 0, 1)]
        log = bp.clicks.ClickLog([1, 0, 0, 1], qid=list("aabb"), position=[1, 2, 1, 2], document=document)
        of_rows = features[[2, 0, 0, 1]]
        for X in (of_rows, frame.loc[list("zxxy")], dict(zip(names, features, strict=True))):
            pages = bp.RankingData.from_clicks(X, log)
            np.testing.assert_array_equal(pages.X, of_rows)
            np.testing.assert_array_equal(pages.position, [1, 2, 1, 2])
            assert pages.group.tolist() == [2, 2]
        for function in (bp.RankingData.from_clicks, lambda X, log: bp.clicks.propensity(log, method="em", X=X)):
            for X, message in (
                (features, "X has 3 rows and the log 4; pass one row"),
                ({names[2]: [1.0]}, "X has no features of log.document .* more.; add them"),
            ):
                with pytest.raises(ValueError, match=message):
                    function(X, log)


def test_ranking_data_and_compare_take_them():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame = frame.assign(label=CLICKS, qid=np.repeat(np.arange(60), SIZES), place=POSITION)
    data = bp.RankingData.from_frame(frame, label="label", position="place")
    np.testing.assert_array_equal(data.queries.position, POSITION)
    assert data.n_features == 4
    options = {"label": "label", "baselines": [], "frameworks": ["lightgbm"], "rounds": 1, "seeds": 1}
    of_clicks = {"unbiased": LOSS, "model": bp.ClickLogLoss(propensity=1.0 / np.arange(1.0, 10.0))}
    result = bp.compare(frame, position="place", losses=of_clicks, **options)
    assert set(result.to_frame()["method"]) == {"unbiased", "model"}
    assert "come from lists that were shown (position), and favour the order there" in " ".join(str(result).split())
    with pytest.raises(ValueError, match="model learns from clicks at positions, and train has none"):
        bp.compare(frame, drop=["place"], losses={"model": of_clicks["model"]}, **options)
    without = bp.compare(frame, drop=["place"], losses="all", **options)
    assert "learn from clicks at positions, and the data has no positions" in str(without)
