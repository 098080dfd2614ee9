"""A framework's dataset → `Queries`.

A dataset's `Queries` live as long as the dataset. Each call reads its labels, groups and weights and compares them with
the last ones. If they have changed, they are checked and the `Queries` are rebuilt.
"""

from collections import deque
from typing import Any

from boostplug.adapters.adapter import Adapter, Fields
from boostplug.adapters.attached import attached_to
from boostplug.adapters.record import Attached, Reading, Record, record_of
from boostplug.adapters.registry import adapter_of
from boostplug.data.queries import Queries


def assign(dataset: Any, queries: Queries) -> None:
    """Make losses and metrics use `queries` for `dataset`, in place of the fields of the dataset."""
    record_of(dataset).assigned = queries


def refuse_fault(fault: str | None) -> None:
    """Raise ValueError for an adapter's error message; do nothing for None."""
    if fault is not None:
        raise ValueError(fault)


def queries_of(dataset: Any) -> Queries:
    """Return the `Queries` of a framework's dataset, built at the first call and whenever its fields have changed."""
    record = record_of(dataset)
    if record.assigned is not None:
        return record.assigned
    adapter = adapter_of(dataset)
    assert adapter is not None
    attached = attached_to(dataset)
    fields = adapter.read(dataset)
    known = _known(record.read, fields, attached)
    if known is not None:
        return known
    if fields.labels is None and attached is None:
        raise ValueError(f"the {adapter.dataset_name} has no label; pass label=grades to {adapter.dataset_name}")
    refuse_fault(adapter.fault_of_fields(fields, dataset))
    return _built(record.read, fields, attached)


def queries_of_arrays(fields: Fields, record: Record, adapter: Adapter | None) -> Queries:
    """Return the `Queries` of arrays that a framework or a user passes in place of a dataset; `record` keeps them."""
    known = _known(record.arrays, fields, None)
    if known is not None:
        return known
    if adapter is not None:
        refuse_fault(adapter.fault_of_fields(fields, None))
    return _built(record.arrays, fields.copied(), None)


def _known(readings: deque[Reading], fields: Fields, attached: Attached | None) -> Queries | None:
    for known in tuple(readings):  # a copy, since another thread may append
        if known.attached is attached and known.fields.same_as(fields):
            return known.queries
    return None


def _built(readings: deque[Reading], fields: Fields, attached: Attached | None) -> Queries:
    labels, also = fields.labels, attached or Attached()
    if labels is not None and also.pairs is not None and also.labelled is None and not labels.any():
        labels = None  # LightGBM replaces missing labels by zeros
    queries = Queries(
        labels,
        group=fields.group,
        weight=fields.weight,
        pairs=also.pairs,
        labelled=also.labelled,
        labels_by_name=also.labels,
        position=also.position,
    )
    if also.position is None and fields.position is not None:
        queries = queries.with_positions(fields.position + 1, is_rank=False)
    readings.append(Reading(fields, attached, queries))
    return queries
