"""MPBoost: an exponential loss on all pairs that keeps the magnitude of preferences (Zhu et al., CIKM 2009)."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels import exponential as kernels
from boostplug.losses.directed_distance import BinaryDistance, DirectedDistance, Distance, LogDistance
from boostplug.losses.loss import LARGEST_VALUE, HessianKind, Loss
from boostplug.losses.normalization import factor_of, run_over_pairs, runs_of, scale_terms_of
from boostplug.losses.relative import Relative
from boostplug.queries import Queries
from boostplug.runs import GradeRuns, PairRuns
from boostplug.threads import run_over_queries

__all__ = ["MPBoost"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Normalization = Literal["none", "rows", "query"]
Hessian = Literal["newton", "gentle", "bound"]

_BLOCK = 1 << 20  # gaps in one call of a user's distance
_TABULATED = 1 << 23  # distances of a user's function that are kept, 64 MB
_COEFFICIENTS: dict[Hessian, tuple[float, float]] = {"newton": (1.0, 0.0), "gentle": (0.0, 1.0), "bound": (2.0, 0.0)}


@dataclass(frozen=True, kw_only=True)
class MPBoost(Loss):
    r"""Exponential loss on directed distances between grades, over all pairs of a query.

    .. math:: J_q(F) = c_q \sum_{r_i > r_j} \sqrt{v_i v_j}\; w_{ij}, \qquad w_{ij} = e^{-d(r_i - r_j)\,(F_i - F_j)}

    with v the row weights and c_q of `normalization`. Zhu et al. (2009), Eq. 10, with each unordered pair once (the
    paper counts both directions: its J is twice ours, with c_q = 1). Where the queries come with explicit `Pairs`, the
    sum runs over them instead: d is the distance of a pair's margin, and √(v_i v_j) is times the pair's own weight.

    Parameters
    ----------
    distance : callable, default LogDistance(lam=3.0)
        The paper's directed distance of a grade gap: `BinaryDistance`, `LinearDistance`, `LogDistance`,
        `LogisticDistance`, or any function from a float64 array of gaps > 0 to a float64 array of positive distances.
        A function must be positive (the paper's condition 3: refused otherwise) and should grow strictly (its condition
        4: a warning otherwise). It sees each gap rounded to 12 significant digits, so that .3 - .2 and .2 - .1 are one
        gap. Define it at the top of a module if the loss is to be pickled.
    hessian : {"newton", "gentle", "bound"}
        "newton": h_i = Σ_j d² w, the true second derivative (kind "exact"). "gentle": h_i = Σ_j w, the paper's
        GentleBoost step, which takes |d| ≈ 1 (kind "model"). "bound": h_i = 2 Σ_j d² w, which dominates the full
        Hessian at the current scores, not beyond: an exponential has no global quadratic bound (kind "bound").
    normalization : {"none", "rows", "query"}
        What the pairs of a query weigh together, before row weights: "none": their number (c_q = 1), so long lists
        dominate; "rows": the number of the query's judged documents; "query": 1.

    Notes
    -----
    Scale: outputs are multiplied by Σ_q n_q / Σ_q c_q S_q over the queries that hold a pair, with n_q documents and S_q
    the sum of d² over the pairs (for "gentle": their number); row weights are left out. At equal scores a document's
    "newton" Hessian is then 2 on average, whatever the lengths of the lists and the unit of the grades.
    Scores far in the wrong order (log w past 69) would not fit the frameworks' float32: then all rows of the call are
    multiplied by one common factor, which leaves every Newton step -Σg/Σh as it is.

    Cost: a query of n documents and K grades takes O(nK), all pairs exactly. With many distinct real-valued grades
    (K(K - 1)/2 past 4n + 64) pairs are summed one by one in O(n) memory, by one thread: 1,000 documents take 10 ms
    (linear) to 20 ms (log), and the time grows with the square: 50,000 documents take half a minute a call. A function
    of one's own is tabulated up to 8 million gaps in all; past that it is called anew each time, 80 ms for 1,000
    documents. `BinaryDistance` takes O(n) for any grades.

    References
    ----------
    Zhu, Chen, Zhu, Wang, Wang, Chen. A general magnitude-preserving boosting algorithm for search ranking. CIKM 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import BinaryDistance, MPBoost, Queries
    >>> loss = MPBoost(distance=BinaryDistance())
    >>> queries = Queries([2, 1, 0], group=[3])
    >>> loss.value(np.zeros(3), queries)
    array([3.])
    >>> gradient, hessian = loss.gradient_hessian(np.zeros(3), queries)
    >>> gradient
    array([-2.,  0.,  2.])
    >>> hessian
    array([2., 2., 2.])
    """

    distance: Distance = LogDistance(lam=3.0)  # noqa: RUF009 (an immutable value)
    hessian: Hessian = "newton"
    normalization: Normalization = "none"

    takes_pairs = True  # a pair's gap is its margin

    def __post_init__(self) -> None:
        if isinstance(self.distance, type) or not callable(self.distance):
            raise ValueError(
                f"MPBoost: distance must be a distance such as LogDistance(lam=3.0), or a function of gaps; "
                f"got {self.distance!r}"
            )
        try:
            hash(self.distance)
        except TypeError:
            raise ValueError(
                f"MPBoost: distance must be hashable, since losses are values; got {self.distance!r}; pass a function, "
                "or a frozen dataclass with __call__"
            ) from None
        for name, kind in (("hessian", Hessian), ("normalization", Normalization)):
            if getattr(self, name) not in get_args(kind):
                options = ", ".join(map(repr, get_args(kind)))
                raise ValueError(f"MPBoost: {name} must be one of {options}; got {getattr(self, name)!r}")

    @property
    def hessian_kind(self) -> HessianKind:
        """What the Hessian is: "exact" for newton, "model" for gentle, "bound" for bound."""
        kinds: dict[Hessian, HessianKind] = {"newton": "exact", "gentle": "model", "bound": "bound"}
        return kinds[self.hessian]

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ_q n_q and Σ_q c_q S_q (see Notes)."""
        runs = runs_of(queries)
        squares = None
        if self.hessian != "gentle" and len(runs.query):
            if isinstance(runs, PairRuns):
                squares = self._pair_squares(queries, runs)
            else:
                squares = self._plan(queries, runs).squares
        documents, weight = scale_terms_of(self.normalization, runs, squares)
        total = float(weight[0])
        if len(runs.query) and not np.finfo(np.float64).tiny < total < math.inf:
            raise ValueError(
                f"MPBoost: {self.distance!r} of the grade gaps is so {'large' if total > 1 else 'small'} that its "
                "square leaves float64's range; rescale the labels"
            )
        return documents, weight

    def _plan(self, queries: Queries, runs: GradeRuns) -> "_Plan":
        return queries.remember((MPBoost, self.distance), lambda: _Plan(runs, self.distance))

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        runs = runs_of(queries)
        out = np.zeros(queries.n_queries)
        if isinstance(runs, PairRuns):
            exponent = -self._pair_distances(queries, runs) * (scores[runs.winner] - scores[runs.loser])
            terms = runs.weight * np.exp(np.minimum(exponent, math.log(LARGEST_VALUE)))
            out[runs.query] = factor_of(self.normalization, runs) * np.add.reduceat(np.r_[terms, 0.0], runs.start[:-1])
            return np.minimum(out, LARGEST_VALUE)
        if len(runs.query):
            _, weights, shift, _ = self._sums(scores, queries, factor_of(self.normalization, runs), 0.0, 1.0)
            pairs_twice = np.add.reduceat(weights[runs.rows], runs.run_start[runs.query_run[:-1]])
            with np.errstate(divide="ignore"):
                log_value = np.log(0.5 * pairs_twice) + shift
            out[runs.query] = np.exp(np.minimum(log_value, math.log(LARGEST_VALUE)))
        return out

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> Relative:
        """Return `scale` times the gradient of J and the Hessian of `hessian`, each query over its own e^shift."""
        runs = runs_of(queries)
        factor = factor_of(self.normalization, runs) * scale
        if isinstance(runs, PairRuns):
            return self._pair_sums(scores, queries, runs, factor, *_COEFFICIENTS[self.hessian])
        gradient, hessian, shift, top = self._sums(scores, queries, factor, *_COEFFICIENTS[self.hessian])
        return Relative(gradient, hessian, *(_of_every_query(x, queries, runs) for x in (shift, top)))

    def _pair_distances(self, queries: Queries, runs: PairRuns) -> Floats:
        """Return the distance of each explicit pair's margin."""

        def build() -> Floats:
            if isinstance(self.distance, DirectedDistance):
                return self.distance(runs.margin)
            return distances_of_gaps(self.distance, runs.margin)

        return queries.remember((MPBoost, self.distance, "pairs"), build)

    def _pair_squares(self, queries: Queries, runs: PairRuns) -> Floats:
        """Return the sum of d² over each query's explicit pairs."""

        def build() -> Floats:
            squares: Floats = np.add.reduceat(self._pair_distances(queries, runs) ** 2, runs.start[:-1])
            return squares

        return queries.remember((MPBoost, self.distance, "squares of pairs"), build)

    def _pair_sums(
        self, scores: Floats, queries: Queries, runs: PairRuns, factor: Floats, h_d2: float, h_1: float
    ) -> Relative:
        """Return gradient and Hessian of explicit pairs; one shift for all, since a pair may cross queries."""
        distance = self._pair_distances(queries, runs)
        gradient, hessian = np.zeros(queries.n_rows), np.zeros(queries.n_rows)
        shift = 0.0
        if len(distance) and distance.max() * np.ptp(scores) > kernels.SAFE_EXPONENT:
            shift = kernels.largest_pair_exponent(scores, runs.winner, runs.loser, distance) - kernels.SAFE_EXPONENT
            shift = max(0.0, shift)

        def kernel(first: int, last: int) -> None:
            kernels.accumulate_pairs(
                first, last, scores, runs.winner, runs.loser, runs.weight, distance, runs.start, factor, h_d2, h_1,
                shift, gradient, hessian,
            )  # fmt: skip

        run_over_pairs(kernel, runs)
        top = max(float(np.abs(gradient).max(initial=0.0)), float(hessian.max(initial=0.0)))
        return Relative(gradient, hessian, np.full(queries.n_queries, shift), np.full(queries.n_queries, top))

    def _sums(
        self, scores: Floats, queries: Queries, factor: Floats, h_d2: float, h_1: float
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return (−Σ d w, Σ (h_d2 d² + h_1) w) per row, times factor, relative to e^shift; and the largest."""
        runs = queries.grade_runs
        plan = self._plan(queries, runs)
        gradient, hessian = np.zeros(queries.n_rows), np.zeros(queries.n_rows)
        shift, top = np.zeros(len(runs.query)), np.zeros(len(runs.query))

        def kernel(first: int, last: int) -> None:
            kernels.accumulate(
                first, last, scores, runs.rows, runs.sqrt_weight, runs.run_start, runs.run_grade, runs.query_run,
                plan.how, plan.table_start, plan.table, plan.longest, plan.kind, plan.parameter, h_d2, h_1,
                factor, gradient, hessian, shift, top,
            )  # fmt: skip

        run_over_queries(kernel, plan.work)
        for q in np.flatnonzero(plan.how == kernels.GIVEN).tolist():
            rows = runs.rows[plan.documents(q)]
            g, h, shift[q] = plan.sums_by_blocks(q, scores[rows], h_d2, h_1)
            gradient[rows], hessian[rows] = factor[q] * g, factor[q] * h
            top[q] = factor[q] * max(np.abs(g).max(), h.max())
        return gradient, hessian, shift, top


def _of_every_query(values: Floats, queries: Queries, runs: GradeRuns) -> Floats:
    """Return values of the queries that hold a pair as values of all, 0 elsewhere."""
    out = np.zeros(queries.n_queries)
    out[runs.query] = values
    return out


class _Plan:
    """What depends on grades and distance alone: how each query's pairs are summed, and the distances."""

    def __init__(self, runs: GradeRuns, distance: Distance) -> None:
        self.runs = runs
        self.distance = distance
        built_in = isinstance(distance, DirectedDistance)
        self.kind = distance.kind if isinstance(distance, DirectedDistance) else -1
        self.parameter = distance.parameter if isinstance(distance, DirectedDistance) else math.nan
        n_grades = np.diff(runs.query_run)
        n_documents = np.diff(runs.run_start[runs.query_run])
        n_cells = n_grades * (n_grades - 1) // 2
        self.how = np.full(len(n_grades), kernels.FACTORISED)
        if isinstance(distance, BinaryDistance):
            self.how[:] = kernels.RUNNING
        else:
            many = n_cells > 4 * n_documents + 64
            if built_in:
                self.how[many] = kernels.PAIRWISE
            else:  # a function is slow to call: tables for as many queries as a fixed amount of memory takes
                self.how[many & (np.cumsum(np.where(many, n_cells, 0)) > _TABULATED)] = kernels.GIVEN
        with np.errstate(over="ignore"):
            self.widest = runs.run_grade[runs.query_run[1:] - 1] - runs.run_grade[runs.query_run[:-1]]
        if not np.isfinite(self.widest).all():
            raise ValueError("MPBoost: a query's grades are further apart than float64 can say; rescale the labels")
        factorised = self.how == kernels.FACTORISED
        self.table_start = np.r_[0, np.cumsum(np.where(factorised, n_cells, 0))]
        gaps = _gaps(runs, np.flatnonzero(factorised), int(self.table_start[-1]))
        self.table = np.asarray(distance(gaps), dtype=np.float64) if built_in else distances_of_gaps(distance, gaps)
        self.longest = self._longest()
        if not np.isfinite(self.longest).all():
            raise ValueError(f"MPBoost: {distance!r} of the largest grade gap is not finite; rescale the labels")
        with np.errstate(over="ignore"):
            self.squares = runs.n_pairs if isinstance(distance, BinaryDistance) else self._squares()
        per_document = np.where(self.how == kernels.PAIRWISE, n_documents / 2, np.minimum(n_grades, 2**20) - 1)
        self.work = np.r_[0, np.cumsum(n_documents * np.maximum(per_document, 1))].astype(np.int64)

    def _longest(self) -> Floats:
        """Return each query's largest distance, checking a user's distance on all gaps on the way."""
        if isinstance(self.distance, DirectedDistance):
            return self.distance(self.widest)
        longest = np.zeros(len(self.widest))
        for q in np.flatnonzero(self.how == kernels.FACTORISED).tolist():
            longest[q] = self.table[self.table_start[q] : self.table_start[q + 1]].max()
        for q in np.flatnonzero(self.how == kernels.GIVEN).tolist():
            longest[q] = max(float(block.max()) for _, block in self._blocks(q))
        return longest

    def _squares(self) -> Floats:
        """Return the sum of d² over each query's pairs."""
        runs = self.runs
        squares = np.zeros(len(self.how))

        def kernel(first: int, last: int) -> None:
            kernels.squared_distances(
                first, last, runs.run_start, runs.run_grade, runs.query_run, self.how, self.table_start, self.table,
                self.kind, self.parameter, squares,
            )  # fmt: skip

        run_over_queries(kernel, runs.run_start[runs.query_run])
        sizes = np.diff(runs.run_start).astype(np.float64)
        for q in np.flatnonzero(self.how == kernels.GIVEN).tolist():
            of_runs = sizes[runs.query_run[q] : runs.query_run[q + 1]]
            for v0, block in self._blocks(q):
                squares[q] += float(of_runs[v0 : v0 + len(block)] @ (block**2 @ of_runs))
        return squares

    def documents(self, q: int) -> slice:
        """Return the place of a query's documents in ``runs.rows``."""
        runs = self.runs
        return slice(runs.run_start[runs.query_run[q]], runs.run_start[runs.query_run[q + 1]])

    def _blocks(self, q: int) -> Iterator[tuple[int, Floats]]:
        """Yield (first run v0, distances from runs v0, v0 + 1, … to all lower runs, 0 elsewhere), in bounded memory."""
        grades = self.runs.run_grade[self.runs.query_run[q] : self.runs.query_run[q + 1]]
        step = max(1, _BLOCK // len(grades))
        for v0 in range(1, len(grades), step):
            gaps = grades[v0 : v0 + step, None] - grades[None, :]
            lower = np.arange(len(grades))[None, :] < np.arange(v0, v0 + len(gaps))[:, None]
            block = np.zeros(gaps.shape)
            block[lower] = distances_of_gaps(self.distance, gaps[lower])
            yield v0, block

    def sums_by_blocks(self, q: int, scores: Floats, h_d2: float, h_1: float) -> tuple[Floats, Floats, float]:
        """Return gradient, Hessian and shift of one query, with a user's function called block by block."""
        runs = self.runs
        place = self.documents(q)
        start = runs.run_start[runs.query_run[q] : runs.query_run[q + 1] + 1] - place.start
        weight = runs.sqrt_weight[place] if len(runs.sqrt_weight) else runs.sqrt_weight
        shift = 0.0
        if self.longest[q] * np.ptp(scores) > kernels.SAFE_EXPONENT:
            largest = max(kernels.largest_exponent(scores, start, block, v0) for v0, block in self._blocks(q))
            shift = max(0.0, largest - kernels.SAFE_EXPONENT)
        g, h = np.zeros(len(scores)), np.zeros(len(scores))
        for v0, block in self._blocks(q):
            kernels.accumulate_block(scores, weight, start, block, v0, h_d2, h_1, shift, g, h)
        return g, h, shift


def _gaps(runs: GradeRuns, chosen: Ints, n_cells: int) -> Floats:
    """Return, query by query, the gaps between grade v and each lower grade u, v ascending, then u."""
    gaps = np.empty(n_cells)
    n_grades = np.diff(runs.query_run)[chosen]
    first = runs.query_run[chosen]
    place_of = np.r_[0, np.cumsum(n_grades * (n_grades - 1) // 2)]
    for k in np.unique(n_grades):  # all queries with k grades at once
        v, u = np.tril_indices(k, -1)
        of = np.flatnonzero(n_grades == k)
        place = place_of[of][:, None] + np.arange(len(v))[None, :]
        gaps[place] = runs.run_grade[first[of][:, None] + v[None, :]] - runs.run_grade[first[of][:, None] + u[None, :]]
    return gaps


def distances_of_gaps(distance: Distance, gaps: Floats) -> Floats:
    """Return a user's distances of gaps > 0, checked for the paper's conditions (3) and (4)."""
    if not len(gaps):
        return np.zeros(0)
    rounded, back = np.unique(_to_12_digits(gaps), return_inverse=True)
    out: Any = np.asarray(distance(rounded))
    if out.dtype.kind not in "biuf":
        raise ValueError(f"MPBoost: distance must return real numbers; it returned dtype {out.dtype}")
    values: Floats = out.astype(np.float64)
    if values.shape != rounded.shape:
        raise ValueError(
            f"MPBoost: distance must return one value per gap; it returned shape {values.shape} for {rounded.shape}"
        )
    bad = ~((values > 0) & np.isfinite(values))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"MPBoost: distance must be positive and finite for gaps > 0 (the paper's condition 3): "
            f"distance({rounded[at]}) = {values[at]}"
        )
    apart = np.diff(rounded) > 1e-9 * rounded[1:]
    flat = apart & (np.diff(values) < 1e-12 * values[1:])
    if flat.any():
        at = int(np.argmax(flat))
        warnings.warn(
            "MPBoost: distance does not grow strictly (the paper's condition 4): "
            f"distance({rounded[at]}) = {values[at]}, distance({rounded[at + 1]}) = {values[at + 1]}; "
            "grades further apart are not pushed further apart",
            UserWarning,
            stacklevel=2,
        )
    return values[back]


_POWERS_OF_TEN = np.array([float(f"1e{k}") for k in range(23)])  # all of them exact


def _to_12_digits(gaps: Floats) -> Floats:
    """Round to 12 significant digits, so that gaps that differ only by the subtraction's rounding become equal.

    Short decimals stay as they are written: a whole number of at most 12 digits and the power of 10 that it is
    multiplied with or divided by are exact, so their product or ratio is the decimal's own float64.
    """
    rounded = np.empty_like(gaps)
    exact = (gaps >= 1e-9) & (gaps < 1e30)
    x = gaps[exact]
    digits = 11 - np.floor(np.log10(x)).astype(np.int64)  # one off where the logarithm is rounded past a whole number
    digits -= _shifted(x, digits) >= 1e12
    digits += _shifted(x, digits) < 1e11
    rounded[exact] = _shifted(np.round(_shifted(x, digits)), -digits)
    rounded[~exact] = [float(f"{gap:.11e}") for gap in gaps[~exact].tolist()]
    return rounded


def _shifted(x: Floats, digits: Ints) -> Floats:
    """Return x · 10^digits, correctly rounded, for up to 22 digits either way."""
    power = _POWERS_OF_TEN[np.abs(digits)]
    shifted: Floats = np.where(digits >= 0, x * power, x / power)
    return shifted
