"""AdaRankRanker against the literal algorithm, round by round; its stopping rules, cap, weights and refusals."""

from itertools import pairwise

import numpy as np
import pytest
from rankers import literal_adarank as literal

from boostplug import MAP, NDCG, Metric, Queries
from boostplug.rankers.adarank import AdaRankRanker

CAP = 10.0


def problem(seed, *, longest=5, n_features=5):
    """A few short queries with tied and missing values, a duplicate column, and a constant one."""
    rng = np.random.default_rng(seed)
    group = rng.integers(1, longest + 1, rng.integers(2, 6))
    n = int(group.sum())
    y = rng.integers(0, 3, n)
    X = rng.integers(-2, 3, (n, n_features)) + 0.5 * y[:, None] * rng.random(n_features).round()
    X = X * rng.uniform(0.5, 2.0, n_features)  # or sums of equal weights tie but for rounding
    X[:, -2] = X[:, 0]
    X[:, -1] = 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, group


def repeated(X, y, group, times):
    """The data with query q as often as `times[q]`: what an integer weight is to the literal algorithm."""
    order = np.repeat(np.arange(len(group)), times)
    starts = np.r_[0, np.cumsum(group)]
    rows = np.concatenate([np.arange(starts[q], starts[q + 1]) for q in order])
    return X[rows], y[rows], group[order]


class Agreement(Metric):
    """Kendall's tau_a of scores and labels, a metric of a user's own: in [-1, 1], ties 0."""

    def compute_per_query(self, scores, queries):
        found = []
        for first, last in pairwise(queries.boundaries):
            own, labels = scores[first:last], queries.labels[first:last]
            signs = np.sign(own[:, None] - own) * np.sign(labels[:, None] - labels)
            found.append(signs.sum() / max(1, len(labels) * (len(labels) - 1)))
        return np.array(found)


METRICS = {"MAP": MAP(empty=0), "NDCG": NDCG(None, empty=0, ties="order"), "agreement": Agreement()}


def measure_of(metric, y, group):
    """Return the metric of each query as a function of scores."""
    queries = Queries(y, group=group)
    return lambda scores: metric.per_query(scores, queries)


def read(X):
    """Return what the ranker reads: single precision, missing values 0."""
    return np.nan_to_num(X.astype(np.float32)).astype(np.float64)


def assert_same_rounds(ranker, run, X, y, group, metric, n_features):
    history = ranker.history_
    n_rounds = len(history.get("alpha", ()))
    if n_rounds < len(run.rounds):  # α ≤ 0 ends ours
        assert run.rounds[n_rounds].phi <= 1e-12
    else:
        assert n_rounds == len(run.rounds)
        assert ranker.best_iteration_ == run.best
    queries = Queries(y, group=group)
    values = read(X)
    scores = np.zeros(len(X))
    for t, theirs in enumerate(run.rounds[:n_rounds]):
        assert history["feature"][t] == theirs.feature % n_features
        assert history["sign"][t] == (1 if theirs.feature < n_features else -1)
        for name in ("alpha", "phi", "delta_min", "bound"):
            rounding = 1e-6 if name == "bound" and history["capped"][: t + 1].any() else 1e-11  # e^10 times that of φ
            assert history[name][t] == pytest.approx(getattr(theirs, name), rel=1e-9, abs=rounding), (name, t)
        assert history["train_metric"][t] == pytest.approx(theirs.performance.mean(), rel=1e-12)
        assert history["risk"][t] == pytest.approx(np.exp(-theirs.performance).mean(), rel=1e-12)
        if "valid_metric" in history:
            assert history["valid_metric"][t] == pytest.approx(theirs.valid, rel=1e-12)
        scores += history["sign"][t] * history["alpha"][t] * values[:, history["feature"][t]]
        found = metric.per_query(scores, queries)
        np.testing.assert_allclose(found, theirs.performance, rtol=1e-12, atol=1e-15)
        if t + 1 < n_rounds:  # our P chose the next round: φ above is its sum
            P = np.exp(-np.asarray(found))
            np.testing.assert_allclose(P / P.sum(), run.rounds[t + 1].distribution, rtol=1e-12)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", range(16))
def test_rounds_are_those_of_the_literal_algorithm(name, seed):
    X, y, group = problem(seed)
    options = {"stop": ["patience", "paper"][seed % 4 == 3], "patience": 1 + seed % 5, "no_repeat": seed % 2 == 0}
    arguments, held_out = {}, None
    if seed % 3 == 0:
        X_valid, y_valid, group_valid = problem(seed + 1000)
        arguments = {"eval_set": [(X_valid, y_valid)], "eval_group": [group_valid]}
        held_out = read(X_valid), measure_of(METRICS[name], y_valid, group_valid)
    metric = METRICS[name]
    ranker = AdaRankRanker(metric=metric, n_estimators=12, negated=False, **options)
    ranker.fit(X, y, group=group, **arguments)
    measure = measure_of(metric, y, group)
    run = literal.adarank(read(X), measure, 12, cap=CAP, validation=held_out, **options)
    assert_same_rounds(ranker, run, X, y, group, metric, X.shape[1])
    reasons = {
        "rounds": "n_estimators",
        "no improvement": "has not improved",
        "features used up": "every feature has been chosen",
    }
    assert reasons[run.stopped] in ranker.stop_reason_ or "no feature is better than none" in ranker.stop_reason_


@pytest.mark.parametrize("seed", range(10))
def test_integer_query_weights_repeat_queries(seed):
    X, y, group = problem(seed + 50)
    weight = np.random.default_rng(seed).integers(0, 4, len(group))
    weight[0] = 2
    options = {"stop": "patience", "patience": 4, "no_repeat": seed % 2 == 0}
    ranker = AdaRankRanker(metric=MAP(empty=0), n_estimators=8, negated=False, **options)
    ranker.fit(X, y, group=group, sample_weight=weight)
    X, y, group = repeated(X, y, group, weight)
    run = literal.adarank(read(X), measure_of(MAP(empty=0), y, group), 8, cap=CAP, **options)
    assert_same_rounds(ranker, run, X, y, group, MAP(empty=0), X.shape[1])


@pytest.mark.parametrize("seed", range(10))
def test_negated_features_are_further_columns(seed):
    X, y, group = problem(seed + 100)
    options = {"stop": "patience", "patience": 4, "no_repeat": False}
    ranker = AdaRankRanker(metric=METRICS["agreement"], n_estimators=8, negated=True, **options).fit(X, y, group=group)
    run = literal.adarank(read(np.hstack([X, -X])), measure_of(METRICS["agreement"], y, group), 8, cap=CAP, **options)
    assert_same_rounds(ranker, run, X, y, group, METRICS["agreement"], X.shape[1])


def test_a_reversed_feature_gets_a_negative_weight_and_is_chosen_one_way():
    X, y = np.array([[0.0], [1.0], [2.0]]), [2, 1, 0]
    ranker = AdaRankRanker(metric=METRICS["agreement"], negated=True).fit(X, y, group=[3])
    assert ranker.history_["sign"].tolist() == [-1]  # and not +1 in a second round
    assert ranker.history_["alpha"].tolist() == [CAP]
    np.testing.assert_array_equal(ranker.predict(X), [0.0, -CAP, -2 * CAP])
    assert "every feature has been chosen" in ranker.stop_reason_
    upright = AdaRankRanker(metric=METRICS["agreement"], negated=False).fit(X, y, group=[3])
    assert "no feature is better than none" in upright.stop_reason_
    assert upright.best_iteration_ == 0
    np.testing.assert_array_equal(upright.predict(X), 0.0)


@pytest.mark.parametrize("metric", [MAP(), NDCG(3), METRICS["agreement"]], ids=["MAP", "NDCG", "own"])
@pytest.mark.parametrize("seed", range(15))
def test_theorem_1_holds_in_each_round(metric, seed):
    X, y, group = problem(seed + 200, longest=9)
    y[: group[0]] = np.arange(group[0]) % 2
    y[0] = 1
    weight = np.random.default_rng(seed).exponential(size=len(group))
    ranker = AdaRankRanker(metric=metric, n_estimators=30, patience=30, no_repeat=seed % 2 == 0, negated=True)
    ranker.fit(X, y, group=group, sample_weight=weight)
    history = ranker.history_
    assert len(history["bound"]) >= 2
    assert (history["train_metric"] >= history["bound"] - 1e-9).all()
    # The bound is a product: each factor from the round's own record.
    alpha, phi = history["alpha"], history["phi"]
    chord = (1 + phi) / 2 * np.exp(-alpha) + (1 - phi) / 2 * np.exp(alpha)
    np.testing.assert_allclose(1 - history["bound"], np.cumprod(np.exp(-history["delta_min"]) * chord), rtol=1e-6)
    own = history["capped"] == 0
    np.testing.assert_allclose(chord[own], np.sqrt(1 - phi[own] ** 2), rtol=1e-6)


def test_its_own_metric_chooses_unless_another_is_asked_for():
    X, y, group = problem(22, longest=9, n_features=8)
    X_valid, y_valid, group_valid = problem(122, longest=9, n_features=8)
    arguments = {"group": group, "eval_set": [(X_valid, y_valid)], "eval_group": [group_valid]}
    alone = AdaRankRanker(patience=100).fit(X, y, **arguments)
    other = AdaRankRanker(patience=100).fit(X, y, **arguments, eval_metric=NDCG(1))
    stopped = AdaRankRanker(patience=100).fit(X, y, **arguments, early_stopping_rounds=100)
    best = {name: 1 + int(np.argmax(values)) for name, values in other.evals_result_["validation_0"].items()}
    best["NDCG@10"] = 1 + int(np.argmax(alone.evals_result_["validation_0"]["NDCG@10"]))
    best["MAP"] = 1 + int(np.argmax(alone.history_["valid_metric"]))
    assert len(set(best.values())) == 3  # or the rules could not be told apart
    assert alone.best_iteration_ == best["MAP"]
    assert other.best_iteration_ == len(other.model_) == best["NDCG@1"]
    assert stopped.best_iteration_ == best["NDCG@10"]
    assert len(alone.history_["alpha"]) == len(other.history_["alpha"]) == 8


def test_queries_on_which_the_metric_is_undefined_take_no_part():
    X, y, group = problem(21)
    y[: group[0]] = 0
    y[group[0]] = 1
    whole = AdaRankRanker().fit(X, y, group=group).history_
    rest = AdaRankRanker().fit(X[group[0] :], y[group[0] :], group=group[1:]).history_
    for name, values in rest.items():
        np.testing.assert_array_equal(whole[name], values, err_msg=name)
