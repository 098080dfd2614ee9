"""What very many documents need: the formulas, what they are fed with, and the page that says them."""

import pytest

from studies.speed.benchmarks.scaling import TRAININGS, Cluster, Costs, needs

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
