"""CSV and Parquet files: ids as written, one type in a column, separators, and what `bp.compare` says of them."""

import lzma
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boostplug as bp
from boostplug.data.files import read_table_file

pytest.importorskip("lightgbm")

RNG = np.random.default_rng(0)
QUERY = np.repeat(np.arange(40), 5)
N = len(QUERY)
CODE = RNG.choice(["1", "2", "3", "x"], N)
A = RNG.normal(size=N)
TABLE = pd.DataFrame({"a": A, "code": CODE, "grade": ((A > 0) ^ (CODE == "x")).astype(float), "query": QUERY})
PARTS = [QUERY < 24, (QUERY >= 24) & (QUERY < 32), QUERY >= 32]


def compare(*data, **options):
    given = {"label": "grade", "qid": "query", "losses": "QBRank()", "baselines": "lambdarank", "rounds": 3, "seeds": 1}
    given |= {"frameworks": "lightgbm", "num_threads": 1, "progress": False}
    given["params"] = {"lightgbm": {"min_data_per_group": 1, "cat_smooth": 1.0}}
    return bp.compare(*data, **given | options)


def written(folder, content, name="table.csv"):
    """Return the path of a file of a text or of a DataFrame."""
    path = folder / name
    if isinstance(content, str):
        path.write_text(content)
    elif path.suffix == ".csv":
        content.to_csv(path, index=False)
    else:
        content.to_parquet(path)
    return path


# --- ids and types ------------------------------------------------------------------------------------------------


def test_ids_are_texts_as_written(tmp_path):
    for ids in (
        ("007", "7", "07"),
        ("NA", "null", "nan", "None"),
        ("2024-05-01T10:00:00", "2024-05-01 10:00:00", "2024-05-01"),
        (3, 12),
    ):
        for name in ("t.csv", "t.parquet"):
            path = written(tmp_path, pd.DataFrame({"query": ids, "a": range(len(ids))}), name)
            assert read_table_file(path, ids=["query"])["query"].tolist() == [*ids]


def test_only_an_empty_cell_is_a_missing_id(tmp_path):
    ids = np.array(["NA", "null", *map(str, range(2, 40))])[QUERY].tolist()
    ids[12] = ""
    with pytest.raises(ValueError, match=r"column 'query' has no value in row 14 of table\.csv\."):
        compare(written(tmp_path, TABLE.assign(query=ids)))


def test_ids_that_are_no_texts_are_refused_by_name(tmp_path):
    pq.write_table(pa.table({"query": [[1], [2]], "a": [0, 1]}), tmp_path / "table.parquet")
    with pytest.raises(ValueError, match=r"column 'query' holds list<.*convert it"):
        read_table_file(tmp_path / "table.parquet", ids=["query"])


def test_a_column_with_texts_late_in_a_big_file_has_one_type(tmp_path):
    wide = pd.DataFrame(np.zeros((600, 2000), int)).assign(code=RNG.choice(["1", "2", "3"], 600))
    wide.loc[560:, "code"] = "x"  # pandas types each chunk of 2^20 cells, 512 rows, by itself
    assert {*read_table_file(written(tmp_path, wide))["code"]} == {"1", "2", "3", "x"}


def test_texts_of_each_arrow_type_are_categories(tmp_path):
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        pq.write_table(pa.table({"k": pa.array(CODE.tolist(), type=kind)}), tmp_path / "table.parquet")
        assert str(read_table_file(tmp_path / "table.parquet").dtypes["k"]) == "category"


def test_training_decides_the_type_of_a_column(tmp_path):
    def files(codes):
        table = TABLE.assign(code=codes)
        return [written(tmp_path, table[rows], f"{part}.csv") for part, rows in zip("abc", PARTS, strict=True)]

    numbers = np.arange(N).astype(object)
    numbers[-3] = "oops"
    with pytest.raises(ValueError, match=r"(?=.*c\.csv)(?=.*'code')(?=.*'oops')"):
        compare(*files(numbers))
    code = np.where(PARTS[2] & (CODE == "x"), "1", CODE)  # in the test part all look like numbers
    table = TABLE.assign(code=pd.Categorical(code))
    expected = compare(*(table[rows] for rows in PARTS)).to_frame()["NDCG@10"]
    assert compare(*files(code)).to_frame()["NDCG@10"].tolist() == expected.tolist()


# --- columns ------------------------------------------------------------------------------------------------------


def test_the_separator_is_found_beside_others_in_names(tmp_path):
    for text, names in (
        ('qid;"price, EUR, net";grade\n1;2;0\n', ["qid", "price, EUR, net", "grade"]),
        ("qid\tprice, EUR, net, x\tgrade\n1\t2\t0\n", ["qid", "price, EUR, net, x", "grade"]),
        ('qid|"a\nb"|grade\n1|"red, a, b, c\nlarge|;"|2\n', ["qid", "a\nb", "grade"]),
        ("\ufeffqid,a\r\n1,2\r\n", ["qid", "a"]),
    ):
        assert list(read_table_file(written(tmp_path, text), ids=["qid"])) == names
    with pytest.raises(ValueError, match=r"one column.*separat"):
        read_table_file(written(tmp_path, "a^b\n1^2\n"))


def test_an_index_without_a_name_is_no_column_and_a_named_one_is(tmp_path):
    TABLE.to_csv(tmp_path / "table.csv")
    assert list(read_table_file(tmp_path / "table.csv")) == list(TABLE)
    shuffled = TABLE[::-1]
    assert list(read_table_file(written(tmp_path, shuffled, "t.parquet"))) == list(TABLE)
    path = written(tmp_path, TABLE.set_index("query"), "t.parquet")
    assert read_table_file(path, ids=["query"])["query"].tolist() == QUERY.tolist()


def test_damaged_tables_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"table\.csv cannot be read: .*Expected 4 fields in line 3, saw 5"):
        read_table_file(written(tmp_path, "qid,a,b,grade\n1,3,9,0\n1,1,234,8,1\n"), ids=["qid"])
    log = written(tmp_path, "qid,position,clicked\nx,1,0\nx,2,1,1\n", "log.csv")
    with pytest.raises(ValueError, match="Expected 3 fields in line 3, saw 4"):
        bp.datasets.load_clicks(log)
    repeated = written(tmp_path, "query;grade;position;clicked;clicked\n1;0;1;0;1\n1;1;2;1;1\n")
    for read in (read_table_file, lambda path: bp.datasets.load_clicks(path, qid="query")):
        with pytest.raises(ValueError, match="holds 'clicked' 2 times"):
            read(repeated)
    damaged = tmp_path / "table.csv.xz"
    damaged.write_bytes(lzma.compress(b"qid,a\n1,2\n")[:-20])
    with pytest.raises(ValueError, match="cannot be read"):
        read_table_file(damaged)


# --- warnings -----------------------------------------------------------------------------------------------------


def test_columns_that_become_categories_are_said(tmp_path):
    texts = {"price": [f"${a:.2f}" for a in A], "size": ["3.5", "n/a?"] * (N // 2), "title": CODE}
    for name in ("t.csv", "t.parquet"):
        path = written(tmp_path, TABLE.assign(**texts), name)
        found = compare(path, drop=["title"]).document["warnings"]
        code, price, size = (line for line in found if "categor" in line)
        assert code.startswith("Column 'code' is text ('x'), and most of it are numbers.")
        assert re.match(r"Column 'price' is text \('\$.*'\), and most of it are numbers.", price)
        assert size == "Read as categories: size ('n/a?')."


@pytest.mark.parametrize("split", ["frame", "files"])
def test_categories_that_only_validation_or_test_has_are_said(tmp_path, split):
    table = TABLE.assign(code=np.select(PARTS[:2], [CODE, "new in valid"], "new in test"))
    table["part"] = np.select(PARTS[:2], ["train", "valid"], "test")
    if split == "frame":
        found = compare(table.astype({"code": "category"}), split="part")
    else:
        parts = [table[rows].drop(columns="part") for rows in PARTS]
        found = compare(*(written(tmp_path, part, f"{k}.csv") for k, part in enumerate(parts)))
    for name in ("valid", "test"):
        what = rf"in {name}.* column 'code' holds categories .*'new in {name}'"
        assert any(re.match(what, line) for line in found.document["warnings"])
