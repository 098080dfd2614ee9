"""Progress of a comparison: a bar for all of its trainings, and one for each method with its validation score."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean

from boostplug.comparison.console import bars, first_bar
from boostplug.comparison.training.runs import Method, Plan, RunOutcome
from boostplug.core.text import visible


@contextmanager
def live_bars(
    shown: bool | None, plan: Plan, methods: Sequence[Method], n_folds: int
) -> Iterator[tuple[Callable[[Method, int, int], None], Callable[[RunOutcome], None]]]:
    """Yield ``begin(method, seed, fold)`` and ``add(run)`` of bars on stderr.

    If stderr is not a terminal, a line is written after a training, at most every 30 seconds. If `shown` is false,
    nothing is written.
    """
    n_runs = n_folds * len(plan.seeds)
    with bars(shown) as progress:
        advance = first_bar(progress, shown is not False, n_runs * len(methods))
        names = {method: visible(f"{method.framework} {method.name}") for method in methods}
        tasks = {method: progress.add_task(name, total=n_runs) for method, name in names.items()}
        values: dict[Method, list[float]] = {method: [] for method in methods}

        def begin(method: Method, seed: int, fold: int) -> None:
            advance(f"{names[method]}, seed {seed}, fold {fold + 1}", 0)

        def add(run: RunOutcome) -> None:
            advance("", 1)
            if run.error is None:
                values[run.method].append(run.validation)
            mean = f"{fmean(values[run.method]):.4f}" if values[run.method] else "failed"
            progress.update(tasks[run.method], advance=1, description=f"{names[run.method]}  {mean}")

        yield begin, add
