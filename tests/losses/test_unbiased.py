"""`Unbiased` against plain loops over pairs, and what it promises of its estimates."""

import numpy as np
import pytest
from adapters.harness import FRAMEWORKS
from pair_weights import with_pair_weights
from scipy.optimize import minimize_scalar

import boostplug as bp

THETA = 1.0 / np.arange(1.0, 13.0)
LAMBDAMART = "unbiased_lambdamart"
WIDTHS = (0.025, 12), (0.125, 8), (0.25, 12), (0.75, 8)  # of the classes of score differences, and how many
EDGES = np.cumsum([width for width, number in WIDTHS for _ in range(number)])
EDGES = (np.r_[0.0, EDGES[:-1]] + EDGES) / 2.0
BASES = {
    "RankNet": (bp.RankNet(sigmoid=1.5), lambda d: np.log1p(np.exp(-1.5 * d))),
    "RankNet, rows": (bp.RankNet(normalization="rows"), lambda d: np.log1p(np.exp(-d))),
    "MPBoost": (bp.MPBoost(), lambda d: np.exp(-bp.LogDistance(lam=3.0)(np.ones(1))[0] * d)),
    "QBRank": (bp.QBRank(preference_weight=1.0, margin=0.8), lambda d: 0.5 * max(0.8 - d, 0.0) ** 2),
}


def pages(seed=0, n=60, weight=False):
    """Return scores and pages with clicks; positions in another order than that of the rows."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 13, n)
    position = np.concatenate([rng.permutation(size) + 1 for size in sizes])
    scores = rng.normal(size=len(position))
    clicks = rng.random(len(position)) < (0.1 + 0.8 / (1.0 + np.exp(-scores))) / position
    noisy = scores + rng.normal(size=len(scores))
    given = {"weight": rng.uniform(0.5, 2.0, len(scores))} if weight else {}
    return noisy, bp.Queries(clicks, group=sizes, position=position, **given)


def pairs_of(queries):
    """Yield query, clicked row, unclicked row and weight of each pair."""
    v = np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight
    query, labels = queries.query_of_row, queries.labels
    for i, j in np.argwhere((labels[:, None] > labels) & (query[:, None] == query)):
        yield query[i], i, j, np.sqrt(v[i] * v[j])


def classes(scores, queries, scale, n):
    """Return {(position, position, class): (weight, mean difference)}, of pairs up to position n."""
    found = {}
    for _, i, j, w in pairs_of(queries):
        k, m = queries.position[i], queries.position[j]
        if max(k, m) <= n:
            d = scale * (scores[i] - scores[j])
            key = k, m, np.searchsorted(EDGES, abs(d)) * np.sign(d)
            weight, total = found.get(key, (0.0, 0.0))
            found[key] = weight + w, total + w * d
    return {key: (weight, total / weight) for key, (weight, total) in found.items()}


def ratios_by_loops(found, rho, n, power, least):
    t, u = np.ones((2, n + 1))
    for _ in range(200):
        before = np.r_[t, u]
        for own, other, place in ((t, u, 0), (u, t, 1)):
            sums = np.zeros(n + 1)
            for key, (weight, d) in found.items():
                sums[key[place]] += weight * rho(d) / other[key[1 - place]]
            first = next(k for k in range(1, n + 1) if sums[k] > 0)
            last = sums[first]
            for k in range(1, n + 1):
                last = sums[k] if sums[k] > 0 else last
                own[k] = np.clip((last / sums[first]) ** power, least, 1.0 / least)
        if np.abs(np.r_[t, u] - before).max() <= 1e-8:
            break
    return t[1:], u[1:]


def value_by_loops(base, rho, scores, queries, weight_of_pair):
    """Return the value of each page: c_q times the weighted sum over pairs."""
    total, counts = np.zeros((2, queries.n_queries))
    for q, i, j, w in pairs_of(queries):
        total[q] += w * weight_of_pair(i, j) * rho(scores[i] - scores[j])
        counts[q] += 1
    return total * (np.diff(queries.boundaries) / np.maximum(counts, 1) if base.normalization == "rows" else 1.0)


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("name", BASES)
def test_ips_is_a_plain_loop(name, weight):
    base, rho = BASES[name]
    scores, queries = pages(weight=weight)
    loss = bp.Unbiased(base=base, method="ips", propensity=THETA, max_weight=6.0)
    expected = value_by_loops(base, rho, scores, queries, lambda i, _: min(6.0, queries.position[i]))
    np.testing.assert_allclose(loss.value(scores, queries), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("power", "max_position", "weight"), [(1.0, 20, True), (0.5, 5, False)])
@pytest.mark.parametrize("name", BASES)
def test_unbiased_lambdamart_is_a_plain_loop(name, power, max_position, weight):
    base, rho = BASES[name]
    scores, queries = pages(weight=weight)
    loss = bp.Unbiased(base=base, method=LAMBDAMART, power=power, max_position=max_position)
    scale = base.scaled_pair_function.steepness
    found = classes(scores, queries, scale, max_position)
    t, u = ratios_by_loops(found, lambda d: rho(d / scale), max_position, power, 0.1)
    curve = loss.position_bias(scores, queries)
    n = min(max_position, queries.position.max())
    np.testing.assert_allclose(curve["clicked"], t[:n], rtol=1e-9)
    np.testing.assert_allclose(curve["unclicked"], u[:n], rtol=1e-9)
    place = np.minimum(queries.position, max_position) - 1
    expected = value_by_loops(base, rho, scores, queries, lambda i, j: 1.0 / (t[place[i]] * u[place[j]]))
    np.testing.assert_allclose(loss.value(scores, queries), expected, rtol=1e-8, atol=1e-12)


def test_power_is_one_of_the_propensities_and_shrinks_the_added_bias():
    scores, queries = pages()
    loss = bp.Unbiased(method="ips", propensity=THETA, power=0.5)
    same = bp.Unbiased(method="ips", propensity=np.sqrt(THETA))
    found, expected = (one.gradient_hessian(scores, queries) for one in (loss, same))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(loss.position_bias(scores, queries)["propensity"], np.sqrt(THETA)[:12])
    full, half = (bp.Unbiased(ridge=0.03, power=power).position_bias(scores, queries)["bias"] for power in (1.0, 0.5))
    np.testing.assert_allclose(half, 0.5 * full, rtol=1e-12)
    assert np.abs(full).max() > 0.1


@pytest.mark.parametrize(("n", "is_short"), [(60, True), (600, False)])
def test_the_default_ridge_is_8000_over_the_documents_on_pages_with_pairs(n, is_short):
    scores, queries = pages(n=n)
    with_pairs = {q for q, *_ in pairs_of(queries)}
    ridge = 8_000 / sum(np.diff(queries.boundaries)[q] for q in with_pairs)
    assert (ridge > 10.0) == is_short
    expected = bp.Unbiased(ridge=min(ridge, 10.0)).position_bias(scores, queries)["bias"]
    np.testing.assert_allclose(bp.Unbiased().position_bias(scores, queries)["bias"], expected, rtol=1e-9)
    with pytest.raises(ValueError, match=r"ridge is for method='additive'; method='ips' takes power"):
        bp.Unbiased(method="ips", propensity=THETA, ridge=0.1)


@pytest.mark.parametrize(("name", "shrunk"), [("RankNet", 0.03), ("MPBoost", 1.0), ("QBRank", 1.0)])
def test_the_added_bias_solves_its_equations(name, shrunk):
    base, rho = BASES[name]
    scores, queries = pages(n=200)
    scores = shrunk * scores
    loss = bp.Unbiased(base=base, method="additive", ridge=0.01)
    bias = loss.position_bias(scores, queries)["bias"]
    assert bias[0] == 0.0
    scale = base.scaled_pair_function.steepness
    found = classes(scores, queries, scale, 20)
    n_pairs = np.zeros(12)
    for (k, m, _), (weight, _) in found.items():
        n_pairs[[k - 1, m - 1]] += weight
    offset = -np.average(scale * bias, weights=n_pairs)  # the ridge holds the mean at 0

    def cost(b, a):
        data = sum(weight * rho((a * d + b[k - 1] - b[m - 1]) / scale) for (k, m, _), (weight, d) in found.items())
        return data + 0.005 * (n_pairs * b**2).sum()

    at = scale * bias + offset
    times = minimize_scalar(lambda a: cost(at, a), bounds=(1.0, 10.0), method="bounded").x  # of the scores
    assert (times > 1.2) == (shrunk < 1.0)
    best = cost(at, times)
    for k in range(12):
        for step in (-0.02, 0.02):
            assert cost(at + step * (np.arange(12) == k), times) > best
    np.testing.assert_array_equal(
        loss.gradient_hessian(scores, queries),
        base.gradient_hessian(scores + bias[queries.position - 1], queries),
    )


def test_relevance_that_small_scores_show_is_no_bias():
    rng = np.random.default_rng(3)
    relevance = rng.normal(size=(3000, 8))
    shown = np.argsort(np.argsort(-relevance - 0.5 * rng.normal(size=relevance.shape), axis=1), axis=1)
    clicks = rng.random(relevance.shape) < 1.0 / (1.0 + np.exp(-2.0 * relevance))  # wherever a document stands
    pages = bp.Queries(clicks.ravel(), group=[8] * 3000, position=shown.ravel() + 1)
    loss = bp.Unbiased(method="additive", ridge=0.03)
    for scale in (0.25, 0.5, 2.0):  # pairs are counted in other classes of differences
        bias = loss.position_bias(scale * relevance.ravel(), pages)["bias"]
        assert np.abs(bias).max() < 0.1
    assert loss.position_bias(np.zeros(8 * 3000), pages)["bias"][-1] < -2.0


def test_estimates_find_the_bias_where_scores_are_right():
    rng = np.random.default_rng(2)
    n = 4000
    relevance = rng.normal(size=(n, 8))
    position = np.tile(np.arange(1, 9), n)
    chance = 0.5 / (1.0 + np.exp(-relevance)).ravel() / position
    queries = bp.Queries((rng.random(8 * n) < chance).astype(float), group=[8] * n, position=position)
    odds = np.log(chance / (1.0 - chance))
    bias = bp.Unbiased(method="additive", ridge=1e-3).position_bias(odds + np.log(position), queries)["bias"]
    np.testing.assert_allclose(bias, -np.log(np.arange(1.0, 9.0)), atol=0.25)
    ratio = bp.Unbiased(method=LAMBDAMART).position_bias(np.zeros(8 * n), queries)["clicked"]
    np.testing.assert_allclose(ratio, 1.0 / np.arange(1.0, 9.0), rtol=0.2)


@pytest.mark.parametrize("method", [LAMBDAMART, "additive"])
def test_a_position_without_clicks_is_no_failure(method):
    clicks = np.tile([1.0, 0.0, 1.0, 0.0, 0.0], 30) * np.tile([1, 1, 0, 1, 1] * 2 + [0] * 5, 10)
    queries = bp.Queries(clicks, group=[5] * 30, position=np.tile([1, 2, 3, 4, 5], 30))
    loss = bp.Unbiased(method=method)
    curve = loss.position_bias(np.zeros(150), queries)
    if method == LAMBDAMART:
        np.testing.assert_array_equal(curve["clicked"][1], curve["clicked"][0])
    assert all(np.isfinite(values).all() for values in curve.values())
    assert not np.any(loss.gradient_hessian(np.zeros(150), queries.replaced(labels=np.zeros(150))))


def test_a_document_of_a_middle_grade_wins_and_loses():
    scores, clicked = pages()
    bought = (np.random.default_rng(2).random(len(scores)) < 0.3) & (clicked.labels > 0)
    queries = clicked.replaced(labels=clicked.labels + bought)
    loss = bp.Unbiased(method=LAMBDAMART)
    curve, place = loss.position_bias(scores, queries), queries.position - 1
    w = with_pair_weights(queries, 1.0 / curve["clicked"][place], 1.0 / curve["unclicked"][place])
    np.testing.assert_allclose(loss.value(scores, queries), bp.RankNet().value(scores, w), rtol=1e-12)


@pytest.mark.parametrize("framework", FRAMEWORKS.values(), ids=FRAMEWORKS)
@pytest.mark.parametrize(
    "loss", [bp.Unbiased(method=LAMBDAMART), bp.Unbiased(base=bp.QBRank())], ids=lambda loss: loss.method
)
def test_resumed_training_is_uninterrupted_training(framework, loss):
    _, queries = pages(n=120)
    X = np.random.default_rng(4).integers(0, 8, (queries.n_rows, 4)).astype(float)

    def trained(rounds, **more):
        data = framework.data(framework.kinds[0], X, queries.labels, np.diff(queries.boundaries))
        bp.set_positions(data, queries.position)
        return framework.train(loss, data, rounds, **more)[0]

    whole, resumed = trained(5), trained(1, init_model=trained(4))
    np.testing.assert_allclose(framework.predict(resumed, X), framework.predict(whole, X), rtol=0, atol=1e-6)


def test_clipping_is_relative_to_the_first_position():
    scores, queries = pages()
    of_ips = [bp.Unbiased(method="ips", propensity=p, max_weight=3.0) for p in (THETA, 0.08 * THETA)]
    relative, absolute = (loss.gradient_hessian(scores, queries)[0] for loss in of_ips)
    np.testing.assert_allclose(absolute, relative / 0.08, rtol=1e-12)


def test_large_workers_count_as_much_as_small_ones():
    n, first = 24_000, 220_000  # of the first worker's pages every third is looked at, of the second's all
    rng = np.random.default_rng(0)
    position, scores = np.tile(np.arange(1, 11), n), rng.normal(size=10 * n)
    in_first = np.arange(10 * n) < first
    clicks = rng.random(10 * n) < 0.5 / position ** np.where(in_first, 0.3, 2.0)
    whole, loss = bp.Queries(clicks, group=[10] * n, position=position), bp.Unbiased(method=LAMBDAMART)
    one, other = ((scores[rows], whole.of_rows(rows, keep_empty=False)) for rows in (in_first, ~in_first))
    found = loss.gradient_hessian(*other, totals=loss.totals(*one) + loss.totals(*other))[0]
    expected = loss.gradient_hessian(scores, whole)[0][first:]
    assert np.abs(found - expected).max() <= 0.1 * np.abs(expected).max()


def test_what_is_no_page_is_refused():
    n = 2500
    crowd = bp.Queries(np.arange(n) % 2, group=[3, n - 3], position=1 + np.arange(n) % 2)
    with pytest.raises(ValueError, match=r"query 1 holds 2,497 documents with positions up to 2, and a page shows few"):
        bp.Unbiased(method=LAMBDAMART).gradient_hessian(np.zeros(n), crowd)
    bp.Unbiased(method="ips", propensity=THETA).gradient_hessian(np.zeros(n), crowd)  # which needs no pairs of them
