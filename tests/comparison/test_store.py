"""Finished results on disk: whole or not there, of one run, by one process at a time."""

import json
import os
import subprocess
import sys

import pytest

from boostplug.comparison import store as module
from boostplug.comparison.store import Store, differences, head_of


@pytest.fixture
def path(tmp_path):
    """A file with two results."""
    path = tmp_path / "results"
    with Store(path, {"run": 1}) as store:
        store.add("a", [1.5, None])
        store.add("b", {"x": 0.1})
    return path


def reopened(path, head=None):
    with Store(path, head or {"run": 1}) as store:
        return store.done


def test_what_is_added_is_there(path):
    assert reopened(path) == {"a": [1.5, None], "b": {"x": 0.1}}
    with Store(None, {}) as store:
        store.add("a", 1)
        assert store.done == {"a": 1}


def test_every_cut_leaves_the_whole_lines(path):
    """As a kill, or a loss of power, in the middle of a line does."""
    content = path.read_bytes()
    first, second, _ = content.splitlines(keepends=True)
    for cut in range(0, len(content), 9):
        path.write_bytes(content[:cut])
        expected = {} if cut < len(first + second) else {"a": [1.5, None]}
        assert reopened(path) == expected
        with Store(path, {"run": 1}) as store:
            store.add("c", 2)
        assert reopened(path) == {**expected, "c": 2}


@pytest.mark.parametrize(
    "content", [b"null", b"null\n", b"{}\n", b"[]\n", b'{"run": 1}\n', b"\x00\xff\n" * 9, b"\n", b"not found", b"a b\n"]
)
def test_what_is_no_store_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"results .*was not written by this program; remove it to start anew"):
        reopened(path)
    assert path.read_bytes() == content
    assert head_of(path) is None


def test_a_damaged_line_is_refused(path):
    content = path.read_bytes()
    for at in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        if b"\n" in (content[at : at + 1], damaged[at : at + 1]):
            continue
        with pytest.raises(ValueError, match=r"results (is damaged in line [123]|was not written)"):
            reopened(path)
    _, *lines = content.splitlines(keepends=True)
    path.write_bytes(b"".join(lines))
    with pytest.raises(ValueError, match="has lost its first line; remove it"):
        reopened(path)


def test_another_run_is_refused_by_what_differs(path):
    with pytest.raises(ValueError, match=r"another run \(different: run \(1 there, 2 now\)\); remove it"):
        reopened(path, {"run": 2})
    there = {
        "versions": {"numpy": "1.26"},
        "settings": {"rounds": 100, "params": {"l2": 1.0}},
        "data": {"data": "a" * 64},
    }
    now = {"versions": {"numpy": "2.4"}, "settings": {"rounds": 50, "params": {}}, "data": {"data": "b" * 64}, "new": 3}
    assert differences(there, now) == [
        "numpy (1.26 there, 2.4 now)",
        "rounds (100 there, 50 now)",
        "params.l2 (1.0 there, none now)",
        "data",
        "new (none there, 3 now)",
    ]
    assert differences(there, json.loads(json.dumps(there))) == []
    assert head_of(path) == {"run": 1}


def test_one_process_at_a_time(path):
    pytest.importorskip("fcntl")
    with Store(path, {"run": 1}) as store:
        with pytest.raises(OSError, match="results: another process is at work on it; wait for its end, or"):
            reopened(path)
        store.add("c", 3)
    code = (
        "import os, pathlib, sys\n"
        "from boostplug.comparison.store import Store\n"
        "Store(pathlib.Path(sys.argv[1]), {'run': 1}).add('d', 4)\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert reopened(path).keys() == {"a", "b", "c", "d"}


def test_a_file_that_is_removed_meanwhile_is_made_anew(path, monkeypatch):
    """Between the opening and the lock, the process that had the file until now may remove it."""
    lock = module._lock
    removed = []

    def remove_once(file):
        if not removed:
            removed.append(path.unlink())
        return lock(file)

    monkeypatch.setattr(module, "_lock", remove_once)
    with Store(path, {"run": 1}) as store:
        store.add("c", 3)
    assert reopened(path) == {"c": 3}


def test_a_full_disk_ends_no_run(path, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    content = path.read_bytes()
    with Store(path, {"run": 1}) as store:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.warns(RuntimeWarning, match=r"cannot be written \(No space left on device\): .*not kept"):
                store.add("c", 3)
        store.add("d", 4)
        assert store.done.keys() == {"a", "b", "c", "d"}
    assert path.read_bytes() == content


def test_what_cannot_be_opened_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "results"):
        with pytest.raises(OSError, match=rf"{path} cannot be read and written \(.*\); remove it .* or name another"):
            Store(path, {})
