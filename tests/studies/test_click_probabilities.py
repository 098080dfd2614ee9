"""Measures and tables of `studies.click_probabilities`, from values made by hand."""

import numpy as np
import pytest

import boostplug as bp
from studies.click_probabilities import attractions, measured


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
