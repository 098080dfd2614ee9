"""The rule for the loss that the README names first: noise of queries and of seeds, who is out, who is tied."""

import numpy as np
import pytest

from studies.quality import first_loss
from studies.quality.protocol import FIVE_SEEDS, NAMED_FIRST, PARTS, jobs_of
from studies.quality.sets import SETS
from studies.quality.summary import Cells

N = 30  # test queries of a fold
QBRANK, CRR, MPBOOST = (loss.name for loss in NAMED_FIRST)


def made(ahead, *, noise=0.01, less_on=()):
    """Return cells in which each loss is ahead of LambdaMART by so much, but for some (loss, set, difference)."""
    rng = np.random.default_rng(0)
    kept = {}
    for part in FIVE_SEEDS:
        for job in jobs_of(PARTS[part]):
            name = getattr(job.method.objective, "name", None)
            shift = ahead.get(name, 0.0)
            shift = next((d for loss, data, d in less_on if (loss, data) == (name, job.data)), shift)
            values = 0.5 + shift + noise * rng.normal(size=N)
            values[0] = np.nan  # no relevant document
            per_query = {metric.name: values.tolist() for metric in SETS[job.data].metrics}
            curve = [0.1, 0.5, 0.3] if name is None else [0.2, 0.3, 0.4, 0.5]
            kept[job.key] = {"per_query": per_query, "error": None, "curve": curve}
    return Cells(kept), kept


def test_an_estimate_is_the_mean_over_queries_with_the_noise_of_both():
    cells, kept = made({QBRANK: 0.01})
    pair = first_loss._pair(FIVE_SEEDS[1], "lightgbm", NAMED_FIRST[0])
    found = first_loss.estimate(cells, [pair], ["mslr", "yandex"])
    of = {}
    for data in ("mslr", "yandex"):
        ours, theirs = (cells.of(arm, data) for arm in pair)
        for (job, cell), (other, its) in zip(ours, theirs, strict=True):
            assert (job.fold, job.seed) == (other.fold, other.seed)
            a, b = (np.array(one["per_query"][SETS[data].metrics[0].name])[1:] for one in (cell, its))
            of[data, job.fold, job.seed] = a - b
    of_seeds = [np.mean([d for (_, _, s), d in of.items() if s == seed]) for seed in range(101, 106)]
    assert found.n_queries == 4 * (N - 1)
    assert found.difference == pytest.approx(np.mean(of_seeds))
    assert found.of_seeds == pytest.approx(np.std(of_seeds, ddof=1) / np.sqrt(5))
    folds = {(data, fold) for data, fold, _ in of}
    means = {key: np.mean([of[(*key, seed)] for seed in range(101, 106)], axis=0) for key in folds}
    variance = sum((N - 1) * np.var(values, ddof=1) for values in means.values()) / found.n_queries**2
    assert found.of_queries == pytest.approx(np.sqrt(variance))
    assert found.z == pytest.approx(found.difference / np.hypot(found.of_queries, found.of_seeds))
    low, high = found.told()["interval"]
    assert (low + high) / 2 == pytest.approx(found.difference)
    del kept[next(iter(kept))]
    assert first_loss.document(Cells(kept)) is None


def test_the_largest_difference_wins_and_only_what_is_near_is_tied():
    found = first_loss.document(made({QBRANK: 0.004, CRR: 0.01, MPBOOST: 0.0099})[0])
    assert found["best"] == CRR
    assert {row["loss"]: row["tied"] for row in found["losses"]} == {QBRANK: False, CRR: True, MPBOOST: True}
    by_loss = {row["loss"]: row for row in found["losses"]}
    assert by_loss[CRR]["overall"]["difference"] == pytest.approx(0.01, abs=5e-4)
    assert by_loss[QBRANK]["rounds_to_best"]["mslr"] == pytest.approx(2.0)  # the fourth round, not the second
    assert not any(row["behind"] for row in found["losses"])


def test_a_loss_that_is_behind_somewhere_is_out():
    found = first_loss.document(made({QBRANK: 0.02, CRR: 0.01}, less_on=[(QBRANK, "nfcorpus", -0.02)])[0])
    assert found["best"] == CRR
    behind = {row["loss"]: row["behind"] for row in found["losses"]}
    assert len(behind[QBRANK]) == 4
    assert all(place.endswith("nfcorpus") for place in behind[QBRANK])
    lines = first_loss.tables({**found, "versions": {"numpy": "2"}})
    assert any(line.startswith(f"| **{CRR}** |") for line in lines["rule"])
    assert sum("nfcorpus" in line for line in lines["rule"]) == 1
