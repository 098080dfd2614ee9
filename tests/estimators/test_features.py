"""`features=`: the columns of a table that a ranker learns from; it ignores all others."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from adapters.harness import every_framework
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import boostplug as bp

NAMES = {"y": "grade", "qid": "query"}
CHOSEN = ["b", "kind", "a"]
TABLES = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.fixture(scope="module")
def frame():
    """Return 30 queries with a leak and a text that no ranker reads."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"]).assign(query=np.repeat(range(30), 10))
    frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[rng.integers(0, 3, 300)])
    frame["grade"] = np.clip(np.round(frame["a"] + frame["kind"].cat.codes), 0, 3).astype(int)
    return frame.assign(clicked=frame["grade"] > 0, title="text", weight=rng.random(300) + 0.5)


def ranker(F, **given):
    return F.ranker(**F.categories, **given)


@every_framework
@pytest.mark.parametrize("table", TABLES)
def test_all_other_columns_are_ignored(F, frame, table):
    alone = ranker(F).fit(frame[CHOSEN], frame["grade"], qid=frame["query"])
    whole = TABLES[table](frame)
    fitted = ranker(F, features=CHOSEN).fit(whole, **NAMES, eval_set=[whole], **F.quiet)
    scores = fitted.predict(whole)
    np.testing.assert_array_equal(scores, alone.predict(frame[CHOSEN]))
    later = TABLES[table](frame[["a", "b", "kind"]].assign(new="text"))  # other columns, in another order
    for one in (fitted, pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(whole, **NAMES)):
        assert one.features == CHOSEN
        np.testing.assert_array_equal(one.predict(later), scores)
    value = alone.score(frame[CHOSEN], frame["grade"], qid=frame["query"])
    assert fitted.score(whole) == bp.make_scorer(bp.NDCG(10))(fitted, whole, frame["grade"]) == pytest.approx(value)
    assert len(fitted.feature_importances_) == 3
    plain = fitted.export()
    assert "features" not in plain.get_params()
    np.testing.assert_array_equal(plain.predict(frame[CHOSEN]), scores)


@every_framework
def test_searches_folds_and_weights_have_them(F, frame):
    grid = {"features": [["clicked"], ["b"]]}
    folds = bp.group_folds(frame["query"], 2)
    search = GridSearchCV(ranker(F), grid, scoring=bp.make_scorer(bp.NDCG(10)), cv=folds)
    assert search.fit(frame, frame["grade"], qid="query").best_params_ == {"features": ["clicked"]}
    weighted = {**NAMES, "sample_weight": "weight"}
    mean = bp.fit_folds(ranker(F, features=CHOSEN), frame, **weighted, n_splits=2)
    scores = mean.predict(frame)
    np.testing.assert_array_equal(mean.predict(frame[CHOSEN]), scores)
    start = bp.LinearRanker(features=["a", "b"]).fit(frame, **NAMES)
    assert [*start.coefficients_["feature"]] == ["a", "b"]
    assert start.score(frame) == start.score(frame[["query", "grade", "b", "a"]])


@every_framework
def test_places_are_those_of_the_columns_as_passed(F, frame):
    falling = dict.fromkeys(frame.columns, 0) | {"a": -1}
    columns = [name for name in frame.columns if name != "title"]
    constraints = tuple(falling[name] for name in columns)
    fitted = ranker(F, features=["b", "a"], monotone_constraints=constraints).fit(frame[columns], **NAMES)
    steps = pd.DataFrame({"a": np.linspace(-2, 2, 50), "b": 0.0})
    assert (np.diff(fitted.predict(steps)) <= 0).all()


@every_framework
def test_what_is_no_column_is_refused(F, frame):
    for given, data, message in (
        (["clickd"], frame, "there is no column 'clickd' for features; .* did you mean clicked?"),
        ("a", frame, "features must be a list of names of columns; got 'a'"),
        (["a", "a"], frame, "features holds 'a' 2 times"),
        (["a"], frame[["a", "b"]].to_numpy(), "for features; X has no named columns; pass a DataFrame"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker(F, features=given).fit(data, frame["grade"], qid=frame["query"])
    fitted = ranker(F, features=["a", "b"]).fit(frame, **NAMES)
    with pytest.raises(ValueError, match="there is no column 'b' for features"):
        fitted.predict(frame[["a"]])
