"""Batches of whole queries in XGBoost and LightGBM: the models are those of all data in memory.

Features are rounded, so that each has fewer values than a framework has bins: the bins agree then.
"""

import numpy as np
import pytest

import boostplug as bp
from boostplug.datasets import batches_by_query
from boostplug.losses import LOSSES as LOSSES_BY_NAME

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N_QUERIES, N_FEATURES, ROUNDS = 40, 5, 5
NAMES = [f"f{j}" for j in range(N_FEATURES)]
FIRST = [variants[0] for variants in LOSSES_BY_NAME.values() if not variants[0].needs_position]
LOSSES = [bp.MPBoost() if isinstance(loss, bp.MPBoost) else loss for loss in FIRST]


@pytest.fixture(scope="module")
def whole():
    """Return X, y, sizes and weights of queries, whose ids are one modulo 2^32."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 30, N_QUERIES)
    n = sizes.sum()
    X = rng.normal(size=(n, N_FEATURES)).round(1).astype(np.float32)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    y = np.clip(np.round(np.nan_to_num(X[:, 0]) + rng.normal(size=n)), 0, 4)
    return X, y, sizes, rng.uniform(0.5, 2.0, N_QUERIES), rng.uniform(0.5, 2.0, n)


@pytest.fixture(scope="module")
def folder(whole, tmp_path_factory):
    """Return a folder of files that cut queries."""
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
    return folder


def batches(folder, weight=None, rows=90):
    found = batches_by_query(folder, label="y", qid="q", weight=weight, rows=rows, features=NAMES)
    assert len(found) > 3 or rows > 90
    return found


# --- XGBoost -------------------------------------------------------------------------------------------------------

PARAMETERS = {"objective": "rank:pairwise", "nthread": 1, "base_score": 0.0, "disable_default_eval_metric": True}
MATRICES = ["QuantileDMatrix", "ExtMemQuantileDMatrix", "DMatrix"]


def matrix_of(kind, found, folder, **options):
    xgb = pytest.importorskip("xgboost")
    prefix = None if kind == "QuantileDMatrix" else folder / "cache"
    return getattr(xgb, kind)(found.data_iter(cache_prefix=prefix), nthread=1, **options)


def in_xgboost(whole, *, weighted=False):
    xgb = pytest.importorskip("xgboost")
    X, y, sizes, query_weight, _ = whole
    weight = query_weight if weighted else None
    return xgb.QuantileDMatrix(X, y, group=sizes, weight=weight, feature_names=NAMES, nthread=1)


def xgboost_scores(loss, matrix, X):
    xgb = pytest.importorskip("xgboost")
    booster = xgb.train(PARAMETERS, matrix, ROUNDS, obj=loss)
    return booster.inplace_predict(X)


# Each loss and each kind of matrix, with weights and without.
@pytest.mark.parametrize(("kind", "loss"), [(MATRICES[i % len(MATRICES)], loss) for i, loss in enumerate(LOSSES)])
@pytest.mark.parametrize("weight", [None, "w"])
def test_xgboost_trains_the_same_model(kind, loss, weight, whole, folder, tmp_path):
    matrix = matrix_of(kind, batches(folder, weight), tmp_path)
    expected = xgboost_scores(loss, in_xgboost(whole, weighted=weight is not None), whole[0])
    assert np.std(expected) > 0.01
    np.testing.assert_allclose(xgboost_scores(loss, matrix, whole[0]), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", MATRICES)
def test_a_matrix_of_batches_holds_every_query_label_and_weight(kind, whole, folder, tmp_path):
    _, y, sizes, query_weight, _ = whole
    matrix = matrix_of(kind, batches(folder, "w"), tmp_path)
    assert np.diff(matrix.get_uint_info("group_ptr")).tolist() == sizes.tolist()
    assert np.array_equal(matrix.get_label(), y)
    assert np.array_equal(matrix.get_weight(), query_weight.astype(np.float32))
    assert matrix.feature_names == NAMES
    scores = np.random.default_rng(1).normal(size=len(y)).astype(np.float32)
    queries = bp.Queries(y, group=sizes, weight=query_weight.astype(np.float32))
    for metric in (bp.NDCG(10), bp.MAP(), bp.PairError()):
        assert metric(scores, matrix)[1] == pytest.approx(metric(scores, queries), rel=1e-12)


@pytest.mark.parametrize("kind", MATRICES)
def test_validation_and_early_stopping_on_batches(kind, whole, folder, tmp_path):
    xgb = pytest.importorskip("xgboost")

    def history(train, valid):
        found = {}
        xgb.train(
            PARAMETERS | {"eta": 1.0},
            train,
            30,
            obj=bp.MPBoost(),
            evals=[(valid, "valid")],
            custom_metric=bp.NDCG(3),
            early_stopping_rounds=3,
            evals_result=found,
            verbose_eval=False,
        )
        return found["valid"]["pre_NDCG@3"]

    X, y, sizes, *_ = whole
    few = sizes[:15].sum()
    path = tmp_path / "valid.parquet"
    columns = dict(zip(NAMES, X[:few].T, strict=True))
    pq.write_table(pa.table(columns | {"y": y[:few], "q": np.repeat(np.arange(15), sizes[:15])}), path)
    valid = batches(path, rows=50)
    train = matrix_of(kind, batches(folder), tmp_path)
    options = {} if kind == "DMatrix" else {"ref": train}
    found = history(train, matrix_of(kind, valid, tmp_path, **options))
    plain = in_xgboost(whole)
    expected = history(plain, xgb.QuantileDMatrix(X[:few], y[:few], group=sizes[:15], feature_names=NAMES, ref=plain))
    assert 3 < len(found) < 30
    assert found == pytest.approx(expected, abs=1e-9)


def test_caches_go_with_their_matrix(folder, tmp_path):
    pytest.importorskip("xgboost")
    matrix = matrix_of("ExtMemQuantileDMatrix", batches(folder), tmp_path)
    assert [path.name.startswith("cache") for path in tmp_path.iterdir()] == [True]
    del matrix
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("rows", [1, 90, 10**6])
def test_weights_that_differ_within_a_query_are_refused_by_xgboost(rows, folder):
    found = batches(folder, "v", rows)
    with pytest.raises(ValueError, match=r"the weights of query 0 differ, and a DMatrix has one weight per query"):
        matrix_of("QuantileDMatrix", found, folder)


# --- LightGBM ------------------------------------------------------------------------------------------------------


def dataset_of(data, **fields):
    lgb = pytest.importorskip("lightgbm")
    params = {"num_threads": 1, "verbosity": -1, "min_data_in_leaf": 5}
    return lgb.Dataset(data, params=params, **fields)


def lightgbm_scores(loss, data, X):
    lgb = pytest.importorskip("lightgbm")
    params = {"objective": loss, "num_threads": 1, "verbosity": -1, "min_data_in_leaf": 5, "deterministic": True}
    return lgb.train(params, data, ROUNDS).predict(X)


@pytest.mark.parametrize(("weight", "loss"), [((None, "w", "v")[i % 3], loss) for i, loss in enumerate(LOSSES)])
def test_lightgbm_trains_the_same_model(loss, weight, whole, folder, tmp_path):
    X, y, sizes, query_weight, row_weight = whole
    found = batches(folder, weight)
    weights = {None: None, "w": np.repeat(query_weight, sizes), "v": row_weight}[weight]
    expected = lightgbm_scores(loss, dataset_of(X, label=y, group=sizes, weight=weights), X)
    assert np.std(expected) > 0.01
    assert np.array_equal(lightgbm_scores(loss, dataset_of(found.sequence(), **found.fields()), X), expected)

    dataset_of(found.sequence(), **found.fields()).save_binary(tmp_path / "train.bin")
    kept = dataset_of(tmp_path / "train.bin").construct()
    assert np.diff(kept.get_field("group")).tolist() == sizes.tolist()
    assert np.array_equal(kept.get_field("label"), y)
    assert weights is None or np.array_equal(kept.get_field("weight"), weights.astype(np.float32))
    assert np.array_equal(lightgbm_scores(loss, kept, X), expected)


def test_validation_on_batches_in_lightgbm(whole, folder):
    lgb = pytest.importorskip("lightgbm")
    X, y, sizes, *_ = whole
    train, valid = batches(folder), batches(folder, rows=50)
    data = dataset_of(train.sequence(), **train.fields())
    names = valid.fields()
    names.pop("feature_name")
    found = {}
    booster = lgb.train(
        {"objective": bp.MPBoost(), "num_threads": 1, "verbosity": -1, "metric": "None"},
        data,
        ROUNDS,
        valid_sets=[dataset_of(valid.sequence(), reference=data, **names)],
        feval=bp.NDCG(5),
        callbacks=[lgb.record_evaluation(found)],
    )
    expected = bp.NDCG(5)(booster.predict(X), bp.Queries(y, group=sizes))
    assert found["valid_0"]["NDCG@5"][-1] == pytest.approx(expected)
