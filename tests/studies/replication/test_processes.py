"""Jobs of several processes: what ends them is said."""

import os
import threading

import pytest

from studies.replication.processes import in_processes


class Locked:
    def __init__(self):
        self.lock = threading.Lock()


@pytest.mark.ci
def test_a_process_that_dies_and_what_it_cannot_be_sent_are_errors():
    for error, of, given, message in (
        (RuntimeError, os._exit, 3, "a worker process has died; what was finished before is kept"),
        (ValueError, print, Locked(), "a loss, metric or ranker cannot go to another process; use one process"),
    ):
        with pytest.raises(error, match=message):
            list(in_processes(of, [given], 2))
