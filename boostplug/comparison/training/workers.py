"""Independent jobs over processes."""

import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

J = TypeVar("J")
R = TypeVar("R")

_WORK: list[Callable[[Any], Any]] = []  # of a worker process: the function that it was started with


def in_processes(work: Callable[[J], R], jobs: Iterable[J], n_processes: int) -> Iterator[tuple[J, R]]:
    """Yield each job with its result, as they are finished.

    Processes are spawned, so that no thread or lock is inherited; 1 means none, and jobs are worked on here. They end
    with this generator, however it ends, and with this process, however it is killed.

    Parameters
    ----------
    work : callable
        Picklable, if there is more than one process; each process reads it once.
    jobs : iterable
        Picklable; drawn as they are needed.
    n_processes : int

    Raises
    ------
    RuntimeError
        If a process dies.
    """
    if n_processes == 1:
        for job in jobs:
            yield job, work(job)
        return
    waiting, at_work = iter(jobs), dict[Future[R], J]()
    with TemporaryDirectory() as folder:
        # In a file, not as an argument: to a process that dies early, its start would write more than a pipe holds, and
        # wait for ever.
        file = Path(folder, "work")
        with file.open("wb") as out:
            pickle.dump(work, out, protocol=5)
        context = get_context("spawn")
        theirs, ours = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(n_processes, context, _start, (file, theirs))
        try:
            for job in islice(waiting, n_processes):
                at_work[pool.submit(_worked, job)] = job
            while at_work:
                for done in wait(at_work, return_when=FIRST_COMPLETED).done:
                    yield at_work.pop(done), done.result()
                    for job in islice(waiting, 1):
                        at_work[pool.submit(_worked, job)] = job
        except BrokenProcessPool:
            raise RuntimeError(
                "a worker process has died; what was finished before is kept (in a script, the call must stand "
                'under if __name__ == "__main__":)'
            ) from None
        finally:
            ours.close()  # ends the processes
            pool.shutdown(cancel_futures=True)
            theirs.close()


def _start(file: Path, parent: "Connection[Any, Any]") -> None:
    """Prepare a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    with file.open("rb") as content:
        _WORK.append(pickle.load(content))  # noqa: S301 (the parent has written it)


def _end_with_parent(parent: "Connection[Any, Any]") -> None:
    """End this process when its parent says so or is killed: else it would train on for hours, to no use."""
    parent.poll(None)
    os._exit(1)


def _worked(job: Any) -> Any:
    return _WORK[0](job)
