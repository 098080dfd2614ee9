"""The kinds of a feature column: what each holds, in which tables it occurs, and what becomes of it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa

N_QUERIES, N_DOCUMENTS = 12, 6
_RNG = np.random.default_rng(0)
N_ROWS = N_QUERIES * N_DOCUMENTS
LEVEL = _RNG.integers(0, 4, N_ROWS)  # decides what the column c holds in each row
LEVEL[:4] = range(4)
NUMBERS = {name: np.round(_RNG.normal(size=N_ROWS), 6) for name in "ab"}
# The grades do not grow with the level, so that a model of codes differs from one of categories.
GRADE = ((LEVEL % 2 == 0) ^ (NUMBERS["a"] > 0.9)).astype(float)
QUERY = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
POSITION = np.tile(np.arange(1, N_DOCUMENTS + 1), N_QUERIES)


@dataclass(frozen=True)
class Kind:
    """One kind of column: its value at each of the four levels, and its type in each kind of table."""

    levels: tuple
    becomes: str
    """"number", "category" or "refused"."""
    words: str
    """What the page says of it."""
    arrow: pa.DataType | None = None
    """None: pyarrow has no such column."""
    numpy: str = "object"
    nullable: str | None = None
    in_arrays: bool = False
    in_csv: bool = True
    ordered: bool | None = None
    """Whether the categories have an order; None: the column is no categorical one."""
    becomes_in_files: str = ""
    """Where that is something else."""
    words_in_files: str = ""
    warns: bool = False
    """Whether a warning names the column."""

    def values(self, rows=slice(None)):
        return [self.levels[level] for level in LEVEL[rows]]

    def categorical(self, rows=slice(None)):
        """Return the column as a categorical one of pandas."""
        return pd.Categorical(self.values(rows), categories=pd.Index(self.levels), ordered=bool(self.ordered))

    def reference(self, rows=slice(None)):
        """Return what the plain table holds that each outcome is compared with."""
        if self.ordered is not None:
            return self.categorical(rows)
        if self.becomes == "number":
            return np.array([np.nan if value is None else float(value) for value in self.values(rows)])
        return pd.Categorical(self.values(rows))


def _categories(levels, words="as a category", *, ordered=False, becomes="category", arrow=None):
    if arrow is not None:
        arrow = pa.dictionary(pa.int32(), arrow, ordered=ordered)
    return Kind(tuple(levels), becomes, words, arrow, in_csv=False, ordered=ordered)


DROP = "refused: drop it"
DATES = "refused: drop it, or make it a number"
INTERVALS = pd.cut(np.arange(4), 4).categories
FOUR = ("red", "green", "blue", "grey")
MOMENTS = [datetime(2024, 5, day, 12, tzinfo=UTC) for day in range(1, 5)]

# What the documentation promises: the tests and the page read this table.
KINDS = {
    "float": Kind((0.5, -1.25, 3.0, None), "number", "yes", pa.float64(), "float64", "Float64", in_arrays=True),
    "int": Kind((5, -1, 3, 0), "number", "yes", pa.int64(), "int64", "Int64", in_arrays=True),
    "bool": Kind((True, False, True, False), "number", "as a number", pa.bool_(), "bool", "boolean", in_arrays=True),
    "bool with missing values": Kind(
        (True, False, None, False), "number", "as a number", pa.bool_(), "object", "boolean", in_arrays=True
    ),
    "decimal": Kind(
        tuple(map(Decimal, ("0.50", "-1.25", "3.00", "0.00"))), "number", "as a number", pa.decimal128(6, 2),
        in_arrays=True,
    ),
    "nothing but missing values": Kind((None,) * 4, "number", "yes", pa.null(), "object", "Int64", in_arrays=True),
    "Python numbers, dtype object": Kind((5, 0.5, None, -1), "number", "as a number", in_arrays=True, in_csv=False),
    "integers beyond 2^53": Kind(
        tuple((k + 1) * 2**54 + 1 for k in (2, 0, 3, 1)), "number", "as a number", pa.int64(), "int64",
        "Int64",
    ),
    "categories of texts": _categories(FOUR, arrow=pa.string()),
    "categories of texts in an order": _categories(FOUR, arrow=pa.string(), ordered=True),
    "categories of integers": replace(
        _categories((7, 3, 12, 5), arrow=pa.int64()), becomes_in_files="number", words_in_files="as a number"
    ),
    "categories of intervals": _categories(INTERVALS, "refused: drop it, or number the intervals", becomes="refused"),
    "categories of timestamps": _categories(
        [moment.replace(tzinfo=None) for moment in MOMENTS], DATES, becomes="refused", arrow=pa.timestamp("us")
    ),
    "date": Kind(
        tuple(moment.date() for moment in MOMENTS), "refused", DATES, pa.date32(), "datetime64[us]",
        in_csv=False,
    ),
    "timestamp with time zone": Kind(
        tuple(MOMENTS), "refused", DATES, pa.timestamp("us", tz="UTC"), "datetime64[us, UTC]", in_csv=False,
    ),
    "text": Kind(
        FOUR, "refused", "refused: drop it, or make it a category", pa.string(), "str", "string", in_arrays=True,
        becomes_in_files="category", words_in_files="as a category",
    ),
    "list": Kind(([1.0], [2.0, 3.0], [], [4.0]), "refused", DROP, pa.list_(pa.float64()), in_csv=False),
    "struct": Kind(
        tuple({"x": float(k)} for k in range(4)), "refused", DROP, pa.struct({"x": pa.float64()}), in_csv=False
    ),
}  # fmt: skip
