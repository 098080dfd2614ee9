"""Files are replaced in one step, by files of their kind only; what is there stays until the new one is complete."""

import gzip
import os
from pathlib import Path

import pytest

import boostplug as bp
from boostplug.core.files import write_file
from boostplug.datasets import save_qrels, save_run

NEW = '{\n "schema": "boostplug.compare/5"}'
ROWS = {"qid": [1, 1], "doc_ids": ["a", "b"]}
MODEL = bp.Ensemble([[(bp.weak_rankers.Stump(0, 0.5), 1.0)]], n_features=1)
OTHERS = {
    "a CSV file": b"query,grade\n1,2\n",
    "a LETOR file": b"2 qid:1 1:0.5 2:1\n",
    "compressed": gzip.compress(b"2 qid:1 1:0.5 2:1\n"),
    "another object": b'{"schema": "mine"}',
    "a store": b'{"key": "a", "result": 1}\n',
    "a page": b"<!doctype html>\n",
    "binary": b"PAR1\x15\x04",
    "unreadable as text": b"\xff\xfe",
}
WRITERS = {  # each writes the same or other content of one kind
    "result": lambda path, k: write_file(path, f'{{\n "schema": "boostplug.{("compare", "replicate")[k]}"}}'),
    "page": lambda path, k: write_file(path, ("<!doctype html>\n<html>", "<!DOCTYPE HTML>")[k]),
    "model": lambda path, k: write_file(path, ("tree\nversion=v4\n", '{"learner":{')[k]),
    "table": lambda path, k: write_file(path, f"# {'ab'[k]}\n\n| framework | method |"),
    "ensemble": lambda path, k: MODEL.save(path),
    "run": lambda path, k: save_run(path, [k, 2.0], **ROWS),
    "judgements": lambda path, k: save_qrels(path, [k, 2], **ROWS),
}


def full(_path, _target):
    raise OSError(28, "No space left on device")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "out.json"
    path.write_text('{"schema": "boostplug", "old": 1}')
    return path


def test_a_write_that_fails_leaves_the_file_and_nothing_else(path, monkeypatch):
    monkeypatch.setattr(Path, "replace", full)
    before = path.read_text()
    with pytest.raises(OSError, match="No space left"):
        write_file(path, NEW)
    assert path.read_text() == before
    assert list(path.parent.iterdir()) == [path]


def test_links_and_permissions_stay(path):
    path.chmod(0o640)
    link = path.with_name("link.json")
    link.symlink_to(path)
    write_file(link, NEW + "\udcc3Δ")  # as Python names a file whose name is no UTF-8
    assert path.read_text(encoding="utf-8") == NEW + r"\udcc3Δ"
    assert path.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    long = path.with_name("x" * 250 + ".json")  # as long as names may be
    write_file(long, "new")
    assert long.read_text() == "new"


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_is_replaced_only_by_one_of_its_kind(kind, suffix, tmp_path):
    path, write = tmp_path / f"out{suffix}", WRITERS[kind]
    for k in (0, 1, 0):
        write(path, k)
        assert path.read_bytes()
    others = OTHERS | {"a blank line and text": b"\ntext"}
    for name, old in {name: old for name, old in others.items() if name != f"a {kind}"}.items():
        path.write_bytes(old)
        with pytest.raises(FileExistsError, match=r"^path: .*out(\.gz)? holds something else; name another"):
            write(path, 0)
        assert path.read_bytes() == old, name
    for other in WRITERS.keys() - {kind}:
        path.write_bytes(b"")  # as mktemp makes it
        WRITERS[other](path, 0)
        with pytest.raises(FileExistsError):
            write(path, 0)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes_and_devices_are_written_to(tmp_path):
    write_file(os.devnull, NEW)
    assert not Path(os.devnull).is_file()
    os.mkfifo(tmp_path / "pipe")
    named = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    for target, descriptor in ((tmp_path / "pipe", named), (f"/dev/fd/{writer}", reader)):
        write_file(target, NEW)
        assert os.read(descriptor, 1000) == NEW.encode()
    for descriptor in (named, reader, writer):
        os.close(descriptor)
