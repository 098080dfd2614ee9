"""The score in use: the test queries on which it is judged, and reasons to doubt a comparison with it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boostplug.comparison.formats import short
from boostplug.comparison.inputs.columns import TODAY
from boostplug.comparison.inputs.features import last_where_missing, orders_as_labels
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.significance import pooled_test
from boostplug.comparison.summary import FEWEST_QUERIES
from boostplug.core.arrays import Floats
from boostplug.core.extras import imported
from boostplug.data.queries import Queries
from boostplug.metrics import METRICS, Metric, PairError
from boostplug.metrics.metric import MetricOnLabel


def judged_by_today(data: LoadedData, metric: Metric) -> LoadedData:
    """Return the data with doubts about the score in use, and without test queries in which a row lacks it.

    Each reason to doubt is a warning too. All test queries stay if fewer than `FEWEST_QUERIES` have the score in all
    rows. Raises ValueError if the score is the label.
    """
    if (today := data.columns.today) is None:
        return data
    name, train = "the order of the rows" if today == "order" else f"the column {today!r}", data.folds[0][0].queries
    if today.removeprefix("-") == data.columns.label or orders_as_labels(_scores(train), train):
        why = "orders the rows exactly as the label does; name the score in use (--today), or leave out today"
        raise ValueError(f"today={today!r}: {name} {why}")
    given, found, reasons = [test.queries for test in data.tests], list[str](), list[str]()
    counts = [*map(_counts, given)]
    complete = [of_part.index[of_part["count"] == of_part["size"]] for of_part in counts]
    n_complete, n_queries = sum(map(len, complete)), sum(map(len, counts))
    if n_complete < n_queries:
        n_rows, n_known = (sum(int(of_part[what].sum()) for of_part in counts) for what in ("size", "count"))
        lacks = f"{name} has no value in {n_rows - n_known:,} of {n_rows:,} test rows, and {n_complete:,} of "
        lacks += f"{n_queries:,} test queries have it in all rows"
        fill = f"fill it with a number {'above' if today[0] == '-' else 'below'} all others if such rows are shown last"
        if n_complete < FEWEST_QUERIES or min(map(len, complete)) < 2:
            reasons.append(f"{lacks}; {fill}")
        else:
            folds = zip(data.folds, complete, strict=True)
            judged = [[*fold[:2], fold[2].take_queries(kept)] for fold, kept in folds]
            data = replace(data, folds=judged, read=data.folds)
            here, everywhere = (short(_mean(metric, of)) for of in ([test.queries for test in data.tests], given))
            lacks += f". The comparison judges on these: the score in use has {metric.name} {here} there, and "
            found.append(f"{lacks}{everywhere} on all with such rows last. To judge on all, {fill}")
    reasons += _doubts(name, data, metric)
    found = [f"{text[0].upper()}{text[1:]}." for text in (*found, *reasons)]
    return replace(data, doubts_on_score=reasons, warnings=[*data.warnings, *found])


def _doubts(name: str, data: LoadedData, metric: Metric) -> Iterator[str]:
    """Yield a reason if the score is constant in most queries, and one if it ranks worse than chance."""
    tests, today = [test.queries for test in data.tests], str(data.columns.today)
    several = imported("pandas", "comparisons need").concat(map(_counts, tests)).query("count > 1")
    n_constant = int((several["min"] == several["max"]).sum())
    if 2 * n_constant > len(several):
        yield (
            f"{name} has the same value in all rows of {n_constant:,} of {len(several):,} test queries, so it ranks "
            "nothing there; name the score that ranks the lists (today=, --today)"
        )
    if (random := in_random_order(metric)) is None:
        return
    ours = [metric.per_query(_scores(q), q) for q in tests]
    chance = [random.per_query(np.zeros(q.n_rows), q) for q in tests]
    pair, weights = (ours, chance) if metric.greater_is_better else (chance, ours), [q.query_weight for q in tests]
    if pooled_test(*pair, weight=weights, codes=data.codes, counts="sets", flips=1).interval[1] < 0.0:
        other, better = (today[1:], "more") if today[0] == "-" else (f"-{today}", "less")
        remedy = f"if {better} is better, pass today={other!r} (--today={other})"
        if today == "order":
            remedy = "if the rows are in reverse order, sort them so that the top of each list comes first"
        remedy += "; or the propensities are too strong" * ("test" in data.weighed_clicks)
        figures = f"{metric.name} {short(_mean(metric, tests))}, chance {short(_mean(random, tests, constant=True))}"
        yield f"{name} ranks worse than a random order ({figures}); {remedy}"


def in_random_order(metric: Metric) -> Metric | None:
    """Return the metric whose value of a constant score is this metric's mean over all orders; None if it has none."""
    inner = metric.metric if isinstance(metric, MetricOnLabel) else metric
    if type(inner) not in METRICS.values() or "ties" not in inner.parameters():
        return None
    averaged = inner.with_params(ties="half" if isinstance(inner, PairError) else "average")
    return replace(metric, metric=averaged) if isinstance(metric, MetricOnLabel) else averaged


def _scores(queries: Queries) -> Floats:
    return last_where_missing(queries.labels_by_name[TODAY])


def _mean(metric: Metric, tests: Sequence[Queries], *, constant: bool = False) -> float:
    """Return the value of the score in use, or of a constant one, as the table has it: the mean over folds."""
    return float(np.mean([metric(np.zeros(q.n_rows) if constant else _scores(q), q) for q in tests]))


def _counts(queries: Queries) -> Any:
    """Return a DataFrame with the rows of each query, those with a score, and the ends of the scores."""
    scores = imported("pandas", "comparisons need").Series(queries.labels_by_name[TODAY])
    return scores.groupby(queries.query_of_row).agg(["size", "count", "min", "max"])
