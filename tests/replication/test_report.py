"""The summary and the complete report: on a terminal, in a pipe, as Markdown and as LaTeX."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from boostplug.replication import PAPERS, ReplicationResult
from boostplug.replication.page import stored
from boostplug.replication.tables import Report, Table, in_latex

STORED = stored(Path(__file__).parents[2] / "docs" / "results" / "replication")
WORDS = "a passage of many words " * 20
REPORT = Report("A paper", ["Data: here", Table("Verdicts", ("verdict", "the paper"), [["holds", WORDS]])], brief=True)


@pytest.mark.parametrize("name", PAPERS)
def test_the_summary_has_each_verdict_and_forty_lines_at_most(name):
    result = ReplicationResult(STORED[name])
    lines = str(result).splitlines()
    assert len(lines) <= 40
    for claim in STORED[name]["claims"]:
        if claim["real"]:
            (line,) = [line for line in lines if f"“{claim['words']}” ({claim['where']})" in line]
            assert claim["holds"].split()[-1].rstrip("s") in line  # hold, level
    assert {"0.", "–"} & {cell[:2] for cell in lines[-1].split()[1:]}  # the main table


@pytest.mark.parametrize("name", PAPERS)
def test_the_complete_report_has_all_and_cuts_nothing(name):
    document, full = STORED[name], ReplicationResult(STORED[name]).full
    text, markdown = str(full), full.to_markdown()
    for study in document["studies"]:
        assert f"{study['name']}: test means over" in text
    written = re.sub(r"[\\\s]", "", markdown)
    words = [row[key] for row in document["claims"] for key in ("claim", "ours")]
    words += [row["reason"] for row in document["not_tested"]] + document["deviations"]
    assert all("".join(text.split()) in written for text in words)
    assert text.count("…") == markdown.count("…")  # only those of quotations


def test_a_row_stands_on_one_line_which_only_a_terminal_cuts():
    assert WORDS.strip() in str(REPORT)
    console = Console(width=60, file=StringIO(), force_terminal=True, no_color=True)
    console.print(REPORT)
    (row,) = [line for line in console.file.getvalue().splitlines() if line.startswith("holds")]
    assert row.endswith("…")
    assert len(row) == 60


def test_latex_is_a_plain_table_with_special_characters_escaped():
    table = Table("A & B", ("method", "m_1"), [["η < 1 %", "0.5"], ["[x]", ""]], numbers=True)
    assert Report("50 %", ["no #1", table]).to_latex().splitlines() == [
        r"% \usepackage{booktabs}",
        r"\section*{50 \%}",
        "",
        r"no \#1",
        "",
        r"\subsection*{A \& B}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"method & m\_1 \\",
        r"\midrule",
        r"$\eta$ \textless{} 1 \% & 0.5 \\",
        r"{[}x] & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert r"p{0.90\linewidth}" in REPORT.to_latex()


@pytest.mark.parametrize("name", PAPERS)
def test_latex_knows_every_character_of_the_papers(name):
    written = ReplicationResult(STORED[name]).full.to_latex()
    assert not {character for character in written if ord(character) > 127}
    assert in_latex("~^\\{}") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}"
