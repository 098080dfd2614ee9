"""A framework that boostplug does not know yet: its adapter is one class and one entry in the registry."""

import sys
from types import ModuleType

import numpy as np
import pytest

import boostplug as bp
from boostplug.adapters import reading
from boostplug.adapters.adapter import Adapter, Fields


class Table:
    """Toyboost's dataset."""

    def __init__(self, x, y, qid, threads=None):
        self.x, self.y, self.qid, self.threads = x, np.asarray(y, np.float32), np.asarray(qid), threads


def train(table, rounds, objective, metric):
    """Toyboost's training: one Newton step a round for each value of one feature; metrics in percent, lower first."""
    scores, history = np.zeros(len(table.x)), []
    cells = np.unique(table.x, return_inverse=True)[1]
    for _ in range(rounds):
        g, h = objective(scores, table)
        scores -= 0.5 * (np.bincount(cells, g) / (np.bincount(cells, h) + 1.0))[cells]
        history.append(metric(scores, table))
    return scores, history


class ToyBoost(Adapter):
    framework = "toyboost"
    kind = "Table"

    def read(self, dataset):
        return Fields(dataset.y, np.unique(dataset.qid, return_counts=True)[1], None)

    def threads(self, dataset):
        return dataset.threads

    def metric_result(self, name, value, greater_is_better):
        return f"toy {name}", (-100 if greater_is_better else 100) * value


@pytest.fixture
def toyboost(monkeypatch):
    module = ModuleType("toyboost")
    module.Table, module.train = Table, train
    monkeypatch.setitem(sys.modules, "toyboost", module)
    monkeypatch.setattr(reading, "ADAPTERS", (*reading.ADAPTERS, ToyBoost()))
    return module


@pytest.fixture
def data():
    return bp.datasets.make_ranking(n_queries=30, random_state=0)


def test_it_trains_evaluates_and_learns_from_pairs(toyboost, data):
    x, queries, metric = np.round(data.X[:, 0], 1), bp.Queries(data.y, qid=data.qid), bp.NDCG(5)
    table = toyboost.Table(x, data.y, data.qid)
    scores, history = toyboost.train(table, 20, bp.MPBoost(), metric)
    assert history[-1] == ("toy NDCG@5", -100 * metric(scores, queries))
    assert history[-1][1] < history[0][1]
    g, h = bp.MPBoost()(scores, table)
    np.testing.assert_array_equal([g, h], np.float32(bp.MPBoost().gradient_hessian(scores, queries)))
    table.y = table.y[::-1]
    assert not np.array_equal(bp.MPBoost()(scores, table)[0], g)  # changed labels are seen
    first = np.r_[0, np.cumsum(np.unique(data.qid, return_counts=True)[1])[:-1]]
    bp.set_pairs(table, bp.Pairs(first, first + 1))
    g = bp.MPBoost()(np.zeros(len(x)), table)[0]
    np.testing.assert_array_equal(np.flatnonzero(g), np.sort(np.r_[first, first + 1]))


def test_its_name_is_in_messages(toyboost):
    with pytest.raises(TypeError, match=r"a lightgbm\.Dataset or xgboost\.DMatrix or toyboost\.Table, got list"):
        bp.set_pairs([], bp.Pairs([0], [1]))
