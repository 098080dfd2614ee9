"""The targets of the benchmarks on this machine: `pytest -m benchmark -s`, minutes on one that is else idle."""

import pytest

from studies.speed import BENCHES, bench


@pytest.mark.benchmark
@pytest.mark.parametrize("name", BENCHES)
def test_targets_are_met(name):
    result = bench(name, progress=True)
    print(result)
    assert result.missed == []
