"""A comparison's document (what `CompareResult.to_json` writes) in words and as a table: terminal, text, Markdown, TeX.

``python -m boostplug.comparison.report RESULT.json PAGE.md`` makes the page of a saved comparison.
"""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostplug.comparison.console import as_text
from boostplug.comparison.document import read
from boostplug.core.files import is_same_file, write_file
from boostplug.core.text import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

__all__ = [
    "NONE",
    "SCHEMA",
    "SIGNIFICANT",
    "Row",
    "about_data",
    "about_differences",
    "about_means",
    "about_times",
    "about_training",
    "advice",
    "interval",
    "is_code",
    "latex",
    "markdown",
    "metric_heads",
    "percent",
    "probability",
    "render",
    "rows",
    "short",
    "signed",
    "text",
    "tuned",
    "uncompared",
    "unfinished",
    "verdicts",
    "warning_lines",
    "without_zero",
]

SCHEMA = "boostplug.compare/2"

NONE = "–"
_RECOMMENDED = "Recommended: "
_INDENT = "    "  # of a line of code
_MOST_MISSING = 8  # runs that are named one by one
_MOST_NAMES = 4  # of those that are close to the recommended one
SIGNIFICANT = 0.05
_LEAST_NAME = 16  # width to which names may be folded
_UNLIMITED = 10_000
_WIDEST = 130  # of text in a file, where a layout has it


@dataclass(frozen=True)
class Row:
    """One method, all in strings."""

    framework: str
    name: str
    metrics: list[tuple[str, str]]  # mean; spread of the metric that the difference is of
    best: list[bool]  # of the framework
    difference: str
    interval: str
    p: str
    milliseconds: str
    rounds: str
    verdict: int  # sign of a significant improvement

    @property
    def verdict_cells(self) -> list[str]:
        """The difference with its interval, and p."""
        return [f"{self.difference} {self.interval}".rstrip(), self.p]

    @property
    def cost_cells(self) -> list[str]:
        """Milliseconds per round, and rounds."""
        return [self.milliseconds, self.rounds]

    @property
    def last(self) -> list[str]:
        """What stands to the right of the metrics."""
        return self.verdict_cells + self.cost_cells


def render(document: dict[str, Any], console: "Console", options: "ConsoleOptions") -> "RenderResult":
    """Yield the table in the widest layout that fits, and the lines below it."""
    from rich.text import Text

    document = visible(document)
    unlimited = options.update(max_width=_UNLIMITED)
    slack = max(len(row.name) for row in rows(document)) - _LEAST_NAME  # what folding the names can save
    for table, less in (
        (_table(document, column=True, inline=True), 0),
        (_table(document, column=False, inline=True), 0),
        (_table(document, column=False, inline=False), max(0, slack)),
    ):
        if console.measure(table, options=unlimited).maximum - less <= options.max_width:
            yield table
            break
    else:
        for line in _stacked(document):
            yield Text(line)
    yield Text("")
    for line in _below(document):
        yield Text(line, style="bold" if line.startswith(("INCOMPLETE", "PARTIAL", "WARNING")) else "")
    yield Text("")
    for line in advice(document):
        yield Text(line, style="bold" if line.startswith(_RECOMMENDED) else "")


def text(document: dict[str, Any]) -> str:
    """Return the table as plain text: as wide as the terminal where there is one, else as wide as it needs."""
    from shutil import get_terminal_size

    width = get_terminal_size((120, 24)).columns if sys.stdout.isatty() else natural_width(document)
    return as_text(lambda console: render(document, console, console.options), width)


def natural_width(document: dict[str, Any]) -> int:
    """Return the width of the wide layout, 120 at least; where that is too wide, with frameworks as headings."""
    from rich.console import Console

    console, document = Console(width=_UNLIMITED), visible(document)
    widths = [console.measure(_table(document, column=column, inline=True)).maximum for column in (True, False)]
    return max(120, widths[0] if widths[0] <= _WIDEST else widths[1])


def markdown(document: dict[str, Any]) -> str:
    """Return the table and what stands below it as Markdown."""
    document = visible(document)
    head = ["framework", "method", *metric_heads(document), *_last_heads(document)]
    lines = [
        f"# {_markdown(document['data']['name'] or 'Comparison')}",
        "",
        _markdown_row(head),
        _markdown_row(["---", "---", *["---:"] * (len(head) - 2)]),
    ]
    for row in rows(document):
        means = [
            f"**{mean}**{spread and ' ± ' + spread}" if best else mean + (spread and " ± " + spread)
            for (mean, spread), best in zip(row.metrics, row.best, strict=True)
        ]
        lines.append(_markdown_row([row.framework, row.name, *means, *row.last]))
    lines += ["", *(f"- {_markdown(line)}" for line in _below(document)), ""]
    for line in advice(document):
        lines += ["```python", line.strip(), "```"] if is_code(line) else [_markdown(line), ""]
    return "\n".join(lines) + "\n"


def latex(document: dict[str, Any], caption: str | None = None, label: str | None = None) -> str:
    """Return the table for LaTeX with booktabs, and what stands below it as comments."""
    document = visible(document)
    heads = ["method", *metric_heads(document), *_last_heads(document)[:2]]
    body = []
    framework = ""
    for row in rows(document):
        if row.framework != framework:
            framework = row.framework
            body.append(rf"\midrule \multicolumn{{{len(heads)}}}{{l}}{{\emph{{{_tex(framework)}}}}} \\")
        cells = [_tex(row.name)]
        for (mean, spread), best in zip(row.metrics, row.best, strict=True):
            inner = rf"\textbf{{{_tex(mean)}}}" if best else _tex(mean)
            cells.append(inner + (rf" {{\small$\pm$ {_tex(spread)}}}" if spread else ""))
        body.append(" & ".join([*cells, *map(_tex, row.verdict_cells)]) + r" \\")
    lines = [
        *(f"% {' '.join(line.split())}" for line in _below(document)),
        rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"\toprule",
        " & ".join(map(_tex, heads)) + r" \\",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if caption is not None or label is not None:
        lines = [r"\begin{table}", r"\centering", *lines]
        lines += [] if caption is None else [rf"\caption{{{caption}}}"]
        lines += [] if label is None else [rf"\label{{{label}}}"]
        lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"


_TEX = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "Δ": r"$\Delta$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "↓": r"$\downarrow$",
    "–": "--",
    "<": "$<$",
    ">": "$>$",
}


def _tex(text: str) -> str:
    """Return a text with what LaTeX reads as commands escaped, and minus signs of numbers as such."""
    escaped = "".join(_TEX.get(character, character) for character in " ".join(text.split()))
    return re.sub(r"(?<![\w-])-(?=[.\d])", "$-$", escaped)


def metric_heads(document: dict[str, Any]) -> list[str]:
    """Return the metrics' names, marked where lower is better."""
    settings = document["settings"]
    return [f"{name} ↓" if name in settings["lower_is_better"] else name for name in settings["metrics"]]


def _last_heads(document: dict[str, Any]) -> list[str]:
    return [f"Δ [{percent(document)}]", "p", "ms/round", "rounds"]


def percent(document: dict[str, Any]) -> str:
    """Return the level of the intervals."""
    return f"{100 * document['test']['level']:.3g} %"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_markdown(cell).replace("|", "&#124;") for cell in cells) + " |"


def _markdown(text: str) -> str:
    """Return a text in one line, with what HTML reads as markup escaped."""
    return escape(" ".join(text.split()), quote=False)


def _table(document: dict[str, Any], *, column: bool, inline: bool) -> "Table":
    """Return the table: frameworks in a column or as headings, spreads beside the means or below them."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    padding = (0, 1) if inline else (0, 0)
    table = Table(box=box.SIMPLE_HEAD, padding=padding, collapse_padding=True, pad_edge=False)
    if column:
        table.add_column("framework", no_wrap=True)
    table.add_column("method", no_wrap=inline, overflow="fold", min_width=_LEAST_NAME)
    names = _last_heads(document)
    heads = names if inline else [*names[:2], "ms", "rounds"]
    for head in [*metric_heads(document), *heads]:
        table.add_column(Text(head), justify="right", no_wrap=True)
    framework = ""
    for row in rows(document):
        if row.framework != framework:
            if framework:
                table.add_section()
            framework = row.framework
            if not column:
                table.add_row(Text(framework, style="bold"))
        means = []
        for (mean, spread), best in zip(row.metrics, row.best, strict=True):
            cell = Text(mean, style="bold" if best else "")
            if spread:
                cell.append(f" ± {spread}" if inline else f"\n±{spread}", style="not bold")
            means.append(cell)
        style = {1: "bold green", -1: "red", 0: ""}[row.verdict]
        verdict = row.verdict_cells
        if not inline:  # the difference above the ends of its interval
            verdict[0] = verdict[0].replace(" ", "\n")
        last = [Text(value, style=style) for value in verdict] + [Text(value) for value in row.cost_cells]
        table.add_row(*([Text(framework)] if column else []), Text(row.name), *means, *last)
    return table


def _stacked(document: dict[str, Any]) -> list[str]:
    """Return a few lines per method, for terminals too narrow for any table."""
    lines = []
    for row in rows(document):
        pairs = zip(metric_heads(document), row.metrics, strict=True)
        values = [f"{name} {mean}{spread and ' ± ' + spread}" for name, (mean, spread) in pairs]
        rest = [f"{head} {value}" for head, value in zip(_last_heads(document), row.last, strict=True)]
        lines += [f"{row.framework} {row.name}", f"  {', '.join(values)}", f"  {', '.join(rest)}"]
    return lines


def rows(document: dict[str, Any]) -> list[Row]:
    """Return the methods as strings, in the document's order."""
    settings = document["settings"]
    shown_rows = []
    for method in document["methods"]:
        finished, planned = method["runs_finished"], method["runs_planned"]
        peers = [m for m in document["methods"] if m["framework"] == method["framework"]]
        means, best = [], []
        for i, name in enumerate(settings["metrics"]):
            value = method["test"][name]
            if value["mean"] is None:
                state = "failed" if method["errors"] else "not run"
                means.append((state if i == 0 else NONE, ""))
                best.append(False)
            else:
                shown = name == settings["metric"] and value["spread"] is not None
                means.append((short(value["mean"]), short(value["spread"]) if shown else ""))
                others = [m["test"][name]["mean"] for m in peers if m["test"][name]["mean"] is not None]
                best.append(value["mean"] == (min if name in settings["lower_is_better"] else max)(others))
        better = (method["difference"] or 0.0) * (1 if settings["greater_is_better"] else -1)
        clear = method["p_holm"] is not None and method["p_holm"] < SIGNIFICANT
        shown_rows.append(
            Row(
                framework=method["framework"],
                name=method["method"] + (f" [{finished} of {planned}]" if 0 < finished < planned else ""),
                metrics=means,
                best=best,
                difference=signed(method["difference"]),
                interval=interval(method["interval"]),
                p=probability(method["p_holm"]),
                milliseconds=NONE
                if method["seconds_per_round"] is None
                else f"{1e3 * method['seconds_per_round']:.1f}",
                rounds=NONE if method["rounds"] is None else f"{method['rounds']:.0f}",
                verdict=(1 if better > 0 else -1) if clear else 0,
            )
        )
    return shown_rows


def _below(document: dict[str, Any]) -> list[str]:
    """Return the lines below the table."""
    return [
        *unfinished(document),
        *warning_lines(document),
        *verdicts(document),
        about_data(document),
        about_means(document),
        *about_differences(document),
        *uncompared(document),
        about_training(document),
        about_times(document),
        *tuned(document),
        "Versions: " + ", ".join(f"{name} {number}" for name, number in document["versions"].items()) + ".",
        *(f"Note: {note}" for note in document["notes"]),
        *(f"FAILED: {m['framework']} {m['method']}: {error}" for m in document["methods"] for error in m["errors"]),
    ]


def unfinished(document: dict[str, Any]) -> list[str]:
    """Return a line where Ctrl-C or a budget has left out runs."""
    lines = []
    if document["interrupted"]:
        done, planned = (sum(m[key] for m in document["methods"]) for key in ("runs_finished", "runs_planned"))
        lines.append(f"INCOMPLETE: interrupted after {done} of {planned} runs.")
    if document.get("out_of_time"):
        lines.append(_partial(document))
    return lines


def warning_lines(document: dict[str, Any]) -> list[str]:
    """Return what makes the metrics less than they seem, such as data that two parts share."""
    return [f"WARNING: {warning}" for warning in document["warnings"]]


def about_data(document: dict[str, Any]) -> str:
    """Return how large the parts are, and on how many test queries the metric is defined."""
    data, test = document["data"], document["test"]
    sizes = ", ".join(
        f"{part} {data[part]['queries']:,}/{data[part]['documents']:,}" for part in ("train", "valid", "test")
    )
    folds = "" if data["folds"] == 1 else f" over {data['folds']} folds together"
    undefined = data["test"]["queries"] - test["repeated"] - test["queries"]
    return (
        f"Data: {data['name'] or 'given'}; queries/documents{folds}: {sizes}; {data['features']} features"
        + (
            "."
            if not data.get("weighted")
            else ", weighted: means and tests are by the weights of the queries. "
            "All methods train with the same weights, divided by their mean."
        )
        + (
            f" {document['settings']['metric']} is defined on {test['queries']:,} of the test queries."
            if undefined
            else ""
        )
        + (" A test query of several folds counts once, by its mean over them." if test["repeated"] else "")
    )


def about_means(document: dict[str, Any]) -> str:
    """Return what the columns of metrics show."""
    settings, metric = document["settings"], document["settings"]["metric"]
    done = {(run["fold"], run["seed"]) for m in document["methods"] for run in m["runs"] if run["error"] is None}
    n_folds, n_seeds = len({fold for fold, _ in done}), len({seed for _, seed in done})
    runs = f"{n_seeds} seed{'s' * (n_seeds > 1)}" + (f" × {n_folds} folds" if n_folds > 1 else "")
    runs = runs if len(done) == n_seeds * n_folds else f"{len(done)} at most"
    several = len(done) > 1
    spread = f", {metric} ± standard deviation over the runs ({runs})" if several else " of one run"
    lower = "; ↓: lower is better" if settings["lower_is_better"] else ""
    return f"Test mean{spread}; bold: the framework's best{lower}."


def about_differences(document: dict[str, Any]) -> list[str]:
    """Return what Δ, its interval and p are, where there are any."""
    settings, test, methods = document["settings"], document["test"], document["methods"]
    metric = settings["metric"]
    lines = []
    references = {m["framework"]: m["reference"] for m in methods if m["difference"] is not None}
    if references:
        listed = ", ".join(f"{name} in {framework}" for framework, name in references.items())
        numbers = {framework: n for framework, n in test["comparisons"].items() if n}
        partial = document["interrupted"] or document.get("out_of_time")
        which = "test queries of the runs that both have" if partial else f"{test['queries']:,} test queries"
        many = ", ".join(
            f"{n} comparison{'s' * (n > 1)}" + (f" in {framework}" if len(numbers) > 1 else "")
            for framework, n in numbers.items()
        )
        lines.append(
            f"Δ: difference in {metric} to the framework's own LambdaMART ({listed}), with its {percent(document)} "
            f"interval: Student's t over the {which}, on values averaged over seeds. "
            f"p: paired randomisation test over them (two-sided, {test['flips']:,} "
            f"sign flips, or all where they are fewer), by Holm's method for {many}. Both are about the models of this "
            "comparison: other seeds or training data may give other differences."
        )
    return lines


def uncompared(document: dict[str, Any]) -> list[str]:
    """Return a line for each framework whose reference has no finished run."""
    methods = document["methods"]
    lines = []
    for framework, name in dict.fromkeys((m["framework"], m["reference"]) for m in methods if m["reference"]):
        reference = next(m for m in methods if (m["framework"], m["method"]) == (framework, name))
        if not reference["runs_finished"]:
            state = "failed" if reference["errors"] else "was not run"
            lines.append(f"No Δ and p in {framework}: {name}, which its methods are compared with, {state}.")
    return lines


def about_training(document: dict[str, Any]) -> str:
    """Return what all methods have in common: rounds, trees, and what is the frameworks' own."""
    settings, methods = document["settings"], document["methods"]
    metric = settings["metric"]
    stopping = settings["early_stopping_rounds"]
    stop = f", stopped {stopping} after the best validation {metric}" if stopping else ", no early stopping"
    trees = ", ".join(f"{key}={value}" for key, value in settings["params"].items() if not isinstance(value, dict))
    extra = "; ".join(
        f"{name} besides: {', '.join(f'{k}={v}' for k, v in settings['params'][name].items())}"
        for name in ("lightgbm", "xgboost")
        if settings["params"][name]
    )
    pairs = " rank:ndcg and rank:pairwise sample pairs as XGBoost does by default (lambdarank_pair_method=topk)."
    return (
        f"All methods: at most {settings['rounds']} rounds{stop}; {trees} (min_rows: LightGBM alone has it)"
        + (f"; {extra}." if extra else ".")
        + (pairs if any(m["framework"] == "xgboost" for m in methods) else "")
    )


def about_times(document: dict[str, Any]) -> str:
    """Return what the columns of times and rounds show."""
    settings = document["settings"]
    threads = f"{settings['num_threads']} thread{'s' * (settings['num_threads'] > 1)}"
    if settings["jobs"] > 1:
        threads += f", {settings['jobs']} trainings at once"
    return (
        f"ms/round: the median round with {threads}, without the metric, with the update of the validation scores. "
        "rounds: those used, mean over runs."
    )


def _partial(document: dict[str, Any]) -> str:
    """Return what a budget has left out, and what all methods have had."""
    missing, methods = document["not_run"], document["methods"]
    turns = [(fold, seed) for fold in range(document["data"]["folds"]) for seed in document["settings"]["seeds"]]
    absent = Counter((run["fold"], run["seed"]) for run in missing)
    of_all = [_turns(document, [turn for turn in turns if absent[turn] == n]) for n in (0, len(methods))]
    single = [
        f"{run['framework']} {run['method']} with {_turns(document, [(run['fold'], run['seed'])])}"
        for run in missing
        if absent[run["fold"], run["seed"]] < len(methods)
    ]
    left_out = ([f"any method with {of_all[1]}"] if of_all[1] else []) + single[:_MOST_MISSING]
    more = len(single) - _MOST_MISSING
    minutes, n = document["settings"]["minutes"], len(turns) * len(methods)
    common = f"All methods have {of_all[0]}" if of_all[0] else "No seed was run by all methods"
    return (
        f"PARTIAL: {n - len(missing)} of {n} runs in {minutes:g} minute{'s' * (minutes != 1)}. "
        f"{common}. Not run: {'; '.join(left_out)}{f'; and {more} more' if more > 0 else ''}."
        + ("" if of_all[0] else f" To compare more in the time, name fewer losses{_or_less(document)}.")
    )


def _or_less(document: dict[str, Any]) -> str:
    """Return what else would make a comparison shorter, by what it was asked for."""
    settings = document["settings"]
    less = [
        *(["one framework"] if len({m["framework"] for m in document["methods"]}) > 1 else []),
        *(["one fold"] if document["data"]["folds"] > 1 else []),
        *(["a smaller tune"] if settings["tune"] else []),
    ]
    return "".join(f", {word}" for word in less[:-1]) + (f" or {less[-1]}" if less else "")


def _turns(document: dict[str, Any], turns: Sequence[tuple[int, int]]) -> str:
    """Return folds and seeds in words, together those that have the same seeds."""
    by_seeds: dict[tuple[int, ...], list[int]] = {}
    for fold in dict.fromkeys(fold for fold, _ in turns):
        by_seeds.setdefault(tuple(seed for f, seed in turns if f == fold), []).append(fold + 1)
    words = []
    for seeds, folds in by_seeds.items():
        listed = f"fold{'s' * (len(folds) > 1)} {', '.join(map(str, folds))}"
        where = f" on {listed}" if document["data"]["folds"] > 1 else ""
        words.append(f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}{where}")
    return ", ".join(words)


def tuned(document: dict[str, Any]) -> list[str]:
    """Return how the methods were tuned, where they were, and a line per method and fold with the setting chosen."""
    settings = document["settings"]
    if not settings["tune"]:
        return []
    how = (
        f"Tuned per method and fold: the best of {settings['tune']} settings by validation {settings['metric']} with "
        "the first seed, of trees from one space for all and the objective's own parameters (optuna's TPE, hopeless "
        "ones pruned); the first setting is the above."
    )
    lines = [how]
    for method in document["methods"]:
        by_fold = {run["fold"]: run["tuned"] for run in method["runs"] if run["tuned"]}
        for fold, chosen in by_fold.items():
            where = f" fold {fold + 1}" if document["data"]["folds"] > 1 else ""
            pairs = {"objective": chosen["objective"], **chosen["parameters"]}
            values = ", ".join(f"{key}={f'{v:.3g}' if isinstance(v, float) else v}" for key, v in pairs.items())
            values += " (the untuned setting)" if not chosen["parameters"] else ""
            lines.append(f"Tuned: {method['framework']} {method['method']}{where}: {values}")
    return lines


def verdicts(document: dict[str, Any]) -> list[str]:
    """Return one sentence per framework on how the one of our losses that validation chooses does on test."""
    settings = document["settings"]
    sign = 1 if settings["greater_is_better"] else -1
    lines = []
    for framework in dict.fromkeys(m["framework"] for m in document["methods"]):
        ours = [
            m
            for m in document["methods"]
            if m["framework"] == framework and not m["built_in"] and m["difference"] is not None
        ]
        if ours:
            chosen = max(ours, key=lambda m: sign * m["validation"]["mean"])
            clear = "" if chosen["p_holm"] < SIGNIFICANT else ", not significant"
            lines.append(
                f"{framework}: of our losses, {chosen['method']} is best on validation; on test it is "
                f"{_against(chosen, document)} (corrected p {_equal(chosen['p_holm'])}{clear})."
            )
    return lines


def advice(document: dict[str, Any]) -> list[str]:
    """Return what a comparison recommends, in lines of words, and one of code, which is indented."""
    found, settings = document["recommendation"], document["settings"]
    if found is None:
        return ["Nothing to recommend: no run is finished."]
    metric = settings["metric"]
    runs = f"{found['runs']} run{'s' * (found['runs'] > 1)}"
    words = (
        f"{_RECOMMENDED}{found['method']} in {found['framework']}, the best of {found['among']} by validation {metric} "
        f"({short(found['validation'])}, mean of {runs}; test {short(found['test'])})."
    )
    if document["interrupted"]:
        words += " The comparison was interrupted: this is of what is finished."
    if document.get("out_of_time"):
        words += " The time was up before all was run: this is of what is finished."
    words += f" {_expected(document)}"
    close = [
        other["method"] + (f" in {other['framework']}" if other["framework"] != found["framework"] else "")
        for other in found["within_one_standard_error"]
    ]
    lines = [words]
    if close:
        more = f" and {len(close) - _MOST_NAMES} more" if len(close) > _MOST_NAMES else ""
        lines.append(
            f"Within one standard error of it on the validation queries: {', '.join(close[:_MOST_NAMES])}{more}."
        )
    folds = settings["tune"] and document["data"]["folds"] > 1
    lines.append(
        f"With the mean best round of {'its runs on the first fold, and the setting tuned there' if folds else runs}:"
    )
    if found["code"].startswith("xgb."):
        lines[-1] = f"{lines[-1][:-1]}, and fitted without qid, which XGBoost's regression does not take:"
    return [*lines, f"{_INDENT}{found['code']}"]


def _expected(document: dict[str, Any]) -> str:
    """Return what the test part says of the recommended method beside the framework's own."""
    found = document["recommendation"]
    if found["is_reference"]:
        own = f"It is {found['framework']}'s own LambdaMART"
        if found["among"] == 1:
            return f"{own}, and there is no other to compare it with."
        return f"{own}: on these data none of the others is called for."
    if found["difference"] is None:
        why = f"{name} has no finished run" if (name := found["reference"]) else "LambdaMART is not among the methods"
        return f"It has nothing to be compared with in {found['framework']}: {why}."
    queries = f"{found['queries']:,} test queries"
    against = f"On test it is {_against(found, document)}, p {_equal(found['p'])}"
    better = (found["difference"] > 0) == document["settings"]["greater_is_better"]
    if not found["p"] < SIGNIFICANT:
        advice = "either will do" if better else f"nothing here speaks against keeping {found['reference']}"
        return f"{against}: no significant difference on {queries}; {advice}, and more queries would tell."
    if better:
        return f"{against}: significantly better on {queries}."
    remedy = f"prefer {found['reference']}, or choose on more validation queries"
    return f"{against}: significantly worse on {queries}. The validation part misleads here: {remedy}."


def _against(found: dict[str, Any], document: dict[str, Any]) -> str:
    """Return a difference to the reference in words, with its interval."""
    difference, between = found["difference"], interval(found["interval"])
    level = round(difference, 4) == 0
    words = "level with" if level else f"{short(abs(difference))} {'above' if difference > 0 else 'below'}"
    ends = f" ({percent(document)} interval {between[1:-1].replace(', ', ' to ')})" if between else ""
    return f"{words} {found['reference']} in {document['settings']['metric']}{ends}"


def _equal(p: float) -> str:
    shown = probability(p)
    return shown if shown[0] == "<" else f"= {shown}"


def is_code(line: str) -> bool:
    """Return whether a line of the advice is code."""
    return line.startswith(_INDENT)


def short(value: float) -> str:
    """Return four decimals, without a leading zero."""
    return without_zero(f"{value:.4f}")


def signed(value: float | None) -> str:
    """Return four decimals with their sign, without a leading zero."""
    return NONE if value is None else without_zero(f"{round(value, 4) + 0.0:+.4f}")  # + 0.0: no -.0000


def interval(ends: list[float | None] | None) -> str:
    """Return the ends of an interval in brackets, nothing where they are not known."""
    if ends is None or None in ends or ends[0] != ends[0]:  # NaN: of one query
        return ""
    return f"[{', '.join(signed(end) for end in ends)}]"


def probability(value: float | None) -> str:
    """Return three decimals, without a leading zero."""
    if value is None:
        return NONE
    return "<.001" if value < 0.0005 else without_zero(f"{value:.3f}")


def without_zero(number: str) -> str:
    """Return a number of a text without the zero before its point."""
    for sign in ("", "+", "-"):
        if number.startswith(f"{sign}0."):
            return sign + number[len(sign) + 1 :]
    return number


def main(arguments: Sequence[str]) -> None:
    """Write the Markdown page of a saved comparison."""
    if len(arguments) != 2:
        raise SystemExit("usage: python -m boostplug.comparison.report RESULT.json PAGE.md")
    source, page = map(Path, arguments)
    if is_same_file(source, page):
        raise SystemExit(f"{page} is the result itself; name another file for the page")
    write_file(page, markdown(read(source, SCHEMA, markdown)))


if __name__ == "__main__":
    main(sys.argv[1:])
