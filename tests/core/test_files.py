"""Files are replaced in one step: what is there stays until the new content is complete."""

from pathlib import Path

import pytest

from boostplug.core.files import write_file


def full(_path, _target):
    raise OSError(28, "No space left on device")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("as it was")
    return path


def test_a_write_that_fails_leaves_the_file_and_nothing_else(path, monkeypatch):
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(path, "new")
    assert path.read_text() == "as it was"
    assert list(path.parent.iterdir()) == [path]


def test_links_and_permissions_stay(path):
    path.chmod(0o640)
    link = path.with_name("link.json")
    link.symlink_to(path)
    write_file(link, "\udcc3Δ")  # as Python names a file whose name is no UTF-8
    assert path.read_text(encoding="utf-8") == r"\udcc3Δ"
    assert path.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    long = path.with_name("x" * 250 + ".json")  # as long as names may be
    write_file(long, "new")
    assert long.read_text() == "new"
