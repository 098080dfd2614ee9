"""`simulate`: clicks are as frequent as the models say, pages are those of the rankers."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.clicks import simulate

Y = np.array([1.0, 3.0, 0.0, 2.0, 0.0, 1.0])
DATA = bp.RankingData(np.arange(12.0).reshape(6, 2), Y, group=[4, 0, 2])
SCORES = np.array([4.0, 1.0, 3.0, 2.0, 5.0, 6.0])  # pages: rows 0 2 3 1, and 5 4
ATTRACTION = 0.2 + 0.8 * (2**Y - 1) / 7
SATISFACTION = (2**Y - 1) / 8
PAGES = ([0, 2, 3, 1], [5, 4])
ETA = 0.7


def rates(log):
    """Return how often each row of the data was shown, and the share of clicks."""
    shown = np.bincount(log.document, minlength=len(Y))
    return shown, np.bincount(log.document, log.clicked, len(Y)) / shown


def expected(stops):
    """Return the click probability of each row, where document j ends the session with probability stops[j]."""
    out = np.empty(len(Y))
    for page in PAGES:
        looked_at = 1.0
        for p, document in enumerate(page, 1):
            out[document] = looked_at * ATTRACTION[document]
            looked_at *= (1.0 - stops[document]) * (p / (p + 1)) ** ETA
    return out


@pytest.mark.parametrize(
    ("model", "stops"), [("position", np.zeros(6)), ("cascade", ATTRACTION), ("dbn", ATTRACTION * SATISFACTION)]
)
def test_clicks_are_as_frequent_as_the_model_says(model, stops):
    log = simulate(DATA, model=model, eta=ETA, noise=0.2, ranker=SCORES, sessions=200_000, random_state=1)
    shown, rate = rates(log)
    p = expected(stops)
    assert (np.abs(rate - p) < 5 * np.sqrt(p * (1 - p) / shown)).all()
    assert abs(shown[0] - 100_000) < 5 * np.sqrt(50_000)  # both queries with documents are drawn alike
    if model == "cascade":
        assert np.add.reduceat(log.clicked, log.boundaries[:-1]).max() == 1


def test_a_page_is_the_order_of_the_scores():
    log = simulate(DATA, ranker=SCORES, sessions=100, max_position=3, random_state=0)
    assert log.n_pages == 100
    assert (np.diff(log.query) >= 0).all()
    for page, (start, stop) in enumerate(zip(log.boundaries[:-1], log.boundaries[1:], strict=True)):
        assert (log.page_of_row[start:stop] == page).all()
        assert log.position[start:stop].tolist() == list(range(1, stop - start + 1))
        assert log.document[start:stop].tolist() == PAGES[log.query[start] // 2][:3]
    assert {log.document.dtype, log.query.dtype} == {np.dtype(np.int64)}
    assert log.ranker is None
    assert simulate(DATA, ranker=SCORES, sessions=100, max_position=None).group.max() == 4


def test_random_pages_show_every_document_everywhere():
    log = simulate(DATA, ranker="random", sessions=60_000, max_position=2, random_state=3)
    mine = log.query == 0
    times = np.zeros((4, 2))
    np.add.at(times, (log.document[mine], log.position[mine] - 1), 1)
    n = mine.sum() / 2
    assert (np.abs(times - n / 4) < 5 * np.sqrt(n * 3 / 16)).all()
    pairs = np.unique(4 * log.document[mine][::2] + log.document[mine][1::2], return_counts=True)[1]
    assert len(pairs) == 12
    assert (np.abs(pairs - n / 12) < 5 * np.sqrt(n / 12)).all()


def test_ties_are_broken_at_random():
    orders = {
        tuple(simulate(DATA, ranker=np.zeros(6), sessions=20, random_state=seed).document[-2:]) for seed in range(20)
    }
    assert orders == {(4, 5), (5, 4)}


class ByColumn:
    def predict(self, X):
        return -X[:, 0]


def test_several_rankers():
    log = simulate(DATA, ranker=[SCORES, ByColumn(), "random"], sessions=3000, random_state=4)
    assert np.abs(np.bincount(log.ranker[log.boundaries[:-1]]) - 1000).max() < 5 * np.sqrt(3000 * 2 / 9)
    first = log.document[log.boundaries[:-1]]
    ranker, query = (column[log.boundaries[:-1]] for column in (log.ranker, log.query))
    assert (first[ranker == 0] == np.where(query[ranker == 0] == 0, 0, 5)).all()
    assert (first[ranker == 1] == np.where(query[ranker == 1] == 0, 0, 4)).all()
    assert len(np.unique(first[(ranker == 2) & (query == 0)])) == 4
    assert (np.diff(log.ranker)[np.diff(log.page_of_row) == 0] == 0).all()


def test_a_production_ranker_is_trained_on_few_labels():
    pytest.importorskip("lightgbm")
    data = bp.datasets.make_ranking(300, n_features=10, random_state=0)
    log = simulate(data, ranker=[None, None], sessions=3000, random_state=5)
    at_the_top = data.y[log.document[log.position == 1]].mean()
    assert data.y.mean() * 1.3 < at_the_top < 0.9 * np.maximum.reduceat(data.y, data.queries.boundaries[:-1]).mean()
    tops = {(q, d): r for q, d, r, p in zip(log.query, log.document, log.ranker, log.position, strict=True) if p == 1}
    assert len(tops) > 320  # the two rankers differ


def test_one_seed_gives_one_log():
    def columns(seed):
        log = simulate(DATA, ranker=[SCORES, "random"], sessions=500, random_state=seed)
        return np.column_stack([log.clicked, log.position, log.query, log.document, log.ranker])

    assert np.array_equal(columns(7), columns(7))
    assert np.array_equal(columns(np.random.default_rng(7)), columns(7))
    assert not np.array_equal(columns(7)[:500], columns(8)[:500])
