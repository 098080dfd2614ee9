"""Each kind of column in each kind of table gets the scores of the plain array, or is refused by name.

`python tests/inputs/test_what_gets_in.py` writes docs/guides/what_gets_in.md from the same lists.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

for library in ("lightgbm", "xgboost"):
    pytest.importorskip(library)
TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))  # where this file runs as a program

from inputs.cells import ENTRANCES, expected, kinds_of, reference, run_apart  # noqa: E402 (the path comes first)
from inputs.columns import KINDS  # noqa: E402
from inputs.tables import TABLES  # noqa: E402

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
    marks = [pytest.mark.cluster] if entrance.startswith("dask") else []
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


@pytest.mark.parametrize(
    "entrance", [name for name, entrance in ENTRANCES.items() if name != "load_clicks" and not entrance.like]
)
def test_the_numbers_compared_depend_on_the_column(entrance):
    nothing = reference(named=True, entrance=entrance, kind="nothing but missing values")
    for kind in ("float", "categories of texts")[: 1 if entrance == "RankBoostRanker" else 2]:
        assert not np.allclose(reference(named=True, entrance=entrance, kind=kind), nothing, rtol=0, atol=1e-3)


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

BEGINNING = """\
# What gets in

After this page you know which tables and files you can train on, and what becomes of each column.

```python
import numpy as np
import pandas as pd

import boostplug as bp

rng = np.random.default_rng(0)
frame = pd.DataFrame(
    {
        "query_id": np.repeat([f"q{i}" for i in range(50)], 10),
        "price": rng.normal(size=500),
        "in_stock": rng.random(500) < 0.8,
        "brand": pd.Categorical(rng.choice(["A", "B", "C"], 500)),
        "grade": rng.integers(0, 4, 500),
    }
)
ranker = bp.LGBMRanker(objective=bp.QBRank(), n_estimators=20, verbose=-1)
ranker.fit(frame, y="grade", qid="query_id")
scores = ranker.predict(frame)
```

All columns are features, except those that you name as labels, query ids, weights or positions.
`bp.XGBRanker`, the reference rankers, `bp.compare` and `bp.RankingData` take the same tables.
`bp.compare`, `boostplug compare` and `load_clicks` also read files.

## Features

"yes" means that the scores equal those of a float64 array with the same numbers. Missing values are NaN there, and
`True` is 1. "As a category" means that they equal those of a pandas column of the same categories.
A dash: such a table has no such column.

"""

END = """
A refused column raises one `ValueError` before any training. It names the column and the remedy.
`boostplug compare` prints it and exits with status 2.

## What to do about a refused column

| column | remedy |
|---|---|
| text | `frame["brand"] = frame["brand"].astype("category")`, or `frame.drop(columns="brand")` |
| text that holds the query ids | `fit(frame, y="grade", qid="brand")` |
| dates and times | `frame["age"] = (pd.Timestamp("2024-06-01") - frame.pop("day")).dt.days` |
| categories of intervals | `frame["bin"] = frame["bin"].cat.codes` |
| lists, structs | one column for each entry, or `frame.drop(columns="tags")` |
| any, in `bp.compare` | `drop=["brand"]`; on the command line `--drop brand` |

## Rules

- **Query ids are texts, as written.** `007` and `7` are two queries, and `NA` is an id. Only an empty cell is a missing
  id, which is an error.
- **A column has one type, for the entire file and for all parts.** The training part decides. A text in a column of
  numbers is an error if it stands in the test part. Numbers in a column of texts are categories.
- **Text is a category only in CSV and Parquet files.** In a table in memory it is refused, because it may be an id.
- **Reference rankers have no categories.** They refuse such a column by name.
- **Large integers are rounded.** The frameworks read integers beyond 2^53 as float64. A warning names the column.
- **dask.dataframe turns columns of Python objects into text.** Convert decimals and `True`/`False`/`None` before.

See also [bad input and the message it gets](../bad_input.md).
"""

NOTE = "<!-- Made by tests/inputs/test_what_gets_in.py from what the tests check; do not edit. -->\n"


def cell(name, tables):
    """Return what becomes of a kind of column, in the words of the page."""
    kind = KINDS[name]
    holds = [table for table in tables if TABLES[table].holds(kind)]
    if not holds:
        return "–"
    return (kind.words_in_files if TABLES[holds[0]].is_file else "") or kind.words


def page():
    """Return the page."""
    rows = [[name, *(cell(name, tables) for tables in COLUMNS.values())] for name in KINDS]
    lines = [["column", *COLUMNS], ["---"] * (1 + len(COLUMNS)), *rows]
    return NOTE + BEGINNING + "".join(f"| {' | '.join(line)} |\n" for line in lines) + END


def test_the_page_says_what_the_tests_check():
    assert {table for tables in COLUMNS.values() for table in tables} == {*TABLES}
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tests/inputs/test_what_gets_in.py"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
