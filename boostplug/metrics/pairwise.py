"""Metrics on pairs of documents of different grades: `PairError` and `PrecisionAtPercent`."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import check_choice, check_flag, check_number, frozen, scores_of_rows
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import precision_at_percent as gaps
from boostplug.kernels.metrics import ranks
from boostplug.metrics.by_rank import whole
from boostplug.metrics.grades import grades_of
from boostplug.metrics.metric import Metric

__all__ = ["PairError", "PrecisionAtPercent"]

Floats = NDArray[np.float64]

_SAMPLE = 1 << 16  # pairs
_MARGIN = 3.0  # standard deviations of their number beyond the cut
_FEWER = 4  # from here on, this many times fewer pairs than documents, they are listed


@dataclass(frozen=True)
class PairError(Metric):
    r"""Share of misordered pairs among the pairs of different grades of a query; lower is better.

    .. math:: \frac1m \sum_{r_i > r_j} \bigl([F_i < F_j] + c\,[F_i = F_j]\bigr)

    With c = 1 this is :math:`\hat R_1`, with c = ½ :math:`\hat R_2` of Freund et al. (2003) and of the RankBoost+
    paper (Connamacher et al. 2020, Eq. 3 and 4). On two grades 1 - :math:`\hat R_2` is the query's AUC. Rows that are
    not labelled take no part. NaN for a query without such a pair. O(n log n) for a query of n documents.

    Parameters
    ----------
    ties : {"full", "half", "order"}, default="full"
        "full": a tied pair is an error. "half": it is half an error, the expected value over a random order of the
        tied documents. "order": documents with tied scores stay in file order.
    pooled : bool, default=False
        False: the metric's value is the mean over queries. True: the share among the pairs of all queries together,
        as the paper has it for a task of many queries; a pair counts with its query's weight. `per_query` is the same.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([2, 1, 0, 1, 0], group=[3, 2])
    >>> PairError().per_query([3.0, 1.0, 1.0, 0.0, 1.0], queries).round(4)
    array([0.3333, 1.    ])
    >>> PairError(ties="half").per_query([3.0, 1.0, 1.0, 0.0, 1.0], queries).round(4)
    array([0.1667, 1.    ])
    >>> PairError(pooled=True)([3.0, 1.0, 1.0, 0.0, 1.0], queries)
    0.5
    """

    greater_is_better: ClassVar[bool] = False

    ties: Literal["full", "half", "order"] = "full"
    _: KW_ONLY
    pooled: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice("ties", self.ties, ("full", "half", "order"))
        object.__setattr__(self, "pooled", check_flag("pooled", self.pooled))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the share of each query."""
        grades = grades_of(queries)
        in_order = self.ties == "order"
        wrong, tied, _ = ranks.discordance(scores, grades, queries.boundaries, in_order=in_order)
        errors = wrong + (tied if self.ties == "full" else 0.5 * tied)
        values: Floats = np.divide(
            errors, grades.n_pairs, out=np.full(queries.n_queries, np.nan), where=grades.n_pairs > 0
        )
        return values

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the sum over queries, or over pairs if `pooled`, and the weight of these; see `Metric`."""
        if not self.pooled:
            return super().sum_and_count(scores, queries)
        shares = self.per_query(scores, queries)
        pairs = grades_of(queries).n_pairs
        weight = pairs if queries.query_weight is None else pairs * queries.query_weight
        return float(weight @ np.where(pairs > 0, shares, 0.0)), float(weight.sum())


@dataclass(frozen=True)
class PrecisionAtPercent(Metric):
    r"""Share of pairs that are not contradicted among the p% whose scores are farthest apart.

    Zheng et al., "A general boosting method and its application to learning ranking functions for web search" (QBRank,
    NIPS 2007), "precision at K%": the pairs of different grades are sorted by :math:`|F_i - F_j|`; the scores
    contradict a pair if they put the lower grade first. A tie contradicts nothing.

    The pairs of all queries are sorted together, so that the metric's value is no mean over queries: it is the share
    among the first p% of all pairs, each with its query's weight. `per_query` gives each query's share among the first
    p% of its own pairs, NaN where it has none. At p = 100 both are 1 - :math:`\hat R` with ties as no error.

    p% of m pairs need be no whole number, and pairs equally far apart have no order: the pairs exactly as far apart as
    the last one count in equal parts, so that p% of the weight is counted (the expected value over their order). Rows
    that are not labelled take no part. Unlike the other metrics it depends on the size of score differences. Memory is
    O(n), whatever the number of pairs.

    Parameters
    ----------
    p : float, default=100
        Percentage, 0 < p ≤ 100 (from 1e-100).

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([2, 1, 0, 1, 0], group=[3, 2])
    >>> scores = [3.0, 0.5, 1.0, 0.0, 9.0]  # pairs 2.5, 2 right; .5, 9 wrong
    >>> PrecisionAtPercent(50)(scores, queries)
    0.5
    >>> PrecisionAtPercent(50).per_query(scores, queries)
    array([1., 0.])
    """

    couples_queries: ClassVar[bool] = True

    p: float = 100

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(
            self, "p", whole(check_number("p", self.p, least=1e-100, most=100, otherwise=", a percentage"))
        )

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the share of each query among its own pairs."""
        pairs = _Preferences(scores, queries)
        return gaps.precision_at_percent(pairs.documents, pairs.n_pairs, self.p / 100)

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:  # noqa: ARG002
        """Refuse: which pairs count depends on the scores of all queries together."""
        raise TypeError(
            f"{self.name} sorts the pairs of all queries together, so that it is no ratio of sums over queries; call "
            "the metric on all queries at once, or take PairError(pooled=True), which is one"
        )

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the share among the pairs of all queries, or what a framework expects of a metric; see `Metric`."""
        if not isinstance(data, Queries):
            return super().__call__(scores, data)
        pairs = _Preferences(scores_of_rows(scores, data.n_rows, finite=False), data)
        if not pairs.total > 0:
            return np.nan
        if self.p == 100:
            return pairs.right() / pairs.total
        wanted = self.p / 100 * pairs.total
        return float(gaps.share_at_the_cut(wanted, *pairs.at_the_cut(wanted)))


class _Apart(NamedTuple):
    """Pairs whose scores are at least some gap apart: their number, their weight, and that of those in order."""

    n: float
    weight: float
    right: float


class _Preferences:
    """The pairs of different grades of all queries: counted from the documents in the order of their scores."""

    def __init__(self, scores: Floats, queries: Queries) -> None:
        grades = grades_of(queries)
        self.n_pairs = grades.n_pairs
        self.weight = frozen(np.ones(queries.n_queries)) if queries.query_weight is None else queries.query_weight
        self.total = float(self.n_pairs @ self.weight)
        self.documents = gaps.documents_by_score(scores, grades, queries.boundaries)

    def right(self) -> float:
        """Return the weight of the pairs that are not contradicted."""
        apart, _, _ = self._apart(gaps.LEAST)
        return self.total - (apart.weight - apart.right)

    def at_the_cut(self, wanted: float) -> tuple[float, float, float, float]:
        """Return weights of pairs, by the largest gap of scores that pairs of weight at least `wanted` reach.

        Of all pairs that far apart, of those not contradicted, and both for the pairs beyond.

        A sample of pairs says between which two gaps the cut likely is: then it is enough to count the pairs beyond and
        to list those between. Where that fails, counts narrow it down, in steps of linear time. The result is exact.
        """
        low, at_low = 0.0, _Apart(float(self.n_pairs.sum()), self.total, np.nan)
        high, beyond = _widest(self.documents), _Apart(0.0, 0.0, 0.0)
        likely_low, likely_high = self._likely_gaps(wanted)
        if low < likely_low <= likely_high < high:
            above = float(np.nextafter(likely_high, np.inf))
            apart, _, _ = self._apart(above)
            if apart.weight >= wanted:
                low, at_low = above, apart
            else:
                high, beyond = likely_high, apart
                found = self._listed(wanted, likely_low, high, beyond)
                if found is not None:
                    return found
        few = max(len(self.documents.score) // _FEWER, 1)
        step = 0
        while low < high:
            if low > 0.0 and at_low.n - beyond.n <= few:
                found = self._listed(wanted, low, high, beyond)
                if found is not None:
                    return found
            slack = 0.4 * few * at_low.weight / at_low.n
            gap = gaps.next_gap(low, high, step, at_low.weight, beyond.weight, wanted, slack)
            apart, least, largest = self._apart(gap)
            if not beyond.n < apart.n < at_low.n:  # perhaps no gap between occurs
                apart, least, largest = self._apart(gap, nearest=True)
            if apart.weight >= wanted:
                low, at_low = least, apart
            else:
                high, beyond = largest, apart
            step += 1
        right = at_low.right if low > 0.0 else self.right()
        return at_low.weight, right, beyond.weight, beyond.right

    def _apart(self, gap: float, *, nearest: bool = False) -> tuple[_Apart, float, float]:
        """Return what is at least `gap` apart, and gaps beside it: see `pairs_apart`."""
        n, wrong, least, largest = gaps.pairs_apart(self.documents, gap, nearest=nearest)
        apart = _Apart(float(n.sum()), float(n @ self.weight), float((n - wrong) @ self.weight))
        return apart, float(least.min(initial=np.inf)), float(largest.max(initial=0.0))

    def _listed(
        self, wanted: float, low: float, high: float, beyond: _Apart
    ) -> tuple[float, float, float, float] | None:
        """Return `at_the_cut` from the pairs between `low` and `high`; None if it is lower, or they are too many."""
        found = gaps.pairs_between(self.documents, self.weight, low, high)
        if found is None or beyond.weight + found.by_bin[0].sum() < wanted:
            return None
        by_bin, right_by_bin = found.by_bin
        at = len(by_bin) - 1 - int(np.searchsorted(beyond.weight + np.cumsum(by_bin[::-1]), wanted))
        total, total_right = beyond.weight + by_bin[at + 1 :].sum(), beyond.right + right_by_bin[at + 1 :].sum()
        gap, right, weight, _ = found.in_bin(at)
        order = np.argsort(-gap)
        last = min(int(np.searchsorted(total + np.cumsum(weight[order]), wanted)), len(order) - 1)
        cut = gap[order[last]]
        farther, reached = gap > cut, gap >= cut
        return (
            float(total + weight[reached].sum()),
            float(total_right + (weight * right)[reached].sum()),
            float(total + weight[farther].sum()),
            float(total_right + (weight * right)[farther].sum()),
        )

    def _likely_gaps(self, wanted: float) -> tuple[float, float]:
        """Return gaps likely just below and above the one at the cut, by a sample of pairs; 0 where these are few."""
        score, code, start, _ = self.documents
        size = np.diff(start)
        drawn = np.cumsum(self.weight * size.astype(np.float64) ** 2)  # equal grades are dropped below
        if self.n_pairs.sum() < 100 * _SAMPLE:
            return 0.0, 0.0
        rng = np.random.default_rng(0)
        place, first, second = rng.random((3, _SAMPLE))
        query = np.searchsorted(drawn, (np.arange(_SAMPLE) + place) * (drawn[-1] / _SAMPLE), side="right")
        query = np.minimum(query, len(size) - 1)
        i, j = (start[query] + (u * size[query]).astype(np.int64) for u in (first, second))
        preferred = code[i] != code[j]
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(score[i] - score[j])[preferred]
        np.nan_to_num(apart, copy=False, posinf=np.inf)
        m, share = len(apart), wanted / self.total
        if m == 0:
            return 0.0, 0.0
        margin = _MARGIN * np.sqrt(share * (1.0 - share) * m) + 1.0
        places = np.clip((m * (1.0 - share) + np.array([-margin, margin])).astype(np.int64), 0, m - 1)
        low, high = np.partition(apart, places)[places]
        return float(low), float(high)


def _widest(documents: gaps.Documents) -> float:
    """Return the widest gap of scores in any query."""
    x, start = documents.score, documents.start
    with_rows = start[1:] > start[:-1]
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.nanmax(x[start[:-1][with_rows]] - x[start[1:][with_rows] - 1], initial=0.0))
