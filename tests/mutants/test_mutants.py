"""Every mutant still applies (whether the tests notice them: `python tests/mutants/run.py`)."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from run import MUTANTS, ROOT, mutated


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"].replace(" ", "-"))
def test_a_mutant_applies(mutant):
    before = (ROOT / "boostplug" / mutant["file"]).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(mutated(mutant))) != ast.dump(ast.parse(before))
    assert all((ROOT / "tests" / name).exists() for name in mutant["tests"])
