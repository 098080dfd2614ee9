"""Tables, and reports with them: for a terminal, as text, as Markdown and as LaTeX."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostplug.comparison.console import as_text
from boostplug.core.files import write_file
from studies.tables import markdown

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table as RichTable

_WIDTH = 120  # characters of a line of text in a file or pipe
_UNLIMITED = 10_000  # characters: wider than any row
_LONG = 30  # characters; LaTeX wraps longer cells
_COMMANDS = {"\\": "textbackslash", "~": "textasciitilde", "^": "textasciicircum", "|": "textbar", "…": "dots"}
_COMMANDS |= {"<": "textless", ">": "textgreater"}
_SYMBOLS = {"×": r"\times", "½": r"\frac12", "α": r"\alpha", "ε": r"\varepsilon", "η": r"\eta", "h\u0304": r"\bar h"}
_LATEX = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    **{character: rf"\{name}{{}}" for character, name in _COMMANDS.items()},
    **{character: f"${symbol}$" for character, symbol in _SYMBOLS.items()},
} | {"“": "``", "”": "''", "–": "--", "[": "{[}"}  # "[" after a line break would begin its option
_IN_LATEX = re.compile("|".join(map(re.escape, sorted(_LATEX, key=len, reverse=True))))


class Table(NamedTuple):
    """A table of texts; `numbers`: all columns except the first hold numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: bool = False


@dataclass(frozen=True)
class Report:
    """A title, with paragraphs and tables below it.

    Attributes
    ----------
    title : str
    parts : sequence of str or Table
    brief : bool
        Whether each row of a table of words is on one line. A terminal cuts the last cell; a file or pipe does not.
    """

    title: str
    parts: Sequence[str | Table]
    brief: bool = False

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.constrain import Constrain
        from rich.text import Text

        yield Constrain(Text(self.title, style="bold"), _WIDTH)
        for part in self.parts:
            if isinstance(part, str):
                yield Constrain(Text(part), _WIDTH)
                continue
            yield Text("")
            yield Text(part.title, style="bold")
            shown = rich_table(part, cut=self.brief and not part.numbers)
            yield shown if part.numbers or self.brief else Constrain(shown, _WIDTH)

    def __str__(self) -> str:
        return as_text(lambda _: [self], _UNLIMITED)

    def to_markdown(self) -> str:
        """Return the text of a Markdown file."""
        return "\n".join(["# " + in_markdown(self.title), "", *self._parts(_paragraph_in_markdown, _table_in_markdown)])

    def to_latex(self) -> str:
        r"""Return the text of a LaTeX file for ``\input``, with the package booktabs."""
        title = [r"% \usepackage{booktabs}", rf"\section*{{{in_latex(self.title)}}}", ""]
        return "\n".join([*title, *self._parts(lambda part: [in_latex(part), ""], _table_in_latex)])

    def to_file(self, path: str | Path) -> None:
        """Write the report: LaTeX if the file ends with .tex, else Markdown."""
        write_file(Path(path), self.to_latex() if Path(path).suffix == ".tex" else self.to_markdown())

    def _parts(self, of_paragraph: Callable[[str], list[str]], of_table: Callable[[Table], list[str]]) -> Iterator[str]:
        for part in self.parts:
            yield from of_paragraph(part) if isinstance(part, str) else of_table(part)


def rich_table(table: Table, *, cut: bool = False) -> "RichTable":
    """Return a table for a terminal, without its title; `cut`: each row on one line, its last cell cut off."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    apart = not (cut or table.numbers)
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_lines=apart)
    for k, name in enumerate(table.head):
        shown.add_column(name, overflow="fold", justify="right" if k and table.numbers else "left")
    of_last: Any = {"no_wrap": True, "overflow": "ellipsis"} if cut else {}
    for *cells, last in table.rows:  # as Text: rich would read the brackets of intervals as markup
        shown.add_row(*(Text(cell or "–") for cell in cells), Text(last or "–", **of_last))
    return shown


def _paragraph_in_markdown(paragraph: str) -> list[str]:
    return [in_markdown(paragraph), ""]


def _table_in_markdown(table: Table) -> list[str]:
    return [f"## {in_markdown(table.title)}", "", *table_lines(table)]


def table_lines(table: Table) -> list[str]:
    """Return a table in Markdown without its title and empty columns, and a blank line; nothing without rows."""
    kept = [k for k in range(len(table.head)) if any(row[k] not in {"", "–"} for row in table.rows)]
    body = [[in_markdown(row[k]) for k in kept] for row in table.rows]
    return markdown([in_markdown(table.head[k]) for k in kept], body, numbers=table.numbers)


def in_markdown(text: str) -> str:
    """Return a text for a cell of a Markdown table, or for a line; – if it is empty."""
    return re.sub(r"([\\|*<`~$])", r"\\\1", " ".join(text.split())) or "–"


def in_latex(text: str) -> str:
    """Return a text with the characters of LaTeX commands escaped."""
    return _IN_LATEX.sub(lambda found: _LATEX[found[0]], " ".join(text.split())) or "--"


def _table_in_latex(table: Table) -> list[str]:
    columns = zip(table.head, *table.rows, strict=True)
    long = [max(map(len, column)) > _LONG for column in columns]
    width = 0.9 / max(1, sum(long))
    kinds = [rf"p{{{width:.2f}\linewidth}}" if of_words else "r" if table.numbers else "l" for of_words in long]
    rows = [" & ".join(map(in_latex, row)) + r" \\" for row in (table.head, *table.rows)]
    return [
        rf"\subsection*{{{in_latex(table.title)}}}",
        rf"\begin{{tabular}}{{{''.join(['l' if kinds[0] == 'r' else kinds[0], *kinds[1:]])}}}",
        *(r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule", r"\end{tabular}", ""),
    ]
