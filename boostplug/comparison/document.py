"""Results as JSON: types, complete files, and the versions of the libraries behind the numbers."""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from boostplug.comparison.summary import to_json
from boostplug.core.version import __version__

_MARKED = re.compile(r"<!-- (table: [^\n]+|machine) -->\n.*?<!-- end -->", re.DOTALL)
_LIBRARIES = ("lightgbm", "xgboost", "numpy", "scipy", "numba", "scikit-learn")


def as_json(document: Any) -> str:
    """Return a document as the text of a file."""
    return json.dumps(to_json(document, finite=True), indent=1, ensure_ascii=False) + "\n"


def as_json_gz(document: Any) -> bytes:
    """Return a document as the bytes of a compressed file, equal for equal documents."""
    text = json.dumps(to_json(document, finite=True), separators=(",", ":"), ensure_ascii=False) + "\n"
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def read(path: Path, schema: str | None, use: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return the document of a file for a command that makes a page of it; end the command if it cannot be read.

    A file ``….gz`` is read as compressed.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SystemExit(f"{path} cannot be read ({error.strerror or error}); check the path") from None
    try:
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:  # not gzip, cut off, or damaged
        raise SystemExit(f"{path} is damaged, or not compressed by gzip ({error}); make it again") from None
    try:
        document: dict[str, Any] = json.loads(content.decode())
    except (ValueError, RecursionError) as error:  # not UTF-8, or not JSON
        raise SystemExit(f"{path} is damaged, or no JSON ({error}); make it again by boostplug … --json") from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        raise SystemExit(
            f"{path} is not a result of {schema}, but of {found!r}; name a file of this command and version"
        )
    try:
        use(document)
    except Exception as error:  # noqa: BLE001 (anything may be wrong in the file)
        reason = f"{type(error).__name__}: {error}"
        raise SystemExit(f"{path} is not a whole result of {schema} ({reason}); make it again") from None
    return document


def marks(text: str) -> set[str]:
    """Return the marks of the generated parts of a page: ``table: NAME``, ``machine``."""
    return set(_MARKED.findall(text))


def filled(text: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return a page with new lines between each ``<!-- table: NAME -->`` and its ``<!-- end -->``.

    Raises
    ------
    KeyError
        If a mark of the page (``table: NAME`` or ``machine``) is not in `tables`.
    """
    return _MARKED.sub(lambda found: "\n".join([f"<!-- {found[1]} -->", "", *tables[found[1]], "<!-- end -->"]), text)


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
