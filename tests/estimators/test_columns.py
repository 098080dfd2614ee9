"""The features that a ranker gets are those it was fitted on: every ranker, every kind of table, wherever X goes in."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import QID, VQID, VX, VY, X, Y
from sklearn.base import clone

import boostplug as bp
from boostplug.rankers import RANKERS

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

NAMES = ["a", "b", "c", "d"]
WRONG = {
    "permuted": (VX[:, [2, 0, 3, 1]], ["c", "a", "d", "b"]),
    "renamed": (VX, ["a", "b", "c", "z"]),
    "fewer": (VX[:, :3], NAMES[:3]),
    "more": (np.c_[VX, VX[:, :1]], [*NAMES, "e"]),
}
MAKE = {
    "LGBMRanker": lambda: bp.LGBMRanker(objective=bp.MPBoost(), n_estimators=2, verbose=-1, n_jobs=1),
    "XGBRanker": lambda: bp.XGBRanker(objective=bp.MPBoost(), n_estimators=2, n_jobs=1, max_depth=2),
    **{name: lambda first=first: clone(first) for name, (first, *_) in RANKERS.items()},
}
every_ranker = pytest.mark.parametrize("ranker", MAKE)
quiet = {"XGBRanker": {"verbose": False}}


def make(ranker):
    model = MAKE[ranker]()
    return model.set_params(**{"random_state": 0} if "random_state" in model.get_params() else {})


def fit(ranker, x, **more):
    return make(ranker).fit(x, Y, qid=QID, **quiet.get(ranker, {}), **more)


@every_ranker
def test_other_columns_are_refused_wherever_they_come(ranker):
    train, valid = pd.DataFrame(X, columns=NAMES), pd.DataFrame(VX, columns=NAMES)
    model = fit(ranker, train, eval_set=[(valid, VY)], eval_qid=[VQID])
    expected = model.predict(valid)
    for rows, names in WRONG.values():
        table = pd.DataFrame(rows, columns=names)
        with pytest.raises(ValueError, match=r"columns|[Ff]eature names|X has \d features"):
            model.predict(table)
        with pytest.raises(ValueError, match=r"columns|[Ff]eature names|X has \d features"):
            model.score(table, VY, qid=VQID)
        with pytest.raises(ValueError, match=r"^eval_set\[1\]'s X.* columns"):
            fit(ranker, train, eval_set=[(valid, VY), (table, VY)], eval_qid=[VQID, VQID])
    np.testing.assert_array_equal(model.predict(valid), expected)


def test_xgboosts_option_lets_other_columns_pass():
    table = pd.DataFrame(VX, columns=NAMES)
    model = fit("XGBRanker", pd.DataFrame(X, columns=NAMES))
    other = model.predict(table.rename(columns={"d": "z"}), validate_features=False)
    np.testing.assert_array_equal(other, model.predict(table))


@every_ranker
@pytest.mark.parametrize("width", [1, 3, 5])
def test_arrays_of_another_width_are_refused(ranker, width):
    x = np.tile(VX, 2)[:, :width]
    model = fit(ranker, X)
    with pytest.raises(ValueError, match=rf"X has {width} features, .* 4"):
        model.predict(x)
    with pytest.raises(ValueError, match=rf"X has {width} features, .* 4"):
        model.score(x, VY, qid=VQID)
    with pytest.raises(ValueError, match=rf"eval_set\[0\]'s X has {width} features, but the model is expecting 4"):
        fit(ranker, X, eval_set=[(x, VY)], eval_qid=[VQID])
