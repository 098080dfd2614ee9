"""Readers of the LETOR family of formats: svmlight lines with query ids, folds of such files.

A file is read in blocks of whole lines, each parsed by compiled code into arrays; what is held beside the result is
one block and, while a dense matrix is put together, the blocks that are not yet in it.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import check_integer
from boostplug.datasets.ranking_data import Fold, RankingData

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["load_files", "load_fold", "load_folds", "load_letor"]

ZeroBased = bool | Literal["auto"]

_BLOCK = 1 << 22  # bytes
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INFINITY = re.compile(rb"[+-]?inf(inity)?", re.IGNORECASE)
_INTEGER = re.compile(rb"[+-]?\d+")
_LINE = '"<grade> qid:<query> <feature>:<value> … # comment"'
_SIDE_FILES = (".query", ".group")
_PARTS = {"train": ("train",), "vali": ("vali", "valid"), "test": ("test",)}


def load_letor(
    path: str | PathLike[str], *, n_features: int | None = None, sparse: bool = False, zero_based: ZeroBased = "auto"
) -> RankingData:
    r"""Load a file of LETOR 3.0 or 4.0, MSLR, Istella, Yahoo, or any other svmlight file with queries.

    A line reads ``<grade> qid:<query> <feature>:<value> … # comment``. Blank lines and lines of comment are passed
    over. Where the lines have no ``qid:``, the sizes of the queries are read from LightGBM's side file
    ``<path>.query`` (or XGBoost's ``<path>.group``), and queries are numbered from 0. Files of weights are not read.

    Parameters
    ----------
    path : str or path-like
        Plain or compressed by gzip.
    n_features : int, optional
        Number of columns. Default: the highest feature of the file; pass it where other files have more, or use
        `load_fold`.
    sparse : bool, default False
        Return `X` as a ``scipy.sparse.csr_matrix`` that holds the entries as written, zeros and NaN among them (XGBoost
        takes what is not written for missing). Otherwise `X` is an ndarray, and what is not written is 0.
    zero_based : bool or "auto", default "auto"
        Whether the first feature is 0 (``f:v`` goes to column f) or 1, as in LETOR (column f - 1). "auto": 0 if the
        file uses the feature 0, else 1. LightGBM's own reader always counts from 0, and so gives files from 1 an empty
        column 0: ``zero_based=True`` does the same.

    Returns
    -------
    RankingData
        With `X` (float32, the nearest to what is written; NaN for ``NULL`` and ``nan``; ``inf`` is kept), `y`, `qid`
        (int64 if all ids are integers, else str), `group`, and `doc_ids` from ``#docid = …`` comments, else None.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty or anything in it cannot be read: a malformed token, a grade that is not finite, a feature
        twice on a line or beyond `n_features`, a row without query, queries that are not contiguous, sizes in the side
        file that do not fit. The message names file, line and token.

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
    zero_based: ZeroBased = "auto",
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
    _check_width(n_features)
    return _assemble([_parse(Path(path), n_features, sparse=sparse) for path in paths], n_features, zero_based)


def load_fold(
    directory: str | PathLike[str],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: ZeroBased = "auto",
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
    _check_width(n_features)
    files = _fold_files(Path(directory))
    return Fold(*load_files(files, n_features=n_features, sparse=sparse, zero_based=zero_based))


def load_folds(
    directory: str | PathLike[str],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: ZeroBased = "auto",
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
    _check_width(n_features)
    root = Path(directory)
    folds = sorted((path for path in _entries(root) if path.is_dir() and path.name.startswith("Fold")), key=_natural)
    if not folds:
        raise FileNotFoundError(f"{root} has no folder Fold*, {_listing(root)}; for a single fold use load_fold")
    files = [path for fold in folds for path in _fold_files(fold)]  # all are found before the first is read
    parts = load_files(files, n_features=n_features, sparse=sparse, zero_based=zero_based)
    return [Fold(*parts[i : i + 3]) for i in range(0, len(parts), 3)]


def _check_width(n_features: int | None) -> None:
    """Refuse an `n_features` that is no number of columns."""
    if n_features is None:
        return
    check_integer("n_features", n_features, 1, ", or None for the file's own")


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


def _natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    parts = re.findall(r"(\d+)|(\D+)", path.name)
    return [(int(digits or 0), text) for digits, text in parts], path.name


def _fold_files(directory: Path) -> list[Path]:
    present = {path.name for path in _entries(directory) if path.is_file()}
    files = []
    for stems in _PARTS.values():
        names = [f"{stem}.txt{suffix}" for stem in stems for suffix in ("", ".gz")]
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
    ids: NDArray[np.int32] | None
    values: NDArray[np.float32]
    dense: NDArray[np.float32] | None


@dataclass
class _Parsed:
    """A file before its width is known."""

    path: Path
    blocks: list[_Entries] = field(default_factory=list)
    labels: list[NDArray[np.float64]] = field(default_factory=list)
    doc_ids: list[NDArray[np.str_]] = field(default_factory=list)
    runs: list[tuple[bytes | None, int, int]] = field(default_factory=list)  # (query id, first row, its line)
    has_doc_ids: bool = False
    n_rows: int = 0
    n_lines: int = 0
    max_id: int = -1
    max_id_line: int = 0
    zero_line: int = 0  # of the first feature 0; 0 without one


@cache
def _svmlight() -> "ModuleType":
    from boostplug.datasets import svmlight  # numba is slow to import, and most of a session never loads a file

    return svmlight


def _open(path: Path) -> BinaryIO:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; load it with load_fold, or with load_folds if it holds Fold*")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    stream = path.open("rb")
    if stream.read(2) == b"\x1f\x8b":
        stream.close()
        return cast("BinaryIO", gzip.open(path, "rb"))
    stream.seek(0)
    return stream


def _text_blocks(path: Path) -> Iterator[tuple[bytearray, int]]:
    """Yield blocks of whole lines: a buffer that is used again, and how much of it is filled."""
    buffer = bytearray(_BLOCK)
    kept = 0
    first = True
    with _open(path) as stream:
        while True:
            with memoryview(buffer) as view:
                try:
                    n_read = stream.readinto(view[kept:-1])  # type: ignore[attr-defined]
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    raise ValueError(f"{path} is damaged or cut short ({error}); fetch it again") from None
            filled = kept + n_read
            if first and buffer.startswith(b"\xef\xbb\xbf"):  # a byte order mark
                buffer[:3] = b"   "
            first = first and filled < 3
            if n_read == 0:
                if filled:
                    buffer[filled] = 10
                    yield buffer, filled + 1
                return
            end = buffer.rfind(b"\n", 0, filled) + 1
            if end:
                yield buffer, end
                buffer[: filled - end] = buffer[end:filled]
            elif filled == len(buffer) - 1:
                buffer = buffer + bytearray(len(buffer))
            kept = filled - end


def _parse(path: Path, n_features: int | None, *, sparse: bool) -> _Parsed:
    svmlight = _svmlight()
    parsed = _Parsed(path)
    size = 0
    for buffer, end in _text_blocks(path):
        if size < len(buffer):
            size = len(buffer)
            n_max = size // 2 + 1  # the shortest row is a digit and a newline, the shortest entry has 4 bytes
            labels = np.empty(n_max, np.float64)
            row_end, row_line, ids = (np.empty(n_max, np.int32) for _ in range(3))
            values = np.empty(n_max, np.float32)
            runs, odd = np.empty((n_max, 3), np.int32), np.empty((n_max, 3), np.int32)
            docs = np.empty((n_max, 2), np.int32)
            counts = np.empty(len(svmlight.COUNTS), np.int64)
        text = np.frombuffer(buffer, np.uint8)
        svmlight.parse_block(text, end, labels, row_end, row_line, ids, values, runs, docs, odd, counts)
        n = dict(zip(svmlight.COUNTS, counts.tolist(), strict=True))
        n_rows, n_entries = n["rows"], n["entries"]
        _resolve(parsed, buffer, odd[: n["odd"]], labels, values)
        _refuse_labels(parsed, labels[:n_rows], row_line)
        if n["unsorted"]:
            _refuse_twice(parsed, row_end[:n_rows], row_line, ids[:n_entries])
        if n["bad"] >= 0:
            _refuse_token(parsed, buffer, n["bad"], parsed.n_lines + n["lines"] + 1)

        if n["max_id"] > parsed.max_id:
            parsed.max_id, parsed.max_id_line = n["max_id"], parsed.n_lines + n["max_id_line"] + 1
        if n["zero_line"] >= 0 and not parsed.zero_line:
            parsed.zero_line = parsed.n_lines + n["zero_line"] + 1
        if n_features is not None and parsed.max_id > n_features:  # before a slip of a digit asks for 10⁹ columns
            _refuse_width(parsed, n_features, base=int(not parsed.zero_line))
        for start, stop, row in runs[: n["runs"]].tolist():
            token = None if start < 0 else bytes(buffer[start:stop])
            if not parsed.runs or parsed.runs[-1][0] != token:
                parsed.runs.append((token, parsed.n_rows + row, parsed.n_lines + int(row_line[row]) + 1))
        parsed.labels.append(labels[:n_rows].copy())
        parsed.blocks.append(
            _block(svmlight, row_end[:n_rows], ids[:n_entries], values[:n_entries], n["max_id"], sparse=sparse)
        )
        if n["docs"]:
            parsed.has_doc_ids = True
            names = [_decoded(buffer[i:j]) if i >= 0 else "" for i, j in docs[:n_rows].tolist()]
            parsed.doc_ids.append(np.array(names, dtype=np.str_))
        else:
            parsed.doc_ids.append(np.broadcast_to(np.array(""), n_rows))
        parsed.n_rows += n_rows
        parsed.n_lines += n["lines"]
        del text  # the buffer cannot grow while an array views it
    if not parsed.n_rows:
        raise ValueError(f"{path} holds no rows; each line must read {_LINE}")
    return parsed


def _block(
    svmlight: "ModuleType",
    row_end: NDArray[np.int32],
    ids: NDArray[np.int32],
    values: NDArray[np.float32],
    max_id: int,
    *,
    sparse: bool,
) -> _Entries:
    if sparse:
        return _Entries(row_end.copy(), ids.copy(), values.copy(), None)
    try:
        dense = np.zeros((len(row_end), max_id + 1), np.float32)
    except MemoryError:
        raise MemoryError(f"a dense X of {max_id} columns does not fit into memory; pass sparse=True") from None
    svmlight.scatter(row_end, ids, values, dense)
    return _Entries(row_end[:0], None, values[:0], dense)


def _decoded(token: bytes | bytearray) -> str:
    return token.decode("utf-8", errors="backslashreplace")


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
            if place < 0:
                _refuse(parsed, line, f"the grade is {_decoded(token)!r}, not a number; each line must read {_LINE}")
            _refuse_token(parsed, buffer, start, line)
        value = float(token)
        if place < 0:
            labels[-1 - place] = value
            continue
        with np.errstate(over="ignore"):
            values[place] = value
        if number and np.isinf(values[place]):
            line = parsed.n_lines + buffer.count(b"\n", 0, start) + 1
            _refuse(parsed, line, f"{_decoded(token)!r} is beyond float32; rescale the feature, or write inf")


def _refuse(parsed: _Parsed, line: int, what: str) -> NoReturn:
    raise ValueError(f"{parsed.path}, line {line}: {what}")


def _refuse_token(parsed: _Parsed, buffer: bytearray, at: int, line: int) -> NoReturn:
    """Raise for the token around the place `at`."""
    start = max(buffer.rfind(blank, 0, at) for blank in (b" ", b"\t", b"\r", b"\n")) + 1
    match = re.compile(rb"[^ \t\r\n#]*").match(buffer, start)
    assert match is not None
    token = match.group()
    shown = repr(_decoded(token[:60]))
    if token == b"qid:":
        what = "'qid:' without an id; write the query's id right after the colon"
    elif token.startswith(b"qid:"):
        what = f"{shown} must stand right after the grade, once; each line must read {_LINE}"
    elif re.match(rb"-\d+:", token):
        what = f"{shown} has a negative feature; number features from 1 (or from 0)"
    elif re.match(rb"\d+:$", token):
        what = f"{shown} has no value; write the value right after the colon, NULL if it is missing"
    elif re.match(rb"\d{10,}:", token):
        what = f"{shown} has a feature beyond 2147483646; number features from 1"
    else:
        what = f"malformed token {shown}; each line must read {_LINE}, a value being a number, NULL, nan or inf"
    _refuse(parsed, line, what)


def _refuse_labels(parsed: _Parsed, labels: NDArray[np.float64], row_line: NDArray[np.int32]) -> None:
    finite = np.isfinite(labels)
    if not finite.all():
        row = int(np.argmin(finite))
        line = parsed.n_lines + int(row_line[row]) + 1
        _refuse(parsed, line, f"the grade is {labels[row]}, which is not finite; drop such lines first")


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
        _refuse(parsed, line, f"feature {ids[at]} stands twice; keep one of the two values")


def _refuse_width(parsed: _Parsed, n_features: int, base: int) -> NoReturn:
    last = n_features - 1 + base
    why = f" (the first is 0, which line {parsed.zero_line} uses)" if not base and parsed.zero_line else ""
    _refuse(
        parsed,
        parsed.max_id_line,
        f"feature {parsed.max_id} is beyond the last of n_features={n_features}, {last}{why}; "
        f"pass n_features={parsed.max_id + 1 - base}, or None for the file's own",
    )


# --- Putting it together -------------------------------------------------------------------------------------------


def _assemble(files: Sequence[_Parsed], n_features: int | None, zero_based: ZeroBased) -> list[RankingData]:
    """Return the data of files that share one width and one number for the first feature."""
    if zero_based not in {True, False, "auto"}:
        raise ValueError(f'zero_based must be True, False or "auto", got {zero_based!r}')
    with_zero = next((parsed for parsed in files if parsed.zero_line), None)
    base = int(with_zero is None) if zero_based == "auto" else int(not zero_based)
    if base and with_zero is not None:
        _refuse(with_zero, with_zero.zero_line, 'feature 0 stands below the first, 1; pass zero_based=True or "auto"')
    width = max(0, *(parsed.max_id + 1 - base for parsed in files))
    if n_features is not None:
        widest = max(files, key=lambda parsed: parsed.max_id)
        if width > n_features:
            _refuse_width(widest, n_features, base)
        width = int(n_features)

    result = []
    for parsed in files:
        qid, group = _queries(parsed)
        doc_ids = np.concatenate(parsed.doc_ids) if parsed.has_doc_ids else None
        X = _dense(parsed, base, width) if parsed.blocks[0].ids is None else _sparse(parsed, base, width)
        result.append(RankingData(X=X, y=np.concatenate(parsed.labels), qid=qid, group=group, doc_ids=doc_ids))
    return result


def _dense(parsed: _Parsed, base: int, width: int) -> NDArray[np.float32]:
    X = np.zeros((parsed.n_rows, width), np.float32)
    row = 0
    parsed.blocks.reverse()
    while parsed.blocks:  # a block is freed once it is copied
        dense = parsed.blocks.pop().dense
        assert dense is not None
        X[row : row + len(dense), : max(dense.shape[1] - base, 0)] = dense[:, base:]
        row += len(dense)
    return X


def _sparse(parsed: _Parsed, base: int, width: int) -> Any:
    from scipy.sparse import csr_matrix

    sizes = np.concatenate([np.diff(block.row_end, prepend=0) for block in parsed.blocks])
    indptr = np.zeros(parsed.n_rows + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    ids = np.concatenate([block.ids for block in parsed.blocks if block.ids is not None])
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
            _refuse(parsed, line, f"no qid; write qid:<query> after each grade, or put the sizes into {names}")
        group = _side_sizes(side)
        total = sum(group.tolist())  # in Python's integers, which wrap around nowhere
        if total != parsed.n_rows:
            raise ValueError(
                f"{side}: its {len(group)} sizes add up to {total}, but {parsed.path.name} has {parsed.n_rows} "
                "rows; give the size of each query, in the order of the rows"
            )
        return np.repeat(np.arange(len(group)), group), group

    ids: list[Any]
    if all(token is not None and _INTEGER.fullmatch(token) for token in tokens):
        ids = [int(token) for token in tokens if token is not None]
        if min(ids) < -(2**63) or max(ids) >= 2**63:
            ids = [_decoded(token) for token in tokens if token is not None]
    else:
        ids = [None if token is None else _decoded(token) for token in tokens]
    seen: dict[Any, int] = {}
    runs: list[tuple[Any, int]] = []
    for query, (_, row, line) in zip(ids, parsed.runs, strict=True):
        if query is None:
            other = next(line for token, _, line in parsed.runs if token is not None)
            _refuse(parsed, line, f"no qid, but line {other} has one; write qid:<query> after each grade")
        if runs and runs[-1][0] == query:  # 7 and 07
            continue
        if query in seen:
            _refuse(
                parsed,
                line,
                f"qid:{query} appears again after other queries (it starts on line {seen[query]}); "
                "sort the lines by qid (stably) first",
            )
        seen[query] = line
        runs.append((query, row))
    firsts = np.array([row for _, row in runs] + [parsed.n_rows], dtype=np.int64)
    group = firsts[1:] - firsts[:-1]
    if side is not None and not np.array_equal(_side_sizes(side), group):
        raise ValueError(
            f"{side}: its sizes differ from those of the qids in {parsed.path.name}; remove or correct the one "
            "that is wrong"
        )
    return np.repeat(np.array([query for query, _ in runs]), group), group


def _side_file(path: Path) -> Path | None:
    stems = [path, path.with_suffix("")] if path.suffix == ".gz" else [path]
    sides = (stem.with_name(stem.name + suffix) for stem in stems for suffix in _SIDE_FILES)
    return next((side for side in sides if side.is_file()), None)


def _side_sizes(side: Path) -> NDArray[np.int64]:
    sizes = []
    for number, line in enumerate(side.read_bytes().splitlines(), start=1):
        for token in line.split():
            if not re.fullmatch(rb"\+?\d{1,18}", token):
                raise ValueError(f"{side}, line {number}: {_decoded(token)!r} is not the size of a query")
            sizes.append(int(token))
    return np.array(sizes, dtype=np.int64)
