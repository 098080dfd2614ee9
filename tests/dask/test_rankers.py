"""Both rankers on two workers: the model and the metrics of one machine, and what is refused; then each on its own."""

import json
import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

pytestmark = pytest.mark.cluster

FEATURES = [f"f{i}" for i in range(5)]
PARAMS = {
    "LGBMRanker": {"n_estimators": 6, "num_leaves": 8, "min_child_samples": 1, "verbose": -1},
    "XGBRanker": {"n_estimators": 6, "max_depth": 3, "min_child_weight": 0.1},
}
BOTH = pytest.mark.parametrize("name", PARAMS)
THETA = 1.0 / np.arange(1.0, 25.0)
SEVERAL = bp.QBRank().on("click") + 2.0 * bp.RankNet().on("sale") + 0.5 * bp.SquaredError()


def table(n_queries=40, seed=0):
    """Return features of few values, so that the halves of the rows are binned as all rows are."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 20, n_queries)
    X = rng.integers(0, 12, (int(sizes.sum()), 5)) / 4
    noise = rng.normal(0.0, 0.7, (3, len(X)))
    return pd.DataFrame(X, columns=FEATURES).assign(
        y=np.clip(np.round(X[:, 0] + X[:, 1] / 2 + noise[0]), 0, 4),
        click=(X[:, 2] + noise[1] > 2.0).astype(float),
        sale=np.where(rng.random(len(X)) < 0.3, np.nan, (X[:, 3] + noise[2] > 2.0).astype(float)),
        position=np.concatenate([rng.permutation(size) + 1 for size in sizes]),
        weight=rng.uniform(0.5, 2.0, len(X)),
        query=np.repeat(np.arange(n_queries), sizes),
    )


TRAIN, VALID = table(), table(24, 1)
# One worker has clicks, the other five grades, each with a scale of its own; or weights of 1, the other tiny ones.
OF_CLICKS = TRAIN.assign(y=np.where(TRAIN["query"] < 20, TRAIN["y"] > 2, TRAIN["y"]).astype(float))
TINY_WEIGHTS = TRAIN.assign(weight=np.where(TRAIN["query"] < 20, 1.0, TRAIN["weight"] * 1e-80))
# adapters/test_workers.py has a loss of each kind on several workers.
CASES = [
    pytest.param("LGBMRanker", SEVERAL, TRAIN, id="LightGBM"),
    pytest.param("XGBRanker", SEVERAL, TRAIN, id="XGBoost"),
    pytest.param("LGBMRanker", bp.ListNet(target="labels").on("click"), TRAIN, id="ListNet", marks=pytest.mark.ci),
    pytest.param("XGBRanker", bp.AdaRank(), TRAIN, id="AdaRank", marks=pytest.mark.ci),
    pytest.param("XGBRanker", bp.Unbiased(base=bp.MPBoost()).on("click"), TRAIN, id="Unbiased", marks=pytest.mark.ci),
    *(
        pytest.param(name, bp.MPBoost(), frame, id=f"{name}, {what}", marks=pytest.mark.ci)
        for name in PARAMS
        for what, frame in (("clicks", OF_CLICKS), ("tiny weights", TINY_WEIGHTS))
    ),
]


def on_workers(client, frame, cut=(20,)):
    """Return a frame in partitions, of which each begins after so many queries; those of even number go together."""
    import dask.dataframe as dd

    at = np.searchsorted(cut, pd.factorize(frame["query"])[0], side="right")
    addresses = sorted(client.nthreads())
    parts = [
        client.persist(
            dd.from_pandas(frame[at == place], npartitions=1, sort=False),
            workers=[addresses[place % len(addresses)]],
            allow_other_workers=True,  # once that one is gone
        )
        for place in range(len(cut) + 1)
    ]
    return dd.concat(parts)


def arguments(frame, loss=None, *, weighted=False, **changed):
    """Return the arguments of `fit` for a frame, of pandas or of Dask."""
    given = {"X": frame[FEATURES], "y": frame["y"], "qid": frame["query"]}
    if "on(" in repr(loss):
        given["labels"] = {"click": frame["click"], "sale": frame["sale"]}
    if isinstance(loss, bp.Loss) and loss.traits.positions:
        given["position"] = frame["position"]
    if weighted:
        given["sample_weight"] = frame["weight"]
    return given | changed


def validation(frame, weighted=False):
    """Return the arguments of XGBRanker's `fit` for a validation set."""
    given = {"eval_set": [(frame[FEATURES], frame["y"])], "eval_qid": [frame["query"]], "verbose": False}
    labels = {"eval_labels": [{"click": frame["click"], "sale": frame["sale"]}]}
    return given | labels | ({"sample_weight_eval_set": [frame["weight"]]} if weighted else {})


def distributed_ranker(client, name, loss, **params):
    return getattr(bp.dask, name)(objective=loss, client=client, **{**PARAMS[name], **params})


def fit(client, name, loss, frame, **params):
    weighted = params.pop("weighted", False)
    ranker = distributed_ranker(client, name, loss, **params)
    return ranker.fit(**arguments(frame, loss, weighted=weighted))


def alone(name, loss, frame=TRAIN, **params):
    weighted = params.pop("weighted", False)
    ranker = getattr(bp, name)(objective=loss, n_jobs=1, **{**PARAMS[name], **params})
    return ranker.fit(**arguments(frame, loss, weighted=weighted))


def assert_same(ranker, other, frame=TRAIN):
    expected = other.predict(frame[FEATURES])
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(ranker.predict(frame[FEATURES]), expected, rtol=0, atol=1e-6)


# --- the model of one machine -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "loss", "frame"), CASES)
def test_the_model_is_that_of_one_machine(client, name, loss, frame):
    ranker = fit(client, name, loss, on_workers(client, frame), weighted=True)
    assert_same(ranker, alone(name, loss, frame, weighted=True), frame)


@dataclass(frozen=True, kw_only=True)
class Seen(bp.RankNet):
    """Logs the worker that computes each gradient, under a topic of its own: events of other tests may come late."""

    topic: str

    def compute_gradient_hessian(self, scores, queries, scale):
        from distributed import get_worker

        get_worker().log_event(self.topic, [get_worker().address, queries.n_queries])
        return super().compute_gradient_hessian(scores, queries, scale)


@pytest.mark.ci
@BOTH
@pytest.mark.parametrize(("cut", "n_workers"), [((10, 20, 20, 35), 2), ((40,), 1)], ids=str)
def test_queries_lie_anywhere(client, name, cut, n_workers):
    """Some partitions, or workers, have no rows."""
    topic = f"gradients {name} {n_workers}"
    ranker = fit(client, name, Seen(topic=topic), on_workers(client, TRAIN, cut))
    at_each = dict(event for _, event in client.get_events(topic))
    assert (len(at_each), sum(at_each.values())) == (n_workers, 40)
    assert_same(ranker, alone(name, bp.RankNet()))


@pytest.mark.ci
@BOTH
def test_rows_in_any_order_with_ids_as_text(client, name):
    import dask.dataframe as dd

    query = TRAIN["query"].map("query {:03d}".format)
    loss = SEVERAL + bp.Unbiased(method="ips", propensity=THETA)
    mixed = dd.from_pandas(TRAIN.assign(query=query).sample(frac=1.0, random_state=0), npartitions=3, sort=False)
    together = client.persist(bp.dask.partition_by_query(mixed, "query", npartitions=4))
    assert_same(fit(client, name, loss, together, weighted=True), alone(name, loss, weighted=True))


@pytest.mark.ci
@BOTH
def test_arguments_count_the_columns_that_are_passed(client, name):
    of = {"LGBMRanker": "categorical_feature", "XGBRanker": "feature_weights"}[name]
    value, among = {"LGBMRanker": ([3], [2]), "XGBRanker": ([9, 1, 0, 1, 0, 0], [1, 0, 1, 0, 0])}[name]
    frame = on_workers(client, TRAIN)
    ranker = distributed_ranker(client, name, bp.RankNet())
    ranker.fit(**arguments(frame, X=frame[["query", *FEATURES]], qid="query", **{of: value}))
    local = getattr(bp, name)(objective=bp.RankNet(), n_jobs=1, **PARAMS[name])
    assert_same(ranker, local.fit(**arguments(TRAIN, **{of: among})))


@pytest.mark.ci
@BOTH
def test_a_training_goes_on_from_a_model(client, name):
    first, argument = alone(name, bp.RankNet()), {"LGBMRanker": "init_model", "XGBRanker": "xgb_model"}[name]
    frame = on_workers(client, TRAIN)
    other = getattr(bp, name)(objective=bp.MPBoost(), n_jobs=1, **PARAMS[name])
    other.fit(**arguments(TRAIN, **{argument: first}))
    ranker = distributed_ranker(client, name, bp.MPBoost())
    assert_same(ranker.fit(**arguments(frame, **{argument: first})), other)
    reordered = arguments(frame, X=frame[FEATURES[::-1]], **{argument: first})
    with pytest.raises(ValueError, match="another order"):
        ranker.fit(**reordered)


@pytest.mark.ci
@BOTH
def test_a_loss_with_nothing_to_learn_from_anywhere_warns_once(client, name):
    with pytest.warns(UserWarning, match="a part of .* has nothing to learn from: none of the 20 queries") as caught:
        fit(client, name, bp.CRR(), on_workers(client, TRAIN.assign(y=1.0)))
    assert len(caught) == 1
    half = TRAIN.assign(y=np.where(TRAIN["query"] < 20, 1.0, TRAIN["y"]))
    fit(client, name, bp.RankNet() + bp.CRR(), on_workers(client, half))  # one worker alone may have nothing


# --- a ranker as others are ---------------------------------------------------------------------------------------


@pytest.mark.ci
@BOTH
def test_predictions_and_scores(client, name):
    frame = on_workers(client, TRAIN.rename(columns={"query": "qid"}).assign(query=TRAIN["query"]), (10, 10, 20))
    ranker = fit(client, name, bp.MPBoost(), frame)
    local = ranker.to_local()
    expected = local.predict(TRAIN[FEATURES])
    scores = ranker.predict(frame[[*FEATURES, "qid"]])
    assert scores.npartitions == frame.npartitions
    pd.testing.assert_series_equal(scores.compute(), pd.Series(expected, TRAIN.index))
    assert scores.dtype == expected.dtype
    blocks = ranker.predict(frame[FEATURES].to_dask_array(lengths=True))
    np.testing.assert_array_equal(blocks.compute(), expected)
    np.testing.assert_array_equal(ranker.predict(TRAIN[FEATURES]), expected)
    for other in (frame[FEATURES[::-1]], TRAIN[FEATURES[::-1]]):
        with pytest.raises(ValueError, match="another order"):
            np.asarray(ranker.predict(other))

    def rows(table):
        labels = {"sale": table["sale"]}
        return {"qid": table["query"], "sample_weight": table["weight"], "labels": labels, "metric": "NDCG@5.on(sale)"}

    here = local.score(TRAIN[FEATURES], TRAIN["y"], **rows(TRAIN))
    assert ranker.score(frame[FEATURES], frame["y"], **rows(frame)) == pytest.approx(here, abs=1e-12)


@pytest.mark.ci
@BOTH
def test_to_local_and_exported(client, name):
    ranker = fit(client, name, bp.MPBoost(), on_workers(client, TRAIN))
    local = ranker.to_local()
    assert type(local) is getattr(bp, name)
    assert local.get_params() == {k: v for k, v in ranker.get_params().items() if k not in {"client", "time_out"}}
    expected = local.predict(TRAIN[FEATURES])
    np.testing.assert_array_equal(ranker.predict(TRAIN[FEATURES]), expected)
    plain = ranker.export()
    assert type(plain) is getattr({"LGBMRanker": lgb, "XGBRanker": xgb}[name], name)
    np.testing.assert_array_equal(plain.predict(TRAIN[FEATURES]), expected)
    assert (ranker.n_features_in_, list(ranker.feature_names_in_)) == (5, FEATURES)
    with pytest.raises(AttributeError, match=r"position_bias_ is not known after a fit on Dask, .* loss.position_bias"):
        _ = ranker.position_bias_


# --- refused before any training ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Untrained(bp.RankNet):
    """Is an error to train."""

    def compute_gradient_hessian(self, scores, queries, scale):
        raise AssertionError("trained")


@pytest.mark.parametrize("name", ["LGBMRanker", pytest.param("XGBRanker", marks=pytest.mark.ci)])
def test_split_queries(client, name):
    cut = TRAIN.assign(other=np.where(TRAIN["query"] == 39, 0, TRAIN["query"]))
    frame = on_workers(client, cut)
    with pytest.raises(ValueError, match=r"1 of 39 queries lie in several partitions: 0 in 0 and 1; .*partition_by"):
        distributed_ranker(client, name, Untrained()).fit(**arguments(frame, qid=frame["other"]))


@pytest.mark.ci
@BOTH
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("y", np.nan, r"y\[5\] = nan is not finite"),
        ("weight", -1.0, r"weight\[5\] = -1.0 is not 0 or from 1e-100 to 1e100"),
        ("query", None, r"qid\[5\] = .* is not an id"),
    ],
    ids=["labels", "weights", "queries"],
)
def test_wrong_values_are_refused_before_training(client, name, column, value, message):
    wrong = TRAIN[column].astype(object if value is None else float)
    wrong[5] = value
    frame = on_workers(client, TRAIN.assign(**{column: wrong}))
    with pytest.raises(ValueError, match=f"in partition 0 of the training set: {message}"):
        fit(client, name, Untrained(), frame, weighted=True)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "params", "changed", "message"),
    [
        *((name, {}, {"X": TRAIN[FEATURES]}, f"use boostplug.{name}, which trains on one machine") for name in PARAMS),
        ("LGBMRanker", {}, {"eval_set": [(TRAIN, TRAIN)]}, "LGBMRanker takes no eval_set"),
        ("LGBMRanker", {}, {"sample_weight": np.ones(len(TRAIN))}, "sample_weight must be a Dask collection, got 'nd"),
        ("LGBMRanker", {"objective": np.mean}, {}, "a function would see only the rows of one worker"),
        ("LGBMRanker", {"tree_learner": "feature"}, {}, "LGBMRanker takes no tree_learner='feature'"),
        ("LGBMRanker", {"linear_tree": True}, {}, "LGBMRanker takes no linear_tree"),
        ("XGBRanker", {}, {"base_margin": np.zeros(3)}, "XGBRanker takes no base_margin"),
        ("XGBRanker", {"booster": "gblinear"}, {}, "booster='gblinear' trains on one machine only"),
        ("XGBRanker", {"max_dept": 3}, {}, "max_dept is not a parameter of XGBoost; did you mean max_depth"),
        ("XGBRanker", {"feature_weights": [1.0]}, {}, "feature_weights must hold 5 numbers, one for each feature"),
        ("XGBRanker", {"tree_method": "exact"}, {}, "tree_method='exact' trains on one machine only"),
        ("XGBRanker", {"objective": "rank:ndcg", "weighted": True}, {}, "sample_weight cannot be used by XGBoost's"),
        ("XGBRanker", {"eval_metric": "map", "weighted": True}, {}, "sample_weight cannot be used by XGBoost's 'map'"),
    ],
)
def test_what_has_no_meaning_on_a_cluster(client, name, params, changed, message):
    import dask.dataframe as dd

    params = {"objective": bp.MPBoost(), **PARAMS[name], **params}
    given = arguments(dd.from_pandas(TRAIN, npartitions=1), weighted=params.pop("weighted", False))
    ranker = getattr(bp.dask, name)(client=client, **params)
    with pytest.raises((ValueError, TypeError), match=message):
        ranker.fit(**given | changed)


# --- errors in a training -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Fails(bp.RankNet):
    """Fails on one worker, at once or when scores have moved."""

    n_queries: int
    later: bool

    def compute_gradient_hessian(self, scores, queries, scale):
        if queries.n_queries == self.n_queries and bool(scores.any()) == self.later:
            raise ArithmeticError("what only one worker meets")
        return super().compute_gradient_hessian(scores, queries, scale)


@BOTH
@pytest.mark.parametrize(("n_queries", "later"), [(10, True), pytest.param(30, False, marks=pytest.mark.ci)])
def test_an_error_on_one_worker_ends_the_fit_and_spoils_no_other(client, name, n_queries, later):
    frame = on_workers(client, TRAIN, (10,))
    kind = RuntimeError if later and name == "LGBMRanker" else ArithmeticError
    with pytest.raises(kind, match="what only one worker meets"):
        fit(client, name, Fails(n_queries=n_queries, later=later), frame, n_estimators=200)
    assert_same(fit(client, name, bp.RankNet(), frame), alone(name, bp.RankNet()))


@dataclass(frozen=True, kw_only=True)
class Dies(bp.RankNet):
    """Ends the process of the worker that holds 10 queries, when scores have moved."""

    def compute_gradient_hessian(self, scores, queries, scale):
        if queries.n_queries == 10 and scores.any():
            os._exit(1)
        return super().compute_gradient_hessian(scores, queries, scale)


@pytest.mark.ci
@BOTH
def test_a_lost_worker_is_an_error_and_those_that_are_left_train_again(own_client, name):
    error = {"LGBMRanker": lgb.basic.LightGBMError, "XGBRanker": xgb.core.XGBoostError}[name]
    with pytest.raises(error, match=r"[Ss]ocket|Allreduce"):
        fit(own_client, name, Dies(), on_workers(own_client, TRAIN, (10,)), n_estimators=200)
    if name == "LGBMRanker":
        own_client.restart()
    assert_same(fit(own_client, name, bp.RankNet(), on_workers(own_client, TRAIN)), alone(name, bp.RankNet()))


# --- XGBoost alone ------------------------------------------------------------------------------------------------


def judged(client, loss, train, valid, *, weighted=False, **params):
    """Return a ranker of two workers, and that of one machine, after they gave a validation set the same values."""
    ranker = distributed_ranker(client, "XGBRanker", loss, **params)
    other = bp.XGBRanker(objective=loss, n_jobs=1, **{**PARAMS["XGBRanker"], **params})
    for one, t, v in ((ranker, on_workers(client, train), on_workers(client, valid, (5, 5))), (other, train, valid)):
        one.fit(**arguments(t, loss, weighted=weighted), **validation(v, weighted))
    found, expected = (one.evals_result()["validation_0"] for one in (ranker, other))
    assert found.keys() == expected.keys()
    for metric, values in expected.items():
        np.testing.assert_allclose(found[metric], values, rtol=1e-6)
    assert_same(ranker, other, train)
    return ranker, other


@pytest.mark.ci
def test_metrics_and_early_stopping_are_those_of_all_workers(client):
    """One of them would stop elsewhere."""
    metrics = [bp.MAP(), "ndcg@3", bp.NDCG(5)]
    params = {"n_estimators": 60, "early_stopping_rounds": 3, "eval_metric": metrics}
    ranker, other = judged(client, bp.MPBoost(), TRAIN, VALID, **params)
    assert ranker.best_iteration == other.best_iteration < 56


@pytest.mark.parametrize("objective", ["lambdarank", bp.RankNet()])
def test_a_metric_of_ours_as_a_parameter_of_lightgbm_changes_no_training(client, objective):
    """There is no validation set that it could judge."""
    ranker = fit(client, "LGBMRanker", objective, on_workers(client, TRAIN), metrics=bp.ChoiceLogLoss(), n_estimators=2)
    assert_same(ranker, alone("LGBMRanker", objective, n_estimators=2))
    assert ranker.to_local().get_params()["metrics"] == bp.ChoiceLogLoss()


@pytest.mark.ci
def test_metrics_read_weights_and_labels_by_name(client):
    train, valid = (f.assign(weight=f["weight"] * np.where(f["query"] < 20, 1.0, 9.0)) for f in (TRAIN, VALID))
    judged(client, SEVERAL, train, valid, weighted=True, eval_metric=[bp.MAP(), bp.LogLoss().on("sale")])


@pytest.mark.ci
def test_categories_with_a_validation_set_that_lies_on_one_worker(client):
    """XGBoost takes no matrix without rows there."""
    kind = pd.CategoricalDtype([f"c{i}" for i in range(12)])
    train, valid = (f.assign(f0=(f["f0"] * 4).map("c{:.0f}".format).astype(kind)) for f in (TRAIN, VALID))
    ranker, _ = judged(client, bp.RankNet(), train, valid, enable_categorical=True, eval_metric=bp.NDCG(5))
    kept = ranker.to_local().get_booster().attr("category_lists")  # for services
    assert json.loads(kept) == {"0": [*kind.categories]}
    with pytest.raises(ValueError, match=r"eval_set\[0\]'s X has 1 partitions with rows for 2 workers, .*repartition"):
        ranker.fit(**arguments(on_workers(client, train)), **validation(on_workers(client, valid, (40,))))


@pytest.mark.ci
def test_a_metric_that_several_workers_cannot_compute(client):
    frame = on_workers(client, TRAIN)
    ranker = distributed_ranker(client, "XGBRanker", bp.MPBoost(), eval_metric=bp.ECE(max_grade=4.0))
    with pytest.raises(TypeError, match="ECE"):
        ranker.fit(**arguments(frame), **validation(frame))


@pytest.mark.ci
def test_xgboosts_own_training_on_dask_is_right_through_the_loss(client):
    from xgboost import dask as xgb_dask

    data = TRAIN.assign(y=np.where(TRAIN["query"] < 20, TRAIN["y"] > 0, TRAIN["y"]).astype(float))
    frame = on_workers(client, data)
    params = {"max_depth": 3, "min_child_weight": 0.1, "objective": "rank:pairwise", "base_score": 0.0, "nthread": 1}
    matrix = xgb_dask.DaskQuantileDMatrix(client, frame[FEATURES], frame["y"], qid=frame["query"])
    params["disable_default_eval_metric"] = 1
    booster = xgb_dask.train(client, params, matrix, 6, obj=bp.MPBoost())["booster"]
    expected = alone("XGBRanker", bp.MPBoost(), data).predict(TRAIN[FEATURES])
    np.testing.assert_allclose(booster.predict(xgb.DMatrix(TRAIN[FEATURES])), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["LGBMRanker", "XGBRanker"])
def test_features_are_chosen_on_collections_too(client, name):
    import dask.dataframe as dd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "leak"]).assign(query=np.repeat(range(20), 10))
    frame["grade"] = (frame["a"] > 0) * 1
    whole = dd.from_pandas(frame, npartitions=2)
    ranker = getattr(bp.dask, name)(objective=bp.MPBoost(), n_estimators=2, features=["b", "a"], client=client)
    ranker.fit(whole, "grade", qid="query")
    local = ranker.to_local()
    assert local.features == ["b", "a"]
    np.testing.assert_array_equal(ranker.predict(whole).compute(), local.predict(frame[["a", "b"]]))
    assert ranker.score(whole) == pytest.approx(local.score(frame))
    judged = frame["b"] > 0
    missing = frame.assign(grade=frame["grade"].where(judged))
    assert ranker.score(missing, labelled=judged) == local.score(frame, labelled=judged)
    with pytest.raises(TypeError, match="takes no labelled"):
        ranker.score(whole, labelled=judged)
