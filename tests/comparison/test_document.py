"""Files of results: read with words for what is amiss."""

from boostplug.comparison.document import as_json_gz, read


def test_a_compressed_file_is_the_document_and_always_the_same(tmp_path):
    whole = {"schema": "small", "text": "Δ", "values": [0.1, float("nan")]}
    (tmp_path / "in.json.gz").write_bytes(as_json_gz(whole))
    assert read(tmp_path / "in.json.gz", "small", dict) == {"schema": "small", "text": "Δ", "values": [0.1, None]}
    assert as_json_gz(whole)[4:8] == bytes(4)  # the time
