"""What the rankers refuse, or warn of, because the frameworks take it silently or with a raw error."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from adapters.harness import FRAMEWORKS, GROUP, QID, VQID, VX, VY, X, Y, every_framework, lgb
from scipy.sparse import csr_matrix
from sklearn.model_selection import GroupKFold

import boostplug as bp
from boostplug.estimators import parameter_names

LIGHTGBM, XGBOOST = FRAMEWORKS.values()
TWO = [bp.NDCG(5), bp.NDCG(5)]

# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("F", "given", "message"),
    [
        (LIGHTGBM, {"init_model": 5}, "init_model must be a ranker, a Booster or a path; got 5"),
        (LIGHTGBM, {"application": "binary"}, "the objective is given twice: as objective and as application"),
        (LIGHTGBM, {"eval_names": ["a", "a"]}, "eval_names holds 'a' 2 times; rename or remove one"),
        (LIGHTGBM, {"metric": TWO}, "eval_metric holds 'NDCG@5' 2 times; rename or remove one"),
        (XGBOOST, {"metric": TWO}, "eval_metric holds 'NDCG@5' 2 times; rename or remove one"),
        (XGBOOST, {"patience": 0}, "early_stopping_rounds must be an integer of at least 1"),
    ],
)
def test_what_the_framework_would_take(F, given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        F.fit(valid=([VX, VX], [VY, VY], [VQID, VQID]), **given)


@every_framework
@pytest.mark.parametrize("loss", [bp.NDCGBoost(), bp.CRR(), bp.ListNet()], ids=lambda loss: type(loss).__name__)
def test_pairs_beside_a_loss_that_takes_none(F, loss):
    with pytest.raises(ValueError, match=r"pairs cannot be used by objective .*; pass a loss that takes them"):
        F.fit(loss, y=None, pairs=bp.Pairs([0], [1]))


def test_two_places_where_a_training_starts():
    with pytest.raises(ValueError, match="LightGBM starts from init_model, not from init_score"):
        LIGHTGBM.fit(init_model=LIGHTGBM.fit(), init_score=np.zeros(len(Y)))


def test_another_booster_or_base_score_than_that_of_the_model_to_go_on_from():
    start = XGBOOST.fit(base_score=0.25)
    for params, message in (
        ({"booster": "dart"}, "booster='dart' would drop the trees of xgb_model; pass booster='gbtree'"),
        ({"base_score": 0.5}, "base_score=0.5 differs from that of xgb_model, 0.25; leave out base_score"),
    ):
        with pytest.raises(ValueError, match=message):
            XGBOOST.fit(xgb_model=start, **params)
    for params in ({}, {"base_score": 0.25}):
        assert XGBOOST.n_rounds(XGBOOST.fit(xgb_model=start, **params)) == 10


def test_without_lightgbms_own_list_names_are_not_checked(monkeypatch):
    """The list is private (docs/explanation/framework_internals.md)."""

    def forget():
        for kept in vars(parameter_names).values():
            getattr(kept, "cache_clear", int)()

    monkeypatch.delattr(lgb.basic._ConfigAliases, "_get_all_param_aliases")
    forget()
    assert LIGHTGBM.fit(num_leafs=3).n_estimators_ == 5
    monkeypatch.undo()
    forget()


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_recipes_beside_plain_lightgbm():
    """LightGBM's own ranker with our metric, its folds by scikit-learn, and nested names, which it ignores."""

    def ndcg(y, scores, weight, group):
        return "NDCG@10", bp.NDCG(10).score(y, scores, group=group), True

    params = {"objective": bp.QBRank(), "metric": "None", "n_jobs": 1, "verbose": -1}
    ranker, nested = (lgb.LGBMRanker(n_estimators=2, **params) for _ in range(2))
    ranker.fit(X, Y, group=GROUP, eval_set=[(X, Y)], eval_group=[GROUP], eval_metric=ndcg)
    assert ranker.evals_result_["training"]["NDCG@10"][-1] == bp.NDCG(10).score(Y, ranker.predict(X), qid=QID)
    nested.set_params(objective__margin=1.0).fit(X, Y, group=GROUP)
    np.testing.assert_array_equal(nested.predict(X), ranker.predict(X))
    log = lgb.cv(params, lgb.Dataset(X, Y, group=GROUP), 2, folds=GroupKFold(2), feval=bp.NDCG(5))
    assert len(log["valid NDCG@5-mean"]) == 2


# --- tables -------------------------------------------------------------------------------------------------------


def test_order_of_columns_that_lightgbm_is_told_not_to_check():
    """`predict` then takes the columns of a DataFrame by position."""
    table = pd.DataFrame(X, columns=list("abcd"))
    model = LIGHTGBM.fit(x=table)
    for switch in ({"validate_features": False}, {"predict_disable_shape_check": True}):
        other = model.predict(table[list("dcba")], **switch)
        np.testing.assert_array_equal(other, model.predict(table[list("dcba")].set_axis(list("abcd"), axis=1)))


@pytest.mark.parametrize(
    "ranker",
    [LIGHTGBM.ranker(), XGBOOST.ranker(), bp.LinearRanker(), bp.MPBoostRanker(n_estimators=1)],
    ids=lambda one: type(one).__name__,
)
def test_lazy_frames_are_refused_with_the_remedy(ranker):
    frame = pd.DataFrame(X).add_prefix("f")
    ranker.fit(frame, Y, qid=QID)
    lazy = pl.from_pandas(frame).lazy()
    for call in (
        lambda: ranker.predict(lazy),
        lambda: ranker.score(lazy, Y, qid=QID),
        lambda: ranker.fit(lazy, Y, qid=QID),
        lambda: bp.split_queries(lazy, qid=QID),
        lambda: bp.RankingData(lazy, Y, qid=QID),
    ):
        with pytest.raises(ValueError, match=r"is a LazyFrame, which is not computed yet; pass (X|data).collect"):
            call()


SPARSE = r"X is sparse and the training set is dense: .*; pass tables of one kind, or train the ranker with missing=0"


def test_xgboost_refuses_sparse_tables_beside_dense_ones():
    """To XGBoost absent entries are missing, and zeros are not."""
    model, of_sparse = XGBOOST.fit(), XGBOOST.fit(x=csr_matrix(X))
    for call, message in (
        (lambda: model.predict(csr_matrix(X)), SPARSE),
        (lambda: of_sparse.predict(X), "X is dense and the training set is sparse"),
        (lambda: XGBOOST.fit(valid=(csr_matrix(VX), VY, VQID)), r"eval_set\[0\]'s " + SPARSE),
        (lambda: XGBOOST.fit(x=csr_matrix(X), xgb_model=model), "X beside xgb_model " + SPARSE.removeprefix("X ")),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    same = XGBOOST.fit(missing=0)
    np.testing.assert_array_equal(same.predict(csr_matrix(X)), same.predict(X))
    assert model.predict(csr_matrix(X), validate_features=False).shape == (len(X),)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_compare_refuses_sparse_parts_beside_dense_ones_for_xgboost(place):
    parts = [bp.RankingData(csr_matrix(X) if i == place else X, Y, qid=QID) for i in range(3)]
    with pytest.raises(ValueError, match=r"(valid|test): X is (sparse|dense) and the training set is (sparse|dense)"):
        bp.compare(*parts, frameworks="xgboost", losses=[], seeds=1)


# --- labels and weights -------------------------------------------------------------------------------------------


@every_framework
def test_labels_beyond_single_precision(F):
    for of_set, given in (
        ("", {"y": np.where(Y.max() == Y, 1e39, Y)}),
        (r"eval_set\[0\]'s ", {"valid": (VX, np.r_[VY[:-1], 1e39], VQID)}),
    ):
        with pytest.raises(ValueError, match=rf"{of_set}labels\[\d+\] = 1e\+39 is beyond single precision \(1e38\)"):
            F.fit(**given)


EQUAL = np.where(Y.max() == Y, 2e9, Y + 1e9)  # but for the largest, equal in single precision


@every_framework
def test_a_warning_says_that_single_precision_makes_labels_equal(F):
    with pytest.warns(UserWarning, match="labels such as .* are equal in single precision, .*; subtract an offset"):
        F.fit(bp.RankNet(), y=EQUAL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.fit(bp.RankNet(), y=Y + 0.1)  # rounded, and still different


def test_compare_warns_of_labels_that_single_precision_makes_equal():
    asked = {"losses": bp.RankNet(), "baselines": [], "frameworks": "lightgbm", "rounds": 1, "seeds": 1}
    asked |= {"metric": "SpearmanRho", "metrics": "SpearmanRho"}
    result = bp.compare(*(bp.RankingData(X, EQUAL, qid=QID) for _ in range(3)), **asked)
    assert any("equal in single precision" in text for text in result.document["warnings"])


@pytest.mark.parametrize("objective", ["lambdarank", "rank_xendcg", bp.QBRank()])
def test_labels_without_a_gain_in_lightgbm(objective):
    labels = np.arange(len(Y)) + 30.0
    with pytest.raises(ValueError, match=r"for labels up to 30; rescale .* label_gain=.* gain=.linear"):
        LIGHTGBM.fit(objective, y=labels, valid=(X, labels, QID), metric="ndcg")


@pytest.mark.parametrize("values", ["label", "weight"])
def test_what_lightgbm_would_clip_to_1e38(values):
    fields = {"label": Y.astype(float), "weight": np.ones(len(Y))}
    fields[values][3] = np.inf
    with pytest.raises(ValueError, match=rf"{values}\[3\] = .* is infinite to LightGBM; pass finite"):
        lgb.train({"objective": bp.RankNet(), "verbose": -1}, lgb.Dataset(X, group=GROUP, **fields), 1)


@every_framework
def test_weights_come_to_the_framework_over_their_mean(F):
    """In single precision 1e60 is infinite."""
    weight = np.linspace(0.5, 2.0, len(Y))
    expected, large = (F.fit(sample_weight=unit * weight).predict(X) for unit in (1.0, 1e60))
    assert np.ptp(expected) > 0.0
    np.testing.assert_allclose(large, expected, rtol=0, atol=1e-6)
