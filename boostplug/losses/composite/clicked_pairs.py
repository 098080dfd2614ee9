"""Pairs of two clicked documents, which `Unbiased` subtracts by the method of Kurennoy et al."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.losses.base.pair_loss import PairLoss, pairs_to_learn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MAX_PAGE = 2000  # documents; all pairs of them are 2 million
_MIN_WEIGHT = 1e-12  # beside a click at position 1


class ClickedPairs(NamedTuple):
    """Clicked documents of pages with several clicks, and their pairs.

    Attributes
    ----------
    rows : ndarray of shape (n_clicked,)
        Of all queries.
    queries : Queries
        These rows alone, one query for each page, with pairs. They weigh what is to be subtracted.
    of_pages_without_others : Queries or None
        The same with the pairs of pages on which all documents were clicked; None if there are none.
    """

    rows: Ints
    queries: Queries
    of_pages_without_others: Queries | None


def clicked_pairs(queries: Queries, click_weight: Floats, base: PairLoss, *, independent: bool) -> ClickedPairs | None:
    r"""Return the pairs of clicked documents of each page; None if none of them weighs anything.

    `click_weight`, 1/θ, is of each row. Of documents i and j, i over j weighs :math:`w_i (w_j - 1)` if looks are
    `independent`, else :math:`\max(w_j - w_i, 0)`.
    """
    clicked = queries.judged & (queries.labels > 0)
    refuse_crowds(queries, clicked, "clicks")
    n_clicked = np.bincount(queries.query_of_row[clicked], minlength=queries.n_queries)
    rows = np.flatnonzero(clicked & (n_clicked[queries.query_of_row] > 1))
    sizes = np.where(n_clicked > 1, n_clicked, 0)
    winner, loser = _pairs_within(sizes)
    of_winner, of_loser = click_weight[rows[winner]], click_weight[rows[loser]]
    weight = of_winner * (of_loser - 1.0) if independent else np.maximum(of_loser - of_winner, 0.0)
    kept = (weight > _MIN_WEIGHT) & (winner != loser)
    if not kept.any():
        return None
    winner, loser, weight = winner[kept], loser[kept], weight[kept]
    row_weight = None if queries.row_weight is None else queries.row_weight[rows]

    def of_pairs(chosen: NDArray[np.bool_], by: Floats | None) -> Queries:
        pairs = Pairs(winner[chosen], loser[chosen], weight=None if by is None else by[chosen])
        return Queries(None, group=sizes, weight=row_weight, pairs=pairs)

    every = np.ones(len(winner), bool)
    unweighted = of_pairs(every, None)
    page = unweighted.query_of_row[winner]
    weight *= _relative_factor(base, queries, unweighted)[page]
    without_others = ~np.isin(page, queries.grade_groups.query)
    return ClickedPairs(
        rows, of_pairs(every, weight), of_pairs(without_others, weight) if without_others.any() else None
    )


def _pairs_within(sizes: Ints) -> tuple[Ints, Ints]:
    """Return winners and losers of all pairs of rows of the same page, a row with itself too."""
    n_losers = np.repeat(sizes, sizes)
    winner = np.repeat(np.arange(len(n_losers)), n_losers)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)  # row of the page
    loser = np.arange(len(winner)) - np.repeat(np.cumsum(n_losers) - n_losers, n_losers) + first[winner]
    return winner, loser


def _relative_factor(base: PairLoss, queries: Queries, clicked: Queries) -> Floats:
    """Return the ratio of the base's factor for each page's other pairs to that for its clicked pairs."""
    own, others = np.ones((2, queries.n_queries))
    for factors, among in ((own, clicked), (others, queries)):
        groups = pairs_to_learn(among)
        factors[groups.query] = base.normalization_factors(among) / groups.unit
    has_others = np.zeros(queries.n_queries, bool)  # pages on which all were clicked keep their own factor
    has_others[queries.grade_groups.query] = True
    return np.where(has_others, others / own, 1.0)


def refuse_crowds(queries: Queries, counted: NDArray[np.bool_], what: str) -> None:
    """Raise for a query of so many documents that it is no page, and that pairs of them would take minutes."""
    found = np.bincount(queries.query_of_row[counted], minlength=queries.n_queries)
    if (found > _MAX_PAGE).any():
        q = int(np.argmax(found))
        raise ValueError(
            f"query {q} holds {found[q]:,} documents with {what}, and a page shows few: pass each result page as a "
            "query of its own, with one document at each position"
        )
