"""`ReplicationResult`: a paper's claims beside ours, its tables, and the file they are written to."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostplug.comparison.document import as_json, plain, versions
from boostplug.core.files import write_file
from boostplug.core.text import visible
from boostplug.studies.replication import report
from boostplug.studies.replication.figures import draw
from boostplug.studies.replication.judging.claims import ahead_of_published, close, near_published
from boostplug.studies.replication.judging.groups import ahead_over_groups
from boostplug.studies.replication.judging.study_results import StudyResults
from boostplug.studies.replication.papers import PAPERS
from boostplug.studies.replication.protocol import Check, Claim, Protocol

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["ReplicationResult"]

_WITH_FIGURES = {ahead_of_published, ahead_over_groups, close, near_published}
"""Judges that compare with a published figure, and so need the data of that figure."""


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
        cls, protocol: Protocol, finished: Sequence[StudyResults], *, name: str, seconds: dict[str, float]
    ) -> "ReplicationResult":
        """Return the result of finished studies."""
        by_name = {results.study.name: results for results in finished}
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
                    "studies": [results.document for results in finished],
                    "not_run": {study.name: study.source.wanted for study in absent},
                    **_judged(protocol, by_name),
                    "not_tested": [vars(passage) for passage in protocol.not_tested],
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


def _judged(protocol: Protocol, by_name: Mapping[str, StudyResults]) -> dict[str, list[dict[str, Any]]]:
    """Return a row for each claim and each check of a study that was run."""
    claims = [
        _row(claim, by_name[claim.study], "holds")
        | {**vars(claim.source), "claim": claim.text, "about": claim.about, "own_data": claim.own_data}
        for claim in protocol.claims
        if claim.study in by_name
    ]
    checks = {
        kind: [
            _row(check, by_name[check.study], "passes") | {"check": check.text, "where": check.where}
            for check in of_kind
            if check.study in by_name
        ]
        for kind, of_kind in (("theorems", protocol.theorems), ("baselines", protocol.baselines))
    }
    return {"claims": claims, **checks}


def _row(of: Claim | Check, results: StudyResults, verdict: str) -> dict[str, Any]:
    """Return what claims and checks have in common; None as the verdict where the results say nothing of it."""
    row = {"study": of.study, "published": of.published, "real": results.study.source.real}
    judge, is_check = of.judge, isinstance(of, Check)
    if isinstance(judge, partial) and judge.func in _WITH_FIGURES and not results.loaded.as_published:
        reason = "other data than the published figure's"
    elif results.errors:
        reason = "tasks failed"
    else:
        found = judge(results)
        return row | {"ours": found.ours, verdict: found.holds == "holds" if is_check else found.holds}
    return row | {"ours": f"not {'checked' if is_check else 'judged'}: {reason}", verdict: None}
