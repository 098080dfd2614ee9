"""`evaluate`: estimates by hand, without bias on simulated clicks, and what they say of themselves."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import boostplug as bp
from boostplug.clicks import Propensity, evaluate, propensity, simulate
from boostplug.datasets import ClickLog

# Two pages of query 0, one of query 1. The new scores turn the first page around, and tie on the third.
PAGES = {
    "clicked": [1, 0, 1, 0, 1, 1, 0],
    "group": [3, 2, 2],
    "position": [1, 2, 3, 1, 2, 1, 2],
    "query": [0, 0, 0, 0, 0, 1, 1],
}
LOG = ClickLog(**PAGES)
NEW = [0.1, 0.2, 0.3, 2.0, 1.0, 5.0, 5.0]
THETA = [1.0, 0.5, 0.25]
D = [1.0, 1 / math.log2(3), 0.5]
INVERSE = 1.0 / np.arange(1.0, 41.0)


def test_by_hand():
    # First page: the click at 1 is now at 3, the one at 3 at 1. Second: at 2. Third: at 1 or 2.
    values = [D[2] * 1 + D[0] * 4, D[1] * 2, (D[0] + D[1]) / 2 * 1]
    weights = [5, 2, 1]
    options = {"metric": bp.DCG(3), "propensity": THETA}
    for method, total in (("ips", 3), ("snips", sum(weights))):
        found = evaluate(NEW, LOG, method=method, **options).estimate
        assert found == pytest.approx(sum(values) / total, rel=1e-14)
    clipped = [D[2] * 1 + D[0] * 2, D[1] * 2, (D[0] + D[1]) / 2]
    found = evaluate(NEW, LOG, max_weight=2.0, **options)
    assert found.estimate == pytest.approx(sum(clipped) / 3, rel=1e-14)
    assert found.largest_weight == 2.0


def test_precision_in_exact_arithmetic():
    found = evaluate(NEW, LOG, metric="Precision@2", propensity=THETA)
    # Page 1: of the clicks only the one that moved to the top counts, 4/2. Page 2: 2/2. Page 3: 1/2.
    assert Fraction(found.estimate).limit_denominator(10**6) == Fraction(2 + 1 + Fraction(1, 2)) / 3
    assert found.n_clicks == 4
    assert found.effective_sample_size == pytest.approx((0 + 4 + 2 + 1) ** 2 / (16 + 4 + 1))
    assert found.largest_weight == 4.0


def test_a_long_page_is_not_copied_for_each_click():
    n = 3000
    rng = np.random.default_rng(0)
    scores, clicked = rng.integers(0, 400, n).astype(float), rng.integers(0, 2, n)
    log, theta = ClickLog(clicked, group=[n], position=np.arange(1, n + 1)), np.linspace(1, 0.5, n)
    evaluate(scores, log, metric=bp.DCG(None), propensity=theta)  # compiles
    tracemalloc.start()
    found = evaluate(scores, log, metric=bp.DCG(None), propensity=theta)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    mean_discount = pd.Series(1 / np.log2(np.arange(2, n + 2))).groupby(-np.sort(-scores)).mean()
    assert found.estimate == pytest.approx((clicked / theta) @ mean_discount[scores], rel=1e-12)
    assert peak < 200 * n * 8


def tenfold(grades):
    return 10 * grades


@pytest.mark.parametrize("options", [{"k": 2, "convention": "letor"}, {"k": None, "ties": "order"}, {"gain": tenfold}])
def test_discounts_are_those_of_the_metric(options):
    for metric in (bp.DCG(**options), bp.DCG(**{"gain": "linear", **options})):
        found = evaluate(NEW, LOG, metric=metric, propensity=[1, 1, 1]).estimate
        queries = bp.Queries(PAGES["clicked"], group=PAGES["group"])
        assert found == pytest.approx(metric(NEW, queries), rel=1e-13)


DATA = bp.datasets.make_ranking(60, n_features=5, random_state=0)
SCORES = np.random.default_rng(1).normal(size=(2, DATA.n_rows)) + DATA.y


def logs(n, sessions=2000):
    return [
        simulate(DATA, ranker=SCORES[0], sessions=sessions, max_position=5, eta=1.0, noise=0.2, random_state=seed)
        for seed in range(n)
    ]


def true_value(metric):
    """Return the mean over queries of the metric if every document that attracts were clicked."""
    attraction = 0.2 + 0.8 * (2**DATA.y - 1) / (2 ** DATA.y.max() - 1)
    values = []
    for start, stop in zip(DATA.queries.boundaries[:-1], DATA.queries.boundaries[1:], strict=True):
        page = start + np.argsort(-SCORES[0][start:stop])[:5]
        page = page[np.argsort(-SCORES[1][page])]
        discount = [metric.score(one, -np.arange(len(page)), group=[len(page)]) for one in np.eye(len(page))]
        values.append(attraction[page] @ discount)
    return np.mean(values)


@pytest.mark.parametrize("metric", [bp.DCG(3), bp.Precision(2)])
def test_ips_has_no_bias(metric):
    def estimates(n, theta):
        of_logs = (
            evaluate(SCORES[1][log.document], log, metric=metric, propensity=theta, n_bootstrap=1) for log in logs(n)
        )
        return np.array([found.estimate for found in of_logs])

    found = estimates(25, INVERSE)
    assert abs(found.mean() - true_value(metric)) < 4 * found.std(ddof=1) / np.sqrt(len(found))
    assert estimates(3, np.ones(5)).mean() < 0.8 * true_value(metric)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Of pages that are queries: the same queries would be drawn again with other clicks."""
    truth, held = true_value(bp.DCG(3)), 0
    for log in logs(40, sessions=500):
        pages = ClickLog(log.clicked, group=log.group, position=log.position)
        found = evaluate(SCORES[1][log.document], pages, metric=bp.DCG(3), propensity=INVERSE, n_bootstrap=200)
        held += found.low <= truth <= found.high
    assert 32 <= held < 40


def test_the_effective_sample_size_is_large_for_the_order_that_was_shown_and_small_for_its_reverse():
    for log in logs(3):
        random = np.random.default_rng(0).normal(size=log.n_rows)
        orders = {"shown": -log.position, "random": random, "reversed": log.position}
        found = evaluate(orders, log, propensity=INVERSE, n_bootstrap=1)
        sizes = [found[name].effective_sample_size for name in orders]
        assert found["shown"].n_clicks > sizes[0] > 1.3 * sizes[1] > 1.5 * sizes[2]


@pytest.mark.parametrize("order", [-1.0, 1.0])
@pytest.mark.parametrize("ties", ["average", "order"])
def test_the_standard_error_for_clicks_that_come_seldom_is_one_over_the_root_of_the_effective_sample_size(order, ties):
    rng, n_pages = np.random.default_rng(0), 2000
    position = np.tile(np.arange(1, 11), n_pages)
    scores, chance = order * (position // 2), 0.03 * rng.random(len(position)) / position
    estimates, expected = [], []
    for _ in range(300):
        log = ClickLog(rng.random(len(position)) < chance, group=[10] * n_pages, position=position)
        found = evaluate(scores, log, metric=bp.DCG(10, ties=ties), propensity=INVERSE, n_bootstrap=1)
        estimates.append(found.estimate)
        expected.append(found.estimate / np.sqrt(found.effective_sample_size))
    # The standard deviation of 300 numbers has a relative standard error of 4 %.
    assert np.std(estimates, ddof=1) == pytest.approx(np.sqrt(np.mean(np.square(expected))), rel=0.16)


def test_rankers_are_compared_with_the_first():
    log = logs(1)[0]
    random = np.random.default_rng(0).normal(size=log.n_rows)
    found = evaluate({"random": random, "y": DATA.y[log.document], "again": random}, log, propensity=INVERSE)
    assert list(found) == ["random", "y", "again"]
    alone = evaluate(DATA.y[log.document], log, propensity=INVERSE)
    assert (found["y"].estimate, found["y"].low) == pytest.approx((alone.estimate, alone.low), rel=1e-12)
    assert found["random"].difference is None
    assert alone.difference is None
    difference = found["y"].difference
    assert difference.estimate == pytest.approx(found["y"].estimate - found["random"].estimate)
    assert 0 < difference.low < difference.estimate < difference.high
    assert difference.high - difference.low < found["y"].high - found["y"].low  # paired
    assert found["again"].difference == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


def test_a_propensity_is_taken_as_it_is():
    log = simulate(DATA, ranker="random", sessions=3000, max_position=4, random_state=0)
    theta = propensity(log, method="randomised")
    assert isinstance(theta, Propensity)
    scores = DATA.y[log.document]
    assert evaluate(scores, log, propensity=theta) == evaluate(scores, log, propensity=theta.propensity)


def test_pages_may_be_aggregated():
    together = ClickLog([3, 1, 0, 2], group=[2, 2], position=[1, 2, 1, 2], impressions=[4, 4, 2, 2])
    clicked = [1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1]  # four pages of the first query, two of the second
    apart = ClickLog(clicked, group=[2] * 6, position=[1, 2] * 6, query=np.repeat([0, 1], [8, 4]))
    scores = [0.1, 0.2, 0.3, 0.1], [0.1, 0.2] * 4 + [0.3, 0.1] * 2
    value = [5.0, 2.0]
    one, other = (
        evaluate(s, log, propensity=[1, 2**-0.7], click_value=value * len(log.group))
        for s, log in zip(scores, (together, apart), strict=True)
    )
    assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high))
    assert one.n_clicks == other.n_clicks == 6
    assert one.effective_sample_size == pytest.approx(other.effective_sample_size)


def test_one_query_has_no_interval():
    found = evaluate([1.0, 2.0], ClickLog([1, 0], group=[2], position=[1, 2]), propensity=INVERSE)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_a_page_without_rows_does_not_count():
    log = ClickLog([1, 0, 1], group=[2, 0, 1], position=[1, 2, 1])
    assert evaluate([2.0, 1.0, 1.0], log, propensity=INVERSE).estimate == 1.0


@pytest.mark.parametrize(("method", "max_weight"), [("ips", None), ("snips", None), ("ips", 3.0)])
def test_values_of_clicks(method, max_weight):
    options = {"metric": bp.DCG(3), "propensity": THETA, "method": method, "max_weight": max_weight}
    plain = evaluate(NEW, LOG, **options)
    assert evaluate(NEW, LOG, click_value=np.ones(7), **options) == plain
    doubled = evaluate(NEW, LOG, click_value=np.full(7, 2.0), **options)
    assert doubled[:3] == pytest.approx(2.0 * np.array(plain[:3]), rel=1e-14)
    assert doubled.effective_sample_size == pytest.approx(plain.effective_sample_size)
    assert doubled.largest_weight == plain.largest_weight
    of_unclicked = [1.0, np.nan, 1.0, -3.0, 1.0, 1.0, np.inf]
    assert evaluate(NEW, LOG, click_value=of_unclicked, **options) == plain


def test_revenue_by_hand():
    """First page: a click for 5 at 1, now at 3, and one for 2 at 3, now at 1. Second: for 0. Third: for 4."""
    found = evaluate(NEW, LOG, click_value=[5, 0, 2, 0, 0, 4, 0], metric=bp.DCG(3), propensity=THETA)
    values = [D[2] * 1 * 5 + D[0] * 4 * 2, 0, (D[0] + D[1]) / 2 * 1 * 4]
    assert found.estimate == pytest.approx(sum(values) / 3, rel=1e-14)
    added = np.array([D[2] * 5, D[0] * 8, 0, (D[0] + D[1]) / 2 * 4])
    assert found.effective_sample_size == pytest.approx(added.sum() ** 2 / (added**2).sum())
    assert found.n_clicks == 4


def test_values_that_no_click_has_are_refused():
    with pytest.raises(ValueError, match=r"click_value\[2\] = .* is not a value of a click; pass numbers from 0"):
        evaluate(NEW, LOG, propensity=INVERSE, click_value=[1, 1, -1.0, 1, 1, 1, 1])
