"""Tables of features, in every form that users have them in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from boostplug.data.tables import as_features, is_frame, schema_of, split_columns, without_columns

VALUES = {"a": [1.5, 2.5, np.nan], "b": [1, 2, 3]}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, nan_to_null=True),
    "pyarrow": lambda columns: pa.table(pd.DataFrame(columns)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_values_and_names(kind):
    X = as_features(FRAMES[kind](VALUES))
    assert schema_of(X) == (2, ("a", "b"), {}, False, "the model")
    np.testing.assert_array_equal(np.asarray(X, dtype=float), [[1.5, 1], [2.5, 2], [np.nan, 3]])
    assert isinstance(X, pd.DataFrame)


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_are_split_off(kind):
    frame = FRAMES[kind]({**VALUES, "qid": ["x", "x", "y"]})
    assert is_frame(frame)
    rest, (b, qid) = split_columns(frame, ["b", "qid"])
    assert (list(np.asarray(b)), list(np.asarray(qid))) == ([1, 2, 3], ["x", "x", "y"])
    assert schema_of(as_features(rest)).names == ("a",)
    assert without_columns(frame, ["qid", "a", "z"]).shape == (3, 1)


def test_single_precision_stays():
    assert as_features(pl.DataFrame({"a": np.float32([1, 2])})).dtypes["a"] == np.float32
    assert as_features(np.float32([[1], [2]])).dtype == np.float32
    assert as_features([[1, 2]]).dtype == np.float64


def test_arrays_sparse_matrices_and_plain_frames_are_not_copied():
    for X in (np.eye(3, dtype=np.int8), csr_matrix(np.eye(3)), pd.DataFrame(np.eye(3))):
        assert as_features(X) is X
        assert not is_frame(np.eye(3))


def test_the_users_frame_stays():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]})
    read = as_features(frame)
    assert (str(frame.dtypes["a"]), str(read.dtypes["a"])) == ("Int64", "float64")
    assert np.shares_memory(read["b"].to_numpy(), frame["b"].to_numpy())
