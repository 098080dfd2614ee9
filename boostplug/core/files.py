"""Atomic replacement of files: a reader sees the old content or the new one, never a mixture."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from shutil import copymode
from typing import IO
from uuid import uuid4


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file in one step, as `replacing` does; text in UTF-8."""
    with replacing(path) as file:
        # Names of files and features may hold surrogates, which UTF-8 cannot encode.
        file.write(content if isinstance(content, bytes) else content.encode(errors="backslashreplace"))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a binary file that replaces `path` when the block ends; after an error the old file stays.

    A link stays a link. A pipe, a device, and a file that stdout or stderr goes to are written to directly.
    """
    path = Path(path)
    number = stream_of(path)
    if number is not None:
        with suppress(OSError, ValueError, AttributeError):  # earlier output comes first
            (sys.stdout if number == 1 else sys.stderr).flush()
        with os.fdopen(os.dup(number), "wb") as file:
            yield file
    elif path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
    else:
        yield from _replacing_file(path.resolve())


def _replacing_file(path: Path) -> Iterator[IO[bytes]]:
    draft = path.with_name(f".{uuid4().hex}.new")
    try:
        file = draft.open("xb")
    except PermissionError:  # the folder is read-only
        memory = BytesIO()
        yield memory
        path.write_bytes(memory.getvalue())
        return
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            copymode(path, draft)
        try:
            draft.replace(path)
        except PermissionError:  # Windows: another process has the old file open
            path.write_bytes(draft.read_bytes())
    finally:
        draft.unlink(missing_ok=True)


def stream_of(path: Path) -> int | None:
    """Return 1 or 2 if stdout or stderr goes to this path, else None."""
    for number in (1, 2):
        with suppress(OSError, ValueError):
            if os.path.samestat(path.stat(), os.fstat(number)):
                return number
    return None


def is_same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, through links too; the file need not exist."""
    if path.resolve() == other.resolve():
        return True
    with suppress(OSError):
        return path.samefile(other)
    return False
