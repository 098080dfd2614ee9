"""TREC's files: judgements (qrels) and ranked lists (runs), read, written, and joined to what metrics take."""

import gzip
import math
import warnings
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import (
    FrozenArrays,
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
from boostplug.core.files import write_file
from boostplug.core.threads import Computed
from boostplug.data.queries import Queries
from boostplug.datasets.letor import opened, refuse_line

_FILL = float(np.finfo(np.float64).min)  # score of rows without a document: below the run's scores and above -inf
_MISSING = {"", "None", "nan", "<NA>", "NaT"}  # ids that are missing, as text
_QREL = "<query> <iteration> <document> <grade>"
_ENTRY = "<query> Q0 <document> <rank> <score> <tag>"

_Lists = dict[str, dict[str, float]]  # the value of each document by query


@dataclass(frozen=True, eq=False, repr=False)
class _Table:
    """Rows with a query and a document each."""

    qid: NDArray[Any]
    doc_ids: NDArray[Any]

    def __len__(self) -> int:
        return len(self.qid)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_queries={len(set(self.qid.tolist()))}, n_rows={len(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(_Table):
    """Judgements, one a row; the rows of a query stand together.

    Attributes
    ----------
    qid, doc_ids : ndarray of shape (n_rows,), str
        As written: 7 and 07 are two queries. No document stands twice in a query.
    y : ndarray of shape (n_rows,), float64
        Grades; negative ones say "not judged", as for `trec_eval`.
    """

    y: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRun(FrozenArrays, _Table):
    """A run with the grades of its documents, for metrics: ``metric(run.scores, run.queries)``.

    Attributes
    ----------
    y, scores : ndarray of shape (n_rows,), float64
        Grades, 0 where there is none; scores, -inf where the run lacks the document.
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
    labelled: NDArray[np.bool_]
    retrieved: NDArray[np.bool_]
    group: NDArray[np.int64]
    depth: int

    def __post_init__(self) -> None:
        self.__setstate__(self.__dict__)

    @Computed
    def queries(self) -> Queries:
        """Grades and queries as `boostplug.Queries`; rows that are not `labelled` are not judged. Built once."""
        return Queries(self.y, group=self.group, labelled=self.labelled)


@dataclass(frozen=True, eq=False, repr=False)
class Run(_Table):
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

    scores: NDArray[np.float64]
    tag: str

    def judge(self, qrels: Qrels, *, depth: int | None = None) -> JudgedRun:
        r"""Join the grades to the documents, for the queries that are judged.

        Documents of the run without a grade, or with a negative one, are not judged (`labelled` is False). Judged
        documents that the run lacks count as well, in the number of relevant documents and in ideal rankings: they
        are appended with the score -inf, behind rows without a document that fill the list up to `depth`. So a metric
        with a cut-off of at most `depth`, `RPrecision` and `Bpref` are what `trec_eval` and ir-measures say, with
        ``empty=0``, except for tied scores, which these order by document id. A metric of the complete list would find
        such documents at its end: give it ``k=depth``, as in ``MAP(run.depth)``.

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
        lists = _by_query("the run, row", range(len(self)), self.qid, self.doc_ids, self.scores)
        grades = _by_query("qrels, row", range(len(qrels)), qrels.qid, qrels.doc_ids, qrels.y)
        longest = max(map(len, lists.values()), default=1)
        depth = max(1000, longest) if depth is None else depth
        depth = check_integer("depth", depth, longest, ", the longest list of the run", most=max(longest, 1_000_000))
        unjudged = [query for query in lists if query not in grades]
        if len(unjudged) == len(lists):
            names = f"it has {shown(unjudged)}, the qrels have {shown([*grades])}"
            raise ValueError(f"no query of the run is judged: {names}; take the qrels of these queries")
        if unjudged:
            of_all = f"{len(unjudged)} of {len(lists)} queries of the run"
            warnings.warn(f"{of_all} have no judgements and are left out: {shown(unjudged)}", UserWarning, stacklevel=2)
        queries = [query for query in lists if query in grades] + [query for query in grades if query not in lists]
        parts = [_judged_list(query, lists.get(query, {}), grades[query], depth) for query in queries]
        sizes = np.array([*map(len, parts)])
        columns: list[Any] = [*map(np.array, zip(*chain.from_iterable(parts), strict=True)), sizes, depth]
        return JudgedRun(*columns)


def load_qrels(path: str | PathLike[str]) -> Qrels:
    r"""Load judgements: lines of query, iteration (not read), document and grade, separated by blanks or tabs.

    Blank lines and lines that begin with ``#`` are skipped, as in `trec_eval` 10.

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
        If the file is empty, a line does not have four columns, a grade is no finite number, a document stands twice
        in a query, or a line is not UTF-8. The message names file and line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     _ = path.write_text("301 0 FBIS3-10082 1\n301 0 FBIS3-10169 0\n302 0 FBIS4-67701 1\n")
    ...     load_qrels(path)
    Qrels(n_queries=2, n_rows=3)
    """
    return Qrels(*_load(path, _QREL, 3)[:3])


def load_run(path: str | PathLike[str]) -> Run:
    r"""Load ranked lists: lines of query, Q0, document, rank, score and tag, separated by blanks or tabs.

    Blank lines, lines that begin with ``#``, and words behind the tag are skipped, as in `trec_eval` 10.

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
        If the file is empty, a line has fewer than six columns, a score is no finite number, a document stands twice
        in a query, or a line is not UTF-8. The message names file and line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "bm25.run")
    ...     _ = path.write_text("301 Q0 FBIS3-10169 1 9.5 bm25\n301 Q0 FBIS3-10082 2 7.25 bm25\n")
    ...     load_run(path)
    Run(n_queries=1, n_rows=2)
    """
    return Run(*_load(path, _ENTRY, 4))


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
        Query of each row. The rows of a query are written together.
    doc_ids : array-like of shape (n_rows,), optional
        Names of the documents. Default: the numbers of the rows, from 0, as `save_run` names them.
    labelled : array-like of bool of shape (n_rows,), optional
        Rows for which it is False are not judged, and not written.

    Raises
    ------
    ValueError
        If an array has the wrong shape or an impossible value: a grade that is negative or not whole, an id that is
        no single printable word, a query that begins with ``#``, a document twice in a query.

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
    judged = Queries(np.zeros(len(grades)), group=[len(grades)], labelled=labelled).labelled_rows
    whole = grades == np.clip(np.floor(grades), 0, 2**31 - 1)
    refuse_where("y", judged & ~whole, grades, "is not an integer from 0 to 2^31 - 1; rescale, or pass labelled=False")
    lines = []
    for query, documents in _checked(qid, doc_ids, np.where(judged, grades, -1)).items():
        lines += [f"{query} 0 {name} {int(grade)}\n" for name, grade in documents.items() if grade >= 0]
    _write(path, lines)


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
        Query of each row. The rows of a query are written together.
    doc_ids : array-like of shape (n_rows,), optional
        Names of the documents. Default: the numbers of the rows, from 0, as `save_qrels` names them.
    tag : str, default "boostplug"
        Name of the run.

    Raises
    ------
    ValueError
        If an array has the wrong shape or an impossible value: a score beyond ±1e100, an id that is no single
        printable word, a query that begins with ``#``, a document twice in a query.

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
    checked = scores_of_rows(scores, len(vector("qid", qid)), finite=True)
    (name_of_run,) = _words("tag", [tag])
    lines = []
    for query, documents in _checked(qid, doc_ids, checked).items():
        ranked = sorted(documents.items(), key=lambda pair: -pair[1])
        lines += [f"{query} Q0 {name} {rank} {score!r} {name_of_run}\n" for rank, (name, score) in enumerate(ranked, 1)]
    _write(path, lines)


# --- Joining -------------------------------------------------------------------------------------------------------


def _judged_list(query: str, scores: dict[str, float], grades: dict[str, float], depth: int) -> list[tuple[Any, ...]]:
    """Return the rows of a query, in the order of the attributes of `JudgedRun`: the run's, then what the run lacks."""
    rows = []
    for document, score in scores.items():
        grade = grades.get(document, -1.0)
        rows.append((query, document, max(grade, 0.0), score, grade >= 0, True))
    missed = [one for one, grade in grades.items() if grade >= 0 and one not in scores]
    if not missed:
        return rows or [(query, "", 0.0, 0.0, False, False)]  # a query with rows counts, also where nothing is judged
    # As many as there can be relevant documents stand above those that are missed: R-precision looks so far down.
    filled = max(depth, len(grades)) - len(rows)
    rows += [(query, "", 0.0, _FILL, False, False)] * filled
    return rows + [(query, document, grades[document], -math.inf, True, False) for document in missed]


def _by_query(place: str, numbers: Any, qid: Any, doc_ids: Any, values: Any) -> _Lists:
    """Return the value of each document by query; refuse a document that a query has twice, naming its row or line."""
    if not len(qid) == len(doc_ids) == len(values):
        raise ValueError(f"got {len(qid)} queries, {len(doc_ids)} documents and {len(values)} values; give one per row")
    found: _Lists = {}
    for number, query, document, value in zip(numbers, map(str, qid), map(str, doc_ids), values, strict=True):
        if document in found.setdefault(query, {}):
            raise ValueError(f"{place} {number}: query {shown(query)} has document {shown(document)} already; keep one")
        found[query][document] = float(value)
    return found


# --- Reading -------------------------------------------------------------------------------------------------------


def _load(path: str | PathLike[str], form: str, at: int) -> tuple[Any, Any, Any, str]:
    """Return query, document and value of each row, the rows of a query together, and the last column of the first.

    Lines read `form`, with the value in column `at`.
    """
    file, names = Path(path), form.split()
    rows: list[tuple[Any, ...]] = []
    with opened(file, "pass one of its files") as stream:
        for line, content in enumerate(stream, 1):
            columns = content.split()[: len(_ENTRY.split())]  # only at ASCII's white space, as trec_eval
            if not columns or columns[0].startswith(b"#"):
                continue
            try:
                texts = [column.decode() for column in columns]
                value = float(texts[at])
            except (ValueError, IndexError):
                value = math.nan
            if not math.isfinite(value) or len(columns) != len(names):
                text = shown(b" ".join(columns).decode(errors="backslashreplace"))
                refuse_line(file, line, f'{text} is not "{form}" in UTF-8 with a finite {names[at]}; correct it')
            rows.append((line, texts[0], texts[2], value, texts[-1]))
    if not rows:
        raise ValueError(f'{file} holds no rows; each line must read "{form}"')
    *fields, tags = zip(*rows, strict=True)
    lists = _by_query(f"{file}, line", *fields)
    table = [(query, document, value) for query, documents in lists.items() for document, value in documents.items()]
    return *map(np.array, zip(*table, strict=True)), tags[0]


# --- Writing -------------------------------------------------------------------------------------------------------


def _checked(qid: ArrayLike, doc_ids: ArrayLike | None, values: NDArray[np.float64]) -> _Lists:
    """Return the value of each document by query, with ids as they are written."""
    documents = range(len(values)) if doc_ids is None else _words("doc_ids", doc_ids)
    return _by_query("doc_ids, row", range(len(values)), _words("qid", qid), documents, values)


def _words(name: str, values: Any) -> list[str]:
    """Return ids as texts; refuse those that are no column of a line."""
    ids = vector(name, values)
    refuse_rounded_ids(name, ids)
    ids = ids.astype(np.str_) if ids.dtype.kind == "S" else ids
    words = [str(int(one)) if isinstance(one, float) and one.is_integer() else str(one) for one in ids.tolist()]
    comment = "#" if name == "qid" else " "  # what a line must not begin with
    bad = [word in _MISSING or " " in word or word.startswith(comment) or not word.isprintable() for word in words]
    refuse_where(name, np.array(bad, bool), ids, "is missing, no single word, or begins with #; replace it")
    return words


def _write(path: str | PathLike[str], lines: list[str]) -> None:
    content = "".join(lines).encode()
    write_file(path, gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)
