"""Jobs of several processes: what ends them is said."""

import os
import threading

import pytest

from studies.replication.processes import in_processes


@pytest.mark.ci
def test_the_death_of_a_process_is_an_error():
    with pytest.raises(RuntimeError, match="a worker process has died; what was finished before is kept"):
        list(in_processes(os._exit, [3], 2))


class Locked:
    def __init__(self):
        self.lock = threading.Lock()


@pytest.mark.ci
def test_what_cannot_be_pickled_is_refused_by_processes():
    with pytest.raises(ValueError, match="a loss, metric or ranker cannot go to another process; use one process"):
        list(in_processes(print, [Locked()], 2))
