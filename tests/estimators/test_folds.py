"""`fit_folds`: the mean of the folds' models, and scores of models that have not seen a row."""

import pickle
from dataclasses import dataclass
from threading import Barrier, get_ident

import numpy as np
import pytest

import boostplug as bp
from boostplug.core.threads import get_num_threads

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


# --- repeats and rows without label -------------------------------------------------------------------------------


@both
def test_more_repeats_draw_other_folds_after_those_of_one(framework, data):
    X, y, qid = data
    one = bp.fit_folds(RANKERS[framework](), X, y, qid=qid, n_splits=3)
    three = bp.fit_folds(RANKERS[framework](), X, y, qid=qid, n_splits=3, n_repeats=3)
    assert len(three.fold_rankers_) == 9
    for first, again in zip(one.fold_rankers_, three.fold_rankers_[:3], strict=True):
        np.testing.assert_array_equal(again.predict(X), first.predict(X))
    random, unseen = np.random.default_rng(0), np.zeros((3, len(y)))
    for repeat in range(3):
        folds = bp.group_folds(bp.Queries(y, qid=qid), 3, shuffle=True, random_state=random)
        for ranker, (_, held) in zip(three.fold_rankers_[3 * repeat :], folds, strict=False):
            unseen[repeat, held] = ranker.predict(X[held])
    assert not np.array_equal(unseen[0], unseen[1])
    np.testing.assert_allclose(three.out_of_fold_scores_, unseen.mean(axis=0), rtol=1e-6, atol=1e-7)
    expected = np.mean([ranker.predict(X) for ranker in three.fold_rankers_], axis=0)
    np.testing.assert_allclose(three.predict(X), expected, atol=1e-5)
    if framework == "lightgbm":
        assert three.booster_.num_trees() == sum(ranker.best_iteration_ for ranker in three.fold_rankers_)
    else:
        rounds = sum(ranker.best_iteration + 1 for ranker in three.fold_rankers_)
        assert three.get_booster().num_boosted_rounds() == rounds


@both
def test_rows_without_label_are_trained_and_stopped_without(framework, data):
    X, y, qid = data
    labelled = np.random.default_rng(1).random(len(y)) < 0.6
    few = {"n_estimators": 40, "learning_rate": 0.5}
    given = {"qid": qid, "n_splits": 3, "early_stopping_rounds": 3}
    mean = bp.fit_folds(RANKERS[framework](**few), X, y, labelled=labelled, **given)
    other = bp.fit_folds(RANKERS[framework](**few), X, np.where(labelled, y, 9.0 - y), labelled=labelled, **given)
    assert mean.fold_rankers_[0].evals_result_ == other.fold_rankers_[0].evals_result_
    np.testing.assert_array_equal(mean.predict(X), other.predict(X))
    assert not np.array_equal(mean.predict(X), bp.fit_folds(RANKERS[framework](**few), X, y, **given).predict(X))


@both
def test_each_fold_has_its_share_of_queries_with_different_labels_where_few_have_any(framework):
    rng = np.random.default_rng(0)
    X, qid, y = rng.normal(size=(400, 2)), np.repeat(np.arange(100), 4), np.tile([0.0, 1.0], 200)
    labelled = np.isin(qid, rng.choice(100, 6, replace=False))
    for seed in range(3):
        given = {"qid": qid, "labelled": labelled, "random_state": seed, "n_splits": 6}
        mean = bp.fit_folds(RANKERS[framework](n_estimators=2), X, y, **given)
        judged = np.nan_to_num([next(iter(one.evals_result_.values())).popitem()[1] for one in mean.fold_rankers_])
        assert (judged > 0.0).all()
    with pytest.raises(ValueError, match="n_splits=7, but 6 queries hold two different labels; pass fewer folds"):
        bp.fit_folds(RANKERS[framework](), X, y, qid=qid, labelled=labelled, n_splits=7)


# --- several trainings at once ------------------------------------------------------------------------------------


@both
def test_the_model_is_the_same_for_any_number_of_threads_up_to_the_number_of_trainings(framework):
    made = bp.datasets.make_ranking(n_queries=60, random_state=2)
    more = {"lightgbm": {"extra_trees": True, "subsample": 0.8, "subsample_freq": 1}, "xgboost": {"subsample": 0.8}}
    means = [
        bp.fit_folds(
            RANKERS[framework](n_jobs=n_jobs, **more[framework]), made.X, made.y, qid=made.qid, n_splits=3, n_repeats=2
        )
        for n_jobs in (1, 2, 4, 6)
    ]
    for n_jobs, mean in zip((1, 2, 4, 6), means, strict=True):
        np.testing.assert_array_equal(mean.predict(made.X), means[0].predict(made.X))
        np.testing.assert_array_equal(mean.out_of_fold_scores_, means[0].out_of_fold_scores_)
        assert mean.get_params()["n_jobs"] == n_jobs
        assert [one.get_params()["n_jobs"] for one in mean.fold_rankers_] == [n_jobs] * 6
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mean)).predict(made.X), mean.predict(made.X))


SEEN = []
"""Thread and number of threads of each gradient."""
BOTH_THERE = Barrier(2, timeout=60)


@dataclass(frozen=True, kw_only=True)
class Seen(bp.RankNet):
    """RankNet, whose gradients are recorded; with `together` the first rounds of two trainings wait for each other."""

    together: bool = False

    def compute_gradient_hessian(self, scores, queries, scale):
        SEEN.append((get_ident(), get_num_threads()))
        if self.together and not scores.any():
            BOTH_THERE.wait()
        return super().compute_gradient_hessian(scores, queries, scale)


@both
@pytest.mark.parametrize(("n_jobs", "each"), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)])
def test_threads_are_shared_among_the_folds(framework, n_jobs, each, data):
    X, y, qid = data
    SEEN.clear()
    ranker = RANKERS[framework](objective=Seen(together=n_jobs > 1), n_jobs=n_jobs, n_estimators=3)
    bp.fit_folds(ranker, X, y, qid=qid, n_splits=2)
    assert len({thread for thread, _ in SEEN}) == min(n_jobs, 2)
    assert {number for _, number in SEEN} == {each}


@both
@pytest.mark.parametrize(("n_jobs", "each"), [(None, 3), (-1, 3), (-2, 2)])
def test_all_threads_are_those_of_losses(framework, n_jobs, each, data):
    X, y, qid = data
    SEEN.clear()
    bp.set_num_threads(6)
    try:
        ranker = RANKERS[framework](objective=Seen(together=True), n_jobs=n_jobs, n_estimators=3)
        bp.fit_folds(ranker, X, y, qid=qid, n_splits=2)
    finally:
        bp.set_num_threads(None)
    assert {number for _, number in SEEN} == {each}
    assert ranker.get_params()["n_jobs"] == n_jobs


def test_any_alias_gives_the_number_of_threads(data):
    X, y, qid = data
    SEEN.clear()
    ranker = bp.LGBMRanker(objective=Seen(), n_estimators=2, num_threads=4, verbose=-1)
    assert bp.fit_folds(ranker, X, y, qid=qid, n_splits=2).get_params()["num_threads"] == 4
    assert {number for _, number in SEEN} == {2}


@dataclass(frozen=True, kw_only=True)
class Fails(bp.RankNet):
    """Fails on training sets of so many queries, once another training has begun."""

    n_queries: int

    def compute_gradient_hessian(self, scores, queries, scale):
        if queries.n_queries == self.n_queries:
            BOTH_THERE.wait()
            raise KeyError("the loss of one fold")
        if not scores.any():
            BOTH_THERE.wait()
        SEEN.append(queries.n_queries)
        return super().compute_gradient_hessian(scores, queries, scale)


@both
@pytest.mark.parametrize("failing", [33, 34])
def test_an_error_in_one_fold_is_raised_and_the_others_end(framework, failing):
    made = bp.datasets.make_ranking(n_queries=67, random_state=0)
    SEEN.clear()
    ranker = RANKERS[framework](objective=Fails(n_queries=failing), n_jobs=2, n_estimators=20_000)
    with pytest.raises(KeyError, match="the loss of one fold"):
        bp.fit_folds(ranker, made.X, made.y, qid=made.qid, n_splits=2, early_stopping_rounds=20_000)
    assert len(SEEN) < 10_000


def test_callbacks_see_one_training_after_the_other(data):
    X, y, qid = data
    rounds, history = [], {}
    given = {
        "qid": qid,
        "n_splits": 3,
        "callbacks": [lgb.record_evaluation(history), lambda env: rounds.append(env.iteration)],
    }
    ranker = RANKERS["lightgbm"](n_jobs=3, objective=Seen())
    SEEN.clear()
    mean = bp.fit_folds(ranker, X, y, **given)
    assert rounds == [*range(10)] * 3
    assert history == mean.fold_rankers_[-1].evals_result_
    assert {number for _, number in SEEN} == {3}


class Counting(xgb.callback.TrainingCallback):
    """Counts rounds, in each copy."""

    rounds = 0

    def after_iteration(self, model, epoch, evals_log):
        self.rounds += 1
        assert epoch + 1 == self.rounds
        return False


def test_callbacks_of_xgboost_are_copied_for_each_fold(data):
    X, y, qid = data
    ranker = RANKERS["xgboost"](n_jobs=2, callbacks=[Counting()])
    mean = bp.fit_folds(ranker, X, y, qid=qid, n_splits=2)
    assert mean.callbacks == ranker.callbacks == mean.fold_rankers_[0].callbacks
    assert ranker.callbacks[0].rounds == 0


@both
@pytest.mark.filterwarnings("error")
def test_warnings_of_the_folds_arrive(framework, data):
    X, y, qid = data
    ranker = RANKERS[framework](n_jobs=2, n_estimators=2)
    idle = {"qid": qid, "n_splits": 2, "position": np.ones(len(y), int)}
    with pytest.warns(UserWarning, match="position is not used by objective") as caught:
        bp.fit_folds(ranker, X, y, **idle)
    assert len(caught) == 2
    with pytest.raises(UserWarning, match="position is not used by objective"):
        bp.fit_folds(ranker, X, y, **idle)


@both
def test_a_linear_model_is_a_third_of_the_mean(framework, data):
    X, y, qid = data
    plain = bp.fit_folds(RANKERS[framework](), X, y, qid=qid)
    mean = bp.fit_folds(RANKERS[framework](), X, y, qid=qid, linear=True)
    linear = bp.LinearRanker().fit(X, y, qid=qid)
    added = mean.predict(X) - 2 / 3 * plain.predict(X)
    slope, constant = np.polyfit(linear.predict(X), added, 1)
    assert slope > 0.0
    atol = 1e-12 if framework == "lightgbm" else 1e-5
    np.testing.assert_allclose(added, slope * linear.predict(X) + constant, atol=atol)
    unseen = np.zeros(len(y))
    for train, held in bp.group_folds(bp.Queries(y, qid=qid), 5, shuffle=True, random_state=0):
        unseen[held] = bp.LinearRanker().fit(X[train], y[train], qid=qid[train]).predict(X[held])
    expected = 2 / 3 * plain.out_of_fold_scores_ + slope * unseen
    np.testing.assert_allclose(mean.out_of_fold_scores_, expected, atol=1e-5)

    def spread(scores):
        means = np.array([scores[qid == one].mean() for one in qid])
        return (scores - means).std()

    assert slope * spread(unseen) == pytest.approx(spread(plain.out_of_fold_scores_) / 3, rel=1e-4)


@both
def test_a_linear_part_meets_what_else_a_ranker_has(framework, data):
    X, y, qid = data
    names = [f"x {j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    frame["kind"] = pd.Categorical(np.where(np.arange(len(y)) % 3, "a", "b"))
    more = {"enable_categorical": True} if framework == "xgboost" else {}
    mean = bp.fit_folds(RANKERS[framework](**more), frame, y, qid=qid, linear=True)
    scores = mean.predict(frame)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mean)).predict(frame), scores)
    np.testing.assert_allclose(mean.export().predict(frame), scores, rtol=1e-6)
    twice = bp.fit_folds(RANKERS[framework](**more), frame, y, qid=qid, linear=True, n_repeats=2)
    assert len(twice.fold_rankers_) == 10
    assert np.corrcoef(twice.predict(frame), scores)[0, 1] > 0.8
    assert mean.feature_importances_.shape == (len(names) + 1,)
    both_means = bp.mean_model([mean, mean])
    rows = frame if framework == "lightgbm" else xgb.DMatrix(frame, enable_categorical=True)
    np.testing.assert_allclose(both_means.predict(rows), scores, atol=1e-5)


@both
def test_a_linear_part_of_choices_is_their_logit(framework, data):
    X, y, qid = data
    chosen = np.zeros(len(y))
    chosen[np.flatnonzero(np.diff(qid, prepend=-1.0))] = 1.0
    ranker = RANKERS[framework](objective=bp.ListNet(target="labels"))
    plain, mean = (bp.fit_folds(ranker, X, chosen, qid=qid, linear=linear) for linear in (False, True))
    logit = bp.LinearRanker(loss="softmax").fit(X, chosen, qid=qid).predict(X)
    added = mean.predict(X) - 2 / 3 * plain.predict(X)
    assert np.corrcoef(added, logit)[0, 1] > 1.0 - 1e-6


@both
def test_a_linear_part_is_refused_where_it_cannot_keep_what_is_asked(framework, data):
    X, y, qid = data
    start = {"lightgbm": "init_score", "xgboost": "base_margin"}[framework]
    pairs = bp.Pairs([0], [1])
    for ranker, more, named in (
        (RANKERS[framework](monotone_constraints=[1] * X.shape[1]), {}, "monotone_constraints"),
        (RANKERS[framework](), {start: np.zeros(len(y))}, start),
        (RANKERS[framework](objective=bp.RankNet()), {"pairs": pairs}, "pairs"),
    ):
        with pytest.raises(ValueError, match=f"cannot keep {named}; leave out linear"):
            bp.fit_folds(ranker, X, y, qid=qid, linear=True, **more)
    from scipy.sparse import csr_matrix

    with pytest.raises(ValueError, match="sparse"):
        bp.fit_folds(RANKERS[framework](), csr_matrix(np.nan_to_num(X)), y, qid=qid, linear=True)
