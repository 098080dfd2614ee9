"""The printed lines train the model that was judged, from the user's data under the names that they print."""

from textwrap import dedent

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb

import boostplug as bp

FEW = {"rounds": 12, "seeds": [3], "num_threads": 1, "progress": False, "metrics": ["NDCG@10"], "linear_start": ()}
NAMES = {"label": "grade", "qid": "query"}
THETA = 1.0 / np.arange(1, 11)
OBJECTIVES = {
    "lightgbm": [bp.CRR(), "lambdarank", "rank_xendcg", "regression"],
    "xgboost": [bp.CRR(), "rank:ndcg", "reg:squarederror"],
}
EVERY = [(framework, objective) for framework, some in OBJECTIVES.items() for objective in some]


@pytest.fixture(scope="module")
def frame():
    """Return 90 queries of ten rows with a leak, a category, weights, positions, a day and a second label."""
    rng = np.random.default_rng(0)
    n, query = 900, np.repeat(rng.permutation(90), 10)
    X = rng.normal(size=(n, 3))
    brand = rng.integers(0, 3, n)
    grade = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + np.array([-1.0, 0.0, 1.0])[brand]), 0, 3).astype(int)
    return pd.DataFrame(X, columns=["price", "stars", "bm25"]).assign(
        brand=pd.Categorical(np.array(["x", "y", "z"])[brand]),
        clicked=(grade > 0) * rng.random(n),
        query=query,
        grade=grade,
        sold=(rng.random(n) < 0.2) * 1,
        position=np.tile(np.arange(1, 11), 90),
        w=np.repeat(rng.random(90) + 0.5, 10),
        day=query,
        part=np.array(["train", "valid", "test"])[query % 3],
    )


OTHERS = ["clicked", "sold", "position", "w", "day", "part"]
"""Columns that are no features unless a test says so."""


def compared(*data, framework, objective, **options):
    built_in = isinstance(objective, str)
    what = {"losses": () if built_in else [objective], "baselines": [objective] if built_in else ()}
    return bp.compare(*data, **what, frameworks=framework, **{**FEW, **options})


def trained(result, **names):
    """Return what the printed lines train in a namespace with the user's data only."""
    code = dedent(str(result).split("These lines train it again:\n")[1])
    names |= {"bp": bp, "pd": pd, "xgb": xgb}
    exec(code, names)  # noqa: S102 (ours)
    return names


def scores_of(model, X):
    """Return the scores of a ranker on a table with other columns, or of a booster on its features."""
    if isinstance(model, xgb.Booster):
        return model.predict(xgb.DMatrix(X[model.feature_names] if hasattr(X, "iloc") else X, enable_categorical=True))
    if isinstance(model, xgb.XGBRegressor) and not isinstance(model, xgb.XGBRanker) and hasattr(X, "iloc"):
        X = X[model.get_booster().feature_names]
    return model.predict(X[model.feature_name()] if isinstance(model, lgb.Booster) and hasattr(X, "iloc") else X)


def same(result, X, *, exactly=True, **names):
    """Raise unless the lines' model has the scores of `CompareResult.model`; return the model."""
    names = trained(result, **names)
    model, X = names["model"], names["frame"] if X is None else X
    ours, theirs = scores_of(model, X), scores_of(result.model, X)
    if exactly:
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-12)
    assert np.ptp(theirs) > 0
    return model


@pytest.mark.parametrize(("framework", "objective"), EVERY, ids=str)
def test_of_one_split(frame, framework, objective):
    result = compared(
        frame, framework=framework, objective=objective, **NAMES, drop=OTHERS, split=(0.6, 0.2, 0.2), seeds=[3]
    )
    same(result, frame, frame=frame)
    result = compared(
        frame, framework=framework, objective=objective, **NAMES, drop=OTHERS, split=(0.5, 0.3, 0.2), seeds=2
    )
    same(result, frame, frame=frame, exactly=False)
    assert "split=(0.5, 0.3, 0.2)" in result.recommendation


@pytest.mark.parametrize(("framework", "objective"), EVERY, ids=str)
def test_of_folds(frame, framework, objective):
    result = compared(frame, framework=framework, objective=objective, **NAMES, drop=OTHERS, folds=3)
    same(result, frame, frame=frame)
    assert "folds = bp.split_queries(frame, qid='query', label='grade', folds=3)" in result.recommendation


@pytest.mark.parametrize("given", [{"split": "part"}, {"split": ("time", "day")}], ids=["column", "time"])
@pytest.mark.parametrize("framework", OBJECTIVES)
def test_of_a_split_by_a_column(frame, framework, given):
    others = [name for name in OTHERS if name not in str(given)]
    same(compared(frame, framework=framework, objective=bp.CRR(), **NAMES, drop=others, **given), frame, frame=frame)


@pytest.mark.parametrize(("framework", "objective"), EVERY, ids=str)
def test_of_weights(frame, framework, objective):
    options = {**NAMES, "weight": "w", "drop": [name for name in OTHERS if name != "w"]}
    for more in ({"folds": 3}, {"split": (0.6, 0.2, 0.2)}):
        same(compared(frame, framework=framework, objective=objective, **options, **more), frame, frame=frame)


@pytest.mark.parametrize(("framework", "objective"), EVERY, ids=str)
def test_of_three_frames_and_of_ranking_data(frame, framework, objective):
    train, valid, test = bp.split_queries(frame, qid="query")
    result = compared(train, valid, test, framework=framework, objective=objective, **NAMES, drop=OTHERS)
    same(result, frame, train=train)
    of_arrays = frame.drop(columns=[*OTHERS, "brand"])
    data = bp.RankingData(of_arrays.drop(columns="w", errors="ignore").drop(columns=["query", "grade"]).to_numpy(),
                          frame["grade"], qid=frame["query"], weight=frame["w"])  # fmt: skip
    for more in ({"folds": 3}, {"split": (0.6, 0.2, 0.2)}):
        same(compared(data, framework=framework, objective=objective, **more), data.X, data=data)
    folds = bp.split_queries(data, folds=3)
    same(compared(folds, framework=framework, objective=objective), data.X, folds=folds)


@pytest.mark.parametrize(("framework", "objective"), EVERY[::2], ids=str)
def test_of_files(frame, framework, objective, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = frame.assign(query=[f"00{query}" for query in frame["query"]])
    texts.to_csv("shop.csv", sep=";", index=False)
    texts.astype({"brand": "object"}).to_parquet("shop.parquet")
    for path in ("shop.csv", "shop.parquet"):
        result = compared(path, framework=framework, objective=objective, **NAMES, drop=OTHERS, folds=3)
        same(result, None)
        assert f"frame = pd.read_{path[5:]}('{path}'" in result.recommendation
