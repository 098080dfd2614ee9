"""The classes of the examples hand batches to XGBoost and LightGBM: the models are those of all data in memory.

Features are rounded, so that each has fewer values than a framework has bins: the bins agree then.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import boostplug as bp

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from studies.speed.measuring.examples import example_class

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N_QUERIES, N_FEATURES, ROUNDS = 40, 5, 5
NAMES = [f"f{j}" for j in range(N_FEATURES)]
LOSSES = [bp.MPBoost(), bp.LambdaRank(), bp.AdaRank()]


@pytest.fixture(scope="module")
def whole():
    """Return X, y, sizes, and weights of queries and rows."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 30, N_QUERIES)
    n = sizes.sum()
    X = rng.normal(size=(n, N_FEATURES)).round(1).astype(np.float32)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    y = np.clip(np.round(np.nan_to_num(X[:, 0]) + rng.normal(size=n)), 0, 4)
    return X, y, sizes, rng.uniform(0.5, 2.0, N_QUERIES), rng.uniform(0.5, 2.0, n)


@pytest.fixture(scope="module")
def batches(whole, tmp_path_factory):
    """Return a function of a column of weights that reads files, which cut queries; ids are equal modulo 2^32."""
    X, y, sizes, query_weight, row_weight = whole
    folder = tmp_path_factory.mktemp("train")
    table = dict(zip(NAMES, X.T, strict=True)) | {
        "y": y,
        "q": np.repeat(2**33 * np.arange(N_QUERIES), sizes),
        "w": np.repeat(query_weight, sizes),
        "v": row_weight,
    }
    for i, rows in enumerate(np.array_split(np.arange(len(y)), 3)):
        pq.write_table(pa.table({name: values[rows] for name, values in table.items()}), folder / f"{i}.parquet")
    return lambda weight=None: bp.datasets.batches_by_query(
        folder, label="y", qid="q", weight=weight, rows=90, features=NAMES
    )


XGB = {"objective": "rank:pairwise", "nthread": 1, "base_score": 0.0, "disable_default_eval_metric": True}
MATRICES = ["QuantileDMatrix", "ExtMemQuantileDMatrix", "DMatrix"]


def matrix_of(kind, found, folder, **options):
    xgb = pytest.importorskip("xgboost")
    hands = example_class("out_of_core.py", "Batches")
    folder.mkdir(exist_ok=True)
    prefix = None if kind == "QuantileDMatrix" else str(folder / "cache")
    return getattr(xgb, kind)(hands(found, prefix), nthread=1, **options)


def test_xgboost_trains_the_same_model(whole, batches, tmp_path):
    xgb = pytest.importorskip("xgboost")
    X, y, sizes, query_weight, _ = whole
    plain = xgb.QuantileDMatrix(X, y, group=sizes, weight=query_weight, feature_names=NAMES, nthread=1)
    for kind, loss in zip(MATRICES, LOSSES, strict=True):
        matrix = matrix_of(kind, batches("w"), tmp_path / kind)
        assert np.diff(matrix.get_uint_info("group_ptr")).tolist() == sizes.tolist()
        assert np.array_equal(matrix.get_label(), y)
        np.testing.assert_allclose(matrix.get_weight(), query_weight, rtol=1e-6)
        assert matrix.feature_names == NAMES
        expected = xgb.train(XGB, plain, ROUNDS, obj=loss).inplace_predict(X)
        assert np.std(expected) > 0.01
        found = xgb.train(XGB, matrix, ROUNDS, obj=loss).inplace_predict(X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6, err_msg=f"{kind}, {loss}")


def dataset_of(data, **fields):
    lgb = pytest.importorskip("lightgbm")
    return lgb.Dataset(data, params={"num_threads": 1, "verbosity": -1, "min_data_in_leaf": 5}, **fields)


def fields_of(found, *, weighted=True):
    y, group, weight = zip(*((batch.y, batch.group, batch.weight) for batch in found), strict=True)
    more = {"weight": np.concatenate(weight)} if weighted else {}
    return {"label": np.concatenate(y), "group": np.concatenate(group), **more}


def test_lightgbm_trains_the_same_model(whole, batches, tmp_path):
    lgb = pytest.importorskip("lightgbm")
    rows = example_class("out_of_core_lightgbm.py", "Rows")
    params = {"num_threads": 1, "verbosity": -1, "min_data_in_leaf": 5, "deterministic": True}
    X, y, sizes, query_weight, row_weight = whole
    columns = {"": None, "w": np.repeat(query_weight, sizes), "v": row_weight}
    for loss, (name, weights) in zip(LOSSES, columns.items(), strict=True):
        found = batches(name or None)
        fields = fields_of(found, weighted=bool(name))
        dataset_of(rows(found), **fields).save_binary(tmp_path / f"{name}.bin")
        plain = dataset_of(X, label=y, group=sizes, weight=weights)
        expected = lgb.train({**params, "objective": loss}, plain, ROUNDS).predict(X)
        assert np.std(expected) > 0.01
        for data in (dataset_of(rows(found), **fields), dataset_of(tmp_path / f"{name}.bin")):
            model = lgb.train({**params, "objective": loss}, data, ROUNDS)
            assert np.array_equal(model.predict(X), expected), (name, loss)
