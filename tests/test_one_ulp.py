"""No decision hangs on the last bit: elementary functions one unit in the last place off, up, down and at random.

Another processor's or C library's logarithm may round the other way, and so may a sum taken in another order: numpy's
and Python's functions are replaced by ones that do, and what they work on is moved by as much. What is compiled calls
neither, so kernels get inputs one unit off. Decisions must stay what they are, and numbers but for rounding.
"""

import math
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import special
from sklearn.tree import DecisionTreeRegressor

import boostplug as bp
from boostplug.core.best_round import BestRound
from boostplug.rankers import rankboost_plus
from boostplug.weak_rankers import Feature, Stump, Tree

OF_NUMPY = ("log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "power", "tanh", "cosh", "logaddexp")
OF_MATH = ("log", "log2", "log10", "log1p", "exp", "expm1", "pow", "tanh", "cosh")
WAYS = ["up", "down", "at random"]


def off(values, way, rng):
    """Return finite float64 numbers one unit in the last place away."""
    towards = {"up": np.inf, "down": -np.inf}.get(way)
    if towards is None:
        towards = np.where(rng.random(np.shape(values)) < 0.5, np.inf, -np.inf)
    moved = np.nextafter(values, towards)
    return np.where(np.isfinite(values) & np.isfinite(moved) & (np.asarray(values) != 0.0), moved, values)


def off_ufunc(function, way, rng):
    def one_ulp_off(*arguments, out=None, **options):
        result = function(*arguments, **options) if out is None else function(*arguments, out=out, **options)
        if np.asarray(result).dtype != np.float64:
            return result
        moved = off(result, way, rng)
        if out is None:
            return moved[()] if np.ndim(result) == 0 else moved
        where = options.get("where", True)
        np.copyto(out, moved, where=where)
        return out

    return one_ulp_off


@contextmanager
def one_ulp_off(way):
    """Replace the elementary functions of numpy, math and scipy that the package calls from Python."""
    rng = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        for name in OF_NUMPY:
            patch.setattr(np, name, off_ufunc(getattr(np, name), way, rng))
        for name in OF_MATH:
            exact = getattr(math, name)
            patch.setattr(math, name, lambda *x, exact=exact: float(off(exact(*x), way, rng)))
        patch.setattr(rankboost_plus, "expit", off_ufunc(special.expit, way, rng))
        yield


def tied_data(seed=0):
    """Return X, labels and group sizes with every kind of tie: equal features, mirrored ones, few values."""
    rng = np.random.default_rng(seed)
    group = np.array([12, 9, 15, 12, 7])
    n = int(group.sum())
    labels = rng.integers(0, 3, n).astype(float)
    x = np.clip(np.round(labels[:, None] + rng.normal(size=(n, 3)) * 1.3), -2, 4)
    X = np.c_[x, x[:, 0], -x[:, 1], 2.0 * x[:, 2] + 1.0, rng.integers(0, 2, n)]
    return X, labels, group


def untied_data(seed=0):
    """Return X, labels and group sizes without ties among splits, which scikit-learn's trees decide on."""
    rng = np.random.default_rng(seed)
    group = np.array([40, 50, 60])
    labels = rng.integers(0, 3, 150).astype(float)
    return labels[:, None] + rng.normal(size=(150, 3)), labels, group


STUMPS = [
    bp.RankBoostRanker(variant="plus", n_estimators=8, random_state=0),
    bp.RankBoostRanker(variant="discrete", n_estimators=8),
    bp.RankBoostRanker(variant="continuous", n_estimators=8, allow_negative=False),
    bp.AdaRankRanker(n_estimators=6),
    bp.AdaRankRanker(metric=bp.NDCG(5), n_estimators=6, negated=True, no_repeat=False),
    bp.MPBoostRanker(n_estimators=6),
    bp.MPBoostRanker(distance=bp.LogDistance(), n_estimators=6),
    bp.NDCGBoostRanker(n_estimators=6),
]
FEW_LEAVES = DecisionTreeRegressor(max_leaf_nodes=4)  # further down splits are equally good, and scikit-learn decides
TREES = [
    bp.QBRankRanker(n_estimators=4, max_leaf_nodes=4, random_state=0),
    bp.QuadraticBoundRanker(loss=bp.MPBoost(), regressor=FEW_LEAVES, n_estimators=3, random_state=0),
    bp.QuadraticBoundRanker(loss=bp.RankNet(), regressor=FEW_LEAVES, n_estimators=3, random_state=0),
]


def decisions(weak):
    if isinstance(weak, Stump):
        return weak.feature, weak.threshold
    if isinstance(weak, Feature):
        return (weak.feature,)
    assert isinstance(weak, Tree)
    return (*weak.feature.tolist(), *weak.threshold.tolist(), *weak.left.tolist())


def fitted(ranker, data, weight=None):
    """Return what a training has decided, and its numbers."""
    X, y, group = data
    ranker.fit(X, y, group=group, sample_weight=weight, eval_set=[(X, y)], eval_group=[group], early_stopping_rounds=3)
    terms = [term for terms in ranker.model_.rounds for term in terms]
    decided = [decisions(weak) for weak, _ in terms], ranker.best_iteration_, ranker.stop_reason_
    return decided, np.array([weight for _, weight in terms])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ranker", [*STUMPS, *TREES])
def test_rankers_decide_the_same(ranker, way):
    data = untied_data() if any(ranker is other for other in TREES) else tied_data()
    decided, weights = fitted(ranker, data)  # compiles what is not: a kernel must not meet the functions below
    with one_ulp_off(way):
        found, close = fitted(ranker, data)
    assert found == decided
    np.testing.assert_allclose(close, weights, rtol=1e-7, atol=1e-9)
    one = np.ones(len(data[1]))
    found, close = fitted(ranker, data, off(one, way, np.random.default_rng(1)))
    assert found == decided
    np.testing.assert_allclose(close, weights, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("way", ["up", "at random"])
def test_a_round_that_is_better_by_rounding_is_no_better(way):
    rng = np.random.default_rng(0)
    for value in (0.7123456789, -3e4, 1e-9):
        for greater_is_better in (True, False):
            best = BestRound(greater_is_better=greater_is_better, patience=3)
            best.add(value)
            beside = value
            for _ in range(3):
                beside = float(off(beside, way if greater_is_better else "down", rng))
                best.add(beside)
            assert (best.number, best.stops) == (1, True)
            best.add(value + (1e-9 if greater_is_better else -1e-9) * abs(value))
            assert best.number == 5
