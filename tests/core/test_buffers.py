"""Arrays that rounds hand on: taken again where nobody uses them, and never where anybody does."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from boostplug.core import buffers
from boostplug.core.buffers import Buffers

N = 20_000


def address(array):
    return array.__array_interface__["data"][0]


def test_outside_of_a_call_arrays_are_new():
    a, b = buffers.empty(N), buffers.zeros(2, N)
    assert a.shape == (N,)
    assert b.shape == (2, N)
    assert a.base is None
    assert not b.any()
    with Buffers().lent(N):
        few = buffers.empty(10)
    assert few.base is None  # too short to be worth it


def test_the_next_call_gets_what_the_last_one_left():
    kept = Buffers()
    with kept.lent(2 * N):
        first = buffers.zeros(2, N)
        first[:] = 7.0
        where = address(first)
        del first
    with kept.lent(2 * N):
        second = buffers.zeros(2, N)
        assert address(second) == where
        assert not second.any()


def some_pointer(array):
    return array.ctypes


@pytest.mark.parametrize(
    "hold", [lambda a: a, lambda a: a[3:5], lambda a: a.reshape(2, -1)[0], memoryview, some_pointer, lambda a: [a.T]]
)
def test_what_anybody_keeps_stays_as_it_is(hold):
    kept = Buffers()
    with kept.lent(N):
        array = buffers.zeros(N)
        where = address(array)
        held = hold(array)
        del array
    for _ in range(3):
        with kept.lent(N):
            other = buffers.empty(N)
            assert address(other) != where
            other[:] = np.nan
    if isinstance(held, (np.ndarray, memoryview)):
        assert not np.isnan(np.asarray(held)).any()


def test_threads_at_once_share_nothing():
    kept = Buffers()
    meet = threading.Barrier(4)

    def work(number):
        for _ in range(20):
            meet.wait(60)
            with kept.lent(8 * N):
                array = buffers.empty(N)
                array[:] = number
                meet.wait(60)
                if not (array == number).all():
                    return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
