"""Sums over several workers: in step at every call of a loss or metric, and one error for all."""

import threading
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import boostplug as bp
from boostplug.adapters.reading import assign
from boostplug.adapters.workers import in_step
from boostplug.adapters.xgboost import XGBoost

xgb = pytest.importorskip("xgboost")

# One loss of each kind of sums; test_totals.py has every loss.
EVERY_LOSS = [bp.MPBoost(), bp.QBRank(), bp.AdaRank(), bp.LambdaRank(), bp.CRR()]
LIMIT = 120  # seconds: only what hangs takes as long


class Threads:
    """Workers in threads of one process."""

    n = 2

    def __init__(self, rank, meet, said):
        self.rank, self.meet, self.said, self.asked = rank, meet, said, []

    def _all(self, what, value):
        self.asked.append(what)
        self.said[self.rank] = (what, value)
        self.meet.wait()
        both = list(self.said)
        self.meet.wait()
        assert len({question for question, _ in both}) == 1, "the workers ask different questions"
        return [answer for _, answer in both]

    def sum(self, values):
        return np.sum(self._all("sum", values), axis=0)

    def broadcast(self, text, rank):
        return self._all("broadcast", text)[rank]


def two_workers(run):
    """Return what run(worker) returned or raised on each of two workers, and the workers."""
    meet, said = Barrier(2, timeout=LIMIT), [None, None]
    workers = [Threads(rank, meet, said) for rank in range(2)]

    def outcome(worker):
        try:
            return run(worker)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is looked at)
            return error

    with ThreadPoolExecutor(2) as pool:
        return [*pool.map(outcome, workers)], workers


def in_step_on_two(*bodies):
    """Return what each body returned or raised, and the operations of each worker."""

    def run(worker):
        with in_step(worker, 2, 1) as sums:
            return bodies[worker.rank](sums)

    found, workers = two_workers(run)
    return found, [worker.asked for worker in workers]


def first(sums):
    return sums.sum(np.array([1.0 + sums.workers.rank, 7.0]))


def both(sums):
    return first(sums), sums.sum(np.ones(1))


def raising(error, *steps):
    def body(sums):
        for step in steps:
            step(sums)
        raise error

    return body


class OwnError(ValueError):
    pass


def test_all_get_the_sum_of_all():
    found, asked = in_step_on_two(both, both)
    for one in found:
        np.testing.assert_array_equal(np.concatenate(one), [3.0, 14.0, 2.0])
    assert asked == 2 * [["sum", "sum"]]


def test_a_single_machine_sums_nothing():
    with in_step(None, 2) as sums:
        np.testing.assert_array_equal(sums.sum(np.array([1.0, 2.0])), [1.0, 2.0])
    with pytest.raises(OwnError), in_step(None, 2):
        raise OwnError


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("label[3] is NaN"), ValueError, "on worker 1 of 2: label[3] is NaN"),
        (OwnError("no"), ValueError, "on worker 1 of 2: OwnError: no"),
        (Exception("odd"), RuntimeError, "on worker 1 of 2: odd"),
        (UnicodeDecodeError("ascii", b"\xff", 0, 1, "bad"), RuntimeError, "on worker 1 of 2: 'ascii' codec"),
    ],
)
@pytest.mark.parametrize("steps", [(), (first,)], ids=["at once", "between the sums"])
def test_an_error_of_one_is_raised_on_all(error, kind, text, steps):
    found, asked = in_step_on_two(both, raising(error, *steps))
    for raised in found:
        assert type(raised) is kind
        assert str(raised).startswith(text)
    assert found[1].__cause__ is error
    assert asked[0] == asked[1]
    assert asked[0][-1] == "broadcast"


def test_an_error_after_the_last_sum_is_the_workers_own():
    found, asked = in_step_on_two(both, raising(ValueError("late"), both))
    assert isinstance(found[0], tuple)
    assert str(found[1]) == "late"
    assert asked[0] == asked[1] == ["sum", "sum"]


# Losses and metrics on two datasets of XGBoost's. tests/dask trains on its own workers, each in a process.


def at(rows):
    """Return scores and a dataset: grades (0 and 1 in the first half of the queries), ids and weights of some rows."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 30, 40)
    X = rng.integers(0, 8, (int(sizes.sum()), 3)).astype(np.float32)
    qid = np.repeat(np.arange(40), sizes)
    noisy = X.sum(axis=1) / 2 + rng.normal(size=len(X))
    y = np.where(qid < 20, (noisy > 6) & (qid > 0), np.clip(noisy // 3, 0, 4)).astype(float)  # nothing in the first
    weight = (rng.random(40) + 0.5)[qid]
    chosen = rows(qid)
    group = np.unique(qid[chosen], return_counts=True)[1]
    matrix = xgb.DMatrix(X[chosen], y[chosen], group=group if chosen.any() else None)
    assign(matrix, bp.Queries(y[chosen], group=group, weight=weight[chosen]))
    return X[chosen, 0].astype(np.float64), matrix


def everything(qid):
    return qid >= 0


@pytest.fixture
def on_workers(monkeypatch):
    """Return what a loss or metric returns or raises on two workers, of which the first has the first queries."""
    local = threading.local()
    monkeypatch.setattr(XGBoost, "workers", lambda _: getattr(local, "worker", None))

    def called(function, first):
        def run(worker):
            local.worker = worker
            return function(*at(lambda qid: (qid < first) == (worker.rank == 0)))

        return two_workers(run)[0]

    return called


@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_every_loss_is_that_of_one_machine(on_workers, loss):
    """Also where a worker has no rows, or only a query that teaches nothing, which brings no warning."""
    for first in (20, 40, 1):
        np.testing.assert_allclose(
            np.concatenate(on_workers(loss, first), axis=1), loss(*at(everything)), rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("metric", [bp.NDCG(5), bp.PairError(pooled=True)], ids=repr)
def test_metrics_are_those_of_all_queries_however_few_a_worker_has(on_workers, metric):
    name, value = metric(*at(everything))
    for first in (20, 3, 40):
        assert on_workers(metric, first) == 2 * [(name, pytest.approx(value, rel=1e-12))]


class Breaks(bp.RankNet):
    """A loss of a user's that fails on the worker with 30 queries."""

    def compute_gradient_hessian(self, scores, queries, scale):
        if queries.n_queries == 30:
            raise ZeroDivisionError("a fault of this worker alone")
        return super().compute_gradient_hessian(scores, queries, scale)


def test_one_workers_error_is_all_workers_error(on_workers):
    for error in on_workers(Breaks(), 10):
        assert type(error) is ZeroDivisionError
        assert str(error) == "on worker 1 of 2: a fault of this worker alone"


class NoStep(bp.RankNet):
    """A loss that has nothing to learn."""

    def compute_gradient_hessian(self, scores, queries, scale):
        return np.zeros(queries.n_rows), np.zeros(queries.n_rows)


def test_each_worker_warns_where_none_learns(on_workers):
    with pytest.warns(UserWarning, match="nothing to learn") as caught:
        on_workers(NoStep(), 20)
    assert len(caught) == 2
