"""Pages of results beside the numbers that are stored with them."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from studies.documents import as_json_gz, filled, read

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PROGRAMS = {"cross_sections": "correlation", "verdicts": "true_verdicts"}
"""Those whose program has another name than the page."""
PAGES = ["calibrated_ranking", "calibration", "choosing", "click_probabilities", "clicks", "fitting_trees", *PROGRAMS]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_the_stored_numbers(name):
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    stored = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    tables = import_module(f"studies.{PROGRAMS.get(name, name)}").tables(stored)
    made = filled(page, {f"table: {table}": lines for table, lines in tables.items()})
    assert f"]({name}.json)" in page
    assert made == page


def test_a_compressed_file_is_the_document_and_always_the_same(tmp_path):
    whole = {"schema": "small", "text": "Δ", "values": [0.1, float("nan")]}
    (tmp_path / "in.json.gz").write_bytes(as_json_gz(whole))
    assert read(tmp_path / "in.json.gz", "small", dict) == {"schema": "small", "text": "Δ", "values": [0.1, None]}
    assert as_json_gz(whole)[4:8] == bytes(4)  # the time
