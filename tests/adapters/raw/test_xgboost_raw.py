"""What XGBoost itself does with custom ranking objectives: one test per trap, named in its docstring (3.2.0, 3.4.1)."""

import json
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

xgb = pytest.importorskip("xgboost")

N_QUERIES, SIZE = 12, 10
N_ROWS = N_QUERIES * SIZE
SIZES = np.full(N_QUERIES, SIZE)
QUERY_OF_ROW = np.repeat(np.arange(N_QUERIES), SIZE)
PARAMS = {"nthread": 1, "max_depth": 2}
RANKING = {**PARAMS, "objective": "rank:pairwise", "base_score": 0}
NO_METRIC = {"disable_default_eval_metric": True}


def features():
    return np.random.default_rng(0).integers(0, 9, size=(N_ROWS, 3)).astype(np.float32)


def labels():
    return np.random.default_rng(1).integers(0, 3, N_ROWS).astype(float)


def matrix(kind=xgb.DMatrix, **changes):
    return kind(**{"data": features(), "label": labels(), "group": SIZES, "nthread": 1, **changes})


def least_squares(scores, data):
    return scores - data.get_label(), np.ones_like(scores)


def train(objective=least_squares, rounds=2, data=None, params=RANKING, **keywords):
    keywords = {"verbose_eval": False, **keywords}
    return xgb.train(params, matrix() if data is None else data, rounds, obj=objective, **keywords)


def seen_in_objective(data, *, read, **keywords):
    """Train and give what `read(scores, dmatrix)` saw at each call."""
    seen = []

    def objective(scores, dmatrix):
        seen.append(read(scores, dmatrix))
        return least_squares(scores, dmatrix)

    train(objective, data=data, **keywords)
    return seen


def evaluated(metric, data=None, params=None, **keywords):
    """Train with a custom metric on the training data and give the history of its metrics."""
    history = {}
    data = matrix() if data is None else data
    params = {**RANKING, **(params or {})}
    train(data=data, params=params, custom_metric=metric, evals=[(data, "train")], evals_result=history, **keywords)
    return history["train"]


# --- the call -----------------------------------------------------------------------------------------------------


def test_objective_gets_float32_scores_and_the_very_matrix():
    """xgb.train calls obj(preds float32[n], the DMatrix it was given)."""
    data = matrix()
    seen = seen_in_objective(data, read=lambda s, d: (s.dtype, s.shape, d is data))
    assert seen == [(np.float32, (N_ROWS,), True)] * 2


def test_preds_are_fresh_each_round():
    """Unlike LightGBM's, preds is a new array each round: kept scores stay what they were."""
    kept = seen_in_objective(matrix(), read=lambda s, d: s)
    assert kept[0] is not kept[1]
    assert not kept[0].any()


def test_the_metric_gets_margins_and_the_very_matrix():
    """With obj given, custom_metric gets raw margins (even under binary:logistic) and returns (name, value)."""
    seen = []

    def metric(scores, data):
        seen.append((scores, data))
        return "mine", 0.5

    data = matrix(group=None, label=(labels() > 0).astype(float))
    params = {**PARAMS, "objective": "binary:logistic", "base_score": 0.5}
    booster = train(data=data, params=params, custom_metric=metric, evals=[(data, "train")])
    np.testing.assert_allclose(seen[-1][0], booster.predict(data, output_margin=True))
    assert seen[-1][1] is data
    assert seen[-1][0].dtype == np.float32


def test_a_metric_cannot_say_higher_is_better():
    """custom_metric must return two values: LightGBM's third, higher_is_better, raises."""
    with pytest.raises(ValueError, match="too many values to unpack"):
        evaluated(lambda s, d: ("mine", 0.5, True))


def test_a_callable_in_params_is_an_error():
    """params={"objective": f} raises: XGBoost takes callables only as obj=."""
    with pytest.raises(xgb.core.XGBoostError, match="Unknown objective function"):
        train(None, params={**PARAMS, "objective": least_squares})


class Counter:
    """A stateful objective."""

    def __init__(self):
        self.calls = 0

    def __call__(self, scores, data):
        self.calls += 1
        return least_squares(scores, data)


def test_the_objective_is_not_copied():
    """Unlike LightGBM, xgb.train and xgb.cv call the very object they were given."""
    objective = Counter()
    train(objective)
    xgb.cv(RANKING, matrix(), 1, nfold=2, obj=objective)
    assert objective.calls == 2 + 2


def test_exceptions_inside_the_objective_reach_the_caller():
    """What an objective raises comes out of xgb.train as it is, and training works again afterwards."""

    class Boom(Exception):  # noqa: N818 - a marker that no framework can raise
        pass

    def broken(_scores, _data):
        raise Boom

    with pytest.raises(Boom):
        train(broken)
    assert train().num_boosted_rounds() == 2


def test_malformed_gradients():
    """None, lists and wrong lengths raise; float64 and one-column matrices are accepted."""
    with pytest.raises(TypeError, match="cannot unpack"):
        train(lambda s, d: None)
    with pytest.raises(TypeError, match="Expecting"):
        train(lambda s, d: ((s - d.get_label()).tolist(), [1.0] * len(s)))
    # a wrong length is first taken for flattened columns, which XGBoost warns of, and then cannot be reshaped
    with pytest.warns(FutureWarning, match="shape of the gradient"), pytest.raises(ValueError, match="cannot reshape"):
        train(lambda s, d: (s[:5], s[:5]))
    as_column = train(lambda s, d: ((s - d.get_label()).astype(float)[:, None], np.ones((len(s), 1))))
    np.testing.assert_array_equal(as_column.predict(matrix()), train().predict(matrix()))


def test_weights_are_not_applied_to_custom_gradients():
    """XGBoost never multiplies a custom gradient by the DMatrix's weights: the objective has to."""
    weighted = matrix(weight=np.random.default_rng(2).uniform(0.1, 5, N_QUERIES))
    np.testing.assert_array_equal(train(data=weighted).predict(matrix()), train().predict(matrix()))


def test_num_class_gives_a_matrix_of_scores():
    """num_class=3 hands the objective scores of shape (n, 3)."""
    shapes = []

    def objective(scores, data):
        shapes.append(scores.shape)
        return scores - data.get_label()[:, None], np.ones_like(scores)

    train(objective, params={**PARAMS, "num_class": 3}, rounds=1)
    assert shapes == [(N_ROWS, 3)]


# --- the starting scores ------------------------------------------------------------------------------------------


def test_base_score_is_not_estimated_with_obj():
    """With obj= the first scores are the constant .5, not an estimate from the labels; base_score=0 sets them."""
    read = {"read": lambda s, d: s, "rounds": 1}
    np.testing.assert_array_equal(seen_in_objective(matrix(), params=PARAMS, **read)[0], 0.5)
    np.testing.assert_array_equal(seen_in_objective(matrix(), params=RANKING, **read)[0], 0.0)


@pytest.mark.parametrize("base_score", [0, 0.5])
def test_base_margin_replaces_base_score(base_score):
    """base_margin enters preds and replaces base_score instead of adding to it; metrics and predict see it too."""
    margin = np.linspace(0, 3, N_ROWS).astype(np.float32)
    data = matrix(base_margin=margin)
    seen, params = [], {**RANKING, "base_score": base_score}

    def metric(scores, _data):
        seen.append(scores)
        return "mine", 0.0

    preds = seen_in_objective(
        data, read=lambda s, d: s, rounds=1, params=params, custom_metric=metric, evals=[(data, "train")]
    )
    np.testing.assert_array_equal(preds[0], margin)
    np.testing.assert_array_equal(seen[0], train(data=data, params=params, rounds=1).predict(data))
    assert np.ptp(seen[0]) > 2


def test_continued_training_starts_from_the_first_models_margins():
    """xgb_model= puts the first model's margins into preds; the result holds both models' trees."""
    first = train()
    preds = []

    def objective(scores, data):
        preds.append(scores)
        return least_squares(scores, data)

    both = train(objective, xgb_model=first)
    np.testing.assert_allclose(preds[0], first.predict(matrix()), rtol=1e-6)
    assert (first.num_boosted_rounds(), both.num_boosted_rounds()) == (2, 4)


# --- rankers and saved models -------------------------------------------------------------------------------------


def test_the_ranker_refuses_callables():
    """XGBRanker(objective=f) raises."""
    with pytest.raises(ValueError, match="custom objective function not supported by XGBRanker"):
        xgb.XGBRanker(objective=least_squares)


def test_the_route_to_a_ranker(tmp_path):
    """xgb.train under rank:pairwise with obj, then XGBRanker().load_model(save_raw()), predicts and reloads alike."""
    booster = train()
    expected = booster.predict(matrix())
    ranker = xgb.XGBRanker()
    ranker.load_model(booster.save_raw())
    np.testing.assert_array_equal(ranker.predict(features()), expected)
    assert (ranker.objective, ranker.n_features_in_) == ("rank:pairwise", 3)
    for path in (tmp_path / "model.ubj", tmp_path / "model.json"):
        ranker.save_model(path)
        np.testing.assert_array_equal(xgb.Booster(model_file=path).predict(matrix()), expected)
    learner = json.loads(booster.save_config())["learner"]
    assert learner["objective"]["name"] == "rank:pairwise"
    assert float(learner["learner_model_param"]["base_score"].strip("[]")) == 0


def test_a_loaded_ranker_does_not_know_its_rounds():
    """After load_model, XGBRanker's n_estimators is None and clone() has no trees: parameters are not restored."""
    ranker = xgb.XGBRanker()
    ranker.load_model(train().save_raw())
    assert ranker.get_params()["n_estimators"] is None
    assert ranker.get_booster().num_boosted_rounds() == 2
    assert not clone(ranker).__sklearn_is_fitted__()


def test_without_the_route_the_model_says_squared_error():
    """Trained with obj alone, the saved model is reg:squarederror, its default metric rmse, and XGBRanker takes it."""
    booster = train(params=PARAMS)
    assert json.loads(booster.save_config())["learner"]["objective"]["name"] == "reg:squarederror"
    ranker = xgb.XGBRanker()
    ranker.load_model(booster.save_raw())
    assert ranker.objective == "reg:squarederror"


def test_the_default_metric_is_evaluated_beside_ours():
    """With evals the default metric stays on: rmse without an objective, ndcg@32 under rank:pairwise."""
    data, history = matrix(), {}
    train(data=data, params=PARAMS, rounds=1, evals=[(data, "t")], evals_result=history)
    assert list(history["t"]) == ["rmse"]
    assert list(evaluated(lambda s, d: ("mine", 0.5))) == ["ndcg@32", "mine"]
    assert list(evaluated(lambda s, d: ("mine", 0.5), params=NO_METRIC)) == ["mine"]


@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg"])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (labels() + 0.5, "label must be either 0 or positive integer"),
        (labels() - 1, "label must be either 0 or positive integer"),
        (np.where(labels() == 2, 32, 0), "lesser than or equal to 31"),
    ],
    ids=["float", "negative", "32"],
)
def test_the_default_metric_refuses_labels(objective, y, message):
    """Under rank:* float, negative and >31 labels train with obj but raise once evals brings the default ndcg in."""
    data = matrix(label=y)
    params = {**RANKING, "objective": objective}
    train(data=data, params=params)
    with pytest.raises(xgb.core.XGBoostError, match=message):
        train(data=data, params=params, evals=[(data, "train")])
    train(data=data, params={**params, **NO_METRIC}, evals=[(data, "train")])


def test_rank_map_refuses_graded_labels_in_its_metric():
    """Under rank:map the default metric takes binary labels only."""
    data = matrix()
    with pytest.raises(xgb.core.XGBoostError, match="binary labels"):
        train(data=data, params={**RANKING, "objective": "rank:map"}, evals=[(data, "train")])


def test_ranking_objectives_do_not_ask_for_groups_with_obj():
    """Under rank:pairwise with obj, data without groups trains without a word."""
    lengths = seen_in_objective(matrix(group=None), read=lambda s, d: len(d.get_uint_info("group_ptr")))
    assert lengths == [0, 0]


@pytest.mark.parametrize("n_alone", [1, 2])
def test_the_rankers_own_metric_is_weighted_by_query_size(n_alone):
    """XGBRanker(eval_metric=f) calls f query by query and averages by query size."""
    sizes = [SIZE] * n_alone + [N_ROWS - n_alone * SIZE]
    calls = []

    def metric(y, scores):
        calls.append(len(y))
        return float(len(y))

    ranker = xgb.XGBRanker(n_estimators=1, n_jobs=1, eval_metric=metric)
    evals = {"eval_set": [(features(), labels())], "eval_group": [sizes]}
    ranker.fit(features(), labels(), group=sizes, verbose=False, **evals)
    assert calls == sizes
    weighted = np.average(sizes, weights=sizes)
    np.testing.assert_allclose(ranker.evals_result()["validation_0"]["metric"], weighted, rtol=1e-6)


# --- the DMatrix's fields -----------------------------------------------------------------------------------------

KINDS = {"DMatrix": xgb.DMatrix, "QuantileDMatrix": xgb.QuantileDMatrix}


@pytest.mark.parametrize("kind", KINDS)
def test_fields(kind):
    """Labels and weights are float32, group_ptr uint32 boundaries, get_group() its differences, nthread readable."""
    data = matrix(KINDS[kind], weight=np.arange(N_QUERIES) + 1.0)
    assert (data.get_label().dtype, data.get_weight().dtype) == (np.float32, np.float32)
    assert data.get_uint_info("group_ptr").dtype == np.uint32
    np.testing.assert_array_equal(data.get_uint_info("group_ptr"), np.arange(0, N_ROWS + 1, SIZE))
    np.testing.assert_array_equal(data.get_group(), SIZES)
    np.testing.assert_array_equal(data.get_weight(), np.arange(N_QUERIES) + 1.0)
    assert data.nthread == 1
    assert KINDS[kind](features()).nthread == -1


@pytest.mark.parametrize("kind", KINDS)
def test_missing_fields_are_empty_arrays(kind):
    """Without groups, weights or labels the getters give arrays of length 0, not None."""
    data = KINDS[kind](features())
    assert len(data.get_uint_info("group_ptr")) == 0
    assert [len(field()) for field in (data.get_group, data.get_weight, data.get_label)] == [0, 0, 0]


def test_getters_copy():
    """Each getter gives a fresh copy: what is written into it does not reach the DMatrix, nor the other way round."""
    data = matrix()
    label = data.get_label()
    label[0] = 77
    assert data.get_label()[0] == labels()[0]
    data.set_label(labels() + 1)
    assert label[1] == labels()[1]


def test_labels_can_be_a_matrix():
    """Two-column labels are twice as many, 2-D since XGBoost 3.1; one column is flattened."""
    assert matrix(label=np.c_[labels(), labels()]).get_label().size == 2 * N_ROWS
    assert matrix(label=labels()[:, None]).get_label().shape == (N_ROWS,)


def test_setters_replace_and_leave_no_trace():
    """set_group and set_weight replace what is there, set_weight([]) clears it; there is no version to tell."""
    data = matrix(weight=np.arange(N_QUERIES) + 1.0)
    data.set_group([60, 60])
    data.set_weight([])
    assert data.get_group().tolist() == [60, 60]
    assert len(data.get_weight()) == 0
    assert not hasattr(data, "version")


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_can_be_weakly_referenced_and_hashed_by_identity(kind):
    """A DMatrix is hashable and compares by identity, so it can be the key of a WeakKeyDictionary."""
    data = matrix(KINDS[kind])
    cache = WeakKeyDictionary({data: 1})
    assert data in cache
    assert matrix(KINDS[kind]) not in cache


def test_qid_cannot_be_read_back():
    """qid becomes group_ptr and asking for it raises."""
    data = matrix(group=None, qid=QUERY_OF_ROW + 100)
    np.testing.assert_array_equal(data.get_group(), SIZES)
    with pytest.raises(xgb.core.XGBoostError, match="qid"):
        data.get_uint_info("qid")


@pytest.mark.parametrize("qid", [np.tile(np.arange(N_QUERIES), SIZE), QUERY_OF_ROW[::-1]], ids=["mixed", "descending"])
def test_qid_must_be_sorted(qid):
    """qid must not decrease: interleaved, and even grouped but descending, ids raise."""
    with pytest.raises(xgb.core.XGBoostError, match="non-decreasing"):
        matrix(group=None, qid=qid)


def test_row_weights_with_groups_raise_before_the_objective_is_called():
    """With groups, one weight per row passes DMatrix() and raises in xgb.train, before obj is called."""
    data = matrix(weight=np.ones(N_ROWS))
    objective = Counter()
    with pytest.raises(xgb.core.XGBoostError, match="must equal to the number of query groups"):
        train(objective, data=data)
    assert objective.calls == 0


def test_row_weights_with_groups_raise_in_other_constructors():
    """QuantileDMatrix and XGBRanker.fit refuse one weight per row at once."""
    with pytest.raises(xgb.core.XGBoostError, match="must equal to the number of query groups"):
        matrix(xgb.QuantileDMatrix, weight=np.ones(N_ROWS))
    ranker = xgb.XGBRanker(n_estimators=1, n_jobs=1)
    with pytest.raises(xgb.core.XGBoostError, match="must equal to the number of query groups"):
        ranker.fit(features(), labels(), group=SIZES, sample_weight=np.ones(N_ROWS))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_labels_must_be_finite(value):
    """Unlike LightGBM, NaN and inf labels raise at construction."""
    y = labels()
    y[3] = value
    with pytest.raises(xgb.core.XGBoostError, match="Label contains NaN, infinity"):
        matrix(label=y)


@pytest.mark.parametrize("value", [np.nan, -1.0])
def test_weights_must_be_positive(value):
    """Unlike LightGBM, NaN and negative weights raise at construction."""
    with pytest.raises(xgb.core.XGBoostError, match="Weights must be positive"):
        matrix(weight=np.full(N_QUERIES, value))


@pytest.mark.parametrize("sizes", [[60, 50], [60, 70]])
def test_wrong_group_sums_raise_only_in_training(sizes):
    """Group sizes that do not sum to the rows pass DMatrix() and raise in xgb.train, before obj is called."""
    data = matrix(group=sizes)
    objective = Counter()
    with pytest.raises(xgb.core.XGBoostError, match="Invalid query group structure"):
        train(objective, data=data)
    assert objective.calls == 0


def test_zero_sized_groups_are_accepted():
    """Groups of size 0 are kept as empty queries and train."""
    data = matrix(group=[0, 60, 0, 60, 0])
    assert data.get_group().tolist() == [0, 60, 0, 60, 0]
    train(data=data)


class Batches(xgb.DataIter):
    """Give the rows in batches, with qid."""

    def __init__(self, *stops, **keywords):
        self.bounds = list(zip((0, *stops), (*stops, N_ROWS), strict=True))
        self.position = 0
        super().__init__(**keywords)

    def next(self, input_data):
        if self.position == len(self.bounds):
            return False
        rows = slice(*self.bounds[self.position])
        input_data(data=features()[rows], label=labels()[rows], qid=QUERY_OF_ROW[rows])
        self.position += 1
        return True

    def reset(self):
        self.position = 0


@pytest.mark.parametrize("kind", ["QuantileDMatrix", "ExtMemQuantileDMatrix", "DMatrix"])
def test_a_query_across_two_batches_becomes_two_groups(kind, tmp_path):
    """With iterator or external-memory input a query that straddles two batches silently becomes two groups."""
    cache = {} if kind == "QuantileDMatrix" else {"cache_prefix": str(tmp_path / "cache")}
    data = getattr(xgb, kind)(Batches(65, **cache))
    assert data.get_group().tolist() == [10] * 6 + [5, 5] + [10] * 5
    assert len(data.get_label()) == N_ROWS


def test_batches_that_end_with_a_query_keep_the_groups():
    """Batches cut between queries give the groups of the whole."""
    np.testing.assert_array_equal(xgb.QuantileDMatrix(Batches(60)).get_group(), SIZES)


# --- slices and cross-validation ----------------------------------------------------------------------------------


def test_slice_refuses_groups():
    """DMatrix.slice on data with groups raises, unless allow_groups is given."""
    with pytest.raises(xgb.core.XGBoostError, match="slice does not support group structure"):
        matrix().slice(np.arange(20))


def test_slice_with_allow_groups_drops_groups_weights_and_nthread():
    """slice(…, allow_groups=True) drops the groups, the query weights and nthread, silently; base_margin stays."""
    data = matrix(weight=np.arange(N_QUERIES) + 1.0, base_margin=np.arange(N_ROWS))
    part = data.slice(np.arange(10, 30), allow_groups=True)
    assert (len(part.get_uint_info("group_ptr")), len(part.get_weight()), part.nthread) == (0, 0, -1)
    np.testing.assert_array_equal(part.get_base_margin(), np.arange(10, 30))
    np.testing.assert_array_equal(part.get_label(), labels()[10:30])


def test_slice_keeps_row_weights_without_groups():
    """Without groups slice keeps the weights of its rows."""
    data = matrix(group=None, weight=np.arange(N_ROWS) + 1.0)
    np.testing.assert_array_equal(data.slice(np.arange(10, 30)).get_weight(), np.arange(11, 31))


def test_quantile_matrices_cannot_be_sliced():
    """QuantileDMatrix has no slice, and xgb.cv refuses it."""
    data = matrix(xgb.QuantileDMatrix)
    with pytest.raises(xgb.core.XGBoostError, match="not supported"):
        data.slice(np.arange(10), allow_groups=True)
    with pytest.raises(ValueError, match="not yet supported"):
        xgb.cv(RANKING, data, 1, nfold=2, obj=least_squares)


def cv_matrices(data, **keywords):
    seen = []

    def objective(scores, fold):
        seen.append(fold)
        return least_squares(scores, fold)

    xgb.cv(RANKING, data, 1, obj=objective, **{"nfold": 3, **keywords})
    return seen


def test_cv_folds_by_group():
    """xgb.cv keeps queries whole: the objective gets plain DMatrix slices with the groups set again."""
    folds = cv_matrices(matrix())
    assert [type(fold) for fold in folds] == [xgb.DMatrix] * 3
    assert all(fold.get_group().tolist() == [SIZE] * 8 for fold in folds)


def test_cv_drops_query_weights():
    """xgb.cv on data with groups and query weights silently trains every fold without the weights."""
    folds = cv_matrices(matrix(weight=np.arange(N_QUERIES) + 1.0))
    assert [len(fold.get_weight()) for fold in folds] == [0, 0, 0]


@pytest.mark.parametrize("keywords", ["folds", "stratified"])
def test_cv_refuses_folds_and_stratification_with_groups(keywords):
    """With groups, xgb.cv raises for a list of folds and for stratified=True."""
    folds = list(GroupKFold(3).split(features(), labels(), QUERY_OF_ROW))
    chosen = {"folds": {"folds": folds}, "stratified": {"stratified": True}}[keywords]
    with pytest.raises(xgb.core.XGBoostError, match="slice does not support group structure"):
        cv_matrices(matrix(), **chosen)


def test_cv_hands_no_groups_to_a_splitter():
    """xgb.cv(folds=GroupKFold(k)) never passes the groups on, so scikit-learn raises."""
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        cv_matrices(matrix(), folds=GroupKFold(3))


# --- metric names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "maximised"),
    [
        ("ndcg_mine", True),
        ("ndcg@5_mine", True),
        ("map_mine", True),
        ("pre_mine", True),
        ("auc_mine", True),
        ("my_ndcg", False),
        ("mrr", False),
        ("err", False),
        ("mape", False),
    ],
)
def test_early_stopping_guesses_the_direction_from_the_name(name, maximised):
    """Early stopping maximises metrics whose name starts with auc, pre, map or ndcg (mape apart), minimises others."""
    rising = iter(range(100))
    data = matrix()
    booster = train(
        data=data,
        rounds=5,
        params={**RANKING, **NO_METRIC},
        custom_metric=lambda s, d: (name, float(next(rising))),
        evals=[(data, "train")],
        early_stopping_rounds=2,
    )
    assert booster.best_iteration == (4 if maximised else 0)


def test_maximize_overrides_the_guess():
    """xgb.train(maximize=True) sets the direction whatever the name."""
    rising = iter(range(100))
    data = matrix()
    booster = train(
        data=data,
        rounds=5,
        params={**RANKING, **NO_METRIC},
        custom_metric=lambda s, d: ("mrr", float(next(rising))),
        evals=[(data, "train")],
        early_stopping_rounds=2,
        maximize=True,
    )
    assert booster.best_iteration == 4


@pytest.mark.parametrize("name", ["ndcg:5", "ndcg 5"])
def test_colons_and_spaces_in_metric_names_crash(name):
    """A metric name with ':' or a space breaks the parsing of the evaluation line."""
    with pytest.raises(ValueError, match="values to unpack"):
        evaluated(lambda s, d: (name, 0.5))


def test_metric_names_may_have_dashes_and_data_names_may_not():
    """'-' is allowed in the metric's name and asserted against in the data's."""
    assert "ndcg-5" in evaluated(lambda s, d: ("ndcg-5", 0.5))
    data = matrix()
    with pytest.raises(AssertionError, match="should not contain `-`"):
        train(data=data, evals=[(data, "train-1")])


def test_metrics_are_rounded_to_six_decimals():
    """A metric passes through a string with six decimals: small differences vanish, also for early stopping."""
    assert evaluated(lambda s, d: ("mine", 0.123456789), rounds=1)["mine"] == [0.123457]
    assert evaluated(lambda s, d: ("mine", 1e-8), rounds=1)["mine"] == [0.0]
