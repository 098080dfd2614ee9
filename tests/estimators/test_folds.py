"""`fit_folds`: the mean of the folds' models, and scores of models that have not seen a row."""

import pickle

import numpy as np
import pytest

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")
pd = pytest.importorskip("pandas")

RANKERS = {
    "lightgbm": lambda **given: bp.LGBMRanker(
        **{"objective": bp.CRR(), "num_leaves": 4, "n_estimators": 10, "n_jobs": 1, "verbose": -1, **given}
    ),
    "xgboost": lambda **given: bp.XGBRanker(
        **{"objective": bp.CRR(), "max_depth": 2, "n_estimators": 10, "n_jobs": 1, **given}
    ),
}
both = pytest.mark.parametrize("framework", RANKERS)


@pytest.fixture(scope="module")
def data():
    made = bp.datasets.make_ranking(n_queries=50, random_state=6)
    return made.X, made.y, made.qid


@both
def test_model_is_the_mean_and_each_row_is_scored_unseen(framework, data):
    X, y, qid = data
    ranker = RANKERS[framework]()
    mean = bp.fit_folds(ranker, X, y, qid=qid, n_splits=4)
    scores = np.mean([one.predict(X) for one in mean.fold_rankers_], axis=0)
    np.testing.assert_allclose(mean.predict(X), scores, atol=1e-12 if framework == "lightgbm" else 1e-5)
    folds = bp.group_folds(bp.Queries(y, qid=qid), 4, shuffle=True, random_state=0)
    for one, (train, held) in zip(mean.fold_rankers_, folds, strict=True):
        np.testing.assert_array_equal(mean.out_of_fold_scores_[held], one.predict(X[held]))
        again = RANKERS[framework]()
        given = {"qid": qid[train], "eval_set": [(X[held], y[held])], "eval_qid": [qid[held]]}
        if framework == "lightgbm":
            given["callbacks"] = [lgb.early_stopping(50, verbose=False)]
        else:
            again.set_params(early_stopping_rounds=50)
            given["verbose"] = False
        np.testing.assert_array_equal(one.predict(X), again.fit(X[train], y[train], **given).predict(X))
    assert not hasattr(ranker, "fold_rankers_")
    assert mean.get_params() == ranker.get_params()


@both
def test_it_is_an_ordinary_fitted_ranker(framework, data):
    X, y, qid = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["kind"] = pd.Categorical(np.where(np.arange(len(y)) % 3, "a", "b"))
    frame["query"], frame["grade"] = qid, y
    more = {"enable_categorical": True} if framework == "xgboost" else {}
    mean = bp.fit_folds(RANKERS[framework](**more), frame, "grade", qid="query", n_splits=3)
    expected = mean.predict(frame)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mean)).predict(frame), expected)
    np.testing.assert_allclose(mean.export().predict(frame.drop(columns=["query", "grade"])), expected, atol=1e-6)
    assert mean.score(frame) > bp.NDCG(10).score(y, np.zeros(len(y)), qid=qid)
    with pytest.raises(ValueError, match=r"features|column"):
        mean.predict(frame.drop(columns="x0"))


@both
def test_weights_pairs_positions_and_labels_go_along(framework, data):
    X, y, qid = data
    rng = np.random.default_rng(0)
    weight, sale = rng.uniform(0.5, 2.0, len(y)), rng.integers(0, 2, len(y)).astype(float)
    position = np.concatenate([np.arange(1, n + 1) for n in np.unique(qid, return_counts=True)[1]])
    rows = np.flatnonzero(qid[1:] == qid[:-1])
    cases = [
        ({"objective": bp.QBRank()}, {"sample_weight": weight}),
        ({"objective": bp.RankNet()}, {"pairs": bp.Pairs(rows, rows + 1)}),
        ({"objective": bp.Unbiased(base=bp.RankNet())}, {"position": position}),
        ({"objective": bp.QBRank().on("sale")}, {"labels": {"sale": sale}}),
    ]
    train, held = bp.group_folds(bp.Queries(y, qid=qid), 2, shuffle=True, random_state=0)[0]
    more = {"verbose": False} if framework == "xgboost" else {}
    for params, given in cases:
        first = bp.fit_folds(RANKERS[framework](**params), X, y, qid=qid, n_splits=2, **given).fold_rankers_[0]
        part = {name: values[train] for name, values in given.items() if name in ("sample_weight", "position")}
        if "pairs" in given:
            part["pairs"] = given["pairs"].of_rows(train, len(y))[0]
        if "labels" in given:
            part["labels"] = {"sale": sale[train]}
        trees = first.booster_.num_trees() if framework == "lightgbm" else first.get_booster().num_boosted_rounds()
        alone = RANKERS[framework](**params, n_estimators=trees)
        alone.fit(X[train], y[train], qid=qid[train], **part, **more)
        rounds = {"num_iteration": trees} if framework == "lightgbm" else {"iteration_range": (0, trees)}
        np.testing.assert_allclose(first.predict(X[held], **rounds), alone.predict(X[held]), atol=1e-6)


@both
def test_arguments_of_fit_go_along(framework, data):
    X, y, qid = data
    mean = bp.fit_folds(
        RANKERS[framework](),
        X,
        y,
        qid=qid,
        early_stopping_rounds=3,
        **({"eval_metric": bp.MRR()} if framework == "lightgbm" else {"verbose": False}),
    )
    results = mean.fold_rankers_[0].evals_result_
    assert {*next(iter(results.values()))} == {"MRR" if framework == "lightgbm" else "pre_NDCG@10"}


@both
def test_scores_to_start_from_are_divided(framework, data):
    X, y, qid = data
    start = {"lightgbm": "init_score", "xgboost": "base_margin"}[framework]
    given = {start: np.linspace(-1.0, 1.0, len(y))}
    mean = bp.fit_folds(RANKERS[framework](n_estimators=5), X, y, qid=qid, n_splits=2, **given)
    train, held = bp.group_folds(bp.Queries(y, qid=qid), 2, shuffle=True, random_state=0)[0]
    (history,) = mean.fold_rankers_[0].evals_result_.values()
    alone = RANKERS[framework](n_estimators=1).fit(X[train], y[train], qid=qid[train], **{start: given[start][train]})
    expected = bp.NDCG(10).score(y[held], alone.predict(X[held]) + given[start][held], qid=qid[held])
    assert next(iter(history.values()))[0] == pytest.approx(expected, abs=1e-6)


@both
def test_position_bias_is_that_of_the_mean(framework, data):
    X, y, qid = data
    position = np.concatenate([np.arange(1, n + 1) for n in np.unique(qid, return_counts=True)[1]])
    loss = bp.Unbiased(base=bp.RankNet())
    ranker = RANKERS[framework](objective=loss, n_estimators=3)
    mean = bp.fit_folds(ranker, X, y, qid=qid, position=position, n_splits=2)
    expected = loss.position_bias(mean.predict(X), bp.Queries(y, qid=qid, position=position))
    np.testing.assert_array_equal(mean.position_bias_["bias"], expected["bias"])


@both
def test_each_fold_has_its_share_of_few_queries_with_relevant_documents(framework):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(400, 2)), np.repeat(np.arange(100), 4)
    bought = np.zeros(400)
    bought[4 * rng.choice(100, 6, replace=False)] = 1.0
    ranker = RANKERS[framework](n_estimators=2)
    for seed in range(3):
        mean = bp.fit_folds(ranker, X, bought, qid=qid, random_state=seed)
        assert all(len(one.evals_result_) == 1 for one in mean.fold_rankers_)
    with pytest.raises(ValueError, match="n_splits=7, but 6 queries hold two different labels; pass fewer folds"):
        bp.fit_folds(ranker, X, bought, qid=qid, n_splits=7)


@both
def test_what_the_folds_decide_is_refused_by_name(framework, data):
    X, y, qid = data
    for name in (
        "eval_set",
        "eval_qid",
        {"lightgbm": "eval_init_score", "xgboost": "sample_weight_eval_set"}[framework],
    ):
        with pytest.raises(ValueError, match=f"on the fold that it has not seen; leave out {name}$"):
            bp.fit_folds(RANKERS[framework](), X, y, qid=qid, **{name: [qid]})
    rows = np.flatnonzero(qid[1:] == qid[:-1])
    with pytest.raises(ValueError, match="fit_folds stops each training by labels, and y is None"):
        bp.fit_folds(RANKERS[framework](objective=bp.RankNet()), X, None, qid=qid, pairs=bp.Pairs(rows, rows + 1))


def test_refused(data):
    X, y, qid = data
    for wrong in (bp.MPBoostRanker(), lgb.LGBMRanker(), "lambdarank"):
        with pytest.raises(ValueError, match="ranker must be a boostplug"):
            bp.fit_folds(wrong, X, y, qid=qid)
    with pytest.raises(ValueError, match="n_splits"):
        bp.fit_folds(RANKERS["lightgbm"](), X, y, qid=qid, n_splits=1)
