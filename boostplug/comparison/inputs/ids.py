"""Columns of the features that look like ids, places or row numbers, and texts that were read as categories."""

import re

import numpy as np

from boostplug.comparison.inputs.columns import columns_of
from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.arrays import Floats
from boostplug.core.checks import shown
from boostplug.data.tables import is_frame, is_number, is_whole, schema_of

_LEAST_ROWS = 50  # smallest number of rows in which different numbers are no accident
_MOST_GAPS = 10  # a column of row numbers spans at most as many times the rows
_DENSE = 0.9  # share of the places of the queries that rows must have
_ID_SHARE = 0.5  # values of an id's column, as a share of the queries
_ID_NAME = re.compile(r"(^|[_ .-])(id|Id|ID)$|[a-z]I[dD]$")
_ID_VALUES = 1000  # of a column with the name of an id, also beside more queries
_MOST_NUMBERS = 0.5  # share of a text column's values
_QUANTITY = re.compile(r"(?:[^\W\d_]{1,4}\.?\s+|[^\W\d_]{0,3}[€$£¥₹.]\s?)?[-+]?\d[\d.,'\s]*(?:[€$£¥₹%]|[^\W\d_]{1,4})?")


def doubts_on_columns(train: DataPart, *, from_file: bool) -> list[str]:
    """Return a warning about each column of places or row numbers, and one about categories and ids.

    Categories of a DataFrame are the user's own, and no warning; those of a file, with `from_file`, were text.
    """
    found, numbers = list[str](), _row_numbers(train)
    for name in numbers:
        found.append(
            f"Column {name!r} numbers the rows of the table, as an index does that was written with it. If it is not a "
            f"measurement, drop=[{name!r}] (--drop {name})."
        )
    for name, n_repeated in _places(train).items():
        repeated = f" In {n_repeated:,} rows the number stands in its query twice: are these rows repeated?" * bool(
            n_repeated
        )
        found.append(
            f"Column {name!r} numbers the rows of each query, as the places where users saw them do. If they are, pass "
            f"position={name!r} (--position {name}); else, if it is not a measurement, drop=[{name!r}] (--drop {name})."
            f"{repeated}"
        )
    ids, samples, least = list[str](), list[str](), _ID_SHARE * train.queries.n_queries
    for place, known in (schema_of(train.X).categories or {}).items() if from_file else ():
        name, sample = str(train.X.columns[place]), shown(min(known, key=is_number, default=None))
        named = bool(_ID_NAME.search(name))
        many = len(known) > (min(least, _ID_VALUES) if named else least)
        n_quantities = sum(isinstance(one, str) and bool(_QUANTITY.fullmatch(one)) for one in known)
        if n_quantities > _MOST_NUMBERS * len(known) and not (many and named):
            found.append(
                f"Column {name!r} is text ({sample}), and most of it are numbers. As a category they have no order: "
                "write them as 1234.5, without units."
            )
            continue
        ids += [name] * many
        samples.append(f"{name} ({sample}{f', {len(known):,} values' * many})")
    for name, values in columns_of(train):
        whole = values[~np.isnan(values)]
        if _ID_NAME.search(name) and name not in numbers and is_whole(whole):
            ids += [name] * (len(np.unique(whole)) > min(least, _ID_VALUES))
    said = [f"Read as categories: {', '.join(samples)}."] * bool(samples)
    if ids:
        like, kind = ", ".join(map(repr, ids)), "looks like an id" if len(ids) == 1 else "look like ids"
        said.append(f"{like} {kind}: drop=[{like}] (--drop {','.join(ids)}).")
    return [*found, " ".join(said)] if said else found


def _row_numbers(part: DataPart) -> list[str]:
    """Return the columns of whole numbers, another in each row, that are dense, or sorted in each query.

    Rows that were left out, or went to another part, leave gaps.
    """
    query, n, found = part.queries.query_of_row, part.queries.n_rows, list[str]()
    for name, values in columns_of(part) if n >= _LEAST_ROWS else ():
        span = float(values.max()) - float(values.min()) + 1.0
        if not n <= span <= _MOST_GAPS * n or not is_whole(values) or len(np.unique(values)) < n:
            continue
        steps = np.diff(values)[query[1:] == query[:-1]]
        if span <= 2 * n or (steps > 0).all() or (steps < 0).all():
            found.append(name)
    return found


def _places(part: DataPart) -> dict[str, int]:
    """Return the columns that number the rows of each query from 0 or 1, and how many rows repeat a number."""
    repeated = {name: n_repeated_places(values, part) for name, values in columns_of(part) if is_frame(part.X)}
    return {name: n for name, n in repeated.items() if n is not None}


def n_repeated_places(values: Floats, part: DataPart) -> int | None:
    """Return how many rows repeat a number where values number the rows of each query from 0 or 1, else None."""
    query, lowest = part.queries.query_of_row, values.min(initial=np.inf)
    if len(query) < _LEAST_ROWS or lowest not in (0, 1) or not 1 < values.max() < np.inf or not is_whole(values):
        return None
    places = np.unique(np.column_stack([query, values]), axis=0)
    is_last = np.r_[places[1:, 0] != places[:-1, 0], True]
    n_places = (places[is_last, 1] - lowest + 1).sum()
    return len(query) - len(places) if len(places) > _DENSE * max(n_places, len(query)) else None
