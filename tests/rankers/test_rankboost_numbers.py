"""The numbers that the RankBoost+ paper prints, from `RankBoostRanker`."""

import math
from itertools import combinations

import numpy as np
import pytest
from rankers import literal_rankboost as rb

from boostplug import Pairs
from boostplug.rankers import RankBoostRanker


def indicator(n, on):
    h = np.zeros(n, int)
    h[list(on)] = 1
    return h


def bipartite(n_above, n_below):
    """All pairs of the first `n_above` documents over the other `n_below`."""
    above, below = np.meshgrid(range(n_above), range(n_above, n_above + n_below), indexing="ij")
    return rb.pairs_of(above.ravel(), below.ravel())


def half_log(x):
    return 0.5 * math.log(x)


def subsets():
    """The subsets of {a, b, c}, a strict superset preferred; h1 and h2."""
    documents = [frozenset(s) for k in range(4) for s in combinations("abc", k)]
    ordered = [(i, j) for i, x in enumerate(documents) for j, y in enumerate(documents) if x > y]
    on = ["ab"], ["", "ac", "abc"]
    H = np.array([indicator(8, [documents.index(frozenset(s)) for s in names]) for names in on])
    return H, rb.pairs_of(*zip(*ordered, strict=True))


def lemma_1(n):
    """a_1..a_{n+1} are documents 0..n, b_1..b_{n+1} the others."""
    h1 = indicator(2 * n + 2, [*range(n), 2 * n + 1])
    return np.array([h1, indicator(2 * n + 2, [n])]), bipartite(n + 1, n + 1)


def lemma_3():
    """Documents 1 > … > 6."""
    H = np.array([[1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0]])
    return H, rb.pairs_of(*zip(*combinations(range(6), 2), strict=True))


def fit(H, pairs, n_estimators, kind=RankBoostRanker, **parameters):
    """Fit on documents whose features are the weak rankers themselves."""
    ranker = kind(n_estimators=n_estimators, **parameters)
    chosen = Pairs(pairs.winner, pairs.loser, weight=pairs.weight)
    return ranker.fit(np.asarray(H).T, None, group=[np.shape(H)[1]], pairs=chosen)


def weights(ranker, n):
    """Return the total weight of each weak ranker."""
    out = np.zeros(n)
    for stump, weight in ranker.model_.terms:
        out[stump.feature] += weight
    return out


@pytest.mark.parametrize(
    ("h", "e1_discrete", "alpha_discrete", "e1_continuous", "right", "wrong", "tied"),
    [(0, 0.971795, 0.549306, 0.990034, 3, 1, 15), (1, 0.991166, 0.168236, 0.992386, 7, 5, 7)],
)
def test_proposition_1(h, e1_discrete, alpha_discrete, e1_continuous, right, wrong, tied):
    H, pairs = subsets()
    discrete = fit(H[[h]], pairs, 1, variant="discrete").history_
    continuous = fit(H[[h]], pairs, 1, variant="continuous").history_
    plus = fit(H[[h]], pairs, 1).history_
    assert discrete["r1"][0] == pytest.approx((wrong + tied) / 19)
    assert discrete["r2"][0] == pytest.approx(8.5 / 19)
    assert discrete["alpha"][0] == pytest.approx(half_log(right / wrong)) == pytest.approx(alpha_discrete, abs=5e-7)
    assert discrete["e1"][0] == pytest.approx(e1_discrete, abs=5e-7)
    assert continuous["alpha"][0] == pytest.approx(0.105655, abs=5e-7)
    assert plus["alpha"][0] == pytest.approx(0.105655, abs=5e-7)
    assert continuous["e1"][0] == pytest.approx(e1_continuous, abs=5e-7)
    assert plus["e2"][0] == pytest.approx(0.994444, abs=5e-7)


@pytest.mark.parametrize("n", [3, 4, 10])
def test_lemma_1(n):
    H, pairs = lemma_1(n)
    ranker = fit(H, pairs, 2, variant="discrete")
    history = ranker.history_
    assert [stump.feature for ((stump, _),) in ranker.model_.rounds] == [0, 1]
    assert history["alpha"][0] == pytest.approx(math.log(n))
    assert history["z"][0] == pytest.approx(4 * n / (n + 1) ** 2)
    assert history["delta"][1] == pytest.approx(-0.5)
    assert list(history["undefined"]) == [0, 1]  # ε⁺ = ½, ε⁻ = 0
    m = (n + 1) ** 2
    assert history["alpha"][1] == pytest.approx(half_log((1 / 2 + 1 / (2 * m)) * 2 * m))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_lemma_2(n):
    """The first ranker makes no error: the paper's limit of a growing weight is cut off at half a pair."""
    h1, h2 = indicator(10 * n, range(4 * n)), indicator(10 * n, range(4 * n, 9 * n))
    ranker = fit([h1, h2], bipartite(5 * n, 5 * n), 1, variant="discrete", allow_negative=False)
    ((stump, alpha),) = ranker.model_.rounds[0]
    assert stump.feature == 0
    assert ranker.history_["delta"][0] == pytest.approx(-0.8)
    assert ranker.history_["undefined"][0] == 1
    assert alpha == pytest.approx(half_log(20 * n * n / (1 / 2) + 1))
    assert ranker.history_["z"][0] == pytest.approx(0.2 + 0.8 * math.exp(-alpha))
    assert ranker.history_["r1"][0] == pytest.approx(0.2)


def test_lemma_3():
    H, pairs = lemma_3()
    positive = fit(H, pairs, 20, variant="discrete", allow_negative=False)
    assert positive.history_["alpha"] == pytest.approx([half_log(3), half_log((2 + 2 * math.sqrt(3)) / math.sqrt(3))])
    assert positive.history_["e1"][-1] == pytest.approx(0.8883865, abs=5e-8)
    assert positive.stop_reason_ == "no weak ranker has an edge left"
    for variant, rounds in (("discrete", 16), ("continuous", 100)):
        ranker = fit(H, pairs, rounds, variant=variant)
        assert weights(ranker, 2) == pytest.approx([0.46894534, 0.58953108], abs=5e-9)
        assert ranker.history_["e1"][-1] == pytest.approx(0.88703652, abs=5e-9)
    ranker = fit(H, pairs, 100)
    assert weights(ranker, 2) == pytest.approx([0.25740485, 0.18032951], abs=5e-9)
    assert ranker.history_["e2"][-1] == pytest.approx(0.94844716, abs=5e-9)
