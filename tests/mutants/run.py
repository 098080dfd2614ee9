"""Change the package on purpose, one defect at a time, and see a test fail.

    python tests/mutants/run.py [words…]

The words choose the mutants of mutants.toml whose name or file contains one of them; without words all of them run.
Each defect is made in a copy of the repository; one of the tests named beside it must then fail, and must pass without
the defect. The command ends with 1 if a mutant survived. Run it when tests or mutants change; `pytest` only checks that
each mutant still applies.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MUTANTS = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text(encoding="utf-8"))["mutant"]
MARKERS = "not benchmark and not fuzz and not ci and not frameworks"  # those of the default suite


def mutated(mutant):
    """Return the text of a mutant's file with the defect."""
    text = (ROOT / "boostplug" / mutant["file"]).read_text(encoding="utf-8")
    if text.count(mutant["old"]) != 1:
        raise ValueError(
            f"{mutant['file']} must hold {mutant['old']!r} once, and holds it {text.count(mutant['old'])} times"
        )
    return text.replace(mutant["old"], mutant["new"])


def first_failure(tests, changed):
    """Return the first test that fails in a copy of the repository with the texts of some files changed, or None."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "*.lock"))
        for file, text in changed.items():
            (copy / "boostplug" / file).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", "-m", MARKERS, *tests]
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode and not failed:
        raise RuntimeError(f"pytest ended with {done.returncode} and no failed test\n{done.stdout}{done.stderr}")
    return failed and failed[1]


@cache
def fails_anyway(test):
    """Return whether a test fails without any defect."""
    return first_failure([test], {}) is not None


def main(words):
    """Run the mutants that the words choose. Return whether one of them survived."""
    chosen = [m for m in MUTANTS if not words or any(word in m["name"] or word in m["file"] for word in words)]
    caught = 0
    for mutant in chosen:
        failed = first_failure([f"tests/{name}" for name in mutant["tests"]], {mutant["file"]: mutated(mutant)})
        anyway = failed and fails_anyway(failed)
        caught += bool(failed) and not anyway
        result = f"{failed} fails without it too" if anyway else f"caught by {failed}" if failed else "SURVIVED"
        print(f"{mutant['name']} ({mutant['file']}): {result}", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return caught < len(chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
