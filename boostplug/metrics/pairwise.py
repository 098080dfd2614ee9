"""Metrics on pairs of documents of different grades: `PairError` and `PrecisionAtPercent`."""

from dataclasses import KW_ONLY, dataclass
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.kernels import ranking
from boostplug.metrics.grades import Grades, discordance, grades_of
from boostplug.metrics.metric import Metric, check_choice, checked_scores
from boostplug.queries import Queries, frozen
from boostplug.threads import run_over_queries

__all__ = ["PairError", "PrecisionAtPercent"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SAMPLE = 1 << 17  # pairs


@dataclass(frozen=True)
class PairError(Metric):
    r"""Share of misordered pairs among the pairs of different grades of a query; lower is better.

    .. math:: \frac1m \sum_{r_i > r_j} [F_i < F_j] + c\,[F_i = F_j]

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
        if not isinstance(self.pooled, (bool, np.bool_)):
            raise ValueError(f"pooled must be True or False; got {self.pooled!r}")
        object.__setattr__(self, "pooled", bool(self.pooled))

    def compute(self, scores: Floats, queries: Queries) -> Floats:
        """Return the share of each query."""
        grades = grades_of(queries)
        wrong, tied, _ = discordance(scores, queries, in_order=self.ties == "order")
        errors = wrong + (tied if self.ties == "full" else 0.5 * tied)
        values: Floats = np.divide(
            errors, grades.n_pairs, out=np.full(queries.n_queries, np.nan), where=grades.n_pairs > 0
        )
        return values

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the mean over queries or pairs, or what a framework expects of a metric; see `Metric`."""
        if not self.pooled or not isinstance(data, Queries):
            return super().__call__(scores, data)
        shares = self.per_query(scores, data)
        pairs = grades_of(data).n_pairs
        weight = pairs if data.query_weight is None else pairs * data.query_weight
        total = weight.sum()
        return float(weight @ np.where(pairs > 0, shares, 0.0) / total) if total > 0 else np.nan


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
        Percentage, 0 < p ≤ 100.

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

    p: float = 100

    def __post_init__(self) -> None:
        """Check the parameters."""
        p = self.p
        if isinstance(p, (bool, np.bool_)) or not isinstance(p, Real) or not isfinite(p) or not 0 < p <= 100:
            raise ValueError(f"p must be a percentage, 0 < p <= 100; got {p!r}")
        object.__setattr__(self, "p", int(p) if float(p).is_integer() else float(p))

    def compute(self, scores: Floats, queries: Queries) -> Floats:
        """Return the share of each query among its own pairs."""
        pairs = _Preferences(scores, queries)
        out = np.empty(queries.n_queries)
        share = self.p / 100
        run_over_queries(
            lambda a, b: ranking.precision_at_percent(*pairs.documents, pairs.n_pairs, share, a, b, out), pairs.starts
        )
        return out

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the share among the pairs of all queries, or what a framework expects of a metric; see `Metric`."""
        if not isinstance(data, Queries):
            return super().__call__(scores, data)
        pairs = _Preferences(checked_scores(scores, data), data)
        weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
        total = float(pairs.n_pairs @ weight)
        if not total > 0:
            return np.nan
        if self.p == 100:
            return float((pairs.n_pairs - pairs.wrong_beyond(0.0)) @ weight / total)
        wanted = self.p / 100 * total
        return float(ranking.share_at_the_cut(wanted, *pairs.at_the_cut(wanted, weight)))


class _Preferences:
    """The pairs of different grades of all queries, never listed: documents sorted by score, and by grade and score."""

    def __init__(self, scores: Floats, queries: Queries) -> None:
        grades = grades_of(queries)
        self.n_pairs = grades.n_pairs
        self.starts, run_start, query_run = queries.remember(("runs of grades",), lambda: _runs(queries, grades))
        n = int(self.starts[-1])
        self.code = np.empty(n, np.int64)
        self.sorted, by_grade = np.empty(n), np.empty(n)
        self.documents = (self.sorted, self.code, by_grade, self.starts, run_start, query_run)
        self._gaps = (self.sorted, by_grade, self.starts, run_start, query_run)
        boundaries, code, starts = queries.boundaries, grades.code, self.starts
        run_over_queries(
            lambda a, b: ranking.by_score_and_grade(
                scores, code, boundaries, starts, run_start, query_run, a, b, self.sorted, self.code, by_grade
            ),
            boundaries,
        )

    def at_the_cut(self, wanted: float, weight: Floats) -> tuple[float, float, float, float]:
        """Return weights of pairs, by the largest gap of scores that pairs of weight at least `wanted` reach.

        Of all pairs that far apart, of those not contradicted, and both for the pairs beyond.
        Bisection in steps of linear time, from what a sample of pairs suggests; the last gaps are listed, fewer than
        documents. The result is exact.
        """
        low, high = 0.0, _widest(self.sorted, self.starts)
        at_low, beyond = self.n_pairs, np.zeros(len(weight))
        likely = self._likely_gaps(wanted, weight)
        step = 0
        while low < high:
            if low > 0.0 and at_low.sum() - beyond.sum() <= max(1000, len(self.sorted) // 2):
                return self._listed(wanted, weight, low, high, at_low, beyond)
            gap = likely.pop() if likely else ranking.next_gap(low, high, step)
            if not low < gap <= high:
                continue
            count, least, largest = (np.empty(len(weight)) for _ in range(3))
            run_over_queries(self._counter(gap, count, least, largest, step % 4 == 2), self.starts)
            if float(count @ weight) >= wanted:
                low, at_low = float(least.min(initial=np.inf)), count
            else:
                high, beyond = float(largest.max(initial=0.0)), count
            step += 1
        right = at_low - self.wrong_beyond(np.nextafter(low, 0.0) if low > 0.0 else 0.0)
        right_beyond = beyond - self.wrong_beyond(high) if beyond.any() else beyond
        total, total_right = float(at_low @ weight), float(right @ weight)
        return total, total_right, float(beyond @ weight), float(right_beyond @ weight)

    def _listed(
        self, wanted: float, weight: Floats, low: float, high: float, at_low: Floats, beyond: Floats
    ) -> tuple[float, float, float, float]:
        """Return `at_the_cut`, which is between `low` and `high`."""
        n = int(at_low.sum() - beyond.sum())
        gaps, right, query = np.empty(n), np.empty(n), np.empty(n, np.int64)
        ranking.gaps_between(self.sorted, self.code, self.starts, low, high, 0, len(weight), gaps, query, right)
        order = np.argsort(-gaps)
        gaps, listed = gaps[order], weight[query[order]]
        total = float(beyond @ weight)
        total_right = float((beyond - self.wrong_beyond(high)) @ weight) if beyond.any() else 0.0
        last = min(int(np.searchsorted(total + np.cumsum(listed), wanted)), n - 1)
        first, end = np.searchsorted(-gaps, -gaps[last], side="left"), np.searchsorted(-gaps, -gaps[last], side="right")
        listed_right = listed * right[order]
        total, total_right = total + listed[:first].sum(), total_right + listed_right[:first].sum()
        return total + listed[first:end].sum(), total_right + listed_right[first:end].sum(), total, total_right

    def _likely_gaps(self, wanted: float, weight: Floats) -> list[float]:
        """Return gaps that likely stand just above and below the one at the cut, by a sample of pairs."""
        size = self.starts[1:] - self.starts[:-1]
        drawn = np.cumsum(weight * size.astype(np.float64) ** 2)  # equal grades are dropped below
        if self.n_pairs.sum() < 100 * _SAMPLE:
            return []
        rng = np.random.default_rng(0)
        query = np.searchsorted(drawn, np.sort(rng.random(_SAMPLE)) * drawn[-1], side="right")
        i, j = (self.starts[query] + (rng.random(_SAMPLE) * size[query]).astype(np.int64) for _ in range(2))
        preferred = self.code[i] != self.code[j]
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = np.abs(self.sorted[i] - self.sorted[j])[preferred]
        np.nan_to_num(gaps, copy=False, posinf=np.inf)
        m, share = len(gaps), wanted / float(self.n_pairs @ weight)
        margin = 3.0 * np.sqrt(share * (1.0 - share) * m) + 1.0
        places = np.clip((m * (1.0 - share) + np.array([margin, -margin])).astype(np.int64), 0, m - 1)
        return [float(gap) for gap in np.partition(gaps, places)[places]] if m else []

    def _counter(self, gap: float, count: Floats, least: Floats, largest: Floats, nearest: bool) -> Any:
        return lambda a, b: ranking.gaps_at_least(*self._gaps, gap, nearest, a, b, count, least, largest)

    def wrong_beyond(self, gap: float) -> Floats:
        """Return, by query, the pairs that the scores contradict by more than `gap`."""
        out = np.empty(len(self.n_pairs))
        documents, query_run = (self.sorted, self.code, self.starts), self.documents[-1]
        run_over_queries(lambda a, b: ranking.wrong_beyond(*documents, query_run, gap, a, b, out), self.starts)
        return out


def _widest(x: Floats, starts: Ints) -> float:
    """Return the widest gap of scores in any query."""
    filled = starts[1:] > starts[:-1]
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.nanmax(x[starts[:-1][filled]] - x[starts[1:][filled] - 1], initial=0.0))


def _runs(queries: Queries, grades: Grades) -> tuple[Ints, Ints, Ints]:
    """Return the first judged document of each query, of each run of one grade, and the first run of each query."""
    starts, query_run = np.r_[0, np.cumsum(grades.n_judged)], np.r_[0, np.cumsum(grades.n_grades)]
    judged = grades.code >= 0
    run = query_run[queries.query_of_row[judged]] + grades.code[judged]
    sizes = np.bincount(run, minlength=int(query_run[-1]))
    return frozen(starts), frozen(np.r_[0, np.cumsum(sizes)]), frozen(query_run)
