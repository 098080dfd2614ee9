"""Queries that rank most differently after a change, for a person to look at before anything ships."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boostplug.comparison.comparison import Comparison, MethodPairs
from boostplug.comparison.counts import judging_queries
from boostplug.core.arrays import Floats, Ints
from boostplug.core.extras import imported
from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame, rows_of

OWN = ("query", "change", "new place", "old place", "label", "new score", "old score")
"""Columns of the examples beside those of the features."""
DEPTH = 10  # documents of the new and of the old order
_MOST_COLUMNS = 4
_NEED = "examples of a comparison need"


Swap = tuple[int, tuple[int, int], tuple[int, int, int]]
"""The first change of an order: the fold, the row that is now at that place and the row that was, and three places.

The places are this one, that of the first row before, and that of the second row now.
"""


def examples(comparison: Comparison, pairs: MethodPairs, n: int) -> tuple[Any, list[Swap]]:
    """Return the top documents of the `n` test queries whose order changes most, and the first change of each.

    See `CompareResult.examples`.
    """
    pd, tests = imported("pandas", _NEED), comparison.data.tests
    new_scores, old_scores = comparison.paired(pairs, lambda run: run.scores)
    means = {fold: (scores, old_scores[fold]) for fold, scores in new_scores.items()}
    places = {fold: [_places(one, tests[fold].queries) for one in both] for fold, both in means.items()}
    tables, features, swaps = [pd.DataFrame(columns=OWN)], [pd.DataFrame()], list[Swap]()
    for change, fold, query in _most_changed(comparison, means, places)[:n]:
        queries, (new, old) = judging_queries(comparison, fold), places[fold]
        rows = np.arange(*queries.boundaries[query : query + 2])
        rows = rows[np.minimum(new, old)[rows] <= DEPTH]
        rows = rows[np.argsort(new[rows])]
        one = rows[np.argmax(new[rows] != old[rows])]
        other = rows[np.argmax(old[rows] == new[one])]
        swaps.append((fold, (one, other), (new[one], old[one], new[other])))
        features.append(_features(tests[fold], rows))
        columns = (new, old, queries.labels, *means[fold])
        values = (tests[fold].ids[query], change, *(column[rows] for column in columns))
        tables.append(pd.DataFrame(dict(zip(OWN, values, strict=True)), index=features[-1].index))
    table, of_rows = (pd.concat(some[1:] or some) for some in (tables, features))
    in_use = (comparison.data.columns.today or "").removeprefix("-")
    others = of_rows.drop(columns=[name for name in (in_use, *OWN) if name in of_rows])
    return pd.concat([table, others[_telling(others, table)]], axis=1), swaps


def _places(scores: Floats, queries: Queries) -> Ints:
    """Return the place of each document in its query, from 1; ties in the order of the rows."""
    places, query = np.empty(queries.n_rows, np.int64), queries.query_of_row
    places[np.lexsort((-scores, query))] = np.arange(queries.n_rows) - queries.boundaries[query] + 1
    return places


def _most_changed(
    comparison: Comparison, means: Mapping[int, Sequence[Floats]], places: Mapping[int, Sequence[Ints]]
) -> list[tuple[float, int, int]]:
    """Return change of the metric, fold and number of each query, that whose order changes most first.

    Its order changes by the sum over documents of the difference of the discounts 1 / log2(1 + place) of the first
    places; of equal ones the first is that with the larger change of the metric.
    """
    metric, codes, found = comparison.plan.metric, comparison.data.codes, list[tuple[float, float, float, int, int]]()
    for fold, both in places.items():
        queries = comparison.data.tests[fold].queries
        new, old = (np.where(of <= DEPTH, 1.0 / np.log2(1.0 + of), 0.0) for of in both)
        moves = np.bincount(queries.query_of_row, np.abs(new - old), queries.n_queries)
        changes = np.subtract(*(metric.per_query(of, queries) for of in means[fold]))
        found += [(moves[q], abs(changes[q]), changes[q], fold, q) for q in np.flatnonzero(moves).tolist()]
    found.sort(key=lambda one: (-round(one[0], 9), -np.nan_to_num(one[1])))
    first: dict[int, tuple[float, int, int]] = {}  # a query of several folds is shown once
    for *_, change, fold, q in found:
        first.setdefault(codes[fold][q], (change, fold, q))
    return [*first.values()]


def _features(part: CheckedInputs, rows: Ints) -> Any:
    """Return the features of some rows as a DataFrame; none of sparse ones."""
    pd, X = imported("pandas", _NEED), rows_of(part.X, rows)
    if is_frame(X):
        return X
    if hasattr(X, "nnz"):
        return pd.DataFrame(index=rows)
    return pd.DataFrame(X, index=rows, columns=part.feature_names or [f"number {j + 1}" for j in range(X.shape[1])])


def _telling(features: Any, table: Any) -> list[str]:
    """Return the columns that differ most between the documents that move up and those that move down.

    It is the correlation of a column's rank in the query, or of one of its categories, with the move.
    """
    features, query = features.reset_index(drop=True), table["query"].to_numpy()
    move = np.sign(table["old place"] - table["new place"]).reset_index(drop=True)
    categories = features.select_dtypes("category")
    numbers = features.drop(columns=categories.columns).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):  # constant columns
        differs = numbers.groupby(query).rank().corrwith(move).abs()
        for name in categories:
            dummies = imported("pandas", _NEED).get_dummies(categories[name].astype(str))
            differs[name] = dummies.corrwith(move).abs().max()
    return [*differs.nlargest(_MOST_COLUMNS).index]
