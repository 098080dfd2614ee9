"""Columns of the features that look like ids, places or row numbers, and texts that were read as categories."""

import re

import numpy as np

from boostplug.comparison.inputs.features import numbers_of_columns
from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import shown
from boostplug.data.inputs import CheckedInputs
from boostplug.data.tables import is_frame, is_number, is_whole, schema_of

_ROWS_TO_JUDGE = 50  # smallest number of rows in which different numbers are no accident
_MOST_GAPS = 10  # a column of row numbers spans at most as many times the rows
_LEAST_SHARE_OF_PLACES = 0.9  # share of the places of the queries that rows must have
_ID_SHARE_OF_QUERIES = 0.5  # values of an id's column, as a share of the queries
_ID_NAME = re.compile(r"(^|[_ .-])(id|Id|ID)$|[a-z]I[dD]$")
_ID_VALUES = 1000  # of a column with the name of an id, also beside more queries
_QUANTITY_SHARE = 0.5  # share of a text column's values
_QUANTITY = re.compile(r"(?:[^\W\d_]{1,4}\.?\s+|[^\W\d_]{0,3}[€$£¥₹.]\s?)?[-+]?\d[\d.,'\s]*(?:[€$£¥₹%]|[^\W\d_]{1,4})?")


def doubts_on_columns(train: CheckedInputs, *, from_file: bool) -> list[str]:
    """Return a warning about each column of places or row numbers, and one about categories and ids.

    Categories of a DataFrame are the user's own, and no warning; those of a file, with `from_file`, were text.
    """
    found, ids, samples = list[str](), list[str](), list[str]()
    least, query = _ID_SHARE_OF_QUERIES * train.queries.n_queries, train.queries.query_of_row
    for place, known in (schema_of(train.X).categories or {}).items() if from_file else ():
        name, sample = str(train.X.columns[place]), shown(min(known, key=is_number, default=None))
        named = bool(_ID_NAME.search(name))
        many = len(known) > (min(least, _ID_VALUES) if named else least)
        n_quantities = sum(isinstance(one, str) and bool(_QUANTITY.fullmatch(one)) for one in known)
        if n_quantities > _QUANTITY_SHARE * len(known) and not (many and named):
            found.append(
                f"Column {name!r} is text ({sample}), and most of it are numbers. As a category they have no order: "
                "write them as 1234.5, without units."
            )
            continue
        ids += [name] * many
        samples.append(f"{name} ({sample}{f', {len(known):,} values' * many})")
    for name, values in numbers_of_columns(train):
        whole = values[~np.isnan(values)]
        if _are_row_numbers(values, query):
            found.append(
                f"Column {name!r} numbers the rows of the table, as an index does that was written with it. If it is "
                f"not a measurement, drop=[{name!r}] (--drop {name})."
            )
        elif _ID_NAME.search(name) and is_whole(whole) and len(np.unique(whole)) > min(least, _ID_VALUES):
            ids.append(name)
        if is_frame(train.X) and (n_repeated := n_repeated_places(values, query)) is not None:
            repeated = f" In {n_repeated:,} rows the number stands in its query twice: are these rows repeated?"
            found.append(
                f"Column {name!r} numbers the rows of each query, as places in a list do. If users saw the rows at "
                f"these places, pass position={name!r} (--position {name}). If not, and if it is no measurement "
                f"either, pass drop=[{name!r}] (--drop {name}).{repeated * bool(n_repeated)}"
            )
    said = [f"Read as categories: {', '.join(samples)}."] * bool(samples)
    if ids:
        like, kind = ", ".join(map(repr, ids)), "looks like an id" if len(ids) == 1 else "look like ids"
        said.append(f"{like} {kind}: drop=[{like}] (--drop {','.join(ids)}).")
    return [*found, " ".join(said)] if said else found


def _are_row_numbers(values: Floats, query: Ints) -> bool:
    """Return whether values are whole numbers, another in each row, that are dense, or sorted in each query.

    Rows that were left out, or went to another part, leave gaps.
    """
    n, span = len(values), float(values.max(initial=-np.inf)) - float(values.min(initial=np.inf)) + 1.0
    if n < _ROWS_TO_JUDGE or not n <= span <= _MOST_GAPS * n or not is_whole(values) or len(np.unique(values)) < n:
        return False
    steps = np.diff(values)[query[1:] == query[:-1]]
    return bool(span <= 2 * n or (steps > 0).all() or (steps < 0).all())


def n_repeated_places(values: Floats, query: Ints) -> int | None:
    """Return how many rows repeat a number where values number the rows of each query from 0 or 1, else None."""
    lowest = values.min(initial=np.inf)
    if len(query) < _ROWS_TO_JUDGE or lowest not in (0, 1) or not 1 < values.max() < np.inf or not is_whole(values):
        return None
    places = np.unique(np.column_stack([query, values]), axis=0)
    is_last = np.r_[places[1:, 0] != places[:-1, 0], True]
    n_places = (places[is_last, 1] - lowest + 1).sum()
    return len(query) - len(places) if len(places) > _LEAST_SHARE_OF_PLACES * max(n_places, len(query)) else None
