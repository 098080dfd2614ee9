"""`Record`: all that is known of one dataset, kept for as long as it lives."""

import warnings
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.adapter import Fields, ObjectiveLike, Part
from boostplug.core.buffers import Buffers
from boostplug.data.named_labels import named_labels
from boostplug.data.pairs import Pairs
from boostplug.data.positions import positions_of
from boostplug.data.queries import Queries

__all__ = ["Attached", "Reading", "Record", "record_of"]


@dataclass(frozen=True, eq=False)
class Attached:
    """What `set_pairs`, `set_labels` and `set_positions` attached to a dataset."""

    pairs: Pairs | None = None
    labelled: NDArray[np.bool_] | None = None
    labels: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    position: NDArray[np.int64] | None = None

    def of_part(self, part: Part) -> "Attached":
        """Return what is left of them in a part of the rows, with a warning where that cuts pairs."""
        if self.labelled is not None and len(self.labelled) != part.n_rows:
            raise ValueError(f"labelled must hold one bool per row ({part.n_rows}), got {len(self.labelled)} values")
        rows = np.asarray(part.rows, dtype=np.int64)
        labels = {name: y[rows] for name, y in named_labels(self.labels, part.n_rows).items()}
        position = None if self.position is None else positions_of(self.position, part.n_rows)[rows]
        if self.pairs is None:
            return Attached(labels=labels, position=position)
        pairs, cut = self.pairs.of_rows(rows, part.n_rows)
        if cut:
            warnings.warn(
                f"{cut} of {len(self.pairs)} pairs have one row in this part of the data and one outside, and are left "
                "out of it; they cross the queries that the folds keep whole",
                UserWarning,
                stacklevel=4,
            )
        return Attached(pairs, None if self.labelled is None else self.labelled[rows], labels, position)


class Reading(NamedTuple):
    """What was read, and the `Queries` built from it: they stand for as long as the same is read again."""

    fields: Fields
    attached: Attached | None
    queries: Queries


class Beginning(NamedTuple):
    """A loss's first step in a training; what it belongs to may end before the dataset does."""

    queries: Callable[[], Queries | None]
    training: Callable[[], Any]
    """Its booster, or the queries again where that is not seen."""
    loss: ObjectiveLike


@dataclass(eq=False)
class Record:
    """All that is known of one dataset, or of callers that pass arrays and are no framework.

    Attributes
    ----------
    assigned : Queries, or None
        What our rankers know better than the framework; then nothing is read.
    attached : Attached, or None
        By `set_pairs`, `set_labels` and `set_positions`.
    inherited : tuple of Attached, or None
        Those of the whole of which this dataset is a part, and what is left of them here.
    read : deque of Reading
        The last one.
    arrays : deque of Reading
        Of arrays that came in place of this dataset; a user's objective may pass a few different ones in each round.
    warned : Queries, or None
        Those that had their warning that there is nothing to learn.
    buffers : Buffers
        Arrays reused from one boosting round to the next.
    begun : deque of Beginning
        Of the trainings whose first steps were looked at: one may ask some losses in each round, some may take turns.
    """

    assigned: Queries | None = None
    attached: Attached | None = None
    inherited: tuple[Attached, Attached] | None = None
    read: deque[Reading] = field(default_factory=lambda: deque(maxlen=1))
    arrays: deque[Reading] = field(default_factory=lambda: deque(maxlen=16))
    warned: Queries | None = None
    begun: deque[Beginning] = field(default_factory=lambda: deque(maxlen=64))
    buffers: Buffers = field(default_factory=Buffers)

    def begins(self, queries: Queries, loss: ObjectiveLike, booster: Any) -> bool:
        """Return whether this is the first step of a loss in a booster's training, from now on no more.

        Losses of one repr are one: a user's objective may build its loss anew in each round.
        """
        training = queries if booster is None else booster
        for known in tuple(self.begun):  # as it was, should another thread add to it
            same = known.queries() is queries and known.training() is training
            if same and (known.loss is loss or repr(known.loss) == repr(loss)):
                return False
        self.begun.appendleft(Beginning(weakref.ref(queries), weakref.ref(training), loss))
        return True


_records: weakref.WeakKeyDictionary[Any, Record] = weakref.WeakKeyDictionary()


def record_of(dataset: Any) -> Record:
    """Return what is known of a dataset, from now on if nothing was."""
    record = _records.get(dataset)
    return _records.setdefault(dataset, Record()) if record is None else record
