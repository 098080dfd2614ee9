"""`start=` of both rankers, `linear_start` in raw training, and `fit_folds`."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")
pd = pytest.importorskip("pandas")

RANKERS = {
    "lightgbm": lambda **given: bp.LGBMRanker(
        **{"objective": bp.CRR(), "num_leaves": 6, "n_estimators": 20, "n_jobs": 1, "verbose": -1, **given}
    ),
    "xgboost": lambda **given: bp.XGBRanker(
        **{"objective": bp.CRR(), "max_depth": 2, "n_estimators": 20, "n_jobs": 1, **given}
    ),
}
both = pytest.mark.parametrize("framework", RANKERS)


@pytest.fixture(scope="module")
def data():
    made = bp.datasets.make_ranking(n_queries=60, random_state=5)
    return made.X, made.y, made.qid


def split(data, n=40):
    X, y, qid = data
    first = np.isin(qid, np.unique(qid)[:n])
    return (X[first], y[first], qid[first]), (X[~first], y[~first], qid[~first])


def fitted(framework, data, patience=None, **given):
    (X, y, qid), (Xv, yv, qv) = split(data)
    ranker = RANKERS[framework](**given)
    more = {"verbose": False} if framework == "xgboost" else {}
    if patience and framework == "lightgbm":
        more["callbacks"] = [lgb.early_stopping(patience, verbose=False)]
    elif patience:
        ranker.set_params(early_stopping_rounds=patience)
    return ranker.fit(X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv], **more)


def slope_along(loss, scores, queries, direction):
    gradient = loss.gradient_hessian(scores, queries)[0]
    return gradient @ direction / (np.abs(gradient) @ np.abs(direction))


@both
@pytest.mark.parametrize(
    "loss", [bp.CRR(), bp.RankNet(), bp.NDCGBoost(), bp.QBRank(normalization="documents")], ids=str
)
def test_begins_where_the_loss_is_least_along_the_linear_model(framework, loss, data):
    (X, y, qid), _ = split(data)
    start = bp.linear_start(X, y, qid=qid, objective=loss, framework=framework)
    matrix = X if framework == "lightgbm" else xgb.DMatrix(X)
    scores, queries = np.asarray(start.predict(matrix), np.float64), bp.Queries(y, qid=qid)
    linear = bp.LinearRanker().fit(X, y, qid=qid).predict(X)
    assert np.corrcoef(scores, linear)[0, 1] == pytest.approx(1.0, abs=1e-6)
    assert abs(slope_along(loss, scores, queries, linear)) < 1e-3
    assert abs(slope_along(loss, scores, queries, np.ones(len(y)))) < 1e-3


def test_one_chosen_document_per_list_has_the_conditional_logit(data):
    X, _, qid = data
    rng = np.random.default_rng(0)
    chosen = np.concatenate([rng.permutation(np.arange(n) == 0) for n in np.unique(qid, return_counts=True)[1]])
    given = {"qid": qid, "objective": bp.ListNet(target="labels")}
    scores = bp.linear_start(X, chosen.astype(float), **given).predict(X)
    logit, ridge = (bp.LinearRanker(loss=loss).fit(X, chosen, qid=qid).predict(X) for loss in ("softmax", "squared"))
    assert np.corrcoef(scores, logit)[0, 1] == pytest.approx(1.0, abs=1e-9)
    assert np.corrcoef(scores, ridge)[0, 1] < 1.0 - 1e-6


@both
def test_a_loss_on_another_label_starts_from_that(framework, data):
    X, y, qid = data
    sale = (X[:, 3] + np.random.default_rng(0).normal(size=len(y)) > np.median(X[:, 3])).astype(float)
    ranker = RANKERS[framework](objective=bp.RankNet().on("sale"), start="linear", n_estimators=1, learning_rate=1e-9)
    ranker.fit(X, y, qid=qid, labels={"sale": sale})
    linear = bp.LinearRanker().fit(X, sale, qid=qid).predict(X)
    assert np.corrcoef(ranker.predict(X), linear)[0, 1] == pytest.approx(1.0, abs=1e-6)


@both
def test_model_is_the_start_and_what_is_added(framework, data):
    (X, y, qid), (Xv, _, _) = split(data)
    ranker = fitted(framework, data, start="linear")
    start = bp.linear_start(X, y, qid=qid, objective=bp.CRR(), framework=framework)
    if framework == "lightgbm":
        booster, n = ranker.booster_, start.num_trees()
        first = booster.predict(Xv, num_iteration=n)
        assert booster.num_trees() - n == 20
        np.testing.assert_allclose(first, start.predict(Xv), atol=1e-12)
    else:
        booster = ranker.get_booster()
        first = booster.predict(xgb.DMatrix(Xv), iteration_range=(0, 1))
        assert booster.num_boosted_rounds() == 21
        np.testing.assert_allclose(first, start.predict(xgb.DMatrix(Xv)), atol=1e-6)
    assert len(next(iter(next(iter(ranker.evals_result_.values())).values()))) == 20
    assert not np.allclose(first, ranker.predict(Xv))


def test_raw_training_goes_on_from_it(data):
    (X, y, qid), (Xv, _, _) = split(data)
    group, loss = np.unique(qid, return_counts=True)[1], bp.CRR()
    start = bp.linear_start(X, y, qid=qid, objective=loss)
    params = {"objective": loss, "num_leaves": 6, "num_threads": 1, "verbose": -1}
    train = lgb.Dataset(X, y, group=group, free_raw_data=False)
    raw = lgb.train(params, train, 20, init_model=start)
    ranker = RANKERS["lightgbm"](start="linear").fit(X, y, qid=qid)
    np.testing.assert_allclose(raw.predict(Xv), ranker.predict(Xv), atol=1e-12)

    start = bp.linear_start(X, y, qid=qid, objective=loss, framework="xgboost")
    matrix = xgb.DMatrix(X, y, qid=qid)
    params = {"max_depth": 2, "nthread": 1, "base_score": 0.0}
    raw = xgb.train(params, matrix, 20, obj=loss, xgb_model=start)
    ranker = RANKERS["xgboost"](start="linear").fit(X, y, qid=qid)
    np.testing.assert_allclose(raw.predict(xgb.DMatrix(Xv)), ranker.predict(Xv), atol=1e-5)


@both
def test_early_stopping_counts_what_is_added(framework, data):
    ranker = fitted(framework, data, 5, start="linear", n_estimators=100, learning_rate=0.3)
    (values,) = next(iter(ranker.evals_result_.values())).values()
    best = ranker.best_iteration_ if framework == "lightgbm" else ranker.best_iteration
    assert best == int(np.argmax(values)) + 1  # the validation value of the start is below that
    assert len(values) == best + 5


@both
def test_start_is_the_model_where_no_round_is_better(framework, data):
    (X, y, qid), (Xv, yv, qv) = split(data)
    X2, Xv2 = np.c_[X, y], np.c_[Xv, yv]  # a feature that is the label: the start is perfect
    ranker = RANKERS[framework](objective="lambdarank" if framework == "lightgbm" else "rank:ndcg", start="best")
    columns = [*(f"x{j}" for j in range(X.shape[1])), "best"]
    frame, valid = pd.DataFrame(X2, columns=columns), pd.DataFrame(Xv2, columns=columns)
    more = {"verbose": False} if framework == "xgboost" else {}
    if framework == "lightgbm":
        more |= {"callbacks": [lgb.early_stopping(3, verbose=False)], "eval_metric": bp.NDCG(10)}
    else:
        ranker.set_params(early_stopping_rounds=3, eval_metric=bp.NDCG(10))
    with pytest.warns(UserWarning, match="equals y"):
        ranker.fit(frame, y, qid=qid, eval_set=[(valid, yv)], eval_qid=[qv], **more)
    assert (ranker.best_iteration_ if framework == "lightgbm" else ranker.best_iteration) == 0
    assert bp.NDCG(10).score(yv, ranker.predict(valid), qid=qv) == pytest.approx(1.0)
    exported = ranker.export()
    assert "start" not in exported.get_params()
    np.testing.assert_allclose(exported.predict(valid), ranker.predict(valid), atol=1e-6)


@both
@pytest.mark.parametrize("built_in", [True, False])
def test_score_in_use(framework, built_in, data):
    """A column's order is the start's; ``-name`` turns it round, and the wrong way round is left out with a warning."""
    X, y, qid = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    rng = np.random.default_rng(0)
    frame["score"], frame["cost"] = y + rng.normal(size=len(y)), -y + rng.normal(size=len(y))
    name = "lambdarank" if framework == "lightgbm" else "rank:ndcg"
    ranker = RANKERS[framework](start="score", n_estimators=1, learning_rate=1e-9)
    ranker.set_params(objective=name if built_in else bp.RankNet())
    ranker.fit(frame, y, qid=qid)
    order = np.argsort(frame["score"], kind="stable")
    assert (np.diff(ranker.predict(frame)[order]) >= -1e-6).all()
    assert ranker.set_params(start="-cost").fit(frame, y, qid=qid).score(frame, y, qid=qid) > 0.7
    with pytest.warns(UserWarning, match="no better than by chance"):
        ranker.set_params(start="cost").fit(frame, y, qid=qid)


@both
def test_any_model_is_a_start(framework, data):
    (X, y, qid), (Xv, _, _) = split(data)
    other = RANKERS["xgboost" if framework == "lightgbm" else "lightgbm"]().fit(X, y, qid=qid)
    for start in (
        other,
        RANKERS[framework]().fit(X, y, qid=qid),
        bp.MPBoostRanker(n_estimators=5),
        bp.LinearRanker(loss="softmax").fit(X, y, qid=qid),
    ):
        ranker = RANKERS[framework](start=start, n_estimators=1, learning_rate=1e-9).fit(X, y, qid=qid)
        model = start if hasattr(start, "n_features_in_") else clone(start).fit(X, y, qid=qid)
        scores = np.asarray(model.predict(Xv), np.float64)
        assert np.corrcoef(ranker.predict(Xv), scores)[0, 1] == pytest.approx(1.0, abs=1e-5)


@both
def test_categories_are_left_to_the_trees(framework, data):
    X, y, qid = data
    frame = pd.DataFrame(X)
    frame[99] = pd.Categorical(np.where(y > 1, "a", "b"))
    more = {"enable_categorical": True} if framework == "xgboost" else {}
    ranker = RANKERS[framework](start="linear", **more).fit(frame, y, qid=qid)
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(frame), ranker.predict(frame))
    plain = RANKERS[framework](**more).fit(frame, y, qid=qid)
    assert ranker.score(frame, y, qid=qid) > plain.score(frame, y, qid=qid) - 0.05


@both
def test_parameter_of_scikit_learn(framework):
    ranker = RANKERS[framework](start="linear")
    assert ranker.get_params()["start"] == clone(ranker).start == "linear"
    assert clone(ranker).set_params(start=None).start is None
    assert RANKERS[framework]().get_params()["start"] is None


@both
@pytest.mark.parametrize(
    ("given", "more", "message"),
    [
        ({"start": "bm25"}, {}, "neither 'linear' nor a feature"),
        ({"start": 3}, {}, "start|booster"),
        ({"start": "linear"}, {"model": True}, "both say where training begins"),
        ({"start": "linear"}, {"scores": True}, "both say where training begins"),
    ],
)
def test_refused(framework, given, more, message, data):
    (X, y, qid), _ = split(data)
    keys = ("init_model", "init_score") if framework == "lightgbm" else ("xgb_model", "base_margin")
    arguments = {}
    if "model" in more:
        arguments[keys[0]] = RANKERS[framework]().fit(X, y, qid=qid)
    if "scores" in more:
        arguments[keys[1]] = np.zeros(len(y))
    with pytest.raises(ValueError, match=message):
        RANKERS[framework](**given).fit(X, y, qid=qid, **arguments)


def test_what_a_start_cannot_read_is_refused(data):
    (X, y, qid), _ = split(data)
    with pytest.raises(ValueError, match="NaN as missing"):
        RANKERS["xgboost"](start="linear", missing=0.0).fit(X, y, qid=qid)
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="X is sparse"):
        RANKERS["lightgbm"](start="linear").fit(sparse.csr_matrix(X), y, qid=qid)


def test_forests_of_several_trees_a_round_go_on_from_it(data):
    (X, y, qid), (Xv, _, _) = split(data)
    ranker = RANKERS["xgboost"](start="linear", num_parallel_tree=2, n_estimators=3).fit(X, y, qid=qid)
    booster = ranker.get_booster()
    assert booster.num_boosted_rounds() == 4
    first = booster.predict(xgb.DMatrix(Xv), iteration_range=(0, 1))
    start = bp.linear_start(X, y, qid=qid, objective=bp.CRR(), framework="xgboost")
    np.testing.assert_allclose(first, start.predict(xgb.DMatrix(Xv)), atol=1e-6)


def test_an_objective_of_xgboost_has_xgboosts_start(data):
    (X, y, qid), _ = split(data)
    assert isinstance(bp.linear_start(X, y, qid=qid, objective="rank:ndcg"), xgb.Booster)
    assert isinstance(bp.linear_start(X, y, qid=qid, objective="lambdarank"), lgb.Booster)


def test_other_objectives_are_refused(data):
    (X, y, qid), _ = split(data)
    with pytest.raises(ValueError, match="pass a loss"):
        bp.LGBMRanker(objective="poisson", start="linear").fit(X, y, qid=qid)
