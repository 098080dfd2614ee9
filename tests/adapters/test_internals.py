"""Insides of the frameworks that we read: without each of them training goes on, or an error names the remedy.

They are listed in docs/explanation/framework_internals.md.
"""

import numpy as np
import pytest

import boostplug as bp
from boostplug.adapters import call, lightgbm, parameter_names, xgboost

lgb, xgb = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")

RNG = np.random.default_rng(0)
X, GROUP = RNG.normal(size=(20_000, 3)), [100] * 200  # as many rows as use several threads
Y = np.clip(X[:, 0] + RNG.normal(size=20_000), 0.0, 4.0).round()
LOSS = bp.QBRank()
LGB = {"objective": LOSS, "num_threads": 2, "verbose": -1, "seed": 0, "deterministic": True}
XGB = {"nthread": 2, "seed": 0}

TRAININGS = {
    "lgb.train": lambda: lgb.train(LGB, lgb.Dataset(X, Y, group=GROUP), 3).predict(X),
    "xgb.train": lambda: xgb.train(XGB, xgb.DMatrix(X, Y, group=GROUP), 3, obj=LOSS).predict(xgb.DMatrix(X)),
    "lgb.LGBMRanker": lambda: (
        lgb.LGBMRanker(objective=LOSS, n_estimators=3, verbose=-1, n_jobs=2).fit(X, Y, group=GROUP).predict(X)
    ),
    "LGBMRanker": lambda: (
        bp.LGBMRanker(objective=LOSS, n_estimators=3, verbose=-1, n_jobs=2).fit(X, Y, group=GROUP).predict(X)
    ),
    "XGBRanker": lambda: bp.XGBRanker(objective=LOSS, n_estimators=3, n_jobs=2).fit(X, Y, group=GROUP).predict(X),
}

VANISHED = {
    "LightGBM's Booster on the call stack": lambda patch: patch.setattr(lightgbm, "_owner", lambda frame: None),
    "xgb.train on the call stack": lambda patch: patch.setattr(xgboost, "_training", lambda frame: None),
    "the name of LightGBM's module": lambda patch: patch.setattr(call, "calling", lambda frame: (None, None)),
    "LightGBM's list of parameters": lambda patch: patch.delattr(lgb.basic, "_ConfigAliases"),
}


@pytest.fixture
def no_caches():
    def clear():
        parameter_names._lightgbm.cache_clear()

    clear()
    yield
    clear()


@pytest.mark.parametrize("training", TRAININGS)
@pytest.mark.parametrize("inside", [name for name in VANISHED if "parameters" not in name])
def test_training_goes_on(inside, training, monkeypatch, no_caches):
    expected = TRAININGS[training]()
    VANISHED[inside](monkeypatch)
    np.testing.assert_allclose(TRAININGS[training](), expected, rtol=1e-6)


def test_without_lightgbms_list_no_name_is_refused(monkeypatch, no_caches):
    with pytest.raises(ValueError, match="did you mean num_leaf"):
        parameter_names.refuse_unknown_parameters("lightgbm", ["num_leafs"])
    parameter_names._lightgbm.cache_clear()
    VANISHED["LightGBM's list of parameters"](monkeypatch)
    parameter_names.refuse_unknown_parameters("lightgbm", ["num_leafs"])
