"""`NDCGBoostRanker`: NDCG_Boost's own Algorithm 1 (Valizadegan et al., NIPS 2009)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeClassifier

from boostplug.core.arrays import Bools, Floats, Ints
from boostplug.core.checks import check_instance
from boostplug.data.queries import Queries, row_weights
from boostplug.kernels.metrics.dcg_ap import dcg
from boostplug.losses import NDCGBoost, RankNet
from boostplug.metrics.gains import Gain, discounts, gains_of
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training, seeded_clone
from boostplug.rankers.critical_pairs import check_has_pairs
from boostplug.weak_rankers import Cuts, Tree, WeakRanker
from boostplug.weak_rankers.stump import first_best

_Classify = Callable[[Floats], tuple[WeakRanker, Bools]]  # from weights to a weak ranker and the rows where it is 1

_PAIRS = RankNet(normalization="none")
_NO_EDGE = 1e-12  # share of the total weight of documents; below it, rounding decides
_MAX_ALPHA = 10.0
_TRIES = 20  # largest number of consecutive samples that give a classifier without an edge


@dataclass(kw_only=True, eq=False, repr=False)
class NDCGBoostRanker(ReferenceRanker):
    r"""NDCG_Boost: boosting of two-valued classifiers on a smooth surrogate of the expected NDCG.

    Valizadegan, Jin, Zhang, Mao, "Learning to rank by optimizing NDCG measure", NIPS 2009, Algorithm 1. Equations are
    numbered as there. With G the gains, Z the ideal DCG of a query's list, σ the logistic function and
    :math:`\theta_{ij} = \sigma(1 - \sigma)` of :math:`F_i - F_j`, each round

    - weighs the documents by :math:`w_i = \sum_j \frac{G_i - G_j}{Z} \theta_{ij}` (16): positive where a document
      should stand higher;
    - trains a classifier :math:`f \in \{0, 1\}` that maximises :math:`\sum_i w_i f_i` (17);
    - adds :math:`\alpha f` to F, :math:`\alpha = \frac12 \ln \frac{\sum_{f_i > f_j} \frac{G_i}{Z} \theta_{ij}}
      {\sum_{f_i < f_j} \frac{G_i}{Z} \theta_{ij}}` (15), over ordered pairs of documents of one query.

    The sum of :math:`\frac{G_i}{Z} \sigma(F_j - F_i)` over all pairs, M (11), falls in every round.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of rounds; the default is the paper's.
    classifier : DecisionTreeClassifier, optional
        Default: the decision stump with the largest :math:`\sum w_i f_i` of all, with either side as 1. Otherwise a
        clone is fitted in each round, as in the paper, on a sample of the documents. The sample has as many documents
        as the data, drawn with replacement with probabilities :math:`\propto |w_i|`. Their class is 1 if
        :math:`w_i > 0`, else 0 (the paper: -1). Samples of only one class are drawn again. A ``random_state`` of None
        is set from `random_state`.
    gain : {"exp2", "linear"} or callable, default "exp2"
        G, as in `NDCG`. It must not fall as grades rise. The named ones refuse negative grades.
    max_thresholds : int or None, default None
        Features with more cuts keep a random subset of this size. None: all cuts.
    random_state : int, RandomState or None, default None
        Seed of the samples for `classifier`, and of the random subsets of `max_thresholds`.

    Attributes
    ----------
    model_ : Ensemble
        Its scores, and those of `predict`, are the F of (12), twice the ranking score of (6).
    history_ : dict of ndarray of shape (n_rounds,)
        ``m`` (M, which (11) averages over queries), ``h`` (H by (9), an estimate of the expected NDCG; only (3) is a
        bound), ``alpha``, ``edge`` (:math:`\sum_i w_i f_i`), and ``undefined``: 1 if α was clipped to ±10.
    stop_reason_ : str

    Notes
    -----
    - Stumps are 1 above their threshold. A stump that is 1 below is, up to a constant, the same one with a negative
      weight. It has the opposite edge and α. So a `classifier` with a negative edge gets a negative α.
    - α is infinite if one sum of (15) is 0. Here it is clipped to ±10. Pairs of equal gains count in both sums, as (15)
      has it. They add nothing to w or to the change of M, and make steps shorter.
    - Training ends if the best stump has no edge. That happens if no stump separates documents of one query: both sums
      of (15) are 0. It also happens if scores are so far apart that all weights vanish. A `classifier` without an edge
      is trained again on a new sample. After 20 such samples in a row, training ends. (A tree that minimises impurity
      often predicts the same class on both sides of its split.)
    - Z has the discount 1/log2(1 + j). The paper leaves the base open; it changes only M.
    - A pair has the weight √(v_i v_j) of its rows. So M and H are weighted averages if the rows of each query have
      equal weights. Rows without a label or of weight 0 are left out. Queries without relevant documents count as 0 in
      M and H.
    - Explicit `pairs` are refused: w needs gains.
    - On OHSUMED (five folds, 100 rounds, no validation, the LETOR script's NDCG@3), the paper has .50. Sampling with
      ``DecisionTreeClassifier(max_depth=1)`` gives .487 (mean of nine seeds, .473 to .498). With a depth of 2 it gives
      .507 (three seeds). The best stumps by (17) give .457. Impurity prefers small pure leaves, whose steps are longer.

    Cost. A round takes O(F n) for n documents and F features. The sums over pairs take O(n log n), since pairs are not
    listed. Memory is O(F n). Sums over long lists have a relative error of 1e-9 for every pair, others are exact (see
    `boostplug.NDCGBoost`). 100,000 documents with 46 features and 5 grades take .1 s a round on one core.

    Examples
    --------
    >>> X, y, qid = [[3.0, 1.0], [2.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [2, 1, 0, 0], [1, 1, 1, 1]
    >>> ranker = NDCGBoostRanker(n_estimators=3).fit(X, y, qid=qid)
    >>> ranker.history_["m"].round(4)
    array([1.1016, 0.7712, 0.6295])
    """

    n_estimators: int = 100
    classifier: Any = None
    gain: Gain = "exp2"
    max_thresholds: int | None = None
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        NDCGBoost(gain=self.gain)  # raises for an invalid gain
        if self.classifier is not None:
            check_instance("classifier", self.classifier, DecisionTreeClassifier, "DecisionTreeClassifier(max_depth=1)")

    def _rounds(self, training: Training) -> Rounds:
        """Run Algorithm 1; steps are numbered by its lines."""
        if training.queries.pairs is not None:
            raise ValueError("pairs cannot be used by NDCG_Boost, whose weights need gains; pass grades as y")
        check_has_pairs(training.queries)
        gains_of(training.queries, self.gain)  # raises for invalid grades, with the row's number
        X = training.X[training.queries.judged]
        queries = training.queries.of_rows(training.queries.judged, keep_empty=False)
        lists = _Lists(queries, self.gain)
        classify: _Classify
        if self.classifier is None:
            cuts = Cuts(X, self.max_thresholds, training.random)
            if not len(cuts):
                return "no feature takes two values"
            classify, tries = partial(_best_stump, cuts), 1
        else:
            classify, tries = partial(_trained, self.classifier, X, training.random), _TRIES
        # 1
        scores = np.zeros(queries.n_rows)
        while True:
            # 3
            weight = lists.weights(scores)
            size = float(np.abs(weight).sum())
            if not size > np.finfo(np.float64).tiny:
                return "no document weighs anything: gains are equal, or scores are far apart"
            # 4, 5
            for _ in range(tries):
                weak, f = classify(weight)
                edge = float(weight[f].sum())
                if abs(edge) > size * _NO_EDGE:
                    break
            else:
                return "no weak ranker has an edge left"
            # 6
            up, down = lists.up_and_down(scores, f)
            alpha = 0.5 * math.log(up / down) if up > 0.0 and down > 0.0 else math.copysign(math.inf, edge)
            undefined = abs(alpha) > _MAX_ALPHA
            if undefined:
                alpha = math.copysign(_MAX_ALPHA, alpha)
            # 7
            scores += alpha * f
            m, h = lists.objectives(scores)
            yield Round(((weak, alpha),), {"m": m, "h": h, "alpha": alpha, "edge": edge, "undefined": float(undefined)})


def _best_stump(cuts: Cuts, weight: Floats) -> tuple[WeakRanker, Bools]:
    """Return the stump with the largest absolute sum of weights above it, and the rows above it."""
    cut = first_best(np.abs(cuts.sums_above(weight)), float(np.abs(weight).sum()) * _NO_EDGE)
    return cuts.stump(cut), cuts.above(cut)


def _trained(
    classifier: Any, X: NDArray[np.float32], random: np.random.RandomState, weight: Floats
) -> tuple[WeakRanker, Bools]:
    """Return a classifier trained on a sample drawn by weights, and the rows for which it predicts 1."""
    probability = np.abs(weight) / np.abs(weight).sum()
    label = (weight > 0.0).astype(np.int64)
    while True:  # both classes have half the weight, so a sample of only one is as rare as n equal coin tosses
        drawn = random.choice(len(weight), len(weight), p=probability)
        if np.ptp(label[drawn]):
            break
    weak = Tree.from_sklearn(seeded_clone(classifier, random).fit(X[drawn], label[drawn]))
    return weak, weak.predict(X) == 1.0


class _Lists:
    """Gains and weights of all documents, and the paper's sums over the pairs of documents of one query.

    The gradient of `RankNet` sums σ over all pairs of different labels, and its Hessian θ. For pairs that a cut
    separates, the labels are the sides of the cut. For all pairs, each document has two copies with two labels.
    """

    def __init__(self, queries: Queries, gain: Gain) -> None:
        self._queries, self._loss = queries, NDCGBoost(gain=gain)
        gains = gains_of(queries, gain)
        longest = int(queries.group.max(initial=0))
        ideal = dcg(gains, gains, queries.boundaries, discounts(longest, "standard"), average=False)
        ideal = ideal[queries.query_of_row]
        self._gain = np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0)
        self._row_weight = row_weights(queries)
        self._n = queries.n_queries if queries.query_weight is None else float(queries.query_weight.sum())
        self._doubled = self._labelled(np.tile([1.0, 0.0], queries.n_rows), np.repeat(np.arange(queries.n_rows), 2))

    def weights(self, scores: Floats) -> Floats:
        """Return w of each document (16)."""
        return -self._loss.gradient_hessian(scores, self._queries)[0] / self._loss.scale(self._queries)

    def up_and_down(self, scores: Floats, above: Bools) -> tuple[float, float]:
        """Return numerator and denominator of (15) for a classifier that is 1 for the documents `above`."""
        sides = self._labelled(above, np.arange(len(scores)))
        terms = self._gain * _PAIRS.gradient_hessian(scores, sides)[1] / _PAIRS.scale(sides)
        return float(terms[above].sum()), float(terms[~above].sum())

    def objectives(self, scores: Floats) -> tuple[float, float]:
        """Return M (11) and H (9)."""
        # A (10), times the weight of the row: a first copy is paired with all second ones, with its own at σ(0)
        gradient = _PAIRS.gradient_hessian(np.repeat(scores, 2), self._doubled)[0] / _PAIRS.scale(self._doubled)
        later = -gradient[::2] - 0.5 * self._row_weight
        m = self._gain * later
        h = self._gain * self._row_weight / np.log2(2.0 + later / self._row_weight)
        return float(m.sum()) / self._n, float(h.sum()) / self._n

    def _labelled(self, labels: ArrayLike, rows: Ints) -> Queries:
        weight = self._queries.row_weight
        return Queries(labels, qid=self._queries.query_of_row[rows], weight=None if weight is None else weight[rows])
