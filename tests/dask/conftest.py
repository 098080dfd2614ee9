"""A cluster of two processes for all tests of this folder, and a limit of time for each, so that a hang fails."""

import signal
import sys

import pytest

SECONDS = 240  # of a test; a fit takes one or two


@pytest.fixture(scope="session")
def client():
    """Return a client of two workers, a process and a thread each."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _both_workers(request):
    """Wait for both workers: one that a test has brought down comes back by itself, in its own time."""
    if "client" in request.fixturenames:
        request.getfixturevalue("client").wait_for_workers(2, timeout=SECONDS)


@pytest.fixture(autouse=True)
def _time_limit():
    def stop(*_):
        pytest.fail(f"the test took more than {SECONDS} s: a worker waits for another one")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def _by_value(request):
    """Send what a test's module defines to the workers, which cannot import it."""
    cloudpickle = pytest.importorskip("cloudpickle")
    module = sys.modules[request.module.__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)
