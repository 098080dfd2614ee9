"""Pickles of 0.1.0, whose rankers, folds and scorers stood in `boostplug.frameworks`."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from plug.harness import FRAMEWORKS, LOSS, QID, X, Y

import boostplug as bp

MOVED = {
    "boostplug.estimators.lightgbm": "boostplug.frameworks.lightgbm",
    "boostplug.estimators.xgboost": "boostplug.frameworks.xgboost",
    "boostplug.selection.scorer": "boostplug.frameworks.scorer",
    "boostplug.selection.folds": "boostplug.frameworks.folds",
}


def old_pickle(thing):
    """Return the pickle as 0.1.0 wrote it: in protocol 0, where a class is a line with its module's name."""
    written = pickle.dumps(thing, protocol=0)
    module = type(thing).__module__
    old = written.replace(f"c{module}\n".encode(), f"c{MOVED[module]}\n".encode())
    assert old != written
    return old


def loaded(thing, monkeypatch):
    """Load it as a fresh process does, which has not seen the old names."""
    for name in [name for name in sys.modules if name.startswith("boostplug.frameworks")]:
        monkeypatch.delitem(sys.modules, name)
    again = pickle.loads(old_pickle(thing))
    assert type(again) is type(thing)
    return again


@pytest.mark.parametrize("F", FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_rankers(F, monkeypatch):
    fitted = F.fit(LOSS)
    again = loaded(fitted, monkeypatch)
    assert again.objective == LOSS
    assert again.get_params()["objective__distance__lam"] == LOSS.distance.lam
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.fit(X, Y, qid=QID).predict(X), fitted.predict(X))


def test_scorers(monkeypatch):
    scorer, ranker = bp.make_scorer(bp.NDCG(5)), FRAMEWORKS["lightgbm"].fit(LOSS)
    again = loaded(scorer, monkeypatch)
    assert again.metric == bp.NDCG(5)
    assert again(ranker, X, Y, qid=QID) == scorer(ranker, X, Y, qid=QID)


def test_folds(monkeypatch):
    folds = bp.group_folds(QID, 3)
    again = loaded(folds, monkeypatch)
    assert again.n_rows == len(Y)
    for (train, test), (old_train, old_test) in zip(again, folds, strict=True):
        np.testing.assert_array_equal(train, old_train)
        np.testing.assert_array_equal(test, old_test)


@pytest.mark.parametrize("missing", [["lightgbm"], ["xgboost"], ["lightgbm", "xgboost"]], ids="+".join)
def test_where_a_framework_is_missing(missing):
    code = f"import pickle, sys\nsys.modules.update(dict.fromkeys({missing}))\n"
    code += f"assert len(pickle.loads({old_pickle(bp.group_folds(QID, 3))!r})) == 3"
    subprocess.run([sys.executable, "-c", code], check=True)
