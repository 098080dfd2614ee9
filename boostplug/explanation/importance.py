"""`importance`: how much each feature orders documents within queries."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_integer, column_names
from boostplug.core.extras import imported
from boostplug.core.randomness import RandomState, generator
from boostplug.data.inputs import Inputs
from boostplug.data.queries import Queries
from boostplug.data.tables import check_computed, rows_of
from boostplug.estimators.inputs import RankingScore, inputs_to_judge, metric_of_score
from boostplug.explanation.contributions import ReadModel, read_model
from boostplug.explanation.pictures import MOST, check_plot, save_bars
from boostplug.metrics import Metric

_BLOCK = 65536  # rows whose contributions are held at once, or those of one query


def importance(
    ranker: Any,
    X: Any,
    y: ArrayLike | str | None = None,
    *,
    qid: ArrayLike | str | None = None,
    group: ArrayLike | None = None,
    metric: Metric | str | None = None,
    n_repeats: int = 5,
    random_state: RandomState = 0,
    plot: str | Path | None = None,
) -> Any:
    r"""Return how much each feature orders the documents of a query, the most important features first.

    The importance of feature j is the mean distance of its contributions :math:`\phi_{ij}` to the scores (see `why`)
    from their mean in the query:

    .. math::
        \frac 1{|Q|} \sum_q \frac 1{n_q} \sum_{i \in q}
        \Big| \phi_{ij} - \frac 1{n_q} \sum_{k \in q} \phi_{kj} \Big|

    It is in the unit of the scores. What a feature adds to all documents of a query alike orders nothing, and does not
    count. Each query counts the same, however long it is; one of a single document adds 0.

    With `y` there is also the permutation importance (Breiman 2001): what the metric loses when the values of the
    feature are shuffled within each query. It asks what the model needs to rank well, and not what moves its scores.

    Parameters
    ----------
    ranker : LGBMRanker, XGBRanker, a reference ranker, Ensemble or Booster
        A fitted model, as for `why`.
    X : array, sparse matrix, or DataFrame of shape (n_rows, n_features)
        As for `predict`. Take queries that the model has not been trained on: with these, features that it has
        overfitted look important.
    y : array-like of shape (n_rows,) or str, optional
        Labels, for the permutation importance.
    qid : array-like of shape (n_rows,) or str, optional
        Query id of each row; the rows of a query stand together. Give `qid`, `group` or a column named qid.
    group : array-like of int, optional
        Sizes of the queries in row order.
    metric : Metric or str, optional
        What shuffling loses. Default: NDCG@10.
    n_repeats : int, default 5
        Number of times that each column is shuffled.
    random_state : int, Generator or RandomState, default 0
        Shuffles the columns.
    plot : str or Path, optional
        File that ends with .svg or .png, for a picture: bars of the 15 most important features.

    Returns
    -------
    pandas.DataFrame
        A row per feature with the columns ``feature`` and ``importance``; with `y` also ``permutation_mean``, the mean
        loss in the metric, and ``permutation_std``, its standard deviation over repeats. A loss above 0 says that the
        metric is worse without the feature.

    Raises
    ------
    ValueError
        If the queries, labels, the metric or `n_repeats` are wrong, or for the model, X and `plot` as in `why`.
    NotFittedError, ImportError, FileExistsError
        As in `why`.

    Notes
    -----
    Arguments may be names of columns of X, and those that `fit` was given by name need not be repeated. Contributions
    are computed for some 65,536 rows at a time. They take most of the time, in proportion to rows and trees; a few
    thousand queries are enough. Shuffling takes `n_repeats` predictions of X for each feature that the model uses.

    A feature that tells the same as another shares its importance with it, and loses little when it is shuffled.

    Examples
    --------
    >>> import boostplug as bp
    >>> from boostplug.weak_rankers import Stump
    >>> model = bp.Ensemble([[(Stump(0, 0.5), 2.0), (Stump(1, 0.0), 1.0)]], n_features=2, feature_names=["bm25", "age"])
    >>> X = [[1.0, 1.0], [0.0, 1.0], [1.0, -1.0], [0.0, -1.0]]
    >>> bp.importance(model, X, qid=["shoes", "shoes", "hats", "hats"])
      feature  importance
    0    bm25         1.0
    1     age         0.0
    """
    check_integer("n_repeats", n_repeats, 1)
    check_plot(plot)
    check_computed(X)
    labels = np.zeros(X.shape[0] if hasattr(X, "shape") else len(X)) if y is None else y
    own = isinstance(ranker, RankingScore)
    inputs = partial(inputs_to_judge, ranker) if own else Inputs
    unread = inputs(X=X, y=labels, qid=qid, group=group, keep=column_names(X))  # a column may equal labels here
    given = unread.check(ranker.training_summary_.schema if own else None)
    model = read_model(ranker, given.X)
    values = _moved_within_queries(model, given.queries.boundaries)
    frame = imported("pandas", "importance needs").DataFrame({"feature": model.names, "importance": values})
    if y is not None:
        judge, random = metric_of_score(metric), generator(random_state)
        losses = np.array([*_losses(model, given.queries, judge, values > 0.0, n_repeats, random)])
        frame["permutation_mean"], frame["permutation_std"] = losses.mean(axis=1), losses.std(axis=1)
    frame = frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
    if plot is not None:
        most = frame.head(MOST)
        save_bars(plot, f"importance of {len(most)} of {len(frame)} features", most["feature"], most["importance"])
    return frame


def _moved_within_queries(model: ReadModel, boundaries: Ints) -> Floats:
    """Return the mean distance of contributions from their mean in the query, of shape (n_features,)."""
    first = np.unique(boundaries)  # without empty queries
    blocks = first[np.unique(np.searchsorted(first, np.arange(0, first[-1] + _BLOCK, _BLOCK)).clip(max=len(first) - 1))]
    total = np.zeros(len(model.names))
    for begin, end in pairwise(blocks):
        values = model.contributions(rows_of(model.X, np.arange(begin, end)))[:, :-1]
        starts = first[(first >= begin) & (first < end)] - begin
        sizes = np.diff(np.r_[starts, end - begin])
        values -= np.repeat(np.add.reduceat(values, starts) / sizes[:, None], sizes, axis=0)
        total += (np.add.reduceat(np.abs(values), starts) / sizes[:, None]).sum(axis=0)
    return total / max(1, len(first) - 1)


def _losses(
    model: ReadModel, queries: Queries, metric: Metric, used: Any, n_repeats: int, random: np.random.Generator
) -> Iterator[Floats]:
    """Yield for each feature what the metric loses in each repeat; 0 for one that is not `used`."""
    sign = 1.0 if metric.greater_is_better else -1.0
    value = metric(np.asarray(model.scores(model.X)), queries)
    for column in range(len(model.names)):
        losses = np.zeros(n_repeats)
        for repeat in range(n_repeats if used[column] else 0):
            shuffled = np.lexsort((random.random(queries.n_rows), queries.query_of_row))
            scores = np.asarray(model.scores(_with_column_of(model.X, column, shuffled)))
            losses[repeat] = sign * (value - metric(scores, queries))
        yield losses


def _with_column_of(X: Any, column: int, rows: Ints) -> Any:
    """Return a copy of a table in which a column has the values of other rows."""
    if hasattr(X, "iloc"):
        X = X.copy(deep=False)
        X.isetitem(column, X.iloc[rows, column].array)
    elif hasattr(X, "nnz"):
        X = X.tocsc()
        X = sparse.hstack([X[:, :column], X[:, [column]][rows], X[:, column + 1 :]], format="csr")
    else:
        X = np.array(X)
        X[:, column] = X[rows, column]
    return X
