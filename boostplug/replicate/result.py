"""`ReplicationResult`: a paper's claims beside ours, its tables, and the file they are written to."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostplug.experiments.document import as_json, plain, versions, write_whole
from boostplug.replicate import report
from boostplug.replicate.claims import Claim
from boostplug.replicate.figures import draw
from boostplug.replicate.outcome import Outcome
from boostplug.replicate.papers import PAPERS
from boostplug.replicate.protocol import Protocol

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
            write_whole(path.with_name(path.name + ".times"), as_json(self.seconds))
        write_whole(path, as_json(self.document))

    def to_figures(self, folder: str | Path) -> list[Path]:
        """Draw the paper's figures with these numbers, as PNG and SVG; return the files.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return draw(self.document, PAPERS[self.document["protocol"]].figures, Path(folder))

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield from report.render(self.document, self.seconds)

    def __repr__(self) -> str:
        holds = [claim["holds"] for claim in self.document["claims"]]
        judged = [value for value in holds if value is not None]
        return f"ReplicationResult({self.document['protocol']}: {sum(judged)} of {len(judged)} claims hold)"

    def __str__(self) -> str:
        return report.text(self.document, self.seconds)


def _judged(claim: Claim, outcome: Outcome) -> dict[str, Any]:
    row = {"study": claim.study, "claim": claim.text, "published": claim.published, "ours": "", "holds": None}
    if claim.figure and not outcome.loaded.as_published:
        return {**row, "ours": "not judged: other data than the published figure's"}
    if outcome.errors:
        return {**row, "ours": "not judged: tasks failed"}
    verdict = claim.judge(outcome)
    return {**row, "ours": verdict.ours, "holds": verdict.holds}
