"""Atomic replacement of files: a reader sees the old content or the new one, never a mixture."""

import os
from pathlib import Path
from shutil import copymode
from uuid import uuid4


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file in one step, text in UTF-8; after an error the old file stays. A link stays a link.

    A pipe or a device is written to directly.
    """
    # Names of files and features may hold surrogates, which UTF-8 cannot encode.
    data = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    path = Path(path).resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    draft = path.with_name(f".{uuid4().hex}.new")
    try:
        draft.write_bytes(data)
        if path.exists():
            copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
