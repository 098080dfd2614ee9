"""TREC's files: judgements (qrels) and ranked lists (runs), read, written, and joined to what metrics take."""

import gzip
import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import (
    check_instance,
    check_integer,
    numbers,
    refuse_other_order,
    refuse_rounded_ids,
    refuse_where,
    scores_of_rows,
    shown,
    vector,
)
from boostplug.core.files import replacing
from boostplug.core.threads import Computed
from boostplug.data.queries import Queries
from boostplug.datasets.letor import opened, refuse_line, texts_of

__all__ = ["JudgedRun", "Qrels", "Run", "load_qrels", "load_run", "save_qrels", "save_run"]

_LONGEST_LINE = 1 << 20  # bytes; of what is no such file, a line may be all of it
_LARGEST_SCORE = 1e300  # there is room below the lowest
_DEPTH = 1000  # of TREC's runs
_DEEPEST = 1_000_000  # rows of a query
_MISSING = {"None", "nan", "<NA>", "NaT"}  # as text, where they are none
_QREL = '"<query> <iteration> <document> <grade>"'
_ENTRY = '"<query> Q0 <document> <rank> <score> <tag>"'


@dataclass(frozen=True, eq=False, repr=False)
class Qrels:
    """Judgements, one a row; the rows of a query stand together.

    Attributes
    ----------
    qid, doc_ids : ndarray of shape (n_rows,), str
        As written: 7 and 07 are two queries. No document stands twice in a query.
    y : ndarray of shape (n_rows,), float64
        Grades; negative ones say "not judged", as for `trec_eval`.
    """

    qid: NDArray[Any]
    doc_ids: NDArray[Any]
    y: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"Qrels(n_queries={_n_queries(self.qid)}, n_rows={len(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRun:
    """A run with the grades of its documents, for metrics: ``metric(run.scores, run.queries)``.

    Attributes
    ----------
    y, scores : ndarray of shape (n_rows,), float64
        Grades, 0 where there is none; scores.
    qid, doc_ids : ndarray of shape (n_rows,), str
        The document's id is empty in rows that only fill a list up.
    labelled, retrieved : ndarray of shape (n_rows,), bool
        Whether the document is judged, and whether it is in the run.
    group : ndarray of shape (n_queries,), int64
        Sizes of the queries, in row order.
    depth : int
        Down to this rank each list is what `trec_eval` sees.
    """

    y: NDArray[np.float64]
    scores: NDArray[np.float64]
    qid: NDArray[Any]
    doc_ids: NDArray[Any]
    labelled: NDArray[np.bool_]
    retrieved: NDArray[np.bool_]
    group: NDArray[np.int64]
    depth: int

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"JudgedRun(n_queries={len(self.group)}, n_rows={len(self)}, depth={self.depth})"

    @Computed
    def queries(self) -> Queries:
        """Grades and queries as `boostplug.Queries`; rows that are not `labelled` are not judged. Built once."""
        return Queries(self.y, group=self.group, labelled=self.labelled)


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Ranked lists of documents, a row for each document; the rows of a query stand together.

    Attributes
    ----------
    qid, doc_ids : ndarray of shape (n_rows,), str
        As written: 7 and 07 are two queries. No document stands twice in a query.
    scores : ndarray of shape (n_rows,), float64
        They alone say the ranking; the file's ranks are not read, as `trec_eval` does not read them.
    tag : str
        Name of the run.
    """

    qid: NDArray[Any]
    doc_ids: NDArray[Any]
    scores: NDArray[np.float64]
    tag: str

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Run(n_queries={_n_queries(self.qid)}, n_rows={len(self)}, tag={self.tag!r})"

    def judge(self, qrels: Qrels, *, depth: int | None = None) -> JudgedRun:
        r"""Join the grades to the documents, for the queries that are judged.

        Documents of the run without a grade, or with a negative one, are not judged (`labelled` is False). Judged
        documents that the run lacks count as well, in the number of relevant documents and in ideal rankings: they
        are appended with scores below all others, the lowest grade first, behind rows without a document that fill the
        list up to `depth`. So a metric with a cut-off of at most `depth`, `RPrecision` and `Bpref` are what
        `trec_eval` and ir-measures say, with ``empty=0`` and but for tied scores, which these order by document id.
        A metric of the whole list would find such documents at its end: give it ``k=depth``, as in ``MAP(run.depth)``.
        `Bpref` differs where a query has no document that is judged non-relevant: it does not miss relevant ones there.

        Parameters
        ----------
        qrels : Qrels
        depth : int, optional
            At least the longest list of the run. Default: 1000, TREC's usual one, or the longest list if that is more.

        Returns
        -------
        JudgedRun
            The queries of the run in its order, then those that it lacks, of which all values are 0.

        Warns
        -----
        UserWarning
            If queries of the run have no judgements; they are left out, as `trec_eval` leaves them out.

        Raises
        ------
        ValueError
            If the run has no judged query, or `depth` is below its longest list.

        Examples
        --------
        >>> import boostplug as bp
        >>> run = Run(np.array(["7", "7"]), np.array(["a", "b"]), np.array([2.0, 1.0]), "bm25")
        >>> qrels = Qrels(np.array(["7", "7"]), np.array(["b", "c"]), np.array([1.0, 1.0]))
        >>> judged = run.judge(qrels)
        >>> bp.MAP(judged.depth)(judged.scores, judged.queries)  # b has the precision 1/2; c is not found
        0.25
        """
        check_instance("qrels", qrels, Qrels, "load_qrels(path)")
        lists = _by_query("the run", self.qid, self.doc_ids, self.scores)
        grades = _by_query("qrels", qrels.qid, qrels.doc_ids, qrels.y)
        longest = max(map(len, lists.values()), default=0)
        if depth is None:
            depth = max(_DEPTH, longest)
        check_integer("depth", depth, max(longest, 1), ", the longest list of the run", most=max(longest, _DEEPEST))
        unjudged = [query for query in lists if query not in grades]
        if len(unjudged) == len(lists):
            raise ValueError(
                f"no query of the run is judged: it has {_listed(lists)}, the qrels have {_listed(grades)}; ids are "
                "compared as texts, take the qrels of these queries"
            )
        if unjudged:
            warnings.warn(
                f"{len(unjudged)} of {len(lists)} queries of the run have no judgements and are left out: "
                f"{_listed(unjudged)}",
                UserWarning,
                stacklevel=2,
            )
        queries = [query for query in lists if query in grades] + [query for query in grades if query not in lists]
        parts = [_judged_list(lists.get(query, {}), grades[query], depth) for query in queries]
        sizes = np.array([len(part) for part in parts], np.int64)
        rows = [row for part in parts for row in part]
        doc_ids, scores, y, labelled, retrieved = zip(*rows, strict=True)
        return JudgedRun(
            y=np.array(y, np.float64),
            scores=np.array(scores, np.float64),
            qid=np.repeat(texts_of(queries), sizes),
            doc_ids=texts_of(doc_ids),
            labelled=np.array(labelled, bool),
            retrieved=np.array(retrieved, bool),
            group=sizes,
            depth=int(depth),
        )


def load_qrels(path: str | PathLike[str]) -> Qrels:
    r"""Load judgements: lines of query, iteration (not read), document and grade, separated by blanks or tabs.

    Parameters
    ----------
    path : str or path-like
        Plain or compressed by gzip.

    Returns
    -------
    Qrels
        The queries in the order of their first lines, the rows of each in that of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty, a line has not four columns, a grade is no finite number, a document stands twice in a
        query, or the file is no text. The message names file, line and value.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     _ = path.write_text("301 0 FBIS3-10082 1\n301 0 FBIS3-10169 0\n302 0 FBIS4-67701 1\n")
    ...     load_qrels(path)
    Qrels(n_queries=2, n_rows=3)
    """
    qid, doc_ids, y, _ = _load(Path(path), _QREL, "grade", math.inf)
    return Qrels(qid=qid, doc_ids=doc_ids, y=y)


def load_run(path: str | PathLike[str]) -> Run:
    r"""Load ranked lists: lines of query, Q0, document, rank, score and tag, separated by blanks or tabs.

    Parameters
    ----------
    path : str or path-like
        Plain or compressed by gzip.

    Returns
    -------
    Run
        The queries in the order of their first lines, the rows of each in that of the file. Its tag is the first one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty, a line has not six columns, a score is no number up to ±1e300, a document stands twice in
        a query, or the file is no text. The message names file, line and value.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "bm25.run")
    ...     _ = path.write_text("301 Q0 FBIS3-10169 1 9.5 bm25\n301 Q0 FBIS3-10082 2 7.25 bm25\n")
    ...     load_run(path)
    Run(n_queries=1, n_rows=2, tag='bm25')
    """
    qid, doc_ids, scores, tag = _load(Path(path), _ENTRY, "score", _LARGEST_SCORE)
    return Run(qid=qid, doc_ids=doc_ids, scores=scores, tag=tag)


def save_qrels(
    path: str | PathLike[str],
    y: ArrayLike,
    *,
    qid: ArrayLike,
    doc_ids: ArrayLike | None = None,
    labelled: ArrayLike | None = None,
) -> None:
    """Write judgements, which `trec_eval`, ir-measures and `load_qrels` read.

    Parameters
    ----------
    path : str or path-like
        Compressed by gzip if it ends so, ``.gz``. What stands there is replaced.
    y : array-like of shape (n_rows,)
        Grades: whole numbers from 0 on, all that TREC's files know.
    qid : array-like of shape (n_rows,)
        Query of each row; the rows of a query stand together.
    doc_ids : array-like of shape (n_rows,), optional
        Names of the documents. Default: the numbers of the rows, from 0, as `save_run` names them.
    labelled : array-like of bool of shape (n_rows,), optional
        Rows for which it is False are not judged, and not written.

    Raises
    ------
    ValueError
        If an array has the wrong shape or an impossible value: a grade that is negative or not whole, an id that is
        empty or holds white space, a document twice in a query.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     save_qrels(path, [2, 0, 1], qid=[7, 7, 9])
    ...     print(path.read_text(), end="")
    7 0 0 2
    7 0 1 0
    9 0 2 1
    """
    refuse_other_order(y=y, qid=qid, doc_ids=doc_ids, labelled=labelled)
    grades = numbers("y", y)
    judged = Queries(np.zeros(len(grades)), qid=qid, labelled=labelled).labelled_rows
    whole = (grades >= 0) & (grades < 2**31) & (grades == np.floor(grades))
    refuse_where(
        "y",
        judged & ~whole,
        grades,
        "is no whole number from 0 to 2^31 - 1, all that TREC's tools read (negative ones are not judged for them); "
        "shift or scale the grades, or pass labelled=False for such rows",
    )
    queries, documents = _checked_ids(qid, doc_ids, len(grades))
    rows = np.flatnonzero(judged).tolist()
    _write(path, (f"{queries[i]} 0 {documents[i]} {int(grades[i])}\n" for i in rows))


def save_run(
    path: str | PathLike[str],
    scores: ArrayLike,
    *,
    qid: ArrayLike,
    doc_ids: ArrayLike | None = None,
    tag: str = "boostplug",
) -> None:
    """Write ranked lists, such as a ranker's predictions, which `trec_eval`, ir-measures and `load_run` read.

    Parameters
    ----------
    path : str or path-like
        Compressed by gzip if it ends so, ``.gz``. What stands there is replaced.
    scores : array-like of shape (n_rows,)
        Higher is better; written with all digits. Documents of equal scores are written in row order, but TREC's tools
        order them by their ids.
    qid : array-like of shape (n_rows,)
        Query of each row; the rows of a query stand together.
    doc_ids : array-like of shape (n_rows,), optional
        Names of the documents. Default: the numbers of the rows, from 0, as `save_qrels` names them.
    tag : str, default "boostplug"
        Name of the run.

    Raises
    ------
    ValueError
        If an array has the wrong shape or an impossible value: a score that is not finite, an id that is empty or holds
        white space, a document twice in a query.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ranker.run")
    ...     save_run(path, [0.5, 1.25, 3.0], qid=["q7", "q7", "q9"], doc_ids=["a", "b", "c"])
    ...     print(path.read_text(), end="")
    q7 Q0 b 1 1.25 boostplug
    q7 Q0 a 2 0.5 boostplug
    q9 Q0 c 1 3.0 boostplug
    """
    refuse_other_order(scores=scores, qid=qid, doc_ids=doc_ids)
    n_rows = len(vector("qid", qid))
    checked = scores_of_rows(scores, n_rows, finite=False)
    within = np.abs(checked) <= _LARGEST_SCORE
    refuse_where("scores", ~within, checked, f"is beyond ±{_LARGEST_SCORE:g}; scale the scores")
    boundaries = Queries(np.zeros(n_rows), qid=qid).boundaries
    queries, documents = _checked_ids(qid, doc_ids, n_rows)
    if not _is_word(tag):
        raise ValueError(f"tag must be a word without white space; got {shown(tag)}")
    order = np.lexsort((-checked, np.repeat(np.arange(len(boundaries) - 1), np.diff(boundaries)))).tolist()
    ranks = (np.arange(n_rows) - np.repeat(boundaries[:-1], np.diff(boundaries)) + 1).tolist()
    values = checked.tolist()
    _write(
        path,
        (f"{queries[i]} Q0 {documents[i]} {rank} {values[i]!r} {tag}\n" for i, rank in zip(order, ranks, strict=True)),
    )


# --- Joining -------------------------------------------------------------------------------------------------------

_Row = tuple[str, float, float, bool, bool]  # document, score, grade, judged, retrieved


def _judged_list(scores: dict[str, float], grades: dict[str, float], depth: int) -> list[_Row]:
    """Return the rows of a query: the run's, and below them what the run lacks."""
    rows = []
    for document, score in scores.items():
        grade = grades.get(document, -1.0)
        rows.append((document, score, max(grade, 0.0), grade >= 0, True))
    missed = sorted((grade, document) for document, grade in grades.items() if grade >= 0 and document not in scores)
    if not missed:
        return rows or [("", 0.0, 0.0, False, False)]  # a query with rows counts, also where nothing is judged
    lowest = min(scores.values(), default=0.0)
    step = 1.0 + abs(lowest)  # below the lowest by more than rounding
    # As many as there can be relevant documents stand above those that are missed: R-precision looks so far down.
    filled = max(depth, len(grades)) - len(rows)
    rows += [("", lowest - step, 0.0, False, False)] * filled
    of_grade = {grade: i for i, grade in enumerate(dict.fromkeys(grade for grade, _ in missed), 2)}
    rows += [(document, lowest - of_grade[grade] * step, grade, True, False) for grade, document in missed]
    return rows


def _by_query(
    what: str, qid: NDArray[Any], doc_ids: NDArray[Any], values: NDArray[np.float64]
) -> dict[str, dict[str, float]]:
    """Return the value of each document by query, of data that users may have put together themselves."""
    if not len(qid) == len(doc_ids) == len(values):
        raise ValueError(
            f"{what} must have one query, document and value per row; it has {len(qid)}, {len(doc_ids)} and "
            f"{len(values)} of them"
        )
    found: dict[str, dict[str, float]] = {}
    for query, document, value in zip(map(str, qid.tolist()), map(str, doc_ids.tolist()), values.tolist(), strict=True):
        documents = found.setdefault(query, {})
        if document in documents:
            raise ValueError(
                f"document {shown(document)} of query {shown(query)} stands twice in {what}; keep one of them"
            )
        documents[document] = value
    return found


def _listed(queries: Iterable[str]) -> str:
    names = [shown(query) for query in queries]
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _n_queries(qid: NDArray[Any]) -> int:
    return len(set(qid.tolist()))


# --- Reading -------------------------------------------------------------------------------------------------------


def _load(file: Path, form: str, what: str, most: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], str]:
    """Return query, document and value of each row, and the last column of the first; each line reads `form`.

    The value is `what`, a number up to ±`most`.
    """
    names = form.strip('"').split()
    column = names.index(f"<{what}>")
    found: dict[str, dict[str, tuple[int, float]]] = {}
    tag = ""
    for line, texts in _lines(file, form, len(names)):
        query, document = texts[0], texts[2]
        value = _number(file, line, what, texts[column], most)
        documents = found.setdefault(query, {})
        if document in documents:
            first = documents[document][0]
            where = f"document {shown(document)} of query {shown(query)} stands on line {first} already"
            refuse_line(file, line, f"{where}; keep one of them")
        documents[document] = line, value
        tag = tag or texts[-1]
    if not found:
        raise ValueError(f"{file} holds no rows; each line must read {form}")
    queries = [query for query, documents in found.items() for _ in documents]
    ids = [document for documents in found.values() for document in documents]
    values = [value for documents in found.values() for _, value in documents.values()]
    return texts_of(queries), texts_of(ids), np.array(values, np.float64), tag


def _lines(file: Path, form: str, n_columns: int) -> Iterator[tuple[int, list[str]]]:
    """Yield number and columns of each line that is not blank."""
    with opened(file, "pass one of its files") as stream:
        for number, line in enumerate(iter(partial(stream.readline, _LONGEST_LINE), b""), 1):
            if len(line) == _LONGEST_LINE:
                refuse_line(file, number, f"it is longer than {_LONGEST_LINE} bytes; each line must read {form}")
            columns = line.split()  # at ASCII's white space alone, as TREC's tools
            if not columns:
                continue
            try:
                texts = b" ".join(columns).decode().split(" ")
            except UnicodeDecodeError as error:
                byte = error.object[error.start]
                refuse_line(file, number, f"the byte 0x{byte:02X} is no UTF-8; save the file as UTF-8")
            if len(columns) != n_columns:
                refuse_line(
                    file,
                    number,
                    f"{shown(' '.join(texts))} has {len(columns)} columns, not {n_columns}; each line must read {form}",
                )
            yield number, texts


def _number(file: Path, line: int, what: str, text: str, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if "_" in text or not abs(number) <= most or math.isinf(number):
        limit = f" up to ±{most:g}" if math.isfinite(most) else ""
        refuse_line(file, line, f"the {what} {shown(text)} is no finite number{limit}; correct it, or drop the line")
    return number


# --- Writing -------------------------------------------------------------------------------------------------------


def _checked_ids(qid: ArrayLike, doc_ids: ArrayLike | None, n_rows: int) -> tuple[list[str], list[str]]:
    """Return the ids of queries and documents as they are written."""
    queries = _words("qid", vector("qid", qid))
    if doc_ids is None:
        return queries, [str(row) for row in range(n_rows)]
    names = vector("doc_ids", doc_ids)
    if len(names) != n_rows:
        raise ValueError(f"doc_ids must have one name per row: got {len(names)} names for {n_rows} rows")
    documents = _words("doc_ids", names)
    seen: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(zip(queries, documents, strict=True)):
        if seen.setdefault(pair, row) != row:
            raise ValueError(
                f"doc_ids[{row}] = {shown(pair[1])} stands in query {shown(pair[0])} already, in row {seen[pair]}; "
                "give each document of a query its own name"
            )
    return queries, documents


def _words(name: str, ids: NDArray[Any]) -> list[str]:
    refuse_rounded_ids(name, ids)
    if ids.dtype in (np.float64, np.float32) and (np.abs(ids) < 1e15).all() and (ids == np.floor(ids)).all():
        ids = ids.astype(np.int64)  # 7.0 of a data frame
    words = [one.decode(errors="backslashreplace") if isinstance(one, bytes) else str(one) for one in ids.tolist()]
    bad = [
        not _is_word(word) or (word in _MISSING and not isinstance(one, str))
        for word, one in zip(words, ids.tolist(), strict=True)
    ]
    refuse_where(name, np.array(bad, bool), ids, "is missing or no single word (white space ends a column); replace it")
    return words


def _is_word(text: Any) -> bool:
    """Return whether a text is one column of a line."""
    try:
        return isinstance(text, str) and text.encode().split() == [text.encode()]
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def _write(path: str | PathLike[str], lines: Iterable[str]) -> None:
    with replacing(path) as plain:
        if Path(path).suffix != ".gz":
            plain.writelines(line.encode() for line in lines)
            return
        with gzip.GzipFile(fileobj=plain, mode="wb", filename="", mtime=0) as packed:
            packed.writelines(line.encode() for line in lines)
