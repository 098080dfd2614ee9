"""What very many documents need: the formulas, what they are fed with, and the page that says them."""

import re
from pathlib import Path

import pytest

from studies.speed.benchmarks import scaling as scaling_module
from studies.speed.benchmarks.scaling import TRAININGS, Cluster, Costs, histogram_bytes, needs

SCALE = Path(__file__).parents[3] / "docs" / "explanation" / "scale.md"
XGBOOST, OUT_OF_CORE, LIGHTGBM = TRAININGS


def test_formulas_by_hand():
    """The figures of runs on a million documents, 16 machines of 16 cores."""
    found = needs(TRAININGS[XGBOOST], Costs(21.0, 4.8, 426.0), Cluster(16, 16), documents=1e9, features=100)
    assert found["seconds_per_round"] == pytest.approx(1e9 * (480 + 21) * 1e-9 / (256 * 0.7))
    assert found["gradient_share"] == pytest.approx(21 / 501)
    assert found["worker_gigabytes"] == pytest.approx(62.5e6 * 426e-9 + 255 * 100 * 256 * 16e-9)
    assert found["frame_gigabytes"] == pytest.approx(25.0)
    assert found["network_megabytes"] == pytest.approx(1.4 * 128 * 100 * 256 * 16e-6 * 2 * 15 / 16)
    lightgbm = needs(TRAININGS[LIGHTGBM], Costs(24.0, 11.5, None), Cluster(2, 1), documents=1e6, features=20)
    assert lightgbm["network_megabytes"] == pytest.approx(255 * 20 * 256 * 16e-6 / 2)
    assert "worker_gigabytes" not in lightgbm
    one = needs(TRAININGS[OUT_OF_CORE], Costs(24.0, 11.5, 1.0), Cluster(1, 1), documents=1e6, features=20)
    assert not one.keys() & {"network_megabytes", "frame_gigabytes"}


def table(text, part):
    """Return the rows of a marked table: the first cell to the others by the head."""
    body = re.search(rf"<!-- table: {re.escape(part)} -->\n(.*?)<!-- end -->", text, re.DOTALL)[1]
    head, _, *lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.split("\n") if line]
    return {cells[0]: dict(zip(head[1:], cells[1:], strict=True)) for cells in lines}


def number(cell):
    return float(re.match(r"[\d,.]+", cell)[0].replace(",", ""))


@pytest.mark.parametrize("documents", scaling_module._CLUSTERS)
def test_the_page_on_scale_says_what_follows_from_its_figures(documents):
    """The tables on the page are of one measurement, and what they say of more documents is what the formulas say."""
    text = SCALE.read_text()
    measured = table(text, "Trees, on one thread")
    rows = table(text, f"{documents:,.0f} documents × 100 features")
    for name, training in TRAININGS.items():
        figures = {head: number(cell) for head, cell in measured[name].items()}
        of_histograms = histogram_bytes(100) / figures["documents"]
        each = 100 * figures["at the most, B/document/feature"] - of_histograms
        paid = Costs(figures["gradient, ns/document"], figures["tree, ns/document/feature"], each)
        for cluster in scaling_module._CLUSTERS[documents][: None if training.in_memory else 1]:
            said = rows[f"{name}: {cluster.name}"]
            expected = needs(training, paid, cluster, documents=documents, features=100)
            for column in scaling_module.Scaling.columns:
                if column.key in expected:
                    found = number(said[column.head])
                    rel = 0.1 if column.key == "gradient_share" else 0.03  # a ratio's median is not the medians' ratio
                    assert found == pytest.approx(expected[column.key], rel=rel), (name, cluster, column.key)
    assert f"{scaling_module.EFFICIENCY:.0%}" in text
