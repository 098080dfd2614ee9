"""What docs/guides/migration.md calls the same is the same: the frameworks' trees, and the numbers in their logs."""

import numpy as np
import pytest

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

ROUNDS = 5
TRUNCATED = {"truncation": 32, "norm": True}


@pytest.fixture(scope="module")
def fold():
    return bp.datasets.load_bundled()


def booster_of_xgboost(data, objective, loss=None, **params):
    own = {"objective": objective, "base_score": 0, "lambda": 0, "min_child_weight": 0, "max_depth": 4, "nthread": 1}
    return xgb.train({**own, "eta": 0.1 if loss is None else 0.05, **params}, data, ROUNDS, obj=loss)


PLAIN = {"lambdarank_normalization": False, "lambdarank_score_normalization": False}
ALL_PAIRS = {**PLAIN, "lambdarank_num_pair_per_sample": 1000}
AT_5 = bp.LambdaRank(metric=bp.NDCG(5), truncation=5, norm=True)


@pytest.mark.parametrize(
    ("objective", "options", "loss"),
    [
        ("rank:ndcg", {}, bp.LambdaRank(metric=bp.NDCG(32), **TRUNCATED)),
        ("rank:ndcg", {"ndcg_exp_gain": False}, bp.LambdaRank(metric=bp.NDCG(32, gain="linear"), **TRUNCATED)),
        ("rank:ndcg", {"lambdarank_num_pair_per_sample": 5}, AT_5),
        ("rank:ndcg", PLAIN, bp.LambdaRank(metric=bp.NDCG(32), truncation=32)),
        ("rank:map", {}, bp.LambdaRank(metric=bp.MAP(), **TRUNCATED)),
        ("rank:pairwise", ALL_PAIRS, bp.RankNet()),
    ],
    ids=["ndcg", "linear gains", "truncated at 5", "not normalised", "map", "pairwise"],
)
def test_losses_are_those_of_xgboost_at_half_the_learning_rate(fold, objective, options, loss):
    grades = fold.train.y > 0 if objective == "rank:map" else fold.train.y
    data = xgb.DMatrix(fold.train.X, grades, qid=fold.train.qid)
    rows = xgb.DMatrix(fold.test.X)
    theirs = booster_of_xgboost(data, objective, **options).predict(rows)
    ours = booster_of_xgboost(data, objective, loss).predict(rows)
    assert theirs.std() > 0.05
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


def test_average_precision_of_graded_labels_is_that_of_relevant_ones(fold):
    rows, y, qid = xgb.DMatrix(fold.test.X), fold.train.y, fold.train.qid
    theirs = booster_of_xgboost(xgb.DMatrix(fold.train.X, y >= 2, qid=qid), "rank:map").predict(rows)
    loss = bp.LambdaRank(metric=bp.MAP(relevant=2), **TRUNCATED)
    ours = booster_of_xgboost(xgb.DMatrix(fold.train.X, y, qid=qid), "rank:pairwise", loss).predict(rows)
    assert theirs.std() > 0.05
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("norm", "weighted"), [(True, False), (False, False), (True, True)])
def test_lambdarank_is_that_of_lightgbm(fold, norm, weighted):
    weight = np.linspace(0.2, 3.0, len(fold.train.group)).repeat(fold.train.group) if weighted else None
    own = {"lambda_l2": 0, "min_sum_hessian_in_leaf": 0, "num_leaves": 15, "num_threads": 1, "verbose": -1}
    scores = []
    loss = bp.LambdaRank(metric=bp.NDCG(30), truncation=30, norm=norm)
    for objective in ({"objective": "lambdarank", "lambdarank_norm": norm}, {"objective": loss}):
        data = lgb.Dataset(fold.train.X, fold.train.y, group=fold.train.group, weight=weight)
        scores.append(lgb.train({**own, **objective}, data, ROUNDS).predict(fold.test.X))
    assert scores[0].std() > 0.05
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-4)  # LightGBM's sigmoid is a table


@pytest.fixture(scope="module")
def some():
    rng = np.random.default_rng(3)
    group = np.array([12, 23, 9, 30])
    grades = rng.integers(0, 3, group.sum()).astype(float)
    grades[35:44] = 0  # a query without relevant documents
    return group, grades, rng.normal(size=group.sum())


def log_of_xgboost(metric, group, grades, scores, weight=None):
    data = xgb.DMatrix(np.zeros((len(grades), 1)), grades, group=group, base_margin=scores, weight=weight)
    params = {"objective": "rank:pairwise", "eval_metric": metric, "base_score": 0, "eta": 0, "nthread": 1}
    log = {}
    xgb.train(params, data, 1, evals=[(data, "data")], evals_result=log, verbose_eval=False)
    return log["data"][metric][0]


def log_of_lightgbm(metric, k, group, grades, scores, weight=None):
    weight = None if weight is None else np.repeat(weight, group)
    X = np.zeros((len(grades), 1))
    params = {"objective": "lambdarank", "metric": metric, "eval_at": [k], "verbose": -1, "num_threads": 1}
    options = {"feature_pre_filter": False, "verbose": -1}
    data = lgb.Dataset(X, grades, group=group, init_score=scores, weight=weight, params=options)
    log = {}
    lgb.train(params, data, 1, valid_sets=[data], callbacks=[lgb.record_evaluation(log)])
    return log["training"][f"{metric}@{k}"][0]


@pytest.mark.parametrize("k", [3, 10])
def test_logs_of_ndcg_are_what_the_guide_says(some, k):
    group, grades, scores = some
    queries = bp.Queries(grades, group=group)
    log = log_of_xgboost(f"ndcg@{k}", *some)
    assert bp.NDCG(k, empty=1)(scores, queries) == pytest.approx(log, abs=1e-6)
    assert bp.NDCG(k, empty=0)(scores, queries) == pytest.approx(log_of_xgboost(f"ndcg@{k}-", *some), abs=1e-6)
    assert bp.NDCG(k, empty=1)(scores, queries) == pytest.approx(log_of_lightgbm("ndcg", k, *some), abs=1e-6)
    tied = np.round(scores)
    ours = bp.NDCG(k, empty=1, ties="order")(tied, queries)
    assert ours == pytest.approx(log_of_lightgbm("ndcg", k, group, grades, tied), abs=1e-6)
    assert abs(ours - bp.NDCG(k, empty=1)(tied, queries)) > 1e-3


def test_logs_of_ndcg_are_what_the_guide_says_with_weights(some):
    group, grades, scores = some
    weight = np.array([0.5, 3.0, 1.5, 0.7])
    queries = bp.Queries(grades, group=group, weight=weight)
    ours = bp.NDCG(10, empty="unweighted")(scores, queries)
    assert ours == pytest.approx(log_of_xgboost("ndcg@10", *some, weight), abs=1e-6)
    assert ours == pytest.approx(log_of_lightgbm("ndcg", 10, *some, weight), abs=1e-6)
    assert abs(ours - bp.NDCG(10, empty=1)(scores, queries)) > 1e-2
    assert bp.NDCG(10, empty=0)(scores, queries) == pytest.approx(log_of_xgboost("ndcg@10-", *some, weight), abs=1e-6)
    unweighted = bp.Queries(grades, group=group)
    assert bp.NDCG(10, empty="unweighted")(scores, unweighted) == bp.NDCG(10, empty=1)(scores, unweighted)
    assert bp.Metric.parse("NDCG(empty='unweighted')@10") == bp.NDCG(10, empty="unweighted")


def kaggles_map(k, group, relevant, scores):
    """Return the mean of Kaggle's apk: hits add the precision at their rank, over min(relevant documents, k)."""
    values = []
    for start, size in zip(np.cumsum(group) - group, group, strict=True):
        ranked = relevant[start : start + size][np.argsort(-scores[start : start + size])]
        total = sum(ranked[: j + 1].sum() / (j + 1) for j in range(k) if ranked[j])
        values.append(total / min(ranked.sum(), k) if ranked.any() else 0.0)
    return np.mean(values)


def test_logs_of_map_and_precision_are_what_the_guide_says(some):
    group, grades, scores = some
    relevant = (grades > 1).astype(float)
    queries = bp.Queries(relevant, group=group)
    whole = bp.MAP(empty=1)(scores, queries)
    assert whole == pytest.approx(log_of_xgboost("map", group, relevant, scores), abs=1e-6)
    assert whole == pytest.approx(log_of_lightgbm("map", 100, group, relevant, scores), abs=1e-6)
    at_3 = bp.MAP(3, divisor="reachable", empty=1)(scores, queries)
    assert at_3 == pytest.approx(log_of_xgboost("map@3", group, relevant, scores), abs=1e-6)
    assert at_3 == pytest.approx(log_of_lightgbm("map", 3, group, relevant, scores), abs=1e-6)
    assert abs(at_3 - bp.MAP(3, empty=1)(scores, queries)) > 1e-2
    none = bp.MAP(3, divisor="reachable", empty=0)(scores, queries)
    assert none == pytest.approx(log_of_xgboost("map@3-", group, relevant, scores), abs=1e-6)
    weight = np.array([0.5, 3.0, 1.5, 0.7])
    of_weights = bp.MAP(3, divisor="reachable", empty=1)(scores, bp.Queries(relevant, group=group, weight=weight))
    assert of_weights == pytest.approx(log_of_xgboost("map@3", group, relevant, scores, weight), abs=1e-6)
    assert of_weights == pytest.approx(log_of_lightgbm("map", 3, group, relevant, scores, weight), abs=1e-6)
    graded = bp.MAP(3, divisor="reachable", empty=1)(scores, bp.Queries(grades, group=group))
    assert graded == pytest.approx(log_of_lightgbm("map", 3, group, grades, scores), abs=1e-6)
    with pytest.raises(xgb.core.XGBoostError, match="binary labels"):
        log_of_xgboost("map@3", group, grades, scores)
    assert none == pytest.approx(kaggles_map(3, group, relevant, scores), abs=1e-12)
    precision = log_of_xgboost("pre@3", group, relevant, scores)
    assert bp.Precision(3, empty=0)(scores, queries) == pytest.approx(precision, abs=1e-6)
