"""Change the package on purpose, one defect at a time, and see a test fail.

    python tests/mutants/run.py [words…]

The words choose the mutants whose name or place contains one of them; without words all of them run. Each defect is
made in a copy of the repository; the tests named beside it must then fail, and the one that fails must pass without the
defect. The command ends with 1 if a mutant survived. Run it when tests or mutants change; `pytest` only checks that
each mutant still applies.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from mutants import MUTANTS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "boostplug"


class NotApplicableError(Exception):
    """A mutant's code is no longer where the mutant says."""


class BrokenTestError(Exception):
    """A test fails without any defect."""


def parsed(text):
    """Return the node of an expression or of one statement."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        (statement,) = ast.parse(text).body
        return statement


def matches(tree, pattern):
    """Return the nodes of a tree that have the structure of a pattern."""
    wanted = ast.dump(pattern)
    return [node for node in ast.walk(tree) if type(node) is type(pattern) and ast.dump(node) == wanted]


def find(place):
    """Return the file of a dotted name in the package, and the node of its module, class or function."""
    parts = place.split(".")
    for n in range(len(parts), 0, -1):
        stem = PACKAGE.joinpath(*parts[:n])
        path = next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)
        if path is None:
            continue
        node = ast.parse(path.read_text())
        for name in parts[n:]:
            node = next((child for child in ast.walk(node) if getattr(child, "name", None) == name), None)
            if node is None:
                return None, None
        return path, node
    return None, None


def mutated(mutant):
    """Return the file that a mutant changes and its text with the defect."""
    new, old = parsed(mutant.new), parsed(mutant.old)
    if isinstance(new, ast.stmt) and isinstance(old, ast.expr):
        old = ast.Expr(old)
    path, scope = find(mutant.place)
    found = matches(scope, old) if scope else []
    if len(found) != 1:
        wrong = f"{mutant.place} has `{mutant.old}` {len(found)} times" if scope else f"there is no {mutant.place}"
        raise NotApplicableError(
            f"the mutant {mutant.name!r} does not apply: {wrong}, and it must occur once. "
            "In tests/mutants/mutants.py, set the place and `old` to the code as it is "
            "now; delete the mutant if its code is gone."
        )
    (node,) = found
    lines = path.read_bytes().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    stop = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    text = path.read_bytes()
    with_new = (
        f"({mutant.new})" if isinstance(new, ast.expr) else mutant.new.replace("\n", "\n" + " " * node.col_offset)
    )
    return path, (text[:start] + with_new.encode() + text[stop:]).decode()


def run(mutant):
    """Return the test that noticed a mutant, or None."""
    path, text = mutated(mutant)
    failed = first_failure(mutant.tests, {path: text})
    if failed and fails_anyway(failed):
        raise BrokenTestError(f"{failed} fails without the defect too; mend it first")
    return failed


@cache
def fails_anyway(test):
    """Return whether a test fails without any defect."""
    return first_failure((test.removeprefix("tests/"),), {}) is not None


def first_failure(tests, changed):
    """Return the first test that fails in a copy of the repository with the texts of some files changed, or None."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "*.lock"))
        for path, text in changed.items():
            (copy / path.relative_to(ROOT)).write_text(text)
        markers = "not benchmark and not fuzz and not ci and not frameworks"  # those of the default suite
        command = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", "-m", markers]
        result = subprocess.run(
            [*command, *(f"tests/{name}" for name in tests)],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
    failed = re.search(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", result.stdout, re.MULTILINE)
    if result.returncode and not failed:
        raise RuntimeError(f"pytest ended with {result.returncode} and no failed test\n{result.stdout}{result.stderr}")
    return failed and failed[1]


def main():
    """Run the mutants that the words choose."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="word", help="part of a name or a place; default: all mutants")
    words = parser.parse_args().words
    chosen = [m for m in MUTANTS if not words or any(word in m.name or word in m.place for word in words)]
    survived = 0
    for mutant in chosen:
        try:
            failed = run(mutant)
        except (NotApplicableError, BrokenTestError) as error:
            failed, report = None, str(error)
        else:
            report = f"caught by {failed}" if failed else "SURVIVED"
        survived += not failed
        print(f"{mutant.name} ({mutant.place}): {report}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} caught")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
