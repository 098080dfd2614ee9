"""A comparison's table from one DataFrame of numbers: for a terminal, as plain text, in Markdown, for the page."""

import re
import sys
from html import escape
from itertools import chain
from shutil import get_terminal_size
from textwrap import dedent, wrap
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from boostplug.comparison.console import as_text
from boostplug.comparison.formats import MISSING, interval, is_missing, probability, short, signed
from boostplug.comparison.report.words import CODE, Document, advice, below_table, percent
from boostplug.comparison.training.frameworks import NO_FRAMEWORK
from boostplug.core.extras import imported
from boostplug.core.text import visible

Frame = Any  # pandas' DataFrame

_COPIED = ("z", "p", "p_holm", "seconds_per_round", "rounds", "runs_finished", "runs_planned", "runs_at_cap", "outcome")
_STYLES = {"best": "bold", "better": "bold green", "worse": "red"}  # rich's
_WORDS = ("framework", "method")
# Starts of bold lines.
_LOUD = ("INCOMPLETE", "WARNING", "FAILED", "Change to", "Keep ", "Take ", "No verdict yet", "Do not rely")
_LEAST_NAME = 16  # characters of the folded column of names
_UNLIMITED = 10_000  # characters
_NEEDED = "tables of a comparison need"


def frame(document: Document) -> Frame:
    """Return the table's numbers, a row per method; see `CompareResult.to_frame`."""
    rows = []
    for method in document["methods"]:
        row = {"framework": method["framework"], "method": method["method"], "objective": method["objective"]}
        for name, value in method["test"].items():
            row |= {name: value["mean"], f"{name} ±": value["spread"]}
        row |= {"validation": method["validation"]["mean"], "difference": method["difference"]}
        row["interval_low"], row["interval_high"] = method["interval"] or (None, None)
        rows.append(row | {name: method[name] for name in _COPIED} | {"error": "; ".join(method["errors"])})
    numbers = imported("pandas", _NEEDED).DataFrame(rows)
    kept = {*_WORDS, "objective", "runs_finished", "runs_planned", "runs_at_cap", "outcome", "error"}
    return numbers.astype(dict.fromkeys(numbers.columns.difference(kept), float))


def heads(document: Document) -> dict[str, str]:
    """Return the heads of the table's columns, each with its column of `frame`; without times if none were taken."""
    lower = document["settings"]["lower_is_better"]
    timed = not all(is_missing(method["seconds_per_round"]) for method in document["methods"])
    return {
        "framework": "framework",
        "method": "method",
        **{f"{name}{' ↓' * (name in lower)}": name for name in document["settings"]["metrics"]},
        f"Δ [{percent(document)}]": "difference",
        "p": "p_holm",
        **({"ms/round": "seconds_per_round"} if timed else {}),
        "rounds": "rounds",
    }


def texts(document: Document) -> Frame:
    """Return the text of each column of `heads` and of the validation; on a second line: its spread or interval."""
    rows, main = [], document["settings"]["metric"]
    for method in document["methods"]:
        done, planned, value = method["runs_finished"], method["runs_planned"], method["test"][main]
        metrics = {name: short(of_metric["mean"]) for name, of_metric in method["test"].items()}
        metrics[main] += "" if is_missing(value["spread"]) else f"\n± {short(value['spread'])}"
        if is_missing(value["mean"]):
            metrics[next(iter(metrics))] = "failed" if method["errors"] else "not run"
        seconds, rounds, cap = method["seconds_per_round"], method["rounds"], "\ncap" * (method["runs_at_cap"] > 0)
        row = {
            "framework": method["framework"],
            "method": method["method"] + f" [{done} of {planned}]" * (0 < done < planned),
            "validation": short(method["validation"]["mean"]),
            **metrics,
            "difference": f"{signed(method['difference'])}\n{interval(method['interval'])}".strip(),
            "p_holm": probability(method["p_holm"]),
            "seconds_per_round": MISSING if is_missing(seconds) else f"{1e3 * seconds:.1f}",
            "rounds": MISSING if is_missing(rounds) else f"{rounds:.0f}{cap}",
        }
        rows.append(row)
    return imported("pandas", _NEEDED).DataFrame(rows)


def styles(document: Document, numbers: Frame) -> Frame:
    """Return the style of each cell: "best" of the framework, significantly "better" or "worse", or nothing."""
    found = numbers.map(lambda _: "")
    for name in document["settings"]["metrics"]:
        best = "min" if name in document["settings"]["lower_is_better"] else "max"
        is_best = numbers[name] == numbers.groupby("framework")[name].transform(best)
        found.loc[is_best & (numbers["framework"] != NO_FRAMEWORK), name] = "best"
    clear = numbers["outcome"].where(numbers["outcome"].isin(["better", "worse"]), "")
    return found.assign(difference=clear, p_holm=clear)


def render(document: Document, options: ConsoleOptions) -> RenderResult:
    """Yield the table, narrow if the wide one does not fit, and the lines below it, for a terminal."""
    wide = _rich(document, narrow=False)
    yield wide if _width(wide) <= options.max_width else _rich(document, narrow=True)
    for lines in (below_table(document), advice(document)):
        yield Text("")
        for line in lines:
            shown = _wrapped(line, options.max_width) if line.startswith(CODE) else line
            yield Text(visible(shown), style="bold" if line.startswith(_LOUD) else "")


def _wrapped(code: str, width: int) -> str:
    """Return lines of code that fit a width, broken at blanks that stand in no quotes."""
    kept = re.sub(r"'[^']*'", lambda quoted: quoted[0].replace(" ", "\0"), code)
    lines = [wrap(one, width, subsequent_indent=CODE * 3, break_on_hyphens=False) for one in kept.split("\n")]
    return "\n".join(chain.from_iterable(lines)).replace("\0", " ")


def _rich(document: Document, *, narrow: bool) -> RichTable:
    """Return the table; a narrow one has the frameworks as headings, and spreads and intervals below their values."""
    shown, style = texts(document).map(visible), styles(document, frame(document))
    columns = {head: name for head, name in heads(document).items() if not narrow or name != "framework"}
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, int(not narrow)), collapse_padding=True, pad_edge=False)
    for head, name in columns.items():
        least = _LEAST_NAME if name == "method" else None
        table.add_column(
            Text(visible(head)), justify="left" if name in _WORDS else "right", overflow="fold", min_width=least
        )
    for framework, rows in shown.groupby("framework", sort=False):
        table.add_section()
        if narrow:
            table.add_row(Text(framework, "bold"))
        for i in rows.index:
            table.add_row(*(_rich_cell(name, rows.at[i, name], style.at[i, name], narrow) for name in columns.values()))
    return table


def _rich_cell(column: str, shown: str, style: str, narrow: bool) -> Text:
    value, after = split(column, shown)
    cell = Text(value, _STYLES.get(style, ""))
    if after:
        cell.append("\n" + after.replace("± ", "±").replace(" ", "\n") if narrow else f" {after}", "not bold")
    return cell


def split(column: str, shown: str) -> tuple[str, str]:
    """Return the value in a cell, and its spread or interval."""
    value, _, after = (shown, "", "") if column in _WORDS else shown.partition("\n")
    return value, after


def _width(table: RichTable) -> int:
    return Console(width=_UNLIMITED).measure(table).maximum


def text(document: Document) -> str:
    """Return the table as plain text, as wide as the terminal, or without one as wide as needed."""
    wide = max(120, _width(_rich(document, narrow=False)))
    width = get_terminal_size((120, 24)).columns if sys.stdout.isatty() else wide
    return as_text(lambda console: render(document, console.options), width)


def markdown(document: Document) -> str:
    """Return the table and the lines below it as Markdown; the best values of a framework are bold."""
    columns, shown, style = heads(document), texts(document), styles(document, frame(document))
    for name in columns.values():
        for i in shown.index[style[name] == "best"]:
            value, after = split(name, shown.at[i, name])
            shown.at[i, name] = f"**{value}** {after}".rstrip()
    lines = [f"# {in_markdown(document['data']['name'] or 'Comparison')}", ""]
    rule = ["---" if name in _WORDS else "---:" for name in columns.values()]
    lines += [
        "| " + " | ".join(in_markdown(cell).replace("|", "&#124;") for cell in row) + " |"
        for row in (columns, rule, *shown[[*columns.values()]].itertuples(index=False))
    ]
    lines += ["", *(f"- {in_markdown(line)}" for line in below_table(document)), ""]
    for line in advice(document):
        code = line.startswith(CODE)
        lines += ["```python", dedent(visible(line)), "```"] if code else [in_markdown(line), ""]
    return "\n".join(lines) + "\n"


def in_markdown(text: str) -> str:
    """Return a text in one line, with HTML markup escaped."""
    return escape(" ".join(visible(text).split()), quote=False)
