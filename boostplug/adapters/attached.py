"""Pairs, labels and positions attached to datasets, and how they follow subsets and slices."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from boostplug.adapters.adapter import Subset
from boostplug.adapters.record import Attached, record_of
from boostplug.adapters.registry import adapter_of, dataset_names
from boostplug.core.checks import vector
from boostplug.data.named_labels import named_labels
from boostplug.data.pairs import Pairs
from boostplug.data.positions import positions_of


def set_pairs(dataset: Any, pairs: Pairs, *, labelled: Any = None) -> None:
    """Attach preference pairs to a dataset; losses on pairs then use them in place of the grades.

    The pairs follow ``subset``, ``lgb.cv``, ``xgb.cv`` and ``DMatrix.slice``, with rows renumbered. A warning counts
    the pairs of which a subset has only one row. A later call replaces the pairs.

    Parameters
    ----------
    dataset : lightgbm.Dataset or xgboost.DMatrix
        Constructed or not. Without labels, or if all labels are 0 (LightGBM's replacement for missing labels), no row
        counts as labelled, unless `labelled` is given.
    pairs : Pairs
        Rows of this dataset.
    labelled : array-like of bool of shape (n_rows,), optional
        True for rows that have a label.

    Raises
    ------
    TypeError
        If `dataset` is no dataset of LightGBM or XGBoost, or `pairs` no `Pairs`.
    ValueError
        If a row index is beyond the dataset; raised at the first call of the loss, when the number of rows is known.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> import boostplug as bp
    >>> data = lgb.Dataset(np.arange(4.0).reshape(-1, 1), group=[4])
    >>> bp.set_pairs(data, bp.Pairs([0, 1], [3, 2]))
    """
    _refuse_no_dataset(
        dataset,
        "pairs on Dask collections are not possible, because pairs hold row numbers of one table, and a worker has "
        "only its own rows; attach them on one machine",
    )
    if not isinstance(pairs, Pairs):
        raise TypeError(f"pairs must be a boostplug.Pairs(winner, loser), got {type(pairs).__name__}")
    mask = None if labelled is None else vector("labelled", labelled).copy()
    if mask is not None and mask.dtype != np.bool_:
        raise ValueError(f"labelled must hold one bool per row, got {len(mask)} values of dtype {mask.dtype}")
    _attach(dataset, replace(attached_to(dataset) or Attached(), pairs=pairs, labelled=mask))


def set_labels(dataset: Any, /, mapping: Mapping[str, Any] | None = None, **labels: Any) -> None:
    """Attach named labels to a dataset; a loss or metric reads one of them after ``.on(name)``.

    The labels follow ``subset``, ``lgb.cv``, ``xgb.cv`` and ``DMatrix.slice``. A later call replaces labels of the same
    names and keeps the others. Without ``.on``, losses read the dataset's own label.

    Parameters
    ----------
    dataset : lightgbm.Dataset or xgboost.DMatrix
        Constructed or not.
    mapping : mapping of str to array-like of shape (n_rows,), optional
        For names that are not Python identifiers.
    **labels : array-like of shape (n_rows,)
        One finite number per row, or NaN where a row has no such label.

    Raises
    ------
    TypeError
        If `dataset` is not a dataset of LightGBM or XGBoost.
    ValueError
        If a name or a value is invalid, or a name is given twice. At the first call of the loss, if the number of
        values differs from the number of rows.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> import boostplug as bp
    >>> data = lgb.Dataset(np.arange(4.0).reshape(-1, 1), label=[1, 0, 2, 0], group=[4])
    >>> bp.set_labels(data, click=[1, 0, 1, 1], sale=[0, 0, 1, 0])
    >>> loss = bp.QBRank().on("click") + 2 * bp.QBRank().on("sale")
    """
    _refuse_no_dataset(dataset, "on Dask, pass labels= to fit of boostplug.dask.XGBRanker or boostplug.dask.LGBMRanker")
    by_mapping = named_labels({} if mapping is None else mapping)
    twice = by_mapping.keys() & labels.keys()
    if twice:
        raise ValueError(f"set_labels got the label {min(twice)!r} twice, in mapping and by name; pass it once")
    given = by_mapping | named_labels(labels)
    if not given:
        raise ValueError("set_labels got no labels; pass them by name: set_labels(dataset, sale=values)")
    known = attached_to(dataset) or Attached()
    _attach(dataset, replace(known, labels={**known.labels, **given}))


def set_positions(dataset: Any, positions: Any) -> None:
    """Attach the position at which users saw each row, for losses that learn from clicks (`Unbiased`).

    The positions follow ``subset``, ``lgb.cv``, ``xgb.cv`` and ``DMatrix.slice``. A later call replaces them.

    Parameters
    ----------
    dataset : lightgbm.Dataset or xgboost.DMatrix
        Constructed or not. LightGBM turns its own ``Dataset(position=…)`` into categories in the order of appearance,
        and subsets lose it, so it suits only losses that need no ranks.
    positions : array-like of int of shape (n_rows,)
        Place of each row on its page, from 1.

    Raises
    ------
    TypeError
        If `dataset` is not a dataset of LightGBM or XGBoost.
    ValueError
        If a position is missing, not an integer or below 1. At the first call of the loss, if the number of positions
        differs from the number of rows.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> import boostplug as bp
    >>> clicks = lgb.Dataset(np.arange(4.0).reshape(-1, 1), label=[1, 0, 0, 1], group=[2, 2])
    >>> bp.set_positions(clicks, [1, 2, 1, 2])
    """
    _refuse_no_dataset(
        dataset, "on Dask, pass position= to fit of boostplug.dask.XGBRanker or boostplug.dask.LGBMRanker"
    )
    found = positions_of(positions, len(vector("positions", positions)))
    _attach(dataset, replace(attached_to(dataset) or Attached(), position=found))


def _refuse_no_dataset(dataset: Any, remedy_on_dask: str) -> None:
    if adapter_of(dataset) is None:
        if "dask" in type(dataset).__module__.split("."):
            raise TypeError(f"got {type(dataset).__name__}; {remedy_on_dask}")
        raise TypeError(f"dataset must be a {dataset_names()}, got {type(dataset).__name__}")


def attached_to(dataset: Any) -> Attached | None:
    """Return the attachments of a dataset, or those inherited from the dataset of which it is a subset."""
    record = record_of(dataset)
    if record.attached is not None:
        return record.attached
    adapter = adapter_of(dataset)
    subset = None if adapter is None else adapter.subset(dataset)
    parent = None if subset is None else attached_to(subset.parent)
    if subset is None or parent is None:
        return None
    if record.inherited is None or record.inherited[0] is not parent:
        record.inherited = parent, parent.of_subset(subset)
    return record.inherited[1]


def _attach(dataset: Any, attached: Attached) -> None:
    record_of(dataset).attached = attached
    adapter = adapter_of(dataset)
    assert adapter is not None
    adapter.on_subsets(dataset, _attach_to_subset)


def _attach_to_subset(dataset: Any, subset: Subset) -> None:
    """Attach to a new slice the attachments of its parent, restricted to its rows."""
    attached = attached_to(subset.parent)
    assert attached is not None
    _attach(dataset, attached.of_subset(subset))
