"""What a framework passes to a loss or metric → scores and `Queries`.

A dataset's `Queries` live as long as the dataset. Each call reads its labels, groups and weights and compares them with
the last ones. If they have changed, they are checked and the `Queries` are rebuilt.
"""

import sys
import weakref
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.adapter import Adapter, Fields
from boostplug.adapters.lightgbm import LightGBM
from boostplug.adapters.xgboost import XGBoost
from boostplug.core.checks import as_floats
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries

ADAPTERS: tuple[Adapter, ...] = (LightGBM(), XGBoost())

Reading = tuple[Fields, Queries]
"""Fields last read, and the `Queries` built from them."""


@dataclass(eq=False)
class Record:
    """Per-dataset cache: the fields last read, the `Queries` built from them, and attachments.

    Attributes
    ----------
    assigned : Queries, or None
        Set by our rankers; if given, nothing is read from the dataset.
    read : tuple of Fields and Queries, or None
        The last reading.
    pairs, labelled, labels, position
        Set by `set_pairs`, `set_labels` and `set_positions`.
    """

    assigned: Queries | None = None
    read: Reading | None = None
    pairs: Pairs | None = None
    labelled: NDArray[np.bool_] | None = None
    labels: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    position: NDArray[np.int64] | None = None

    @property
    def has_attachments(self) -> bool:
        """True if pairs, labels or positions are attached."""
        return self.pairs is not None or bool(self.labels) or self.position is not None


_records: weakref.WeakKeyDictionary[Any, Record] = weakref.WeakKeyDictionary()
_of_arrays: deque[Reading] = deque(maxlen=4)


def adapter_of(data: Any) -> Adapter | None:
    """Return the adapter of the framework to which the dataset `data` belongs, or None."""
    for adapter in ADAPTERS:
        module = sys.modules.get(adapter.framework)
        if module is not None and isinstance(data, getattr(module, adapter.kind)):
            return adapter
    return None


def dataset_names() -> str:
    """Return the names of the dataset classes, for messages."""
    return " or ".join(f"{adapter.framework}.{adapter.kind}" for adapter in ADAPTERS)


def record_of(dataset: Any) -> Record:
    """Return the record of a dataset, creating it at the first call."""
    return _records.setdefault(dataset, Record())


def assign(dataset: Any, queries: Queries) -> None:
    """Make losses and metrics use `queries` for `dataset`, in place of the fields of the dataset."""
    record_of(dataset).assigned = queries


def queries_of(adapter: Adapter, dataset: Any) -> Queries:
    """Return the `Queries` of a framework's dataset, built at the first call and whenever its fields have changed."""
    record = _records.get(dataset) or record_of(dataset)
    if record.assigned is not None:
        return record.assigned
    fields = adapter.read(dataset)
    if record.read is None or not fields.same_as(record.read[0]):
        adapter.check(fields, dataset)
        parent = adapter.parent(dataset)
        if parent is not None and record_of(parent).has_attachments and not record.has_attachments:
            raise ValueError(
                f"a subset of an {adapter.framework}.{adapter.kind} loses its pairs, labels and positions; attach "
                "those of its rows to the subset; in place of lgb.cv train on the folds of boostplug.group_folds"
            )
        record.read = fields, _build_queries(fields, record)
    return record.read[1]


def _build_queries(fields: Fields, record: Record) -> Queries:
    labels = fields.labels
    if labels is None and record.pairs is None:
        raise ValueError("the dataset has no label; pass label=grades")
    if labels is not None and record.pairs is not None and record.labelled is None and not labels.any():
        labels = None  # LightGBM replaces missing labels by zeros
    queries = Queries(
        labels,
        group=fields.group,
        weight=fields.weight,
        pairs=record.pairs,
        labelled=record.labelled,
        labels_by_name=record.labels,
        position=record.position,
    )
    if record.position is None and fields.position is not None:
        queries = queries.with_positions(fields.position + 1, is_rank=False)
    return queries


def queries_of_arrays(labels: Any, weight: Any, group: Any) -> Queries:
    """Return the `Queries` of arrays. The last ones are kept as long as their labels live, as in a training."""
    if adapter_of(labels) is not None:
        raise TypeError("the dataset came first: call loss(scores, dataset), as lgb.train and xgb.train do")
    if group is None:
        raise ValueError(
            "group is missing: a ranking objective needs the queries. Use LGBMRanker with fit(…, group=sizes), "
            "or lgb.train on a Dataset with group=sizes; LGBMRegressor and LGBMClassifier pass none"
        )
    own = labels if isinstance(labels, np.ndarray) else None
    labels, group = _as_floats("labels", labels), _as_floats("group", group)
    fields = Fields(labels, group, None if weight is None else _as_floats("weight", weight))
    for known, queries in tuple(_of_arrays):  # a copy, since another thread may append
        if known.same_as(fields):
            return queries
    copies = Fields._make(None if values is None else values.copy() for values in fields)
    queries = Queries(copies.labels, group=copies.group, weight=copies.weight)
    if own is not None:
        _of_arrays.append((copies, queries))
        weakref.finalize(own, _of_arrays.clear)
    return queries


def _as_floats(name: str, values: Any) -> Any:
    """Return numbers as floats; arrays of floats, as frameworks pass them, are returned unchecked."""
    return values if isinstance(values, np.ndarray) and values.dtype.kind == "f" else as_floats(name, values)
