"""Outcomes of tests, results as JSON, and the versions of the libraries behind the numbers."""

import json
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from platform import python_version
from typing import Any

import numpy as np

from boostplug.core.version import __version__

SIGNIFICANT = 0.05  # a smaller p is significant
FEWEST_QUERIES = 30  # on test; with fewer, "no significant difference" has no meaning
_LIBRARIES = ("lightgbm", "xgboost", "numpy", "scipy", "numba", "scikit-learn")


class Outcome(StrEnum):
    """Outcome on test of a method against its reference, or of a challenger against the incumbent."""

    BETTER = "better"
    WORSE = "worse"
    LEVEL = "level"  # no significant difference
    AT_CAP = "at the cap"  # no verdict: a training ended at the cap of rounds
    TOO_FEW = "too few queries"  # no verdict: only huge differences are significant on so few
    UNCHALLENGED = "unchallenged"  # the incumbent itself is chosen
    DOUBTFUL = "doubtful"  # a leak, shared queries, or a score in use that cannot be what is meant
    NO_INCUMBENT = "no incumbent"  # not among the methods, or without a finished run

    @classmethod
    def from_test(cls, difference: float, p: float | None, sign: int, n_queries: int = FEWEST_QUERIES) -> "Outcome":
        """Return the outcome of a test; p is None at the cap of rounds, `sign` is -1 if lower is better."""
        if p is None:
            return cls.AT_CAP
        if p < SIGNIFICANT:
            return cls.BETTER if difference * sign > 0 else cls.WORSE
        return cls.TOO_FEW if n_queries < FEWEST_QUERIES else cls.LEVEL


def to_json(value: Any, *, finite: bool = False) -> Any:
    """Return a value in JSON's types: dataclasses as dictionaries, arrays as lists, NumPy's numbers as Python's.

    With `finite`, NaN and infinite numbers become None, because JSON has none, and other objects their ``repr``.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key) if finite else key: to_json(item, finite=finite) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item, finite=finite) for item in value]
    if not finite or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    return repr(value)


def as_json(document: Any) -> str:
    """Return a document as the text of a file."""
    return json.dumps(to_json(document, finite=True), indent=1, ensure_ascii=False) + "\n"


def versions(*more: str) -> dict[str, str]:
    """Return the versions of this library, of Python, of the libraries that affect results, and of `more`."""
    found = {"boostplug": __version__, "python": python_version()}
    names = dict.fromkeys([*_LIBRARIES, *(name for name in more if name != "boostplug")])
    return found | {name: number for name in names if (number := _version_of(name)) is not None}


@cache
def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
