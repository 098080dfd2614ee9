"""`CriticalPairs`, those of RankBoost and MPBoost, and sums over them: weights by cut and row, errors.

A cut is given by the documents above it. It ranks a pair (i preferred to j) right if only i is above, and wrong if only
j is. Otherwise it ties the pair.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Bools, Floats, Ints
from boostplug.core.cached import cached_property
from boostplug.core.threads import run_evenly
from boostplug.data.boundaries import places_within
from boostplug.data.grade_groups import ListedPairs
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled
from boostplug.losses import BinaryDistance
from boostplug.losses.base.pair_loss import pairs_to_learn
from boostplug.losses.directed_distance import Distance, distances_of_gaps
from boostplug.weak_rankers import Cuts

_ONE = BinaryDistance()


def check_has_pairs(queries: Queries) -> None:
    """Raise if no pair has a positive weight."""
    if len(pairs_to_learn(queries).query):
        return
    cause = why_nothing_is_learnt(queries)
    if queries.pairs is not None:
        raise ValueError(
            f"pairs holds no pair of positive weight between rows of positive weight: {cause}; pass at least one"
        )
    raise ValueError(f"y holds no pair to learn from: {cause}; check y, the weights and the queries")


class CriticalPairs:
    r"""The critical pairs, with weights :math:`w_{ij} e^{-d_{ij}(F_i - F_j)}` of sum 1, as products of two factors.

    There is an entry for a document and each other grade of its query. The pairs of grades a and b have one distance.
    So a document has one factor for all its partners of a grade. Sums over the pairs of two grades are products of sums
    over documents, and no pair is listed. The documents of grade a with partners of grade b form a cell. The opposite
    cell holds these partners. An explicit pair has two cells of one document each.

    Parameters
    ----------
    queries : Queries
        With at least one pair to learn from.
    distance : callable, default BinaryDistance()

    Attributes
    ----------
    start : ndarray of shape (n_rows + 1,)
        Row i has the entries ``start[i]:start[i + 1]``.
    row, cell, opposite : ndarray of shape (n_entries,)
    distance : ndarray of shape (n_entries,)
        Directed distance of the pairs: positive where the row is preferred.
    root : ndarray of shape (n_entries,)
        The initial weight of a pair is the product of the roots of its two entries.
    factor : ndarray of shape (n_entries,)
        The weight of a pair is the product of the factors of its two entries.
    row_weight : ndarray of shape (n_rows,)
        Total weight of each row's pairs.
    slope : ndarray of shape (n_rows,)
        The same with each pair times its directed distance: positive where the row should stand higher.
    n_pairs : int
    """

    def __init__(self, queries: Queries, distance: Distance = _ONE) -> None:
        check_has_pairs(queries)
        groups = pairs_to_learn(queries)
        if isinstance(groups, ListedPairs):
            row = np.r_[groups.winner, groups.loser]
            cell = np.arange(len(row))
            opposite = np.roll(cell, len(groups.winner))
            root, gap = np.tile(np.sqrt(groups.weight), 2), np.r_[groups.margin, -groups.margin]
        else:
            first, n_grades = groups.query_group[groups.query_of_group], groups.n_grades[groups.query_of_group]
            group = groups.group_of_document
            document = np.repeat(np.arange(len(group)), n_grades[group])
            own = group[document]
            other = first[own] + places_within(n_grades[group])
            document, own, other = (of_entry[own != other] for of_entry in (document, own, other))
            start = np.cumsum(n_grades) - n_grades - first  # the cell of grades a and b is start[a] + b
            row, cell, opposite = groups.rows[document], start[own] + other, start[other] + own
            root = groups.sqrt_weight[document] if len(groups.sqrt_weight) else np.ones(len(row))
            gap = groups.group_grade[own] - groups.group_grade[other]
        directed = np.copysign(distances_of_gaps(distance, np.abs(gap)), gap)
        by_row = np.argsort(row, kind="stable")
        self.row, self.cell, self.opposite = row[by_row], cell[by_row], opposite[by_row]
        self.distance, self.root = directed[by_row], root[by_row]
        self.start = np.searchsorted(self.row, np.arange(queries.n_rows + 1))
        self.n_pairs = int(groups.n_pairs.sum())
        self._n_cells = int(cell.max()) + 1
        self._n_rows = queries.n_rows
        self._log_total = 0.0
        self._log_total = self.weigh(np.zeros(queries.n_rows))

    def weigh(self, scores: Floats) -> float:
        """Set the weights at some scores. Return the logarithm of their sum, over that at equal scores."""
        cell, opposite = self.cell, self.opposite
        exponent = -self.distance * scores[self.row]
        # All exponents are relative to the largest one of a pair, so that no factor exceeds its root.
        top = np.full(self._n_cells, -np.inf)
        np.maximum.at(top, cell, exponent)
        shift = float((top[cell] + top[opposite]).max())
        factor = self.root * np.exp(exponent + 0.5 * (top[opposite] - top[cell] - shift))
        weight = factor * self._sums_beside(factor)
        total = 0.5 * float(weight.sum())
        self.factor = factor / math.sqrt(total)
        self.row_weight = _sums(self.row, weight / total, self._n_rows)
        self.slope = _sums(self.row, self.distance * weight / total, self._n_rows)
        return math.log(total) + shift - self._log_total

    def split(self, above: Bools) -> tuple[float, float, float]:
        """Return the total weights of the pairs that a cut ranks right, wrong, and ties."""
        side = above[self.row]
        high, low = np.where(side, self.factor, 0.0), np.where(side, 0.0, self.factor)
        partners_high, partners_low = self._sums_beside(high), self._sums_beside(low)
        wins = self.distance > 0.0
        tied = high * partners_high + low * partners_low
        right, wrong = high * partners_low, low * partners_high
        return float(right[wins].sum()), float(wrong[wins].sum()), float(tied[wins].sum())

    def _sums_beside(self, factor: Floats) -> Floats:
        """Return the sum of the partners' factors for each entry."""
        return _sums(self.cell, factor, self._n_cells)[self.opposite]

    def errors(self, scores: Floats) -> tuple[float, float]:
        """Return R1 and R2: the initial weights of the pairs in the wrong order, with ties and with half of them."""
        wrong, not_right = _wrong_and_not_right(
            self.start, self.cell, self.opposite, self.distance, self.root, np.argsort(scores), scores, self._n_cells
        )
        unit = math.exp(-self._log_total)
        return unit * not_right, unit * 0.5 * (wrong + not_right)

    @cached_property
    def _small(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The starts, and the cells of each entry, in small types, because the documents come in random order."""
        return self.start.astype(np.int32), np.column_stack([self.cell, self.opposite]).astype(np.int32)

    def separated_by(self, cuts: Cuts) -> tuple[Floats, Floats]:
        """Return, for each cut, the sum of the slopes of the rows above it, and the weight of the separated pairs.

        Documents enter above the cuts in order of their codes. A document that enters adds its pairs to those that are
        separated. It takes away twice those with the documents above, which no longer are.
        """
        slope, weight = np.empty((2, len(cuts)))
        of_rows = np.column_stack([self.slope, self.row_weight])
        arrays = *cuts.descending, cuts.start, *self._small, self.factor, of_rows, self._n_cells
        run_evenly(lambda a, b: _separated_by(*arrays, a, b, slope, weight), len(cuts.codes), len(self.factor))
        return slope, weight


def _sums(place: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values at each of n places."""
    return np.asarray(np.bincount(place, values, n), np.float64)


@compiled()
def _separated_by(
    order: Any, n_above: Any, start: Any, entries: Any, cells: Any, factor: Any, of_rows: Any, n_cells: int,
    first: int, last: int, slope: Any, weight: Any,
) -> None:  # fmt: skip
    n_rows = unsigned(order.shape[1])
    slopes, weights = np.zeros((2, order.shape[1] + 1))  # of the cuts below the first documents
    for k in range(first, last):
        above = np.zeros(n_cells)  # sums of the factors of the documents above the cut
        slope_above, separated = 0.0, 0.0
        for i in range(n_rows):
            row = unsigned(order[k, i])
            inside = 0.0
            for e in range(unsigned(entries[row]), unsigned(entries[row + unsigned(1)])):
                inside += factor[e] * above[unsigned(cells[e, 1])]
                above[unsigned(cells[e, 0])] += factor[e]
            slope_above += of_rows[row, 0]
            separated += of_rows[row, 1] - 2.0 * inside
            slopes[i + unsigned(1)], weights[i + unsigned(1)] = slope_above, separated
        for cut in range(unsigned(start[k]), unsigned(start[k + 1])):
            slope[cut], weight[cut] = slopes[unsigned(n_above[cut])], weights[unsigned(n_above[cut])]


@compiled()
def _wrong_and_not_right(
    entries: Any, cell: Any, opposite: Any, distance: Any, root: Any, order: Any, scores: Any, n_cells: int
) -> tuple[float, float]:
    """Return the initial weights of the pairs whose loser scores higher, and at least as high; `order` ascends."""
    below = np.zeros(n_cells)
    wrong = not_right = 0.0
    a = 0
    while a < len(order):
        b = a
        while b < len(order) and scores[order[b]] == scores[order[a]]:
            for e in range(entries[order[b]], entries[order[b] + 1]):
                if distance[e] < 0.0:
                    wrong += root[e] * below[opposite[e]]
            b += 1
        for i in range(a, b):
            for e in range(entries[order[i]], entries[order[i] + 1]):
                below[cell[e]] += root[e]
        for i in range(a, b):
            for e in range(entries[order[i]], entries[order[i] + 1]):
                if distance[e] < 0.0:
                    not_right += root[e] * below[opposite[e]]
        a = b
    return wrong, not_right
