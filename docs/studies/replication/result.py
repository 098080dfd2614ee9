"""`ReplicationResult`: a paper's claims with our figures, as text and as files."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostplug.comparison.summary import as_json, to_json, versions
from boostplug.core.files import write_file
from boostplug.core.text import visible
from studies.replication import report
from studies.replication.figures import Curves, draw
from studies.replication.judging.claims import ahead_of_published, close, near_published
from studies.replication.judging.groups import ahead_over_groups
from studies.replication.judging.study_results import StudyResults
from studies.replication.papers import PAPERS
from studies.replication.protocol import Check, Claim, Protocol
from studies.replication.tables import Report
from studies.tables import rounded

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

SCHEMA = "boostplug.replicate/3"

_WITH_FIGURES = {ahead_of_published, ahead_over_groups, close, near_published}
"""Judges that compare with a published figure, and so need the data of that figure."""


class ReplicationResult:
    """Result of `replicate`: prints as a summary or completely, and writes JSON, Markdown, LaTeX and figures.

    Attributes
    ----------
    document : dict
        The result in JSON's types, numbers with seven digits; equal for equal runs.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @classmethod
    def from_studies(cls, protocol: Protocol, finished: Sequence[StudyResults], *, name: str) -> "ReplicationResult":
        """Return the result of finished studies."""
        by_name = {results.study.name: results for results in finished}
        absent = [study for study in protocol.studies if study.source.wanted and study.name not in by_name]
        document = {
            "schema": SCHEMA,
            "protocol": protocol.name,
            "paper": protocol.paper,
            "data": name,
            "seed": protocol.seed,
            "versions": versions(),
            "studies": [_with_drawn_curves(results.document, protocol) for results in finished],
            "not_run": {study.name: study.source.wanted for study in absent},
            **_claims_and_checks(protocol, by_name),
            "not_tested": [vars(passage) for passage in protocol.not_tested],
            "deviations": list(protocol.deviations),
        }
        return cls(rounded(to_json(document, finite=True), lambda value: float(f"{value:.7g}")))

    @property
    def failed(self) -> bool:
        """Whether a training failed; the complete report lists the reasons."""
        return any(study["errors"] for study in self.document["studies"])

    @property
    def summary(self) -> Report:
        """The verdicts, a line for each passage of the paper, and the main table."""
        return report.summary(visible(self.document))

    @property
    def full(self) -> Report:
        """The complete report."""
        return report.full(visible(self.document))

    def to_json(self, path: str | Path) -> None:
        """Write the document, completely or not at all."""
        write_file(Path(path), as_json(self.document))

    def to_figures(self, folder: str | Path) -> list[Path]:
        """Draw the paper's figures with these numbers, as PNG and SVG; return the files.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return draw(self.document, PAPERS[self.document["protocol"]].figures, Path(folder))

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield self.summary

    def __repr__(self) -> str:
        judged = [claim["holds"] for claim in self.document["claims"] if claim["holds"] is not None]
        hold, level = (judged.count(verdict) for verdict in ("holds", "level"))
        return f"ReplicationResult({self.document['protocol']}: {hold} of {len(judged)} claims hold, {level} are level)"

    def __str__(self) -> str:
        return str(self.summary)


def _with_drawn_curves(study: dict[str, Any], protocol: Protocol) -> dict[str, Any]:
    """Return the document of a study with the curves that its figures show."""
    drawn = {
        (figure.part, measure)
        for figure in protocol.figures
        if isinstance(figure, Curves) and figure.study == study["name"]
        for measure in figure.measures
    }
    for learner in study["learners"]:
        learner["curves"] = {
            part: {name: curve for name, curve in curves.items() if (part, name) in drawn}
            for part, curves in learner["curves"].items()
        }
    return study


def _claims_and_checks(protocol: Protocol, by_name: Mapping[str, StudyResults]) -> dict[str, list[dict[str, Any]]]:
    """Return a row for each claim and each check of the studies that were run."""
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
    """Return the fields that claims and checks share; the verdict is None if it cannot be judged."""
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
