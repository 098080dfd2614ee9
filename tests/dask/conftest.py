"""A cluster of two processes for all tests of this folder, and a limit of time for each, so that a hang fails."""

import signal
import sys

import pytest

SECONDS = 90  # of a test; a fit takes one or two


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
def _places(request, monkeypatch):
    """Give partitions to workers by their numbers, wherever Dask has computed them, as a module's `PLACES` says."""
    places = getattr(request.module, "PLACES", None)
    if places is None:
        return
    places[:] = [0, 1]
    from boostplug.dask.collections import Parts

    def by_worker(parts):
        workers, held = sorted(parts.client.nthreads()), {}
        for number, summary in enumerate(parts.summaries):
            if summary.n_rows:
                held.setdefault(workers[places[number % len(places)] % len(workers)], []).append(number)
        return held

    monkeypatch.setattr(Parts, "by_worker", by_worker)


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
