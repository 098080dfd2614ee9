"""What a decision means in plain counts, by the labels: choices in first place, and relevant documents on top."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boostplug.comparison.comparison import Comparison
from boostplug.comparison.decision import Decision
from boostplug.comparison.inputs.clicks import clicked_parts
from boostplug.comparison.inputs.columns import TODAY
from boostplug.core.arrays import Floats
from boostplug.data.queries import Queries
from boostplug.metrics import DCG, PairError, Precision, Recall
from boostplug.metrics.by_rank import ABOVE_0, relevance
from boostplug.metrics.grades import grades_of
from boostplug.metrics.metric import MetricOnLabel


def _place(scores: Floats, queries: Queries) -> Floats:
    """Return the expected place of the only relevant document of each query."""
    above = np.nan_to_num(PairError(ties="half").per_query(scores, queries)) * grades_of(queries).n_pairs
    return np.where(relevance(queries, ABOVE_0)[1] > 0.0, 1.0 + above, np.nan)


_FIRST, _SHARE = Precision(1, relevant=ABOVE_0).per_query, Recall(3, relevant=ABOVE_0).per_query
_GRADE, _RELEVANT = DCG(1, gain="linear").per_query, Precision(3, relevant=ABOVE_0, empty=0).per_query
_ONE, _SEVERAL, _GRADES = "one choice", "several choices", "grades"
# Labels, words, factor and digits of the number #, and its function of the scores and the queries, for each query.
_COUNTS: list[tuple[str, str, float, int, Callable[[Floats, Queries], Floats]]] = [
    (_ONE, "the chosen document{} is first in # of 1,000 queries that have one", 1000.0, 0, _FIRST),
    (_ONE, "it is in the first three in #", 1000.0, 0, _SHARE),
    (_ONE, "its mean place is #", 1.0, 2, _place),
    (_SEVERAL, "a relevant document{} is first in # of 1,000 queries that have one", 1000.0, 0, _FIRST),
    (_SEVERAL, "# % of a query's relevant documents are in the first three", 100.0, 1, _SHARE),
    (_GRADES, "the mean label{} of the first document is #", 1.0, 2, _GRADE),
    (_GRADES, "the first three of 1,000 queries hold # documents with a label above 0", 3000.0, 0, _RELEVANT),
]


def judging_queries(comparison: Comparison, fold: int) -> Queries:
    """Return the test queries of a fold with the label by which the metric judges."""
    return comparison.plan.metric.with_own_labels(comparison.data.tests[fold].queries)


def plain_counts(comparison: Comparison, decision: Decision) -> dict[str, Any] | None:
    """Return counts on the test queries of the challenger and of what is in use, and the interval of the difference.

    In each fold they are of the two methods that are compared there, which may differ: `same` says whether they do
    not. Intervals are wider by as much as the decision's. None for clicks that are weighed by propensities, and for
    labels below 0.
    """
    metric, data, pairs = comparison.plan.metric, comparison.data, decision.pairs
    queries = {fold: judging_queries(comparison, fold) for fold in pairs}
    labels = None if "test" in data.weighed_clicks else _kind_of_labels([*queries.values()])
    if labels is None or decision.incumbent is None:
        return None
    column, counts = metric.label if isinstance(metric, MetricOnLabel) else data.columns.label, []
    for kind, words, factor, digits, value in _COUNTS:
        if kind == labels:
            of_run = lambda run, value=value, factor=factor: factor * value(run.scores, queries[run.fold])  # noqa: E731
            ours, theirs = comparison.paired(pairs, of_run)
            nothing = {fold: 0.0 * values for fold, values in ours.items()}
            sides = {"challenger": (ours, nothing), "incumbent": (theirs, nothing), "difference": (ours, theirs)}
            tests = {name: comparison.test(*both, flips=1) for name, both in sides.items()}
            means = {name: test.difference for name, test in tests.items()}
            what = words.format(f" ({column!r})" if column else "")
            change = tests["difference"].widened(decision.widening)
            counts.append({"what": what, "digits": digits, **means, "interval": change.interval})
    return {
        "labels": labels,
        "same": all(pair == (decision.challenger, decision.incumbent) for pair in pairs.values()),
        "logged": labels != _GRADES and decision.incumbent.objective == TODAY and not clicked_parts(data.folds),
        "counts": counts,
    }


def _kind_of_labels(queries: Sequence[Queries]) -> str | None:
    values = np.unique(np.concatenate([of_fold.labels[of_fold.labelled_rows] for of_fold in queries]))
    if len(values) < 2 or values[0] < 0.0:
        return None
    if len(values) > 2 or values[0] > 0.0:
        return _GRADES
    return _ONE if max(relevance(of_fold, ABOVE_0)[1].max() for of_fold in queries) == 1.0 else _SEVERAL
