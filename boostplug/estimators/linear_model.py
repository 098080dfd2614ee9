"""A linear model of the features' quantiles, fitted to labels within queries, for `LinearRanker`."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_values
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame
from boostplug.metrics import NDCG
from boostplug.metrics.choice import choice_probabilities
from boostplug.selection.folds import group_folds
from boostplug.weak_rankers import Tree
from boostplug.weak_rankers.stump import rounding_edges

N_BINS = 64
_LARGEST = 3.4e38  # of single precision
_ALPHAS = 10.0 ** np.arange(1.0, -4.25, -0.5)  # as shares of the mean diagonal of the normal equations
_FOLDS = 5
_LEVEL = 1e-9  # difference in NDCG below which the larger penalty wins
_BLOCK = 65536  # rows whose quantiles are held at once
_STEPS = 50  # of Newton's method
_STILL, _NEARLY = 1e-10, 0.03  # change of coefficients, as a share of them, that ends it; where penalties are tried
_MOST_GRADE = 30.0  # to which NDCG counts by exponential gains


def linear_model(
    X: NDArray[np.float32], queries: Queries, *, softmax: bool, alpha: float | None, n_bins: int
) -> tuple[float, Floats, list[Tree]]:
    """Return the penalty, the coefficients, and a tree for each that is not 0; see `LinearRanker`."""
    steps = [_Steps.from_column(column, n_bins) for column in X[queries.judged].T]
    data = _Quantiles(X, queries, steps, softmax=softmax)
    alpha = data.best_alpha() if alpha is None else float(alpha)
    c = data.coefficients(np.arange(data.queries.n_rows), [alpha])[:, 0]
    return alpha, c, [step.tree(j, c[j]) for j, step in enumerate(steps) if c[j]]


def without_categories(X: Any) -> Any:
    """Return features as the linear model reads them: without categories, and within single precision."""
    if is_frame(X):
        X = X.copy()
        X[X.columns[[hasattr(kind, "categories") for kind in X.dtypes]]] = np.nan
        return X.astype(np.float64).clip(-_LARGEST, _LARGEST)
    return np.clip(np.asarray(X, np.float64), -_LARGEST, _LARGEST)


class _Steps(NamedTuple):
    """The quantile of a feature, from -1 to 1, as a step function."""

    thresholds: Floats
    values: Floats
    """One more than thresholds."""
    middle: int
    """The step of missing values: that of the median."""

    @classmethod
    def from_column(cls, column: NDArray[np.float32], n_bins: int) -> Self:
        """Return the quantiles of a column: a step for each value, or at most `n_bins` steps of like numbers of rows.

        A value of many rows has a step of its own, and leaves the others their steps.
        """
        known, counts = np.unique(column[~np.isnan(column)] + np.float32(0.0), return_counts=True)
        if not len(known):
            return cls(np.empty(0), np.zeros(1), 0)
        capped = np.minimum(counts, max(1, int(counts.sum()) // n_bins))
        place = np.arange(len(known))
        if len(known) > n_bins:
            place = n_bins * (2 * np.cumsum(capped) - capped) // (2 * int(capped.sum()))
        last = np.flatnonzero(place[1:] != place[:-1])
        low, high = known[last].astype(np.float64), known[last + 1].astype(np.float64)
        upto = np.cumsum(counts)[np.r_[last, len(known) - 1]]
        values = (upto + np.r_[0, upto[:-1]]) / upto[-1] - 1.0
        return cls(rounding_edges(low + 0.5 * (high - low)), values, int(np.searchsorted(2 * upto, upto[-1])))

    def codes(self, column: NDArray[np.float32]) -> Ints:
        """Return the step of each row."""
        return np.where(np.isnan(column), self.middle, np.searchsorted(self.thresholds, column.astype(np.float64)))

    def tree(self, feature: int, weight: float) -> Tree:
        """Return the function times `weight`."""
        return Tree.from_steps(feature, self.thresholds, weight * self.values, missing=self.middle)


class _Quantiles:
    """Quantiles and labels of the rows to learn from, and the models that are fitted to them.

    With `softmax` a model is the conditional logit of labels as shares of their lists, else ridge regression of labels
    centred within queries.
    """

    def __init__(self, X: NDArray[np.float32], queries: Queries, steps: Sequence[_Steps], *, softmax: bool) -> None:
        rows = _rows_with_choice(queries) if softmax else np.flatnonzero(queries.judged)
        self.softmax = softmax
        self.queries = queries.of_rows(rows, keep_empty=False)
        self.values = [step.values for step in steps]
        self.codes = np.empty((len(rows), len(steps)), np.uint16)
        for j, step in enumerate(steps):
            self.codes[:, j] = step.codes(X[rows, j])
        weight = self.queries.row_weight
        self.weight = np.ones(len(rows)) if weight is None else weight

    def coefficients(self, rows: Ints, alphas: Sequence[float], still: float = _STILL) -> Floats:
        """Return the coefficients for each penalty, of shape (n_features, n_alphas), from whole queries."""
        return self._logit(rows, alphas, still) if self.softmax else self._ridge(rows, alphas)

    def curvature(self) -> Floats:
        """Return the weight of each row in the normal equations at coefficients 0."""
        if not self.softmax:
            return self.weight
        return self.weight * choice_probabilities(np.zeros(len(self.weight)), qid=self.queries.query_of_row)

    def best_alpha(self) -> float:
        """Return the penalty whose models rank queries best that they have not seen."""
        queries = self.queries
        squares = self.moments(np.arange(queries.n_rows), self.curvature(), np.zeros(queries.n_rows))[0].diagonal()
        alphas = _ALPHAS * (squares[squares > 0].mean() if squares.any() else 1.0)
        if queries.n_queries < 2:
            return float(alphas[len(alphas) // 2])
        scores = np.empty((queries.n_rows, len(alphas)))
        for train, test in group_folds(queries, min(_FOLDS, queries.n_queries)):
            scores[test] = self.scores(test, self.coefficients(train, [*alphas], _NEARLY))
        least, most = queries.labels.min(), queries.labels.max()
        graded = least >= 0.0 and most <= _MOST_GRADE
        judge = NDCG(10) if graded else NDCG(10, gain="linear")
        judged = queries if graded else queries.replaced(labels=queries.labels - least)
        values = np.array([judge(np.ascontiguousarray(column), judged) for column in scores.T])
        if np.isnan(values).all():
            return float(alphas[len(alphas) // 2])
        return float(alphas[np.argmax(values >= np.nanmax(values) - _LEVEL)])

    def scores(self, rows: Ints, coefficients: Floats) -> Floats:
        """Return the scores of some rows, of shape (n_rows, n_alphas)."""
        parts = [self.quantiles(rows[at : at + _BLOCK]) @ coefficients for at in range(0, len(rows), _BLOCK)]
        return np.concatenate([*parts, np.empty((0, coefficients.shape[1]))])

    def moments(self, rows: Ints, weight: Floats, residual: Floats) -> tuple[Floats, Floats]:
        r"""Return :math:`\sum w \tilde q \tilde q^T` and :math:`\sum r \tilde q`, centred within whole queries."""
        n_features = len(self.values)
        gram, moment = np.zeros((n_features, n_features)), np.zeros(n_features)
        query = self.queries.query_of_row[rows]
        first = np.r_[0, np.flatnonzero(np.diff(query)) + 1, len(rows)]
        blocks = first[
            np.unique(np.minimum(np.searchsorted(first, np.arange(0, len(rows) + _BLOCK, _BLOCK)), len(first) - 1))
        ]
        for begin, end in pairwise(blocks):
            q, w = self.quantiles(rows[begin:end]), weight[begin:end, None]
            starts = first[(first >= begin) & (first < end)] - begin
            mean = np.add.reduceat(w * q, starts) / np.add.reduceat(w, starts)
            q -= np.repeat(mean, np.diff(np.r_[starts, end - begin]), axis=0)
            gram += q.T @ (w * q)
            moment += q.T @ residual[begin:end]
        return gram, moment

    def quantiles(self, rows: Ints) -> Floats:
        """Return the quantiles of some rows, of shape (n_rows, n_features)."""
        codes = self.codes[rows]
        return np.stack([values[codes[:, j]] for j, values in enumerate(self.values)], axis=1)

    def _ridge(self, rows: Ints, alphas: Sequence[float]) -> Floats:
        query, y, w = self.queries.query_of_row[rows], self.queries.labels[rows], self.weight[rows]
        mean = np.bincount(query, w * y) / np.maximum(np.bincount(query, w), 1e-300)
        gram, moment = self.moments(rows, w, w * (y - mean[query]))
        squares, axes = np.linalg.eigh(gram)
        along = axes.T @ moment
        coefficients: Floats = axes @ (along[:, None] / (np.maximum(squares, 0.0)[:, None] + np.asarray(alphas)))
        return coefficients

    def _logit(self, rows: Ints, alphas: Sequence[float], still: float) -> Floats:
        query, y = self.queries.query_of_row[rows], self.queries.labels[rows]
        share = y / np.bincount(query, y)[query]
        weight = (np.bincount(query, self.weight[rows]) / np.maximum(np.bincount(query), 1))[query]
        sizes = np.unique(query, return_counts=True)[1]
        c, coefficients = np.zeros(len(self.values)), []

        def at(c: Floats, alpha: float) -> tuple[Floats, float]:
            p = choice_probabilities(self.scores(rows, c[:, None])[:, 0], group=sizes)
            return p, 0.5 * alpha * float(c @ c) - float(weight @ (share * np.log(np.maximum(p, 1e-300))))

        for alpha in alphas:
            p, value = at(c, alpha)
            for _ in range(_STEPS):
                gram, moment = self.moments(rows, weight * p, weight * (share - p))
                change = np.linalg.solve(gram + alpha * np.eye(len(c)), moment - alpha * c)
                while (new := at(c + change, alpha))[1] > value and np.abs(change).max() > _STILL:
                    change *= 0.5
                c, (p, value) = c + change, new
                if np.abs(change).max() <= still * np.abs(c).max():
                    break
            coefficients.append(c)
        return np.stack(coefficients, axis=1)


def _rows_with_choice(queries: Queries) -> Ints:
    """Return the judged rows of lists in which something was chosen."""
    labels = np.where(queries.judged, queries.labels, 0.0)
    check_values("y", labels < 0.0, labels, "is below 0; loss='softmax' takes labels as shares of a list")
    chosen = np.bincount(queries.query_of_row, labels, queries.n_queries)
    return np.flatnonzero(queries.judged & (chosen > 0.0)[queries.query_of_row])
