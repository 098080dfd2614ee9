"""`Pairs`: explicit preference pairs of rows, from clicks or judges."""

from functools import partial
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import Immutable, as_floats, as_vector, check_order, check_values, check_weights, frozen
from boostplug.core.randomness import RandomState, generator
from boostplug.data.boundaries import boundaries_of, row_weight_of
from boostplug.data.click_log import ClickLog
from boostplug.data.click_pairs import log_of, pairs_of_clicks, pairs_of_implicit

_LAST_ROW = 2**62  # products of row numbers with small ones stay within int64


@final
class Pairs(Immutable):
    """Preference pairs: row ``winner[k]`` should rank above row ``loser[k]``. Immutable.

    Parameters
    ----------
    winner, loser : array-like of int of shape (n_pairs,)
        Row indices from 0 (CatBoost's order: winner, loser). A pair may occur several times. It may connect two
        queries, and then belongs to its winner's query.
    weight : array-like of shape (n_pairs,), optional
        Weights, each 0 or from 1e-100 to 1e100. They are multiplied by √(w_i w_j) of the rows. Default: 1.
    margin : array-like of shape (n_pairs,), optional
        The pair's grade gap, from 1e-100 to 1e100: how strong the preference is. `MPBoost` takes its distance, `QBRank`
        takes it as τ. Default: 1.

    Raises
    ------
    ValueError
        If lengths differ, an index is negative or not an integer, a row is paired with itself, or a weight or margin is
        invalid.

    Examples
    --------
    >>> pairs = Pairs([0, 2], [1, 1], margin=[1.0, 2.0])
    >>> pairs
    Pairs(n_pairs=2)
    >>> len(pairs)
    2
    """

    winner: Ints
    loser: Ints
    weight: Floats | None
    margin: Floats | None

    def __init__(
        self, winner: ArrayLike, loser: ArrayLike, *, weight: ArrayLike | None = None, margin: ArrayLike | None = None
    ) -> None:
        rows = {"winner": _rows("winner", winner), "loser": _rows("loser", loser)}
        n = len(rows["winner"])
        if len(rows["loser"]) != n:
            raise ValueError(f"winner and loser must have one row per pair each; got {n} and {len(rows['loser'])}")
        same = rows["winner"] == rows["loser"]
        check_values("winner", same, rows["winner"], "is its own loser; a pair needs two rows")
        self.__dict__.update(rows)
        for name, values in (("weight", weight), ("margin", margin)):
            array = None if values is None else as_floats(name, values)
            if array is not None:
                if len(array) != n:
                    raise ValueError(f"{name} must have one value per pair ({n}), got {len(array)} values")
                check_weights(name, array, zero=name == "weight")
                frozen(array)
            self.__dict__[name] = array

    @classmethod
    def from_clicks(
        cls,
        clicked: ArrayLike | ClickLog,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        position: ArrayLike | None = None,
        rule: Literal["skip_above", "skip_next", "all_unclicked"] = "skip_above",
        row: ArrayLike | None = None,
        impressions: ArrayLike | None = None,
        propensity: Any = None,
        max_weight: float = 10.0,
        weight: ArrayLike | None = None,
        min_impressions: int = 1,
    ) -> "Pairs":
        """Return preference pairs from clicks: a clicked document over unclicked documents of its page.

        Parameters
        ----------
        clicked : array-like of shape (n_rows,), or ClickLog
            1 where the document was clicked, else 0: one row per document shown, the rows of a page together. With
            `impressions`: how often it was clicked. A `ClickLog` has pages, positions and impressions of its own.
        qid, group : array-like
            Id of each row's page, or sizes of the pages. Exactly one is given.
        position : array-like of int of shape (n_rows,), optional
            Position on the page, from 1. The rows of a page may be in any order. Required, except by the rule
            "all_unclicked" without `propensity`.
        rule : {"skip_above", "skip_next", "all_unclicked"}, default "skip_above"
            Unclicked documents of the page over which a clicked one is preferred. "skip_above": those above it, which
            the user has probably seen. "skip_next": the one at the next position. "all_unclicked": all, for
            `propensity`. With only "skip_above" the model learns the reverse of the displayed order, since every pair
            contradicts it.
        row : array-like of int of shape (n_rows,), optional
            Index of each document in your data, the rows of ``X``. Pairs then number those rows. The same pair from
            several pages becomes one; its weights are added. Default: pairs number the rows of the log.
        impressions : array-like of int of shape (n_rows,), optional
            How often each row was shown, for counts summed over pages. A page then holds the rows of one query: one for
            each document, or for each document and position.
        propensity : array-like of shape (n_positions,), optional
            Probability that users look at position 1, 2, …, relative to the first, above 0; or an object with the
            attribute `propensity`. A pair's weight is divided by the propensity of its winner's position.
        max_weight : float, default 10.0
            Upper bound of the factor by which `propensity` multiplies a weight.
        weight : array-like of shape (n_pages,) or (n_rows,), optional
            Weight of each page, or of the pairs that each row wins. Default: 1.
        min_impressions : int, default 1
            With `impressions`: use only rows that were shown at least so often.

        Returns
        -------
        Pairs
            Without `impressions` each click over one document weighs 1. Both directions of a pair may occur.

        Raises
        ------
        ValueError
            If an argument has the wrong shape or an invalid value, a page has one position twice (without
            `impressions`), or all rows have one position and the rule compares positions.

        See Also
        --------
        Pairs.from_implicit : purchases or plays, without a log of what was shown.

        Notes
        -----
        With `impressions`, row i is preferred to row j if its click rate is higher, c_i / n_i > c_j / n_j. Also, j must
        stand where the rule says: at a smaller position, at the next one, anywhere. The weight is c_i - n_i c_j / n_j:
        the clicks on i beyond those that j's rate would have given. With one impression of each row these are the pairs
        and weights of the rule. Zheng et al. (2007) compare the click rates of two documents too, and keep pairs whose
        rates differ significantly. The weight is ours.

        A page of n rows with c clicked ones takes O(c n).

        References
        ----------
        T. Joachims. Optimizing search engines using clickthrough data. KDD 2002: "skip_above".

        T. Joachims, L. Granka, B. Pan, H. Hembrooke and G. Gay. Accurately interpreting clickthrough data as implicit
        feedback. SIGIR 2005: "skip_above" and "skip_next" compared with judgements.

        Z. Zheng, K. Chen, G. Sun and H. Zha. A regression framework for learning ranking functions using relative
        relevance judgments. SIGIR 2007: click counts.

        T. Joachims, A. Swaminathan and T. Schnabel. Unbiased learning-to-rank with biased feedback. WSDM 2017: weights
        of clicks by inverse propensities.

        Examples
        --------
        The user skipped positions 1 and 2, and clicked the third:

        >>> pairs = Pairs.from_clicks([0, 0, 1, 0], group=[4], position=[1, 2, 3, 4])
        >>> pairs.winner, pairs.loser
        (array([2, 2]), array([0, 1]))

        Two pages show the rows 7, 5 and 9 of the data:

        >>> pairs = Pairs.from_clicks(
        ...     [0, 0, 1, 0, 1, 0], group=[3, 3], position=[1, 2, 3, 1, 2, 3], row=[7, 5, 9, 7, 9, 5]
        ... )
        >>> pairs.winner, pairs.loser, pairs.weight
        (array([9, 9]), array([5, 7]), array([1., 2.]))
        """
        log = log_of(clicked, rule, qid=qid, group=group, position=position, impressions=impressions)
        check_order(clicked=log, row=row, weight=weight)
        rows = None if row is None else _rows("row", row)
        if propensity is not None and position is None and log is not clicked:
            raise ValueError("position is missing, and propensity holds one number per position; pass position=")
        winner, loser, weights = pairs_of_clicks(log, rule, rows, propensity, max_weight, weight, qid, min_impressions)
        return cls(winner, loser, weight=weights)

    @classmethod
    def from_implicit(
        cls,
        consumed: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        n_negatives: int = 5,
        weight: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> "Pairs":
        """Return preference pairs of consumed candidates, such as purchases or plays, over others drawn at random.

        Not consumed does not mean disliked: the user may never have seen the candidate. If a log contains the displayed
        pages, use `from_clicks`, which compares only documents of one page.

        Parameters
        ----------
        consumed : array-like of shape (n_rows,)
            Above 0 if the user consumed the candidate: a flag, a count or an amount. One row per candidate of a query
            or user.
        qid, group : array-like
            Id of each row's query (or user), with the rows of a query together, or sizes of the queries. Exactly one is
            given.
        n_negatives : int, default 5
            Number of rows of the query, not consumed, over which each consumed row is preferred. They are drawn without
            replacement. All are used if there are fewer.
        weight : array-like of shape (n_queries,) or (n_rows,), optional
            Weight of each query, or of the pairs that each row wins: ``weight=consumed`` weights by counts. Default: 1.
        random_state : int, Generator, RandomState or None, default None
            Seed of the draw.

        Returns
        -------
        Pairs
            Sorted by winner.

        Raises
        ------
        ValueError
            If an argument has the wrong shape or an invalid value.

        See Also
        --------
        Pairs.from_clicks : clicks on logged pages.

        References
        ----------
        S. Rendle, C. Freudenthaler, Z. Gantner and L. Schmidt-Thieme. BPR: Bayesian personalized ranking from implicit
        feedback. UAI 2009.

        Examples
        --------
        >>> pairs = Pairs.from_implicit([0, 3, 0, 1], group=[4], n_negatives=5, random_state=0)
        >>> sorted(zip(pairs.winner.tolist(), pairs.loser.tolist()))
        [(1, 0), (1, 2), (3, 0), (3, 2)]
        """
        check_order(consumed=consumed, qid=qid, weight=weight)
        boundaries = boundaries_of(group, qid, len(as_vector("consumed", consumed)), rows_of="consumed")
        row_weight = row_weight_of(weight, boundaries, qid)
        winner, loser = pairs_of_implicit(consumed, boundaries, n_negatives, generator(random_state))
        return cls(winner, loser, weight=None if row_weight is None else row_weight[winner])

    def __len__(self) -> int:
        return len(self.winner)

    def __repr__(self) -> str:
        return f"Pairs(n_pairs={len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Pairs, weight=self.weight, margin=self.margin), (self.winner, self.loser)

    def check_rows(self, n_rows: int) -> None:
        """Raise if a row index is not below `n_rows`."""
        for name in ("winner", "loser"):
            rows = getattr(self, name)
            check_values(name, rows >= n_rows, rows, f"is beyond the last of {n_rows} rows; rows count from 0")

    def of_rows(self, rows: Ints, n_rows: int) -> tuple["Pairs", int]:
        """Return the pairs within the chosen `rows`, renumbered by their indices there, and the number of cut pairs.

        A pair is cut if only one of its rows is chosen. A row chosen twice is refused, because the index for its pairs
        would be ambiguous.
        """
        self.check_rows(n_rows)
        again = np.ones(len(rows), bool)
        again[np.unique(rows, return_index=True)[1]] = False
        check_values("rows", again, rows, "is chosen a second time; pairs can follow each row to one place only")
        place = np.full(n_rows, -1)
        place[rows] = np.arange(len(rows))
        winner, loser = place[self.winner], place[self.loser]
        inside = (winner >= 0) & (loser >= 0)
        kept = Pairs(
            winner[inside],
            loser[inside],
            weight=None if self.weight is None else self.weight[inside],
            margin=None if self.margin is None else self.margin[inside],
        )
        return kept, int(((winner >= 0) != (loser >= 0)).sum())


def _rows(name: str, values: ArrayLike) -> Ints:
    array = as_vector(name, values)
    if array.size == 0:
        return frozen(np.zeros(0, np.int64))
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold row indices, got dtype {array.dtype}; convert them to integers")
    check_values(name, array < 0, array, "is negative; rows count from 0")
    check_values(name, array > _LAST_ROW, array, "is beyond the last row there can be; rows count from 0")
    return frozen(array.astype(np.int64))
