"""Metrics on discounted cumulative gain: `NDCG`, `DCG`, `MeanNDCG`."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import called, check_choice, check_function, frozen, refuse_where
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import dcg_ap as positions
from boostplug.metrics.by_rank import CutOff, Empty, RankMetric, Ties
from boostplug.metrics.grades import exp2_less_one

Gain = Literal["exp2", "linear"] | Callable[[Floats], Floats]
Convention = Literal["standard", "letor"]

_LARGEST_GAIN = 1e198  # 1e8 of them, times the largest weight, still add up to a finite number
_SMALL_GAIN = 1e-100  # sums of less may lose their digits, or have no finite inverse
_NAMED_GAINS = {  # formula, largest grade (2^657 < 1e198), what to do above it
    "exp2": ("2^r − 1", 657.0, 'scale the grades, or pass gain="linear"'),
    "linear": ("r", _LARGEST_GAIN, "scale the grades"),
}


@dataclass(frozen=True)
class Discounted(RankMetric):
    """A metric of gains by grade and discounts by rank."""

    _: KW_ONLY
    convention: Convention = "standard"
    gain: Gain = "exp2"
    ties: Ties = "average"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        check_choice("convention", self.convention, ("standard", "letor"))
        check_gain(self.gain)

    @property
    def empty_by_default(self) -> Empty:
        """The convention's own."""
        return 0 if self.convention == "letor" else "skip"

    def discounts(self, queries: Queries) -> Floats:
        """Return the discounts of the ranks down to the cut-off, or to the end of the longest list."""
        return queries.remember(("discounts", self.k, self.convention), lambda: self._discounts(queries))

    def _discounts(self, queries: Queries) -> Floats:
        longest = int(np.diff(queries.boundaries).max(initial=0))
        return discounts(min(self.cutoff(queries), longest), self.convention)


@dataclass(frozen=True)
class NDCG(Discounted, CutOff):
    r"""Normalised discounted cumulative gain of the best k documents.

    .. math:: \frac{\mathrm{DCG}_k}{\max_\pi \mathrm{DCG}_k(\pi)}, \qquad
              \mathrm{DCG}_k = \sum_{j=1}^{\min(k, n)} d_j\, g(r_{(j)})

    Järvelin & Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (TOIS 2002); the exponential gain is of
    Burges et al. (2005).

    Parameters
    ----------
    convention : {"standard", "letor"}, default="standard"
        "standard": :math:`d_j = 1/\log_2(1+j)`, as scikit-learn, LightGBM and XGBoost have it.
        "letor": the scripts of LETOR 3.0, LETOR 4.0 and MSLR, and the MPBoost paper: :math:`d_1 = d_2 = 1`, then
        :math:`d_j = 1/\log_2 j`, and a query with fewer than k rows counts 0.
    gain : {"exp2", "linear"} or callable, default="exp2"
        "exp2": :math:`g(r) = 2^r - 1`; "linear": :math:`g(r) = r`; or a hashable callable from the float64 grades of
        all labelled rows to their gains (module-level if the metric is to be pickled). Gains are from 0 to 1e198, so
        both named gains refuse negative grades.
    k, ties, empty
        See `Metric`; a query without relevant documents is one whose ideal DCG is 0.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 2, 0], group=[3, 1])
    >>> NDCG(k=2).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.1738,    nan])
    >>> round(NDCG(k=2)([3.0, 2.0, 1.0, 0.5], queries), 4)
    0.1738
    >>> NDCG(k=2, convention="letor", ties="order").name
    'NDCG@2(letor,order)'
    """

    k: int | None = 10
    _: KW_ONLY
    empty: Empty = None

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the NDCG of each query."""
        gains, discount = gains_in_units(queries, self.gain), self.discounts(queries)
        ideal = queries.remember(
            ("ideal DCG", self.k, self.convention, self.gain), lambda: self._ideal(queries, gains, discount), limit=128
        )
        return self.filled(
            positions.dcg(scores, gains, queries.boundaries, discount, average=self.average, ideal=ideal)
        )

    def _ideal(self, queries: Queries, gains: Floats, discount: Floats) -> Floats:
        """Return the DCG of each query that counts 1; ∞ where all counts 0."""
        ideal = positions.dcg(gains, gains, queries.boundaries, discount, average=False)
        if self.convention == "letor" and self.k is not None:
            ideal[(np.diff(queries.boundaries) < self.k) & (ideal > 0)] = np.inf
        return frozen(ideal)


@dataclass(frozen=True)
class DCG(Discounted, CutOff):
    r"""Discounted cumulative gain of the best k documents, not normalised.

    .. math:: \sum_{j=1}^{\min(k, n)} d_j\, g(r_{(j)})

    The QBRank paper's DCG-5 is ``DCG(5)``. Unlike `NDCG` it has a value for every query with rows: 0 without relevant
    documents; and lists shorter than k count as they are under both conventions.

    Parameters
    ----------
    k, ties
        See `Metric`.
    convention, gain
        See `NDCG`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 2, 0], group=[3, 1])
    >>> DCG(k=2).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.6309, 0.    ])
    """

    k: int | None = 10

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the DCG of each query."""
        gains = gains_of(queries, self.gain)
        return positions.dcg(scores, gains, queries.boundaries, self.discounts(queries), average=self.average)


@dataclass(frozen=True)
class MeanNDCG(Discounted):
    r"""Mean NDCG over all cut-offs 1 … n of a list of n documents: "MeanNDCG" of LETOR 4.0 and MSLR.

    .. math:: \frac1n \sum_{k=1}^n \mathrm{NDCG}_k

    The defaults are the scripts' own, but for ties.

    Parameters
    ----------
    convention : {"letor", "standard"}, default="letor"
    gain : {"exp2", "linear"} or callable, default="exp2"
        See `NDCG`. No list is shorter than its cut-offs here.
    ties, empty
        See `Metric`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 1, 0], group=[3, 1])
    >>> MeanNDCG().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)  # NDCG 0, 1/2, .8155
    array([0.4385, 0.    ])
    """

    _: KW_ONLY
    convention: Convention = "letor"
    empty: Empty = None

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the mean NDCG of each query."""
        gains = gains_in_units(queries, self.gain)
        weights, ideal = queries.remember(
            ("mean NDCG weights", self.convention, self.gain), lambda: self._weights(queries, gains), limit=4
        )
        return self.filled(
            positions.dcg(scores, gains, queries.boundaries, weights, average=self.average, ideal=ideal, by_row=True)
        )

    def _weights(self, queries: Queries, gains: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the positions, and 1 for each query with relevant documents, else 0."""
        weights = positions.mean_ndcg_weights(gains, queries.boundaries, self.discounts(queries))
        relevant = np.bincount(queries.query_of_row, weights > 0, minlength=queries.n_queries) > 0
        return weights, frozen(relevant.astype(np.float64))


def discounts(k: int, convention: Convention) -> Floats:
    """Return the discounts of the positions 1 … k."""
    position = np.arange(1.0, k + 1.0)
    return frozen(1.0 / np.log2(np.maximum(position, 2.0) if convention == "letor" else 1.0 + position))


def check_gain(gain: Gain) -> None:
    """Refuse what is not a gain."""
    if callable(gain):
        check_function("gain", gain)
    else:
        check_choice("gain", gain, ("exp2", "linear"), ", or a callable from grades to gains")


def gains_of(queries: Queries, gain: Gain) -> Floats:
    """Return the gain of each row, 0 where it is not labelled; computed once per `Queries`."""
    return queries.remember(("gains", gain), lambda: frozen(_gains(queries, gain)), limit=4)


def gains_in_units(queries: Queries, gain: Gain) -> Floats:
    """Return the gain of each row in a unit of its query's, a power of 2, for what depends on their ratios alone."""
    return queries.remember(("gains in units", gain), lambda: _in_units(gains_of(queries, gain), queries), limit=4)


def _in_units(gains: Floats, queries: Queries) -> Floats:
    if gains.min(initial=np.inf, where=gains > 0) >= _SMALL_GAIN:
        return gains
    with_rows = np.diff(queries.boundaries) > 0
    largest = np.zeros(queries.n_queries)
    largest[with_rows] = np.maximum.reduceat(gains, queries.boundaries[:-1][with_rows])
    return frozen(np.ldexp(gains, -np.frexp(largest)[1][queries.query_of_row]))


def _gains(queries: Queries, gain: Gain) -> Floats:
    judged, labels = queries.labelled_rows, queries.labels
    grades = labels[judged]
    if callable(gain):
        values = called("gain", "grade", gain, grades) if grades.size else grades
        bad = ~((values >= 0) & (values <= _LARGEST_GAIN))
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"gain must return values from 0 to {_LARGEST_GAIN:g}; it returned {values[at]!s} for the grade "
                f"{grades[at]!s} of row {np.flatnonzero(judged)[at]}"
            )
    else:
        formula, largest, remedy = _NAMED_GAINS[gain]
        why = f"is negative, and so is its gain {formula}; shift the grades to start at 0, or pass a callable"
        refuse_where("labels", judged & (labels < 0), labels, why)
        why = f"is too large: sums of the gain {formula} overflow above {largest:g}; {remedy} or a callable"
        refuse_where("labels", judged & (labels > largest), labels, why)
        values = exp2_less_one(grades) if gain == "exp2" else grades
    gains = np.zeros(queries.n_rows)
    gains[judged] = values
    return gains
