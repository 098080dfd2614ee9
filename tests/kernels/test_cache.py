"""Compiled code on disk: found again, never stale, and no reason not to start."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from boostplug.kernels.base import compiling

ROOT = Path(__file__).parent.parent.parent
HELPER = "from boostplug.kernels.base.compiling import inlined\n@inlined()\ndef term(x):\n    return {text}\n"
KERNEL = (
    "import helper_of_a_test\nfrom boostplug.kernels.base.compiling import compiled\n"
    "term = helper_of_a_test.term\n@compiled()\ndef twice(x):\n    return term(x) + term(x)\n"
)


@pytest.fixture
def new_process(tmp_path, monkeypatch):
    """Return a function that returns a kernel as a new process sees it; it contains a helper of another file."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.syspath_prepend(tmp_path)

    def load(text="x"):
        for name, code in (("helper_of_a_test", HELPER.format(text=text)), ("kernel", KERNEL)):
            path = tmp_path / f"{name}.py"
            if not path.exists() or path.read_text() != code:
                path.write_text(code)
        compiling._digest.cache_clear()
        modules = {}
        for name in ("helper_of_a_test", "kernel"):
            spec = importlib.util.spec_from_file_location(name, tmp_path / f"{name}.py")
            modules[name] = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, modules[name])
            spec.loader.exec_module(modules[name])
        return modules["kernel"].twice

    yield load
    compiling._digest.cache_clear()


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def test_code_is_found_by_the_next_process(new_process):
    assert new_process()(2) == 4
    kernel = new_process()
    assert (kernel(2), hits(kernel)) == (4, 1)


def test_editing_a_helper_in_another_file_recompiles_its_callers(new_process):
    assert new_process()(2) == 4
    kernel = new_process("x + 1")
    assert (kernel(2), hits(kernel)) == (6, 0)


def test_editing_any_kernel_recompiles(new_process, monkeypatch, tmp_path_factory):
    assert new_process()(2) == 4
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "other.py").write_text("")
    monkeypatch.setattr(compiling, "KERNELS", folder)
    kernel = new_process()
    assert (kernel(2), hits(kernel)) == (4, 0)


def test_the_time_of_a_file_does_not_matter(new_process, tmp_path):
    """The layers of a container's image cut times to whole seconds."""
    assert new_process()(2) == 4
    os.utime(tmp_path / "kernel.py", (1e9, 1e9))
    kernel = new_process()
    assert (kernel(2), hits(kernel)) == (4, 1)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])  # the index, the code
@pytest.mark.parametrize(
    "damaged",
    [
        lambda code: code[: len(code) // 2],
        lambda code: b"",
        lambda code: bytes(len(code)),
        lambda code: code[: len(code) // 2] + bytes(64) + code[len(code) // 2 + 64 :],
    ],
)
def test_a_damaged_file_is_replaced(new_process, tmp_path, kind, damaged):
    """As a full disk, a copy that was cut off, or a loss of power leaves one."""
    assert new_process()(2) == 4
    (file,) = tmp_path.rglob(f"*.{kind}")
    file.write_bytes(damaged(file.read_bytes()))
    for expected in (0, 1):
        kernel = new_process()
        assert (kernel(2), hits(kernel)) == (4, expected)


@pytest.mark.ci  # a process of its own that compiles
def test_without_a_writable_folder_kernels_compile_in_memory_with_one_warning():
    code = (
        "from numba.core import caching\n"
        "def refuse(cls, *args): return None\n"
        "for locator in caching.CacheImpl._locator_classes: locator.from_function = classmethod(refuse)\n"
        "import boostplug as bp\n"
        "print(bp.MPBoost(normalization='none').value([0.0, 0.0], bp.Queries([1, 0], group=[2])))\n"
        "try: bp.warmup(print)\n"
        "except OSError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    value, said = result.stdout.splitlines()
    assert value == "[1.]", result.stderr
    assert said == "compiled code cannot be kept: set NUMBA_CACHE_DIR to a folder that can be written to"
    assert result.stderr.count("compiled code cannot be kept on disk") == 1
