"""Finished results on disk: complete or not there, of one run, from any number of processes."""

import json
import sqlite3
import subprocess
import sys

import pytest

from boostplug.comparison.training.store import Store, differences, head_of


@pytest.fixture
def path(tmp_path):
    """A file with two results."""
    path = tmp_path / "results"
    with Store(path, {"run": 1}) as store:
        store.add("a", [1.5, None])
        store.add("b", {"x": 0.1})
    return path


KEPT = {"a": [1.5, None], "b": {"x": 0.1}}


def reopened(path, head=None):
    with Store(path, head or {"run": 1}) as store:
        return store.done


def test_what_is_added_is_there(path):
    assert reopened(path) == KEPT
    assert head_of(path) == {"run": 1}
    with Store(None, {}) as store:
        store.add("a", 1)
        assert store.done == {"a": 1}


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_kill_costs_at_most_the_row_that_is_being_written(path):
    code = (
        "import pathlib, sys\n"
        "from boostplug.comparison.training.store import Store\n"
        "store = Store(pathlib.Path(sys.argv[1]), {'run': 1})\n"
        "for i in range(10**6):\n"
        "    store.add(str(i), [i] * 1000)\n"
        "    print(i, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
        for _ in range(20):
            process.stdout.readline()
        process.kill()
        said = 20 + len(process.communicate()[0].splitlines())
    found = reopened(path)
    assert len(found) - len(KEPT) in {said, said + 1}
    assert all(found[str(i)] == [i] * 1000 for i in range(said))


def test_several_processes_add_at_once(path):
    code = (
        "import pathlib, sys\n"
        "from boostplug.comparison.training.store import Store\n"
        "with Store(pathlib.Path(sys.argv[1]), {'run': 1}) as store:\n"
        "    for i in range(30):\n"
        "        store.add(f'{sys.argv[2]} {i}', i)\n"
    )
    with Store(path, {"run": 1}) as store:
        others = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("x", "y")]
        for i in range(30):
            store.add(f"here {i}", i)
        assert [other.wait() for other in others] == [0, 0]
    assert reopened(path) == {**KEPT, **{f"{name} {i}": i for name in ("x", "y", "here") for i in range(30)}}


@pytest.mark.parametrize(
    "content", [b"null", b"null\n", b"{}\n", b'{"run": 1}\n', b"\x00\xff\n" * 9, b"a b\n", b"x" * 9999]
)
def test_what_is_no_store_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"results .*was not written by this program.*; remove it to start anew"):
        reopened(path)
    assert path.read_bytes() == content
    assert head_of(path) is None


def test_another_database_is_refused(tmp_path):
    path = tmp_path / "results"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE results (key, value)")
    database.close()
    with pytest.raises(ValueError, match="results was not written by this program; remove it to start anew"):
        reopened(path)


def test_a_damaged_byte_is_refused_or_changes_nothing(path):
    content = path.read_bytes()
    messages = []
    for at in [*range(100), *range(100, len(content), 7)]:
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        try:
            assert reopened(path) == KEPT
        except (ValueError, OSError) as error:
            messages.append(str(error))
    assert len(messages) > 20
    assert all(f"{path} " in message and "; remove it" in message for message in messages)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"results is damaged.*; remove it"):
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


def test_a_full_disk_ends_no_run(path):
    """The system refuses to let files grow."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(path, {"run": 1}) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limits[1]))
        try:
            with pytest.warns(RuntimeWarning, match=r"results cannot be written \(.*\): .*not kept"):
                store.add("c", "x" * 20_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        store.add("d", 4)
        assert store.done.keys() == {"a", "b", "c", "d"}
    assert reopened(path) == KEPT


def test_what_cannot_be_opened_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "results"):
        with pytest.raises(OSError, match=rf"{path} cannot be read and written \(.*\); remove it .* or name another"):
            Store(path, {})
