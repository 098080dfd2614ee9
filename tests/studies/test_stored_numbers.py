"""Pages whose programs are gone: every difference on them is in their stored numbers."""

import json
import re
from pathlib import Path

import pytest

from studies.log_sizes import table
from studies.tables import decimals, with_interval

RESULTS = Path(__file__).parents[2] / "docs" / "results"
INTERVAL = re.compile(r"[+−]\.\d{4} \[[+−]\.\d{3,4}, [+−]\.\d{3,4}\]")


def nodes(value):
    """Yield a JSON value and all values inside it."""
    yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from nodes(inner)


def stored(name):
    """Yield all differences of a page's file as the page writes them."""
    for one in nodes(json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))):
        if isinstance(one, dict) and {"difference", "interval"} <= one.keys():
            yield from (with_interval(one["difference"], one["interval"], digits) for digits in (3, 4))
        elif isinstance(one, list) and all(isinstance(value, float) for value in one):
            if len(one) == 2:  # a mean and its standard error
                yield with_interval(one[0], (one[0] - 1.96 * one[1], one[0] + 1.96 * one[1]))
            elif len(one) == 3:  # a mean and the ends of its interval
                yield with_interval(one[0], one[1:])


@pytest.mark.parametrize(
    ("name", "least"), [("quality", 30), ("first_loss", 20), ("starting_point", 40), ("log_sizes", 50)]
)
def test_differences_on_a_page_are_stored(name, least):
    shown = INTERVAL.findall(" ".join((RESULTS / f"{name}.md").read_text(encoding="utf-8").split()))
    assert len(shown) >= least
    assert set(shown) <= set(stored(name))


@pytest.mark.parametrize(("name", "least"), [("quality", 40), ("first_loss", 60)])
def test_differences_without_an_interval_are_stored_too(name, least):
    page = re.sub(r"\[[+−][^]]+\]", "", (RESULTS / f"{name}.md").read_text(encoding="utf-8"))
    shown = re.findall(r"[+−]\.\d{4}", page)
    assert len(shown) >= least
    assert set(shown) - {text[:6] for text in stored(name)} == set()


def test_best_and_worst_objective_by_kind_of_data_are_stored():
    found = json.loads((RESULTS / "quality.json").read_text(encoding="utf-8"))
    means = {(row["framework"][0].upper(), decimals(row["means"][0])) for row in found["rows"]}
    section = (RESULTS / "quality.md").read_text(encoding="utf-8").partition("## By kind of data")[2]
    shown = re.findall(r"\| ([LXC]) [^|]+ (\.\d{4})(?= \|)", section)
    assert len(shown) == 9 * 4
    assert set(shown) <= means


def test_table_of_log_sizes_is_that_of_its_numbers():
    found = json.loads((RESULTS / "log_sizes.json").read_text(encoding="utf-8"))
    page = (RESULTS / "log_sizes.md").read_text(encoding="utf-8")
    assert "\n".join(table(found)).strip() in page
