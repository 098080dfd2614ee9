"""Each kind of column in each kind of table is read as in the plain array, or refused by name (what_gets_in.md)."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework, lgb, xgb
from inputs.columns import GRADE, KINDS, N_DOCUMENTS, N_QUERIES, NUMBERS, QUERY, TABLES

import boostplug as bp
from boostplug.data.files import read_table_file
from boostplug.data.tables import as_features

LIGHTGBM, XGBOOST = FRAMEWORKS.values()


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_read_as_its_plain_form_or_refused_by_name(table, tmp_path):
    table = TABLES[table]
    for name, kind in KINDS.items():
        if not table.holds(kind):
            continue
        X = read_table_file(table.build(kind, tmp_path)) if table.is_file else table.build(kind)
        becomes = (table.is_file and kind.becomes_in_files) or kind.becomes
        if becomes == "refused":
            with pytest.raises(ValueError, match=rf"(?=.*{'.c.' if table.named else '2'})(?=.*(drop|convert))"):
                as_features(X)
            continue
        X = as_features(X)
        found = X["c"] if hasattr(X, "iloc") else (X.toarray() if hasattr(X, "nnz") else X)[:, 2]
        plain = kind.reference()
        if becomes == "number" and kind.ordered is not None:  # Parquet has no categories of integers
            assert found.tolist() == kind.values()
        elif isinstance(plain, pd.Categorical):
            assert found.cat.ordered == plain.ordered, name
            assert [str(one) for one in found] == [str(one) for one in plain], name
        else:
            np.testing.assert_array_equal(np.asarray(found, float), plain, err_msg=name)


# --- every entrance reads tables that way --------------------------------------------------------------------------


def fitted(F, X, **more):
    return F.fit(bp.QBRank(), X, GRADE, qid=QUERY, **F.categories, **more)


def of_ranker(F, X):
    model = fitted(F, X, valid=(X, GRADE, QUERY))
    (curve,) = F.history(model).values()
    return [*curve, *model.predict(X), model.score(X, GRADE, qid=QUERY)]


def of_reference_ranker(X):
    model = bp.RankBoostRanker(n_estimators=3, random_state=0).fit(X, GRADE, qid=QUERY)
    return [*model.predict(X), model.score(X, GRADE, qid=QUERY)]


def of_clicks(X):
    log = bp.datasets.ClickLog(GRADE, group=[N_DOCUMENTS] * N_QUERIES, position=np.tile(range(1, 7), N_QUERIES))
    return fitted(LIGHTGBM, bp.RankingData.from_clicks(X, log).X).predict(X)


def of_comparison(X):
    options = {"baselines": "lambdarank", "rounds": 2, "seeds": 1, "progress": False, "jobs": 1, "num_threads": 1}
    return bp.compare(*[(X, GRADE, QUERY)] * 3, losses=[bp.QBRank()], **options).to_frame()["NDCG@10"]


ENTRANCES = {
    "LGBMRanker": partial(of_ranker, LIGHTGBM),
    "XGBRanker": partial(of_ranker, XGBOOST),
    "RankBoostRanker": of_reference_ranker,
    "RankingData": lambda X: fitted(LIGHTGBM, bp.RankingData(X, GRADE, qid=QUERY).X).predict(X),
    "RankingData.from_clicks": of_clicks,
    "compare": of_comparison,
}


@pytest.mark.filterwarnings("ignore:.*shares:UserWarning")
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_an_entrance_gives_the_scores_of_the_plain_table_or_refuses_before_training(entrance, monkeypatch):
    numbers = ENTRANCES[entrance]
    for kind in ("decimal", "categories of texts")[: 1 if entrance == "RankBoostRanker" else 2]:
        plain = np.asarray(numbers(pd.DataFrame({**NUMBERS, "c": KINDS[kind].reference()})), float)
        for table in ("pandas", "pandas, Arrow types", "polars", "pyarrow"):
            np.testing.assert_allclose(np.asarray(numbers(TABLES[table].build(KINDS[kind])), float), plain, atol=1e-6)
    for framework in (lgb, xgb):
        monkeypatch.setattr(framework.Booster, "update", None)  # nothing is trained
    for table in ("NumPy array", "pandas", "polars"):
        with pytest.raises(ValueError, match=r"(?=.*('c'|\b2\b))(?=.*(drop|convert))"):
            numbers(TABLES[table].build(KINDS["text"]))


def test_reference_rankers_refuse_categories_by_name():
    table = pd.DataFrame({**NUMBERS, "c": KINDS["categories of texts"].reference()})
    with pytest.raises(ValueError, match="'c': a reference ranker reads numbers, and no categories; drop the column"):
        bp.RankBoostRanker(n_estimators=1).fit(table, GRADE, qid=QUERY)


@every_framework
def test_validation_sets_and_score_refuse_by_the_columns_name(F):
    plain, text = (TABLES["pandas"].build(KINDS[kind]) for kind in ("int", "text"))
    for call in (
        lambda: fitted(F, plain, valid=(text, GRADE, QUERY)),
        lambda: fitted(F, plain).score(text, GRADE, qid=QUERY),
    ):
        with pytest.raises(ValueError, match=r"'c'.*drop"):
            call()
