"""Costs and tables of `studies.choosing`, from values made by hand."""

import pytest

from studies.choosing import costs, tables

CLICKS = {"lambdarank": [0.7, 0.50], "ips": [0.6, 0.53]}
PROPENSITIES = {"lambdarank": [1.1, 0.51], "ips": [1.3, 0.52]}
GRADES = {"lambdarank": [0.4, 0.50], "ips": [0.5, 0.54]}


def test_a_cost_is_the_distance_to_the_best_that_any_way_has_trained():
    found = costs({"clicks": CLICKS, "propensities": PROPENSITIES, "grades": GRADES})
    assert found == pytest.approx({"clicks": 0.04, "propensities": 0.02, "grades": 0.0})


def test_tables():
    ways = {"clicks": CLICKS, "propensities": PROPENSITIES, "grades": GRADES}
    methods = {"same models": ways, "stopped early": ways}
    logs = [
        {"set": name, "eta": eta, "seed": seed, "methods": methods}
        for name in ("yandex", "nfcorpus")
        for seed in (0, 1)
        for eta in (0.0, 1.0, 2.0)
    ]
    found = tables(logs)
    assert found["same models"][-2] == "| both | 1 and 2 | .0400 | .0200 | .0000 | 50 % |"
    assert found["seeds"][2] == "| Yandex, five grades | 0 | .0400 .0400 | .0200 .0200 | .0400 .0400 | .0200 .0200 |"
    assert found["methods"][2].startswith("| lambdarank | .5000 (2, 0, 0) |")
