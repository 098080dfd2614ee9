"""Finished tasks on disk, so that a run that was killed goes on where it was."""

import json
import os
from pathlib import Path
from typing import Any

from boostplug.experiments.document import write_whole

__all__ = ["Store"]


class Store:
    """Results by key: one JSON line each, appended and synchronised; a torn last line counts as not written.

    Parameters
    ----------
    path : Path or None
        None: in memory alone.
    head : dict
        What the results depend on; a file that begins with another is refused.

    Raises
    ------
    ValueError
        If the file holds results of another run.
    """

    def __init__(self, path: Path | None, head: dict[str, Any]) -> None:
        self.path = path
        self.done: dict[str, Any] = {}
        if path is None:
            return
        lines = self._read()
        if not lines:
            write_whole(path, json.dumps(head) + "\n")
            return
        other = [key for key in sorted({*head, *lines[0]}) if lines[0].get(key) != head.get(key)]
        if other:
            raise ValueError(
                f"{path} holds unfinished results of another run (different: {', '.join(other)}); remove it to start "
                "anew, or name another file"
            )
        self.done = {line["key"]: line["result"] for line in lines[1:]}

    def _read(self) -> list[Any]:
        """Return the complete lines, and cut off what follows them."""
        assert self.path is not None
        if not self.path.exists():
            return []
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)
        return [json.loads(line) for line in content[:whole].splitlines()]

    def add(self, key: str, result: Any) -> None:
        """Keep a result; it is on disk when this returns."""
        self.done[key] = result
        if self.path is not None:
            with self.path.open("ab") as file:
                file.write((json.dumps({"key": key, "result": result}) + "\n").encode())
                file.flush()
                os.fsync(file.fileno())

    def remove(self) -> None:
        """Remove the file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
