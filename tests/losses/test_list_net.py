"""ListNet against the paper's arithmetic, the limits of its shares, the logit; `test_double_loops` has its loop."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss

import boostplug as bp
from boostplug import ListNet, Queries

CHOICE = ListNet(target="labels")


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
    queries = Queries([0, 1, 1, 0, 2, 3], group=[4, 2])
    scores = largest * np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    value = ListNet().value(scores, queries)
    gradient, hessian = ListNet().gradient_hessian(scores, queries)
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
    share, p = np.array([math.e, 1.0, 0.0]) / (math.e + 1.0), softmax(scores)
    np.testing.assert_allclose(ListNet().value(scores, queries), [-share @ np.log(p)])
    np.testing.assert_allclose(ListNet().gradient_hessian(scores, queries)[0], 3.0 * (p - share))


def test_weights_are_of_lists_and_within_them():
    """A document of weight v has v e^F of its list's e^F; the list weighs Σv²/Σv."""
    queries = Queries([1.0, 0.0, 2.0, 0.0], group=[2, 2], weight=[3.0, 1.0, 2.0, 2.0])
    scale, share = 4.0 / (10.0 / 4.0 + 2.0), 3.0 * math.e / (3.0 * math.e + 1.0)
    assert ListNet().scale(queries) == pytest.approx(scale)
    gradient, _ = ListNet().gradient_hessian(np.zeros(4), queries)
    np.testing.assert_allclose(gradient[0], scale * 2.5 * (3.0 / 4.0 - share))


def test_a_million_documents_in_one_list():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=1_000_000), rng.integers(0, 5, 1_000_000)
    gradient, hessian = ListNet().gradient_hessian(scores, Queries(labels, group=[1_000_000]))
    p, target = softmax(scores), softmax(labels)
    np.testing.assert_allclose(gradient, 1e6 * (p - target), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(hessian, 1e6 * p * (1.0 - p), rtol=1e-10)


def test_one_chosen_document_is_a_class_of_the_multinomial_logit():
    rng = np.random.default_rng(0)
    scores, best = rng.normal(size=(50, 7)), rng.integers(0, 7, 50)
    value = CHOICE.value(scores.ravel(), Queries(np.eye(7)[best].ravel(), group=[7] * 50))
    expected = log_loss(best, softmax(scores, axis=1), normalize=False, labels=range(7))
    assert value.sum() == pytest.approx(expected, rel=1e-12)


def test_labels_are_shares_whatever_their_unit():
    """Amounts of 6 and 2 are 3/4 and 1/4; a list without one teaches nothing and does not count in the scale."""
    queries = Queries([6.0, 2.0, 0.0, 0.0, 0.0], group=[3, 2])
    scores = [0.0, math.log(2.0), 0.0, 1.0, 2.0]
    np.testing.assert_allclose(CHOICE.value(scores, queries), [0.75 * math.log(4.0) + 0.25 * math.log(2.0), 0.0])
    expected = [3 * (0.25 - 0.75), 3 * (0.5 - 0.25), 3 * 0.25, 0.0, 0.0], [3 * 3 / 16, 3 / 4, 3 * 3 / 16, 0.0, 0.0]
    for unit in (1.0, 1e-300, 1e300):
        other = Queries(unit * queries.labels, group=[3, 2])
        np.testing.assert_allclose(CHOICE.gradient_hessian(scores, other), expected, rtol=1e-12)


def test_derivatives_equal_those_of_a_thousand_digits():
    rng = np.random.default_rng(3)
    scores, labels = 20.0 * rng.normal(size=12), rng.integers(0, 3, 12)
    gradient, hessian = CHOICE.gradient_hessian(scores, Queries(labels, group=[12]))
    with localcontext(prec=1000):
        e = [Decimal(float(s)).exp() for s in scores]
        p = [x / sum(e) for x in e]
        exact = [x - Decimal(int(r)) / int(labels.sum()) for x, r in zip(p, labels, strict=True)]
        wanted = [(12 * float(g), 12 * float(x * (1 - x))) for x, g in zip(p, exact, strict=True)]
    np.testing.assert_allclose(gradient, [g for g, _ in wanted], rtol=1e-13)
    np.testing.assert_allclose(hessian, [max(h, 1e-16 * abs(g)) for g, h in wanted], rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "trees"), [(bp.LGBMRanker, {"num_leaves": 8, "verbose": -1}), (bp.XGBRanker, {"max_depth": 3})]
)
def test_utilities_and_probabilities_of_a_conditional_logit_are_found(kind, trees):
    """From one document of each list, drawn by the logit."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (90_000, 4))
    utility = 2.0 * X[:, 0] - 3.0 * np.maximum(X[:, 1], 0.0) + X[:, 2]
    best = np.argmax(utility.reshape(9000, 10) + rng.gumbel(size=(9000, 10)), axis=1)
    labels, train, test = np.eye(10)[best].ravel(), slice(80_000), slice(80_000, None)
    ranker = kind(objective=CHOICE, n_estimators=60, learning_rate=0.15, random_state=0, n_jobs=1, **trees)
    ranker.fit(X[train], labels[train], group=[10] * 8000)
    found, true = (u.reshape(-1, 10) for u in (ranker.predict(X[test]), utility[test]))
    within = [(u - u.mean(axis=1, keepdims=True)).ravel() for u in (found, true)]
    assert np.corrcoef(*within)[0, 1] >= 0.98
    p, happened = softmax(found, axis=1).ravel(), labels[test]
    place = np.minimum((10 * p).astype(int), 9)
    assert np.abs(np.bincount(place, p - happened)).sum() / len(p) <= 0.012  # measured .006 to .009
