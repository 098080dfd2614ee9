# mypy: disallow-untyped-decorators=False
"""The compiled parser of svmlight lines, over a block of bytes.

A block ends with a newline, as each of its lines does. Every loop stops at one, so no loop needs to ask for the end of
the buffer. Words, and numbers that it may round wrongly, are left to Python, as the span of the token.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.compiling import compiled, inlined

# Places of the parser's counts.
ROWS, ENTRIES, RUNS, ODD, BAD = range(5)

_POWER = np.array([float(f"1e{i}") for i in range(300)])
_TOO_LONG = 10**18  # more digits than int64 has
_LARGEST_FEATURE = 2**31 - 2
_CLOSENESS = 1e-15  # three roundings to double; 4 ulp cover them

Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]


class Block(NamedTuple):
    """Parsed lines of a block."""

    labels: NDArray[np.float64]
    row_end: Int32s
    """End of the entries of each row."""
    ids: Int32s
    values: NDArray[np.float32]
    """Feature of each entry, as written, and its value."""
    runs: Int32s
    """Span of the query id of each run of rows with one id, empty without one; first row of the run."""
    comments: Int32s
    """Span of the comment behind each row, empty without one."""
    odd: Int32s
    """Span of each token left to Python, and its place: an entry, or ``-1 - row`` for a label."""
    counts: NDArray[np.int64]
    """Numbers of rows, entries, runs and odd tokens; where the first malformed token starts, -1 without one."""


def new_block(n_bytes: int) -> Block:
    """Return arrays for a block of so many bytes: the shortest row takes two of them, the shortest entry three."""
    n_rows, n_entries = n_bytes // 2, n_bytes // 3
    return Block(
        labels=np.empty(n_rows, np.float64),
        row_end=np.empty(n_rows, np.int32),
        ids=np.empty(n_entries, np.int32),
        values=np.empty(n_entries, np.float32),
        runs=np.empty((n_rows, 3), np.int32),
        comments=np.zeros((n_rows + 1, 2), np.int32),  # one more, for a line without a row
        odd=np.empty((n_rows + n_entries, 3), np.int32),
        counts=np.zeros(5, np.int64),
    )


@inlined(inline="always")
def _after_blanks(buf: Bytes, at: int) -> int:
    while buf[at] == 32 or buf[at] == 9 or buf[at] == 13:
        at += 1
    return at


@inlined(inline="always")
def _end_of_token(buf: Bytes, at: int) -> int:
    while buf[at] > 32 and buf[at] != 35:  # a blank, a control character, or #
        at += 1
    return at


@inlined(inline="always")
def _digits(buf: Bytes, at: int, number: Any) -> tuple[Any, int]:
    """Append digits to a number: (the number, `_TOO_LONG` if it has more than 18 digits; where they end)."""
    digit = np.int64(buf[at]) - 48
    while 0 <= digit <= 9:
        number = number * 10 + digit if number < _TOO_LONG // 10 else _TOO_LONG
        at += 1
        digit = np.int64(buf[at]) - 48
    return number, at


@inlined(error_model="numpy")
def _number(buf: Bytes, at: int) -> tuple[float, bool, int]:
    """Parse the number at `at`: (value, whether it is exact, where it ends). It ends at `at` if Python must read it."""
    start = at
    negative = buf[at] == 45
    if negative or buf[at] == 43:
        at += 1
    first = at
    mantissa, at = _digits(buf, at, np.int64(0))
    n_digits, exponent = at - first, 0
    if buf[at] == 46:
        first = at + 1
        mantissa, at = _digits(buf, first, mantissa)
        n_digits += at - first
        exponent -= at - first
    if buf[at] | 32 == 101:
        down = buf[at + 1] == 45
        first = at + 2 if down or buf[at + 1] == 43 else at + 1
        power, at = _digits(buf, first, np.int64(0))
        n_digits = 0 if at == first else n_digits
        exponent += -power if down else power
    is_zero = mantissa == 0
    if n_digits == 0 or mantissa == _TOO_LONG or (not is_zero and not -290 < exponent < len(_POWER)):
        return 0.0, False, start
    value = -float(mantissa) if negative else float(mantissa)
    if not is_zero:
        value = value / _POWER[-exponent] if exponent < 0 else value * _POWER[exponent]
    return value, is_zero or (mantissa <= 2**53 and -22 <= exponent <= 22), at


@inlined()
def _leave(buf: Bytes, start: int, place: int, out: Block) -> int:
    """Leave the token that starts here to Python. Return where it ends."""
    at: int = _end_of_token(buf, start)
    n = out.counts[ODD]
    out.odd[n, 0], out.odd[n, 1], out.odd[n, 2] = start, at, place
    out.counts[ODD] += 1
    return at


@inlined()
def _parse_label(buf: Bytes, at: int, out: Block) -> int:
    """Parse the label of a row. Return where it ends, as the next three do."""
    row = out.counts[ROWS]
    end: int
    out.labels[row], exact, end = _number(buf, at)
    if not exact or end != _end_of_token(buf, end):
        end = _leave(buf, at, -1 - row, out)
    return end


@inlined()
def _parse_query(buf: Bytes, at: int, out: Block) -> int:
    """Parse the query's id of a row, if there is one. Begin a run if it is not that of the row before."""
    first = end = at
    if buf[at] == 113 and buf[at + 1] == 105 and buf[at + 2] == 100 and buf[at + 3] == 58:  # qid:
        first = at + 4
        end = _end_of_token(buf, first)
        if end == first:
            out.counts[BAD] = at
    n = out.counts[RUNS]
    last = out.runs[n - 1, 0]
    same = n > 0 and end - first == out.runs[n - 1, 1] - last
    if same:
        for i in range(end - first):
            same = same and buf[first + i] == buf[last + i]
    if not same:
        out.runs[n, 0], out.runs[n, 1], out.runs[n, 2] = first, end, out.counts[ROWS]
        out.counts[RUNS] += 1
    return end


@inlined(error_model="numpy")
def _parse_features(buf: Bytes, at: int, out: Block) -> int:
    """Parse the entries of a row, up to the first malformed one, or one whose feature the row has already."""
    ids, values, counts = out.ids, out.values, out.counts
    first = entry = counts[ENTRIES]
    largest = np.int64(-1)
    while counts[BAD] < 0:
        start = at = _after_blanks(buf, at)
        if buf[at] == 10 or buf[at] == 35:
            break
        index, at = _digits(buf, start, np.int64(0))
        if index <= largest:
            for e in range(first, entry):
                if ids[e] == index:
                    counts[BAD] = start
        largest = max(largest, index)
        if at == start or index > _LARGEST_FEATURE or buf[at] != 58 or counts[BAD] >= 0:
            counts[BAD] = start
            break
        start = at + 1
        value, exact, at = _number(buf, start)
        ids[entry], values[entry] = index, value
        sure = exact or np.float32(value * (1 - _CLOSENESS)) == np.float32(value * (1 + _CLOSENESS))
        if not sure or at == start or at != _end_of_token(buf, at):
            at = _leave(buf, start, entry, out)
        entry += 1
    counts[ENTRIES] = entry
    return at


@inlined()
def _parse_comment(buf: Bytes, at: int, out: Block) -> int:
    """Parse the comment that may end a line.

    Control characters are refused in it: one of them may be meant as a newline.
    """
    row, start = out.counts[ROWS], at
    while buf[at] > 13 or buf[at] == 9:
        at += 1
    out.comments[row, 0], out.comments[row, 1] = min(start + 1, at), at  # behind the #
    if buf[at] == 13 and buf[at + 1] == 10:
        at += 1
    if buf[at] != 10:
        out.counts[BAD] = at
    return at


@compiled()
def parse_block(buf: Bytes, out: Block) -> None:
    """Parse lines up to the first malformed token. The last one ends with a newline."""
    counts = out.counts
    counts[:] = 0
    counts[BAD] = -1
    at = 0
    while at < len(buf) and counts[BAD] < 0:
        at = _after_blanks(buf, at)
        if buf[at] == 10 or buf[at] == 35:
            at = _parse_comment(buf, at, out)
        else:
            at = _parse_label(buf, at, out)
            at = _parse_query(buf, _after_blanks(buf, at), out)
            at = _parse_features(buf, at, out)
            if counts[BAD] < 0:
                at = _parse_comment(buf, at, out)
            out.row_end[counts[ROWS]] = counts[ENTRIES]
            counts[ROWS] += 1
        at += 1


@compiled()
def scatter(row_end: Int32s, ids: NDArray[Any], values: NDArray[np.float32], first: int, dense: NDArray[Any]) -> None:
    """Write the entries of each row into the zeros of `dense`, whose columns are the ids from `first` on."""
    entry = 0
    for row in range(len(row_end)):
        for e in range(entry, row_end[row]):
            dense[row, ids[e] - first] = values[e]
        entry = row_end[row]
