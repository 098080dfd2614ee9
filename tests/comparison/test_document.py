"""Files of results: read with words for what is amiss."""

import json

from boostplug.comparison.document import as_json, as_json_gz, read
from boostplug.comparison.report.__main__ import main


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
