"""MPBoost's Algorithm 1, round by round against all ordered pairs and all stumps, and the laws of its record."""

import numpy as np
import pytest
from rankers import literal_mpboost as literal

from boostplug import BinaryDistance, LinearDistance, LogDistance, LogisticDistance, MPBoost, Pairs, Queries
from boostplug.rankers.mpboost import MPBoostRanker

ROUNDS = 12


DISTANCES = {
    "binary": BinaryDistance(),
    "linear": LinearDistance(alpha=0.2),
    "log": LogDistance(lam=3.0),
    "logistic": LogisticDistance(beta=0.5),
    "callable": np.sqrt,
}
WEIGHTS = ("none", "queries", "rows")


def problem(seed, *, grades="integer", weights="none", long_query=False):
    """Return X with ties, missing values, duplicate, reversed and constant columns, and grades, sizes and weights."""
    rng = np.random.default_rng(seed)
    sizes = np.r_[rng.integers(2, 9, rng.integers(1, 5)), 1]  # one query of a single document
    if long_query:  # of so many grades that its pairs are listed
        sizes = np.r_[sizes, 20]
    n = int(sizes.sum())
    X = rng.integers(0, 6, (n, 3)).astype(np.float32)
    X[:, 1] += rng.normal(size=n).astype(np.float32)
    X[rng.random((n, 3)) < 0.1] = np.nan
    X = np.column_stack([X, X[:, 0], -X[:, 1], np.ones(n)])
    y = rng.integers(0, 4, n).astype(float) if grades == "integer" else rng.normal(size=n).round(3)
    y[:2] = 0.0, 2.0
    weight = {"none": None, "queries": rng.random(len(sizes)) + 0.1, "rows": rng.random(n) * (rng.random(n) > 0.2)}
    weight["rows"][:2] = 0.5
    return X, y, sizes, weight[weights]


def per_row(weight, sizes):
    return np.repeat(weight, sizes) if weight is not None and len(weight) == len(sizes) else weight


def assert_same_rounds(ranker, X, pairs):
    """Compare with Algorithm 1, as long as a round lowers the loss by more than rounding."""
    rounds = literal.mpboost(X, pairs, ROUNDS)
    rounds = [done for t, done in enumerate(rounds) if min(r.decrease for r in rounds[: t + 1]) > 1e-9]
    assert len(rounds) > 1
    for t, expected in enumerate(rounds):
        ((stump, weight),) = ranker.model_.rounds[t]
        assert stump.feature == expected.stump.feature
        np.testing.assert_array_equal(stump.predict(X), expected.stump.above(X))
        assert weight == pytest.approx(expected.a, rel=1e-9)
        for name, value in (("alpha", expected.a), ("z", expected.z), ("bound", expected.bound)):
            assert ranker.history_[name][t] == pytest.approx(value, rel=1e-9), name
        assert ranker.history_["misordering"][t] == pytest.approx(expected.misordering, abs=1e-12)


@pytest.mark.parametrize("grades", ["integer", "real"])
@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("seed", range(3))
def test_every_round_is_the_papers(seed, name, grades):
    distance = DISTANCES[name]
    seed += 10 * list(DISTANCES).index(name)
    X, y, sizes, weight = problem(seed, grades=grades, weights=WEIGHTS[seed % 3])
    pairs = literal.ordered_pairs(y, np.r_[0, np.cumsum(sizes)], distance, per_row(weight, sizes))
    ranker = MPBoostRanker(distance=distance, n_estimators=ROUNDS)
    assert_same_rounds(ranker.fit(X, y, group=sizes, sample_weight=weight), X, pairs)


@pytest.mark.parametrize("seed", range(4))
def test_explicit_pairs_have_the_distances_of_their_margins(seed):
    rng = np.random.default_rng(seed)
    X, y, sizes, weight = problem(seed, weights="queries")
    n, m = len(y), 15
    winner = rng.integers(0, n, m)
    loser = (winner + rng.integers(1, n, m)) % n  # across queries, some twice, some both ways
    given = Pairs(winner, loser, weight=rng.random(m), margin=rng.random(m) + 0.5)
    distance = DISTANCES["log"]
    d = distance(given.margin)
    row_weight = per_row(weight, sizes)
    w = given.weight * np.sqrt(row_weight[winner] * row_weight[loser])
    pairs = literal.OrderedPairs(
        np.r_[winner, loser], np.r_[loser, winner], np.r_[d, -d], np.r_[w, w] / (2.0 * w.sum())
    )
    ranker = MPBoostRanker(distance=distance, n_estimators=ROUNDS)
    ranker.fit(X, y, group=sizes, sample_weight=weight, pairs=given)
    assert_same_rounds(ranker, X, pairs)


@pytest.mark.parametrize("name", DISTANCES)
def test_misordering_is_below_the_product_of_z_which_is_the_loss(name):
    X, y, sizes, weight = problem(3, weights="queries")
    distance = DISTANCES[name]
    ranker = MPBoostRanker(distance=distance, n_estimators=40)
    ranker.fit(X, y, group=sizes, sample_weight=weight)
    record = ranker.history_
    assert (record["misordering"] <= record["bound"] * (1.0 + 1e-9)).all()
    np.testing.assert_allclose(record["bound"], np.cumprod(record["z"]), rtol=1e-9)
    loss, queries = MPBoost(distance=distance, normalization="none"), Queries(y, group=sizes, weight=weight)
    at_start = loss.value(np.zeros(len(y)), queries).sum()
    losses = [loss.value(scores, queries).sum() / at_start for scores in ranker.staged_predict(X)]
    np.testing.assert_allclose(record["bound"], losses, rtol=1e-9)


@pytest.mark.parametrize("grades", ["integer", "real"])
def test_pairs_from_grades_are_explicit_pairs_with_the_gaps_as_margins(grades):
    X, y, sizes, _ = problem(13, grades=grades, long_query=True)
    query = np.repeat(np.arange(len(sizes)), sizes)
    winner, loser = np.nonzero((query[:, None] == query) & (y[:, None] > y))
    pairs = Pairs(winner, loser, margin=y[winner] - y[loser])
    by_grade = MPBoostRanker(n_estimators=ROUNDS).fit(X, y, group=sizes).history_
    by_pair = MPBoostRanker(n_estimators=ROUNDS).fit(X, None, group=sizes, pairs=pairs).history_
    for name, values in by_grade.items():
        np.testing.assert_allclose(by_pair[name], values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("y", "x"),
    [([0, 1, 2], [1.0] * 3), ([0, 1, 2], [np.nan] * 3), ([1, 0, 0, 1, 1, 0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0])],
    ids=["constant", "missing", "converged"],
)
def test_why_it_ends(y, x):
    ranker = MPBoostRanker(distance=BinaryDistance(), n_estimators=100)
    ranker.fit(np.reshape(x, (-1, 1)), y, group=[len(y)])
    assert ranker.stop_reason_ == "no cut lowers the loss"
    assert all((values >= 0.0).all() for name, values in ranker.history_.items() if name != "alpha")
