"""Warnings name the line of the user's code."""

import pytest

import boostplug as bp
from boostplug.core.warning import warn_user

DATA = bp.datasets.make_ranking(20, n_features=3, random_state=0)


def test_a_warning_names_the_users_line():
    ranker = bp.LGBMRanker(objective=bp.QBRank(), n_estimators=1, verbose=-1)
    with pytest.warns(UserWarning, match="position is not used") as caught:
        ranker.fit(DATA.X, DATA.y, qid=DATA.qid, position=[1] * DATA.n_rows)
    assert caught[0].filename == __file__


def test_outside_the_library_it_is_the_callers_line():
    with pytest.warns(UserWarning, match="^here$") as caught:
        warn_user("here")
    assert caught[0].filename == __file__
