"""Defects of the way in, each through public names: files, ids, columns by name, parameters that count columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV

import boostplug as bp
from boostplug.datasets import load_clicks

pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

RNG = np.random.default_rng(0)
N_QUERIES, N_DOCUMENTS = 40, 5
N = N_QUERIES * N_DOCUMENTS
QUERY = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
CODE = RNG.choice(["1", "2", "3", "x"], N)
FRAME = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
GRADE = ((FRAME["a"] > 0) ^ np.isin(CODE, ["1", "x"])).astype(float).to_numpy()
TABLE = FRAME.assign(grade=GRADE, query=QUERY)
SMALL_GROUPS = {"min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 1.0}
QUICK = {
    "losses": [bp.QBRank()],
    "baselines": "lambdarank",
    "frameworks": "lightgbm",
    "rounds": 3,
    "seeds": 1,
    "num_threads": 1,
    "progress": False,
    "params": {"lightgbm": SMALL_GROUPS},
}


def compare(*data, **options):
    return bp.compare(*data, **{"label": "grade", "qid": "query", **QUICK, **options}).document


def metrics(document):
    runs = [run for method in document["methods"] for run in method["runs"]]
    assert not any(run["error"] for run in runs)
    return [value for run in runs for value in (run["validation"], *run["test"].values())]


def n_queries(document):
    return sum(document["data"][part]["queries"] for part in ("train", "valid", "test"))


def written(folder, frame, kind="csv", **options):
    path = folder / f"table.{kind}"
    frame.to_csv(path, index=False, **options) if kind == "csv" else frame.to_parquet(path, **options)
    return path


# --- CSV: types and ids -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide():
    """Return a table so wide that pandas reads it 512 rows at a time; in `code` and `name` only later rows hold texts.

    pandas types each chunk of 2^20 cells by itself.
    """
    n = 800
    query, code = np.repeat(np.arange(n // 5), 5), RNG.choice(["1", "2", "3"], n)
    code[600::7] = "x"
    frame = pd.DataFrame({"code": code, "query": query, "grade": ((RNG.random(n) < 0.2) ^ (code == "2")).astype(int)})
    frame["name"] = [f"q{i}" if i >= 130 else str(i) for i in query]
    frame["part"] = np.where(query < 100, "train", np.where(query < 130, "valid", "test"))
    filler = pd.DataFrame(np.zeros((n, 2000), int), columns=[f"z{i}" for i in range(2000)])
    return pd.concat([frame, filler], axis=1)


def test_a_column_with_texts_late_in_a_big_file_has_one_type(tmp_path, wide):
    chosen = {"features": ["code"], "split": "part"}
    plain = wide.assign(code=pd.Categorical(wide["code"]))
    assert metrics(compare(written(tmp_path, wide), **chosen)) == metrics(compare(plain, **chosen))


def test_ids_that_are_numbers_at_first_and_texts_later_are_taken(tmp_path, wide):
    assert n_queries(compare(written(tmp_path, wide), qid="name", features=["code"])) == 160


IDS = {
    "zeros in front": ("007", "7", "07"),
    "words for missing values": ("NA", "null", "nan", "None"),
    "dates and users": ("2024-05-01 user7", "2024-05-01 user8", "2024-05-02 user7"),
    "datetimes": ("2024-05-01T10:00:00", "2024-05-01 10:00:00", "2024-05-01"),
}
IN_FILES = [*(("csv", ids) for ids in IDS), ("parquet", "dates and users"), ("parquet", "datetimes")]


@pytest.mark.parametrize(("kind", "ids"), IN_FILES)
def test_ids_are_texts_as_written(tmp_path, kind, ids):
    names = np.array(IDS[ids])[QUERY % len(IDS[ids])]
    table = TABLE.assign(query=names).sort_values("query", kind="stable")
    assert n_queries(compare(written(tmp_path, table, kind))) == len(IDS[ids])


def test_only_an_empty_cell_is_a_missing_id(tmp_path):
    ids = np.array(["NA", "null", *map(str, range(2, N_QUERIES))])[QUERY].tolist()
    ids[12] = ""
    with pytest.raises(ValueError, match=r"column 'query' has no value in row 14 of table\.csv\."):
        compare(written(tmp_path, TABLE.assign(query=ids)))


# --- three CSV files: training decides ----------------------------------------------------------------------------


def three(folder, columns):
    """Return the paths of train.csv, valid.csv and test.csv, and the parts."""
    table = TABLE.assign(c=columns)
    parts = {"train": table[QUERY < 24], "valid": table[(QUERY >= 24) & (QUERY < 32)], "test": table[QUERY >= 32]}
    for name, part in parts.items():
        part.to_csv(folder / f"{name}.csv", index=False)
    return [folder / f"{name}.csv" for name in parts], [*parts.values()]


def test_a_text_in_a_column_that_is_of_numbers_in_train_is_refused(tmp_path):
    values = list(map(str, range(N)))
    values[-3] = "oops"
    paths, _ = three(tmp_path, values)
    with pytest.raises(ValueError, match=r"(?=.*test\.csv)(?=.*'c')(?=.*'oops')"):
        compare(*paths)


def test_numbers_in_a_column_that_is_of_texts_in_train_are_its_categories(tmp_path):
    code = np.where((QUERY >= 32) & (CODE == "x"), "1", CODE)
    paths, parts = three(tmp_path, code)
    categories = [part.assign(c=pd.Categorical(part["c"], categories=["1", "2", "3", "x"])) for part in parts]
    assert metrics(compare(*paths)) == metrics(compare(*categories))


# --- CSV: separators and headers ----------------------------------------------------------------------------------


def test_an_index_without_a_name_is_no_feature(tmp_path):
    path = tmp_path / "table.csv"
    TABLE.to_csv(path)
    assert compare(path)["data"]["features"] == 2


@pytest.mark.parametrize("read", [compare, lambda path: load_clicks(path, qid="query")], ids=["compare", "load_clicks"])
def test_a_repeated_name_is_refused(tmp_path, read):
    path = tmp_path / "table.csv"
    path.write_text("query;grade;position;clicked;clicked\n1;0;1;0;1\n1;1;2;1;1\n")
    with pytest.raises(ValueError, match="holds 'clicked' 2 times"):
        read(path)


def test_a_file_of_one_column_gets_a_word_on_separators(tmp_path):
    with pytest.raises(ValueError, match=r"one column.*separat"):
        compare(written(tmp_path, TABLE, sep="^"))


# --- Parquet ------------------------------------------------------------------------------------------------------


def test_the_index_of_a_parquet_file_is_a_column(tmp_path):
    assert metrics(compare(written(tmp_path, TABLE.set_index("query"), "parquet"))) == metrics(compare(TABLE))


# --- tables in memory ---------------------------------------------------------------------------------------------


def make(name, **more):
    if name == "LGBMRanker":
        more = {"verbose": -1, "min_child_samples": 1, **SMALL_GROUPS, **more}
    else:
        more = {"max_depth": 3, "verbosity": 0, **more}
    return getattr(bp, name)(**{"objective": bp.QBRank(), "n_estimators": 3, "n_jobs": 1, **more})


def fit(name, X, y=GRADE, *, params=(), **more):
    quiet = {"verbose": False} if name == "XGBRanker" else {}
    return make(name, **dict(params)).fit(X, y, **quiet, **more)


both_rankers = pytest.mark.parametrize("name", ["LGBMRanker", "XGBRanker"])
SEVERAL = TABLE.rename(columns={"a": "user"}).assign(day=1, user=QUERY)
READERS = {
    "LGBMRanker": lambda qid: fit("LGBMRanker", SEVERAL, qid=qid),
    "XGBRanker": lambda qid: fit("XGBRanker", SEVERAL, qid=qid),
    "compare": lambda qid: compare(SEVERAL, qid=qid),
    "from_frame": lambda qid: bp.RankingData.from_frame(SEVERAL, label="grade", qid=qid),
}


@pytest.mark.parametrize("reader", READERS)
def test_ids_in_several_columns_are_refused(reader):
    with pytest.raises(ValueError, match="qid must"):
        READERS[reader](["user", "day"])


# --- columns by name ----------------------------------------------------------------------------------------------

NAMED = pd.DataFrame({"query_id": [f"q{query}" for query in QUERY]}).join(FRAME)
NAMED["weight"], NAMED["position"] = 1.0 + QUERY % 3, np.tile(np.arange(1, N_DOCUMENTS + 1), N_QUERIES)
NAMED["grade"] = GRADE
PLAIN = NAMED[["query_id", "a", "b", "grade"]]


@both_rankers
def test_labels_ids_weights_and_positions_by_name(name):
    params = {"objective": bp.Unbiased()}
    names = {"sample_weight": "weight", "position": "position"}
    model = fit(name, NAMED, "grade", params=params, qid="query_id", **names)
    arrays = {argument: NAMED[column] for argument, column in names.items()}
    plain = fit(name, FRAME, params=params, qid=QUERY, **arrays)
    np.testing.assert_array_equal(model.predict(NAMED), plain.predict(FRAME))
    assert np.ptp(plain.predict(FRAME)) > 0


@both_rankers
def test_score_takes_the_labels_by_name_and_as_an_array(name):
    model = fit(name, PLAIN, "grade", qid="query_id")
    value = fit(name, FRAME, qid=QUERY).score(FRAME, GRADE, qid=QUERY)
    assert model.score(PLAIN, y="grade") == value
    assert model.score(PLAIN, GRADE) == value


@both_rankers
def test_validation_sets_take_the_labels_by_name(name):
    def results(model):
        return model.evals_result_ if name == "LGBMRanker" else model.evals_result()

    train, valid = PLAIN[:150], PLAIN[150:]
    model = fit(name, train, "grade", qid="query_id", eval_set=[(valid, "grade")])
    arrays = {"eval_set": [(FRAME[150:], GRADE[150:])], "eval_qid": [QUERY[150:]]}
    assert results(model) == results(fit(name, FRAME[:150], GRADE[:150], qid=QUERY[:150], **arrays))


SCORER = bp.make_scorer(bp.NDCG(5))
UNGRADED = PLAIN.drop(columns="grade")


@both_rankers
def test_a_scorer_knows_the_rankers_column_of_ids(name):
    model = fit(name, PLAIN, "grade", qid="query_id")
    expected = model.score(PLAIN, GRADE, metric=bp.NDCG(5))
    assert SCORER(model, PLAIN, GRADE) == expected
    assert SCORER(model, UNGRADED, GRADE) == expected


@both_rankers
def test_a_grid_search_takes_the_name_of_the_column_of_ids(name):
    quiet = {"verbose": False} if name == "XGBRanker" else {}
    search = GridSearchCV(make(name), {"n_estimators": [1, 3]}, cv=bp.group_folds(QUERY, 3), scoring=SCORER)
    search.fit(UNGRADED, GRADE, qid="query_id", **quiet)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5


@both_rankers
def test_permuted_ids_have_no_importance(name):
    model = fit(name, PLAIN, "grade", qid="query_id")
    found = permutation_importance(model, UNGRADED, GRADE, scoring=SCORER, n_repeats=2, random_state=0)
    importance = dict(zip(UNGRADED.columns, found.importances_mean, strict=True))
    assert importance["query_id"] == 0
    assert importance["a"] > 0


# --- parameters that count the columns of X as passed -------------------------------------------------------------

X = pd.DataFrame({"query_id": QUERY, "a": FRAME["a"], "code": pd.factorize(CODE)[0], "b": FRAME["b"]})
COUNTED = {
    "categorical_feature": ("LGBMRanker", {}, {"categorical_feature": [1]}),
    "monotone_constraints": ("LGBMRanker", {"monotone_constraints": [1, 0, -1]}, {}),
    "monotone_constraints of XGBoost": ("XGBRanker", {"monotone_constraints": (1, 0, -1)}, {}),
    "feature_weights": ("XGBRanker", {"colsample_bynode": 0.5}, {"feature_weights": [1.0, 0.0, 1.0]}),
}


@pytest.mark.parametrize("parameter", COUNTED)
def test_parameters_count_the_features(parameter):
    name, params, given = COUNTED[parameter]
    features = X.drop(columns="query_id")
    plain = fit(name, features, params=params, qid=QUERY, **given).predict(features)
    assert not np.array_equal(plain, fit(name, features, qid=QUERY).predict(features))
    np.testing.assert_array_equal(fit(name, X, params=params, qid="query_id", **given).predict(X), plain)


# --- click logs ---------------------------------------------------------------------------------------------------

LOG = pd.DataFrame({"qid": ["07", "07", "7", "7"], "position": [1, 2, 1, 2], "clicked": [0, 1, 1, 0]})
LOG["query"] = ["001", "001", "1", "1"]


def test_click_logs_in_parquet_files_with_an_index_are_read(tmp_path):
    log = load_clicks(written(tmp_path, LOG.set_index("qid"), "parquet"))
    np.testing.assert_array_equal(log.clicked, LOG["clicked"])
    assert len(log.group) == 2
