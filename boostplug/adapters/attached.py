"""Pairs, labels and positions attached to a dataset, for losses and metrics that read them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostplug.adapters.reading import Record, adapter_of, dataset_names, record_of
from boostplug.core.checks import as_vector
from boostplug.data.named_labels import named_labels
from boostplug.data.pairs import Pairs
from boostplug.data.positions import as_positions


def set_pairs(dataset: Any, pairs: Pairs, *, labelled: Any = None) -> None:
    """Attach preference pairs to a dataset. Losses on pairs then use them in place of the grades.

    Subsets and slices lose the pairs: ``subset``, ``lgb.cv``, ``xgb.cv`` and ``DMatrix.slice`` of the dataset raise a
    ValueError. Attach those of each part (`Pairs.of_rows`) to a dataset of its own. A later call replaces the pairs.

    Parameters
    ----------
    dataset : lightgbm.Dataset or xgboost.DMatrix
        Constructed or not. Without labels, no row counts as labelled, unless `labelled` is given. The same holds if all
        labels are 0: LightGBM's replacement for missing labels.
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
    record = _record_to_attach(
        dataset,
        "pairs on Dask collections are not possible, because pairs hold row numbers of one table, and a worker has "
        "only its own rows; attach them on one machine",
    )
    if not isinstance(pairs, Pairs):
        raise TypeError(f"pairs must be a boostplug.Pairs(winner, loser), got {type(pairs).__name__}")
    mask = None if labelled is None else as_vector("labelled", labelled).copy()
    if mask is not None and mask.dtype != np.bool_:
        raise ValueError(f"labelled must hold one bool per row, got {len(mask)} values of dtype {mask.dtype}")
    record.pairs, record.labelled, record.read = pairs, mask, None


def set_labels(dataset: Any, /, mapping: Mapping[str, Any] | None = None, **labels: Any) -> None:
    """Attach named labels to a dataset. A loss or metric reads one of them after ``.on(name)``.

    Subsets and slices lose the labels and raise a ValueError. A later call replaces labels of the same names and keeps
    the others. Without ``.on``, losses read the dataset's own label.

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
    record = _record_to_attach(
        dataset, "on Dask, pass labels= to fit of boostplug.dask.XGBRanker or boostplug.dask.LGBMRanker"
    )
    by_mapping = named_labels({} if mapping is None else mapping)
    twice = by_mapping.keys() & labels.keys()
    if twice:
        raise ValueError(f"set_labels got the label {min(twice)!r} twice, in mapping and by name; pass it once")
    given = by_mapping | named_labels(labels)
    if not given:
        raise ValueError("set_labels got no labels; pass them by name: set_labels(dataset, sale=values)")
    record.labels, record.read = {**record.labels, **given}, None


def set_positions(dataset: Any, positions: Any) -> None:
    """Attach the position at which users saw each row, for losses that learn from clicks (`Unbiased`).

    Subsets and slices lose the positions and raise a ValueError. A later call replaces them.

    Parameters
    ----------
    dataset : lightgbm.Dataset or xgboost.DMatrix
        Constructed or not. LightGBM turns its own ``Dataset(position=…)`` into categories in the order of appearance,
        and subsets lose it. So it suits only losses that need no ranks.
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
    record = _record_to_attach(
        dataset, "on Dask, pass position= to fit of boostplug.dask.XGBRanker or boostplug.dask.LGBMRanker"
    )
    record.position, record.read = as_positions(positions, len(as_vector("positions", positions))), None


def _record_to_attach(dataset: Any, remedy_on_dask: str) -> Record:
    """Return the record of a dataset, whose slices are refused from now on."""
    adapter = adapter_of(dataset)
    if adapter is None:
        if "dask" in type(dataset).__module__.split("."):
            raise TypeError(f"got {type(dataset).__name__}; {remedy_on_dask}")
        raise TypeError(f"dataset must be a {dataset_names()}, got {type(dataset).__name__}")
    adapter.check_no_slices(dataset)
    return record_of(dataset)
