"""Means, intervals and tables of `studies.log_sizes`, from values made by hand."""

import numpy as np
import pytest

from studies import log_sizes

PROPOSED = {"power": 0.25, "ridge": 0.3, "prior_scale": 0.5, "spread": 1.0, "order": 0.1, "n_clicks": 900.0}


def part(name, eta, size, seed):
    """Return a log on which each way is its number in thousandths ahead of clicks as labels, and one cell behind."""
    ways = log_sizes.ways(1.0 / np.arange(1.0, 11.0), 0.25, 0.3)
    values = {"production": np.array([0.4, np.nan, 0.6])}
    for framework in ("lightgbm", "xgboost"):
        for number, way in enumerate(ways):
            behind = 0.1 if (framework, way, name, eta, size) == ("xgboost", "proposed power", "mslr", 1.0, 6) else 0.0
            values[f"{framework} {way}"] = np.full(3, 0.5 + 0.001 * number + 0.01 * seed - behind)
    return {"set": name, "eta": eta, "size": size, "seed": seed, "proposed": PROPOSED, "values": values}


@pytest.fixture(scope="module")
def found():
    axes = [(n, e, z, s) for n in log_sizes._SETS for e in log_sizes._ETAS for z in log_sizes._SIZES for s in range(5)]
    return log_sizes.summary([part(*at) for at in axes])


def test_an_interval_is_students_over_the_seeds():
    cells = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])  # two cells, three seeds
    mean, low, high = log_sizes.over_seeds(cells)
    assert (mean, low + high) == (3.0, 6.0)
    assert high - mean == pytest.approx(4.302653 / np.sqrt(3.0))


def test_differences_are_to_clicks_as_labels_of_the_same_log(found):
    rows = {(row["framework"], row["way"]): row for row in found["pooled"]}
    assert rows["lightgbm", "power 0.25"]["all"] == pytest.approx([0.001] * 3)
    worst = rows["xgboost", "proposed power"]
    assert (worst["behind"], worst["cells"]) == (1, 60)
    assert worst["worst"] == pytest.approx(rows["lightgbm", "proposed power"]["worst"] - 0.1)
    assert rows["both", "power 0.25"]["by eta"]["1"][0] == pytest.approx([0.001] * 3)


def test_tables(found):
    tables = log_sizes.tables(found)
    assert tables["eta 1"][2].startswith("| clicks as labels | – |")
    assert tables["eta 1"][3].startswith("| power 0.25 | +.0010 [+.0010, +.0010] |")
    assert any("| 1 of 60 |" in line for line in tables["all"])
    assert tables["yandex"][2].split("|")[2].strip() == ".5200 / .5200"
    assert tables["proposed"][2].split("|")[3].strip() == "0.25, 0.3, 0.50 (900)"
