"""Baseline rankers of the papers: one feature, linear regression, RankSVM."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from boostplug.core.arrays import Floats
from boostplug.losses import QBRank
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.rankers.critical_pairs import check_has_pairs
from boostplug.weak_rankers import Feature


class OneFeature(ReferenceRanker):
    """The value of one feature as the score, such as that of BM25, without training.

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

    def _rounds(self, training: Training) -> Rounds:  # noqa: ARG002 (nothing is trained)
        yield Round(((Feature(self.feature), 1.0),), {})
        return "there is one feature"


class Regression(ReferenceRanker):
    r"""Linear regression of the grades on the features, by least squares: LETOR's "Regression".

    .. math:: \min_{w, b} \sum_i v_i (w^T x_i + b - r_i)^2

    Rows without a label are left out; a missing value counts as 0. If features are linearly dependent, w is the
    shortest solution for features divided by their standard deviation. The model is one round: a weight for each
    feature (b does not change the order).

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
        yield _linear(varies, solved / spread[varies], {"squared_error": left})
        return "the problem is solved"


class RankSVM(ReferenceRanker):
    r"""Linear ranker of maximal margin on pairs, with squared hinges.

    .. math:: \min_w \tfrac12 |w|^2 + C \sum_{x \succ y} \max(0,\ 1 - w^T(x - y))^2

    Joachims (KDD 2002) has plain hinges. Squared ones are smooth, and their sum over all pairs is that of `QBRank` with
    τ = 1. It takes O(n log n) for pairs from grades (Chapelle and Keerthi, "Efficient algorithms for ranking with
    SVMs", 2010). The model is one round: a weight for each feature.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the pairs, > 0; features are divided by their standard deviation first. A missing value counts as 0,
        and constant features are left out.
    n_estimators : int, default 1
        Without effect.
    random_state : None
        Without effect.
    """

    def __init__(self, *, C: float = 1.0, n_estimators: int = 1, random_state: Any = None) -> None:
        self.C = C
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _rounds(self, training: Training) -> Rounds:
        queries = training.queries
        check_has_pairs(queries)
        X = np.nan_to_num(training.X.astype(np.float64))
        spread = X.std(axis=0)
        varies = np.flatnonzero(spread > 0.0)
        Z = (X[:, varies] - X[:, varies].mean(axis=0)) / spread[varies]
        hinges = QBRank(margin=1.0, preference_weight=1.0, normalization="none")
        scale = hinges.scale(queries)

        def objective(w: Floats) -> tuple[float, Floats]:
            scores = Z @ w
            gradient = hinges.gradient_hessian(scores, queries)[0] / scale
            losses = float(hinges.value(scores, queries).sum())
            return 0.5 * float(w @ w) + 2.0 * self.C * losses, w + 2.0 * self.C * (Z.T @ gradient)

        solved = minimize(
            objective, np.zeros(len(varies)), jac=True, method="L-BFGS-B", options={"ftol": 1e-10, "maxiter": 10_000}
        )
        yield _linear(varies, solved.x / spread[varies], {"objective": float(solved.fun)})
        return "the problem is solved"


def _linear(columns: NDArray[np.intp], weights: Floats, record: dict[str, float]) -> Round:
    """Return a linear model of some features as one round."""
    return Round(tuple((Feature(int(k)), float(w)) for k, w in zip(columns, weights, strict=True)), record)
