"""NDCGBoostRanker against the literal Algorithm 1, round by round; classifiers, weights, the cap, refusals."""

import numpy as np
import pytest
from rankers import literal_ndcg_boost as literal
from rankers.problems import problem
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from boostplug import Pairs
from boostplug.rankers.ndcg_boost import NDCGBoostRanker

ROUNDS = 10


def ranking(seed, *, real=False, weighted=False):
    """Return X, grades of at least 0, sizes and weights of a few short queries."""
    X, queries = problem(seed, grades="real" if real else "integer")
    weight = np.random.default_rng(seed).random(queries.n_queries) + 0.2 if weighted else None
    y = queries.labels - queries.labels.min() if real else queries.labels
    return X, y, np.diff(queries.boundaries), weight


def collection(y, group, weight=None):
    return literal.collection(y, np.r_[0, np.cumsum(group)], weight)


def assert_same_rounds(ranker, X, rounds, F, rel=1e-9):
    history = ranker.history_
    for t, ((weak, alpha),) in enumerate(ranker.model_.rounds):
        expected = rounds[t]
        assert weak.feature == expected.stump.feature
        assert weak.threshold == pytest.approx(expected.stump.threshold)
        assert alpha == history["alpha"][t] == pytest.approx(expected.alpha, rel=rel)
        for name, value in {"m": expected.m, "h": expected.h, "edge": expected.wf}.items():
            assert history[name][t] == pytest.approx(value, rel=rel), (name, t)
        assert history["undefined"][t] == (abs(expected.alpha) == 10.0)
    if len(ranker.model_) < len(rounds):  # what is left is rounding
        assert abs(rounds[len(ranker.model_)].wf) < 1e-15
    else:
        np.testing.assert_allclose(ranker.predict(X), F, rtol=rel, atol=rel)  # the F of Eq. 12


@pytest.mark.parametrize("seed", range(24))
def test_rounds_are_those_of_the_literal_algorithm(seed):
    X, y, group, weight = ranking(seed, real=seed % 2 == 1, weighted=seed % 3 == 0)
    rounds, F = literal.ndcg_boost(X, collection(y, group, weight), ROUNDS)
    ranker = NDCGBoostRanker(n_estimators=ROUNDS)
    ranker.fit(X, y, group=group, sample_weight=weight)
    assert_same_rounds(ranker, X, rounds, F)


def test_a_perfect_stump_gets_the_largest_alpha():
    X, y, group = [[1.0], [0.0], [0.0]], [1, 0, 0], [3]
    ranker = NDCGBoostRanker(n_estimators=3).fit(X, y, group=group)
    rounds, F = literal.ndcg_boost(np.array(X), collection(y, group), 3)
    assert ranker.history_["undefined"].tolist() == [1.0, 1.0, 1.0]
    assert ranker.history_["alpha"].tolist() == [10.0] * 3
    assert_same_rounds(ranker, np.array(X), rounds, F, rel=1e-7)
    assert NDCGBoostRanker(n_estimators=1).fit(np.negative(X), y, group=group).history_["alpha"] == [-10.0]


def test_equal_grades_hold_steps_back():
    # G = (1, 1, 0), f = 1 on the first: up 2, down 1 by Eq. 15; up 1, down 0 without the pair of equal grades
    ranker = NDCGBoostRanker(n_estimators=1).fit([[1.0], [0.0], [0.0]], [1, 1, 0], group=[3])
    assert ranker.history_["alpha"] == pytest.approx(0.5 * np.log(2.0))


def test_explicit_pairs_are_refused():
    with pytest.raises(ValueError, match="pairs cannot be used by NDCG_Boost, whose weights need gains; pass grades"):
        NDCGBoostRanker().fit([[1.0], [0.0]], None, group=[2], pairs=Pairs([0], [1]))


@pytest.mark.parametrize("classifier", [None, DecisionTreeClassifier(max_depth=1)])
def test_training_ends_where_nothing_can_be_gained(classifier):
    ranker = NDCGBoostRanker(classifier=classifier)
    varied = np.arange(4.0)[:, None]
    for y, group in (([1, 1, 1, 1], [4]), ([0, 0, 2, 2], [2, 2]), ([0, 1, 2, 3], [1, 1, 1, 1])):
        with pytest.raises(ValueError, match="y holds no pair to learn from"):
            ranker.fit(varied, y, group=group)
    alike = np.array([0.0, 0.0, 1.0, 1.0])[:, None]  # it tells queries apart, not documents
    assert "no weak ranker has an edge left" in ranker.fit(alike, [0, 1, 0, 2], group=[2, 2]).stop_reason_
    assert not ranker.predict(alike).any()
    if classifier is None:
        constant = ranker.fit(np.full((4, 1), np.nan), [0, 1, 0, 2], group=[2, 2])
        assert constant.stop_reason_ == "no feature takes two values"
        # steps of 10, until nothing is left to weigh
        perfect = NDCGBoostRanker().fit([[1.0], [0.0]], [1, 0], group=[2])
        assert perfect.history_["m"][-1] == pytest.approx(0.0, abs=1e-12)
        assert "far apart" in perfect.stop_reason_


def test_row_weights_weigh_pairs():
    X, y, group, _ = ranking(7)
    v = np.random.default_rng(8).random(len(y)) + 0.1
    ranker = NDCGBoostRanker(n_estimators=5).fit(X, y, group=group, sample_weight=v)
    data = collection(y, group)
    mean = np.array([v[rows].mean() for _, rows in literal.queries_of(data)])
    F = np.zeros(len(y))
    for t, ((stump, alpha),) in enumerate(ranker.model_.rounds):
        f = stump.predict(X)
        up = down = m = h = 0.0
        for share, rows in literal.queries_of(data):
            for i in rows:
                later = 0.0
                for j in rows:
                    root = np.sqrt(v[i] * v[j])
                    mass = share * data.gain[i] * root * literal.gamma(F[i] - F[j])
                    up += mass * (f[i] > f[j])
                    down += mass * (f[i] < f[j])
                    later += (
                        (i != j) * np.sqrt(v[j] / v[i]) * literal.sigmoid(F[j] + alpha * f[j] - F[i] - alpha * f[i])
                    )
                m += v[i] * share * data.gain[i] * later
                h += v[i] * share * data.gain[i] / np.log2(2.0 + later)
        F += alpha * f
        assert alpha == pytest.approx(0.5 * np.log(up / down))
        assert ranker.history_["edge"][t] == pytest.approx(up - down)
        assert ranker.history_["m"][t] == pytest.approx(m / mean.sum())
        assert ranker.history_["h"][t] == pytest.approx(h / mean.sum())


class Watcher(DecisionTreeClassifier):
    """Says 1 where a column is above a number, whatever it is shown, and keeps what that was."""

    seen = ()

    def __init__(self, column=0, above=2.5):
        super().__init__(max_depth=1)
        self.column = column
        self.above = above

    def fit(self, X, y):
        type(self).seen += ((X, y),)
        sides = np.zeros((2, X.shape[1]))
        sides[:, self.column] = self.above - 0.5, self.above + 0.5
        return super().fit(sides, [0, 1])


def test_a_classifier_is_shown_a_sample_by_weights():
    Watcher.seen = ()
    X, y, group, _ = ranking(24)
    X = np.column_stack([X[:, 1:], np.arange(len(X))]).astype(np.float32)
    ranker = NDCGBoostRanker(n_estimators=4, classifier=Watcher(), random_state=3)
    ranker.fit(X, y, group=group)
    data, F, f = collection(y, group), np.zeros(len(y)), (X[:, 0] > 2.5).astype(float)
    assert len(Watcher.seen) == len(ranker.model_) == 4
    for t, (shown, classes) in enumerate(Watcher.seen):
        w = literal.document_weights(F, data)
        assert shown.shape == X.shape
        drawn = shown[:, -1].astype(int)
        np.testing.assert_array_equal(2 * classes - 1, np.sign(w[drawn]))  # rows without weight are not drawn
        alpha = literal.combination_weight(*literal.up_and_down(F, f, data), 10.0)
        assert ranker.history_["alpha"][t] == pytest.approx(alpha, rel=1e-9)
        assert ranker.history_["edge"][t] == pytest.approx(w @ f)
        F += alpha * f
    np.testing.assert_allclose(ranker.predict(X), F, atol=1e-9)


CLASSIFIERS = {
    "stump": DecisionTreeClassifier(max_depth=1),
    "tree": DecisionTreeClassifier(max_depth=3, max_features=2),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_learn_and_are_seeded(name):
    rng = np.random.default_rng(0)
    group = np.full(10, 20)
    y = rng.integers(0, 3, 200)
    X = (y[:, None] + rng.normal(scale=2.0, size=(200, 5))).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    ranker = NDCGBoostRanker(n_estimators=8, classifier=CLASSIFIERS[name], random_state=5).fit(X, y, group=group)
    assert ranker.score(X, y, group=group) > 0.75
    history = ranker.history_
    assert history["m"][-1] < 0.85 * literal.objective_m(np.zeros(200), collection(y, group))
    F = ranker.predict(X)
    assert history["m"][-1] == pytest.approx(literal.objective_m(F, collection(y, group)), rel=1e-6)
    for (weak, _), *_ in ranker.model_.rounds:
        assert set(np.unique(weak.predict(X))) == {0.0, 1.0}
    again = clone(ranker).fit(X, y, group=group)
    np.testing.assert_array_equal(again.predict(X), F)
    np.testing.assert_array_equal(ranker.predict(X.astype(np.float64)), F)
    other = clone(ranker).set_params(random_state=6).fit(X, y, group=group)
    assert not np.array_equal(other.predict(X), F)
