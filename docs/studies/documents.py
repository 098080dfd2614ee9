"""Files of results, compressed or not, and the parts of pages that are generated from them."""

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostplug.comparison.summary import to_json

_MARKED = re.compile(r"<!-- (table: [^\n]+|machine) -->\n.*?<!-- end -->", re.DOTALL)


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
        document: dict[str, Any] = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        found = document.get("schema")
        if found != schema:
            raise ValueError(f"it is a result of {found!r}")  # noqa: TRY301 (as anything else that may be wrong)
        use(document)
    except Exception as error:  # noqa: BLE001 (anything may be wrong in the file)
        reason = f"{type(error).__name__}: {error}"
        raise SystemExit(f"{path} is no complete result of {schema} ({reason}); make it again") from None
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
