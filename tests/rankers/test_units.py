"""The units of labels and weights do not decide whether a reference ranker learns anything, and what."""

import numpy as np
import pytest

import boostplug as bp

RNG = np.random.default_rng(0)
GROUP = RNG.integers(5, 15, 20)
N = int(GROUP.sum())
X = RNG.normal(size=(N, 4)).astype(np.float32)
Y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + 0.5 * RNG.normal(size=N) + 1), 0, 4)
QUERIES = bp.Queries(Y, group=GROUP)
TINY = (1e-5, 1e-8, 1e-17, 1e-38, 1e-60)


def bound(loss):
    return bp.QuadraticBoundRanker(loss=loss, n_estimators=4, random_state=0)


# (ranker, power of c with which predictions go where labels are times c)
LAWFUL = [
    (bp.RankBoostRanker(n_estimators=4), 0),
    (bp.AdaRankRanker(metric=bp.NDCG(5, gain="linear"), n_estimators=4), 0),
    (bp.MPBoostRanker(distance=bp.BinaryDistance(), n_estimators=4), 0),
    (bp.NDCGBoostRanker(gain="linear", n_estimators=4), 0),
    (bp.QBRankRanker(n_estimators=4, learning_rate=0.5, random_state=0), 1),
    (bp.QBRankRanker(n_estimators=4, learning_rate=0.5, normalization="documents", random_state=0), 1),
    (bp.QBRankRanker(n_estimators=4, preference_weight=0.0, line_search=False, random_state=0), 1),
    (bound(bp.QBRank()), 1),
    (bound(bp.MPBoost(distance=bp.LinearDistance())), -1),
    (bound(bp.RankNet()), 0),
]


@pytest.mark.parametrize(("ranker", "degree"), LAWFUL)
def test_labels_times_a_number_teach_the_same(ranker, degree):
    expected = ranker.fit(X, Y, group=GROUP).predict(X)
    assert bp.NDCG(5)(expected, QUERIES) > 0.8
    for c in (*TINY, 1e6, 1e30):
        found = ranker.fit(X, c * Y, group=GROUP).predict(X) / c**degree
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max(), err_msg=str(c))


@pytest.mark.parametrize(
    "ranker",
    [
        *(ranker for ranker, _ in LAWFUL), bp.RankBoostRanker(variant="discrete", n_estimators=4),
        bp.RankBoostRanker(variant="continuous", n_estimators=4), bp.MPBoostRanker(n_estimators=4),
        bound(bp.MPBoost()),
    ],
    ids=str,
)  # fmt: skip
def test_all_weights_times_a_number_teach_the_same(ranker):
    weight = np.random.default_rng(1).random(N) + 0.1
    expected = ranker.fit(X, Y, group=GROUP, sample_weight=weight).predict(X)
    for c in (2.0**-30, 2.0**90, 1e-6, 1e30, 1.0 / weight.sum()):
        found = ranker.fit(X, Y, group=GROUP, sample_weight=c * weight).predict(X)
        if np.frexp(c)[0] == 0.5:
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.ptp(expected))
