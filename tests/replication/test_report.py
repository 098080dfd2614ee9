"""The summary and the complete report, as text, Markdown and LaTeX; the figures of a tiny replication."""

from pathlib import Path

import pytest

from boostplug.replication import PAPERS, ReplicationResult
from boostplug.replication.figures import Curves, Means, Ranks, Row, draw
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


KEYS = ("NDCG@1", "NDCG@3")
LEARNER = {
    "test": {"NDCG@1": 0.5, "NDCG@3": 0.4, "R1": None},
    "mean_rank": {"NDCG@1": 1.25, "NDCG@3": None},
    "curves": {"test": {"NDCG@1": [0.1, 0.2, 0.3]}, "trace": {"e1": [1.0, None, 0.5]}},
}
DOCUMENT = {
    "protocol": "tiny-paper",
    "studies": [
        {
            "name": "tiny",
            "tasks": 3,
            "folds": 5,
            "published_applies": True,
            "published": {"Other": {"NDCG@1": 0.45}, "A": {"NDCG@3": 0.35}, "None": {"MAP": 0.1}},
            "learners": [{"name": "A", **LEARNER}, {"name": "B", **LEARNER}],
            "curve_rounds": [1, 2, 3],
            "critical_difference": dict.fromkeys(KEYS, 0.5),
        }
    ],
}
MEANS = {"title": "means", "study": "tiny", "measures": (("1", "NDCG@1"), ("3", "NDCG@3")), "axis": "k", "unit": "NDCG"}
FIGURES = (
    Curves(number="Figure 1", title="curves", study="tiny", measures=("NDCG@1", "absent"), unit="NDCG@1"),
    Curves(number="Figure 2", title="traces", study="tiny", measures=("e1",), part="trace", unit="loss"),
    Means(number="Figure 3", **MEANS),
    Means(number="Figure 4", **MEANS, joined=False, rows=(Row("both", ("A", "B")), Row("A"))),
    Ranks(number="Figure 5", title="ranks", study="tiny", measures=KEYS),
    Curves(number="Figure 6", title="of a study that was not run", study="large", measures=("NDCG@1",), unit="NDCG@1"),
)


def test_every_kind_of_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    written = draw(DOCUMENT, FIGURES, tmp_path / "figures")
    assert len(written) == 10
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert (tmp_path / "figures" / "tiny-paper-figure-1-tiny.png").stat().st_size > 5_000
    assert (tmp_path / "figures" / "tiny-paper-figure-3-tiny.svg").read_text().startswith("<?xml")
