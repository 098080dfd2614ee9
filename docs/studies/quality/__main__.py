"""The study's commands.

``python -m studies.quality run --data FOLDER --store FILE PART …`` trains what is not kept yet.
``… sum --data FOLDER --store FILE RESULT.json`` adds up what is kept.
``… page RESULT.json PAGE.md …`` fills the tables that pages mark, and draws figures beside the first.
"""

import argparse
from pathlib import Path

from boostplug.comparison.document import as_json
from boostplug.comparison.training.store import Store
from boostplug.core.files import write_file
from boostplug.core.threads import get_num_threads
from boostplug.replication.documents import read
from studies.quality.page import draw, tables
from studies.quality.protocol import PARTS
from studies.quality.result import SCHEMA, document
from studies.quality.run import kept_cells, run
from studies.quality.summary import Cells
from studies.tables import fill


def main(arguments: list[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m studies.quality")
    commands = parser.add_subparsers(dest="command", required=True)
    stored = argparse.ArgumentParser(add_help=False)
    stored.add_argument("--data", type=Path, required=True, help="folder that holds the data sets")
    stored.add_argument("--store", type=Path, required=True, help="file that keeps what is trained")
    running = commands.add_parser("run", parents=[stored], help="train what is not kept yet of some parts of the study")
    running.add_argument("--processes", type=int, default=get_num_threads(), help="each with one thread")
    running.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(map(repr, PARTS))}; all by default")
    adding = commands.add_parser("sum", parents=[stored], help="add up what is kept")
    adding.add_argument("result", type=Path, metavar="RESULT.json")
    filling = commands.add_parser("page", help="fill the tables that pages mark")
    filling.add_argument("result", type=Path, metavar="RESULT.json")
    filling.add_argument("pages", type=Path, nargs="+", metavar="PAGE.md")
    given = parser.parse_args(arguments)
    if given.command == "run":
        unknown = [name for name in given.parts if name not in PARTS]
        if unknown:
            parser.error(f"there is no part {unknown[0]!r}; there are: {', '.join(map(repr, PARTS))}")
        run(given.data, given.store, given.parts or PARTS, processes=given.processes, progress=True)
    elif given.command == "sum":
        head = Store(given.store).get("head")
        if head is None:
            parser.error(f"{given.store} keeps nothing that can be read; name the file that run has written")
        write_file(given.result, as_json(document(Cells(kept_cells(given.store)), head, given.data)))
    else:
        found = read(given.result, SCHEMA, tables)
        for page in given.pages:
            fill(page, tables(found))
        draw(found, given.pages[0].parent / "figures")


if __name__ == "__main__":
    main()
