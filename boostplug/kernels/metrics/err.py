"""Expected reciprocal rank (ERR) at which a user who reads from the top stops; exact for tied documents."""

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import best_rows, workspace_for

_NEVER = 1e-15  # ranks that users reach with a smaller probability are left out of the sum


@inlined()
def _stops_in_random_order(stops: Floats, rows: Ints, ranks: int, stop_at: Floats, goes_on: Floats) -> int:
    r"""Write the probability of a stop at rank t, with the documents `rows` in random order, to ``stop_at[t]``.

    Documents are added one by one. The m-th one lands on each of the m ranks with the same probability: with t of them
    at or above rank t, and m - t below,

    .. math:: m\,s'_t = (m - t)\,s_t + (t - 1)(1 - R)\,s_{t-1} + R\,p_{t-1}, \qquad
        m\,p'_t = (m - t)\,p_t + t\,(1 - R)\,p_{t-1},

    where s is the probability of a stop at a rank and p that of reading on after it (`goes_on`). All terms are ≥ 0, so
    a small R keeps its digits. Returns the last rank written: at most `ranks`, and reached with a probability of at
    least 1e-15.
    """
    stop_at[: ranks + 1] = goes_on[: ranks + 1] = 0.0
    goes_on[0] = 1.0
    last = 0
    for m in range(1, len(rows) + 1):
        stop, inverse = stops[rows[m - 1]], 1.0 / m
        last = min(last + 1, ranks)
        for t in range(last, 0, -1):
            below, above = float(m - t), float(t)
            stopped = (above - 1.0) * (1.0 - stop) * stop_at[t - 1] + stop * goes_on[t - 1]
            stop_at[t] = (below * stop_at[t] + stopped) * inverse
            goes_on[t] = (below * goes_on[t] + above * (1.0 - stop) * goes_on[t - 1]) * inverse
        while last > 1 and goes_on[last - 1] < _NEVER:
            stop_at[last] = goes_on[last] = 0.0
            last -= 1
    return last


@compiled()
def expected_reciprocal_rank(
    first: int, last: int, scores: Floats, stops: Floats, n_relevant: Floats, boundaries: Ints, k: int, average: bool,
    out: Floats,
) -> None:  # fmt: skip
    r"""Write the expected 1/rank at which a user stops; NaN for a query without relevant documents.

    .. math:: \sum_{j \le k} \frac1j R_j \prod_{i < j} (1 - R_i)

    The :math:`R_i` are `stops`. Ties stay in file order, or, with `average`, the value is the expected one over a
    random order of tied documents. The probability of reading past a complete block of ties does not depend on their
    order.
    """
    workspace = workspace_for(boundaries, first, last)
    keys, rows = workspace.keys, workspace.rows
    stop_at, goes_on = np.empty(len(keys) + 1), np.empty(len(keys) + 1)
    for q in range(first, last):
        start, n = boundaries[q], boundaries[q + 1] - boundaries[q]
        if n_relevant[q] == 0:
            out[q] = np.nan
            continue
        cut = min(k, n)
        m = best_rows(scores, start, start + n, cut, average, workspace)
        total, alive = 0.0, 1.0
        a = 0
        while a < cut and alive > _NEVER:
            b = a + 1
            while average and b < m and keys[b] == keys[a]:
                b += 1
            if b == a + 1:
                total += alive * stops[rows[a]] / b
            else:
                reached = _stops_in_random_order(stops, rows[a:b], min(b, cut) - a, stop_at, goes_on)
                for t in range(1, reached + 1):
                    total += alive * stop_at[t] / (a + t)
            for j in range(a, b):
                alive *= 1.0 - stops[rows[j]]
            a = b
        out[q] = total
