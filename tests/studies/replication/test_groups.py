"""Pairs of two grades, and queries by their number of pairs."""

from types import SimpleNamespace

import numpy as np
import pytest

from boostplug import Queries
from boostplug.datasets import make_ranking
from boostplug.metrics import MAP, PairError
from boostplug.studies.replication.figures import ByGroup
from boostplug.studies.replication.judging.groups import KindError, OfQueries, by_thousands, mean_rows, queries_by_pairs

QUERIES = Queries([2, 1, 0, 0, 2, 1, 1, 0], group=[4, 3, 1])
SCORES = [3.0, 4.0, 3.0, 1.0, 0.0, 0.0, 5.0, 9.0]


@pytest.mark.parametrize(
    ("high", "low", "shares", "together"),
    [
        (2, 0, [0.25, np.nan, np.nan], 0.25),  # one of two pairs is tied
        (2, 1, [1.0, 0.75, np.nan], 2.5 / 3),
        (1, 0, [0.0, np.nan, np.nan], 0.0),
    ],
)
def test_errors_on_pairs_of_two_grades(high, low, shares, together):
    one = KindError(ties="half", high=high, low=low)
    np.testing.assert_allclose(one.per_query(SCORES, QUERIES), shares)
    assert one(SCORES, QUERIES) == pytest.approx(np.nanmean(shares))
    assert KindError(ties="half", pooled=True, high=high, low=low)(SCORES, QUERIES) == pytest.approx(together)


def test_kinds_of_pairs_make_up_all_pairs():
    data = make_ranking(6, n_features=2, mean_list_size=20, missing=0.0, random_state=0)
    scores, grades = np.round(data.X[:, 0], 1), np.unique(data.y)
    kinds = [KindError(pooled=True, high=a, low=b) for a in grades for b in grades if a > b]
    sums = np.sum([kind.sum_and_count(scores, data.queries) for kind in kinds], axis=0)
    np.testing.assert_allclose(sums, PairError(pooled=True).sum_and_count(scores, data.queries))


def test_a_metric_of_queries_of_some_size():
    pairs = [5, 2, 0]
    values = MAP(relevant=2).per_query(SCORES, QUERIES)
    for least, below in ((0, 3), (2, 5), (5, np.inf), (6, 9)):
        own = OfQueries(MAP(relevant=2), least, below).per_query(SCORES, QUERIES)
        np.testing.assert_array_equal(
            own, [v if least <= n < below else np.nan for v, n in zip(values, pairs, strict=True)]
        )


def test_groups_by_thousands_leave_out_no_query():
    groups = by_thousands(3)
    assert [name for name, _, _ in groups] == ["0-1k", "1k-2k", "2k-3k", "3k+"]
    assert [least for _, least, _ in groups[1:]] == [below for _, _, below in groups[:-1]]
    assert groups[0][1] == 0.0
    assert groups[-1][2] == np.inf


def test_queries_are_counted_by_their_pairs():
    """Queries of the first split's training part: of 40 x 30, 40 x 20, 10 x 10 and no pairs."""
    sizes = [(40, 30), (40, 20), (10, 10), (5, 0)]
    y = np.concatenate([[1] * a + [0] * b for a, b in sizes])
    train = SimpleNamespace(queries=Queries(y, group=[a + b for a, b in sizes]))
    loaded = SimpleNamespace(splits=[SimpleNamespace(train=train), SimpleNamespace(train=None)])
    counted = queries_by_pairs(SimpleNamespace(loaded=loaded), last=1)
    assert counted == (["0-1k", "1k+"], {"queries": [3.0, 1.0]})


def test_rows_are_test_means_of_each_learner_or_averaged():
    means = {("x", "m"): 1.0, ("y", "m"): 3.0, ("x", "n"): 5.0, ("y", "n"): 7.0}
    results = SimpleNamespace(learners=["x", "y"], mean=lambda learner, key: means[learner, key])
    measures = {"1": "m", "2": "n"}
    assert mean_rows(results, measures=measures) == (["1", "2"], {"x": [1.0, 5.0], "y": [3.0, 7.0]})
    averaged = {"a": (("x", "y"), ("m", "n")), "z": (("y",), ("n", "m"))}
    assert mean_rows(results, measures=measures, averaged=averaged) == (["1", "2"], {"a": [2.0, 6.0], "z": [7.0, 3.0]})


@pytest.mark.parametrize(("lines", "rows"), [(False, ("a", "b")), (True, ("b",)), (True, ()), (False, ())])
def test_groups_are_drawn(lines, rows):
    canvas = pytest.importorskip("matplotlib.figure").Figure()
    axes = canvas.add_subplot()
    extra = {"groups": ["d-n", "d-p"], "rows": {"a": [0.3, None], "b": [0.2, 0.4]}, "unit": "share"}
    extra["rows"] |= {} if rows else {"c": [0.1, 0.1]}
    figure = ByGroup(number="Figure 6", title="t", study="s", extra="Figure 6", axis="kind", rows=rows, lines=lines)
    figure.plot(axes, {"extras": {"Figure 6": extra}, "learners": [{"name": name} for name in "abc"]})
    assert [label.get_text() for label in axes.get_xticklabels()] == ["d-n", "d-p"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("kind", "share")
    drawn = {line.get_label(): line for line in axes.get_lines()}
    if rows == ("b",):
        assert [bar.get_height() for bar in axes.patches] == [0.2, 0.4]
        return
    assert list(drawn) == list(rows or "abc")
    assert (drawn["b"].get_linestyle() != "None") == lines
    np.testing.assert_array_equal(drawn["a"].get_ydata(), [0.3, np.nan])
    apart = len({line.get_xdata()[0] for line in drawn.values()})
    assert apart == (1 if lines else len(drawn))
