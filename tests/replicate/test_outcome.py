"""What tasks add up to, the kinds of claims, and the papers' protocols."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from boostplug.metrics import NDCG, PairError
from boostplug.replicate.claims import Apart, Better, Ranked
from boostplug.replicate.outcome import Outcome
from boostplug.replicate.study import Loaded, Measure, Study

NAMES = ("a", "b", "c")


def outcome(values, *, metric=None, curves=None, per_query=None, published=None):
    """Return the outcome of given test values of shape (n_tasks, n_folds, n_learners); NaN: a task not finished."""
    n_tasks, n_folds, n_learners = values.shape
    study = Study(
        name="s",
        source=SimpleNamespace(),
        rounds=3,
        learners=tuple(SimpleNamespace(name=name) for name in NAMES[:n_learners]),
        measures=(Measure("m", metric or PairError()),),
        published=published or {},
    )
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
    return Outcome(study, Loaded(splits, as_published=True), results)


def test_means_are_over_folds_then_tasks_of_what_is_defined():
    values = np.array([[[1.0, 2.0], [3.0, np.nan]], [[10.0, 20.0], [np.nan, np.nan]]])
    got = outcome(values)
    assert got.mean("a", "m") == (2.0 + 10.0) / 2
    assert got.mean("b", "m") == (2.0 + 20.0) / 2
    np.testing.assert_array_equal(got.units("m"), [[2.0, 2.0], [10.0, 20.0]])


def test_units_are_folds_where_there_is_one_task_and_complete():
    values = np.array([[[1.0, 2.0], [3.0, np.nan], [5.0, 4.0]]])
    np.testing.assert_array_equal(outcome(values).units("m"), [[1.0, 2.0], [5.0, 4.0]])


def test_ranks_follow_the_direction_and_share_ties():
    values = np.array([[[0.1, 0.2, 0.3]], [[0.2, 0.2 + 1e-14, 0.1]]])
    assert outcome(values).mean_ranks("m") == {"a": 1.75, "b": 2.25, "c": 2.0}
    assert outcome(values, metric=NDCG()).mean_ranks("m") == {"a": 2.25, "b": 1.75, "c": 2.0}


def test_the_critical_difference_is_that_of_the_tables():
    """Demšar (2006), Table 5(a): q = 2.343 for three classifiers; CD = q √(k (k + 1) / 6N)."""
    values = np.zeros((14, 1, 3))
    assert outcome(values).critical_difference("m") == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 14)), abs=1e-3)


def test_tests_over_tasks_are_those_of_scipy():
    values = np.random.default_rng(0).normal(size=(30, 2, 3)) + np.array([0.0, 0.3, 0.9])
    got, units = outcome(values), values.mean(axis=1)
    assert got.p_value("a", "c", "m") == pytest.approx(stats.wilcoxon(units[:, 0], units[:, 2]).pvalue, rel=1e-9)
    assert got.friedman("m") == pytest.approx(stats.friedmanchisquare(*units.T).pvalue, rel=1e-9)
    same = outcome(np.ones((5, 1, 3)))
    assert same.p_value("a", "b", "m") == 1.0
    assert np.isnan(same.friedman("m"))


def test_ties_and_equal_tasks_are_split_between_the_signs():
    """Differences 0, 1, 1, 2 have ranks 1, 2.5, 2.5, 4, of which 0 counts for neither: 2 of 2^3 patterns reach 9."""
    values = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 2.0], [4.0, 2.0]])[:, None, :]
    assert outcome(values).p_value("a", "b", "m") == 0.25
    assert outcome(np.tile(values, (5, 1, 1))).p_value("a", "b", "m") == pytest.approx(
        stats.wilcoxon(np.tile([0.0, 1.0, 1.0, 2.0], 5), zero_method="zsplit", method="approx").pvalue
    )


def test_the_test_of_one_task_is_over_queries():
    """Six queries in two folds, always ahead: 2 of 2^6 patterns reach it; the None is left out."""
    ahead, behind = [0.9, 0.8, 0.7], [0.1, 0.2, 0.1]
    per_query = [[[*ahead, None], [*behind, None]], [ahead, behind]]
    got = outcome(np.ones((1, 2, 2)), per_query=per_query)
    assert got.p_value("a", "b", "m") == pytest.approx(2 / 2**6)


def clear_order(n=40):
    noise = np.random.default_rng(1).normal(size=(n, 1, 3))
    return outcome(noise * 0.1 + np.arange(3.0))


def holds(claim, got):
    return claim.judge(got).holds


def test_ranked_and_apart():
    got = clear_order()
    said = {"study": "s", "text": "", "measure": "m"}
    assert holds(Ranked(order=("a", "b", "c"), **said), got)
    assert not holds(Ranked(order=("a", "c", "b"), **said), got)
    assert holds(Apart(learner="a", others=("b", "c"), **said), got)
    assert not holds(Apart(learner="b", others=("a", "c"), **said), got)
    near = outcome(np.array([[[0.0, 1.0, 2.0]]] * 2))  # two tasks prove nothing
    assert holds(Ranked(order=("a", "b", "c"), **said), near)
    assert not holds(Apart(learner="a", others=("b", "c"), **said), near)


def test_better_follows_the_direction_and_the_level():
    said = {"study": "s", "text": "", "measure": "m"}
    got = clear_order()
    assert holds(Better(learner="a", other="b", **said), got)
    assert not holds(Better(learner="b", other="a", **said), got)
    assert holds(Better(learner="a", other="b", part="train", **said), got)
    assert holds(Better(learner="a", other="b", level=0.05, **said), got)
    few = outcome(np.array([[[0.0, 1.0]]] * 3))
    assert holds(Better(learner="a", other="b", **said), few)
    assert not holds(Better(learner="a", other="b", level=0.05, **said), few)
    assert holds(Better(learner="b", other="a", **said), outcome(np.array([[[0.0, 1.0]]] * 3), metric=NDCG()))


def test_traces_are_medians():
    got = outcome(np.ones((3, 1, 1)), curves=[[0.5, 0.4, 0.3]])
    for task, trace in zip(got.tasks, ([1.0, 2.0, None], [1.0, 1e300, None], [4.0, None, None]), strict=True):
        got._value(task, 1, "a")["curves"]["trace"]["e"] = trace
    np.testing.assert_array_equal(got.curve("a", "trace", "e"), [1.0, (2.0 + 1e300) / 2, np.nan])
    assert np.isnan(got.curve("a", "trace", "none such")).all()
