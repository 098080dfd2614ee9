"""Tables of features, in every form that users have them in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from boostplug.data.tables import features_of, is_frame, split_columns, without_qid

VALUES = {"a": [1.5, 2.5, np.nan], "b": [1, 2, 3]}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, nan_to_null=True),
    "pyarrow": lambda columns: pa.table(pd.DataFrame(columns)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_values_and_names(kind):
    X, table = features_of(FRAMES[kind](VALUES))
    assert table == (3, 2, ("a", "b"), {}, False)
    np.testing.assert_array_equal(np.asarray(X, dtype=float), [[1.5, 1], [2.5, 2], [np.nan, 3]])
    assert isinstance(X, pd.DataFrame if kind == "pandas" else np.ndarray)  # pandas may hold categories


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_are_split_off(kind):
    frame = FRAMES[kind]({**VALUES, "qid": ["x", "x", "y"]})
    assert is_frame(frame)
    rest, qid = without_qid(frame)
    assert features_of(rest)[1].names == ("a", "b")
    assert list(np.asarray(qid)) == ["x", "x", "y"]
    rest, (b, a) = split_columns(frame, ["b", "a"])
    assert (list(np.asarray(b)), list(np.asarray(a))[:2]) == ([1, 2, 3], [1.5, 2.5])
    assert without_qid(rest)[0].shape == (3, 0)


def test_single_precision_stays():
    assert features_of(pl.DataFrame({"a": np.float32([1, 2])}))[0].dtype == np.float32
    assert features_of(np.float32([[1], [2]]))[0].dtype == np.float32
    assert features_of([[1, 2]])[0].dtype == np.float64


def test_arrays_and_sparse_matrices_are_not_copied():
    for X in (np.eye(3, dtype=np.int8), csr_matrix(np.eye(3)), pd.DataFrame(np.eye(3))):
        assert features_of(X)[0] is X
        assert not is_frame(np.eye(3))
