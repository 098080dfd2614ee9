"""Each kind of column in each kind of table gets the scores of the plain array, or is refused by name.

`python tests/inputs/test_what_gets_in.py` writes the table of docs/guides/what_gets_in.md from the same lists.
"""

import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from boostplug.data.files import read_table_file
from boostplug.data.tables import read_features

for library in ("lightgbm", "xgboost"):
    pytest.importorskip(library)
TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))  # where this file runs as a program

from inputs.cells import ENTRANCES, expected, kinds_of, reference, run_apart  # noqa: E402 (the path comes first)
from inputs.columns import KINDS  # noqa: E402
from inputs.tables import TABLES, Input  # noqa: E402

PAGE = TESTS.parent / "docs" / "guides" / "what_gets_in.md"
PAIRS = [(table, entrance) for table in TABLES for entrance in ENTRANCES if ENTRANCES[entrance].takes(table)]


def process_of(table, entrance):
    """Return which of the few processes runs the cells of a table at an entrance."""
    if entrance.startswith("dask"):
        return "dask"
    if TABLES[table].is_file:
        return "files"
    return "arrays" if not TABLES[table].named else "pandas" if table.startswith("pandas") else "arrow"


@cache
def outcomes(process):
    pairs = [pair for pair in PAIRS if process_of(*pair) == process]
    return run_apart([(*pair, kind) for pair in pairs for kind in kinds_of(pair[0])])


def marked(table, entrance):
    marks = [pytest.mark.ci, *([pytest.mark.cluster] if entrance.startswith("dask") else [])]
    return pytest.param(table, entrance, id=f"{table}: {entrance}", marks=marks)


@pytest.mark.parametrize(("table", "entrance"), [marked(*pair) for pair in PAIRS])
def test_a_column_gets_the_scores_of_the_plain_array_or_is_refused_by_name(table, entrance):
    if entrance.startswith("dask"):
        pytest.importorskip("distributed")
    found = outcomes(process_of(table, entrance))
    wanted = {kind: expected(table, entrance, kind) for kind in kinds_of(table)}
    wrong = [
        f"{kind}: {found[table, entrance, kind]} (expected: {outcome})"
        for kind, outcome in wanted.items()
        if found[table, entrance, kind] != outcome
    ]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(wanted)} cells are wrong", *wrong])


@pytest.mark.ci
@pytest.mark.parametrize(
    "entrance", [name for name, entrance in ENTRANCES.items() if name != "load_clicks" and not entrance.like]
)
def test_the_numbers_compared_depend_on_the_column(entrance):
    nothing = reference(named=True, entrance=entrance, kind="nothing but missing values")
    for kind in ("float", "categories of texts")[: 1 if entrance == "RankBoostRanker" else 2]:
        assert not np.allclose(reference(named=True, entrance=entrance, kind=kind), nothing, rtol=0, atol=1e-3)


@pytest.mark.parametrize("table", [name for name in TABLES if name != "LETOR file"])
def test_a_table_is_read_as_its_plain_form_or_refused_by_name(table, tmp_path):
    for name in kinds_of(table):
        given = Input(TABLES[table], KINDS[name], tmp_path)
        becomes = expected(table, "", name)
        X = read_table_file(given.whole()) if TABLES[table].is_file else given.features()
        context = pytest.warns(UserWarning, match="'c'") if KINDS[name].warns and TABLES[table].named else nullcontext()
        if becomes == "refused":
            with pytest.raises(ValueError, match=rf"(?=.*{'.c.' if TABLES[table].named else '2'})(?=.*(drop|convert))"):
                read_features(X)
            continue
        with context:
            X = read_features(X)
        found = X["c"] if hasattr(X, "iloc") else (X.toarray() if hasattr(X, "nnz") else X)[:, 2]
        plain = KINDS[name].reference()
        if isinstance(plain, pd.Categorical):
            assert found.cat.ordered == plain.ordered, name
            assert [str(one) for one in found] == [str(one) for one in plain], name
        else:
            np.testing.assert_array_equal(np.asarray(found, float), plain, err_msg=name)


# --- the page -----------------------------------------------------------------------------------------------------

COLUMNS = {  # of the table on the page; tables that never disagree share one
    "lists, NumPy": ("list of lists", "NumPy array"),
    "SciPy sparse": ("SciPy sparse matrix",),
    "pandas": ("pandas", "pandas, nullable types", "pandas, Arrow types"),
    "polars": ("polars",),
    "pyarrow": ("pyarrow",),
    "CSV": ("CSV file",),
    "Parquet": ("Parquet file",),
    "LETOR": ("LETOR file",),
}

BEGIN, END = "<!-- Made by tests/inputs/test_what_gets_in.py; do not edit. -->\n", "<!-- End of the table. -->\n"


def cell(name, tables):
    """Return what becomes of a kind of column, in the words of the page."""
    kind = KINDS[name]
    holds = [table for table in tables if TABLES[table].holds(kind)]
    if not holds:
        return "–"
    return (kind.words_in_files if TABLES[holds[0]].is_file else "") or kind.words


def with_table(text):
    """Return the text of the page with the table that the lists make."""
    rows = [[name, *(cell(name, tables) for tables in COLUMNS.values())] for name in KINDS]
    lines = [["column", *COLUMNS], ["---"] * (1 + len(COLUMNS)), *rows]
    before, _, rest = text.partition(BEGIN)
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


def test_the_page_says_what_the_tests_check():
    assert {table for tables in COLUMNS.values() for table in tables} == {*TABLES}
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_table(text), "run python tests/inputs/test_what_gets_in.py"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
