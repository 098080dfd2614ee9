"""`starting_params`: parameters of a ranker that fit the kind and the number of its labels."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.checks import as_floats, check_choice, check_flag, check_integer, check_order, check_values
from boostplug.data.queries import Queries
from boostplug.losses import CRR, ListNet
from boostplug.metrics import ChoiceLogLoss, Metric, SpearmanRho

ROUNDS = 1000
SHARED = ("num_leaves", "learning_rate", "row_fraction", "column_fraction")
"""Those that `trees_for` gives both frameworks."""
_ROWS, _COLUMNS, _BY_NODE = 0.8, 0.6, 0.3
_LEAST_COLUMNS = 3  # that are drawn for a split
_RARE = 0.15  # share of labels above the least one, below which sampled rows and columns cost more than they gain


SIZES = {
    "graded": ((0, 6, 0.05), (200, 12, 0.05), (900, 24, 0.05)),
    "choice": ((0, 4, 0.03), (700, 6, 0.03), (3000, 12, 0.03)),
}
"""Leaves and learning rate from some number of queries with a preference pair; see docs/results/fitting_trees.md."""


def has_one_chosen(*parts: Queries) -> bool:
    """Return whether labels are choices: none is below 0, and no query has more than one above."""
    known = [(part.query_of_row[part.labelled_rows], part.labels[part.labelled_rows]) for part in parts]
    n_chosen = max(np.bincount(query, labels > 0.0).max(initial=0.0) for query, labels in known)
    return bool(n_chosen == 1.0 and all(labels.min(initial=0.0) >= 0.0 for _, labels in known))


def n_with_pair(queries: Queries) -> int:
    """Return the number of queries with a preference pair."""
    return len((queries.grade_groups if queries.pairs is None else queries.listed_pairs).query)


class Start(NamedTuple):
    """Trees that fit the labels of a training set."""

    is_choice: bool
    num_leaves: int
    learning_rate: float
    samples: bool
    """Whether trees see a part of the rows and columns."""
    has_negative: bool
    why: str

    def shared(self) -> dict[str, float]:
        """Return the parameters named in `SHARED`."""
        rows = _ROWS if self.samples else 1.0
        columns = _COLUMNS if self.is_choice else 1.0
        return dict(zip(SHARED, (self.num_leaves, self.learning_rate, rows, columns), strict=True))

    def random(self, framework: str, n_features: int | None) -> dict[str, Any]:
        """Return what makes a tree's splits random: thresholds for choices in LightGBM, else the columns of a split."""
        if framework == "lightgbm" and self.is_choice:
            return {"extra_trees": True}
        least = _LEAST_COLUMNS / n_features if n_features else 0.0
        share = min(1.0, max(_BY_NODE, least)) if self.samples else 1.0
        name = "feature_fraction_bynode" if framework == "lightgbm" else "colsample_bynode"
        return {name: share} if share < 1.0 else {}


def start_for(queries: Queries, labels: str = "auto") -> Start:
    """Return the trees that fit the labels of a training set."""
    if labels == "auto":
        labels = "choice" if has_one_chosen(queries) else "graded"
    n, y = n_with_pair(queries), queries.labels[queries.judged]
    leaves, rate = next((leaves, rate) for least, leaves, rate in reversed(SIZES[labels]) if least <= n)
    share = float((y > y.min(initial=np.inf)).mean()) if len(y) else 1.0
    samples = labels == "choice" or share >= _RARE
    what = "one choice each" if labels == "choice" else "documents with different labels"
    why = f"{n} queries hold {what}: {leaves} leaves, rate {rate:g}"
    rare = "" if samples else f"; all rows and columns, as {share:.0%} of the labels are above the least"
    return Start(labels == "choice", leaves, rate, samples, bool(y.min(initial=0.0) < 0.0), why + rare)


def trees_for(queries: Queries, n_features: int | None = None) -> tuple[dict[str, Any], str]:
    """Return the trees for a training set by the names of `compare`'s ``params``, and why."""
    start = start_for(queries)
    own = {name: start.random(name, n_features) for name in ("lightgbm", "xgboost")}
    if start.is_choice:  # for which LightGBM's trees draw columns
        own["xgboost"]["colsample_bytree"] = 1.0
    return start.shared() | own, start.why


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

    With fewer labels, or labels that say less, a tree must learn less from each. So it has fewer leaves. Its splits are
    random, by columns or by thresholds. The values are those that ranked best on public data sets
    (docs/results/fitting_trees.md).

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of the training set.
    qid, group : array-like
        Exactly one of them: the query id of each row, contiguous, or the sizes of the queries.
    framework : {"lightgbm", "xgboost"}
    n_features : int, optional
        Number of features, of which three at least are drawn for each split.
    labels : {"auto", "graded", "choice"}
        "choice": the label above 0 is what was chosen of a list: booked, bought, the winner. "auto": "choice" if no
        query has more than one label above 0, and none has one below 0.
    verbose : bool, default False
        Print why, in one line.

    Returns
    -------
    dict
        For ``LGBMRanker(**params)`` or ``XGBRanker(**params)``: the objective, the trees, and the metric to stop on
        where it is not NDCG@10. ``n_estimators`` is the most rounds, for early stopping, which `fit_folds` has. Without
        a validation set they are too many.

    Raises
    ------
    ValueError
        If an argument is wrong.

    Examples
    --------
    >>> import boostplug as bp
    >>> train = bp.datasets.load_bundled().train
    >>> params = bp.starting_params(train.y, qid=train.qid, verbose=True)
    223 queries hold documents with different labels: 12 leaves, rate 0.05.
    >>> ranker = bp.fit_folds(bp.LGBMRanker(**params), train.X, train.y, qid=train.qid)
    """
    check_choice("framework", framework, ("lightgbm", "xgboost"))
    check_choice("labels", labels, ("auto", "graded", "choice"))
    if n_features is not None:
        check_integer("n_features", n_features, 1)
    check_order(y=y, qid=qid)
    y = as_floats("y", y)
    check_values("y", ~np.isfinite(y), y, "is not finite; drop such rows")
    start = start_for(Queries(y, qid=qid, group=group), labels)
    if check_flag("verbose", verbose):
        print(f"{start.why}.")  # noqa: T201 (asked for)
    choice, (leaves, rate, rows, columns) = start.is_choice, start.shared().values()
    params: dict[str, Any] = {"objective": ListNet(target="labels") if choice else CRR(), "n_estimators": ROUNDS}
    params |= {"learning_rate": rate, "subsample": rows}
    metric: Metric | None = ChoiceLogLoss() if choice else SpearmanRho() if start.has_negative else None
    stop_on = {} if metric is None else {"eval_metric" if framework == "xgboost" else "metric": metric}
    params |= start.random(framework, n_features) | stop_on
    if framework == "xgboost":
        return params | {"max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide"}
    params |= {"num_leaves": leaves, "colsample_bytree": columns, "verbose": -1}
    return params | ({"subsample_freq": 1} if rows < 1.0 else {})
