"""Leaks: columns that say what the labels are, as those do that are known only after a list was shown."""

from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.formats import short
from boostplug.comparison.inputs.clicks import IPS
from boostplug.comparison.inputs.columns import PARTS, TODAY, DataFolds, TableColumns
from boostplug.comparison.inputs.features import first_queries, names_of_features, numbers_of_columns, share_in_order
from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import shown
from boostplug.data.inputs import CheckedInputs
from boostplug.data.tables import schema_of
from boostplug.metrics import Metric
from boostplug.metrics.metric import MetricOnLabel

# A leak does one of three things. On 75 kinds of labels of 12 data sets the features that come closest order .67 of the
# steps, mark .94 of the relevant rows and .54 of the others, and have no value of which .95 of the rows are relevant.
_IN_ORDER, _LEAST_STEPS_IN_ORDER = 0.98, 60  # it orders so many of the steps between labels as they are
_OF_RELEVANT, _OF_OTHERS = 0.95, 0.2  # it marks so many of the relevant rows, and at most so many of the others
_DOUBTED = 0.5  # of the others: a search engine's features may come to that, so it is only a warning
_SURE, _RATIO = 0.95, 0.01  # of the rows it marks so many are relevant, and others are so much rarer marked
_LEAST_ROWS_MARKED = 20  # relevant ones, others, and others that chance would have marked
# In a part behind the first one: of many looks at few rows, some mislead; and looking at fewer values saves time.
_LEAST_LATER, _OF_LATER = 100, 0.1  # rows, and share of the values
_MOST_BASE = 0.7  # share of relevant rows beyond which a mark says little
_MOST_KINDS = 20  # of values that are looked at one by one
_MOST_LEVELS = 10  # labels above which rows count as relevant
_CLOSE_TO_BEST = 0.02  # difference of the metric
_MOST_COLUMNS_NAMED, _MOST_VALUES_SHOWN = 5, 3
_TAIL_SHARE = 0.05  # share of the rows of a part that may lie beyond the next part's


class Leaks(NamedTuple):
    """What to say of columns that may not be known before a list is shown.

    Attributes
    ----------
    warnings : sequence of str
    reasons : sequence of str
        Why a comparison with these columns cannot be relied on.
    others : sequence of (str, float)
        The columns about which there is no warning, with their validation values.
    """

    warnings: Sequence[str] = ()
    reasons: Sequence[str] = ()
    others: Sequence[tuple[str, float]] = ()


def find_leaks(folds: DataFolds, alone: Mapping[str, float], metric: Metric, columns: TableColumns) -> Leaks:
    """Return what to say of columns that may not be known before a list is shown.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    alone : mapping of str to float
        Validation value of each column, and of "-COLUMN".
    metric : Metric
    columns : TableColumns
        Has the columns to keep, the score in use, and whether the parts follow each other in time.
    """
    train, found, reasons, leaking = folds[0][0], list[str](), list[str](), dict[str, str]()
    others = list[tuple[str, float]]()
    parts = [part for fold in folds if fold[0].X.shape[1] == train.X.shape[1] for part in fold]
    of_metric = [metric.label] if isinstance(metric, MetricOnLabel) and metric.label != IPS else []
    labels = [_Labels(part, k, label) for label in (None, *of_metric) for k, part in enumerate(parts)]
    names, in_use = names_of_features(train), (columns.today or "").removeprefix("-")
    sign = 1.0 if metric.greater_is_better else -1.0
    if in_use and in_use not in columns.keep:
        is_leak, what = labels[0].relation(train.queries.labels_by_name[TODAY])
        keep = f", or pass keep=[{in_use!r}] (--keep {in_use}) if this did" * (in_use != "order")
        remedy = f"name what ranked the lists before the labels were known{keep}"
        reasons += [f"the score in use, today={columns.today!r}, {what}; {remedy}"] * is_leak
    for of_parts in zip(*(numbers_of_columns(part, codes=True) for part in parts), strict=True):
        name = of_parts[0][0]
        if name in columns.keep:
            continue
        found_in = [of_part.relation(values, name) for of_part, (_, values) in zip(labels, cycle(of_parts))]
        # Of what is no leak but a doubt, only the first training part counts.
        is_leak, what = next((one for one in found_in if one[0]), found_in[0])
        if is_leak and name != in_use:
            leaking[name] = f"the column {name!r} {what}"
        by_time = columns.by_query.time and not labels[0].texts.get(name)
        if by_time and _grows([values for _, values in of_parts[:3]]):
            what = f"{what} and " * bool(what) + "grows with the time of the rows, which later rows exceed"
        value = max((alone[n] for n in (name, f"-{name}") if n in alone), key=lambda v: sign * v, default=None)
        if what:
            remedy = f": drop=[{name!r}] (--drop {name})" * bool(names)
            figure = "" if value is None else f"; alone it has {metric.name} {short(value)} on validation"
            what = f"Column {name!r} {what}{figure}"
            found.append(f"{what}. Is it known before the list is shown? If not, leave it out{remedy}.")
        elif value is not None and name != in_use:
            others.append((name, value))
    if leaking:
        reasons += _first([*leaking.values()])
        reasons[-1] += f"; {_remedy([*leaking])}" if names else "; leave out what is not known before the list is shown"
    return Leaks(found, reasons, others)


def notes_on_strong_columns(leaks: Leaks, best: float, metric: Metric) -> list[str]:
    """Return a note on columns that rank almost as well alone as the best trained method, whose value is `best`."""
    sign = 1.0 if metric.greater_is_better else -1.0
    strong = [f"{name!r} ({short(value)})" for name, value in leaks.others if sign * (best - value) <= _CLOSE_TO_BEST]
    note = (
        f"Alone within {_CLOSE_TO_BEST:g} of the best model (validation {metric.name} {short(best)}): column "
        f"{', '.join(_first(strong))}. Is it known before the list is shown, as a text match is and clicks are not?"
    )
    return [note] if strong else []


def _remedy(names: Sequence[str]) -> str:
    """Return what to do about columns that leak."""
    it, known = ("it", "it is") if len(names) == 1 else ("them", "they are")
    more = ", …" * (len(names) > _MOST_COLUMNS_NAMED)
    listed, option = (
        f"[{', '.join(map(repr, names[:_MOST_COLUMNS_NAMED]))}{more}]",
        f"{','.join(names[:_MOST_COLUMNS_NAMED])}{more}",
    )
    keep = f"pass keep={listed} (--keep {option}) if {known} known before the list is shown"
    return f"drop {it} (drop={listed}, --drop {option}), or {keep}"


def _first(several: Sequence[str]) -> list[str]:
    """Return the first of several, and the number of the others."""
    more = len(several) - _MOST_COLUMNS_NAMED
    return [*several[:_MOST_COLUMNS_NAMED], *[f"and {more} more"] * (more > 0)]


Level = tuple[float, Ints, NDArray[np.bool_], Floats]
"""A level, the rows of queries with labels above it and others, which are above, and the share of others by query."""


class _Labels:
    """The labels of a part's first queries, and what its columns tell of them."""

    def __init__(self, part: CheckedInputs, number: int, label: str | None) -> None:
        queries, categories = first_queries(part, _OF_LATER if number else 1.0), schema_of(part.X).categories or {}
        queries, self.what = (queries, "label") if label is None else (queries.on(label), f"label {label!r}")
        self.part, self.least = PARTS[number % len(PARTS)], _LEAST_LATER if number else _LEAST_ROWS_MARKED
        self.texts = {name: categories.get(place) for place, name in enumerate(map(str, names_of_features(part) or ()))}
        self.queries, self.levels = queries, list[Level]()
        rows = np.flatnonzero(queries.judged)
        query, labels = queries.query_of_row[rows], queries.labels[rows]
        known = np.unique(labels)
        for level in known[: -1 : max(1, len(known) // _MOST_LEVELS)]:
            relevant = labels > level
            share = (np.bincount(query, ~relevant) / np.maximum(np.bincount(query), 1))[query]
            has_both = (share > 0.0) & (share < 1.0)
            n = int((relevant & has_both).sum())
            if min(n, has_both.sum() - n) >= self.least and relevant.mean() <= _MOST_BASE:
                self.levels.append((level, rows[has_both], relevant[has_both], share[has_both]))

    def relation(self, values: Floats, name: str = "") -> tuple[bool, str]:
        """Return whether a column leaks, and what it tells of the labels; values of texts are their places."""
        values, texts = values[: self.queries.n_rows], self.texts.get(name)
        if np.count_nonzero(values) < _LEAST_ROWS_MARKED:  # as most columns of sparse features
            return False, ""
        orders = {f"as the {self.what} does": values, f"against the {self.what}": -values} if texts is None else {}
        for how, scores in orders.items():
            share = share_in_order(scores, self.queries, _LEAST_STEPS_IN_ORDER)
            if share >= _IN_ORDER:
                rows = "the rows of each query" + f" of {self.part}" * (self.part != PARTS[0])
                where = f", at {100 * share:.3g} % of the steps from one label to the next" * (share < 1.0)
                return True, f"ranks {rows} {how}{where}"
        kinds, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        unusual = (codes != counts.argmax()).astype(np.int64)
        codes = codes if len(kinds) <= _MOST_KINDS else unusual
        of_part = codes if texts else unusual  # the highest number of a good feature may be relevant for sure
        found = [self._mark(level, values, texts, codes, of_part) for level in self.levels]
        return max(found, key=lambda of_level: (of_level[0], bool(of_level[1])), default=(False, ""))

    def _mark(
        self, level: Level, values: Floats, texts: Sequence[Any] | None, codes: Ints, of_part: Ints
    ) -> tuple[bool, str]:
        """Return whether a column leaks, and how it marks the relevant rows by its codes, or a part of them."""
        least, rows, relevant, share_of_others = level
        base, above = float(relevant.mean()), f"a {self.what} above {least:g}"
        marked, of_relevant, of_others = self._marked(codes[rows], relevant, base)
        if of_relevant >= _OF_RELEVANT and of_others <= _DOUBTED:
            where = f"{100 * of_relevant:.3g} % of the {relevant.sum():,} rows of {self.part} with {above}"
            what = _shown(values[rows], marked, texts)
            return of_others <= _OF_OTHERS, f"is {what} in {where}, and in {100 * of_others:.2g} % of the others"
        marked, of_relevant, of_others = self._marked(of_part[rows], relevant, _SURE)
        if share_of_others[marked].sum() < self.least or of_others > _RATIO * of_relevant:
            return False, ""
        sure = f"{100 * relevant[marked].mean():.3g} %"
        where = f"{marked.sum():,} rows of {self.part}, of which {sure} have {above}"
        return True, f"is {_shown(values[rows], marked, texts)} in {where} (of all rows {100 * base:.2g} %)"

    def _marked(self, codes: Ints, relevant: NDArray[np.bool_], least: float) -> tuple[NDArray[np.bool_], float, float]:
        """Return the rows with values of which more than a share is relevant, as shares of relevant rows and others."""
        n = np.bincount(codes)
        marked = ((np.bincount(codes, relevant) > least * n) & (n >= self.least))[codes]
        return marked, float(marked[relevant].mean()), float(marked[~relevant].mean())


def _shown(values: Floats, marked: NDArray[np.bool_], texts: Sequence[Any] | None) -> str:
    """Return what the values of the marked rows have in common."""
    kinds, (others, counts) = np.unique(values[marked]), np.unique(values[~marked], return_counts=True)
    if texts is None and np.nan_to_num(others[counts.argmax()]) == 0.0 and np.nan_to_num(kinds).all():
        return "nonzero"
    if len(kinds) > _MOST_VALUES_SHOWN:
        return f"one of {len(kinds):,} values"
    return " or ".join("missing" if np.isnan(k) else shown(texts[int(k)]) if texts else f"{k:g}" for k in kinds)


def _grows(parts: Sequence[Floats]) -> bool:
    """Return whether almost all values of each part are above those of the part before."""
    ends = [np.nanquantile(values, (_TAIL_SHARE, 1.0 - _TAIL_SHARE)) for values in parts if not np.isnan(values).all()]
    return len(ends) == len(parts) and all(low[1] < high[0] for low, high in pairwise(ends))
