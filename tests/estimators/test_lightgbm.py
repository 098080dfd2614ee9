"""What LightGBM alone does; what every framework does stands in tests/adapters/test_conformance.py."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, GROUP, LOSS, QID, VALID, Spy, X, Y, gradient_of

import boostplug as bp

LIGHTGBM = FRAMEWORKS["lightgbm"]


def test_subsets():
    data = LIGHTGBM.data()
    whole = data.subset(np.flatnonzero(QID < 12).tolist())
    assert LIGHTGBM.train(LOSS, whole)[0].num_trees() == 5
    with pytest.raises(ValueError, match=r"cuts 1 queries in two \(query 0"):
        LIGHTGBM.train(LOSS, data.subset(list(range(1, len(Y)))))


@pytest.mark.parametrize("key", ["num_threads", "n_jobs"])
def test_threads_are_those_of_the_dataset(key):
    """Which has the parameters of its first training."""
    data = lgb.Dataset(X, Y, group=GROUP, params={"verbosity": -1})
    for n in (2, 1):
        lgb.train({"objective": Spy(), "verbosity": -1, **LIGHTGBM.trees, key: n}, data, 1)
        assert Spy.log[-1].threads == 2
    Spy.log.clear()


def test_removed_weights_are_seen():
    data = LIGHTGBM.data(weight=np.arange(len(GROUP)) + 1.0)
    before = gradient_of(data)
    data.set_field("weight", None)
    np.testing.assert_array_equal(gradient_of(data), gradient_of(LIGHTGBM.data()))
    assert not np.array_equal(gradient_of(data), before)


NAMED = pd.DataFrame(X, columns=["a", "b c", "d", "e"])
PERMUTED = NAMED[["d", "a", "e", "b c"]]


@pytest.mark.parametrize("form", ["ranker", "path"])
def test_a_model_to_go_on_from_has_the_same_columns(form, tmp_path):
    """LightGBM goes by their places alone."""
    first = LIGHTGBM.fit(x=NAMED)
    first.booster_.save_model(tmp_path / "model.txt")
    model = {"ranker": first, "path": tmp_path / "model.txt"}[form]
    for x in (NAMED, X):
        assert LIGHTGBM.n_rounds(LIGHTGBM.fit(x=x, init_model=model)) == 10
    for x, more, text in (
        (PERMUTED, {}, "X beside init_model has the training set's columns in another order"),
        (X, {"feature_name": list(PERMUTED)}, "X beside init_model has the training set's columns in another order"),
        (X[:, :3], {}, "X beside init_model has 3 features, but the model is expecting 4"),
    ):
        with pytest.raises(ValueError, match=text):
            LIGHTGBM.fit(x=x, init_model=model, **more)


# --- too few rows for a split -------------------------------------------------------------------------------------

FEW = bp.datasets.make_ranking(n_queries=10, mean_list_size=12, random_state=0)


def fit_few(n, objective=LOSS, **params):
    """Fit on n rows, one query."""
    ranker = bp.LGBMRanker(objective=objective, verbose=-1, n_jobs=1, n_estimators=3, **params)
    return ranker.fit(FEW.X[:n], FEW.y[:n].astype(int), group=[n])


def test_the_error_for_too_few_rows_names_the_minimum_of_a_leaf_and_a_value_that_trains():
    message = r"no split, since 20 rows are fewer than 2 × min_child_samples=20; pass a smaller one, such as "
    with pytest.raises(ValueError, match=message + "min_child_samples=2, or more rows"):
        fit_few(20)
    assert np.ptp(fit_few(20, min_child_samples=2).predict(FEW.X)) > 0


@pytest.mark.parametrize(
    ("objective", "params", "named"),
    [(LOSS, {"feature_pre_filter": False}, "min_child_samples=20"), ("lambdarank", {"min_data": 11}, "min_data=11")],
)
@pytest.mark.filterwarnings("ignore:.*will be ignored:UserWarning", "ignore:Found `min_data:UserWarning")
def test_a_model_that_is_constant_for_too_few_rows_gets_a_warning(objective, params, named):
    with pytest.warns(UserWarning, match=f"the model is constant: LightGBM makes no split, since 20 rows .*{named};"):
        ranker = fit_few(20, objective, **params)
    assert np.ptp(ranker.predict(FEW.X)) == 0


@pytest.mark.filterwarnings("ignore:Found '(eval_at|ndcg_at)' in params")
@pytest.mark.parametrize(
    ("name", "of_ranker"), [("eval_at", {}), ("eval_at", {"eval_at": (1, 3)}), ("ndcg_at", {"ndcg_at": [1, 3]})]
)
def test_the_default_metric_is_ndcg_at_each_cut_off(name, of_ranker):
    def fit(metric=None):
        if of_ranker:
            return LIGHTGBM.fit(bp.RankNet(), metric=metric, valid=VALID, **{name: of_ranker[name]})
        return LIGHTGBM.fit(bp.RankNet(), metric=metric, valid=VALID, eval_at=[1, 3])

    assert [*LIGHTGBM.history(fit())] == ["NDCG@1", "NDCG@3"]
    with pytest.warns(UserWarning, match=r"eval_at=\[1, 3\] is for LightGBM's metrics; write cut-offs"):
        fit(bp.MRR())


def test_the_best_round_is_the_model_though_some_rounds_find_no_split():
    """LightGBM's `best_iteration` counts rounds, and its `predict` reads trees, of which such rounds have none."""
    train, valid = (bp.datasets.make_ranking(15, random_state=seed) for seed in (0, 100))
    few_splits = {"extra_trees": True, "num_leaves": 4, "num_threads": 1, "verbose": -1}
    ranker = bp.LGBMRanker(objective=bp.CRR(), n_estimators=200, random_state=0, colsample_bytree=0.25, **few_splits)
    callbacks = [lgb.early_stopping(50, verbose=False)]
    sets = {"eval_set": [(valid.X[:, :4], valid.y)], "eval_qid": [valid.qid], "callbacks": callbacks}
    ranker.fit(train.X[:, :4], train.y, qid=train.qid, **sets)
    (values,) = ranker.evals_result_["valid_0"].values()
    assert ranker.booster_.num_trees() < len(values)
    found = bp.NDCG(10).score(valid.y, ranker.predict(valid.X[:, :4]), qid=valid.qid)
    assert found == pytest.approx(max(values), abs=1e-12)
    # Why `LGBMRanker` counts trees: once this fails, it need not.
    data = lgb.Dataset(train.X[:, :4], train.y, group=train.group)
    held = data.create_valid(valid.X[:, :4], valid.y, group=valid.group)
    params = {"objective": "lambdarank", "feature_fraction": 0.25, "metric": "ndcg", "eval_at": 10, **few_splits}
    booster = lgb.train(params, data, 200, [held], callbacks=callbacks)
    assert booster.num_trees() < booster.best_iteration + 50
