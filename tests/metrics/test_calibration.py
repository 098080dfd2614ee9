"""LogLoss against scikit-learn, ECE against a plain loop, and both in frameworks and in `compare`."""

import math

import numpy as np
import pytest
from sklearn.metrics import log_loss

import boostplug as bp

RNG = np.random.default_rng(0)
GROUP = RNG.integers(1, 12, 40)
N = int(GROUP.sum())
CLICKS = (RNG.random(N) < 0.3).astype(float)
GRADES = RNG.integers(0, 5, N).astype(float)
SCORES = RNG.normal(size=N)
WEIGHT = RNG.integers(0, 4, N) / 2.0
LABELLED = RNG.random(N) < 0.7


def probabilities(scores):
    return 1.0 / (1.0 + np.exp(-np.asarray(scores, dtype=float)))


def plain_ece(scores, target, weight, bins):
    total = 0.0
    for b in range(bins):
        inside = [i for i, p in enumerate(probabilities(scores)) if min(int(p * bins), bins - 1) == b]
        total += abs(sum(weight[i] * (probabilities(scores)[i] - target[i]) for i in inside))
    return total / sum(weight)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("labelled", [None, LABELLED])
def test_log_loss_is_scikit_learns(weight, labelled):
    queries = bp.Queries(CLICKS, group=GROUP, weight=weight, labelled=labelled)
    rows = np.ones(N, bool) if labelled is None else labelled
    own = np.ones(N) if weight is None else weight
    expected = log_loss(CLICKS[rows], probabilities(SCORES[rows]), sample_weight=own[rows], labels=[0, 1])
    assert bp.LogLoss()(SCORES, queries) == pytest.approx(expected, rel=1e-12)
    values = bp.LogLoss().per_query(SCORES, queries)
    for q, (start, end) in enumerate(zip(queries.boundaries[:-1], queries.boundaries[1:], strict=True)):
        at = np.flatnonzero(rows & (own > 0) & (np.arange(N) >= start) & (np.arange(N) < end))
        if len(at):
            expected = log_loss(CLICKS[at], probabilities(SCORES[at]), sample_weight=own[at], labels=[0, 1])
            assert values[q] == pytest.approx(expected, rel=1e-12)
        else:
            assert math.isnan(values[q])


@pytest.mark.parametrize("bins", [1, 3, 10])
def test_ece_is_that_of_a_plain_loop(bins):
    queries = bp.Queries(GRADES, group=GROUP, weight=WEIGHT, labelled=LABELLED)
    rows = np.flatnonzero(LABELLED)
    expected = plain_ece(SCORES[rows], GRADES[rows] / 4.0, WEIGHT[rows], bins)
    assert bp.ECE(bins, max_grade=4)(SCORES, queries) == pytest.approx(expected, rel=1e-12)


def test_grades_are_shares_of_the_top():
    queries = bp.Queries(GRADES, group=GROUP)
    p, y = probabilities(SCORES), GRADES / 4.0
    expected = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    assert bp.LogLoss(max_grade=4)(SCORES, queries) == pytest.approx(expected, rel=1e-12)
    assert bp.LogLoss(max_grade=4)(SCORES, queries) == pytest.approx(
        bp.LogisticError(max_grade=4).value(SCORES, queries).sum() / N, rel=1e-12
    )


@pytest.mark.parametrize("metric", [bp.LogLoss(max_grade=4), bp.ECE(max_grade=4), bp.LogLoss(4).on("grade")])
def test_extremes_stay_finite_and_order_does_not_matter(metric):
    for scores in (1e300 * np.sign(SCORES), np.where(SCORES > 0, np.inf, -np.inf), np.zeros(N)):
        value = metric(scores, bp.Queries(GRADES, group=GROUP, labels_by_name={"grade": GRADES}))
        assert np.isfinite(value)
    order = RNG.permutation(N)
    one, other = (
        metric(SCORES[at], bp.Queries(GRADES[at], group=[N], labels_by_name={"grade": GRADES[at]}))
        for at in (np.arange(N), order)
    )
    assert one == pytest.approx(other, rel=1e-12)
    assert math.isnan(metric(np.zeros(0), bp.Queries([], group=[], labels_by_name={"grade": []})))
    nothing = bp.Queries(np.zeros(2), group=[2], labelled=[False, False], labels_by_name={"grade": [np.nan, np.nan]})
    assert math.isnan(metric([1.0, 2.0], nothing))


def test_log_loss_adds_up_over_parts_and_ece_does_not():
    queries, half = bp.Queries(CLICKS, group=GROUP, weight=WEIGHT), np.arange(N) < GROUP[:20].sum()
    parts = [bp.LogLoss().sum_and_count(SCORES[at], queries.of_rows(at, keep_empty=False)) for at in (half, ~half)]
    total, count = np.sum(parts, axis=0)
    assert total / count == pytest.approx(bp.LogLoss()(SCORES, queries), rel=1e-12)
    with pytest.raises(TypeError, match="no value per query"):
        bp.ECE().per_query(SCORES, queries)
    with pytest.raises(TypeError, match="counts queries together"):
        bp.ECE().sum_and_count(SCORES, queries)


@pytest.mark.parametrize("metric", [bp.LogLoss(max_grade=3), bp.ECE(max_grade=3)])
def test_labels_outside_the_scale_are_refused(metric):
    with pytest.raises(ValueError, match=r"labels\[\d+\] = 4.0 is not from 0 to max_grade=3; pass the top"):
        metric.score(GRADES, SCORES, group=GROUP)


def test_compare_shows_ece_without_significance():
    pytest.importorskip("lightgbm")
    parts = [bp.datasets.make_ranking(n_queries=30, random_state=seed) for seed in range(3)]
    given = {
        "losses": [bp.LogisticError(max_grade=4)], "baselines": "lambdarank", "frameworks": "lightgbm", "rounds": 5,
        "seeds": 1,
    }  # fmt: skip
    result = bp.compare(*parts, metrics=["NDCG@10", bp.LogLoss(4), bp.ECE(max_grade=4)], **given)
    assert not result.failed
    row = next(row for row in result.document["methods"] if row["method"].startswith("LogisticError"))
    assert set(row["test"]) == {"NDCG@10", "LogLoss(max_grade=4)", "ECE(max_grade=4)"}
    with pytest.raises(ValueError, match="ECE' has no value per query"):
        bp.compare(*parts, metric="ECE", **given)
