"""Finished results on disk: complete or not there, from any number of processes."""

import subprocess
import sys

import pytest

from boostplug.comparison.training.store import Store

KEPT = {"a": [1.5, None], "b": {"x": 0.1}}


@pytest.fixture
def store(tmp_path):
    """A store with two results."""
    store = Store(tmp_path / "results")
    for key, result in KEPT.items():
        store.add(key, result)
    return store


def found_in(store, *keys):
    again = Store(store.path)
    return {key: again.get(key) for key in keys}


def test_what_is_added_is_there(store):
    assert found_in(store, "a", "b", "c") == {**KEPT, "c": None}
    store.add("a", 2)
    assert found_in(store, "a") == {"a": 2}


def test_a_file_is_made_with_the_first_result(tmp_path):
    store = Store(tmp_path / "results")
    assert store.get("a") is None
    assert not store.path.exists()
    store.path.touch()  # as a kill may leave it
    assert store.get("a") is None
    nothing = Store(None)
    nothing.add("a", 1)
    assert nothing.get("a") is None


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_kill_costs_at_most_the_row_that_is_being_written(store):
    code = (
        "import pathlib, sys\n"
        "from boostplug.comparison.training.store import Store\n"
        "store = Store(pathlib.Path(sys.argv[1]))\n"
        "for i in range(10**6):\n"
        "    store.add(str(i), [i] * 1000)\n"
        "    print(i, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(store.path)], stdout=subprocess.PIPE, text=True) as process:
        for _ in range(20):
            process.stdout.readline()
        process.kill()
        done = 20 + len(process.communicate()[0].splitlines())
    assert all(store.get(str(i)) == [i] * 1000 for i in range(done))
    assert store.get(str(done + 1)) is None
    assert found_in(store, *KEPT) == KEPT


def test_several_processes_add_at_once(store):
    code = (
        "import pathlib, sys\n"
        "from boostplug.comparison.training.store import Store\n"
        "for i in range(30):\n"
        "    Store(pathlib.Path(sys.argv[1])).add(f'{sys.argv[2]} {i}', i)\n"
    )
    others = [subprocess.Popen([sys.executable, "-c", code, str(store.path), name]) for name in ("x", "y")]
    for i in range(30):
        store.add(f"here {i}", i)
    assert [other.wait() for other in others] == [0, 0]
    added = {f"{name} {i}": i for name in ("x", "y", "here") for i in range(30)}
    assert found_in(store, *added) == added


@pytest.mark.parametrize("content", [b"null", b"\x00\xff\n" * 9, b"x" * 9999])
def test_a_file_that_is_no_store_is_refused_and_left_alone(store, content):
    store.path.write_bytes(content)
    with pytest.raises(ValueError, match=r"results cannot be read .*; remove it to start anew"):
        store.get("a")
    assert store.path.read_bytes() == content


def test_a_damaged_file_is_refused(store):
    content = store.path.read_bytes()
    for damaged in (content[: len(content) // 2], content.replace(b"[1.5,", b"(1.5,")):
        store.path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"results cannot be read .*; remove it to start anew"):
            store.get("a")


def test_a_full_disk_ends_no_run(store):
    """The system refuses to let files grow."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (store.path.stat().st_size, limits[1]))
    try:
        with pytest.warns(
            RuntimeWarning, match=r"results cannot be written \(.*\): .*not kept there, and the run goes"
        ):
            store.add("c", "x" * 20_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert found_in(store, *KEPT, "c") == {**KEPT, "c": None}
