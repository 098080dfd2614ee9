"""The rule and the sums of `studies.starting_point`, from values made by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from boostplug.replication.documents import marks
from studies.starting_point import page, rule, trainings
from studies.starting_point.rule import Arm, Estimate


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


def test_settings_are_ten_for_each_framework_and_trees_take_them():
    for framework, settings in trainings.SETTINGS.items():
        assert len(settings) == 10
        for name in settings:
            trainings.trees_of(framework, name)


def test_one_file_serves_all_seeds_where_nothing_is_drawn():
    names = {(setting, seed): trainings.Job("mslr", 0, seed, "lightgbm", setting).name for setting in ("l2", "extra")
             for seed in (1, 2)}  # fmt: skip
    assert names["l2", 1] == names["l2", 2]
    assert names["extra", 1] != names["extra", 2]
    for setting in trainings.OF_COMPARE:  # draws rows and columns
        assert len({trainings.Job("mslr", 0, seed, "xgboost", setting).name for seed in (1, 2)}) == 2


def test_the_page_shows_its_figures():
    results = Path(__file__).parents[2] / "docs" / "results"
    text, made = (
        (results / "starting_point.md").read_text(),
        page.tables(json.loads((results / "starting_point.json").read_text())),
    )
    assert {mark.removeprefix("table: ") for mark in marks(text)} == made.keys()
    assert all("\n".join(lines) in text for lines in made.values())


def test_differences_are_over_the_seeds_that_both_were_trained_with():
    ours, theirs = Arm("xgboost", "default", "QBRank"), Arm("catboost", "default", "YetiRank")
    seeds = {ours.framework: trainings.SEEDS["confirm"], theirs.framework: trainings.SEEDS["confirm"][:1]}
    found = {
        trainings.Job(data, fold, seed, arm.framework, arm.setting): {arm.method: {"values": np.full(3, float(seed))}}
        for arm in (ours, theirs)
        for seed in seeds[arm.framework]
        for fold in trainings.FOLDS["confirm"]
        for data in trainings.DATA_SETS
    }
    gaps = rule.difference("confirm", found, ours, theirs)
    assert all(len(seeds) == 1 and not seeds[0].any() for folds in gaps.values() for seeds in folds)
