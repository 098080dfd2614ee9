"""The list of deliberate defects fits the code (whether tests catch them: `python tests/breakages/run.py`)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "breakages"))
from breakages import BREAKAGES, SURVIVED
from run import ROOT, file_of


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.name.replace(" ", "-"))
def test_a_breakage_changes_one_place_and_names_its_tests(breakage):
    path = file_of(breakage, ROOT / "boostplug").relative_to(ROOT / "boostplug")
    assert path.parts[0].removesuffix(".py") == breakage.room
    assert breakage.new != breakage.old
    compile((ROOT / "boostplug" / path).read_text().replace(breakage.old, breakage.new), path, "exec")
    assert all((ROOT / "tests" / name).exists() for name in breakage.tests)


def test_there_are_enough_of_them_everywhere():
    assert len({breakage.name for breakage in BREAKAGES}) == len(BREAKAGES) >= 30
    assert {breakage.name for breakage in BREAKAGES} >= SURVIVED
    rooms = {breakage.room for breakage in BREAKAGES}
    assert rooms >= {"losses", "metrics", "kernels", "rankers", "adapters", "studies", "core", "model"}
