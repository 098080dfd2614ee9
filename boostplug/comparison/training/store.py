"""Finished results in an SQLite file, so that an interrupted run can continue."""

import json
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any


class Store:
    """Results by key. A result is on disk when `add` returns. Several processes may use one file.

    Parameters
    ----------
    path : Path or None
        File, made with the first result. None: nothing is stored.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def get(self, key: str) -> Any:
        """Return a result, or None if there is none.

        Raises
        ------
        ValueError
            If the file is damaged, or is not a store.
        """
        if self.path is None or not self.path.exists():
            return None
        try:
            with self._opened(self.path) as database:
                found = database.execute("SELECT result FROM results WHERE key = ?", (key,)).fetchone()
            return None if found is None else json.loads(found[0])
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise ValueError(
                f"{self.path} cannot be read ({error}); remove it to start anew, or name another place for results"
            ) from None

    def add(self, key: str, result: Any) -> None:
        """Store a result in JSON's types; if the disk fails, warn and continue."""
        if self.path is None:
            return
        try:
            with self._opened(self.path) as database:
                database.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", (key, json.dumps(result)))
        except sqlite3.Error as error:
            warnings.warn(
                f"{self.path} cannot be written ({error}): a result is not kept there, and the run goes on",
                RuntimeWarning,
                stacklevel=2,
            )

    @staticmethod
    @contextmanager
    def _opened(path: Path) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(path, timeout=60.0)) as database, database:
            database.execute("CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result TEXT)")
            yield database
