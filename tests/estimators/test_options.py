"""Options of the frameworks' own objectives beside our losses, misspelt parameters, and aliases."""

from functools import partial

import numpy as np
import pytest
from adapters.harness import FRAMEWORKS, GROUP, LOSS, VALID, X, Y, every_framework, lgb

import boostplug as bp
from boostplug.estimators import parameter_names as names

EVERY_OPTION = [(FRAMEWORKS[name], option) for name, options in names.OPTIONS.items() for option in options]
VALUES = {"lambdarank_pair_method": "mean", "label_gain": list(range(40)), "lambdarank_num_pair_per_sample": 1}
VALUES |= dict.fromkeys(("is_unbalance", "unbalance", "unbalanced_sets", "lambdarank_unbiased"), True)
VALUES |= dict.fromkeys(("lambdarank_norm", "ndcg_exp_gain", "lambdarank_normalization"), False)
VALUES |= {"lambdarank_score_normalization": False, "lambdarank_bias_norm": 2.0, "lambdarank_truncation_level": 30}


@pytest.mark.parametrize(("F", "name"), EVERY_OPTION)
def test_options_that_frameworks_do_not_read_beside_a_function_are_refused(F, name):
    given = {name: VALUES.get(name, 0.3)}
    with pytest.raises(ValueError, match=rf"{name}=.* is an option of the framework's own objectives.*; remove it: "):
        F.fit(LOSS, **given)
    assert np.ptp(F.fit(LOSS, **{name: None}).predict(X)) > 0.0
    assert names.without_options(F.name, {**given, "seed": 1}) == {"seed": 1}


def test_every_alias_is_known():
    for name in names.OPTIONS["lightgbm"]:
        assert lgb.basic._ConfigAliases.get(name) <= names.OPTIONS["lightgbm"].keys()


@every_framework
def test_what_asks_for_nothing_passes(F):
    """Dictionaries of parameters that serve several trainings hold them; metrics of the framework read gains."""
    of_lightgbm = {"is_unbalance": False, "scale_pos_weight": 1.0, "reg_sqrt": False, "boost_from_average": False}
    off = {"lightgbm": of_lightgbm, "xgboost": {"lambdarank_unbiased": False}}
    assert np.ptp(F.fit(LOSS, **off[F.name]).predict(X)) > 0.0
    gains = {"lightgbm": {"label_gain": [0, 1, 2, 3, 4]}, "xgboost": {"ndcg_exp_gain": False}}
    assert np.ptp(F.fit(LOSS, metric="ndcg", valid=VALID, **gains[F.name]).predict(X)) > 0.0


@every_framework
def test_built_in_objectives_keep_them(F):
    given = {"lightgbm": {"lambdarank_truncation_level": 1}, "xgboost": {"lambdarank_num_pair_per_sample": 1}}[F.name]
    assert not np.array_equal(F.fit(F.objective, **given).predict(X), F.fit(F.objective).predict(X))


def test_bagging_by_query_is_refused():
    """By LGBMRanker and `compare`, which know the parameters, and where a Dataset shows those of its training."""
    given = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}
    F = FRAMEWORKS["lightgbm"]
    for train in (
        lambda: F.fit(LOSS, **given),
        lambda: F.train(LOSS, lgb.Dataset(X, Y, group=GROUP), **given),
        lambda: bp.compare(*bp.datasets.load_bundled(), frameworks="lightgbm", params={"lightgbm": given}),
    ):
        with pytest.raises(ValueError, match="bagging_by_query=True trains a constant model"):
            train()


def test_leaf_values_from_rounded_hessians_are_warned_of():
    """By LGBMRanker, `compare`, and where a Dataset shows the parameters of its training."""
    given, F = {"use_quantized_grad": True}, FRAMEWORKS["lightgbm"]
    tables = bp.datasets.load_bundled()
    options = {"losses": [LOSS], "baselines": "lambdarank", "frameworks": "lightgbm", "rounds": 2, "num_threads": 1}
    for fit in (
        partial(F.fit, LOSS),
        lambda **params: F.train(LOSS, lgb.Dataset(X, Y, group=GROUP), **params),
        lambda **params: bp.compare(*tables, **options, params={"lightgbm": params}),
    ):
        with pytest.warns(UserWarning, match="use_quantized_grad=True computes leaf values from Hessians"):
            fit(**given)
        with pytest.warns(UserWarning, match="use_quantized_grad=True computes leaf values from Hessians"):
            fit(use_quantized_grad="true", quant_train_renew_leaf="false")
        fit(**given, quant_train_renew_leaf=True)
        fit(**given, quant_train_renew_leaf="+")
        fit(use_quantized_grad=False)
        fit(use_quantized_grad="false")


@pytest.mark.parametrize(("loss", "times"), [(bp.CRR(), 10.0), (bp.QBRank(), 10.0), (bp.RankNet(), 3.0)])
def test_leaf_values_from_rounded_hessians_are_many_times_too_large(loss, times):
    """Those of the first tree, beside -rate ΣG/ΣH of its rows."""
    train = bp.datasets.load_bundled().train
    gradient, hessian = loss.gradient_hessian(np.zeros(train.n_rows), train.queries)
    assert 10 < hessian.max() / hessian.mean() < 150
    largest = {}
    for renewed in (False, True):
        params = {"verbose": -1, "num_threads": 1, "num_leaves": 15, "use_quantized_grad": True}
        params |= {"objective": lambda *_: (gradient, hessian), "quant_train_renew_leaf": renewed, "seed": 1}
        booster = lgb.train(params, lgb.Dataset(train.X, train.y, group=train.group), 1)
        leaf = booster.predict(train.X, pred_leaf=True).ravel()
        exact = -0.1 * np.bincount(leaf, gradient) / np.bincount(leaf, hessian)
        largest[renewed] = np.abs(booster.predict(train.X)).max() / np.abs(exact).max()
    assert largest[True] == pytest.approx(1.0, rel=1e-4)
    assert largest[False] > times


@every_framework
def test_a_constant_model_is_warned_about(F):
    """Hessians of so small a sigmoid sum to less than a leaf needs."""
    with pytest.warns(UserWarning, match="the model is constant: no split gains enough"):
        F.fit(bp.RankNet(sigmoid=1e-4), n_estimators=1)


@pytest.mark.parametrize("given", [{"num_machine": "2"}, {"machines": "a:1,b:1"}])
def test_a_loss_refuses_several_machines(given):
    """By any alias."""
    with pytest.raises(ValueError, match="LightGBM trains on several machines"):
        FRAMEWORKS["lightgbm"].fit(LOSS, **given)


KNOWN = {
    "lightgbm": ["class_weight", "importance_type", "extra_trees"],
    "xgboost": ["rate_drop", "feature_selector", "top_k", "process_type", "num_class", "max_bin"],
}
ALIASES = {"lightgbm": names.LIGHTGBM_ALIASES, "xgboost": names.XGBOOST_ALIASES}


@every_framework
def test_misspelt_names_are_refused_and_all_others_known(F):
    known = [*KNOWN[F.name], *(alias for aliases in ALIASES[F.name].values() for alias in aliases)]
    names.check_parameter_names(F.name, known)
    wrong, right = {"lightgbm": ("num_leafs", "num_leaf"), "xgboost": ("max_dept", "max_depth")}[F.name]
    for objective in (LOSS, F.objective):
        with pytest.raises(ValueError, match=f"{wrong} is not a parameter of .*; did you mean {right}"):
            F.fit(objective, **{wrong: 3})
    F.fit(LOSS, **{wrong: None})
