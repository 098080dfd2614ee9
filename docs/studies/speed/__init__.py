"""Benchmarks: what things cost on this machine. `BENCHES` is the registry: a file and a line here for each."""

from studies.speed.benchmark import Benchmark, run
from studies.speed.benchmarks.clicks import Clicks
from studies.speed.benchmarks.convergence import Convergence
from studies.speed.benchmarks.gradients import Gradients
from studies.speed.benchmarks.out_of_core import OutOfCore
from studies.speed.benchmarks.rankers import Rankers
from studies.speed.benchmarks.rounds import BoostingRounds
from studies.speed.benchmarks.scaling import Scaling
from studies.speed.benchmarks.startup import Cold, Import
from studies.speed.result import BenchResult

__all__ = ["BENCHES", "BenchResult", "Benchmark", "bench"]

_KINDS = (Gradients, BoostingRounds, Convergence, Rankers, Scaling, Clicks, Import, Cold, OutOfCore)
BENCHES: dict[str, type[Benchmark]] = {kind.name: kind for kind in _KINDS}


def bench(name: str, *, scale: float = 1.0, repeat: int = 3, progress: bool = False) -> BenchResult:
    """Run one of `BENCHES` several times.

    `scale` multiplies documents, calls and rounds; below 1 it is a quick look, without targets. `progress` says on
    stderr what is measured now.
    """
    return run(BENCHES[name], scale=scale, repeat=repeat, progress=progress)
