"""Independent jobs over processes."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, TypeVar

__all__ = ["in_processes", "pieces_from_processes"]

J = TypeVar("J")
R = TypeVar("R")


def in_processes(work: Callable[[J], R], jobs: Iterable[J], n_processes: int) -> Iterator[tuple[J, R]]:
    """Yield each job with its result, as they are finished.

    Processes are spawned, so that no thread or lock is inherited; 1 means none, and jobs are worked on here. They end
    with this generator, however it ends, and with this process, however it is killed.

    Parameters
    ----------
    work : callable
        A module's own function, if there is more than one process.
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
    else:
        yield from pieces_from_processes(partial(_in_one_piece, work), jobs, n_processes)


def pieces_from_processes(
    work: Callable[[J, Callable[[R], None]], None], jobs: Iterable[J], n_processes: int
) -> Iterator[tuple[J, R]]:
    """Yield what each job says while it is worked on, with the job: ``work(job, say)`` calls ``say(piece)``.

    Always in processes of their own; else as `in_processes`.
    """
    waiting = iter(jobs)
    context = get_context("spawn")
    processes: dict[Any, Any] = {}
    busy: dict[Any, J] = {}

    def feed(connection: Any) -> None:
        for job in waiting:
            busy[connection] = job
            connection.send(job)
            return
        connection.close()

    try:
        for _ in range(n_processes):
            ours, theirs = context.Pipe()
            processes[ours] = context.Process(target=_serve, args=(theirs,), daemon=True)
            processes[ours].start()
            theirs.close()
        for connection in processes:  # not as an argument: to a process that dies early, its start would wait for ever
            connection.send(work)
            feed(connection)
        while busy:
            ready: list[Any] = wait(list(busy))
            for connection in ready:
                said = _received(connection)
                job = busy[connection]
                if said is None:  # the job's end
                    del busy[connection]
                    feed(connection)
                else:
                    yield job, said[0]
    except (EOFError, ConnectionError):  # the other end is gone
        raise RuntimeError(
            "a worker process has died; what was finished before is kept (in a script, the call must stand "
            'under if __name__ == "__main__":)'
        ) from None
    finally:
        started = [process for process in processes.values() if process.pid is not None]
        for process in started:
            process.terminate()
        for process in started:
            process.join()


def _in_one_piece(work: Callable[[J], R], job: J, say: Callable[[R], None]) -> None:
    say(work(job))


def _serve(connection: "Connection[Any, Any]") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    Thread(target=_end_with_parent, daemon=True).start()
    work: Any = None
    while True:
        try:
            work = work or _received(connection)
            job = _received(connection)
            work(job, lambda piece: connection.send((piece,)))
            connection.send(None)
        except (EOFError, ConnectionError):  # no more jobs, or the parent was killed
            return


def _end_with_parent() -> None:
    """End this process when its parent is killed: else it would train on, for hours, what nobody takes."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _received(connection: "Connection[Any, Any]") -> Any:
    """Return what the other end sends.

    Raises
    ------
    EOFError
        If it is gone; the standard library raises OSError where it was killed while it wrote.
    """
    try:
        return connection.recv()
    except OSError as error:
        raise EOFError from error
