"""`Record`: the per-dataset cache, kept as long as the dataset lives."""

import warnings
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.adapter import Fields, ObjectiveLike, Subset
from boostplug.data.named_labels import named_labels
from boostplug.data.pairs import Pairs
from boostplug.data.positions import positions_of
from boostplug.data.queries import Queries


@dataclass(frozen=True, eq=False)
class Attached:
    """Pairs, labels and positions that `set_pairs`, `set_labels` and `set_positions` attached to a dataset."""

    pairs: Pairs | None = None
    labelled: NDArray[np.bool_] | None = None
    labels: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    position: NDArray[np.int64] | None = None

    def of_subset(self, subset: Subset) -> "Attached":
        """Return the attachments of a subset of the rows; warn if only one row of a pair is in it."""
        if self.labelled is not None and len(self.labelled) != subset.n_rows:
            raise ValueError(f"labelled must hold one bool per row ({subset.n_rows}), got {len(self.labelled)} values")
        rows = np.asarray(subset.rows, dtype=np.int64)
        labels = {name: y[rows] for name, y in named_labels(self.labels, subset.n_rows).items()}
        position = None if self.position is None else positions_of(self.position, subset.n_rows)[rows]
        if self.pairs is None:
            return Attached(labels=labels, position=position)
        pairs, cut = self.pairs.of_rows(rows, subset.n_rows)
        if cut:
            warnings.warn(
                f"{cut} of {len(self.pairs)} pairs have one row in this part of the data and one outside, and are left "
                "out of it; they connect rows of different queries, which folds may separate",
                UserWarning,
                stacklevel=4,
            )
        return Attached(pairs, None if self.labelled is None else self.labelled[rows], labels, position)


class Reading(NamedTuple):
    """Fields last read from a dataset, and the `Queries` built from them; valid while the fields stay equal."""

    fields: Fields
    attached: Attached | None
    queries: Queries


class Beginning(NamedTuple):
    """First step of a loss in a training. References are weak, since the training may end before the dataset does."""

    queries: Callable[[], Queries | None]
    training: Callable[[], Any]
    """The booster, or the queries if the booster is not known."""
    loss: ObjectiveLike


@dataclass(eq=False)
class Record:
    """Per-dataset cache: the fields last read, the `Queries` built from them and attachments.

    Calls with plain arrays from outside a framework share one record.

    Attributes
    ----------
    assigned : Queries, or None
        Set by our rankers; if given, nothing is read from the dataset.
    attached : Attached, or None
        Set by `set_pairs`, `set_labels` and `set_positions`.
    inherited : tuple of Attached, or None
        Attachments of the parent dataset, and their restriction to this subset.
    read : deque of Reading
        The last reading.
    arrays : deque of Reading
        Readings of arrays passed in place of this dataset; a user's objective may pass several in each round.
    warned : Queries, or None
        Queries for which the warning "nothing to learn" was given.
    begun : deque of Beginning
        Trainings whose first step was checked. Several, since a training may call several losses in each round.
    """

    assigned: Queries | None = None
    attached: Attached | None = None
    inherited: tuple[Attached, Attached] | None = None
    read: deque[Reading] = field(default_factory=lambda: deque(maxlen=1))
    arrays: deque[Reading] = field(default_factory=lambda: deque(maxlen=16))
    warned: Queries | None = None
    begun: deque[Beginning] = field(default_factory=lambda: deque(maxlen=64))

    def begins(self, queries: Queries, loss: ObjectiveLike, booster: Any) -> bool:
        """Return True at the first call for a loss in a booster's training, False afterwards.

        Losses with equal repr count as the same, since a user's objective may build its loss in each round.
        """
        training = queries if booster is None else booster
        for known in tuple(self.begun):  # a copy, since another thread may append
            same = known.queries() is queries and known.training() is training
            if same and (known.loss is loss or repr(known.loss) == repr(loss)):
                return False
        self.begun.appendleft(Beginning(weakref.ref(queries), weakref.ref(training), loss))
        return True


_records: weakref.WeakKeyDictionary[Any, Record] = weakref.WeakKeyDictionary()


def record_of(dataset: Any) -> Record:
    """Return the record of a dataset, creating it at the first call."""
    record = _records.get(dataset)
    return _records.setdefault(dataset, Record()) if record is None else record
