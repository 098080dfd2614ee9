"""TREC's files: judgements (qrels) and ranked lists (runs), read and written; ir-measures computes metrics of them."""

import gzip
import math
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import (
    as_floats,
    as_vector,
    check_exact_ids,
    check_instance,
    check_order,
    check_values,
    scores_of_rows,
    shown,
)
from boostplug.core.files import write_file
from boostplug.core.warning import warn_user
from boostplug.data.boundaries import places_within
from boostplug.data.tables import check_unique, with_column
from boostplug.datasets.letor import line_error, opened, texts_of
from boostplug.datasets.ranking_data import RankingData

_MISSING = {"", "None", "nan", "<NA>", "NaT"}  # ids that are missing, as text
_QREL = "<query> <iteration> <document> <grade>"
_ENTRY = "<query> Q0 <document> <rank> <score> <tag>"


class Qrels(NamedTuple):
    """Judgements, one a row. The rows of a query stand together."""

    qid: NDArray[np.str_]
    """As written: 7 and 07 are two queries."""
    doc_ids: NDArray[np.str_]
    """No document stands twice in a query."""
    y: NDArray[np.float64]
    """Grades; negative ones say "not judged", as for `trec_eval`."""


class Run(NamedTuple):
    """Ranked lists of documents, a row for each document. The rows of a query stand together."""

    qid: NDArray[np.str_]
    """As written: 7 and 07 are two queries."""
    doc_ids: NDArray[np.str_]
    """No document stands twice in a query."""
    scores: NDArray[np.float64]
    """They alone say the ranking; the file's ranks are not read, as `trec_eval` does not read them."""
    tag: str
    """Name of the run."""


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
    ...     load_qrels(path).y
    array([1., 0., 1.])
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
    ...     load_run(path).scores
    array([9.5 , 7.25])
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
        Compressed by gzip if it ends so, ``.gz``. Replaces earlier judgements.
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
    FileExistsError
        If `path` holds something else.

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
    check_order(y=y, qid=qid, doc_ids=doc_ids, labelled=labelled)
    grades = as_floats("y", y)
    judged = np.ones(len(grades), bool) if labelled is None else as_vector("labelled", labelled).astype(bool)
    whole = grades == np.clip(np.floor(grades), 0, 2**31 - 1)
    check_values("y", judged & ~whole, grades, "is not an integer from 0 to 2^31 - 1; rescale, or pass labelled=False")
    queries, documents, code = _ids(qid, doc_ids, len(grades))
    rows = [row for row in np.argsort(code, kind="stable").tolist() if judged[row]]
    _write(path, [f"{queries[row]} 0 {documents[row]} {int(grades[row])}\n" for row in rows])


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
        Compressed by gzip if it ends so, ``.gz``. Replaces an earlier run.
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
    FileExistsError
        If `path` holds something else.

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
    check_order(scores=scores, qid=qid, doc_ids=doc_ids)
    checked = scores_of_rows(scores, len(as_vector("qid", qid)), finite=True)
    (name_of_run,) = _words("tag", [tag])
    queries, documents, code = _ids(qid, doc_ids, len(checked))
    rows = zip(np.lexsort((-checked, code)).tolist(), (places_within(np.bincount(code)) + 1).tolist(), strict=True)
    values = checked.tolist()
    _write(path, [f"{queries[r]} Q0 {documents[r]} {rank} {values[r]!r} {name_of_run}\n" for r, rank in rows])


def join_trec(data: RankingData, *tables: Qrels | Run) -> RankingData:
    """Return data with the grades of qrels as labels, and with the scores of runs as further columns.

    Rows are matched by query and document, as text: the query 7 of a LETOR file is the query "7" of a run. Rows of
    `tables` that the data lack are left out.

    Parameters
    ----------
    data : RankingData
        With `doc_ids`, such as `load_letor` reads from comments; a part of a `Fold`.
    *tables : Qrels or Run
        A row that is not judged, or has a negative grade, gets the label 0: `trec_eval` counts it as not relevant. The
        column of a run has the name of its tag, and NaN where the run lacks the row: trees take it as missing, and
        ``compare(today=)`` judges on complete queries. Its scores are rounded to float32 where `X` is, as of the
        loaders. Features without names are first named "1", "2", …, as LETOR numbers them.

    Returns
    -------
    RankingData

    Warns
    -----
    UserWarning
        If a table lacks rows of the data. The message counts these rows, and the queries without any. If scores that
        differ in a query are equal after rounding.

    Raises
    ------
    ValueError
        If the data are no `RankingData`, or a table is neither `Qrels` nor `Run`. If the data have no `doc_ids`, or a
        row without one, a query has a document twice, a table has no row of the data, or the data have a column of the
        run's name already.

    Examples
    --------
    >>> data = RankingData([[0.5], [0.1]], [0, 0], qid=[7, 7], doc_ids=["D2", "D9"])
    >>> qrels = Qrels(np.array(["7", "7"]), np.array(["D9", "D2"]), np.array([2.0, 0.0]))
    >>> run = Run(np.array(["7", "7"]), np.array(["D9", "D2"]), np.array([8.5, 1.25]), "bm25")
    >>> joined = join_trec(data, qrels, run)
    >>> joined.y, joined.feature_names
    (array([0., 2.]), ('1', 'bm25'))
    >>> joined.X
    array([[0.5 , 1.25],
           [0.1 , 8.5 ]])
    """
    check_instance("data", data, RankingData, "load_letor(…), or each part of a Fold")
    for table in tables:
        if isinstance(table, Run):
            names = (*(data.feature_names or [str(1 + j) for j in range(data.n_features)]), table.tag)
            check_unique(names, "data, with the tag of the run,")
            scores = _values_of_rows(data, f"the run {table.tag!r}", table[:3], "get the score NaN")
            query = data.queries.query_of_row.tolist()
            single = not hasattr(data.X, "iloc") and data.X.dtype == np.float32
            kept = scores.astype(np.float32 if single else float)
            if len({*zip(query, kept, strict=True)}) < len({*zip(query, scores, strict=True)}):
                warn_user(f"unequal scores of the run {table.tag!r} are equal in X's float32; pass X.astype(float)")
            data = replace(data, X=with_column(data.X, table.tag, scores), feature_names=names)
        else:
            check_instance("tables", table, Qrels, "load_qrels(…), or a Run such as load_run(…)")
            grades = _values_of_rows(data, "the qrels", table, "get the label 0")
            data = replace(data, y=np.where(grades > 0, grades, 0.0))
    return data


def _values_of_rows(data: RankingData, name: str, entries: Any, otherwise: str) -> NDArray[np.float64]:
    """Return the value that a table, of queries, documents and values, has for each row of the data, else NaN."""
    if data.doc_ids is None:
        raise ValueError("data have no doc_ids to match; pass RankingData(doc_ids=…), or write '# ID' behind each row")
    rows, (qid, doc_ids, values) = _row_keys("data", data.qid, data.doc_ids, data.n_rows), entries
    table = dict(zip(_row_keys(name, qid, doc_ids, len(values)), as_floats(name, values).tolist(), strict=True))
    found = np.array([row in table for row in rows], bool)
    lacking = data.n_queries - len(np.unique(data.queries.query_of_row[found]))
    what = f"{np.sum(~found):,} of {len(rows):,} rows are missing in {name}"
    if rows and not found.any():
        raise ValueError(f"{what}: it has {shown([*table][:2])}, …, and data {shown(rows[:2])}, …; write the ids alike")
    if not found.all():
        warn_user(f"{what} and {otherwise}; {lacking:,} of {data.n_queries:,} queries have no row there")
    return np.array([table.get(row, math.nan) for row in rows])


def _row_keys(name: str, qid: Any, doc_ids: Any, n_rows: int) -> list[tuple[str, str]]:
    """Return the query and document of each row, as text; no two rows have the same."""
    try:
        return [*zip(*_ids(qid, doc_ids, n_rows)[:2], strict=True)]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _load(path: str | PathLike[str], form: str, at: int) -> tuple[Any, Any, Any, str]:
    """Return query, document and value of each row, the rows of a query together, and the last column of the first.

    Lines read `form`, with the value in column `at`.
    """
    file, names = Path(path), form.split()
    rows: dict[tuple[str, str], float] = {}
    tag = ""
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
                raise line_error(file, line, f'{text} is not "{form}" in UTF-8 with a finite {names[at]}; correct it')
            if (texts[0], texts[2]) in rows:
                what = f"query {shown(texts[0])} has document {shown(texts[2])} already; keep one"
                raise line_error(file, line, what)
            rows[texts[0], texts[2]] = value
            tag = tag or texts[-1]
    if not rows:
        raise ValueError(f'{file} holds no rows; each line must read "{form}"')
    qid, documents = map(texts_of, zip(*rows, strict=True))
    order = np.argsort(_order_of_queries(qid), kind="stable")
    return qid[order], documents[order], np.array([*rows.values()])[order], tag


def _order_of_queries(qid: Any) -> NDArray[np.int64]:
    """Return the number of each row's query, in the order in which they appear first."""
    _, first, code = np.unique(qid, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code]


def _ids(qid: ArrayLike, doc_ids: ArrayLike | None, n_rows: int) -> tuple[list[str], list[str], NDArray[np.int64]]:
    """Return the ids of queries and documents as they are written, and the number of each row's query."""
    queries = _words("qid", qid)
    documents = [*map(str, range(n_rows))] if doc_ids is None else _words("doc_ids", doc_ids)
    if not len(queries) == len(documents) == n_rows:
        raise ValueError(
            f"got {len(queries)} queries, {len(documents)} documents and {n_rows} values; give one per row"
        )
    again, seen = np.zeros(n_rows, bool), set[tuple[str, str]]()
    for row, pair in enumerate(zip(queries, documents, strict=True)):
        again[row] = pair in seen
        seen.add(pair)
    check_values("doc_ids", again, np.array(documents, object), "is a second time in its query; keep one row")
    return queries, documents, _order_of_queries(queries)


def _words(name: str, values: Any) -> list[str]:
    """Return ids as texts. Refuse those that are no column of a line."""
    ids = as_vector(name, values)
    check_exact_ids(name, ids)
    ids = ids.astype(np.str_) if ids.dtype.kind == "S" else ids
    words = [str(int(one)) if isinstance(one, float) and one.is_integer() else str(one) for one in ids.tolist()]
    comment = "#" if name == "qid" else " "  # what a line must not begin with
    bad = [word in _MISSING or " " in word or word.startswith(comment) or not word.isprintable() for word in words]
    check_values(name, np.array(bad, bool), ids, "is missing, no single word, or begins with #; replace it")
    return words


def _write(path: str | PathLike[str], lines: list[str]) -> None:
    content = "".join(lines).encode()
    write_file(path, gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)
