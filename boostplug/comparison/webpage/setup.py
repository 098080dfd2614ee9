"""What the comparison was made of: data, parameters, versions, machine; and how to make it again."""

from boostplug.comparison import report
from boostplug.comparison.webpage.markup import Child, el
from boostplug.comparison.webpage.methods import label
from boostplug.comparison.webpage.tables import Cell, Column, number, table
from boostplug.comparison.webpage.view import View, copyable, folded, pairs

__all__ = ["reproduce", "setup"]


def setup(view: View) -> Child:
    """Return data, parameters, versions, machine and notes."""
    document = view.document
    data, settings = document["data"], document["settings"]
    rows = []
    for part, name in (("train", "training"), ("valid", "validation"), ("test", "test")):
        rows.append([Cell(name), number(data[part]["queries"]), number(data[part]["documents"])])
    in_all = f", {view.folds} folds together" if view.folds > 1 else ""
    params = settings["params"]
    common: list[tuple[str, Child]] = [
        ("metric that stops and chooses", view.metric),
        ("rounds at most", f"{settings['rounds']:,}"),
        (
            "early stopping",
            f"after {n} rounds without a better value" if (n := settings["early_stopping_rounds"]) else "none",
        ),
        ("seeds", ", ".join(map(str, settings["seeds"]))),
        ("folds", str(view.folds)),
        *((key, str(given)) for key, given in params.items() if not isinstance(given, dict)),
        *(
            (f"{name} besides", ", ".join(f"{k}={v}" for k, v in given.items()))
            for name, given in params.items()
            if isinstance(given, dict) and given
        ),
        ("settings tried per method", str(settings["tune"]) if settings["tune"] else "none (not tuned)"),
        ("threads of a training", str(settings["num_threads"])),
        ("trainings at once", str(settings["jobs"])),
    ]
    if settings.get("minutes") is not None:
        common.append(("budget in minutes", f"{settings['minutes']:g}"))
    objectives = [
        [
            Cell(label(m), m.name.lower()),
            Cell(m.framework, m.framework),
            Cell(el("code", m.summary["objective"]), m.summary["objective"], "long"),
            number(m.summary["rounds"], ".0f"),
            Cell(f"{m.summary['runs_finished']} of {m.summary['runs_planned']}", m.summary["runs_finished"]),
        ]
        for m in view.methods
    ]
    columns = [
        Column("method", numbers=False),
        Column("framework", numbers=False),
        Column("objective", numbers=False),
        Column("rounds"),
        Column("runs finished"),
    ]
    machine = [
        (name, str(shown))
        for name, key in (
            ("processor", "processor"),
            ("cores", "cores"),
            ("memory, GiB", "memory_gib"),
            ("system", "system"),
        )
        if (shown := (view.machine or {}).get(key)) is not None
    ]
    features_of = f"{data['features']:,} features"
    weighted = "; weighted: means and tests are by the weights of the queries" if data.get("weighted") else ""
    undefined = data["test"]["queries"] - document["test"]["queries"]
    defined = f" {view.metric} is defined on {document['test']['queries']:,} of the test queries." if undefined else ""
    return [
        el(
            "div",
            el(
                "div",
                el("h3", "Data"),
                el("p", f"{data['name'] and data['name'] + '; '}{features_of}{weighted}.{defined}"),
                table(f"Parts{in_all}", [Column("part", numbers=False), Column("queries"), Column("documents")], rows),
                el("h3", "Versions"),
                pairs(list(document["versions"].items())),
                [el("h3", "Machine"), pairs(machine)] if machine else None,
            ),
            el("div", el("h3", "Parameters of all methods"), pairs(common)),
            class_="pair",
        ),
        el("p", report.about_training(document)),
        folded(
            "Each method's objective with all its parameters",
            table("Objectives", columns, objectives, frameworks=[m.framework for m in view.methods]),
        ),
        [el("h3", "Tuned settings"), [el("p", line) for line in lines]] if (lines := report.tuned(document)) else None,
        [el("h3", "Notes"), el("ul", [el("li", note) for note in notes])] if (notes := document["notes"]) else None,
    ]


def reproduce(view: View) -> Child:
    """Return how to make the comparison again."""
    part = view.detail("reproduce")
    if part is None:
        return None
    rows = [
        [
            Cell(one["part"]),
            *([number(one["fold"] + 1)] if view.folds > 1 else []),
            number(one["queries"]),
            number(one["documents"]),
            Cell(el("code", str(one["fingerprint"]))),
        ]
        for one in part["data"]
    ]
    columns = [Column("part", numbers=False), *([Column("fold")] if view.folds > 1 else [])]
    columns += [Column("queries"), Column("documents"), Column("fingerprint", numbers=False)]
    command = part["command"]
    return [
        el("h3", "On the command line"),
        copyable("the command", command)
        if command
        else el("p", "No command makes this comparison: its data or its losses are Python's own."),
        el("h3", "In Python"),
        copyable("the call in Python", f"import boostplug as bp\n\nresult = {part['python']}"),
        el("h3", "The data it was made with"),
        el(
            "p",
            "With the same data the fingerprints are the same; with the same versions the figures are, but for times.",
        ),
        table("Fingerprints of the data", columns, rows),
    ]
