"""LightGBM through our adapters: training routes, stopping, inputs, changed data, and errors that name the remedy."""

import gc
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from weakref import ref

import loops
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import boostplug as bp
from boostplug import threads
from boostplug.datasets import load_fold
from boostplug.plug import call as plug

lgb = pytest.importorskip("lightgbm")

LOSS = bp.MPBoost()
PARAMS = {"verbosity": -1, "num_threads": 1, "num_leaves": 4, "min_data_in_leaf": 1}
RANKER = {"verbose": -1, "n_jobs": 1, "num_leaves": 4, "min_child_samples": 1, "n_estimators": 5}
NAMES = list("abcd")


def make(seed=0, n_queries=16, noise=1.0):
    """Return features, grades and group sizes; with much noise a validation metric peaks after a few rounds."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, 9, n_queries)
    X = np.round(rng.normal(size=(group.sum(), 4)), 2)
    y = np.clip(np.round(X[:, 0] - 0.5 * X[:, 1] + noise * rng.normal(size=len(X)) + 1), 0, 4)
    return X, y, group


X, Y, GROUP = make()
QID = np.repeat(np.arange(len(GROUP)) + 7, GROUP)
VX, VY, VGROUP = make(1, noise=3.0)
VQID = np.repeat(np.arange(len(VGROUP)), VGROUP)


def dataset(**changes):
    return lgb.Dataset(**{"data": X, "label": Y, "group": GROUP, "free_raw_data": False, **changes})


def validation(train=None):
    return (train or dataset()).create_valid(VX, VY, group=VGROUP)


def train(loss=LOSS, rounds=5, data=None, params=None, **keywords):
    return lgb.train({**PARAMS, "objective": loss, **(params or {})}, data or dataset(), rounds, **keywords)


@dataclass(frozen=True)
class Spy(bp.Loss):
    """MPBoost that logs what it was asked; the log outlives LightGBM's copies of the objective."""

    log = []  # noqa: RUF012 (shared on purpose)

    @property
    def hessian_kind(self):
        return "exact"

    def compute_value(self, scores, queries):
        return LOSS.value(scores, queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        g, h = LOSS.gradient_hessian(scores, queries)
        self.log.append((scores.copy(), queries, g, h, threads.get_num_threads()))
        return g, h


@pytest.fixture
def spy():
    Spy.log.clear()
    yield Spy()
    Spy.log.clear()


@dataclass(frozen=True)
class Misses(bp.Metric):
    """1 - NDCG: an error."""

    k: int = 5
    greater_is_better = False

    def compute_per_query(self, scores, queries):
        return 1 - bp.NDCG(self.k).compute_per_query(scores, queries)


# --- one objective, every route -----------------------------------------------------------------------------------


def routes():
    """Return the predictions of every route to the same model."""
    update = lgb.Booster({**PARAMS, "objective": "none"}, dataset().construct())
    for _ in range(5):
        update.update(fobj=LOSS)
    plain = lgb.LGBMRanker(objective=LOSS, metric="None", **RANKER).fit(X, Y, group=GROUP)
    ours = bp.LGBMRanker(objective=LOSS, **RANKER)
    return {
        "lgb.train": train().predict(X),
        "Booster.update": update.predict(X),
        "lgb.LGBMRanker": plain.predict(X),
        "bp.LGBMRanker(group)": ours.fit(X, Y, group=GROUP).predict(X),
        "bp.LGBMRanker(qid)": ours.fit(X, Y, qid=QID).predict(X),
    }


def test_every_route_trains_the_same_model():
    found = routes()
    for name, predicted in found.items():
        np.testing.assert_array_equal(predicted, found["lgb.train"], err_msg=name)
    assert bp.NDCG(5)(found["lgb.train"], bp.Queries(Y, group=GROUP)) > 0.8


@pytest.mark.parametrize("alias", ["objective", "application", "loss", "objective_type", "app"])
def test_every_alias_of_objective(alias):
    booster = lgb.train({**PARAMS, alias: LOSS}, dataset(), 5)
    np.testing.assert_array_equal(booster.predict(X), train().predict(X))
    if alias != "objective":
        with pytest.warns(UserWarning, match="Will use it instead of 'objective'"):
            predicted = bp.LGBMRanker(**{alias: LOSS}, **RANKER).fit(X, Y, qid=QID).predict(X)
        np.testing.assert_array_equal(predicted, booster.predict(X))


def test_gradients_are_a_plain_loop(spy):
    """The scores the loss saw, and g, h against the double loop over pairs, with row weights."""
    weight = np.random.default_rng(3).uniform(0.5, 2, len(Y)).astype(np.float32)
    train(spy, 3, dataset(weight=weight))
    scores, queries, g, h, _ = spy.log[-1]
    assert np.ptp(scores) > 0
    _, g_loop, h_loop = loops.mpboost(scores, Y, queries.boundaries, bp.LogDistance(), weight=weight)
    scale = LOSS.scale(queries)
    np.testing.assert_allclose(g, scale * g_loop, atol=1e-9 * np.abs(g).max())
    np.testing.assert_allclose(h, scale * h_loop, atol=1e-9 * h.max())


def test_what_lightgbm_gets_is_float32_finite_and_its_own(spy):
    data = dataset().construct()
    for scores in (np.zeros(len(Y)), np.where(Y > 1, -1000.0, 1000.0), np.where(Y > 1, 1000.0, -1000.0)):
        kept = scores.copy()
        g, h = spy(scores, data)
        assert g.dtype == h.dtype == np.float32
        assert np.isfinite(g).all()
        assert np.isfinite(h).all()
        assert (h[g != 0] >= np.finfo(np.float32).tiny).all()
        np.testing.assert_array_equal(scores, kept)


def test_the_scores_buffer_is_neither_kept_nor_changed():
    seen = []

    def objective(scores, data):
        before = scores.copy()
        g, h = LOSS(scores, data)
        np.testing.assert_array_equal(scores, before)
        seen.append((np.shares_memory(g, scores) or np.shares_memory(h, scores), g.copy(), g))
        return g, h

    train(objective)
    assert not any(shared for shared, _, _ in seen)
    for _, then, now in seen:
        np.testing.assert_array_equal(now, then)


def test_objectives_survive_the_deep_copy_and_stay_equal():
    params = {**PARAMS, "objective": bp.MPBoost(distance=bp.BinaryDistance())}
    booster = lgb.train(params, dataset(), 1)
    assert params["objective"] == bp.MPBoost(distance=bp.BinaryDistance())
    assert booster.params["objective"] == "none"


def test_exceptions_come_out_as_they_are():
    def distance(gaps):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        train(bp.MPBoost(distance=distance))
    assert train().num_trees() == 5


# --- the starting scores ------------------------------------------------------------------------------------------


def test_init_score_is_part_of_the_scores(spy):
    start = np.linspace(-1, 1, len(Y))
    train(spy, 1, dataset(init_score=start))
    np.testing.assert_allclose(spy.log[0][0], start)
    expected, _ = LOSS.gradient_hessian(start, bp.Queries(Y, group=GROUP))
    np.testing.assert_allclose(spy.log[0][2], expected, rtol=1e-6)
    spy.log.clear()
    bp.LGBMRanker(objective=spy, **RANKER).fit(X, Y, qid=QID, init_score=start)
    np.testing.assert_allclose(spy.log[0][0], start)


@pytest.mark.parametrize("route", ["lgb.train", "bp.LGBMRanker"])
def test_continued_training_equals_training_in_one_go(route, tmp_path):
    if route == "lgb.train":
        first, whole = train(rounds=4), train(rounds=9)
        both = train(rounds=5, init_model=first)
        path = tmp_path / "first.txt"
        first.save_model(path)
        np.testing.assert_allclose(train(rounds=5, init_model=path).predict(X), whole.predict(X), rtol=1e-6)
    else:
        ranker = bp.LGBMRanker(objective=LOSS, **RANKER)
        first = clone(ranker).set_params(n_estimators=4).fit(X, Y, qid=QID)
        whole = clone(ranker).set_params(n_estimators=9).fit(X, Y, qid=QID)
        both = clone(ranker).fit(X, Y, qid=QID, init_model=first)
    np.testing.assert_allclose(both.predict(X), whole.predict(X), rtol=1e-6)


def test_infinite_starting_scores_are_refused():
    start = np.zeros(len(Y))
    start[3] = np.nan
    with pytest.raises(ValueError, match=r"scores\[3\] is NaN .*init_score"):
        LOSS(start, dataset().construct())


# --- metrics and early stopping -----------------------------------------------------------------------------------


def expected_round(values, patience, *, greater):
    """Return the first round (from 1) whose value is not beaten in the next `patience` rounds."""
    values = np.array(values) if greater else -np.array(values)
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
        elif i - best >= patience:
            return best + 1
    return best + 1


@pytest.mark.parametrize("metric", [bp.NDCG(5), bp.MAP(), Misses()], ids=lambda m: m.name)
def test_early_stopping_stops_where_it_should(metric):
    history = {}
    data = dataset()
    train(rounds=30, data=data, valid_sets=[validation(data)], feval=metric, callbacks=[lgb.record_evaluation(history)])
    assert list(history["valid_0"]) == [metric.name]
    values = history["valid_0"][metric.name]
    best = expected_round(values, 4, greater=metric.greater_is_better)
    assert best < 26  # the stop is seen
    seen = {}
    stop = {"callbacks": [lgb.early_stopping(4, verbose=False), lgb.record_evaluation(seen)]}
    booster = train(rounds=30, valid_sets=[validation()], feval=metric, **stop)
    assert booster.best_iteration == best
    assert booster.best_score["valid_0"][metric.name] == values[best - 1]
    assert seen["valid_0"][metric.name] == values[: best + 4]
    by_parameter = train(rounds=30, valid_sets=[validation()], feval=metric, params={"early_stopping_round": 4})
    assert by_parameter.best_iteration == best
    for eval_data in ({"eval_qid": [VQID]}, {"eval_group": [VGROUP]}):
        ranker = bp.LGBMRanker(objective=LOSS, **{**RANKER, "n_estimators": 30})
        ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_metric=metric, **eval_data, **stop)
        assert ranker.best_iteration_ == best
        assert ranker.evals_result_["valid_0"][metric.name] == values[: best + 4]
        np.testing.assert_array_equal(ranker.predict(X), booster.predict(X))


def test_metrics_are_those_of_the_scores():
    history = {}
    data = dataset()
    metrics = [bp.NDCG(3), bp.MAP(relevant=2), Misses()]
    booster = train(
        data=data,
        valid_sets=[validation(data), data],
        valid_names=["v", "t"],
        feval=metrics,
        callbacks=[lgb.record_evaluation(history)],
    )
    for name, queries, rows in (("v", bp.Queries(VY, group=VGROUP), VX), ("t", bp.Queries(Y, group=GROUP), X)):
        for metric in metrics:
            assert history[name][metric.name][-1] == pytest.approx(metric(booster.predict(rows), queries), rel=1e-12)


def test_several_metrics_stop_at_the_first_to_stall_or_at_the_first_alone():
    metrics = [bp.NDCG(5), Misses(2)]
    history = {}
    train(rounds=30, valid_sets=[validation()], feval=metrics, callbacks=[lgb.record_evaluation(history)])
    values = [history["valid_0"][m.name] for m in metrics]
    bests = [expected_round(v, 4, greater=m.greater_is_better) for v, m in zip(values, metrics, strict=True)]
    for first_only, expected in ((True, bests[0]), (False, min(bests))):
        stop = lgb.early_stopping(4, first_metric_only=first_only, verbose=False)
        booster = train(rounds=30, valid_sets=[validation()], feval=metrics, callbacks=[stop])
        assert booster.best_iteration == expected


def test_names_never_shadow_built_in_metrics():
    """Beside LightGBM's own ndcg@5 and map@5 each of our histories holds one value a round."""
    history = {}
    params = {"metric": ["ndcg", "map"], "eval_at": [5]}
    train(
        valid_sets=[validation()],
        feval=[bp.NDCG(5), bp.MAP(5)],
        params=params,
        callbacks=[lgb.record_evaluation(history)],
    )
    assert {name: len(v) for name, v in history["valid_0"].items()} == dict.fromkeys(
        ["ndcg@5", "map@5", "NDCG@5", "MAP@5"], 5
    )


def test_the_rankers_default_metric_is_ours():
    """No built-in ndcg that refuses labels: NDCG of ours at eval_at, or what the user names."""
    y = Y + 0.5
    fit = {"qid": QID, "eval_set": [(VX, VY + 0.25)], "eval_qid": [VQID]}
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, y, **fit, eval_at=(2, 7))
    assert list(ranker.evals_result_["valid_0"]) == ["NDCG@2", "NDCG@7"]
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, y, **fit, eval_metric=[bp.MAP(relevant=0.75), Misses()])
    assert list(ranker.evals_result_["valid_0"]) == ["MAP(relevant=0.75)", "Misses@5"]
    ranker = bp.LGBMRanker(objective=LOSS, metric="ndcg", **RANKER)
    ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], eval_at=(3,))
    assert list(ranker.evals_result_["valid_0"]) == ["ndcg@3"]
    ranker = bp.LGBMRanker(objective="lambdarank", **RANKER)
    ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], eval_at=(3,), eval_metric=bp.NDCG(3))
    assert set(ranker.evals_result_["valid_0"]) == {"ndcg@3", "NDCG@3"}
    np.testing.assert_allclose(*(ranker.evals_result_["valid_0"][name] for name in ("ndcg@3", "NDCG@3")), atol=0.3)


@pytest.mark.parametrize("labels", [Y - 2.5, Y * 20, Y + 1e6, -Y], ids=["negative", "80", "huge", "reversed"])
def test_labels_that_the_built_in_ranker_refuses(labels):
    predicted = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, labels, qid=QID).predict(X)
    np.testing.assert_array_equal(predicted, train(data=dataset(label=labels)).predict(X))
    assert np.ptp(predicted) > 0


def test_the_training_set_as_validation_set_is_recognised():
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, Y, qid=QID, eval_set=[(X, Y)])
    assert list(ranker.evals_result_) == ["training"]
    np.testing.assert_allclose(
        ranker.evals_result_["training"]["NDCG@5"][-1], ranker.score(X, Y, qid=QID, metric=bp.NDCG(5)), rtol=1e-12
    )


@pytest.mark.parametrize("form", ["eval_X", "eval_X tuples", "eval_set pair"])
def test_validation_data_in_lightgbms_forms(form):
    data = {
        "eval_X": {"eval_X": VX, "eval_y": VY},
        "eval_X tuples": {"eval_X": (VX,), "eval_y": (VY,)},
        "eval_set pair": {"eval_set": (VX, VY)},
    }[form]
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, Y, qid=QID, eval_qid=[VQID], **data)
    expected = ranker.score(VX, VY, qid=VQID, metric=bp.NDCG(5))
    assert ranker.evals_result_["valid_0"]["NDCG@5"][-1] == pytest.approx(expected, rel=1e-12)


def test_validation_weights_count():
    weight = np.arange(len(VGROUP)) + 1.0
    fit = {"qid": QID, "eval_set": [(VX, VY)], "eval_qid": [VQID], "eval_metric": bp.NDCG(5)}
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, Y, **fit, eval_sample_weight=[weight])
    expected = ranker.score(VX, VY, weight, qid=VQID, metric=bp.NDCG(5))
    assert ranker.evals_result_["valid_0"]["NDCG@5"][-1] == pytest.approx(expected, rel=1e-7)
    assert expected != ranker.score(VX, VY, qid=VQID, metric=bp.NDCG(5))


def test_a_metric_in_the_plain_ranker_is_an_error():
    ranker = lgb.LGBMRanker(objective=LOSS, metric="None", **RANKER)
    valid = {"eval_X": X, "eval_y": Y, "eval_group": [GROUP]}
    with pytest.raises(TypeError, match=r"pass it as eval_metric to boostplug\.LGBMRanker"):
        ranker.fit(X, Y, group=GROUP, eval_metric=bp.NDCG(5), **valid)


# --- cross-validation ---------------------------------------------------------------------------------------------


def test_cv_with_group_folds(spy):
    folds = bp.group_folds(QID, 3, shuffle=True, random_state=0)
    metric = bp.NDCG(5)
    params = {**PARAMS, "objective": spy, "metric": "None"}
    result = lgb.cv(params, dataset(), 5, folds=folds, feval=metric, return_cvbooster=True)
    assert len(spy.log) == 15
    values = []
    for (rows, test), groups, (_, queries, *_) in zip(folds, folds.groups, spy.log, strict=False):
        np.testing.assert_array_equal(np.diff(queries.boundaries), groups.train)
        booster = train(rounds=5, data=lgb.Dataset(X[rows], Y[rows], group=groups.train, reference=dataset()))
        values.append(metric(booster.predict(X[test]), bp.Queries(Y[test], group=groups.test)))
    np.testing.assert_allclose(result["valid NDCG@5-mean"][-1], np.mean(values), rtol=1e-6)
    stop = lgb.cv(params, dataset(), 30, folds=folds, feval=metric, callbacks=[lgb.early_stopping(2, verbose=False)])
    assert len(stop["valid NDCG@5-mean"]) == np.argmax(stop["valid NDCG@5-mean"]) + 1 < 30


def test_cv_keeps_row_weights(spy):
    weight = np.random.default_rng(3).uniform(0.5, 2, len(Y)).astype(np.float32)
    folds = bp.group_folds(QID, 3)
    lgb.cv({**PARAMS, "objective": spy, "metric": "None"}, dataset(weight=weight), 1, folds=folds)
    for (rows, _), (_, queries, *_) in zip(folds, spy.log, strict=True):
        np.testing.assert_array_equal(queries.row_weight, weight[rows])


@pytest.mark.parametrize("keywords", [{}, {"stratified": False}, {"stratified": False, "shuffle": False, "nfold": 7}])
def test_cv_that_splits_queries_is_an_error(keywords):
    with pytest.raises(ValueError, match=r"cuts \d+ queries in two .*folds=boostplug\.group_folds"):
        lgb.cv({**PARAMS, "objective": LOSS}, dataset(), 2, **{"nfold": 3, **keywords})


def test_cv_that_splits_queries_is_an_error_for_metrics_too():
    """A callable of the user's own as objective, and our metric."""
    with pytest.raises(ValueError, match="cuts"):
        lgb.cv(
            {**PARAMS, "objective": lambda s, d: (s - d.get_label(), np.ones_like(s))},
            dataset(),
            2,
            nfold=3,
            stratified=False,
            feval=bp.NDCG(5),
        )


def test_subsets():
    data = dataset().construct()
    whole = data.subset(np.flatnonzero(QID < 12).tolist())
    assert train(data=whole).num_trees() == 5
    cut = data.subset(list(range(1, len(Y))))
    with pytest.raises(ValueError, match=r"cuts 1 queries in two \(query 0: .*the rows of whole queries"):
        train(data=cut)


def test_subsets_after_set_field_are_checked_against_the_new_groups():
    data = dataset(group=[len(Y)]).construct()
    assert data.get_group().tolist() == [len(Y)]
    data.set_field("group", GROUP)
    assert train(data=data.subset(np.flatnonzero(QID < 12).tolist())).num_trees() == 5


# --- parameters ---------------------------------------------------------------------------------------------------

BY_QUERY = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}


@pytest.mark.parametrize(
    "route", ["lgb.train", "constructed", "Booster.update", "lgb.LGBMRanker", "bp.LGBMRanker", "cv"]
)
def test_bagging_by_query_is_refused_by_every_route(route):
    run = {
        "lgb.train": lambda: train(params=BY_QUERY),
        "constructed": lambda: train(params=BY_QUERY, data=dataset().construct()),
        "Booster.update": lambda: lgb.Booster({**PARAMS, **BY_QUERY}, dataset().construct()).update(fobj=LOSS),
        "lgb.LGBMRanker": lambda: lgb.LGBMRanker(objective=LOSS, metric="None", **RANKER, **BY_QUERY).fit(
            X, Y, group=GROUP
        ),
        "bp.LGBMRanker": lambda: bp.LGBMRanker(
            objective=LOSS, **RANKER, bagging_by_query="true", subsample_freq=2, subsample=0.5
        ).fit(X, Y, qid=QID),
        "cv": lambda: lgb.cv({**PARAMS, **BY_QUERY, "objective": LOSS}, dataset(), 2, folds=bp.group_folds(QID, 3)),
    }[route]
    with pytest.raises(ValueError, match=r"bagging_by_query=True trains a constant model .*remove it"):
        run()


def test_bagging_by_query_that_samples_nothing_is_fine():
    np.testing.assert_array_equal(train(params={"bagging_by_query": True}).predict(X), train().predict(X))


def test_parameters_of_an_earlier_training_do_not_count():
    data = dataset()
    lgb.train({**PARAMS, **BY_QUERY, "objective": "lambdarank"}, data, 1)
    assert train(data=data).num_trees() == 5


@pytest.mark.parametrize("name", ["rf", "random_forest"])
def test_random_forests_are_refused(name):
    with pytest.raises((ValueError, lgb.basic.LightGBMError), match=r"custom objective"):
        train(params={"boosting": name, "bagging_freq": 1, "bagging_fraction": 0.5})


@pytest.mark.parametrize(
    "params",
    [
        {"boosting": "dart"},
        {"data_sample_strategy": "goss"},
        {"linear_tree": True},
        {"monotone_constraints": [1, 0, 0, 0]},
        {"use_quantized_grad": True},
        {"bagging_freq": 1, "bagging_fraction": 0.5},
        {"extra_trees": True},
    ],
    ids=lambda params: next(iter(params)),
)
def test_modes_that_learn(params):
    booster = train(rounds=10, params=params)
    queries = bp.Queries(Y, group=GROUP)
    assert bp.NDCG(5)(booster.predict(X), queries) > bp.NDCG(5)(np.zeros(len(Y)), queries) + 0.1
    if "monotone_constraints" in params:
        rising = np.c_[np.linspace(-2, 2, 20), np.zeros((20, 3))]
        assert (np.diff(booster.predict(rising)) >= 0).all()
    ranker = bp.LGBMRanker(objective=LOSS, **{**RANKER, "n_estimators": 10}, **params).fit(X, Y, qid=QID)
    if params.get("boosting") != "dart":  # which LightGBM does not repeat under a callable: docs/compatibility.md
        np.testing.assert_allclose(ranker.predict(X), booster.predict(X), rtol=1e-6)


@pytest.mark.parametrize("key", ["num_threads", "num_thread", "nthread", "nthreads", "n_jobs"])
def test_threads_are_lightgbms(spy, key):
    params = {k: v for k, v in PARAMS.items() if k != "num_threads"}
    data = dataset().construct()  # whose own parameters say nothing
    lgb.train({**params, "objective": spy, key: 1}, data, 1)
    assert spy.log[-1][-1] == 1
    lgb.train({**params, "objective": spy, key: 2}, data, 1)
    assert spy.log[-1][-1] == 2


def test_threads_without_lightgbms_word_are_ours(spy, monkeypatch):
    monkeypatch.setattr(threads, "_chosen", 3)
    params = {k: v for k, v in PARAMS.items() if k != "num_threads"}
    lgb.train({**params, "objective": spy}, dataset(), 1)
    assert spy.log[-1][-1] == 3


def test_threads_of_the_rankers(spy):
    lgb.LGBMRanker(objective=spy, metric="None", **{**RANKER, "n_jobs": 2}).fit(X, Y, group=GROUP)
    assert {entry[-1] for entry in spy.log} == {2}
    spy.log.clear()
    bp.LGBMRanker(objective=spy, **{**RANKER, "n_jobs": 2}).fit(X, Y, qid=QID)
    assert {entry[-1] for entry in spy.log} == {2}


@dataclass(frozen=True)
class ThreadCount(bp.Metric):
    """The number of threads it was given."""

    def compute_per_query(self, scores, queries):
        return np.full(queries.n_queries, float(threads.get_num_threads()))


def test_threads_of_metrics():
    history = {}
    record = [lgb.record_evaluation(history)]
    train(valid_sets=[validation()], feval=ThreadCount(), params={"num_threads": 2}, callbacks=record)
    assert set(history["valid_0"]["ThreadCount"]) == {2.0}
    ranker = bp.LGBMRanker(objective=LOSS, **{**RANKER, "n_jobs": 2})
    ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], eval_metric=ThreadCount())
    assert set(ranker.evals_result_["valid_0"]["ThreadCount"]) == {2.0}


def test_num_class_is_refused():
    with pytest.raises(ValueError, match="leave num_class"):
        train(params={"num_class": 3})


def test_positions_are_refused():
    position = np.concatenate([np.arange(n) for n in GROUP]).astype(np.int32)
    with pytest.raises(ValueError, match=r"position=….*pass a Dataset without it"):
        train(data=dataset(position=position))


# --- inputs -------------------------------------------------------------------------------------------------------

FRAMES = {
    "pandas": (lambda x: pd.DataFrame(x, columns=NAMES), pd.Series, lambda d, q: d.assign(qid=q)),
    "polars": (
        lambda x: pl.DataFrame(x, schema=NAMES),
        pl.Series,
        lambda d, q: d.with_columns(pl.Series(q).alias("qid")),
    ),
    "pyarrow": (
        lambda x: pa.table({name: x[:, i] for i, name in enumerate(NAMES)}),
        pa.array,
        lambda d, q: d.append_column("qid", pa.array(q)),
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind):
    frame, series, with_qid = FRAMES[kind]
    expected = train().predict(X)
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER)
    for qid in (QID, np.array([f"q{i}" for i in QID])):
        np.testing.assert_array_equal(ranker.fit(frame(X), series(Y), qid=series(qid)).predict(frame(X)), expected)
        data = with_qid(frame(X), qid)
        valid = with_qid(frame(VX), VQID)
        ranker.fit(data, series(Y), eval_set=[(valid, series(VY))], sample_weight=series(np.ones(len(Y))))
        np.testing.assert_array_equal(ranker.predict(data), expected)
        np.testing.assert_array_equal(ranker.predict(frame(X)), expected)
        assert ranker.n_features_in_ == 4
        assert ranker.feature_names_in_.tolist() == NAMES
        assert ranker.score(data, series(Y)) == bp.NDCG(10)(expected, bp.Queries(Y, group=GROUP))
    np.testing.assert_array_equal(ranker.fit(frame(X), series(Y), group=series(GROUP)).predict(frame(X)), expected)
    column = pa.chunked_array([Y]) if kind == "pyarrow" else series(Y)
    np.testing.assert_array_equal(train(data=lgb.Dataset(frame(X), column, group=GROUP)).predict(X), expected)


def test_lists_and_label_columns():
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER)
    expected = train().predict(X)
    np.testing.assert_array_equal(ranker.fit(X, Y.tolist(), qid=QID.tolist()).predict(X), expected)
    with pytest.raises(ValueError, match=r"labels must be one-dimensional, got shape .*pass labels\.ravel\(\)"):
        ranker.fit(X, Y[:, None], qid=QID)
    one_column = pd.DataFrame({"y": Y})
    np.testing.assert_array_equal(train(data=dataset(label=one_column)).predict(X), expected)


def test_queries_of_one_row_and_of_none():
    group = [0, *GROUP, 0]
    np.testing.assert_array_equal(train(data=dataset(group=group)).predict(X), train().predict(X))
    np.testing.assert_array_equal(
        bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, Y, group=group).predict(X), train().predict(X)
    )


@pytest.mark.parametrize("per", ["row", "query"])
def test_weights(per):
    rng = np.random.default_rng(4)
    of_query = rng.uniform(0.5, 3, len(GROUP)).astype(np.float32).astype(float)
    weight = of_query if per == "query" else rng.uniform(0, 2, len(Y)).astype(np.float32).astype(float)
    in_rows = np.repeat(of_query, GROUP) if per == "query" else weight
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, Y, qid=QID, sample_weight=weight)
    expected = train(data=dataset(weight=in_rows)).predict(X)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    plain = lgb.LGBMRanker(objective=LOSS, metric="None", **RANKER).fit(X, Y, group=GROUP, sample_weight=in_rows)
    np.testing.assert_array_equal(plain.predict(X), expected)
    assert not np.array_equal(expected, train().predict(X))


# --- changed data, and memory -------------------------------------------------------------------------------------


def gradient_of(data):
    return LOSS(np.linspace(0, 1, len(Y)), data)[0]


CHANGES = {
    "set_label": lambda d: d.set_label(4 - Y),
    "set_field label": lambda d: d.set_field("label", 4 - Y),
    "set_weight": lambda d: d.set_weight(np.arange(len(Y)) + 1.0),
    "set_field weight": lambda d: d.set_field("weight", np.arange(len(Y)) + 1.0),
    "set_group": lambda d: d.set_group([len(Y)]),
    "set_field group": lambda d: d.set_field("group", [len(Y)]),
}
CHANGED = {
    "label": {"label": 4 - Y},
    "weight": {"weight": np.arange(len(Y)) + 1.0},
    "group": {"group": [len(Y)]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_fields_are_seen_by_the_next_call(change):
    data = dataset().construct()
    data.get_label(), data.get_weight(), data.get_group()  # the getters keep what they gave
    before = gradient_of(data)
    CHANGES[change](data)
    after = gradient_of(data)
    name = change.replace("_", " ").split()[-1]
    np.testing.assert_array_equal(after, gradient_of(dataset(**CHANGED[name]).construct()))
    assert not np.array_equal(after, before)


def test_removed_weights_are_seen():
    data = dataset(weight=np.arange(len(Y)) + 1.0).construct()
    before = gradient_of(data)
    data.set_field("weight", None)
    np.testing.assert_array_equal(gradient_of(data), gradient_of(dataset().construct()))
    assert not np.array_equal(gradient_of(data), before)


def test_queries_are_built_once_per_dataset(spy):
    train(spy, 3)
    assert spy.log[0][1] is spy.log[1][1] is spy.log[2][1]
    spy.log.clear()
    lgb.LGBMRanker(objective=spy, metric="None", **RANKER).fit(X, Y, group=GROUP)
    assert len({id(entry[1]) for entry in spy.log}) == 1


def test_datasets_are_not_kept_alive():
    data = dataset()
    valid = validation(data)
    train(data=data, valid_sets=[valid], feval=bp.NDCG(5))
    queries = ref(plug.queries_of(data))
    watched = [ref(data), ref(valid)]
    del data, valid
    gc.collect()
    assert [w() for w in watched] == [None, None]
    assert queries() is None


@pytest.mark.parametrize("ours", [True, False])
def test_rankers_keep_no_training_data(spy, ours):
    ranker = bp.LGBMRanker(objective=spy, **RANKER) if ours else lgb.LGBMRanker(objective=spy, metric="None", **RANKER)
    ranker.fit(X, Y, group=GROUP)
    queries = ref(spy.log[0][1])
    spy.log.clear()
    gc.collect()
    assert queries() is None


# --- nothing to learn ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["lgb.train", "lgb.LGBMRanker", "bp.LGBMRanker"])
def test_nothing_to_learn_warns_once_with_the_cause(route):
    flat = np.ones(len(Y))
    run = {
        "lgb.train": lambda: train(data=dataset(label=flat)),
        "lgb.LGBMRanker": lambda: lgb.LGBMRanker(objective=LOSS, metric="None", **RANKER).fit(X, flat, group=GROUP),
        "bp.LGBMRanker": lambda: bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, flat, qid=QID),
    }[route]
    with pytest.warns(UserWarning, match="nothing to learn from: none of the 16 queries") as caught:
        run()
    assert len([w for w in caught if "nothing to learn" in str(w.message)]) == 1


def test_missing_labels_are_zeros_to_lightgbm_and_warned_of():
    with pytest.warns(UserWarning, match="all labels are 0, which is what LightGBM makes of missing and of NaN labels"):
        train(data=dataset(label=None))


def test_a_gradient_below_float32_warns():
    with pytest.warns(UserWarning, match="its gradient has vanished at these scores"):
        train(rounds=1, data=dataset(init_score=200.0 * Y))  # every pair is far in the right order


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group": None}, r"has no group; pass group=sizes"),
        ({"label": np.where(QID == 8, np.inf, Y)}, r"label\[\d+\] = .* is infinite to LightGBM"),
        ({"weight": np.where(QID == 8, np.inf, 1.0)}, r"weight\[\d+\] = .* is infinite to LightGBM"),
        ({"weight": np.where(QID == 8, -1.0, 1.0)}, r"weight\[\d+\] = -1.0 is not a finite weight"),
        ({"group": [-3, len(Y) + 3]}, r"group\[0\] = -3.0 is not a size"),
    ],
)
def test_bad_datasets(changes, message):
    with pytest.raises((ValueError, lgb.basic.LightGBMError), match=message):
        train(data=dataset(**changes))


def test_a_validation_set_without_group():
    valid = dataset().create_valid(VX, VY)
    with pytest.raises(ValueError, match="has no group"):
        train(valid_sets=[valid], feval=bp.NDCG(5))


def test_infinite_labels_in_the_plain_ranker():
    """LightGBM does not check the labels of a DataFrame, and makes 1e38 of infinity."""
    y = pd.Series(np.where(QID == 8, np.inf, Y))
    with pytest.raises(ValueError, match="is infinite to LightGBM"):
        lgb.LGBMRanker(objective=LOSS, metric="None", **RANKER).fit(pd.DataFrame(X), y, group=GROUP)


def test_regressors_are_refused():
    with pytest.raises(ValueError, match="group is missing: a ranking objective needs the queries"):
        lgb.LGBMRegressor(objective=LOSS, **RANKER).fit(X, Y)


def test_swapped_arguments():
    with pytest.raises(TypeError, match="the dataset came first"):
        LOSS(dataset(), np.zeros(len(Y)))


def test_objectives_given_wrongly():
    with pytest.raises(ValueError, match=r"objective is the class MPBoost; pass an instance, MPBoost\(\)"):
        bp.LGBMRanker(objective=bp.MPBoost, **RANKER).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="the objective is given twice: as objective and as application"):
        bp.LGBMRanker(objective=LOSS, application="regression", **RANKER).fit(X, Y, qid=QID)


# --- scikit-learn -------------------------------------------------------------------------------------------------


def test_clone_and_parameters():
    ranker = bp.LGBMRanker(objective=bp.MPBoost(distance=bp.BinaryDistance()), **RANKER, lambda_l2=2.0)
    again = clone(ranker)
    assert type(again) is bp.LGBMRanker
    assert again.get_params() == ranker.get_params()
    assert again.get_params()["lambda_l2"] == 2.0
    again.set_params(objective=LOSS, num_leaves=3)
    assert again.objective == LOSS
    assert ranker.objective != LOSS


def test_pickles():
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER)
    unfitted = pickle.loads(pickle.dumps(ranker))
    assert unfitted.get_params() == ranker.get_params()
    stop = [lgb.early_stopping(3, verbose=False)]
    ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], callbacks=stop)
    fitted = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(fitted.predict(X), ranker.predict(X))
    assert fitted.best_iteration_ == ranker.best_iteration_
    np.testing.assert_array_equal(unfitted.fit(X, Y, qid=QID).predict(X), fitted.fit(X, Y, qid=QID).predict(X))


def grid_search(**keywords):
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER)
    grid = {"num_leaves": [2, 5], "objective": [LOSS, bp.MPBoost(distance=bp.LinearDistance())]}
    return GridSearchCV(ranker, grid, cv=bp.group_folds(QID, 3), error_score="raise", **keywords)


def by_hand(num_leaves, objective):
    scores = []
    for rows, test in bp.group_folds(QID, 3):
        ranker = bp.LGBMRanker(objective=objective, **{**RANKER, "num_leaves": num_leaves})
        ranker.fit(X[rows], Y[rows], qid=QID[rows])
        scores.append(bp.NDCG(5)(ranker.predict(X[test]), bp.Queries(Y[test], qid=QID[test])))
    return np.mean(scores)


def check_grid(search):
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        assert score == pytest.approx(by_hand(**params), rel=1e-12)


def test_grid_search_with_a_qid_column():
    frame = pd.DataFrame(X, columns=NAMES).assign(qid=QID)
    check_grid(grid_search(scoring=bp.make_scorer(bp.NDCG(5))).fit(frame, Y))


def test_grid_search_with_routed_qid():
    with sklearn.config_context(enable_metadata_routing=True):
        search = grid_search(scoring=bp.make_scorer(bp.NDCG(5)))
        search.estimator.set_fit_request(qid=True)
        check_grid(search.fit(X, Y, qid=QID))


def test_grid_search_with_a_passed_qid_and_our_score():
    """Without routing GridSearchCV cuts qid for fit, and the ranker's own score finds a qid column."""
    frame = pd.DataFrame(X, columns=NAMES).assign(qid=QID)
    search = grid_search().fit(frame, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="needs the query of each row"):
        grid_search(scoring=bp.make_scorer(bp.NDCG(5))).fit(X, Y, qid=QID)


def test_grid_search_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        search = grid_search(scoring=bp.make_scorer(bp.NDCG(5)).set_score_request(sample_weight=True))
        search.estimator.set_fit_request(qid=True, sample_weight=True)
        weight = np.repeat(np.arange(len(GROUP)) + 1.0, GROUP)
        weighted = search.fit(X, Y, qid=QID, sample_weight=weight).cv_results_["mean_test_score"]
    with sklearn.config_context(enable_metadata_routing=True):
        search = grid_search(scoring=bp.make_scorer(bp.NDCG(5)))
        search.estimator.set_fit_request(qid=True)
        assert not np.array_equal(weighted, search.fit(X, Y, qid=QID).cv_results_["mean_test_score"])


# --- saved models -------------------------------------------------------------------------------------------------


def test_saved_models_load_in_plain_lightgbm(tmp_path):
    ranker = bp.LGBMRanker(objective=LOSS, **RANKER).fit(X, Y, qid=QID)
    path = tmp_path / "model.txt"
    ranker.booster_.save_model(path)
    np.testing.assert_array_equal(lgb.Booster(model_file=path).predict(X), ranker.predict(X))
    text = lgb.Booster(model_str=train().model_to_string())
    np.testing.assert_array_equal(text.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(train().predict(X), ranker.predict(X))
    code = "import sys, lightgbm, numpy as np; sys.modules['boostplug'] = None\n"
    code += "np.save(sys.argv[3], lightgbm.Booster(model_file=sys.argv[1]).predict(np.load(sys.argv[2])))"
    rows, out = tmp_path / "X.npy", tmp_path / "p.npy"
    np.save(rows, X)
    subprocess.run([sys.executable, "-c", code, path, rows, out], check=True)
    np.testing.assert_array_equal(np.load(out), ranker.predict(X))


# --- real data ----------------------------------------------------------------------------------------------------

DATA = os.environ.get("BOOSTPLUG_DATA")


@pytest.mark.skipif(DATA is None, reason="needs real data: set BOOSTPLUG_DATA to a folder with mq2008/Fold1")
def test_mq2008_learns_as_well_as_lambdarank(tmp_path):
    fold = load_fold(Path(DATA) / "mq2008" / "Fold1")
    metric = bp.NDCG(10)
    params = {"verbosity": -1, "num_threads": 1, "num_leaves": 15, "learning_rate": 0.1, "metric": "None", "seed": 1}

    def run(objective):
        data = lgb.Dataset(fold.train.X, fold.train.y, group=fold.train.group)
        valid = data.create_valid(fold.vali.X, fold.vali.y, group=fold.vali.group)
        history = {}
        record = [lgb.record_evaluation(history)]
        booster = lgb.train(
            {**params, "objective": objective}, data, 50, valid_sets=[valid], feval=metric, callbacks=record
        )
        return booster, np.array(history["valid_0"][metric.name])

    booster, ours = run(LOSS)
    _, theirs = run("lambdarank")
    assert ours[40:].mean() > ours[:10].mean()
    assert ours[-1] > theirs[-1] - 0.01
    booster.save_model(tmp_path / "model.txt")
    again = lgb.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(again.predict(fold.test.X), booster.predict(fold.test.X))
