"""Writes the reference pages from the code: `python docs/generate.py`.

`PAGES` says where each public name stands. The site makes a page of each name's docstring besides (`_ext/api.py`).
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from typer.main import get_command

from boostplug.cli.app import app, full_command
from boostplug.core.values import Range
from boostplug.losses import LOSSES
from boostplug.metrics import METRICS
from boostplug.model.engines import ENGINES
from boostplug.testing import PROPERTIES

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
PACKAGE = "boostplug"
_NOTE = "<!-- Made by docs/generate.py from the code; do not edit. -->"


class Section(NamedTuple):
    """Names that people look for together, as they stand below `boostplug`."""

    title: str
    names: tuple[str, ...]


class Page(NamedTuple):
    """A page: what it is about, tables of its own, and sections of names."""

    title: str
    about: str
    sections: tuple[Section, ...]
    tables: Callable[[], str] = str  # of "", that is: none


def found(name: str) -> Any:
    """Return what a public name stands for."""
    *module, last = name.split(".")
    place = ".".join([PACKAGE, *module])
    if hasattr(import_module(place), last):
        return getattr(import_module(place), last)
    return import_module(f"{place}.{last}")


def summary(thing: Any) -> str:
    """Return the first sentence of a docstring, as Markdown."""
    if thing is PROPERTIES:
        return "The functions that check the properties, a tuple."
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    return text.replace("``", "`").replace("|", "\\|")


def source(thing: Any) -> str:
    """Return the path of the file that defines a thing, from the reference pages."""
    default = "boostplug.testing"  # of its tuple of properties
    module = thing if isinstance(thing, ModuleType) else sys.modules[getattr(thing, "__module__", default)]
    file = "/__init__.py" if hasattr(module, "__path__") else ".py"
    return "../../" + module.__name__.replace(".", "/") + file


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    head = tuple(head)
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def names_of(section: Section) -> str:
    """Return a section: each name, linked to where it is defined (on the site: to its page), and its first sentence."""
    things = [(name, found(name)) for name in section.names]
    rows = [(f"[`{shown(name)}`]({source(thing)})", summary(thing)) for name, thing in things]
    return f"## {section.title}\n\n{table(('name', 'what it is'), rows)}"


def shown(name: str) -> str:
    """Return a name as users write it: `bp.` and what `import boostplug as bp` finds, or whole."""
    top = import_module(PACKAGE)
    return f"bp.{name}" if name.split(".", maxsplit=1)[0] in top.__all__ else f"{PACKAGE}.{name}"


def yes(value: bool) -> str:
    """Return the word."""
    return "yes" if value else "no"


def signature_of(kind: type) -> str:
    """Return the class with its parameters and defaults, without types."""
    parameters = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in inspect.signature(kind).parameters.values()
    ]
    return f"{kind.__name__}({', '.join(parameters)})"


def losses() -> str:
    """Return what the registry says of losses, and what searches draw their parameters from."""
    rows = [
        (f"`{loss!r}`", loss.hessian_kind, yes(loss.traits.shift_invariant), yes(loss.couples_queries))
        for variants in LOSSES.values()
        for loss in variants
    ]
    kinds = table(("loss", "Hessian kind", "shift-invariant", "couples queries"), rows)
    spaces = []
    for variants in LOSSES.values():
        space = {name: drawn for loss in variants for name, drawn in loss.search_space.items()}
        spaces += [(f"`{type(variants[0]).__name__}`", f"`{name}`", _words(drawn)) for name, drawn in space.items()]
    search = table(("loss", "parameter", "drawn from"), spaces)
    return (
        f"## Properties of the losses\n\n{kinds}\n"
        "## Searching\n\n`bp.suggest` draws a loss's parameters, and so does `bp.compare` with `tune=`:\n\n"
        f"{search}"
    )


def _words(space: Range | tuple[Any, ...]) -> str:
    if not isinstance(space, Range):
        return ", ".join(f"`{choice!r}`" for choice in space)
    return f"{space.low:g} to {space.high:g}" + (", on a log scale" if space.log else "")


def training_calls(name: str) -> dict[str, str]:
    """Return a training with a loss at its defaults, in each framework; nothing for what needs arguments."""
    found = [loss for variants in LOSSES.values() for loss in variants if type(loss).__name__ == name]
    if not found or name == "LossSum":
        return {}
    head, places, arguments = "import boostplug as bp\n\ntrain = bp.datasets.load_bundled().train\n", "", ""
    if found[0].traits.positions:
        places = "bp.set_positions(data, train.position)\n"
        head = (
            "import boostplug as bp\n\ndocuments = bp.datasets.load_bundled().train\n"
            "log = bp.clicks.simulate(documents, sessions=1_000, max_position=5, random_state=0)\n"
            "train = bp.RankingData.from_clicks(documents.X[log.document], log)\n"
        )
    if name == "ClickLogLoss":
        arguments = "propensity=[1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]"
    lightgbm = (
        f"data = lgb.Dataset(train.X, train.y, group=train.group)\n{places}"
        f'booster = lgb.train({{"objective": bp.{name}({arguments})}}, data, num_boost_round=100)'
    )
    xgboost = (
        f"data = xgb.QuantileDMatrix(train.X, train.y, qid=train.qid)\n{places}"
        'params = {"objective": "rank:pairwise", "base_score": 0}\n'
        f"booster = xgb.train(params, data, num_boost_round=100, obj=bp.{name}({arguments}))"
    )
    return {
        "LightGBM": f"import lightgbm as lgb\n{head}{lightgbm}",
        "XGBoost": f"import xgboost as xgb\n{head}{xgboost}",
    }


def metrics() -> str:
    """Return what the registry says of metrics."""
    rows = [(f"`{signature_of(kind)}`", kind().name, yes(kind().greater_is_better)) for kind in METRICS.values()]
    head = ("metric", "name in the frameworks' logs", "higher is better")
    return f"## Their defaults, and their names in logs\n\n{table(head, rows)}"


def properties() -> str:
    """Return the properties that `check_loss` tries."""
    rows = [(f"`{prop.__name__}`", summary(prop)) for prop in PROPERTIES]
    about = "`bp.testing.check_loss` tries each and names the one that fails:"
    return f"## The properties\n\n{about}\n\n{table(('property', 'what it says'), rows)}"


def engines() -> str:
    """Return what `export` writes for each engine, and what that holds where a feature is missing."""
    rows = []
    for to, engine in ENGINES.items():
        held = "0" if "zero" in engine.missing else "as in the model"
        missing = f"{held}; {engine.learnt}" if engine.learnt else held
        rows.append((engine.title, f'`"{to}"`', engine.text, missing.replace("missing='nan'", "`missing='nan'`")))
    return table(("engine", "`to`", "what you get", "missing values there"), rows)


def commands() -> str:
    """Return each command of the command line with its options."""
    full = {name: full_command(name) for name in ("compare", "export")}
    found = get_command(app).commands | full  # type: ignore[attr-defined]
    return "\n\n".join(_command(name, command) for name, command in found.items())


def _command(name: str, command: Any) -> str:
    arguments = [(f"`{p.name.upper()}`", _cell(p.help)) for p in command.params if p.param_type_name == "argument"]
    options = [(f"`{p.opts[0]}`", _value(p), _cell(p.help)) for p in command.params if p.param_type_name == "option"]
    usage = " ".join(["boostplug", name, *(cell.strip("`") for cell, _ in arguments)])
    about = re.sub(r"docs/([\w/]+\.md)", r"[\1](../\1)", inspect.cleandoc(command.help or ""))
    parts = [f"## boostplug {name}", about, f"```text\n{usage}{' [OPTIONS]' if options else ''}\n```"]
    if arguments:
        parts.append(table(("argument", "what it is"), arguments))
    if options:
        parts.append(table(("option", "takes", "what it does"), options))
    return "\n\n".join(part.rstrip() for part in parts)


def _value(option: Any) -> str:
    """Return what an option takes and, where it is a plain value, its default."""
    if option.is_flag:
        return ""
    takes = option.metavar or "TEXT"
    if option.required:
        return f"{takes}, required"
    return f"{takes}, default `{option.default}`" if isinstance(option.default, (str, int, float)) else takes


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


PAGES = {
    "losses.md": Page(
        "Losses",
        "Objectives for LightGBM and XGBoost: the losses of papers, and base classes for losses of your own. "
        "[Which loss for me?](../guides/which_loss.md) · [The losses in one view](../explanation/losses.md)",
        (
            Section(
                "Losses",
                (
                    "MPBoost",
                    "QBRank",
                    "NDCGBoost",
                    "AdaRank",
                    "RankNet",
                    "LambdaRank",
                    "ListNet",
                    "SquaredError",
                    "CRR",
                    "LogisticError",
                    "CalibratedSoftmax",
                    "ClickLogLoss",
                    "Correlation",
                    "Unbiased",
                    "LossSum",
                ),
            ),
            Section("Losses of your own", ("PairwiseLoss", "Loss")),
            Section(
                "Distances between grades, for MPBoost",
                ("BinaryDistance", "LinearDistance", "LogDistance", "LogisticDistance"),
            ),
        ),
        losses,
    ),
    "metrics.md": Page(
        "Metrics",
        "Evaluate in LightGBM and XGBoost, in scikit-learn, and on plain arrays. "
        "[Metrics on plain arrays and TREC files](../guides/metrics.md). "
        "[Writing a metric](../tutorials/own_metric.md)",
        (
            Section("Gain and discount", ("NDCG", "DCG", "MeanNDCG")),
            Section("Relevant or not", ("MAP", "MRR", "Precision", "Recall", "RPrecision", "WTA")),
            Section("Models of a reader", ("ERR", "RBP")),
            Section("Pairs and correlations", ("PairError", "Bpref", "KendallTau", "SpearmanRho")),
            Section("Probabilities", ("LogLoss", "ECE", "ChoiceLogLoss", "choice_probabilities")),
            Section("Base class", ("Metric",)),
        ),
        metrics,
    ),
    "frameworks.md": Page(
        "Rankers for LightGBM and XGBoost",
        "The frameworks' own rankers, with our losses and metrics, queries by `qid` and preference pairs. "
        "[LightGBM](../guides/lightgbm.md) · [XGBoost](../guides/xgboost.md) · "
        "[scikit-learn](../guides/scikit-learn.md)",
        (
            Section("Rankers", ("LGBMRanker", "XGBRanker")),
            Section("Trees that fit the labels", ("starting_params", "fit_folds")),
        ),
    ),
    "explaining.md": Page(
        "Explaining",
        "Which columns order the lists, and why one document is above another. "
        "[What has it learnt?](../guides/what_has_it_learnt.md)",
        (Section("Explanations of a fitted model", ("why", "importance")),),
    ),
    "rankers.md": Page(
        "Reference rankers",
        "The papers' own boosting algorithms, exactly, as estimators of scikit-learn. "
        "[The guide](../guides/reference_rankers.md)",
        (
            Section(
                "Rankers",
                (
                    "RankBoostRanker",
                    "AdaRankRanker",
                    "MPBoostRanker",
                    "NDCGBoostRanker",
                    "QBRankRanker",
                    "QuadraticBoundRanker",
                    "LinearRanker",
                ),
            ),
            Section("Base class", ("rankers.ReferenceRanker",)),
            Section("Their model", ("Ensemble", "load")),
            Section(
                "Weak rankers",
                ("weak_rankers.Stump", "weak_rankers.Feature", "weak_rankers.Tree"),
            ),
        ),
    ),
    "comparing.md": Page(
        "Comparing",
        "Compare losses on your data. [The guide](../guides/compare.md)",
        (Section("Losses on your data", ("compare", "comparison.result.CompareResult")),),
    ),
    "queries.md": Page(
        "Data and pairs",
        "Queries and labels, data sets, files of LETOR and TREC, and preferences between rows. "
        "[Preference pairs](../guides/pairs.md) · [Data larger than memory](../guides/out_of_core.md)",
        (
            Section("Data", ("RankingData", "Queries")),
            Section("Pairs", ("Pairs", "set_pairs")),
            Section("Several labels", ("set_labels",)),
            Section("Positions", ("set_positions",)),
            Section(
                "Data sets and files",
                (
                    "datasets",
                    "datasets.load_bundled",
                    "datasets.make_ranking",
                    "datasets.load_letor",
                    "datasets.load_fold",
                    "datasets.load_folds",
                    "datasets.Fold",
                    "datasets.batches_by_query",
                    "datasets.QueryBatches",
                ),
            ),
            Section(
                "Click logs",
                (
                    "datasets.ClickLog",
                    "datasets.load_clicks",
                    "clicks",
                    "clicks.simulate",
                    "clicks.propensity",
                    "clicks.Propensity",
                    "clicks.correction",
                    "clicks.Correction",
                    "clicks.evaluate",
                    "clicks.Evaluation",
                ),
            ),
            Section(
                "Runs and judgements of TREC",
                (
                    "datasets.load_run",
                    "datasets.save_run",
                    "datasets.Run",
                    "datasets.load_qrels",
                    "datasets.save_qrels",
                    "datasets.Qrels",
                    "datasets.join_trec",
                ),
            ),
        ),
    ),
    "search.md": Page(
        "Search and folds",
        "Cross-validation that never splits a query, and searches that reach into losses. "
        "[scikit-learn](../guides/scikit-learn.md)",
        (
            Section(
                "Folds",
                ("group_folds", "time_folds", "split_queries", "selection.folds.Folds", "selection.folds.GroupSizes"),
            ),
            Section("Scorers", ("make_scorer", "selection.scorer.RankingScorer")),
            Section("Search", ("suggest",)),
        ),
    ),
    "serving.md": Page(
        "Serving",
        "Train with boostplug, serve without. Rankers have `export()`. Reference rankers have a `model_`, a "
        "`bp.Ensemble`. [From training to serving](../guides/serving.md)",
        (Section("Export", ("export", "mean_model")),),
    ),
    "clusters.md": Page(
        "Clusters",
        "Train on Dask the model that one machine would train. [Clusters](../guides/clusters.md)",
        (
            Section(
                "Dask",
                ("dask", "dask.LGBMRanker", "dask.XGBRanker", "dask.partition_by_query", "dask.check_partitions"),
            ),
        ),
    ),
    "testing.md": Page(
        "Testing",
        "Check the properties of a loss of your own on difficult data, and the scores of exported models.",
        (
            Section(
                "Checks",
                (
                    "testing",
                    "testing.check_loss",
                    "testing.check_export",
                    "testing.example_data",
                    "testing.suited_data",
                    "testing.suited",
                    "testing.PROPERTIES",
                ),
            ),
        ),
        properties,
    ),
    "threads.md": Page(
        "Threads and compilation",
        "Set the number of threads of losses and metrics, and compile their kernels ahead of time. "
        "[Containers: compile once](../guides/images.md)",
        (Section("Settings", ("set_num_threads", "warmup")),),
    ),
    "cli.md": Page(
        "Command line",
        "`boostplug COMMAND --help` says the same. [Comparing losses on your data](../guides/compare.md)",
        (),
        commands,
    ),
}


TABLES = {"guides/search_engines.md": {"<!-- table of engines, made by docs/generate.py -->": engines}}
"""Tables within other pages, by the line before; each ends at ``<!-- end -->``."""


def names() -> Iterator[str]:
    """Yield every public name that has a place, once."""
    yield from dict.fromkeys(name for page in PAGES.values() for section in page.sections for name in section.names)


def text(page: Page) -> str:
    """Return a page."""
    parts = [f"# {page.title}", _NOTE, page.about, *map(names_of, page.sections), page.tables()]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def with_tables(page: str) -> str:
    """Return a page of `TABLES` with its tables."""
    content = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for mark, made in TABLES[page].items():
        before, begin, rest = content.partition(f"{mark}\n")
        _, end, after = rest.partition("<!-- end -->")
        content = f"{before}{begin}\n{made()}\n{end}{after}"
    return content


def main() -> None:
    """Write every page and table."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(text(page), encoding="utf-8")
        print(f"wrote reference/{name}", file=sys.stderr)
    for name in TABLES:
        (ROOT / "docs" / name).write_text(with_tables(name), encoding="utf-8")
        print(f"wrote {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
