"""`MPBoostRanker`: MPBoost's own Algorithm 1, on decision stumps (Zhu et al., CIKM 2009)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.losses import MPBoost
from boostplug.losses.directed_distance import Distance, LogisticDistance
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.rankers.critical_pairs import CriticalPairs
from boostplug.weak_rankers import Cuts
from boostplug.weak_rankers.stump import first_best

_SMALLEST = 2e-10  # share of all pairs' weight; cuts that separate less are skipped
_ROUNDING = 1e-14  # relative rounding error of a sum
_TIE = 1e-12  # share of the best decrease; cuts that separate the same pairs differ by less
_LONGEST = 1e150  # largest distance: its square is finite
_LOG_MAX = math.log(np.finfo(np.float64).max)


@dataclass(kw_only=True, eq=False, repr=False)
class MPBoostRanker(ReferenceRanker):
    r"""MPBoost on decision stumps: GentleBoost's steps on an exponential loss of directed distances.

    Zhu, Chen, Zhu, Wang, Wang, Chen, "A general magnitude-preserving boosting algorithm for search ranking", CIKM
    2009, Algorithm 1 and its appendix. I holds the pairs (i, j) and (j, i) of different grades in one query, d is the
    directed distance of their grades, :math:`w^{(1)} = 1/|I|`. Each round

    - fits the stump :math:`f = a \cdot 1[x_k > \theta]` that minimises :math:`\sum_I w_{ij} (d_{ij} - (f_i - f_j))^2`
      (12), over all features and thresholds. Its value is :math:`a = \sum_{A_1} w d / \sum_{A_1} w`. The pairs
      :math:`A_1` have i above the threshold and j below it. Either grade may be the higher one, so a may be negative;
    - updates :math:`w_{ij} \leftarrow w_{ij} e^{-d_{ij}(f_i - f_j)} / Z_t` (13).

    Theorem 1: the share of pairs in the wrong order, ties included, is at most :math:`\prod_t Z_t`.

    Parameters
    ----------
    distance : callable, default LogisticDistance(beta=0.5)
        As in `boostplug.MPBoost`: `BinaryDistance`, `LinearDistance`, `LogDistance`, `LogisticDistance`, or a function
        from a float64 array of gaps > 0 to positive float64 distances. The distance of an explicit pair is that of its
        margin. The default is the paper's best on OHSUMED, with its parameter.
    n_estimators : int, default 100
        Number of rounds.
    max_thresholds : int or None, default None
        Features with more cuts keep a random subset of this size. None: all cuts, as in the paper.
    random_state : int, RandomState or None, default None
        Seed of the random subsets of `max_thresholds`.

    Attributes
    ----------
    model_ : Ensemble
    history_ : dict of ndarray of shape (n_rounds,)
        ``alpha`` (a), ``z`` (:math:`Z_t`), ``bound`` (:math:`\prod Z_t = J / |I|`), ``misordering`` (the share of pairs
        of training in the wrong order, ties included, by their initial weights). Values beyond the range of float64 are
        recorded as its largest number.
    stop_reason_ : str

    Notes
    -----
    - Z_t < 1 is guaranteed only near the expansion point: with one distance, if it is at most √2. Longer distances
      overstep, a later round steps back, and ``z`` shows it. `LogDistance` (3) has 1.95 for a gap of 2. On OHSUMED
      (grades 0 to 2) it oversteps in the first round. From the sixth on, it adds and removes one stump in turn.
      The remedy is a shorter distance, which the paper finds by tuning λ on validation data.
    - Thresholds lie midway between neighbouring values. The paper uses the values themselves. Both separate the
      training documents alike, and other documents a little differently.
    - A pair has the weight √(w_i w_j) of its rows. The paper has no weights.
    - Cuts that separate less than 2e-10 of the weight of all pairs are skipped. Their gain would be lost in rounding.
      Ties go to the first feature, then to the lowest threshold.

    Cost. A round takes O(F n K) time for n documents, F features and K grades in a query, or m explicit pairs in place
    of n K. Memory is O(n (F + K)). A round on a fold of OHSUMED (9,000 documents, 45 features, 3 grades) takes 5 ms.

    Examples
    --------
    >>> X, y, qid = [[3.0, 1.0], [2.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [2, 1, 0, 0], [1, 1, 1, 1]
    >>> ranker = MPBoostRanker(n_estimators=3).fit(X, y, qid=qid)
    >>> ranker.history_["bound"].round(4)
    array([0.7705, 0.6293, 0.5352])
    """

    distance: Distance = LogisticDistance(beta=0.5)  # noqa: RUF009 (an immutable value)
    n_estimators: int = 100
    max_thresholds: int | None = None
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        MPBoost(distance=self.distance)  # raises for an invalid distance

    def _rounds(self, training: Training) -> Rounds:
        """Run Algorithm 1; steps are numbered by its lines."""
        # 1 to 3: the pairs and their weights; each pair once, where the paper counts both directions
        pairs = CriticalPairs(training.queries, self.distance)
        longest = float(np.abs(pairs.distance).max())
        if not 1.0 / _LONGEST < longest < _LONGEST:
            raise ValueError(f"distance {self.distance!r} of a grade gap is {longest}, too large or small; rescale y")
        cuts = Cuts(training.X, self.max_thresholds, training.random)
        scores, log_loss = np.zeros(training.queries.n_rows), 0.0
        while True:
            # 5: the stump that minimises J_wse
            chosen = _best_cut(*pairs.separated_by(cuts), size=float(np.abs(pairs.slope).sum()))
            if chosen is None:
                return "no cut lowers the loss"
            cut, a = chosen
            # 6: the weights
            scores[cuts.above(cut)] += a
            log_loss, before = pairs.weigh(scores), log_loss
            record = {
                "alpha": a,
                "z": math.exp(min(log_loss - before, _LOG_MAX)),
                "bound": math.exp(min(log_loss, _LOG_MAX)),
                "misordering": pairs.errors(scores)[0],
            }
            yield Round(((cuts.stump(cut), a),), record)


def _best_cut(slope: Floats, separated: Floats, *, size: float) -> tuple[int, float] | None:
    """Return the cut whose step lowers the loss most, and the step; None if no cut lowers it.

    `slope` and `separated` are those of all cuts, and `size` is the sum of the absolute slopes of the rows.
    """
    decrease = np.divide(slope**2, separated, out=np.zeros(len(slope)), where=separated >= _SMALLEST)
    best = int(np.argmax(decrease)) if len(slope) else 0
    if not decrease.any():
        return None
    error = _ROUNDING * (2.0 * size / abs(slope[best]) + 1.0 / separated[best])
    if error >= 1.0:
        return None
    best = first_best(decrease, (_TIE + error) * decrease[best])
    return best, float(slope[best] / separated[best])
