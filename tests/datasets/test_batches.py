"""`batches_by_query`: whole queries, in little memory; and all that it refuses."""

import datetime as dt
import re
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostplug.datasets import batches, batches_by_query

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from boostplug.datasets import parquet  # noqa: E402 (it needs pyarrow)

SIZES = [3, 1, 12, 5, 1, 1, 8, 2, 30, 4, 6]
COLUMNS = {"label": "y", "qid": "q"}


def columns(sizes=SIZES, ids=None, seed=0):
    """Return the columns of a table of queries: two features, labels, ids, weights."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    ids = [f"query {i}" for i in range(len(sizes))] if ids is None else ids
    return {
        "a": rng.normal(size=n).astype(np.float32),
        "q": [id_ for id_, size in zip(ids, sizes, strict=True) for _ in range(size)],
        "b": rng.normal(size=n),
        "y": rng.integers(0, 5, n),
        "w": rng.uniform(0.5, 2.0, n),
    }


def write(path, table, start=0, stop=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({name: values[start:stop] for name, values in table.items()}), path)
    return path


def joined(found, name):
    return np.concatenate([getattr(batch, name) for batch in found])


# --- Whole queries -------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 20), st.integers(1, 7))
def test_batches_take_as_many_whole_queries_as_fit(tmp_path_factory, sizes, rows, at_once):
    table = columns(sizes)
    path = write(tmp_path_factory.mktemp("files") / "train.parquet", table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_ROWS", at_once)
        found = batches_by_query(path, **COLUMNS, weight="w", rows=rows)
        parts = list(found)
    assert len(parts) == len(found)
    assert joined(parts, "group").tolist() == sizes == found.group.tolist()
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        assert part.n_rows <= rows or part.n_queries == 1
        assert following is None or part.n_rows + following.group[0] > rows  # no more would fit
        assert part.X.dtype == np.float32
        assert part.y.dtype == part.weight.dtype == np.float64
    assert np.array_equal(joined(parts, "X"), np.column_stack([table["a"], table["b"].astype(np.float32)]))
    assert np.array_equal(joined(parts, "y"), table["y"])
    assert np.array_equal(joined(parts, "weight"), table["w"])
    assert joined(parts, "qid").tolist() == table["q"]


@pytest.mark.parametrize("cuts", [[4, 5, 40], [3, 4, 16], [0, 1, 72]])
@pytest.mark.parametrize("kind", ["folder", "list", "iterator", "folders"])
def test_files_are_one_in_their_natural_order(kind, cuts, tmp_path):
    table = columns()
    edges = [0, *cuts, len(table["y"])]
    names = ["part.0", "part.2", "part.10", "part.11"]
    files = [write(tmp_path / f"{names[i]}.parquet", table, edges[i], edges[i + 1]) for i in range(4)]
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part.0.parquet.crc").write_bytes(b"x")
    path = {"folder": str(tmp_path), "list": files, "iterator": iter(files), "folders": [tmp_path]}[kind]
    found = batches_by_query(path, **COLUMNS, rows=13)
    assert found.group.tolist() == SIZES
    assert joined(found, "qid").tolist() == table["q"]
    assert np.array_equal(joined(found, "y"), table["y"])


def test_memory_is_that_of_a_batch(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    row = np.arange(40_000)
    features = {f"f{j}": rng.normal(size=len(row)).astype(np.float32) for j in range(20)}
    path = write(tmp_path / "train.parquet", {"y": row % 3, "q": row // 10} | features)
    del features
    monkeypatch.setattr(parquet, "_ROWS", 1000)
    all_features = 40_000 * 20 * 4
    tracemalloc.start()
    found = batches_by_query(path, **COLUMNS, rows=500)
    n_rows = sum(batch.n_rows for batch in found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_rows == 40_000
    assert peak < all_features / 3


# --- Columns of Parquet --------------------------------------------------------------------------------------------


def table_of(tmp_path, **given):
    n = max(len(values) for values in given.values() if values is not None)
    table = {"x": [1.0] * n, "y": [0] * n, "q": [1] * n} | given
    path = tmp_path / "train.parquet"
    pq.write_table(pa.table({name: values for name, values in table.items() if values is not None}), path)
    return path


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([1, None, 3], pa.int64()), [1, np.nan, 3]),
        (pa.array([True, None, False]), [1, np.nan, 0]),
        (pa.array([True, False, False]), [1, 0, 0]),
        (pa.array([0.5, None, np.inf], pa.float64()), [0.5, np.nan, np.inf]),
        (pa.array([0.5, None, np.nan], pa.float32()), [0.5, np.nan, np.nan]),
        (pa.array(np.array([0.5, 1, 2], np.float16)), [0.5, 1, 2]),
        (pa.array([Decimal("1.25"), None, Decimal("-2.00")]), [1.25, np.nan, -2]),
        (pa.array([None, None, None]), [np.nan] * 3),
        (pa.array([255, 0, 7], pa.uint8()), [255, 0, 7]),
        (pa.array([2**53 + 1, 0, -7]), [2.0**53, 0, -7]),
    ],
    ids=lambda value: str(value.type) if hasattr(value, "type") else "",
)
def test_kinds_of_numbers(values, expected, tmp_path):
    (batch,) = batches_by_query(table_of(tmp_path, x=values), **COLUMNS)
    assert np.array_equal(batch.X[:, 0], np.array(expected, np.float32), equal_nan=True)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pa.array(["a", "a", "é"]), ["a", "a", "é"]),
        (pa.array(["a", "a", "b"], pa.large_string()), ["a", "a", "b"]),
        (pa.array(["a", "a", "b"]).dictionary_encode(), ["a", "a", "b"]),
        (pa.array([2**33, 2**33, 2**34]), [2**33, 2**33, 2**34]),
        (pa.array([2**64 - 1, 2**64 - 1, 3], pa.uint64()), [2**64 - 1, 2**64 - 1, 3]),
        (pa.array([-1, -1, -2], pa.int8()), [-1, -1, -2]),
        (pa.array([0, 0, 2**61 - 1]), [0, 0, 2**61 - 1]),  # one hash in Python
        (pa.array([4.0, 4.0, 2.0]), [4, 4, 2]),
        (pa.array(np.array([4, 4, 2], np.float16)), [4, 4, 2]),
        (pa.array([dt.date(2020, 1, 1)] * 2 + [dt.date(2020, 1, 2)]), ["2020-01-01"] * 2 + ["2020-01-02"]),
        (pa.array([Decimal("1.5"), Decimal("1.5"), Decimal(2)]), ["1.5", "1.5", "2.0"]),
        (pa.array(["x" * 500, "x" * 500, "y"]), ["x" * 500, "x" * 500, "y"]),
    ],
    ids=lambda value: str(value.type) if hasattr(value, "type") else "",
)
def test_kinds_of_ids(ids, expected, tmp_path):
    found = batches_by_query(table_of(tmp_path, q=ids), **COLUMNS, rows=1)
    assert found.group.tolist() == [2, 1]
    assert joined(found, "qid").tolist() == expected
    assert all(len(batch.qid.tobytes()) <= 4 * 64 * batch.n_rows for batch in found)


def test_features_are_named_or_all_others(tmp_path):
    path = write(tmp_path / "train.parquet", columns())
    assert batches_by_query(path, **COLUMNS, weight="w").feature_names == ("a", "b")
    assert batches_by_query(path, **COLUMNS).feature_names == ("a", "b", "w")
    found = batches_by_query(path, **COLUMNS, features=["b", "a"])
    assert found.feature_names == ("b", "a")
    whole = columns()
    assert np.array_equal(joined(found, "X"), np.column_stack([whole["b"], whole["a"]]).astype(np.float32))


def test_an_index_of_pandas_is_no_feature_but_may_be_the_id(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0, 1, 0], "q": ["a", "a", "b"]})
    frame.index = [5, 7, 9]
    frame.to_parquet(tmp_path / "index.parquet")
    assert batches_by_query(tmp_path / "index.parquet", **COLUMNS).feature_names == ("x",)
    table = pq.read_table(tmp_path / "index.parquet")
    assert "__index_level_0__" in table.column_names
    pq.write_table(table.replace_schema_metadata(), tmp_path / "again.parquet")  # as polars or Spark would
    assert batches_by_query(tmp_path / "again.parquet", **COLUMNS).feature_names == ("x",)
    frame.set_index("q").to_parquet(tmp_path / "id.parquet")
    found = batches_by_query(tmp_path / "id.parquet", **COLUMNS)
    assert (found.feature_names, found.group.tolist()) == (("x",), [2, 1])


def test_partitions_without_rows_are_passed_over(tmp_path):
    table = columns()
    write(tmp_path / "0.parquet", table, 0, 0)
    pq.write_table(pa.table({name: pa.nulls(0) for name in table}), tmp_path / "1.parquet")
    write(tmp_path / "2.parquet", table)
    found = batches_by_query(tmp_path, **COLUMNS)
    assert found.group.tolist() == SIZES
    assert joined(found, "qid").tolist() == table["q"]


# --- What comes with the batches -----------------------------------------------------------------------------------


def test_queries_of_a_batch_have_its_weights(tmp_path):
    table = columns()
    batch = next(iter(batches_by_query(write(tmp_path / "train.parquet", table), **COLUMNS, weight="w", rows=4)))
    assert batch.queries.n_queries == 2
    assert np.array_equal(batch.queries.row_weight, table["w"][:4])


def test_fields_are_those_of_a_lightgbm_dataset(tmp_path):
    table = columns()
    path = write(tmp_path / "train.parquet", table)
    fields = batches_by_query(path, **COLUMNS, weight="w").fields()
    assert np.array_equal(fields["label"], table["y"])
    assert np.array_equal(fields["weight"], table["w"])
    assert fields["group"].tolist() == SIZES
    assert fields["feature_name"] == ["a", "b"]
    assert batches_by_query(path, **COLUMNS).fields()["weight"] is None


# --- Refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("waiting", [1, 4, 1 << 16])
@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_a_query_that_appears_again_is_named(waiting, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "_CHECKED", waiting)
    monkeypatch.setattr(parquet, "_ROWS", at_once)
    ids = ["a", "b", "c", "d", "e", "b", "f", "a"]
    path = write(tmp_path / "train.parquet", columns([2] * 8, ids))
    message = (
        r"train.parquet, row 10: query 'b' appears again after other queries \(it starts at .*train.parquet, row 2\)"
    )
    with pytest.raises(ValueError, match=message):
        batches_by_query(path, **COLUMNS)


def test_a_query_that_appears_again_in_another_file_is_named(tmp_path):
    table = columns([2, 3, 4], ["a", "b", "a"])
    files = [write(tmp_path / f"{i}.parquet", table, *cut) for i, cut in enumerate([(0, 3), (3, 9)])]
    with pytest.raises(
        ValueError, match=r"1.parquet, row 2: query 'a' appears again .* \(it starts at .*0.parquet, row 0\)"
    ):
        batches_by_query(files, **COLUMNS)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ({"x": ["a", "b"]}, {}, r"the column 'x' holds string, and features are numbers .*write numbers in its place"),
        ({"x": pa.array(["a", "b"]).dictionary_encode()}, {}, r"'x' holds dictionary<.*name the features"),
        ({"x": [dt.date(2020, 1, 1)] * 2}, {}, r"'x' holds date32"),
        ({"x": [[1.0], [2.0]]}, {}, r"'x' holds list<"),
        ({"x": [1e300, 0.0]}, {}, r"train.parquet, row 0: 'x' is 1e\+300, beyond float32; rescale it"),
        ({"x": None, "y": [0, 1]}, {}, r"has no column beside 'y', 'q'; it needs features"),
        ({"y": [1.0, np.nan]}, {}, r"train.parquet, row 1: the label 'y' is nan, which is not finite; drop such rows"),
        ({"y": [1, None]}, {}, r"row 1: the label 'y' is nan"),
        ({"y": [1.0, np.inf]}, {}, r"row 1: the label 'y' is inf"),
        ({"y": ["1", "2"]}, {}, r"the label 'y' holds string; it must hold numbers"),
        ({"q": [1, None]}, {}, r"counted from row 0: q\[1\] is missing; give each row the id of its query"),
        ({"q": ["a", None]}, {}, r"q\[1\] is missing"),
        ({"q": [1.0, 1.5]}, {}, r"q\[1\] = 1.5 is no whole number; write ids as integers or text"),
        ({"q": [1.0, np.nan]}, {}, r"q\[1\] = nan is no whole number"),
        ({"q": [1e17, 1.0]}, {}, r"q\[0\] = 1e\+17 is too large an id for float64, which rounds integers"),
        ({"q": [1.0, 2.0**53]}, {}, r"q\[1\] = 9007199254740992.0 is too large an id for float64"),
        ({"q": np.float32([1, 2**24])}, {}, r"q\[1\] = 16777216.0 is too large an id for float32.*integers or strings"),
        ({"q": np.float16([1, 2**11])}, {}, r"q\[1\] = 2048.0 is too large an id for float16"),
        ({"q": [b"a", b"b"]}, {}, r"the qid 'q' holds binary; ids are integers or strings"),
        ({"q": [True, False]}, {}, r"the qid 'q' holds bool"),
        ({"w": [1.0, -1.0]}, {"weight": "w"}, r"counted from row 0: w\[1\] = -1.0 is not a finite weight"),
        ({"w": [1.0, None]}, {"weight": "w"}, r"w\[1\] = nan is not a finite weight"),
        ({"w": ["1", "2"]}, {"weight": "w"}, r"the weight 'w' holds string"),
        ({"w": [1, 2]}, {"weight": "v"}, r"has no column 'v' for weight; it has x, y, q, w"),
        ({"x": [1, 2]}, {"label": "z"}, r"has no column 'z' for label; it has x, y, q"),
        ({"x": [1, 2]}, {"label": None}, r"label must be the name of a column; got None"),
        ({"x": [1, 2]}, {"qid": "y"}, r"label, qid and weight are three columns; got 'y', 'y'"),
        ({"x": [1, 2]}, {"qid": 3}, r"qid must be the name of a column; got 3"),
        ({"x": [1, 2]}, {"features": ["x", "v"]}, r"has no column 'v', a feature; it has x, y, q"),
        ({"x": [1, 2]}, {"features": ["x", "x"]}, r"features must be a list of names of columns, each once; got"),
        ({"x": [1, 2]}, {"features": "x"}, r"features must be a list of names"),
        ({"x": [1, 2]}, {"features": np.array("x")}, r"features must be a list of names"),
        ({"x": [1, 2]}, {"features": []}, r"features must be a list of names"),
        ({"x": [1, 2]}, {"features": ["x", "y"]}, r"features holds 'y', which is the label, the qid or the weight"),
        ({"x": [1, 2]}, {"rows": 0}, r"rows must be an integer of at least 1; got 0"),
        ({"x": [1, 2]}, {"rows": 2.5}, r"rows must be an integer of at least 1; got 2.5"),
    ],
)  # fmt: skip
def test_refused_in_words(given, options, message, tmp_path):
    path = table_of(tmp_path, **given)
    with pytest.raises(ValueError, match=message):
        list(batches_by_query(path, **COLUMNS | options))


def test_files_of_other_columns_are_refused(tmp_path):
    def of(name, **table):
        pq.write_table(pa.table(table), tmp_path / name)

    of("0.parquet", x=[1.0], y=[1], q=[1])
    of("1.parquet", y=[1], q=[2])
    with pytest.raises(ValueError, match=r"1.parquet has no column 'x', a feature of 0.parquet; it has y, q"):
        batches_by_query(tmp_path, **COLUMNS)
    of("1.parquet", x=[1], y=[1.0], q=[2], z=[0])
    with pytest.raises(ValueError, match=r"1.parquet has a column 'z', which 0.parquet has not; name the features"):
        batches_by_query(tmp_path, **COLUMNS)
    assert batches_by_query(tmp_path, **COLUMNS, features=["x"]).n_rows == 2
    of("1.parquet", x=[1], y=[1.0], q=["2"])
    with pytest.raises(ValueError, match=r"1.parquet: the qid 'q' holds string, and in other files another type"):
        batches_by_query(tmp_path, **COLUMNS)


def test_paths_that_are_no_parquet_files(tmp_path):
    lines = tmp_path / "lines" / "train.txt"
    lines.parent.mkdir()
    lines.write_text("1 qid:1 1:1\n")
    good = write(tmp_path / "good" / "a.parquet", columns())
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.parquet").write_text("1 qid:1 1:1\n")
    (tmp_path / "cut.parquet").write_bytes(good.read_bytes()[:-9])
    for path, kind, message in [
        (tmp_path / "nowhere", FileNotFoundError, "there is no file or folder .*nowhere; check the path"),
        (tmp_path / "empty", FileNotFoundError, "empty holds no Parquet files"),
        (tmp_path / "lines", ValueError, "train.txt is no Parquet file, or a damaged one; write it anew, or leave it"),
        ([good, lines], ValueError, "train.txt is no Parquet file"),
        ([], ValueError, r"path must be a file, a folder of Parquet, or a list of one or more; got \[\]"),
        (7, ValueError, "path must be a file, a folder of Parquet, or a list of one or more; got 7"),
        ([7], ValueError, "path must be a file"),
        (np.array(7), ValueError, "path must be a file"),
        (b"x", ValueError, "path must be a file"),
        (tmp_path / "bad.parquet", ValueError, "bad.parquet is no Parquet file, or a damaged one"),
        (tmp_path / "cut.parquet", ValueError, "cut.parquet is damaged or cut short"),
    ]:
        with pytest.raises(kind, match=message):
            batches_by_query(path, **COLUMNS)
    (tmp_path / "good" / "day=1").mkdir()
    with pytest.raises(ValueError, match=r"good holds the folder day=1; pass a list of files .*is not read"):
        batches_by_query(tmp_path / "good", **COLUMNS)


def test_files_that_change_meanwhile_are_noticed(tmp_path):
    table = columns()
    path = write(tmp_path / "train.parquet", table)
    found = batches_by_query(path, **COLUMNS, rows=10)
    moved = table | {"q": [*table["q"][1:], "query 10"]}
    for changed, stop in ((table, 70), (moved, None), (columns([*SIZES, 3]), None)):
        write(path, changed, 0, stop)
        with pytest.raises(ValueError, match="the files have changed since batches_by_query read them; call it again"):
            list(found)
    with pytest.raises(ValueError, match="the files have changed"):
        found.fields()


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "train.parquet", columns())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "boostplug.datasets.parquet")
    with pytest.raises(ImportError, match=re.escape("pip install 'boostplug[parquet]'")):
        batches_by_query(path, **COLUMNS)


@pytest.mark.parametrize(("framework", "method"), [("xgboost", "data_iter"), ("lightgbm", "sequence")])
def test_without_a_framework_its_extra_is_named(framework, method, tmp_path, monkeypatch):
    found = batches_by_query(write(tmp_path / "train.parquet", columns()), **COLUMNS)
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"boostplug.datasets.{framework}_batches", raising=False)
    with pytest.raises(ImportError, match=re.escape(f"pip install 'boostplug[{framework}]'")):
        getattr(found, method)()
