"""DataFrames and files as users have them: one to split, columns to choose, categories, dates, ids, CSV and Parquet."""

import numpy as np
import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli.app import app

pd = pytest.importorskip("pandas")
pytest.importorskip("lightgbm")

SOME = {"losses": [bp.QBRank()], "rounds": 3, "seeds": 1, "num_threads": 1}


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


def test_one_frame_is_split_by_query(frame):
    result = bp.compare(frame, label="grade", qid="query", frameworks="lightgbm", **SOME)
    assert sizes(result) == [60, 20, 20]
    assert not result.failed
    assert not any("shares" in warning for warning in result.document["warnings"])
    again = bp.compare(frame, label="grade", qid="query", split=(0.5, 0.25, 0.25), frameworks="lightgbm", **SOME)
    assert sizes(again) == [50, 25, 25]
    assert "split=(0.5, 0.25, 0.25)" in again.details["python"]


def test_a_column_may_say_the_split(frame):
    part = np.array(["train", "vali", "test"])[frame["query"] % 3]
    result = bp.compare(
        frame.assign(part=part), label="grade", qid="query", split="part", frameworks="lightgbm", **SOME
    )
    assert sizes(result) == [34, 33, 33]
    assert result.document["data"]["features"] == 4


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ((0.5, 0.5), r"three shares above 0 that sum to 1, .*; got \(0.5, 0.5\)"),
        ((0.5, 0.3, 0.3), r"three shares above 0 that sum to 1, .*; got \(0.5, 0.3, 0.3\)"),
        ((0.5, 0.0, 0.5), "three shares above 0 that sum to 1"),
        ({0.5}, "split must be three shares"),
        ("part", "there is no column 'part' for split"),
        ("shop", "column 'shop' must hold 'train', 'valid' and 'test'; got '[xyz]'"),
    ],
)
def test_splits_that_make_no_sense(frame, split, message):
    with pytest.raises(ValueError, match=message):
        bp.compare(frame, label="grade", qid="query", split=split, **SOME)


def test_a_query_in_several_parts_and_a_single_query(frame):
    part = np.array(["train", "valid", "test"])[np.arange(len(frame)) % 3]
    with pytest.raises(ValueError, match="puts 100 queries into several parts"):
        bp.compare(frame.assign(part=part), label="grade", qid="query", split="part", **SOME)
    with pytest.raises(ValueError, match=r"at least 3 queries; train has 1. Is 'query' the column of query ids"):
        bp.compare(frame.assign(query=7), label="grade", qid="query", **SOME)


def test_features_and_drop_choose_columns(frame):
    given = {"label": "grade", "qid": "query", "frameworks": "lightgbm", **SOME}
    assert bp.compare(frame, features=["a", "shop"], **given).document["data"]["features"] == 2
    assert bp.compare(frame, drop=["b"], **given).document["data"]["features"] == 3
    for option in ("features", "drop"):
        with pytest.raises(ValueError, match=f"there is no column 'z' for {option}; the columns are"):
            bp.compare(frame, **{option: ["z"]}, **given)
    with pytest.raises(ValueError, match="features must be a list of names of columns; got 'a'"):
        bp.compare(frame, features="a", **given)


def test_categories_train_in_both_frameworks(frame):
    pytest.importorskip("xgboost")
    with_it = bp.compare(frame, label="grade", qid="query", **{**SOME, "rounds": 20})
    without = bp.compare(frame, label="grade", qid="query", drop=["shop"], **{**SOME, "rounds": 20})
    assert not with_it.failed
    for one, other in zip(with_it.document["methods"], without.document["methods"], strict=True):
        assert one["test"]["NDCG@10"]["mean"] > other["test"]["NDCG@10"]["mean"] + 0.02


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_the_recommended_method_is_fitted_on_categories(frame, framework):
    found = bp.compare(frame, label="grade", qid="query", frameworks=framework, baselines=[], **SOME)
    rows = frame.sort_values("query", kind="stable")
    X, y = rows.drop(columns="grade"), rows["grade"]
    for best in (found.best, eval(found.recommendation.splitlines()[-1], {"bp": bp})):  # noqa: S307 (our own line)
        assert np.isfinite(best.fit(X, y, qid="query").predict(X)).all()


def test_a_column_that_numbers_the_rows_is_warned_of(frame):
    numbered = frame.assign(row=np.arange(len(frame)))
    result = bp.compare(numbered, label="grade", qid="query", frameworks="lightgbm", **SOME)
    assert any("Column 'row' has another value" in warning for warning in result.document["warnings"])
    assert any("The test part has 20 queries: too few" in warning for warning in result.document["warnings"])
    assert not any("Column 'a'" in warning for warning in result.document["warnings"])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet"])
def test_files_of_tables(frame, tmp_path, suffix):
    path = tmp_path / f"judgements.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    given = {"label": "grade", "qid": "query", "frameworks": "lightgbm", **SOME}
    from_file, in_memory = bp.compare(path, **given), bp.compare(frame, **given)
    assert sizes(from_file) == sizes(in_memory)
    for one, other in zip(from_file.document["methods"], in_memory.document["methods"], strict=True):
        assert one["test"]["NDCG@10"]["mean"] == pytest.approx(other["test"]["NDCG@10"]["mean"])


def test_a_column_that_one_part_lacks_is_named(frame):
    frame = frame.sort_values("query", kind="stable")
    third = pd.factorize(frame["query"])[0] % 3
    parts = [frame[third == k].reset_index(drop=True) for k in range(3)]
    name = next(column for column in frame.columns if column not in {"grade", "query"})
    for i, message in ((0, "valid's columns .* unknown"), (1, "valid's columns .* missing"), (2, "test's .* missing")):
        given = [part.drop(columns=name) if k == i else part for k, part in enumerate(parts)]
        with pytest.raises(ValueError, match=rf"{message} \['{name}'\]"):
            bp.compare(*given, label="grade", qid="query", **SOME)


def test_the_command_line_reads_tables(frame, tmp_path):
    frame.to_csv(tmp_path / "all.csv", index=False)
    options = f"--label grade --qid query --drop b --split 0.5,0.25,0.25 --frameworks lightgbm --losses {'CRR()'}"
    more = f"--rounds 3 --seeds 1 --threads 1 --store {tmp_path / 'store'} --json {tmp_path / 'out.json'}"
    found = CliRunner().invoke(app, ["compare", "--data", str(tmp_path / "all.csv"), *options.split(), *more.split()])
    assert found.exit_code == 0, found.stderr
    assert "queries/documents: train 50/" in found.stdout
    assert "3 features" in found.stdout
    wrong = CliRunner().invoke(app, ["compare", "--data", str(tmp_path / "all.csv"), "--label", "relevance"])
    assert wrong.exit_code == 2
    assert "there is no column 'relevance' for label" in wrong.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (0, "a,b,grade,grade,query,shop", r"data\.csv holds 'grade' 2 times; rename"),
        (5, "0.5,0.5,0.5,,7,x", r"column 'grade' has no value in row 6 of data\.csv"),
        (5, "0.5,0.5,0.5,1,,x", r"column 'query' has no value in row 6 of data\.csv"),
    ],
)
def test_mistakes_in_files_are_named_with_column_and_row(frame, tmp_path, line, text, message):
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:line], text, *lines[line + 1 :]]))
    with pytest.raises(ValueError, match=message):
        bp.compare(path, label="grade", qid="query", **SOME)


def test_a_wrong_column_of_query_ids_is_noticed(frame):
    with pytest.raises(ValueError, match=r"No query of train has two documents, .* Is 'a' the column of query ids"):
        bp.compare(frame, label="grade", qid="a", **SOME)
    with pytest.raises(ValueError, match="column 'query' for qid; the columns are"):
        bp.compare(frame.rename(columns={"query": "querys"}), label="grade", qid="query", **SOME)
    hardly = frame.assign(query=np.r_[np.arange(100), np.arange(len(frame) - 100)])
    result = bp.compare(hardly, label="grade", qid="query", frameworks="lightgbm", **SOME)
    assert any("Hardly any query has two documents" in warning for warning in result.document["warnings"])
