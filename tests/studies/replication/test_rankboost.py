"""RankBoost+ along all stumps, and F2 of the other variants: the theorems, and the numbers that the paper prints."""

import math

import numpy as np
import pytest
from rankers import literal_rankboost as literal
from rankers.problems import problem
from rankers.test_rankboost import PROBLEMS, RANKERS, fitted, theorems_hold
from rankers.test_rankboost_numbers import fit as fit_on_rankers
from rankers.test_rankboost_numbers import half_log, indicator, lemma_3, weights

from boostplug import Pairs, Queries
from boostplug.weak_rankers import Cuts
from studies.replication.training.rankboost import Combinations, OptimalRankBoost, WithE2


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("seed", PROBLEMS[:8])
def test_f2_by_its_sum_over_pairs(seed, name):
    X, queries = problem(seed, weighted=True, explicit=seed % 5 == 0)
    with_e2 = fitted(X, queries, seed, WithE2(**RANKERS[name].get_params())).history_
    theorems_hold(with_e2, loss="e2" if name == "plus" else "e1")
    plain = fitted(X, queries, seed, RANKERS[name]).history_
    for key, values in plain.items():
        np.testing.assert_allclose(with_e2[key], values, rtol=1e-10, err_msg=key)


@pytest.mark.parametrize("seed", PROBLEMS[:8])
def test_theorem_2_along_all_stumps(seed):
    X, queries = problem(seed, weighted=True, explicit=seed % 5 == 0)
    theorems_hold(fitted(X, queries, seed, OptimalRankBoost()).history_, loss="e2", bounded=False)


def test_lemma_3():
    ranker = fit_on_rankers(*lemma_3(), 100, OptimalRankBoost)
    assert weights(ranker, 2) == pytest.approx([0.25740485, 0.18032951], abs=5e-9)
    assert ranker.history_["e2"][-1] == pytest.approx(0.94844716, abs=5e-9)


def gap():
    """Pairs (2i, 2i + 1); on them h = (h1 + h2)/2."""
    h = indicator(12, [0, 2, 4, 6, 9])
    H = np.array([h + indicator(12, [10]), h + indicator(12, [11]), h])
    return H, literal.pairs_of(range(0, 12, 2), range(1, 12, 2))


def combination(H, pairs):
    """Choose h1 and h2 without weight, and step along h = ½ (h1 + h2) on the pairs."""
    queries = Queries(None, group=[H.shape[1]], pairs=Pairs(pairs.winner, pairs.loser))
    state = Combinations(queries, Cuts(H.T.astype(np.float32), None, np.random.RandomState(0)))
    assert state.admit(0)
    assert state.admit(1)
    assert not state.admit(2)
    weights = state.coordinates(H[2])
    np.testing.assert_allclose(weights, [0.5, 0.5], atol=1e-12)
    return state.along_combination(weights / np.linalg.norm(weights))


def test_theorem_2_gap():
    step = combination(*gap()).record
    assert step["delta"] == pytest.approx(-math.sqrt(0.5), rel=1e-12)
    assert step["alpha"] == pytest.approx(math.log(2) * math.sqrt(0.5), rel=1e-9)
    assert step["z"] == pytest.approx(5 / 6, rel=1e-12)
    assert step["z"] > math.exp(-0.5 * step["delta"] ** 2)
    assert not step["undefined"]


def test_a_combination_without_minimum_gets_the_weight_of_half_a_pair():
    """Right on four pairs, while h1 and h2 cancel on the two that it ties: the loss falls for ever."""
    h = indicator(12, [0, 2, 4, 6])
    H = np.array([h + indicator(12, [8, 11]), h + indicator(12, [9, 10]), h])
    step = combination(H, literal.pairs_of(range(0, 12, 2), range(1, 12, 2)))
    assert step.record["undefined"]
    assert step.terms[0][1] == pytest.approx(half_log(6 / (1 / 2) + 1))
    alpha = step.terms[0][1]
    assert step.record["z"] == pytest.approx((4 * math.exp(-2 * alpha) + 2) / 6)
