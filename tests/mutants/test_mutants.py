"""Every mutant still applies (whether the tests notice them: `python tests/mutants/run.py`)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from mutants import MUTANTS
from run import ROOT, mutated


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mutant_applies(mutant):
    path, text = mutated(mutant)
    compile(text, path, "exec")
    assert text != path.read_text()
    assert all((ROOT / "tests" / name).exists() for name in mutant.tests)
