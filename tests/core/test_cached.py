"""Properties that keep their value: once computed, without a lock for other threads or a forked child."""

import os
import signal
import threading

import numpy as np
import pytest

import boostplug as bp
from boostplug.core.cached import cached_property


class Waits:
    def __init__(self, wait):
        self.wait, self.computed = wait, 0

    @cached_property
    def value(self):
        self.wait()
        self.computed += 1
        return object()


def test_it_is_computed_once():
    one = Waits(lambda: None)
    assert one.value is one.value
    assert one.computed == 1
    del one.value
    assert one.value is not None
    assert one.computed == 2


def test_objects_do_not_wait_for_each_other_and_threads_get_one_value():
    both = threading.Barrier(2, timeout=20)  # passes only while two threads compute
    one, two = Waits(both.wait), Waits(both.wait)
    for first, second in ((one, two), (alike := Waits(both.wait), alike)):
        values = []
        helper = threading.Thread(target=lambda other=first, into=values: into.append(other.value))
        helper.start()
        values.append(second.value)
        helper.join()
        assert (values[0] is values[1]) == (first is second)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_ten_forks_while_a_thread_computes():
    labels, group = np.arange(20_000) % 5.0, [50] * 400

    def compute():
        bp.RankNet().gradient_hessian(np.zeros(len(labels)), bp.Queries(labels, group=group))

    def compute_until_told():
        while not ended.is_set():
            compute()

    compute()
    ended, statuses = threading.Event(), []
    thread = threading.Thread(target=compute_until_told)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if not child:
                signal.alarm(20)
                try:
                    compute()
                    os._exit(0)
                finally:
                    os._exit(1)
            statuses.append(os.waitpid(child, 0)[1])
    finally:
        ended.set()
        thread.join()
    assert statuses == [0] * 10
