"""Compiled kernels on disk: never stale, never a reason not to start."""

import ast
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

from boostplug.kernels import compiling, views

ROOT = Path(__file__).parent.parent.parent
KERNELS = ROOT / "boostplug" / "kernels"
NOT_COMPILED_IN = {"__init__", "compiling", "views"}  # views: see the test on their fields


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


def test_fields_of_views_keep_their_order():
    """A view's name and its fields' types are part of a compiled function's type; their names and order are not.

    Code from the cache would read the wrong one of two fields of one type that changed places. So a view whose fields
    change otherwise than by a new type at the end gets a new name as well.
    """
    fields = {
        "CutCodes": "codes start",
        "Listed": "winner loser weight margin start crosses",
        "Lists": "rows grade weight start",
        "Runs": "rows sqrt_weight run_start run_grade query_run",
    }
    assert {name: " ".join(getattr(views, name)._fields) for name in views.__all__} == fields


def test_every_kernel_is_compiled_by_the_one_decorator():
    for path in KERNELS.glob("*.py"):
        if path.stem not in NOT_COMPILED_IN:
            assert not re.search(r"@(numba\.)?n?jit\((?!inline)", path.read_text()), path.name


def test_no_two_processes_write_one_cache_at_once(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    (tmp_path / "kernel.py").write_text(
        "from boostplug.kernels.compiling import compiled\n@compiled()\ndef twice(x):\n    return x + x\n"
    )
    spec = importlib.util.spec_from_file_location("kernel", tmp_path / "kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    refused = []
    save = IndexDataCacheFile.save

    def save_while_another_process_tries(self, key, data):
        (lock,) = tmp_path.rglob("*twice*.lock")
        with lock.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                refused.append(key)
        save(self, key, data)

    monkeypatch.setattr(IndexDataCacheFile, "save", save_while_another_process_tries)
    assert module.twice(2) == 4
    assert module.twice(0.25) == 0.5
    assert len(refused) == len({*refused}) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_a_kernel_compiles_does_not_keep_its_lock(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    lock, (read, write) = tmp_path / "kernel.lock", os.pipe()
    with compiling._locked(lock):
        child = os.fork()
        if child == 0:
            os.read(read, 1)
            os._exit(0)
    try:
        with lock.open("ab") as file:
            assert fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) is None  # not refused
    finally:
        os.write(write, b".")
        os.waitpid(child, 0)


def test_numba_may_be_switched_off(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert compiling.compiled()(ast.dump) is ast.dump


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
