"""`RankBoostRanker`: RankBoost, discrete and continuous, and RankBoost+."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Ints
from boostplug.core.checks import check_choice, check_flag
from boostplug.data.grade_groups import distinct
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.rankers.critical_pairs import CriticalPairs
from boostplug.rankers.rankboost_plus import NO_EDGE, Descent, efficient_steps, weight_of_cut
from boostplug.weak_rankers import Cuts
from boostplug.weak_rankers.stump import first_best


@dataclass(kw_only=True, eq=False, repr=False)
class RankBoostRanker(ReferenceRanker):
    r"""RankBoost on decision stumps: the predecessors of Freund et al. (2003), and RankBoost+.

    Connamacher et al., "RankBoost+: an improvement to RankBoost", Machine Learning 109 (2020). Equations are numbered
    in that paper. The critical pairs are those of different grades in one query, or `pairs`. Their weights :math:`D_1`
    are proportional to :math:`\sqrt{w_i w_j}` of their rows. Each round picks a stump h with values 0 and 1.
    :math:`\varepsilon^+, \varepsilon^-, \varepsilon^0` are the total weights of the pairs that h ranks right, ranks
    wrong, and ties.

    - "discrete" (Rb-d): :math:`\alpha = \frac12 \ln(\varepsilon^+ / \varepsilon^-)` (14), on
      :math:`\delta = \varepsilon^- - \varepsilon^+` (13).
    - "continuous" (Rb-c): :math:`\alpha = \frac12 \ln\frac{1 + r}{1 - r}` (19), :math:`r = \varepsilon^+ -
      \varepsilon^-`. Both cost O(F n + n K) a round for F features and K grades in a query, or m explicit pairs in
      place of n K.
    - "plus" (Rb+): coordinate descent on :math:`\hat E_2` over linearly independent stumps. Tied pairs are weighted by
      cosh (25), :math:`\delta = \varepsilon^- - \varepsilon^+ + \varepsilon^0 \tanh \alpha'` (33), :math:`\alpha` by
      (34), with α' the current weight of h. Stumps that are linear combinations of chosen ones are dropped (the
      paper's Algorithm 2). All m pairs are listed. A round costs O(F n), and O(m) for each of the R stumps chosen so
      far, at most n. Memory is O(n (F + R) + m).

    Parameters
    ----------
    variant : {"plus", "discrete", "continuous"}, default "plus"
    n_estimators : int, default 100
        Number of rounds.
    max_thresholds : int or None, default 255
        Features with more cuts keep a random subset of this size.
    allow_negative : bool, default True
        True: choose the largest :math:`|\delta|`. A stump may then have a negative weight and prefer low values. (These
        are the paper's leaf labels by weighted majority vote, and Observation 1.) False: only stumps that prefer high
        values. RankBoost+ does not restrict its weights and ignores this.
    random_state : int, RandomState or None, default None
        Seed of the random subsets of `max_thresholds`, and of the order in which "plus" looks for independent stumps.

    Attributes
    ----------
    model_ : Ensemble
    history_ : dict of ndarray of shape (n_rounds,)
        - ``alpha``, ``z`` (:math:`Z_t`), ``delta``, and ``bound``, :math:`\exp(-\frac12 \sum_t \delta_t^2)`, which
          bounds :math:`\prod Z_t` (Theorems 1 and 2);
        - ``e1``, ``r1``, ``r2``, and for "plus" ``e2``: :math:`\hat E_1, \hat R_1, \hat R_2, \hat E_2` in training;
          ties are full errors in :math:`\hat R_1`, half in :math:`\hat R_2`;
        - ``undefined``: 1 if α was infinite (see Notes).
    stop_reason_ : str

    Notes
    -----
    - α is infinite if a stump makes no error. It is then computed as if half a pair of mean weight were ranked right
      and half a pair wrong. ``undefined`` is then 1. The paper leaves this open. To stop there would end Rb-d on small
      tasks in its first rounds. An unbounded weight would let one stump outweigh all others.
    - Stumps that split the documents in pairs alike are one ranker. The authors' code also treats a stump as a
      duplicate of a constant. It stops when one is chosen twice in a row. The paper and this class do not.
    - Linear dependence is tested by Gram-Schmidt with re-orthogonalisation on document vectors, centred by connected
      component of the graph of pairs. The diagonal of a QR decomposition of pair vectors is not used.

    Examples
    --------
    >>> X, y, qid = [[3.0, 1.0], [2.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [2, 1, 0, 0], [1, 1, 1, 1]
    >>> ranker = RankBoostRanker(n_estimators=3, random_state=0).fit(X, y, qid=qid)
    >>> ranker.history_["e2"].round(4)
    array([0.8   , 0.7194, 0.605 ])
    """

    variant: Literal["plus", "discrete", "continuous"] = "plus"
    n_estimators: int = 100
    max_thresholds: int | None = 255
    allow_negative: bool = True
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        check_choice("variant", self.variant, ("plus", "discrete", "continuous"))
        check_flag("allow_negative", self.allow_negative)

    def _rounds(self, training: Training) -> Rounds:
        pairs = CriticalPairs(training.queries)
        cuts = Cuts(training.X, self.max_thresholds, training.random)
        candidates = cuts.distinct(distinct(pairs.row))
        if self.variant != "plus":
            return self._classic(pairs, cuts, candidates)
        return _plus(self._steps(training, cuts, candidates), pairs, training.X)

    def _steps(self, training: Training, cuts: Cuts, candidates: Ints) -> Iterator[Round]:
        """Yield the steps of RankBoost+; docs/studies/replication has another way to take them."""
        return efficient_steps(Descent(training.queries, cuts), candidates, training.random)

    def _classic(self, pairs: CriticalPairs, cuts: Cuts, candidates: Ints) -> Rounds:
        """Run discrete or continuous RankBoost. Steps are numbered by the lines of the paper's Algorithm 1."""
        scores = np.zeros(len(pairs.slope))
        e1, squares = 1.0, 0.0
        while len(candidates):
            # 6: the stump of the largest edge
            edges = cuts.sums_above(pairs.slope)[candidates]
            cut = int(candidates[first_best(np.abs(edges) if self.allow_negative else edges, NO_EDGE)])
            above = cuts.above(cut)
            right, wrong, tied = pairs.split(above)
            delta = wrong - right
            if abs(delta) <= NO_EDGE or (delta > 0.0 and not self.allow_negative):
                return "no weak ranker has an edge left"
            # 7: its weight
            share = tied / 2 if self.variant == "continuous" else 0.0
            alpha, undefined = weight_of_cut(right + share, wrong + share, pairs.n_pairs)
            # 8, 9: the ensemble, and with its scores the distribution
            z = tied + right * np.exp(-alpha) + wrong * np.exp(alpha)
            scores += alpha * above
            pairs.weigh(scores)
            e1 *= z
            squares += delta**2
            record = {"alpha": alpha, "z": z, "delta": delta, "bound": np.exp(-0.5 * squares), "e1": e1}
            record["r1"], record["r2"] = pairs.errors(scores)
            yield Round(((cuts.stump(cut), alpha),), {**record, "undefined": float(undefined)})
            if wrong + tied <= 0.0 or right + tied <= 0.0:
                return "one weak ranker ranks all pairs right"
        return "no feature splits the documents in pairs"


def _plus(steps: Iterator[Round], pairs: CriticalPairs, X: NDArray[np.float32]) -> Rounds:
    """Yield the rounds of RankBoost+'s steps."""
    scores = np.zeros(len(X))
    e2, squares = 1.0, 0.0
    for step in steps:
        for stump, weight in step.terms:
            scores += weight * stump.predict(X)
        record = dict(step.record)
        undefined = record.pop("undefined")
        e2 *= record["z"]
        squares += record["delta"] ** 2
        record |= {"bound": np.exp(-0.5 * squares), "e1": np.exp(pairs.weigh(scores)), "e2": e2}
        record["r1"], record["r2"] = pairs.errors(scores)
        yield Round(step.terms, {**record, "undefined": undefined})
        if undefined and len(step.terms) == 1:
            return "one weak ranker ranks all pairs right"
    return "no weak ranker has an edge left"
