"""The rule and the sums of `studies.starting_point`, from values made by hand."""

import numpy as np
import pytest

from studies.starting_point import rule
from studies.starting_point.rule import Estimate


def test_the_largest_of_those_that_qualify_is_chosen():
    gains = {"a": Estimate(0.003, 0.001), "b": Estimate(0.004, 0.002), "c": Estimate(0.0029, 0.001)}
    assert rule.chosen(gains) == "a"
    assert rule.chosen({"a": Estimate(0.0027, 0.001), "b": Estimate(-0.01, 0.001)}) is None


def test_a_setting_survives_if_it_is_ahead_and_significantly_behind_on_no_set():
    rng = np.random.default_rng(0)
    ahead = {name: [[rng.normal(0.01, 0.05, 400)]] for name in "abcdefg"}
    assert rule.survives(ahead)
    assert not rule.survives({name: [[rng.normal(0.0, 0.05, 400)]] for name in "abcdefg"})
    assert not rule.survives(ahead | {"g": [[rng.normal(-0.02, 0.05, 400)]]})
    assert rule.survives(ahead | {"g": [[rng.normal(-0.005, 0.05, 400)]]})  # z −2: not significant among seven


def test_an_estimate_pools_queries_and_holds_the_noise_of_seeds():
    gaps = {"one": [[np.array([0.0, 2.0, np.nan]), np.array([2.0, 4.0, np.nan])]], "other": [[np.zeros(2), np.ones(2)]]}
    mean, error = rule.estimate(gaps)
    assert mean == pytest.approx((1.0 + 3.0 + 0.5 + 0.5) / 4.0)
    of_queries = (1.0 + 1.0 + 0.0 + 0.0) / 16.0
    of_seeds = np.var([0.5, 2.0], ddof=1) / 2.0
    assert error == pytest.approx(np.sqrt(of_queries + of_seeds))
