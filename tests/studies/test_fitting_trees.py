"""The study of trees that fit the labels: its draws, and its methods."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.data.inputs import CheckedInputs
from studies import fitting_trees
from studies.tables import estimated

pytestmark = pytest.mark.ci


def part(n_queries, seed):
    made = bp.datasets.make_ranking(n_queries, random_state=seed)
    return CheckedInputs(made.X, bp.Queries(made.y, group=made.group))


@pytest.fixture
def drawn(monkeypatch):
    """Return the parts that a job draws from made data."""
    folds = [(part(60, 1), part(20, 2), part(20, 3))]
    monkeypatch.setattr(fitting_trees, "folds_of", lambda *_: folds)
    return lambda kind, size: fitting_trees.drawn_of(None, fitting_trees.Job(kind, "made", size, 0, 0))


def queries_of(part):
    return {tuple(np.nan_to_num(part.X[start])) for start in part.queries.boundaries[:-1]}


def test_folds_hold_each_drawn_query_once_and_one_training_three_quarters(drawn):
    ((train, valid),), folds, _ = drawn("graded", 40)
    assert (len(queries_of(train)), len(queries_of(valid))) == (30, 10)
    assert len(folds) == 3
    for fold in folds:
        assert set().union(*(queries_of(held) for _, held in fold)) == queries_of(train) | queries_of(valid)
        assert [len(queries_of(most) & queries_of(held)) for most, held in fold] == [0] * 5
        assert [len(queries_of(held)) for _, held in fold] == [8] * 5


def test_choices_stop_on_half_as_many_lists_of_their_own(drawn):
    ((train, valid),), _, _ = drawn("choice", 20)
    assert (len(queries_of(train)), len(queries_of(valid))) == (20, 10)
    assert not queries_of(train) & queries_of(valid)


def test_a_set_with_fewer_queries_has_no_draw(drawn):
    assert drawn("graded", 400) is None
    assert drawn("choice", 300) is None


def test_lists_are_cut_without_losing_a_document():
    found = part(10, 4)
    cut = fitting_trees._in_lists(found, most=7)
    assert np.diff(cut.queries.boundaries).max() <= 7
    ours, theirs = (sorted(map(tuple, np.c_[np.nan_to_num(one.X), one.queries.labels])) for one in (cut, found))
    assert ours == theirs


def test_every_size_trains_what_the_tables_compare():
    for kind, sizes in fitting_trees.SIZES.items():
        for size in sizes:
            names = fitting_trees.methods_of(fitting_trees.Job(kind, "made", size, 0, 0))
            assert {"lambdarank", "ours", "rank:ndcg"} <= names.keys()


def test_an_estimate_is_the_mean_over_its_standard_error():
    found = estimated(np.array([1.0, 3.0, np.nan, 2.0, 2.0]))
    assert found.mean == 2.0
    assert found.z == pytest.approx(2.0 / (np.sqrt(0.5) / 2.0))
    assert found.n == 4
