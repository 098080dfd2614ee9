"""Probabilities that each document of a list is the chosen one: `choice_probabilities` and `ChoiceLogLoss`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import as_vector, check_values, scores_of_rows
from boostplug.data.boundaries import boundaries_of
from boostplug.data.queries import Queries
from boostplug.metrics.metric import Metric

_FAR = 1e300  # scores beyond it are cut: differences stay finite


def choice_probabilities(scores: ArrayLike, *, qid: ArrayLike | None = None, group: ArrayLike | None = None) -> Floats:
    r"""Return the probability that each document is the one chosen of its list: the softmax of the list's scores.

    .. math:: p_i = e^{F_i} / \sum_j e^{F_j}

    These are the probabilities that ``ListNet(target="labels")`` fits, the conditional logit (McFadden 1974). Scores
    of losses that learn an order only have no such meaning.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Finite real numbers, such as a model's predictions.
    qid : array-like of shape (n_rows,), optional
        Query id of each row. The rows of a query stand together. Exactly one of `qid` and `group` is given; for a
        single list, ``group=[len(scores)]``.
    group : array-like of shape (n_queries,), optional
        Sizes of the queries in row order.

    Returns
    -------
    ndarray of shape (n_rows,), float64 From 0 to 1. Those of a list sum to 1.

    Raises
    ------
    ValueError
        If a score is not finite, or the queries do not fit the scores.

    Examples
    --------
    >>> choice_probabilities([2.0, 1.0, 0.5, 0.5], qid=["a", "a", "b", "b"]).round(3)
    array([0.731, 0.269, 0.5  , 0.5  ])
    """
    checked = scores_of_rows(scores, len(as_vector("scores", scores)), finite=True, qid=qid)
    boundaries = boundaries_of(group, qid, len(checked), rows_of="scores")
    sizes = np.diff(boundaries)
    shares = np.exp(_below_best(checked, boundaries))
    query = np.repeat(np.arange(len(sizes)), sizes)
    probabilities: Floats = shares / np.bincount(query, shares, len(sizes))[query]
    return probabilities


@dataclass(frozen=True)
class ChoiceLogLoss(Metric):
    r"""Minus the log of the probability of the chosen document, where scores stand for `choice_probabilities`.

    .. math:: -\sum_i P_i \log p_i, \qquad
              p_i = \frac{v_i\, e^{F_i}}{\sum_j v_j\, e^{F_j}}, \quad P_i = \frac{v_i\, r_i}{\sum_j v_j\, r_j}

    over the judged documents of a query, with v the row weights, which are 1 as a rule. With one chosen document this
    is minus the log likelihood of the choice. Several count by their labels. Without a label above 0 a query has no
    value (NaN). A list of n documents with equal scores has log n.

    It judges probabilities, and the order only by them. Scores that have this meaning come from
    ``ListNet(target="labels")``.

    Notes
    -----
    A document of weight v stands in its list v times, as in `ListNet`. This is its value over the list's weight. Scores
    beyond ±1e300 count as ±1e300.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 0, 0, 1], group=[3, 2])
    >>> ChoiceLogLoss().per_query([2.0, 1.0, 1.0, 0.0, 0.0], queries).round(4)
    array([0.5514, 0.6931])
    """

    greater_is_better: ClassVar[bool] = False

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the log loss of the choice in each query."""
        lists, values = queries.judged_lists, np.full(queries.n_queries, np.nan)
        check_values("labels", queries.judged & (queries.labels < 0.0), queries.labels, "is below 0, and so no share")
        if not len(lists.query):
            return values
        first, sizes = lists.start[:-1], np.diff(lists.start)
        shifted = _below_best(np.clip(scores[lists.rows], -_FAR, _FAR), lists.start)
        log_total = np.log(np.add.reduceat(lists.weight * np.exp(shifted), first))
        shares = lists.label_shares
        cost = np.add.reduceat(shares * (np.repeat(log_total, sizes) - shifted - np.log(lists.weight)), first)
        values[lists.query] = np.where(np.maximum.reduceat(lists.grade, first) > 0.0, cost, np.nan)
        return values


def _below_best(scores: Floats, boundaries: Ints) -> Floats:
    """Return the scores less the best score of their list; lists may be empty."""
    sizes = np.diff(boundaries)
    filled = sizes > 0
    best = np.maximum.reduceat(scores, boundaries[:-1][filled]) if filled.any() else np.zeros(0)
    below: Floats = scores - np.repeat(best, sizes[filled])
    return below
