# mypy: disallow-untyped-decorators=False
"""The compiled parser of svmlight lines, over a block of bytes.

A block ends with a newline, as each of its lines does, and every loop stops at one: no loop needs to ask for the end of
the buffer. What the parser is not certain of (an odd number, a word) it leaves to Python, as the span of the token.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.compiling import compiled

__all__ = ["COUNTS", "parse_block", "scatter"]

# Places of the parser's counts.
COUNTS = ("rows", "entries", "runs", "odd", "docs", "lines", "max_id", "max_id_line", "zero_line", "unsorted", "bad")
ROWS, ENTRIES, RUNS, ODD, DOCS, LINES, MAX_ID, MAX_ID_LINE, ZERO_LINE, UNSORTED, BAD = range(len(COUNTS))

_POWER = np.array([float(f"1e{i}") for i in range(300)])
_EXACT, _CLOSE, _MISSING, _UNSURE = range(4)
_FULL = 10**17  # a mantissa below it takes one more digit
_MAX_ID = 2**31 - 2
_STOPS = np.isin(np.arange(256), [10, 0, 11, 12, 28, 29, 30, 0x85, 0xA8, 0xA9])  # what `_end_of_comment` looks at
_CLOSENESS = 1e-15  # three roundings to double and the digits beyond the 18th; 4 ulp cover them

Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@compiled(inline="always")
def _is_blank(c: int) -> bool:
    return c == 32 or c == 9  # noqa: PLR1714 (a chain compiles to less than a tuple)


@compiled(inline="always")
def _is_end(c: int) -> bool:
    return c == 32 or c == 10 or c == 35 or c == 9  # noqa: PLR1714


@compiled(inline="always")
def _is_break(buf: Bytes, at: int) -> bool:
    """Whether a character ends here that ends lines elsewhere; letor.py names them."""
    c = int(buf[at])
    if c < 32:
        return c == 0 or c == 11 or c == 12 or 28 <= c <= 30  # noqa: PLR1714
    before = int(buf[at - 1])
    if c == 0x85:
        return before < 0x80 or before == 0xC2
    return 0xA8 <= c <= 0xA9 and before == 0x80 and int(buf[at - 2]) == 0xE2


@compiled(inline="always")
def _end_of_comment(buf: Bytes, at: int) -> int:
    """Return where a comment ends: at the newline, or at what may be meant as one."""
    while not (_STOPS[buf[at]] and (buf[at] == 10 or _is_break(buf, at))):
        at += 1
    return at


@compiled(error_model="numpy")
def _number(buf: Bytes, at: int) -> tuple[float, int, int]:
    """Parse the number at `at`: (value, how certain, where it ends)."""
    start = at
    negative = buf[at] == 45
    if negative or buf[at] == 43:
        at += 1
    first = at
    mantissa: Any = 0
    exponent: Any = 0
    dropped = False
    digit = np.int64(buf[at]) - 48
    while 0 <= digit <= 9:
        if mantissa < _FULL:
            mantissa = mantissa * 10 + digit
        else:
            exponent += 1
            dropped = True
        at += 1
        digit = np.int64(buf[at]) - 48
    n_digits = at - first
    if buf[at] == 46:
        at += 1
        first = at
        digit = np.int64(buf[at]) - 48
        while 0 <= digit <= 9:
            if mantissa < _FULL:
                mantissa = mantissa * 10 + digit
                exponent -= 1
            else:
                dropped = True
            at += 1
            digit = np.int64(buf[at]) - 48
        n_digits += at - first
    if n_digits == 0:
        # The newline that ends the buffer stops these comparisons.
        if buf[start] | 32 == 110:
            if buf[start + 1] | 32 == 117 and buf[start + 2] | 32 == 108 and buf[start + 3] | 32 == 108:  # null
                return np.nan, _MISSING, start + 4
            if buf[start + 1] | 32 == 97 and buf[start + 2] | 32 == 110:  # nan
                return np.nan, _MISSING, start + 3
        return 0.0, _UNSURE, start
    if buf[at] | 32 == 101:
        at += 1
        down = buf[at] == 45
        if down or buf[at] == 43:
            at += 1
        first = at
        power: Any = 0
        digit = np.int64(buf[at]) - 48
        while 0 <= digit <= 9:
            power = min(power * 10 + digit, 100_000)
            at += 1
            digit = np.int64(buf[at]) - 48
        if at == first:
            return 0.0, _UNSURE, start
        exponent += -power if down else power
    sign = -1.0 if negative else 1.0
    if mantissa == 0:
        return sign * 0.0, _EXACT, at
    if exponent < -290 or exponent > 290:
        return 0.0, _UNSURE, start
    scaled = sign * mantissa
    value = scaled / _POWER[-exponent] if exponent < 0 else scaled * _POWER[exponent]
    exact = not dropped and mantissa <= 2**53 and -22 <= exponent <= 22
    return value, _EXACT if exact else _CLOSE, at


@compiled(error_model="numpy")
def parse_block(
    buf: Bytes,
    end: int,
    labels: NDArray[np.float64],
    row_end: Int32s,
    row_line: Int32s,
    ids: Int32s,
    values: NDArray[np.float32],
    runs: Int32s,
    docs: Int32s,
    odd: Int32s,
    counts: Int64s,
) -> None:
    """Parse the lines of ``buf[:end]``, which ends with a newline.

    Parameters
    ----------
    buf : ndarray of uint8
    end : int
    labels, row_end, row_line : ndarray
        Of each row: grade, end of its entries, line in the block (from 0).
    ids, values : ndarray
        Of each entry: feature id as written, value.
    runs : ndarray of shape (n, 3)
        Of each run of rows with one query id: span of the id (-1, -1 without one), first row.
    docs : ndarray of shape (n, 2)
        Of each row: span of its document id, (-1, -1) without one.
    odd : ndarray of shape (n, 3)
        Of each token left to Python: its span, and its place: an entry, or ``-1 - row`` for a grade.
    counts : ndarray of shape (len(COUNTS),)
        ``bad`` is where the first malformed token starts, -1 without one; `rows` and so on count what stands before.
    """
    counts[:] = 0
    counts[ZERO_LINE] = -1
    counts[BAD] = -1
    max_id, row, entry, line, n_runs, n_odd = np.int64(-1), 0, 0, -1, 0, 0
    run_at, run_len = -2, 0
    at = 0
    while at < end:
        line += 1
        while _is_blank(buf[at]):
            at += 1
        if buf[at] == 10:
            at += 1
            continue
        if buf[at] == 35:
            at = _end_of_comment(buf, at)
            if buf[at] != 10:
                counts[BAD] = at
                break
            at += 1
            continue

        start = at
        value, kind, at = _number(buf, at)
        if kind != _EXACT or not _is_end(buf[at]):
            at = start
            while not _is_end(buf[at]):
                at += 1
            odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2] = start, at, -1 - row
            n_odd += 1
        labels[row] = value
        row_line[row] = line
        while _is_blank(buf[at]):
            at += 1

        id_at, id_len = -1, 0
        if buf[at] == 113 and buf[at + 1] == 105 and buf[at + 2] == 100 and buf[at + 3] == 58:  # qid:
            start = at
            id_at = at + 4
            at = id_at
            while not _is_end(buf[at]):
                if _is_break(buf, at) and counts[BAD] < 0:
                    counts[BAD] = at
                at += 1
            id_len = at - id_at
            if id_len == 0:
                counts[BAD] = start
        same = id_len == run_len and (id_at < 0) == (run_at < 0)
        if same and id_at >= 0:
            for i in range(id_len):
                if buf[id_at + i] != buf[run_at + i]:
                    same = False
                    break
        if run_at == -2 or not same:
            run_at, run_len = id_at, id_len
            runs[n_runs, 0], runs[n_runs, 1], runs[n_runs, 2] = id_at, id_at + id_len, row
            n_runs += 1

        last_id = np.int64(-1)
        while counts[BAD] < 0:
            while _is_blank(buf[at]):
                at += 1
            if buf[at] == 10 or buf[at] == 35:
                break
            start = at
            index: Any = np.int64(0)
            digit = np.int64(buf[at]) - 48
            while 0 <= digit <= 9 and index <= _MAX_ID:
                index = index * 10 + digit
                at += 1
                digit = np.int64(buf[at]) - 48
            if at == start or index > _MAX_ID or buf[at] != 58:
                counts[BAD] = start
                break
            at += 1
            value_at = at
            value, kind, at = _number(buf, at)
            single = np.float32(value)
            if kind == _CLOSE and np.float32(value * (1 - _CLOSENESS)) != np.float32(value * (1 + _CLOSENESS)):
                kind = _UNSURE
            if kind == _UNSURE or np.isinf(single) or not _is_end(buf[at]):
                at = value_at
                while not _is_end(buf[at]):
                    at += 1
                odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2] = value_at, at, entry
                n_odd += 1
            ids[entry] = index
            values[entry] = single
            entry += 1
            if index <= last_id:
                counts[UNSORTED] = 1
            last_id = index
            if index > max_id:
                max_id = index
                counts[MAX_ID_LINE] = line
            if index == 0 and counts[ZERO_LINE] < 0:
                counts[ZERO_LINE] = line
        if counts[BAD] >= 0:
            break

        docs[row, 0] = docs[row, 1] = -1
        if buf[at] == 35:
            end_of_line = _end_of_comment(buf, at)
            if buf[end_of_line] != 10:
                counts[BAD] = end_of_line
                break
            at += 1
            while _is_blank(buf[at]):
                at += 1
            if (
                buf[at] | 32 == 100  # docid
                and buf[at + 1] | 32 == 111
                and buf[at + 2] | 32 == 99
                and buf[at + 3] | 32 == 105
                and buf[at + 4] | 32 == 100
            ):
                at += 5
                while _is_blank(buf[at]):
                    at += 1
                if buf[at] == 61:
                    at += 1
                    while _is_blank(buf[at]):
                        at += 1
                    start = at
                    while not (_is_blank(buf[at]) or buf[at] == 10):
                        at += 1
                    if at > start:
                        docs[row, 0], docs[row, 1] = start, at
                        counts[DOCS] += 1
            at = end_of_line
        at += 1
        row_end[row] = entry
        row += 1
    counts[ROWS] = row
    counts[ENTRIES] = entry
    counts[RUNS] = n_runs
    counts[ODD] = n_odd
    counts[LINES] = line + (counts[BAD] < 0)
    counts[MAX_ID] = max_id


@compiled()
def scatter(row_end: Int32s, ids: Int32s, values: NDArray[np.float32], first: int, dense: NDArray[Any]) -> None:
    """Write the entries of each row into the zeros of `dense`, whose columns are the ids from `first` on."""
    entry = 0
    for row in range(len(row_end)):
        for e in range(entry, row_end[row]):
            dense[row, ids[e] - first] = values[e]
        entry = row_end[row]
