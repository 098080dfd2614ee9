"""Compiled kernels on disk: never stale, never a reason not to start."""

import ast
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
KERNELS = ROOT / "boostplug" / "kernels"
NOT_COMPILED_IN = {"__init__", "compiling"}


def imports_of_kernels(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("boostplug.kernels."):
            name = node.module.removeprefix("boostplug.kernels.")
            if name not in NOT_COMPILED_IN:
                yield name


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.stem)
def test_a_kernel_file_changes_with_what_is_compiled_into_it(path):
    """Numba looks at the file of a function alone: code from another file would stay in the cache when that changes.

    So a file names the content of each kernel file that it takes code or constants from, in a comment
    ``# compiled in: NAME.py CONTENT``.
    """
    named = dict(re.findall(r"^# compiled in: (\w+)\.py (\w+)$", path.read_text(), re.MULTILINE))
    expected = {
        name: hashlib.sha256((KERNELS / f"{name}.py").read_bytes()).hexdigest()[:12]
        for name in imports_of_kernels(path)
    }
    assert named == expected


def test_every_kernel_is_compiled_by_the_one_decorator():
    for path in KERNELS.glob("*.py"):
        if path.stem not in NOT_COMPILED_IN:
            assert not re.search(r"@(numba\.)?n?jit\((?!inline)", path.read_text()), path.name


def test_works_where_nothing_can_be_cached():
    code = (
        "from numba.core import caching\n"
        "def refuse(cls, *args): return None\n"
        "for locator in caching.CacheImpl._locator_classes: locator.from_function = classmethod(refuse)\n"
        "import boostplug as bp\n"
        "print(bp.MPBoost().value([0.0, 0.0], bp.Queries([1, 0], group=[2])))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.stdout.strip() == "[1.]", result.stderr
