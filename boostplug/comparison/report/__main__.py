"""``python -m boostplug.comparison.report RESULT.json PAGE.md`` makes the Markdown page of a saved comparison."""

import sys
from collections.abc import Sequence
from pathlib import Path

from boostplug.comparison.document import read
from boostplug.comparison.report.text import markdown
from boostplug.comparison.summary import SCHEMA, Comparison, from_json
from boostplug.core.files import is_same_file, write_file


def main(arguments: Sequence[str]) -> None:
    """Write the Markdown page of a saved comparison."""
    if len(arguments) != 2:
        raise SystemExit("usage: python -m boostplug.comparison.report RESULT.json PAGE.md")
    source, page = map(Path, arguments)
    if is_same_file(source, page):
        raise SystemExit(f"{page} is the result itself; name another file for the page")
    made: list[str] = []
    read(source, SCHEMA, lambda document: made.append(markdown(from_json(Comparison, document))))
    write_file(page, made[0])


if __name__ == "__main__":
    main(sys.argv[1:])
