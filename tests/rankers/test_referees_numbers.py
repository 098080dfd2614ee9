"""The referees of RankBoost and AdaRank, literal algorithms, on the numbers and theorems of their papers.

No code of the library runs here: `test_rankboost_numbers.py` has what the library makes of the same numbers.

Expected values are written as arithmetic where the papers' counts give it; bare decimals are the papers' own digits or
minima found by brute force. `run` is the one place that knows which implementation is looked at.
"""

import math
from itertools import combinations

import numpy as np
import pytest
from rankers import literal_adarank as ada
from rankers import literal_rankboost as rb
from scipy.optimize import minimize

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


def indicator(n, on):
    h = np.zeros(n, int)
    h[list(on)] = 1
    return h


def bipartite(n_above, n_below):
    """All pairs of the first `n_above` documents over the other `n_below`."""
    above, below = np.meshgrid(range(n_above), range(n_above, n_above + n_below), indexing="ij")
    return rb.pairs_of(above.ravel(), below.ravel())


def half_log(x):
    return 0.5 * math.log(x)


# Proposition 1


def subsets():
    """The subsets of {a, b, c}, a strict superset preferred; h1 and h2."""
    documents = [frozenset(s) for k in range(4) for s in combinations("abc", k)]
    ordered = [(i, j) for i, x in enumerate(documents) for j, y in enumerate(documents) if x > y]
    on = ["ab"], ["", "ac", "abc"]
    H = np.array([indicator(8, [documents.index(frozenset(s)) for s in names]) for names in on])
    return H, rb.pairs_of(*zip(*ordered, strict=True))


@pytest.mark.parametrize(
    ("ranker", "right", "wrong", "tied", "e1", "e1_discrete", "e1_continuous"),
    [(0, 3, 1, 15, 0.990627, 0.971795, 0.990034), (1, 7, 5, 7, 1.219293, 0.991166, 0.992386)],
)
def test_proposition_1(ranker, right, wrong, tied, e1, e1_discrete, e1_continuous):
    H, pairs = subsets()
    h = H[[ranker]]
    assert len(pairs.weight) == 19
    assert rb.counts(h[0], pairs) == (right, wrong, tied)
    assert rb.r1(h[0], pairs) == pytest.approx((wrong + tied) / 19, rel=1e-12)
    assert rb.r2(h[0], pairs) == pytest.approx(8.5 / 19, rel=1e-12)

    def error(alpha, tie=lambda alpha: 1.0):
        return (right * math.exp(-alpha) + wrong * math.exp(alpha) + tied * tie(alpha)) / 19

    assert rb.e1(h[0], pairs) == pytest.approx(error(1.0), rel=1e-12) == pytest.approx(e1, abs=5e-7)
    discrete, continuous, plus = (run(v, h, pairs, 1).rounds[0] for v in ("discrete", "continuous", "plus-efficient"))
    assert discrete.alpha == pytest.approx(half_log(right / wrong), rel=1e-12)
    assert (
        discrete.e1 == pytest.approx(error(half_log(right / wrong)), rel=1e-12) == pytest.approx(e1_discrete, abs=5e-7)
    )
    alpha = half_log((1 + 2 / 19) / (1 - 2 / 19))
    assert continuous.alpha == pytest.approx(alpha, rel=1e-12) == pytest.approx(0.105655, abs=5e-7)
    assert continuous.e1 == pytest.approx(error(alpha), rel=1e-12) == pytest.approx(e1_continuous, abs=5e-7)
    assert (
        rb.e2([1.0], h, pairs) == pytest.approx(error(1.0, math.cosh), rel=1e-12) == pytest.approx(1.419375, abs=5e-7)
    )
    assert plus.alpha == pytest.approx(alpha, rel=1e-12)
    assert plus.e2 == pytest.approx(error(alpha, math.cosh), rel=1e-12) == pytest.approx(0.994444, abs=5e-7)


def test_proposition_1_weights_to_the_digits():
    assert half_log(3) == pytest.approx(0.549306, abs=5e-7)
    assert half_log(7 / 5) == pytest.approx(0.168236, abs=5e-7)


# Lemmas 1 to 3: where the theory of Rb-d fails


def lemma_1(n):
    """a_1..a_{n+1} are documents 0..n, b_1..b_{n+1} the others."""
    h1 = indicator(2 * n + 2, [*range(n), 2 * n + 1])
    return np.array([h1, indicator(2 * n + 2, [n])]), bipartite(n + 1, n + 1)


@pytest.mark.parametrize("n", [3, 4, 10])
@pytest.mark.parametrize("variant", ["discrete", "discrete-negative"])
def test_lemma_1_rounds(variant, n):
    H, pairs = lemma_1(n)
    assert rb.counts(H[0], pairs) == (n * n, 1, 2 * n)
    assert rb.counts(H[1], pairs) == (n + 1, 0, n * n + n)
    found = run(variant, H, pairs, 5)
    assert found.stopped == "undefined weight"
    (first,) = found.rounds
    assert first.ranker == 0
    assert first.alpha == pytest.approx(math.log(n), rel=1e-12)
    assert first.z == pytest.approx(4 * n / (n + 1) ** 2, rel=1e-12)
    d = rb.differences(H, pairs)
    expected = np.select([d[0] > 0, d[0] < 0], [1 / (4 * n * n), 1 / 4], 1 / (4 * n))
    np.testing.assert_allclose(first.distribution, expected, rtol=1e-12)
    right, wrong, _ = rb.masses(d, first.distribution)
    assert right[0] - wrong[0] == pytest.approx(0.0, abs=1e-15)
    assert right[1] == pytest.approx(0.5, rel=1e-12)
    assert wrong[1] == 0


@pytest.mark.parametrize(("n", "r1", "u"), [(3, 0.75, 0.7788), (4, 0.8, 0.7371), (200, 0.9950, 0.5406)])
def test_lemma_1_infinite_weight(n, r1, u):
    H, pairs = lemma_1(n)
    found = rb.r1(H[1].astype(float), pairs)
    assert found == pytest.approx(n / (n + 1), rel=1e-12) == pytest.approx(r1, abs=5e-5)
    bound = math.exp(-0.5 * (((n - 1) / (n + 1)) ** 2 + 1 / 4))
    assert bound == pytest.approx(u, abs=5e-5)
    assert (found > bound) == (n > 3)


def test_lemma_1_finite_weight():
    H, pairs = lemma_1(4)
    assert rb.r1(rb.scores_of([math.log(4), 1e6], H), pairs) == pytest.approx(4 / 25, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_lemma_2(n):
    h1 = indicator(10 * n, range(4 * n))
    h2 = indicator(10 * n, range(4 * n, 9 * n))
    H, pairs = np.array([h1, h2]), bipartite(5 * n, 5 * n)
    assert rb.counts(h1, pairs) == (20 * n * n, 0, 5 * n * n)
    assert rb.counts(h2, pairs) == (n * n, 16 * n * n, 8 * n * n)
    d, D = rb.differences(H, pairs), pairs.weight
    right, wrong, tied = rb.masses(d, D)
    assert rb.first_largest(right - wrong) == 0
    assert wrong[0] - right[0] == pytest.approx(-0.8, rel=1e-12)
    z1 = tied[0]  # the limit of a growing weight
    D = np.where(d[0] == 0, D, 0.0) / z1
    right, wrong, tied = rb.masses(d, D)
    assert rb.first_largest(right - wrong) == 1
    assert (right[1], wrong[1], tied[1]) == pytest.approx((0.2, 0, 0.8), rel=1e-12)
    assert (z1, tied[1], z1 * tied[1]) == pytest.approx((0.2, 0.8, 4 / 25), rel=1e-12)
    scores = rb.scores_of([40.0, 40.0], H)
    assert rb.r1(scores, pairs) == pytest.approx(0.8, rel=1e-12)
    assert rb.e1(scores, pairs) == pytest.approx(0.8, rel=1e-12)  # e^-40 is below the rounding
    assert math.exp(-0.5 * (0.8**2 + 0.2**2)) == pytest.approx(0.711770, abs=5e-7)
    halted = run("discrete", H, pairs, 5)
    assert (halted.rounds, halted.stopped) == ([], "undefined weight")


def lemma_3():
    """Documents 1 > … > 6."""
    H = np.array([[1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0]])
    return H, rb.pairs_of(*zip(*combinations(range(6), 2), strict=True))


def lemma_3_e1(weights):
    """Mean of the paper's 15 exponentials."""
    a, b = weights
    terms = 2 * np.exp(a) + 4 * np.exp(-a) + np.exp(b) + 2 * np.exp(-b) + 2 * np.exp(-a - b) + 4
    return float(terms / 15)


def test_lemma_3_without_negative_weights():
    H, pairs = lemma_3()
    assert [rb.counts(h, pairs) for h in H] == [(6, 2, 7), (4, 1, 10)]
    found = run("discrete", H, pairs, 20)
    assert [r.ranker for r in found.rounds] == [0, 1]
    assert found.stopped == "no edge"
    alpha = [half_log(3), half_log((2 + 2 * math.sqrt(3)) / math.sqrt(3))]
    assert [r.alpha for r in found.rounds] == pytest.approx(alpha, rel=1e-12)
    assert alpha == pytest.approx([0.549306, 0.574447], abs=5e-7)
    assert found.rounds[-1].e1 == pytest.approx(lemma_3_e1(alpha), rel=1e-12) == pytest.approx(0.8883865, abs=5e-8)


@pytest.mark.parametrize(("variant", "rounds"), [("discrete-negative", 16), ("continuous", 100)])
def test_lemma_3_minimum(variant, rounds):
    H, pairs = lemma_3()
    found = run(variant, H, pairs, rounds)
    weights = [sum(r.alpha for r in found.rounds if r.ranker == j) for j in range(2)]
    assert weights == pytest.approx([0.46894534, 0.58953108], abs=5e-9)
    assert found.rounds[-1].e1 == pytest.approx(lemma_3_e1(weights), rel=1e-12) == pytest.approx(0.88703652, abs=5e-9)


@pytest.mark.parametrize("variant", PLUS)
def test_lemma_3_plus(variant):
    H, pairs = lemma_3()
    last = run(variant, H, pairs, 100).rounds[-1]
    assert last.eta == pytest.approx([0.25740485, 0.18032951], abs=5e-9)
    assert last.e2 == pytest.approx(0.94844716, abs=5e-9)


# RankBoost+'s own laws


@pytest.mark.parametrize("variant", PLUS)
def test_corollary_1(variant):
    H, pairs = lemma_1(4)
    for h, r2, e2 in zip(H, (0.2, 0.4), (0.8, 0.979796), strict=True):
        assert rb.r2(h, pairs) == pytest.approx(r2, rel=1e-12)
        first = run(variant, h[None], pairs, 1).rounds[0]
        assert first.alpha == pytest.approx(half_log((1 - r2) / r2), rel=1e-12)
        assert first.e2 == pytest.approx(2 * math.sqrt(r2 * (1 - r2)), rel=1e-12) == pytest.approx(e2, abs=5e-7)


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


@pytest.mark.parametrize("seed", range(5))
def test_corollary_1_and_proposition_3_on_random_rankers(seed):
    H, pairs = problem(seed)
    for h in H:
        r2 = rb.r2(h, pairs)
        assert rb.e2([1.0], h[None], pairs) == pytest.approx(r2 * (math.e - 1 / math.e) + 1 / math.e, rel=1e-12)
        rounds = run("plus-efficient", h[None], pairs, 1).rounds
        expected = 2 * math.sqrt(r2 * (1 - r2))
        assert (rounds[0].e2 if rounds else 1.0) == pytest.approx(expected, rel=1e-12)


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


def test_optimal_takes_the_steepest_direction_to_its_minimum():
    """Every direction's slope and the step's end by differences of F2 alone."""
    dependent = 0
    for seed in (2, 3, 17):
        H, pairs = problem(seed)
        d = rb.differences(H, pairs)
        basis, eta = [], np.zeros(len(H))
        for r in run("plus-optimal", H, pairs, 21).rounds:
            steepness = []
            for j in range(len(H)):
                beta = np.zeros(len(H))
                beta[basis] = np.linalg.lstsq(d[basis].T, d[j], rcond=None)[0]
                if np.abs(beta @ d - d[j]).max() > 1e-9:
                    beta = rb.unit(len(H), j)
                beta /= np.linalg.norm(beta)
                steepness.append((rb.e2(eta + 1e-5 * beta, H, pairs) - rb.e2(eta - 1e-5 * beta, H, pairs)) / 2e-5)
            steepness = np.array(steepness) / rb.e2(eta, H, pairs)
            assert steepness[r.ranker] == pytest.approx(r.delta, abs=1e-8)
            assert abs(r.delta) == pytest.approx(np.abs(steepness).max(), abs=1e-8)
            ends = [rb.e2(eta + (r.alpha + e) * r.direction, H, pairs) for e in (-1e-3, 0.0, 1e-3)]
            assert ends[1] == pytest.approx(r.e2, rel=1e-12)
            assert ends[1] < min(ends[0], ends[2])
            np.testing.assert_allclose(r.direction @ d, d[r.ranker], atol=1e-9)
            dependent += np.count_nonzero(r.direction) > 1
            basis, eta = basis if np.count_nonzero(r.direction) > 1 else sorted({*basis, r.ranker}), r.eta
    assert dependent >= 4


@pytest.mark.parametrize("variant", PLUS)
@pytest.mark.parametrize("seed", range(3))
def test_theorem_3(variant, seed):
    H, pairs = problem(seed)
    found = run(variant, H[:9], pairs, 400)
    H = H[found.basis]
    best = minimize(lambda eta: rb.e2(eta, H, pairs), np.zeros(len(H)), tol=1e-12)
    assert found.rounds[-1].e2 == pytest.approx(best.fun, rel=1e-7)


def gap():
    """Pairs (2i, 2i + 1); on them h = (h1 + h2)/2."""
    h = indicator(12, [0, 2, 4, 6, 9])
    H = np.array([h + indicator(12, [10]), h + indicator(12, [11]), h])
    return H, rb.pairs_of(range(0, 12, 2), range(1, 12, 2))


def test_theorem_2_gap():
    H, pairs = gap()
    assert [rb.counts(h, pairs) for h in H] == [(5, 1, 0), (4, 2, 0), (4, 1, 1)]
    delta = rb.slopes(rb.differences(H, pairs), pairs.weight, np.zeros(3))
    assert delta[0] == pytest.approx(-4 / 6, rel=1e-12)
    beta, slope, alpha, z = rb.dependent_step(H, pairs, [0, 1], np.zeros(3), 2)
    assert beta == pytest.approx([0.5, 0.5, 0.0], abs=1e-12)
    assert slope == pytest.approx(-math.sqrt(0.5), rel=1e-12)
    assert alpha == pytest.approx(math.log(2), rel=1e-12)
    assert z == pytest.approx(5 / 6, rel=1e-12)
    assert math.exp(-(slope**2) / 2) == pytest.approx(math.exp(-0.25), rel=1e-12) == pytest.approx(0.77880, abs=5e-6)
    assert z > math.exp(-(slope**2) / 2)


def test_dependent_step_without_minimum():
    """h is right on four pairs and ties two on which h1 and h2 cancel: F2 along h falls to 2/6 and never rises."""
    h = indicator(12, [0, 2, 4, 6])
    H = np.array([h + indicator(12, [8, 11]), h + indicator(12, [9, 10]), h])
    pairs = rb.pairs_of(range(0, 12, 2), range(1, 12, 2))
    _, _, alpha, z = rb.dependent_step(H, pairs, [0, 1], np.zeros(3), 2)
    assert alpha == math.inf
    assert z == pytest.approx(2 / 6, rel=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_perfect_and_useless_rankers(variant):
    pairs = rb.pairs_of([0, 0], [1, 2])
    (first,) = run(variant, np.array([[1, 1, 0], [1, 0, 0]]), pairs, 5).rounds
    assert (first.ranker, first.alpha, first.z, first.e1, first.e2) == (1, math.inf, 0, 0, 0)
    halted = run(variant, np.array([[0, 0, 0], [1, 1, 1]]), pairs, 5)
    assert (halted.rounds, halted.stopped) == ([], "no edge")


@pytest.mark.parametrize("variant", VARIANTS)
def test_only_discrete_refuses_a_reversed_ranker(variant):
    H, pairs = np.array([[1, 0, 1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 1, 1, 0]]), rb.pairs_of([0, 2, 4, 6], [1, 3, 5, 7])
    H[0, 4] = 0
    assert [rb.counts(h, pairs) for h in H] == [(2, 1, 1), (1, 3, 0)]
    first = run(variant, H, pairs, 1).rounds[0]
    assert first.ranker == (variant != "discrete")
    assert (first.alpha < 0) == (variant != "discrete")


# The literal code's own claims


def test_first_of_equal_rankers():
    assert rb.first_largest(np.array([0.2, 0.5, 0.5 * (1 + 5e-13), 0.5])) == 1
    assert rb.first_largest(np.array([0.2, 0.5, 0.5 * (1 + 5e-12), 0.5])) == 2
    assert rb.first_largest(np.array([-0.5, -0.2, -0.2])) == 1


@pytest.mark.parametrize("seed", range(20))
def test_independence_of_documents_is_that_of_pairs(seed):
    rng = np.random.default_rng(seed)
    H = rng.integers(0, 2, (7, 9))
    ends = rng.integers(0, 9, (2, 6))
    pairs = rb.pairs_of(*ends[:, ends[0] != ends[1]])
    d, V = rb.differences(H, pairs), rb.centred(H, pairs)
    for k in range(1, 8):
        assert np.linalg.matrix_rank(V[:k], tol=rb.SINGULAR) == np.linalg.matrix_rank(d[:k])
    basis = rb.independent_subset(V, [], range(7))
    for j in set(range(7)) - {*basis}:
        np.testing.assert_allclose(rb.coordinates(V, basis, j) @ d, d[j], atol=1e-9)


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


def test_stumps():
    nan, third = np.nan, 1 / 3
    X = [[1.0, nan, 5.0, nan], [3.0, 2.0, 5.0, nan], [1.0, third, 5.0, nan], [8.0, nan, 5.0, nan]]
    found, H = rb.stumps(X)
    assert found == [(0, 2.0), (0, 5.5), (1, -math.inf), (1, (float(np.float32(third)) + 2) / 2)]
    np.testing.assert_array_equal(H, [[0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 0]])
    first, constant = rb.distinct(H, rb.pairs_of([1, 1], [0, 2]))
    assert first.tolist() == [0, 1, 2, 0]
    assert constant.tolist() == [False, True, False, False]
    thinned, _ = rb.stumps(X, max_thresholds=1, rng=np.random.default_rng(0))
    assert [feature for feature, _ in thinned] == [0, 1]
    assert set(thinned) <= set(found)


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


def test_adarank_stopping():
    X, labels, boundaries = adarank_problem(1)
    measure = ada.in_file_order(ada.average_precision, labels, boundaries)
    paper, patient, once = (
        ada.adarank(X, boundaries, measure, 30, cap=5.0, **options)
        for options in ({"stop": "paper"}, {"patience": 5}, {"no_repeat": True, "patience": 30})
    )
    for found, allowed in ((paper, 1), (patient, 5)):
        means = [r.valid for r in found.rounds]
        assert found.stopped == "no improvement"
        assert len(means) == found.best + allowed
        assert means[found.best - 1] == max(means)
        assert all(m < means[found.best - 1] for m in means[: found.best - 1])
    assert paper.best == next(t for t in range(1, 30) if patient.rounds[t].valid <= patient.rounds[t - 1].valid)
    assert once.stopped == "features used up"
    assert sorted(r.feature for r in once.rounds) == [0, 1, 2, 3]


def test_adarank_validation_decides():
    X, labels, boundaries = adarank_problem(1)
    measure = ada.in_file_order(ada.average_precision, labels, boundaries)
    against = ada.in_file_order(ada.average_precision, 2 - labels, boundaries)
    held_out = np.where(X > 0, X, -2 * X)
    found = ada.adarank(X, boundaries, measure, 30, cap=5.0, patience=4, validation=(held_out, boundaries, against))
    expected, scores = [], np.zeros(len(X))
    for r in found.rounds:
        scores += r.alpha * held_out[:, r.feature]
        expected.append(ada.per_query(against, scores, boundaries).mean())
    assert [r.valid for r in found.rounds] == expected
    assert found.best == 1 + int(np.argmax(expected))


def test_adarank_perfect_feature_is_capped():
    labels, boundaries = np.array([0, 2, 1, 1, 0]), [0, 3, 5]
    measure = ada.in_file_order(ada.ndcg, labels, boundaries)
    found = ada.adarank(labels[:, None], boundaries, measure, 5, cap=3.0, stop="paper")
    assert [r.alpha for r in found.rounds] == [3.0, 3.0]
    assert found.best == 1
    assert found.rounds[0].performance.mean() == 1.0 == pytest.approx(found.rounds[0].bound + math.exp(3 - 1 - 3))


def test_ties_are_averaged_over():
    """One relevant document among three tied ones: AP 1, 1/2 or 1/3."""
    scores = np.zeros(3)
    assert ada.over_ties(ada.average_precision, [0, 1, 0], [0, 3])(0, scores) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert ada.in_file_order(ada.average_precision, [0, 1, 0], [0, 3])(0, scores) == 1 / 2


def test_measures():
    assert ada.average_precision([0, 2, 1, 0, 1]) == pytest.approx((1 / 2 + 2 / 3 + 3 / 5) / 3)
    assert ada.ndcg([0, 2, 1]) == pytest.approx((3 / math.log2(3) + 1 / 2) / (3 + 1 / math.log2(3)))
    assert ada.average_precision([0, 0]) == ada.ndcg([0, 0]) == 0.0
