"""Pairs attached to datasets: `set_pairs`, and how they follow subsets and slices."""

from typing import Any

import numpy as np

from boostplug.adapters.adapter import Part
from boostplug.adapters.record import Preferences, record_of
from boostplug.adapters.registry import adapter_of, dataset_names
from boostplug.core.checks import vector
from boostplug.data.pairs import Pairs

__all__ = ["preferences_of", "set_pairs"]


def set_pairs(dataset: Any, pairs: Pairs, *, labelled: Any = None) -> None:
    """Attach explicit preferences to a dataset; losses on pairs then use them in place of the grades.

    They follow ``subset``, ``lgb.cv``, ``xgb.cv`` and ``DMatrix.slice``, with rows numbered anew; a warning counts the
    pairs that a part cuts. A later call replaces them.

    Parameters
    ----------
    dataset : lightgbm.Dataset or xgboost.DMatrix
        Constructed or not. Without labels, or with labels that are all 0 (which LightGBM makes of missing ones), no row
        counts as labelled, unless `labelled` says otherwise.
    pairs : Pairs
        Rows of this dataset.
    labelled : array-like of bool of shape (n_rows,), optional
        Which rows have a label that means something.

    Raises
    ------
    TypeError
        If `dataset` is no dataset of LightGBM or XGBoost, or `pairs` no `Pairs`.
    ValueError
        If a row index is beyond the dataset; at the first call of the loss, where the number of rows is known.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> import boostplug as bp
    >>> data = lgb.Dataset(np.arange(4.0).reshape(-1, 1), group=[4])
    >>> bp.set_pairs(data, bp.Pairs([0, 1], [3, 2]))
    """
    if adapter_of(dataset) is None:
        if "dask" in type(dataset).__module__.split("."):
            raise TypeError(
                "pairs on Dask collections are not possible, because pairs number the rows of one table, and a worker "
                f"does not know the rows of others; got {type(dataset).__name__}: attach them on one machine"
            )
        raise TypeError(f"dataset must be a {dataset_names()}, got {type(dataset).__name__}")
    if not isinstance(pairs, Pairs):
        raise TypeError(f"pairs must be a boostplug.Pairs(winner, loser), got {type(pairs).__name__}")
    mask = None if labelled is None else vector("labelled", labelled).copy()
    if mask is not None and mask.dtype != np.bool_:
        raise ValueError(f"labelled must hold one bool per row, got {len(mask)} values of dtype {mask.dtype}")
    _attach(dataset, Preferences(pairs, mask))


def preferences_of(dataset: Any) -> Preferences | None:
    """Return what `set_pairs` attached to a dataset, or to the whole of which it is a subset."""
    record = record_of(dataset)
    if record.attached is not None:
        return record.attached
    adapter = adapter_of(dataset)
    part = None if adapter is None else adapter.part(dataset)
    of_whole = None if part is None else preferences_of(part.whole)
    if part is None or of_whole is None:
        return None
    if record.inherited is None or record.inherited[0] is not of_whole:
        record.inherited = of_whole, of_whole.of_part(part)
    return record.inherited[1]


def _attach(dataset: Any, preferences: Preferences) -> None:
    record_of(dataset).attached = preferences
    adapter = adapter_of(dataset)
    assert adapter is not None
    adapter.on_parts(dataset, _hand_on)


def _hand_on(dataset: Any, part: Part) -> None:
    """Give a new dataset what is left of the preferences of the one it was cut from."""
    preferences = preferences_of(part.whole)
    assert preferences is not None
    _attach(dataset, preferences.of_part(part))
