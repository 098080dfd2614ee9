"""What results are written as: JSON's types, whole files, and the versions that the numbers hang on."""

import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from boostplug.version import __version__

__all__ = ["as_json", "plain", "read", "versions", "write_whole"]

_LIBRARIES = ("lightgbm", "xgboost", "numpy", "scipy", "numba", "scikit-learn")


def plain(value: Any) -> Any:
    """Return `value` in JSON's types: what is not finite becomes None, NumPy's numbers Python's, the rest its repr."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)


def as_json(document: Any) -> str:
    """Return a document as the text of a file."""
    return json.dumps(plain(document), indent=1, ensure_ascii=False) + "\n"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never seen half-written."""
    draft = path.with_name(path.name + ".new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read(path: Path, schema: str) -> dict[str, Any]:
    """Return the document of a file, for a command that makes a page of it: what has another schema ends it."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if document.get("schema") != schema:
        raise SystemExit(f"{path.name} is no result of {schema}, but {document.get('schema')!r}")
    return document


def versions() -> dict[str, str]:
    """Return the versions of this library, of Python, and of the libraries that results hang on."""
    found = {"boostplug": __version__, "python": python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
