"""Data that `compare` takes: one table from every form and file, columns to choose, weights that count."""

from itertools import chain

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb

import boostplug as bp
from boostplug.comparison.inputs.columns import Columns, split_by_query
from boostplug.comparison.inputs.data import folds_of
from boostplug.comparison.training.trees import NAMES_IN_LIGHTGBM
from boostplug.data.inputs import Source
from boostplug.datasets import Fold
from boostplug.model.boosters import as_booster

QUICK = {"rounds": 3, "seeds": 1, "num_threads": 1, "progress": False, "metrics": "NDCG@5"}
ONE = {"losses": [bp.RankNet()], "baselines": "lambdarank", "frameworks": "lightgbm", **QUICK}


def frame_of(part, **columns):
    frame = pd.DataFrame(part.X, columns=[f"f{i}" for i in range(part.n_features)])
    return frame.assign(qid=part.qid, grade=part.y, **columns)


def numbers(result):
    """Return all that the runs have found, but for times."""
    return [
        [{name: value for name, value in run.items() if name != "seconds_per_round"} for run in method["runs"]]
        for method in result.document["methods"]
    ]


@pytest.fixture(scope="module")
def plain(parts):
    return numbers(bp.compare(*parts, **ONE))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_data_frames(parts, plain, kind):
    make = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}[kind]
    frames = [make(frame_of(part)) for part in parts]
    assert numbers(bp.compare(*frames, label="grade", **ONE)) == plain
    renamed = [make(frame_of(part).rename(columns={"qid": "query"})) for part in parts]
    assert numbers(bp.compare([renamed], label="grade", qid="query", **ONE)) == plain
    assert numbers(bp.compare(tuple(renamed), label="grade", qid="query", **ONE)) == plain


def test_ranking_data_and_folds(parts, plain):
    grouped = [bp.RankingData(part.X, part.y, group=part.group) for part in parts]
    for fold in (Fold(*parts), tuple(grouped)):
        assert numbers(bp.compare(*fold, **ONE)) == plain
        assert numbers(bp.compare(fold, **ONE)) == numbers(bp.compare([fold], **ONE)) == plain
    for of_part in (lambda p: (p.X, p.y, p.qid), lambda p: {"X": p.X, "y": p.y, "qid": p.qid}):
        assert numbers(bp.compare(*map(of_part, parts), **ONE)) == plain
    with pytest.raises(
        ValueError, match=r"train: it must be a boostplug.RankingData\(X, y, qid=…\), \(X, y, qid\), or"
    ):
        bp.compare(parts[0].X, *parts[1:], **ONE)


def test_tables_and_files_of_tables_may_be_mixed(parts, plain, tmp_path):
    train, valid, test = map(frame_of, parts)
    test.to_parquet(tmp_path / "test.parquet")
    given = {"label": "grade", **ONE}
    assert numbers(bp.compare(train, pl.from_pandas(valid), tmp_path / "test.parquet", **given)) == plain
    with pytest.raises(ValueError, match=r"valid: a RankingData, .* has no columns of labels.*; leave out label"):
        bp.compare(train, *parts[1:], **given)


def test_what_one_framework_refuses_stands_in_its_rows(parts):
    """Labels that are no integers; all other methods are trained."""
    real = [(frame := frame_of(part)).assign(grade=frame["grade"] + 0.5) for part in parts]
    given = {"label": "grade", **ONE, "frameworks": ("lightgbm", "xgboost"), "baselines": ("lambdarank", "rank:ndcg")}
    methods = bp.compare(*real, **given).document["methods"]
    errors = {method["method"]: method["runs"][0]["error"] for method in methods if method["runs"][0]["error"]}
    assert sorted(errors) == ["lambdarank", "rank:ndcg"]
    assert "label should be int type" in errors["lambdarank"]
    assert "label must be either 0 or positive integer" in errors["rank:ndcg"]
    large = [(frame := frame_of(part)).assign(grade=frame["grade"] + 28) for part in parts]
    result = bp.compare(*large, **{**given, "frameworks": "lightgbm", "losses": ()}, metric=bp.SpearmanRho())
    assert "pass label_gain=[…]" in result.document["methods"][0]["runs"][0]["error"]


def test_letor_files(parts, plain, tmp_path):
    for name, part in zip(("train", "vali", "test"), parts, strict=True):
        rows = zip(part.y, part.qid, part.X, strict=True)
        lines = [f"{y:g} qid:{q} " + " ".join(f"{i}:{x!s}" for i, x in enumerate(X, 1)) for y, q, X in rows]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines).replace("nan", "NULL"))
    of_folder = bp.compare(tmp_path, **ONE)
    assert numbers(of_folder) == numbers(bp.compare(str(tmp_path), **ONE)) == plain
    assert of_folder.document["data"]["name"] == tmp_path.name
    files = [tmp_path / f"{name}.txt" for name in ("train", "vali", "test")]
    assert numbers(bp.compare(*files, **ONE)) == plain


@pytest.fixture(scope="module")
def weighted(parts):
    """Data whose rows weigh differently, also within a query, and some nothing."""
    rng = np.random.default_rng(0)
    return [
        bp.RankingData(part.X, part.y, qid=part.qid, weight=rng.choice([0.0, 0.5, 1.0, 4.0], part.n_rows))
        for part in parts
    ]


@pytest.fixture(scope="module")
def of_weighted(weighted):
    methods = {"losses": [bp.RankNet()], "baselines": ["lambdarank", "rank:ndcg", "reg:squarederror"]}
    return bp.compare(*weighted, **methods, **QUICK)


def test_weights_count_in_training_and_metrics(weighted, of_weighted):
    """As LightGBM alone trains. The recommended estimators of the other methods are fitted in another test."""
    train, valid, test = weighted
    assert not of_weighted.failed
    runs = {(m["framework"], m["method"]): m["runs"][0] for m in of_weighted.document["methods"]}
    found = of_weighted.document["settings"]["params"]
    own = {name: found[ours] for ours, name in NAMES_IN_LIGHTGBM.items()}
    params = {"objective": bp.RankNet(), "num_threads": 1, "bagging_freq": 1, "verbosity": -1, "metric": "None"}
    params |= {**own, **found["lightgbm"], **dict.fromkeys(("bagging_seed", "feature_fraction_seed", "extra_seed"), 0)}
    dataset = lgb.Dataset(train.X, train.y, group=train.group, weight=train.weight)
    booster = lgb.train(params, dataset, 3)
    rounds = runs["lightgbm", "RankNet"]["rounds"]
    scores = booster.predict(test.X, num_iteration=rounds)
    value = bp.NDCG(5)(scores, test.queries)
    assert runs["lightgbm", "RankNet"]["test"]["NDCG@5"] == pytest.approx(value, abs=1e-12)
    assert value != bp.NDCG(5)(scores, bp.Queries(test.y, group=test.group))
    on_valid = bp.NDCG(10)(booster.predict(valid.X, num_iteration=rounds), valid.queries)
    assert runs["lightgbm", "RankNet"]["validation"] == pytest.approx(on_valid, abs=1e-12)


def test_queries_of_weight_0_are_not_counted(weighted):
    train, valid, test = weighted
    odd = test.qid % 2 == 1
    some = bp.RankingData(test.X, test.y, qid=test.qid, weight=np.where(odd, test.weight, 0.0))
    result = bp.compare(train, valid, some, losses=[bp.RankNet()], baselines=["lambdarank"], **QUICK)
    only = bp.RankingData(test.X[odd], test.y[odd], qid=test.qid[odd], weight=test.weight[odd])
    expected = bp.compare(train, valid, only, losses=[bp.RankNet()], baselines=["lambdarank"], **QUICK)
    keys = ("queries", "better", "worse")
    ours, theirs = (one.document["recommendation"] for one in (result, expected))
    assert {key: ours[key] for key in keys} == {key: theirs[key] for key in keys}
    assert result.document["test"]["queries"] == expected.document["test"]["queries"]


def test_differences_weigh_queries(weighted, of_weighted):
    weights = weighted[2].queries.query_weight
    values = of_weighted.per_query
    of = {key: part["NDCG@10"].to_numpy() for key, part in values.groupby(["framework", "method"])}
    np.testing.assert_array_equal(values["weight"].to_numpy()[: len(weights)], weights)
    d = of["lightgbm", "RankNet"] - of["lightgbm", "lambdarank"]
    defined = ~np.isnan(d)
    found = of_weighted.to_frame().set_index(["framework", "method"]).loc[("lightgbm", "RankNet"), "difference"]
    assert found == pytest.approx((d * weights)[defined].sum() / weights[defined].sum(), abs=1e-12)
    assert "Means and tests are by the weights of the queries." in " ".join(str(of_weighted).split())


def test_weights_are_columns_of_frames_and_tell_kept_results_apart(weighted, tmp_path):
    frames = [frame_of(part, w=part.weight) for part in weighted]
    some = {"label": "grade", "weight": "w", **ONE, "store": tmp_path / "kept.jsonl"}
    found = bp.compare(*frames, **some)
    assert numbers(found) == numbers(bp.compare(*weighted, **ONE))
    other = [frame.assign(w=frame["w"] + 1) for frame in frames]
    with pytest.raises(ValueError, match="holds no results of this comparison, only of one with other"):
        bp.compare(*other, **some, resume=True)
    assert numbers(bp.compare(*frames, **some, resume=True)) == numbers(found)


SOME = {"losses": [bp.QBRank()], "baselines": "lambdarank", "rounds": 3, "seeds": 1, "num_threads": 1}
SPLIT = {"split": (0.6, 0.2, 0.2)}


@pytest.fixture(scope="module")
def frame():
    """Return 100 queries with a category that matters, their rows in any order."""
    rng = np.random.default_rng(0)
    n = 1500
    shop = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3))
    grade = np.clip(np.round(X[:, 0] + np.array([-1.0, 0.0, 1.5])[shop] + 1.0), 0, 4)
    return pd.DataFrame(X, columns=list("abc")).assign(
        grade=grade, query=rng.integers(0, 100, n), shop=pd.Categorical(np.array(["x", "y", "z"])[shop])
    )


def sizes(result):
    data = result.document["data"]
    return [data[part]["queries"] for part in ("train", "valid", "test")]


@pytest.mark.parametrize("split", [(0.6, 0.2, 0.2), (0.5, 0.25, 0.25), "part", ("time", "day")])
def test_split_queries_gives_the_parts_that_are_compared(frame, split):
    whole = frame.sample(frac=1.0, random_state=0)  # rows of queries apart
    day = np.arange(len(np.unique(whole["query"])))[np.unique(whole["query"], return_inverse=True)[1]]
    whole = whole.assign(day=day, part=np.array(["train", "valid", "test"])[day % 3])
    parts = bp.split_queries(whole, qid="query", split=split)
    others = ("part", "day") if isinstance(split[0], float) else ("day",) if split == "part" else ("part",)
    (compared,) = split_by_query(whole, Columns("grade", "query", drop=others, split=split), Source())
    for part, inputs in zip(parts, compared, strict=True):
        assert [*part.columns] == [*whole.columns]
        np.testing.assert_array_equal(part["query"], inputs.qid)
        np.testing.assert_array_equal(part["grade"], inputs.y)
    arrays = bp.split_queries(whole["grade"].to_numpy(), qid=whole["query"]) if split == (0.6, 0.2, 0.2) else ()
    for part, values in zip(parts, arrays, strict=False):
        np.testing.assert_array_equal(part["grade"], values)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"qid": "session"}, "there is no column 'session' for qid"),
        ({"qid": [1, 2]}, "one id per row"),
        ({"qid": "query", "split": "fold"}, "no column 'fold' for split"),
        ({"qid": "query", "split": (0.5, 0.5)}, "three shares"),
        ({"qid": "query", "folds": 3}, "label is missing"),
        ({"qid": "query", "folds": 3, "label": "gade"}, "no column 'gade' for label"),
        ({"qid": "query", "folds": 3, "label": [1, 2]}, "label must have one value per row"),
        ({"qid": "query", "folds": 3, "label": "grade", "split": "a"}, "folds and split both divide"),
    ],
)
def test_split_queries_refuses(frame, given, message):
    with pytest.raises(ValueError, match=message):
        bp.split_queries(frame, **given)


def test_one_frame_is_split_by_query(frame):
    result = bp.compare(frame, label="grade", qid="query", frameworks="lightgbm", **SOME)
    assert sizes(result) == [300, 100, 100]  # of five folds
    assert not result.failed
    assert not any("shares" in warning for warning in result.document["warnings"])
    again = bp.compare(frame, label="grade", qid="query", split=(0.5, 0.25, 0.25), frameworks="lightgbm", **SOME)
    assert sizes(again) == [50, 25, 25]
    assert "split=(0.5, 0.25, 0.25)" in again.document["call"]


def test_a_column_may_say_the_split(frame):
    part = np.array(["train", "vali", "test"])[frame["query"] % 3]
    result = bp.compare(
        frame.assign(part=part), label="grade", qid="query", split="part", frameworks="lightgbm", **SOME
    )
    assert sizes(result) == [34, 33, 33]
    assert result.document["data"]["features"] == 4
    other = frame.assign(part=np.where(part == "test", "later", part))
    with pytest.raises(ValueError, match=r"split: column 'part' must hold 'train', 'valid' and 'test'; got .later"):
        bp.compare(other, label="grade", qid="query", split="part")


def test_a_column_of_times_trains_before_and_tests_after(frame):
    day = (pd.Timestamp("2026-01-01") + pd.to_timedelta(frame["query"] * 7 % 100, unit="D")).to_numpy()
    given = {"label": "grade", "qid": "query", "split": ("time", "day"), "frameworks": "lightgbm", **SOME}
    result = bp.compare(frame.assign(day=day), **given)
    assert result.document["data"]["features"] == 4
    assert sum(sizes(result)) == 100
    (parts,) = split_by_query(frame.assign(day=day), Columns("grade", "query", split=("time", "day")), Source())
    latest, first = ([f(day[frame["query"].isin(part.qid)]) for part in parts] for f in (np.max, np.min))
    assert latest[0] < first[1] <= latest[1] < first[2]


def test_features_and_drop_choose_columns(frame):
    given = {"label": "grade", "qid": "query", "frameworks": "lightgbm", **SOME}
    assert bp.compare(frame, features=["a", "shop"], **given, **SPLIT).document["data"]["features"] == 2
    assert bp.compare(frame, drop=["b"], **given, **SPLIT).document["data"]["features"] == 3


def test_categories_train_in_both_frameworks(frame):
    pytest.importorskip("xgboost")
    some = {**SOME, **SPLIT, "rounds": 20, "baselines": ["lambdarank", "regression", "rank:ndcg", "reg:squarederror"]}
    with_it = bp.compare(frame, label="grade", qid="query", **some)
    without = bp.compare(frame, label="grade", qid="query", drop=["shop"], **some)
    assert not with_it.failed
    for one, other in zip(with_it.document["methods"], without.document["methods"], strict=True):
        assert one["test"]["NDCG@10"]["mean"] > other["test"]["NDCG@10"]["mean"] + 0.02


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_the_recommended_method_is_fitted_on_categories(frame, framework):
    found = bp.compare(frame, label="grade", qid="query", frameworks=framework, **{**SOME, "baselines": []})
    rows = frame.sort_values("query", kind="stable")
    X, y = rows.drop(columns="grade"), rows["grade"]
    features = X.drop(columns="query")
    assert np.isfinite(found.best.fit(X, y, qid="query").predict(features)).all()
    table = features if framework == "lightgbm" else xgb.DMatrix(features, enable_categorical=True)
    mean = np.mean([as_booster(run.model.encode()).predict(table) for run in found.outcomes.runs], axis=0)
    np.testing.assert_allclose(found.model.predict(table), mean, rtol=1e-4, atol=1e-6)


def in_one_split(given):
    return bp.compare(given, label="grade", qid="query", frameworks="lightgbm", **SOME, **SPLIT)


@pytest.fixture(scope="module")
def in_memory(frame):
    return in_one_split(frame)


def test_few_test_queries_are_warned_of(in_memory):
    assert sizes(in_memory) == [60, 20, 20]
    assert any("The test part has 20 queries: too few" in warning for warning in in_memory.document["warnings"])


@pytest.mark.parametrize("suffix", ["tsv", "csv.gz", "csv.zip", "parquet", "folder"])
def test_files_of_tables(frame, in_memory, tmp_path, suffix):
    path = tmp_path / f"judgements.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "folder":  # as Spark and Dask write it: part 10 is the last one
        path.mkdir()
        for name in ("_SUCCESS", ".part-1.crc"):
            (path / name).touch()
        for k, part in zip((1, 2, 10), (frame[:500], frame[500:900], frame[900:]), strict=True):
            part.to_parquet(path / f"part.{k}.snappy.parquet")
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    from_file = in_one_split(path)
    assert sizes(from_file) == sizes(in_memory)
    for one, other in zip(from_file.document["methods"], in_memory.document["methods"], strict=True):
        assert one["test"]["NDCG@10"]["mean"] == pytest.approx(other["test"]["NDCG@10"]["mean"])


def test_folders_that_are_not_one_table_are_refused(frame, tmp_path):
    given = {"label": "grade", "qid": "query", **SOME}
    for folder in ("rows.parquet", "fold", "mixed"):
        (tmp_path / folder).mkdir()
    for name in ("fold/train", "fold/valid", "fold/test", "mixed/part-0"):
        frame.to_parquet(tmp_path / f"{name}.parquet")
    frame.drop(columns="a").to_parquet(tmp_path / "mixed" / "part-1.parquet")
    for name, message in (
        ("rows.parquet", r"is a folder of \[\], and only Parquet files are read as parts of one table; join them"),
        ("fold", r"is a folder of \['test.parquet', .* or pass train, valid and test \(--train, --valid, --test\)"),
        ("mixed", "cannot be read: Schema at index 1 was different"),
    ):
        with pytest.raises(ValueError, match=message):
            bp.compare(tmp_path / name, **given)
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt is no folder; check the path"):
        bp.compare(tmp_path / "nothing.txt")


@pytest.mark.parametrize("split", [{}, {"split": (0.5, 0.25, 0.25)}, {"split": ("time", "b")}, {"folds": 3}])
def test_one_ranking_data_is_split_as_a_frame_is(frame, split):
    """Also its fields as a mapping."""
    rows = frame.sort_values("query", kind="stable").assign(b=frame["query"] % 50, w=1.0 + frame["query"] % 3)
    rows["sale"] = rows["grade"] > 2
    fields = {"X": rows[list("abc")], "y": rows["grade"], "qid": rows["query"], "weight": rows["w"]}
    fields["labels"] = {"sale": rows["sale"]}
    named = {"label": "grade", "qid": "query", "weight": "w", "labels": ("sale",), "drop": ("shop",)}
    of_frame, of_data, of_fields = (
        folds_of(given, None, None, Columns(**columns, **split))
        for given, columns in ((rows, named), (bp.RankingData(**fields), {}), (fields, {}))
    )
    assert len(of_frame) == split.get("folds", 1 if "split" in split else 5)
    for folds in (of_data, of_fields):
        for one, other in zip(chain(*of_frame), chain(*folds), strict=True):
            np.testing.assert_array_equal(one.X, other.X)
            np.testing.assert_array_equal(one.qid, other.qid)
            for part in ("labels", "row_weight"):
                np.testing.assert_array_equal(getattr(one.queries, part), getattr(other.queries, part))
            np.testing.assert_array_equal(*(part.queries.labels_by_name["sale"] for part in (one, other)))


def test_one_ranking_data_of_an_array_or_a_file_of_lines_is_split(parts, tmp_path):
    X, names = np.nan_to_num(parts[0].X), [f"feature {k}" for k in range(parts[0].n_features)]
    data = bp.RankingData(X, parts[0].y, qid=parts[0].qid, feature_names=names)
    (fold,) = folds_of(data, None, None, Columns(split=(0.6, 0.2, 0.2), today="-feature 3"))
    assert [part.feature_names for part in fold] == [tuple(names)] * 3
    np.testing.assert_array_equal(fold[2].queries.labels_by_name["score_in_use"], -fold[2].X[:, 3])
    rows = zip(data.y, data.qid, X.tolist(), strict=True)
    lines = [f"{y:g} qid:{q} " + " ".join(f"{i}:{x!r}" for i, x in enumerate(x, 1)) for y, q, x in rows]
    (tmp_path / "judged.txt").write_text("\n".join(lines))
    from_file, in_memory = (bp.compare(given, **ONE) for given in (tmp_path / "judged.txt", data))
    assert from_file.document["data"]["name"] == "judged.txt"
    assert from_file.document["data"]["crossed"]
    assert from_file.to_frame()["NDCG@5"].tolist() == pytest.approx(in_memory.to_frame()["NDCG@5"].tolist())
    with pytest.raises(ValueError, match=r"a RankingData, as a LETOR file is read, has no columns .* leave out label"):
        bp.compare(tmp_path / "judged.txt", label="grade", **ONE)


@pytest.mark.parametrize("form", ["pandas", "polars", "csv"])
def test_one_column_may_be_the_query_and_its_time(frame, tmp_path, form):
    day = pd.Timestamp("2026-01-01") + pd.to_timedelta(frame["query"], unit="D")
    table = frame.drop(columns=["query", "shop"]).assign(day=day)
    table.to_csv(tmp_path / "days.csv", index=False)
    table = {"pandas": table, "polars": pl.from_pandas(table), "csv": tmp_path / "days.csv"}[form]
    (fold,) = folds_of(table, None, None, Columns("grade", "day", split=("time", "day")))
    latest, first = ([of(pd.to_datetime(part.qid)) for part in fold] for of in (np.max, np.min))
    assert latest[0] < first[1] <= latest[1] < first[2]
    assert [part.X.shape[1] for part in fold] == [3, 3, 3]


def test_a_wrong_column_of_query_ids_is_noticed(frame):
    hardly = frame.assign(query=np.r_[np.arange(100), np.arange(len(frame) - 100)])
    result = in_one_split(hardly)
    assert any("Hardly any query has two documents" in warning for warning in result.document["warnings"])
