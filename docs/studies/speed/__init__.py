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

__all__ = ["BENCHES", "SHORT", "BenchResult", "Benchmark", "bench"]

BENCHES: dict[str, type[Benchmark]] = {
    kind.name: kind
    for kind in (Gradients, BoostingRounds, Convergence, Rankers, Scaling, Clicks, Import, Cold, OutOfCore)
}

SHORT = 0.05
"""The scale of a quick look."""


def bench(name: str, *, scale: float = 1.0, repeat: int = 3, progress: bool = False) -> BenchResult:
    """Run one of `BENCHES`.

    Parameters
    ----------
    name : str
    scale : float, default 1
        Documents, calls and rounds relative to the benchmark's own, from 0 to 1000; below 1 for a quick look.
    repeat : int, default 3
        Runs, one after the other; each ratio is of numbers of one run.
    progress : bool, default False
        Say on stderr what is measured now.

    Raises
    ------
    ValueError
        If there is no such benchmark, or `scale` or `repeat` is out of its range.
    """
    if name not in BENCHES:
        raise ValueError(f"there is no benchmark {name!r}; take one of {', '.join(BENCHES)}")
    return run(BENCHES[name], scale=scale, repeat=repeat, progress=progress)
