"""RankSVM, the linear baseline of papers on preferences."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from boostplug.core.checks import check_number
from boostplug.losses import QBRank
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.rankers.pairs import refuse_no_pairs
from boostplug.weak_rankers import Feature

__all__ = ["RankSVM"]

Floats = NDArray[np.float64]


class RankSVM(ReferenceRanker):
    r"""Linear ranker of maximal margin on pairs, with squared hinges.

    .. math:: \min_w \tfrac12 |w|^2 + C \sum_{x \succ y} \max(0,\ 1 - w^T(x - y))^2

    Joachims (KDD 2002) has plain hinges; squared ones make it smooth, and their sum over all pairs is `QBRank`'s with
    τ = 1, in O(n log n) where the pairs come from grades (Chapelle and Keerthi, "Efficient algorithms for ranking with
    SVMs", 2010). The model is one round: a weight for each feature.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the pairs, > 0; features are divided by their standard deviation first. A missing value counts as 0,
        and a constant feature not at all.
    n_estimators : int, default 1
        Without effect.
    random_state : None
        Without effect.
    """

    def __init__(self, *, C: float = 1.0, n_estimators: int = 1, random_state: Any = None) -> None:
        self.C = C
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_number("C", self.C, above=0)

    def _rounds(self, training: Training) -> Rounds:
        queries = training.queries
        refuse_no_pairs(queries)
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
        weights = solved.x / spread[varies]
        terms = tuple((Feature(int(k)), float(weight)) for k, weight in zip(varies, weights, strict=True))
        yield Round(terms, {"objective": float(solved.fun)})
        return "the problem is solved"
