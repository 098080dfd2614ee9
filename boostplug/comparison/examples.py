"""Queries that rank most differently after a change, and why: for a person to look at before anything ships."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boostplug.comparison.comparison import Comparison, MethodPairs
from boostplug.comparison.counts import judging_queries
from boostplug.comparison.training.baselines import LINEAR, numbers_of
from boostplug.comparison.training.runs import Method
from boostplug.core.arrays import Floats, Ints
from boostplug.core.extras import imported
from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame, rows_of
from boostplug.explanation.explain import importance, why
from boostplug.model.boosters import as_booster
from boostplug.model.mean import mean_model
from boostplug.model.trees import names_of

OWN = ("query", "change", "new place", "old place", "label", "new score", "old score")
"""Columns of the examples beside those of the features."""
DEPTH = 10  # documents of the new and of the old order
_MOST_COLUMNS = 4
_MOST_IMPORTANT = 5
_ROWS, _QUERIES = 1000, 20  # of the test part of a fold, at least, by which columns are important
_NO_CONTRIBUTIONS = (b"\n[linear_tree: 1]\n", b"\naverage_output\n")  # in LightGBM's models
_NEED = "examples of a comparison need"


class Swap(NamedTuple):
    """The first place of a query that the new order gives to another document."""

    fold: int
    rows: tuple[int, int]
    """The document that is there now, and the one that was."""
    places: tuple[int, int, int]
    """This place, the old one of the first document, and the new one of the second."""
    n_rows: int
    """Rows of the example."""


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
        swaps.append(Swap(fold, (one, other), (new[one], old[one], new[other]), len(rows)))
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


def most_important(comparison: Comparison, method: Method) -> list[dict[str, Any]]:
    """Return the features that order most in a method's models, each with its share; none of what is no booster.

    The models are those of the first seed.
    """
    shares = []
    for fold, part in enumerate(comparison.data.tests):
        every = max(1, min(part.queries.n_rows // _ROWS, part.queries.n_queries // _QUERIES))
        some = part.take_queries(np.arange(0, part.queries.n_queries, every))
        if learnt := _learnt(comparison, method, fold, some, n_seeds=1):
            model, X, names = learnt
            found = importance(model, X, group=some.group).set_index("feature")["importance"].rename(names)
            shares.append(found / (found.sum() or 1.0))
    if not shares:
        return []
    means = imported("pandas", _NEED).concat(shares, axis=1).mean(axis=1).nlargest(_MOST_IMPORTANT)
    return [{"feature": name, "share": share} for name, share in means.items() if share > 0.0]


def reasons(comparison: Comparison, pairs: MethodPairs, swaps: Sequence[Swap]) -> list[dict[str, Any] | None]:
    """Return why the new order has the first document of each swap above the second; None of what is no booster."""
    tests, found = comparison.data.tests, list[Any]()
    models = {fold: _learnt(comparison, new, fold, tests[fold]) for fold, (new, _) in pairs.items()}
    for swap in swaps:
        if (learnt := models[swap.fold]) is None:
            found.append(None)
            continue
        model, X, names = learnt
        columns = why(model, X, *swap.rows).replace({"feature": names}).to_dict("records")
        found.append({"places": swap.places, "columns": columns})
    return found


def _learnt(
    comparison: Comparison, method: Method, fold: int, part: CheckedInputs, n_seeds: int | None = None
) -> tuple[Any, Any, dict[str, str]] | None:
    """Return the mean of a method's boosters of a fold, features as it reads them, and the user's names of these.

    None if the models are no boosters, or have no contributions.
    """
    models = [run.model.encode() for run in comparison.runs_of(method) if run.fold == fold and run.model][:n_seeds]
    if not models or any(mark in models[0] for mark in _NO_CONTRIBUTIONS):
        return None
    boosters = [as_booster(model) for model in models]
    model = mean_model(boosters) if len(boosters) > 1 else boosters[0]
    X = numbers_of(part.X) if method.objective == LINEAR else part.X
    known = names_of(model)
    names = [*X.columns] if is_frame(X) else part.schema.names or [f"number {j + 1}" for j in range(len(known))]
    X = X.set_axis(known, axis=1) if is_frame(X) else X
    return model, X, dict(zip(known, map(str, names), strict=True))
