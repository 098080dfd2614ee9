"""Measure time and memory on this machine: ``python -m studies.speed WHAT``, one of `BENCHES` or ``all``."""

import argparse
from pathlib import Path

from boostplug.core.threads import threads_of_framework
from studies.speed import BENCHES, bench
from studies.speed.result import to_file


def main(arguments: list[str] | None = None) -> None:
    """Run benchmarks, print their tables and write their numbers; those that are finished also after an error."""
    parser = argparse.ArgumentParser(prog="python -m studies.speed")
    parser.add_argument("what", choices=[*BENCHES, "all"])
    parser.add_argument("--short", action="store_true", help="a quick look: --scale 0.05 --repeat 1")
    parser.add_argument("--scale", type=float, help="documents, calls and rounds relative to the benchmark's own, 1")
    parser.add_argument("--repeat", type=int, help="runs of it all, 3")
    parser.add_argument("--threads", type=int, help="OMP_NUM_THREADS by default, or all cores")
    parser.add_argument("--json", type=Path, help="file to write every number to")
    given = parser.parse_args(arguments)
    scale = (0.05 if given.short else 1.0) if given.scale is None else given.scale
    repeat = (1 if given.short else 3) if given.repeat is None else given.repeat
    results = []
    try:
        for name in BENCHES if given.what == "all" else (given.what,):
            with threads_of_framework(given.threads):
                results.append(bench(name, scale=scale, repeat=repeat, progress=True))
    finally:
        print(*results, sep="\n\n")
        if results and given.json is not None:
            to_file(results, given.json)


if __name__ == "__main__":
    main()
