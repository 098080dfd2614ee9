"""The pages of the replications, the summaries and the figures: made of what is stored, all of it."""

from pathlib import Path

import pytest

from studies.replication import PAPERS, ReplicationResult
from studies.replication.figures import draw
from studies.replication.page import pages, stored
from studies.replication.tables import in_latex

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


@pytest.mark.parametrize("name", PAPERS)
def test_the_summary_has_each_verdict_and_forty_lines_at_most(name):
    result = ReplicationResult(STORED[name])
    lines = str(result).splitlines()
    assert len(lines) <= 40
    for claim in STORED[name]["claims"]:
        if claim["real"]:
            (line,) = [line for line in lines if f"“{claim['words']}” ({claim['where']})" in line]
            assert claim["holds"].split()[-1].rstrip("s") in line  # hold, level
    assert {"0.", "–"} & {cell[:2] for cell in lines[-1].split()[1:]}  # the main table


@pytest.mark.parametrize("name", PAPERS)
def test_latex_knows_every_character_of_the_papers(name):
    written = ReplicationResult(STORED[name]).full.to_latex()
    assert not {character for character in written if ord(character) > 127}
    assert in_latex("~^\\{}") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}"


@pytest.mark.parametrize(
    ("name", "kind"), [("rankboost-plus", "Ranks"), ("ndcg-boost", "Curves"), ("adarank", "Means")]
)
def test_figures_are_drawn(name, kind, tmp_path):
    pytest.importorskip("matplotlib")
    figure = next(figure for figure in PAPERS[name].figures if type(figure).__name__ == kind)
    written = draw(STORED[name], [figure], tmp_path / "figures")
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert all(path.stat().st_size > 5_000 for path in written)
