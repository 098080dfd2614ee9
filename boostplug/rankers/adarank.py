"""`AdaRankRanker`: boosting of single features on any metric of a ranking (Xu & Li, SIGIR 2007)."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.best_round import BestRound
from boostplug.core.checks import check_choice, check_flag, check_instance, check_integer
from boostplug.data.queries import Queries
from boostplug.metrics import MAP, Metric
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.weak_rankers import Feature
from boostplug.weak_rankers.stump import first_best

_MAX_ALPHA = 10.0  # α of φ = 1 - 4e-9; a perfect weak ranker, φ = 1, has an infinite α
_TIE = 1e-12  # relative; below it, the order of summation decides
_OUT_OF_RANGE = 1e-9  # excess over [-1, 1] that is more than rounding


@dataclass(kw_only=True, eq=False, repr=False)
class AdaRankRanker(ReferenceRanker):
    r"""AdaRank: a linear model of features, boosted on a ranking metric by weights of the queries.

    .. math:: f_T = \sum_t \alpha_t h_t, \qquad
              \alpha_t = \frac12 \ln\frac{\sum_q P_t(q)\,(1 + E(h_t)_q)}{\sum_q P_t(q)\,(1 - E(h_t)_q)}, \qquad
              P_{t+1}(q) \propto w_q\, e^{-E(f_t)_q}

    Xu & Li (2007), Figure 1, with the weak rankers of Section 3.6: :math:`h_t` is the feature of the largest
    :math:`\varphi_t = \sum_q P_t(q) E(h_t)_q`, E the metric of each query and :math:`w_q` its weight (the paper: 1).

    Parameters
    ----------
    metric : Metric, default MAP()
        E, higher is better, each query's value within [-1, 1]. The default MAP takes grades of 1 and more as relevant,
        as LETOR does (the paper: 2 on OHSUMED).
    n_estimators : int, default 500
        Largest number of rounds T.
    stop : {"patience", "paper"}, default "patience"
        "paper": end at the first round in which the mean of E does not improve, and leave that round out.
        "patience": end after `patience` such rounds in a row. Either way the model keeps the rounds up to the best.
        The mean is over the queries of the last entry of ``eval_set``, or without one over the training queries. With
        ``early_stopping_rounds`` training ends by the rule that applies first. If that or ``eval_metric`` is passed,
        ``eval_metric`` chooses the best round instead of E.
    patience : int, default 10
        Number of rounds, at least 1; "paper" is a patience of 1.
    no_repeat : bool, default True
        Choose each feature at most once. False: any number of times, as in the paper.
    negated : bool, default True
        Also try each feature with its sign reversed. A feature for which lower is better, such as a distance or a
        price, then gets a negative weight. With `no_repeat`, a feature is chosen with one sign only. False: only the
        features themselves, as in the paper (see Notes).
    random_state : None
        Without effect: the algorithm is not random.

    Attributes
    ----------
    history_ : dict of ndarray
        Values by round, also of rounds after the best. Means over the training queries are weighted.

        - ``feature``, ``sign`` (-1: reversed), ``alpha`` > 0, ``capped`` (1: a perfect weak ranker, see Notes);
        - ``phi``; ``delta_min`` and ``bound`` of Theorem 1;
        - ``train_metric``, the mean of E(f_t);
        - ``risk``, the mean of e^{-E(f_t)} that AdaRank minimises (Eq. 6);
        - with an ``eval_set``, ``valid_metric``, which `stop` reads.
    stop_reason_ : str
        Why training ended.

    Notes
    -----
    *Repeated features.* The feature just chosen is often the best again. To add to its weight does not change the order
    of the documents. So the paper's rule stops after one to three rounds, and patience without `no_repeat` does not
    help. The table has the test MAP with an ``eval_set``, the mean of LETOR's five folds. "Paper" is stop="paper",
    no_repeat=False, negated=False; "LETOR" is what LETOR publishes.

    ======================= ======== ===== =====
    model, data set         defaults paper LETOR
    ======================= ======== ===== =====
    AdaRank-MAP, OHSUMED    .4478    .4404 .4487
    AdaRank-MAP, MQ2008     .4732    .4711 .4764
    AdaRank-NDCG@5, OHSUMED .4500    .4428 .4498
    AdaRank-NDCG@5, MQ2008  .4682    .4712 .4824
    ======================= ======== ===== =====

    The standard errors of the differences over queries are .002 to .003. Without an ``eval_set`` the best training
    round of the defaults overfits on MQ2008 (AdaRank-MAP .4653 against .4696).

    *Features for which lower is better.* Of the paper's features, higher is always better. MAP is positive for every
    order, so the paper's algorithm gives positive weights to other features too. The table has the test MAP (NDCG@5) of
    models trained on that metric with an ``eval_set``. It is the mean over six sets. Of the MSLR sample, OHSUMED and
    MQ2008 there are two folds each, of Yandex, NFCorpus and Jester 300 training queries each.

    ========================= ============== =============
    signs of the features     negated=False  negated=True
    ========================= ============== =============
    as in the data            .6092 (.5089)  .6089 (.5078)
    a random half reversed    .6061 (.5036)  .6089 (.5078)
    all reversed              .4981 (.3476)  .6089 (.5078)
    ========================= ============== =============

    On the five folds of OHSUMED and of MQ2008 both give the same model.

    *Perfect weak rankers.* α is infinite if its denominator is 0. Here it is at most 10.

    *Useless weak rankers.* If no weak ranker has φ > 0, all α are at most 0, and training ends.

    *Theorem 1* for the α of this implementation (with the paper's, the second factor is
    :math:`\sqrt{1 - \varphi_t^2}`):

    .. math:: \sum_q P_1(q) E(f_T)_q \ge 1 - \prod_t e^{-\delta^t_{\min}}
              \left(\tfrac{1+\varphi_t}{2} e^{-\alpha_t} + \tfrac{1-\varphi_t}{2} e^{\alpha_t}\right), \\
              \delta^t_{\min} = \min_q \left[E(f_t)_q - E(f_{t-1})_q - \alpha_t E(h_t)_q\right]

    with :math:`E(f_0) = 0`. The bound is often vacuous: below 0 and falling.

    *Data.* Queries on which the metric is undefined (MAP: without relevant documents) are left out. So are rows of
    weight 0. The weight of a query is the mean weight of its other rows, in :math:`P_1(q) = w_q / \sum w` and in every
    later P. The metric handles rows without a label and equal scores. A missing value scores 0. Among weak rankers of
    equal φ, the first in column order is chosen, and a feature before its negative.

    E of each weak ranker is computed once: O((F + T) n log n) time for F features, n rows and T rounds, O(n F) memory.

    References
    ----------
    Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.

    Examples
    --------
    >>> X = [[2, 2], [3, 3], [3, 0], [2, 2], [3, 1], [3, 0], [0, 3], [3, 2]]
    >>> ranker = AdaRankRanker().fit(X, [0, 1, 0, 0, 1, 0, 0, 1], group=[4, 4])
    >>> ranker.history_["feature"], ranker.history_["alpha"].round(3)
    (array([1, 0]), array([1.076, 1.054]))
    >>> ranker.history_["train_metric"].round(3)
    array([0.792, 1.   ])
    """

    metric: Metric = MAP()  # noqa: RUF009 (an immutable value)
    n_estimators: int = 500
    stop: Literal["patience", "paper"] = "patience"
    patience: int = 10
    no_repeat: bool = True
    negated: bool = True
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        metric = check_instance("metric", self.metric, Metric, "MAP()")
        if not metric.greater_is_better:
            raise ValueError(f"metric must be one of which higher is better; got {metric!r}")
        check_choice("stop", self.stop, ("patience", "paper"))
        check_integer("patience", self.patience, 1)
        check_flag("no_repeat", self.no_repeat)
        check_flag("negated", self.negated)

    def _rounds(self, training: Training) -> Rounds:
        metric = self.metric
        X, queries = _rows_of_positive_weight(training)
        signs = np.repeat([1.0, -1.0] if self.negated else [1.0], X.shape[1])
        columns = np.tile(np.arange(X.shape[1]), len(signs) // X.shape[1])
        E, judged = _performances(metric, X, queries, columns, signs)

        weight = np.ones(len(judged)) if queries.query_weight is None else queries.query_weight[judged]
        initial = weight / weight.sum()
        P = initial
        scores = np.zeros(queries.n_rows)
        performance = np.zeros(len(judged))  # E(f_0) := 0
        scale = 1.0  # Π of Theorem 1
        allowed = np.ones(len(E), bool)
        paper = self.stop == "paper"
        best_round = BestRound(greater_is_better=True, patience=1 if paper else self.patience, tolerance=_TIE)
        validation = training.validation[-1] if training.validation else None
        validation_scores = np.zeros(validation[1].n_rows if validation else 0)
        while allowed.any():
            # 1. The weak ranker with the best weighted performance.
            values = np.where(allowed, E @ P, -np.inf)
            first = first_best(values, _TIE * float(np.abs(values.max())))
            phi = float(E[first] @ P)
            if phi <= _TIE:
                return f"no feature is better than none: the largest weighted mean of the metric is {phi:.3g}"
            # 2. Its weight.
            right, wrong = float(P @ (1.0 + E[first])), float(P @ (1.0 - E[first]))
            capped = right >= wrong * math.exp(2.0 * _MAX_ALPHA)
            alpha = _MAX_ALPHA if capped else 0.5 * math.log(right / wrong)
            # 3. The model.
            weak, sign = Feature(int(columns[first])), signs[first]
            scores += sign * alpha * weak.predict(X)
            before, performance = performance, _performance(metric, scores, queries)[judged]
            if np.isnan(performance).any():
                raise ValueError(f"metric {metric.name} is NaN for a query at some scores and a number at others")
            delta_min = float((performance - before - alpha * E[first]).min())
            scale *= math.exp(-delta_min) * 0.5 * (right * math.exp(-alpha) + wrong * math.exp(alpha))
            # 4. The weights of the queries.
            losses = np.exp(-performance)
            P = initial * losses
            P /= P.sum()
            record = {
                "feature": weak.feature,
                "sign": sign,
                "alpha": alpha,
                "capped": float(capped),
                "phi": phi,
                "delta_min": delta_min,
                "bound": 1.0 - scale,
                "train_metric": float(initial @ performance),
                "risk": float(initial @ losses),
            }
            if validation is not None:
                validation_scores += sign * alpha * weak.predict(validation[0])
                record["valid_metric"] = _mean_on_validation(metric, validation_scores, validation[1])
            best_round.add(record["train_metric" if validation is None else "valid_metric"])
            yield Round(((weak, sign * alpha),), record, keep=best_round.number)
            if best_round.stops:
                return "the mean of the metric has not improved" + ("" if paper else f" in {self.patience} rounds")
            if self.no_repeat:
                allowed[columns == weak.feature] = False
        return "every feature has been chosen"


def _rows_of_positive_weight(training: Training) -> tuple[NDArray[np.float32], Queries]:
    """Return the features and queries, restricted to rows of positive weight."""
    X, queries = training.X, training.queries
    if queries.pairs is not None:
        raise ValueError("pairs cannot be used by AdaRank, whose metric judges whole lists; pass grades as y")
    if queries.row_weight is None:
        return X, queries
    return X[queries.row_weight > 0], queries.of_rows(queries.row_weight > 0)


def _mean_on_validation(metric: Metric, scores: Floats, queries: Queries) -> float:
    value = float(metric(scores, queries))
    if math.isnan(value):
        raise ValueError(
            f"eval_set's last entry holds no query on which {metric.name} is defined, and it decides when training "
            "stops; pass queries with relevant documents, or no eval_set"
        )
    return value


def _performance(metric: Metric, scores: Floats, queries: Queries) -> Floats:
    """Return the metric of each query, within [-1, 1], NaN where undefined."""
    values = metric.per_query(scores, queries)
    beyond = np.abs(values) > 1.0 + _OUT_OF_RANGE
    if beyond.any():
        q = int(np.argmax(beyond))
        raise ValueError(f"metric {metric.name} is {values[q]:g} for query {q}; scale it to values within [-1, 1]")
    return np.clip(values, -1.0, 1.0, out=values)


def _performances(
    metric: Metric, X: NDArray[np.float32], queries: Queries, columns: NDArray[np.int64], signs: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the metric of each weak ranker on each query where it is defined, and the indices of these queries."""
    E = np.empty((len(columns), queries.n_queries))
    for row, column, sign in zip(E, columns, signs, strict=True):
        row[:] = _performance(metric, sign * Feature(column).predict(X), queries)
    judged = np.flatnonzero(~np.isnan(E).any(axis=0))
    if not len(judged):
        raise ValueError(
            f"metric {metric.name} is defined on no training query; check the labels (has any query a relevant "
            "document, and weights above 0?)"
        )
    return E[:, judged], judged
