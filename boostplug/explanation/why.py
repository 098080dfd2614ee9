"""`why`: what each feature adds to the difference between the scores of two documents."""

from pathlib import Path
from typing import Any

import numpy as np

from boostplug.core.checks import check_integer
from boostplug.core.extras import imported
from boostplug.data.tables import rows_of
from boostplug.explanation.contributions import read_model
from boostplug.explanation.pictures import MOST, check_plot, save_bars


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
        Rows of X, counted from 0. Without `below`, the score of the row `above` is explained by itself.
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
        If `above` or `below` is no row of X, the model is none of these or has several scores per row, LightGBM's trees
        are linear, X has other columns than in training, or `plot` has another suffix.
    NotFittedError
        If the ranker is not fitted.
    ImportError
        If matplotlib is not installed, for `plot`.
    FileExistsError
        If `plot` is a file that holds something else than a picture.

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
    check_plot(plot)
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
    if len(steps) > MOST:
        labels[MOST - 1 :], steps[MOST - 1 :] = [f"{len(steps) - MOST + 1} others"], [sum(steps[MOST - 1 :])]
    ends = start + np.cumsum(steps)
    of_one, of_two = f"score {ends[-1]:.4g}, from the base {start:.4g}", f"difference of the scores: {ends[-1]:.4g}"
    title = f"{of_two} (values: above | below)" if "below" in frame else of_one
    save_bars(path, title, labels, steps, ends - steps)
