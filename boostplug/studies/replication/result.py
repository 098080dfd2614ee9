"""`ReplicationResult`: a paper's claims beside ours, its tables, and the file they are written to."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostplug.comparison.document import as_json, plain, versions
from boostplug.core.files import write_file
from boostplug.core.text import visible
from boostplug.studies.replication import report
from boostplug.studies.replication.checked import Check
from boostplug.studies.replication.claims import Citation, Claim
from boostplug.studies.replication.figures import draw
from boostplug.studies.replication.outcome import Outcome
from boostplug.studies.replication.papers import PAPERS
from boostplug.studies.replication.protocol import Protocol

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["ReplicationResult"]


class ReplicationResult:
    """What `replicate` returns: prints as tables and a list of claims, and writes JSON.

    Attributes
    ----------
    document : dict
        All of it in JSON's types, the same for equal runs.
    seconds : dict
        Computing time by task: never the same twice, so it is not part of the document.
    """

    def __init__(self, document: dict[str, Any], seconds: dict[str, float] | None = None) -> None:
        self.document, self.seconds = document, seconds or {}

    @classmethod
    def of(
        cls, protocol: Protocol, outcomes: Sequence[Outcome], *, name: str, seconds: dict[str, float]
    ) -> "ReplicationResult":
        """Return the result of finished studies."""
        by_name = {outcome.study.name: outcome for outcome in outcomes}
        absent = [study for study in protocol.studies if study.source.wanted and study.name not in by_name]
        return cls(
            plain(
                {
                    "schema": report.SCHEMA,
                    "protocol": protocol.name,
                    "paper": protocol.paper,
                    "data": name,
                    "seed": protocol.seed,
                    "versions": versions(),
                    "studies": [outcome.document for outcome in outcomes],
                    "not_run": {study.name: study.source.wanted for study in absent},
                    "claims": [
                        _judged(claim, by_name[claim.study]) for claim in protocol.claims if claim.study in by_name
                    ],
                    **{
                        name: [_checked(check, by_name[check.study]) for check in checks if check.study in by_name]
                        for name, checks in (("theorems", protocol.theorems), ("baselines", protocol.baselines))
                    },
                    "not_tested": [{**_cited(source), "reason": reason} for source, reason in protocol.not_tested],
                    "deviations": list(protocol.deviations),
                }
            ),
            seconds,
        )

    @property
    def failed(self) -> bool:
        """Whether a task failed; the reasons stand below the tables."""
        return any(study["errors"] for study in self.document["studies"])

    def to_json(self, path: str | Path) -> None:
        """Write the document, whole or not at all; computing times go to ``<path>.times``."""
        path = Path(path)
        if self.seconds:
            write_file(path.with_name(path.name + ".times"), as_json(self.seconds))
        write_file(path, as_json(self.document))

    def to_figures(self, folder: str | Path) -> list[Path]:
        """Draw the paper's figures with these numbers, as PNG and SVG; return the files.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return draw(self.document, PAPERS[self.document["protocol"]].figures, Path(folder))

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield from report.render(visible(self.document), self.seconds)

    def __repr__(self) -> str:
        judged = [claim["holds"] for claim in self.document["claims"] if claim["holds"] is not None]
        hold, level = (judged.count(verdict) for verdict in ("holds", "level"))
        return f"ReplicationResult({self.document['protocol']}: {hold} of {len(judged)} claims hold, {level} are level)"

    def __str__(self) -> str:
        return report.text(visible(self.document), self.seconds)


def _judged(claim: Claim, outcome: Outcome) -> dict[str, Any]:
    row = {
        "study": claim.study,
        "claim": claim.text,
        **_cited(claim.source),
        "about": claim.about,
        "own_data": claim.own_data,
        "real": outcome.study.source.real,
        "published": claim.published,
    }
    if reason := _not_judged(claim, outcome):
        return {**row, "ours": f"not judged: {reason}", "holds": None}
    verdict = claim.judge(outcome)
    return {**row, "ours": verdict.ours, "holds": verdict.holds}


def _checked(check: Check, outcome: Outcome) -> dict[str, Any]:
    row = {
        "study": check.study,
        "check": check.text,
        "where": check.where,
        "real": outcome.study.source.real,
        "published": check.published,
    }
    if reason := _not_judged(check, outcome):
        return {**row, "ours": f"not checked: {reason}", "passes": None}
    checked = check.check(outcome)
    return {**row, "ours": checked.ours, "passes": checked.passes}


def _not_judged(of_study: Claim | Check, outcome: Outcome) -> str:
    """Return why an outcome says nothing of a claim or check; empty where it does."""
    if of_study.figure and not outcome.loaded.as_published:
        return "other data than the published figure's"
    return "tasks failed" if outcome.errors else ""


def _cited(source: Citation) -> dict[str, Any]:
    return {"where": source.where, "words": source.words, "page": source.page}
