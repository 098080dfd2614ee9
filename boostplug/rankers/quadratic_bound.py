"""`QuadraticBoundRanker` and `QBRankRanker`: boosting on quadratic bounds (Zheng et al., NIPS 2007)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from sklearn.tree import DecisionTreeRegressor

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice, check_flag, check_instance, check_integer, check_number
from boostplug.core.warning import warn_user
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.losses import Loss, QBRank
from boostplug.losses.qbrank import Normalization
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training, seeded_clone
from boostplug.weak_rankers import Tree
from boostplug.weak_rankers.growth import TreeGrower

Derivatives = Callable[[Floats, Queries], tuple[Floats, Floats]]
WeakLearner = Callable[[Floats, Floats], Tree]  # from targets and weights of the rows to the fitted tree

_MINIMAL = 1e-13  # share of the first gradient; a smaller gradient is rounding
_FLAT = 1e-14  # share of Σ|∇R g|; a smaller slope is 0: rounding, or a loss that falls for ever
_SHORTEST = 1e-12  # smallest step; a loss with kinks may have its minimum at 0, where its subgradient is not 0
_LARGEST_SCORE = 1e99  # losses refuse larger scores
_TOO_FAR = (
    "loss: its value falls without end in some direction, or its minimum lies beyond scores of 1e99; use a loss with a "
    "lower bound, or rescale the labels so that their gaps are about 1"
)
_ORDINARY = 10  # largest exponent of 2 in targets that are not rescaled


def _rounds_on_bounds(
    ranker: "QuadraticBoundRanker | QBRankRanker",
    training: Training,
    risk: Loss,
    bounded: Derivatives,
    fit: WeakLearner,
) -> Rounds:
    """Run Algorithm 1.

    Parameters
    ----------
    ranker : reference ranker
        Its `learning_rate` and `line_search` are read.
    training : Training
    risk : Loss
        Its values sum to R, its gradient is ∇R times a positive factor.
    bounded : callable
        Maps scores and queries to ∇R and the diagonal W of the bound, both times the same factor.
    fit : callable
        The weak learner A.
    """
    queries = training.queries
    first_size, unit = 0.0, 0.0
    scores = np.zeros(queries.n_rows)
    while True:
        # a diagonal bound W of the Hessian, and the residuals r = -∇R / W
        gradient, bound = bounded(scores, queries)
        size = float(np.abs(gradient).max())
        if not first_size and not size:
            cause = why_nothing_is_learnt(queries) or "its gradient is 0 where scores are equal"
            message = f"{type(ranker).__name__} has nothing to learn from: {cause}; the model stays constant"
            warn_user(message)
        first_size = first_size or size
        if size <= _MINIMAL * first_size:
            return "the risk is minimal"
        residuals = _residuals(gradient, bound)
        unit = unit or _unit(residuals)
        # the weak learner A fits g to r with the weights W
        weak = fit(residuals / unit, bound)
        direction = weak.predict(training.X)
        # the step s by line search on R
        step = line_search(risk, queries, scores, direction, whole=not ranker.line_search, unit=unit)
        if step is None:
            return "the regressor finds no direction in which the risk falls"
        # the next h is h + η s g
        alpha = float(ranker.learning_rate * step) * unit
        scores += alpha * direction
        total = float(risk.value(scores, queries).sum())
        yield Round(((weak, alpha),), {"risk": total, "alpha": alpha, "step": step})


def _check_steps(ranker: "QuadraticBoundRanker | QBRankRanker") -> None:
    check_number("learning_rate", ranker.learning_rate, above=0.0, most=1.0)
    check_flag("line_search", ranker.line_search)


@dataclass(kw_only=True, eq=False, repr=False)
class QuadraticBoundRanker(ReferenceRanker):
    r"""Boosting by regression trees on any convex loss, through a quadratic bound of the loss.

    Zheng, Zha, Zhang, Chapelle, Chen, Sun, "A general boosting method and its application to learning ranking
    functions for web search", NIPS 2007, Algorithm 1. R(h), the sum of the loss over all queries, is a function of the
    scores h. From h = 0, each round

    - takes a diagonal bound of the Hessian, :math:`R(h + g) \le R(h) + \nabla R^T g + \frac12 g^T W g` (6), and the
      residuals :math:`r = -\nabla R / W`, 0 on rows where W is 0;
    - fits the regressor to r with the weights W, which gives g;
    - finds :math:`s \ge 0` by line search on R, and adds :math:`\eta s g`.

    Parameters
    ----------
    loss : Loss, default QBRank(normalization="none")
        Any convex `boostplug.Loss`. Its Hessian is W: ≥ 0, and > 0 where the gradient is not 0.
    regressor : DecisionTreeRegressor, optional
        A clone is fitted in each round. A ``random_state`` of None is set from `random_state`. Default: the paper's
        ``DecisionTreeRegressor(max_leaf_nodes=20)``, grown faster (see Notes).
    n_estimators : int, default 100
        Number of rounds.
    learning_rate : float, default 0.05
        The shrinkage η, 0 < η ≤ 1 (see Notes). Algorithm 1 has 1.
    line_search : bool, default True
        False: s = 1, which minimises the bound if the regressor fits least squares.
    random_state : int, RandomState or None, default None
        Seed of the regressors. The default trees are not random.

    Attributes
    ----------
    model_ : Ensemble
        A sum of `Tree`.
    history_ : dict of ndarray of shape (n_rounds,)
        ``risk`` (R after the round), ``step`` (s), ``alpha`` (η s, the weight in `model_`).
    stop_reason_ : str

    Notes
    -----
    - With a line search R falls in every round for any W > 0, because R is convex and η ≤ 1. A least-squares fit of
      :math:`-\nabla R / W` with the weights W is a descent direction. So losses of any `Loss.hessian_kind` are
      accepted. The kind decides what s = 1 means. Without a line search, R falls in every round only for "global"
      (Theorem 1). A warning says so for "exact" and "model".
    - Losses whose gradient is not that of their value (`Loss.traits.gradient_of_value`) are refused. `NDCGBoost` is not
      convex: its line search finds a point with slope 0, which need not be the minimum.
    - s is the smallest minimum, up to rounding: where the slope :math:`\nabla R(h + s g)^T g` has risen to -1e-14 of
      :math:`|\nabla R(h)|^T |g|`. So it is finite for losses that fall for ever, like the logistic loss on separable
      data.
    - scikit-learn's trees do not split targets of a variance below 2e-16, but the unit of the labels does not matter.
      If the largest residual of the first round is not between 1/1024 and 1024, r is divided by a power of two of that
      size. Then ``alpha`` includes the power.
    - Trees do not split between values of a feature that are at most 1e-7 apart: rescale such features.
    - The default trees are grown several times as fast as by scikit-learn. They are the same trees, except for splits
      whose gains differ by at most 1e-11 of the node's squares. There scikit-learn decides by chance. Here the first
      one wins: the earliest node, the lowest feature, missing values right, the lowest threshold. To use scikit-learn's
      own tree, pass ``DecisionTreeRegressor(max_leaf_nodes=20)``.

    *The default step.* Algorithm 1 takes whole steps, η = 1, by default. The paper's experiments take .05. Whole steps
    fit the noise of the labels. The table has the test NDCG@10 after 1, 10 and 100 rounds, with the default trees and
    loss. It is the mean over five sets. Of the MSLR sample, OHSUMED and MQ2008 there are two folds each, of Yandex and
    NFCorpus 300 training queries each.

    ====== ===== ===== =====
    η      1     10    100
    ====== ===== ===== =====
    1      .5005 .4622 .4097
    .5     .5005 .5012 .4535
    .3     .5005 .5251 .4886
    .2     .5005 .5264 .4994
    .1     .5005 .5264 .5294
    .05    .5005 .5195 .5376
    ====== ===== ===== =====

    On folds that were not used to choose it, η = 1 gives .4570 after 100 rounds, and .05 gives .5837. Other losses may
    need another step. With an ``eval_set`` the best round is kept.

    Cost. A round costs the regressor's fit, by default O(F n) for each level of the tree. The line search costs about
    ten gradients.

    Examples
    --------
    >>> X, y, qid = [[3.0, 1.0], [2.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [2, 1, 0, 0], [1, 1, 1, 1]
    >>> ranker = QuadraticBoundRanker(n_estimators=3, learning_rate=1.0, random_state=0).fit(X, y, qid=qid)
    >>> ranker.history_["risk"].round(4)
    array([0.5267, 0.2345, 0.0858])
    """

    loss: Loss = QBRank(normalization="none")  # noqa: RUF009 (an immutable value)
    regressor: Any = None
    n_estimators: int = 100
    learning_rate: float = 0.05
    line_search: bool = True
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        _check_steps(self)
        loss, regressor = self.loss, self.regressor
        check_instance("loss", loss, Loss, "QBRank()")
        if not loss.traits.gradient_of_value:
            raise ValueError(
                f"loss must have the gradient of its value, which is searched for its minimum; that of {loss!r} is a "
                "formula of its own; for QBRank(normalization='documents') use QBRankRanker(normalization='documents')"
            )
        if regressor is not None:
            check_instance("regressor", regressor, DecisionTreeRegressor, "DecisionTreeRegressor(max_leaf_nodes=20)")
        kind = loss.hessian_kind
        if not self.line_search and kind not in {"bound", "global"}:
            warn_user(
                f"line_search=False takes the bound's own step, but the Hessian of {loss!r} is of kind {kind!r}, no "
                "bound: the risk may rise; use line_search=True, or a loss with hessian='bound' or 'global'"
            )

    def _rounds(self, training: Training) -> Rounds:
        def fit_clone(targets: Floats, weight: Floats) -> Tree:
            return Tree.from_sklearn(seeded_clone(self.regressor, training.random).fit(training.X, targets, weight))

        fit = TreeGrower(training.X, max_leaf_nodes=20).grow if self.regressor is None else fit_clone
        return (yield from _rounds_on_bounds(self, training, self.loss, self.loss.gradient_hessian, fit))


@dataclass(kw_only=True, eq=False, repr=False)
class QBRankRanker(ReferenceRanker):
    r"""QBRank: regression trees on preferences and labels together.

    Zheng, Zha, Zhang, Chapelle, Chen, Sun, "A general boosting method and its application to learning ranking
    functions for web search", NIPS 2007, Algorithm 2: `QuadraticBoundRanker` on the risk

    .. math::
        R(h) = \frac w2 \sum_{x \succ y} \max(0,\ h(y) - h(x) + τ)^2 + \frac{1 - w}2 \sum_z (l_z - h(z))^2 .

    Preferences come from the grades of each query or from `pairs`. Labels l are those of the `labelled` rows, which may
    be in other queries than `pairs`. Each round fits one regression tree, finds s by line search on R, and adds
    :math:`\eta s g`.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of rounds.
    learning_rate : float, default 0.05
        The shrinkage η, 0 < η ≤ 1.
    preference_weight : float, default 0.5
        The paper's w, from 0 (only labels: gradient boosted regression trees) to 1 (only preferences).
    margin : "grade" or float, default "grade"
        τ: "grade" is a pair's grade gap, or the margin of an explicit pair. A number is the τ of all pairs.
    normalization : {"none", "rows", "query", "documents"}, default "none"
        Total weight of the pairs of a query, as in `boostplug.QBRank`. "documents" is the paper's Remark on its own: a
        row has the target of `hessian` "average", and its weight in the data (1).
    hessian : {"average", "bound", "global"}, default "average"
        W, by which the gradient of a row is divided, and the row's weight in the fit (see Notes). Ignored with
        "documents".
    max_leaf_nodes : int, default 20
        Largest number of leaves of a tree.
    line_search : bool, default True
        False: s = 1.
    random_state : int, RandomState or None, default None
        Not used: trees are not random. Among splits of equal gain the first wins (see `QuadraticBoundRanker`).

    Attributes
    ----------
    model_ : Ensemble
    history_ : dict of ndarray of shape (n_rounds,)
        ``risk`` (R after the round), ``step`` (s), ``alpha`` (η s, the weight in `model_`).
    stop_reason_ : str

    Notes
    -----
    "average", the default, is what the paper writes. Algorithm 2 puts a row into the training set of a round once for
    each of its pairs, active or not, with the weight w. For its label it puts the row in once more, with the weight 1 -
    w. The same tree is fitted to one copy of each row. It has the average of these targets, :math:`r = -\nabla R / W`,
    and the sum W of their weights.

    Algorithm 1 needs a bound of the Hessian instead. In it a pair counts twice, because it couples two rows. "global"
    counts all pairs, and its quadratic lies above R everywhere. "bound" counts only the active pairs, and bounds the
    Hessian at h. With a line search R falls in every round for all three. Without it, only "global" guarantees that.

    The risk is ``QBRank(...).value``, summed over queries: with the factors of "rows" and "query", and without factors
    for "documents". With "documents" the tree may find no descent of R, and training ends.

    Without preferences (w = 0, or none in the data) and with ``line_search=False`` this is scikit-learn's
    ``GradientBoostingRegressor(init="zero")`` with the same trees.

    Cost. A round costs the tree's fit, O(F n) for each of its levels. It also costs about ten gradients of QBRank, O(n
    log n) each. Pairs from grades are not listed.

    Examples
    --------
    >>> X, y, qid = [[3.0, 1.0], [2.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [2, 1, 0, 0], [1, 1, 1, 1]
    >>> ranker = QBRankRanker(n_estimators=3, learning_rate=0.5).fit(X, y, qid=qid)
    >>> ranker.history_["risk"].round(4)
    array([1.2908, 0.4975, 0.192 ])
    """

    n_estimators: int = 100
    learning_rate: float = 0.05
    preference_weight: float = 0.5
    margin: Literal["grade"] | float = "grade"
    normalization: Normalization = "none"
    hessian: Literal["average", "bound", "global"] = "average"
    max_leaf_nodes: int = 20
    line_search: bool = True
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        _check_steps(self)
        check_choice("hessian", self.hessian, ("average", "bound", "global"))
        self._loss()  # raises for invalid parameters of the loss
        check_integer("max_leaf_nodes", self.max_leaf_nodes, 2)

    def _loss(self) -> QBRank:
        return QBRank(
            margin=self.margin,
            preference_weight=self.preference_weight,
            hessian="bound" if self.hessian == "bound" else "global",
            normalization=self.normalization,
        )

    def _rounds(self, training: Training) -> Rounds:
        risk = loss = self._loss()
        bounded: Derivatives = loss.gradient_hessian
        if self.normalization == "documents":
            risk = replace(loss, normalization="none")
        elif self.hessian == "average":
            bounded = partial(_averaged, loss)
        fit = TreeGrower(training.X, self.max_leaf_nodes).grow
        return (yield from _rounds_on_bounds(self, training, risk, bounded, fit))


def _averaged(loss: QBRank, scores: Floats, queries: Queries) -> tuple[Floats, Floats]:
    """Return the gradient, and the total weight of each row's pairs and label: the global Hessian, pairs once."""
    gradient, hessian = loss.gradient_hessian(scores, queries)
    labels = loss.scale(queries) * (1.0 - loss.preference_weight) * queries.labelled_rows
    if queries.row_weight is not None:
        labels *= queries.row_weight
    return gradient, 0.5 * (hessian + labels)


def _residuals(gradient: Floats, bound: Floats) -> Floats:
    """Return -∇R / W; raise if W is not a bound."""
    with np.errstate(divide="ignore", over="ignore"):
        residuals = np.divide(-gradient, bound, out=np.zeros(len(bound)), where=gradient != 0.0)
    wrong = (bound < 0.0) | ~np.isfinite(residuals)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"loss: the hessian of row {row} is {bound[row]}, the gradient {gradient[row]}: no bound; it must be ≥ 0, "
            "and > 0 where the gradient is not 0, so that their ratio is finite"
        )
    return residuals


def _unit(residuals: Floats) -> float:
    """Return the power of two by which the residuals of a training are divided, for absolute thresholds of regressors.

    It is the size of the largest residual of the first round, or 1 if that is between 1/1024 and 1024.
    """
    exponent = int(np.frexp(np.abs(residuals).max())[1])
    return 1.0 if abs(exponent) <= _ORDINARY else float(np.ldexp(1.0, exponent))


def line_search(
    risk: Loss, queries: Queries, scores: Floats, direction: Floats, *, whole: bool = False, unit: float = 1.0
) -> float | None:
    """Return the smallest s > 0 that minimises R(scores + s · unit · direction), or 1 if `whole`; None if R stays.

    R' does not fall as s grows, so a bracket of its zero suffices, also at kinks. The slope is taken along the
    direction without its unit. Their product with a gradient in that unit might leave the range of float64.
    """
    start = risk.gradient_hessian(scores, queries)[0]
    flat = _FLAT * float(np.abs(start) @ np.abs(direction))
    slopes = {0.0: float(start @ direction)}  # brentq asks for those at both ends again
    if slopes[0.0] >= -10.0 * flat:
        return None
    farthest = _LARGEST_SCORE / max(1.0, unit * float(np.abs(direction).max()))
    if farthest < 1.0:
        raise ValueError(_TOO_FAR)
    if whole:
        return 1.0

    def rise(s: float) -> float:
        if s not in slopes:
            with np.errstate(over="ignore", invalid="ignore"):  # some losses overflow beyond the minimum
                slopes[s] = float(risk.gradient_hessian(scores + s * unit * direction, queries)[0] @ direction)
        slope = slopes[s]
        return slope + flat if math.isfinite(slope) else math.copysign(1e300, -1.0 if slope < 0.0 else 1.0)

    low, high = 0.0, 1.0
    while rise(high) < 0.0:
        low, high = high, 2.0 * high
        if high > farthest:
            raise ValueError(_TOO_FAR)
    step = float(brentq(rise, low, high, xtol=1e-14 * max(1.0, low), rtol=4 * np.finfo(np.float64).eps, maxiter=1000))
    return step if step > _SHORTEST else None
