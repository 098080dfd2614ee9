"""`batches_by_query`: complete queries, in little memory; and all that it refuses."""

import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostplug.datasets import batches, batches_by_query

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

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


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 20), st.integers(1, 7))
def test_batches_take_as_many_complete_queries_as_fit(tmp_path_factory, sizes, rows, at_once):
    table = columns(sizes)
    path = write(tmp_path_factory.mktemp("files") / "train.parquet", table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_AT_ONCE", at_once)
        found = batches_by_query(path, **COLUMNS, weight="w", rows=rows)
        parts = list(found)
        assert [part.n_rows for part in found] == [part.n_rows for part in parts]
    assert joined(parts, "group").tolist() == sizes
    assert found.n_rows == sum(sizes)
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        assert part.n_rows <= rows or part.n_queries == 1
        assert following is None or part.n_rows + following.group[0] > rows  # no more would fit
        assert part.X.dtype == np.float32
    assert np.array_equal(joined(parts, "X"), np.column_stack([table["a"], table["b"].astype(np.float32)]))
    assert np.array_equal(joined(parts, "y"), table["y"])
    assert np.array_equal(joined(parts, "weight"), table["w"])
    assert joined(parts, "qid").tolist() == table["q"]


@pytest.mark.parametrize("kind", ["folder", "list", "iterator", "folders"])
def test_files_are_one_in_their_natural_order(kind, tmp_path):
    table, names = columns(), ["part.0", "part.2", "part.10", "part.11"]
    for cuts in ([4, 5, 40], [3, 4, 16], [0, 1, 72]):
        edges = [0, *cuts, len(table["y"])]
        files = [write(tmp_path / f"{names[i]}.parquet", table, edges[i], edges[i + 1]) for i in range(4)]
        (tmp_path / "_SUCCESS").touch()
        (tmp_path / ".part.0.parquet.crc").write_bytes(b"x")
        path = {"folder": str(tmp_path), "list": files, "iterator": iter(files), "folders": [tmp_path]}[kind]
        found = [*batches_by_query(path, **COLUMNS, rows=13)]
        assert joined(found, "group").tolist() == SIZES
        assert joined(found, "qid").tolist() == table["q"]
        assert np.array_equal(joined(found, "y"), table["y"])


def test_memory_is_that_of_a_batch(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    row = np.arange(40_000)
    features = {f"f{j}": rng.normal(size=len(row)).astype(np.float32) for j in range(20)}
    path = write(tmp_path / "train.parquet", {"y": row % 3, "q": row // 10} | features)
    del features
    monkeypatch.setattr(batches, "_AT_ONCE", 1000)
    all_features = 40_000 * 20 * 4
    tracemalloc.start()
    n_rows = sum(batch.n_rows for batch in batches_by_query(path, **COLUMNS, rows=500))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_rows == 40_000
    assert peak < all_features / 3


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
        (pa.array([1e39, None, np.nan], pa.float64()), [np.inf, np.nan, np.nan]),
        (pa.array(np.array([0.5, 1, 2], np.float16)), [0.5, 1, 2]),
        (pa.array([Decimal("1.25"), None, Decimal("-2.00")]), [1.25, np.nan, -2]),
        (pa.array([None, None, None]), [np.nan] * 3),
        (pa.array([2**53 + 1, 0, -7]), [2.0**53, 0, -7]),
    ],
    ids=lambda value: str(value.type) if hasattr(value, "type") else "",
)
def test_kinds_of_numbers(values, expected, tmp_path):
    (batch,) = batches_by_query(table_of(tmp_path, x=values), **COLUMNS)
    with np.errstate(over="ignore"):
        assert np.array_equal(batch.X[:, 0], np.array(expected, np.float32), equal_nan=True)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pa.array(["07", "7"]), pa.array([7, 8]), ["07", "7", "7", "8"]),
        (pa.array([7, 8]), pa.array(["8", "x"]), ["7", "8", "8", "x"]),
        (pa.array([1, 2]), pa.array([3, 2**63], pa.uint64()), ["1", "2", "3", str(2**63)]),
        (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]), ["a", "b", "b", "c"]),
        (pa.array([5, 6]), pa.array([], pa.null()), [5, 6]),
    ],
    ids=str,
)
def test_ids_of_several_types_become_one(first, second, expected, tmp_path):
    for i, ids in enumerate((first, second)):
        pq.write_table(pa.table({"x": [1.0] * len(ids), "y": [0] * len(ids), "q": ids}), tmp_path / f"{i}.parquet")
    (batch,) = batches_by_query(tmp_path, **COLUMNS)
    assert batch.qid.tolist() == expected
    assert batch.n_queries == len(set(expected))


@pytest.mark.parametrize(
    ("column", "values", "why"),
    [
        ("q", pa.array([1.0, 2.0**24], pa.float32()), "float; convert the ids to integers or text"),
        ("q", pa.array([1, 2], pa.date32()), "date32"),
        ("q", pa.array([1.0, 2.0]).dictionary_encode(), "double"),
        ("y", ["1", "0"], "string; make it numbers"),
        ("w", ["1", "2"], "string"),
        ("x", ["1", "2"], "string; make it numbers, or choose others by features="),
        ("x", pa.array(["a", "b"]).dictionary_encode(), "dictionary"),
        ("x", pa.array([1, 2], pa.timestamp("s")), "timestamp"),
        ("x", [[1.0], [2.0]], "list"),
    ],
    ids=str,
)
def test_columns_of_other_kinds_are_refused_with_their_file(column, values, why, tmp_path):
    path = table_of(tmp_path, **{"w": [1.0, 2.0], column: values})
    with pytest.raises(ValueError, match=rf"train\.parquet: column '{column}' holds {why}"):
        batches_by_query(path, **COLUMNS, weight="w")


def test_files_that_change_between_passes_are_noticed(tmp_path):
    found = batches_by_query(table_of(tmp_path, q=[1, 2]), **COLUMNS)
    assert len([*found]) == len([*found]) == 1
    table_of(tmp_path, q=[3, 4, 5])
    with pytest.raises(ValueError, match="have changed since batches_by_query read them; call it again"):
        next(iter(found))


@pytest.mark.parametrize(("at_once", "rows"), [(1, 2), (3, 5), (1000, 1000)])
def test_a_query_that_appears_again_is_refused(at_once, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "_AT_ONCE", at_once)
    path = write(tmp_path / "train.parquet", columns([2] * 8, ["a", "b", "c", "d", "e", "b", "f", "g"]))
    with pytest.raises(ValueError, match=r"train\.parquet: .*'b' appears again"):
        [*batches_by_query(path, **COLUMNS, rows=rows)]


@pytest.mark.parametrize(
    ("column", "values", "why"),
    [("y", [1.0, np.nan], "y.*is not finite"), ("q", ["a", None], "is not an id"), ("w", [1.0, -1.0], "weight")],
)
def test_rows_that_mean_nothing_are_refused_with_their_file(column, values, why, tmp_path):
    path = table_of(tmp_path, **{"w": [1.0, 2.0], column: values})
    with pytest.raises(ValueError, match=rf"train\.parquet: .*{why}"):
        [*batches_by_query(path, **COLUMNS, weight="w")]
