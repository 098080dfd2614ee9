"""Finished results in a file of JSON lines, so that an interrupted run can continue."""

import errno
import json
import os
import warnings
from pathlib import Path
from typing import Any


class Store:
    """Results by key. A result is on disk when `add` returns. Several processes may add to one file.

    Parameters
    ----------
    path : Path or None
        File, made with the first result. None: nothing is stored.

    Attributes
    ----------
    results : dict
        The results that were in the file at the start, and those added here, by key. A line that was not written to its
        end, as after a power failure, is left out.

    Raises
    ------
    ValueError
        If the file is not a store.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.results = path, dict[str, Any]()
        content = b"" if path is None or not path.exists() else path.read_bytes()
        for text in content.splitlines():
            try:
                line = json.loads(text)
                self.results[line["key"]] = line["result"]
            except (ValueError, TypeError, KeyError):
                continue
        if content and not self.results and not content.startswith(b'{"key": '):
            raise ValueError(f"{path} holds no results; remove it to start anew, or name another place for results")

    def get(self, key: str) -> Any:
        """Return a result, or None if there is none."""
        return self.results.get(key)

    def add(self, key: str, result: Any) -> None:
        """Store a result in JSON's types; if the disk fails, warn and continue."""
        self.results[key] = result
        if self.path is None:
            return
        line = json.dumps({"key": key, "result": result}).encode() + b"\n"
        try:
            with self.path.open("a+b", buffering=0) as file:
                if file.seek(0, os.SEEK_END):
                    file.seek(-1, os.SEEK_END)
                    line = line if file.read(1) == b"\n" else b"\n" + line  # after a line that was cut off
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 (as the system says it)
        except OSError as error:
            warnings.warn(
                f"{self.path} cannot be written ({error}): a result is not kept there, and the run goes on",
                RuntimeWarning,
                stacklevel=2,
            )
