"""Figures, from the document of a tiny replication."""

import pytest

from boostplug.losses import LinearDistance
from boostplug.replication.figures import ByCutoff, ByGroup, Curves, Distances, Ranks, draw


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
        "extras": {
            "pairs": {"groups": ["d-n", "p-n"], "rows": {"A": [0.1, 0.3], "B": [0.2, None]}, "unit": "share of pairs"},
            "sizes": {"groups": ["0-1k", "1k-2k"], "rows": {"queries": [12, 3]}, "unit": "queries"},
        },
    }


def document():
    return {"protocol": "tiny-paper", "studies": [study()]}


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
    ByGroup(number="Figure 7", title="kinds of pairs", study="tiny", extra="pairs", axis="kind"),
    Curves(number="Figure 6", title="of a study that was not run", study="large", measures=("NDCG@1",), unit="NDCG@1"),
)


def test_every_kind_of_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    written = draw(document(), FIGURES, tmp_path / "figures")
    assert len(written) == 12
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert (tmp_path / "figures" / "tiny-paper-figure-1-tiny.png").stat().st_size > 5_000
    svg = (tmp_path / "figures" / "tiny-paper-figure-3-tiny.svg").read_text()
    assert svg.startswith("<?xml")
