"""The printed lines train the model that was judged, from the user's data under the names that they print."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from reports import THREE, TREES, compare_one, write_letor
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli.app import app
from boostplug.comparison import recommendation
from boostplug.core.values import Range
from boostplug.losses import LOSSES

FEW = {"rounds": 8, "seeds": [3], "metrics": ["NDCG@10"]}
NAMES = {"label": "grade", "qid": "query"}
OTHERS = ["clicked", "sold", "bought", "position", "w", "day", "part"]
"""Columns that are no features unless a test says so."""
LOSS = bp.CRR()
EVERY = [("lightgbm", one) for one in (LOSS, "lambdarank", "rank_xendcg", "regression", bp.AdaRank())]
EVERY += [("xgboost", one) for one in (LOSS, bp.AdaRank(), "rank:pairwise", "rank:ndcg", "reg:squarederror")]
OURS, BUILT_IN = ("lightgbm", LOSS), ("xgboost", "reg:squarederror")
THETA = (1.0 / np.arange(1, 9)).tolist()
CLICKS = {"label": "sold", "position": "position", "propensity": THETA, **THREE}
BY_NODE = {"lightgbm": {"feature_fraction_bynode": 1.0}}
CHOICE = {"label": "bought", "today": "bm25", "drop": [*OTHERS, "grade"], "early_stopping_rounds": None, "folds": 3}


@pytest.fixture(scope="module")
def frame():
    """Return 60 queries of up to eight rows with a leak, a category, weights, positions, days and more labels."""
    rng = np.random.default_rng(0)
    n, query = 480, np.repeat(rng.permutation(60), 8)
    X = rng.normal(size=(n, 3))
    brand = rng.integers(0, 3, n)
    value = X[:, 0] + X[:, 1] * X[:, 2] + np.array([-1.0, 0.0, 1.0])[brand]
    grade = np.clip(np.round(value), 0, 3).astype(int)
    whole = pd.DataFrame(X, columns=["list price", "stars", "bm25"]).assign(
        brand=pd.Categorical(np.array(["x", "y", "z"])[brand]),
        clicked=(grade > 0) * rng.random(n),
        query=query,
        grade=grade,
        sold=(rng.random(n) < 0.2) * 1,
        bought=(value == pd.Series(value).groupby(query).transform("max")) * 1,
        position=np.tile(np.arange(1, 9), 60),
        w=rng.random(n) + 0.5,
        day=query,
        part=np.array(["train", "valid", "test"])[query % 3],
    )
    return whole.sample(frac=0.9, random_state=0).sort_index(ignore_index=True)


def compared(*data, method, **options):
    framework, objective = method
    return compare_one(*data, framework=framework, objective=objective, **{**FEW, **options})


def without(*names):
    """Return names of columns, and the argument that drops all others that are no features."""
    return {**NAMES, "drop": [name for name in OTHERS if name not in names]}


def scores_of(model, X):
    """Return the scores of a ranker on a table with more columns, or of a booster on its features."""
    if isinstance(model, xgb.Booster):
        features = X[model.feature_names] if hasattr(X, "iloc") else X
        return model.predict(xgb.DMatrix(features, enable_categorical=True))
    if isinstance(model, lgb.Booster) and hasattr(X, "iloc"):
        X = X[[name.replace("_", " ") for name in model.feature_name()]]
    return model.predict(X)


def trained(result, **names):
    """Return what the lines, as they are printed, leave in a namespace with the user's data only."""
    lines = dedent(str(result).split("These lines train it again:\n")[1])
    exec(lines, names := {"bp": bp, "pd": pd, **names})  # noqa: S102 (ours)
    return names


def same(result, X, **names):
    """Raise unless the lines' model has the scores of `CompareResult.model`."""
    names = trained(result, **names)
    X = names["frame"] if X is None else X
    theirs = scores_of(result.model, X)
    np.testing.assert_array_equal(scores_of(names["model"], X), theirs)
    assert np.ptp(theirs) > 0


@pytest.mark.parametrize(
    ("method", "column", "options"),
    [
        *((method, None, THREE) for method in EVERY),
        (BUILT_IN, None, {"folds": 3}),
        (OURS, None, {"folds": 3, "seeds": 2}),
        *((method, "w", {"weight": "w", **THREE}) for method in (("xgboost", LOSS), EVERY[1], *EVERY[-2:])),
        (OURS, "part", {"split": "part"}),
        (BUILT_IN, "day", {"split": ("time", "day"), "seeds": 2}),
        (("xgboost", bp.Unbiased(method="ips", propensity=tuple(THETA))), "position", CLICKS),
        (("lightgbm", "lambdarank"), "position", CLICKS),
        (("lightgbm", 0.5 * bp.QBRank() + 0.5 * bp.QBRank().on("sold")), "sold", {"labels": ["sold"], **THREE}),
        (("lightgbm", "lambdarank(norm=False)"), None, CHOICE),
    ],
    ids=str,
)
def test_the_lines_train_on_a_frame(frame, method, column, options):
    result = compared(frame, method=method, **{**without(column), **options})
    same(result, frame, frame=frame)
    if options is CHOICE:
        assert result.document["recommendation"]["outcome"] == "better"
    if options == {"folds": 3, "seeds": 2}:
        assert "folds = bp.split_queries(frame, qid='query', label='grade', folds=3)" in result.recommendation
    if options is THREE:
        best = result.best
        assert best.features == ["list price", "stars", "bm25", "brand"]
        train, _, test = bp.split_queries(frame, qid="query")
        scores = best.fit(train, "grade", qid="query").predict(frame)
        np.testing.assert_array_equal(scores, scores_of(result.model, frame))
        (run,) = result.document["methods"][0]["runs"]
        assert best.n_estimators == run["rounds"]
        found = bp.NDCG(10).score(test["grade"], best.predict(test), qid=test["query"])
        assert run["test"]["NDCG@10"] == pytest.approx(found, abs=1e-12)


def test_of_three_tables_and_of_a_list_of_folds(frame):
    parts, folds = bp.split_queries(frame, qid="query"), bp.split_queries(frame, qid="query", label="grade", folds=3)
    same(compared(*parts, method=OURS, **without()), frame, train=parts[0])
    same(compared(folds, method=BUILT_IN, **{**NAMES, "features": ["list price", "brand"]}), frame, folds=folds)
    for whole, method in ((pl.from_pandas(frame), OURS), (pa.Table.from_pandas(frame), BUILT_IN)):
        same(compared(whole, method=method, **without(), folds=3), frame, frame=whole)


def test_of_ranking_data(frame):
    given = {"y": frame["grade"], "qid": frame["query"], "weight": frame["w"], "labels": {"sold": frame["sold"]}}
    data = bp.RankingData(frame[["list price", "stars", "bm25"]].to_numpy(), **given)
    same(compared(data, method=("xgboost", "rank:ndcg"), **THREE), data.X, data=data)
    same(compared(data, method=("lightgbm", "lambdarank"), folds=3), data.X, data=data)
    parts = bp.split_queries(data, split=(0.5, 0.25, 0.25))
    same(compared(*parts, method=("xgboost", LOSS.on("sold"))), data.X, train=parts[0])


def test_of_files(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = frame.assign(query=[f"00{query}" for query in frame["query"]], brand=frame["brand"].astype("object"))
    texts.to_csv("shop.csv", sep=";", index=False)
    texts.to_parquet("shop.parquet")
    for path, method in (("shop.csv", ("xgboost", LOSS)), ("shop.parquet", OURS)):
        result = compared(path, method=method, **without(), **THREE)
        same(result, None)
        assert f"frame = pd.read_{path[5:]}('{path}'" in result.recommendation
    for part, rows in zip(("train.csv", "valid.csv", "test.csv"), bp.split_queries(texts, qid="query"), strict=True):
        rows.to_csv(part, index=False)
    same(compared("train.csv", "valid.csv", "test.csv", method=OURS, **without()), frame)
    rows = {"X": frame[["list price", "stars"]].to_numpy().round(3), "y": frame["grade"], "qid": frame["query"]}
    write_letor(Path("judged.txt"), bp.RankingData(**rows))
    data = bp.datasets.load_letor("judged.txt")
    same(compared("judged.txt", method=OURS, **THREE), data.X)


def test_of_tuned_folds_and_of_the_linear_model(frame):
    pytest.importorskip("optuna")
    tuned = compared(frame, method=("lightgbm", bp.QBRank()), **without(), folds=3, tune=3, params=TREES | BY_NODE)
    assert tuned.document["recommendation"]["code"].count("LGBMRanker(") == 3  # one for each fold's setting
    same(tuned, frame, frame=frame)
    linear = bp.compare(frame, losses=(), baselines="linear", **without(), **FEW, num_threads=1, folds=3)
    X = frame[linear.best.features]
    assert [*X] == ["list price", "stars", "bm25"]
    scores = linear.model.predict(X)
    np.testing.assert_allclose(trained(linear, frame=frame)["model"].predict(X), scores, rtol=1e-9)
    assert np.ptp(linear.best.fit(frame, "grade", qid="query").predict(frame)) > 0


def test_the_call_runs_as_it_is_printed(frame):
    data = bp.RankingData(frame[["list price", "stars"]].to_numpy(), frame["grade"], qid=frame["query"])
    folds = bp.split_queries(data, folds=3)
    for given, name, more, X in ((frame, "frame", {**without(), "folds": 3}, frame), (folds, "folds", {}, data.X)):
        result = compared(given, method=OURS, **more)
        again = eval(result.document["call"], {"bp": bp, name: given})  # noqa: S307 (ours)
        assert again.document["methods"][0]["test"] == result.document["methods"][0]["test"]
        np.testing.assert_array_equal(scores_of(again.model, X), scores_of(result.model, X))


def test_a_model_that_was_written_is_the_one_of_the_lines(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("shop.csv", index=False)
    command = "compare --data shop.csv --label grade --qid query --losses CRR --baselines none --frameworks lightgbm"
    command += f" --rounds 8 --seeds 1 --num-threads 1 --split .6,.2,.2 --drop {','.join(OTHERS)}"

    def said_of(*arguments):
        monkeypatch.setattr("sys.argv", ["boostplug", *arguments])
        return CliRunner().invoke(app, [*arguments]).stdout

    assert "add --model ranker.txt to the command" in said_of(*command.split())
    said = said_of(*command.split(), "--model", "ranker.txt")
    assert "add --model" not in said
    names: dict = {"bp": bp, "pd": pd}
    exec(dedent(said.split("These lines train it again:\n")[1]), names)  # noqa: S102 (ours)
    written = lgb.Booster(model_file="ranker.txt")
    np.testing.assert_array_equal(names["model"].predict(names["frame"]), scores_of(written, names["frame"]))


# --- estimators -------------------------------------------------------------------------------------------------------


def in_lightgbm(parts, objective, **options):
    return compare_one(*parts, framework="lightgbm", objective=objective, **{"rounds": 4, "seeds": [3], **options})


def fitted(result, train):
    return result.best.fit(train.X, train.y, qid=train.qid)


def test_a_round_in_which_lightgbm_finds_no_split_adds_no_tree(parts):
    """LightGBM leaves out such a tree, so after it the model has fewer trees than rounds."""
    pieces = [  # with a column that no leaf of 20 rows can use
        bp.RankingData(np.c_[part.X[:, 0], np.arange(part.n_rows) == 0], part.y, qid=part.qid) for part in parts
    ]
    for loss in (bp.RankNet(), "lambdarank"):
        result = in_lightgbm(pieces, loss, rounds=30, params={"column_fraction": 0.5, "min_rows": 20})
        model, (run,) = fitted(result, pieces[0]), result.document["methods"][0]["runs"]
        assert model.booster_.num_trees() < run["rounds"]
        np.testing.assert_array_equal(result.model.predict(pieces[2].X), model.predict(pieces[2].X))


@dataclass(frozen=True, kw_only=True)
class Own(bp.RankNet):
    """A user's loss, with a choice that is no word."""

    pair: tuple = (1, 2)

    search_ranges = {"pair": ((1, 2), (3, 4)), "sigmoid": Range(0.5, 2.0)}  # noqa: RUF012 (frozen)


@pytest.mark.parametrize("objective", ["lambdarank", Own()], ids=["lambdarank", "own"])
def test_tuned_parameters_are_in_it(parts, tmp_path, objective):
    pytest.importorskip("optuna")
    train, _, test = parts
    some = {"tune": 8, "params": {"min_rows": 200}}
    if not isinstance(objective, Own):  # its trainings are not kept
        some["store"] = tmp_path / "kept.jsonl"
    result = in_lightgbm(parts, objective, **some)
    again = in_lightgbm(parts, objective, **some, resume="store" in some)
    (run,) = result.document["methods"][0]["runs"]
    assert run["tuned"]["parameters"]
    for one in (result, again):
        scores = fitted(one, train).predict(test.X)
        assert run["test"]["NDCG@10"] == pytest.approx(bp.NDCG(10)(scores, test.queries), abs=1e-12)
    assert again.recommendation == result.recommendation


def test_of_folds_that_chose_other_settings_the_first_ones_are_in_it(parts):
    pytest.importorskip("optuna")
    result = in_lightgbm(
        [[parts, parts[::-1]]], bp.QBRank(), seeds=1, tune=4, params={**TREES, "lightgbm": {"extra_trees": False}}
    )
    first, second = (run["tuned"]["parameters"] for run in result.document["methods"][0]["runs"])
    assert first != second
    rate = result.best.get_params()["learning_rate"]
    assert (rate == first["learning_rate"], rate == second["learning_rate"]) == (True, False)


def test_the_line_of_code_names_the_loss():
    registered = [loss for losses in LOSSES.values() for loss in losses]
    for loss in (*registered, bp.AdaRank(metric=bp.MAP(), base=bp.RankNet(sigmoid=2.0))):
        line = recommendation.code(recommendation.estimator("lightgbm", loss, {}, 7))
        found = eval(line, {"bp": bp})  # noqa: S307 (ours)
        assert found.get_params(deep=False)["objective"] == loss
        assert found.n_estimators == 7
    for loss, text in ((bp.CRR(), "bp.CRR()"), (Own(), "Own(sigmoid=1.0, "), (bp.QBRank(preference_weight=0.3), "0.3")):
        assert text in recommendation.code(recommendation.estimator("xgboost", loss, {}, 1))
