"""Position bias of clicks, estimated from the current scores."""

from typing import NamedTuple

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.kernels.pairs.clicks.by_position import EDGES
from boostplug.losses.base.pair_loss import PairFunction

_FURTHEST = 30.0  # of a difference: e^30 is large enough for any loss
_CLOSE = 1e-8
_CLOSE_BY_NEWTON = 1e-4  # the step that would follow is about the square of it
_RATIO_ROUNDS = 200
_NEWTON_STEPS = 50
_LONGEST_STEP = 1.0
_LARGEST_GROWTH = 3.0  # of the scale, beside what it is
_LARGEST_SCALE = 10.0  # of scores, beside what they are


class PositionPairs(NamedTuple):
    """Pairs of different labels by the positions of both, in classes of about one score difference.

    Attributes
    ----------
    winner, loser : ndarray of shape (n_cells,), int64
        Positions from 0 that have pairs, in the order of the winner's, then the loser's.
    start : ndarray of shape (n_cells,), int64
        Where the classes of each begin.
    weight : ndarray of shape (n_classes,)
    difference : ndarray of shape (n_classes,)
        Their mean, times the scale of the loss.
    n : int
        Number of positions.
    """

    winner: Ints
    loser: Ints
    start: Ints
    weight: Floats
    difference: Floats
    n: int

    @classmethod
    def from_table(cls, table: Floats, n: int) -> "PositionPairs":
        """Return the classes that hold something of a table from `pairs_by_position`, of n positions or fewer."""
        of_classes = table.reshape(-1, 2)
        used = np.flatnonzero(of_classes[:, 0] > 0.0)
        weight, moment = of_classes[used].T
        cell, place = np.divmod(used, table.shape[2])
        start = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]][: len(cell)])
        winner, loser = np.divmod(cell[start], len(table))
        # within its class, whatever rounding does to a quotient of small weights
        mean = np.clip(moment / weight, EDGES[place], EDGES[place + 1])
        return cls(winner, loser, start, weight, np.clip(mean, -_FURTHEST, _FURTHEST), n)

    def sums(self, *of_class: Floats) -> Floats:
        """Return the sums of some numbers of each class, by positions, of shape (len(of_class), n, n)."""
        out = np.zeros((len(of_class), self.n, self.n))
        if len(self.start):
            out[:, self.winner, self.loser] = [np.add.reduceat(numbers, self.start) for numbers in of_class]
        return out


def click_ratios(pairs: PositionPairs, function: PairFunction, power: float, least: float) -> tuple[Floats, Floats]:
    r"""Return the ratios t⁺ and t⁻ of each position: what pairs cost there, of clicks and of their absence.

    .. math:: t^+_k = \Bigl(\frac{\sum_l L_{kl} / t^-_l}{\sum_l L_{1l} / t^-_l}\Bigr)^{\text{power}}, \qquad
              t^-_l = \Bigl(\frac{\sum_k L_{kl} / t^+_k}{\sum_k L_{k1} / t^+_k}\Bigr)^{\text{power}}

    with :math:`L_{kl}` the loss of the pairs whose winner stands at k and whose loser at l (Hu et al. 2019, Eqs. 27 and
    28, where the power is 1/(p + 1)), taken in turn from 1 until neither changes by more than 1e-8, at most 200 times.
    A position without pairs has the ratio of the last one above that has some. Ratios lie between `least` and
    1/`least`.
    """
    loss = pairs.sums(pairs.weight * function.value(pairs.difference))[0]
    clicked, unclicked = np.ones((2, pairs.n))
    for _ in range(_RATIO_ROUNDS):
        before = np.r_[clicked, unclicked]
        clicked = _ratios(loss @ (1.0 / unclicked), power, least)
        unclicked = _ratios((1.0 / clicked) @ loss, power, least)
        if np.abs(np.r_[clicked, unclicked] - before).max(initial=0.0) <= _CLOSE:
            break
    return clicked, unclicked


def _ratios(sums: Floats, power: float, least: float) -> Floats:
    """Return the ratio of each position to the first one that has a sum."""
    there = np.flatnonzero(sums > 0.0)
    if not len(there):
        return np.ones(len(sums))
    last = np.maximum.accumulate(np.where(sums > 0.0, np.arange(len(sums)), -1))
    filled = sums[np.where(last < 0, there[0], last)]
    ratios: Floats = np.clip((filled / sums[there[0]]) ** power, least, 1.0 / least)
    return ratios


def additive_bias(pairs: PositionPairs, function: PairFunction, ridge: float) -> Floats:
    r"""Return the bias of each position, added to scores, that explains the pairs best: 0 at the first.

    .. math:: \min_{b, 1 \le a \le 10} \sum_{k,l} \sum_{d} \rho(a d + b_k - b_l) + \frac{λ}{2} \sum_k N_k b_k^2

    over the pairs, :math:`N_k` of which have a document at k. Early in a training scores are right in their order, and
    small. Without a, the bias would be made up of relevance that they do not show yet.

    By Newton's method from b = 0 and a = 1, in steps of at most 1 for b and 3 a for a. It ends when none is longer than
    1e-4, or after 50 steps.
    """
    of_positions = pairs.sums(pairs.weight)[0]
    of_position = of_positions.sum(axis=1) + of_positions.sum(axis=0)
    total = of_position.sum()
    if total == 0.0:
        return np.zeros(pairs.n)
    weight, strength = pairs.weight / total, ridge * of_position / total
    at = np.r_[np.zeros(pairs.n), 1.0]
    for _ in range(_NEWTON_STEPS):
        gradient, hessian = _bias_derivatives(pairs, function, weight, strength, at)
        unused = np.diag(hessian) == 0.0  # positions without pairs, and the scale where all scores are equal
        stuck = np.r_[np.zeros(pairs.n, bool), at[-1] == (_LARGEST_SCALE if gradient[-1] < 0.0 else 1.0)] | unused
        hessian[stuck] = hessian[:, stuck] = 0.0
        step = np.where(stuck, 0.0, np.linalg.solve(hessian + np.diag(stuck.astype(np.float64)), -gradient))
        step /= max(1.0, float(np.abs(step[:-1]).max()) / _LONGEST_STEP, abs(step[-1]) / (_LARGEST_GROWTH * at[-1]))
        before, at = at, at + step
        at[-1] = np.clip(at[-1], 1.0, _LARGEST_SCALE)
        if np.abs(at - before).max() <= _CLOSE_BY_NEWTON:
            break
    relative: Floats = (at[:-1] - at[0]) / function.steepness
    return relative


def _bias_derivatives(
    pairs: PositionPairs, function: PairFunction, weight: Floats, strength: Floats, at: Floats
) -> tuple[Floats, Floats]:
    """Return gradient and Hessian of `additive_bias` by the biases and, last, by the scale of the scores."""
    d, bias, n = pairs.difference, at[:-1], len(at) - 1
    apart = np.repeat(bias[pairs.winner] - bias[pairs.loser], np.diff(np.r_[pairs.start, len(weight)]))
    x = np.clip(at[-1] * d + apart, -_FURTHEST, _FURTHEST)
    first, second = weight * function.first(x), weight * function.second(x)
    slope, bend, twist = pairs.sums(first, second, second * d)
    around, mixed = bend + bend.T, twist.sum(axis=1) - twist.sum(axis=0)
    gradient = np.r_[slope.sum(axis=1) - slope.sum(axis=0) + strength * bias, (first * d).sum()]
    hessian = np.zeros((n + 1, n + 1))
    hessian[:n, :n] = np.diag(around.sum(axis=1) + strength) - around
    hessian[:n, n] = hessian[n, :n] = mixed
    hessian[n, n] = (second * d * d).sum()
    return gradient, hessian
