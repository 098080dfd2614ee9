"""Subsets of a test set: pairs of two grades, and queries by their number of pairs; judges of claims about them."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from boostplug.core.arrays import Floats
from boostplug.data.queries import Queries
from boostplug.metrics import Metric, PairError
from boostplug.metrics.grades import grades_of
from studies.replication.judging.study_results import StudyResults
from studies.replication.judging.verdicts import LEVEL, Difference, Verdict, interval, worst


@dataclass(frozen=True)
class KindError(PairError):
    """`PairError` restricted to the pairs of two grades.

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
        """Return the sum over queries, or over pairs if `pooled`, and their total weight; see `Metric`."""
        return super().sum_and_count(*self._of_kind(np.asarray(scores, dtype=np.float64), queries))

    def _of_kind(self, scores: Floats, queries: Queries) -> tuple[Floats, Queries]:
        kept = np.isin(queries.labels, (self.high, self.low))
        own = scores[kept]
        own.setflags(write=False)  # kernels are compiled for read-only scores
        return own, queries.of_rows(kept)


@dataclass(frozen=True)
class OfQueries(Metric):
    """A metric on the queries with at least `least` and below `below` pairs of different grades; undefined on others.

    Attributes
    ----------
    metric : Metric
        A metric of which higher is better.
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


def ahead_over_groups(
    results: StudyResults,
    *,
    learner: str,
    other: str,
    measures: Sequence[str],
    lead: float | None = None,
    tolerance: float = 0.0,
) -> Verdict:
    """Judge whether a learner's mean lead over groups of test queries is the published one, within `tolerance`.

    It is level if it is not, but the 95 % interval of the lead (queries drawn within groups) contains that figure.
    Without a published figure, the claim holds if the interval lies above 0, and does not hold if it lies below.
    `measures` are the measures of the groups, such as `OfQueries`.
    """
    groups = [_leads(results, learner, other, measure) for measure in measures]
    sizes = np.array([len(group) for group in groups])
    found = interval(np.concatenate(groups), np.repeat(np.arange(len(groups), dtype=np.float64), sizes))
    text = f"{found} over {int((sizes > 0).sum())} groups"
    if lead is None:
        return Verdict(text, found.holds)
    return Verdict(f"{text}, the paper's {lead:+.2f}", found.near(lead, tolerance))


def gains_more(results: StudyResults, *, learner: str, other: str, measure: str, than: str) -> Verdict:
    """Judge whether a learner is ahead of another on one group of test queries, and by more than on a second group.

    The verdict is the worse of two: on the lead in the first group, and on its excess over the lead in the second. Both
    are by 95 % intervals over queries (Welch's, of two samples). `measure` and `than` are the measures of the two
    groups.
    """
    here, there = (_leads(results, learner, other, of_group) for of_group in (measure, than))
    if min(len(here), len(there)) < 2:
        return Verdict(f"{len(here)} and {len(there)} queries, too few for an interval", "level")
    first, second = interval(here), interval(there)
    found = stats.ttest_ind(here, there, equal_var=False).confidence_interval(LEVEL)
    more = Difference(first.mean - second.mean, float(found.low), float(found.high))
    text = f"{first} against {second}: {more} more"
    return Verdict(text, worst([first.verdict(), more.verdict()]).holds)


def _leads(results: StudyResults, learner: str, other: str, measure: str) -> Floats:
    """Return the lead of a learner on each test query on which the measure is defined."""
    a, b = (results.unit_values(name, measure)[0] for name in (learner, other))
    leads: Floats = results.sign(measure) * (a - b)
    return leads[~np.isnan(leads)]
