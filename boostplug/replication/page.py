"""The pages of the replications, from stored results: a page keeps its text, and gets the tables that it marks.

``python -m boostplug.replication.page`` fills ``docs/results/replication.md`` and
``docs/results/replication/PAPER.md`` from ``PAPER.json.gz`` beside the latter, and draws the figures that they show.
With ``--store RESULT.json`` it first takes in what ``boostplug replicate PAPER --json RESULT.json`` has written.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostplug.comparison.document import as_json_gz, filled, marks, read
from boostplug.core.files import write_file
from boostplug.replication.figures import Curves, draw, names
from boostplug.replication.judging.study_results import extent, mean_rows, measures_by_group
from boostplug.replication.papers import PAPERS
from boostplug.replication.protocol import ABOUT
from boostplug.replication.result import SCHEMA, tally
from boostplug.replication.tables import markdown, rounded

Document = Mapping[str, Any]
LISTS = ("verdicts", "data", "claims", "synthetic", "not tested", "theorems", "baselines", "deviations")
"""What every paper's page marks; and ``means STUDY``."""

_FOLDER = Path("docs/results")
_ABSENT = "No result is stored yet."
_HOLDS = {"holds": "**holds**", "level": "level", "does not hold": "*does not hold*", None: "not judged"}
_SHORT = {
    "holds": ("holds", "hold"),
    "level": ("level", "level"),
    "does not hold": ("does not", "do not"),
    None: ("not judged", "not judged"),
}  # of one claim, of several
_PASSES = {True: "passes", False: "**fails**", None: "not checked"}
_DIGITS = 7
_SHOWN = re.compile(r"\(figures/([a-z0-9-]+)\.png\)")


def tables(document: Document) -> dict[str, list[str]]:
    """Return the lines of each table of a paper's page: those of `LISTS`, and ``means STUDY`` of each study."""
    claims = document["claims"]
    found: dict[str, Iterable[str]] = {
        "verdicts": _verdicts(document),
        "data": _data(document),
        "claims": _by_kind([claim for claim in claims if claim["real"]]),
        "synthetic": _claims([claim for claim in claims if not claim["real"]], anchor=""),
        "not tested": _not_tested(document),
        "theorems": _checks(document["theorems"]),
        "baselines": _checks(document["baselines"]),
        "deviations": [*(f"- {line}" for line in document["deviations"]), ""],
    }
    found |= {
        f"means {name}": [f"Not run, since {_cell(wanted)} is not at hand.", ""]
        for name, wanted in document["not_run"].items()
    }
    found |= {f"means {study['name']}": _means(study) for study in document["studies"]}
    return {name: [*lines] or ["None.", ""] for name, lines in found.items()}


def _verdicts(document: Document) -> Iterator[str]:
    claims = [claim for claim in document["claims"] if claim["real"]]
    own = [claim for claim in claims if claim["own_data"]]
    yield f"**{len(claims)} claims on real data: {tally(claims)}.**"
    yield f"On the paper's own data set, {len(own)}: {tally(own)}." if own else "None is on the paper's own data set."
    yield ""


def _data(document: Document) -> Iterator[str]:
    seconds = document.get("seconds", {})
    body = [
        [
            study["name"],
            "real" if study["real"] else "synthetic",
            extent(study),
            str(study["rounds"]),
            f"`{study['data_sha256'][:12]}`",
            _duration(seconds.get(study["name"])),
        ]
        for study in document["studies"]
    ]
    yield from markdown(["study", "data", "mean of", "rounds", "SHA-256", "computing"], body)
    for note in dict.fromkeys(note for study in document["studies"] for note in study["notes"]):
        of = "; ".join(_cell(study["name"]) for study in document["studies"] if note in study["notes"])
        yield f"- {of}: {_cell(note)}"
    yield from (f"- {line}" for line in _not_run(document))
    of = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    yield f"- Seed {document['seed']}; {of}; computing is of one thread."
    yield ""


def _not_run(document: Document) -> Iterator[str]:
    """Yield a line for each data set that is not there, with the studies that want it."""
    for wanted in dict.fromkeys(document["not_run"].values()):
        studies = [name for name, of_study in document["not_run"].items() if of_study == wanted]
        yield f"Not run, since {_cell(wanted)} is not at hand: {'; '.join(map(_cell, studies))}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def _by_kind(claims: Sequence[Document]) -> Iterator[str]:
    """Yield a heading and a table for each kind of claim, so that the matrix can link to it."""
    for about in ABOUT:
        if of_kind := [claim for claim in claims if claim["about"] == about]:
            yield from (f"### Claims: {about}", "", f"{tally(of_kind).capitalize()}.", "")
            yield from _claims(of_kind, anchor=_anchor(about))


def _anchor(about: str, holds: str | None = "") -> str:
    """Return where the claims of a kind stand, or the first of them with a verdict."""
    return "-".join(["claims", *about.split(), *(("not judged" if holds is None else holds).split())])


def _claims(claims: Sequence[Document], anchor: str) -> list[str]:
    """Return a table, what is judged of a passage together, in the order of the passages."""
    passages = list(dict.fromkeys((claim["where"], claim["words"]) for claim in claims))
    claims = sorted(claims, key=lambda claim: passages.index((claim["where"], claim["words"])))
    body, anchors, before = [], set(), ("", "")
    for claim in claims:
        cited = (claim["where"], claim["words"])
        said = "as above" if cited == before else _quoted(claim)
        before = cited
        verdict = _HOLDS[claim["holds"]]
        place = _anchor(claim["about"], claim["holds"])
        if anchor and place not in anchors:
            anchors.add(place)
            verdict = f'<a id="{place}"></a>{verdict}'
        data = f"{claim['study']}, {'own' if claim['own_data'] else 'standing in'}" if claim["real"] else claim["study"]
        body.append(
            [said, _cell(data), _cell(claim["claim"]), _cell(claim["published"]), _lines(claim["ours"]), verdict]
        )
    return markdown(["the paper", "data", "what is judged", "published", "ours", "verdict"], body)


def _quoted(cited: Document) -> str:
    return f"“{_cell(cited['words'])}” ({_cell(cited['where'])})"


def _not_tested(document: Document) -> list[str]:
    body = [[_quoted(row), _cell(row["reason"])] for row in document["not_tested"]]
    return markdown(["the paper", "why it is not judged"], body)


def _checks(checks: Sequence[Document]) -> Iterator[str]:
    if not checks:
        return
    yield from (f"{_passed(checks)}.", "")
    body = [
        [
            *(_cell(row[key]) for key in ("where", "study", "check", "published", "ours")),
            _PASSES[row["passes"]],
        ]
        for row in checks
    ]
    yield from markdown(["where", "data", "check", "published", "ours", ""], body)


def _passed(checks: Sequence[Document]) -> str:
    text = f"{sum(row['passes'] is True for row in checks)} of {len(checks)} pass"
    unknown = sum(row["passes"] is None for row in checks)
    return f"{text}, {unknown} could not be checked" if unknown else text


def _means(study: Document) -> Iterator[str]:
    groups = measures_by_group(study)
    for group, keys in groups.items():
        yield f"Test means over {extent(study)}{group and f', {group}'}:"
        yield ""
        body, above = [], ""
        for name, is_published, means in mean_rows(study, keys):
            above = name or above
            body.append(_row(f"*{_cell(above)}, published*" if is_published else _cell(name), means, keys))
        yield from markdown(_head(keys), body, numbers=True)
    if study["tasks"] > 1:
        yield from _ranks(study, next(iter(groups.values())))
    yield from _chosen(study)


def _ranks(study: Document, keys: Sequence[str]) -> Iterator[str]:
    yield from ("Mean ranks over tasks, 1 the best:", "")
    body = [_row(_cell(learner["name"]), learner["mean_rank"], keys, 2) for learner in study["learners"]]
    critical = {key: study["tests"][key]["critical_difference"] for key in keys}
    body.append(_row("*critical difference, .05 (Nemenyi)*", critical, keys, 2))
    yield from markdown(_head(keys), body, numbers=True)


def _chosen(study: Document) -> Iterator[str]:
    """Yield how often each candidate of a grid was chosen on validation, by its first measure."""
    body = []
    for learner in study["learners"]:
        for key, counts in list(learner.get("candidate", {}).items())[:1]:
            picked = "; ".join(
                f"{', '.join(f'{name}={value}' for name, value in params.items())}: {count}"
                for params, count in zip(learner["grid"], counts, strict=True)
                if count
            )
            body.append([_cell(learner["name"]), _cell(key), _cell(picked)])
    if body:
        yield from ("Chosen on validation, and in how many trainings:", "")
        yield from markdown(["", "for", "parameters"], body)


def _head(keys: Sequence[str]) -> list[str]:
    return ["", *(_cell(key.partition(", ")[0]) for key in keys)]


def _row(name: str, values: Mapping[str, float | None], keys: Sequence[str], digits: int = 4) -> list[str]:
    return [name, *("–" if (value := values.get(key)) is None else f"{value:.{digits}f}" for key in keys)]


def _lines(text: str) -> str:
    """Return what is told part by part as a cell with a line for each."""
    return "<br>".join(map(_cell, text.split("; ")))


def _cell(text: str) -> str:
    """Return a text as it may stand in a cell of a table, or in a line of a list; – for none."""
    return re.sub(r"([\\|*<`~$])", r"\\\1", " ".join(text.split())) or "–"


def front_tables(documents: Mapping[str, Document], titles: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the lines of the front page's tables: ``headline``, ``matrix``, ``apart``, ``failed``, ``not run``.

    Parameters
    ----------
    documents : mapping of str to dict
        By the protocol's name, in the page's order; those that are stored.
    titles : mapping of str to str
        Of all the papers' pages, by the protocol's name.
    """
    failed = [
        [_link(titles[name], name), *(_cell(row[key]) for key in ("study", "check", "published", "ours"))]
        for name, document in documents.items()
        for row in (*document["theorems"], *document["baselines"])
        if row["passes"] is False
    ]
    found: dict[str, Iterable[str]] = {
        "headline": _headline(documents, titles),
        "matrix": _matrix(documents, titles),
        "apart": _apart(documents, titles),
        "failed": markdown(["", "data", "check", "published", "ours"], failed),
        "not run": [
            f"- {_link(titles[name], name)}: {line[0].lower()}{line[1:]}"
            for name, document in documents.items()
            for line in _not_run(document)
        ],
    }
    lines = {name: [*lines] or ["None."] for name, lines in found.items()}
    return {name: of_table if of_table[-1] == "" else [*of_table, ""] for name, of_table in lines.items()}


def _headline(documents: Mapping[str, Document], titles: Mapping[str, str]) -> Iterator[str]:
    claims = [claim for document in documents.values() for claim in document["claims"] if claim["real"]]
    own = [claim for claim in claims if claim["own_data"]]
    others = [claim for claim in claims if not claim["own_data"]]
    sentences = {
        (name, claim["where"], claim["words"])
        for name, document in documents.items()
        for claim in document["claims"]
        if claim["real"]
    }
    yield f"**{len(claims)} claims on real data, of {len(documents)} of {len(titles)} papers: {tally(claims)}.**"
    for those, where in ((own, "On the papers' own data sets"), (others, "On data sets that stand in for them")):
        if those:
            yield f"{where}, {len(those)}: {tally(those)}."
    yield (
        f"They judge {len(sentences)} passages of the papers: one that is judged on several data sets, or of several "
        "methods, counts once for each."
    )
    if missing := [_link(title, name) for name, title in titles.items() if name not in documents]:
        yield f"Without a stored result: {', '.join(missing)}."


def _matrix(documents: Mapping[str, Document], titles: Mapping[str, str]) -> list[str]:
    """Return papers by kinds of claims; in each cell the verdicts, each linked to the first claim that got it."""
    claims = {name: [row for row in document["claims"] if row["real"]] for name, document in documents.items()}
    body = []
    for name, of_paper in claims.items():
        cells = [[row for row in of_paper if row["about"] == about] for about in ABOUT]
        linked = [_verdicts_of(cell, f"replication/{name}.md#{{}}") for cell in cells]
        body.append([_link(titles[name], name), *linked, _verdicts_of(of_paper)])
    everything = [row for of_paper in claims.values() for row in of_paper]
    sums = [_verdicts_of([row for row in everything if row["about"] == about]) for about in ABOUT]
    body.append(["all", *sums, _verdicts_of(everything)])
    return markdown(["", *ABOUT, "all"], body)


def _verdicts_of(claims: Sequence[Document], link: str = "") -> str:
    """Return how many claims got each verdict, one below the other."""
    lines = []
    for holds, words in _SHORT.items():
        if number := sum(claim["holds"] == holds for claim in claims):
            text = f"{number} {words[number > 1]}"
            lines.append(f"[{text}]({link.format(_anchor(claims[0]['about'], holds))})" if link else text)
    return "<br>".join(lines)


def _apart(documents: Mapping[str, Document], titles: Mapping[str, str]) -> list[str]:
    """Return what is no claim on real data, counted, with links."""
    body = []
    for name, document in documents.items():
        synthetic = [claim for claim in document["claims"] if not claim["real"]]
        places = (
            (_passed(document["theorems"]) if document["theorems"] else "", "checked-theorems"),
            (_passed(document["baselines"]) if document["baselines"] else "", "checked-baselines"),
            (tally(synthetic) if synthetic else "", "what-only-synthetic-data-can-show"),
            (str(len(document["not_tested"]) or ""), "not-tested"),
        )
        cells = [f"[{text}](replication/{name}.md#{place})" if text else "–" for text, place in places]
        body.append([_link(titles[name], name), *cells])
    return markdown(["", "theorems", "baselines", "on synthetic data alone", "not tested"], body)


def _link(title: str, name: str) -> str:
    return f"[{title}](replication/{name}.md)"


def stored(folder: Path) -> dict[str, Document]:
    """Return the results in a folder by the protocol's name, in the order of `PAPERS`."""
    files = {name: folder / f"{name}.json.gz" for name in PAPERS}
    return {name: read(file, SCHEMA, _used) for name, file in files.items() if file.exists()}


def _used(document: Document) -> None:
    """Make all that is made of a result."""
    front_tables({"": document}, {"": ""})
    tables(document)


def store(source: Path, folder: Path) -> Path:
    """Take a result into the folder of stored ones; return the file.

    What no page reads is left out: the values of each unit, and curves that no figure shows. Numbers are rounded to
    seven digits. Computing times, which `boostplug replicate` writes beside the result, are added up by study.
    """
    document = read(source, SCHEMA, _used)
    if document["protocol"] not in PAPERS:
        raise SystemExit(f"{source} is of {document['protocol']!r}; papers are {', '.join(PAPERS)}")
    document["data"] = Path(document["data"]).name  # where the folder lay is nobody's business
    figures = PAPERS[document["protocol"]].figures
    for study in document["studies"]:
        study.pop("units", None)
        drawn = {
            (figure.part, measure)
            for figure in figures
            if isinstance(figure, Curves) and figure.study == study["name"]
            for measure in figure.measures
        }
        for learner in study["learners"]:
            curves = learner["curves"]
            learner["curves"] = {
                part: {name: curve for name, curve in of_part.items() if (part, name) in drawn}
                for part, of_part in curves.items()
            }
    times = source.with_name(f"{source.name}.times")
    if times.exists():
        by_task = read(times, None, dict)
        document["seconds"] = {
            study["name"]: round(sum(own for key, own in by_task.items() if key.startswith(f"{study['name']} | ")))
            for study in document["studies"]
        }
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{document['protocol']}.json.gz"
    write_file(target, as_json_gz(rounded(document, _short)))
    return target


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def pages(folder: Path) -> dict[Path, str]:
    """Return the page in front and each paper's, filled from what is stored."""
    documents = stored(folder / "replication")
    texts = {name: _text(folder / "replication" / f"{name}.md") for name in PAPERS}
    titles = {name: text.partition("\n")[0].removeprefix("# ").partition(" (")[0] for name, text in texts.items()}
    front = folder / "replication.md"
    found = {front: _filled(front, _text(front), front_tables(documents, titles))}
    for name, text in texts.items():
        own = tables(documents[name]) if name in documents else {mark: [_ABSENT, ""] for mark in _marked(text)}
        page = folder / "replication" / f"{name}.md"
        found[page] = _filled(page, text, own)
    return found


def _text(page: Path) -> str:
    try:
        return page.read_text(encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"{page} cannot be read ({error.strerror or error}); name the folder of the pages") from None


def _marked(text: str) -> set[str]:
    return {mark.removeprefix("table: ") for mark in marks(text)}


def _filled(page: Path, text: str, of_page: Mapping[str, Sequence[str]]) -> str:
    if unknown := sorted(_marked(text) - of_page.keys()):
        raise SystemExit(f"{page} marks {unknown[0]!r}; there are: {', '.join(map(repr, of_page))}")
    return filled(text, {f"table: {name}": lines for name, lines in of_page.items()})


def _missing(folder: Path, texts: Mapping[Path, str]) -> Iterator[str]:
    """Yield what is stored, and stands on no page."""
    for name, document in stored(folder / "replication").items():
        text = texts[folder / "replication" / f"{name}.md"]
        wanted = {*LISTS} | {f"means {study['name']}" for study in document["studies"]}
        yield from (f"{name}.md has no mark for {mark!r}" for mark in sorted(wanted - _marked(text)))
        drawn = names(document, PAPERS[name].figures).keys()
        yield from (f"{name}.md does not show figures/{stem}.png" for stem in sorted(drawn - _shown(text)))


def _shown(text: str) -> set[str]:
    return set(_SHOWN.findall(text))


def _draw(folder: Path, texts: Mapping[Path, str]) -> None:
    """Draw the figures that the papers' pages show."""
    for name, document in stored(folder / "replication").items():
        shown = _shown(texts[folder / "replication" / f"{name}.md"])
        figures = [figure for stem, figure in names(document, PAPERS[name].figures).items() if stem in shown]
        draw(document, figures, folder / "replication" / "figures", suffixes=("png",))


def main(arguments: Sequence[str] | None = None) -> None:
    """Store results, fill the pages, draw their figures, and say what of the results no page shows."""
    parser = argparse.ArgumentParser(prog="python -m boostplug.replication.page")
    parser.add_argument("folder", type=Path, nargs="?", default=_FOLDER, help=f"of the pages; default: {_FOLDER}")
    parser.add_argument(
        "--store", type=Path, action="append", default=[], metavar="RESULT.json", help="may be repeated"
    )
    given = parser.parse_args(arguments)
    for source in given.store:
        store(source, given.folder / "replication")
    texts = pages(given.folder)
    for page, text in texts.items():
        write_file(page, text)
    try:
        _draw(given.folder, texts)
    except ImportError as error:
        raise SystemExit(str(error)) from None
    for line in _missing(given.folder, texts):
        sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main()
