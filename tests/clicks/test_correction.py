"""`correction`: powers that grow with the log, and what production knows, from logs whose truth is known."""

from functools import partial

import numpy as np
import pytest
from clicks.logs import aggregated, of_rows

import boostplug as bp
from boostplug.clicks import ClickLog, correction, simulate

N_POSITIONS = 10
THETA = 1.0 / np.arange(1.0, N_POSITIONS + 1.0)
DATA = bp.datasets.make_ranking(200, n_features=10, random_state=0)
NOISE = np.random.default_rng(0).normal(size=(2, DATA.n_rows))


def log_of(sessions, strength=1.0, seed=0):
    """Return a log of two rankers that know the labels as well as `strength` says."""
    scores = [*(strength * DATA.y + NOISE)]
    return simulate(DATA, ranker=scores, sessions=sessions, max_position=N_POSITIONS, random_state=seed)


def drawn(attraction, sessions, rng, of_query=1_000_000):
    """Return clicks on shuffled pages of the same documents by the position-based model, so many to a query."""
    n = len(attraction)
    position = rng.permuted(np.tile(np.arange(1, n + 1), (sessions, 1)), axis=1)
    clicked = rng.random((sessions, n)) < THETA[position - 1] * attraction
    ids = {"query": np.repeat(np.arange(sessions) // of_query, n), "document": np.tile(np.arange(n), sessions)}
    return ClickLog(clicked.ravel(), group=[n] * sessions, position=position.ravel(), **ids)


def test_the_power_grows_with_the_log():
    found = [correction(log_of(sessions), propensity=THETA) for sessions in (300, 3_000, 30_000, 100_000)]
    powers, ridges = [one.power for one in found], [one.ridge for one in found]
    assert powers == sorted(powers)
    assert ridges == sorted(ridges, reverse=True)
    assert powers[0] <= 0.1
    assert powers[-1] >= 0.8


def test_the_rule_is_its_formula():
    log = log_of(20_000)
    found = correction(log, propensity=THETA)
    shown, clicks = np.bincount(log.position - 1), np.bincount(log.position - 1, log.clicked)
    share, a, logs = shown / shown.sum(), clicks / shown / THETA, np.log(THETA)
    logs = logs - (share * logs).sum()
    v, c = (share * logs**2).sum(), max(0.0, (share * a * logs).sum() / (share * a).sum())
    for power, expected in found.expected.items():
        w = np.minimum(THETA**-power, 10.0)
        n, m = (w * clicks).sum() ** 2 / (w**2 * clicks).sum(), 1.0 - power
        s = found.spread
        assert expected == pytest.approx((s + m * c) / np.sqrt(s) / np.sqrt(s + 2 * m * c + m**2 * v + 4800 / n))
    assert found.expected[found.power] == max(found.expected.values())
    assert found.ridge == pytest.approx(0.1 * (1 - found.power) / found.power)
    assert found.n_clicks == clicks.sum()


def test_the_spread_is_the_relative_variance_of_attraction():
    attraction = np.array([0.1, 0.3, 0.5, 0.9])
    log = drawn(attraction, 60_000, np.random.default_rng(0), of_query=3)
    others = (attraction.sum() ** 2 - (attraction**2).sum()) / 12  # two documents of four
    expected = (attraction**2).mean() / others - 1
    assert correction(log, propensity=THETA).spread == pytest.approx(expected, rel=0.1)


def test_an_aggregated_log_says_the_same():
    log, scores = log_of(500), DATA.y + NOISE[0]
    one, other = (correction(it, propensity=THETA, scores=scores[it.document]) for it in (log, aggregated(log)))
    assert one.spread == pytest.approx(other.spread)
    assert one.prior_scale == pytest.approx(other.prior_scale, rel=1e-6)
    assert one.expected == pytest.approx(other.expected)


def test_without_ids_documents_differ_as_much_as_the_mean():
    log = log_of(2_000)
    assert correction(of_rows(log), propensity=THETA).spread == 1.0 != correction(log, propensity=THETA).spread


def test_the_scale_of_the_prior():
    rng, scores = np.random.default_rng(0), np.linspace(-1.0, 1.0, 10)
    log = drawn(0.3 * np.exp(0.8 * scores), 20_000, rng)
    rows = np.tile(scores, 20_000)
    found = correction(log, propensity=THETA, scores=rows).prior_scale
    assert found == pytest.approx(0.8, abs=0.05)
    assert correction(log, propensity=THETA, scores=10.0 * rows + 7.0).prior_scale == pytest.approx(found / 10.0)
    assert correction(log, propensity=THETA, scores=-rows).prior_scale == 0.0
    assert correction(log, propensity=THETA, scores=0.0 * rows).prior_scale == 0.0
    assert correction(log, propensity=THETA).prior_scale is None
    certain = correction(log, propensity=THETA, scores=log.clicked).prior_scale
    assert certain == pytest.approx(5.0 / log.clicked.std())


def test_equal_propensities_are_no_bias():
    found = correction(log_of(300), propensity=np.full(N_POSITIONS, 1e-300))
    assert found.order == 0.0


def test_propensities_are_harvested_by_default(monkeypatch):
    log, harvest = log_of(300), partial(bp.clicks.propensity, n_bootstrap=10)
    monkeypatch.setitem(correction.__globals__, "estimated_propensity", harvest)
    harvested = harvest(log, method="harvesting", smoothing="power_law")
    assert correction(log).power == correction(log, propensity=harvested).power


def test_rows_below_a_position_are_left_out():
    log = log_of(2_000)
    cut = of_rows(log, log.position <= 4, "query", "document")
    scores = DATA.y + NOISE[0]
    found = correction(log, propensity=THETA[:4], scores=scores[log.document], max_position=4)
    assert found == correction(cut, propensity=THETA, scores=scores[cut.document])


def test_it_prints_as_a_table():
    log, scores = log_of(2_000), DATA.y + NOISE[0]
    found = correction(log, propensity=THETA, scores=scores[log.document])
    lines = {line.split()[0]: line for line in str(found).splitlines()}
    assert list(lines) == list(found._fields)
    for name, line in lines.items():
        value = found.expected[found.power] if name == "expected" else getattr(found, name)
        assert float(line.split()[1].replace(",", "")) == pytest.approx(value, rel=0.01)
    assert f"{found.expected[0.0]:.3g} at power 0, {found.expected[1.0]:.3g} at 1" in lines["expected"]
    assert max(map(len, lines.values())) <= 88
    assert f"power={found.power}, ridge=" in repr(found)
    assert "prior_scale" not in str(correction(log, propensity=THETA))


def test_mistakes():
    with pytest.raises((TypeError, ValueError), match="log"):
        correction([1, 0], propensity=THETA)
