"""What LightGBM alone does; what every framework does stands in tests/adapters/test_conformance.py."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import (
    GROUP,
    LOSS,
    QID,
    VQID,
    VX,
    VY,
    Spy,
    X,
    Y,
    gradient_of,
)

import boostplug as bp

lgb = pytest.importorskip("lightgbm")

PARAMS = {"verbosity": -1, "num_threads": 1, "num_leaves": 4, "min_data_in_leaf": 1}
RANKER = {"verbose": -1, "n_jobs": 1, "num_leaves": 4, "min_child_samples": 1, "n_estimators": 5}


@pytest.fixture
def spy():
    Spy.log.clear()
    yield Spy()
    Spy.log.clear()


def dataset(**changes):
    return lgb.Dataset(**{"data": X, "label": Y, "group": GROUP, "free_raw_data": False, **changes})


def train(loss=LOSS, rounds=5, data=None, params=None, **keywords):
    return lgb.train({**PARAMS, "objective": loss, **(params or {})}, data or dataset(), rounds, **keywords)


# --- cross-validation ---------------------------------------------------------------------------------------------


def test_subsets():
    data = dataset().construct()
    whole = data.subset(np.flatnonzero(QID < 12).tolist())
    assert train(data=whole).num_trees() == 5
    cut = data.subset(list(range(1, len(Y))))
    with pytest.raises(ValueError, match=r"cuts 1 queries in two \(query 0: .*the rows of complete queries"):
        train(data=cut)


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["num_threads", "n_jobs"])
def test_threads_are_those_of_the_dataset(spy, key):
    """Which has the parameters of its first training."""
    params = {k: v for k, v in PARAMS.items() if k != "num_threads"}
    data = lgb.Dataset(X, Y, group=GROUP, params={"verbosity": -1})
    for n in (2, 1):
        lgb.train({**params, "objective": spy, key: n}, data, 1)
        assert spy.log[-1].threads == 2


def test_removed_weights_are_seen():
    data = dataset(weight=np.arange(len(Y)) + 1.0).construct()
    before = gradient_of(data)
    data.set_field("weight", None)
    np.testing.assert_array_equal(gradient_of(data), gradient_of(dataset().construct()))
    assert not np.array_equal(gradient_of(data), before)


# --- errors -------------------------------------------------------------------------------------------------------


def ranker(**fit):
    model = bp.LGBMRanker(objective=LOSS, **RANKER, **fit.pop("of_ranker", {}))
    return model.fit(**{"X": X, "y": Y, "qid": QID, **fit})


NAMED = pd.DataFrame(X, columns=["a", "b c", "d", "e"])
PERMUTED = NAMED[["d", "a", "e", "b c"]]


@pytest.mark.parametrize("form", ["ranker", "path"])
def test_a_model_to_go_on_from_has_the_same_columns(form, tmp_path):
    """LightGBM goes by their places alone."""
    first = ranker(X=NAMED)
    first.booster_.save_model(tmp_path / "model.txt")
    model = {"ranker": first, "path": tmp_path / "model.txt"}[form]
    assert ranker(X=NAMED, init_model=model).booster_.num_trees() == 10
    assert ranker(X=X, init_model=model).booster_.num_trees() == 10
    with pytest.raises(ValueError, match="X beside init_model has the training set's columns in another order"):
        ranker(X=PERMUTED, init_model=model)
    with pytest.raises(ValueError, match="X beside init_model has 3 features, but the model is expecting 4"):
        ranker(X=X[:, :3], init_model=model)
    names = {"feature_name": list(PERMUTED)}
    with pytest.raises(ValueError, match="X beside init_model has the training set's columns in another order"):
        ranker(X=X, init_model=model, **names)


# --- too few rows for a split -------------------------------------------------------------------------------------

FEW = bp.datasets.make_ranking(n_queries=10, mean_list_size=12, random_state=0)


def fit_few(n, objective=LOSS, **params):
    """Fit on n rows, one query."""
    return bp.LGBMRanker(objective=objective, verbose=-1, n_jobs=1, n_estimators=3, **params).fit(
        FEW.X[:n], FEW.y[:n].astype(int), group=[n]
    )


def test_the_error_for_too_few_rows_names_the_minimum_of_a_leaf_and_a_value_that_trains():
    message = r"no split, since 20 rows are fewer than 2 × min_child_samples=20; pass a smaller one, such as "
    with pytest.raises(ValueError, match=message + "min_child_samples=2, or more rows"):
        fit_few(20)
    assert np.ptp(fit_few(20, min_child_samples=2).predict(FEW.X)) > 0


@pytest.mark.parametrize(
    ("objective", "params", "named"),
    [
        (LOSS, {"feature_pre_filter": False}, "min_child_samples=20"),
        ("lambdarank", {"min_data": 11}, "min_data=11"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*will be ignored:UserWarning", "ignore:Found `min_data:UserWarning")
def test_a_model_that_is_constant_for_too_few_rows_gets_a_warning(objective, params, named):
    with pytest.warns(UserWarning, match=f"the model is constant: LightGBM makes no split, since 20 rows .*{named};"):
        ranker = fit_few(20, objective, **params)
    assert np.ptp(ranker.predict(FEW.X)) == 0


@pytest.mark.filterwarnings("ignore:Found '(eval_at|ndcg_at)' in params")
@pytest.mark.parametrize("place", [{"fit": {"eval_at": [1, 3]}}, {"eval_at": (1, 3)}, {"ndcg_at": [1, 3]}])
def test_the_default_metric_is_ndcg_at_each_cut_off(place):
    place = dict(place)
    fit = place.pop("fit", {})
    sets = {"eval_set": [(VX, VY)], "eval_qid": [VQID]}
    ranker = bp.LGBMRanker(objective=bp.RankNet(), n_estimators=2, n_jobs=1, verbose=-1, min_child_samples=1, **place)
    assert [*ranker.fit(X, Y, qid=QID, **sets, **fit).evals_result_["valid_0"]] == ["NDCG@1", "NDCG@3"]
    with pytest.warns(
        UserWarning, match=r"eval_at=\[1, 3\] is for LightGBM's metrics; write cut-offs into the metrics"
    ):
        ranker.fit(X, Y, qid=QID, **sets, **fit, eval_metric=bp.MRR())
    with pytest.raises(ValueError, match="eval_at must be an integer of at least 1; got 0"):
        ranker.set_params(**dict.fromkeys(place, 0)).fit(X, Y, qid=QID, **sets, **{name: [0] for name in fit})


def test_callbacks_are_a_list():
    for one in (3, lgb.log_evaluation(0)):
        with pytest.raises(ValueError, match=r"callbacks must be a list; got .*; pass \[callback\]"):
            bp.LGBMRanker(objective=bp.RankNet()).fit(X, Y, qid=QID, callbacks=one)
        with pytest.raises(ValueError, match=r"callbacks must be a list; got .*; pass \[callback\]"):
            bp.XGBRanker(objective=bp.RankNet(), callbacks=one).fit(X, Y, qid=QID)


def test_the_best_round_is_the_model_though_some_rounds_find_no_split():
    """LightGBM's `best_iteration` counts rounds, and its `predict` reads trees, of which such rounds have none."""
    train, valid = (bp.datasets.make_ranking(15, random_state=seed) for seed in (0, 100))
    params = {"extra_trees": True, "colsample_bytree": 0.25, "num_leaves": 4, "n_jobs": 1, "verbose": -1}
    ranker = bp.LGBMRanker(objective=bp.CRR(), n_estimators=200, random_state=0, **params)
    stop = lgb.early_stopping(50, verbose=False)
    sets = {"eval_set": [(valid.X[:, :4], valid.y)], "eval_qid": [valid.qid], "callbacks": [stop]}
    ranker.fit(train.X[:, :4], train.y, qid=train.qid, **sets)
    (values,) = ranker.evals_result_["valid_0"].values()
    assert ranker.booster_.num_trees() < len(values)
    found = bp.NDCG(10).score(valid.y, ranker.predict(valid.X[:, :4]), qid=valid.qid)
    assert found == pytest.approx(max(values), abs=1e-12)


def test_lightgbm_counts_rounds_that_find_no_split():
    """Why `LGBMRanker` counts trees: once this fails, it need not."""
    train, valid = (bp.datasets.make_ranking(15, random_state=seed) for seed in (0, 100))
    params = {"objective": "lambdarank", "extra_trees": True, "feature_fraction": 0.25, "num_leaves": 4}
    params |= {"metric": "ndcg", "eval_at": 10, "num_threads": 1, "verbosity": -1}
    data = lgb.Dataset(train.X[:, :4], train.y, group=train.group)
    held = data.create_valid(valid.X[:, :4], valid.y, group=valid.group)
    booster = lgb.train(params, data, 200, [held], callbacks=[lgb.early_stopping(50, verbose=False)])
    assert booster.num_trees() < booster.best_iteration + 50
