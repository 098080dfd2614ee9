"""`fit_folds`: the mean of the folds' models, and scores of models that have not seen a row."""

import pickle
from dataclasses import dataclass
from threading import Barrier, get_ident

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework, lgb, xgb
from scipy.sparse import csr_matrix

import boostplug as bp
from boostplug.core.threads import get_num_threads

DATA = bp.datasets.make_ranking(n_queries=50, random_state=6)
X, Y, QID = DATA.X, DATA.y, DATA.qid
POSITION = np.concatenate([np.arange(1, n + 1) for n in DATA.group])
NEXT = np.flatnonzero(QID[1:] == QID[:-1])  # rows above another row of the same query
TWO = bp.Queries(Y, qid=QID)


def ranker(F, loss=bp.CRR(), **params):  # noqa: B008 (a value)
    return F.ranker(loss, **{"n_estimators": 10, **params})


def fit_folds(F, one=None, X=X, y=Y, **given):
    return bp.fit_folds(one or ranker(F), X, y, **{"qid": QID, "n_splits": 3, **given})


def folds(n, random_state=0):
    return bp.group_folds(TWO, n, shuffle=True, random_state=random_state)


def frame():
    """Return the features as a table with one column of categories."""
    return pd.DataFrame(X).add_prefix("x ").assign(kind=pd.Categorical(np.where(np.arange(len(Y)) % 3, "a", "b")))


@every_framework
def test_model_is_the_mean_and_each_row_is_scored_unseen(F):
    one = ranker(F)
    mean = fit_folds(F, one)
    scores = np.mean([each.predict(X) for each in mean.fold_rankers_], axis=0)
    np.testing.assert_allclose(mean.predict(X), scores, atol=max(F.digits, 1e-12) * 10)
    for each, (train, held) in zip(mean.fold_rankers_, folds(3), strict=True):
        np.testing.assert_array_equal(mean.out_of_fold_scores_[held], each.predict(X[held]))
        stop = {"patience": 50, "valid": (X[held], Y[held], QID[held])}
        again = F.fit(bp.CRR(), X[train], Y[train], qid=QID[train], n_estimators=10, **stop)
        np.testing.assert_array_equal(each.predict(X), again.predict(X))
    assert not hasattr(one, "fold_rankers_")
    assert mean.get_params() == one.get_params()


@every_framework
@pytest.mark.parametrize("linear", [False, True])
def test_it_is_an_ordinary_fitted_ranker(F, linear):
    features, table = frame(), frame().assign(query=QID, grade=Y)
    mean = fit_folds(F, ranker(F, **F.categories), table, "grade", qid="query", linear=linear)
    expected = mean.predict(table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mean)).predict(table), expected)
    np.testing.assert_allclose(mean.export().predict(features), expected, rtol=1e-6, atol=1e-6)
    assert mean.score(table) > bp.NDCG(10).score(Y, np.zeros(len(Y)), qid=QID)
    assert mean.feature_importances_.shape == (X.shape[1] + 1,)
    with pytest.raises(ValueError, match=r"features|column"):
        mean.predict(table.drop(columns="x 0"))
    twice = bp.mean_model([mean, mean])
    rows = features if F.name == "lightgbm" else xgb.DMatrix(features, enable_categorical=True)
    np.testing.assert_allclose(twice.predict(rows), expected, atol=1e-5)


@every_framework
def test_weights_pairs_positions_and_labels_go_along(F):
    rng = np.random.default_rng(0)
    weight, sale = rng.uniform(0.5, 2.0, len(Y)), rng.integers(0, 2, len(Y)).astype(float)
    train, held = folds(2)[0]
    pairs = bp.Pairs(NEXT, NEXT + 1)
    for loss, given, part in (
        (bp.QBRank(), {"sample_weight": weight}, {"sample_weight": weight[train]}),
        (bp.RankNet(), {"pairs": pairs}, {"pairs": pairs.of_rows(train, len(Y))[0]}),
        (bp.Unbiased(base=bp.RankNet()), {"position": POSITION}, {"position": POSITION[train]}),
        (bp.QBRank().on("sale"), {"labels": {"sale": sale}}, {"labels": {"sale": sale[train]}}),
    ):
        first = fit_folds(F, ranker(F, loss), n_splits=2, **given).fold_rankers_[0]
        trees = F.n_rounds(first)
        alone = F.fit(loss, X[train], Y[train], qid=QID[train], n_estimators=trees, **part)
        np.testing.assert_allclose(first.predict(X[held], **F.first(trees)), alone.predict(X[held]), atol=1e-6)


@every_framework
def test_arguments_of_fit_go_along(F):
    more = {"eval_metric": bp.MRR()} if F.name == "lightgbm" else {"verbose": False}
    results = fit_folds(F, early_stopping_rounds=3, **more).fold_rankers_[0].evals_result_
    assert {*next(iter(results.values()))} == {"MRR" if F.name == "lightgbm" else "pre_NDCG@10"}


@every_framework
def test_scores_to_start_from_are_divided(F):
    start = np.linspace(-1.0, 1.0, len(Y))
    first = fit_folds(F, n_splits=2, **{F.start: start}).fold_rankers_[0]
    train, held = folds(2)[0]
    alone = F.fit(bp.CRR(), X[train], Y[train], qid=QID[train], n_estimators=1, **{F.start: start[train]})
    expected = bp.NDCG(10).score(Y[held], alone.predict(X[held]) + start[held], qid=QID[held])
    assert next(iter(F.history(first).values()))[0] == pytest.approx(expected, abs=1e-6)


@every_framework
def test_position_bias_is_that_of_the_mean(F):
    loss = bp.Unbiased(base=bp.RankNet())
    mean = fit_folds(F, ranker(F, loss, n_estimators=3), position=POSITION, n_splits=2)
    expected = loss.position_bias(mean.predict(X), bp.Queries(Y, qid=QID, position=POSITION))
    np.testing.assert_array_equal(mean.position_bias_["bias"], expected["bias"])


@every_framework
@pytest.mark.parametrize("few", ["relevant documents", "labels"])
def test_each_fold_has_its_share_of_few_queries_with_two_different_labels(F, few):
    rng = np.random.default_rng(0)
    x, qid, y = rng.normal(size=(400, 2)), np.repeat(np.arange(100), 4), np.tile([0.0, 1.0], 200)
    chosen, labelled = rng.choice(100, 6, replace=False), None
    if few == "labels":
        labelled = np.isin(qid, chosen)
    else:
        y = np.where(np.isin(np.arange(400), 4 * chosen), 1.0, 0.0)
    given = {"qid": qid, "labelled": labelled}
    for seed in range(3):
        mean = fit_folds(F, ranker(F, n_estimators=2), x, y, **given, random_state=seed, n_splits=6)
        judged = [next(iter(F.history(one).values()))[-1] for one in mean.fold_rankers_]
        assert (np.nan_to_num(judged) > 0.0).all()
    with pytest.raises(ValueError, match="n_splits=7, but 6 queries hold two different labels; pass fewer folds"):
        fit_folds(F, X=x, y=y, **given, n_splits=7)


@every_framework
def test_what_the_folds_decide_is_refused_by_name(F):
    for name in ("eval_set", "eval_qid", F.start_of_sets, F.set_weights):
        with pytest.raises(ValueError, match=f"on the fold that it has not seen; leave out {name}$"):
            fit_folds(F, **{name: [QID]})


@pytest.mark.parametrize("wrong", [bp.MPBoostRanker(), lgb.LGBMRanker(), "lambdarank"], ids=str)
def test_refused(wrong):
    with pytest.raises(ValueError, match="ranker must be a boostplug"):
        fit_folds(None, wrong)


# --- repeats and rows without label -------------------------------------------------------------------------------


@every_framework
def test_more_repeats_draw_other_folds_after_those_of_one(F):
    three = fit_folds(F, n_repeats=3)
    assert len(three.fold_rankers_) == 9
    for first, again in zip(fit_folds(F).fold_rankers_, three.fold_rankers_[:3], strict=True):
        np.testing.assert_array_equal(again.predict(X), first.predict(X))
    random, unseen = np.random.default_rng(0), np.zeros((3, len(Y)))
    for repeat in range(3):
        for one, (_, held) in zip(three.fold_rankers_[3 * repeat :], folds(3, random), strict=False):
            unseen[repeat, held] = one.predict(X[held])
    assert not np.array_equal(unseen[0], unseen[1])
    np.testing.assert_allclose(three.out_of_fold_scores_, unseen.mean(axis=0), rtol=1e-6, atol=1e-7)
    expected = np.mean([one.predict(X) for one in three.fold_rankers_], axis=0)
    np.testing.assert_allclose(three.predict(X), expected, atol=1e-5)
    assert F.n_rounds(three) == sum(F.rounds_of_best(one) for one in three.fold_rankers_)


@every_framework
def test_rows_without_label_are_trained_and_stopped_without(F):
    labelled = np.random.default_rng(1).random(len(Y)) < 0.6
    fast = ranker(F, n_estimators=20, learning_rate=0.5)
    mean, other, plain = (
        fit_folds(F, fast, y=labels, labelled=which, early_stopping_rounds=3)
        for labels, which in ((Y, labelled), (np.where(labelled, Y, np.nan), labelled), (Y, None))
    )
    assert mean.fold_rankers_[0].evals_result_ == other.fold_rankers_[0].evals_result_
    np.testing.assert_array_equal(mean.predict(X), other.predict(X))
    assert not np.array_equal(mean.predict(X), plain.predict(X))


# --- several trainings at once ------------------------------------------------------------------------------------


@every_framework
def test_the_model_is_the_same_for_any_number_of_threads_up_to_the_number_of_trainings(F):
    random = {"subsample": 0.8} | ({"extra_trees": True, "subsample_freq": 1} if F.name == "lightgbm" else {})
    means = {n: fit_folds(F, ranker(F, n_estimators=5, n_jobs=n, **random), n_splits=2, n_repeats=2) for n in (1, 2, 4)}
    for n_jobs, mean in means.items():
        np.testing.assert_array_equal(mean.predict(X), means[1].predict(X))
        np.testing.assert_array_equal(mean.out_of_fold_scores_, means[1].out_of_fold_scores_)
        assert {one.get_params()["n_jobs"] for one in (mean, *mean.fold_rankers_)} == {n_jobs}


SEEN = []
"""Thread and number of threads of each gradient."""
BOTH_THERE = Barrier(2, timeout=60)


@pytest.fixture(autouse=True)
def _nothing_seen():
    SEEN.clear()


@dataclass(frozen=True, kw_only=True)
class Seen(bp.RankNet):
    """RankNet, whose gradients are recorded; with `together` the first rounds of two trainings wait for each other."""

    together: bool = False

    def compute_gradient_hessian(self, scores, queries, scale):
        SEEN.append((get_ident(), get_num_threads()))
        if self.together and not scores.any():
            BOTH_THERE.wait()
        return super().compute_gradient_hessian(scores, queries, scale)


@every_framework
@pytest.mark.parametrize(("n_jobs", "each"), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (None, 3), (-1, 3), (-2, 2)])
def test_threads_are_shared_among_the_folds(F, n_jobs, each):
    """All of them are those of `set_num_threads`."""
    one = ranker(F, Seen(together=n_jobs != 1), n_jobs=n_jobs, n_estimators=3)
    bp.set_num_threads(6)
    try:
        fit_folds(F, one, n_splits=2)
    finally:
        bp.set_num_threads(None)
    assert len({thread for thread, _ in SEEN}) == (1 if n_jobs == 1 else 2)
    assert {number for _, number in SEEN} == {each}
    assert one.get_params()["n_jobs"] == n_jobs


def test_any_alias_gives_the_number_of_threads():
    one = bp.LGBMRanker(objective=Seen(), n_estimators=2, num_threads=4, verbose=-1)
    assert fit_folds(None, one, n_splits=2).get_params()["num_threads"] == 4
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


@every_framework
@pytest.mark.parametrize("failing", [33, 34])
def test_an_error_in_one_fold_is_raised_and_the_others_end(F, failing):
    made = bp.datasets.make_ranking(n_queries=67, random_state=0)
    one = ranker(F, Fails(n_queries=failing), n_jobs=2, n_estimators=20_000)
    with pytest.raises(KeyError, match="the loss of one fold"):
        fit_folds(F, one, made.X, made.y, qid=made.qid, n_splits=2, early_stopping_rounds=20_000)
    assert len(SEEN) < 10_000


def test_callbacks_see_one_training_after_the_other():
    rounds, history = [], {}
    callbacks = [lgb.record_evaluation(history), lambda env: rounds.append(env.iteration)]
    mean = fit_folds(None, ranker(FRAMEWORKS["lightgbm"], Seen(), n_jobs=3), callbacks=callbacks)
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


def test_callbacks_of_xgboost_are_copied_for_each_fold():
    one = ranker(FRAMEWORKS["xgboost"], n_jobs=2, callbacks=[Counting()])
    mean = fit_folds(None, one)
    assert mean.callbacks == one.callbacks == mean.fold_rankers_[0].callbacks
    assert one.callbacks[0].rounds == 0


@every_framework
@pytest.mark.filterwarnings("error")
def test_warnings_of_the_folds_arrive(F):
    idle = {"one": ranker(F, n_jobs=2, n_estimators=2), "n_splits": 2, "position": np.ones(len(Y), int)}
    with pytest.warns(UserWarning, match="position is not used by objective") as caught:
        fit_folds(F, **idle)
    assert len(caught) == 2
    with pytest.raises(UserWarning, match="position is not used by objective"):
        fit_folds(F, **idle)


# --- a linear part ------------------------------------------------------------------------------------------------


@every_framework
def test_a_linear_model_is_a_third_of_the_mean(F):
    plain, mean = (fit_folds(F, linear=linear) for linear in (False, True))
    linear = bp.LinearRanker().fit(X, Y, qid=QID).predict(X)
    added = mean.predict(X) - 2 / 3 * plain.predict(X)
    slope, constant = np.polyfit(linear, added, 1)
    assert slope > 0.0
    np.testing.assert_allclose(added, slope * linear + constant, atol=max(F.digits, 1e-12) * 10)
    unseen = np.zeros(len(Y))
    for train, held in folds(3):
        unseen[held] = bp.LinearRanker().fit(X[train], Y[train], qid=QID[train]).predict(X[held])
    expected = 2 / 3 * plain.out_of_fold_scores_ + slope * unseen
    np.testing.assert_allclose(mean.out_of_fold_scores_, expected, atol=1e-5)

    def spread(scores):
        return (scores - np.repeat(np.add.reduceat(scores, TWO.boundaries[:-1]) / DATA.group, DATA.group)).std()

    assert slope * spread(unseen) == pytest.approx(spread(plain.out_of_fold_scores_) / 3, rel=1e-4)


@every_framework
def test_a_linear_part_meets_repeats(F):
    """The linear part weighs as much in the model as in the scores of rows that no model has seen."""
    linear, shares = bp.LinearRanker().fit(X, Y, qid=QID).predict(X), []
    for n_repeats in (1, 2):
        trees, mean = (fit_folds(F, linear=linear_too, n_repeats=n_repeats) for linear_too in (False, True))
        assert len(mean.fold_rankers_) == 3 * n_repeats
        of_model, of_unseen = (
            np.polyfit(linear, of_mean - 2 / 3 * of_trees, 1)[0]
            for of_mean, of_trees in (
                (mean.predict(X), trees.predict(X)),
                (mean.out_of_fold_scores_, trees.out_of_fold_scores_),
            )
        )
        shares.append(of_model / of_unseen)
    assert shares[1] == pytest.approx(shares[0], rel=0.2)


@every_framework
def test_a_linear_part_of_choices_is_their_logit(F):
    chosen = np.zeros(len(Y))
    chosen[TWO.boundaries[:-1]] = 1.0
    one = ranker(F, bp.ListNet(target="labels"), n_estimators=3)
    plain, mean = (fit_folds(F, one, y=chosen, linear=linear, n_splits=2) for linear in (False, True))
    logit = bp.LinearRanker(loss="softmax").fit(X, chosen, qid=QID).predict(X)
    assert np.corrcoef(mean.predict(X) - 2 / 3 * plain.predict(X), logit)[0, 1] > 1.0 - 1e-6


@every_framework
def test_a_linear_part_exports_as_the_trees_do(F):
    """Also where missing values, of which the training had none, stand at the median."""
    full = np.nan_to_num(X)
    missing = np.where(np.arange(len(Y))[:, None] % 3, full, np.nan)
    plain, mean = (fit_folds(F, X=full, linear=linear) for linear in (False, True))
    bp.export(mean, to="solr", name="mean", X=full)
    with pytest.raises(ValueError, match="learnt from missing values"):  # a booster does not know of none
        bp.export(mean.booster_ if F.name == "lightgbm" else mean.get_booster(), to="solr")
    linear = bp.LinearRanker().fit(full, Y, qid=QID).predict(missing)
    assert np.corrcoef(mean.predict(missing) - 2 / 3 * plain.predict(missing), linear)[0, 1] > 1.0 - 1e-6
    mean = fit_folds(F, X=missing, linear=True)
    with pytest.raises(ValueError, match="learnt from missing values"):
        bp.export(mean, to="solr")
    bp.export(mean, to="vespa", X=missing)


@every_framework
def test_a_linear_part_is_refused_where_it_cannot_keep_what_is_asked(F):
    for one, more, named in (
        (ranker(F, monotone_constraints=[1] * X.shape[1]), {}, "monotone_constraints"),
        (ranker(F), {F.start: np.zeros(len(Y))}, F.start),
        (ranker(F, bp.RankNet()), {"pairs": bp.Pairs([0], [1])}, "pairs"),
    ):
        with pytest.raises(ValueError, match=f"cannot keep {named}; leave out linear"):
            fit_folds(F, one, linear=True, **more)
    with pytest.raises(ValueError, match="sparse"):
        fit_folds(F, X=csr_matrix(np.nan_to_num(X)), linear=True)
