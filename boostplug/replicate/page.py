"""The summary page: every claim of the replicated papers in one table, from the JSON files.

``python -m boostplug.replicate.page PAGE.md RESULT.json …``; figures, if any, are looked for in the folder
``figures`` beside the page.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostplug.experiments.document import read, write_whole
from boostplug.replicate.outcome import extent, measures_by_group
from boostplug.replicate.report import SCHEMA

__all__ = ["main", "page"]

_HOLDS = {"holds": "**holds**", "level": "level", "does not hold": "does not hold", None: "not tested"}


def page(documents: Sequence[Mapping[str, Any]], figures: Sequence[str] = ()) -> str:
    """Return the page in Markdown.

    Parameters
    ----------
    documents : sequence of dict
        What `replicate` wrote; several of one paper (on other data, say) stand together.
    figures : sequence of str
        Paths relative to the page.
    """
    claims = [claim for document in documents for claim in document["claims"]]
    counts = {holds: sum(claim["holds"] is holds for claim in claims) for holds in _HOLDS}
    absent = {name: wanted for document in documents for name, wanted in document["not_run"].items()}
    lines = [
        "# Replication of the five papers",
        "",
        "<!-- Made by python -m boostplug.replicate.page from the JSON files; do not edit. -->",
        "",
        (
            f"{len(claims)} claims on the data at hand: {counts['holds']} hold, {counts['does not hold']} do not, "
            f"{counts[None]} could not be judged. Claims and thresholds stand in the protocol files; where a choice "
            "was made after a result had been seen, the differences from the paper name it."
        ),
        "",
        "LETOR's published rows for LETOR 4.0 and for AdaRank-NDCG are good to about .002.",
        "",
    ]
    for document in documents:
        lines += [f"## {document['paper']}", "", f"`boostplug replicate {document['protocol']} --data FOLDER`", ""]
        lines += _claims(document["claims"])
        for study in document["studies"]:
            lines += _study(study)
        for figure in figures:
            if Path(figure).name.startswith(f"{document['protocol']}-"):
                lines += [f"![{Path(figure).stem}]({figure})", ""]
        lines += ["Where this differs from the paper:", "", *(f"- {line}" for line in document["deviations"]), ""]
    if absent:
        lines += ["## Not run, since the data are not at hand", ""]
        lines += [*(f"- {name}: {wanted}" for name, wanted in absent.items()), ""]
    of = ", ".join(f"{name} {version}" for name, version in documents[0]["versions"].items())
    lines += [f"Versions: {of}."]
    return "\n".join(lines) + "\n"


def _claims(claims: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("| data | claim | published | ours | |", "|---|---|---|---|---|")
    for claim in claims:
        cells = (claim["study"], claim["claim"], claim["published"] or "–", claim["ours"], _HOLDS[claim["holds"]])
        yield "| " + " | ".join(cells) + " |"
    yield ""


def _study(study: Mapping[str, Any]) -> Iterator[str]:
    for group, keys in measures_by_group(study).items():
        yield f"**{study['name']}**, test means over {extent(study)}{group and f', {group}'}:"
        yield ""
        yield "| | " + " | ".join(key.partition(", ")[0] for key in keys) + " |"
        yield "|---" * (1 + len(keys)) + "|"
        published = study["published"] if study["published_applies"] else {}
        names = {learner["name"] for learner in study["learners"]}
        for learner in study["learners"]:
            yield _row(learner["name"], learner["test"], keys)
            if learner["name"] in published and published[learner["name"]].keys() & set(keys):
                yield _row(f"*{learner['name']}, published*", published[learner["name"]], keys)
        for name, row in published.items():
            if name not in names and row.keys() & set(keys):
                yield _row(f"*{name}, published*", row, keys)
        yield ""
    for note in study["notes"]:
        yield from (note, "")


def _row(name: str, values: Mapping[str, float | None], keys: Sequence[str]) -> str:
    cells = ("–" if values.get(key) is None else f"{values[key]:.4f}" for key in keys)
    return f"| {name} | " + " | ".join(cells) + " |"


def main(arguments: Sequence[str]) -> None:
    """Write the page named first from the files named after it."""
    if len(arguments) < 2:
        raise SystemExit("usage: python -m boostplug.replicate.page PAGE.md RESULT.json …")
    target, *sources = map(Path, arguments)
    documents = [read(source, SCHEMA, lambda document: page([document])) for source in sources]
    figures = sorted(path.relative_to(target.parent).as_posix() for path in target.parent.glob("figures/*.png"))
    write_whole(target, page(documents, figures))


if __name__ == "__main__":
    main(sys.argv[1:])
