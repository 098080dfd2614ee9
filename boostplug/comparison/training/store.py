"""Finished results in an SQLite file, so that a run that was ended, in whatever way, goes on where it was."""

import json
import re
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np

from boostplug.core.checks import shown

_REMEDY = "remove it to start anew, or name another place for results"
_APPLICATION = 0x6270_7267  # in the file's header: the database is one of ours
_HEAD = "head"  # the key of what the results depend on


class Store:
    """Results by key, each on disk when `add` returns; several processes may add to one file.

    A row holds a key, its result in JSON, and the digest of both, since SQLite itself does not detect a damaged value.
    Where a result can no longer be written, one warning says so, and the run goes on without.

    Parameters
    ----------
    path : Path or None
        None: in memory only.
    head : dict
        What the results depend on, in JSON's types.

    Attributes
    ----------
    done : dict
        The results that were there when the file was opened, and those that were added since.

    Raises
    ------
    OSError
        If the file cannot be read and written.
    ValueError
        If it holds results of another run, or anything else, or is damaged.
    """

    def __init__(self, path: Path | None, head: dict[str, Any]) -> None:
        self.path, self._head = path, head
        self.done: dict[str, Any] = {}
        self._database: sqlite3.Connection | None = None
        if path is None:
            return
        with _named_errors(path):
            self._database = sqlite3.connect(path, isolation_level=None)
            try:
                self._read(self._database, path, head)
            except BaseException:
                self.close()
                raise

    def _read(self, database: sqlite3.Connection, path: Path, head: dict[str, Any]) -> None:
        """Read the results that are there; make the table in a new file."""
        with _transaction(database):
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute("CREATE TABLE results (key TEXT PRIMARY KEY, result TEXT, digest TEXT) WITHOUT ROWID")
                _write(database, _HEAD, head)
            self.done = _results(path, database)
        other = differences(self.done.pop(_HEAD), head)
        if other:
            raise ValueError(f"{path} holds results of another run (different: {', '.join(other)}); {_REMEDY}")

    def __reduce__(self) -> tuple[type["Store"], tuple[Path | None, dict[str, Any]]]:
        return Store, (self.path, self._head)  # each process has a connection of its own

    def add(self, key: str, result: Any) -> None:
        """Keep a result; it is on disk when this returns, or a warning has said that it is not."""
        self.done[key] = result
        if self._database is None:
            return
        try:
            _write(self._database, key, result)
        except sqlite3.Error as error:
            self.close()
            warnings.warn(
                f"{self.path} cannot be written ({error}): what is finished from here on is not kept there, and the "
                "run goes on",
                RuntimeWarning,
                stacklevel=2,
            )

    @property
    def is_empty(self) -> bool:
        """Whether no process has added a result."""
        rows = 1 if self._database is None else self._database.execute("SELECT count(*) FROM results").fetchone()[0]
        return not self.done and rows == 1

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def remove(self) -> None:
        """Close the file and remove it."""
        self.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def head_of(path: Path) -> dict[str, Any] | None:
    """Return what the results of a file depend on; None where there is no file, or it is damaged."""
    try:
        with _named_errors(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as database:
            return dict(_results(path, database)[_HEAD])
    except (OSError, ValueError):
        return None


def differences(there: Mapping[str, Any], now: Mapping[str, Any], within: str = "") -> list[str]:
    """Return in what two heads differ, in words: ``rounds (100 there, 50 now)``; digests are only named."""
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


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as Python's, with the path and a remedy."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(f"{path} cannot be read and written ({error}); {_REMEDY}") from None
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} is damaged, or was not written by this program ({error}); {_REMEDY}") from None


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Let no other process write meanwhile."""
    database.execute("BEGIN IMMEDIATE")
    yield
    database.execute("COMMIT")


def _write(database: sqlite3.Connection, key: str, result: Any) -> None:
    text = json.dumps(result)
    database.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", (key, text, _digest_of_row(key, text)))


def _results(path: Path, database: sqlite3.Connection) -> dict[str, Any]:
    """Return the results of a file, its head among them."""
    if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise ValueError(f"{path} was not written by this program; {_REMEDY}")
    fault = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    rows = database.execute("SELECT key, result, digest FROM results").fetchall() if fault == "ok" else []
    if not any(key == _HEAD for key, *_ in rows) or any(_digest_of_row(*row) != found for *row, found in rows):
        raise ValueError(f"{path} is damaged; {_REMEDY}")
    return {key: json.loads(text) for key, text, _ in rows}


def _digest_of_row(key: str, text: str) -> str:
    return digest([f"{key}\n{text}".encode()])
