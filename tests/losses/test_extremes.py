"""The far ends of what is accepted: scores, weights, labels, distances and gains of any size, mixed in one data set."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import boostplug as bp
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.testing import gradients_sum_to_zero


def cubic(gap):
    return gap**3


def tiny(gap):
    return 1e-150 * gap


def huge(gap):
    return 1e60 * np.sqrt(gap)


def bent(gap):
    return np.where(gap > 1.0, 500.0, 1e-3) + 1e-6 * np.minimum(gap, 1e6)


def steep_gain(grade):
    return 1e3 * 4.0**grade


DISTANCES = [
    bp.BinaryDistance(),
    bp.LinearDistance(alpha=1e-3),
    bp.LinearDistance(alpha=50.0),
    bp.LogDistance(),
    bp.LogDistance(lam=1e6),
    bp.LogisticDistance(beta=20.0),
    cubic,
    tiny,
    huge,
    np.sqrt,
    bent,
]
NORMALIZATIONS = ["none", "rows", "query"]
FAR = [1e-100, 1e-6, 1.0, 1e6, 1e100]


def one_of(rng, values):
    return values[rng.integers(len(values))]


def any_loss(rng):
    """Return a loss with parameters of any size."""
    normalization = one_of(rng, NORMALIZATIONS)
    kind = rng.integers(11)
    if kind < 4:
        return bp.MPBoost(
            distance=one_of(rng, DISTANCES),
            hessian=one_of(rng, ["newton", "gentle", "bound"]),
            normalization=normalization,
        )
    if kind == 4:
        return bp.QBRank(
            margin=one_of(rng, ["grade", 0.0, 1.0, 1e-100, 1e100]),
            preference_weight=one_of(rng, [0.0, 0.3, 1.0, 1e-12, 1 - 1e-12]),
            hessian=one_of(rng, ["bound", "global"]),
            normalization=one_of(rng, [*NORMALIZATIONS, "documents"]),
        )
    if kind == 5:
        hessian, gain = one_of(rng, ["newton", "bound", "global"]), one_of(rng, ["exp2", "linear"])
        return bp.NDCGBoost(sigmoid=one_of(rng, FAR), hessian=hessian, gain=gain, normalization=normalization)
    if kind == 6:
        return bp.RankNet(sigmoid=one_of(rng, FAR), normalization=normalization)
    if kind == 8:
        return bp.SquaredError(centred=bool(rng.integers(2)))
    if kind > 8:
        return bp.ListNet(target=one_of(rng, ["softmax", "xendcg"]), random_state=one_of(rng, [None, 0]))
    metric = one_of(rng, [bp.NDCG(5), bp.DCG(None), bp.DCG(None, gain="linear"), bp.KendallTau()])
    return bp.AdaRank(metric=metric, base=one_of(rng, [bp.NDCGBoost(), bp.MPBoost(), bp.QBRank()]))


def any_labels(rng, n):
    kind = rng.integers(6)
    if kind == 0:
        return rng.choice([0.0, 1e308, -1e308, 1.0], n)
    if kind == 1:
        return rng.choice([0.0, 5e-324, 1e-308, 1e-300], n)
    if kind == 2:
        return 10.0 ** rng.uniform(-300, 300, n)
    if kind == 3:
        return rng.integers(0, 3, n) * 1e-17
    return rng.integers(0, 5, n).astype(float) if kind == 4 else rng.normal(size=n)


def any_weights(rng, n):
    kind = rng.integers(4)
    if kind == 0:
        return rng.choice([0.0, 1e-100, 1e100, 1.0], n)
    return None if kind == 1 else 10.0 ** rng.uniform(-100, 100, n) if kind == 2 else np.full(n, 1e-45)


def any_pairs(rng, group):
    """Return pairs within queries that do not contradict each other, or None."""
    n = int(group.sum())
    if rng.random() < 0.7 or n < 2:
        return None
    a, b = rng.integers(0, n, (2, 2 * n))
    query = np.repeat(np.arange(len(group)), group)
    kept = (a < b) & (query[a] == query[b])
    m = int(kept.sum())
    if not m:
        return None
    return bp.Pairs(b[kept], a[kept], weight=any_weights(rng, m), margin=10.0 ** rng.uniform(-100, 100, m))


def any_queries(rng, *, pairs=True):
    group = rng.choice([0, 1, 2, 3, 8, 40, 70], rng.integers(1, 5))
    n = int(group.sum())
    explicit = any_pairs(rng, group) if pairs else None
    return bp.Queries(any_labels(rng, n), group=group, weight=any_weights(rng, n), pairs=explicit)


def any_scores(rng, n, power):
    kind = rng.integers(5)
    if kind == 0:
        return rng.normal(size=n) * 10.0 ** rng.uniform(-300, power - 1)
    if kind == 1:
        return rng.choice([0.0, 10.0**power, -(10.0**power), 1.0, 5e-324], n)
    if kind == 2:
        return np.sign(rng.normal(size=n)) * 10.0 ** rng.uniform(-300, power, n)
    return rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(0, power) if kind == 3 else 1e3 * rng.normal(size=n)


@pytest.mark.filterwarnings("ignore:distance does not grow")
@pytest.mark.parametrize("seed", range(6))
def test_losses_are_finite_for_whatever_is_accepted(seed):
    done, reasons = 0, []
    for i in range(250):
        rng = np.random.default_rng([seed, i])
        loss = any_loss(rng)
        queries = any_queries(rng, pairs=loss.takes_pairs)
        scores = any_scores(rng, queries.n_rows, 100)
        try:
            value = loss.value(scores, queries)
            gradient, hessian = loss.gradient_hessian(scores, queries)
        except ValueError as refused:  # labels that a gain or a distance cannot take
            reasons.append(str(refused))
            continue
        done += 1
        assert np.isfinite(value).all(), f"{seed}:{i} {loss}"
        assert np.isfinite(gradient).all(), f"{seed}:{i} {loss}"
        assert np.isfinite(hessian).all(), f"{seed}:{i} {loss}"
        assert (hessian[gradient != 0] > 0).all(), f"{seed}:{i} {loss}"
        gradients_sum_to_zero(loss, scores, queries, rng)
    assert done > 150
    assert all("labels" in reason or "distance must" in reason for reason in reasons), reasons


METRICS = [
    bp.NDCG(5),
    bp.NDCG(gain="linear"),
    bp.NDCG(convention="letor"),
    bp.DCG(5),
    bp.DCG(None, gain="linear"),
    bp.MeanNDCG(),
    bp.MeanNDCG(gain="linear"),
    bp.MAP(),
    bp.MRR(),
    bp.ERR(),
    bp.Precision(3),
    bp.PairError(),
    bp.PairError("half", pooled=True),
    bp.PrecisionAtPercent(30),
    bp.PrecisionAtPercent(100),
    bp.SpearmanRho(),
    bp.KendallTau(),
    bp.RBP(),
    bp.RBP(max_grade=1e300),
    bp.Recall(3),
    bp.RPrecision(),
    bp.Bpref(),
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_metrics_are_means_for_whatever_is_accepted(metric):
    done, reasons = 0, []
    for i in range(100):
        rng = np.random.default_rng(i)
        queries = any_queries(rng)
        scores = any_scores(rng, queries.n_rows, 308)
        try:
            values, mean = metric.per_query(scores, queries), metric(scores, queries)
        except ValueError as refused:  # labels that a gain or a scale of grades cannot take
            reasons.append(str(refused))
            continue
        done += 1
        assert not np.isinf(values).any(), i
        weight = np.ones(len(values)) if queries.query_weight is None else queries.query_weight
        counted = ~np.isnan(values) & (weight > 0)
        if not counted.any():
            assert np.isnan(mean), i
        elif not metric.couples_queries and not getattr(metric, "pooled", False):
            total = sum(Fraction(w) * Fraction(v) for w, v in zip(weight[counted], values[counted], strict=True))
            exact = float(total / sum(map(Fraction, weight[counted])))
            assert mean == pytest.approx(exact, rel=1e-9, abs=1e-200), i
        else:
            assert 0.0 <= mean <= 1.0, i
    assert done > 20
    assert all("labels" in reason for reason in reasons), reasons


@pytest.mark.parametrize("distance", [bp.BinaryDistance(), bp.LinearDistance(alpha=50.0), bp.LogDistance(), np.sqrt])
@pytest.mark.parametrize("size", [1e4, 1e9, 1e13, 1e17, 1e60])
def test_mpboost_at_wide_scores_equals_exact_exponents(distance, size):
    """The exponents of the pairs, as fractions: their last bit as a float64 is more than 1 from 1e16 on."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 12).astype(float)
    scores = size * rng.integers(-1, 2, 12) + rng.normal(size=12)
    queries = bp.Queries(labels, group=[12])
    gaps = {gap: Fraction(float(distance(np.array([float(gap)]))[0])) for gap in (1, 2, 3)}
    exponents = {
        (i, j): -gaps[labels[i] - labels[j]] * (Fraction(scores[i]) - Fraction(scores[j]))
        for i in range(12)
        for j in range(12)
        if labels[i] > labels[j]
    }
    largest = max(exponents.values())
    expected = np.zeros(12)
    for (i, j), exponent in exponents.items():
        step = float(gaps[labels[i] - labels[j]]) * np.exp(float(max(exponent - largest, -800)))
        expected[i] -= step
        expected[j] += step
    gradient, hessian = bp.MPBoost(distance=distance).gradient_hessian(scores, queries)
    assert abs(gradient.sum()) <= 1e-9 * np.abs(gradient).max()
    assert (hessian[gradient != 0] > 0).all()
    exact = isinstance(distance, bp.BinaryDistance)  # of others, products with the distance are rounded
    tolerance = 1e-9 if exact else max(1e-9, 20 * np.spacing(float(abs(largest))))
    if tolerance < 0.1:
        np.testing.assert_allclose(
            gradient / np.abs(gradient).max(), expected / np.abs(expected).max(), rtol=0, atol=tolerance
        )


def test_mpboost_takes_weights_and_distances_of_any_unit():
    """Powers of two change nothing but the unit of the sums: bit-equal derivatives."""
    rng = np.random.default_rng(1)
    labels, scores, weight = rng.integers(0, 4, 30).astype(float), rng.normal(size=30), rng.random(30) + 0.1
    for distance in (bp.BinaryDistance(), bp.LogDistance(), np.sqrt):
        loss = bp.MPBoost(distance=distance)
        expected = loss.compute_gradient_hessian(scores, bp.Queries(labels, group=[20, 10], weight=weight), 1.0)
        for power in (-300, -40, 40):
            scaled = bp.Queries(labels, group=[20, 10], weight=np.ldexp(weight, power))
            found = loss.compute_gradient_hessian(scores, scaled, 2.0**-power)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("gain", [steep_gain, "linear"])
def test_adarank_takes_metrics_without_bounds(gain):
    """DCG of thousands: e^-DCG is 0 in float64, its share is not."""
    rng = np.random.default_rng(0)
    queries = bp.Queries(rng.integers(0, 5, 60) * (1e3 if gain == "linear" else 1.0), group=[20, 20, 20])
    scores = rng.normal(size=60)
    loss = bp.AdaRank(metric=bp.DCG(None, gain=gain), base=bp.NDCGBoost(gain="linear"))
    values = loss.metric.per_query(scores, queries)
    assert values.min() > 1e3
    weights = np.exp(values.min() - values)
    expected = weights / weights.mean()
    np.testing.assert_allclose(loss.factors(scores, queries), np.where(expected < 1e-200, 0.0, expected), rtol=1e-9)
    gradient, hessian = loss.gradient_hessian(scores, queries)
    assert np.isfinite(gradient).all()
    assert np.abs(gradient).max() > 0
    assert (hessian[gradient != 0] > 0).all()


def test_adarank_refuses_a_metric_that_is_infinite():
    class Infinite(bp.Metric):
        def compute_per_query(self, scores, queries):
            return np.array([0.0, np.inf])

    with pytest.raises(ValueError, match="is inf for query 1; use a metric that is finite, or NaN"):
        bp.AdaRank(metric=Infinite()).factors(np.zeros(4), bp.Queries([1, 0, 1, 0], group=[2, 2]))


@pytest.mark.parametrize("metric", [bp.NDCG(None, gain="linear"), bp.MeanNDCG(gain="linear")])
def test_the_unit_of_linear_gains_does_not_matter(metric):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 5, 40).astype(float), rng.normal(size=40)
    expected = metric.per_query(scores, bp.Queries(labels, group=[25, 15]))
    for unit in (2.0**-1074, 2.0**-1000, 2.0**600):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = metric.per_query(scores, bp.Queries(labels * unit, group=[25, 15]))
        np.testing.assert_array_equal(found, expected)


def test_exponential_gains_of_small_grades_keep_their_digits():
    queries = bp.Queries([1e-17, 0.0, 3e-17], group=[3])
    assert bp.DCG(1).per_query([2.0, 1.0, 0.0], queries)[0] == pytest.approx(1e-17 * np.log(2.0), rel=1e-12)
    assert bp.NDCG(1).per_query([2.0, 1.0, 0.0], queries)[0] == pytest.approx(1 / 3, rel=1e-12)
    assert bp.DCG(1).per_query([1.0], bp.Queries([3], group=[1])) == [7.0]


RANKERS = [
    *(bp.RankBoostRanker(variant=variant, n_estimators=3) for variant in ("plus", "discrete", "continuous")),
    bp.AdaRankRanker(n_estimators=3),
    *(bp.MPBoostRanker(step=step, n_estimators=3) for step in ("paper", "newton")),
    bp.NDCGBoostRanker(n_estimators=3),
    *(bp.QBRankRanker(preference_weight=w, n_estimators=3, random_state=0) for w in (0.0, 0.5, 1.0)),
    bp.QuadraticBoundRanker(loss=bp.MPBoost(), n_estimators=3, random_state=0),
]


@pytest.mark.parametrize("ranker", RANKERS)
def test_rankers_are_finite_for_whatever_weights_are_accepted(ranker):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        group = rng.choice([2, 5, 12], 4)
        n = int(group.sum())
        X, labels = np.round(rng.normal(size=(n, 3)), 1), rng.integers(0, 3, n)
        pairs = any_pairs(rng, group) if not isinstance(ranker, (bp.AdaRankRanker, bp.NDCGBoostRanker)) else None
        weight = any_weights(rng, n)
        if weight is not None:
            weight = np.where(weight == 0.0, 1e-100, weight)
        ranker.fit(X, labels, group=group, sample_weight=weight, pairs=pairs)
        assert np.isfinite(ranker.predict(X)).all(), seed
        assert all(np.isfinite(values).all() for values in ranker.history_.values()), seed


@pytest.mark.parametrize(
    "ranker", [bp.QBRankRanker(n_estimators=2), bp.QBRankRanker(n_estimators=2, line_search=False)]
)
def test_labels_that_no_score_reaches_are_named(ranker):
    with pytest.raises(ValueError, match=r"its minimum lies beyond scores of 1e99; .* rescale the labels"):
        ranker.fit([[0.0], [1.0], [2.0]], [0.0, 1e308, 1.0], group=[3])


def test_a_hessian_is_never_0_beside_a_gradient():
    gradient, hessian = np.array([1e-310, 0.0, 1.0, -1e20]), np.array([0.0, 0.0, 1e-3, 0.0])
    positive_beside(gradient, hessian)
    np.testing.assert_array_equal(hessian, [np.finfo(float).tiny, 0.0, 1e-3, 1e4])
