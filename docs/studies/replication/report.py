"""Reports of a replication's document, short and complete; their tables are also on its page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from studies.replication.judging.study_results import extent
from studies.replication.tables import Report, Table

Document = Mapping[str, Any]

_VERDICTS = {
    "holds": ("holds", "hold"),
    "level": ("is level", "are level"),
    "does not hold": ("does not hold", "do not hold"),
    None: ("could not be judged", "could not be judged"),
}  # for one claim, for several
_PASSES = {True: "passes", False: "FAILS", None: "not checked"}
_OF_CLAIMS = ("the paper", "data", "what is judged", "published", "ours", "verdict")


def summary(document: Document) -> Report:
    """Return the report of the verdicts, a line for each judged passage, and the means of the first study."""
    real = [claim for claim in document["claims"] if claim["real"]]
    studies = document["studies"]
    main = next((study for study in studies if study["real"]), studies[0])
    failed = sum(len(study["errors"]) for study in studies)
    parts: list[str | Table] = [
        _data(document),
        f"{_heading(document)} {_checked(document)}",
        *_not_run(document),
        *([f"{failed} trainings FAILED; --full lists them."] if failed else []),
        verdicts(real or document["claims"]),
        means(main, published=False)[0],
    ]
    return Report(document["paper"], parts, brief=True)


def full(document: Document) -> Report:
    """Return the complete report: claims, checks, means, claims not tested, and deviations from the paper."""
    by_kind = {kind: [claim for claim in document["claims"] if claim["real"] is kind] for kind in (True, False)}
    parts: list[str | Table] = [
        _data(document),
        _heading(document),
        *_not_run(document),
        made_with(document),
        claims(by_kind[True], "Claims"),
        claims(by_kind[False], "Claims, only on synthetic data"),
        checks(document["theorems"], "Theorems"),
        checks(document["baselines"], "Baselines"),
    ]
    for study in document["studies"]:
        parts += [*means(study), *ranks(study), *chosen(study), *study["notes"]]
        parts += [f"FAILED {task}: {error}" for task, error in study["errors"].items()]
    parts.append(not_tested(document))
    parts.append(Table("Where this differs from the paper", ["deviation"], [[line] for line in document["deviations"]]))
    return Report(document["paper"], [part for part in parts if isinstance(part, str) or part.rows])


def tally(claims: Sequence[Document], *, zeros: bool = True) -> str:
    """Return the number of claims with each verdict, in words; without `zeros`, only of verdicts that occur."""
    counts = {holds: sum(claim["holds"] == holds for claim in claims) for holds in _VERDICTS}
    shown = {holds: count for holds, count in counts.items() if count or (zeros and holds is not None)}
    return ", ".join(f"{count} {_VERDICTS[holds][count != 1]}" for holds, count in shown.items())


def passed(checks: Sequence[Document]) -> str:
    """Return the number of checks that pass, in words."""
    unknown = sum(row["passes"] is None for row in checks)
    text = f"{sum(row['passes'] is True for row in checks)} of {len(checks)} pass"
    return f"{text}, {unknown} could not be checked" if unknown else text


def not_run(document: Document) -> Iterator[tuple[str, list[str]]]:
    """Yield each missing data set with the studies that need it."""
    for wanted in dict.fromkeys(document["not_run"].values()):
        yield wanted, [name for name, of_study in document["not_run"].items() if of_study == wanted]


def made_with(document: Document) -> str:
    """Return the seed and the versions."""
    of = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    return f"Seed {document['seed']}; {of}."


def verdicts(claims: Sequence[Document]) -> Table:
    """Return the table of verdicts, a row for each passage of the paper."""
    by_passage: dict[str, list[Document]] = {}
    for claim in claims:
        by_passage.setdefault(_quoted(claim), []).append(claim)
    rows = []
    for passage, of_one in by_passage.items():
        alike = len({claim["holds"] for claim in of_one}) == 1
        rows.append([_verdict(of_one[0]) if alike else tally(of_one, zeros=False), passage])
    return Table("Verdicts, by passage of the paper", ["verdict", "the paper"], rows)


def claims(claims: Sequence[Document], title: str = "") -> Table:
    """Return the claims in the order of their passages."""
    passages = list(dict.fromkeys(map(_quoted, claims)))
    rows, before = [], ""
    for claim in sorted(claims, key=lambda claim: passages.index(_quoted(claim))):
        data = f"{claim['study']}, {'own' if claim['own_data'] else 'standing in'}" if claim["real"] else claim["study"]
        passage = _quoted(claim)
        cells = [data, claim["claim"], claim["published"], claim["ours"], _verdict(claim)]
        rows.append(["as above" if passage == before else passage, *cells])
        before = passage
    return Table(title, _OF_CLAIMS, rows)


def checks(checks: Sequence[Document], title: str = "") -> Table:
    """Return the checks of theorems or of published baselines."""
    keys = ("where", "study", "check", "published", "ours")
    rows = [[*(row[key] for key in keys), _PASSES[row["passes"]]] for row in checks]
    return Table(title, ("where", "data", "check", "published", "ours", "verdict"), rows)


def not_tested(document: Document) -> Table:
    """Return the paper's other claims, with the reasons why they are not tested."""
    rows = [[_quoted(row), row["reason"]] for row in document["not_tested"]]
    return Table("Not tested", ("the paper", "why it is not judged"), rows)


def means(study: Document, *, published: bool = True) -> list[Table]:
    """Return the test means of a study, a table for each group of measures, with published values if they apply."""
    groups: dict[str, list[str]] = {}
    for measure in study["measures"]:
        groups.setdefault(measure["key"].partition(", ")[2], []).append(measure["key"])
    tables = []
    for group, keys in groups.items():
        shown = study["published"] if published and study["published_applies"] else {}
        shown = {name: row for name, row in shown.items() if row.keys() & {*keys}}
        rows = []
        for learner in study["learners"]:
            name = learner["name"]
            rows.append(_row(name, learner["test"], keys))
            if name in shown:
                rows.append(_row(f"{name}, published", shown.pop(name), keys))
        rows += [_row(f"{name}, published", row, keys) for name, row in shown.items()]
        title = f"{study['name']}: test means over {extent(study)}, {study['rounds']} rounds at most"
        tables.append(Table(f"{title}{group and f', {group}'}", _measures(keys), rows, numbers=True))
    return tables


def ranks(study: Document) -> list[Table]:
    """Return the mean ranks of a study of several tasks, by the first group of measures."""
    if study["tasks"] == 1:
        return []
    keys = [measure["key"] for measure in study["measures"] if ", " not in measure["key"]]
    rows = [_row(learner["name"], learner["mean_rank"], keys, 2) for learner in study["learners"]]
    rows.append(_row("critical difference, .05 (Nemenyi)", study["critical_difference"], keys, 2))
    return [Table(f"{study['name']}: mean ranks over tasks, 1 the best", _measures(keys), rows, numbers=True)]


def chosen(study: Document) -> list[Table]:
    """Return how often each candidate of a grid was chosen on validation, by the grid's first measure."""
    rows = []
    for learner in study["learners"]:
        for key, counts in list(learner["candidate"].items())[:1]:
            picked = [
                f"{', '.join(f'{name}={value}' for name, value in params.items())}: {count}"
                for params, count in zip(learner["grid"], counts, strict=True)
                if count
            ]
            rows.append([learner["name"], key, "; ".join(picked)])
    title = f"{study['name']}: chosen on validation, and in how many trainings"
    return [Table(title, ("method", "for", "parameters"), rows)] if rows else []


def _heading(document: Document) -> str:
    real = [claim for claim in document["claims"] if claim["real"]]
    if real:
        return f"{len(real)} claims on real data: {tally(real)}."
    return f"No claim on real data; {len(document['claims'])} on synthetic data: {tally(document['claims'])}."


def _checked(document: Document) -> str:
    kinds = ("theorems", "baselines")
    return " ".join(f"{kind.capitalize()}: {passed(document[kind])}." for kind in kinds if document[kind])


def _data(document: Document) -> str:
    if document["data"]:
        return f"Data: {document['data']}"
    return "Data: the bundled set, which is synthetic; published figures do not apply."


def _not_run(document: Document) -> list[str]:
    wanted = "; ".join(wanted for wanted, _ in not_run(document))
    return [f"Not run, since their data are not there: {wanted}"] if wanted and document["data"] else []


def _verdict(claim: Document) -> str:
    return claim["holds"] or "not judged"


def _quoted(cited: Document) -> str:
    return f"“{cited['words']}” ({cited['where']})"


def _measures(keys: Sequence[str]) -> list[str]:
    return ["method", *(key.partition(", ")[0] for key in keys)]


def _row(name: str, values: Mapping[str, float | None], keys: Sequence[str], digits: int = 4) -> list[str]:
    return [name, *("–" if (value := values.get(key)) is None else f"{value:.{digits}f}" for key in keys)]
