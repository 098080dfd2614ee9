"""The literal RankBoost and AdaRank that the library is compared with: the theorems of their papers."""

import math

import numpy as np
import pytest
from rankers import literal_adarank as ada
from rankers import literal_rankboost as rb

VARIANTS = {
    "discrete": rb.discrete,
    "discrete-negative": lambda H, pairs, rounds: rb.discrete(H, pairs, rounds, allow_negative=True),
    "continuous": rb.continuous,
    "plus-efficient": rb.plus,
    "plus-optimal": lambda H, pairs, rounds: rb.plus(H, pairs, rounds, strategy="optimal"),
}
PLUS = ["plus-efficient", "plus-optimal"]


def run(variant, H, pairs, rounds):
    """Return the rounds of one variant: ranker, alpha, z, delta, e1, e2, distribution, scores, eta, basis, stopped."""
    return VARIANTS[variant](H, pairs, rounds)


def half_log(x):
    return 0.5 * math.log(x)


# RankBoost+'s own laws


def problem(seed, weighted=True):
    """Random queries with graded labels; all stumps of coarse features with missing values; weighted pairs."""
    rng = np.random.default_rng(seed)
    boundaries = np.cumsum([0, *rng.integers(3, 7, 4)])
    n = boundaries[-1]
    labels = rng.integers(0, 3, n)
    X = np.round(rng.normal(size=(n, 4)) + 0.5 * labels[:, None], 0)
    X[rng.random(X.shape) < 0.1] = np.nan
    pairs = rb.graded_pairs(labels, boundaries, rng.uniform(0.2, 3.0, n) if weighted else None)
    return rb.stumps(X)[1], pairs


@pytest.mark.parametrize("variant", PLUS)
def test_equation_29_and_theorem_2(variant):
    reused = 0
    for seed in (*range(8), 17, 24, 26):
        H, pairs = problem(seed)
        found = run(variant, H, pairs, 25)
        product, bound, before = 1.0, 1.0, 1.0
        for r in found.rounds:
            product *= r.z
            coordinate = np.count_nonzero(r.direction) == 1
            assert r.e2 == pytest.approx(rb.e2(r.eta, H, pairs), rel=1e-12) == pytest.approx(product, rel=1e-10)
            # The step of a dependent ranker is bounded by nothing but the error before it.
            bound *= math.exp(-0.5 * r.delta**2) if coordinate else r.z
            slack = 1 + 1e-10
            assert rb.r2(r.scores, pairs) <= rb.r1(r.scores, pairs) * slack
            assert rb.r1(r.scores, pairs) <= r.e1 * slack
            assert r.e1 <= r.e2 * slack <= bound * slack**2
            assert r.e2 <= before * slack
            before = r.e2
            np.testing.assert_allclose(r.distribution, rb.distribution_of(r.eta, H, pairs), rtol=1e-9)
        chosen = [r.ranker for r in found.rounds]
        reused += len(chosen) - len(set(chosen))
    assert reused > 50  # so that the weights of repeated rankers were summed


def crowded(seed):
    """More random rankers than eight documents of one query hold independent ones."""
    return np.random.default_rng(seed).integers(0, 2, (14, 8)), rb.graded_pairs(np.arange(8) % 4, [0, 8])


@pytest.mark.parametrize(
    ("variant", "seeds"), [("discrete", (8, 10)), ("discrete-negative", (2, 18)), ("continuous", (0, 15))]
)
def test_equation_12_and_theorem_1(variant, seeds):
    dependent = 0
    for H, pairs in [*map(problem, range(8)), *map(crowded, seeds)]:
        found = run(variant, H, pairs, 25)
        product, bound = 1.0, 1.0
        for r in found.rounds:
            product *= r.z
            bound *= math.exp(-0.5 * r.delta**2)
            slack = 1 + 1e-10
            assert r.e1 == pytest.approx(product, rel=1e-10)
            assert rb.r1(r.scores, pairs) <= r.e1 * slack <= bound * slack**2
            # E2 is that of the same predictions by independent rankers alone.
            assert not np.delete(r.eta, found.basis).any()
            same = rb.scores_of(r.eta, H) - r.scores
            np.testing.assert_allclose(same[pairs.winner], same[pairs.loser], atol=1e-9)
            assert r.e2 == pytest.approx(rb.e2(r.eta, H, pairs), rel=1e-12)
            assert r.e1 <= r.e2 * slack
            dependent += r.ranker not in found.basis
    assert dependent > 0


# The literal code's own claims


def test_pruning_follows_the_order():
    """What is left spans everything; a ranker goes iff it depends on S and on those before it in the order."""
    different = 0
    for seed in (1, 3, 8, 13):
        H, pairs = problem(seed)
        d = rb.differences(H, pairs)
        left = []
        for order in (np.arange(len(H)), np.random.default_rng(seed).permutation(len(H))):
            found = rb.plus(H, pairs, 25, order=order)
            assert found.pruned_after is not None
            kept = list(dict.fromkeys(r.ranker for r in found.rounds[: found.pruned_after]))
            for j in order:
                if np.linalg.matrix_rank(d[[*kept, j]]) > len(kept):
                    kept.append(j)
            assert {*kept} == {*range(len(H))} - {*found.dropped}
            assert {*found.basis} <= {*kept}
            left.append({*kept})
        different += left[0] != left[1]
    assert different > 0


# AdaRank


def test_adarank_by_hand():
    """Two queries of three documents, the first of each relevant; AP is 1 over its place."""
    X = np.array([[3, 1], [2, 2], [1, 3], [2, 3], [3, 2], [1, 1]], float)  # AP 1, 1/2 and 1/3, 1
    boundaries = [0, 3, 6]
    measure = ada.in_file_order(ada.average_precision, [1, 0, 0, 1, 0, 0], boundaries)
    first, second = ada.adarank(X, boundaries, measure, 2, cap=20.0).rounds
    alpha, phi = half_log(1.75 / 0.25), (1 + 1 / 2) / 2
    assert (first.feature, first.alpha, first.phi) == (0, pytest.approx(alpha, rel=1e-12), phi)
    assert first.performance.tolist() == [1, 0.5]
    assert first.delta_min == pytest.approx((1 - alpha) / 2, rel=1e-12)
    assert first.bound == pytest.approx(1 - math.exp(-(1 - alpha) / 2) * math.sqrt(1 - phi**2), rel=1e-12)
    P = np.exp([-1, -1 / 2]) / (math.exp(-1) + math.exp(-1 / 2))
    np.testing.assert_allclose(second.distribution, P, rtol=1e-12)
    assert second.feature == 1
    assert second.phi == pytest.approx(P[0] / 3 + P[1], rel=1e-12)
    assert second.alpha == pytest.approx(half_log((1 + second.phi) / (1 - second.phi)), rel=1e-12)


def adarank_problem(seed):
    rng = np.random.default_rng(seed)
    boundaries = np.cumsum([0, *rng.integers(2, 7, 6)])
    labels = rng.integers(0, 3, boundaries[-1])
    return np.round(rng.normal(size=(len(labels), 4)) + 0.4 * labels[:, None], 0), labels, boundaries


@pytest.mark.parametrize("ties", [ada.in_file_order, ada.over_ties])
@pytest.mark.parametrize("function", [ada.average_precision, ada.ndcg, lambda ranked: 2 * ada.ndcg(ranked) - 1])
def test_adarank_theorem_1(ties, function):
    rounds = 0
    for seed in range(6):
        X, labels, boundaries = adarank_problem(seed)
        measure = ties(function, labels, boundaries)
        found = ada.adarank(X, boundaries, measure, 8, cap=5.0, patience=8)
        product, before = 1.0, 0.0
        for r in found.rounds:
            weak = ada.per_query(measure, X[:, r.feature], boundaries)
            delta_min = np.min(r.performance - before - r.alpha * weak)
            product *= math.exp(-delta_min) * math.sqrt(1 - r.phi**2)
            assert abs(r.alpha) < 5.0
            assert r.bound == pytest.approx(1 - product, rel=1e-10)
            assert r.performance.mean() >= r.bound - 1e-12
            before = r.performance
            rounds += 1
    assert rounds > 40
