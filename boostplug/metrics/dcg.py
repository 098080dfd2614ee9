"""Metrics on discounted cumulative gain: `NDCG`, `DCG`, `MeanNDCG`."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import check_choice, frozen
from boostplug.kernels import positions
from boostplug.metrics.metric import Metric, check_cutoff, check_empty
from boostplug.queries import Queries
from boostplug.threads import run_over_queries

__all__ = ["DCG", "NDCG", "MeanNDCG"]

Floats = NDArray[np.float64]
Gain = Literal["exp2", "linear"] | Callable[[Floats], Floats]
Convention = Literal["standard", "letor"]

_LARGEST_GAIN = 1e300  # 1e8 of them still add up to a finite number
_LARGEST_GRADE = 996.0  # of the exponential gain: 2^996 < 1e300


@dataclass(frozen=True)
class NDCG(Metric):
    r"""Normalised discounted cumulative gain of the best k documents.

    .. math:: \frac{\mathrm{DCG}_k}{\max_\pi \mathrm{DCG}_k(\pi)}, \qquad
              \mathrm{DCG}_k = \sum_{j=1}^{\min(k, n)} d_j\, g(r_{(j)})

    Järvelin & Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (TOIS 2002); the exponential gain is of
    Burges et al. (2005).

    Parameters
    ----------
    k : int or None, default=10
        Cut-off; None for the whole list.
    convention : {"standard", "letor"}, default="standard"
        "standard": :math:`d_j = 1/\log_2(1+j)`, as scikit-learn, LightGBM and XGBoost have it.
        "letor": the scripts of LETOR 3.0, LETOR 4.0 and MSLR, and the MPBoost paper: :math:`d_1 = d_2 = 1`, then
        :math:`d_j = 1/\log_2 j`, and a query with fewer than k rows counts 0.
    gain : {"exp2", "linear"} or callable, default="exp2"
        "exp2": :math:`g(r) = 2^r - 1`; "linear": :math:`g(r) = r`; or a hashable callable from the float64 grades of
        all labelled rows to their gains (module-level if the metric is to be pickled). Gains are finite and at least
        0, so both named gains refuse negative grades.
    ties : {"average", "order"}, default="average"
        "average": the expected value over a random order of the tied documents, as scikit-learn's ``ndcg_score``.
        "order": documents with tied scores stay in file order, as in the scripts (where the file's order leaks
        relevance, a constant score then looks good).
    empty : {"skip", 0, 1} or None, default=None
        Value of a query whose ideal DCG is 0: left out of the mean (NaN in `per_query`), 0, or 1 (LightGBM's and
        XGBoost's). None is the convention's own: "skip" for "standard", 0 for "letor".

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
    convention: Convention = "standard"
    gain: Gain = "exp2"
    ties: Literal["average", "order"] = "average"
    empty: Literal["skip", 0, 1] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_cutoff(self.k))
        object.__setattr__(self, "empty", check_empty(self.empty))
        check_choice("convention", self.convention, ("standard", "letor"))
        check_choice("ties", self.ties, ("average", "order"))
        check_gain(self.gain)

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the NDCG of each query."""
        gains = gains_of(queries, self.gain)
        longest = int(np.diff(queries.boundaries).max(initial=0))
        discount = discounts(longest if self.k is None else min(self.k, longest), self.convention)
        ideal = queries.remember(
            ("ideal DCG", self.k, self.convention, self.gain),
            lambda: frozen(dcg(gains, gains, queries, discount, average=False)),
            limit=128,
        )
        values = dcg(scores, gains, queries, discount, average=self.ties == "average")
        empty = self.empty
        if empty is None:
            empty = 0 if self.convention == "letor" else "skip"
        positive = ideal > 0
        np.divide(values, ideal, out=values, where=positive)
        np.minimum(values, 1.0, out=values)  # the last bit of rounding
        if self.convention == "letor" and self.k is not None:
            values[np.diff(queries.boundaries) < self.k] = 0.0
        values[~positive] = np.nan if empty == "skip" else empty
        return values


@dataclass(frozen=True)
class DCG(Metric):
    r"""Discounted cumulative gain of the best k documents, not normalised.

    .. math:: \sum_{j=1}^{\min(k, n)} d_j\, g(r_{(j)})

    The QBRank paper's DCG-5 is ``DCG(5)``. Unlike `NDCG` it has a value for every query with rows: 0 without relevant
    documents; and lists shorter than k count as they are under both conventions.

    Parameters
    ----------
    k : int or None, default=10
        Cut-off; None for the whole list.
    convention : {"standard", "letor"}, default="standard"
        The discounts, as in `NDCG`.
    gain : {"exp2", "linear"} or callable, default="exp2"
        As in `NDCG`; negative gains, and so negative grades under both named gains, are refused.
    ties : {"average", "order"}, default="average"
        As in `NDCG`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 2, 0], group=[3, 1])
    >>> DCG(k=2).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.6309, 0.    ])
    """

    k: int | None = 10
    _: KW_ONLY
    convention: Convention = "standard"
    gain: Gain = "exp2"
    ties: Literal["average", "order"] = "average"

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_cutoff(self.k))
        check_choice("convention", self.convention, ("standard", "letor"))
        check_choice("ties", self.ties, ("average", "order"))
        check_gain(self.gain)

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the DCG of each query."""
        longest = int(np.diff(queries.boundaries).max(initial=0))
        discount = discounts(longest if self.k is None else min(self.k, longest), self.convention)
        return dcg(scores, gains_of(queries, self.gain), queries, discount, average=self.ties == "average")


@dataclass(frozen=True)
class MeanNDCG(Metric):
    r"""Mean NDCG over all cut-offs 1 … n of a list of n documents: "MeanNDCG" of LETOR 4.0 and MSLR.

    .. math:: \frac1n \sum_{k=1}^n \mathrm{NDCG}_k

    The defaults are the scripts' own, but for ties.

    Parameters
    ----------
    convention : {"letor", "standard"}, default="letor"
        The discounts, as in `NDCG`. No list is shorter than its cut-offs here.
    gain : {"exp2", "linear"} or callable, default="exp2"
        As in `NDCG`.
    ties : {"average", "order"}, default="average"
        As in `NDCG`; the scripts have "order".
    empty : {"skip", 0, 1} or None, default=None
        Value of a query whose ideal DCG is 0: left out of the mean (NaN in `per_query`), 0, or 1. None is the
        convention's own: 0 for "letor", "skip" for "standard".

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 1, 0], group=[3, 1])
    >>> MeanNDCG().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)  # NDCG 0, 1/2, .8155
    array([0.4385, 0.    ])
    """

    _: KW_ONLY
    convention: Convention = "letor"
    gain: Gain = "exp2"
    ties: Literal["average", "order"] = "average"
    empty: Literal["skip", 0, 1] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "empty", check_empty(self.empty))
        check_choice("convention", self.convention, ("letor", "standard"))
        check_choice("ties", self.ties, ("average", "order"))
        check_gain(self.gain)

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the mean NDCG of each query."""
        gains = gains_of(queries, self.gain)
        starts = queries.boundaries
        weights = queries.remember(
            ("mean NDCG weights", self.convention, self.gain),
            lambda: _mean_ndcg_weights(gains, queries, self.convention),
            limit=4,
        )
        values = np.empty(queries.n_queries)
        average = self.ties == "average"
        run_over_queries(
            lambda a, b: positions.mean_ndcg(scores, gains, starts, weights, average, a, b, values), starts
        )
        np.minimum(values, 1.0, out=values)  # the last bit of rounding
        empty = self.empty
        if empty is None:
            empty = 0 if self.convention == "letor" else "skip"
        filled = starts[1:] > starts[:-1]
        values[filled] = np.where(
            weights[starts[:-1][filled]] > 0, values[filled], np.nan if empty == "skip" else empty
        )
        return values


def _mean_ndcg_weights(gains: Floats, queries: Queries, convention: Convention) -> Floats:
    starts = queries.boundaries
    discount = discounts(int(np.diff(starts).max(initial=0)), convention)
    out = np.empty(queries.n_rows)
    run_over_queries(lambda a, b: positions.mean_ndcg_weights(gains, starts, discount, a, b, out), starts)
    return frozen(out)


def dcg(scores: Floats, gains: Floats, queries: Queries, discount: Floats, *, average: bool) -> Floats:
    """Return the DCG of each query; all arrays are read-only, so that the kernel is compiled for one type."""
    out = np.empty(queries.n_queries)
    starts = queries.boundaries
    run_over_queries(lambda a, b: positions.dcg(scores, gains, starts, discount, average, a, b, out), starts)
    return out


def discounts(k: int, convention: Convention) -> Floats:
    """Return the discounts of the positions 1 … k."""
    position = np.arange(1.0, k + 1.0)
    return frozen(1.0 / np.log2(np.maximum(position, 2.0) if convention == "letor" else 1.0 + position))


def check_gain(gain: Gain) -> None:
    """Refuse what is not a gain."""
    if callable(gain):
        try:
            hash(gain)
        except TypeError:
            raise TypeError(
                f"gain must be hashable, since metrics are values; got {gain!r}; pass a function, or a frozen "
                "dataclass with __call__"
            ) from None
    else:
        check_choice("gain", gain, ("exp2", "linear"), ", or a callable from grades to gains")


def gains_of(queries: Queries, gain: Gain) -> Floats:
    """Return the gain of each row, 0 where it is not labelled; computed once per `Queries`."""
    return queries.remember(("gains", gain), lambda: frozen(_gains(queries, gain)), limit=4)


def _gains(queries: Queries, gain: Gain) -> Floats:
    judged = np.ones(queries.n_rows, bool) if queries.labelled is None else queries.labelled
    grades = queries.labels[judged]
    if callable(gain):
        values = _called(gain, grades)
        bad = ~((values >= 0) & (values <= _LARGEST_GAIN))
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"gain must return values from 0 to {_LARGEST_GAIN:g}; it returned {values[at]!s} for the grade "
                f"{grades[at]!s} of row {np.flatnonzero(judged)[at]}"
            )
    else:
        formula = "2^r − 1" if gain == "exp2" else "r"
        largest = _LARGEST_GRADE if gain == "exp2" else _LARGEST_GAIN
        bad = ~((grades >= 0) & (grades <= largest))
        if bad.any():
            at = int(np.argmax(bad))
            if grades[at] < 0:
                why = f"is negative, and so is its gain {formula}; shift the grades to start at 0, or pass a callable"
            else:
                remedy = 'scale the grades, or pass gain="linear"' if gain == "exp2" else "scale the grades"
                why = f"is too large: sums of the gain {formula} overflow above {largest:g}; {remedy} or a callable"
            raise ValueError(f"labels[{np.flatnonzero(judged)[at]}] = {grades[at]!s} {why}")
        values = np.exp2(grades) - 1.0 if gain == "exp2" else grades
    gains = np.zeros(queries.n_rows)
    gains[judged] = values
    return gains


def _called(gain: Callable[[Floats], Floats], grades: Floats) -> Floats:
    if not grades.size:
        return grades
    values = np.asarray(gain(grades.copy()))
    if values.shape != grades.shape or values.dtype.kind not in "biuf":
        raise ValueError(
            f"gain must return one real number per grade: for grades of shape {grades.shape} it returned shape "
            f"{values.shape}, dtype {values.dtype}"
        )
    return values.astype(np.float64)
