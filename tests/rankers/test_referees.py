"""The referees, literal algorithms that the library is compared with: the papers' theorems, and cases worked by hand.

No code of the library runs here: these tests say whether what the others trust may be trusted.
"""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from rankers import literal_mpboost as mp
from rankers import literal_ndcg_boost as nb
from rankers import literal_quadratic_bound as qb
from rankers.stumps import Stump, first_best, stumps
from scipy.optimize import minimize_scalar
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

DISTANCES = (mp.binary, mp.linear, mp.logarithmic, mp.logistic)
DEGENERATE = {
    "one row": ([2.0], (0, 1)),
    "single documents": ([2.0, 0.0, 1.0], (0, 1, 2, 3)),
    "all grades equal": ([1.0, 1.0, 1.0], (0, 3)),
    "nothing relevant": ([0.0, 0.0, 0.0], (0, 3)),
    "an empty query": ([1.0, 1.0], (0, 0, 2)),
}


def ranking(seed, sizes=(7, 1, 9, 4), n_features=3):
    """Return features (one with ties, one with missing values), grades 0..3 and query boundaries."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.normal(size=(n, n_features))
    X[:, 0] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.2, 1] = np.nan
    return X, rng.integers(0, 4, n).astype(float), tuple(int(b) for b in np.cumsum([0, *sizes]))


def differences(function, x, step=1e-5):
    """Return the gradient by central differences."""
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


# Stumps


def test_stumps_lie_between_neighbours_and_part_the_missing():
    X = np.array([[3.0, np.nan, 5.0], [1.0, 2.0, 5.0], [3.0, np.nan, 5.0], [2.0, -1.0, 5.0]])
    expected = [Stump(0, 1.5), Stump(0, 2.5), Stump(1, -np.inf), Stump(1, 0.5)]
    assert stumps(X) == expected
    above = [[1, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 0]]
    np.testing.assert_array_equal([s.above(X) for s in expected], np.array(above, bool))


def test_stumps_see_float32_values_and_float64_midpoints():
    low = np.float32(1.0)
    high = np.nextafter(low, np.float32(2.0))
    X = np.array([[1.0], [1.0 + 1e-12], [float(high)]])
    assert stumps(X) == [Stump(0, (float(low) + float(high)) / 2)]
    np.testing.assert_array_equal(stumps(X)[0].above(X), [False, False, True])


def test_stumps_skip_a_feature_without_known_values_and_refuse_infinite_ones():
    assert stumps(np.full((3, 1), np.nan)) == []
    with pytest.raises(ValueError, match="infinite"):
        stumps(np.array([[1.0], [np.inf]]))


def test_first_best_takes_the_first_of_equal_objectives():
    assert first_best([1.0, 3.0, 3.0 * (1 + 1e-14), 2.0]) == 1
    assert first_best([-math.inf, 1.0, 1.0 + 1e-6]) == 2


# MPBoost


def taylor_of_z(pairs, w, f):
    """Return the second-order expansion of Z_t, which step="newton" minimises."""
    move = f[pairs.i] - f[pairs.j]
    return math.fsum(w * (1.0 - pairs.d * move + pairs.d**2 * move**2 / 2))


def squared_error(pairs, w, f):
    """Return J_wse, Eq. 12, which step="paper" minimises."""
    return math.fsum(w * (pairs.d - (f[pairs.i] - f[pairs.j])) ** 2)


def test_mpboost_distances_by_hand():
    assert [mp.binary(g) for g in (2.0, -3.0)] == [1.0, -1.0]
    assert mp.linear(-3.0) == pytest.approx(-0.6)
    assert mp.logarithmic(2.0) == pytest.approx(math.log(7.0))
    assert mp.logistic(-2.0) == pytest.approx(-1 / (1 + math.exp(-1.0)))


def test_mpboost_two_documents_by_hand():
    # One pair of distance ln 7 (LOGDD, gap 2): I = {(0, 1), (1, 0)}, w = 1/2 each, A1 = {(0, 1)}, a = d or 1/d
    X, d = np.array([[1.0], [0.0]]), math.log(7.0)
    pairs = mp.ordered_pairs([2.0, 0.0], (0, 2), mp.logarithmic)
    assert list(zip(pairs.i, pairs.j, pairs.w, strict=True)) == [(0, 1, 0.5), (1, 0, 0.5)]
    for step, a, decrease in (("paper", d, 2 * (d / 2) ** 2 / 0.5), ("newton", 1 / d, (d / 2) ** 2 / (d * d / 2))):
        (first,), scores = mp.mpboost(X, pairs, 1, step)
        assert first.stump == Stump(0, 0.5)
        assert (first.a, first.decrease) == pytest.approx((a, decrease))
        assert first.z == pytest.approx(math.exp(-d * a))
        assert first.misordering == 0.0
        np.testing.assert_allclose(scores, [a, 0.0])


def test_mpboost_counts_ties_as_errors():
    pairs = mp.ordered_pairs([2.0, 1.0, 0.0], (0, 3), mp.binary)
    assert mp.misordering(np.array([1.0, 1.0, 0.0]), pairs) == pytest.approx(1 / 3)
    assert mp.misordering(np.array([0.0, 1.0, 0.5]), pairs) == pytest.approx(2 / 3)


def test_mpboost_steps_down_where_the_feature_is_reversed():
    rounds, scores = mp.mpboost(np.array([[0.0], [1.0]]), mp.ordered_pairs([1.0, 0.0], (0, 2), mp.binary), 1)
    assert rounds[0].a == pytest.approx(-1.0)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("step", "objective"), [("paper", squared_error), ("newton", taylor_of_z)])
def test_mpboost_minimises_its_objective_over_all_stumps_and_steps(distance, step, objective):
    X, grades, boundaries = ranking(1, (6, 5))
    pairs = mp.ordered_pairs(grades, boundaries, distance)
    rounds, _ = mp.mpboost(X, pairs, 3, step)
    w = pairs.w
    for done in rounds:
        start, best = objective(pairs, w, np.zeros(len(X))), []
        for stump, decrease in zip(stumps(X), done.decreases, strict=True):
            found = minimize_scalar(lambda a, w=w, s=stump: objective(pairs, w, a * s.above(X)))
            best.append(start - found.fun)
            assert max(decrease, 0.0) == pytest.approx(best[-1], abs=1e-9)
            if stump == done.stump:
                assert done.a == pytest.approx(found.x, abs=1e-6)
        assert done.decrease == pytest.approx(max(best), abs=1e-9)
        w = w * np.exp(-pairs.d * done.a * (done.stump.above(X)[pairs.i] * 1.0 - done.stump.above(X)[pairs.j])) / done.z


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("step", ["paper", "newton"])
@pytest.mark.parametrize("weighted", [False, True])
def test_mpboost_bound_is_the_loss_and_holds(distance, step, weighted):
    X, grades, boundaries = ranking(2)
    weight = np.random.default_rng(3).choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    pairs = mp.ordered_pairs(grades, boundaries, distance, weight)
    for n_rounds in (1, 2, 12):
        rounds, F = mp.mpboost(X, pairs, n_rounds, step)
        loss = total = 0.0  # J/|I| pair by pair, apart from the weights that the rounds carry along
        for first, last in pairwise(boundaries):
            for i in range(first, last):
                for j in range(first, last):
                    if grades[i] != grades[j]:
                        v = 1.0 if weight is None else math.sqrt(weight[i] * weight[j])
                        loss += v * math.exp(-distance(grades[i] - grades[j]) * (F[i] - F[j]))
                        total += v
        assert rounds[-1].bound == pytest.approx(loss / total, rel=1e-12)
        assert rounds[-1].bound == pytest.approx(math.prod(r.z for r in rounds))
        assert all(r.misordering <= r.bound for r in rounds)


def test_mpboost_weights_count_like_copies_of_a_query():
    X, grades, _ = ranking(4, (5, 6))
    once = mp.ordered_pairs(grades, (0, 5, 11), mp.logistic, np.repeat([2.0, 1.0], [5, 6]))
    twice = mp.ordered_pairs(np.r_[grades[:5], grades], (0, 5, 10, 16), mp.logistic)
    rounds, F = mp.mpboost(X, once, 4)
    copied, G = mp.mpboost(np.r_[X[:5], X], twice, 4)
    assert [r.stump for r in rounds] == [r.stump for r in copied]
    np.testing.assert_allclose(F, G[5:], rtol=1e-12)
    assert [r.misordering for r in rounds] == pytest.approx([r.misordering for r in copied])


def test_mpboost_z_falls_for_one_distance_up_to_root_two():
    # p of the cut's weight ranked right: Z < 1 iff tanh(x / 2) < x / d², x = a d; beyond √2 small x breaks it
    X = np.array([[1.0], [1.0], [1.0], [0.0]])
    weight = np.array([1.0, 1.0, 0.81, 1.0])
    for d, falls in ((1.4, True), (1.45, False)):
        pairs = mp.ordered_pairs([1.0, 0.0, 0.0, 0.5], (0, 4), lambda gap, d=d: math.copysign(d, gap), weight)
        rounds, _ = mp.mpboost(X, pairs, 1)
        assert (rounds[0].z < 1) == falls


def test_mpboost_passes_over_small_cuts():
    # Feature 0 parts the pair (0, 1) alone, whose weight is below 1e-10 of the whole; feature 1 parts (2, 3)
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    pairs = mp.ordered_pairs([9.0, 0.0, 1.0, 0.0], (0, 2, 4), mp.linear, [1e-11, 1e-11, 1.0, 1.0])
    rounds, _ = mp.mpboost(X, pairs, 1)
    assert rounds[0].stump == Stump(1, 0.5)
    assert rounds[0].decreases[0] == -math.inf
    assert rounds[0].decreases[1] > 0


@pytest.mark.parametrize("case", DEGENERATE)
def test_mpboost_without_pairs_does_nothing(case):
    grades, boundaries = DEGENERATE[case]
    X = np.arange(len(grades), dtype=float)[:, None]
    rounds, scores = mp.mpboost(X, mp.ordered_pairs(grades, boundaries, mp.binary), 3)
    assert rounds == []
    assert not scores.any()


def test_mpboost_stops_where_no_stump_helps():
    assert mp.mpboost(np.ones((2, 1)), mp.ordered_pairs([1.0, 0.0], (0, 2), mp.binary), 3)[0] == []
    # the cut's two pairs, one right and one wrong, cancel: a = 0
    X, pairs = np.array([[1.0], [1.0], [0.0], [0.0]]), mp.ordered_pairs([1.0, 0.0, 1.0, 0.0], (0, 4), mp.binary)
    assert mp.mpboost(X, pairs, 3)[0] == []


def test_mpboost_leaves_out_rows_of_weight_0():
    pairs = mp.ordered_pairs([2.0, 1.0, 0.0], (0, 3), mp.binary, [1.0, 0.0, 3.0])
    assert list(zip(pairs.i, pairs.j, pairs.w, strict=True)) == [(0, 2, 0.5), (2, 0, 0.5)]
    assert len(mp.ordered_pairs([2.0, 1.0], (0, 2), mp.binary, [1.0, 0.0]).i) == 0


def test_mpboost_refuses_an_unknown_step():
    with pytest.raises(ValueError, match="step"):
        mp.mpboost(np.ones((2, 1)), mp.ordered_pairs([1.0, 0.0], (0, 2), mp.binary), 3, "gentle")


# NDCG_Boost


def rankings(ranking_score):
    """Yield every permutation as ranks (1 is first) with its probability by Eq. 6."""
    m = len(ranking_score)
    found = [np.array(ranks) for ranks in permutations(range(1, m + 1))]
    energy = [math.exp(sum((m - 2 * ranks[i] + 1) * ranking_score[i] for i in range(m))) for ranks in found]
    for ranks, e in zip(found, energy, strict=True):
        yield ranks, e / sum(energy)


def test_ndcg_boost_reads_f_as_twice_the_ranking_score():
    # Lemma 2 by enumeration: P(j before i) <= σ(F_j - F_i) where F_i > F_j, with equality for two documents
    for m, seed in ((2, 5), (4, 6)):
        F = np.random.default_rng(seed).normal(size=m)
        probable = list(rankings(F / 2))
        for i, j in permutations(range(m), 2):
            before = sum(p for ranks, p in probable if ranks[j] < ranks[i])
            if m == 2:
                assert before == pytest.approx(nb.sigmoid(F[j] - F[i]), rel=1e-12)
            elif F[i] > F[j]:
                assert before < nb.sigmoid(F[j] - F[i])


def test_ndcg_boost_h_is_an_estimate_and_eq_3_the_bound():
    # the relevant document last: the ranks that Eq. 8 gives the low documents are too good
    rng = np.random.default_rng(7)
    cases = [(rng.integers(0, 4, 4).astype(float), rng.normal(size=4)) for _ in range(10)]
    above = []
    for grades, F in [*cases, (np.array([1.0, 0.0, 0.0]), np.array([-3.0, 0.0, 0.0]))]:
        data = nb.collection(grades, (0, len(grades)))
        probable = list(rankings(F / 2))
        expected = sum(p * data.share[0] * np.dot(data.gain, 1 / np.log2(1 + ranks)) for ranks, p in probable)
        mean_rank = sum(p * ranks for ranks, p in probable)
        assert expected >= data.share[0] * np.dot(data.gain, 1 / np.log2(1 + mean_rank)) - 1e-12
        above.append(nb.objective_h(F, data) > expected)
        # at F = 0 the approximate ranks are exact, 1 + A = (m + 1) / 2
        flat = data.share[0] * sum(data.gain) / math.log2(1 + (len(F) + 1) / 2)
        assert nb.objective_h(np.zeros(len(F)), data) == pytest.approx(flat)
    assert above[-1]


def test_ndcg_boost_two_documents_by_hand():
    # G = (3, 0), Z = 3 / log2(2) = 3: share G = 1, γ(0) = 1/4, w = ±1/4, M = σ(0) = 1/2, H = 1 / log2(2.5)
    data = nb.collection([2.0, 0.0], (0, 2))
    flat = np.zeros(2)
    np.testing.assert_allclose(nb.document_weights(flat, data), [0.25, -0.25])
    assert nb.objective_m(flat, data) == pytest.approx(0.5)
    assert nb.objective_h(flat, data) == pytest.approx(1 / math.log2(2.5))
    for X, sign in ((np.array([[1.0], [0.0]]), 1), (np.array([[0.0], [1.0]]), -1)):
        (first,), F = nb.ndcg_boost(X, data, 1, max_alpha=4.0)
        assert (first.alpha, first.wf) == pytest.approx((sign * 4.0, sign * 0.25))
        assert {first.numerator, first.denominator} == {0.25, 0.0}
        assert F[0] - F[1] == pytest.approx(4.0)
        assert first.m == pytest.approx(nb.sigmoid(-4.0))


def test_ndcg_boost_alpha_by_hand():
    # G = (3, 1, 0), f = 1 on the last two: up (1, 0) gives G_1, (2, 0) gives G_2; down (0, 1) and (0, 2) give 2 G_0
    data, f = nb.collection([2.0, 1.0, 0.0], (0, 3)), np.array([0.0, 1.0, 1.0])
    share = 1 / (3 / math.log2(2) + 1 / math.log2(3))
    assert nb.up_and_down(np.zeros(3), f, data) == pytest.approx((1 * share / 4, 6 * share / 4))
    assert nb.combination_weight(1.0, 6.0, 10.0) == pytest.approx(-0.5 * math.log(6.0))
    # equal grades stand in both sums of Eq. 15, and nowhere in Eq. 16
    data, f = nb.collection([1.0, 1.0, 0.0], (0, 3)), np.array([1.0, 0.0, 0.0])
    share = 1 / (1 + 1 / math.log2(3))
    assert nb.up_and_down(np.zeros(3), f, data) == pytest.approx((2 * share / 4, share / 4))
    assert nb.up_and_down(np.zeros(3), f, data, equal_grades=False) == pytest.approx((share / 4, 0.0))
    np.testing.assert_allclose(nb.document_weights(np.zeros(3), data), np.array([1, 1, -2]) * share / 4)


def test_ndcg_boost_holds_alpha_within_its_limits():
    assert nb.combination_weight(math.exp(8.0), 1.0, 3.0) == 3.0
    assert nb.combination_weight(1.0, math.exp(8.0), 3.0) == -3.0
    assert nb.combination_weight(1.0, math.exp(8.0), 5.0) == pytest.approx(-4.0)
    assert (nb.combination_weight(0.0, 1.0, 3.0), nb.combination_weight(1.0, 0.0, 3.0)) == (-3.0, 3.0)


def test_ndcg_boost_query_weights_count_like_copies():
    X, grades, _ = ranking(18, (5, 6))
    once = nb.collection(grades, (0, 5, 11), [2.0, 1.0])
    twice = nb.collection(np.r_[grades[:5], grades], (0, 5, 10, 16))
    rounds, F = nb.ndcg_boost(X, once, 4)
    copied, G = nb.ndcg_boost(np.r_[X[:5], X], twice, 4)
    np.testing.assert_allclose(F, G[5:], rtol=1e-12)
    for one, other in zip(rounds, copied, strict=True):
        assert (one.stump, one.m, one.h) == (other.stump, pytest.approx(other.m), pytest.approx(other.h))
    alone = [nb.collection(grades[rows], (0, rows.stop - rows.start)) for rows in (slice(0, 5), slice(5, 11))]
    for objective in (nb.objective_m, nb.objective_h):
        first, second = objective(F[:5], alone[0]), objective(F[5:], alone[1])
        assert objective(F, once) == pytest.approx((2 * first + second) / 3)


@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_ndcg_boost_weights_are_the_derivative_of_minus_m(spread, weighted):
    _, grades, boundaries = ranking(8)
    data = nb.collection(grades, boundaries, [1.0, 2.0, 0.5, 3.0] if weighted else None)
    F = spread * np.random.default_rng(9).normal(size=len(grades))
    w = nb.document_weights(F, data)
    np.testing.assert_allclose(w, -data.n * differences(lambda x: nb.objective_m(x, data), F), atol=1e-8)
    for first, last in pairwise(boundaries):
        assert math.fsum(w[first:last]) == pytest.approx(0.0, abs=1e-15)


def bound_of_m(alpha, F, f, data, equal_grades):
    """Return the right side of Eq. 13 put into Eq. 11, an upper bound of nM(F + αf); pair by pair."""
    total = data.n * nb.objective_m(F, data)
    for share, rows in nb.queries_of(data):
        for i in rows:
            for j in rows:
                if i != j and (equal_grades or data.gain[i] != data.gain[j]):
                    total += share * data.gain[i] * nb.gamma(F[i] - F[j]) * (math.exp(alpha * (f[j] - f[i])) - 1)
    return total


@pytest.mark.parametrize("equal_grades", [True, False])
def test_ndcg_boost_alpha_minimises_the_bound_of_m(equal_grades):
    X, grades, boundaries = ranking(10)
    data, F = nb.collection(grades, boundaries), np.zeros(len(X))
    rounds, final = nb.ndcg_boost(X, data, 8, equal_grades)
    assert len(rounds) == 8
    for done in rounds:
        f = done.stump.above(X).astype(float)
        assert done.numerator - done.denominator == pytest.approx(done.wf, abs=1e-14)
        best = minimize_scalar(lambda a, F=F, f=f: bound_of_m(a, F, f, data, equal_grades), (-1, 1))
        assert done.alpha == pytest.approx(best.x, abs=1e-6)
        before = data.n * nb.objective_m(F, data)
        drop = (math.sqrt(done.numerator) - math.sqrt(done.denominator)) ** 2
        assert best.fun == pytest.approx(before - drop)
        for alpha in (-3.0, -0.3, 0.3, 3.0, done.alpha):
            moved = data.n * nb.objective_m(F + alpha * f, data)
            assert moved <= bound_of_m(alpha, F, f, data, equal_grades) + 1e-12
        F = F + done.alpha * f
        assert done.m == nb.objective_m(F, data)
        assert done.h == nb.objective_h(F, data)
        assert data.n * done.m < before - drop + 1e-12
    np.testing.assert_array_equal(F, final)


def test_ndcg_boost_picks_the_largest_sum_of_weights_of_all_stumps_and_complements():
    X, grades, boundaries = ranking(11)
    data, F = nb.collection(grades, boundaries), np.zeros(len(X))
    signs = set()
    for done in nb.ndcg_boost(X, data, 6)[0]:
        w = -data.n * differences(lambda x: nb.objective_m(x, data), F)
        classifiers = [f for s in stumps(X) for f in (s.above(X), ~s.above(X))]
        assert abs(done.wf) == pytest.approx(max(w @ f for f in classifiers), abs=1e-8)
        signs.add(np.sign(done.alpha))
        assert np.sign(done.alpha) == np.sign(done.wf)
        F = F + done.alpha * done.stump.above(X)
    assert signs == {-1.0, 1.0}


def test_ndcg_boost_complement_is_the_negative_step():
    X, grades, boundaries = ranking(12)
    data = nb.collection(grades, boundaries)
    F, f = np.random.default_rng(13).normal(size=len(X)), stumps(X)[4].above(X).astype(float)
    forth, back = (nb.combination_weight(*nb.up_and_down(F, side, data), 10.0) for side in (f, 1 - f))
    assert back == pytest.approx(-forth)
    assert nb.objective_m(F + forth * f, data) == pytest.approx(nb.objective_m(F + back * (1 - f), data))


def test_ndcg_boost_theorem_2_holds_with_a_minus():
    X, grades, boundaries = ranking(14)
    data = nb.collection(grades, boundaries)
    rng = np.random.default_rng(15)
    for _ in range(20):
        F, f, alpha = rng.normal(size=len(X)), rng.integers(0, 2, len(X)), rng.normal()
        mass = math.fsum(
            share * data.gain[i] * nb.gamma(F[i] - F[j])
            for share, rows in nb.queries_of(data)
            for i in rows
            for j in rows
            if i != j
        )
        free = data.n * nb.objective_m(F, data) + (math.exp(3 * alpha) + math.exp(-3 * alpha) - 2) / 3 * mass
        last = (math.exp(3 * alpha) - 1) / 3 * (nb.document_weights(F, data) @ f)
        moved = data.n * nb.objective_m(F + alpha * f, data)
        assert moved <= free - last + 1e-12
    # with the printed plus it fails to first order: f = 1 on the better of two documents, α < 0
    data, alpha = nb.collection([1.0, 0.0], (0, 2)), -0.01
    F, f = np.zeros(2), np.array([1.0, 0.0])
    free = nb.objective_m(F, data) + (math.exp(3 * alpha) + math.exp(-3 * alpha) - 2) / 3 * 0.25
    last = (math.exp(3 * alpha) - 1) / 3 * 0.25
    moved = nb.objective_m(F + alpha * f, data)
    assert free + last < moved <= free - last


def test_ndcg_boost_proposition_1_reads_log_as_natural():
    X, grades, boundaries = ranking(16)
    rng = np.random.default_rng(17)
    natural, binary = (nb.collection(grades, boundaries, log=log) for log in (math.log, math.log2))
    for spread in (0.0, 1.0, 10.0):
        F = spread * rng.normal(size=len(grades))
        highest = math.fsum(
            share * natural.gain[i] / math.log(2) for share, rows in nb.queries_of(natural) for i in rows
        )
        m, h = nb.objective_m(F, natural), nb.objective_h(F, natural)
        assert h >= highest / natural.n - m / (2 * math.log(2) ** 2) - 1e-12
        assert h == pytest.approx(nb.objective_h(F, binary))
        assert m == pytest.approx(math.log(2) * nb.objective_m(F, binary))
    for one, other in zip(*(nb.ndcg_boost(X, data, 4)[0] for data in (natural, binary)), strict=True):
        assert (one.stump, one.alpha) == (other.stump, pytest.approx(other.alpha))


@pytest.mark.parametrize("equal_grades", [True, False])
@pytest.mark.parametrize("case", DEGENERATE)
def test_ndcg_boost_without_different_grades_stops_at_once(case, equal_grades):
    grades, boundaries = DEGENERATE[case]
    X = np.arange(len(grades), dtype=float)[:, None]
    data = nb.collection(grades, boundaries)
    rounds, F = nb.ndcg_boost(X, data, 3, equal_grades)
    assert rounds == []
    assert not F.any()
    assert np.isfinite([nb.objective_m(F, data), nb.objective_h(F, data)]).all()


def test_ndcg_boost_stays_finite_on_far_scores():
    data = nb.collection([2.0, 1.0, 0.0], (0, 3))
    F = np.array([0.0, -400.0, -400.5])
    assert nb.gamma(F[1] - F[2]) == pytest.approx(0.5 * 0.5 / (2 * math.cosh(0.25)) ** 2 * 4, rel=1e-12)
    assert np.isfinite(nb.document_weights(1000 * F, data)).all()
    assert nb.objective_m(1000 * F, data) == data.share[0] * 1.0 * 1.0  # grade 1 has one document ahead, for certain


# The general method and QBRank


def tree(leaves=4):
    """Return a weak learner A(W, X, r): a regression tree fitted by weighted least squares."""

    def fit(weights, X, targets):
        return DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, targets, weights).predict(X)

    return fit


def qbrank_risk(seed, margin="grade", w=0.5, weighted=False):
    X, grades, boundaries = ranking(seed)
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    labelled = rng.random(len(X)) < 0.8 if weighted else None
    pairs = qb.preferences(grades, boundaries, margin, weight=weight, labelled=labelled)
    return X, qb.QBRankRisk(len(X), tuple(pairs), tuple(qb.labels(grades, weight, labelled)), w)


RISKS = [("grade", 0.5, False), ("grade", 1.0, False), (1.0, 0.3, False), ("grade", 0.7, True), (0.5, 1.0, True)]


def test_qbrank_two_documents_by_hand():
    # x ≻ y, τ = 2, h = (1, 0): shortfall 1; labels 2 and 0: errors 1 and 0; w = 1/4
    risk = qb.QBRankRisk(2, tuple(qb.preferences([2.0, 0.0], (0, 2))), tuple(qb.labels([2.0, 0.0])), 0.25)
    h = np.array([1.0, 0.0])
    assert risk.value(h) == pytest.approx(0.25 / 2 * 1 + 0.75 / 2 * 1)
    np.testing.assert_allclose(risk.gradient(h), [-0.25 - 0.75, 0.25])
    np.testing.assert_allclose(risk.curvature(h, "bound"), [1.25, 1.25])
    np.testing.assert_allclose(risk.curvature(h + np.array([1.0, 0.0]), "bound"), [0.75, 0.75])
    np.testing.assert_allclose(risk.curvature(h + np.array([1.0, 0.0]), "global"), [1.25, 1.25])
    np.testing.assert_allclose(risk.working_set(h, "global")[1], [1 / 1.25, -0.25 / 1.25])
    np.testing.assert_allclose(risk.working_set(h, "average")[1], [1.0, -0.25])
    # along (1, 0) both terms are (1 - s)²: s = 1; along (1, 1) only the labels move, (1 - s)² + s²: s = 1/2
    assert risk.line_search(h, np.array([1.0, 0.0])) == pytest.approx(1.0)
    assert risk.line_search(h, np.array([1.0, 1.0])) == pytest.approx(0.5)
    assert risk.line_search(h, np.array([-1.0, 0.0])) == 0.0


def test_qbrank_pair_at_its_margin_is_not_active():
    risk = qb.QBRankRisk(2, (qb.Preference(0, 1),), (), 1.0)
    assert risk.value(np.array([1.0, 0.0])) == 0.0
    assert not risk.curvature(np.array([1.0, 0.0]), "bound").any()
    assert risk.curvature(np.array([np.nextafter(1.0, 0.0), 0.0]), "bound").all()
    # a grade gap is met as the losses see it, z_x > z_y with z = r - h rounded: 0.7 + 0.3 is 1, yet 1 - 0.7 > 0.3
    pair = qb.preferences([1.0, 0.0], (0, 2))[0]
    assert pair.shortfall(np.array([0.7, -0.3])) > 0
    assert qb.Preference(0, 1).shortfall(np.array([0.7, -0.3])) == 0


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_gradient_and_hessian_are_derivatives(margin, w, weighted):
    X, risk = qbrank_risk(20, margin, w, weighted)
    h = np.random.default_rng(21).normal(size=len(X))
    np.testing.assert_allclose(risk.gradient(h), differences(risk.value, h), atol=1e-7)
    columns = [(risk.gradient(h + 1e-6 * e) - risk.gradient(h - 1e-6 * e)) / 2e-6 for e in np.eye(len(X))]
    np.testing.assert_allclose(risk.hessian(h), columns, atol=1e-7)


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_bounds_dominate(margin, w, weighted):
    X, risk = qbrank_risk(22, margin, w, weighted)
    rng = np.random.default_rng(23)
    for spread in (0.1, 1.0, 5.0):
        h = spread * rng.normal(size=len(X))
        for kind in ("bound", "global"):
            gap = np.diag(risk.curvature(h, kind)) - risk.hessian(h)
            assert np.linalg.eigvalsh(gap).min() > -1e-12
        for _ in range(20):
            e = rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=len(X))
            quadratic = risk.value(h) + risk.gradient(h) @ e + e @ (risk.curvature(h, "global") * e) / 2
            assert risk.value(h + e) <= quadratic * (1 + 1e-12)


def test_qbrank_only_the_global_bound_holds_for_every_step_and_the_average_for_none():
    risk = qb.QBRankRisk(2, (qb.Preference(0, 1),), (), 1.0)

    def excess(h, e, kind):
        return risk.value(h + e) - risk.value(h) - risk.gradient(h) @ e - e @ (risk.curvature(h, kind) * e) / 2

    inactive, active, apart = np.array([2.0, 0.0]), np.zeros(2), np.array([-2.0, 2.0])
    assert excess(inactive, apart, "bound") == pytest.approx(0.5 * 3**2)
    assert excess(inactive, apart, "global") < 0
    # without the factor 2: R = (1 + 4)² / 2, the quadratic 1/2 + 4 + 8 / 2
    assert excess(active, apart, "average") == pytest.approx(12.5 - 8.5)
    assert excess(active, apart, "global") == pytest.approx(0.0)


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_line_search_is_exact(margin, w, weighted):
    X, risk = qbrank_risk(24, margin, w, weighted)
    rng, moved = np.random.default_rng(25), 0
    for _ in range(30):
        h, g = rng.normal(size=(2, len(X)))
        g = g - risk.gradient(h) * rng.choice([0.0, 1.0])
        s = risk.line_search(h, g)
        slope = risk.gradient(h + s * g) @ g
        scale = abs(risk.gradient(h)) @ abs(g)
        if s == 0.0:
            assert slope >= 0
            continue
        moved += 1
        assert slope == pytest.approx(0.0, abs=1e-12 * scale)
        assert risk.gradient(h + 0.999 * s * g) @ g < 0  # the smallest of the minimisers
        found = minimize_scalar(lambda t, h=h, g=g: risk.value(h + t * g), bounds=(0, 2 * s + 1), method="bounded")
        assert risk.value(h + s * g) <= found.fun + 1e-12 * scale
    assert moved > 5


def test_qbrank_line_search_takes_the_start_of_a_flat_stretch():
    risk = qb.QBRankRisk(3, (qb.Preference(0, 1, 1.0), qb.Preference(1, 2, 4.0)), (), 1.0)
    # 0 ≻ 1 is met from s = 1 on; 1 ≻ 2, with 5 to spare, comes in at s = 5
    assert risk.line_search(np.array([0.0, 0.0, -9.0]), np.array([1.0, 0.0, 1.0])) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["bound", "global", "average"])
@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_qbrank_risk_never_rises(kind, margin, w, weighted, rate):
    X, risk = qbrank_risk(26, margin, w, weighted)
    for weights in ("curvature", "ones"):
        rounds, h = qb.qbrank(X, risk, tree(), 8, rate, kind, weights)
        path = [risk.value(np.zeros(len(X)))] + [r.risk for r in rounds]
        assert len(rounds) == 8 or rounds[-1].risk == 0.0
        assert all(after <= before * (1 + 1e-12) for before, after in pairwise(path))
        assert path[-1] < path[0]
        assert risk.value(h) == path[-1]
        np.testing.assert_allclose(h, rate * sum(r.step * r.g for r in rounds), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_general_method_descends_by_whole_steps_on_a_global_bound(margin, w, weighted):
    X, risk = qbrank_risk(27, margin, w, weighted)
    rounds, _ = qb.quadratic_bound(X, risk.value, lambda h: risk.working_set(h, "global"), tree(), 15, 1.0)
    path = [risk.value(np.zeros(len(X)))] + [r.risk for r in rounds]
    for (before, after), done in zip(pairwise(path), rounds, strict=True):
        # a least-squares fit by leaves: gᵀWr = gᵀWg, so Eq. 6 promises half of that
        assert after <= before - done.g @ (done.weights * done.g) / 2 + 1e-12


def test_general_method_fits_another_convex_loss():
    # Logistic pairs: ln(1 + e^{-(h_x - h_y)}), Hessian at most 1/4 [[1, -1], [-1, 1]] <= diag(1/2, 1/2)
    X, grades, boundaries = ranking(28)
    pairs = [(p.winner, p.loser) for p in qb.preferences(grades, boundaries)]
    bound = np.bincount(np.ravel(pairs), minlength=len(X)) / 2.0

    def value(h):
        return math.fsum(math.log1p(math.exp(h[y] - h[x])) for x, y in pairs)

    def working_set(h):
        g = np.zeros(len(X))
        for x, y in pairs:
            g[[x, y]] += np.array([-1.0, 1.0]) * nb.sigmoid(h[y] - h[x])
        return bound, qb.residuals(g, bound)

    assert (bound == 0).any()  # the query of one document, which the residuals leave at 0
    rounds, h = qb.quadratic_bound(X, value, working_set, tree(), 10, 1.0)
    path = [value(np.zeros(len(X)))] + [r.risk for r in rounds]
    assert all(after < before for before, after in pairwise(path))
    assert value(h) == path[-1]


def test_residuals_refuse_a_bound_that_cannot_hold():
    with pytest.raises(ValueError, match="bound"):
        qb.residuals(np.array([1.0, 0.0]), np.array([0.0, 1.0]))


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_average_targets_fit_as_the_whole_training_set(margin, w, weighted):
    X, risk = qbrank_risk(29, margin, w, weighted)
    h = np.random.default_rng(30).normal(size=len(X))
    weights, targets = risk.working_set(h, "average")
    rows, each, weight = (np.array(column) for column in zip(*risk.training_set(h), strict=True))
    for row in range(len(X)):
        mine = (rows == row) & (weight > 0)
        if mine.any():
            assert targets[row] == pytest.approx(np.average(each[mine], weights=weight[mine]))
            assert weights[row] == pytest.approx(weight[mine].sum())
        else:
            assert (weights[row], targets[row]) == (0.0, 0.0)
    whole = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0).fit(X[rows], each, weight).predict(X)
    np.testing.assert_allclose(tree()(weights, X, targets), whole, atol=1e-12)


def test_qbrank_without_preferences_is_gradient_boosting():
    X, grades, _ = ranking(31)
    X = np.nan_to_num(X)
    risk = qb.QBRankRisk(len(X), (), tuple(qb.labels(grades)), 0.0)
    rounds, h = qb.qbrank(X, risk, tree(), 6, 0.3)
    assert [r.step for r in rounds] == pytest.approx([1.0] * 6)  # the fit is by least squares already
    boosting = GradientBoostingRegressor(
        init="zero", n_estimators=6, learning_rate=0.3, max_leaf_nodes=4, max_depth=None, random_state=0
    )
    np.testing.assert_allclose(h, boosting.fit(X, grades).predict(X), atol=1e-10)


def test_qbrank_normalizations_set_the_weight_of_a_query():
    _, grades, boundaries = ranking(32)
    sizes = np.diff(boundaries)
    for normalization, expected in (("none", None), ("rows", sizes), ("query", np.ones(len(sizes)))):
        pairs = qb.preferences(grades, boundaries, normalization=normalization)
        for q, (first, last) in enumerate(pairwise(boundaries)):
            mine = [p.weight for p in pairs if first <= p.winner < last]
            if mine:
                assert sum(mine) == pytest.approx(len(mine) if expected is None else expected[q])


def test_qbrank_leaves_out_what_is_not_labelled_or_weighs_0():
    grades, weight, labelled = [3.0, 2.0, 1.0, 0.0], [4.0, 1.0, 0.0, 9.0], [True, False, True, True]
    pairs = tuple(qb.preferences(grades, (0, 4), weight=weight, labelled=labelled))
    assert pairs == (qb.Preference(0, 3, 3.0, 6.0, (3.0, 0.0)),)
    points = tuple(qb.labels(grades, weight, labelled))
    assert points == (qb.Label(0, 3.0, 4.0), qb.Label(3, 0.0, 9.0))
    for kind in ("bound", "global", "average"):
        weights, _ = qb.QBRankRisk(4, pairs, points).working_set(np.zeros(4), kind, "ones")
        assert list(weights) == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("case", DEGENERATE)
def test_qbrank_without_pairs_learns_from_the_labels_or_not_at_all(case):
    grades, boundaries = DEGENERATE[case]
    X, pairs = np.arange(len(grades), dtype=float)[:, None], qb.preferences(grades, boundaries)
    assert pairs == []
    _, h = qb.qbrank(X, qb.QBRankRisk(len(X), (), tuple(qb.labels(grades))), tree(), 2, 1.0)
    np.testing.assert_allclose(h, grades, atol=1e-12)
    assert qb.qbrank(X, qb.QBRankRisk(len(X), (), (), 1.0), tree(), 2)[0] == []
