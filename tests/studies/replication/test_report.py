"""The summary and the complete report, as text and LaTeX, and the figures, of what is stored."""

from pathlib import Path

import pytest

from studies.replication import PAPERS, ReplicationResult
from studies.replication.figures import draw
from studies.replication.page import stored
from studies.replication.tables import in_latex

STORED = stored(Path(__file__).parents[3] / "docs" / "results" / "replication")


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
def test_latex_knows_every_character_of_the_papers(name):
    written = ReplicationResult(STORED[name]).full.to_latex()
    assert not {character for character in written if ord(character) > 127}
    assert in_latex("~^\\{}") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}"


@pytest.mark.parametrize(
    ("name", "kind"), [("rankboost-plus", "Ranks"), ("ndcg-boost", "Curves"), ("adarank", "Means")]
)
def test_figures_are_drawn(name, kind, tmp_path):
    pytest.importorskip("matplotlib")
    figure = next(figure for figure in PAPERS[name].figures if type(figure).__name__ == kind)
    written = draw(STORED[name], [figure], tmp_path / "figures")
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert all(path.stat().st_size > 5_000 for path in written)
