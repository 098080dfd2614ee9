"""Files of results: read with words for what is amiss."""

import json
from pathlib import Path

import pytest

from boostplug.comparison.document import as_json, as_json_gz, read
from boostplug.comparison.report.__main__ import main
from boostplug.studies.replication import page
from boostplug.studies.replication.result import SCHEMA

COMPARE = ("boostplug.compare/2", lambda *files: main([files[0], files[1]]))
REPLICATE = (SCHEMA, lambda source, target: page.store(Path(source), Path(target)))


@pytest.mark.parametrize(("schema", "make"), [COMPARE, REPLICATE], ids=["compare", "replicate"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is damaged, or no JSON"),
        (b"\xff\xfe\x00", "is damaged, or no JSON"),
        (b'{"schema": "boostplug', "is damaged, or no JSON"),
        (b"[" * 100_000, "is damaged, or no JSON"),
        (b"null", "is no result of .*, but None; name a file of this command and version"),
        (b"[1, 2]", "is no result of .*, but None"),
        (b'{"schema": "boostplug.compare/9"}', "is no result of .*, but 'boostplug.compare/9'"),
        (None, "is not a whole result of .*KeyError.*; make it again"),
        ("a folder", "cannot be read .*; check the path"),
    ],
)
def test_what_is_no_result_is_named(tmp_path, schema, make, content, message):
    source, target = tmp_path / "in.json", tmp_path / "page.md"
    if content == "a folder":
        source.mkdir()
    else:
        source.write_bytes(content if content is not None else json.dumps({"schema": schema}).encode())
    with pytest.raises(SystemExit, match=rf"in\.json {message}"):
        make(str(source), str(target))
    assert not target.exists()


def test_a_compressed_file_is_the_document_and_always_the_same(tmp_path):
    whole = {"schema": "small", "text": "Δ", "values": [0.1, float("nan")]}
    (tmp_path / "in.json.gz").write_bytes(as_json_gz(whole))
    assert read(tmp_path / "in.json.gz", "small", dict) == {"schema": "small", "text": "Δ", "values": [0.1, None]}
    assert as_json_gz(whole)[4:8] == bytes(4)  # the time


def test_any_part_of_a_result_may_be_of_another_shape(result, tmp_path):
    whole = json.loads(as_json(result.document))
    for key in whole.keys() - {"schema", "notes"}:
        for wrong in (None, [], 3, "x"):
            (tmp_path / "in.json").write_text(json.dumps({**whole, key: wrong}))
            try:
                main([str(tmp_path / "in.json"), str(tmp_path / "page.md")])
            except SystemExit as error:
                assert "in.json is not a whole result of" in str(error)  # noqa: PT017 (some shapes pass)
