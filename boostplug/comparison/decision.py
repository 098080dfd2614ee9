"""The decision of a comparison: keep the incumbent, or replace it by another method."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from boostplug.comparison.comparison import Comparison, FoldSeed, MethodPairs
from boostplug.comparison.significance import Pooled
from boostplug.comparison.summary import SIGNIFICANT, Outcome
from boostplug.comparison.training.runs import Method

_SIGNIFICANT_FOR_OTHERS = SIGNIFICANT / 5  # for methods that the test part itself has chosen


@dataclass(frozen=True, eq=False)
class Decision:
    """The incumbent, the challenger, and the outcome.

    A method is chosen without the queries that test it, so p needs no correction. In one split, validation chooses.
    With several folds, each fold tests the method that the other folds' test values choose, and the challenger is the
    method that all folds choose together. If a challenger from validation is not significantly better on test, another
    method may take its place: the best on validation of those that beat the incumbent there, and on test by Holm's p,
    below a stricter limit.
    """

    challenger: Method
    incumbent: Method | None
    outcome: Outcome
    among: Sequence[Method]  # candidates
    runs: Sequence[FoldSeed]  # runs that all candidates finished
    pairs: MethodPairs  # the challenger and the incumbent that are compared in each fold
    contrast: Pooled | None = None  # their difference
    p: float | None = None
    comparisons: int = 0  # number for which Holm's method corrects p; 0 where p needs no correction
    reasons: Sequence[str] = ()  # why nothing can be relied on
    widening: float = 1.0  # of intervals, for what the choice adds
    importance: Sequence[dict[str, Any]] = ()  # of the features that order most in the recommended models

    @property
    def compares(self) -> bool:
        """Whether a challenger stands beside what is in use."""
        return self.contrast is not None and self.challenger != self.incumbent

    @property
    def recommended(self) -> Method:
        """The challenger if it is better or there is no incumbent, else the incumbent."""
        if self.incumbent is None or self.outcome is Outcome.BETTER:
            return self.challenger
        return self.incumbent


def decide(comparison: Comparison) -> Decision | None:
    """Return the decision; None if no run is finished."""
    among, runs = comparison.candidates()
    if not among:
        return None
    references = _references(comparison, among)
    both = [run for run in runs if all(run in comparison.finished(m) for m in references)]
    if not references or not both:
        best, _, pairs, *_ = comparison.choice(among, among, runs)
        return Decision(best, None, Outcome.NO_INCUMBENT, among, runs, pairs)
    best, incumbent, pairs, p_of_choice, widening = comparison.choice(among, references, both)
    is_same = best == incumbent and all(ours == theirs for ours, theirs in pairs.values())
    contrast = None if is_same else comparison.contrast(pairs)
    if contrast is not None and p_of_choice is not None:
        contrast = contrast.widened(widening)._replace(p=p_of_choice)
    p = comparison.p_of(contrast, best, *(method for pair in pairs.values() for method in pair))
    if contrast is None or best == incumbent:
        return Decision(best, incumbent, Outcome.UNCHALLENGED, among, runs, pairs, contrast, p)
    outcome = Outcome.from_test(contrast.difference, p, comparison.sign, contrast.n_queries)
    first = Decision(best, incumbent, outcome, among, runs, pairs, contrast, p, widening=widening)
    return first if outcome is Outcome.BETTER or len(pairs) > 1 else _second(comparison, first)


def _second(comparison: Comparison, first: Decision) -> Decision:
    """Return the decision for a method that validation did not choose, if test does so clearly; else the first."""
    incumbent = first.incumbent
    assert incumbent is not None
    means = comparison.validation_means([*first.among], first.runs)
    better = {
        method: mean
        for method, mean in means.items()
        if method not in (first.challenger, incumbent)
        and (incumbent not in means or comparison.best_method({incumbent: means[incumbent], method: mean}) == method)
        and _is_better(comparison, method, incumbent)
    }
    if not better:
        return first
    other = comparison.best_method(better)
    pairs = dict.fromkeys(first.pairs, (other, incumbent))
    contrast, p = comparison.contrast(pairs), comparison.rows[other]["p_holm"]
    n = comparison.n_tests[incumbent.title]
    return replace(first, challenger=other, outcome=Outcome.BETTER, pairs=pairs, contrast=contrast, p=p, comparisons=n)


def _references(comparison: Comparison, among: Sequence[Method]) -> list[Method]:
    """Return the methods of which the best is the incumbent: what is in use, else the frameworks' references."""
    references = [method for method in comparison.methods if method.is_reference and comparison.finished(method)]
    in_use = [method for method in references if not method.is_trained]
    return in_use[:1] or [method for method in references if method in among] or references[:1]


def _is_better(comparison: Comparison, method: Method, incumbent: Method) -> bool:
    """Return whether a method is clearly better than the incumbent, its reference, by Holm's p."""
    row = comparison.rows[method]
    if comparison.reference_of(method) != incumbent or row["p_holm"] is None:
        return False
    return bool(row["p_holm"] < _SIGNIFICANT_FOR_OTHERS and row["difference"] * comparison.sign > 0)
