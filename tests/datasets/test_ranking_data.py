"""`RankingData`: one form for data, checked."""

import copy
import pickle
from collections.abc import Mapping
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


def arrays_of(data):
    """Yield the names and arrays of data and of their queries, without the features."""
    for name, value in getattr(data, "__dict__", data).items():
        if isinstance(value, np.ndarray) and name != "X":
            yield name, value
        elif isinstance(value, (bp.Queries, bp.Pairs, Mapping)):
            yield from arrays_of(value)


Y_GIVEN, QID_GIVEN, NAMES = np.array(Y, float), np.array(QID), np.array(list("vwxyz"))
OF_ROWS = {"weight": np.arange(1.0, 6.0), "position": np.arange(1, 6), "labels": {"sale": Y_GIVEN}}
OF_CLICKS = {"position": range(1, 6), "query": QID_GIVEN, "document": NAMES, "ranker": NAMES}
PAIRS = bp.Pairs([0], [1])
MADE = {
    "RankingData": lambda: bp.RankingData(X, Y_GIVEN, qid=QID_GIVEN, doc_ids=NAMES, **OF_ROWS),
    "group": lambda: bp.RankingData(X, Y, group=[2, 3]),
    "frame": lambda: bp.RankingData.from_frame(FRAME, label="grade", weight="w"),
    "make_ranking": lambda: make_ranking(5, random_state=0),
    "load_bundled": lambda: bp.datasets.load_bundled().train,
    "ClickLog": lambda: bp.clicks.ClickLog(Y_GIVEN > 0, qid=QID_GIVEN, **OF_CLICKS),
    "pages": lambda: MADE["ClickLog"]().pages([1]),
    "Queries": lambda: bp.Queries(Y_GIVEN, qid=QID_GIVEN, labelled=Y_GIVEN > 0, pairs=PAIRS),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_data_in_memory_stay_as_they_are(make):
    """A grade changed in place would be seen by some readers only: losses and `compare` read `queries`."""
    data = make()
    for one in (data, pickle.loads(pickle.dumps(data)), copy.copy(data), copy.deepcopy(data)):
        arrays = [*arrays_of(one), *arrays_of(getattr(one, "queries", {}))]
        assert len(arrays) >= 3
        assert [name for name, array in arrays if array.flags.writeable] == []
    assert all(given.flags.writeable for given in (X, Y_GIVEN, QID_GIVEN, NAMES))
    for given in (Y_GIVEN, QID_GIVEN, NAMES):
        assert not any(np.shares_memory(given, array) for _, array in arrays_of(data))
