"""`propensity`: every method finds the propensities of simulated logs, with intervals that hold them."""

import numpy as np
import pytest
from clicks.logs import aggregated, of_rows
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import boostplug as bp
from boostplug.clicks import propensity, simulate
from boostplug.datasets import ClickLog

DATA = bp.datasets.make_ranking(300, n_features=10, random_state=0)
N_POSITIONS = 6
TRUTH = 1.0 / np.arange(1, N_POSITIONS + 1)
NOISE = np.random.default_rng(0).normal(size=(2, DATA.n_rows))
SCORES = DATA.y / 4.0 + NOISE


def log_of(ranker, sessions=60_000, **options):
    return simulate(DATA, ranker=ranker, sessions=sessions, max_position=N_POSITIONS, random_state=1, **options)


@pytest.fixture(scope="module")
def shuffled():
    return log_of("random")


@pytest.fixture(scope="module")
def of_two_rankers():
    return log_of([*SCORES])


def check(found, tolerance, truth=TRUTH):
    assert found.propensity[0] == found.low[0] == found.high[0] == 1.0
    assert np.abs(found.propensity / truth - 1).max() < tolerance
    held = (found.low <= truth) & (truth <= found.high)
    assert held.sum() >= len(truth) - 2  # they share the clicks at position 1
    assert (found.low <= found.high).all()
    assert np.array_equal(found.position, np.arange(1, len(truth) + 1))


def test_randomised(shuffled):
    found = propensity(shuffled, method="randomised")
    check(found, 0.08)
    assert np.array_equal(found.impressions, np.bincount(shuffled.position)[1:])
    assert np.array_equal(found.clicks, np.bincount(shuffled.position, shuffled.clicked)[1:])


def test_randomised_compares_pages_of_the_same_length():
    """Short pages are much more relevant: over all pages, deep positions would seem worse than they are."""
    y = np.repeat([4.0, 0.0], [60, 300])
    data = bp.RankingData(np.zeros((360, 1)), y, group=[2] * 30 + [10] * 30)
    log = simulate(data, eta=0.5, noise=0.3, ranker="random", sessions=60_000, random_state=0)
    check(propensity(log, method="randomised"), 0.1, (1 / np.arange(1, 11)) ** 0.5)


RANKERS = {"one order": SCORES[0], "two rankers": [*SCORES], "two thirds shuffled": ["random", "random", SCORES[0]]}


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("view", [aggregated, lambda log: log], ids=["aggregated", "pages"])
def test_pages_that_were_not_shuffled_are_refused(ranker, view):
    with pytest.raises(ValueError, match=r'needs shuffled pages, .* keep their positions .*; pass method="harv'):
        propensity(view(log_of(RANKERS[ranker], sessions=3000)), method="randomised")


def test_an_order_that_only_leans_on_a_ranking_is_refused():
    rng = np.random.default_rng(0)
    order = np.argsort(-0.3 * np.arange(5) + rng.normal(size=(2000, 5)), axis=1)
    ids = {"query": np.zeros(10_000), "document": order.ravel(), "position": np.tile(np.arange(1, 6), 2000)}
    with pytest.raises(ValueError, match="keep their positions"):
        propensity(ClickLog(np.ones(10_000), group=[5] * 2000, **ids), method="randomised")


def test_without_query_and_document_the_order_is_not_checked():
    log = log_of(SCORES[0], sessions=3000)
    for ids in ((), ("query",), ("document",)):
        assert len(propensity(of_rows(log, slice(None), *ids), method="randomised", n_bootstrap=2)) == N_POSITIONS


@pytest.mark.parametrize(
    ("n_queries", "fewest", "most", "pages", "longest"),
    [(5, 2, 6, 40, 6), (3, 2, 2, 60, 2), (1, 5, 8, 30, 8), (300, 2, 12, 200, 12), (20, 3, 30, 200, 5)],
)
def test_shuffled_pages_pass(n_queries, fewest, most, pages, longest):
    """20 logs of each kind, as single pages and aggregated."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        size, query = rng.integers(fewest, most + 1, n_queries), rng.integers(n_queries, size=pages)
        shown = [rng.permutation(size[q])[:longest] for q in query]
        group = [len(page) for page in shown]
        position = np.concatenate([np.arange(1, n + 1) for n in group])
        ids = {"query": np.repeat(query, group), "document": np.concatenate(shown)}
        log = ClickLog(np.ones(sum(group)), group=group, position=position, **ids)
        for view in (log, aggregated(log)):
            assert propensity(view, method="randomised", n_bootstrap=2).propensity[1] > 0


def test_harvesting(of_two_rankers):
    check(propensity(of_two_rankers, method="harvesting"), 0.15)


def test_harvesting_equals_the_ratio_where_there_are_two_positions():
    """The likelihood of one pair of positions is largest at the ratio of the sums of click rates."""
    rng = np.random.default_rng(3)
    n = rng.integers(1, 50, (2, 40))
    c = rng.binomial(n, [[0.4], [0.1]])
    ids = {"query": np.tile(np.arange(40) // 2, 2), "document": np.tile(np.arange(40), 2)}
    log = ClickLog(c.ravel(), group=[80], position=np.repeat([1, 2], 40), impressions=n.ravel(), **ids)
    found = propensity(log, method="harvesting").propensity[1]
    assert found == pytest.approx((c[1] / n[1]).sum() / (c[0] / n[0]).sum(), rel=1e-4)


@pytest.mark.ci  # some ten seconds of gradient boosting
def test_em_with_features():
    log = log_of(SCORES[0], sessions=6_000)
    found = propensity(log, method="em", X=dict(enumerate(DATA.X)), n_bootstrap=2).propensity
    assert np.abs(found / TRUTH - 1).max() < 0.3


def test_small_models_of_relevance_have_one_thread(monkeypatch):
    """On a busy machine several take up to ten times as long."""

    def spied(*arguments):
        (n,) = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}
        raise RuntimeError(f"threads: {n}")

    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", spied)
    log = log_of(SCORES[0], sessions=1_000)
    for n_features, n_threads in ((5, 1), (2_500_000 // log.n_rows + 1, 3)):
        with threadpool_limits(3, "openmp"), pytest.raises(RuntimeError, match=f"^threads: {n_threads}$"):
            propensity(log, method="em", X=np.zeros((log.n_rows, n_features)))


def test_em_without_features():
    """Each document was shown a hundred times at several positions."""
    few = bp.RankingData(DATA.X[:100], DATA.y[:100], group=[20] * 5)
    log = simulate(few, ranker="random", sessions=60_000, max_position=N_POSITIONS, random_state=2)
    check(propensity(log, method="em"), 0.08)


@pytest.mark.parametrize("method", ["randomised", "harvesting", "em"])
def test_an_aggregated_log_says_the_same(method):
    few = bp.RankingData(DATA.X[:60], DATA.y[:60], group=[6] * 10)
    log = simulate(few, ranker="random", sessions=3000, max_position=3, random_state=2)
    one, other = (propensity(it, method=method).propensity for it in (log, aggregated(log)))
    # The sums of "randomised" differ: here by page, there by query.
    assert np.allclose(one, other, rtol=0.05 if method == "randomised" else 1e-6)


def test_intervals_hold_the_truth_as_often_as_they_say():
    held = []
    for seed in range(40):
        log = simulate(DATA, ranker="random", sessions=2000, max_position=3, random_state=seed)
        found = propensity(log, method="randomised")
        held.append((found.low <= TRUTH[:3]) & (TRUTH[:3] <= found.high))
    assert 0.82 < np.mean(held, axis=0)[1:].mean() <= 1.0


def test_the_result_is_an_array_and_a_table(shuffled):
    found = propensity(shuffled, method="randomised", max_position=4)
    assert len(found) == 4
    assert np.array_equal(np.asarray(found), found.propensity)
    assert np.asarray(found, dtype=np.float32).dtype == np.float32
    assert list(found.to_frame()) == ["position", "propensity", "low", "high", "clicks", "impressions"]
    assert len(str(found).splitlines()) == 5


def test_equal_calls_are_equal(of_two_rankers):
    log = of_two_rankers.pages(np.arange(1500))
    one, other = (propensity(log, method="harvesting", n_bootstrap=10) for _ in range(2))
    assert np.array_equal(one.low, other.low)
    assert not np.array_equal(one.low, propensity(log, method="harvesting", n_bootstrap=10, random_state=1).low)
    for method in ("harvesting", "em"):
        few, more = (propensity(log, method=method, n_bootstrap=n).propensity for n in (2, 3))
        assert few.tolist() == more.tolist()


def test_positions_without_clicks_are_named():
    log = ClickLog([1, 1, 0] * 20, group=[3] * 20, position=[1, 2, 3] * 20)
    what = r"no clicks to estimate the propensity of position 3, .*; pass max_position=2, or smoothing"
    with pytest.warns(UserWarning, match=what):
        propensity(log, method="randomised")


@pytest.mark.parametrize("method", ["harvesting", "em"])
def test_without_clicks_a_position_has_0_and_with_smoothing_the_curve(of_two_rankers, method):
    log = of_two_rankers.pages(np.arange(0, 60_000, 60))
    ids = {name: getattr(log, name) for name in ("position", "query", "document")}
    cut = ClickLog(log.clicked * (log.position < N_POSITIONS), group=log.group, **ids)
    with pytest.warns(UserWarning, match="no clicks to estimate the propensity of position 6"):
        assert propensity(cut, method=method, n_bootstrap=10).propensity[-1] == 0.0
    found = propensity(cut, method=method, smoothing="power_law", n_bootstrap=20)
    assert 0.05 < found.propensity[-1] < 0.3
    assert 0 < found.low[-1] <= found.propensity[-1] <= found.high[-1]


def test_smoothing_needs_queries_and_resamples():
    log = ClickLog([1, 1, 1, 1], group=[4], position=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="smoothing needs resamples of queries, and log has one query"):
        propensity(log, method="randomised", smoothing="power_law")
    with pytest.raises(ValueError, match="n_bootstrap must be an integer of at least 10"):
        propensity(log, method="randomised", smoothing="power_law", n_bootstrap=9)


def test_harvesting_needs_clicks_at_position_1_of_a_document_that_moved():
    """Query 0 has the clicks at 1, and its documents never move."""
    ids = {"query": [0, 0, 1, 1, 1, 1], "document": [0, 1, 2, 3, 3, 2]}
    log = ClickLog([1, 1, 0, 1, 0, 1], group=[2, 2, 2], position=[1, 2] * 3, **ids)
    with pytest.raises(ValueError, match="no document that was shown at position 1 and at others was clicked at 1"):
        propensity(log, method="harvesting")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("harvesting", "no interventional set for position 2; pass max_position, a log of several rankers"),
        ("em", "log.document: each document of a query was shown at one position only; pass X"),
    ],
)
def test_one_fixed_order_says_nothing_of_positions(method, message):
    log = ClickLog([1, 0, 1, 1] * 5, group=[2] * 10, position=[1, 2] * 10, query=[0, 0] * 10, document=[0, 1] * 10)
    with pytest.raises(ValueError, match=message):
        propensity(log, method=method)


@pytest.mark.parametrize(
    ("method", "given", "missing"), [("harvesting", "document", "query"), ("em", "query", "document")]
)
def test_missing_ids_are_named(of_two_rankers, method, given, missing):
    log = of_two_rankers.pages(np.arange(1000))
    bare = of_rows(log, slice(None), given)
    with pytest.raises(ValueError, match=f'log.{missing} is missing, and method="{method}" needs it'):
        propensity(bare, method=method)


def test_one_query_has_no_interval():
    log = ClickLog([1, 1, 1, 1], group=[4], position=[1, 2, 3, 4])
    assert np.isnan(propensity(log, method="randomised").low).all()
