"""One training: what the client hears of a loss that the workers call, and how it ends when something goes wrong."""

import traceback
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from boostplug.losses import Loss

_interrupted: set[str] = set()  # names of jobs, on each worker


class Job:
    """A training, at the client and on each worker.

    Attributes
    ----------
    name : str
        Unique.
    loss : Loss, or None for an objective of the framework
    texts : dict of str to bool
        Warnings of the loss on this worker, and whether it had a gradient in that round.
    """

    def __init__(self, loss: Loss | None) -> None:
        self.name, self.loss = uuid.uuid4().hex, loss
        self.texts: dict[str, bool] = {}

    def derivatives(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Return the derivatives that a function computes, and keep its warnings: the user sees no worker's log."""
        self.refuse_to_go_on()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = function(*arguments, **keywords)
        self.texts.update({str(warning.message): bool(found[0].any()) for warning in caught})
        return found

    def refuse_to_go_on(self) -> None:
        """Raise on a worker once the client has given up."""
        if self.name in _interrupted:
            raise InterruptedError("the fit was interrupted")

    @contextmanager
    def running(self, client: Any, is_loss_of_worker: Callable[[Exception], bool], remedy: str) -> Iterator[None]:
        """Be the client of the training in this block.

        If the user interrupts it, it ends on the workers too. What is raised when a worker was lost becomes a
        RuntimeError with a remedy. Tracebacks keep no local variables, and so no data on the cluster: notebooks keep
        the last error, and the next fit would have its data beside those.
        """
        try:
            with client.as_current():
                yield
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                client.run(_interrupted_by_user, self.name)
            link: BaseException | None = error
            while link is not None:
                traceback.clear_frames(link.__traceback__)
                link = link.__cause__ or link.__context__
            if isinstance(error, Exception) and is_loss_of_worker(error):
                raise RuntimeError(remedy) from error
            raise


def _interrupted_by_user(name: str) -> None:
    _interrupted.add(name)
