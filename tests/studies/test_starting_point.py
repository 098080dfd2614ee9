"""The rule and the sums of `studies.starting_point`, from values made by hand."""

import numpy as np
import pytest

from studies import starting_point as study


def test_the_largest_of_those_that_qualify_is_chosen():
    assert study.chosen({"a": (0.003, 0.001), "b": (0.004, 0.002), "c": (0.0029, 0.001)}) == "a"
    assert study.chosen({"a": (0.0027, 0.001), "b": (-0.01, 0.001)}) is None


def test_an_estimate_pools_queries_and_holds_the_noise_of_seeds():
    gaps = {"one": [[np.array([0.0, 2.0, np.nan]), np.array([2.0, 4.0, np.nan])]], "other": [[np.zeros(2), np.ones(2)]]}
    mean, error = study.estimate(gaps)
    assert mean == pytest.approx((1.0 + 3.0 + 0.5 + 0.5) / 4.0)
    of_queries = (1.0 + 1.0 + 0.0 + 0.0) / 16.0
    of_seeds = np.var([0.5, 2.0], ddof=1) / 2.0
    assert error == pytest.approx(np.sqrt(of_queries + of_seeds))


def test_settings_are_ten_for_each_framework_and_trees_take_them():
    for framework, settings in study.SETTINGS.items():
        assert len(settings) == 10
        for name in settings:
            study.trees_of(framework, name)


def test_one_file_serves_all_seeds_where_nothing_is_drawn():
    names = {(setting, seed): study.Job("mslr", 0, seed, "lightgbm", setting).name for setting in ("l2", "extra")
             for seed in (1, 2)}  # fmt: skip
    assert names["l2", 1] == names["l2", 2]
    assert names["extra", 1] != names["extra", 2]
