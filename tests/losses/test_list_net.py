"""ListNet against the paper's arithmetic and the limits of its shares; `test_double_loops` has its loop."""

import math

import numpy as np
import pytest

from boostplug import ListNet, Queries


def test_listnets_arithmetic():
    """Labels ln 2 and 0 have the shares 2/3 and 1/3, scores 0 and ln 3 the shares 1/4 and 3/4."""
    queries, scores = Queries([math.log(2.0), 0.0], group=[2]), [0.0, math.log(3.0)]
    assert ListNet().value(scores, queries) == pytest.approx([2 / 3 * math.log(4.0) + 1 / 3 * math.log(4 / 3)])
    assert ListNet().scale(queries) == 2.0
    gradient, hessian = ListNet().gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, 2.0 * np.array([1 / 4 - 2 / 3, 3 / 4 - 1 / 3]))
    np.testing.assert_allclose(hessian, 2.0 * np.array([3 / 16, 3 / 16]))


@pytest.mark.parametrize("largest", [1e3, 1e100])
def test_scores_of_any_size_take_finite_steps(largest):
    """The limits: one document has all of the softmax."""
    loss = ListNet()
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


def test_what_one_document_lacks_to_1_keeps_its_digits():
    queries = Queries([0.0, -50.0], group=[2])
    for gap in (20.0, 45.0, 600.0):
        gradient, hessian = ListNet().gradient_hessian([0.0, -gap], queries)
        rest, label = math.exp(-gap) / (1 + math.exp(-gap)), math.exp(-50.0) / (1.0 + math.exp(-50.0))
        np.testing.assert_allclose(gradient, [2.0 * (label - rest), 2.0 * (rest - label)], rtol=1e-12)
        np.testing.assert_allclose(hessian, 2.0 * max(rest * (1 - rest), 1e-16 * abs(label - rest)), rtol=1e-12)
        value = -(1.0 - label) * math.log1p(-rest) + label * (gap + math.log1p(math.exp(-gap)))
        assert ListNet().value([0.0, -gap], queries) == pytest.approx([value], rel=1e-12)


def test_grades_of_hundreds_have_the_shares_of_their_differences():
    """e^1000 is no float."""
    scores, queries = [0.0, 1.0, 2.0], Queries([1e4, 1e4 - 1.0, 0.0], group=[3])
    share, p = np.array([math.e, 1.0, 0.0]) / (math.e + 1.0), np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(ListNet().value(scores, queries), [-share @ np.log(p)])
    np.testing.assert_allclose(ListNet().gradient_hessian(scores, queries)[0], 3.0 * (p - share))


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


def test_a_million_documents_in_one_list():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=1_000_000), rng.integers(0, 5, 1_000_000)
    gradient, hessian = ListNet().gradient_hessian(scores, Queries(labels, group=[1_000_000]))
    p, target = (np.exp(x) / np.exp(x).sum() for x in (scores, labels))
    np.testing.assert_allclose(gradient, 1e6 * (p - target), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(hessian, 1e6 * p * (1.0 - p), rtol=1e-10)
