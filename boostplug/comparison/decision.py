"""The decision of a comparison: keep the incumbent, or replace it by another method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from boostplug.comparison.outcomes import FoldSeed, Outcomes, Pairs
from boostplug.comparison.significance import Pooled
from boostplug.comparison.summary import SIGNIFICANT, Outcome
from boostplug.comparison.training.runs import Method

_OTHERS = SIGNIFICANT / 5  # for methods that the test part itself has chosen


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
    pairs: Pairs  # the challenger and the incumbent that are compared in each fold
    contrast: Pooled | None = None  # their difference
    p: float | None = None
    comparisons: int = 0  # number for which Holm's method corrects p; 0 where p needs no correction
    reasons: Sequence[str] = ()  # why nothing can be relied on

    @property
    def recommended(self) -> Method:
        """The challenger if it is better or there is no incumbent, else the incumbent."""
        if self.incumbent is None or self.outcome is Outcome.BETTER:
            return self.challenger
        return self.incumbent


def decide(outcomes: Outcomes) -> Decision | None:
    """Return the decision; None if no run is finished."""
    among, runs = outcomes.candidates()
    if not among:
        return None
    means = outcomes.means_without(None, among, runs)
    best, incumbent = outcomes.first(means), _incumbent(outcomes, means)
    pairs = dict[int, tuple[Method, Method]]()
    for fold in sorted({fold for fold, _ in runs}):
        others = outcomes.means_without(fold, among, runs)
        chosen = outcomes.first(others)
        pairs[fold] = chosen, _incumbent(outcomes, others) or chosen
    is_same = best == incumbent and all(ours == theirs for ours, theirs in pairs.values())
    contrast = None if is_same else outcomes.contrast_of(pairs)
    p = outcomes.p_of(contrast, best, *(method for pair in pairs.values() for method in pair))
    if best == incumbent:
        return Decision(best, incumbent, Outcome.UNCHALLENGED, among, runs, pairs, contrast, p)
    if incumbent is None or contrast is None:
        return Decision(best, None, Outcome.NO_INCUMBENT, among, runs, pairs)
    outcome = Outcome.from_test(contrast.difference, p, outcomes.sign, contrast.n_queries)
    first = Decision(best, incumbent, outcome, among, runs, pairs, contrast, p)
    return first if outcome is Outcome.BETTER or len(pairs) > 1 else _second(outcomes, first, means)


def _second(outcomes: Outcomes, first: Decision, means: Mapping[Method, float]) -> Decision:
    """Return the decision for a method that validation did not choose, if test does so clearly; else the first."""
    incumbent = first.incumbent
    assert incumbent is not None
    better = {
        method: mean
        for method, mean in means.items()
        if method not in (first.challenger, incumbent)
        and (incumbent not in means or outcomes.first({incumbent: means[incumbent], method: mean}) == method)
        and _is_better(outcomes, method, incumbent)
    }
    if not better:
        return first
    other = outcomes.first(better)
    pairs = dict.fromkeys(first.pairs, (other, incumbent))
    contrast, p = outcomes.contrast_of(pairs), outcomes.rows[other].p_holm
    n = outcomes.comparisons[incumbent.title]
    return replace(first, challenger=other, outcome=Outcome.BETTER, pairs=pairs, contrast=contrast, p=p, comparisons=n)


def _incumbent(outcomes: Outcomes, means: Mapping[Method, float]) -> Method | None:
    """Return what is in use, else a framework's reference: of several the one that is best by `means`."""
    references = [method for method in outcomes.methods if method.is_reference and outcomes.finished(method)]
    in_use = [method for method in references if not method.is_trained]
    complete = {method: means[method] for method in references if method in means}
    return next(iter(in_use or ([outcomes.first(complete)] if complete else references)), None)


def _is_better(outcomes: Outcomes, method: Method, incumbent: Method) -> bool:
    """Return whether a method is clearly better than the incumbent, its reference, by Holm's p."""
    row = outcomes.rows[method]
    if outcomes.reference_of(method) != incumbent or row.p_holm is None or row.difference is None:
        return False
    return row.p_holm < _OTHERS and row.difference * outcomes.sign > 0
