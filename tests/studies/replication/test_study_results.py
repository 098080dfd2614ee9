"""Sums over tasks, errors on pairs of two grades, QBRank's precision against a walk down the sorted pairs."""

from types import SimpleNamespace

import numpy as np
import pytest

from boostplug import Queries
from boostplug.metrics import NDCG, PairError
from studies.replication.judging.groups import KindError
from studies.replication.judging.study_results import StudyResults
from studies.replication.training.precision_at_percent import PrecisionAtPercent
from studies.replication.training.study import Measure, Study
from studies.sources import Loaded

NAMES = ("a", "b", "c")


def results_of(values, *, metric=None, curves=None, per_query=None):
    """Return the outcome of given test values of shape (n_tasks, n_folds, n_learners); NaN: a task not finished."""
    n_tasks, n_folds, n_learners = values.shape
    learners = tuple(SimpleNamespace(name=name) for name in NAMES[:n_learners])
    measures = (Measure("m", metric or PairError()),)
    study = Study(name="s", source=SimpleNamespace(), rounds=3, learners=learners, measures=measures)
    tasks = [f"t{i}" for i in range(n_tasks)]
    splits = [SimpleNamespace(task=task, fold=f + 1) for task in tasks for f in range(n_folds)]
    results = {}
    for (t, f, l), value in np.ndenumerate(values):
        own = {"test": {"m": None if np.isnan(value) else value}, "train": {"m": value - 0.1}, "curves": {}}
        if curves:
            own["curves"] = {"test": {"m": curves[l]}, "trace": {"e": curves[l]}}
        if per_query is not None:
            own["per_query"] = {"m": per_query[f][l]}
        results[tasks[t], f + 1, NAMES[l]] = {"value": own}
    return StudyResults(study, Loaded(splits, as_published=True), results)


def test_means_are_over_folds_then_tasks_of_what_is_defined():
    values = np.array([[[1.0, 2.0], [3.0, np.nan]], [[10.0, 20.0], [np.nan, np.nan]]])
    got = results_of(values)
    assert got.mean("a", "m") == (2.0 + 10.0) / 2
    assert got.mean("b", "m") == (2.0 + 20.0) / 2
    np.testing.assert_array_equal(got.units("m"), [[2.0, 2.0], [10.0, 20.0]])


def test_ranks_follow_the_direction_and_share_ties():
    values = np.array([[[0.1, 0.2, 0.3]], [[0.2, 0.2 + 1e-14, 0.1]]])
    assert results_of(values).mean_ranks("m") == {"a": 1.75, "b": 2.25, "c": 2.0}
    assert results_of(values, metric=NDCG()).mean_ranks("m") == {"a": 2.25, "b": 1.75, "c": 2.0}


def test_the_critical_difference_is_that_of_the_tables():
    """Demšar (2006), Table 5(a): q = 2.343 for three classifiers; CD = q √(k (k + 1) / 6N)."""
    values = np.zeros((14, 1, 3))
    assert results_of(values).critical_difference("m") == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 14)), abs=1e-3)


def test_units_are_tasks_or_queries_or_folds():
    many = results_of(np.array([[[1.0, 2.0], [3.0, np.nan]], [[10.0, 20.0], [np.nan, np.nan]]]))
    values, folds = many.unit_values("a", "m")
    np.testing.assert_array_equal(values, [2.0, 10.0])
    np.testing.assert_array_equal(folds, [0.0, 0.0])
    per_query = [[[0.9, None], [0.1, None]], [[0.8, 0.7, 0.6], [0.3, 0.2, 0.1]]]
    one = results_of(np.array([[[1.0, 2.0], [3.0, 4.0]]]), per_query=per_query)
    values, folds = one.unit_values("b", "m")
    np.testing.assert_array_equal(values, [0.1, np.nan, 0.3, 0.2, 0.1])
    np.testing.assert_array_equal(folds, [1.0, 1.0, 2.0, 2.0, 2.0])
    values, folds = one.unit_values("b", "m", "train")
    np.testing.assert_allclose(values, [1.9, 3.9])
    np.testing.assert_array_equal(folds, [0.0, 0.0])


def test_the_curve_of_a_unit_is_that_of_its_folds():
    got = results_of(np.ones((2, 3, 1)), curves=[[0.5, 0.4, 0.3]])
    for fold, curve in enumerate(([1.0, 2.0, 3.0], [2.0, 2.0, 1e300], [6.0, 2.0, 4.0]), 1):
        for part, name in (("trace", "e"), ("test", "m")):
            got._value("t1", fold, "a")["curves"][part][name] = curve
    np.testing.assert_array_equal(got.unit_curves("a", "trace", "e"), [[0.5, 0.4, 0.3], [2.0, 2.0, 4.0]])
    np.testing.assert_allclose(got.unit_curves("a", "test", "m")[1, :2], [3.0, 2.0])
    assert got.split_curves("a", "trace", "e").shape == (6, 3)
    one = results_of(np.ones((1, 2, 1)), curves=[[0.5, 0.4, 0.3]])
    one._value("t0", 2, "a")["curves"]["trace"] = {}
    np.testing.assert_array_equal(one.unit_curves("a", "trace", "e"), [[0.5, 0.4, 0.3], [np.nan] * 3])


QUERIES = Queries([2, 1, 0, 0, 2, 1, 1, 0], group=[4, 3, 1])
SCORES = [3.0, 4.0, 3.0, 1.0, 0.0, 0.0, 5.0, 9.0]


@pytest.mark.parametrize(
    ("high", "low", "shares", "together"),
    [
        (2, 0, [0.25, np.nan, np.nan], 0.25),  # one of two pairs is tied
        (2, 1, [1.0, 0.75, np.nan], 2.5 / 3),
        (1, 0, [0.0, np.nan, np.nan], 0.0),
    ],
)
def test_errors_on_pairs_of_two_grades(high, low, shares, together):
    one = KindError(ties="half", high=high, low=low)
    np.testing.assert_allclose(one.per_query(SCORES, QUERIES), shares)
    assert one(SCORES, QUERIES) == pytest.approx(np.nanmean(shares))
    assert KindError(ties="half", pooled=True, high=high, low=low)(SCORES, QUERIES) == pytest.approx(together)


def precision_by_loop(gaps, weights, p):
    """Walk down the sorted pairs until p% of the weight is used up; equal gaps count in equal parts."""
    gaps, weights = np.array(gaps, float), np.array(weights, float)
    if not weights.sum() > 0:
        return np.nan
    weights = weights / weights.max()
    wanted = left = p / 100 * weights.sum()
    good = 0.0
    for size in sorted(set(np.abs(gaps)), reverse=True):
        here = np.abs(gaps) == size
        total, right = weights[here].sum(), weights[here & (gaps >= 0)].sum()
        part = min(1.0, left / total) if total > 0 else 0.0
        good += part * right
        left -= part * total
        if left <= 1e-9 * wanted:
            break
    return good / wanted


@pytest.mark.parametrize("p", [10, 33.3, 100])
def test_it_is_the_walk_down_the_sorted_pairs(p):
    rng = np.random.default_rng(0)
    for _ in range(20):
        group = rng.integers(1, 9, 4)
        y, scores, weight = rng.integers(0, 3, group.sum()), rng.integers(0, 4, group.sum()), rng.random(4)
        queries = Queries(y, group=group, weight=weight)
        lists = np.split(np.arange(len(y)), queries.boundaries[1:-1])
        gaps = [[scores[i] - scores[j] for i in rows for j in rows if y[i] > y[j]] for rows in lists]
        metric = PrecisionAtPercent(p)
        alone = [precision_by_loop(of_query, np.ones(len(of_query)), p) for of_query in gaps]
        np.testing.assert_allclose(metric.per_query(scores, queries), alone, rtol=1e-12)
        together = precision_by_loop(np.concatenate(gaps), np.repeat(weight, [len(of_query) for of_query in gaps]), p)
        assert metric(scores, queries) == pytest.approx(together, rel=1e-12, nan_ok=True)
    assert np.isnan(metric([1.0, 2.0], Queries([1, 1], group=[2])))
