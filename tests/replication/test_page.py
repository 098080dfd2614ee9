"""The pages of the replications: made of what is stored, all of it, and as they stand in the repository."""

import gzip
import json
import re
from pathlib import Path

import pytest

from boostplug.comparison.document import as_json
from boostplug.replication import PAPERS
from boostplug.replication.documents import marks
from boostplug.replication.page import main, pages, store, stored, tables

RESULTS = Path(__file__).parents[2] / "docs" / "results"
STORED = stored(RESULTS / "replication")


def test_claims_stand_by_kind_with_quotation_place_and_verdict():
    """On the page, cells are escaped; a passage stands once."""
    document = STORED["ndcg-boost"]
    first = document["claims"][0] | {"words": "A | B beats *C*", "holds": None}
    lines = tables(document | {"claims": [first, first | {"study": "made", "real": False}]})
    assert lines["claims"][0] == "### Claims: other methods"
    quoted = r"| “A \| B beats \*C\*” (Section 4.1, Figure 1) | OHSUMED, own |"
    assert [line[: len(quoted)] for line in lines["claims"] if "B beats" in line] == [quoted]
    assert lines["claims"][-2].endswith("| not judged |")
    assert len([line for line in lines["synthetic"] if "| made |" in line]) == 1
    standing_in = next(line for line in tables(document)["claims"] if "MQ2008, standing" in line)
    assert standing_in.startswith("| as above")


@pytest.fixture
def folder(tmp_path):
    """Pages of all papers with some marks, and a result of each."""
    (tmp_path / "replication").mkdir()
    (tmp_path / "replication.md").write_text("# All\n\n<!-- table: headline -->\n<!-- end -->\n")
    marked = "<!-- table: verdicts -->\n<!-- end -->\n"
    for name in PAPERS:
        (tmp_path / "replication" / f"{name}.md").write_text(f"# {name} (Someone)\n\nProse.\n\n{marked}")
        (tmp_path / f"{name}.json").write_text(as_json(STORED[name] | {"data": "/some/where/data"}))
    return tmp_path


def test_results_are_stored_compressed_and_fill_the_pages(folder):
    main([str(folder), *(word for name in PAPERS for word in ("--store", str(folder / f"{name}.json")))])
    file = folder / "replication" / "adarank.json.gz"
    kept = json.loads(gzip.decompress(file.read_bytes()))
    assert kept == STORED["adarank"] | {"data": "data"}  # without the folders above it
    before = file.read_bytes()
    assert store(folder / "adarank.json", folder / "replication").read_bytes() == before
    own = (folder / "replication" / "adarank.md").read_text()
    assert own.startswith("# adarank (Someone)\n\nProse.\n\n<!-- table: verdicts -->\n\n**26 claims on real data")
    assert "195 claims on real data, of 5 of 5 papers" in (folder / "replication.md").read_text()
    main([str(folder)])
    assert (folder / "replication" / "adarank.md").read_text() == own
    (folder / "replication" / "adarank.md").write_text("# adarank\n\n<!-- table: none such -->\n<!-- end -->\n")
    with pytest.raises(SystemExit, match=r"adarank\.md marks 'none such'; there are: 'verdicts', 'data'"):
        main([str(folder)])


@pytest.mark.parametrize("page", ["replication.md", *(f"replication/{name}.md" for name in PAPERS)])
def test_pages_of_the_repository_are_what_is_stored(page):
    made = pages(RESULTS)[RESULTS / page]
    assert made == (RESULTS / page).read_text(encoding="utf-8"), "run python -m boostplug.replication.page"


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_stored_is_of_the_protocol_as_it_stands(name):
    """Whoever changes a claim runs it again: `boostplug replicate --json … --keep` trains nothing for it."""
    protocol, document = PAPERS[name], STORED[name]
    run = {study["name"] for study in document["studies"]}
    stated = [
        {"study": claim.study, "claim": claim.text, **vars(claim.source), "about": claim.about}
        | {"own_data": claim.own_data, "published": claim.published}
        for claim in protocol.claims
        if claim.study in run
    ]
    assert [{key: row[key] for key in stated[0]} for row in document["claims"]] == stated
    for kind in ("theorems", "baselines"):
        checks = [(check.study, check.text) for check in getattr(protocol, kind) if check.study in run]
        assert [(row["study"], row["check"]) for row in document[kind]] == checks
    assert document["deviations"] == list(protocol.deviations)
    assert [(row["where"], row["words"], row["reason"]) for row in document["not_tested"]] == [
        (passage.where, passage.words, passage.reason) for passage in protocol.not_tested
    ]


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_shows_all_that_is_stored(name):
    """Each of its tables once, and those figures of the paper that its prose speaks of."""
    page = (RESULTS / "replication" / f"{name}.md").read_text(encoding="utf-8")
    assert {f"table: {mark}" for mark in tables(STORED[name])} == marks(page)
    assert all(page.count(f"<!-- {mark} -->") == 1 for mark in marks(page))
    shown = re.findall(r"\(figures/([a-z0-9-]+\.png)\)", page)
    assert shown
    assert all((RESULTS / "replication" / "figures" / file).exists() for file in shown)
