"""The decision of a comparison: keep the incumbent, or replace it by another method."""

from dataclasses import dataclass, replace

from boostplug.comparison.outcomes import FoldSeed, Outcomes
from boostplug.comparison.significance import Pooled
from boostplug.comparison.summary import SIGNIFICANT, Outcome
from boostplug.comparison.training.runs import Method


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
    means: dict[Method, float]  # validation value of each candidate
    runs: list[FoldSeed]  # runs over which these means are taken
    contrast: Pooled | None = None  # difference of the challenger and the incumbent
    p: float | None = None
    comparisons: int = 0  # number for which Holm's method corrects p; 0 for the best on validation

    @property
    def recommended(self) -> Method:
        """The challenger if it is better or there is no incumbent, else the incumbent."""
        if self.incumbent is None or self.outcome is Outcome.BETTER:
            return self.challenger
        return self.incumbent


def decide(outcomes: Outcomes) -> Decision | None:
    """Return the decision; None if no run is finished."""
    chosen = outcomes.best()
    if chosen is None:
        return None
    best, means, runs = chosen
    incumbent = _incumbent(outcomes, means)
    if best == incumbent:
        return Decision(best, incumbent, Outcome.UNCHALLENGED, means, runs)
    contrast = None if incumbent is None else outcomes.contrast(best, incumbent)
    if incumbent is None or contrast is None:
        return Decision(best, None, Outcome.NO_INCUMBENT, means, runs)
    p = outcomes.p_of(best, incumbent)
    outcome = Outcome.from_test(contrast.difference, p, outcomes.sign, contrast.n_queries)
    first = Decision(best, incumbent, outcome, means, runs, contrast, p)
    if outcome is Outcome.BETTER:
        return first
    better = {
        method: mean
        for method, mean in means.items()
        if method not in (best, incumbent)
        and (incumbent not in means or outcomes.first({incumbent: means[incumbent], method: mean}) == method)
        and _is_better(outcomes, method, incumbent)
    }
    if not better:
        return first
    other = outcomes.first(better)
    n = outcomes.comparisons[incumbent.title]
    contrast, p = outcomes.contrast(other, incumbent), outcomes.rows[other].p_holm
    return replace(first, challenger=other, outcome=Outcome.BETTER, contrast=contrast, p=p, comparisons=n)


def _incumbent(outcomes: Outcomes, means: dict[Method, float]) -> Method | None:
    """Return what is in use, else a framework's reference: of several the one that is best on validation."""
    references = [method for method in outcomes.methods if method.is_reference and outcomes.finished(method)]
    in_use = [method for method in references if not method.is_trained]
    complete = {method: means[method] for method in references if method in means}
    return next(iter(in_use or ([outcomes.first(complete)] if complete else references)), None)


def _is_better(outcomes: Outcomes, method: Method, incumbent: Method) -> bool:
    """Return whether a method is significantly better than the incumbent, its reference, by Holm's p."""
    row = outcomes.rows[method]
    if outcomes.reference_of(method) != incumbent or row.p_holm is None or row.difference is None:
        return False
    return row.p_holm < SIGNIFICANT and row.difference * outcomes.sign > 0
