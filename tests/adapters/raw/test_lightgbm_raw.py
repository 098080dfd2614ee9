"""What LightGBM itself does with custom ranking objectives: one test per trap, named in its docstring (4.7.0)."""

import inspect
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

lgb = pytest.importorskip("lightgbm")

N_QUERIES, SIZE = 12, 10
N_ROWS = N_QUERIES * SIZE
SIZES = np.full(N_QUERIES, SIZE)
QUERY_OF_ROW = np.repeat(np.arange(N_QUERIES), SIZE)
PARAMS = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 1, "num_leaves": 4}
RANKER = {"n_estimators": 2, "verbosity": -1, "n_jobs": 1, "min_child_samples": 1, "num_leaves": 4}


def features():
    return np.random.default_rng(0).normal(size=(N_ROWS, 3))


def labels():
    return np.random.default_rng(1).integers(0, 3, N_ROWS).astype(float)


def dataset(**changes):
    return lgb.Dataset(**{"data": features(), "label": labels(), "group": SIZES, **changes})


def least_squares(scores, data):
    return scores - data.get_label(), np.ones_like(scores)


def sklearn_least_squares(y, scores, weight, group):
    return scores - y, np.ones_like(scores)


def train(objective=least_squares, rounds=2, data=None, params=None, **keywords):
    data = dataset() if data is None else data
    return lgb.train({**PARAMS, "objective": objective, **(params or {})}, data, rounds, **keywords)


def n_leaves(booster):
    return [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]


def seen_in_objective(data, *, read, **keywords):
    """Train and give what `read(scores, dataset)` saw at each call."""
    seen = []

    def objective(scores, train_set):
        seen.append(read(scores, train_set))
        return least_squares(scores, train_set)

    train(objective, data=data, **keywords)
    return seen


def validation(n=20):
    """Give the validation arguments of LGBMRanker.fit: eval_set was deprecated in 4.7."""
    X, y = features()[:n], labels()[:n]
    new = "eval_X" in inspect.signature(lgb.LGBMRanker.fit).parameters
    return {**({"eval_X": (X,), "eval_y": (y,)} if new else {"eval_set": [(X, y)]}), "eval_group": [[n // 2, n // 2]]}


# --- the call -----------------------------------------------------------------------------------------------------


def test_objective_gets_raw_float64_scores_and_the_very_dataset():
    """lgb.train calls f(preds float64[n], the Dataset it was given), first with all zeros: no boost_from_average."""
    data = dataset()
    calls = seen_in_objective(
        data, read=lambda s, d: (s.dtype, s.shape, s.copy(), d is data), params={"boost_from_average": True}
    )
    dtype, shape, first, same = calls[0]
    assert (dtype, shape, same) == (np.float64, (N_ROWS,), True)
    assert not first.any()
    assert len(calls) == 2


def test_feval_gets_raw_scores_and_gives_three_values():
    """feval(preds, Dataset) gets raw scores and returns (name, value, higher_is_better); no other metric is added."""
    seen, history = [], {}

    def metric(scores, data):
        seen.append((scores.copy(), data))
        return "mine", float(scores[0]), True

    data = dataset()
    valid = data.create_valid(features()[:20], labels()[:20], group=[10, 10])
    booster = train(data=data, valid_sets=[valid], feval=metric, callbacks=[lgb.record_evaluation(history)])
    np.testing.assert_allclose(seen[-1][0], booster.predict(features()[:20]))
    assert seen[-1][1] is valid
    assert list(history["valid_0"]) == ["mine"]


class Counter:
    """A stateful objective."""

    def __init__(self):
        self.calls = 0

    def __call__(self, scores, data):
        self.calls += 1
        return least_squares(scores, data)


@pytest.mark.parametrize("run", [lgb.train, lgb.cv])
def test_params_are_deep_copied(run):
    """lgb.train and lgb.cv deepcopy params, so the state of an objective object stays as it was, silently."""
    objective = Counter()
    folds = {"folds": GroupKFold(2)} if run is lgb.cv else {}
    run({**PARAMS, "objective": objective}, dataset(), 2, **folds)
    assert objective.calls == 0


def test_an_objective_that_cannot_be_copied_is_refused():
    """An objective that holds a lock (or anything that deepcopy refuses) fails with a TypeError about pickling."""
    objective = Counter()
    objective.lock = threading.Lock()
    with pytest.raises(TypeError, match="cannot pickle"):
        train(objective)


def test_preds_is_a_reused_buffer():
    """Preds is one buffer for all rounds: what is kept from round 1 holds the scores of the last round."""
    kept = seen_in_objective(dataset(), read=lambda s, d: s, rounds=3)
    assert kept[0] is kept[2]
    assert kept[0].any()


def test_a_metric_that_changes_preds_changes_the_next_gradient():
    """On the training set feval and objective share the buffer: a metric that writes into it shifts the next round."""
    data = dataset()

    def vandal(scores, _data):
        scores += 100.0
        return "vandal", 0.0, True

    scores = seen_in_objective(
        data, read=lambda s, d: s.copy(), params={"metric": "None"}, valid_sets=[data], feval=vandal
    )
    assert scores[1].min() > 90


@pytest.mark.parametrize("kind", ["lgb.train", "LGBMRanker"])
def test_exceptions_inside_the_objective_reach_the_caller(kind):
    """What an objective raises comes out of the training call as it is, and training works again afterwards."""

    class Boom(Exception):  # noqa: N818 - a marker that no framework can raise
        pass

    def broken(*_args, **_keywords):
        raise Boom

    if kind == "lgb.train":
        with pytest.raises(Boom):
            train(broken)
    else:
        with pytest.raises(Boom):
            lgb.LGBMRanker(objective=broken, **RANKER).fit(features(), labels(), group=SIZES)
    assert n_leaves(train()) == [4, 4]


def test_malformed_gradients():
    """None and wrong lengths raise; lists are accepted."""
    with pytest.raises(TypeError, match="cannot unpack"):
        train(lambda s, d: None)
    with pytest.raises(ValueError, match="don't match training data length"):
        train(lambda s, d: (s[:5], s[:5]))
    lists = train(lambda s, d: ((s - d.get_label()).tolist(), [1.0] * len(s)))
    np.testing.assert_array_equal(lists.predict(features()), train().predict(features()))


def test_weights_are_not_applied_to_custom_gradients():
    """LightGBM never multiplies a custom gradient by the Dataset's weights: the objective has to."""
    weight = np.random.default_rng(2).uniform(0.1, 5, N_ROWS)
    np.testing.assert_array_equal(train(data=dataset(weight=weight)).predict(features()), train().predict(features()))


def test_the_scikit_learn_wrapper_passes_the_very_labels_of_a_dataset():
    """LGBMRanker's functions get get_label() of the Dataset itself, which is train_set or one of valid_sets."""
    seen = []

    def metric(y, scores, weight, group):
        booster = inspect.currentframe().f_back.f_back.f_locals["self"]
        seen.append([d.get_label() is y for d in (booster.train_set, *booster.valid_sets)])
        return "mine", 0.0, True

    x, y = features(), labels()
    new = "eval_X" in inspect.signature(lgb.LGBMRanker.fit).parameters
    data = {"eval_X": (x[:20], x), "eval_y": (y[:20], y)} if new else {"eval_set": [(x[:20], y[:20]), (x, y)]}
    ranker = lgb.LGBMRanker(objective=sklearn_least_squares, metric="None", **RANKER)
    ranker.fit(x, y, group=SIZES, eval_metric=metric, eval_group=[[10, 10], SIZES], **data)
    assert seen == [[True, False], [False, True]] * 2


# --- the parameters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alias", ["objective", "application", "loss", "objective_type", "app"])
def test_every_alias_of_objective_takes_a_callable(alias):
    """A callable under an alias of `objective` is used as the objective."""
    calls = []

    def objective(scores, data):
        calls.append(len(scores))
        return least_squares(scores, data)

    lgb.train({**PARAMS, alias: objective}, dataset(), 1)
    assert calls == [N_ROWS]


def test_obj_is_no_alias():
    """`obj` is not an alias of `objective`: a callable there is a TypeError."""
    with pytest.raises(TypeError, match="Unknown type of parameter:obj"):
        lgb.train({**PARAMS, "obj": least_squares}, dataset(), 1)


@pytest.mark.parametrize("params", [{"objective": "l2", "loss": Counter()}, {"app": "l2", "loss": Counter()}])
def test_a_second_objective_silently_drops_the_callable(params):
    """Of two aliases `objective` wins, then the shortest: a callable under the other is dropped silently."""
    booster = lgb.train({**PARAMS, **params}, dataset(), 1)
    assert booster.dump_model()["objective"] == "regression"


def test_num_class_gives_a_matrix_of_scores():
    """num_class=3 with a callable hands the objective scores of shape (n, 3)."""
    shapes = []

    def objective(scores, data):
        shapes.append((scores.shape, data.params["num_class"]))
        return scores - data.get_label()[:, None], np.ones_like(scores)

    train(objective, params={"num_class": 3}, rounds=1)
    assert shapes == [((N_ROWS, 3), 3)]


def test_random_forests_refuse_custom_objectives():
    """boosting=rf fails with any custom objective, even with its bagging set."""
    with pytest.raises(lgb.basic.LightGBMError, match="do not support custom objective"):
        train(params={"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5})


@pytest.mark.parametrize(
    "params",
    [
        {"boosting": "dart"},
        {"data_sample_strategy": "goss"},
        {"linear_tree": True},
        {"monotone_constraints": [1, 0, 0]},
        {"use_quantized_grad": True},
        {"bagging_freq": 1, "bagging_fraction": 0.5},
    ],
    ids=lambda params: next(iter(params)),
)
def test_modes_that_work(params):
    """dart, goss, linear_tree, monotone constraints, quantised gradients and plain bagging train with a callable."""
    booster = train(params=params, rounds=3)
    assert min(n_leaves(booster)) > 1
    assert np.ptp(booster.predict(features())) > 0


BY_QUERY = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}


def test_bagging_by_query_trains_a_constant_model():
    """bagging_by_query of half the queries silently trains one tree of one leaf, value 0, with a custom objective."""
    booster = train(params=BY_QUERY, rounds=3)
    assert n_leaves(booster) == [1]
    assert not booster.predict(features()).any()


def test_bagging_by_query_of_more_than_half_leaves_nothing_out():
    """With a fraction above .5 and a custom objective trees grow on all rows; row 0's score counts each many times."""
    params = {**BY_QUERY, "bagging_fraction": 0.6}
    seen = seen_in_objective(dataset(), read=lambda scores, _: scores.copy(), params=params)
    booster = train(params=params)
    root = booster.dump_model()["tree_info"][0]["tree_structure"]
    assert root["internal_count"] == N_ROWS
    first = booster.predict(features(), num_iteration=1)
    np.testing.assert_allclose(seen[1][1:], first[1:])
    left_out = N_ROWS - int(0.6 * N_ROWS)
    np.testing.assert_allclose(seen[1][0], (1 + left_out) * first[0])


def test_bagging_by_query_alone_does_no_harm():
    """bagging_by_query without bagging_freq and bagging_fraction < 1 samples nothing and trains as usual."""
    alone = train(params={"bagging_by_query": True})
    np.testing.assert_array_equal(alone.predict(features()), train().predict(features()))


@pytest.mark.parametrize("key", ["num_threads", "num_thread", "nthread", "nthreads", "n_jobs"])
def test_the_objective_can_read_the_training_parameters_unresolved(key):
    """A fresh Dataset shows lgb.train's parameters in `params`, under the user's own alias; objective is 'none'."""
    params = {"verbosity": -1, key: 1, **BY_QUERY}
    seen = []

    def objective(scores, data):
        seen.append(dict(data.params))
        return least_squares(scores, data)

    lgb.train({"objective": objective, **params}, dataset(params={"max_bin": 63}), 1)
    assert seen[0] == {"max_bin": 63, **params, "objective": "none", "num_iterations": 1}


@pytest.mark.parametrize("free_raw_data", [True, False])
def test_a_constructed_dataset_does_not_show_the_training_parameters(free_raw_data):
    """A Dataset that is constructed already keeps its old `params`: bagging_by_query cannot be detected there."""
    own = {"max_bin": 63, **PARAMS}
    data = dataset(params=own, free_raw_data=free_raw_data).construct()
    seen = seen_in_objective(data, read=lambda s, d: dict(d.params), params=BY_QUERY, rounds=1)
    assert seen == [own]


def test_a_second_training_shows_the_parameters_of_the_first():
    """A Dataset used twice still shows the first training's parameters in the second."""
    data = dataset()
    train(data=data, params={"learning_rate": 0.5})
    seen = seen_in_objective(data, read=lambda s, d: dict(d.params), params=BY_QUERY, rounds=1)
    assert seen[0]["learning_rate"] == 0.5
    assert "bagging_by_query" not in seen[0]


def test_positions_are_ignored_by_custom_objectives():
    """Dataset(position=…) changes lambdarank, not a custom objective; get_position() reads it, None without."""
    position = np.tile(np.arange(SIZE), N_QUERIES).astype(np.int32)

    def predict(objective, **changes):
        return train(objective, data=dataset(**changes)).predict(features())

    np.testing.assert_array_equal(predict(least_squares, position=position), predict(least_squares))
    assert not np.array_equal(predict("lambdarank", position=position), predict("lambdarank"))
    read = {"read": lambda s, d: d.get_position(), "rounds": 1}
    np.testing.assert_array_equal(seen_in_objective(dataset(position=position), **read)[0], position)
    assert seen_in_objective(dataset(), **read) == [None]


def test_a_subset_loses_the_positions():
    """subset(), and so lgb.cv, keeps weights and initial scores but drops positions."""
    position = np.tile(np.arange(SIZE), N_QUERIES).astype(np.int32)
    weight = np.arange(N_ROWS) + 1.0
    data = dataset(position=position, weight=weight, init_score=weight).construct()
    part = data.subset(list(range(10, 30))).construct()
    np.testing.assert_array_equal(part.get_weight(), weight[10:30])
    np.testing.assert_array_equal(part.get_init_score(), weight[10:30])
    assert part.get_position() is None


def test_lambdarank_defaults():
    """The built-in lambdarank has truncation 30, normalisation on and sigmoid 1."""
    lines = train("lambdarank", rounds=1).model_to_string().splitlines()
    assert {"[lambdarank_truncation_level: 30]", "[lambdarank_norm: 1]", "[sigmoid: 1]"} <= set(lines)


# --- the starting scores, the saved model -------------------------------------------------------------------------


def test_initial_scores_are_in_preds_but_not_in_predictions():
    """init_score is part of what the objective and feval see and not of what predict gives."""
    start, seen = np.linspace(0, 1, N_ROWS), []

    def metric(scores, data):
        seen.append(scores.copy())
        return "mine", 0.0, True

    data = dataset(init_score=start)
    valid = data.create_valid(features()[:20], labels()[:20], group=[10, 10], init_score=np.full(20, 5.0))
    preds = []

    def objective(scores, train_set):
        preds.append(scores.copy())
        return least_squares(scores, train_set)

    booster = train(objective, data=data, rounds=1, valid_sets=[data, valid], feval=metric)
    np.testing.assert_allclose(preds[0], start)
    np.testing.assert_allclose(seen[0], booster.predict(features()) + start)
    np.testing.assert_allclose(seen[1], booster.predict(features()[:20]) + 5.0)


def test_continued_training_starts_from_the_first_models_scores():
    """init_model= sets the Dataset's init_score: preds and feval include the first model, predict gives the sum."""
    first = train()
    seen = []

    def metric(scores, data):
        seen.append(scores.copy())
        return "mine", 0.0, True

    data = dataset(free_raw_data=False)
    valid = data.create_valid(features()[:20], labels()[:20], group=[10, 10])
    preds = []

    def objective(scores, train_set):
        preds.append(scores.copy())
        return least_squares(scores, train_set)

    both = train(objective, data=data, init_model=first, valid_sets=[valid], feval=metric)
    np.testing.assert_allclose(preds[0], first.predict(features()))
    np.testing.assert_allclose(data.get_init_score(), first.predict(features()))
    np.testing.assert_allclose(seen[-1], both.predict(features()[:20]))
    assert both.num_trees() == 4


def test_saved_models_forget_the_objective_and_predict_the_same():
    """A model is saved with `objective: custom` and no objective line; a reload predicts the same, refit fails."""
    booster = train()
    text = booster.model_to_string()
    assert "[objective: custom]" in text
    assert "\nobjective=" not in text
    np.testing.assert_array_equal(lgb.Booster(model_str=text).predict(features()), booster.predict(features()))
    with pytest.raises(lgb.basic.LightGBMError, match="null objective"):
        booster.refit(features(), labels())


# --- metrics ------------------------------------------------------------------------------------------------------


def test_early_stopping_works_on_a_feval_alone():
    """Early stopping needs no built-in metric, and honours the metric's own higher_is_better."""
    values = iter([1.0, 2.0, 3.0, 2.5, 2.0, 1.0, 0.5])
    data = dataset()
    valid = data.create_valid(features()[:20], labels()[:20], group=[10, 10])
    booster = train(
        data=data,
        rounds=7,
        valid_sets=[valid],
        feval=lambda s, d: ("mine", next(values), True),
        callbacks=[lgb.early_stopping(2, verbose=False)],
    )
    assert booster.best_iteration == 3


def test_a_feval_with_a_builtins_name_interleaves():
    """A feval named ndcg@5 next to the built-in: one history gets two values a round."""
    history = {}
    data = dataset()
    train(
        data=data,
        params={"metric": "ndcg", "eval_at": [5]},
        valid_sets=[data],
        feval=lambda s, d: ("ndcg@5", -1.0, True),
        callbacks=[lgb.record_evaluation(history)],
    )
    assert len(history["training"]["ndcg@5"]) == 4
    assert history["training"]["ndcg@5"][1::2] == [-1.0, -1.0]


def test_weighted_ndcg_counts_an_empty_query_as_an_unweighted_one():
    """The built-in weighted ndcg adds 1, not the query's weight, for a query without relevant documents."""
    history = {}
    data = lgb.Dataset(
        np.arange(6.0)[:, None],
        [1, 0, 0, 0, 0, 0],
        group=[3, 3],
        weight=[2.0] * 3 + [6.0] * 3,
        init_score=[0.0, 1.0, 2.0, 0.0, 1.0, 2.0],  # the relevant document comes third: NDCG@3 = 1 / log2(4) = 1/2
    )
    train(
        lambda s, d: (np.zeros_like(s), np.ones_like(s)),
        rounds=1,
        data=data,
        params={"metric": "ndcg", "eval_at": [3]},
        valid_sets=[data],
        callbacks=[lgb.record_evaluation(history)],
    )
    np.testing.assert_allclose(history["training"]["ndcg@3"], (2 * 0.5 + 1) / (2 + 6))  # not (2 · 0.5 + 6) / (2 + 6)


BAD_FOR_NDCG = {
    "float": (labels() + 0.5, "label should be int type"),
    "negative": (labels() - 1, "Label should be non-negative"),
    "31": (np.where(labels() == 2, 31, 0), "Label 31 is not less than"),
}


@pytest.mark.parametrize("name", BAD_FOR_NDCG)
def test_the_ranker_attaches_ndcg_and_refuses_labels(name):
    """LGBMRanker adds metric ndcg to a custom objective too, and then float, negative and >=31 labels raise."""
    y, message = BAD_FOR_NDCG[name]
    ranker = lgb.LGBMRanker(objective=sklearn_least_squares, **RANKER)
    with pytest.raises(lgb.basic.LightGBMError, match=message):
        ranker.fit(features(), y, group=SIZES)


@pytest.mark.parametrize("name", BAD_FOR_NDCG)
def test_metric_none_lifts_the_limits_on_labels(name):
    """LGBMRanker(metric="None") and lgb.train take float, negative and >=31 labels."""
    y, _ = BAD_FOR_NDCG[name]
    ranker = lgb.LGBMRanker(objective=sklearn_least_squares, metric="None", **RANKER)
    assert ranker.fit(features(), y, group=SIZES).booster_.num_trees() > 0
    assert train(data=dataset(label=y)).num_trees() > 0


def test_the_ranker_takes_label_30():
    """Label 30 is the largest that the default label_gain of ndcg knows."""
    y = np.where(labels() == 2, 30, 0)
    ranker = lgb.LGBMRanker(objective=sklearn_least_squares, **RANKER).fit(features(), y, group=SIZES)
    assert ranker.booster_.params["metric"] == ["ndcg"]


def test_ndcg_refuses_queries_over_10_000_rows():
    """With LGBMRanker's attached ndcg a query of 10,001 rows raises; metric="None" takes it."""
    n = 10_001
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    params = {**RANKER, "n_estimators": 1}
    with pytest.raises(lgb.basic.LightGBMError, match="10001 exceeds upper limit of 10000"):
        lgb.LGBMRanker(objective=sklearn_least_squares, **params).fit(X, y, group=[n])
    lgb.LGBMRanker(objective=sklearn_least_squares, metric="None", **params).fit(X, y, group=[n])


# --- the Dataset's fields -----------------------------------------------------------------------------------------


def test_fields_are_float32_and_groups_are_sizes():
    """Labels and weights are float32; get_group() gives int32 sizes, get_field("group") boundaries."""
    data = dataset(weight=np.full(N_ROWS, 2.0)).construct()
    assert (data.get_label().dtype, data.get_weight().dtype) == (np.float32, np.float32)
    assert data.get_group().dtype == np.int32
    np.testing.assert_array_equal(data.get_group(), SIZES)
    np.testing.assert_array_equal(data.get_field("group"), np.arange(0, N_ROWS + 1, SIZE))


def test_without_groups_and_weights_the_getters_give_none():
    """get_group, get_weight and their fields are None when nothing was given; missing labels read as zeros."""
    data = dataset(group=None).construct()
    assert [data.get_group(), data.get_weight(), data.get_field("group"), data.get_field("weight")] == [None] * 4
    assert not lgb.Dataset(features()).construct().get_label().any()


@pytest.mark.parametrize("kind", ["list", "pandas", "pyarrow"])
def test_getters_give_the_users_own_type_until_construction(kind):
    """Before construct() the getters give what the user passed (a list, Series, ChunkedArray …), then NumPy arrays."""
    if kind == "list":
        as_kind, expected = list, list
    elif kind == "pandas":
        pandas = pytest.importorskip("pandas")
        as_kind, expected = pandas.Series, pandas.Series
    else:
        pyarrow = pytest.importorskip("pyarrow")
        as_kind, expected = (lambda values: pyarrow.chunked_array([values])), pyarrow.ChunkedArray
    data = dataset(label=as_kind(labels()), weight=as_kind(np.arange(N_ROWS) + 1.0), group=as_kind(SIZES))
    getters = (data.get_label, data.get_weight, data.get_group)
    assert all(isinstance(get(), expected) for get in getters)
    data.construct()
    assert all(type(get()) is np.ndarray for get in getters)


def test_fields_outlive_the_raw_data():
    """free_raw_data (the default) drops `data` at construction; labels, weights and groups stay readable."""
    data = dataset(weight=np.arange(N_ROWS) + 1.0).construct()
    assert data.data is None
    assert all(len(field()) for field in (data.get_label, data.get_weight, data.get_group))


def test_getters_cache_and_fields_copy():
    """get_label() gives one cached array that can be spoilt in place; get_field() a fresh copy of the truth."""
    data = dataset().construct()
    assert data.get_label() is data.get_label()
    assert data.get_group() is data.get_group()
    assert data.get_field("label") is not data.get_field("label")
    data.get_label()[0] = 77
    assert data.get_label()[0] == 77
    assert data.get_field("label")[0] == labels()[0]


def test_version_counts_the_setters():
    """Dataset.version starts at 0 and goes up by one with each set_label, set_weight, set_group, set_init_score."""
    data = dataset()
    assert data.version == 0
    data.construct()
    versions = [data.version]
    for change in (
        lambda: data.set_label(labels() + 1),
        lambda: data.set_weight(np.full(N_ROWS, 2.0)),
        lambda: data.set_group([60, 60]),
        lambda: data.set_init_score(np.zeros(N_ROWS)),
    ):
        change()
        versions.append(data.version)
    assert np.diff(versions).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("unit", [None, np.ones(N_ROWS)], ids=["None", "ones"])
def test_weights_cannot_be_taken_back(unit):
    """After construction set_weight(None), or all ones, changes nothing: old weights and version stay, silently."""
    data = dataset(weight=np.full(N_ROWS, 2.0)).construct()
    version = data.version
    data.set_weight(unit)
    assert data.version == version
    np.testing.assert_array_equal(data.get_weight(), 2.0)


def test_groups_cannot_be_taken_back():
    """After construction set_group(None) changes nothing: the old groups and the version stay, silently."""
    data = dataset().construct()
    version = data.version
    data.set_group(None)
    assert data.version == version
    np.testing.assert_array_equal(data.get_group(), SIZES)


def test_set_field_leaves_the_getters_stale():
    """set_field() changes the data and the version, yet get_label() still gives the old cached values."""
    data = dataset().construct()
    version = data.version
    data.set_field("label", np.full(N_ROWS, 7.0))
    assert data.version == version + 1
    np.testing.assert_array_equal(data.get_label(), labels())
    np.testing.assert_array_equal(data.get_field("label"), 7.0)


def test_clearing_a_field_does_not_change_the_version():
    """set_field("weight", None) removes the weights without a new version, and get_weight() still shows them."""
    data = dataset(weight=np.full(N_ROWS, 2.0)).construct()
    version = data.version
    data.set_field("weight", None)
    assert data.version == version
    assert data.get_field("weight") is None
    np.testing.assert_array_equal(data.get_weight(), 2.0)


def test_datasets_can_be_weakly_referenced_and_hashed_by_identity():
    """A Dataset is hashable and compares by identity, so it can be the key of a WeakKeyDictionary."""
    from weakref import WeakKeyDictionary

    data = dataset()
    cache = WeakKeyDictionary({data: 1})
    assert data in cache
    assert dataset() not in cache


def test_unit_weights_read_back_as_none():
    """All-ones weights read back as None."""
    assert dataset(weight=np.ones(N_ROWS)).construct().get_weight() is None


def test_weights_are_per_row():
    """One weight per query is refused: LightGBM's weights are per row."""
    with pytest.raises(lgb.basic.LightGBMError, match="Length of weights differs"):
        dataset(weight=np.arange(N_QUERIES) + 1.0).construct()


@pytest.mark.parametrize(("given", "stored"), [(np.nan, 0.0), (np.inf, np.float32(1e38)), (-1.0, -1.0)])
@pytest.mark.parametrize("field", ["label", "weight"])
def test_values_that_are_not_finite_are_silently_replaced(field, given, stored):
    """At construction NaN becomes 0 and inf 1e38, in labels and weights; negative weights are accepted."""
    values = labels() + 1
    values[3] = given
    data = dataset(**{field: values})
    np.testing.assert_equal(getattr(data, f"get_{field}")()[3], given)  # the truth can be seen before construction
    assert getattr(data.construct(), f"get_{field}")()[3] == stored


def test_zero_sized_and_negative_groups_are_accepted():
    """Groups of size 0 are kept as empty queries, and a negative size passes if the sum is right."""
    zero = dataset(group=[0, 60, 0, 60, 0]).construct()
    np.testing.assert_array_equal(zero.get_group(), [0, 60, 0, 60, 0])
    np.testing.assert_array_equal(zero.get_field("group"), [0, 0, 60, 60, 120, 120])
    np.testing.assert_array_equal(dataset(group=[-10, N_ROWS + 10]).construct().get_group(), [-10, N_ROWS + 10])


def test_groups_must_sum_to_the_rows():
    """Group sizes that do not sum to the number of rows raise at construction."""
    with pytest.raises(lgb.basic.LightGBMError, match="Sum of query counts"):
        dataset(group=[60, 50]).construct()


# --- subsets and cross-validation ---------------------------------------------------------------------------------


def cut_queries(part):
    """Give the queries of the reference of which the subset holds some rows but not all: how to detect a cut."""
    sizes = np.asarray(part.reference.get_group())
    held = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[np.asarray(part.used_indices)], minlength=len(sizes))
    return np.flatnonzero((held > 0) & (held < sizes)).tolist()


def test_subset_quietly_makes_partial_queries():
    """subset() cuts queries without a word; used_indices and reference.get_group() tell which."""
    data = dataset().construct()
    part = data.subset(list(range(5, 45))).construct()
    np.testing.assert_array_equal(part.get_group(), [5, 10, 10, 10, 5])
    assert part.reference is data
    assert cut_queries(part) == [0, 4]
    assert cut_queries(data.subset(list(range(10, 40))).construct()) == []


def test_subset_sorts_its_indices_and_keeps_duplicates():
    """used_indices is a sorted list; repeated rows stay repeated and count as documents of the query."""
    part = dataset().construct().subset([5, 0, 0, 3, 0]).construct()
    assert part.used_indices == [0, 0, 0, 3, 5]
    assert part.get_group().tolist() == [5]


def test_a_zero_sized_query_is_dropped_by_subset():
    """Empty queries disappear in a subset: numbers of queries cannot be compared, rows can."""
    data = dataset(group=[0, 60, 0, 60, 0]).construct()
    assert data.subset(list(range(60))).construct().get_group().tolist() == [60]


def test_validation_sets_have_a_reference_but_no_used_indices():
    """create_valid sets `reference` and leaves used_indices None: only subsets have them."""
    valid = dataset().create_valid(features()[:20], labels()[:20], group=[10, 10])
    assert valid.used_indices is None
    assert valid.reference is not None


def test_a_subset_of_data_without_groups_has_none():
    """Without groups, get_group() is None on the subset and on its reference."""
    part = dataset(group=None).construct().subset(list(range(40))).construct()
    assert part.get_group() is None
    assert part.reference.get_group() is None


def test_groups_set_after_construction_reach_subsets():
    """set_group after construction is seen by later subsets, as if it had been given to the constructor."""
    data = dataset(group=None).construct()
    data.set_group(SIZES)
    assert data.subset(list(range(5, 45))).construct().get_group().tolist() == [5, 10, 10, 10, 5]


def test_subsets_of_file_backed_data_lose_their_groups(tmp_path):
    """Groups of a binary file are lost in a subset (an empty array), unless get_group() was called before."""
    path = tmp_path / "data.bin"
    dataset().save_binary(path)
    data = lgb.Dataset(path).construct()
    part = data.subset(list(range(10, 50))).construct()
    assert (part.num_data(), part.get_group().tolist()) == (40, [])
    assert data.get_group().tolist() == SIZES.tolist()
    assert data.subset(list(range(10, 50))).construct().get_group().tolist() == [10, 10, 10, 10]


def cv_subsets(**keywords):
    """Run one round of lgb.cv and give the Dataset that each fold's objective saw, with the full one."""
    seen = []

    def objective(scores, data):
        seen.append(data)
        return least_squares(scores, data)

    full = dataset()
    lgb.cv({**PARAMS, "objective": objective}, full, 1, **{"nfold": 3, **keywords})
    return full, seen


@pytest.mark.parametrize("keywords", [{}, {"stratified": False}, {"stratified": False, "shuffle": False, "nfold": 7}])
def test_cv_splits_queries_with_a_callable(keywords):
    """lgb.cv folds rows, not queries, when the objective is a callable; each fold is a subset that shows the cut."""
    full, parts = cv_subsets(**keywords)
    assert all(part.reference is full for part in parts)
    assert all(isinstance(part.used_indices, list) and len(part.used_indices) < N_ROWS for part in parts)
    assert all(part.params["objective"] == "none" for part in parts)
    assert any(cut_queries(part) for part in parts)


def test_cv_with_group_folds_keeps_queries_whole():
    """folds=GroupKFold(k) gets the query of each row as groups, and keeps queries whole."""
    _, parts = cv_subsets(folds=GroupKFold(3))
    assert [cut_queries(part) for part in parts] == [[], [], []]
    assert all(part.get_group().tolist() == [SIZE] * 8 for part in parts)


def test_cv_stratifies_by_default_and_refuses_float_labels():
    """lgb.cv stratifies by label by default, so float labels raise scikit-learn's error about 'continuous'."""
    data = dataset(label=np.linspace(0, 1, N_ROWS))
    with pytest.raises(ValueError, match="continuous"):
        lgb.cv({**PARAMS, "objective": least_squares}, data, 1, nfold=3)


# --- LGBMRanker ---------------------------------------------------------------------------------------------------


class Both:
    """An objective for both APIs, told apart by the type of the second argument; its calls survive the deepcopy."""

    log: list = []  # noqa: RUF012 - shared on purpose: LightGBM copies the object

    def __call__(self, a, b, weight=None, group=None):
        self.log.append(SimpleNamespace(a=a.copy(), b=b, weight=weight, group=group))
        scores, y = (a, b.get_label()) if isinstance(b, lgb.Dataset) else (b, a)
        return scores - y, np.ones_like(scores)


class BothMetric(Both):
    """A metric of the same shape."""

    log: list = []  # noqa: RUF012 - see Both

    def __call__(self, a, b, weight=None, group=None):
        super().__call__(a, b, weight, group)
        return "mine", 0.5, True


def test_one_callable_serves_both_apis():
    """f(a, b, weight=None, group=None) works in lgb.train as (scores, Dataset) and in LGBMRanker as (y, scores, …)."""
    booster = train(Both())
    ranker = lgb.LGBMRanker(objective=Both(), **RANKER).fit(features(), labels(), group=SIZES)
    np.testing.assert_array_equal(ranker.predict(features()), booster.predict(features()))


@pytest.mark.parametrize("weight", [None, np.ones(N_ROWS), np.full(N_ROWS, 2.0)], ids=["None", "ones", "twos"])
def test_what_the_ranker_passes(weight):
    """LGBMRanker passes y float32, raw scores float64, row weights float32 or None, and int32 group sizes."""
    Both.log.clear()
    ranker = lgb.LGBMRanker(objective=Both(), **RANKER)
    ranker.fit(features(), labels(), group=SIZES, sample_weight=weight)
    call = Both.log[0]
    assert (call.a.dtype, call.b.dtype, call.group.dtype) == (np.float32, np.float64, np.int32)
    np.testing.assert_array_equal(call.a, labels())
    np.testing.assert_array_equal(call.group, SIZES)
    if weight is None or (weight == 1).all():
        assert call.weight is None
    else:
        assert call.weight.dtype == np.float32
        np.testing.assert_array_equal(call.weight, weight)


def test_a_metric_object_works_in_the_ranker():
    """eval_metric takes an object with __call__(a, b, weight=None, group=None) and passes it all four, per eval set."""
    BothMetric.log.clear()
    ranker = lgb.LGBMRanker(objective=Both(), **RANKER)
    ranker.fit(features(), labels(), group=SIZES, eval_metric=BothMetric(), **validation())
    call = BothMetric.log[-1]
    assert (call.a.dtype, call.b.dtype, call.weight, call.group.tolist()) == (np.float32, np.float64, None, [10, 10])
    np.testing.assert_allclose(call.b, ranker.predict(features()[:20]))
    assert set(ranker.evals_result_["valid_0"]) == {"mine", *(f"ndcg@{k}" for k in range(1, 6))}


SIGNATURES = {
    "two": (lambda y, s: (2, y, s), 2),
    "three": (lambda y, s, weight: (3, y, s), 3),
    "four": (lambda y, s, weight, group: (4, y, s), 4),
    "defaults": (lambda y, s, weight=None, group=None: (2 + (group is not None) * 2, y, s), 4),
    "star and double star": (lambda *args, **keywords: (len(args), args[0], args[1]), 2),
    "y and star": (lambda y, *args: (1 + len(args), y, args[0]), 2),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_ranker_counts_the_parameters(name):
    """LGBMRanker counts the signature's parameters: (*args, **kwargs) and (y, *args) count as 2 and get no group."""
    inner, expected = SIGNATURES[name]
    counts = {"objective": [], "metric": []}

    def objective(*args, **keywords):
        count, y, scores = inner(*args, **keywords)
        counts["objective"].append(count)
        return scores - y, np.ones_like(scores)

    def metric(*args, **keywords):
        counts["metric"].append(inner(*args, **keywords)[0])
        return "mine", 0.0, True

    objective.__signature__ = metric.__signature__ = inspect.signature(inner)
    ranker = lgb.LGBMRanker(objective=objective, **RANKER)
    ranker.fit(features(), labels(), group=SIZES, eval_metric=metric, **validation())
    assert {key: set(values) for key, values in counts.items()} == {"objective": {expected}, "metric": {expected}}


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (lambda *args: (args[1] - args[0], np.ones_like(args[0])), "should have 2, 3 or 4 arguments, got 1"),
        (lambda y, s, weight=None, group=None, extra=None: (s - y, s), "should have 2, 3 or 4 arguments, got 5"),
        (lambda y, s, *, weight=None, group=None: (s - y, s), "takes 2 positional arguments but 4 were given"),
    ],
    ids=["*args alone", "five", "keyword-only"],
)
def test_signatures_that_the_ranker_refuses(objective, message):
    """*args alone counts as 1, an extra option as a fifth, and keyword-only weight, group are passed by position."""
    ranker = lgb.LGBMRanker(objective=objective, **RANKER)
    with pytest.raises(TypeError, match=message):
        ranker.fit(features(), labels(), group=SIZES)


def test_the_ranker_refuses_to_fit_without_groups():
    """LGBMRanker.fit without group raises."""
    ranker = lgb.LGBMRanker(objective=sklearn_least_squares, **RANKER)
    with pytest.raises(ValueError, match="Should set group"):
        ranker.fit(features(), labels())


def test_clone_copies_the_objective():
    """sklearn's clone works and deep-copies the objective: identity is lost, so equality must be by value."""
    objective = Both()
    copied = clone(lgb.LGBMRanker(objective=objective, **RANKER))
    assert type(copied.objective) is Both
    assert copied.objective is not objective


def grid_search():
    ranker = lgb.LGBMRanker(objective=sklearn_least_squares, metric="None", **{**RANKER, "num_leaves": 31})
    return GridSearchCV(ranker, {"num_leaves": [3]}, cv=GroupKFold(3), scoring=lambda *_: 0.0, error_score="raise")


def test_grid_search_needs_groups_of_two_kinds():
    """GridSearchCV(LGBMRanker).fit(groups=…) folds by query, but the ranker never gets its group and raises."""
    with pytest.raises(ValueError, match="Should set group"):
        grid_search().fit(features(), labels(), groups=QUERY_OF_ROW)


def test_grid_search_does_not_cut_the_sizes():
    """GridSearchCV hands group sizes uncut to every fold: their sum is not the fold's rows and LightGBM raises."""
    with pytest.raises(lgb.basic.LightGBMError, match="Sum of query counts"):
        grid_search().fit(features(), labels(), groups=QUERY_OF_ROW, group=SIZES)


def test_grid_search_cuts_query_ids_and_reads_them_as_sizes():
    """GridSearchCV cuts one id per row rightly, but LightGBM takes the ids for sizes and raises."""
    with pytest.raises(lgb.basic.LightGBMError, match="Sum of query counts"):
        grid_search().fit(features(), labels(), groups=QUERY_OF_ROW, group=QUERY_OF_ROW)


def test_the_ranker_has_no_score():
    """LGBMRanker has no score method: searches need scoring=…."""
    assert not hasattr(lgb.LGBMRanker, "score")
