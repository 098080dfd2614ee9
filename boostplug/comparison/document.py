"""Results as JSON, and the versions of the libraries behind the numbers."""

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

from boostplug.comparison.summary import to_json
from boostplug.core.version import __version__

_LIBRARIES = ("lightgbm", "xgboost", "numpy", "scipy", "numba", "scikit-learn")


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
