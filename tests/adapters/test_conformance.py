"""What holds for every framework in the registry, by every route from a loss to a model."""

import gc
from weakref import ref

import loops
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from adapters.harness import (
    FRAMEWORKS,
    GROUP,
    LOSS,
    PER_QUERY,
    QID,
    VALID,
    VGROUP,
    VQID,
    VX,
    VY,
    Misses,
    Spy,
    ThreadCount,
    X,
    Y,
    best_round,
    every_framework,
    gradient_of,
)
from sklearn.model_selection import GridSearchCV

import boostplug as bp
from boostplug.adapters.reading import ADAPTERS, queries_of

ROUTES = [(framework, route) for framework in FRAMEWORKS.values() for route in framework.routes()]
every_route = pytest.mark.parametrize(("F", "route"), ROUTES, ids=[f"{F.name}-{route}" for F, route in ROUTES])


def adapter(F):
    return next(a for a in ADAPTERS if a.framework == F.name)


def named(F, metric):
    return adapter(F).metric_result(metric.name, 0.5, metric.greater_is_better)[0]


def run(F, route, loss=LOSS, **changes):
    return F.predict(F.routes()[route](loss, **changes))


@pytest.fixture
def spy():
    Spy.log.clear()
    yield Spy()
    Spy.log.clear()


def test_every_adapter_is_driven():
    assert {a.framework for a in ADAPTERS} == set(FRAMEWORKS)


# --- one objective, every route -----------------------------------------------------------------------------------


@every_route
def test_every_route_trains_the_same_model(F, route):
    expected = F.predict(F.train(LOSS)[0])
    np.testing.assert_array_equal(run(F, route), expected)
    weighted = run(F, route, weight=PER_QUERY)
    np.testing.assert_array_equal(weighted, F.predict(F.train(LOSS, F.data(weight=PER_QUERY))[0]))
    assert not np.array_equal(weighted, expected)
    assert bp.NDCG(5)(expected, bp.Queries(Y, group=GROUP)) > 0.8


@every_framework
def test_gradients_are_a_plain_loop(F, spy):
    """The scores the loss saw, and g, h against the double loop over pairs, with weights."""
    weight = np.random.default_rng(3).uniform(0.5, 2, len(GROUP)).astype(np.float32)
    run(F, "train", spy, weight=weight)
    seen = spy.log[2]
    assert np.ptp(seen.scores) > 0
    np.testing.assert_array_equal(seen.queries.row_weight, np.repeat(weight, GROUP))
    queries = bp.Queries(Y, group=GROUP, weight=weight)
    loops.assert_equal(LOSS, seen.scores, queries)
    np.testing.assert_allclose((seen.g, seen.h), LOSS.gradient_hessian(seen.scores, queries), rtol=1e-12)


@every_framework
def test_row_weights_in_the_ranker(F, spy):
    """By query or by row, and where they vary within a query too, which XGBoost itself refuses with queries."""
    weight = np.random.default_rng(4).uniform(0, 2, len(Y)).astype(np.float32)
    ranker = F.fit(spy, sample_weight=weight)
    np.testing.assert_array_equal(spy.log[2].queries.row_weight, weight)
    in_rows = F.fit(LOSS, sample_weight=np.repeat(PER_QUERY, GROUP)).predict(X)
    np.testing.assert_array_equal(in_rows, F.fit(LOSS, sample_weight=PER_QUERY).predict(X))
    assert not np.array_equal(ranker.predict(X), in_rows)


@every_framework
def test_what_the_framework_gets_is_float32_finite_and_its_own(F):
    """The scores are neither kept nor changed, and no round changes the outputs of another."""
    data, seen = F.data(), []

    def objective(scores, data):
        before = scores.copy()
        outputs = np.array(LOSS(scores, data)), *LOSS(scores, data)
        np.testing.assert_array_equal(scores, before)
        assert not any(np.shares_memory(out, scores) for out in outputs)
        seen.append(outputs)
        return outputs[1:]

    F.train(objective)
    for scores in (np.zeros(len(Y)), np.where(Y > 1, -1000.0, 1000.0), np.where(Y > 1, 1000.0, -1000.0)):
        for dtype in (np.float32, np.float64):
            given = scores.astype(dtype)
            given.setflags(write=False)
            objective(given, data)
    assert len(seen) == 11
    for then, g, h in seen:
        np.testing.assert_array_equal((g, h), then)
        assert g.dtype == h.dtype == np.float32
        assert np.isfinite(then).all()
        assert (h[g != 0] >= np.finfo(np.float32).tiny).all()


@every_route
def test_exceptions_come_out_as_they_are(F, route):
    def distance(gaps):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        run(F, route, bp.MPBoost(distance=distance))
    assert np.ptp(run(F, route)) > 0


# --- the starting scores ------------------------------------------------------------------------------------------


@every_framework
def test_starting_scores_are_part_of_the_scores(F, spy):
    start = np.linspace(-1, 1, len(Y)).astype(np.float32)
    expected, _ = LOSS.gradient_hessian(start, bp.Queries(Y, group=GROUP))
    for train in (lambda: F.train(spy, F.data(**{F.start: start})), lambda: F.fit(spy, **{F.start: start})):
        spy.log.clear()
        train()
        np.testing.assert_array_equal(spy.log[0].scores, start)
        np.testing.assert_allclose(spy.log[0].g, expected, rtol=1e-6)
        assert np.ptp(spy.log[1].scores - start) > 0


@every_framework
def test_continued_training_equals_training_in_one_go(F, tmp_path):
    path = tmp_path / f"first.{F.suffixes[-1]}"
    first, whole = F.train(LOSS, rounds=4)[0], F.train(LOSS, rounds=9)[0]
    first.save_model(path)
    found = [F.predict(F.train(LOSS, init_model=model)[0]) for model in (first, str(path))]
    ranker = F.fit(LOSS, n_estimators=4)
    found += [F.fit(LOSS, **{F.continues: model}).predict(X) for model in (ranker, F.booster(ranker), str(path))]
    for predicted in found:
        np.testing.assert_allclose(predicted, F.predict(whole), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(F.fit(LOSS, n_estimators=9).predict(X), F.predict(whole))


# --- metrics and early stopping -----------------------------------------------------------------------------------


@every_framework
@pytest.mark.parametrize("metric", [bp.NDCG(5), Misses()], ids=lambda m: m.name)
def test_early_stopping_stops_where_it_should(F, metric):
    name = named(F, metric)
    _, history = F.train(LOSS, rounds=30, valid=True, metric=metric)
    assert list(history) == [name]
    values = history[name]
    best = best_round(values, 4, greater=metric.greater_is_better)
    assert best < 26  # the stop is seen
    booster, history = F.train(LOSS, rounds=30, valid=True, metric=metric, patience=4)
    assert F.rounds_of_best(booster) == best
    assert history[name] == values[: best + 4]
    stop = {"metric": metric, "patience": 4, "n_estimators": 30}
    by_qid = F.fit(LOSS, valid=VALID, **stop)
    by_group = F.fit(LOSS, valid=(VX, VY, None), eval_group=[VGROUP], **stop)
    for ranker in (by_qid, by_group):
        assert F.rounds_of_best(ranker) == best
        assert F.history(ranker) == {name: values[: best + 4]}
        np.testing.assert_array_equal(ranker.predict(X), F.predict(F.train(LOSS, rounds=best)[0]))


@every_framework
def test_metrics_are_those_of_the_scores(F):
    """On a validation set and on the training set, each in its own place, by the framework's threads."""
    metrics, data = [bp.NDCG(3), bp.MAP(relevant=2), Misses(), ThreadCount()], F.data(n_jobs=2)
    for valid, queries, rows in ((True, bp.Queries(VY, group=VGROUP), VX), (data, bp.Queries(Y, group=GROUP), X)):
        booster, history = F.train(LOSS, data, valid=valid, metric=metrics, n_jobs=2)
        assert list(history) == [named(F, metric) for metric in metrics]
        for metric in metrics[:-1]:
            expected = metric(F.predict(booster, rows), queries)
            assert history[named(F, metric)][-1] == pytest.approx(expected, abs=F.digits)
        assert set(history[named(F, ThreadCount())]) == {2.0}
    ranker = F.fit(LOSS, valid=VALID, metric=ThreadCount(), n_jobs=2)
    assert set(F.history(ranker)[named(F, ThreadCount())]) == {2.0}


@every_framework
def test_the_rankers_default_metric_is_ours(F):
    """No built-in ndcg that refuses labels."""
    ranker = F.fit(LOSS, y=Y - 2.5, valid=(VX, VY + 0.25, VQID))
    assert list(F.history(ranker)) == F.default_metrics


@every_framework
@pytest.mark.parametrize("per", ["row", "query"])
def test_validation_weights_count(F, per):
    weight = np.arange(len(VGROUP) if per == "query" else len(VY)) + 1.0
    ranker = F.fit(LOSS, valid=(*VALID, [weight]), metric=bp.NDCG(5))
    value = F.history(ranker)[named(F, bp.NDCG(5))][-1]
    assert value == pytest.approx(ranker.score(VX, VY, weight, qid=VQID, metric=bp.NDCG(5)), abs=F.digits)
    assert value != pytest.approx(ranker.score(VX, VY, qid=VQID, metric=bp.NDCG(5)), abs=F.digits)


@every_framework
def test_cv(F, spy):
    data = F.data(F.kinds[0])
    values = F.cv(spy, data, 5, bp.NDCG(5))
    assert len(spy.log) == 15
    sizes = sorted(GROUP.tolist())
    for seen in spy.log[:3]:
        of_fold = np.diff(seen.queries.boundaries).tolist()
        assert len(of_fold) < len(sizes)
        assert all(of_fold.count(n) <= sizes.count(n) for n in of_fold)
    assert values[-1] > 0.5
    stopped = F.cv(spy, F.data(F.kinds[0]), 30, bp.NDCG(5), patience=3)
    assert np.argmax(stopped) == len(stopped) - 1
    assert len(stopped) < 30


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("F", "params"),
    [(F, mode) for F in FRAMEWORKS.values() for mode in F.modes],
    ids=[f"{F.name}-{next(iter(mode))}" for F in FRAMEWORKS.values() for mode in F.modes],
)
def test_modes_that_learn(F, params):
    booster = F.train(LOSS, F.data(F.kinds[0]), 10, **params)[0]
    queries = bp.Queries(Y, group=GROUP)
    assert bp.NDCG(5)(F.predict(booster), queries) > bp.NDCG(5)(np.zeros(len(Y)), queries) + 0.1
    ranker = F.fit(LOSS, n_estimators=10, **params)
    if params.get("boosting") not in F.unrepeatable:
        np.testing.assert_allclose(ranker.predict(X), F.predict(booster), rtol=1e-4, atol=1e-5)


@every_route
def test_threads_are_the_frameworks(F, route, spy):
    if route == "lgb.LGBMRanker":
        pytest.skip("LightGBM passes arrays, which have no number of threads")
    for n_jobs in (1, 2):
        spy.log.clear()
        run(F, route, spy, n_jobs=n_jobs)
        assert {seen.threads for seen in spy.log} == {n_jobs}


@every_framework
def test_threads_without_the_frameworks_word_are_ours(F, spy):
    bp.set_num_threads(3)
    try:
        F.train(spy, n_jobs=None)
    finally:
        bp.set_num_threads(None)
    assert {seen.threads for seen in spy.log} == {3}


# --- inputs -------------------------------------------------------------------------------------------------------

NAMES = list("abcd")
FRAMES = {"pandas": (pd.DataFrame, pd.Series), "polars": (pl.DataFrame, pl.Series), "pyarrow": (pa.table, pa.array)}


@every_framework
@pytest.mark.parametrize("kind", FRAMES)
def test_frames(F, kind):
    if kind not in F.frames:
        pytest.skip(f"the ranker of this version takes no {kind} tables")
    table, series = FRAMES[kind]
    columns, of_sets = (dict(zip(NAMES, x.T, strict=True)) for x in (X, VX))
    frame, expected = table(columns), F.predict(F.train(LOSS)[0])
    for given in ({"qid": series(np.array([f"q{i}" for i in QID]))}, {"group": series(GROUP)}):
        np.testing.assert_array_equal(F.fit(LOSS, frame, series(Y), **given).predict(frame), expected)
    data, valid = table({**columns, "qid": QID}), table({**of_sets, "qid": VQID})
    ones = series(np.ones(len(Y)))
    ranker = F.fit(LOSS, data, series(Y), qid=None, valid=(valid, series(VY), None), sample_weight=ones)
    np.testing.assert_array_equal(ranker.predict(data), expected)
    np.testing.assert_array_equal(ranker.predict(frame), expected)
    assert ranker.feature_names_in_.tolist() == NAMES
    ndcg = bp.NDCG(10)(expected, bp.Queries(Y, group=GROUP))
    assert ranker.score(data, series(Y)) == bp.make_scorer(bp.NDCG(10))(ranker, data, series(Y)) == ndcg
    column = pa.chunked_array([Y]) if kind == "pyarrow" else series(Y)
    np.testing.assert_array_equal(F.predict(F.train(LOSS, F.data(data=frame, label=column))[0], frame), expected)


@every_framework
def test_queries_of_one_row_and_of_none(F):
    group, expected = [0, *GROUP, 0], F.predict(F.train(LOSS)[0])
    np.testing.assert_array_equal(F.predict(F.train(LOSS, F.data(group=group))[0]), expected)
    np.testing.assert_array_equal(F.fit(LOSS, qid=None, group=group).predict(X), expected)


# --- what is known of a dataset: read in each round, checked and built where it changed, and gone with it ---------


@pytest.mark.parametrize(
    ("F", "kind", "change"),
    [(F, kind, change) for F in FRAMEWORKS.values() for kind in F.kinds for change in F.changes],
)
def test_changed_fields_are_seen_by_the_next_call(F, kind, change):
    data = F.data(kind)
    data.get_label(), data.get_weight(), data.get_group()  # LightGBM's keep what they gave
    before = gradient_of(data)
    change, changed = F.changes[change]
    change(data)
    after = gradient_of(data)
    np.testing.assert_array_equal(after, gradient_of(F.data(kind, **changed)))
    assert not np.array_equal(after, before)


@every_route
def test_queries_are_built_once(F, route, spy):
    run(F, route, spy)
    assert len(spy.log) == 5
    assert len({id(seen.queries) for seen in spy.log}) == 1


@every_framework
def test_datasets_are_not_kept_alive(F, spy):
    data = F.data()
    F.train(LOSS, data, valid=True, metric=bp.NDCG(5))
    queries, dataset = ref(queries_of(adapter(F), data)), ref(data)
    del data
    gc.collect()
    assert dataset() is None
    assert queries() is None
    ranker = F.fit(spy)
    queries = ref(spy.log[0].queries)
    spy.log.clear()
    gc.collect()
    assert isinstance(ranker, F.Ranker)
    assert queries() is None


# --- nothing to learn, and errors ---------------------------------------------------------------------------------


@every_framework
def test_nothing_to_learn_warns_once_with_the_cause(F):
    """Also where only a part of the loss has nothing to learn from."""
    for loss, text in ((LOSS, "nothing"), (2 * bp.RankNet() + bp.SquaredError(), "a part of .* has nothing")):
        with pytest.warns(UserWarning, match=f"{text} to learn from: none of the 16 queries") as caught:
            F.fit(loss, y=np.ones(len(Y)))
        assert sum("nothing to learn" in str(warning.message) for warning in caught) == 1


# --- scikit-learn -------------------------------------------------------------------------------------------------


@every_framework
def test_grid_search_with_routed_qid(F):
    grid = [{F.size: [5], "objective": [LOSS]}, {F.size: [2], "objective": [bp.QBRank()]}]
    folds, metric = bp.group_folds(QID, 3), bp.NDCG(5)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(F.ranker().set_fit_request(qid=True), grid, cv=folds, scoring=bp.make_scorer(metric))
        search.fit(X, Y, qid=QID)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        scores = []
        for rows, test in folds:
            ranker = F.Ranker(**{**F.estimator, **params}).fit(X[rows], Y[rows], qid=QID[rows])
            scores.append(metric.score(Y[test], ranker.predict(X[test]), qid=QID[test]))
        assert score == pytest.approx(np.mean(scores), rel=1e-12)


# --- saved models -------------------------------------------------------------------------------------------------


every_file = pytest.mark.parametrize(
    ("F", "suffix"), [(F, suffix) for F in FRAMEWORKS.values() for suffix in F.suffixes]
)


@every_file
def test_saved_models_load_in_the_plain_framework(F, suffix, tmp_path):
    ranker, path = F.fit(LOSS), tmp_path / f"model.{suffix}"
    F.booster(ranker).save_model(path)
    for predicted in F.loaded(path):
        np.testing.assert_array_equal(predicted, ranker.predict(X))


@every_file
def test_an_early_stopped_model_is_saved_as_far_as_predict_uses_it(F, suffix, tmp_path):
    metric = {"lightgbm": bp.NDCG(3), "xgboost": ["ndcg@3", bp.NDCG(3)]}[F.name]
    ranker, path = F.fit(LOSS, n_estimators=40, valid=VALID, metric=metric, patience=4), tmp_path / f"model.{suffix}"
    n_rounds = F.n_rounds(ranker)  # LightGBM has dropped the others by itself
    assert F.rounds_of_best(ranker) == n_rounds - 4 * (F.name == "xgboost") < 36
    getattr(ranker, "save_model", F.booster(ranker).save_model)(path)
    for predicted in F.loaded(path):
        np.testing.assert_array_equal(predicted, ranker.predict(X))
    assert F.n_rounds(ranker) == n_rounds  # the ranker keeps them
