"""A cluster of two processes for all tests of this folder."""

import sys

import pytest


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
        request.getfixturevalue("client").wait_for_workers(2)


@pytest.fixture(autouse=True)
def _by_value(request):
    """Send what a test's module defines to the workers, which cannot import it."""
    cloudpickle = pytest.importorskip("cloudpickle")
    module = sys.modules[request.module.__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)
