"""Named labels: several labels for the same rows, such as clicks and sales."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import as_floats, check_values, frozen, shown

_NAME = re.compile(
    r"[^\s:,()\[\]'\"]+"
)  # names of metrics contain it, and frameworks split their logs at the other characters


def check_label_name(name: Any) -> str:
    """Return the name of a label, refusing characters that a metric's name cannot contain."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"the name of a label must be a text without spaces, colons, commas, brackets and quotes; got {shown(name)}"
        )
    return name


def named_labels(given: Any, n_rows: int | None = None) -> dict[str, Floats]:
    """Return checked labels by name: one finite number per row, or NaN for a row without this label.

    Raises
    ------
    ValueError
        If `given` is not a mapping, a name or a value is invalid, or the number of values is not `n_rows`.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"labels by name must be a mapping of names to arrays, got {shown(given)}")
    by_name = {}
    for name, values in given.items():
        title = f"the label {check_label_name(name)!r}"
        y = as_floats(title, values)
        if n_rows is not None and len(y) != n_rows:
            raise ValueError(f"{title} must hold one number per row ({n_rows}), got {len(y)} values")
        check_values(title, np.isinf(y), y, "is infinite; pass a finite number, or NaN where a row has no such label")
        by_name[name] = frozen(y)
    return by_name
