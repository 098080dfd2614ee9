"""What LightGBM itself does with custom ranking objectives: one test per trap, named in its docstring (4.7.0)."""

import lightgbm as lgb
import numpy as np
import pytest
from frameworks.raw import FEATURES, LABELS, N_QUERIES, N_ROWS, ROWS, SIZE, least_squares, seen_in_objective
from sklearn.model_selection import GroupKFold

PARAMS = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 1, "num_leaves": 4}


def dataset(**changes):
    return lgb.Dataset(**{**ROWS, **changes})


def train(objective=least_squares, rounds=2, data=None, params=None, **keywords):
    data = dataset() if data is None else data
    return lgb.train({**PARAMS, "objective": objective, **(params or {})}, data, rounds, **keywords)


def n_leaves(booster):
    return [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]


# --- the call -----------------------------------------------------------------------------------------------------


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


def test_weights_are_not_applied_to_custom_gradients():
    """LightGBM never multiplies a custom gradient by the Dataset's weights: the objective has to."""
    weight = np.random.default_rng(2).uniform(0.1, 5, N_ROWS)
    np.testing.assert_array_equal(train(data=dataset(weight=weight)).predict(FEATURES), train().predict(FEATURES))


# --- the parameters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{"objective": "l2", "loss": Counter()}, {"app": "l2", "loss": Counter()}])
def test_a_second_objective_silently_drops_the_callable(params):
    """Of two aliases `objective` wins, then the shortest: a callable under the other is dropped silently."""
    booster = lgb.train({**PARAMS, **params}, dataset(), 1)
    assert booster.dump_model()["objective"] == "regression"


BY_QUERY = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}


def test_bagging_by_query_trains_a_constant_model():
    """bagging_by_query of half the queries silently trains one tree of one leaf, value 0, with a custom objective."""
    booster = train(params=BY_QUERY, rounds=3)
    assert n_leaves(booster) == [1]
    assert not booster.predict(FEATURES).any()


def test_bagging_by_query_of_more_than_half_leaves_nothing_out():
    """With a fraction above .5 and a custom objective trees grow on all rows; row 0's score counts each many times."""
    params = {**BY_QUERY, "bagging_fraction": 0.6}
    seen = seen_in_objective(train, dataset(), read=lambda scores, _: scores.copy(), params=params)
    booster = train(params=params)
    root = booster.dump_model()["tree_info"][0]["tree_structure"]
    assert root["internal_count"] == N_ROWS
    first = booster.predict(FEATURES, num_iteration=1)
    np.testing.assert_allclose(seen[1][1:], first[1:])
    left_out = N_ROWS - int(0.6 * N_ROWS)
    np.testing.assert_allclose(seen[1][0], (1 + left_out) * first[0])


def test_positions_are_ignored_by_custom_objectives():
    """Dataset(position=…) changes lambdarank, not a custom objective; get_position() reads it, None without."""
    position = np.tile(np.arange(SIZE), N_QUERIES).astype(np.int32)

    def predict(objective, **changes):
        return train(objective, data=dataset(**changes)).predict(FEATURES)

    np.testing.assert_array_equal(predict(least_squares, position=position), predict(least_squares))
    assert not np.array_equal(predict("lambdarank", position=position), predict("lambdarank"))
    read = {"read": lambda s, d: d.get_position(), "rounds": 1}
    np.testing.assert_array_equal(seen_in_objective(train, dataset(position=position), **read)[0], position)
    assert seen_in_objective(train, dataset(), **read) == [None]


# --- the Dataset's fields -----------------------------------------------------------------------------------------


def test_set_field_leaves_the_getters_stale():
    """set_field() changes the data and the version, yet get_label() still gives the old cached values."""
    data = dataset().construct()
    version = data.version
    data.set_field("label", np.full(N_ROWS, 7.0))
    assert data.version == version + 1
    np.testing.assert_array_equal(data.get_label(), LABELS)
    np.testing.assert_array_equal(data.get_field("label"), 7.0)


@pytest.mark.parametrize(("given", "stored"), [(np.nan, 0.0), (np.inf, np.float32(1e38)), (-1.0, -1.0)])
@pytest.mark.parametrize("field", ["label", "weight"])
def test_values_that_are_not_finite_are_silently_replaced(field, given, stored):
    """At construction NaN becomes 0 and inf 1e38, in labels and weights; negative weights are accepted."""
    values = LABELS + 1
    values[3] = given
    data = dataset(**{field: values})
    np.testing.assert_equal(getattr(data, f"get_{field}")()[3], given)  # the truth can be seen before construction
    assert getattr(data.construct(), f"get_{field}")()[3] == stored


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
