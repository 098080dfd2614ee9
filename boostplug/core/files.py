"""Atomic replacement of files: a reader sees the old content or the new one, never a mixture, and other files stay."""

import os
import re
import zlib
from pathlib import Path
from shutil import copymode
from uuid import uuid4

_KINDS = (  # files that may replace each other; those of any other kind begin with the same 12 bytes
    rb"(?i)\s*<(!doctype )?html",
    rb'\s*\{\s*"schema":\s*"boostplug',  # results
    rb"# .*\n\n\| framework \|",  # tables of a comparison
    rb"<\?xml [^>]*>\s*<!DOCTYPE svg",  # figures of matplotlib
    rb'tree\nversion|\{"learner"|\{L.{8}learner',  # models of LightGBM and XGBoost
    rb"\S+\s+Q0\s+\S+\s+\d+\s",  # TREC's runs
    rb"\S+\s+0\s+\S+\s+-?\d+\n",  # TREC's judgements
)


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file in one step, text in UTF-8. After an error the old file stays. A link stays a link.

    A pipe or a device is written to directly.

    Raises
    ------
    FileExistsError
        If the old file is of another kind.
    """
    # Names of files and features may hold surrogates, which UTF-8 cannot encode.
    data = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    path = Path(path)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    check_replaceable(path, data)
    path = path.resolve()
    draft = path.with_name(f".{uuid4().hex}.new")
    try:
        draft.write_bytes(data)
        if path.exists():
            copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def check_replaceable(path: Path, content: bytes, name: str = "path") -> None:
    """Refuse a file that holds something else than a file with such content, which may be only its beginning."""
    if path.is_file():
        with path.open("rb") as file:
            old, new = (
                zlib.decompressobj(31).decompress(start) if start[:3] == b"\x1f\x8b\x08" else start  # gzip's
                for start in (file.read(1000), content[:1000])
            )
        kind = next((kind for kind in _KINDS if re.match(kind, new)), re.escape(new[:12]) or rb"\Z")
        if old.strip() and not re.match(kind, old):
            raise FileExistsError(f"{name}: {path} holds something else; name another file, or remove this one")


def is_same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, through links too. It need not exist."""
    return path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other))
