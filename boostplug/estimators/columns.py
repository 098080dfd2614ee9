"""Arguments that count columns of X, in which columns of ids, labels and weights are taken out."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from boostplug.core.checks import column_names
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES

_PLACES = {*LIGHTGBM_ALIASES["categorical_feature"], "interaction_constraints"}
_OF_EACH = {*LIGHTGBM_ALIASES["monotone_constraints"], *LIGHTGBM_ALIASES["feature_contri"]}
_OF_EACH |= {"feature_weights", "max_bin_by_feature"}


def counting_features(
    arguments: Mapping[str, Any], X: Any, taken: Collection[str], features: Sequence[Any] | None = None
) -> dict[str, Any]:
    """Return arguments that count the columns of X as it was passed, counting its features.

    These are `features`, by default all columns, without those that are `taken` out. Names of columns, and sequences
    with an entry for each feature, are returned as they are.

    Raises
    ------
    ValueError
        If a place is that of no feature.
    """
    columns, counted = column_names(X) or range(np.shape(X)[1]), dict(arguments)
    kept = [columns.index(name) for name in (columns if features is None else features) if name not in taken]
    for name in counted.keys() & (_PLACES | _OF_EACH):
        if name in _PLACES:
            counted[name] = _among(name, counted[name], kept)
        elif kept != [*range(len(columns))] and np.shape(counted[name]) == (len(columns),):
            counted[name] = tuple(np.asarray(counted[name])[kept].tolist())
    return counted


def _among(argument: str, given: Any, kept: Sequence[int]) -> Any:
    """Return a place, a text or nested lists of places, counted among those of the features; names as they are."""
    if isinstance(given, str) and re.fullmatch(r"[\d\s,()[\]]*", given):
        return re.sub(r"\d+", lambda place: str(_among(argument, int(place[0]), kept)), given)
    if isinstance(given, (list, tuple, set, np.ndarray)):
        return [_among(argument, one, kept) for one in given]
    if isinstance(given, (int, np.integer)) and given not in kept:
        raise ValueError(f"{argument} holds {given}, which is the place of no feature in X; pass places of features")
    return kept.index(given) if isinstance(given, (int, np.integer)) else given
