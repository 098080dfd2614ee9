"""``python -m boostplug.experiments.quality run --data FOLDER --store FILE PART …`` trains parts of the study."""

import argparse
from pathlib import Path

from boostplug.experiments.quality.protocol import PARTS
from boostplug.experiments.quality.run import run


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m boostplug.experiments.quality")
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="train what is not kept yet of some parts of the study")
    running.add_argument("--data", type=Path, required=True, help="folder that holds the data sets")
    running.add_argument("--store", type=Path, required=True, help="file that keeps what is trained")
    running.add_argument("--processes", type=int, default=2)
    running.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=f"of {', '.join(PARTS)}")
    given = parser.parse_args()
    run(given.data, given.store, given.parts or PARTS, processes=given.processes, progress=True)


if __name__ == "__main__":
    main()
