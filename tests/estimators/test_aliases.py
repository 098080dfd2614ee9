"""Our table of parameters' names is the frameworks' own."""

import numpy as np
import pytest

from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES, XGBOOST_ALIASES

pytestmark = pytest.mark.frameworks
OTHERS = [(own, other) for own, names in XGBOOST_ALIASES.items() for other in names]


@pytest.mark.parametrize("own", LIGHTGBM_ALIASES)
def test_names_are_those_of_lightgbm_in_the_order_in_which_it_takes_them(own):
    known = pytest.importorskip("lightgbm").basic._ConfigAliases.get(own)
    assert LIGHTGBM_ALIASES[own] == tuple(sorted(known, key=lambda name: (name != own, len(name), name)))


@pytest.mark.parametrize(("own", "other"), OTHERS)
def test_xgboost_takes_each_name(own, other):
    xgb = pytest.importorskip("xgboost")
    data = xgb.DMatrix(np.zeros((4, 1)), [0.0, 1.0, 0.0, 1.0])
    value = "1" if own == "nthread" else "0.75" if own != "seed" else "7"
    booster = xgb.train({other: value, "nthread": 1} if own != "nthread" else {other: value}, data, 1)
    assert f'"{own}":"{value}"' in booster.save_config()
