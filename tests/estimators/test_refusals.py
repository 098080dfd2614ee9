"""What docs/compatibility.md says that the rankers refuse, because the frameworks take it silently."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import GROUP, QID, VQID, VX, VY, X, Y

import boostplug as bp
from boostplug.estimators import parameter_names

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

KINDS = {"LGBMRanker": (bp.LGBMRanker, {"verbose": -1}), "XGBRanker": (bp.XGBRanker, {})}
VALID = {"eval_set": [(VX, VY), (VX, VY)], "eval_qid": [VQID, VQID]}
TWO = [bp.NDCG(5), bp.NDCG(5)]
both = pytest.mark.parametrize("name", KINDS)


def fit(name, /, params=None, **arguments):
    kind, more = KINDS[name]
    return kind(**{"objective": bp.RankNet(), "n_estimators": 2, "n_jobs": 1, **more, **(params or {})}).fit(
        **{"X": X, "y": Y, "qid": QID, **arguments}
    )


@pytest.mark.parametrize(
    ("name", "params", "arguments", "message"),
    [
        ("LGBMRanker", {}, {"init_model": 5}, "init_model must be a ranker, a Booster or a path; got 5"),
        ("LGBMRanker", {"application": "binary"}, {}, "the objective is given twice: as objective and as application"),
        ("LGBMRanker", {}, {**VALID, "eval_names": ["a", "a"]}, "eval_names holds 'a' 2 times; rename or remove one"),
        ("LGBMRanker", {}, {**VALID, "eval_metric": TWO}, "eval_metric holds 'NDCG@5' 2 times; rename or remove one"),
        ("XGBRanker", {"eval_metric": TWO}, VALID, "eval_metric holds 'NDCG@5' 2 times; rename or remove one"),
        ("XGBRanker", {"early_stopping_rounds": 0}, VALID, "early_stopping_rounds must be an integer of at least 1"),
    ],
)
def test_what_the_framework_would_take(name, params, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(name, params, **arguments)


@both
def test_labels_beyond_single_precision(name):
    with pytest.raises(ValueError, match=r"labels\[\d+\] = 1e\+39 is beyond single precision \(1e38\)"):
        fit(name, y=np.where(Y.max() == Y, 1e39, Y))


@pytest.mark.parametrize("values", ["label", "weight"])
def test_what_lightgbm_would_clip_to_1e38(values):
    fields = {"label": Y.astype(float), "weight": np.ones(len(Y))}
    fields[values][3] = np.inf
    with pytest.raises(ValueError, match=rf"{values}\[3\] = .* is infinite to LightGBM; pass finite"):
        lgb.train({"objective": bp.RankNet(), "verbose": -1}, lgb.Dataset(X, group=GROUP, **fields), 1)


@both
@pytest.mark.parametrize("loss", [bp.NDCGBoost(), bp.CRR(), bp.ListNet()], ids=lambda loss: type(loss).__name__)
def test_pairs_beside_a_loss_that_takes_none(name, loss):
    with pytest.raises(ValueError, match=r"pairs cannot be used by objective .*; pass a loss that takes them"):
        fit(name, {"objective": loss}, y=None, pairs=bp.Pairs([0], [1]))


def test_two_places_where_a_training_starts():
    model = fit("LGBMRanker")
    with pytest.raises(ValueError, match="LightGBM starts from init_model, not from init_score"):
        fit("LGBMRanker", init_model=model, init_score=np.zeros(len(Y)))


def test_another_booster_than_that_of_the_model_to_go_on_from():
    model = fit("XGBRanker")
    with pytest.raises(ValueError, match="booster='dart' would drop the trees of xgb_model; pass booster='gbtree'"):
        fit("XGBRanker", {"booster": "dart"}, xgb_model=model)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_recipes_beside_plain_lightgbm():
    """LightGBM's own ranker with our metric, its folds by scikit-learn, and nested names, which it ignores."""
    from sklearn.model_selection import GroupKFold

    def ndcg(y, scores, weight, group):
        return "NDCG@10", bp.NDCG(10).score(y, scores, group=group), True

    loss, plain = bp.QBRank(), {"n_estimators": 2, "n_jobs": 1, "verbose": -1}
    ranker = lgb.LGBMRanker(objective=loss, metric="None", **plain)
    ranker.fit(X, Y, group=GROUP, eval_set=[(X, Y)], eval_group=[GROUP], eval_metric=ndcg)
    assert ranker.evals_result_["training"]["NDCG@10"][-1] == bp.NDCG(10).score(Y, ranker.predict(X), qid=QID)
    nested = lgb.LGBMRanker(objective=loss, metric="None", **plain).set_params(objective__margin=1.0)
    np.testing.assert_array_equal(nested.fit(X, Y, group=GROUP).predict(X), ranker.predict(X))
    params = {"objective": loss, "metric": "None", "num_threads": 1, "verbose": -1}
    log = lgb.cv(params, lgb.Dataset(X, Y, group=GROUP), 2, folds=GroupKFold(2), feval=bp.NDCG(5))
    assert len(log["valid NDCG@5-mean"]) == 2


def test_without_lightgbms_own_list_names_are_not_checked(monkeypatch):
    """The list is private (docs/explanation/framework_internals.md)."""

    def forget():
        for kept in vars(parameter_names).values():
            getattr(kept, "cache_clear", int)()

    monkeypatch.delattr(lgb.basic._ConfigAliases, "_get_all_param_aliases")
    forget()
    assert fit("LGBMRanker", {"num_leafs": 3}).n_estimators_ == 2
    monkeypatch.undo()
    forget()
    with pytest.raises(ValueError, match="num_leafs is not a parameter of LightGBM"):
        fit("LGBMRanker", {"num_leafs": 3})


def test_order_of_columns_that_lightgbm_is_told_not_to_check():
    """`predict` then takes the columns of a DataFrame by position."""
    table = pd.DataFrame(X, columns=list("abcd"))
    model = fit("LGBMRanker", X=table)
    for switch in ({"validate_features": False}, {"predict_disable_shape_check": True}):
        other = model.predict(table[list("dcba")], **switch)
        np.testing.assert_array_equal(other, model.predict(table[list("dcba")].set_axis(list("abcd"), axis=1)))


@both
def test_weights_come_to_the_framework_over_their_mean(name):
    """In single precision 1e60 is infinite."""
    weight = np.linspace(0.5, 2.0, len(Y))
    expected = fit(name, sample_weight=weight).predict(X)
    assert np.ptp(expected) > 0.0
    np.testing.assert_allclose(fit(name, sample_weight=1e60 * weight).predict(X), expected, rtol=0, atol=1e-6)
