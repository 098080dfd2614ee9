"""The thread pool: every query once, errors out, forks and nesting."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from boostplug.core import threads


@pytest.fixture(autouse=True)
def default_threads():
    yield
    threads.set_num_threads(None)


@pytest.mark.parametrize("num_threads", [1, 2, 7])
@pytest.mark.parametrize("sizes", [[1_000_000] * 9, [1] * 50, [500_000, 0, 0, 3], [0], []])
def test_each_query_is_visited_once(num_threads, sizes):
    visits = np.zeros(len(sizes), int)

    def kernel(first, last):
        visits[first:last] += 1

    threads.run_over_queries(kernel, np.r_[0, np.cumsum(sizes)].astype(np.int64), num_threads=num_threads)
    assert (visits == 1).all()


def test_errors_of_any_thread_come_out():
    def kernel(first, last):
        if first <= 5 < last:
            raise RuntimeError("query 5")

    with pytest.raises(RuntimeError, match="query 5"):
        threads.run_over_queries(kernel, np.arange(0, 11_000_000, 1_000_000), num_threads=3)


def test_errors_of_a_helping_thread_alone_come_out():
    helped = threading.Event()

    def kernel(_first, _last):
        if threading.current_thread() is threading.main_thread():
            helped.wait(60)
        else:
            helped.set()
            raise RuntimeError("from a helper")

    with pytest.raises(RuntimeError, match="from a helper"):
        threads.run_over_queries(kernel, np.arange(0, 11_000_000, 1_000_000), num_threads=2)


def test_helpers_that_started_are_awaited_where_no_more_can_start(monkeypatch):
    class Started:
        """A helper that runs already; the next thread cannot be started."""

        waited = started = False

        def submit(self, _worker):
            if self.started:
                raise RuntimeError("can't start new thread")
            self.started = True
            return self

        def cancel(self):
            return False

        def result(self):
            self.waited = True

    helper = Started()
    monkeypatch.setattr(threads, "_executor", lambda _: helper)
    threads.run_over_queries(lambda _first, _last: None, np.arange(0, 11_000_000, 1_000_000), num_threads=3)
    assert helper.waited


def test_which_number_of_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert threads.get_num_threads() == 3
    threads.set_num_threads(5)
    assert threads.get_num_threads() == 5
    with threads.threads_of_framework(2):
        assert threads.get_num_threads() == 2
        with threads.threads_of_framework(None):
            assert threads.get_num_threads() == 5
        assert threads.get_num_threads() == 2
    assert threads.get_num_threads() == 5
    threads.set_num_threads(None)
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads.get_num_threads() >= 1
    for bad in (0, -1, 1.5, "2", True):
        with pytest.raises(ValueError, match="n must be"):
            threads.set_num_threads(bad)


def test_calls_from_several_threads_at_once():
    def work(seed):
        out = np.zeros(40)

        def kernel(first, last):
            out[first:last] += seed

        threads.run_over_queries(kernel, np.arange(0, 41) * 100_000, num_threads=4)
        return out

    with ThreadPoolExecutor(4) as pool:
        for seed, out in zip(range(20), pool.map(work, range(20)), strict=True):
            assert (out == seed).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    starts = np.arange(0, 3) * 1_000_000
    threads.run_over_queries(lambda _first, _last: None, starts, num_threads=2)
    child = os.fork()
    if child == 0:
        helped = threading.Event()

        def kernel(_first, _last):
            if threading.current_thread() is not threading.main_thread():
                helped.set()
            helped.wait(20)

        try:
            threads.run_over_queries(kernel, starts, num_threads=2)
            os._exit(0 if helped.is_set() else 2)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
