"""Run a paper's experiments again: ``python docs/studies/replicate.py PAPER``; replication/README.md is its guide."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a paper's experiments, print the report, write the files, and return the exit status."""
    from boostplug.core.figures import require_matplotlib
    from boostplug.core.files import check_replaceable
    from studies.replication import PAPERS, replicate

    given = _parser([*PAPERS]).parse_args(arguments)
    try:
        if given.json is not None:  # before anything is trained
            given.json.parent.resolve(strict=True)
            check_replaceable(given.json, b'{"schema": "boostplug', "--json")
        if given.figures is not None:
            require_matplotlib()
        result = replicate(
            given.paper, given.data, json=given.json, num_processes=given.processes, keep=given.keep, progress=True
        )
        shown = result.full if given.full else result.summary
        _print(shown)
        if given.figures is not None:
            result.to_figures(given.figures)
        if given.output is not None:
            shown.to_file(given.output)
    except KeyboardInterrupt:
        print("interrupted; with --json the same command goes on where it was", file=sys.stderr)
        return 130
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"replicate.py: {error}", file=sys.stderr)
        return 1
    return int(result.failed)


def _parser(papers: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python docs/studies/replicate.py",
        description="Run a paper's experiments again: the verdict on each of its claims, and the main table. With "
        "--json, the same command goes on where it was after Ctrl-C or a crash.",
        epilog="Exit status: 0; 1 if a task failed, or data or a file could not be used; 2 for invalid options; 130 "
        "after Ctrl-C or SIGTERM.",
    )
    add = parser.add_argument
    add("paper", choices=papers)
    add("--data", type=Path, metavar="FOLDER", help="with the paper's data sets; default: the bundled set")
    add("--json", type=Path, metavar="FILE", help="write the result as JSON; FILE.parts has what is done so far")
    add("--figures", type=Path, metavar="DIR", help="draw the paper's figures into DIR, PNG and SVG")
    add("--output", type=Path, metavar="FILE", help="write what is printed, to FILE.tex as LaTeX, else as Markdown")
    add("--full", action="store_true", help="print each claim, all tables, and what differs from the paper")
    add("--processes", type=int, metavar="INT", help="processes of one thread; default: all cores")
    add("--keep", action="store_true", help="leave FILE.parts, so that new claims need no training")
    return parser


def _print(report: object) -> None:
    """Print a report, in a terminal to fit it."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        console.print(report)
    else:
        print(report)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])  # where `studies` is found, as with `PYTHONPATH=docs`
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
