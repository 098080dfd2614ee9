"""Break the package on purpose, one defect at a time, and see the tests notice.

    python tests/breakages/run.py [--jobs N] [names or rooms…]

Each defect is made in a copy of the tree, never in the tree itself; the tests named beside it must then fail. Ends with
1 if a defect survived. This is run when tests or defects change, and by none of the tests.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from breakages import BREAKAGES

ROOT = Path(__file__).parent.parent.parent
NOT_COPIED = shutil.ignore_patterns(".*", "*.lock")


@cache
def sources(package):
    """Return the text of each file of the package."""
    return {path: path.read_text() for path in sorted(package.rglob("*.py"))}


def file_of(breakage, package):
    """Return the one file of the package that holds the text of a breakage."""
    found = {path: n for path, text in sources(package).items() if (n := text.count(breakage.old))}
    if [*found.values()] != [1]:
        places = ", ".join(f"{path.relative_to(package)} {n} times" for path, n in found.items()) or "nowhere"
        raise LookupError(f"{breakage.name}: the text must stand once in the package; it stands {places}")
    return next(iter(found))


def forget_compiled(path):
    """Remove compiled code that a kernel file, just changed, went into: numba looks at a function's own file alone."""
    changed, todo = {path}, [path]
    while todo:
        name = f"{todo[0].parent.name}.{todo.pop(0).stem}"
        for other in path.parent.glob("*.py"):
            if other not in changed and re.search(rf"{name}\b|import {name.split('.')[1]}\b", other.read_text()):
                changed.add(other)
                todo.append(other)
    for module in changed:
        for compiled in (path.parent / "__pycache__").glob(f"{module.stem}.*.nb?"):
            compiled.unlink()


def run(breakage, root=ROOT):
    """Return what noticed a breakage (None if nothing did) and after how many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(root, copy, ignore=NOT_COPIED)
        path = copy / file_of(breakage, root / "boostplug").relative_to(root)
        path.write_text(path.read_text().replace(breakage.old, breakage.new))
        forget_compiled(path)
        began = time.perf_counter()
        tests = [f"tests/{name}" for name in breakage.tests]
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - began
    if result.returncode not in {0, 1}:
        raise RuntimeError(f"{breakage.name}: pytest ended with {result.returncode}\n{result.stdout}{result.stderr}")
    failed = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", result.stdout, re.MULTILINE)
    return failed[1] if failed else None, seconds


def row_of(breakage, root):
    """Return whether a breakage was caught, and its row of the table."""
    try:
        caught_by, seconds = run(breakage, root)
    except (LookupError, RuntimeError) as error:
        return False, f"| {breakage.room} | {breakage.name} | NOT TRIED: {error} | |"
    return bool(caught_by), f"| {breakage.room} | {breakage.name} | {caught_by or 'SURVIVED'} | {seconds:.0f} |"


def main():
    """Run the breakages of the given names and rooms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="name", help="names or rooms; default: all")
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the tree to break a copy of")
    given = parser.parse_args()
    chosen = [b for b in BREAKAGES if not given.words or any(word in (b.room, b.name) for word in given.words)]
    n_caught = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for caught, row in pool.map(lambda breakage: row_of(breakage, given.tree), chosen):
            n_caught += caught
            print(row, flush=True)
    print(f"{n_caught} of {len(chosen)} caught")
    return int(n_caught < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
