"""XGBoost through our adapters: training routes, stopping, inputs, changed data, and errors that name the remedy."""

import gc
import json
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
from boostplug.plug.xgboost import XGBoost

xgb = pytest.importorskip("xgboost")

LOSS = bp.MPBoost()
PARAMS = {"nthread": 1, "max_depth": 2, "min_child_weight": 0.1, "objective": "rank:pairwise", "base_score": 0.0}
NO_METRIC = {"disable_default_eval_metric": True}
RANKER = {"n_jobs": 1, "max_depth": 2, "min_child_weight": 0.1, "n_estimators": 5}
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


def matrix(kind=xgb.QuantileDMatrix, **changes):
    return kind(**{"data": X, "label": Y, "group": GROUP, "nthread": 1, **changes})


def validation():
    return xgb.DMatrix(VX, VY, group=VGROUP, nthread=1)


def train(loss=LOSS, rounds=5, data=None, params=None, **keywords):
    return xgb.train(
        {**PARAMS, **(params or {})}, data or matrix(), rounds, obj=loss, **{"verbose_eval": False, **keywords}
    )


def predict(booster, rows=X):
    return booster.predict(xgb.DMatrix(rows, nthread=1))


def fit(loss=LOSS, ranker=None, **keywords):
    ranker = bp.XGBRanker(objective=loss, **{**RANKER, **(ranker or {})})
    return ranker.fit(X, Y, **{"qid": QID, "verbose": False, **keywords})


@dataclass(frozen=True)
class Spy(bp.Loss):
    """MPBoost that logs what it was asked."""

    log = []  # noqa: RUF012 (shared on purpose: clone copies the objective)

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


def test_every_route_trains_the_same_model():
    expected = predict(train())
    data = matrix()
    booster = xgb.Booster(PARAMS, [data])
    for i in range(5):
        booster.update(data, i, fobj=LOSS)
    found = {
        "Booster.update": predict(booster),
        "bp.XGBRanker(qid)": fit().predict(X),
        "bp.XGBRanker(group)": fit(qid=None, group=GROUP).predict(X),
        "bp.XGBRanker(hist)": fit(ranker={"tree_method": "hist"}).predict(X),
    }
    for name, predicted in found.items():
        np.testing.assert_array_equal(predicted, expected, err_msg=name)
    assert bp.NDCG(5)(expected, bp.Queries(Y, group=GROUP)) > 0.8


@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("by", ["group", "qid"])
def test_kinds_of_matrices(kind, by):
    queries = {"group": GROUP} if by == "group" else {"group": None, "qid": QID}
    predicted = predict(train(data=matrix(kind, **queries)))
    np.testing.assert_allclose(predicted, predict(train()), rtol=1e-5)


@pytest.mark.parametrize("tree_method", ["exact", "approx"])
def test_other_tree_methods_in_the_ranker(tree_method):
    expected = predict(train(data=matrix(xgb.DMatrix), params={"tree_method": tree_method}))
    np.testing.assert_array_equal(fit(ranker={"tree_method": tree_method}).predict(X), expected)


def test_gradients_are_a_plain_loop(spy):
    """The scores the loss saw, and g, h against the double loop over pairs, with query weights."""
    weight = np.random.default_rng(3).uniform(0.5, 2, len(GROUP)).astype(np.float32)
    train(spy, 3, matrix(weight=weight))
    scores, queries, g, h, _ = spy.log[-1]
    assert np.ptp(scores) > 0
    rows = np.repeat(weight, GROUP)
    _, g_loop, h_loop = loops.mpboost(scores, Y, queries.boundaries, bp.LogDistance(), weight=rows)
    scale = LOSS.scale(queries)
    np.testing.assert_allclose(g, scale * g_loop, atol=1e-9 * np.abs(g).max())
    np.testing.assert_allclose(h, scale * h_loop, atol=1e-9 * h.max())


def test_query_weights_are_lightgbms_row_weights():
    lgb = pytest.importorskip("lightgbm")
    weight = np.random.default_rng(3).uniform(0, 2, len(GROUP))
    scores = np.linspace(-1, 1, len(Y))
    ours = LOSS(scores, matrix(weight=weight))
    data = lgb.Dataset(X, Y, group=GROUP, weight=np.repeat(weight, GROUP)).construct()
    for a, b in zip(ours, LOSS(scores, data), strict=True):
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_array_equal(a, b)
    rows = np.repeat(weight.astype(np.float32), GROUP)
    _, g, _ = loops.mpboost(scores, Y, np.r_[0, np.cumsum(GROUP)], bp.LogDistance(), weight=rows)
    np.testing.assert_allclose(ours[0], g * LOSS.scale(bp.Queries(Y, group=GROUP)), atol=1e-6 * np.abs(g).max())


def test_row_weights_in_the_ranker(spy):
    """Which XGBoost itself refuses with queries: they vary within a query, and the gradient is that of the loop."""
    weight = np.random.default_rng(4).uniform(0, 2, len(Y))
    ranker = fit(spy, sample_weight=weight)
    scores, queries, g, _, _ = spy.log[2]
    np.testing.assert_array_equal(queries.row_weight, weight)
    _, g_loop, _ = loops.mpboost(scores, Y, queries.boundaries, bp.LogDistance(), weight=weight)
    np.testing.assert_allclose(g, LOSS.scale(queries) * g_loop, atol=1e-9 * np.abs(g).max())
    per_query = np.arange(len(GROUP)) + 1.0
    in_rows = fit(sample_weight=np.repeat(per_query, GROUP)).predict(X)
    np.testing.assert_array_equal(fit(sample_weight=per_query).predict(X), in_rows)
    np.testing.assert_array_equal(predict(train(data=matrix(weight=per_query))), in_rows)
    assert not np.array_equal(ranker.predict(X), in_rows)


def test_what_xgboost_gets_is_float32_finite_and_its_own(spy):
    data = matrix()
    for scores in (np.zeros(len(Y)), np.where(Y > 1, -1000.0, 1000.0), np.where(Y > 1, 1000.0, -1000.0)):
        for dtype in (np.float32, np.float64):
            given = scores.astype(dtype)
            given.setflags(write=False)
            g, h = spy(given, data)
            assert g.dtype == h.dtype == np.float32
            assert np.isfinite(g).all()
            assert np.isfinite(h).all()
            assert (h[g != 0] >= np.finfo(np.float32).tiny).all()


def test_exceptions_come_out_as_they_are():
    def distance(gaps):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        train(bp.MPBoost(distance=distance))
    assert train().num_boosted_rounds() == 5


# --- the starting scores ------------------------------------------------------------------------------------------


def test_base_margin_is_part_of_the_scores(spy):
    margin = np.linspace(-1, 1, len(Y)).astype(np.float32)
    expected, _ = LOSS.gradient_hessian(margin, bp.Queries(Y, group=GROUP))
    for run in (
        lambda: train(spy, 2, matrix(base_margin=margin)),
        lambda: fit(spy, base_margin=margin),
    ):
        spy.log.clear()
        run()
        np.testing.assert_array_equal(spy.log[0][0], margin)
        np.testing.assert_allclose(spy.log[0][2], expected, rtol=1e-6)
        assert np.ptp(spy.log[1][0] - margin) > 0


def test_base_margin_of_validation_sets():
    margin = np.linspace(-3, 3, len(VY)).astype(np.float32)
    ranker = fit(
        eval_set=[(VX, VY)], eval_qid=[VQID], base_margin=np.zeros(len(Y)), base_margin_eval_set=[margin],
        ranker={"eval_metric": bp.NDCG(5)},
    )  # fmt: skip
    scores = ranker.predict(VX, output_margin=True) + margin
    value = ranker.evals_result()["validation_0"]["pre_NDCG@5"][-1]
    assert value == pytest.approx(bp.NDCG(5)(scores, bp.Queries(VY, group=VGROUP)), abs=1e-6)


@pytest.mark.parametrize("route", ["xgb.train", "bp.XGBRanker"])
def test_continued_training_equals_training_in_one_go(route, tmp_path):
    path = tmp_path / "first.ubj"
    if route == "xgb.train":
        first = train(rounds=4)
        first.save_model(path)
        whole = predict(train(rounds=9))
        found = [predict(train(xgb_model=first)), predict(train(xgb_model=str(path)))]
    else:
        first = fit(ranker={"n_estimators": 4})
        first.save_model(path)
        whole = fit(ranker={"n_estimators": 9}).predict(X)
        found = [fit(xgb_model=m).predict(X) for m in (first, first.get_booster(), str(path))]
    for predicted in found:
        np.testing.assert_allclose(predicted, whole, rtol=1e-5, atol=1e-6)


# --- metrics and early stopping -----------------------------------------------------------------------------------


def expected_round(values, patience, *, greater):
    """Return the first round (from 0) whose value is not beaten in the next `patience` rounds."""
    values = np.array(values) if greater else -np.array(values)
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
        elif i - best >= patience:
            return best
    return best


def watch(metrics, rounds=30, params=None, **keywords):
    history = {}
    booster = train(
        rounds=rounds,
        evals=[(validation(), "v")],
        custom_metric=metrics,
        evals_result=history,
        params={**NO_METRIC, **(params or {})},
        **keywords,
    )
    return booster, history["v"]


@pytest.mark.parametrize("metric", [bp.NDCG(5), bp.MAP(), Misses()], ids=lambda m: m.name)
def test_early_stopping_stops_where_it_should(metric):
    name = f"pre_{metric.name}" if metric.greater_is_better else metric.name
    _, history = watch(metric)
    assert list(history) == [name]
    values = history[name]
    best = expected_round(values, 4, greater=metric.greater_is_better)
    assert best < 25  # the stop is seen
    booster, history = watch(metric, early_stopping_rounds=4)
    assert booster.best_iteration == best
    assert history[name] == values[: best + 5]
    for eval_data in ({"eval_qid": [VQID]}, {"eval_group": [VGROUP]}):
        ranker = fit(
            ranker={"n_estimators": 30, "early_stopping_rounds": 4, "eval_metric": metric},
            eval_set=[(VX, VY)],
            **eval_data,
        )
        assert ranker.best_iteration == best
        assert ranker.evals_result()["validation_0"] == {name: values[: best + 5]}
        assert ranker.best_score == values[best]
        expected = booster.predict(xgb.DMatrix(X), iteration_range=(0, best + 1))
        np.testing.assert_array_equal(ranker.predict(X), expected)


def test_several_metrics_are_all_reported_and_the_last_one_stops():
    metrics = [Misses(2), bp.NDCG(5)]
    ranker = fit(ranker={"n_estimators": 30, "eval_metric": metrics}, eval_set=[(VX, VY)], eval_qid=[VQID])
    history = ranker.evals_result()["validation_0"]
    assert list(history) == ["Misses@2", "pre_NDCG@5"]
    for metric, values in zip(metrics, history.values(), strict=True):
        expected = metric(ranker.predict(VX), bp.Queries(VY, group=VGROUP))
        assert values[-1] == pytest.approx(expected, abs=1e-6)
    best = expected_round(history["pre_NDCG@5"], 4, greater=True)
    stopped = fit(
        ranker={"n_estimators": 30, "eval_metric": metrics, "early_stopping_rounds": 4},
        eval_set=[(VX, VY)],
        eval_qid=[VQID],
    )
    assert stopped.best_iteration == best
    booster, by_list = watch(lambda s, d: [m(s, d) for m in metrics], early_stopping_rounds=4)
    assert booster.best_iteration == best
    assert list(by_list) == list(history)


def test_names_never_shadow_built_in_metrics():
    built_in = ["ndcg@5", "map@5", "pre@5"]
    binary, history = xgb.DMatrix(VX, VY > 2, group=VGROUP, nthread=1), {}
    train(evals=[(binary, "v")], custom_metric=bp.NDCG(5), evals_result=history, params={"eval_metric": built_in})
    assert {name: len(v) for name, v in history["v"].items()} == dict.fromkeys([*built_in, "pre_NDCG@5"], 5)


def test_errors_are_never_maximised():
    """Whatever their name: XGBoost maximises what starts with auc, pre, map or ndcg."""

    @dataclass(frozen=True)
    class preMisses(Misses):  # noqa: N801
        pass

    assert XGBoost().metric_result(preMisses(), 0.5) == ("error_preMisses@5", 0.5)
    assert XGBoost().metric_result(Misses(), 0.5) == ("Misses@5", 0.5)
    assert XGBoost().metric_result(bp.NDCG(5), 0.5) == ("pre_NDCG@5", 0.5)
    for metric in (bp.NDCG(3, convention="letor", ties="order", gain="linear"), bp.MAP(relevant=0.5)):
        assert not {":", " ", "\t"} & set(XGBoost().metric_result(metric, 0.5)[0])
        watch(metric, 1)


def test_the_rankers_default_metric_is_ours():
    """No built-in ndcg that refuses labels: NDCG@10 of ours, or what the user names."""
    data = {"eval_set": [(VX, VY + 0.25)], "eval_qid": [VQID]}
    ranker = bp.XGBRanker(objective=LOSS, **RANKER).fit(X, Y - 2.5, qid=QID, verbose=False, **data)
    assert list(ranker.evals_result()["validation_0"]) == ["pre_NDCG@10"]
    named = fit(ranker={"eval_metric": ["ndcg@3", bp.NDCG(3), "map"]}, eval_set=[(VX, VY > 2)], eval_qid=[VQID])
    assert list(named.evals_result()["validation_0"]) == ["ndcg@3", "map", "pre_NDCG@3"]
    built_in = fit("rank:ndcg", ranker={"eval_metric": bp.NDCG(3)}, eval_set=[(VX, VY)], eval_qid=[VQID])
    assert list(built_in.evals_result()["validation_0"]) == ["pre_NDCG@3"]

    def theirs(y, scores):
        return float(len(y) == len(scores))

    own = fit(ranker={"eval_metric": [theirs, bp.MAP()]}, eval_set=[(VX, VY)], eval_qid=[VQID])
    assert own.evals_result()["validation_0"]["theirs"] == [1.0] * 5


@pytest.mark.parametrize("labels", [Y - 2.5, Y * 20, Y + 1e6, -Y], ids=["negative", "80", "huge", "reversed"])
def test_labels_that_the_built_in_ranker_refuses(labels):
    predicted = bp.XGBRanker(objective=LOSS, **RANKER).fit(X, labels, qid=QID).predict(X)
    np.testing.assert_allclose(predicted, predict(train(data=matrix(label=labels))), rtol=1e-4, atol=1e-5)
    assert np.ptp(predicted) > 0


def test_the_training_set_as_validation_set_is_recognised():
    ranker = fit(eval_set=[(X, Y), (VX, VY)], eval_qid=[None, VQID])
    result = ranker.evals_result()
    assert result["validation_0"]["pre_NDCG@10"][-1] == pytest.approx(ranker.score(X, Y, qid=QID), abs=1e-6)
    assert result["validation_1"]["pre_NDCG@10"][-1] == pytest.approx(ranker.score(VX, VY, qid=VQID), abs=1e-6)


@pytest.mark.parametrize("per", ["row", "query"])
def test_validation_weights_count(per):
    weight = np.arange(len(VGROUP) if per == "query" else len(VY)) + 1.0
    ranker = fit(eval_set=[(VX, VY)], eval_qid=[VQID], sample_weight_eval_set=[weight])
    value = ranker.evals_result()["validation_0"]["pre_NDCG@10"][-1]
    assert value == pytest.approx(ranker.score(VX, VY, weight, qid=VQID), abs=1e-6)
    assert value != pytest.approx(ranker.score(VX, VY, qid=VQID), abs=1e-6)


def test_a_metric_in_the_plain_ranker_is_an_error():
    with pytest.raises(TypeError, match=r"pass it as eval_metric to boostplug\.LGBMRanker or boostplug\.XGBRanker"):
        xgb.XGBRanker(eval_metric=bp.NDCG(5), **RANKER).fit(
            X, Y, group=GROUP, eval_set=[(X, Y)], eval_group=[GROUP], verbose=False
        )


# --- cross-validation ---------------------------------------------------------------------------------------------


def test_cv(spy):
    data = matrix(xgb.DMatrix)
    result = xgb.cv({**PARAMS, **NO_METRIC}, data, 5, nfold=3, obj=spy, custom_metric=bp.NDCG(5), as_pandas=False)
    assert len(spy.log) == 15
    sizes = sorted(GROUP.tolist())
    for _, queries, *_ in spy.log[:3]:
        train_sizes = np.diff(queries.boundaries).tolist()
        assert len(train_sizes) < len(sizes)
        assert all(train_sizes.count(n) <= sizes.count(n) for n in train_sizes)
    assert result["test-pre_NDCG@5-mean"][-1] > 0.5
    stopped = xgb.cv(
        {**PARAMS, **NO_METRIC}, data, 30, nfold=3, obj=spy, custom_metric=bp.NDCG(5), early_stopping_rounds=3,
        as_pandas=False,
    )["test-pre_NDCG@5-mean"]  # fmt: skip
    assert np.argmax(stopped) == len(stopped) - 1
    assert len(stopped) < 30


def test_cv_with_query_weights_is_an_error():
    """Of which xgb.cv drops the weights without a word."""
    data = matrix(xgb.DMatrix, weight=np.arange(len(GROUP)) + 1.0)
    for keywords in ({"obj": LOSS}, {"custom_metric": bp.NDCG(5)}):
        with pytest.raises(ValueError, match=r"xgb\.cv drops the query weights .*boostplug\.group_folds"):
            xgb.cv(PARAMS, data, 2, nfold=3, **keywords)
    ones = matrix(xgb.DMatrix, weight=np.ones(len(GROUP)))
    assert len(xgb.cv(PARAMS, ones, 2, nfold=3, obj=LOSS)) == 2


def test_slices_need_their_groups_again():
    rows = np.flatnonzero(QID < 12)
    part = matrix(xgb.DMatrix).slice(rows, allow_groups=True)
    with pytest.raises(ValueError, match=r"has no queries; pass qid=ids \(sorted\) or group=sizes .*call set_group"):
        train(data=part)
    part.set_group(GROUP[:5])
    expected = predict(train(data=matrix(data=X[rows], label=Y[rows], group=GROUP[:5])))
    np.testing.assert_allclose(predict(train(data=part)), expected, rtol=1e-5)


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"booster": "dart", "rate_drop": 0.2, "verbosity": 0},  # 3.4 warns that the two names are deprecated
        {"booster": "gblinear", "verbosity": 0},
        {"subsample": 0.6, "seed": 1},
        {"monotone_constraints": (1, 0, 0, 0)},
        {"grow_policy": "lossguide", "max_leaves": 4},
        {"num_parallel_tree": 2},
        {"colsample_bytree": 0.5},
    ],
    ids=lambda params: str(next(iter(params.items()))),
)
def test_modes_that_learn(params):
    booster = train(rounds=10, params=params, data=matrix(xgb.DMatrix))
    queries = bp.Queries(Y, group=GROUP)
    assert bp.NDCG(5)(predict(booster), queries) > bp.NDCG(5)(np.zeros(len(Y)), queries) + 0.1
    if "monotone_constraints" in params:
        rising = np.c_[np.linspace(-2, 2, 20), np.zeros((20, 3))]
        assert (np.diff(predict(booster, rising)) >= 0).all()
    ours = {("random_state" if name == "seed" else name): value for name, value in params.items()}
    ranker = fit(ranker={"n_estimators": 10, **ours})
    np.testing.assert_allclose(ranker.predict(X), predict(booster), rtol=1e-4, atol=1e-5)


def test_threads_are_the_matrixs(spy, monkeypatch):
    monkeypatch.setattr(threads, "_chosen", 3)
    for nthread, expected in ((1, 1), (2, 2), (None, 3)):
        spy.log.clear()
        train(spy, 1, matrix(nthread=nthread))
        assert {entry[-1] for entry in spy.log} == {expected}
    spy.log.clear()
    fit(spy, ranker={"n_jobs": 2})
    assert {entry[-1] for entry in spy.log} == {2}


def test_num_class_is_refused():
    with pytest.raises(ValueError, match="leave num_class"):
        train(params={"num_class": 3})


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
    expected = fit().predict(X)
    ranker = bp.XGBRanker(objective=LOSS, **RANKER)
    for qid in (QID, np.array([f"q{i}" for i in QID])):
        ranker.fit(frame(X), series(Y), qid=series(qid))
        np.testing.assert_array_equal(ranker.predict(frame(X)), expected)
        data = with_qid(frame(X), qid)
        valid = with_qid(frame(VX), VQID)
        ranker.fit(data, series(Y), eval_set=[(valid, series(VY))], sample_weight=series(np.ones(len(Y))), verbose=0)
        np.testing.assert_array_equal(ranker.predict(data), expected)
        np.testing.assert_array_equal(ranker.predict(frame(X)), expected)
        assert ranker.n_features_in_ == 4
        assert ranker.feature_names_in_.tolist() == NAMES
        assert ranker.score(data, series(Y)) == bp.NDCG(10)(expected, bp.Queries(Y, group=GROUP))
    data = xgb.QuantileDMatrix(frame(X), series(Y), qid=series(QID), nthread=1)
    np.testing.assert_array_equal(train(data=data).predict(xgb.DMatrix(frame(X))), expected)


def test_lists_and_label_columns():
    ranker = bp.XGBRanker(objective=LOSS, **RANKER)
    expected = fit().predict(X)
    np.testing.assert_array_equal(ranker.fit(X, Y.tolist(), qid=QID.tolist()).predict(X), expected)
    with pytest.raises(ValueError, match=r"labels must be one-dimensional, got shape .*pass labels\.ravel\(\)"):
        ranker.fit(X, Y[:, None], qid=QID)
    np.testing.assert_array_equal(predict(train(data=matrix(label=Y[:, None]))), expected)
    with pytest.raises(ValueError, match="labels must be one-dimensional"):
        LOSS(np.zeros(len(Y)), matrix(label=np.c_[Y, Y]))


def test_query_ids_in_any_order():
    """XGBoost wants ids that rise; our ranker wants the rows of a query together."""
    falling = QID[-1] - QID
    np.testing.assert_array_equal(fit(qid=falling).predict(X), fit().predict(X))


def test_queries_of_one_row_and_of_none():
    group = [0, *GROUP, 0]
    np.testing.assert_array_equal(predict(train(data=matrix(group=group))), predict(train()))
    np.testing.assert_array_equal(fit(qid=None, group=group).predict(X), predict(train()))


# --- changed data, and memory -------------------------------------------------------------------------------------


def gradient_of(data):
    return LOSS(np.linspace(0, 1, len(Y)), data)[0]


CHANGES = {
    "set_label": (lambda d: d.set_label(4 - Y), {"label": 4 - Y}),
    "set_info label": (lambda d: d.set_info(label=4 - Y), {"label": 4 - Y}),
    "set_weight": (lambda d: d.set_weight(np.arange(len(GROUP)) + 1.0), {"weight": np.arange(len(GROUP)) + 1.0}),
    "set_info weight": (
        lambda d: d.set_info(weight=np.arange(len(GROUP)) + 1.0),
        {"weight": np.arange(len(GROUP)) + 1.0},
    ),
    "set_group": (lambda d: d.set_group([len(Y)]), {"group": [len(Y)]}),
    "set_info qid": (lambda d: d.set_info(qid=np.zeros(len(Y), int)), {"group": [len(Y)]}),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_changed_fields_are_seen_by_the_next_call(change, kind):
    data = matrix(kind)
    before = gradient_of(data)
    run, changes = CHANGES[change]
    run(data)
    after = gradient_of(data)
    np.testing.assert_array_equal(after, gradient_of(matrix(kind, **changes)))
    assert not np.array_equal(after, before)


def test_queries_are_built_once_per_matrix(spy):
    train(spy, 3)
    assert spy.log[0][1] is spy.log[1][1] is spy.log[2][1]


def test_matrices_are_not_kept_alive(spy):
    data, valid = matrix(), validation()
    train(data=data, evals=[(valid, "v")], custom_metric=bp.NDCG(5))
    queries = ref(plug.queries_of(data))
    watched = [ref(data), ref(valid)]
    del data, valid
    gc.collect()
    assert [w() for w in watched] == [None, None]
    assert queries() is None
    ranker = fit(spy)
    queries = ref(spy.log[0][1])
    spy.log.clear()
    gc.collect()
    assert queries() is None
    assert ranker.n_features_in_ == 4


# --- nothing to learn, and errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["xgb.train", "bp.XGBRanker"])
def test_nothing_to_learn_warns_once_with_the_cause(route):
    flat = np.ones(len(Y))
    run = {
        "xgb.train": lambda: train(data=matrix(label=flat)),
        "bp.XGBRanker": lambda: bp.XGBRanker(objective=LOSS, **RANKER).fit(X, flat, qid=QID),
    }[route]
    with pytest.warns(UserWarning, match="nothing to learn from: none of the 16 queries") as caught:
        run()
    assert len([w for w in caught if "nothing to learn" in str(w.message)]) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group": None}, r"has no queries; pass qid=ids \(sorted\) or group=sizes"),
        ({"label": None}, "has no label; pass label=grades"),
    ],
)
def test_bad_matrices(changes, message):
    with pytest.raises(ValueError, match=message):
        train(data=matrix(**changes))


def test_a_validation_matrix_without_queries():
    with pytest.raises(ValueError, match="has no queries"):
        train(evals=[(xgb.DMatrix(VX, VY), "v")], custom_metric=bp.NDCG(5), params=NO_METRIC)


def test_objectives_given_wrongly():
    with pytest.raises(ValueError, match=r"objective is the class MPBoost; pass an instance, MPBoost\(\)"):
        bp.XGBRanker(objective=bp.MPBoost, **RANKER).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match=r"take no functions: derive a boostplug\.Loss, or call xgb\.train with obj="):
        bp.XGBRanker(objective=lambda s, d: (s, s), **RANKER).fit(X, Y, qid=QID)
    with pytest.raises(TypeError, match="eval_metric must hold names, metrics or functions; got 5"):
        fit(ranker={"eval_metric": [5]})


# --- scikit-learn -------------------------------------------------------------------------------------------------


def test_clone_and_parameters():
    ranker = bp.XGBRanker(objective=bp.MPBoost(distance=bp.BinaryDistance()), **RANKER, eval_metric=[bp.NDCG(3), "map"])
    again = clone(ranker)
    assert type(again) is bp.XGBRanker
    for name, value in ranker.get_params().items():
        np.testing.assert_equal(again.get_params()[name], value)
    assert again.objective == ranker.objective
    assert again.get_params()["max_depth"] == 2
    again.set_params(objective=LOSS, max_depth=3)
    assert again.objective == LOSS
    assert ranker.objective != LOSS


def test_pickles():
    ranker = bp.XGBRanker(objective=LOSS, **RANKER, eval_metric=bp.NDCG(5), early_stopping_rounds=3)
    unfitted = pickle.loads(pickle.dumps(ranker))
    assert unfitted.objective == LOSS
    data = {"qid": QID, "eval_set": [(VX, VY)], "eval_qid": [VQID], "verbose": False}
    ranker.fit(X, Y, **data)
    fitted = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(fitted.predict(X), ranker.predict(X))
    assert fitted.best_iteration == ranker.best_iteration
    np.testing.assert_array_equal(unfitted.fit(X, Y, **data).predict(X), fitted.fit(X, Y, **data).predict(X))


def grid_search(**keywords):
    ranker = bp.XGBRanker(objective=LOSS, **RANKER)
    grid = {"max_depth": [1, 3], "objective": [LOSS, bp.MPBoost(distance=bp.LinearDistance())]}
    return GridSearchCV(ranker, grid, cv=bp.group_folds(QID, 3), error_score="raise", **keywords)


def by_hand(max_depth, objective):
    scores = []
    for rows, test in bp.group_folds(QID, 3):
        ranker = bp.XGBRanker(objective=objective, **{**RANKER, "max_depth": max_depth})
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


def test_grid_search_with_our_score():
    frame = pd.DataFrame(X, columns=NAMES).assign(qid=QID)
    search = grid_search()
    search.estimator.set_params(eval_metric=bp.NDCG(5))
    check_grid(search.fit(frame, Y))


# --- saved models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_saved_models_load_in_plain_xgboost(tmp_path, suffix):
    ranker = fit()
    path = tmp_path / f"model.{suffix}"
    ranker.save_model(path)
    plain = xgb.XGBRanker()
    plain.load_model(path)
    np.testing.assert_array_equal(plain.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(predict(xgb.Booster(model_file=path)), ranker.predict(X))
    learner = json.loads(ranker.get_booster().save_config())["learner"]
    assert learner["objective"]["name"] == "rank:pairwise"
    assert float(learner["learner_model_param"]["base_score"].strip("[]")) == 0
    ours = bp.XGBRanker(objective=LOSS)
    ours.load_model(path)
    np.testing.assert_array_equal(ours.predict(X), ranker.predict(X))
    booster = train()
    booster.save_model(path)
    np.testing.assert_array_equal(predict(xgb.Booster(model_file=path)), predict(booster))
    np.testing.assert_array_equal(predict(xgb.Booster(model_file=booster.save_raw(suffix))), predict(booster))


def test_saved_models_need_no_boostplug(tmp_path):
    ranker = fit()
    path, rows, out = tmp_path / "model.ubj", tmp_path / "X.npy", tmp_path / "p.npy"
    ranker.save_model(path)
    np.save(rows, X)
    code = "import sys, xgboost, numpy as np; sys.modules['boostplug'] = None\nr = xgboost.XGBRanker()\n"
    code += "r.load_model(sys.argv[1]); np.save(sys.argv[3], r.predict(np.load(sys.argv[2])))"
    subprocess.run([sys.executable, "-c", code, path, rows, out], check=True)
    np.testing.assert_array_equal(np.load(out), ranker.predict(X))


# --- real data ----------------------------------------------------------------------------------------------------

DATA = os.environ.get("BOOSTPLUG_DATA")


@pytest.mark.skipif(DATA is None, reason="needs real data: set BOOSTPLUG_DATA to a folder with mq2008/Fold1")
def test_mq2008_learns_as_well_as_rank_ndcg(tmp_path):
    fold = load_fold(Path(DATA) / "mq2008" / "Fold1")
    metric = bp.NDCG(10)
    data = xgb.QuantileDMatrix(fold.train.X, fold.train.y, group=fold.train.group, nthread=1)
    valid = xgb.DMatrix(fold.vali.X, fold.vali.y, group=fold.vali.group, nthread=1)
    params = {
        "nthread": 1, "max_leaves": 15, "max_depth": 0, "grow_policy": "lossguide", "learning_rate": 0.1,
        "base_score": 0, "seed": 1, **NO_METRIC,
    }  # fmt: skip

    def run(**objective):
        history = {}
        builtin = objective.pop("objective", "rank:pairwise")
        booster = xgb.train(
            {**params, "objective": builtin}, data, 50, evals=[(valid, "v")], custom_metric=metric,
            evals_result=history, verbose_eval=False, **objective,
        )  # fmt: skip
        return booster, np.array(history["v"][f"pre_{metric.name}"])

    booster, ours = run(obj=LOSS)
    _, theirs = run(objective="rank:ndcg")
    assert ours[40:].mean() > ours[:10].mean()
    assert ours[-1] > theirs[-1] - 0.01
    test = xgb.DMatrix(fold.test.X, nthread=1)
    for suffix in ("json", "ubj"):
        booster.save_model(tmp_path / f"model.{suffix}")
        again = xgb.Booster(model_file=tmp_path / f"model.{suffix}")
        np.testing.assert_array_equal(again.predict(test), booster.predict(test))
