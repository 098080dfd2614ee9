# mypy: disallow-untyped-decorators=False
"""The compiled parser of svmlight lines, over a block of bytes.

A block ends with a newline, as each of its lines does, and every loop stops at one: no loop needs to ask for the end of
the buffer. What the parser is not certain of (an odd number, a word) it leaves to Python, as the span of the token.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.compiling import compiled, inlined

# Places of the parser's counts.
ROWS, ENTRIES, RUNS, ODD, LINES, UNSORTED, MISSING, BAD = range(8)

_POWER = np.array([float(f"1e{i}") for i in range(300)])
_EXACT, _CLOSE, _MISSING, _UNSURE = range(4)
_FULL = 10**17  # a number below it takes one more digit
_TOO_LONG = 10**18
_LARGEST_FEATURE = 2**31 - 2
_NULL, _NAN, _DOCID = (np.frombuffer(word, np.uint8) for word in (b"null", b"nan", b"docid"))
_CLOSENESS = 1e-15  # three roundings to double; 4 ulp cover them

Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]


class Block(NamedTuple):
    """Parsed lines of a block.

    Attributes
    ----------
    labels, row_end, lines : ndarray
        Label of each row, end of its entries, and its line in the block, from 1.
    ids, values : ndarray
        Feature of each entry, as written, and its value.
    runs : ndarray of shape (n, 3)
        Span of the query id of each run of rows with one id, empty without one; first row of the run.
    docs : ndarray of shape (n, 2)
        Span of the document id of each row, empty without one.
    odd : ndarray of shape (n, 3)
        Span of each token left to Python, and its place: an entry, or ``-1 - row`` for a label.
    counts : ndarray of shape (8,)
        Numbers of rows, entries, runs, odd tokens and lines, whether a row's features are unsorted, how many values
        are beyond float32 and so NaN, and where the first malformed token starts, -1 without one. The parser stops
        there.
    """

    labels: NDArray[np.float64]
    row_end: Int32s
    lines: Int32s
    ids: Int32s
    values: NDArray[np.float32]
    runs: Int32s
    docs: Int32s
    odd: Int32s
    counts: NDArray[np.int64]


def new_block(n_bytes: int) -> Block:
    """Return arrays for a block of so many bytes: the shortest row takes two of them, the shortest entry three."""
    n_rows, n_entries = n_bytes // 2, n_bytes // 3
    return Block(
        labels=np.empty(n_rows, np.float64),
        row_end=np.empty(n_rows, np.int32),
        lines=np.empty(n_rows, np.int32),
        ids=np.empty(n_entries, np.int32),
        values=np.empty(n_entries, np.float32),
        runs=np.empty((n_rows, 3), np.int32),
        docs=np.empty((n_rows, 2), np.int32),
        odd=np.empty((n_rows + n_entries, 3), np.int32),
        counts=np.empty(8, np.int64),
    )


# --- Tokens --------------------------------------------------------------------------------------------------------


@inlined(inline="always")
def _after_blanks(buf: Bytes, at: int) -> int:
    while buf[at] == 32 or buf[at] == 9 or buf[at] == 13:
        at += 1
    return at


@inlined(inline="always")
def _is_end(c: int) -> bool:
    return c <= 32 or c == 35


@inlined(inline="always")
def _end_of_token(buf: Bytes, at: int) -> int:
    while not _is_end(buf[at]):
        at += 1
    return at


@inlined(inline="always")
def _is_word(buf: Bytes, at: int, word: Bytes) -> bool:
    """Whether a word stands here, in capitals or not; `word` itself is of small letters."""
    for i in range(len(word)):  # noqa: SIM110 (numba would make a generator)
        if buf[at + i] | 32 != word[i]:
            return False
    return True


@inlined(inline="always")
def _digits(buf: Bytes, at: int, number: Any) -> tuple[Any, int]:
    """Append digits to a number: (the number, `_TOO_LONG` if it has more than 18 digits; where they end)."""
    digit = np.int64(buf[at]) - 48
    while 0 <= digit <= 9:
        number = number * 10 + digit if number < _FULL else _TOO_LONG
        at += 1
        digit = np.int64(buf[at]) - 48
    return number, at


@inlined(error_model="numpy")
def _number(buf: Bytes, at: int) -> tuple[float, int, int]:
    """Parse the number at `at`: (value, how certain, where it ends)."""
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
    if n_digits == 0:
        # The newline that ends the buffer stops these comparisons.
        if _is_word(buf, start, _NULL):
            return np.nan, _MISSING, start + 4
        if _is_word(buf, start, _NAN):
            return np.nan, _MISSING, start + 3
        return 0.0, _UNSURE, start
    if buf[at] | 32 == 101:
        down = buf[at + 1] == 45
        first = at + 2 if down or buf[at + 1] == 43 else at + 1
        power, at = _digits(buf, first, np.int64(0))
        if at == first:
            return 0.0, _UNSURE, start
        exponent += -power if down else power
    sign = -1.0 if negative else 1.0
    if mantissa == 0:
        return sign * 0.0, _EXACT, at
    if mantissa == _TOO_LONG or exponent < -290 or exponent >= len(_POWER):
        return 0.0, _UNSURE, start
    scaled = sign * mantissa
    value = scaled / _POWER[-exponent] if exponent < 0 else scaled * _POWER[exponent]
    exact = mantissa <= 2**53 and -22 <= exponent <= 22
    return value, _EXACT if exact else _CLOSE, at


@inlined()
def _leave(buf: Bytes, start: int, place: int, out: Block) -> int:
    """Leave the token that starts here to Python; return where it ends."""
    at: int = _end_of_token(buf, start)
    n = out.counts[ODD]
    out.odd[n, 0], out.odd[n, 1], out.odd[n, 2] = start, at, place
    out.counts[ODD] += 1
    return at


# --- Parts of a line -----------------------------------------------------------------------------------------------


@inlined()
def _parse_label(buf: Bytes, at: int, out: Block) -> int:
    """Parse the label of a row; return where it ends, as the next three do."""
    row = out.counts[ROWS]
    end: int
    value, kind, end = _number(buf, at)
    if kind != _EXACT or not _is_end(buf[end]):
        end = _leave(buf, at, -1 - row, out)
    out.labels[row] = value
    return end


@inlined()
def _parse_query(buf: Bytes, at: int, out: Block) -> int:
    """Parse the query's id of a row, if there is one; begin a run where it is not that of the row before."""
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
    """Parse the entries of a row, up to the first malformed one."""
    ids, values, counts = out.ids, out.values, out.counts
    entry = counts[ENTRIES]
    last_id = np.int64(-1)
    while counts[BAD] < 0:
        start = _after_blanks(buf, at)
        at = start
        if buf[at] == 10 or buf[at] == 35:
            break
        index, at = _digits(buf, start, np.int64(0))
        if at == start or index > _LARGEST_FEATURE or buf[at] != 58:
            counts[BAD] = start
            break
        start = at + 1
        value, kind, at = _number(buf, start)
        single = np.float32(value)
        if kind == _CLOSE and np.float32(value * (1 - _CLOSENESS)) != np.float32(value * (1 + _CLOSENESS)):
            kind = _UNSURE
        if kind == _UNSURE or not _is_end(buf[at]):
            at = _leave(buf, start, entry, out)
        elif np.isinf(single):
            single = np.float32(np.nan)
            counts[MISSING] += 1
        ids[entry], values[entry] = index, single
        entry += 1
        if index <= last_id:
            counts[UNSORTED] = 1
        last_id = index
    counts[ENTRIES] = entry
    return at


@inlined()
def _parse_comment(buf: Bytes, at: int, out: Block) -> int:
    """Parse the comment that may end a line, and the document's id in it."""
    row = out.counts[ROWS]
    out.docs[row, 0] = out.docs[row, 1] = 0
    if buf[at] == 35:
        word = _after_blanks(buf, at + 1)
        if _is_word(buf, word, _DOCID):
            equals = _after_blanks(buf, word + 5)
            if buf[equals] == 61:  # =
                start = end = _after_blanks(buf, equals + 1)
                while buf[end] > 32:
                    end += 1
                out.docs[row, 0], out.docs[row, 1] = start, end
    line_end: int = _end_of_comment(buf, at, out)
    return line_end


@inlined(inline="always")
def _end_of_comment(buf: Bytes, at: int, out: Block) -> int:
    """Return where a line ends, refusing control characters in its comment: one of them may be meant as a newline."""
    while buf[at] > 13 or buf[at] == 9:
        at += 1
    if buf[at] == 13 and buf[at + 1] == 10:
        at += 1
    if buf[at] != 10:
        out.counts[BAD] = at
    return at


@compiled()
def parse_block(buf: Bytes, out: Block) -> None:
    """Parse lines up to the first malformed token; the last one ends with a newline."""
    counts = out.counts
    counts[:] = 0
    counts[BAD] = -1
    at = 0
    while at < len(buf) and counts[BAD] < 0:
        counts[LINES] += 1
        at = _after_blanks(buf, at)
        if buf[at] == 10 or buf[at] == 35:
            at = _end_of_comment(buf, at, out)
        else:
            at = _parse_label(buf, at, out)
            at = _parse_query(buf, _after_blanks(buf, at), out)
            at = _parse_features(buf, at, out)
            if counts[BAD] < 0:
                at = _parse_comment(buf, at, out)
            row = counts[ROWS]
            out.lines[row], out.row_end[row] = counts[LINES], counts[ENTRIES]
            counts[ROWS] += 1
        at += 1


@compiled()
def scatter(row_end: Int32s, ids: Int32s, values: NDArray[np.float32], first: int, dense: NDArray[Any]) -> None:
    """Write the entries of each row into the zeros of `dense`, whose columns are the ids from `first` on."""
    entry = 0
    for row in range(len(row_end)):
        for e in range(entry, row_end[row]):
            dense[row, ids[e] - first] = values[e]
        entry = row_end[row]
