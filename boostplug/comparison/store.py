"""Finished results on disk, so that a run that was ended, in whatever way, goes on where it was."""

import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from boostplug.core.checks import shown

if sys.platform != "win32":
    import fcntl

__all__ = ["Store", "differences", "digest", "head_of"]

_REMEDY = "remove it to start anew, or name another place for results"


class Store:
    """Results by key: a line each, appended and synchronised, by one process at a time.

    A line is the digest of what follows it, and that in JSON; the first says what the results depend on. A torn last
    line counts as not written; any other damage is an error. Where a result can no longer be written, one warning says
    so, and the run goes on without.

    Parameters
    ----------
    path : Path or None
        None: in memory alone.
    head : dict
        What the results depend on, in JSON's types.

    Attributes
    ----------
    done : dict
        The results that are there.

    Raises
    ------
    OSError
        If the file cannot be read and written, or another process is at work on it.
    ValueError
        If it holds results of another run, or anything else.
    """

    def __init__(self, path: Path | None, head: dict[str, Any]) -> None:
        self.path = path
        self.done: dict[str, Any] = {}
        self._file: FileIO | None = None
        if path is None:
            return
        self._file = _opened(path)
        try:
            self._take(self._file, path, head)
        except OSError as error:
            self.close()
            raise _refusal(path, error) from None
        except BaseException:
            self.close()
            raise

    def _take(self, file: FileIO, path: Path, head: dict[str, Any]) -> None:
        """Read what is there, and cut off what was not written to its end."""
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if not whole and content[:_DIGEST].strip(b"0123456789abcdef"):  # not the start of a first line
            raise ValueError(f"{path} was not written by this program; {_REMEDY}")
        records = _records(path, content[:whole])
        found = next(records, None)
        other = [] if found is None else differences(_head(path, found), head)
        if other:
            raise ValueError(f"{path} holds results of another run (different: {', '.join(other)}); {_REMEDY}")
        self.done = dict(records)
        file.truncate(whole)
        if found is None:
            self._write(["head", head])

    def add(self, key: str, result: Any) -> None:
        """Keep a result; it is on disk when this returns, or a warning has said that it is not."""
        self.done[key] = result
        if self._file is None:
            return
        size = os.fstat(self._file.fileno()).st_size
        try:
            self._write([key, result])
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(size)
            self.close()
            warnings.warn(
                f"{self.path} cannot be written ({error.strerror or error}): what is finished from here on is not kept "
                "there, and the run goes on",
                RuntimeWarning,
                stacklevel=2,
            )

    def _write(self, record: list[Any]) -> None:
        assert self._file is not None
        text = json.dumps(record).encode()
        line = memoryview(_digest_of_line(text) + b" " + text + b"\n")
        while line:
            line = line[self._file.write(line) :]
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let other processes at the file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def remove(self) -> None:
        """Remove the file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def head_of(path: Path) -> dict[str, Any] | None:
    """Return what the results of a file depend on; None where it is damaged."""
    try:
        with path.open("rb") as file:
            return _head(path, next(_records(path, file.readline())))
    except (OSError, ValueError, StopIteration):
        return None


def differences(there: Mapping[str, Any], now: Mapping[str, Any], within: str = "") -> list[str]:
    """Return in what two heads differ, in words: ``rounds (100 there, 50 now)``; digests are named alone."""
    words = []
    for key in dict.fromkeys([*there, *now]):
        a, b = there.get(key), now.get(key)
        name = f"{within}{key}"
        if isinstance(a, dict) and isinstance(b, dict):
            words += differences(a, b, "" if key in _PLAIN else f"{name}.")
        elif a != b:
            hidden = any(isinstance(value, str) and _HASH.fullmatch(value) for value in (a, b))
            words.append(name if hidden else f"{name} ({_shown(a)} there, {_shown(b)} now)")
    return words


_PLAIN = ("settings", "versions", "data")  # whose entries are known by their own names
_DIGEST = sha256().digest_size * 2
_HASH = re.compile("[0-9a-f]{32}([0-9a-f]{32})?")  # by joblib, or by `digest`


def _shown(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else shown(value)


def digest(parts: Iterable[Any]) -> str:
    """Return the SHA-256 of arrays and bytes, in order."""
    sha = sha256()
    for part in parts:
        if isinstance(part, bytes):
            sha.update(part)
        elif part.dtype.kind in "biufc":
            sha.update(np.ascontiguousarray(part).data)
        else:
            sha.update(repr(part.tolist()).encode())
    return sha.hexdigest()


def _opened(path: Path) -> FileIO:
    """Return a file, made where there is none, that no other process has."""
    while True:
        try:
            file = FileIO(path, "a+")
        except OSError as error:
            raise _refusal(path, error) from None
        if not _lock(file):
            file.close()
            raise BlockingIOError(f"{path}: another process is at work on it; wait for its end, or name another place")
        with suppress(OSError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                file.seek(0)
                return file
        file.close()  # removed by the process that had it until now


def _lock(file: FileIO) -> bool:
    """Take a file; True also where files cannot be locked. The lock goes with the process, however it ends."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def _refusal(path: Path, error: OSError) -> OSError:
    return OSError(f"{path} cannot be read and written ({error.strerror or error}); {_REMEDY}")


def _records(path: Path, content: bytes) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(content.splitlines(), 1):
        found, _, text = line.partition(b" ")
        if found != _digest_of_line(text):
            raise ValueError(f"{path} is damaged in line {number}, or was not written by this program; {_REMEDY}")
        try:
            key, result = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            key = None
        if not isinstance(key, str):
            raise ValueError(f"{path} holds no result in line {number}; {_REMEDY}")
        yield key, result


def _head(path: Path, record: tuple[str, Any]) -> dict[str, Any]:
    key, head = record
    if key != "head" or not isinstance(head, dict):
        raise ValueError(f"{path} has lost its first line; {_REMEDY}")
    return dict(head)


def _digest_of_line(text: bytes) -> bytes:
    return sha256(text).hexdigest().encode()
