"""What every reference ranker keeps: scikit-learn's checks, input, weights, validation, saving, converting."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
import sklearn
from one_query import one_query
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

import boostplug as bp
from boostplug.core.threads import forced_threads
from boostplug.rankers import RANKERS

SETTINGS = [setting for settings in RANKERS.values() for setting in settings]
FIRST = [settings[0] for settings in RANKERS.values()]


def each(settings):
    return pytest.mark.parametrize("ranker", settings, ids=repr)


every_ranker, every_setting = each(FIRST), each(SETTINGS)
every_ranker_of_rounds = each([one for one in FIRST if "n_estimators" in one.get_params()])


@pytest.fixture(scope="module")
def data():
    """30 queries whose grades hang on three of five features, with missing values."""
    rng = np.random.default_rng(0)
    n = 300
    X = rng.normal(size=(n, 5)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2] + 0.5 * rng.normal(size=n)), 0, 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, np.repeat(np.arange(30), 10)


def small(ranker, n_estimators=5):
    return clone(ranker).set_params(**known(ranker, n_estimators=n_estimators, random_state=0))


def known(ranker, **params):
    """Return those parameters that the ranker has: the linear one has no rounds and draws nothing."""
    return {name: value for name, value in params.items() if name in ranker.get_params()}


# scikit-learn's own checks


def with_one_query(ranker):
    params = {**ranker.get_params(deep=False), **known(ranker, n_estimators=3, random_state=0)}
    return one_query(type(ranker))(**params)


REPEATED = "check_sample_weight_equivalence_on_dense_data"
SINGLE = "check_fit2d_1sample"
NOT_APPLICABLE = {
    REPEATED: "a repeated document is not one of twice the weight: the two are a tied pair",
    SINGLE: "one document is no pair: the error speaks of pairs, not of samples",
}


def not_applicable(ranker):
    """Return the checks that a setting does not pass, and why."""
    passed = set()
    if isinstance(ranker, bp.AdaRankRanker):  # learns from lists, not from pairs
        passed = {SINGLE, REPEATED} if isinstance(ranker.metric, bp.MAP) else {SINGLE}
    if isinstance(ranker, (bp.QBRankRanker, bp.QuadraticBoundRanker, bp.LinearRanker)):
        passed = {SINGLE}  # the label of a single document teaches, too
    return {check: why for check, why in NOT_APPLICABLE.items() if check not in passed}


# The checks look at input, which all settings of a ranker take by one way, but where another estimator is fitted.
CHECKED = [*FIRST, *(setting for setting in SETTINGS if getattr(setting, "classifier", None))]


@parametrize_with_checks([with_one_query(setting) for setting in CHECKED])
def test_scikit_learn(estimator, check):
    fails = check.func.__name__ in not_applicable(estimator)  # a mark would print each: half a second
    with pytest.raises((AssertionError, ValueError)) if fails else nullcontext():
        check(estimator)


# What users of LightGBM, XGBoost and scikit-learn expect


@every_setting
def test_learns(ranker, data):
    X, y, qid = data
    fitted = small(ranker, 30)
    assert fitted.fit(X[:200], y[:200], qid=qid[:200]) is fitted
    random = bp.NDCG(10)(np.zeros(100), bp.Queries(y[200:], qid=qid[200:]))
    assert fitted.score(X[200:], y[200:], qid=qid[200:]) > random + 0.1
    assert fitted.n_features_in_ == 5
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)


@every_setting
def test_same_seed_same_model_and_cloned(ranker, data):
    X, y, qid = data
    first, second = (small(ranker).fit(X, y, qid=qid) for _ in range(2))
    assert first.model_ == second.model_
    assert repr(clone(first)) == repr(first)
    assert not hasattr(clone(first), "model_")


@every_setting
def test_query_ids_sizes_and_frames_are_one(ranker, data):
    pd = pytest.importorskip("pandas")
    X, y, qid = data
    by_id = small(ranker).fit(X, y, qid=qid)
    by_size = small(ranker).fit(X, y, group=np.full(30, 10))
    names = [f"f{k}" for k in range(5)]
    frame = pd.DataFrame(X, columns=names).assign(qid=qid)
    by_frame = small(ranker).fit(frame, pd.Series(y))
    assert by_id.model_.rounds == by_size.model_.rounds == by_frame.model_.rounds
    assert list(by_frame.feature_names_in_) == list(by_frame.model_.feature_names) == names
    np.testing.assert_array_equal(by_frame.predict(frame), by_id.predict(X))
    assert by_frame.score(frame, y) == by_id.score(X, y, qid=qid)
    with pytest.raises(ValueError, match="feature names should match"):
        by_frame.predict(frame[names[::-1]])


@every_ranker
def test_a_query_without_documents_has_no_scores(ranker, data):
    pd = pytest.importorskip("pandas")
    X, y, qid = data
    fitted = small(ranker).fit(X, y, qid=qid)
    for none in (X[:0], pd.DataFrame(X[:0]), pd.DataFrame([], columns=range(5))):
        for scores in (fitted.predict(none), fitted.model_.predict(none), *fitted.staged_predict(none)):
            assert scores.shape == (0,)
    with pytest.raises(ValueError, match="0 sample"):
        small(ranker).fit(X[:0], y[:0], group=[])


@every_setting
def test_weights_per_query_are_weights_per_row(ranker, data):
    X, y, qid = data
    weight = np.random.default_rng(1).random(30) + 0.1
    by_query = small(ranker).fit(X, y, qid=qid, sample_weight=weight)
    by_row = small(ranker).fit(X, y, qid=qid, sample_weight=np.repeat(weight, 10))
    plain = small(ranker).fit(X, y, qid=qid)
    assert by_query.model_ == by_row.model_ != plain.model_


@every_ranker
def test_validation_and_early_stopping(ranker, data):
    X, y, qid = data
    train, valid = slice(0, 200), slice(200, 300)
    sets = {"eval_set": [(X[part], y[part]) for part in (train, valid)], "eval_qid": [qid[train], qid[valid]]}
    stop = {"eval_metric": [bp.MAP(), bp.NDCG(3)], "early_stopping_rounds": 4}
    fitted = small(ranker, 60).fit(X[train], y[train], qid=qid[train], **sets, **stop)
    results = fitted.evals_result_
    assert list(results) == ["validation_0", "validation_1"]
    values = np.array(results["validation_1"]["NDCG@3"])
    best = int(np.argmax(values)) + 1
    assert fitted.best_iteration_ == len(fitted.model_) == best
    assert len(values) == len(fitted.history_["alpha"]) <= best + 4
    assert fitted.score(X[valid], y[valid], qid=qid[valid], metric=bp.NDCG(3)) == pytest.approx(values[best - 1])
    if len(values) == best + 4 < 60:
        assert "4 rounds" in fitted.stop_reason_


class _Valued(bp.Metric):
    """A metric of given values, one for each call."""

    def __init__(self, values, *, lower=False):
        self.values, self.calls, self.lower = values, 0, lower

    @property
    def greater_is_better(self):
        return not self.lower

    def compute_per_query(self, scores, queries):
        self.calls += 1
        return np.full(queries.n_queries, self.values[self.calls - 1])


@every_ranker_of_rounds
@pytest.mark.parametrize(
    ("values", "lower", "best"),
    [
        ([0.1, 0.4, 0.2, 0.4, 0.3], False, 2),
        ([0.4, 0.3, 0.1, 0.2, 0.1], True, 3),
        ([np.nan, 0.1, np.nan, 0.2, 0.1], False, 4),
        ([0.1, 0.2, 0.3, 0.4, 0.5], False, 5),
    ],
)
def test_the_best_round_on_validation_is_kept_and_every_round_recorded(ranker, data, values, lower, best):
    X, y, qid = data
    metrics = [bp.NDCG(3), _Valued(values, lower=lower)]
    sets = {"eval_set": [(X[200:], y[200:])], "eval_qid": [qid[200:]], "eval_metric": metrics}
    fitted = small(ranker).fit(X, y, qid=qid, **sets)
    sets["eval_metric"] = _Valued([0.1, 0.2, 0.3, 0.4, 0.5])
    whole = small(ranker).fit(X, y, qid=qid, **sets).model_
    assert len(whole) == 5
    assert fitted.best_iteration_ == len(fitted.model_) == best
    assert fitted.model_.rounds == whole.rounds[:best]
    assert fitted.stop_reason_ == "n_estimators"
    assert {len(record) for record in fitted.history_.values()} == {5}
    assert [len(record) for record in fitted.evals_result_["validation_0"].values()] == [5, 5]
    stages = list(fitted.staged_predict(X))
    assert len(stages) == best
    np.testing.assert_allclose(stages[-1], fitted.predict(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fitted.model_.to_lightgbm().predict(X), fitted.predict(X), rtol=1e-9, atol=1e-9)
    at = fitted.evals_result_["validation_0"]["NDCG@3"][best - 1]
    assert fitted.score(X[200:], y[200:], qid=qid[200:], metric=bp.NDCG(3)) == pytest.approx(at)


@every_ranker_of_rounds
def test_a_validation_set_that_cannot_judge_leaves_every_round(ranker, data):
    X, y, qid = data
    sets = {"eval_set": [(X[:10], np.zeros(10))], "eval_group": [[10]], "eval_metric": bp.PairError()}
    if isinstance(ranker, bp.AdaRankRanker):
        ranker = clone(ranker).set_params(metric=bp.NDCG(3, empty=1))  # its own metric must be able to
    with pytest.warns(UserWarning, match="PairError is undefined .NaN. on eval_set's last entry .* chooses no round"):
        fitted = small(ranker).fit(X, y, qid=qid, **sets)
    assert np.isnan(fitted.evals_result_["validation_0"]["PairError"]).all()
    kept = 1 if isinstance(ranker, bp.AdaRankRanker) else 5  # the first round of which its own metric says 1
    assert fitted.best_iteration_ == len(fitted.model_) == kept
    assert fitted.model_.rounds == small(ranker).fit(X, y, qid=qid).model_.rounds[:kept]


class _Interrupting(bp.Metric):
    """A metric that is interrupted at its third call, as by Ctrl-C; each round is better than the one before."""

    calls = 0

    def compute_per_query(self, scores, queries):
        type(self).calls += 1
        if type(self).calls == 3:
            raise KeyboardInterrupt
        return np.full(queries.n_queries, float(type(self).calls))


@every_ranker_of_rounds
def test_ctrl_c_leaves_the_rounds_so_far(ranker, data):
    X, y, qid = data
    _Interrupting.calls = 0
    fitted = small(ranker, 10)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid], eval_metric=[bp.NDCG(5), _Interrupting()])
    assert fitted.stop_reason_ == "interrupted"
    assert len(fitted.model_) == fitted.best_iteration_ == 2
    assert {len(values) for values in fitted.evals_result_["validation_0"].values()} == {2}
    assert fitted.model_ == small(ranker, 2).fit(X, y, qid=qid).model_


class _Failing(bp.Metric):
    """A metric that fails."""

    def compute_per_query(self, scores, queries):
        raise ValueError("cannot be computed")


@every_ranker
def test_a_fit_that_fails_leaves_the_model_of_before(ranker, data):
    X, y, qid = data
    arguments = {"qid": qid, "eval_set": [(X, y)], "eval_metric": _Failing()}
    fresh = small(ranker)
    with pytest.raises(ValueError, match="cannot be computed"):
        fresh.fit(X, y, **arguments)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    fitted = small(ranker).fit(X, y, qid=qid)
    model, reason = fitted.model_, fitted.stop_reason_
    with pytest.raises(ValueError, match="cannot be computed"):
        fitted.fit(X, y, **arguments)
    assert fitted.model_ is model
    assert fitted.stop_reason_ == reason
    np.testing.assert_array_equal(fitted.predict(X), model.predict(X))


@every_setting
def test_pickled_saved_converted(ranker, data, tmp_path):
    X, y, qid = data
    fitted = small(ranker, 10).fit(X, y, qid=qid)
    expected = fitted.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), expected)
    fitted.model_.save(tmp_path / "model.json")
    np.testing.assert_array_equal(bp.Ensemble.load(tmp_path / "model.json").predict(X), expected)
    np.testing.assert_allclose(fitted.model_.to_lightgbm().predict(X), expected, rtol=1e-12, atol=1e-12)
    xgb = pytest.importorskip("xgboost")
    if not isinstance(ranker, bp.AdaRankRanker):  # whose models add up features
        np.testing.assert_allclose(fitted.model_.to_xgboost().predict(xgb.DMatrix(X)), expected, rtol=1e-6, atol=1e-6)


@each(FIRST[:1])
def test_grid_search_with_folds_of_queries(ranker, data):
    X, y, qid = data
    folds = {"cv": bp.group_folds(qid, 3), "scoring": bp.make_scorer(bp.NDCG(5))}
    with sklearn.config_context(enable_metadata_routing=True):
        one = small(ranker).set_fit_request(qid=True)
        search = GridSearchCV(one, {"n_estimators": [1, 8]}, **folds).fit(X, y, qid=qid)
        scores = cross_validate(search.best_estimator_, X, y, params={"qid": qid}, **folds)
    assert search.best_score_ > 0
    assert scores["test_score"].shape == (3,)


@every_ranker
def test_any_number_of_threads_gives_the_same_bits(ranker):
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 3, 8_000), np.full(200, 40)
    X = y[:, None] + rng.normal(scale=2.0, size=(8_000, 4))
    found = []
    for n_threads in (1, 3):
        with forced_threads(n_threads):
            fitted = small(ranker, 3).set_params(**{"max_thresholds": 20} if "max_thresholds" in vars(ranker) else {})
            found.append(fitted.fit(X, y, group=group))
    assert found[0].model_ == found[1].model_
    for name, values in found[0].history_.items():
        np.testing.assert_array_equal(found[1].history_[name], values, err_msg=name)


@every_setting
@pytest.mark.parametrize("how", ["labelled", "weight"])
def test_rows_without_label_or_weight_change_nothing(ranker, data, how):
    if how == "labelled" and isinstance(ranker, bp.AdaRankRanker):
        pytest.skip("its metric ranks the rows that are not labelled, too")
    X, y, qid = data
    out = np.arange(300) % 4 == 3
    extra = {"labelled": ~out} if how == "labelled" else {"sample_weight": (~out).astype(float)}
    fitted = small(ranker).fit(X, np.where(out, np.nan if how == "labelled" else 2.0 - y, y), qid=qid, **extra)
    kept = small(ranker).fit(X[~out], y[~out], qid=qid[~out])
    for name, values in kept.history_.items():
        np.testing.assert_allclose(fitted.history_[name], values, rtol=1e-9, atol=1e-12, err_msg=name)
