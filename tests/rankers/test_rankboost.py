"""RankBoost and RankBoost+, round by round against brute force over all pairs and all stumps."""

from itertools import pairwise

import numpy as np
import pytest
from rankers import literal_rankboost as literal
from rankers.problems import fit, has_pairs, problem
from sklearn.base import clone

from boostplug import Pairs
from boostplug.rankers import RankBoostRanker

ROUNDS = 12
RUNS = {
    "discrete": lambda H, pairs, order: literal.discrete(H, pairs, ROUNDS, allow_negative=True),
    "discrete, positive": lambda H, pairs, order: literal.discrete(H, pairs, ROUNDS),
    "continuous": lambda H, pairs, order: literal.continuous(H, pairs, ROUNDS),
    "plus": lambda H, pairs, order: literal.plus(H, pairs, ROUNDS, order),
}
RANKERS = {
    "discrete": RankBoostRanker(variant="discrete"),
    "discrete, positive": RankBoostRanker(variant="discrete", allow_negative=False),
    "continuous": RankBoostRanker(variant="continuous"),
    "plus": RankBoostRanker(),
}
# The seed modulo 2, 3 and 5 chooses grades, weights and explicit pairs.
PROBLEMS = [
    pytest.param(seed, id=str(seed))
    for seed in range(12)
    if has_pairs(problem(seed, weighted=seed % 3 == 0, explicit=seed % 5 == 0)[1])
]


def pairs_of(queries):
    """Return the critical pairs as the literal code takes them."""
    weight = np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight
    if queries.pairs is None:
        return literal.graded_pairs(queries.labels, queries.boundaries, weight)
    winner, loser = queries.pairs.winner, queries.pairs.loser
    return literal.pairs_of(winner, loser, queries.pairs.weight * np.sqrt(weight[winner] * weight[loser]))


def stumps_of(X, pairs):
    """Return the stumps that differ on the documents in pairs, whichever side is up, and their thresholds."""
    names, H = literal.stumps(X)
    kinds = {}
    for j, h in enumerate(H[:, np.union1d(pairs.winner, pairs.loser)]):
        if h.any() and not h.all():
            kinds.setdefault(min(tuple(h), tuple(1 - h)), j)
    first = sorted(kinds.values())
    return [names[j] for j in first], H[first]


def fitted(X, queries, seed, ranker):
    return fit(clone(ranker).set_params(n_estimators=ROUNDS, random_state=seed), X, queries)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("seed", PROBLEMS)
def test_rounds_agree_with_brute_force(seed, name):
    grades = "real" if seed % 2 else "integer"
    X, queries = problem(seed, grades=grades, weighted=seed % 3 == 0, explicit=seed % 5 == 0)
    pairs = pairs_of(queries)
    names, H = stumps_of(X, pairs)
    run = RUNS[name](H, pairs, np.random.RandomState(seed).permutation(len(H)))
    ranker = fitted(X, queries, seed, RANKERS[name])
    history = ranker.history_
    keys = ("alpha", "z", "delta", "e1", "e2")[: 5 if name == "plus" else 4]
    for t, expected in enumerate(run.rounds):
        wanted = [getattr(expected, key) for key in keys]
        np.testing.assert_allclose([history[key][t] for key in keys], wanted, rtol=1e-8, atol=1e-10)
        ((stump, _),) = ranker.model_.rounds[t]
        assert (stump.feature, stump.threshold) == pytest.approx(names[expected.ranker], rel=1e-6)
    if len(run.rounds) == ROUNDS:
        assert ranker.stop_reason_ == "n_estimators"
    elif run.stopped == "no edge":
        assert ranker.stop_reason_ == "no weak ranker has an edge left"
        assert len(history["alpha"]) == len(run.rounds)
    else:
        assert history["undefined"][len(run.rounds)]


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("seed", PROBLEMS[:8])
def test_theorems_1_and_2(seed, name):
    X, queries = problem(seed, weighted=True, explicit=seed % 5 == 0)
    history = fitted(X, queries, seed, RANKERS[name]).history_
    product = np.cumprod(history["z"])
    np.testing.assert_allclose(history["e2" if name == "plus" else "e1"], product, rtol=1e-10)
    for lower, upper in pairwise(key for key in ("r2", "r1", "e1", "e2") if key in history):
        assert (history[lower] <= history[upper] * (1 + 1e-10) + 1e-15).all()
    if not history["undefined"].any():
        assert (product <= history["bound"] * (1 + 1e-10)).all()


def test_training_errors_are_those_of_the_predictions():
    for seed in range(100, 108):
        X, queries = problem(seed, weighted=seed % 2 == 0, n_features=6)
        if not has_pairs(queries):
            continue
        ranker = fitted(X, queries, seed, RankBoostRanker())
        scores = np.round(ranker.predict(X), 9)  # what is tied in exact arithmetic is tied here
        assert ranker.history_["r1"][-1] == pytest.approx(literal.r1(scores, pairs_of(queries)), abs=1e-12)
        assert ranker.history_["r2"][-1] == pytest.approx(literal.r2(scores, pairs_of(queries)), abs=1e-12)


@pytest.mark.parametrize("variant", ["discrete", "continuous", "plus"])
def test_a_stump_that_ranks_all_pairs_right_ends_the_training(variant):
    X, y = np.array([[1.0], [np.nan], [1.0], [np.nan]]), [1, 0, 1, 0]
    ranker = RankBoostRanker(variant=variant).fit(X, y, group=[2, 2])
    assert ranker.stop_reason_ == "one weak ranker ranks all pairs right"
    assert ranker.history_["alpha"] == pytest.approx([0.5 * np.log((1 + 1 / 4) / (1 / 4))])
    assert ranker.model_.rounds[0][0][0].threshold == -np.inf


def test_rankboost_plus_ignores_a_limit_on_its_weights():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.round(-2 * X[:, 0] + X[:, 1])  # less is better in one feature
    for variant, same in (("plus", True), ("continuous", False)):
        rankers = (RankBoostRanker(n_estimators=5, variant=variant, allow_negative=flag) for flag in (True, False))
        free, limited = (ranker.fit(X, y, group=[10] * 4).model_ for ranker in rankers)
        assert (free == limited) is same


def test_more_thresholds_than_allowed_are_thinned_at_random():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    rankers = (RankBoostRanker(max_thresholds=3, n_estimators=30, random_state=seed) for seed in (0, 0, 1))
    stumps = [{stump for stump, _ in ranker.fit(X, y, group=[30, 30]).model_.terms} for ranker in rankers]
    assert stumps[0] == stumps[1] != stumps[2]
    assert all(len(found) <= 6 for found in stumps)


def test_pairs_across_queries_and_unlabelled_rows():
    X = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0], [5.0, 1.0]])
    pairs = Pairs([0, 3, 1], [2, 1, 2])
    ranker = RankBoostRanker(n_estimators=5).fit(X, None, group=[2, 2], pairs=pairs)
    assert ranker.history_["r1"][-1] == 0
    assert (np.diff(ranker.predict(X)[[2, 1, 3]]) > 0).all()
