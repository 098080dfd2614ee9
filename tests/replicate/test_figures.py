"""Figures and the summary page, from the document of a tiny replication."""

import json

import numpy as np
import pytest

from boostplug.losses import LinearDistance
from boostplug.replicate import PAPERS, figures
from boostplug.replicate.figures import ByCutoff, ByGroup, Curves, Distances, Ranks, draw
from boostplug.replicate.page import main, page


def study(name="tiny", *, tasks=3):
    learner = {
        "test": {"NDCG@1": 0.5, "NDCG@3": 0.4, "R1": None},
        "mean_rank": {"NDCG@1": 1.25, "NDCG@3": 1.5},
        "curves": {"test": {"NDCG@1": [0.1, 0.2, 0.3]}, "trace": {"e1": [1.0, None, 0.5]}},
    }
    return {
        "name": name,
        "tasks": tasks,
        "folds": 5,
        "notes": [],
        "measures": [{"key": key} for key in ("NDCG@1", "NDCG@3", "R1")],
        "published_applies": True,
        "published": {"Other": {"NDCG@1": 0.45}, "A": {"NDCG@3": 0.35}},
        "learners": [{"name": "A", **learner}, {"name": "B", **learner}],
        "curve_rounds": [1, 2, 3],
        "tests": {key: {"critical_difference": 0.5} for key in ("NDCG@1", "NDCG@3")},
    }


def document():
    claims = [
        {"study": "tiny", "claim": f"claim {holds}", "published": "", "ours": "1 > 0", "holds": holds}
        for holds in (True, True, False, None)
    ]
    return {
        "schema": "boostplug.replicate/1",
        "protocol": "tiny-paper",
        "paper": "Someone. Something. 1999.",
        "studies": [study()],
        "claims": claims,
        "not_run": {"Web": "a folder web"},
        "deviations": ["Folds: ours."],
        "versions": {"boostplug": "0.1"},
    }


FIGURES = (
    Curves(number="Figure 1", title="curves", study="tiny", measures=("NDCG@1", "absent"), unit="NDCG@1"),
    Curves(number="Figure 2", title="traces", study="tiny", measures=("e1",), part="trace", unit="loss"),
    ByCutoff(
        number="Figure 3",
        title="cut-offs",
        study="tiny",
        measures=((1, "NDCG@1"), (3, "NDCG@3")),
        axis="k",
        unit="NDCG",
    ),
    Ranks(number="Figure 4", title="ranks", study="tiny", measures=("NDCG@1", "NDCG@3")),
    Distances(number="Figure 5", title="functions", functions=(("LDD", LinearDistance(alpha=0.2)),), unit="distance"),
    Curves(number="Figure 6", title="of a study that was not run", study="large", measures=("NDCG@1",), unit="NDCG@1"),
)


def test_every_kind_of_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    written = draw(document(), FIGURES, tmp_path / "figures")
    assert len(written) == 10
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert (tmp_path / "figures" / "tiny-paper-figure-1-tiny.png").stat().st_size > 5_000
    svg = (tmp_path / "figures" / "tiny-paper-figure-3-tiny.svg").read_text()
    assert svg.startswith("<?xml")


def test_titles_say_what_is_drawn(monkeypatch, tmp_path):
    titles = []
    monkeypatch.setattr(figures, "drawn", lambda _plot, title, _path: titles.append(title) or [])
    draw(document(), FIGURES, tmp_path)
    assert titles[0] == "Figure 1: curves\ntiny, mean of 3 tasks of 5 folds"
    assert titles[1] == "Figure 2: traces\ntiny, median of 3 tasks of 5 folds"
    assert titles[4] == "Figure 5: functions"


class Axes:
    """Stands in for matplotlib's axes: keeps what is plotted."""

    def __init__(self):
        self.lines, self.labels = {}, {}

    def plot(self, x, y, *style, label=None, **options):
        self.lines[label] = (list(x), list(y))

    def set_xlabel(self, text):
        self.labels["x"] = text

    def set_ylabel(self, text):
        self.labels["y"] = text

    def __getattr__(self, name):
        return lambda *arguments, **options: None


def test_what_is_drawn_is_what_was_measured():
    axes = Axes()
    FIGURES[2].plot(axes, study())
    assert axes.lines["A"] == ([1, 3], [0.5, 0.4])
    assert axes.lines["Other, published"][1][0] == 0.45
    assert np.isnan(axes.lines["Other, published"][1][1])
    assert axes.labels == {"x": "k", "y": "NDCG"}
    axes = Axes()
    FIGURES[1].plot(axes, study())
    np.testing.assert_array_equal(axes.lines["B"][1], [1.0, np.nan, 0.5])


@pytest.mark.parametrize("name", PAPERS)
def test_figures_of_the_papers_name_what_is_there(name):
    protocol = PAPERS[name]
    studies = {study.name: study for study in protocol.studies}
    assert protocol.figures
    for figure in protocol.figures:
        if not figure.study:
            continue
        measures = {measure.key for measure in studies[figure.study].measures}
        wanted = getattr(figure, "measures", ())
        wanted = {key for _, key in wanted} if isinstance(figure, ByCutoff) else set(wanted)
        known = set(studies[figure.study].traces) if getattr(figure, "part", "") == "trace" else measures
        assert wanted <= known, figure
        learners = {learner.name for learner in studies[figure.study].learners}
        assert set(getattr(figure, "learners", ())) <= learners, figure
        if isinstance(figure, ByGroup):
            assert figure.extra in {extra.name for extra in studies[figure.study].extras}, figure


def test_page_counts_and_names_every_claim(tmp_path):
    text = page([document()], ["figures/tiny-paper-figure-1-tiny.png", "figures/other-figure.png"])
    assert "4 claims on the data at hand: 2 hold, 1 do not, 1 could not be judged" in text
    assert "| tiny | claim False | – | 1 > 0 | does not hold |" in text
    assert "| A | 0.5000 | 0.4000 | – |" in text
    assert "| *Other, published* | 0.4500 | – | – |" in text
    assert "- Web: a folder web" in text
    assert "![tiny-paper-figure-1-tiny](figures/tiny-paper-figure-1-tiny.png)" in text
    assert "other-figure" not in text
    (tmp_path / "a.json").write_text(json.dumps(document()))
    main([str(tmp_path / "page.md"), str(tmp_path / "a.json")])
    assert (tmp_path / "page.md").read_text() == page([document()])
    (tmp_path / "b.json").write_text(json.dumps({"schema": "other"}))
    with pytest.raises(SystemExit, match="is no result"):
        main([str(tmp_path / "page.md"), str(tmp_path / "b.json")])
