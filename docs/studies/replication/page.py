"""The pages of the replications: each keeps its text, and gets its marked tables from stored results.

``python -m studies.replication.page`` fills ``docs/results/replication.md`` and ``docs/results/replication/PAPER.md``
from ``PAPER.json.gz`` in the latter's folder, and draws the figures on them. With ``--store RESULT.json`` it first
stores the output of ``python docs/studies/replicate.py PAPER --json RESULT.json``.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostplug.core.files import write_file
from studies.documents import as_json_gz, filled, marks, read
from studies.replication import report
from studies.replication.figures import draw, names
from studies.replication.judging.study_results import extent
from studies.replication.papers import PAPERS
from studies.replication.protocol import ABOUT
from studies.replication.report import made_with, not_run, passed, tally
from studies.replication.result import SCHEMA
from studies.replication.tables import Table, in_markdown, table_lines
from studies.tables import markdown

Document = Mapping[str, Any]

_FOLDER = Path("docs/results")
_SHOWN = re.compile(r"\(figures/([a-z0-9-]+)\.png\)")


def tables(document: Document) -> dict[str, list[str]]:
    """Return the lines of each table of a paper's page, by the name of its mark."""
    claims = document["claims"]
    found: dict[str, Iterable[str]] = {
        "verdicts": _verdicts(document),
        "data": _data(document),
        "claims": _by_kind([claim for claim in claims if claim["real"]]),
        "synthetic": table_lines(report.claims([claim for claim in claims if not claim["real"]])),
        "not tested": table_lines(report.not_tested(document)),
        **{kind: _checks(document[kind]) for kind in ("theorems", "baselines")},
        "deviations": [*(f"- {line}" for line in document["deviations"]), ""],
    }
    for wanted, studies in not_run(document):
        found |= {f"means {name}": [f"Not run, since {in_markdown(wanted)} is not at hand.", ""] for name in studies}
    for study in document["studies"]:
        of_study = (*report.means(study), *report.ranks(study), *report.chosen(study))
        found[f"means {study['name']}"] = [line for table in of_study for line in _titled(table)]
    return {name: [*lines] or ["None.", ""] for name, lines in found.items()}


def _titled(table: Table) -> list[str]:
    return [f"{in_markdown(table.title)}:", "", *table_lines(table)]


def _verdicts(document: Document) -> Iterator[str]:
    claims = [claim for claim in document["claims"] if claim["real"]]
    own = [claim for claim in claims if claim["own_data"]]
    yield f"**{len(claims)} claims on real data: {tally(claims)}.**"
    yield f"On the paper's own data set, {len(own)}: {tally(own)}." if own else "None is on the paper's own data set."
    yield ""


def _data(document: Document) -> Iterator[str]:
    rows = [
        [
            study["name"],
            "real" if study["real"] else "synthetic",
            extent(study),
            str(study["rounds"]),
            " ".join(study["notes"]),
        ]
        for study in document["studies"]
    ]
    yield from table_lines(Table("", ("study", "data", "mean of", "rounds", "notes"), rows))
    yield from (f"- {line}" for line in _not_run(document))
    yield from (f"- {made_with(document)}", "")


def _not_run(document: Document) -> Iterator[str]:
    for wanted, studies in not_run(document):
        yield f"Not run, since {in_markdown(wanted)} is not at hand: {in_markdown('; '.join(studies))}"


def _by_kind(claims: Sequence[Document]) -> Iterator[str]:
    """Yield a heading, the target of the matrix's links, and a table for each kind of claim."""
    for about in ABOUT:
        if of_kind := [claim for claim in claims if claim["about"] == about]:
            yield from (f"### Claims: {about}", "", f"{tally(of_kind).capitalize()}.", "")
            yield from table_lines(report.claims(of_kind))


def _checks(checks: Sequence[Document]) -> list[str]:
    return [f"{passed(checks)}.", "", *table_lines(report.checks(checks))] if checks else []


def front_tables(documents: Mapping[str, Document], titles: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the lines of the front page's tables: ``headline``, ``matrix``, ``apart``, ``failed``, ``not run``.

    Parameters
    ----------
    documents : mapping of str to dict
        Stored documents by protocol name, in the page's order.
    titles : mapping of str to str
        Titles of all papers' pages, by protocol name.
    """
    failed = [
        [titles[name], *(row[key] for key in ("study", "check", "published", "ours"))]
        for name, document in documents.items()
        for row in (*document["theorems"], *document["baselines"])
        if row["passes"] is False
    ]
    absent = [f"- {titles[name]}: {line}" for name, document in documents.items() for line in _not_run(document)]
    found = {
        "headline": [*_headline(documents, titles), ""],
        "matrix": _matrix(documents, titles),
        "apart": _apart(documents, titles),
        "failed": table_lines(Table("", ("paper", "data", "check", "published", "ours"), failed)),
        "not run": [*absent, ""] if absent else [],
    }
    return {name: lines or ["None.", ""] for name, lines in found.items()}


def _headline(documents: Mapping[str, Document], titles: Mapping[str, str]) -> Iterator[str]:
    claims = [(name, claim) for name, document in documents.items() for claim in document["claims"] if claim["real"]]
    passages = {(name, claim["where"], claim["words"]) for name, claim in claims}
    everything = [claim for _, claim in claims]
    yield f"**{len(claims)} claims on real data, of {len(documents)} of {len(titles)} papers: {tally(everything)}.**"
    for own, where in ((True, "On the papers' own data sets"), (False, "On data sets that stand in for them")):
        if those := [claim for claim in everything if claim["own_data"] is own]:
            yield f"{where}, {len(those)}: {tally(those)}."
    yield (
        f"They judge {len(passages)} passages of the papers: one that is judged on several data sets, or of several "
        "methods, counts once for each."
    )


def _matrix(documents: Mapping[str, Document], titles: Mapping[str, str]) -> list[str]:
    """Return a table of papers by kinds of claims: the numbers of each verdict, linked to the claims."""
    body, everything = [], list[Document]()
    for name, document in documents.items():
        claims = [claim for claim in document["claims"] if claim["real"]]
        cells = [_counts([claim for claim in claims if claim["about"] == about]) for about in ABOUT]
        places = [f"replication/{name}.md#claims-{about.replace(' ', '-')}" for about in ABOUT]
        linked = [f"[{cell}]({place})" if cell else "" for cell, place in zip(cells, places, strict=True)]
        body.append([_link(titles[name], name), *linked, _counts(claims)])
        everything += claims
    sums = [_counts([claim for claim in everything if claim["about"] == about]) for about in ABOUT]
    return markdown(["paper", *ABOUT, "all"], [*body, ["all", *sums, _counts(everything)]])


def _counts(claims: Sequence[Document]) -> str:
    return tally(claims, zeros=False)


def _apart(documents: Mapping[str, Document], titles: Mapping[str, str]) -> list[str]:
    """Return the numbers of checks and of claims on other data than real ones, with links."""
    body = []
    for name, document in documents.items():
        synthetic = [claim for claim in document["claims"] if not claim["real"]]
        places = (
            (passed(document["theorems"]) if document["theorems"] else "", "checked-theorems"),
            (passed(document["baselines"]) if document["baselines"] else "", "checked-baselines"),
            (tally(synthetic) if synthetic else "", "what-only-synthetic-data-can-show"),
            (str(len(document["not_tested"]) or ""), "not-tested"),
        )
        cells = [f"[{text}](replication/{name}.md#{place})" if text else "–" for text, place in places]
        body.append([_link(titles[name], name), *cells])
    return markdown(["paper", "theorems", "baselines", "only on synthetic data", "not tested"], body)


def _link(title: str, name: str) -> str:
    return f"[{title}](replication/{name}.md)"


def stored(folder: Path) -> dict[str, Document]:
    """Return the results in a folder by protocol name, in the order of `PAPERS`."""
    return {name: read(folder / f"{name}.json.gz", SCHEMA, tables) for name in PAPERS}


def store(source: Path, folder: Path) -> Path:
    """Write a result, compressed, to the folder of stored results; return the file."""
    document = read(source, SCHEMA, tables)
    document["data"] = Path(document["data"]).name  # only its name
    target = folder / f"{document['protocol']}.json.gz"
    write_file(target, as_json_gz(document))
    return target


def pages(folder: Path) -> dict[Path, str]:
    """Return the front page and each paper's page, filled from stored results."""
    documents = stored(folder / "replication")
    files = {name: folder / "replication" / f"{name}.md" for name in PAPERS}
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    titles = {name: text.partition("\n")[0].removeprefix("# ").partition(" (")[0] for name, text in texts.items()}
    front = folder / "replication.md"
    found = {front: _filled(front, front.read_text(encoding="utf-8"), front_tables(documents, titles))}
    return found | {file: _filled(file, texts[name], tables(documents[name])) for name, file in files.items()}


def _filled(page: Path, text: str, of_page: Mapping[str, Sequence[str]]) -> str:
    if unknown := sorted({mark.removeprefix("table: ") for mark in marks(text)} - of_page.keys()):
        raise SystemExit(f"{page} marks {unknown[0]!r}; there are: {', '.join(map(repr, of_page))}")
    return filled(text, {f"table: {name}": lines for name, lines in of_page.items()})


def main(arguments: Sequence[str] | None = None) -> None:
    """Store results, fill the pages, and draw their figures."""
    parser = argparse.ArgumentParser(prog="python -m studies.replication.page")
    parser.add_argument("folder", type=Path, nargs="?", default=_FOLDER, help=f"of the pages; default: {_FOLDER}")
    parser.add_argument(
        "--store", type=Path, action="append", default=[], metavar="RESULT.json", help="may be repeated"
    )
    options = parser.parse_args(arguments)
    folder = options.folder / "replication"
    for source in options.store:
        store(source, folder)
    texts = pages(options.folder)
    for page, text in texts.items():
        write_file(page, text)
    for name, document in stored(folder).items():
        shown = _SHOWN.findall(texts[folder / f"{name}.md"])
        figures = [figure for stem, figure in names(document, PAPERS[name].figures).items() if stem in shown]
        draw(document, figures, folder / "figures", suffixes=("png",))


if __name__ == "__main__":
    main()
