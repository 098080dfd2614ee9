"""`ReplicationResult`: a paper's claims beside ours as text, and the file that they are written to."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostplug.comparison.console import as_text
from boostplug.comparison.document import as_json, versions
from boostplug.comparison.summary import to_json
from boostplug.core.files import write_file
from boostplug.core.text import visible
from boostplug.replication.figures import draw
from boostplug.replication.judging.claims import ahead_of_published, close, near_published
from boostplug.replication.judging.groups import ahead_over_groups
from boostplug.replication.judging.study_results import StudyResults, extent, mean_rows, measures_by_group
from boostplug.replication.papers import PAPERS
from boostplug.replication.protocol import Check, Claim, Protocol
from boostplug.replication.tables import rich_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


SCHEMA = "boostplug.replicate/2"

_WIDTH = 120
_HOLDS = {"holds": "holds", "level": "level", "does not hold": "does not hold", None: "–"}
_PASSES = {True: "passes", False: "FAILS", None: "–"}


def _render(document: dict[str, Any], seconds: dict[str, float]) -> Iterator["RenderableType"]:
    """Yield the parts of the report."""
    from rich.text import Text

    yield Text(document["paper"], style="bold")
    if document["data"]:
        yield Text(f"Data: {document['data']}")
    else:
        yield Text("Data: the bundled set, which is synthetic; published figures do not apply.")
    for study in document["studies"]:
        yield Text("")
        yield from _study(study)
    yield from _judged(document)
    if document["not_tested"]:
        yield Text("")
        yield Text("Not tested:", style="bold")
        for row in document["not_tested"]:
            yield Text(f"- {row['where']}: “{row['words']}”: {row['reason']}")
    if document["not_run"]:
        yield Text("")
        yield Text("Not run, since their data are not there:")
        for name, wanted in document["not_run"].items():
            yield Text(f"- {name}: {wanted}")
    yield Text("")
    yield Text("Where this differs from the paper:")
    for line in document["deviations"]:
        yield Text(f"- {line}")
    of = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    yield Text(f"Seed {document['seed']}; {of}; {sum(seconds.values()):.0f} s of computing in all.")
    real = [claim for claim in document["claims"] if claim["real"]]
    yield Text(f"{len(real)} claims on real data: {tally(real)}." if real else "No claim on real data.", style="bold")


def tally(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return how many claims got each verdict, in words."""
    counts = {holds: sum(claim["holds"] == holds for claim in claims) for holds in _HOLDS}
    words = {
        "holds": ("holds", "hold"),
        "level": ("is level", "are level"),
        "does not hold": ("does not hold", "do not hold"),
        None: ("could not be judged", "could not be judged"),
    }
    said = [f"{count} {words[holds][count != 1]}" for holds, count in counts.items() if count or holds is not None]
    return ", ".join(said)


def _judged(document: dict[str, Any]) -> Iterator["RenderableType"]:
    """Yield claims, those on synthetic data alone, and checks, each list that is not empty under its title."""
    from rich.text import Text

    real, synthetic = ([claim for claim in document["claims"] if claim["real"] is kind] for kind in (True, False))
    for title, claims in (("Claims", real), ("Claims, on synthetic data alone", synthetic)):
        if claims:
            yield Text("")
            rows = [[row["study"], row["claim"], row["published"], row["ours"], _HOLDS[row["holds"]]] for row in claims]
            yield _list(title, ("data", "claim", "published", "ours", "verdict"), rows)
    for title, checks in (("Theorems", document["theorems"]), ("Baselines", document["baselines"])):
        if checks:
            yield Text("")
            rows = [
                [row["study"], f"{row['where']}: {row['check']}", row["published"], row["ours"], _PASSES[row["passes"]]]
                for row in checks
            ]
            yield _list(title, ("data", "check", "published", "ours", ""), rows)


def _study(study: dict[str, Any]) -> Iterator["RenderableType"]:
    from rich.text import Text

    yield Text(f"{study['name']}: {extent(study)}, {study['rounds']} rounds at most", style="bold")
    for note in study["notes"]:
        yield Text(note)
    groups = measures_by_group(study)
    for group, keys in groups.items():
        yield Text(f"Test means{group and ', ' + group}")
        yield _table(keys, _means(study, keys))
    first = next(iter(groups.values()))
    for title, rows in _comparisons(study, first):
        yield Text(title)
        yield _table(first, rows)
    for task, error in study["errors"].items():
        yield Text(f"FAILED {task}: {error}", style="bold")


def _table(keys: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
    return rich_table(["", *(key.partition(", ")[0] for key in keys)], rows, dim="published")


def _means(study: dict[str, Any], keys: Sequence[str]) -> Iterator[list[str]]:
    for name, is_published, means in mean_rows(study, keys):
        text = name if not is_published else f"{name}, published" if name else "  published"
        yield [text, *(_decimal(means.get(key)) for key in keys)]


def _comparisons(study: dict[str, Any], keys: Sequence[str]) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the title and the rows of each table on some measures beside their means."""

    def of_learners(cell: Callable[[dict[str, Any], str], str]) -> list[list[str]]:
        return [[learner["name"], *(cell(learner, key) for key in keys)] for learner in study["learners"]]

    def gap(learner: dict[str, Any], key: str) -> str:
        train, test = learner["train"][key], learner["test"][key]
        return _decimal(None if None in (train, test) else (train - test) * (1 if better[key] else -1))

    several, tests = study["tasks"] > 1, [study["tests"][key] for key in keys]
    better = {measure["key"]: measure["greater_is_better"] for measure in study["measures"]}
    ranks = of_learners(lambda learner, key: _decimal(learner["mean_rank"][key], 2))
    ranks.append(["critical difference, .05", *(_decimal(test["critical_difference"], 2) for test in tests)])
    ranks.append(["Friedman's p", *(_p(test["friedman"]) for test in tests)])
    yield f"Mean ranks over {'tasks' if several else 'folds'}, 1 the best", ranks
    test = "Wilcoxon over tasks" if several else "random exchange within test queries"
    of_pairs = zip(*(test["pairs"] for test in tests), strict=True)
    pairs = [[f"{row[0]['a']} : {row[0]['b']}", *(_p(one["p_holm"]) for one in row)] for row in of_pairs]
    yield f"p-values, two-sided: {test}; Holm over the pairs of a column", pairs
    yield "How much worse on test than in training, at the chosen round", of_learners(gap)
    yield "Chosen rounds, mean", of_learners(lambda learner, key: _decimal(learner["round"][key], 0))


def _list(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell or "–") for cell in row))  # not as markup: intervals stand in brackets
    return table


def _decimal(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1e}" if value < 1e-4 else f"{value:.4f}"


if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


_WITH_FIGURES = {ahead_of_published, ahead_over_groups, close, near_published}
"""Judges that compare with a published figure, and so need the data of that figure."""


class ReplicationResult:
    """Result of `replicate`: prints as tables and a list of claims, and writes JSON.

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
            to_json(
                {
                    "schema": SCHEMA,
                    "protocol": protocol.name,
                    "paper": protocol.paper,
                    "data": name,
                    "seed": protocol.seed,
                    "versions": versions(),
                    "studies": [results.document for results in finished],
                    "not_run": {study.name: study.source.wanted for study in absent},
                    **_claims_and_checks(protocol, by_name),
                    "not_tested": [vars(passage) for passage in protocol.not_tested],
                    "deviations": list(protocol.deviations),
                },
                finite=True,
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
        yield from _render(visible(self.document), self.seconds)

    def __repr__(self) -> str:
        judged = [claim["holds"] for claim in self.document["claims"] if claim["holds"] is not None]
        hold, level = (judged.count(verdict) for verdict in ("holds", "level"))
        return f"ReplicationResult({self.document['protocol']}: {hold} of {len(judged)} claims hold, {level} are level)"

    def __str__(self) -> str:
        return as_text(lambda _: _render(visible(self.document), self.seconds), _WIDTH)


def _claims_and_checks(protocol: Protocol, by_name: Mapping[str, StudyResults]) -> dict[str, list[dict[str, Any]]]:
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
