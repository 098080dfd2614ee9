"""Logs that were not shuffled are refused, and shuffled ones never are."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.clicks import propensity, simulate
from boostplug.clicks.order import probability_if_shuffled
from boostplug.clicks.shown import shown_rows
from boostplug.data.click_log import ClickLog

DATA = bp.datasets.make_ranking(100, n_features=10, random_state=0)
SCORES = DATA.y / 4.0 + np.random.default_rng(0).normal(size=(2, DATA.n_rows))
SETTINGS = {  # number of queries, fewest and most documents, pages, length of a page
    "few pages": (5, 2, 6, 40, None),
    "two documents": (3, 2, 2, 60, None),
    "one query": (1, 5, 8, 30, None),
    "mostly single pages": (300, 2, 12, 200, None),
    "cut pages": (20, 3, 30, 200, 5),
    "pages of two": (20, 2, 30, 300, 2),
}


def probability(log, max_position=None):
    rows = shown_rows(log, max_position)
    return probability_if_shuffled(rows, np.unique(log.document[rows.kept], return_inverse=True)[1])


def aggregated(log):
    """Return one row per query, document and position."""
    keys, at = np.unique([log.query, log.document, log.position], axis=1, return_inverse=True)
    return ClickLog(
        np.bincount(at.ravel(), log.clicked),
        qid=keys[0],
        position=keys[2],
        query=keys[0],
        document=keys[1],
        impressions=np.bincount(at.ravel()),
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_shuffled_logs_are_as_alike_as_chance_allows(name):
    """Of 100 logs each, about 1 % may be below .01."""
    n_queries, fewest, most, sessions, length = SETTINGS[name]
    found = []
    for seed in range(100):
        group = np.random.default_rng(seed).integers(fewest, most + 1, n_queries)
        data = bp.RankingData(np.zeros((group.sum(), 1)), np.ones(group.sum()), group=group)
        log = simulate(data, ranker="random", sessions=sessions, max_position=length, random_state=seed)
        found.append([probability(log), probability(aggregated(log)), probability(log, 2)])
    assert np.min(found) > 1e-4
    assert (np.array(found) < 0.01).mean(axis=0).max() <= 0.05
    assert np.mean(found) < 0.7  # it is no bound far above the truth


def test_pages_of_different_lengths_and_documents_are_compared_page_by_page():
    """Half of the pages show some documents only, and these are short, so their documents are higher on average."""
    rng = np.random.default_rng(0)
    pages = [rng.permutation(3 if k % 2 else 12) for k in range(2000)]
    log = ClickLog(
        np.ones(sum(map(len, pages))),
        group=[len(page) for page in pages],
        position=np.concatenate([np.arange(1, len(page) + 1) for page in pages]),
        query=np.zeros(sum(map(len, pages))),
        document=np.concatenate(pages),
    )
    assert probability(log) > 1e-3


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    "ranker",
    [SCORES[0], [*SCORES], ["random", "random", SCORES[0]]],
    ids=["one order", "two rankers", "two thirds shuffled"],
)
def test_other_logs_are_refused(ranker, together):
    log = simulate(DATA, ranker=ranker, sessions=2000, max_position=6, random_state=0)
    with pytest.raises(ValueError, match="needs shuffled pages"):
        propensity(aggregated(log) if together else log, method="randomised")


def test_without_ids_nothing_is_checked():
    log = simulate(DATA, ranker=SCORES[0], sessions=2000, max_position=3, random_state=0)
    for ids in ({}, {"query": log.query}, {"document": log.document}):
        bare = ClickLog(log.clicked, group=log.group, position=log.position, **ids)
        assert propensity(bare, method="randomised").propensity[1] < 0.45
