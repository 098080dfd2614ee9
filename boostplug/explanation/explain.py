"""`why` and `importance`: what a feature adds to a document's score, and how much it orders documents."""

from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_integer, column_names
from boostplug.core.extras import imported
from boostplug.core.figures import check_suffix, require_matplotlib, save_figure
from boostplug.core.randomness import RandomState, generator
from boostplug.core.text import visible
from boostplug.data.inputs import Inputs
from boostplug.data.tables import check_computed, rows_of
from boostplug.estimators.inputs import RankingScore, inputs_to_judge, metric_of_score
from boostplug.explanation.contributions import ReadModel, columns_of_model, read_model
from boostplug.metrics import Metric

_BLOCK = 65536  # rows whose contributions are held at once, or those of one query
_MOST = 15  # bars of a picture
_LETTERS = 48  # of the name of a bar
_UP, _DOWN = "#0072b2", "#d55e00"
_STYLE = {"svg.hashsalt": "boostplug", "font.size": 10, "text.parse_math": False}


def why(ranker: Any, X: Any, above: int, below: int | None = None, *, plot: str | Path | None = None) -> Any:
    """Return why a model ranks one document above another: what each feature adds to the difference of their scores.

    The contributions are exact TreeSHAP values (Lundberg et al., Nature Machine Intelligence 2020), as LightGBM and
    XGBoost compute them: a document's score is a base, the same for all, plus a contribution of each feature.

    Parameters
    ----------
    ranker : LGBMRanker, XGBRanker, a reference ranker, Ensemble or Booster
        A fitted model of ours or of the plain frameworks. An early-stopped ranker counts as far as its best iteration,
        as in `predict`.
    X : array, sparse matrix, or DataFrame of shape (n_rows, n_features)
        As for `predict`.
    above, below : int
        Rows of X, counted from 0, whatever labels its index has: of the same query, to ask about a list. Without
        `below`, the score of the row `above` is explained by itself.
    plot : str or Path, optional
        File that ends with .svg or .png, for a picture: a step for each of the 15 largest contributions.

    Returns
    -------
    pandas.DataFrame
        A row per feature, the largest absolute contributions first, with the columns ``feature``, ``above`` and
        ``below``, the values of both rows in X, and ``contribution``. The contributions add up to the difference of the
        scores. Without `below` there is no such column, and they add up to the score minus ``frame.attrs["base"]``.

    Raises
    ------
    ValueError
        If `above` or `below` is no row of X, the model is none of these, has several scores per row, linear trees or is
        a random forest of LightGBM's, X has other columns than in training, or `plot` has another suffix.
    NotFittedError
        If the ranker is not fitted.
    ImportError
        If matplotlib is not installed, for `plot`.
    FileExistsError
        If `plot` holds something else than a picture.

    Notes
    -----
    Scores are those before the objective's transformation, without `init_score` and `base_margin`; the predictions of a
    ranking objective are these. Sums hold to 1e-9 of the scores in LightGBM, and to single precision in XGBoost.

    The base is the mean of the leaves over the rows that training has counted in each: rows in LightGBM, Hessians in
    XGBoost; and XGBoost's base score. gblinear has its intercept as base. A reference ranker keeps no counts. They are
    counted in X, so the base is the mean score in X. For trees that split several features, X should be a table of many
    documents.

    Examples
    --------
    >>> import boostplug as bp
    >>> from boostplug.weak_rankers import Stump
    >>> model = bp.Ensemble([[(Stump(0, 0.5), 2.0), (Stump(1, 0.0), 1.0)]], n_features=2, feature_names=["bm25", "age"])
    >>> bp.why(model, [[1.0, -1.0], [0.0, 3.0]], above=0, below=1)
      feature  above  below  contribution
    0    bm25    1.0    0.0           2.0
    1     age   -1.0    3.0          -1.0
    """
    _check_plot(plot)
    model = read_model(ranker, X)
    documents = {"above": above} if below is None else {"above": above, "below": below}
    last = model.X.shape[0] - 1
    rows = [check_integer(name, row, 0, ", a row of X", most=last) for name, row in documents.items()]
    pandas, table = imported("pandas", "why needs"), rows_of(model.table, rows)
    table = table.to_pandas() if hasattr(table, "to_pandas") else table.toarray() if hasattr(table, "nnz") else table
    values = pandas.DataFrame(table).astype(object).to_numpy().tolist()
    frame = pandas.DataFrame({"feature": model.names, **dict(zip(documents, values, strict=True))})
    contributions = model.contributions(rows_of(model.X, rows))
    frame["contribution"] = contributions[0, :-1] - (0.0 if below is None else contributions[1, :-1])
    frame = frame.sort_values("contribution", key=np.abs, ascending=False, kind="stable", ignore_index=True)
    if below is None:
        frame.attrs["base"] = float(contributions[0, -1])
    if plot is not None:
        _save_steps(plot, frame)
    return frame


def _save_steps(path: str | Path, frame: Any) -> None:
    """Draw each contribution from where the last one ends, and many small ones as one."""
    labels = [
        f"{name} = {' | '.join(f'{value:.4g}' if isinstance(value, float) else str(value) for value in values)}"
        for name, *values in frame.drop(columns="contribution").itertuples(index=False)
    ]
    steps, start = frame["contribution"].tolist(), frame.attrs.get("base", 0.0)
    if len(steps) > _MOST:
        labels[_MOST - 1 :], steps[_MOST - 1 :] = [f"{len(steps) - _MOST + 1} others"], [sum(steps[_MOST - 1 :])]
    ends = start + np.cumsum(steps)
    of_one, of_two = f"score {ends[-1]:.4g}, from the base {start:.4g}", f"difference of the scores: {ends[-1]:.4g}"
    title = f"{of_two} (values: above | below)" if "below" in frame else of_one
    _save_bars(path, title, "score", labels, steps, ends - steps)


def importance(
    ranker: Any,
    X: Any,
    y: ArrayLike | str | None = None,
    *,
    qid: ArrayLike | str | None = None,
    group: ArrayLike | None = None,
    labelled: ArrayLike | None = None,
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
    labelled : array-like of bool of shape (n_rows,), optional
        False where a row has no label in `y`.
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
        If the queries, labels, the metric or `n_repeats` are wrong, and as in `why`.

    Notes
    -----
    `y` and `qid` may be names of columns of X, and those that `fit` was given by name need not be repeated. Weights
    that `fit` was given by name count in the metric.

    Contributions are computed for some 65,536 rows at a time. They take most of the time, in proportion to rows and
    trees; a few thousand queries are enough. Shuffling takes `n_repeats` predictions of X for each feature that the
    model uses.

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
    _check_plot(plot)
    check_computed(X)
    n_rows = len(X) if isinstance(X, (list, tuple)) else (getattr(X, "shape", None) or (0,))[0]
    labels = np.zeros(n_rows) if y is None else y
    own = isinstance(ranker, RankingScore)
    inputs = partial(inputs_to_judge, ranker) if own else partial(Inputs, features=columns_of_model(ranker, X))
    # A column may equal the labels, which `fit` refuses: nothing is learnt here.
    unread = inputs(X=X, y=labels, qid=qid, group=group, labelled=labelled, keep=column_names(X))
    given = unread.check(ranker.training_summary_.schema if own else None)
    model = read_model(ranker, given.X)
    values = _moved_within_queries(model, given.queries.boundaries)
    frame = imported("pandas", "importance needs").DataFrame({"feature": model.names, "importance": values})
    if y is not None:
        queries, judge, random = given.queries, metric_of_score(metric), generator(random_state)
        value, sign = judge(np.asarray(model.scores(model.X)), queries), 1.0 if judge.greater_is_better else -1.0
        losses = np.zeros((len(values), n_repeats))
        for column, repeat in product(np.flatnonzero(values), range(n_repeats)):
            shuffled = np.lexsort((random.random(queries.n_rows), queries.query_of_row))
            scores = model.scores(_with_column_of(model.X, column, shuffled))
            losses[column, repeat] = sign * (value - judge(np.asarray(scores), queries))
        frame["permutation_mean"], frame["permutation_std"] = losses.mean(axis=1), losses.std(axis=1)
    frame = frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
    if plot is not None:
        most = frame.head(_MOST)
        title = f"importance of {len(most)} of {len(frame)} features"
        unit = "mean distance of contributions from their mean in the query"
        _save_bars(plot, title, unit, most["feature"], most["importance"])
    return frame


def _moved_within_queries(model: ReadModel, boundaries: Ints) -> Floats:
    """Return the mean distance of contributions from their mean in the query, of shape (n_features,)."""
    first = np.unique(boundaries)  # without empty queries
    # Complete queries from each multiple of `_BLOCK` rows to the next.
    blocks = first[np.unique(np.searchsorted(first, np.arange(0, first[-1] + _BLOCK, _BLOCK)).clip(max=len(first) - 1))]
    total = np.zeros(len(model.names))
    for begin, end in pairwise(blocks):
        values = model.contributions(rows_of(model.X, np.arange(begin, end)))[:, :-1]
        starts = first[(first >= begin) & (first < end)] - begin
        sizes = np.diff(np.r_[starts, end - begin])
        values -= np.repeat(np.add.reduceat(values, starts) / sizes[:, None], sizes, axis=0)
        total += (np.add.reduceat(np.abs(values), starts) / sizes[:, None]).sum(axis=0)
    return total / max(1, len(first) - 1)


def _with_column_of(X: Any, column: Any, rows: Ints) -> Any:
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


def _check_plot(path: Any) -> None:
    """Raise if a picture is asked for that cannot be drawn."""
    if path is not None:
        check_suffix(path, "plot")
        require_matplotlib()


def _save_bars(path: str | Path, title: str, unit: str, labels: Any, lengths: Any, starts: Any = 0.0) -> None:
    """Draw bars from top to bottom, with their lengths beside them, into a file."""
    labels = [label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…" for label in map(visible, labels)]
    new_figure, rc_context = require_matplotlib()
    with rc_context(_STYLE):
        height = 1.0 + 0.28 * len(labels)  # inches
        axes = new_figure((7.0, height), layout="constrained", facecolor="white").add_subplot()
        colours = [_UP if length >= 0.0 else _DOWN for length in lengths]
        bars = axes.barh(range(len(labels)), lengths, left=starts, color=colours, height=0.7, tick_label=labels)
        axes.bar_label(bars, [f"{length:.3g}" for length in lengths], padding=4)
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel(unit)
        axes.invert_yaxis()
        axes.use_sticky_edges = False  # room for the numbers
        axes.margins(x=0.15, y=0.03)
        axes.spines[["top", "right"]].set_visible(False)
        save_figure(axes.figure, Path(path))
