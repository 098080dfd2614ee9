"""Data that `compare` takes: one table from every form and file, columns to choose, weights that count."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from reports import ONE, QUICK, THREE, compare_one, row_of, write_letor

import boostplug as bp
from boostplug.datasets import Fold
from boostplug.model.boosters import as_booster


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
    grouped = tuple(bp.RankingData(part.X, part.y, group=part.group) for part in parts)
    for fold in (Fold(*parts), grouped):
        for given in (fold, [fold], [[fold]]):
            assert numbers(bp.compare(*given, **ONE)) == plain
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
    files = [tmp_path / f"{name}.txt" for name in ("train", "vali", "test")]
    for file, part in zip(files, parts, strict=True):
        write_letor(file, part)
    of_folder = bp.compare(tmp_path, **ONE)
    assert numbers(of_folder) == numbers(bp.compare(str(tmp_path), **ONE)) == plain
    assert of_folder.document["data"]["name"] == tmp_path.name
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
    return bp.compare(*weighted, **ONE)


def test_weights_count_in_metrics(weighted, of_weighted):
    """In training as in the lines that train the best again, which other tests run."""
    test, best = weighted[2], of_weighted.document["recommendation"]["method"]
    scores = of_weighted.model.predict(test.X)
    value = bp.NDCG(10)(scores, test.queries)
    assert row_of(of_weighted, best)["test"]["NDCG@10"]["mean"] == pytest.approx(value, abs=1e-12)
    assert value != bp.NDCG(10)(scores, bp.Queries(test.y, group=test.group))
    on_valid = bp.NDCG(10)(of_weighted.model.predict(weighted[1].X), weighted[1].queries)
    assert row_of(of_weighted, best)["validation"]["mean"] == pytest.approx(on_valid, abs=1e-12)


def test_queries_of_weight_0_are_not_counted(weighted):
    *others, test = weighted
    odd = test.qid % 2 == 1
    some = bp.RankingData(test.X, test.y, qid=test.qid, weight=np.where(odd, test.weight, 0.0))
    only = bp.RankingData(test.X[odd], test.y[odd], qid=test.qid[odd], weight=test.weight[odd])
    ours, theirs = (bp.compare(*others, last, **ONE).document for last in (some, only))
    assert ours["test"]["queries"] == theirs["test"]["queries"]
    for key in ("queries", "better", "worse"):
        assert ours["recommendation"][key] == theirs["recommendation"][key]


def test_differences_weigh_queries(weighted, of_weighted):
    weights = weighted[2].queries.query_weight
    values = of_weighted.per_query
    np.testing.assert_array_equal(values["weight"].to_numpy()[: len(weights)], weights)
    of = {key: part["NDCG@10"].to_numpy() for key, part in values.groupby("method")}
    d = of["RankNet"] - of["lambdarank"]
    expected = np.average(d[~np.isnan(d)], weights=weights[~np.isnan(d)])
    assert row_of(of_weighted, "RankNet")["difference"] == pytest.approx(expected, abs=1e-12)
    assert "Means and tests are by the weights of the queries." in " ".join(str(of_weighted).split())


TABLE = {**ONE, "label": "grade", "qid": "query"}


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
    whole = whole.assign(day=whole["query"], part=np.array(["train", "valid", "test"])[whole["query"] % 3])
    parts = bp.split_queries(whole, qid="query", split=split)
    others = {"part", "day"} - {split, split[-1]}
    document = bp.compare(whole, **TABLE, drop=[*others], split=split).document
    for part, name in zip(parts, ("train", "valid", "test"), strict=True):
        assert [*part.columns] == [*whole.columns]
        assert document["data"][name] == {"queries": part["query"].nunique(), "documents": len(part)}
    result = bp.compare(*parts, **TABLE, drop=["part", "day"])
    assert result.document["methods"][0]["test"] == document["methods"][0]["test"]
    if split == (0.6, 0.2, 0.2):
        for part, values in zip(parts, bp.split_queries(whole["grade"].to_numpy(), qid=whole["query"]), strict=True):
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
    result = bp.compare(frame, **TABLE)
    assert sizes(result) == [300, 100, 100]  # of five folds
    assert not result.failed
    again = bp.compare(frame, **TABLE, split=(0.5, 0.25, 0.25))
    assert sizes(again) == [50, 25, 25]
    assert "split=(0.5, 0.25, 0.25)" in again.document["call"]


def test_a_column_may_say_the_split(frame):
    part = np.array(["train", "vali", "test"])[frame["query"] % 3]
    result = bp.compare(frame.assign(part=part), **TABLE, split="part")
    assert sizes(result) == [34, 33, 33]
    assert result.document["data"]["features"] == 4
    other = frame.assign(part=np.where(part == "test", "later", part))
    with pytest.raises(ValueError, match=r"split: column 'part' must hold 'train', 'valid' and 'test'; got .later"):
        bp.compare(other, **TABLE, split="part")


@pytest.mark.parametrize("form", ["pandas", "polars", "csv", "another column"])
def test_a_column_of_times_trains_before_and_tests_after(frame, tmp_path, form):
    """The queries may be the days themselves."""
    day = pd.Timestamp("2026-01-01") + pd.to_timedelta(frame["query"] * 7 % 100, unit="D")
    table, qid = frame.drop(columns="shop").assign(day=day), "query"
    if form != "another column":
        table, qid = table.drop(columns="query"), "day"
    table.to_csv(tmp_path / "days.csv", index=False)
    given = {"polars": pl.from_pandas(table), "csv": tmp_path / "days.csv"}.get(form, table)
    result = bp.compare(given, **{**TABLE, "qid": qid}, split=("time", "day"))
    assert result.document["data"]["features"] == 3
    assert sum(sizes(result)) == 100
    parts = bp.split_queries(table, qid=qid, split=("time", "day"))
    assert parts[0]["day"].max() < parts[1]["day"].min() <= parts[1]["day"].max() < parts[2]["day"].min()
    tested, latest = (set(ids.astype(str).str[:10]) for ids in (result.per_query["query"], parts[2][qid]))
    assert tested == latest


def test_features_and_drop_choose_columns(frame):
    for some, n_features in (({"features": ["a", "shop"]}, 2), ({"drop": ["b"]}, 3)):
        assert bp.compare(frame, **TABLE, **some, **THREE).document["data"]["features"] == n_features


def test_categories_train_in_both_frameworks(frame):
    some = {**TABLE, **THREE, "frameworks": None, "rounds": 20}
    some["baselines"] = ["lambdarank", "regression", "rank:ndcg", "reg:squarederror"]
    with_it, without = bp.compare(frame, **some), bp.compare(frame, **some, drop=["shop"])
    assert not with_it.failed
    for one, other in zip(with_it.document["methods"], without.document["methods"], strict=True):
        assert one["test"]["NDCG@10"]["mean"] > other["test"]["NDCG@10"]["mean"] + 0.02


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_the_recommended_method_is_fitted_on_categories(frame, framework):
    found = compare_one(frame, framework=framework, objective=bp.QBRank(), label="grade", qid="query")
    rows = frame.sort_values("query", kind="stable")
    features = rows.drop(columns=["grade", "query"])
    assert np.isfinite(found.best.fit(rows, "grade", qid="query").predict(features)).all()
    table = features if framework == "lightgbm" else xgb.DMatrix(features, enable_categorical=True)
    mean = np.mean([as_booster(run.model.encode()).predict(table) for run in found.outcomes.runs], axis=0)
    np.testing.assert_allclose(found.model.predict(table), mean, rtol=1e-4, atol=1e-6)
    if framework == "lightgbm" or hasattr(xgb.Booster, "get_categories"):
        other = features.assign(shop=features["shop"].cat.set_categories(["z", "x", "y"]))
        other = other if framework == "lightgbm" else xgb.DMatrix(other, enable_categorical=True)
        np.testing.assert_array_equal(found.model.predict(other), found.model.predict(table))


def in_one_split(given):
    return bp.compare(given, **TABLE, **THREE)


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
    assert from_file.to_frame()["NDCG@10"].tolist() == pytest.approx(in_memory.to_frame()["NDCG@10"].tolist())


def test_folders_that_are_not_one_table_are_refused(frame, tmp_path):
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
            bp.compare(tmp_path / name, **TABLE)
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt is no folder; check the path"):
        bp.compare(tmp_path / "nothing.txt")


@pytest.mark.parametrize("split", [{}, {"split": (0.5, 0.25, 0.25)}, {"split": ("time", "b")}, {"folds": 3}])
def test_one_ranking_data_is_split_as_a_frame_is(frame, split):
    """Also its fields as a mapping."""
    rows = frame.sort_values("query", kind="stable").assign(b=frame["query"] % 50, w=1.0 + frame["query"] % 3)
    rows["sale"] = rows["grade"] > 2
    fields = {"X": rows[list("abc")], "y": rows["grade"], "qid": rows["query"], "weight": rows["w"]}
    fields["labels"] = {"sale": rows["sale"]}
    split["metrics"] = ["NDCG@5", "NDCG@5.on(sale)"]
    of_frame = bp.compare(rows, **TABLE, weight="w", labels=("sale",), drop=("shop",), **split)
    for given in (bp.RankingData(**fields), fields):
        found = bp.compare(given, **ONE, **split)
        assert sizes(found) == sizes(of_frame)
        assert numbers(found) == numbers(of_frame)


def test_one_ranking_data_of_an_array_or_a_file_of_lines_is_split(parts, tmp_path):
    X, names = np.nan_to_num(parts[0].X), [f"feature {k}" for k in range(parts[0].n_features)]
    data = bp.RankingData(X, parts[0].y, qid=parts[0].qid, feature_names=names)
    test = bp.split_queries(data, split=(0.6, 0.2, 0.2))[2]
    found = bp.compare(data, **ONE, **THREE, today="-feature 3")
    expected = bp.NDCG(10)(-test.X[:, 3], test.queries)
    assert row_of(found, "column -feature 3")["test"]["NDCG@10"]["mean"] == pytest.approx(expected)
    write_letor(tmp_path / "judged.txt", data)
    from_file, in_memory = (bp.compare(given, **ONE) for given in (tmp_path / "judged.txt", data))
    assert from_file.document["data"]["name"] == "judged.txt"
    assert from_file.document["data"]["crossed"]
    assert from_file.to_frame()["NDCG@5"].tolist() == pytest.approx(in_memory.to_frame()["NDCG@5"].tolist())
    with pytest.raises(ValueError, match=r"a RankingData, as a LETOR file is read, has no columns .* leave out label"):
        bp.compare(tmp_path / "judged.txt", label="grade", **ONE)


def test_a_wrong_column_of_query_ids_is_noticed(frame):
    hardly = frame.assign(query=np.r_[np.arange(100), np.arange(len(frame) - 100)])
    result = in_one_split(hardly)
    assert any("Hardly any query has two documents" in warning for warning in result.document["warnings"])


# --- one meaning in all parts -----------------------------------------------------------------------------------------


def values(result):
    """Return the table's test values."""
    return {(m["framework"], m["method"]): m["runs"][0]["test"] for m in result.document["methods"]}


def test_weights_have_no_unit(parts):
    """Built-ins as our losses: their Hessians are compared with constants such as min_sum_hessian_in_leaf."""
    weights = [np.random.default_rng(0).choice([0.5, 1.0, 2.0], part.n_queries) for part in parts]
    methods = {"baselines": ["lambdarank", "rank_xendcg", "regression", "rank:ndcg", "reg:squarederror"]}
    methods["losses"] = [bp.RankNet(), bp.QBRank()]

    def weighted(weights):
        return bp.compare(*map(lambda part, w: replace(part, weight=w), parts, weights), **methods, **QUICK)

    plain = weighted(weights)
    assert not plain.failed
    for scaled in (
        [w / w.repeat(p.group).sum() for p, w in zip(parts, weights, strict=True)],
        [1e-60 * w for w in weights],
    ):
        other = values(weighted(scaled))
        for method, of_plain in values(plain).items():
            assert other[method] == pytest.approx(of_plain, abs=1e-9), method
    assert "divided by their mean" in " ".join(str(plain).split())


ORDER = ["low", "some", "more", "high"]


def frames_of(parts, *categories):
    """Return DataFrames with a column whose categories have an order, or numbers."""
    frames = []
    for part, order in zip(parts, categories, strict=True):
        codes = np.digitize(np.nan_to_num(part.X[:, 0]), [-0.5, 0.0, 0.5])
        kind = pd.Categorical(np.array(ORDER)[codes], categories=order) if order else codes
        frame = pd.DataFrame(np.nan_to_num(part.X[:, 1:])).add_prefix("f")
        frames.append(frame.assign(kind=kind, qid=part.qid, grade=part.y))
    return frames


def test_categories_are_compared_by_name_and_content(parts):
    asked = {**ONE, "label": "grade"}
    expected = values(bp.compare(*frames_of(parts, ORDER, ORDER, ORDER), **asked))
    for other in (ORDER[::-1], ["none", *ORDER]):  # the second has a category that no row has
        assert values(bp.compare(*frames_of(parts, ORDER, other, other), **asked)) == expected
    for orders, name in (((ORDER, ORDER, None), "test"), ((ORDER, None, ORDER), "valid")):
        with pytest.raises(ValueError, match=f"in {name}, column 'kind' is not categorical .*in the training set it"):
            bp.compare(*frames_of(parts, *orders), **asked)
    train, valid, test = frames_of(parts, ORDER, ORDER, ORDER)
    test["kind"] = test["kind"].cat.rename_categories({"high": "highest"})
    warned = bp.compare(train, valid, test, **asked).document["warnings"]
    assert any("in test, column 'kind' holds" in text and "'highest'" in text for text in warned), warned


@pytest.mark.parametrize(
    ("framework", "params"), [("lightgbm", {"boosting_type": "DART"}), ("xgboost", {"booster": "dart"})]
)
def test_dart_goes_without_early_stopping(parts, framework, params):
    asked = {"framework": framework, "objective": bp.RankNet(), "params": {framework: params}}
    with pytest.raises(ValueError, match=rf"params\['{framework}'\] asks for dart.*pass early_stopping_rounds=None"):
        compare_one(*parts, **asked)
    result = compare_one(*parts, **asked, early_stopping_rounds=None)
    assert not result.failed
    if framework == "xgboost":  # LightGBM's dart with any callable is not repeatable
        best = result.best.fit(parts[0].X, parts[0].y, qid=parts[0].qid)
        found = bp.NDCG(10)(best.predict(parts[2].X), parts[2].queries)
        assert found == result.document["methods"][0]["runs"][0]["test"]["NDCG@10"]


def test_parts_with_and_without_weights_get_a_warning(parts):
    train, valid, _ = parts
    weighted = [bp.RankingData(part.X, part.y, group=part.group, weight=1.0 + part.group) for part in parts]
    for given, warning in (
        (
            (weighted[0], valid, weighted[2]),
            "valid has no weights, and train has some: give all parts weights, or none.",
        ),
        ((train, valid, weighted[2]), "test has weights, and train has none: give all parts weights, or none."),
    ):
        assert warning in bp.compare(*given, **ONE).document["warnings"]


@pytest.mark.parametrize(
    "given",
    [
        *({name: 0} for name in ("rounds", "early_stopping_rounds", "seeds", "num_threads", "jobs")),
        {"tune": -1},
        {"frameworks": "scikit-learn"},
        {"resume": True},
        {"today": "price", "incumbent": "QBRank"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_arguments_that_need_no_data_are_checked_before_a_file_is_read(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        bp.compare("nothing.csv", label="grade", qid="query", **given)
