"""Ensembles: the sum of their terms, in this library, in a file, and in both frameworks."""

import copy
import itertools
import json
import pickle
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import by_onnx, by_treelite
from sklearn.tree import DecisionTreeRegressor

from boostplug.core.threads import forced_threads
from boostplug.model.ensemble import Ensemble
from boostplug.model.xgboost import xgboost_model
from boostplug.weak_rankers import Cuts, Feature, Stump, Tree

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

LARGEST = np.finfo(np.float32).max
TINY = np.nextafter(np.float32(0), np.float32(1))
N_FEATURES = 6
EDGE = 0.5 + 2.0**-25  # where doubles begin to round above 0.5


def data(seed=0, n=400):
    """Return singles of all sorts of columns, a fifth of them missing."""
    random = np.random.default_rng(seed)
    columns = [random.normal(size=n), random.integers(0, 4, n), 1e30 * random.normal(size=n)]
    columns.append(np.where(random.random(n) < 0.3, LARGEST, LARGEST * random.uniform(-1, 1, n)))
    columns += [1e-30 * random.normal(size=n), random.normal(size=n)]
    X = np.column_stack(columns).astype(np.float32)
    X[random.random(X.shape) < 0.2] = np.nan
    return X


def stumps(seed=0, n_rounds=200):
    """Return rounds of stumps; many stand twice, some have weights of both signs, every fourth two values."""
    random = np.random.default_rng(seed)
    cuts = Cuts(data(seed), 15, np.random.RandomState(seed))
    for i in range(n_rounds):
        stump = cuts.stump(int(random.integers(len(cuts))))
        if i % 4 == 0:
            stump = Stump(stump.feature, stump.threshold, *random.integers(-2, 3, 2).astype(float))
        yield [(stump, random.normal())]


def trees(seed=0, n_rounds=20):
    random = np.random.default_rng(seed)
    X = data(seed) / np.float32([1, 1, 1, 1000, 1, 1])  # scikit-learn adds up columns
    for i in range(n_rounds):
        y = random.normal(size=len(X)) + 2 * (X[:, 0] > 0) + np.isnan(X[:, 1])
        grown = DecisionTreeRegressor(max_depth=1 + i % 5, splitter=("best", "random")[i % 2], random_state=i)
        yield [(Tree.from_sklearn(grown.fit(X, y)), random.normal())]


def features(seed=0, n_rounds=20):
    random = np.random.default_rng(seed)
    for _ in range(n_rounds):
        # Not those of size 1e30 and more: beside them the rest would be lost in rounding.
        yield [(Feature(int(random.choice([0, 1, 4, 5]))), random.normal())]


ROUNDS = {
    "stumps": [*stumps()],
    "trees": [*trees()],
    "features": [*features()],
    "stumps and trees": [*stumps(1, 50), *trees(1, 5)],
    "all": [*stumps(1, 50), *features(1, 9), *trees(1, 5)],
    "several in a round": [[*a, *b, *c] for a, b, c in zip(stumps(2, 9), features(2, 9), trees(2, 9), strict=True)],
    "empty": [],
    "empty rounds": [[], [(Stump(0, EDGE), 1.0)], []],
    "one stump": [[(Stump(5, -np.inf), -1.5)]],
    "cancelled": [[(Stump(0, 0.5), 1.0)], [(Stump(0, 0.5), -1.0)]],
}
# No converter knows features as weak rankers, nor does XGBoost.
CONVERTED = [
    name for name, rounds in ROUNDS.items() if not any(type(w) is Feature for terms in rounds for w, _ in terms)
]


@pytest.fixture(params=ROUNDS)
def model(request):
    return Ensemble(ROUNDS[request.param], n_features=N_FEATURES)


def sum_of_terms(model, X):
    return sum((weight * weak.predict(X) for terms in model.rounds for weak, weight in terms), np.zeros(len(X)))


def size(model):
    """Return the summed abs(weight), times the largest value."""
    values = {Stump: lambda weak: [weak.below, weak.above], Tree: lambda weak: weak.value}
    terms = [term for terms in model.rounds for term in terms]
    largest = [np.abs(values.get(type(weak), lambda _: [1.0])(weak)).max() for weak, _ in terms]
    return sum(abs(weight) * one for one, (_, weight) in zip(largest, terms, strict=True)) or 1.0


def thresholds(model):
    """Yield each feature and threshold of the model."""
    for weak, _ in model.terms:
        if isinstance(weak, Stump):
            yield weak.feature, weak.threshold
        elif isinstance(weak, Tree):
            yield from zip(weak.feature[~weak.leaf], weak.threshold[~weak.leaf], strict=True)


@cache
def around_thresholds(model):
    """Return rows with one feature at, or one ulp of either precision beside, a threshold, the others missing or 0."""
    rows = [np.zeros(N_FEATURES), np.full(N_FEATURES, np.nan), np.full(N_FEATURES, LARGEST), -np.full(6, LARGEST)]
    for feature, threshold in set(thresholds(model)):
        if np.isinf(threshold):
            threshold = -float(LARGEST)  # noqa: PLW2901
        single = np.float32(threshold)
        with np.errstate(over="ignore"):
            near = [single, np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))]
        near = [threshold, *map(float, near)]
        for x in [*near, *np.nextafter(near, np.inf), *np.nextafter(near, -np.inf)]:
            with np.errstate(over="ignore"):
                if np.isinf(np.float32(x)):
                    continue
            for rest in (0.0, np.nan):
                rows.append(np.full(N_FEATURES, rest))
                rows[-1][feature] = x
    return np.array(rows)


def inputs(model):
    """Return what the model is tried on: either precision, ordinary rows and the neighbourhood of every threshold."""
    return [data(7), data(7).astype(np.float64), around_thresholds(model), around_thresholds(model).astype(np.float32)]


def moderate(X, model, largest):
    """Return X for a model with features among its terms: beside their largest term, the others would be rounded."""
    return np.clip(X, -largest, largest) if any(isinstance(weak, Feature) for weak, _ in model.terms) else X


# The sum


def test_predicts_the_sum_of_its_terms(model):
    for X in inputs(model):
        X = moderate(X, model, 1.0)  # noqa: PLW2901
        scores = model.predict(X)
        assert scores.dtype == np.float64
        np.testing.assert_allclose(scores, sum_of_terms(model, X), rtol=0, atol=1e-14 * size(model))


def test_staged_predictions_are_those_of_the_first_rounds(model):
    X = data(3, 50)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model)
    for i in range(1, len(model) + 1, 7):
        scores, expected = stages[i - 1], Ensemble(model.rounds[:i], n_features=N_FEATURES).predict(X)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-14 * size(model) * np.nanmax(abs(X[:, [0, 1, 5]])))
    assert len({id(scores) for scores in stages}) == len(stages)
    for a, b in pairwise(stages):
        assert not np.shares_memory(a, b)


def test_terms_are_merged_in_order_of_first_appearance():
    a, b, c = Stump(0, 0.5), Feature(1), Stump(0, 0.5, above=2.0)
    model = Ensemble([[(a, 0.1), (b, 1.0)], [(c, 1.0), (a, 0.2)], [(c, -1.0), (a, 0.3)]], n_features=2)
    assert model.terms == ((a, 0.6), (b, 1.0))


def test_no_threshold_hangs_on_the_number_of_rounds():
    """A thousand rounds of forty cuts are looked up as forty."""
    random = np.random.default_rng(0)
    cuts = random.normal(size=40)
    model = Ensemble([[(Stump(0, float(random.choice(cuts))), 1.0)] for _ in range(1_000)], n_features=1)
    (steps,), slopes = model.trees_and_slopes
    assert steps.leaf.sum() == 41
    assert not slopes
    X = random.normal(size=(100, 1))
    assert np.array_equal(model.predict(X), sum_of_terms(model, X))  # sums of ones are exact


def test_predicts_the_same_with_any_number_of_threads():
    model, X, found = Ensemble(ROUNDS["all"], n_features=N_FEATURES), data(5, 50_000), []
    for n_threads in (1, 3):
        with forced_threads(n_threads):
            found.append(model.predict(X))
    assert np.array_equal(*found)


def test_xgboost_has_no_model_that_adds_features():
    with pytest.raises(ValueError, match=r"to_xgboost: XGBoost has no trees that add up features .*to_lightgbm"):
        Ensemble(ROUNDS["features"], n_features=N_FEATURES).to_xgboost()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_takes_dataframes_by_name(frame):
    model = Ensemble([[(Stump(1, 0.5), 1.0)]], n_features=2, feature_names=["a", "b"])
    assert model.predict(frame({"a": [0.0, 1.0], "b": [1.0, 0.0]})).tolist() == [1.0, 0.0]
    assert model.predict(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match=r"in another order; select them as \['a', 'b'\]"):
        model.predict(frame({"b": [1.0, 0.0], "a": [0.0, 1.0]}))
    with pytest.raises(ValueError, match=r"missing \['b'\], unknown \['c'\]"):
        list(model.staged_predict(frame({"a": [0.0, 1.0], "c": [1.0, 0.0]})))
    with pytest.raises(ValueError, match=r"missing \['b'\], unknown \[\]"):
        model.predict(frame({"a": [0.0, 1.0]}))


# A value


def test_equality_hash_length_and_first(model):
    same = Ensemble([list(terms) for terms in model.rounds], n_features=N_FEATURES)
    assert model == same
    assert hash(model) == hash(same)
    assert model != Ensemble(model.rounds, n_features=N_FEATURES + 1)
    assert model != Ensemble(model.rounds, n_features=N_FEATURES, feature_names=list("abcdef"))
    assert model != Ensemble([*model.rounds, [(Feature(0), 1.0)]], n_features=N_FEATURES)


def test_pickles_and_copies(model):
    model.predict(data())  # what predict keeps must not travel along
    assert pickle.loads(pickle.dumps(model)) == model
    assert len(pickle.dumps(model)) == len(pickle.dumps(Ensemble(model.rounds, n_features=N_FEATURES)))
    assert copy.deepcopy(model) == model


def test_importances_are_shares_of_the_ranges():
    children = {"left": [1, -1, 3, -1, -1], "right": [2, -1, 4, -1, -1], "missing_left": [True] * 5}
    tree = Tree([1, -1, 3, -1, -1], [0.5, 0, 0.5, 0, 0], value=[1.0, 0.0, 4.0, 3.0, 5.0], **children)
    rounds = [
        [(Stump(0, 0.5, below=-1.0, above=1.0), -2.0)],  # range 4
        [(Stump(2, 0.5), 1.0)],  # range 1
        [(tree, 0.5)],  # 2 by feature 1, 1 by feature 3
        [(Feature(2), -2.0)],  # as if from 0 to 1: 2
    ]
    assert Ensemble(rounds, n_features=5).feature_importances.tolist() == [0.4, 0.2, 0.3, 0.1, 0.0]


# Files


numbers = st.floats(-1e300, 1e300)
feature = st.integers(0, 4)
threshold = st.just(-np.inf) | st.floats(allow_nan=False, max_value=1e308)
steps = st.lists(numbers, max_size=3, unique=True).map(sorted)
weak_rankers = (
    st.builds(Feature, feature)
    | st.builds(Stump, feature, threshold, numbers, numbers)
    | st.builds(Tree.from_steps, feature, steps, st.tuples(*[numbers] * 4))
)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(st.tuples(weak_rankers, st.floats(-1e5, 1e5)), max_size=3), max_size=4), st.booleans())
def test_json_returns_every_bit(tmp_path_factory, rounds, named):
    names = ["a", "ä b", '"\\', "\n", ""] if named else None
    model = Ensemble(rounds, n_features=5, feature_names=names)
    path = tmp_path_factory.getbasetemp() / "model.json"
    model.save(path)
    loaded = Ensemble.load(path)
    assert loaded == model
    assert repr(loaded.rounds) == repr(model.rounds)  # -0.0 is not 0.0
    assert Ensemble.from_dict(model.to_dict()) == model
    json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)


def test_format_of_files(tmp_path):
    """What version 1 is: files of today must load tomorrow."""
    tree = Tree.from_steps(0, [-np.inf], [0.5, 1.5])
    model = Ensemble([[(Stump(0, -np.inf), 0.1)], [(Feature(1), -2.0), (tree, 1.0)]], n_features=2)
    model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text(encoding="utf-8") == (
        '{"format": "boostplug.Ensemble", "version": 1, "n_features": 2, "feature_names": null, "rounds": ['
        '[{"weight": 0.1, "kind": "stump", "feature": 0, "threshold": "-inf", "below": 0.0, "above": 1.0}], '
        '[{"weight": -2.0, "kind": "feature", "feature": 1}, '
        '{"weight": 1.0, "kind": "tree", "feature": [0, -1, -1], "threshold": ["-inf", 0.0, 0.0], '
        '"left": [1, -1, -1], "right": [2, -1, -1], "value": [1.0, 0.5, 1.5], "missing_left": [true, true, true]}]]}\n'
    )


def test_features_with_missing_values_are_kept(tmp_path):
    model = Ensemble([[(Stump(1, 0.5), 1.0)]], n_features=3, missing_features=np.array([1, 2]))
    model.save(tmp_path / "model.json")
    for same in (pickle.loads(pickle.dumps(model)), Ensemble.load(tmp_path / "model.json"), copy.deepcopy(model)):
        assert same == model
        assert same.missing_features == (1, 2)
    with pytest.raises(ValueError, match="missing_features must be an integer of at most 2; got 3"):
        Ensemble([], n_features=3, missing_features=[3])


TERMS = [[(Stump(0, 0.5), 1.0)], [(Feature(1), 1.0), (Tree.from_steps(0, [0.5], [0.0, 1.0]), 1.0)]]
SAVED = Ensemble(TERMS, n_features=2, feature_names=["a", "b"]).to_dict()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a saved ensemble .Expecting value: line 1 column 1 .*; pass what Ensemble.save wrote"),
        ("null", "not a saved ensemble, but None"),
        ('{"learner": {}, "version": [3, 2]}', r"what Ensemble.save wrote, or load with .* xgboost.Booster\(model"),
        (json.dumps(SAVED)[:-20], "not a saved ensemble .* line 1"),
        ("tree\nversion=v4\n", r"not a saved ensemble .Expecting value.*load with lightgbm.Booster\(model_file=…\)"),
        ('{"format": "boostplug.Ensemble", "version": 2}', "version 2 of the format is unknown"),
        (json.dumps(SAVED).replace("0.5", "NaN"), "must be a finite number"),
        (json.dumps(SAVED).replace("0.5", "1e999"), "must be a finite number"),
        (json.dumps(SAVED).replace('"left": [1', '"left": [-5'), "left, right, feature are no tree"),
        (json.dumps(SAVED).replace('"left": [1, -1', '"left": [1'), "left must hold one entry per node"),
        (json.dumps(SAVED).replace('"feature": 1', '"feature": 2'), "is of feature 2"),
        ("[" * 100_000, "not a saved ensemble"),
        (json.dumps(SAVED).replace('"n_features": 2', '"n_features": true'), "n_features"),
        (json.dumps(SAVED).replace('"weight": 1.0', '"weight": "x"'), "weight"),
        (json.dumps(SAVED).replace('"kind": "stump"', '"kind": "stamp"'), "stamp"),
    ],
    ids=itertools.count(),
)
def test_load_names_the_file_and_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"(?s)model.json: .*{message}"):
        Ensemble.load(path)


def test_a_tree_of_many_nodes(tmp_path):
    """A chain: half of the nodes are leaves, at every depth. Nothing calls itself at each depth."""
    n = 10_001
    node = np.arange(n)
    inner = (node % 2 == 0) & (node < n - 1)
    left, right = (np.where(inner, node + step, -1) for step in (1, 2))
    tree = Tree(np.where(inner, 0, -1), node / n, left, right, node / n, np.full(n, True))
    model = Ensemble([[(tree, 1.0)]], n_features=1)
    model.save(tmp_path / "model")
    loaded = Ensemble.load(tmp_path / "model")
    assert loaded == model
    assert loaded.predict([[0.0], [2.0]]).tolist() == [1 / n, (n - 1) / n]
    assert len(xgboost_model([tree], None, 1)) > n


# Both frameworks


def singles(framework, X):
    """Return X as the framework tells its numbers apart: LightGBM takes those next to 0 for 0."""
    return np.where(abs(X) <= 1e-35, 0, X) if framework == "lightgbm" else X


def scores_of(booster, X):
    return booster.predict(X if isinstance(booster, lgb.Booster) else xgb.DMatrix(X))


both_frameworks = pytest.mark.parametrize(
    ("framework", "name"),
    [(F, name) for F in ("lightgbm", "xgboost") for name in ROUNDS if F == "lightgbm" or name in CONVERTED],
)


@both_frameworks
def test_an_exported_booster_predicts_the_same(framework, name):
    model = Ensemble(ROUNDS[name], n_features=N_FEATURES)
    booster, accuracy = getattr(model, f"to_{framework}")(), {"lightgbm": 1e-12, "xgboost": 1e-6}[framework]
    for X in inputs(model):
        X = moderate(singles(framework, X), model, 1.0)  # noqa: PLW2901
        scores = scores_of(booster, X)
        np.testing.assert_allclose(scores, model.predict(X), rtol=0, atol=accuracy * size(model))
        if framework == "lightgbm":
            np.testing.assert_array_equal(booster.predict(X, raw_score=True), scores)
        else:
            assert np.array_equal(booster.inplace_predict(X), scores)


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_an_exported_booster_is_one_as_any_other(framework, tmp_path):
    booster = getattr(Ensemble(ROUNDS["stumps and trees"], n_features=N_FEATURES), f"to_{framework}")()
    expected = scores_of(booster, data())
    for file in {"lightgbm": ["model.txt"], "xgboost": ["model.json", "model.ubj"]}[framework]:
        booster.save_model(tmp_path / file)
        loaded = type(booster)(model_file=tmp_path / file)
        for same in (loaded, pickle.loads(pickle.dumps(booster)), copy.deepcopy(booster)):
            assert np.array_equal(scores_of(same, data()), expected)
    assert (booster.num_feature if framework == "lightgbm" else booster.num_features)() == N_FEATURES
    (booster.dump_model if framework == "lightgbm" else booster.get_dump)()


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("name", CONVERTED)
def test_an_exported_booster_is_converted(framework, name):
    model = Ensemble(ROUNDS[name], n_features=N_FEATURES)
    booster = getattr(model, f"to_{framework}")()
    for X in (data(7), around_thresholds(model).astype(np.float32)):
        X = singles(framework, X)  # noqa: PLW2901
        for scores in (by_onnx(booster, X), by_treelite(booster, X)):
            np.testing.assert_allclose(scores, model.predict(X), rtol=0, atol=1e-6 * size(model))


# One of them


def test_lightgbm_takes_numbers_next_to_zero_for_zero():
    """What the docstring says of it, so that a change there is seen; XGBoost and this library see the difference."""
    X = np.array([[TINY], [0.0]])
    (cut,) = Cuts(X.astype(np.float32), None, np.random.RandomState(0)).threshold
    model = Ensemble([[(Stump(0, cut), 1.0)]], n_features=1)
    assert model.predict(X).tolist() == model.to_xgboost().predict(xgb.DMatrix(X)).tolist() == [True, False]
    assert np.ptp(model.to_lightgbm().predict(X)) == 0


def test_lightgbm_models_that_converters_would_misread_are_refused_by_them():
    """They know no linear trees; of refit, LightGBM would make one by squared error where no objective is named."""
    booster = Ensemble(ROUNDS["all"], n_features=N_FEATURES).to_lightgbm()
    with pytest.raises(NotImplementedError, match="Unsupported LightGbm objective: 'custom'"):
        by_onnx(booster, data(7))
    with pytest.raises(lgb.basic.LightGBMError, match="No objective function"):
        booster.refit(np.nan_to_num(data()), np.arange(400))
    assert Ensemble(ROUNDS["stumps"], n_features=N_FEATURES).to_lightgbm().params["objective"] == "lambdarank"


def test_lightgbm_gets_no_slope_that_ends_the_process():
    model = Ensemble([[(Stump(0, 0.5), 1.0)], [(Feature(1), -2.2e-308)]], n_features=2)
    with pytest.raises(ValueError, match=r"feature 1 weighs -?\S+e-3\d\d, below what LightGBM reads; scale"):
        model.to_lightgbm()
    small = Ensemble([[(Feature(1), 2.3e-308), (Stump(0, 1e-320, 0.0, 1e-310), 1.0)]], n_features=2)
    assert small.to_lightgbm().predict([[1.0, 1.0]]).tolist() == small.predict([[1.0, 1.0]]).tolist()


def test_xgboost_thresholds_beyond_single_precision():
    X = np.array([[np.nan], [-LARGEST], [0.0], [LARGEST]])
    for threshold in (float(LARGEST), 1e39, 1e308, -1e39):
        model = Ensemble([[(Stump(0, threshold, 1.0, 3.0), 1.0)]], n_features=1)
        assert model.to_xgboost().predict(xgb.DMatrix(X)).tolist() == model.predict(X).tolist()
