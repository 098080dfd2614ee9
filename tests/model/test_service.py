"""What docs/guides/serving.md says of services without boostplug: columns of text, and lists without documents."""

import json
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from adapters.harness import FRAMEWORKS, every_framework, lgb, xgb
from versions import version_of

import boostplug as bp

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "serving.md").read_text(encoding="utf-8")
(SERVICE,) = re.findall(r"^```python\n# serve_text.py\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
FUNCTIONS = {}
for source in re.findall(r"^def columns_of.*?(?=\n\n\n)", PAGE, re.DOTALL | re.MULTILINE):
    exec(source, {"lgb": lgb, "json": json}, FUNCTIONS)  # noqa: S102 (our own page)
columns_of, columns_of_model = FUNCTIONS["columns_of"], FUNCTIONS["columns_of_model"]

LIGHTGBM, XGBOOST = FRAMEWORKS.values()
RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(60), 10)
PRICE = RNG.normal(size=len(QID)).round(2)
CHAIN = RNG.choice(["Corner", "Astra", "Boreal"], len(QID))
KINDS = ["Corner", "Astra", "Boreal"]  # no order of the alphabet
Y = np.clip(np.round(2.0 * (CHAIN == "Astra") + (CHAIN == "Corner") + PRICE), 0, 4).astype(int)
CODES = np.unique(CHAIN, return_inverse=True)[1]
VALUES = {"price": PRICE, "chain": CHAIN}
TABLES = {
    "pandas, categories": pd.DataFrame(VALUES).astype({"chain": "category"}),
    "pandas, text": pd.DataFrame(VALUES),
    "polars, `Categorical`": pl.DataFrame(VALUES).cast({"chain": pl.Categorical}),
    "polars, `Enum`": pl.DataFrame(VALUES).cast({"chain": pl.Enum(KINDS)}),
    "polars, text": pl.DataFrame(VALUES),
    "pyarrow, dictionary": pa.table({"price": PRICE, "chain": pa.array(CHAIN).dictionary_encode()}),
    "pyarrow, text": pa.table(VALUES),
}
TRAINED_ON = [name for name in TABLES if "text" not in name]
DOCUMENTS = [{"chain": chain, "price": price} for chain, price in zip(CHAIN.tolist(), PRICE.tolist(), strict=True)]


def fit(F, table, **more):
    return F.fit(bp.QBRank(), table, Y, qid=QID, n_estimators=20, **F.categories, **more)


def saved(F, ranker, folder):
    """Return the booster that the plain framework loads."""
    path = folder / {"lightgbm": "text.txt", "xgboost": "text.ubj"}[F.name]
    getattr(ranker, "save_model", F.booster(ranker).save_model)(path)
    return type(F.booster(ranker))(model_file=path)


@pytest.fixture(autouse=True)
def known_by_boosters():
    """Skip where boosters do not know their categories, or LightGBM no table of Arrow."""
    if version_of("xgboost") < (3, 1) or version_of("lightgbm") < (4, 7):
        pytest.skip("before LightGBM 4.7 or XGBoost 3.1")


def load_service(rankers, folder, monkeypatch, columns, documents=DOCUMENTS[:20], table=TABLES["pandas, text"][:20]):
    """Return the names of the page's script, which serves these rankers and compares some scores itself."""
    monkeypatch.chdir(folder)
    for F in FRAMEWORKS.values():
        saved(F, rankers[F.name], folder)
    Path("columns.json").write_text(json.dumps(columns))
    Path("request.json").write_text(json.dumps(documents))
    np.save("text_scores.npy", rankers["lightgbm"].predict(table))
    np.save("xgboost_text_scores.npy", rankers["xgboost"].predict(table))
    names = {}
    exec(SERVICE, names)  # noqa: S102 (our own page)
    return names


@pytest.mark.parametrize("table", TRAINED_ON)
def test_dictionaries_get_the_scores_of_their_texts(table, tmp_path, monkeypatch):
    rankers = {F.name: fit(F, TABLES[table]) for F in FRAMEWORKS.values()}
    columns = columns_of_model(saved(XGBOOST, rankers["xgboost"], tmp_path))
    if "Enum" not in table:  # whose categories have an order
        assert columns_of_model(saved(LIGHTGBM, rankers["lightgbm"], tmp_path)) == columns
    if table.startswith("pandas"):
        assert columns_of(TABLES[table]) == columns
    service = load_service(rankers, tmp_path, monkeypatch, columns)
    for F in FRAMEWORKS.values():
        scores_of, ranker = service[f"scores_of_{F.name}"], rankers[F.name]
        expected = ranker.predict(TABLES["pandas, text"])
        assert np.ptp(expected) > 0.1
        np.testing.assert_array_equal(scores_of(DOCUMENTS), expected)
        further = [{"price": str(one["price"]), "stock": 3, "chain": one["chain"]} for one in DOCUMENTS]
        np.testing.assert_array_equal(scores_of(further), expected)
        missing = scores_of([{"price": 0.5, "chain": None}, {"price": 0.5, "chain": "new"}])
        (of_none,) = ranker.predict(pd.DataFrame({"price": [0.5], "chain": pd.Series([None], dtype=object)}))
        assert missing.tolist() == [of_none, of_none]
        with pytest.warns(UserWarning, match="they become missing values"):
            assert ranker.predict(pd.DataFrame({"price": [0.5], "chain": ["new"]})) == of_none
        with pytest.raises(KeyError, match="chain"):
            scores_of([{"price": 0.5}])
        exec(SERVICE.replace("one[name]", "one.get(name)"), lenient := {})  # noqa: S102 (our own page)
        assert lenient[f"scores_of_{F.name}"]([{"price": 0.5}]) == of_none
        with pytest.raises(ValueError, match="could not convert"):
            scores_of([{"price": "cheap", "chain": "Astra"}])
        assert len(scores_of([])) == 0


def beyond_ascii(order=None):
    """Return a table with texts beyond ASCII, as categories."""
    names = np.array(["Zoé", "日本", "Ästhet"])[CODES]
    return pd.DataFrame({"price": PRICE, "chain": pd.Categorical(names, categories=order)})


def test_texts_beyond_ascii_and_ordered_categories(tmp_path, monkeypatch):
    ordered = beyond_ascii().astype({"chain": pd.CategoricalDtype(["日本", "Zoé", "Ästhet"], ordered=True)})
    for table in (beyond_ascii(), ordered):
        rankers = {F.name: fit(F, table) for F in FRAMEWORKS.values()}
        documents = table[:20].to_dict("records")
        service = load_service(rankers, tmp_path, monkeypatch, columns_of(table), documents, table[:20])
        for F in FRAMEWORKS.values():
            expected = rankers[F.name].predict(table)
            np.testing.assert_array_equal(service[f"scores_of_{F.name}"](table.to_dict("records")), expected)
            other = table.assign(chain=table["chain"].cat.reorder_categories(["Ästhet", "Zoé", "日本"], ordered=False))
            np.testing.assert_array_equal(rankers[F.name].predict(other), expected)
    ranker = XGBOOST.ranker()
    ranker.load_model(tmp_path / "text.ubj")
    np.testing.assert_array_equal(ranker.predict(other), expected)


@every_framework
def test_models_from_files_know_texts_beyond_ascii(F, tmp_path):
    table = beyond_ascii()
    ranker = fit(F, table)
    for model in (ranker, bp.fit_folds(ranker, table, Y, qid=QID, n_splits=2)):
        booster = saved(F, model, tmp_path)
        assert columns_of_model(booster) == columns_of(table)
    booster = saved(F, fit(F, table, **{F.continues: booster}), tmp_path)
    assert columns_of_model(booster) == columns_of(table)


@pytest.mark.frameworks
def test_xgboost_damages_texts_beyond_ascii(tmp_path):
    """Mended by dmlc/xgboost#12371: then a sentence of the page goes."""
    table, ranker = beyond_ascii(), fit(XGBOOST, beyond_ascii())
    booster = saved(XGBOOST, ranker, tmp_path)
    other = xgb.DMatrix(beyond_ascii(["Ästhet", "日本", "Zoé"]), enable_categorical=True)
    with suppress(UnicodeDecodeError, xgb.core.XGBoostError):
        assert np.abs(booster.predict(other) - ranker.predict(table)).max() > 0.1


def test_categories_that_are_numbers_are_no_texts(tmp_path, monkeypatch):
    table = pd.DataFrame({"price": PRICE, "chain": pd.Categorical(CODES)})
    rankers = {F.name: fit(F, table) for F in FRAMEWORKS.values()}
    for F in FRAMEWORKS.values():
        columns = columns_of_model(saved(F, rankers[F.name], tmp_path))
        assert columns == {"price": None, "chain": [0, 1, 2]} == columns_of(table)
    documents = table[:20].to_dict("records")
    service = load_service(rankers, tmp_path, monkeypatch, columns, documents, table[:20])
    for F in FRAMEWORKS.values():
        scores = service[f"scores_of_{F.name}"]([{"price": 0.5, "chain": kind} for kind in (0, "0", None)])
        assert scores[0] != scores[1] == scores[2]


def test_columns_that_the_two_lists_of_lightgbm_do_not_hold_alike_are_an_error(tmp_path):
    by_hand = pd.DataFrame({"price": PRICE, "chain": CODES})
    for table, more in ((TABLES["polars, `Enum`"], {}), (by_hand, {"categorical_feature": ["chain"]})):
        booster = saved(LIGHTGBM, fit(LIGHTGBM, table, **more), tmp_path)
        with pytest.raises(ValueError, match=r"^zip\(\) argument 2 is (longer|shorter) than"):
            columns_of_model(booster)


@every_framework
def test_columns_of_a_model_of_compare(F, tmp_path):
    table = beyond_ascii()
    table.assign(qid=QID, y=Y).to_csv(tmp_path / "shop.csv", index=False)
    quick = {"losses": "RankNet", "baselines": [], "seeds": 1, "rounds": 5, "num_threads": 1, "progress": False}
    result = bp.compare(str(tmp_path / "shop.csv"), label="y", qid="qid", frameworks=F.name, folds=3, **quick)
    path = tmp_path / f"model.{F.suffixes[0]}"
    result.model.save_model(path)
    assert columns_of_model(type(result.model)(model_file=path)) == columns_of(table)


# --- tables -------------------------------------------------------------------------------------------------------


def answer(predict, expected):
    """Return a cell of the page's table: whether a table is read."""
    try:
        scores = predict()
    except Exception as error:
        if re.search("categorical|category|Arrow|DataType", str(error)):
            return "no"
        raise
    np.testing.assert_array_equal(scores, expected)
    return "yes"


def cells(F, ranker, table, expected, booster):
    """Return how the plain booster, and the exported ranker, read a table; and how ours does."""
    is_frame = hasattr(table, "columns")

    def plain():
        if F is XGBOOST and is_frame:
            return booster.predict(xgb.DMatrix(table, enable_categorical=True))
        return booster.predict(table) if F is LIGHTGBM else booster.inplace_predict(table)

    found = answer(plain, expected)
    assert not is_frame or answer(lambda: ranker.export().predict(table), expected) == found
    return found, answer(lambda: ranker.predict(table), expected)


@pytest.mark.frameworks
@pytest.mark.parametrize("trained_on", TRAINED_ON)
def test_the_pages_table_of_tables(trained_on, tmp_path):
    """The same for all tables of training; codes are by the order of their categories."""
    rankers = {F: fit(F, TABLES[trained_on]) for F in FRAMEWORKS.values()}
    expected = {F: ranker.predict(TABLES["pandas, text"]) for F, ranker in rankers.items()}
    boosters = {F: saved(F, ranker, tmp_path) for F, ranker in rankers.items()}
    *_, xgboost = boosters.values()
    codes = np.column_stack([PRICE, [columns_of_model(xgboost)["chain"].index(one) for one in CHAIN]])
    lines = []
    for name, table in {**TABLES, "an array of codes": codes}.items():
        lightgbm, xgboost = (cells(F, ranker, table, expected[F], boosters[F]) for F, ranker in rankers.items())
        assert lightgbm[1] == xgboost[1]
        lines.append(f"| {name} | {lightgbm[0]} | {xgboost[0]} | {lightgbm[1]} |")
    assert "\n".join(lines) in PAGE


def test_categories_of_other_tables_are_read_as_pandas(tmp_path):
    for F in FRAMEWORKS.values():
        ranker = fit(F, TABLES["pandas, categories"])
        booster = saved(F, ranker, tmp_path)
        for name in TRAINED_ON[1:]:
            table = TABLES[name].to_pandas()
            table = table if F.name == "lightgbm" else xgb.DMatrix(table, enable_categorical=True)
            np.testing.assert_array_equal(booster.predict(table), ranker.predict(TABLES[name]))


@pytest.mark.frameworks
def test_requests_that_plain_frameworks_refuse():
    """In a DataFrame of pandas: text, new categories, no value at all, numbers as text, no rows."""
    frame = pd.DataFrame({"price": [0.5], "chain": ["new"]}).astype({"chain": "category"})
    lightgbm, xgboost = (fit(F, TABLES["pandas, categories"]).export() for F in FRAMEWORKS.values())
    assert lightgbm.predict(frame) == lightgbm.predict(frame.assign(chain=pd.Categorical([None])))
    with pytest.raises(ValueError, match="train and valid dataset categorical_feature do not match"):
        lightgbm.predict(frame.astype({"chain": object}))
    with pytest.raises(lgb.basic.LightGBMError, match="Unsupported Arrow type: dictionary"):
        lightgbm.predict(TABLES["pyarrow, dictionary"])
    with pytest.raises(xgb.core.XGBoostError, match="Found a category not in the training set"):
        xgboost.predict(frame)
    with pytest.raises(ValueError, match=r"floating point dtype|size 0"):
        xgboost.predict(frame.assign(chain=pd.Categorical([None])))
    for plain in (lightgbm, xgboost):
        with pytest.raises(ValueError, match="dtypes"):
            plain.predict(frame.assign(price=["0.5"], chain=pd.Categorical(["Astra"])))
    for predict in (lightgbm.predict, lightgbm.booster_.predict):
        with pytest.raises(ValueError, match="Input data must be 2 dimensional and non empty"):
            predict(frame[:0])
    of_arrays = fit(LIGHTGBM, np.column_stack([PRICE, CODES])).export()
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        of_arrays.predict(np.empty((0, 2)))
    assert of_arrays.booster_.predict(np.empty((0, 2))).shape == (0,)
