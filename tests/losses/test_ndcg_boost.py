"""NDCGBoost: the paper's arithmetic and the traps of its numerics; `test_double_loops` has its loop."""

import math

import loops
import numpy as np
import pytest

import boostplug as bp
from boostplug import NDCGBoost
from boostplug.metrics import gains

ACCURACY = 2e-7


def test_boxes_equal_pairs_on_tied_scores():
    rng = np.random.default_rng(5)
    queries = bp.Queries(rng.integers(0, 5, 500), group=[500])
    loops.assert_equal(NDCGBoost(), np.round(rng.normal(size=500)), queries, ACCURACY)
    loops.assert_equal(NDCGBoost(), 2.5 * rng.integers(-9, 9, 500), queries, ACCURACY)  # on the edges of boxes


def test_two_far_below_the_third_are_still_a_pair():
    """The digest's trap: e_i e_j / (e_i + e_j)² is NaN from ~370 below the maximum."""
    scores = np.array([0.0, -400.0, -400.5])
    queries = bp.Queries([0, 1, 0], group=[3])
    g, h = NDCGBoost().gradient_hessian(scores, queries)
    gamma = 1.0 / (2.0 + math.exp(0.5) + math.exp(-0.5))
    assert gamma == pytest.approx(0.235, abs=5e-4)
    scale = 3.0 / 2.0  # 3 documents, 2 pairs of |ΔG|/Z = 1
    assert g == pytest.approx([0.0, -scale * gamma, scale * gamma])
    assert h == pytest.approx([0.0, scale * gamma, scale * gamma])
    loops.assert_equal(NDCGBoost(), 5.0 * scores, queries, ACCURACY)


def test_values_of_the_paper_as_arithmetic():
    """Eq. 11 and 16 on grades 2, 1, 0: gains 3, 1, 0."""
    scores = np.array([0.2, 0.5, -0.1])
    queries = bp.Queries([2, 1, 0], group=[3])
    z = 3 + 1 / math.log2(3)
    sigma = loops.logistic
    value = (2 * sigma(0.5 - 0.2) + 3 * sigma(-0.1 - 0.2) + 1 * sigma(-0.1 - 0.5)) / z
    assert NDCGBoost().value(scores, queries) == pytest.approx([value])
    gamma = [sigma(x) * sigma(-x) for x in (0.3, 0.3, 0.6)]
    scale = 3 / ((2 + 3 + 1) / z)
    assert NDCGBoost().scale(queries) == pytest.approx(scale)
    g, h = NDCGBoost().gradient_hessian(scores, queries)
    assert g[0] == pytest.approx(-scale * (2 * gamma[0] + 3 * gamma[1]) / z)
    assert g[1] == pytest.approx(scale * (2 * gamma[0] - 1 * gamma[2]) / z)
    assert h[1] == pytest.approx(scale * (2 * gamma[0] + 1 * gamma[2]) / z)


def test_a_query_without_gains_teaches_nothing():
    queries = bp.Queries([0, 0, 0, 1, 0], group=[3, 2])
    assert not np.array(NDCGBoost().gradient_hessian(np.zeros(5), queries))[:, :3].any()
    assert NDCGBoost().value(np.zeros(5), queries).tolist() == pytest.approx([0.0, 0.5], rel=1e-13)
    flat = bp.Queries([1, 2], group=[2])
    assert not np.any(NDCGBoost(gain=np.zeros_like).gradient_hessian(np.zeros(2), flat))


@pytest.mark.parametrize("gain", ["exp2", "linear"])
def test_rounding_lets_no_gain_fall(gain, monkeypatch):
    """Gains of neighbouring grades that the last bit puts in the wrong order are one, and no error."""

    def one_ulp_off(grades):
        values = np.exp2(grades) - 1.0
        return np.nextafter(values, np.inf * (-1.0) ** np.arange(len(values)))

    monkeypatch.setattr(gains, "exp2_less_one", one_ulp_off)
    grades, loss = 1.0 + np.spacing(1.0) * np.arange(40), NDCGBoost(gain=gain)
    for group in ([40], [2] * 20):
        queries = bp.Queries(grades, group=group)
        assert (loss.value(np.zeros(40), queries) >= 0).all()
        g, h = loss.gradient_hessian(np.zeros(40), queries)
        assert (h >= 0).all()
        assert (h[g != 0] > 0).all()


def test_gaps_of_gains_keep_their_digits():
    """Gains that are nearly equal part by less than what dividing them by the ideal DCG would round away."""
    n = 12
    rng = np.random.default_rng(4)
    steps, scores = rng.permutation(n), rng.normal(size=n)
    value = NDCGBoost(gain="linear").value(scores, bp.Queries(1.0 + np.spacing(1.0) * steps, group=[n]))
    ideal = (1.0 / np.log2(2.0 + np.arange(n))).sum()
    gaps = np.spacing(1.0) * np.maximum(steps[:, None] - steps, 0)
    np.testing.assert_allclose(value, (gaps / (1.0 + np.exp(scores[:, None] - scores))).sum() / ideal, rtol=1e-9)


def test_gains_of_small_grades_keep_their_digits():
    """2^r - 1 is r ln 2 there, which the difference would round to 0."""
    scores, grades = np.array([0.3, -0.2, 0.1]), np.array([0.0, 1.0, 3.0])
    expected = NDCGBoost(gain="linear").gradient_hessian(scores, bp.Queries(grades, group=[3]))
    for c in (1e-12, 1e-17, 1e-38, 1e-300):
        queries = bp.Queries(c * grades, group=[3])
        np.testing.assert_allclose(NDCGBoost().gradient_hessian(scores, queries), expected, rtol=1e-9)
        assert bp.NDCG()(scores, queries) == pytest.approx(bp.NDCG(gain="linear")(scores, queries), rel=1e-9)
    assert bp.DCG(1)([1.0], bp.Queries([1e-17], group=[1])) == pytest.approx(1e-17 * math.log(2.0), rel=1e-14)
    grades = np.r_[0.0, 1.0, 2.0, 3.0, 30.0, 53.0]
    assert bp.DCG(1).per_query(np.zeros(6), bp.Queries(grades, group=np.ones(6))).tolist() == (2**grades - 1).tolist()
