"""A job of XGBoost on a cluster, from the driver: its workers are brought together, watched, and started once more."""

import re
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from distributed import Future, MultiLock, Variable
from distributed.protocol.pickle import loads

from boostplug.dask.collections import Parts
from boostplug.dask.workers import (
    Checkpoint,
    ElsewhereError,
    Job,
    LostError,
    Trained,
    abandon,
    start_tracker,
    stop_tracker,
    train,
)

__all__ = ["InterruptedTrainingError", "run"]

_LOOK = 1.0  # seconds from one look at which workers are there to the next
_PATIENCE = 5.0  # seconds in which workers leave a job in order, for which they need the tracker
_GRACE = 30.0  # seconds for workers to notice that another has gone
_COMEBACK = 10.0  # seconds for a worker's nanny to start it again
_NONE_LEFT = 60.0  # seconds in which a cluster without any worker gets one

_OF_ANOTHER = re.compile(r"\W*on worker (\d+) of \d+: ")


class InterruptedTrainingError(RuntimeError):
    """A job lost workers, or the network between them broke, and no retry is left.

    Attributes
    ----------
    checkpoint : Checkpoint, or None
        The last one.
    """

    def __init__(self, text: str, checkpoint: Checkpoint | None = None) -> None:
        super().__init__(text)
        self.checkpoint = checkpoint


def run(client: Any, job: Job, sets: list[Parts], again: Callable[[], list[Parts]], retries: int) -> Trained:
    """Return what a job trains.

    Parameters
    ----------
    client : distributed.Client
    job : Job
    sets : list of Parts
        The training set, then validation sets.
    again : callable
        Computes them anew, on the workers that are left; those that were are given up.
    retries : int
        How often the training may go on from the last checkpoint, or from its beginning, when it was interrupted.

    Raises
    ------
    InterruptedTrainingError
        If it is so once more.
    """
    n_workers = len(client.nthreads())
    kept = Variable(job.name, client=client)  # the last checkpoint, which outlives the worker that made it
    kept.set(b"")
    try:
        while True:
            outcome = _attempt(client, job, sets, kept.get())
            if isinstance(outcome, Trained):
                return outcome
            for parts in sets:
                parts.release()
            last = kept.get()
            checkpoint: Checkpoint | None = loads(last) if last else None
            rounds = "no round" if checkpoint is None else f"{checkpoint.n_rounds} of {job.n_rounds} rounds"
            if not retries or not _come_back(client, n_workers):
                raise InterruptedTrainingError(f"{outcome}; {rounds} of the training are kept", checkpoint)
            retries -= 1
            warnings.warn(f"{outcome}; the training goes on, with {rounds} done", UserWarning, stacklevel=3)
            sets = again()
    finally:
        kept.delete()
        for parts in sets:
            parts.release()


def _come_back(client: Any, n_workers: int) -> bool:
    """Wait a while for workers to come back, longer where there is none; return whether there is one."""
    begun = time.monotonic()
    while (n_there := len(client.nthreads())) < n_workers:
        if time.monotonic() - begun > (_COMEBACK if n_there else _NONE_LEFT):
            break
        time.sleep(_LOOK / 4)
    return n_there > 0


def _attempt(client: Any, job: Job, sets: list[Parts], checkpoint: bytes) -> Trained | str:
    """Return what all workers have trained, or how they were interrupted."""
    try:
        places = [parts.by_worker() for parts in sets]
    except RuntimeError as error:
        return str(error)
    if job.matrix["enable_categorical"] and any(summary.table.categories for summary in sets[0].summaries):
        places = [
            places[0],
            *(_on_all(job, number, place, list(places[0])) for number, place in enumerate(places[1:], 1)),
        ]
    # By their first partitions, so that the same data have the same first worker.
    workers = list(dict.fromkeys(address for place in places for address in sorted(place, key=lambda a: place[a])))
    with MultiLock(workers, client=client):  # two jobs would wait for each other, each on a worker of the other
        there = client.nthreads()
        if gone := [address for address in workers if address not in there]:
            return _left(gone)
        futures: dict[str, Future] = {}
        try:
            meeting = client.run(start_tracker, job.name, len(workers), workers=workers[:1])[workers[0]]
            for number, address in enumerate(workers):
                futures[address] = client.submit(
                    train, job, number, meeting, _held(sets, places, address), checkpoint,
                    workers=[address], allow_other_workers=False, pure=False,
                )  # fmt: skip
            gone = _watched(client, futures, lambda: _stop_tracker(client, job, workers[0]))
            return _outcome(futures, gone)
        finally:
            _abandon(client, job, futures)
            _stop_tracker(client, job, workers[0])


def _on_all(job: Job, number: int, place: dict[str, list[int]], workers: list[str]) -> dict[str, list[int]]:
    """Return places of a validation set on all workers that train, where columns hold categories.

    XGBoost takes no matrix without rows then.
    """
    n_partitions = sum(map(len, place.values()))
    if n_partitions < len(workers):
        raise ValueError(
            f"eval_set[{job.evals.index(number)}] has {n_partitions} partitions with rows for {len(workers)} workers, "
            "and XGBoost needs rows on each where columns hold categories; repartition it: "
            f"partition_by_query(ddf, qid, npartitions={2 * len(workers)})"
        )
    held = {address: list(place.get(address, ())) for address in workers}
    spare = [partition for address, theirs in place.items() if address not in held for partition in theirs]
    for theirs in held.values():
        if not theirs:
            theirs.append((spare or max(held.values(), key=len)).pop())
    for partition in spare:
        min(held.values(), key=len).append(partition)
    return held


def _held(sets: list[Parts], places: list[dict[str, list[int]]], address: str) -> list[list[Future]]:
    """Return what a worker has of each set."""
    return [[parts.futures[p] for p in place.get(address, ())] for parts, place in zip(sets, places, strict=True)]


def _stop_tracker(client: Any, job: Job, address: str) -> None:
    if address in client.nthreads():
        client.run(stop_tracker, job.name, workers=[address], on_error="ignore")


def _abandon(client: Any, job: Job, futures: dict[str, Future]) -> None:
    """Have workers stop that are still at work: they were slow to notice a loss, or the user has had enough."""
    there = client.nthreads()
    at_work = [address for address, future in futures.items() if future.status == "pending" and address in there]
    if at_work:
        client.run(abandon, job.name, workers=at_work, on_error="ignore")
        until = time.monotonic() + _PATIENCE
        while any(futures[address].status == "pending" for address in at_work) and time.monotonic() < until:
            time.sleep(_LOOK / 10)
    client.cancel(list(futures.values()))


def _watched(client: Any, futures: dict[str, Future], stop_tracker: Callable[[], None]) -> list[str]:
    """Wait until all workers have ended; return those that have left before, whose tasks would wait for ever."""
    news = threading.Event()
    for future in futures.values():
        future.add_done_callback(lambda _: news.set())
    begun, stopped = float("inf"), False
    while True:
        news.wait(_LOOK)
        news.clear()
        waiting = [address for address, future in futures.items() if future.status == "pending"]
        there = client.nthreads()
        gone = [address for address in waiting if address not in there]
        if gone or any(future.status == "error" for future in futures.values()):
            begun = min(begun, time.monotonic())
        since = time.monotonic() - begun
        if len(gone) == len(waiting) or since > _GRACE:
            return gone
        if since > _PATIENCE and not stopped:
            stop_tracker()  # some may wait there for one that never comes
            stopped = True


def _outcome(futures: dict[str, Future], gone: list[str]) -> Trained | str:
    lost = ""
    for address, future in futures.items():
        if future.status != "error":
            continue
        error = future.exception()
        if isinstance(error, LostError):
            lost = lost or str(error)
        elif error is not None and not isinstance(error, ElsewhereError):
            told = _OF_ANOTHER.match(str(error))  # a loss or a metric raises on all what it raised on one
            error.add_note(f"raised on worker {address if told is None else list(futures)[int(told[1])]}")
            raise error
    if gone:
        return _left(gone)
    silent = [address for address, future in futures.items() if future.status != "finished"]
    if silent:
        return f"the network between the workers broke, at {silent[0]}: {lost}"
    trained: Trained = next(iter(futures.values())).result()
    return trained


def _left(gone: list[str]) -> str:
    several = len(gone) > 1
    return f"worker{'s' * several} {' and '.join(gone)} {'have' if several else 'has'} left the cluster"
