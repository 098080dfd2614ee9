"""Measures and tables of `studies.click_probabilities`, from values made by hand."""

import numpy as np
import pytest

import boostplug as bp
from studies.click_probabilities import attractions, measured, tables


def test_the_true_probabilities_have_no_error():
    truth = bp.Queries([2, 1, 0], group=[3])
    attraction = attractions(truth.labels, 2.0)
    np.testing.assert_allclose(attraction, [1.0, 0.4, 0.1])
    inner = np.clip(attraction, 1e-9, 1.0 - 1e-9)
    found = measured(np.log(inner / (1.0 - inner)), attraction, truth)
    assert found == pytest.approx({"excess": 0.0, "ECE": 0.0, "NDCG@10": 1.0}, abs=1e-8)
    at_one_half = measured(np.zeros(3), attraction, truth)
    entropies = [0.0, -0.4 * np.log(0.4) - 0.6 * np.log(0.6), -0.1 * np.log(0.1) - 0.9 * np.log(0.9)]
    assert at_one_half["excess"] == pytest.approx(np.log(2.0) - np.mean(entropies))


def test_tables():
    rows = [
        {"set": name, "eta": eta, "seed": seed, "framework": framework, "method": method,
         "excess": excess, "ECE": 0.01, "NDCG@10": 0.5}
        for name in ("yandex", "nfcorpus")
        for eta in (1.0, 2.0)
        for seed in (0, 1)
        for framework in ("LightGBM", "XGBoost")
        for method, excess in (("clicks as labels", 0.1 * eta + 0.2 * seed), ("ClickLogLoss, true θ", 0.15))
    ]  # fmt: skip
    found = tables(rows)
    assert found["together"][2:4] == [
        "| clicks as labels | .2500 | .0100 | .5000 | 12 of 16 |",
        "| ClickLogLoss, true θ | .1500 | .0100 | .5000 | – |",
    ]
    assert found["nfcorpus XGBoost"][2] == "| clicks as labels | .2000 | .0100 | .5000 | .3000 | .0100 | .5000 |"
