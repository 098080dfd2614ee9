"""The pages of the replications: made of what is stored, all of it, and as they stand in the repository."""

from pathlib import Path

import pytest

from studies.replication import PAPERS
from studies.replication.page import pages, stored

RESULTS = Path(__file__).parents[3] / "docs" / "results"
STORED = stored(RESULTS / "replication")


@pytest.mark.parametrize("page", ["replication.md", *(f"replication/{name}.md" for name in PAPERS)])
def test_pages_of_the_repository_are_what_is_stored(page):
    made = pages(RESULTS)[RESULTS / page]
    assert made == (RESULTS / page).read_text(encoding="utf-8"), "run python -m studies.replication.page"


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_stored_is_of_the_protocol_as_it_stands(name):
    """Whoever changes a claim runs it again: `replicate.py --json … --keep` trains nothing for it."""
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
