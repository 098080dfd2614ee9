"""`starting_params`: parameters of a ranker that fit the kind and the number of its labels."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.checks import check_choice, check_flag
from boostplug.data.queries import Queries
from boostplug.losses import CRR, ListNet
from boostplug.metrics import NDCG, ChoiceLogLoss

ROUNDS = 1000
SHARED = ("num_leaves", "learning_rate", "row_fraction", "column_fraction")
"""Those that `trees_for` gives both frameworks."""
_RARE = 0.15  # share of labels above 0, below which sampled rows and columns cost more than they gain


class Size(NamedTuple):
    """Trees of training sets that hold some number of queries with a preference pair; docs/results/fitting_trees.md."""

    labels: str
    least: int
    num_leaves: int
    learning_rate: float
    row_fraction: float = 0.8
    column_fraction: float = 0.6
    extra_trees: bool = True
    by_node: float = 1.0
    """Share of the columns that XGBoost draws for each split."""


SIZES = (
    Size("graded", 0, 6, 0.05, by_node=0.3),
    Size("graded", 300, 12, 0.05),
    Size("graded", 1000, 24, 0.05),
    Size("choice", 0, 4, 0.03),
    Size("choice", 1000, 6, 0.03),
    Size("choice", 4000, 12, 0.03),
)


def has_one_chosen(*parts: Queries) -> bool:
    """Return whether labels are choices: none is below 0, and no query has more than one above."""
    known = [(part.query_of_row[part.labelled_rows], part.labels[part.labelled_rows]) for part in parts]
    n_chosen = max(np.bincount(query, labels > 0.0).max(initial=0.0) for query, labels in known)
    return bool(n_chosen == 1.0 and all(labels.min(initial=0.0) >= 0.0 for _, labels in known))


def n_with_pair(queries: Queries) -> int:
    """Return the number of queries with a preference pair."""
    return len((queries.grade_groups if queries.pairs is None else queries.listed_pairs).query)


def size_for(queries: Queries, labels: str = "auto") -> tuple[Size, str]:
    """Return the trees for the labels of a training set, and why, in a sentence."""
    if labels == "auto":
        labels = "choice" if has_one_chosen(queries) else "graded"
    n = n_with_pair(queries)
    size = next(size for size in reversed(SIZES) if size.labels == labels and size.least <= n)
    what = "one choice each" if labels == "choice" else "documents with different labels"
    why = f"{n} queries hold {what}: {size.num_leaves} leaves, rate {size.learning_rate:g}"
    share = float((queries.labels[queries.judged] > 0.0).mean()) if queries.judged.any() else 1.0
    if labels == "graded" and share < _RARE:
        size = size._replace(row_fraction=1.0, column_fraction=1.0)
        why += f"; all rows and columns, as {share:.0%} of the labels are above 0"
    return size, why


def trees_for(queries: Queries) -> tuple[dict[str, Any], str]:
    """Return the trees for a training set by the names of `compare`'s ``params``, and why."""
    size, why = size_for(queries)
    own: dict[str, Any] = {"lightgbm": {"extra_trees": True}} if size.extra_trees else {}
    own |= {"xgboost": {"colsample_bynode": size.by_node}} if size.by_node < 1.0 else {}
    return {name: getattr(size, name) for name in SHARED} | own, why


def starting_params(
    y: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    framework: str = "lightgbm",
    n_features: int | None = None,
    labels: str = "auto",
    verbose: bool = False,
) -> dict[str, Any]:
    """Return parameters for `LGBMRanker` or `XGBRanker` that fit the kind and the number of the labels.

    The fewer labels there are, the less a tree should learn from each of them: it has fewer leaves, and random
    thresholds. The values are those that ranked best on public data sets.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of the training set.
    qid, group : array-like
        Exactly one of them: the query id of each row, contiguous, or the sizes of the queries.
    framework : {"lightgbm", "xgboost"}
    n_features : int, optional
        Number of features: with few of them all are used, and with …
    labels : {"auto", "graded", "choice"}
        "choice": a list's only label above 0 is what was booked, bought or clicked. "auto": "choice" if no query has
        more than one label above 0 and none has one below 0.
    verbose : bool, default False
        Print why, in one line.

    Returns
    -------
    dict
        To unpack, ``LGBMRanker(**params)``, and to change. ``n_estimators`` is the most rounds for early stopping, as
        `fit_folds` has it; a fit without a validation set needs a number of your own.

    Raises
    ------
    ValueError
        If an argument is wrong.

    Examples
    --------
    >>> import boostplug as bp
    >>> train = bp.datasets.load_bundled().train
    >>> params = bp.starting_params(train.y, qid=train.qid, verbose=True)
    >>> ranker = bp.fit_folds(bp.LGBMRanker(**params), train.X, train.y, qid=train.qid)
    """
    check_choice("framework", framework, ("lightgbm", "xgboost"))
    check_choice("labels", labels, ("auto", "graded", "choice"))
    size, why = size_for(Queries(y, qid=qid, group=group), labels)
    if check_flag("verbose", verbose):
        print(f"{why}.")  # noqa: T201 (asked for)
    choice = size.labels == "choice"
    params: dict[str, Any] = {"objective": ListNet(target="labels") if choice else CRR(), "n_estimators": ROUNDS}
    rows, columns = size.row_fraction, size.column_fraction
    metric = ChoiceLogLoss() if choice else NDCG(10)
    if framework == "lightgbm":
        params |= {"num_leaves": size.num_leaves, "learning_rate": size.learning_rate, "verbose": -1}
        params |= {"extra_trees": True} if size.extra_trees else {}
        params |= {"subsample": rows, "subsample_freq": 1} if rows < 1.0 else {}
        return params | {"colsample_bytree": columns, "metric": metric}
    params |= {"max_leaves": size.num_leaves, "max_depth": 0, "grow_policy": "lossguide"}
    params |= {"learning_rate": size.learning_rate, "subsample": rows, "colsample_bytree": columns}
    return params | {"colsample_bynode": size.by_node, "eval_metric": [metric]}
