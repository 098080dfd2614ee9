"""Pages of results beside the numbers that are stored with them."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from studies.documents import as_json_gz, filled, read

RESULTS = Path(__file__).parents[2] / "docs" / "results"
NUMBER = re.compile(r"[+−]?\d*\.\d+")
STUDIES = {
    "calibrated_ranking": "calibrated_ranking",
    "calibration": "calibration",
    "choosing": "choosing",
    "chosen": "chosen",
    "click_probabilities": "click_probabilities",
    "clicks": "clicks",
    "cross_sections": "correlation",
    "few_queries": "few_queries",
    "verdicts": "true_verdicts",
}


def last_digit(number):
    """Return what one in the last decimal of a number is worth."""
    return 10.0 ** -len(number.partition(".")[2])


def value(number):
    return float(number.replace("−", "-"))


@pytest.mark.parametrize(("name", "program"), STUDIES.items(), ids=STUDIES)
def test_a_page_shows_the_stored_numbers(name, program):
    """The tables of two pages were made before the numbers were rounded: there the last digit may differ by one."""
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    stored = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    tables = import_module(f"studies.{program}").tables(stored)
    made = filled(page, {f"table: {table}": lines for table, lines in tables.items()})
    assert f"]({name}.json)" in page
    assert NUMBER.sub("#", page) == NUMBER.sub("#", made)
    for shown, expected in zip(NUMBER.findall(page), NUMBER.findall(made), strict=True):
        slack = 1.01 * last_digit(expected) if name in {"chosen", "few_queries"} else 0.0
        assert len(shown.lstrip("+−")) == len(expected.lstrip("+−"))
        assert abs(value(shown) - value(expected)) <= slack, f"{shown} is not {expected}"


def test_a_compressed_file_is_the_document_and_always_the_same(tmp_path):
    whole = {"schema": "small", "text": "Δ", "values": [0.1, float("nan")]}
    (tmp_path / "in.json.gz").write_bytes(as_json_gz(whole))
    assert read(tmp_path / "in.json.gz", "small", dict) == {"schema": "small", "text": "Δ", "values": [0.1, None]}
    assert as_json_gz(whole)[4:8] == bytes(4)  # the time
