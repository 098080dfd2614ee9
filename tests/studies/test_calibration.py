"""The statistics of `compare` in a quick form of `studies.calibration`: a few hundred trials of each."""

import json

import numpy as np
import pytest
from scipy import stats

from studies import calibration
from studies.calibration import Design, coverage, estimate, exchanged, null, pool

TRIALS = 200
SOME = Design(60, n_folds=3, n_seeds=2, weighted=True, n_shared=20)
OTHERS = Design(100, n_folds=2, n_seeds=2, weighted=True)


@pytest.fixture(scope="module")
def values():
    return pool(4_000, n_folds=3, n_seeds=2, rounds=5)


@pytest.fixture(scope="module")
def estimates(values):
    """What compare says of the test sets that `coverage` draws, in their order."""
    found = []

    def kept(folds):
        found.append(estimate(folds))
        return found[-1]

    list(coverage(values, [OTHERS], TRIALS, measure=kept))
    return found


def is_likely(share, expected, trials):
    """Return whether a share of so many trials is within the limits that 99.9 % of experiments keep."""
    low, high = stats.binom.ppf([0.0005, 0.9995], trials, expected)
    return low <= round(share * trials) <= high


def test_p_under_exchange_is_calibrated(values):
    """With weights, several seeds, undefined queries, and queries that stand in several folds."""
    (found,) = null(values, [SOME], TRIALS)
    assert is_likely(found["p"], 0.05, TRIALS)
    assert is_likely(found["interval"], 0.05, TRIALS)
    rng = np.random.default_rng(0)
    folds = values.sample(SOME, rng)
    assert np.isnan(folds[0].ours).any()
    assert set(folds[0].ids) & set(folds[1].ids)
    assert estimate(exchanged(folds, rng)).difference != estimate(folds).difference


def test_the_same_queries_counted_ten_times_are_caught(values):
    """Their copies are queries of their own where their ids differ: what compare said of one fold passed ten times."""
    rng, trials = np.random.default_rng(0), 40
    found = {"once": 0, "ten times": 0}
    for _ in range(trials):
        (fold,) = exchanged(values.sample(Design(35), rng), rng)
        found["once"] += estimate([fold] * 10).p <= 0.05
        found["ten times"] += estimate([fold._replace(ids=fold.ids + 10_000 * i) for i in range(10)]).p <= 0.05
    assert is_likely(found["once"] / trials, 0.05, trials)
    assert not is_likely(found["ten times"] / trials, 0.05, trials)


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.5, False), (2.0, False)])
def test_intervals_hold_the_true_difference(values, estimates, factor, holds):
    """That of the same models on all queries; intervals of half or twice the width are caught."""
    true = values.difference(OTHERS)
    assert abs(true) > 0.005  # a real difference
    recorded = iter(estimates)

    def stretched(_):
        one = next(recorded)
        low, high = (one.difference + factor * (end - one.difference) for end in (one.low, one.high))
        return one._replace(low=low, high=high)

    (found,) = coverage(values, [OTHERS], TRIALS, measure=stretched)
    assert found["true_difference"] == true
    assert is_likely(found["coverage"], 0.95, TRIALS) == holds


def test_differences_are_right_on_average(values, estimates):
    """Compare estimates what the design says: no bias of two standard errors."""
    differences = np.array([one.difference for one in estimates])
    error = differences.std(ddof=1) / np.sqrt(TRIALS)
    assert differences.mean() == pytest.approx(values.difference(OTHERS), abs=3.5 * error)


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("BOOSTPLUG_DATA", raising=False)
    monkeypatch.setattr(calibration, "_ROUNDS", {None: 3})
    calibration.main(["trainings", "--trials", "3", "--json", str(tmp_path / "seeds.json")])
    rows = json.loads((tmp_path / "seeds.json").read_text())["rows"]
    assert [(row["data"], row["loss"], row["n_seeds"], row["trials"]) for row in rows] == [
        ("bundled", loss, *of_pairs) for loss in ("QBRank", "MPBoost(Log)") for of_pairs in ((1, 3), (3, 1))
    ]
    assert "| bundled | no | QBRank | 1 | 1 | 3 | " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        calibration.main(["trainings", "--trials", "0"])
