"""Every mutant still applies (whether the tests notice them: `python tests/mutants/run.py`)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from mutants import MUTANTS, Mutant
from run import ROOT, NotApplicableError, mutated


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mutant_applies(mutant):
    path, text = mutated(mutant)
    compile(text, path, "exec")
    assert text != path.read_text()
    assert all((ROOT / "tests" / name).exists() for name in mutant.tests)


@pytest.mark.parametrize(
    ("place", "old", "said"),
    [
        ("losses.no_module.f", "runs.n_judged / runs.n_pairs", r"no losses\.no_module\.f\b.* at \S+\.py:\d+\. In"),
        ("losses.loss.NoClass.method", "no_name", r"no losses\.loss\.NoClass\.method\b.* at no place\. In"),
        ("losses.base.pair_loss", "0.0", r"has `0\.0` 0 times.* at (\S+\.py:\d+, ){5}\d+ more places\. In"),
    ],
)
def test_a_mutant_whose_code_is_gone_is_refused(place, old, said):
    with pytest.raises(NotApplicableError, match=said):
        mutated(Mutant("x", place, old, "1", ()))
