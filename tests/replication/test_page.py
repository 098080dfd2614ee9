"""The pages of the replications: made of what is stored, all of it, and as they stand in the repository."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from boostplug.comparison.document import as_json, marks
from boostplug.replication import PAPERS
from boostplug.replication.page import LISTS, main, pages, store, stored, tables
from boostplug.replication.result import SCHEMA

RESULTS = Path(__file__).parents[2] / "docs" / "results"
STORED = stored(RESULTS / "replication")


def claim(holds, about="other methods", *, real=True, own=True, words="A | B beats *C*", ours="+.1 [+.0, +.2]"):
    return {
        "study": "tiny" if real else "made",
        "claim": "A is ahead of C",
        "where": "Section 4, Figure 1",
        "words": words,
        "about": about,
        "own_data": own,
        "real": real,
        "published": "",
        "ours": ours,
        "holds": holds,
    }


def check(*, passes, name="Theorem 1", published=""):
    return {
        "study": "tiny",
        "check": "nowhere above",
        "where": name,
        "real": True,
        "published": published,
        "ours": "nearest: 0.1",
        "passes": passes,
    }


def study(name="tiny", *, real=True, tasks=1):
    keys = ("NDCG@1", "NDCG@1, ties")
    learner = {
        "test": {"NDCG@1": 0.5, "NDCG@1, ties": None},
        "train": {"NDCG@1": 0.6, "NDCG@1, ties": None},
        "round": {"NDCG@1": 3.0, "NDCG@1, ties": 3.0},
        "mean_rank": {"NDCG@1": 1.25, "NDCG@1, ties": None},
        "curves": {"test": {"NDCG@1": [0.1, 0.2]}},
        "grid": [{"alpha": "0.1"}, {"alpha": "0.2"}],
        "candidate": {"NDCG@1": [0, 5]},
    }
    tests = {"critical_difference": 0.5, "friedman": None, "pairs": [{"a": "A", "b": "C", "p": 0.5, "p_holm": 0.5}]}
    return {
        "name": name,
        "tasks": tasks,
        "folds": 5,
        "rounds": 2,
        "notes": ["A note | of it."],
        "published_applies": True,
        "real": real,
        "data_sha256": "0123456789abcdef",
        "measures": [{"key": key, "greater_is_better": True} for key in keys],
        "published": {"Other": {"NDCG@1": 0.45}, "A": {"NDCG@1": 0.35}},
        "learners": [{"name": "A", **learner}, {"name": "C", **learner, "candidate": {}}],
        "curve_rounds": [1, 2],
        "tests": dict.fromkeys(keys, tests),
        "units": {"NDCG@1": [[0.1, 0.2]] * 100},
        "extras": {},
        "errors": {},
    }


def document(name="adarank"):
    return {
        "schema": SCHEMA,
        "protocol": name,
        "paper": "Someone. Something. 1999.",
        "data": "/some/where/data",
        "seed": 0,
        "versions": {"boostplug": "0.1"},
        "studies": [study(), study("made", real=False, tasks=3)],
        "not_run": {"Web": "web (a folder)", "Web, trees": "web (a folder)"},
        "claims": [
            claim("holds"),
            claim("level"),
            claim("holds", "rounds", own=False, words="falls, then rises", ours="A: +.1; B: +.2"),
            claim("does not hold", real=False),
            claim(None, "rounds", ours="not judged: tasks [all] failed"),
        ],
        "theorems": [check(passes=True), check(passes=False, name="Theorem 2")],
        "baselines": [check(passes=None, published=".45")],
        "not_tested": [{"where": "Section 5", "words": "faster", "reason": "No number."}],
        "deviations": ["Folds: ours."],
    }


def rows(lines):
    """Return the cells of a table's rows, its head first."""
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    assert len({len(row) for row in found}) <= 1, "a row with more cells than its head"
    return [[cell.strip() for cell in row] for row in found]


def test_claims_stand_by_kind_with_quotation_place_and_verdict():
    lines = tables(document())["claims"]
    assert [line for line in lines if line.startswith("#")] == ["### Claims: other methods", "### Claims: rounds"]
    body = [row for row in rows(lines) if not row[0].startswith("-")]
    assert body[1] == [
        r"“A \| B beats \*C\*” (Section 4, Figure 1)",
        "tiny, own",
        "A is ahead of C",
        "–",
        "+.1 [+.0, +.2]",
        '<a id="claims-other-methods-holds"></a>**holds**',
    ]
    assert body[2][0] == "as above"
    assert [row[-1].partition("</a>")[2] for row in body if "</a>" in row[-1]] == [
        "**holds**",
        "level",
        "**holds**",
        "not judged",
    ]
    assert next(row for row in body if "falls" in row[0])[1:5:3] == ["tiny, standing in", "A: +.1<br>B: +.2"]
    made = rows(tables(document())["synthetic"])
    assert [row[1] for row in made[2:]] == ["made"]
    assert made[2][-1] == "*does not hold*"


@pytest.fixture
def folder(tmp_path):
    """Pages of all papers with some marks, and a result beside them."""
    (tmp_path / "replication").mkdir()
    (tmp_path / "replication.md").write_text("# All\n\n<!-- table: headline -->\n<!-- end -->\n")
    for name in PAPERS:
        marked = "<!-- table: verdicts -->\n<!-- end -->\n"
        (tmp_path / "replication" / f"{name}.md").write_text(f"# {name} (Someone)\n\nProse.\n\n{marked}")
    whole = document()
    whole["studies"][0] = study("OHSUMED")
    for learner in whole["studies"][0]["learners"]:
        learner["curves"] = {"train": {"MAP": [0.1, 2 / 3], "P@1": [0.1, 0.2]}}
    (tmp_path / "in.json").write_text(as_json(whole))
    (tmp_path / "in.json.times").write_text(
        json.dumps({"OHSUMED | a | fold 1 | A": 1.4, "OHSUMED | a | fold 2 | A": 2.2})
    )
    return tmp_path


def test_a_result_is_stored_small_and_fills_the_pages(folder, capsys):
    main([str(folder), "--store", str(folder / "in.json")])
    file = folder / "replication" / "adarank.json.gz"
    kept = json.loads(gzip.decompress(file.read_bytes()))
    assert kept["claims"] == document()["claims"]
    assert kept["seconds"] == {"OHSUMED": 4, "made": 0}
    assert kept["data"] == "data"
    of = kept["studies"][0]
    assert "units" not in of
    assert of["learners"][0]["curves"] == {"train": {"MAP": [0.1, 0.6666667]}}  # Figure 11, of the study OHSUMED
    assert kept["studies"][1]["learners"][0]["curves"] == {"test": {}}
    before = file.read_bytes()
    assert store(folder / "in.json", folder / "replication").read_bytes() == before
    own, other = ((folder / "replication" / f"{name}.md").read_text() for name in ("adarank", "qbrank"))
    assert own.startswith("# adarank (Someone)\n\nProse.\n\n<!-- table: verdicts -->\n\n**4 claims on real data")
    assert "No result is stored yet." in other
    assert "4 claims on real data, of 1 of 5 papers" in (folder / "replication.md").read_text()
    said = capsys.readouterr().err
    assert "adarank.md has no mark for 'means OHSUMED'" in said  # nothing is left out silently
    main([str(folder)])
    assert (folder / "replication" / "adarank.md").read_text() == own


@pytest.mark.parametrize("page", ["replication.md", *(f"replication/{name}.md" for name in PAPERS)])
def test_pages_of_the_repository_are_what_is_stored(page):
    """Every page is made again, those of papers without a stored result too, which then say so."""
    made = pages(RESULTS)[RESULTS / page]
    assert made == (RESULTS / page).read_text(encoding="utf-8"), "run python -m boostplug.replication.page"


@pytest.mark.parametrize("name", STORED)
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
    """Its lists, and the means of every study that was run on real data; no mark stands twice."""
    page = (RESULTS / "replication" / f"{name}.md").read_text(encoding="utf-8")
    marked = marks(page)
    wanted = {*LISTS} | {f"means {study['name']}" for study in STORED.get(name, {"studies": []})["studies"]}
    assert {f"table: {mark}" for mark in wanted} <= marked
    assert all(page.count(f"<!-- {mark} -->") == 1 for mark in marked)


def anchors(page):
    """Return what links into a page can lead to: headings, as GitHub names them, and anchors by hand."""
    body = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", body, re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    named = re.findall(r'<a id="([^"]+)">', body)
    assert Counter(named).most_common(1) in ([], [(named[0], 1)]) if named else True
    return {*slugs, *named}


@pytest.mark.parametrize("page", ["replication.md", *(f"replication/{name}.md" for name in PAPERS)])
def test_links_into_pages_lead_to_a_heading_or_anchor(page):
    body = (RESULTS / page).read_text(encoding="utf-8")
    for target, place in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", body):
        if "://" not in target:
            of = ((RESULTS / page).parent / target) if target else RESULTS / page
            assert place in anchors(of), f"{page} links to {target}#{place}"
    assert body.startswith("# ")
