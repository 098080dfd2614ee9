"""Queries that a fold has cut: a ranker is scored on other rows of its training queries."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import as_vector
from boostplug.core.warning import warn_user
from boostplug.data.tables import Schema

_MOST = 2 / 3  # of the scored queries


class QuerySizes(NamedTuple):
    """Ids and sizes of a table's queries, and the index label of the first row of each where labels tell rows apart."""

    ids: NDArray[Any]
    sizes: NDArray[np.int64]
    labels: Any


class TrainingSummary(NamedTuple):
    """What a ranker keeps of its training set, to read other data like it."""

    schema: Schema | None = None
    """Schema of the features; None of reference rankers, and of models from files."""
    columns: Mapping[str, str] = {"qid": "qid"}
    """Columns that are no features, by what they hold."""
    sizes: QuerySizes | None = None
    """Those of the queries; None if their ids are not known."""
    has_missing: bool = True
    """Whether a feature had missing values; True where nobody has looked."""


def query_sizes(X: Any, qid: Any, boundaries: NDArray[np.int64]) -> QuerySizes | None:
    """Return the sizes of the queries of X; None if their ids are not known."""
    if qid is None:
        return None
    first = boundaries[:-1]
    labels = X.index[first] if hasattr(X, "iloc") and X.index.is_unique else None
    return QuerySizes(as_vector("qid", qid)[first], np.diff(boundaries), labels)


def warn_of_cut_queries(fitted: QuerySizes | None, scored: QuerySizes | None) -> None:
    """Warn of scored queries of which `fit` has had another number of rows, and of ids that a transformer has changed.

    The ids of two tables may stand for different queries, so there is no warning for two tables. DataFrames are two
    tables if first rows of both have the same index label. Others are if the ids number the queries of each. An
    exception are the same ids in both with most scored queries shorter, as a fold of rows leaves them.
    """
    if fitted is None or scored is None:
        return
    known, here = (one.ids if one.ids.dtype.kind in "iuf" else one.ids.astype(str) for one in (fitted, scored))
    whole = [one.dtype.kind == "U" or not (one % 1).any() for one in (known, here)]
    if whole == [False, True]:
        what = f"fit has had query ids such as {known[0]}, and the scored ones are such as {here[0]}"
        warn_user(f"{what}: a transformer changes them, so cut queries cannot be seen; leave the ids out of it")
    ids, ours, theirs = np.intersect1d(known, here, return_indices=True)
    cut = ids[fitted.sizes[ours] != scored.sizes[theirs]]
    if fitted.labels is None or scored.labels is None:
        are_two_tables = all(one.ids.dtype.kind in "iuf" and (np.diff(one.ids) == 1).all() for one in (fitted, scored))
        n_shorter = np.count_nonzero(scored.sizes[theirs] < fitted.sizes[ours])
        are_two_tables &= not (len(ids) == len(known) == len(here) and n_shorter > _MOST * len(ids))
    else:
        are_two_tables = fitted.labels.isin(scored.labels).any()
    if cut.size and not are_two_tables:
        warn_user(
            f"fit has had other rows of {len(cut)} of the {len(scored.ids)} scored queries, such as {cut[0]}: where "
            "folds cut queries, metrics are too high; pass cv=boostplug.group_folds(qid). If the ids are of other "
            "queries or of new documents, ignore this warning"
        )
