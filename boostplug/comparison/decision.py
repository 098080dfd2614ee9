"""The decision of a comparison: keep the incumbent, or replace it by another method."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

from boostplug.comparison.outcomes import Run, Runs
from boostplug.comparison.significance import Pooled
from boostplug.comparison.summary import SIGNIFICANT, MethodSummary, Outcome
from boostplug.comparison.training.runs import Method

_CHEAPER = 0.8  # largest share of the incumbent's training time; times of equal trainings differ by a few percent

Rows = Mapping[Method, MethodSummary]


@dataclass(frozen=True, eq=False)
class Decision:
    """The incumbent, the challenger, and the outcome.

    The challenger is the best method on validation, so its p needs no correction. If it is not significantly better on
    test, another method may take its place: the best on validation of those that beat the incumbent there, and on test
    significantly by Holm's p.
    """

    challenger: Method
    incumbent: Method | None
    outcome: Outcome
    found: Pooled | None  # difference of the challenger and the incumbent
    p: float | None
    comparisons: int  # number for which Holm's method corrects p; 0 for the best on validation
    means: dict[Method, float]  # validation value of each candidate
    runs: list[Run]  # runs over which these means are taken

    @property
    def recommended(self) -> Method:
        """The challenger if it is better or there is no incumbent, else the incumbent."""
        if self.incumbent is None or self.outcome is Outcome.BETTER:
            return self.challenger
        return self.incumbent


def decide(runs: Runs, rows: Rows, comparisons: Mapping[str, int], *, partial: bool) -> Decision | None:
    """Return the decision; None if no run is finished.

    Parameters
    ----------
    runs : Runs
    rows : mapping of Method to MethodSummary
        With Holm's p.
    comparisons : mapping of str to int
        Number of comparisons in each framework for which Holm's method corrects.
    partial : bool
        Whether some runs were left out.
    """
    chosen = runs.best(partial=partial)
    if chosen is None:
        return None
    best, means, common = chosen
    incumbent = _incumbent(runs, means)
    if incumbent is None or incumbent == best:
        outcome = Outcome.NO_INCUMBENT if incumbent is None else Outcome.UNCHALLENGED
        first = Decision(best, incumbent, outcome, None, None, 0, means, common)
    else:
        first = _beside(runs, best, incumbent, means, common)
    if first.outcome in (Outcome.BETTER, Outcome.UNCHALLENGED, Outcome.NO_INCUMBENT) or incumbent is None:
        return first
    ahead = {method: means[method] for method in means if runs.is_ahead(method, incumbent, means)}
    better = {method: mean for method, mean in ahead.items() if _is_better(runs, rows[method], incumbent)}
    better.pop(best, None)
    if not better:
        return first
    other = runs.first(better)
    n = comparisons.get(incumbent.framework, 0)
    return Decision(other, incumbent, Outcome.BETTER, runs.contrast(other), rows[other].p_holm, n, means, common)


def _incumbent(runs: Runs, means: dict[Method, float]) -> Method | None:
    """Return the framework's reference; of several frameworks, the reference that is best on validation."""
    references = [method for method in runs.methods if method.is_reference and runs.finished(method)]
    complete = {method: means[method] for method in references if method in means}
    return runs.first(complete) if complete else next(iter(references), None)


def _beside(runs: Runs, best: Method, incumbent: Method, means: dict[Method, float], common: list[Run]) -> Decision:
    found = runs.contrast(best, incumbent)
    if found is None:
        return Decision(best, None, Outcome.NO_INCUMBENT, None, None, 0, means, common)
    p = found.p if runs.has_verdict(best, incumbent) else None
    sign = 1 if runs.plan.metric.greater_is_better else -1
    outcome = Outcome.from_test(found.difference, nan if p is None else p, sign, found.n_queries)
    return Decision(best, incumbent, outcome, found, p, 0, means, common)


def _is_better(runs: Runs, row: MethodSummary, incumbent: Method) -> bool:
    """Return whether a method of the incumbent's framework is significantly better by Holm's p."""
    if row.framework != incumbent.framework or row.p_holm is None or row.difference is None:
        return False
    return row.p_holm < SIGNIFICANT and (row.difference > 0) == runs.plan.metric.greater_is_better
