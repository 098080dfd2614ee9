"""Sums over several workers: in step at every call of a loss or metric, and one error for all."""

import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import boostplug as bp
from boostplug.adapters.reading import ADAPTERS, assign
from boostplug.adapters.workers import in_step

xgb = pytest.importorskip("xgboost")

# One loss of each kind of sums; test_totals.py has every loss.
EVERY_LOSS = [bp.MPBoost(), bp.QBRank(), bp.AdaRank(), bp.LambdaRank(), bp.CRR()]
WEIGHTED = [bp.MPBoost(), bp.AdaRank()]
ROUNDS = 4
LIMIT = 3600  # seconds: only what hangs takes as long


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


def on_two(*bodies, lengths=(2, 1)):
    """Return what each body returned or raised, and the operations of each worker."""
    meet, said = Barrier(2, timeout=LIMIT), [None, None]
    workers = [Threads(rank, meet, said) for rank in range(2)]

    def run(worker, body):
        try:
            with in_step(worker, *lengths) as sums:
                return body(sums)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is looked at)
            return error

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(run, worker, body) for worker, body in zip(workers, bodies, strict=True)]
        return [job.result() for job in jobs], [worker.asked for worker in workers]


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
    found, asked = on_two(both, both)
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
    found, asked = on_two(both, raising(error, *steps))
    for raised in found:
        assert type(raised) is kind
        assert str(raised).startswith(text)
    assert found[1].__cause__ is error
    assert asked[0] == asked[1]
    assert asked[0][-1] == "broadcast"


def test_an_error_after_the_last_sum_is_the_workers_own():
    found, asked = on_two(both, raising(ValueError("late"), both))
    assert isinstance(found[0], tuple)
    assert str(found[1]) == "late"
    assert asked[0] == asked[1] == ["sum", "sum"]


def test_of_several_errors_the_first_workers_is_raised():
    found, _ = on_two(raising(TypeError("first")), raising(KeyError("second")))
    assert [type(error) for error in found] == [TypeError, TypeError]
    assert {str(error) for error in found} == {"on worker 0 of 2: first"}


# XGBoost's own workers, each in a process, without any engine. By default, tests/dask trains on workers.


def data():
    """Return features that every worker bins alike, grades (0 and 1 in the first half), ids and weights."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 30, 40)
    n = int(sizes.sum())
    X = rng.integers(0, 8, (n, 6)).astype(np.float32)
    qid = np.repeat(np.arange(40), sizes)
    noisy = X[:, 0] + X[:, 1] * X[:, 2] / 8 + rng.normal(size=n)
    y = np.where(qid < 20, (noisy > 6) & (qid > 0), np.clip(noisy // 3, 0, 4)).astype(float)  # nothing in the first
    weight = (rng.random(40) + 0.5)[qid]
    return X, y, qid, weight


def matrix_of(rows):
    X, y, qid, weight = data()
    group = np.unique(qid[rows], return_counts=True)[1]
    matrix = xgb.QuantileDMatrix(X[rows], y[rows], group=group) if rows.any() else xgb.QuantileDMatrix(X[rows], y[rows])
    return matrix, bp.Queries(y[rows], group=group, weight=weight[rows])


PARAMETERS = {"objective": "rank:pairwise", "base_score": 0.0, "max_depth": 3, "nthread": 1}
PARAMETERS |= {"disable_default_eval_metric": 1}
METRICS = [bp.NDCG(5), bp.PairError(pooled=True)]


def all_metrics(scores, matrix):
    return [metric(scores, matrix) for metric in METRICS]


def trained(loss, rows, *, weighted=False, rounds=ROUNDS):
    """Return all rows' predictions, and the metrics of each round."""
    matrix, queries = matrix_of(rows)
    if weighted:
        assign(matrix, queries)
    seen = {}
    booster = xgb.train(
        PARAMETERS, matrix, rounds, obj=loss, evals=[(matrix, "train")], custom_metric=all_metrics, evals_result=seen,
        verbose_eval=False,
    )  # fmt: skip
    return booster.predict(xgb.DMatrix(data()[0])), {name: list(values) for name, values in seen["train"].items()}


def half(rank, first):
    """Return a worker's rows: the queries before `first` are the first worker's."""
    qid = data()[2]
    return qid < first if rank == 0 else qid >= first


def test_a_loss_is_scaled_by_the_rows_of_all_workers():
    meet, said = Barrier(2, timeout=LIMIT), [None, None]
    loss, adapter = bp.MPBoost(), next(one for one in ADAPTERS if one.framework == "xgboost")

    def gradient(rank):
        matrix = matrix_of(half(rank, 20))[0]
        return loss._on_worker(Threads(rank, meet, said), adapter, np.zeros(matrix.num_row()), matrix)

    with ThreadPoolExecutor(2) as pool:
        found = np.concatenate([*pool.map(gradient, range(2))], axis=1)
    everything = matrix_of(np.ones(len(data()[0]), bool))[0]
    np.testing.assert_allclose(found, loss(np.zeros(everything.num_row()), everything), rtol=1e-6)


class Breaks(bp.RankNet):
    """A loss of a user's that fails on the second worker, from its third call on."""

    calls = 0

    def compute_gradient_hessian(self, scores, queries, scale):
        type(self).calls += 1
        if xgb.collective.get_rank() == 1 and self.calls > 2:
            raise ZeroDivisionError("a fault of this worker alone")
        return super().compute_gradient_hessian(scores, queries, scale)


class NoStep(bp.RankNet):
    """A loss that has nothing to learn."""

    def compute_gradient_hessian(self, scores, queries, scale):
        return np.zeros(queries.n_rows), np.zeros(queries.n_rows)


def error_of(loss, rows):
    try:
        trained(loss, rows)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is looked at)
        return type(error).__name__, str(error)
    return None


def warnings_of(loss, rows):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trained(loss, rows, rounds=1)
    return [str(warning.message) for warning in caught]


def work(rank, port, out):
    """Train everything on one worker and write what came of it."""
    warnings.simplefilter("error")
    with xgb.collective.CommunicatorContext(
        dmlc_tracker_uri="127.0.0.1", dmlc_tracker_port=port, dmlc_task_id=str(rank), dmlc_timeout=LIMIT
    ):
        rank = xgb.collective.get_rank()
        rows, all_or_none = half(rank, 20), half(rank, 40)
        found = {
            "rank": rank,
            "losses": [trained(loss, rows) for loss in EVERY_LOSS],
            "weighted": [trained(loss, rows, weighted=True) for loss in WEIGHTED],
            "empty": [trained(loss, all_or_none) for loss in WEIGHTED],
            "fails": error_of(Breaks(), rows),
            "nothing": warnings_of(NoStep(), rows),
            "silent": warnings_of(bp.RankNet(), half(rank, 1)),
        }
    Path(out).write_bytes(pickle.dumps(found))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what two workers made, by rank; they end within the limit."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=2)
    tracker.start()
    port = str(tracker.worker_args()["dmlc_tracker_port"])
    files = [tmp_path_factory.mktemp("worker") / "found" for _ in range(2)]
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, str(rank), port, file],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, file in enumerate(files)
    ]
    try:
        errors = [worker.communicate(timeout=LIMIT)[1] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert [worker.returncode for worker in workers] == [0, 0], errors
    results = sorted((pickle.loads(file.read_bytes()) for file in files), key=lambda result: result["rank"])
    assert [result["rank"] for result in results] == [0, 1]
    return results


def same_as_one_machine(of_workers, loss, **options):
    everything = np.ones(len(data()[0]), bool)
    predictions, metrics = trained(loss, everything, **options)
    for found, of_round in of_workers:
        np.testing.assert_allclose(found, predictions, atol=1e-6)
        assert found.std() > 0.01
        for name, values in metrics.items():
            np.testing.assert_allclose(of_round[name], values, atol=2e-6)  # XGBoost prints them to six digits


@pytest.mark.ci
@pytest.mark.parametrize("k", range(len(EVERY_LOSS)), ids=map(repr, EVERY_LOSS))
def test_every_loss_is_trained_as_on_one_machine(found, k):
    same_as_one_machine([worker["losses"][k] for worker in found], EVERY_LOSS[k])


@pytest.mark.ci
@pytest.mark.parametrize("k", range(len(WEIGHTED)), ids=map(repr, WEIGHTED))
def test_weights_count_and_a_worker_without_rows_takes_part(found, k):
    same_as_one_machine([worker["empty"][k] for worker in found], WEIGHTED[k])
    same_as_one_machine([worker["weighted"][k] for worker in found], WEIGHTED[k], weighted=True)


@pytest.mark.ci
def test_one_workers_error_is_all_workers_error(found):
    for worker in found:
        assert worker["fails"] == ("ZeroDivisionError", "on worker 1 of 2: a fault of this worker alone")


@pytest.mark.ci
def test_warnings_are_of_all_rows(found):
    for worker in found:
        assert len(worker["nothing"]) == 1
        assert "nothing to learn" in worker["nothing"][0]
        assert worker["silent"] == []


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
