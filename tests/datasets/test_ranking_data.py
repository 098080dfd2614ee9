"""`RankingData`: one form for data, checked."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import boostplug as bp
from boostplug.datasets import make_ranking

X = np.arange(10.0).reshape(5, 2)
Y = [2, 0, 1, 0, 1]
QID = ["a", "a", "b", "b", "b"]
FRAME = pd.DataFrame({"f": X[:, 0], "g": X[:, 1], "grade": Y, "qid": QID, "w": [1.0, 1, 2, 2, 2]})
FRAMES = {"pandas": FRAME, "polars": pl.from_pandas(FRAME), "pyarrow": pa.table(FRAME)}


def test_qid_and_group_are_known_whichever_is_given():
    by_id, by_size = bp.RankingData(X, Y, qid=QID), bp.RankingData(X, Y, group=[2, 3])
    for data in (by_id, by_size, bp.RankingData(X, Y, qid=QID, group=[2, 3])):
        assert data.group.tolist() == [2, 3]
        assert data.queries.boundaries.tolist() == [0, 2, 5]
        assert data.y.dtype == np.float64
        assert data.weight is data.feature_names is data.doc_ids is None
    assert by_id.qid.tolist() == QID
    assert by_size.qid.tolist() == [0, 0, 1, 1, 1]


def test_weights_of_queries_are_those_of_their_rows():
    for given in ([1, 2], [1, 1, 2, 2, 2]):
        data = bp.RankingData(X, Y, qid=QID, weight=given)
        assert data.weight.tolist() == [1, 1, 2, 2, 2]
        assert data.queries.query_weight.tolist() == [1, 2]
    assert bp.RankingData(X, Y, qid=QID, group=[2, 3], weight=[1, 2]).weight.tolist() == [1, 1, 2, 2, 2]


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind):
    frame = FRAMES[kind]
    data = bp.RankingData.from_frame(frame, label="grade", weight="w")
    assert data.feature_names == ("f", "g")
    np.testing.assert_array_equal(np.asarray(data.X), X)
    assert (data.y.tolist(), data.qid.tolist(), data.group.tolist()) == (Y, QID, [2, 3])
    assert data.weight.tolist() == [1, 1, 2, 2, 2]
    columns = ["f", "g", "qid"]
    other = bp.RankingData(frame.select(columns) if kind != "pandas" else frame[columns], frame["grade"])
    assert (other.feature_names, other.qid.tolist()) == (("f", "g"), QID)


def test_it_is_a_mapping_that_makes_itself_again():
    data = bp.RankingData(X, Y, qid=QID, weight=[1, 2], feature_names=["f", "g"], doc_ids=list("vwxyz"))
    for other in (bp.RankingData(**data), pickle.loads(pickle.dumps(data)), replace(data, y=data.y)):
        assert other is not data
        for name in data:
            assert np.array_equal(other[name], data[name]), name
    made = make_ranking(5, random_state=0)
    assert replace(made, y=2 * made.y).queries.labels.tolist() == (2 * made.y).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"qid": QID[:4], "group": [2, 3]}, "qid must have one id per row: got 4 for 5 labels"),
        ({"qid": QID, "y": None}, "y is None; pass the grade of each row"),
        ({"qid": QID, "feature_names": ["f", "f"]}, "feature_names holds 'f' 2 times"),
        ({"qid": QID, "feature_names": [1, 2]}, "feature_names must be 2 strings, one per feature; got [1, 2]"),
        ({"qid": QID, "X": FRAME[["f", "g"]], "feature_names": ["g", "f"]}, "are not the names of X's columns"),
        ({"qid": QID, "doc_ids": ["x"]}, "doc_ids must have one name per row (5); got 1"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    given = {"X": X, "y": Y, **arguments}
    with pytest.raises(ValueError, match=re.escape(message)):
        bp.RankingData(given.pop("X"), given.pop("y"), **given)
