"""ListNet against the papers' arithmetic, the plain loop, and LightGBM's own rank_xendcg."""

import math

import loops
import numpy as np
import pytest

from boostplug import ListNet, Queries
from boostplug.testing import PROPERTIES, suited_data

XENDCG = ListNet(target="xendcg")
SEEDED = ListNet(target="xendcg", random_state=7)


def data(rng, group=(9, 1, 0, 2, 40), spread=1.0, weighted=True):
    n = sum(group)
    options = {"weight": rng.integers(0, 4, n) / 2.0, "labelled": rng.random(n) < 0.8} if weighted else {}
    return Queries(rng.integers(0, 5, n), group=group, **options), spread * rng.normal(size=n)


def test_listnets_arithmetic():
    """Labels ln 2 and 0 have the shares 2/3 and 1/3, scores 0 and ln 3 the shares 1/4 and 3/4."""
    queries, scores = Queries([math.log(2.0), 0.0], group=[2]), [0.0, math.log(3.0)]
    assert ListNet().value(scores, queries) == pytest.approx([2 / 3 * math.log(4.0) + 1 / 3 * math.log(4 / 3)])
    assert ListNet().scale(queries) == 2.0
    gradient, hessian = ListNet().gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, 2.0 * np.array([1 / 4 - 2 / 3, 3 / 4 - 1 / 3]))
    np.testing.assert_allclose(hessian, 2.0 * np.array([3 / 16, 3 / 16]))


def test_bruchs_arithmetic():
    """Grades 2, 1, 0 less ½ have the shares 7/11, 3/11, 1/11; all scores are equal."""
    queries = Queries([2, 1, 0], group=[3])
    first = np.array([1 / 3 - 7 / 11, 1 / 3 - 3 / 11, 1 / 3 - 1 / 11])
    # with p = 1/3: the terms of the others over 2/3, times 1/3, are minus half of one's own
    gradient, hessian = XENDCG.gradient_hessian(np.zeros(3), queries)
    np.testing.assert_allclose(gradient, 3.0 * first * (1.0 - 0.5 + 0.25))
    np.testing.assert_allclose(hessian, 3.0 * np.full(3, 2 / 9))
    assert XENDCG.value(np.zeros(3), queries) == pytest.approx([math.log(3.0)])


class Random:
    """LightGBM's generator of 15 bits, of which each query has one, seeded by its number."""

    def __init__(self, seed):
        self.x = int(seed)

    def next_float(self):
        self.x = (214013 * self.x + 2531011) % 2**32
        return (self.x >> 16 & 0x7FFF) / 32768.0


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
def test_the_loop_is_lightgbms_rank_xendcg(spread):
    """A tree with a leaf for each document tells its step and, as the leaf's weight, its Hessian."""
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    group = np.array([12, 3, 1, 30, 2])
    n, seed = int(group.sum()), 11
    labels, scores = rng.integers(0, 5, n), spread * rng.normal(size=n)
    dataset = lgb.Dataset(np.arange(n)[:, None], labels, group=group, init_score=scores)
    params = {"objective": "rank_xendcg", "objective_seed": seed, "num_leaves": n, "learning_rate": 1.0}
    params |= {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0, "min_data_in_bin": 1, "max_bin": 255}
    params |= {"num_threads": 1, "verbose": -1}
    booster = lgb.train(params, dataset, 1)
    gamma = [random.next_float() for q, m in enumerate(group) for random in [Random(seed + q)] for _ in range(m)]
    _, g, h = loops.list_net(scores, Queries(labels, group=group), "xendcg", gamma)
    leaf = booster.predict(np.arange(n)[:, None], pred_leaf=True).ravel()
    found = booster.trees_to_dataframe().query("node_depth > 0 and left_child.isna()")
    order = np.argsort(found["node_index"].str.extract(r"L(\d+)$")[0].astype(int))
    value, weight = found["value"].to_numpy()[order], found["weight"].to_numpy()[order]
    slope, curvature = np.bincount(leaf, g), np.bincount(leaf, h)
    assert len(value) > 0.8 * n
    np.testing.assert_allclose(value * curvature, -slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(weight, curvature, rtol=1e-5)  # of six digits


@pytest.mark.parametrize("loss", [ListNet(), XENDCG, SEEDED])
@pytest.mark.parametrize("largest", [1e3, 1e100])
def test_scores_of_any_size_take_finite_steps(loss, largest):
    """The limits: one document has all of the softmax, and the others share what is left among themselves."""
    queries = Queries([0, 1, 1, 0, 2, 3], group=[4, 2])
    scores = largest * np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    value = loss.value(scores, queries)
    gradient, hessian = loss.gradient_hessian(scores, queries)
    assert np.isfinite([*value, *gradient, *hessian]).all()
    assert value[0] > 0.1 * largest
    assert gradient[0] > 0.5
    assert (gradient[1:4] < 0).all()
    assert abs(gradient[:4].sum()) < 1e-14
    assert (hessian[gradient != 0] > 0).all()


def test_three_terms_in_the_limit():
    """With p = 1, 0, 0 the others share what is left by 1 to 3: t1 = (x, -P2, -P3), t2 = (-P2 - P3, x/4, 3x/4), …"""
    queries = Queries([0, 1, 2], group=[3])
    target, among = np.array([0.5, 1.5, 3.5]) / 5.5, np.array([0.25, 0.75])
    first = np.array([1.0, 0.0, 0.0]) - target
    second = np.r_[first[1] + first[2], first[0] * among]
    third = np.r_[second[1] + second[2], second[0] * among]
    for top in (30.0, 900.0):  # the others' exponentials in the range of floats, and not
        gradient, _ = XENDCG.gradient_hessian([top, 0.0, math.log(3.0)], queries)
        np.testing.assert_allclose(gradient, 3.0 * (first + second + third), atol=1e-11)


def test_three_terms_in_the_limit_of_light_documents():
    """The others' weights times their exponentials have no inverse in the range of floats; their shares stay 1 to 3."""
    light = np.array([1.0, 1e-12, 1e-12])
    queries = Queries([0, 1, 2], group=[3], weight=light)
    target, among = np.array([0.5, 1.5, 3.5]) * light / (light @ [0.5, 1.5, 3.5]), np.array([0.25, 0.75])
    first = np.r_[target[1] + target[2], -target[1:]]
    second = np.r_[first[1] + first[2], first[0] * among]
    third = np.r_[second[1] + second[2], second[0] * among]
    gradient, _ = XENDCG.gradient_hessian([900.0, 0.0, math.log(3.0)], queries)
    np.testing.assert_allclose(gradient, 3.0 * (first + second + third), rtol=1e-9)


def test_what_one_document_lacks_to_1_keeps_its_digits():
    queries = Queries([0.0, -50.0], group=[2])
    for gap in (20.0, 45.0, 600.0):
        gradient, hessian = ListNet().gradient_hessian([0.0, -gap], queries)
        rest, label = math.exp(-gap) / (1 + math.exp(-gap)), math.exp(-50.0) / (1.0 + math.exp(-50.0))
        np.testing.assert_allclose(gradient, [2.0 * (label - rest), 2.0 * (rest - label)], rtol=1e-12)
        np.testing.assert_allclose(hessian, 2.0 * max(rest * (1 - rest), 1e-16 * abs(label - rest)), rtol=1e-12)
        value = -(1.0 - label) * math.log1p(-rest) + label * (gap + math.log1p(math.exp(-gap)))
        assert ListNet().value([0.0, -gap], queries) == pytest.approx([value], rel=1e-12)


@pytest.mark.parametrize("loss", [ListNet(), XENDCG, SEEDED])
def test_grades_of_hundreds_have_the_shares_of_their_differences(loss):
    """2^1000 and e^1000 are no floats; γ is nothing beside the first."""
    scores = [0.0, 1.0, 2.0]
    large = loss.gradient_hessian(scores, Queries([1e4, 1e4 - 1.0, 0.0], group=[3]))
    base = math.e if loss.target == "softmax" else 2.0
    share = np.array([base, 1.0, 0.0]) / (base + 1.0)
    np.testing.assert_allclose(
        loss.value(scores, Queries([1e4, 1e4 - 1.0, 0.0], group=[3]))[0],
        -share @ (np.array(scores) - np.log(np.exp(scores).sum())),
    )
    assert np.isfinite(large).all()
    if loss.target == "softmax":
        p = np.exp(scores) / np.exp(scores).sum()
        np.testing.assert_allclose(large[0], 3.0 * (p - share))


def test_weights_are_of_lists_and_within_them():
    """A document of weight v has v e^F of its list's e^F; the list weighs Σv²/Σv."""
    queries = Queries([1.0, 0.0, 2.0, 0.0], group=[2, 2], weight=[3.0, 1.0, 2.0, 2.0])
    gradient, _ = ListNet().gradient_hessian(np.zeros(4), queries)
    p, share = np.array([3.0, 1.0]) / 4.0, np.array([3.0 * math.e, 1.0]) / (3.0 * math.e + 1.0)
    scale = 4.0 / (10.0 / 4.0 + 2.0)
    assert ListNet().scale(queries) == pytest.approx(scale)
    np.testing.assert_allclose(gradient[:2], scale * 2.5 * (p - share))
    np.testing.assert_allclose(gradient[2:], scale * 2.0 * (0.5 - np.array([math.e**2, 1.0]) / (math.e**2 + 1.0)))
    lighter = Queries([1.0, 0.0, 2.0, 0.0], group=[2, 2], weight=[3.0, 1e-12, 2.0, 2.0])
    without = Queries([1.0, 0.0, 2.0, 0.0], group=[2, 2], weight=[3.0, 0.0, 2.0, 2.0])
    np.testing.assert_allclose(*(ListNet().value(np.arange(4.0), each) for each in (lighter, without)), atol=1e-10)


def noise_of(seed, row, score):
    """Return splitmix64 of seed, row and the score's bits as a number from 0 to 1, by Python's integers."""
    x = seed
    for part in (row, int(np.float64(score).view(np.uint64))):
        x = ((x ^ part) + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        x ^= x >> 31
    return (x >> 11) / 2.0**53


@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_a_seeds_noise_is_a_function_of_seed_row_and_score(seed):
    queries, scores = data(np.random.default_rng(seed))
    loss = ListNet(target="xendcg", random_state=seed)
    gamma = [noise_of(seed, row, score) for row, score in enumerate(scores)]
    value, g, _ = loops.list_net(scores, queries, "xendcg", gamma)
    np.testing.assert_allclose(loss.value(scores, queries), value, rtol=1e-11)
    gradient, _ = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, loss.scale(queries) * g, atol=1e-11)
    np.testing.assert_array_equal(gradient, loss.gradient_hessian(scores, queries)[0])


def test_noise_is_even_and_new_with_seed_row_and_score():
    """Of two documents of grade 0, all scores 0, P tells the noise: (1 - γ1) / (2 - γ1 - γ2)."""
    n = 20_000
    queries = Queries(np.zeros(2 * n), group=np.full(n, 2))

    def shares(seed, scores):
        loss = ListNet(target="xendcg", random_state=seed)
        return 0.5 - loss.gradient_hessian(scores, queries)[0][::2] / 2.0

    one, other, moved = shares(1, np.zeros(2 * n)), shares(2, np.zeros(2 * n)), shares(1, np.full(2 * n, 0.1))
    np.testing.assert_array_equal(one, shares(1, np.full(2 * n, -0.0)))
    assert abs(one.mean() - 0.5) < 5.0 * one.std() / math.sqrt(n)
    # x/(x + y) of uniform x, y is below z with probability z/(1 - z)/2 for z up to ½
    for z in (0.1, 0.25, 0.4):
        below = z / (1.0 - z) / 2.0
        assert abs((one < z).mean() - below) < 5.0 * math.sqrt(below / n)
    for x, y in ((one, other), (one, moved), (one[1:], one[:-1])):
        assert abs(np.corrcoef(x, y)[0, 1]) < 5.0 / math.sqrt(n)


# What a seed's noise leaves standing: rows keep their places and their scores.
PLACED = {
    *("shapes_and_types", "hessian_is_positive", "gradient_is_the_values", "better_documents_rise"),
    "hessian_is_its_kind",
    *("gradients_sum_to_zero", "queries_are_independent", "weights_are_relative", "unlabelled_rows_are_apart"),
    *("inputs_stay", "threads_do_not_matter", "is_a_value"),
}


@pytest.mark.parametrize("prop", PROPERTIES, ids=lambda prop: prop.__name__)
def test_the_laws_that_noise_by_row_and_score_keeps(prop):
    rng = np.random.default_rng(0)
    broken = 0
    for _, scores, queries in suited_data(SEEDED, rng):
        try:
            prop(SEEDED, scores, queries, rng)
        except AssertionError:
            broken += 1
    assert (broken == 0) == (prop.__name__ in PLACED)


def test_a_million_documents_in_one_list():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=1_000_000), rng.integers(0, 5, 1_000_000)
    gradient, hessian = XENDCG.gradient_hessian(scores, Queries(labels, group=[1_000_000]))
    p, phi = np.exp(scores) / np.exp(scores).sum(), 2.0**labels - 0.5
    terms = found = p - phi / phi.sum()
    for _ in range(2):
        parts = terms / (1.0 - p)
        terms = p * (parts.sum() - parts)
        found = found + terms
    np.testing.assert_allclose(gradient, 1e6 * found, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(hessian, 1e6 * p * (1.0 - p), rtol=1e-10)
