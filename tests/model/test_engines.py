"""Exports to search engines: read by readers of their own, they score as the model does, to single precision."""

import json
import re
import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework, lgb, xgb
from sklearn.tree import DecisionTreeClassifier

import boostplug as bp
from boostplug.model.engines import ENGINES as ROWS
from boostplug.testing import check_export
from boostplug.weak_rankers import Feature, Stump

LIGHTGBM, XGBOOST = FRAMEWORKS.values()
ENGINES = ("solr", "elasticsearch-ltr", "opensearch-ltr", "ranklib", "vespa")
N_FEATURES = 5
RANKERS = [
    bp.RankBoostRanker(n_estimators=20),
    bp.NDCGBoostRanker(n_estimators=5, classifier=DecisionTreeClassifier(max_depth=3), random_state=0),
]


def data(rng, n=1500, *, missing):
    """Return single-precision features with zeros, ties, negatives and large numbers, labels, and group sizes."""
    X = rng.normal(0, 1, (n, N_FEATURES))
    X[:, 1] = rng.integers(-2, 3, n)
    X[:, 2] *= 1e6
    X[rng.random(X.shape) < 0.2] = 0.0
    y = np.clip((X[:, 0] + 0.3 * X[:, 1] + rng.normal(0, 0.5, n)).round(), 0, 3)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X.astype(np.float32), y, np.full(n // 10, 10)


def thresholds_of(model):
    """Return the features and thresholds of a model's splits, by the framework's own words."""
    if isinstance(model, bp.Ensemble):
        model = model.to_lightgbm()
    if isinstance(model, lgb.Booster):
        table = model.trees_to_dataframe().dropna(subset=["threshold"])
        return table["split_feature"].map(model.feature_name().index), table["threshold"]
    table = model.trees_to_dataframe()
    table = table[table["Feature"] != "Leaf"]
    return table["Feature"].str[1:].astype(int), table["Split"]


def rows_of(model, rng, *, missing, n=1_000):
    """Return rows with values on thresholds, one single-precision step beside them, zeros, negatives, and missing."""
    X = data(rng, n, missing=missing)[0]
    features, thresholds = (np.asarray(values) for values in thresholds_of(model))
    if len(features):
        for _ in range(3 * N_FEATURES):
            drawn = rng.integers(0, len(features), n)
            at = np.clip(thresholds[drawn], -3e38, 3e38).astype(np.float32)
            at = np.where(rng.random(n) < 0.3, np.nextafter(at, np.float32(rng.choice([-np.inf, np.inf]))), at)
            chosen = rng.random(n) < 0.2
            X[np.flatnonzero(chosen), features[drawn][chosen]] = at[chosen]
    if missing:
        X[rng.random(X.shape) < 0.05] = np.nan
    return X


def scores(model, X):
    if isinstance(model, xgb.Booster):
        best = model.attr("best_iteration")
        return model.predict(xgb.DMatrix(X), iteration_range=(0, int(best) + 1 if best else 0))
    return model.predict(X.astype(np.float64))


def trained(F, rng, depth, n_trees, *, missing, **params):
    X, y, group = data(rng, missing=missing)
    leaves = {"num_leaves": min(2**depth, 63), "min_data_in_leaf": 5} if F is LIGHTGBM else {"base_score": 0.25}
    matrix = F.data(F.kinds[0], data=X, label=y, group=group)
    return F.train(bp.QBRank(), matrix, n_trees, **{"max_depth": depth, **leaves, **params})[0]


@every_framework
@pytest.mark.parametrize(("depth", "n_trees"), [(1, 1), (3, 40), pytest.param(7, 60, marks=pytest.mark.ci)])
@pytest.mark.parametrize("missing", [False, True])
def test_random_models_score_in_each_engine_as_here(F, depth, n_trees, missing):
    rng = np.random.default_rng([depth, n_trees, missing])
    check_everywhere(trained(F, rng, depth, n_trees, missing=missing), rng, missing=missing)


def check_everywhere(model, rng, *, missing, engines=ENGINES):
    X = rows_of(model, rng, missing=missing)
    expected = scores(model, X)
    for to in engines:
        with_nan = missing and to not in ("solr", "ranklib")
        options = {"missing": "nan"} if with_nan and to != "vespa" else {}
        rows, wanted = (X, expected) if with_nan or not missing else (np.nan_to_num(X), scores(model, np.nan_to_num(X)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "missing values count as 0|.* up to the best iteration")
            text = bp.export(model, to=to, **options or ({"missing": "zero"} if missing and to != "vespa" else {}))
        names = [f"f{k}" for k in range(N_FEATURES)] if isinstance(model, xgb.Booster) else None
        if isinstance(model, lgb.Booster):
            names = model.feature_name()
        if to == "solr":
            rows, wanted = without_the_slack(rows, wanted)
        check_export(text, to, rows, wanted, feature_names=names, **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("error" if not missing else "ignore", "the model has learnt")
        warnings.filterwarnings("ignore", ".* up to the best iteration")
        ranker = bp.export(model, to="xgboost")
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def without_the_slack(rows, wanted):
    """Return the rows without values so near 0 that Solr cannot tell them apart, and their scores."""
    kept = ~((rows != 0) & (np.abs(rows) < 2e-6)).any(axis=1)
    return rows[kept], wanted[kept]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_reference_rankers_score_in_each_engine_as_here(ranker):
    rng = np.random.default_rng(5)
    X, y, group = data(rng, 200, missing=False)
    check_everywhere(ranker.fit(X, y, group=group).model_, rng, missing=False, engines=("solr", "vespa"))


@every_framework
def test_dart_and_early_stopped_models(F):
    rng = np.random.default_rng(11)
    dart = {"boosting": "dart"} if F is LIGHTGBM else {"booster": "dart", "rate_drop": 0.3, "verbosity": 0}
    check_everywhere(trained(F, rng, 4, 30, missing=False, **dart), rng, missing=False)
    (X, y, group), valid = data(rng, missing=False), data(rng, missing=False)
    stop = {"valid": F.kinds[0](valid[0], valid[1], group=valid[2]), "metric": bp.NDCG(3), "patience": 3}
    stopped = F.train(bp.QBRank(), F.data(F.kinds[0], data=X, label=y, group=group), 200, **stop)[0]
    check_everywhere(stopped, rng, missing=False)


def built_in(F, objective, **params):
    """Return a booster of an objective of the framework's own, on labels of 0 and 1."""
    X, y, group = data(np.random.default_rng(0), missing=False)
    train, of_trees = (lgb.train, {"verbose": -1, "num_threads": 1}) if F is LIGHTGBM else (xgb.train, {"nthread": 1})
    return train({"objective": objective, **of_trees, **params}, F.kinds[0](X, np.minimum(y, 1), group=group), 3)


FORESTS = {
    "LightGBM's": (LIGHTGBM, "regression", {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}),
    "XGBoost's": (XGBOOST, "reg:squarederror", {"num_parallel_tree": 4, "subsample": 0.5}),
    "an exact tree method": (XGBOOST, "reg:squarederror", {"tree_method": "exact"}),
}


@pytest.mark.parametrize("name", FORESTS)
def test_forests_and_a_base_score_of_the_data(name):
    F, objective, params = FORESTS[name]
    check_everywhere(built_in(F, objective, **params), np.random.default_rng(1), missing=False)


@every_framework
def test_rankers_and_rows_to_check(F):
    X, y, group = data(np.random.default_rng(3), missing=False)
    ranker = F.fit(bp.QBRank(), X, y, group=group)
    names = ["title", "body", "votes", "age", "price"]
    text = bp.export(ranker, to="solr", name="mine", feature_names=names, X=X)
    document = json.loads(text)
    assert document["name"] == "mine"
    assert document["features"] == [{"name": name} for name in names]
    assert set(re.findall(r'"feature": "(\w+)"', text)) <= set(names)
    plain = bp.export(ranker.export(), to="xgboost", feature_names=names, X=X)
    assert type(plain) is xgb.XGBRanker
    assert plain.get_booster().feature_names == names
    broken = re.sub('"value": "[^"]*"', '"value": "9"', text, count=1)
    with pytest.raises(AssertionError, match="rows differ"):
        check_export(broken, "solr", X, ranker.predict(X), feature_names=names)


@every_framework
def test_missing_values_are_refused_where_the_engine_fills_with_0(F):
    rng = np.random.default_rng(1)
    learnt, plain = (trained(F, rng, 5, 20, missing=missing) for missing in (True, False))
    for to in ("solr", "ranklib", "elasticsearch-ltr", "opensearch-ltr"):
        with pytest.raises(ValueError, match="has learnt from missing values"):
            bp.export(learnt, to=to)
        bp.export(plain, to=to)
        with pytest.warns(UserWarning, match=r"missing values count as 0 in the export: at [\d,]+ of [\d,]+ splits"):
            bp.export(learnt, to=to, missing="zero")
    for to, other in (("solr", "nan"), ("ranklib", "nan"), ("vespa", "zero")):
        with pytest.raises(ValueError, match=f"missing='{other}'"):
            bp.export(learnt, to=to, missing=other)
    with pytest.warns(UserWarning, match="eland does not"):
        bp.export(learnt, to="xgboost")


@pytest.mark.parametrize(
    "ranker",
    [
        bp.LinearRanker(),
        bp.MPBoostRanker(n_estimators=3),
        bp.QuadraticBoundRanker(loss=bp.RankNet(), n_estimators=2),
        bp.RankBoostRanker(n_estimators=3),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_reference_rankers_know_which_features_had_missing_values(ranker, tmp_path):
    X, y, group = data(np.random.default_rng(0), 200, missing=False)
    holes = X.copy()
    holes[::3, 0] = np.nan  # the feature that matters
    ranker.fit(holes, y, group=group).model_.save(tmp_path / "model.json")
    for model in (ranker, ranker.model_, bp.Ensemble.load(tmp_path / "model.json")):
        for to in ("solr", "ranklib", "elasticsearch-ltr"):
            with pytest.raises(ValueError, match="has learnt from missing values where they go"):
                bp.export(model, to=to)
        with pytest.warns(UserWarning, match="missing values count as 0 in the export"):
            bp.export(model, to="solr", missing="zero", X=holes)
    bp.export(ranker.fit(X, y, group=group), to="solr", X=X)
    without_split = bp.Ensemble([[(Stump(1, 0.5), 1.0)]], n_features=N_FEATURES, missing_features=[0])
    bp.export(without_split, to="solr", X=holes)


@every_framework
def test_a_missing_value_goes_where_0_goes_unless_the_model_knows_better(F):
    rng = np.random.default_rng(2)
    X = data(rng, missing=False)[0]
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    model = trained(F, rng, 5, 20, missing=False)
    text, expected = bp.export(model, to="opensearch-ltr"), scores(model, np.nan_to_num(holes))
    names = model.feature_name() if F is LIGHTGBM else None
    for missing in ("nan", "zero"):
        check_export(text, "opensearch-ltr", holes, expected, feature_names=names, missing=missing)
    at_zero = bp.export(bp.Ensemble([[(Stump(0, 0.0), 1.0)]], n_features=1), to="opensearch-ltr")
    check_export(at_zero, "opensearch-ltr", np.array([[np.nan], [1.0]]), [0.0, 1.0])


def with_categories(F):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(0, 1, 500), rng.integers(0, 6, 500), rng.integers(0, 6, 500)])
    y = np.isin(X[:, 1], (1, 4)) + np.isin(X[:, 2], (0, 5)) + 0.0
    names = ["number", "colour", "shop"]
    if F is LIGHTGBM:
        data = lgb.Dataset(X, y, categorical_feature=[1, 2], feature_name=names)
        return lgb.train({"verbose": -1, "min_data_per_group": 5}, data, 3)
    matrix = xgb.DMatrix(X, y, feature_types=["q", "c", "c"], feature_names=names, enable_categorical=True)
    return xgb.train({"tree_method": "hist", "max_cat_to_onehot": 1}, matrix, 3)


def xgb_ranker_with_another_missing():
    X, y, group = data(np.random.default_rng(0), 200, missing=False)
    return xgb.XGBRanker(missing=-999.0, n_estimators=2).fit(X, y, group=group)


REFUSED = {
    r"codes of the categories of \['colour', 'shop'\]": lambda: with_categories(LIGHTGBM),
    r"categories of \['colour', 'shop'\]": lambda: with_categories(XGBOOST),
    "linear_tree": lambda: built_in(LIGHTGBM, "regression", linear_tree=True),
    "zero_as_missing": lambda: built_in(LIGHTGBM, "regression", zero_as_missing=True),
    "gblinear": lambda: xgb.train({"booster": "gblinear"}, xgb.DMatrix(np.eye(4), np.arange(4.0)), 2),
    "reads -999.0 as missing": xgb_ranker_with_another_missing,
    "export takes": lambda: "model.txt",
}


@pytest.mark.filterwarnings("ignore:.*gblinear", "ignore:.*deprecated")
@pytest.mark.parametrize("words", REFUSED)
def test_what_an_engine_cannot_hold_is_refused(words):
    with pytest.raises(ValueError, match=words):
        bp.export(REFUSED[words](), to="solr")


LINKED = [
    (LIGHTGBM, "binary", {"sigmoid": 2.0}, "'binary sigmoid:2'", ENGINES),
    (LIGHTGBM, "regression", {"reg_sqrt": True}, "'regression sqrt'", ENGINES),
    *((LIGHTGBM, name, {}, name, ENGINES[:-1]) for name in ("binary", "poisson")),
    *((XGBOOST, name, {}, name, ENGINES) for name in ("binary:hinge", "count:poisson")),
]


@pytest.mark.parametrize(("F", "objective", "params", "words", "refusing"), LINKED)
def test_functions_of_scores_that_an_engine_does_not_apply_are_refused(F, objective, params, words, refusing):
    model, X = built_in(F, objective, **params), data(np.random.default_rng(0), missing=False)[0]
    for to in (*refusing, "xgboost"):
        with pytest.raises(ValueError, match=f"predictions of objective '?{words}.* may be functions of the scores"):
            bp.export(model, to=to)
    for to in {*ENGINES} - {*refusing}:
        bp.export(model, to=to, X=X)


SCORES = {
    "lightgbm": ("lambdarank", "rank_xendcg", "regression_l1", "huber", "fair", "quantile"),
    "xgboost": ("reg:squaredlogerror", "reg:absoluteerror", "binary:logitraw", "rank:pairwise", "rank:ndcg"),
}


@pytest.mark.parametrize(("F", "name"), [(F, name) for F in FRAMEWORKS.values() for name in SCORES[F.name]])
def test_objectives_whose_predictions_are_the_scores(F, name):
    bp.export(built_in(F, name), to="solr")


def test_vespa_takes_codes_of_lightgbm():
    booster = with_categories(LIGHTGBM)
    X = np.column_stack([np.zeros(36), *np.divmod(np.arange(36.0), 6)])
    bp.export(booster, to="vespa", X=X, feature_names=["a", "b", "c"])


def frames(**more):
    """Return features with categories and an id column, labels that follow the colours, and query ids."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "black"], 600)
    y = pd.Series(colour).map({"red": 2, "green": 0, "blue": 1, "black": 0}).to_numpy()
    columns = {"number": rng.normal(size=600), "colour": pd.Categorical(colour)}
    return pd.DataFrame({**more, **columns, "qid": np.repeat(np.arange(60), 10)}), y


ONE_SHOP = pd.Categorical(["A"] * 600, categories=["A", "B", "C", "D"])
NEVER_SEEN = pd.Categorical([None] * 600, list("ABC"))


@pytest.mark.parametrize(("more", "renamed"), [({"shop": ONE_SHOP}, False), ({"shop": NEVER_SEEN}, True)])
def test_vespa_finds_the_texts_of_categories_by_column(more, renamed):
    frame, y = frames(**more)
    ranker = LIGHTGBM.fit(bp.QBRank(), frame, y, qid="qid")
    rows = frame.assign(colour=frame["colour"].astype(str))
    features = rows.drop(columns="qid").astype({"colour": "category"})[lambda x: x["colour"] != "red"]
    features["colour"] = features["colour"].cat.remove_unused_categories()
    names = [name.upper() for name in features] if renamed else None
    for given in (rows, rows[rows["colour"] != "red"], frame):
        text = bp.export(ranker, to="vespa", X=given, feature_names=names)
    check_export(text, "vespa", features, ranker.predict(features), feature_names=names)
    columns = json.loads(text)["feature_infos"]
    assert [name.lower() for name, info in columns.items() if info.get("values")] == ["colour"]
    shifted = json.loads(text) | {"pandas_categorical": [["black", "red", "green", "blue"]]}
    with pytest.raises(AssertionError, match="rows differ"):
        check_export(json.dumps(shifted), "vespa", features, ranker.predict(features), feature_names=names)
    with pytest.raises(ValueError, match="categories of \\['colour'\\]"):
        bp.export(ranker, to="solr")


@pytest.mark.parametrize(
    ("more", "fit", "columns"),
    [
        ({"size": pd.Categorical([7, 9, 11] * 200)}, {}, "'size'"),
        ({"size": pd.Categorical(["S", "M", "L"] * 200, ordered=True)}, {}, "'size'"),
        ({"size": [7, 9, 11] * 200, "shop": ONE_SHOP}, {"categorical_feature": ["size"]}, "'colour'"),
    ],
)
def test_vespa_refuses_categories_that_it_does_not_know_by_column(more, fit, columns):
    frame, y = frames(**more)
    y = y + np.tile([2, 0, 0, 0, 1, 0], 100)
    ranker = LIGHTGBM.fit(bp.QBRank(), frame, y, qid="qid", n_estimators=20, num_leaves=31, **fit)
    with pytest.raises(ValueError, match=f"categories.* of .*{columns}"):
        bp.export(ranker, to="vespa")


@pytest.mark.parametrize("ranker", [LIGHTGBM.ranker(), XGBOOST.ranker(), bp.MPBoostRanker(n_estimators=3)], ids=repr)
def test_rows_to_check_are_those_that_predict_takes(ranker):
    frame, y = frames()
    frame["colour"], frame["number"] = y + 0.5, frame["number"].astype(np.float32)
    rows = frame.rename(columns={"qid": "query"})
    ranker.fit(rows, y, qid="query")
    for X in (rows, rows.drop(columns="query"), rows.drop(columns="query").to_numpy()):
        for to in ("solr", "xgboost"):
            bp.export(ranker, to=to, X=X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"to": "lucene"}, "to must be one of solr"),
        ({"to": "solr", "missing": "none"}, "missing must be 'zero', 'nan' or None"),
        ({"to": "solr", "feature_names": ["a", "b"]}, "feature_names must hold 5 names"),
        ({"to": "solr", "feature_names": ["a", "b", "c", "d", "a"]}, "feature_names holds 'a'"),
        ({"to": "ranklib", "feature_names": ["a", "b", "c", "d", " "]}, "feature_names holds ' '"),
        ({"to": "vespa", "name": "mine"}, "name='mine' is of a model in Solr"),
        ({"missing": "zero"}, "are of an export to an engine"),
    ],
)
def test_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        bp.export(built_in(LIGHTGBM, "regression"), **options)


def test_an_engine_is_a_row(monkeypatch):
    """Whatever differs between engines is in the row: a copy of another name has all of it."""
    rng = np.random.default_rng(0)
    model, learnt = (trained(LIGHTGBM, rng, 3, 20, missing=missing) for missing in (False, True))
    X = data(rng, missing=False)[0]
    changes = {"offset": "auto", "options": ("store",), "names": ("[a-z]+", "which it does not take"), "learnt": "no"}
    known = {**ROWS}
    monkeypatch.setitem(ROWS, "mine", ROWS["solr"]._replace(title="Mine", missing=("zero", "nan"), **changes))
    names = ["a", "b", "c", "d", "e"]
    options = {"to": "mine", "feature_names": names}
    text = bp.export(model, **options, store="s", X=X)
    assert json.loads(text)["store"] == "s"
    check_export(text, "mine", X, scores(model, X), offset="auto", feature_names=names)
    assert text == bp.export(model, "solr", store="s", feature_names=names, offset="auto")
    bp.export(learnt, **options, missing="nan")
    refused = {
        "is of a model in Solr; mine takes none": {"name": "x"},
        "holds 'A', which it does not take": {"feature_names": [*"ABCDE"]},
        "if scores may change; no$": {},
    }
    for words, more in refused.items():
        with pytest.raises(ValueError, match=words):
            bp.export(learnt, **options | more)
    with pytest.raises(ValueError, match="missing='nan': solr fills missing values with 0"):
        bp.export(learnt, "solr", missing="nan")
    assert all(f'"{to}", {engine.title}: {engine.text}' in bp.export.__doc__ for to, engine in known.items())


def test_a_model_of_several_scores_per_row_is_refused():
    model = lgb.train(
        {"objective": "multiclass", "num_class": 3, "verbose": -1, "min_data_in_leaf": 1},
        lgb.Dataset(np.arange(6.0)[:, None], [0, 1, 2] * 2),
        1,
    )
    with pytest.raises(ValueError, match="a model of one score per row; got 3"):
        bp.export(model)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_that_the_engine_scores_otherwise_are_an_error():
    model = bp.Ensemble([[(Stump(0, 1e-12), 1.0)]], n_features=1)
    bp.export(model, to="solr", X=[[0.0], [1.0]])
    with pytest.raises(AssertionError, match="1 of 2 rows differ"):  # Solr adds 1e-6 to each threshold
        bp.export(model, to="solr", X=[[0.0], [9.9e-13]])


def test_an_ensemble_of_features_goes_nowhere():
    model = bp.Ensemble([[(Feature(0), 1.0)]], n_features=1)
    for to in (*ENGINES, "xgboost"):
        with pytest.raises(ValueError, match="weak ranker Feature"):
            bp.export(model, to=to)


# --- scores that Lucene takes, stores of Solr, names of Vespa --------------------------------------------------------

PLUGINS = ("elasticsearch-ltr", "opensearch-ltr")


def lowest_sum(text):
    """Return the least sum of leaves of a plugin's model."""

    def least(node):
        return node["leaf"] if "leaf" in node else min(map(least, node["children"]))

    return sum(map(least, json.loads(text)))


@pytest.mark.parametrize("to", PLUGINS)
@every_framework
def test_no_score_is_below_0_where_lucene_refuses_it(F, to):
    """By the leaves, whatever the rows; the order is that of the model."""
    rng = np.random.default_rng(0)
    model = trained(F, rng, 4, 50, missing=False)
    X = rows_of(model, rng, missing=False)
    expected = scores(model, X)
    assert expected.min() < 0.0
    names = {"feature_names": [f"f{k}" for k in range(N_FEATURES)]}
    text = bp.export(model, to=to, X=X, **names)
    assert 0.0 <= lowest_sum(text) < 0.01
    check_export(text, to, X, expected)
    check_export(text, to, X, expected, offset="auto")
    with pytest.raises(AssertionError, match="1000 of 1000 rows differ"):
        check_export(text, to, X, expected, offset=0.0)
    offset = json.loads(text)[0]["leaf"]
    check_export(text, to, X, expected, offset=offset)
    with pytest.raises(AssertionError, match="1 of 1000 rows differ: row 0"):
        check_export(text, to, X, expected + np.where(np.arange(len(X)) == 0, 0.1, 0.0))
    plain = bp.export(model, to=to, offset=0.0, **names)
    check_export(plain, to, X, expected)
    with pytest.raises(AssertionError, match=r"rows score below 0; pass offset='auto' to export"):
        check_export(plain, to, X, expected, offset="auto")
    assert len(json.loads(plain)) == len(json.loads(text)) - 1


@pytest.mark.parametrize("to", ["solr", "ranklib", "xgboost"])
def test_an_offset_is_added_where_it_is_asked_for(to):
    rng = np.random.default_rng(0)
    model = trained(LIGHTGBM, rng, 3, 20, missing=False)
    X = data(rng, missing=False)[0]
    if to == "xgboost":
        found, plain = (bp.export(model, to=to, offset=offset, X=X).predict(X) for offset in (2.5, None))
        np.testing.assert_allclose(found, plain + 2.5, atol=1e-5)
        return
    check_export(bp.export(model, to=to, X=X), to, X, scores(model, X))
    check_export(bp.export(model, to=to, X=X, offset=2.5), to, X, scores(model, X) + 2.5)
    check_export(bp.export(model, to=to, X=X, offset="auto"), to, X, scores(model, X), offset="auto")


def test_a_model_that_is_never_below_0_gets_no_tree():
    X, y, group = data(np.random.default_rng(0), missing=False)
    model = lgb.train({"objective": "regression", "verbose": -1}, lgb.Dataset(X, y + 5.0, group=group), 3)
    assert len(json.loads(bp.export(model, to="opensearch-ltr"))) == 3


@pytest.mark.parametrize(("scale", "warned"), [(1.0, False), (1e-8, True)])
def test_solr_warns_of_values_so_near_0_that_it_cannot_tell_them_apart(scale, warned):
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]]) * scale
    ranker = bp.RankBoostRanker(n_estimators=2).fit(X, [0, 1, 2, 3], group=[4])
    with pytest.warns(UserWarning, match="1e-6 .*on 'far'") if warned else nullcontext():
        bp.export(ranker, "solr", feature_names=["constant", "far"])


def test_solr_looks_for_features_in_the_store_that_is_named():
    model = trained(LIGHTGBM, np.random.default_rng(0), 2, 3, missing=False)
    assert json.loads(bp.export(model, to="solr", store="movies"))["store"] == "movies"
    assert "store" not in json.loads(bp.export(model, to="solr"))


@every_framework
@pytest.mark.parametrize("name", ["fieldMatch(title).completeness", "bm25(title)", "attribute(price)", "f_0", "now"])
def test_vespa_takes_names_of_rank_features(F, name):
    model = trained(F, np.random.default_rng(0), 2, 3, missing=False)
    assert json.dumps(name) in bp.export(model, to="vespa", feature_names=[name, "f1", "f2", "f3", "f4"])


@every_framework
@pytest.mark.parametrize(
    "name", ["title bm25", "größe", 'a"b', "a,b", "a:b", "title-bm25", "a/b", "x<y", "0", "1e3", "if"]
)
def test_vespa_gets_no_name_that_it_reads_as_another(F, name):
    model, names = trained(F, np.random.default_rng(0), 2, 3, missing=False), [name, "f1", "f2", "f3", "f4"]
    with pytest.raises(ValueError, match="which Vespa refuses or reads as a number or a formula; give each the name"):
        bp.export(model, to="vespa", feature_names=names)
    assert bp.export(model, to="solr", feature_names=names)
