"""Compiled kernels on disk: never stale, never a reason not to start."""

import ast
import hashlib
import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import pytest
from numba.core import caching
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
        "Runs": "rows sqrt_weight run_start run_grade query_run longest most_grades",
    }
    assert {name: " ".join(getattr(views, name)._fields) for name in views.__all__} == fields


def test_every_kernel_is_compiled_by_the_one_decorator():
    for path in KERNELS.glob("*.py"):
        if path.stem not in NOT_COMPILED_IN:
            assert not re.search(r"@(numba\.)?n?jit\((?!inline)", path.read_text()), path.name


@pytest.fixture
def new_process(tmp_path, monkeypatch):
    """Return a function that returns a kernel as a process does that has just started."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")

    def load(text="x + x"):
        path = tmp_path / "kernel.py"
        code = f"from boostplug.kernels.compiling import compiled\n@compiled()\ndef twice(x):\n    return {text}\n"
        if not path.exists() or path.read_text() != code:
            path.write_text(code)
        monkeypatch.setattr(compiling, "_complained", False, raising=False)
        spec = importlib.util.spec_from_file_location("kernel", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.twice

    return load


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def only(folder, pattern):
    (path,) = folder.rglob(pattern)
    return path


def flip(path):
    """Change one byte of the machine code."""
    content = bytearray(path.read_bytes())
    content[content.index(b"ELF") + 200 if b"ELF" in content else len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def become_a_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "garbage": lambda path: path.write_bytes(b"\x93garbage" * 50),
    "text": lambda path: path.write_text("not found\n"),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "empty": lambda path: path.write_bytes(b""),
    "a folder": become_a_folder,
}


@pytest.mark.parametrize("damage", [*DAMAGES, "another pickle"])
def test_a_damaged_index_is_done_without(new_process, tmp_path, damage):
    assert new_process()(2) == 4
    index = only(tmp_path, "*.nbi")
    if damage == "another pickle":
        with index.open("rb") as file:
            version = pickle.load(file)
        index.write_bytes(pickle.dumps(version) + pickle.dumps(3))
    else:
        DAMAGES[damage](index)
    with pytest.warns(UserWarning, match=r"cannot be used .*delete the folder .*__pycache__") as caught:
        assert new_process()(2) == 4
    assert len(caught) == 1
    if damage != "a folder":  # it is written anew
        new_process()(2)
        kernel = new_process()
        assert kernel(2) == 4
        assert hits(kernel) == 1


@pytest.mark.parametrize("what", ["the kernel", "the package"])
def test_what_another_version_left_is_passed_by_without_a_word(new_process, tmp_path, monkeypatch, what):
    """Its index names types that may be gone, so that it cannot even be read; a warning is an error here."""
    module = tmp_path / "former_types.py"
    module.write_text("from typing import NamedTuple\nclass Former(NamedTuple):\n    x: int\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert new_process("x[0] + x[0]")(importlib.import_module("former_types").Former(2)) == 4
    module.unlink()
    monkeypatch.delitem(sys.modules, "former_types")
    importlib.invalidate_caches()
    text = "x[0] + x[0]"
    if what == "the package":
        monkeypatch.setattr(compiling, "__version__", "999")
    else:
        text += " + 0"
    assert new_process(text)((2, 3)) == 4
    kernel = new_process(text)
    assert kernel((2, 3)) == 4
    assert hits(kernel) == 1


@pytest.mark.parametrize("damage", [*DAMAGES, "one byte"])
def test_damaged_code_never_runs(new_process, tmp_path, damage):
    assert new_process()(2) == 4
    {**DAMAGES, "one byte": flip}[damage](only(tmp_path, "*.nbc"))
    if damage == "a folder":  # numba takes what cannot be read for missing
        with pytest.warns(UserWarning, match="IsADirectoryError"):
            assert new_process()(2) == 4
        return
    with pytest.warns(UserWarning, match="cannot be used") as caught:
        assert new_process()(2) == 4
    assert len(caught) == 1
    new_process()(2)
    kernel = new_process()
    assert kernel(2) == 4
    assert hits(kernel) == 1


def test_code_of_another_type_or_text_never_runs(new_process, tmp_path):
    kernel = new_process()
    assert (kernel(2), kernel(0.25)) == (4, 0.5)
    first, second = sorted(tmp_path.rglob("*.nbc"))
    whole = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.warns(UserWarning, match="its index names code for other types"):
        assert new_process()(2) == 4
    first.write_bytes(whole)
    shutil.rmtree(tmp_path / "__pycache__")
    assert new_process("x + x + x")(2) == 6
    only(tmp_path, "*.nbc").write_bytes(whole)  # what another text was compiled to, beside this text's index
    kernel = new_process("x + x + x")
    assert kernel(2) == 6
    assert hits(kernel) == 0


@pytest.mark.parametrize("full_from", [0, 1])
def test_a_full_disk_is_no_error(new_process, tmp_path, monkeypatch, full_from):
    written = []

    def open_until_full(path, mode="r", **more):
        if "w" in mode:
            written.append(path)
            if len(written) > full_from:
                raise OSError(28, "No space left on device", path)
        return Path(path).open(mode, **more)

    monkeypatch.setattr(caching, "open", open_until_full, raising=False)
    kernel = new_process()
    with pytest.warns(UserWarning, match="No space left on device.*NUMBA_CACHE_DIR") as caught:
        assert (kernel(2), kernel(0.25)) == (4, 0.5)
    assert len(caught) == 1
    assert len(written) > 1
    monkeypatch.undo()
    kernel = new_process()
    assert (kernel(2), kernel(0.25)) == (4, 0.5)


def test_a_file_is_known_by_what_it_says_and_not_by_its_time(new_process, tmp_path):
    """A layer of a container's image cuts times to seconds."""
    assert new_process()(2) == 4
    os.utime(tmp_path / "kernel.py", (1e9, 1e9))
    kernel = new_process()
    assert kernel(2) == 4
    assert hits(kernel) == 1


@pytest.mark.parametrize("home", ["writable", "not writable"])
def test_a_folder_that_cannot_be_written_to_is_read(new_process, tmp_path, monkeypatch, home):
    """As the image of a container has it. Numba passes by such a folder, to the next that can be written to."""
    assert new_process()(2) == 4
    code = {path: path.read_bytes() for path in tmp_path.rglob("*.nb?")}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    make = caching.tempfile.TemporaryFile

    def refuse(*arguments, dir):  # noqa: A002 (the name that numba uses)
        if home == "not writable" or Path(dir) == tmp_path / "__pycache__":
            raise PermissionError(13, "Permission denied", dir)
        return make(*arguments, dir=dir)

    monkeypatch.setattr(caching.tempfile, "TemporaryFile", refuse)
    kernel = new_process()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (kernel(2), kernel(0.25)) == (4, 0.5)
    assert hits(kernel) == 1
    assert {path: path.read_bytes() for path in (tmp_path / "__pycache__").rglob("*.nb?")} == code
    cache = kernel._cache
    again = new_process()
    assert (again(2), again(0.25)) == (4, 0.5)
    if home == "writable":
        assert tmp_path / "home" in Path(cache.cache_path).parents
        assert (cache.lost, hits(again)) == ("", 2)
    else:
        assert Path(cache.cache_path) == tmp_path / "__pycache__"
        assert cache.lost == f"{tmp_path / '__pycache__'} cannot be written to"
        assert hits(again) == 1
    shutil.rmtree(tmp_path / "__pycache__")  # nothing is read where nothing is
    assert new_process()(2) == 4


@pytest.mark.parametrize("what", ["removed", "a file", "a folder for the lock"])
def test_a_folder_that_changes_while_it_is_used(new_process, tmp_path, what):
    kernel = new_process()
    folder = tmp_path / "__pycache__"
    shutil.rmtree(folder)
    if what == "a file":
        folder.write_text("")
        with pytest.warns(UserWarning, match="cannot be used"):
            assert kernel(2) == 4
        return
    if what == "a folder for the lock":
        (folder / kernel._cache.lock.name).mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(2) == 4
    kernel = new_process()
    assert kernel(2) == 4
    assert hits(kernel) == 1


def test_no_two_processes_write_one_cache_at_once(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # beside the source, whatever the environment says
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
        "print(bp.MPBoost(normalization='none').value([0.0, 0.0], bp.Queries([1, 0], group=[2])))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.stdout.strip() == "[1.]", result.stderr
