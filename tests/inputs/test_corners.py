"""Corners of the door for data: what an adversary found, and what becomes of it now."""

import datetime as dt
import lzma
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_matrix

import boostplug as bp
from boostplug.data.files import read_table_file

RNG = np.random.default_rng(0)
N_QUERIES, N_DOCUMENTS = 40, 5
N = N_QUERIES * N_DOCUMENTS
QUERY = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
A = RNG.normal(size=N)
B = RNG.integers(0, 5, N)
GRADE = ((A > 0) + (B > 2)).astype(float)
KIND = np.array(["red", "green", "blue", "grey", "pink"])[B]
TABLE = pd.DataFrame({"a": A, "k": pd.Categorical(KIND)})
SMALL = {"losses": "ranknet", "baselines": "lambdarank", "frameworks": "lightgbm", "rounds": 2, "seeds": 1}
SMALL |= {"num_threads": 1, "label": "grade", "qid": "qid", "progress": False}

both_rankers = pytest.mark.parametrize("name", ["LGBMRanker", "XGBRanker"])


def make(name, **params):
    if name == "LGBMRanker":
        params |= {"verbose": -1, "min_child_samples": 1, "min_data_per_group": 1, "cat_smooth": 1.0}
    else:
        params |= {"enable_categorical": True}
    return getattr(bp, name)(objective=bp.RankNet(), n_estimators=5, n_jobs=1, **params)


def fit(name, X, y=GRADE, params=None, **more):
    more |= {"verbose": False} if name == "XGBRanker" else {}
    return make(name, **(params or {})).fit(X, y, **({"qid": QUERY} if not isinstance(y, str) else {}), **more)


def csv(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text)
    return path


# --- CSV ----------------------------------------------------------------------------------------------------------


def test_a_row_with_too_many_cells_is_refused(tmp_path):
    path = csv(tmp_path, "qid,a,b,grade\n1,3,9,0\n1,1,234,8,1\n")
    with pytest.raises(ValueError, match=r"table\.csv cannot be read: .*Expected 4 fields in line 3, saw 5"):
        read_table_file(path, ids=["qid"])
    log = csv(tmp_path, "qid,position,clicked\nx,1,0\nx,2,1,1\n", "log.csv")
    with pytest.raises(ValueError, match="Expected 3 fields in line 3, saw 4"):
        bp.datasets.load_clicks(log)


def test_columns_that_become_categories_are_said_in_one_line(tmp_path):
    texts = {"price": [f"${a:.2f}" for a in A], "size": ["3.5", "n/a?"] * (N // 2), "k": KIND, "title": KIND}
    frame = pd.DataFrame({"a": A, **texts, "qid": QUERY, "grade": GRADE})
    for path, write in ((tmp_path / "t.csv", frame.to_csv), (tmp_path / "t.parquet", frame.to_parquet)):
        write(path, index=False)
        found = bp.compare(path, drop=["title"], **SMALL).document["warnings"]
        (line,) = (line for line in found if "categories:" in line)
        assert re.fullmatch(
            rf"{path.name}: read as categories: price: '\$.*', size: 'n/a\?', k: 'blue'. Write numbers as .*", line
        )


@pytest.mark.parametrize("split", ["file", "frame", "categories", "files"])
def test_categories_that_only_validation_or_test_has_are_said(tmp_path, split):
    k = np.where(QUERY < 24, KIND, np.where(QUERY < 32, "new in valid", "new in test"))
    part = np.repeat(["train", "valid", "test"], [24 * N_DOCUMENTS, 8 * N_DOCUMENTS, 8 * N_DOCUMENTS])
    frame = pd.DataFrame({"a": A, "k": k, "qid": QUERY, "grade": GRADE, "part": part})
    frame.to_csv(tmp_path / "t.csv", index=False)
    parts = [rows.drop(columns="part") for _, rows in frame.groupby("part", sort=False)]
    for name, rows in zip("abc", parts, strict=True):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    given = {
        "file": [tmp_path / "t.csv"],
        "frame": [frame.astype({"k": "category"})],
        "categories": [rows.astype({"k": pd.CategoricalDtype([*np.unique(k)])}) for rows in parts],
        "files": [tmp_path / f"{name}.csv" for name in "abc"],
    }[split]
    found = bp.compare(*given, **SMALL, split="part" if len(given) == 1 else None).document["warnings"]
    for name in ("valid", "test"):
        assert any(re.match(rf"in {name}.* column 'k' holds categories .*'new in {name}'", line) for line in found)


def test_the_first_row_may_hold_newlines_and_separators_and_be_wide(tmp_path):
    for cell in ("red\nlarge", "red\nlarge, a, b, c, d", "a;b;c;d\ne;f;g;h", 'a ""quoted""\r\n\r\n|x|'):
        for separator, end in ((",", "\n"), (";", "\r\n"), ("\t", "\n"), ("|", "\n")):
            rows = [["query", "a\nb", "grade"], ["1", f"{cell}{separator}", "2"], ["1", "blue", "0"]]
            text = end.join(separator.join(f'"{cell}"' for cell in row) for row in rows)
            found = read_table_file(csv(tmp_path, text), ids=["query"])
            assert list(found) == rows[0]
            assert found["grade"].tolist() == [2, 0]
    wide = csv(tmp_path, ",".join(f"column{k:09}" for k in range(2_000)) + "\n" + ",".join("1" * 2_000))
    assert read_table_file(wide).shape == (1, 2_000)


def test_the_separator_is_found_beside_others_in_names(tmp_path):
    for text, names in (
        ('qid;"price, EUR, net";grade\n1;2;0\n', ["qid", "price, EUR, net", "grade"]),
        ("qid\tprice, EUR, net, x\tgrade\n1\t2\t0\n", ["qid", "price, EUR, net, x", "grade"]),
        ("\ufeffqid,a\r\n1,2\r\n", ["qid", "a"]),
    ):
        assert list(read_table_file(csv(tmp_path, text), ids=["qid"])) == names
    damaged = tmp_path / "table.csv.xz"
    damaged.write_bytes(lzma.compress(b"qid,a\n1,2\n")[:-20])
    with pytest.raises(ValueError, match="cannot be read"):
        read_table_file(damaged)


def test_ids_are_compared_as_texts_where_files_hold_them_as_numbers_and_texts(tmp_path):
    paths = []
    for part, rows in (("train", slice(0, 100)), ("valid", slice(100, 150)), ("test", slice(150, N))):
        ids = (7 * (QUERY[rows] % 10 if part == "test" else QUERY[rows])).astype(object)
        ids[-N_DOCUMENTS:] = "NA" if part == "test" else ids[-N_DOCUMENTS:]
        paths.append(tmp_path / f"{part}.csv")
        pd.DataFrame({"a": A[rows], "qid": ids, "grade": GRADE[rows]}).sort_values(
            "qid", key=lambda s: s.astype(str), kind="stable"
        ).to_csv(paths[-1], index=False)
    assert any("test shares" in text for text in bp.compare(*paths, **SMALL).document["warnings"])


# --- Parquet and click logs ---------------------------------------------------------------------------------------


def test_ids_that_are_no_texts_are_refused_by_name(tmp_path):
    table = pa.table({"qid": [[int(q)] for q in QUERY], "a": A, "grade": GRADE})
    pq.write_table(table, tmp_path / "table.parquet")
    with pytest.raises(ValueError, match=r"column 'qid' holds list<.*convert it"):
        bp.compare(tmp_path / "table.parquet", **SMALL)


def test_texts_of_each_arrow_type_are_categories(tmp_path):
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        pq.write_table(pa.table({"k": pa.array(KIND.tolist(), type=kind)}), tmp_path / "table.parquet")
        assert str(read_table_file(tmp_path / "table.parquet").dtypes["k"]) == "category"


def test_positions_of_a_click_log_are_no_dates(tmp_path):
    log = pd.DataFrame({"qid": [1, 1], "position": pd.to_datetime(["2020-01-01", "2020-01-02"]), "clicked": [0, 1]})
    log.to_parquet(tmp_path / "log.parquet")
    with pytest.raises(ValueError, match="position must hold real numbers"):
        bp.datasets.load_clicks(tmp_path / "log.parquet")


# --- categories ---------------------------------------------------------------------------------------------------

FORMS = {
    "text of pyarrow": lambda: pa.table({"a": A, "k": KIND.tolist()}),
    "text of Arrow in pandas": lambda: pd.DataFrame({"a": A, "k": pd.Series(KIND, dtype=pd.ArrowDtype(pa.string()))}),
    "text of polars": lambda: pl.DataFrame({"a": A, "k": KIND.tolist()}),
    "objects": lambda: pd.DataFrame({"a": A, "k": KIND.astype(object)}),
}


@both_rankers
@pytest.mark.parametrize("form", FORMS)
def test_text_follows_the_training_sets_categories(name, form):
    model, other = fit(name, TABLE), FORMS[form]()
    np.testing.assert_array_equal(model.predict(other), model.predict(TABLE))
    fit(name, TABLE, eval_set=[(other, GRADE)], eval_qid=[QUERY])


@both_rankers
def test_categories_of_numbers_and_texts_are_found_again(name):
    mixed = [1, "u"] * (N // 2)
    table = pd.DataFrame({"a": A, "k": pd.Categorical(mixed)})
    model = fit(name, table)
    other = pd.DataFrame({"a": A, "k": pd.Series(mixed, dtype=object)})
    np.testing.assert_array_equal(model.predict(other), model.predict(table))


@both_rankers
def test_a_row_whose_category_is_missing_predicts(name):
    model = fit(name, TABLE)
    expected = model.predict(TABLE[:1].assign(k=pd.Categorical([None], categories=TABLE["k"].cat.categories)))
    for missing in (
        pd.DataFrame({"a": A[:1], "k": [None]}),
        pl.DataFrame({"a": A[:1], "k": [None]}),
        pa.table({"a": A[:1], "k": pa.nulls(1)}),
    ):
        np.testing.assert_array_equal(model.predict(missing), expected)


CODES = {
    "Int64": lambda: pd.Series(pd.array(B, dtype="Int64")).astype("category"),
    "Arrow integers": lambda: pd.Series(B, dtype=pd.ArrowDtype(pa.int64())).astype("category"),
    "objects": lambda: pd.Series(pd.Categorical(pd.Series(B.tolist(), dtype=object))),
    "uint64": lambda: pd.Series(pd.Categorical(B.astype(np.uint64))),
    "floats": lambda: pd.Series(pd.Categorical(B / 2)),
    "truth values": lambda: pd.Series(pd.Categorical(B > 2)),
    "1 and '1'": lambda: pd.Series(pd.Categorical([1, "1"] * (N // 2))),
    "nothing": lambda: pd.Series(pd.Categorical([None] * N)),
}


@both_rankers
@pytest.mark.parametrize("codes", CODES)
def test_categories_of_every_type_of_number_train(name, codes):
    table = pd.DataFrame({"a": A, "k": CODES[codes]()})
    assert np.ptp(fit(name, table).predict(table)) > 0


def test_xgboost_takes_categories_of_another_integer_type():
    table = pd.DataFrame({"a": A, "k": pd.Categorical(B)})
    model = fit("XGBRanker", table)
    narrow = table.assign(k=pd.Categorical(B.astype(np.int8)))
    np.testing.assert_array_equal(model.predict(narrow), model.predict(table))


# --- byte order ---------------------------------------------------------------------------------------------------


def swapped(values):
    """Return the same numbers in the other byte order, as HDF5, FITS and network formats hold them."""
    values = np.asarray(values)
    return values.astype(values.dtype.newbyteorder("S"))


def sparse(values):
    found = csr_matrix(values.astype(float))
    return csr_matrix((found.data.astype(values.dtype), found.indices, found.indptr), found.shape)


KINDS_OF_TABLES = {"array": np.asarray, "frame": pd.DataFrame, "sparse": sparse}


@both_rankers
@pytest.mark.parametrize("kind", KINDS_OF_TABLES)
def test_the_other_byte_order_gives_the_same_numbers(name, kind):
    starts = ("init_score", "eval_init_score") if name == "LGBMRanker" else ("base_margin", "base_margin_eval_set")

    def trained(order):
        table = KINDS_OF_TABLES[kind](order(np.c_[A, B].astype(float)))
        more = {"feature_weights": order([0.9, 0.1])} if name == "XGBRanker" else {}
        more |= {starts[0]: order(A / 9), starts[1]: [order(A / 9)], "sample_weight": order(1.0 + B)}
        sets = {"eval_set": [(table, order(GRADE[::-1]))], "eval_qid": [order(QUERY)]}
        params = {"colsample_bynode": 0.5} if name == "XGBRanker" else {}
        ranker = make(name, random_state=0, **params).fit(table, order(GRADE), qid=order(QUERY), **sets, **more)
        margin = {"base_margin": order(A)} if name == "XGBRanker" else {}
        return [*ranker.predict(table, **margin), ranker.score(table, order(GRADE), qid=order(QUERY))], ranker

    (here, ranker), (there, other) = trained(np.asarray), trained(swapped)
    assert here == there
    assert ranker.evals_result_ == other.evals_result_


def test_compare_takes_the_other_byte_order():
    def compared(order):
        parts = [bp.RankingData(order(np.c_[A, B].astype(float)), order(GRADE), qid=order(QUERY)) for _ in range(3)]
        few = {name: value for name, value in SMALL.items() if name not in {"label", "qid", "baselines"}}
        return bp.compare(*parts, **few | {"frameworks": "xgboost"}, baselines=[]).to_frame()["NDCG@10"].tolist()

    assert compared(np.asarray) == compared(swapped)


# --- arguments ----------------------------------------------------------------------------------------------------

NAMED = pd.DataFrame({"query_id": QUERY, "a": A, "b": B, "c": B[::-1].copy(), "grade": GRADE})
PLAIN = NAMED[["a", "b", "c"]]


@both_rankers
def test_labels_by_name_need_not_be_repeated(name):
    table = NAMED.assign(sale=(A > 0.5).astype(float))
    model = fit(name, table, "grade", labels={"sale": "sale"}, qid="query_id")
    expected = model.score(table, metric="NDCG@5.on(sale)", labels={"sale": table["sale"]})
    assert model.score(table, metric="NDCG@5.on(sale)") == expected
    assert bp.make_scorer(bp.NDCG(5).on("sale"))(model, table, GRADE) == expected


@both_rankers
def test_two_frames_are_two_validation_sets(name):
    model = fit(name, NAMED, "grade", eval_set=(NAMED[:100], NAMED[100:]), qid="query_id")
    assert len(model.evals_result_) == 2


def test_a_fit_that_fails_leaves_the_reference_ranker_as_it_was():
    ranker = bp.RankBoostRanker(n_estimators=2).fit(NAMED, "grade", qid="query_id")
    expected = ranker.predict(NAMED)
    with pytest.raises(ValueError, match="has no value in row 0"):
        ranker.fit(NAMED.assign(grade=np.nan), "grade", qid="query_id")
    np.testing.assert_array_equal(ranker.predict(NAMED), expected)


def test_a_truth_value_that_equals_the_labels_is_warned_of():
    y = (A > 0).astype(float)
    for copy in (y > 0, y.astype(np.float32), y.astype(int)):
        with pytest.warns(UserWarning, match="column 'leak' of X equals y"):
            bp.RankingData(pd.DataFrame({"a": A, "leak": copy}), y, qid=QUERY)


COPIES = {
    "id": (QUERY, "tells the queries apart"),
    "id as a number": (QUERY * 7.0, "tells the queries apart"),
    "id as a category": (pd.Categorical([f"q{k % 7}{k}" for k in QUERY]), "tells the queries apart"),
    "w": (1.0 + B, "equals weight"),
    "place": (np.tile([2, 1, 3, 5, 4], N_QUERIES), "equals position"),
}


def test_ids_weights_and_positions_among_the_features_are_warned_of_once(tmp_path):
    frame = pd.DataFrame({name: values for name, (values, _) in COPIES.items()})
    given = frame.assign(a=A, query_feature=np.repeat(A[:N_QUERIES], N_DOCUMENTS), flag=QUERY % 2 == 0, y=GRADE)
    given = given.assign(qid=[f"q{k}" for k in QUERY], weight=1.0 + B, position=frame["place"])
    columns = {"qid": "qid", "weight": "weight", "position": "position"}
    with pytest.warns(UserWarning, match="tells the queries apart") as caught:
        bp.RankingData(given, "y", **columns)
    (line,) = (str(one.message) for one in caught)
    assert all(f"column {name!r} of X {what}" in line for name, (_, what) in COPIES.items())
    assert not any(f"'{name}'" in line for name in ("a", "query_feature", "flag"))
    given.to_csv(tmp_path / "t.csv", index=False)
    found = bp.compare(tmp_path / "t.csv", **{**SMALL, "label": "y", "losses": "CRR()", **columns}).document["warnings"]
    (line,) = (line for line in found if "tells the queries apart" in line)
    assert line.endswith("what it must not know; drop it")


@pytest.mark.parametrize(
    ("values", "content"),
    [
        (pd.Categorical([dt.date(2024, 1, 1 + k % 9) for k in range(N)]), "categories of date"),
        ([dt.timedelta(days=int(k)) for k in B], "timedelta"),
        ([b"x"] * N, "bytes"),
    ],
)
def test_other_contents_are_refused_by_the_columns_name(values, content):
    table = pa.table({"a": A, "odd": values}) if isinstance(values, pa.Array) else TABLE.assign(odd=values)
    with pytest.raises(ValueError, match=rf"(?=.*odd)(?=.*{content})(?=.*drop)"):
        fit("LGBMRanker", table)
