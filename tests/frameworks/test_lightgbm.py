"""What LightGBM itself does with custom ranking objectives: one test per trap, named in its docstring (4.7.0)."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

lgb = pytest.importorskip("lightgbm")

N_QUERIES, SIZE = 12, 10
N_ROWS = N_QUERIES * SIZE
SIZES = np.full(N_QUERIES, SIZE)
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


def test_preds_is_a_reused_buffer():
    """Preds is one buffer for all rounds: what is kept from round 1 holds the scores of the last round."""
    kept = seen_in_objective(dataset(), read=lambda s, d: s, rounds=3)
    assert kept[0] is kept[2]
    assert kept[0].any()


def test_weights_are_not_applied_to_custom_gradients():
    """LightGBM never multiplies a custom gradient by the Dataset's weights: the objective has to."""
    weight = np.random.default_rng(2).uniform(0.1, 5, N_ROWS)
    np.testing.assert_array_equal(train(data=dataset(weight=weight)).predict(features()), train().predict(features()))


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


# --- the starting scores, the saved model -------------------------------------------------------------------------


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


def test_ndcg_refuses_queries_over_10_000_rows():
    """With LGBMRanker's attached ndcg a query of 10,001 rows raises; metric="None" takes it."""
    n = 10_001
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    params = {**RANKER, "n_estimators": 1}
    with pytest.raises(lgb.basic.LightGBMError, match="10001 exceeds upper limit of 10000"):
        lgb.LGBMRanker(objective=sklearn_least_squares, **params).fit(X, y, group=[n])
    lgb.LGBMRanker(objective=sklearn_least_squares, metric="None", **params).fit(X, y, group=[n])


# --- the Dataset's fields -----------------------------------------------------------------------------------------


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


def test_set_field_leaves_the_getters_stale():
    """set_field() changes the data and the version, yet get_label() still gives the old cached values."""
    data = dataset().construct()
    version = data.version
    data.set_field("label", np.full(N_ROWS, 7.0))
    assert data.version == version + 1
    np.testing.assert_array_equal(data.get_label(), labels())
    np.testing.assert_array_equal(data.get_field("label"), 7.0)


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


def test_validation_sets_have_a_reference_but_no_used_indices():
    """create_valid sets `reference` and leaves used_indices None: only subsets have them."""
    valid = dataset().create_valid(features()[:20], labels()[:20], group=[10, 10])
    assert valid.used_indices is None
    assert valid.reference is not None


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


def test_one_callable_serves_both_apis():
    """f(a, b, weight=None, group=None) works in lgb.train as (scores, Dataset) and in LGBMRanker as (y, scores, …)."""
    booster = train(Both())
    ranker = lgb.LGBMRanker(objective=Both(), **RANKER).fit(features(), labels(), group=SIZES)
    np.testing.assert_array_equal(ranker.predict(features()), booster.predict(features()))


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
