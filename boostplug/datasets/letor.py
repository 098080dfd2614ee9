"""Readers of the LETOR family of formats: svmlight lines with query ids, folds of such files, LightGBM's side files.

Compiled code parses a file in blocks of complete lines. Features and values are kept as written until the width of all
files is known. Then they are copied into the matrix, which takes two to three times the memory of the matrix at its
peak.
"""

import gzip
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice, check_flag, check_integer, shown
from boostplug.core.warning import warn_user
from boostplug.data.files import natural
from boostplug.datasets.ranking_data import Fold, RankingData

_ZeroBased = bool | Literal["auto"]
_Missing = Literal["zero", "nan"]
_Entries = tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float32]]  # end of each row; features; values

_BLOCK = 1 << 19  # bytes; what is parsed of them stays in the processor's cache
_DENSE = 1 << 24  # cells that any file may take (64 MiB); above, one in _SPARSEST must be written
_SPARSEST = 200
_INTEGER = re.compile(rb"0|-?[1-9]\d{0,18}")  # written again, it is the same text
_DOCUMENT = re.compile(rb"(?:.*?\s)??doc[-_]?(?:id|no)(?![\w-])\s*[=:]?\s*(\S*).*|(\S*)", re.IGNORECASE)
_LINE = '"<grade> qid:<query> <feature>:<value> … # comment", with each feature once'
_MOST_COLUMNS = 2**31 - 1  # as in both frameworks
# The first bytes of bzip2, xz, zstd and zip, of gzip in gzip, and of UTF-16.
_NO_TEXT = (b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd", b"PK\3\4", b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")
_FOLD_FILES = [  # of each part of a fold, the first that is there is read
    [f"{stem}.txt{suffix}" for stem in stems for suffix in ("", ".gz")]
    for stems in (("train",), ("vali", "valid"), ("test",))
]


def load_letor(
    path: str | PathLike[str],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: _ZeroBased = "auto",
    missing: _Missing = "zero",
) -> RankingData:
    r"""Load a file of LETOR 3.0 or 4.0, MSLR, Istella, Yahoo, or any other svmlight file with queries.

    A line reads ``<grade> qid:<query> <feature>:<value> … # comment``, and ends with LF or CR LF. Blank lines and
    comment lines are passed over.

    LightGBM's side files are read where they stand beside the file:

    - ``<path>.query`` (or XGBoost's ``<path>.group``): the sizes of the queries. Without ``qid:`` in the lines, queries
      are numbered from 0.
    - ``<path>.weight``: one weight per row.
    - ``<path>.position``: one position per row, from 1. LightGBM takes any integers; here 1 is the first place.

    ``<path>.init``, LightGBM's scores to start from, is not read, with a warning. The side files of
    ``train.txt.gz`` are also found as ``train.txt.query`` and so on.

    Parameters
    ----------
    path : str or path-like
        Text, also compressed by gzip.
    n_features : int, optional
        Number of columns. Default: the highest feature of the file; pass it where other files have more, or use
        `load_fold`.
    sparse : bool, default False
        Return `X` as a ``scipy.sparse.csr_matrix`` that holds the entries as written, zeros and NaN among them (XGBoost
        takes what is not written for missing). Otherwise `X` is an ndarray; above 64 MiB, at least one in 200 of its
        cells must be written.
    zero_based : bool or "auto", default "auto"
        Whether the first feature is 0 (``f:v`` goes to column f) or 1, as in LETOR (column f - 1). "auto": 0 if the
        file uses the feature 0, else 1. LightGBM's own reader always counts from 0. So it gives files from 1 an empty
        column 0: ``zero_based=True`` does the same.
    missing : {"zero", "nan"}, default "zero"
        What an ndarray holds where a line leaves out a feature: 0, as svmlight means it, or NaN. XGBoost and LightGBM
        then learn where such rows go, as they do of a sparse matrix in XGBoost.

    Returns
    -------
    RankingData
        With `X` (float32, the nearest to what is written; NaN for ``NULL`` and ``nan``; ``inf`` is kept), `y`, `qid`
        (as written: int64 if all ids are integers of 64 bits without signs and zeros before them, else str), `group`,
        and `doc_ids` (str) from the comments, else None: ``# D17``, ``#docid = D17 …``, ``# docid: D17`` or
        ``# doc-id D17``, also with ``docno``. Arrays of str are of dtype object where one text is far longer than the
        others. `weight` and `position` are those of the side files, else None.

    Warns
    -----
    UserWarning
        If values are too large for float32: they become NaN. Istella's files write the largest double,
        1.79769313486e+308, for a missing value. If comments behind rows hold no document id in one of the forms above.
        If ``<path>.init`` is there.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty, or anything in it cannot be read. The message names file, and line or row. Such as:

        - a malformed token, a grade that is not finite, a feature twice on a line or beyond `n_features`;
        - a row without query, queries that are not contiguous;
        - a side file that does not fit the rows, or holds anything else than the numbers above;
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
    return load_files([path], n_features=n_features, sparse=sparse, zero_based=zero_based, missing=missing)[0]


def load_files(
    paths: Iterable[str | PathLike[str]],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: _ZeroBased = "auto",
    missing: _Missing = "zero",
) -> list[RankingData]:
    """Load files that belong together, each read once.

    Parameters
    ----------
    paths : iterable of str or path-like
        Each as `load_letor` takes it.
    n_features, sparse, zero_based, missing
        As in `load_letor`. "auto" and the width are decided once, from all files together.

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
    if n_features is not None:
        check_integer("n_features", n_features, 1, ", or None for the file's own")
    check_flag("sparse", sparse)
    check_choice("missing", missing, ("zero", "nan"))
    if sparse and missing == "nan":
        raise ValueError("missing='nan' is of a dense X; a sparse one holds what is written: leave out missing")
    if not (isinstance(zero_based, (bool, np.bool_)) or (isinstance(zero_based, str) and zero_based == "auto")):
        raise ValueError(f'zero_based must be True, False or "auto", got {shown(zero_based)}')
    files = [_read(Path(path)) for path in paths]
    for doubt in _doubts(files):
        warn_user(doubt)
    base, width = _shape(files, n_features, zero_based)
    sets = []
    for file in files:
        try:
            sets.append(_ranking_data(file, base, width, sparse=sparse, missing=missing))
        except ValueError as error:
            raise ValueError(f"{file.path}: {error}") from None
    return sets


def load_fold(
    directory: str | PathLike[str],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: _ZeroBased = "auto",
    missing: _Missing = "zero",
) -> Fold:
    """Load the training, validation and test file of one fold.

    Parameters
    ----------
    directory : str or path-like
        Holds ``train.txt``, ``vali.txt`` or ``valid.txt``, and ``test.txt``, each plain or (``.gz``) compressed. If
        several forms of one stand there, the first in this order is read.
    n_features, sparse, zero_based, missing
        As in `load_letor`. "auto" and the width are decided once, from the three files together.

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
    files = _fold_files(Path(directory))
    return Fold(*load_files(files, n_features=n_features, sparse=sparse, zero_based=zero_based, missing=missing))


def load_folds(
    directory: str | PathLike[str],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: _ZeroBased = "auto",
    missing: _Missing = "zero",
) -> list[Fold]:
    """Load all folds of a data set: ``Fold1``, ``Fold2``, … in the order of their numbers.

    Parameters
    ----------
    directory : str or path-like
        Holds the folders ``Fold*``, each as `load_fold` takes it.
    n_features, sparse, zero_based, missing
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
    root = Path(directory)
    names = _names(root)
    folds = sorted((path for path in root.glob("Fold*") if path.is_dir()), key=natural)
    if not folds:
        raise FileNotFoundError(f"{root} has no folder Fold*, only {shown(names)}; for a single fold use load_fold")
    files = [path for fold in folds for path in _fold_files(fold)]  # all are found before the first is read
    parts = load_files(files, n_features=n_features, sparse=sparse, zero_based=zero_based, missing=missing)
    return [Fold(*parts[i : i + 3]) for i in range(0, len(parts), 3)]


# --- Folders -------------------------------------------------------------------------------------------------------


def _names(directory: Path) -> list[str]:
    if not directory.is_dir():
        raise FileNotFoundError(f"{directory} is no folder; check the path, or load a file with load_letor")
    return sorted(path.name for path in directory.iterdir())


def _fold_files(directory: Path) -> list[Path]:
    present = _names(directory)
    files = []
    for names in _FOLD_FILES:
        present_names = [name for name in names if name in present]
        if not present_names:
            what = f"{directory} has none of {', '.join(names)}, only {shown(present)}"
            raise FileNotFoundError(f"{what}; rename the file, or use load_letor, or load_folds for a folder of Fold*")
        files.append(directory / present_names[0])
    return files


# --- Text ----------------------------------------------------------------------------------------------------------


@contextmanager
def opened(
    path: Path, folder: str = "load it with load_fold, or with load_folds if it holds Fold*"
) -> Iterator[BinaryIO]:
    """Open a file, through gzip if it is compressed so, behind its byte order mark. `folder` is what to do with one.

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
            if head.startswith(_NO_TEXT):
                raise ValueError(f"{path} is not a text file; decompress it (only gzip is read), or save it as UTF-8")
            if head.startswith(b"\xef\xbb\xbf"):
                stream.read(3)
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short ({error}); fetch it again") from None


def line_error(path: Path, line: int, what: str) -> ValueError:
    """Return the error of a line of a file."""
    return ValueError(f"{path}, line {line}: {what}")


def texts_of(texts: Sequence[str], times: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """Return texts as an array of fixed width, or of objects where one text is far longer than the others.

    `times` is how many rows each text will have; default 1.
    """
    lengths = [*map(len, texts)]
    is_uneven = bool(lengths) and max(lengths) > 64 + 4 * np.average(lengths, weights=times)
    return np.array(texts, dtype=object if is_uneven else np.str_)


def _decoded(token: bytes) -> str:
    return token.decode("utf-8", errors="backslashreplace")


def _document(comment: bytes) -> bytes:
    """Return the id of a document that a comment holds, empty without one."""
    found = _DOCUMENT.fullmatch(comment)
    return found[1] or found[2] or b"" if found else b""


def _number(token: bytes) -> float | None:
    """Return the number that a token stands for, NaN for NULL; None if it is no number."""
    if token.lower() == b"null":
        return math.nan
    try:
        return None if b"_" in token else float(token)
    except ValueError:
        return None


# --- Reading a file ------------------------------------------------------------------------------------------------


@dataclass
class _File:
    """A file before its width is known; one item a block in `labels` and `entries`."""

    path: Path
    labels: list[Floats] = field(default_factory=list)
    entries: list[_Entries] = field(default_factory=list)
    queries: list[tuple[bytes, int]] = field(default_factory=list)  # id of each run of rows, empty without; first row
    doc_ids: list[str] = field(default_factory=list)
    n_rows: int = 0
    n_lines: int = 0
    n_entries: int = 0
    n_missing: int = 0  # values beyond float32
    n_unread: int = 0  # comments without an id of a document
    unread: str = ""  # the first of them
    first_feature: int = _MOST_COLUMNS
    last_feature: int = -1

    def error(self, text: bytes, at: int, what: str = "") -> ValueError:
        """Return the error of a place in a block, as `what` says, or for the token around it."""
        start = max(text.rfind(blank, 0, at) for blank in (b"\n", b" ", b"\t")) + 1
        token = _decoded(text[start : text.index(b"\n", at)].removesuffix(b"\r").split(b" ")[0])
        line = self.n_lines + text.count(b"\n", 0, at) + 1
        return line_error(self.path, line, what or f"cannot read {shown(token)}; each line must read {_LINE}")


def _read(path: Path) -> _File:
    from boostplug.datasets import svmlight  # numba is slow to import, and most of a session never loads a file

    file = _File(path)
    size = 0
    with opened(path) as stream:
        while text := stream.read(_BLOCK):  # complete lines, each ended by a newline
            text += b"" if text.endswith(b"\n") else stream.readline()
            text += b"" if text.endswith(b"\n") else b"\n"
            if len(text) > size:
                size = len(text)
                block = svmlight.new_block(size)
            svmlight.parse_block(np.frombuffer(text, np.uint8), block)
            _add(file, text, block)
    if not file.n_rows:
        raise ValueError(f"{path} holds no rows; each line must read {_LINE}")
    return file


def _add(file: _File, text: bytes, block: Any) -> None:
    """Add the rows of a block to those of its file."""
    n_rows, n_entries, n_runs, n_odd, bad = block.counts.tolist()
    labels, row_end = block.labels[:n_rows].copy(), block.row_end[:n_rows].copy()
    ids, values = block.ids[:n_entries], block.values[:n_entries].copy()
    is_too_large = np.isinf(values)
    for start, stop, place in block.odd[:n_odd].tolist():
        token = text[start:stop]
        value = _number(token)
        if value is None or (place < 0 and not math.isfinite(value)):
            raise file.error(text, start)
        if place < 0:
            labels[-1 - place] = value
        else:
            with np.errstate(over="ignore"):
                values[place] = value
            is_too_large[place] = np.isinf(values[place]) and b"n" not in token.lower()  # not the word inf
    if bad >= 0:
        raise file.error(text, bad)
    values[is_too_large] = np.nan

    for start, stop, row in block.runs[:n_runs].tolist():
        query = text[start:stop]
        if file.queries and bool(query) != bool(file.queries[0][0]):
            raise file.error(text, start, "qid is on some lines only; write qid:<query> after each grade")
        if not file.queries or file.queries[-1][0] != query:
            file.queries.append((query, file.n_rows + row))
    spans = block.comments[:n_rows]
    comments = [text[i:j].strip() for i, j in spans.tolist()] if np.diff(spans).any() else [b""] * n_rows
    documents = [_document(comment) for comment in comments]
    file.doc_ids += map(_decoded, documents)
    unread = [comment for comment, document in zip(comments, documents, strict=True) if comment and not document]
    file.n_unread += len(unread)
    file.unread = file.unread or "".join(map(_decoded, unread[:1]))
    file.labels.append(labels)
    file.entries.append((row_end, ids.astype(np.min_scalar_type(ids.max(initial=0))), values))
    file.n_rows += n_rows
    file.n_lines += text.count(b"\n")
    file.n_entries += n_entries
    file.n_missing += int(is_too_large.sum())
    file.first_feature = min(file.first_feature, int(ids.min(initial=_MOST_COLUMNS)))
    file.last_feature = max(file.last_feature, int(ids.max(initial=-1)))


# --- Putting it together -------------------------------------------------------------------------------------------


def _shape(files: Sequence[_File], n_features: int | None, zero_based: _ZeroBased) -> tuple[int, int]:
    """Return the number of the first feature, and how many there are."""
    lowest = min(files, key=lambda file: file.first_feature)
    widest = max(files, key=lambda file: file.last_feature)
    first, last = lowest.first_feature, widest.last_feature
    base = int(first > 0) if zero_based == "auto" else int(not zero_based)
    if first < base:
        raise ValueError(f'{lowest.path}: feature 0 stands below the first, 1; pass zero_based=True or "auto"')
    width = max(0, last + 1 - base)
    if n_features is not None and width > n_features:
        what = f"{widest.path}: feature {last} is beyond n_features={n_features}"
        raise ValueError(f"{what}; pass n_features={width}, or None")
    return base, width if n_features is None else int(n_features)


def _doubts(files: Sequence[_File]) -> Iterator[str]:
    """Yield warnings of what was not read as it is written."""
    if missing := [f"{file.n_missing} in {file.path}" for file in files if file.n_missing]:
        what = "values beyond float32, as Istella's 1.79769313486e+308, are read as missing (NaN)"
        yield f"{what}: {', '.join(missing)}; rescale the feature if they are not"
    if unread := [f"{one.n_unread} in {one.path}, such as {shown(one.unread)}" for one in files if one.n_unread]:
        yield f"comments without a document's id are not read: {', '.join(unread)}; write '# ID' or '# docid = ID'"
    if inits := [str(side) for file in files if (side := _beside(file.path, ".init"))]:
        yield f"{', '.join(inits)} is not read; pass the scores to start from as init_score (LightGBM) or base_margin"


def _ranking_data(file: _File, base: int, width: int, *, sparse: bool, missing: str) -> RankingData:
    path, doc_ids = file.path, file.doc_ids
    weight, group = _numbers_beside(path, ".weight"), _numbers_beside(path, ".query", ".group")
    if weight is not None and len(weight) != file.n_rows:
        raise ValueError(f"there are {file.n_rows} rows, and {len(weight)} weights beside; write one number a row")
    tokens = [token for token, _ in file.queries]
    if tokens == [b""] and group is None:
        raise ValueError(f"no qid; write qid:<query> after each grade, or the sizes into {path.name}.query")
    counts = np.diff([row for _, row in file.queries], append=file.n_rows)
    return RankingData(
        X=_sparse(file, base, width) if sparse else _dense(file, base, width, 0.0 if missing == "zero" else math.nan),
        y=np.concatenate(file.labels),
        qid=None if tokens == [b""] else np.repeat(_query_ids(tokens, counts), counts),
        group=group,
        weight=weight,
        doc_ids=texts_of(doc_ids) if any(doc_ids) else None,
        position=_numbers_beside(path, ".position"),
    )


def _query_ids(tokens: Sequence[bytes], counts: NDArray[np.int64]) -> NDArray[Any]:
    """Return ids as integers if that loses nothing of what is written, else as str."""
    if all(map(_INTEGER.fullmatch, tokens)):
        with suppress(OverflowError):
            return np.array([*map(int, tokens)], np.int64)
    return texts_of([*map(_decoded, tokens)], counts)


def _dense(file: _File, base: int, width: int, fill: float) -> NDArray[np.float32]:
    from boostplug.datasets.svmlight import scatter

    cells = file.n_rows * width
    if cells > max(_DENSE, _SPARSEST * file.n_entries):
        raise ValueError(
            f"a dense X of {file.n_rows} rows and {width} columns takes {cells / 2**28:.1f} GiB for "
            f"{file.n_entries} values; pass sparse=True, or correct n_features or the highest feature if it is wrong"
        )
    X = np.full((file.n_rows, width), fill, np.float32)
    stop = file.n_rows
    while file.entries:  # from the last block on, which can return its memory to the system
        row_end, ids, values = file.entries.pop()
        start = stop - len(row_end)
        scatter(row_end, ids, values, base, X[start:stop])
        stop = start
    return X


def _sparse(file: _File, base: int, width: int) -> Any:
    from scipy.sparse import csr_matrix

    sizes = [np.diff(row_end, prepend=0) for row_end, _, _ in file.entries]
    ids = np.concatenate([ids for _, ids, _ in file.entries], dtype=np.int32)
    values = np.concatenate([values for _, _, values in file.entries])
    file.entries.clear()
    indptr = np.cumsum(np.concatenate([[0], *sizes]))
    X = csr_matrix((values, ids - np.int32(base), indptr), shape=(file.n_rows, width))
    X.sort_indices()
    return X


# --- Side files ----------------------------------------------------------------------------------------------------


def _beside(path: Path, *suffixes: str) -> Path | None:
    """Return the first side file of these suffixes that is there."""
    stems = [path, path.with_suffix("")] if path.suffix == ".gz" else [path]
    paths = (Path(f"{stem}{suffix}") for stem in stems for suffix in suffixes)
    return next((side for side in paths if side.is_file()), None)


def _numbers_beside(path: Path, *suffixes: str) -> Floats | None:
    """Return the numbers in a side file; None without one."""
    side = _beside(path, *suffixes)
    if side is None:
        return None
    with opened(side) as stream:
        return np.array(stream.read().split(), np.float64)
