"""Rankers that papers take as points of reference: one feature, and linear regression."""

from typing import Any

import numpy as np

from boostplug.core.checks import check_integer
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.weak_rankers import Feature

__all__ = ["OneFeature", "Regression"]


class OneFeature(ReferenceRanker):
    """The value of one feature as the score, such as that of BM25: nothing is trained.

    Parameters
    ----------
    feature : int, default 0
        Column of X.
    n_estimators : int, default 1
        Without effect.
    random_state : None
        Without effect.
    """

    def __init__(self, *, feature: int = 0, n_estimators: int = 1, random_state: Any = None) -> None:
        self.feature = feature
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_integer("feature", self.feature, 0)

    def _rounds(self, training: Training) -> Rounds:
        if self.feature >= training.X.shape[1]:
            raise ValueError(
                f"feature must be a column of X, which has {training.X.shape[1]}, counted from 0; got {self.feature}"
            )
        yield Round(((Feature(self.feature), 1.0),), {})
        return "there is one feature"


class Regression(ReferenceRanker):
    r"""Linear regression of the grades on the features, by least squares: LETOR's "Regression".

    .. math:: \min_{w, b} \sum_i v_i (w^T x_i + b - r_i)^2

    Rows that are not labelled take no part; a missing value counts as 0. Where features depend on each other, w is the
    shortest solution for features divided by their standard deviation. The model is one round: a weight for each
    feature (b moves all scores alike).

    Parameters
    ----------
    n_estimators : int, default 1
        Without effect.
    random_state : None
        Without effect.
    """

    def __init__(self, *, n_estimators: int = 1, random_state: Any = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _rounds(self, training: Training) -> Rounds:
        queries = training.queries
        if queries.pairs is not None:
            raise ValueError("pairs cannot be used by regression, which fits grades; pass grades as y")
        judged = queries.judged
        X = np.nan_to_num(training.X[judged].astype(np.float64))
        grades = queries.labels[judged]
        weight = np.ones(len(grades)) if queries.row_weight is None else queries.row_weight[judged]
        spread = X.std(axis=0)
        varies = np.flatnonzero(spread > 0.0)
        if not len(varies):
            return "no feature takes two values"
        root = np.sqrt(weight / weight.sum())[:, None]
        Z = (X[:, varies] - np.average(X[:, varies], axis=0, weights=weight)) / spread[varies]
        target = grades - np.average(grades, weights=weight)
        solved = np.linalg.lstsq(root * Z, root[:, 0] * target, rcond=None)[0]
        left = float(np.average((target - Z @ solved) ** 2, weights=weight))
        weights = solved / spread[varies]
        terms = tuple((Feature(int(k)), float(w)) for k, w in zip(varies, weights, strict=True))
        yield Round(terms, {"squared_error": left})
        return "the problem is solved"
