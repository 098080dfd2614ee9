"""Readers of the LETOR family of formats: svmlight lines with query ids, folds of such files.

A file is read in blocks of whole lines, each parsed by compiled code into arrays; what is held beside the result is
one block and, while a dense matrix is put together, the blocks that are not yet in it. What is held is bounded by what
is written: no line, id or number of a feature decides alone how much memory a file takes.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_flag, check_integer, shown
from boostplug.datasets.ranking_data import Fold, RankingData

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "load_files",
    "load_fold",
    "load_folds",
    "load_letor",
    "natural",
    "opened",
    "possible_files",
    "refuse_line",
    "side_files",
    "texts_of",
]

_ZeroBased = bool | Literal["auto"]

_BLOCK = 1 << 22  # bytes
_LONGEST_LINE = 1 << 26  # bytes; a million features, each with its value, take a quarter
_LONGEST_ID = 1000  # bytes of a query's id
_MOST_COLUMNS = 2**31 - 1  # as in both frameworks
_DENSE = 1 << 24  # cells that any file may take (64 MiB); above, one in _SPARSEST must be written
_SPARSEST = 200
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INFINITY = re.compile(rb"[+-]?inf(inity)?", re.IGNORECASE)
_INTEGER = re.compile(rb"[+-]?\d+")
_LINE = '"<grade> qid:<query> <feature>:<value> … # comment"'
_SIDE_FILES = (".query", ".group")
_NO_SIZES = re.compile(rb"[^\d+ \t\n]|\d{19}|\d\+|\+(?!\d)")
# Characters that end a line elsewhere, as in Python's str.splitlines; `_is_break` in svmlight.py finds the same.
_BREAK = re.compile(rb"[\x00\x0b\x0c\x1c-\x1e]|\xc2\x85|(?<![\x80-\xff])\x85|\xe2\x80[\xa8\xa9]")
_BREAKS = {
    b"\x0b": "a vertical tab",
    b"\x0c": "a form feed",
    b"\x1c": "a file separator (0x1C)",
    b"\x1d": "a group separator (0x1D)",
    b"\x1e": "a record separator (0x1E)",
    b"\x85": "a next line (0x85 of Latin-1)",
    b"\xc2\x85": "a next line (U+0085)",
    b"\xe2\x80\xa8": "a line separator (U+2028)",
    b"\xe2\x80\xa9": "a paragraph separator (U+2029)",
}
_OTHER_FILES = {
    b"BZh": "is compressed by bzip2; decompress it, or compress it by gzip",
    b"\xfd7zXZ\0": "is compressed by xz; decompress it, or compress it by gzip",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; decompress it, or compress it by gzip",
    b"\x04\x22\x4d\x18": "is compressed by lz4; decompress it, or compress it by gzip",
    b"PK\3\4": "is a zip archive; unpack it, and load the files in it",
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive; unpack it, and load the files in it",
    b"\x1f\x8b": "is compressed by gzip twice; decompress it once",
    b"\xff\xfe\0\0": "is UTF-32; save it as UTF-8",
    b"\0\0\xfe\xff": "is UTF-32; save it as UTF-8",
    b"\xff\xfe": "is UTF-16; save it as UTF-8",
    b"\xfe\xff": "is UTF-16; save it as UTF-8",
}
_FOLD_FILES = [  # of each part of a fold, the first that is there is read
    [f"{stem}.txt{suffix}" for stem in stems for suffix in ("", ".gz")]
    for stems in (("train",), ("vali", "valid"), ("test",))
]


def load_letor(
    path: str | PathLike[str], *, n_features: int | None = None, sparse: bool = False, zero_based: _ZeroBased = "auto"
) -> RankingData:
    r"""Load a file of LETOR 3.0 or 4.0, MSLR, Istella, Yahoo, or any other svmlight file with queries.

    A line reads ``<grade> qid:<query> <feature>:<value> … # comment``, and ends with LF, CR LF or CR. Blank lines and
    lines of comment are passed over. Where the lines have no ``qid:``, the sizes of the queries are read from
    LightGBM's side file ``<path>.query`` (or XGBoost's ``<path>.group``), and queries are numbered from 0. Files of
    weights are not read.

    Parameters
    ----------
    path : str or path-like
        Plain or compressed by gzip.
    n_features : int, optional
        Number of columns. Default: the highest feature of the file; pass it where other files have more, or use
        `load_fold`.
    sparse : bool, default False
        Return `X` as a ``scipy.sparse.csr_matrix`` that holds the entries as written, zeros and NaN among them (XGBoost
        takes what is not written for missing). Otherwise `X` is an ndarray, and what is not written is 0; above 64 MiB,
        at least one in 200 of its cells must be written.
    zero_based : bool or "auto", default "auto"
        Whether the first feature is 0 (``f:v`` goes to column f) or 1, as in LETOR (column f - 1). "auto": 0 if the
        file uses the feature 0, else 1. LightGBM's own reader always counts from 0, and so gives files from 1 an empty
        column 0: ``zero_based=True`` does the same.

    Returns
    -------
    RankingData
        With `X` (float32, the nearest to what is written; NaN for ``NULL`` and ``nan``; ``inf`` is kept), `y`, `qid`
        (int64 if all ids are integers of 64 bits, else str), `group`, and `doc_ids` (str) from ``#docid = …`` comments,
        else None. Arrays of str are of dtype object where one text is far longer than the others.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty, or anything in it cannot be read. The message names file, line and token. Such as:

        - a malformed token, a grade that is not finite, a feature twice on a line or beyond `n_features`;
        - a row without query, queries that are not contiguous, sizes in the side file that do not fit;
        - a line above 64 MiB, or a character that ends lines elsewhere (form feed, U+2028, …);
        - a dense `X` of which next to nothing is written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> lines = "2 qid:1 1:0.5 3:NULL #docid = a\n0 qid:1 2:1 #docid = b\n1 qid:2 1:3 #docid = c\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.txt")
    ...     _ = path.write_text(lines)
    ...     data = load_letor(path)
    >>> data.X
    array([[0.5, 0. , nan],
           [0. , 1. , 0. ],
           [3. , 0. , 0. ]], dtype=float32)
    >>> data.y, data.qid, data.group
    (array([2., 0., 1.]), array([1, 1, 2]), array([2, 1]))
    """
    return load_files([path], n_features=n_features, sparse=sparse, zero_based=zero_based)[0]


def load_files(
    paths: Iterable[str | PathLike[str]],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: _ZeroBased = "auto",
) -> list[RankingData]:
    """Load files that belong together, each read once.

    Parameters
    ----------
    paths : iterable of str or path-like
        Each as `load_letor` takes it.
    n_features, sparse, zero_based
        As in `load_letor`; "auto" and the width are decided once, from all files together.

    Returns
    -------
    list of RankingData
        Of equal width, in the order of `paths`.

    Raises
    ------
    FileNotFoundError
        If one of the files is missing.
    ValueError
        As `load_letor`.
    """
    _check_reading(n_features, sparse, zero_based)
    return _assemble(
        [_parse(Path(path), n_features, sparse=sparse) for path in paths], n_features, zero_based, sparse=sparse
    )


def load_fold(
    directory: str | PathLike[str],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: _ZeroBased = "auto",
) -> Fold:
    """Load the training, validation and test file of one fold.

    Parameters
    ----------
    directory : str or path-like
        Holds ``train.txt``, ``vali.txt`` or ``valid.txt``, and ``test.txt``, each plain or (``.gz``) compressed; where
        several forms of one stand there, the first in this order is read.
    n_features, sparse, zero_based
        As in `load_letor`; "auto" and the width are decided once, from the three files together.

    Returns
    -------
    Fold
        With `train`, `vali`, `test` of equal width.

    Raises
    ------
    FileNotFoundError
        If the folder or one of the files is missing.
    ValueError
        As `load_letor`.
    """
    _check_reading(n_features, sparse, zero_based)
    files = _fold_files(Path(directory))
    return Fold(*load_files(files, n_features=n_features, sparse=sparse, zero_based=zero_based))


def load_folds(
    directory: str | PathLike[str],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: _ZeroBased = "auto",
) -> list[Fold]:
    """Load all folds of a data set: ``Fold1``, ``Fold2``, … in the order of their numbers.

    Parameters
    ----------
    directory : str or path-like
        Holds the folders ``Fold*``, each as `load_fold` takes it.
    n_features, sparse, zero_based
        As in `load_letor`; "auto" and the width are decided once, from all files together.

    Returns
    -------
    list of Fold

    Raises
    ------
    FileNotFoundError
        If there is no fold, or a file of one is missing.
    ValueError
        As `load_letor`.
    """
    _check_reading(n_features, sparse, zero_based)
    root = Path(directory)
    folds = sorted((path for path in _entries(root) if path.is_dir() and path.name.startswith("Fold")), key=natural)
    if not folds:
        raise FileNotFoundError(f"{root} has no folder Fold*, {_listing(root)}; for a single fold use load_fold")
    files = [path for fold in folds for path in _fold_files(fold)]  # all are found before the first is read
    parts = load_files(files, n_features=n_features, sparse=sparse, zero_based=zero_based)
    return [Fold(*parts[i : i + 3]) for i in range(0, len(parts), 3)]


def _check_reading(n_features: Any, sparse: Any, zero_based: Any) -> None:
    """Refuse an `n_features` that is no number of columns, and so on, before anything is read."""
    if n_features is not None:
        columns = check_integer("n_features", n_features, 1, ", or None for the file's own")
        if columns > _MOST_COLUMNS:
            raise ValueError(
                f"n_features must be at most {_MOST_COLUMNS}, the frameworks' largest; got {shown(n_features)}; "
                "pass None for the file's own"
            )
    check_flag("sparse", sparse)
    if not (isinstance(zero_based, (bool, np.bool_)) or (isinstance(zero_based, str) and zero_based == "auto")):
        raise ValueError(f'zero_based must be True, False or "auto", got {shown(zero_based)}')


# --- Folders -------------------------------------------------------------------------------------------------------


def _entries(directory: Path) -> list[Path]:
    if not directory.exists():
        raise FileNotFoundError(f"there is no folder {directory}; check the path")
    if not directory.is_dir():
        raise NotADirectoryError(f"{directory} is a file; load it with load_letor")
    return sorted(directory.iterdir())


def _listing(directory: Path) -> str:
    names = [path.name for path in _entries(directory)]
    return f"only {', '.join(names[:10])}{', …' if len(names) > 10 else ''}" if names else "it is empty"


def natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return what sorts files by the numbers in their names."""
    parts = re.findall(r"(\d+)|(\D+)", path.name)
    return [(int(digits or 0), text) for digits, text in parts], path.name


def possible_files(directory: Path) -> list[Path]:
    """Return every file that `load_fold` and `load_folds` may read of a folder, whether or not it is there."""
    folders = (directory, *directory.glob("Fold*"))
    return [folder / name for folder in folders for names in _FOLD_FILES for name in names]


def _fold_files(directory: Path) -> list[Path]:
    present = {path.name for path in _entries(directory) if path.is_file()}
    files = []
    for names in _FOLD_FILES:
        found = [name for name in names if name in present]
        if not found:
            more = "; for a folder of Fold* use load_folds" if any(directory.glob("Fold*")) else ""
            raise FileNotFoundError(
                f"{directory} has none of {', '.join(names)}, {_listing(directory)}; rename the file, or load files "
                f"one by one with load_letor{more}"
            )
        files.append(directory / found[0])
    return files


# --- Blocks of lines -----------------------------------------------------------------------------------------------


@dataclass
class _Entries:
    """The features of one block, as ids and values or scattered into an array with a column per id from 0."""

    row_end: NDArray[np.int32]
    ids: NDArray[np.int32]
    values: NDArray[np.float32]
    dense: NDArray[np.float32] | None = None


@dataclass
class _File:
    """A file, and how many of its lines are read."""

    path: Path
    n_lines: int = 0


@dataclass
class _Parsed(_File):
    """A file before its width is known."""

    blocks: list[_Entries] = field(default_factory=list)
    labels: list[NDArray[np.float64]] = field(default_factory=list)
    doc_ids: list[str] = field(default_factory=list)  # empty as long as no row has one
    runs: list[tuple[bytes | None, int, int]] = field(default_factory=list)  # (query id, first row, its line)
    n_rows: int = 0
    n_entries: int = 0
    max_id: int = -1
    max_id_line: int = 0
    zero_line: int = 0  # of the first feature 0; 0 without one


@cache
def _svmlight() -> "ModuleType":
    from boostplug.datasets import svmlight  # numba is slow to import, and most of a session never loads a file

    return svmlight


@contextmanager
def opened(
    path: Path, folder: str = "load it with load_fold, or with load_folds if it holds Fold*"
) -> Iterator[BinaryIO]:
    """Open a file, through gzip if it is compressed so, behind its byte order mark; `folder` is what to do with one.

    Errors of a damaged file within the block come with its name.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; {folder}")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    try:
        with path.open("rb") as plain:
            stream: Any = gzip.GzipFile(fileobj=plain) if plain.peek(2)[:2] == b"\x1f\x8b" else plain
            head = stream.peek(8)
            for magic, what in _OTHER_FILES.items():
                if head.startswith(magic):
                    raise ValueError(f"{path} {what}")
            if head.startswith(b"\xef\xbb\xbf"):
                stream.read(3)
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short ({error}); fetch it again") from None


def refuse_line(path: Path, line: int, what: str) -> NoReturn:
    """Raise for a line of a file."""
    raise ValueError(f"{path}, line {line}: {what}")


def _text_blocks(file: _File) -> Iterator[tuple[bytearray, int]]:
    """Yield blocks of whole lines, each ended by LF: a buffer that is used again, and how much of it is filled."""
    with opened(file.path) as stream:
        yield from _blocks(file, stream)


def _blocks(file: _File, stream: Any) -> Iterator[tuple[bytearray, int]]:
    buffer = bytearray(_BLOCK)
    kept = 0
    while True:
        with memoryview(buffer) as view:
            n_read = stream.readinto(view[kept : min(kept + _BLOCK, len(buffer) - 1)])
        filled = kept + n_read
        _end_lines_by_lf(buffer, max(kept - 1, 0), filled, last=n_read == 0)
        if n_read == 0:
            if filled:
                buffer[filled] = 10
                yield buffer, filled + 1
            return
        end = buffer.rfind(b"\n", 0, filled) + 1
        if end:
            yield buffer, end
            buffer[: filled - end] = buffer[end:filled]
        kept = filled - end
        if kept > _LONGEST_LINE:
            refuse_line(
                file.path, file.n_lines + 1, f"it is longer than {_LONGEST_LINE} bytes; end each row by LF, CR LF or CR"
            )
        if kept == len(buffer) - 1:
            buffer = buffer + bytearray(len(buffer))


def _end_lines_by_lf(buffer: bytearray, start: int, stop: int, *, last: bool) -> None:
    """Write CR LF as blank LF, and any other CR as LF; a CR at the end waits for the LF that may follow."""
    start = buffer.find(b"\r", start, stop)
    if start < 0:
        return
    if not last and buffer[stop - 1] == 13:
        stop -= 1
    buffer[start:stop] = buffer[start:stop].replace(b"\r\n", b" \n").replace(b"\r", b"\n")


def _parse(path: Path, n_features: int | None, *, sparse: bool) -> _Parsed:
    parsed = _Parsed(path)
    svmlight = _svmlight()
    usual = svmlight.new_block(_BLOCK // 2 + 1, _BLOCK // 4 + 1)  # the shortest row has 2 bytes, the shortest entry 4
    for buffer, end in _text_blocks(parsed):
        block = usual
        if end > _BLOCK:
            block = svmlight.new_block(buffer.count(b"\n", 0, end), buffer.count(b":", 0, end))
        svmlight.parse_block(np.frombuffer(buffer, np.uint8), end, block)
        n = dict(zip(svmlight.COUNTS, block.counts.tolist(), strict=True))
        n_rows, n_entries = n["rows"], n["entries"]
        labels, row_end, row_line = block.labels[:n_rows], block.row_end[:n_rows], block.row_line
        ids, values = block.ids[:n_entries], block.values[:n_entries]
        _resolve(parsed, buffer, block.odd[: n["odd"]], block.labels, block.values)
        _refuse_labels(parsed, labels, row_line)
        if n["unsorted"]:
            _refuse_twice(parsed, row_end, row_line, ids)
        if n["bad"] >= 0:
            _refuse_token(parsed, buffer, n["bad"], parsed.n_lines + n["lines"] + 1)

        if n["max_id"] > parsed.max_id:
            parsed.max_id, parsed.max_id_line = n["max_id"], parsed.n_lines + n["max_id_line"] + 1
        if n["zero_line"] >= 0 and not parsed.zero_line:
            parsed.zero_line = parsed.n_lines + n["zero_line"] + 1
        if n_features is not None and parsed.max_id > n_features:  # before a slip of a digit asks for 10⁹ columns
            _refuse_width(parsed, n_features, base=int(not parsed.zero_line))
        for start, stop, row in block.runs[: n["runs"]].tolist():
            token = None if start < 0 else bytes(buffer[start:stop])
            if not parsed.runs or parsed.runs[-1][0] != token:
                line = parsed.n_lines + int(row_line[row]) + 1
                if stop - start > _LONGEST_ID:
                    what = f"the query's id, {_shown(token or b'')}, has {stop - start} bytes"
                    refuse_line(parsed.path, line, f"{what}; number the queries, or shorten their ids to {_LONGEST_ID}")
                parsed.runs.append((token, parsed.n_rows + row, line))
        parsed.labels.append(labels.copy())
        parsed.blocks.append(_held(row_end, ids, values, n["max_id"], sparse=sparse))
        if n["docs"] or parsed.doc_ids:
            parsed.doc_ids += [""] * (parsed.n_rows - len(parsed.doc_ids))
            parsed.doc_ids += [_decoded(buffer[i:j]) if i >= 0 else "" for i, j in block.docs[:n_rows].tolist()]
        parsed.n_rows += n_rows
        parsed.n_entries += n_entries
        parsed.n_lines += n["lines"]
    if not parsed.n_rows:
        raise ValueError(f"{path} holds no rows; each line must read {_LINE}")
    return parsed


def _held(
    row_end: NDArray[np.int32], ids: NDArray[np.int32], values: NDArray[np.float32], max_id: int, *, sparse: bool
) -> _Entries:
    """Return the features of a block in the form that takes less memory; as ids and values for a sparse matrix."""
    if sparse or len(row_end) * (max_id + 1) > 2 * len(ids):
        return _Entries(row_end.copy(), ids.copy(), values.copy())
    dense = np.zeros((len(row_end), max_id + 1), np.float32)
    _svmlight().scatter(row_end, ids, values, 0, dense)
    return _Entries(row_end[:0], ids[:0], values[:0], dense)


def _decoded(token: bytes | bytearray) -> str:
    return token.decode("utf-8", errors="backslashreplace")


def _shown(token: bytes) -> str:
    """Return a token as messages show it."""
    return shown(_decoded(token))


def texts_of(texts: Sequence[str], times: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """Return texts as an array of fixed width, or of objects where one text would make the others dear.

    `times` is how many rows each text will have; default 1.
    """
    lengths = [*map(len, texts)]
    is_uneven = bool(lengths) and max(lengths) > 64 + 4 * np.average(lengths, weights=times)
    return np.array(texts, dtype=object if is_uneven else np.str_)


# --- Odd tokens and errors -----------------------------------------------------------------------------------------


def _resolve(
    parsed: _Parsed,
    buffer: bytearray,
    odd: NDArray[np.int32],
    labels: NDArray[np.float64],
    values: NDArray[np.float32],
) -> None:
    """Convert the numbers that the compiled parser was not certain of."""
    for start, stop, place in odd.tolist():
        token = bytes(buffer[start:stop])
        number = _NUMBER.fullmatch(token)
        if not number and not _INFINITY.fullmatch(token):
            if place < 0 and token.lower() in {b"nan", b"null"}:
                labels[-1 - place] = np.nan
                continue
            line = parsed.n_lines + buffer.count(b"\n", 0, start) + 1
            if place < 0 and not _BREAK.search(token):
                refuse_line(
                    parsed.path, line, f"the grade is {_shown(token)}, not a number; each line must read {_LINE}"
                )
            _refuse_token(parsed, buffer, start, line)
        value = float(token)
        with np.errstate(over="ignore"):
            if place < 0:
                labels[-1 - place], remedy = value, "float64; rescale the grades"
                beyond = np.isinf(value)
            else:
                values[place], remedy = value, "float32; rescale the feature, or write inf"
                beyond = np.isinf(values[place])
        if number and beyond:
            line = parsed.n_lines + buffer.count(b"\n", 0, start) + 1
            refuse_line(parsed.path, line, f"{'the grade ' if place < 0 else ''}{_shown(token)} is beyond {remedy}")


def _token_around(file: _File, text: bytes | bytearray, at: int, line: int, blanks: str = r" \t\n") -> bytes:
    """Return the token around the place `at`, refusing a character in it that ends lines elsewhere."""
    start = max(text.rfind(blank, 0, at) for blank in (b" ", b"\t", b"\n")) + 1
    token = re.compile(f"[^{blanks}]*".encode()).match(text, start)
    assert token is not None
    ends_line = _BREAK.search(text, max(at - 2, start), max(at + 1, token.end()))
    if not ends_line:
        return token.group()
    character = ends_line.group()
    if character == b"\0":
        refuse_line(file.path, line, "there is a NUL byte, which no text holds; save the file as text, in UTF-8")
    refuse_line(file.path, line, f"there is {_BREAKS[character]}; end lines by LF, CR LF or CR, and remove all others")


def _refuse_token(parsed: _Parsed, buffer: bytearray, at: int, line: int) -> NoReturn:
    """Raise for the token around the place `at`."""
    token = _token_around(parsed, buffer, at, line, r" \t\n#")
    text = _shown(token)
    if token == b"qid:":
        what = "'qid:' without an id; write the query's id right after the colon"
    elif token.startswith(b"qid:"):
        what = f"{text} must stand right after the grade, once; each line must read {_LINE}"
    elif re.match(rb"-\d+:", token):
        what = f"{text} has a negative feature; number features from 1 (or from 0)"
    elif re.match(rb"\d+:$", token):
        what = f"{text} has no value; write the value right after the colon, NULL if it is missing"
    elif re.match(rb"\d{10,}:", token):
        what = f"{text} has a feature beyond 2147483646; number features from 1"
    else:
        what = f"malformed token {text}; each line must read {_LINE}, a value being a number, NULL, nan or inf"
    refuse_line(parsed.path, line, what)


def _refuse_labels(parsed: _Parsed, labels: NDArray[np.float64], row_line: NDArray[np.int32]) -> None:
    finite = np.isfinite(labels)
    if not finite.all():
        row = int(np.argmin(finite))
        line = parsed.n_lines + int(row_line[row]) + 1
        refuse_line(parsed.path, line, f"the grade is {labels[row]}, which is not finite; drop such lines first")


def _refuse_twice(
    parsed: _Parsed, row_end: NDArray[np.int32], row_line: NDArray[np.int32], ids: NDArray[np.int32]
) -> None:
    """Raise if a feature stands twice on a line."""
    rows = np.repeat(np.arange(len(row_end)), np.diff(row_end, prepend=0))
    order = np.lexsort((ids[: len(rows)], rows))
    rows, ids = rows[order], ids[order]
    again = (rows[1:] == rows[:-1]) & (ids[1:] == ids[:-1])
    if again.any():
        at = int(np.argmax(again))
        line = parsed.n_lines + int(row_line[rows[at]]) + 1
        refuse_line(parsed.path, line, f"feature {ids[at]} stands twice; keep one of the two values")


def _refuse_width(parsed: _Parsed, n_features: int, base: int) -> NoReturn:
    last = n_features - 1 + base
    why = f" (the first is 0, which line {parsed.zero_line} uses)" if not base and parsed.zero_line else ""
    refuse_line(
        parsed.path,
        parsed.max_id_line,
        f"feature {parsed.max_id} is beyond the last of n_features={n_features}, {last}{why}; "
        f"pass n_features={parsed.max_id + 1 - base}, or None for the file's own",
    )


# --- Putting it together -------------------------------------------------------------------------------------------


def _assemble(
    files: Sequence[_Parsed], n_features: int | None, zero_based: _ZeroBased, *, sparse: bool
) -> list[RankingData]:
    """Return the data of files that share one width and one number for the first feature."""
    base, width, widest = _shape(files, n_features, zero_based)
    if not sparse:
        for parsed in files:
            _refuse_waste(parsed, base, width, widest)

    result = []
    for parsed in files:
        qid, group = _queries(parsed)
        doc_ids = texts_of(parsed.doc_ids) if parsed.doc_ids else None
        X = _sparse(parsed, base, width) if sparse else _dense(parsed, base, width)
        result.append(RankingData(X=X, y=np.concatenate(parsed.labels), qid=qid, group=group, doc_ids=doc_ids))
    return result


def _shape(files: Sequence[_Parsed], n_features: int | None, zero_based: _ZeroBased) -> tuple[int, int, _Parsed]:
    """Return the number of the first feature, how many there are, and which file has the last."""
    with_zero = next((parsed for parsed in files if parsed.zero_line), None)
    base = int(with_zero is None) if zero_based == "auto" else int(not zero_based)
    if base and with_zero is not None:
        refuse_line(
            with_zero.path, with_zero.zero_line, 'feature 0 stands below the first, 1; pass zero_based=True or "auto"'
        )
    widest = max(files, key=lambda parsed: parsed.max_id)
    width = max(0, widest.max_id + 1 - base)
    if n_features is not None:
        if width > n_features:
            _refuse_width(widest, n_features, base)
        width = int(n_features)
    return base, width, widest


def _refuse_waste(parsed: _Parsed, base: int, width: int, widest: _Parsed) -> None:
    """Raise where next to nothing of a dense matrix is written."""
    cells = parsed.n_rows * width
    if cells <= _DENSE or cells <= _SPARSEST * parsed.n_entries:
        return
    size = f"{parsed.n_rows} rows and {width} columns, {cells / 2**28:.1f} GiB"
    what = f"a dense X of {size}, for {parsed.n_entries} values"
    if width > widest.max_id + 1 - base:
        raise ValueError(f"{parsed.path}: n_features={width} asks for {what}; pass less, or sparse=True")
    where = "" if parsed is widest else f" in {parsed.path}"
    remedy = "correct it if it is wrong, else pass sparse=True"
    refuse_line(widest.path, widest.max_id_line, f"feature {widest.max_id} asks for {what}{where}; {remedy}")


def _dense(parsed: _Parsed, base: int, width: int) -> NDArray[np.float32]:
    try:
        X = np.zeros((parsed.n_rows, width), np.float32)
    except MemoryError:
        what = f"a dense X of {parsed.n_rows} rows and {width} columns"
        raise ValueError(f"{parsed.path}: {what} does not fit into memory; pass sparse=True") from None
    row = 0
    parsed.blocks.reverse()
    while parsed.blocks:  # a block is freed once it is copied
        block = parsed.blocks.pop()
        n_rows = len(block.row_end) if block.dense is None else len(block.dense)
        _fill(block, base, X[row : row + n_rows])
        row += n_rows
    return X


def _fill(entries: _Entries, base: int, X: NDArray[np.float32]) -> None:
    """Write the features of a block into zeros."""
    if entries.dense is None:
        _svmlight().scatter(entries.row_end, entries.ids, entries.values, base, X)
    else:
        X[:, : max(entries.dense.shape[1] - base, 0)] = entries.dense[:, base:]


def _sparse(parsed: _Parsed, base: int, width: int) -> Any:
    from scipy.sparse import csr_matrix

    sizes = np.concatenate([np.diff(block.row_end, prepend=0) for block in parsed.blocks])
    indptr = np.zeros(parsed.n_rows + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    ids = np.concatenate([block.ids for block in parsed.blocks])
    ids -= base
    values = np.concatenate([block.values for block in parsed.blocks])
    parsed.blocks.clear()
    X = csr_matrix((values, ids, indptr), shape=(parsed.n_rows, width))
    X.sort_indices()
    return X


def _queries(parsed: _Parsed) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the query id of each row and the sizes of the queries."""
    side = _side_file(parsed.path)
    tokens = [token for token, _, _ in parsed.runs]
    if tokens == [None]:
        if side is None:
            names = " or ".join(parsed.path.name + suffix for suffix in _SIDE_FILES)
            line = parsed.runs[0][2]
            refuse_line(parsed.path, line, f"no qid; write qid:<query> after each grade, or put the sizes into {names}")
        group, total = _side_sizes(side)
        if total != parsed.n_rows:
            raise ValueError(
                f"{side}: its {len(group)} sizes add up to {total}, but {parsed.path.name} has {parsed.n_rows} "
                "rows; give the size of each query, in the order of the rows"
            )
        return np.repeat(np.arange(len(group)), group), group

    ids = _integers(tokens) or [None if token is None else _decoded(token) for token in tokens]
    seen: dict[Any, int] = {}
    runs: list[tuple[Any, int]] = []
    for query, (_, row, line) in zip(ids, parsed.runs, strict=True):
        if query is None:
            other = next(line for token, _, line in parsed.runs if token is not None)
            refuse_line(parsed.path, line, f"no qid, but line {other} has one; write qid:<query> after each grade")
        if runs and runs[-1][0] == query:  # 7 and 07
            continue
        if query in seen:
            refuse_line(
                parsed.path,
                line,
                f"qid:{str(query)[:60]} appears again after other queries (it starts on line {seen[query]}); "
                "sort the lines by qid (stably) first",
            )
        seen[query] = line
        runs.append((query, row))
    firsts = np.array([row for _, row in runs] + [parsed.n_rows], dtype=np.int64)
    group = firsts[1:] - firsts[:-1]
    if side is not None and not np.array_equal(_side_sizes(side)[0], group):
        raise ValueError(
            f"{side}: its sizes differ from those of the qids in {parsed.path.name}; remove or correct the one "
            "that is wrong"
        )
    queries = [query for query, _ in runs]
    if isinstance(queries[0], int):
        return np.repeat(np.array(queries, np.int64), group), group
    return np.repeat(texts_of(queries, group), group), group


def _integers(tokens: Sequence[bytes | None]) -> list[Any] | None:
    """Return ids as integers of 64 bits; None if one of them is none."""
    if not all(token is not None and _INTEGER.fullmatch(token) for token in tokens):
        return None
    ids = [int(token) for token in tokens if token is not None]
    return ids if min(ids) >= -(2**63) and max(ids) < 2**63 else None


def _side_file(path: Path) -> Path | None:
    return next((side for side in side_files(path) if side.is_file()), None)


def side_files(path: Path) -> list[Path]:
    """Return where the sizes of a file's queries may stand, whether or not there is such a file."""
    stems = [path, path.with_suffix("")] if path.suffix == ".gz" else [path]
    return [Path(f"{stem}{suffix}") for stem in stems for suffix in _SIDE_FILES]


def _side_sizes(side: Path) -> tuple[NDArray[np.int64], int]:
    """Return the sizes of the queries, and their sum, which int64 may not hold."""
    file = _File(side)
    parts = [np.empty(0, np.int64)]
    total = 0
    for buffer, end in _text_blocks(file):
        text = bytes(buffer[:end])
        wrong = _NO_SIZES.search(text)
        if wrong:
            line = file.n_lines + text.count(b"\n", 0, wrong.start()) + 1
            token = _token_around(file, text, wrong.start(), line)
            what = f"{_shown(token)} is not the size of a query; write a whole number of up to 18 digits"
            refuse_line(side, line, what)
        sizes = [int(token) for token in text.split()]
        total += sum(sizes)
        parts.append(np.array(sizes, np.int64))
        file.n_lines += text.count(b"\n")
    return np.concatenate(parts), total
