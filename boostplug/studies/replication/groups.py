"""Parts of a test set: pairs of two grades, and queries by how many pairs they have; what papers claim of them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from boostplug.comparison.significance import Interval
from boostplug.data.queries import Queries
from boostplug.metrics import Metric, PairError
from boostplug.metrics.grades import grades_of
from boostplug.studies.replication.claims import Claim
from boostplug.studies.replication.outcome import Outcome
from boostplug.studies.replication.study import Extra, Groups, Loaded
from boostplug.studies.replication.verdicts import Verdict, direction, interval, near, shown, sign, worst_of

__all__ = ["AheadOverGroups", "GainsMore", "KindError", "OfLearners", "OfQueries", "QueriesByPairs", "by_thousands"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KindError(PairError):
    """`PairError` on the pairs of two grades alone.

    Attributes
    ----------
    high, low : float
        The grades.
    """

    _: KW_ONLY
    high: float = 2
    low: float = 0

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the share of each query."""
        kept, rest = self._of_kind(scores, queries)
        return super().compute_per_query(kept, rest)

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the sum over queries, or over pairs if `pooled`, and the weight of these; see `Metric`."""
        return super().sum_and_count(*self._of_kind(np.asarray(scores, dtype=np.float64), queries))

    def _of_kind(self, scores: Floats, queries: Queries) -> tuple[Floats, Queries]:
        kept = np.isin(queries.labels, (self.high, self.low))
        own = scores[kept]
        own.setflags(write=False)  # as the scores of any metric: kernels are compiled for no others
        return own, queries.of_rows(kept)


@dataclass(frozen=True)
class OfQueries(Metric):
    """A metric of the queries that have from `least` to below `below` pairs of different grades; others have none.

    Attributes
    ----------
    metric : Metric
        One of which higher is better.
    least, below : float
    """

    metric: Metric
    least: float
    below: float = math.inf

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the metric's value, NaN for queries of other sizes."""
        n_pairs = grades_of(queries).n_pairs
        within = (n_pairs >= self.least) & (n_pairs < self.below)
        values: Floats = np.where(within, self.metric.per_query(scores, queries), np.nan)
        return values


def by_thousands(last: int) -> list[tuple[str, float, float]]:
    """Return names and limits of groups of queries: 0-1k, 1k-2k, … pairs, and from `last` thousand on."""
    edges = [*range(last + 1), math.inf]
    return [
        (f"{a or 0}{'k' if a else ''}-{b}k" if b < math.inf else f"{a}k+", 1000.0 * a, 1000.0 * b)
        for a, b in pairwise(edges)
    ]


@dataclass(frozen=True, kw_only=True)
class QueriesByPairs(Extra):
    """How many queries of the first split's training part have how many pairs of different grades.

    Attributes
    ----------
    last : int
        The last group has so many thousand pairs and more.
    """

    last: int

    def of(self, loaded: Loaded, means: Callable[[str, str], float], learners: Sequence[str]) -> Groups:  # noqa: ARG002
        """Count the queries of each group."""
        n_pairs = grades_of(loaded.splits[0].train.queries).n_pairs
        groups = by_thousands(self.last)
        counts = [float(((n_pairs >= least) & (n_pairs < below)).sum()) for _, least, below in groups]
        return Groups(tuple(name for name, _, _ in groups), {"queries": counts})


@dataclass(frozen=True, kw_only=True)
class OfLearners(Extra):
    """Rows of test means, each of some learners on average, by measures of its own.

    Attributes
    ----------
    groups : tuple of str
    of_rows : tuple of (str, tuple of str, tuple of str)
        Name, learners, and the measure's key for each group.
    """

    groups: tuple[str, ...]
    of_rows: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]

    def of(self, loaded: Loaded, means: Callable[[str, str], float], learners: Sequence[str]) -> Groups:  # noqa: ARG002
        """Average over the learners of each row."""
        rows = {
            row: [float(np.mean([means(learner, key) for learner in own])) for key in keys]
            for row, own, keys in self.of_rows
        }
        return Groups(self.groups, rows)


@dataclass(frozen=True, kw_only=True)
class AheadOverGroups(Claim):
    """Averaged over groups of test queries, a learner leads another by what the paper prints, within `tolerance`.

    It is level where it does not, but the 95 % interval of the lead (queries drawn within groups) holds that figure.
    Where the paper prints none, it holds where the interval lies above 0, and does not where it lies below.

    Attributes
    ----------
    learner, other : str
    measures : tuple of str
        That of each group, such as `OfQueries`.
    lead : float, optional
        The paper's.
    tolerance : float, default 0.0
    """

    figure: ClassVar[bool] = True

    learner: str
    other: str
    measures: tuple[str, ...]
    lead: float | None = None
    tolerance: float = 0.0

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare query by query, group by group."""
        groups = [_leads(outcome, self.learner, self.other, measure) for measure in self.measures]
        sizes = np.array([len(group) for group in groups])
        found = interval(np.concatenate(groups), np.repeat(np.arange(len(groups), dtype=np.float64), sizes))
        said = f"{shown(found)} over {int((sizes > 0).sum())} groups"
        if self.lead is None:
            return Verdict(said, direction(found))
        said += f", the paper's {self.lead:+.2f}"
        return Verdict(said, near(found, self.lead, self.tolerance))


@dataclass(frozen=True, kw_only=True)
class GainsMore(Claim):
    """A learner is ahead of another on one group of test queries, and by more than on a second group.

    The worse verdict of two counts: on the lead in the first group, and on how much it exceeds that in the second, by
    95 % intervals over queries (Welch's, of two samples).

    Attributes
    ----------
    learner, other : str
    measure, than : str
        The measures of the two groups, such as `OfQueries`.
    """

    learner: str
    other: str
    measure: str
    than: str

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare query by query, then the two groups."""
        here, there = (_leads(outcome, self.learner, self.other, measure) for measure in (self.measure, self.than))
        if min(len(here), len(there)) < 2:
            return Verdict(f"{len(here)} and {len(there)} queries, too few for an interval", "level")
        first, second = interval(here), interval(there)
        found = stats.ttest_ind(here, there, equal_var=False).confidence_interval(0.95)
        more = Interval(first.mean - second.mean, float(found.low), float(found.high))
        said = f"{shown(first)} against {shown(second)}: {shown(more)} more"
        return Verdict(said, worst_of((direction(first), direction(more))))


def _leads(outcome: Outcome, learner: str, other: str, measure: str) -> Floats:
    """Return by how much a learner is ahead on each test query that has the measure."""
    a, b = (outcome.unit_values(name, measure)[0] for name in (learner, other))
    leads: Floats = sign(outcome, measure) * (a - b)
    return leads[~np.isnan(leads)]
