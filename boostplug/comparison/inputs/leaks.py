"""Leaks: columns that say what the labels are, as those do that are known only after a list was shown."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.columns import LabelSteps, columns_of, first_queries, names_of
from boostplug.comparison.inputs.frames import TODAY
from boostplug.comparison.report.formats import short
from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import shown
from boostplug.data.queries import Queries
from boostplug.data.tables import schema_of
from boostplug.metrics import Metric

# No feature of the real sets in tests/comparison/test_leaks.py comes near: it says how far away they are.
_LEAST_STEPS, _IN_ORDER = 100, 0.98  # a leak has this share of the steps between labels in order
_LEAST_ROWS, _MOST_RELEVANT = 20, 0.95  # or marks this share of the relevant rows
_MOST_OTHERS, _FEW_OTHERS = 0.5, 0.2  # and at most this share of the others: a doubt, and a leak
_OF_VALUE, _FAULTS = 0.95, 0.01  # or has values of which so many rows are relevant, and that so few others have
_MOST_BASE = 0.7  # share of relevant rows beyond which a mark says little
_MOST_KINDS = 20  # of values that are looked at one by one
_MOST_LEVELS = 10  # labels above which rows count as relevant
_CLOSE = 0.02  # to the best model
_MOST_NAMED, _MOST_SHOWN = 5, 3
_TAIL = 0.05  # share of the rows of a part that may lie beyond the next part's


class Leaks(NamedTuple):
    """What to say of columns that may not be known before a list is shown."""

    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    """On columns that rank well by themselves."""
    reasons: Sequence[str] = ()
    """Why a comparison with these columns cannot be relied on."""


def leaks(
    folds: Sequence[Sequence[DataPart]],
    alone: Mapping[str, float],
    best: float | None,
    metric: Metric,
    *,
    by_time: bool,
    keep: Collection[str] = (),
    today: str | None = None,
) -> Leaks:
    """Return warnings, notes and reasons about columns that may not be known before a list is shown.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    alone : mapping of str to float
        Validation value of each column, and of "-COLUMN".
    best : float or None
        That of the best trained method.
    metric : Metric
    by_time : bool
        Whether the parts follow each other in time.
    keep : collection of str
        Columns that are known before the list is shown.
    today : str, optional
        The score in use, as `compare` takes it; it need not be a feature.
    """
    train, found, strong, reasons = folds[0][0], list[str](), list[str](), list[str]()
    labels, names, in_use = _Labels(first_queries(train)), names_of(train), (today or "").removeprefix("-")
    texts = {str(names[place]): known for place, known in (schema_of(train.X).categories or {}).items()}
    sign = 1.0 if metric.greater_is_better else -1.0
    for of_parts in zip(*(columns_of(part, codes=True) for part in folds[0]), strict=True):
        name, values = of_parts[0]
        if name in keep:
            continue
        what, is_leak = labels.told_by(values, texts.get(name))
        if is_leak and name != in_use:
            reasons.append(f"the column {name!r} {what}; {_remedy(name) if names else 'leave it out'}")
        if by_time and name not in texts and _grows([of_part[1] for of_part in of_parts]):
            what = f"{what} and " * bool(what) + "grows with the time of the rows, which later rows exceed"
        value = max((alone[n] for n in (name, f"-{name}") if n in alone), key=lambda v: sign * v, default=None)
        if what:
            remedy = f": drop=[{name!r}] (--drop {name})" * bool(names)
            figure = "" if value is None else f"; alone it has {metric.name} {short(value)} on validation"
            what = f"Column {name!r} {what}{figure}"
            found.append(f"{what}. Is it known before the list is shown? If not, leave it out{remedy}.")
        elif best is not None and value is not None and sign * (best - value) <= _CLOSE:
            strong.append(f"{name!r} ({short(value)})")
    if in_use and in_use not in keep:
        what, is_leak = labels.told_by(train.queries.labels_by_name[TODAY], None)
        title = "the order of the rows" if today == "order" else f"the column {in_use!r}"
        remedy = "name the score that ranked the lists" if today == "order" else _remedy(in_use)
        reasons[:0] = [f"{title}, which today names as the score in use, {what}; {remedy}"] * is_leak
    more = len(reasons) - _MOST_NAMED
    reasons[_MOST_NAMED:] = [f"and {more} more, which the warnings name"] * (more > 0)
    return Leaks(found, _note(strong, best, metric), reasons)


def _remedy(name: str) -> str:
    keep = f"keep=[{name!r}] (--keep {name}) if it is known before the list is shown"
    return f"drop it (drop=[{name!r}], --drop {name}), or pass {keep}"


def _note(strong: Sequence[str], best: float | None, metric: Metric) -> list[str]:
    """Return a note on the columns that alone are nearly as good as the best model."""
    if not strong or best is None:
        return []
    more = f" and {len(strong) - _MOST_NAMED} more" * (len(strong) > _MOST_NAMED)
    note = (
        f"Alone within {_CLOSE:g} of the best model (validation {metric.name} {short(best)}): column "
        f"{', '.join(strong[:_MOST_NAMED])}{more}. Is it known before the list is shown, as a text match is and "
        "clicks are not?"
    )
    return [note]


class _Labels:
    """The labels of queries, and what columns tell of them."""

    def __init__(self, queries: Queries) -> None:
        self.n_rows, self.steps, self.levels = queries.n_rows, LabelSteps.of(queries), list[_Level]()
        judged, query, n = queries.judged, queries.query_of_row, queries.n_queries
        known = np.unique(queries.labels[judged])
        for level in known[: -1 : max(1, len(known) // _MOST_LEVELS)]:
            relevant = queries.labels > level
            has_both = np.bincount(query[judged & relevant], minlength=n) > 0
            has_both &= np.bincount(query[judged & ~relevant], minlength=n) > 0
            rows = np.flatnonzero(judged & has_both[query])
            n_relevant = int(relevant[rows].sum())
            is_rare = relevant[judged].mean() <= _MOST_BASE
            if is_rare and min(n_relevant, len(rows) - n_relevant) >= _LEAST_ROWS:
                self.levels.append(_Level(level, level == known[0], rows, relevant[rows], query[rows] % 2 == 0))

    def told_by(self, values: Floats, texts: Sequence[Any] | None) -> tuple[str, bool]:
        """Return what a column tells of the labels, "" if little, and whether it is a leak.

        Parameters
        ----------
        values : ndarray
            The numbers of the column, or the codes of its categories.
        texts : sequence or None
            The categories.
        """
        values, doubt = values[: self.n_rows], ""
        if texts is None and self.steps.is_step.sum() >= _LEAST_STEPS:
            for how, scores in (("as the label does", values), ("against the label", -values)):
                share = self.steps.share_in_order(scores)
                if share == 1.0:
                    return f"ranks the rows of each query exactly {how}", True
                if share >= _IN_ORDER:
                    return f"ranks the rows {how}, at {100 * share:.3g} % of the steps between labels of a query", True
        codes = _codes(values)
        for level in self.levels if codes.any() else ():
            what, is_leak = level.told_by(values[level.rows], codes[level.rows], texts)
            if is_leak:
                return what, True
            doubt = doubt or what
        return doubt, False


class _Level(NamedTuple):
    """The rows of the queries that have labels above a level, and others."""

    level: float
    is_lowest: bool
    rows: Ints
    relevant: NDArray[np.bool_]
    is_even: NDArray[np.bool_]
    """Whether the query of each row has an even number."""

    def told_by(self, values: Floats, codes: Ints, texts: Sequence[Any] | None) -> tuple[str, bool]:
        """Return how a column marks the relevant rows, "" if it does not, and whether it is a leak."""
        base, above = float(self.relevant.mean()), f"a label above {self.level:g}"
        marked, of_relevant, of_others = self._marked(codes, base)
        if of_relevant >= _MOST_RELEVANT and of_others <= _MOST_OTHERS:
            where = f"{100 * of_relevant:.3g} % of the {self.relevant.sum():,} rows of train with {above}"
            what = f"is {_shown(values, marked, texts)} in {where}, and in {100 * of_others:.2g} % of the others"
            return what, of_others <= _FEW_OTHERS
        if not self.is_lowest:
            return "", False
        marked, of_relevant, of_others = self._marked(codes, _OF_VALUE)
        n = int(marked.sum())
        if n * (1.0 - base) < _LEAST_ROWS or of_others > _FAULTS * of_relevant:
            return "", False
        shares = f"{100 * self.relevant[marked].mean():.3g} % have {above} (of all rows {100 * base:.2g} %)"
        return f"is {_shown(values, marked, texts)} in {n:,} rows of train, of which {shares}", True

    def _marked(self, codes: Ints, least: float) -> tuple[NDArray[np.bool_], float, float]:
        """Return the rows with values that mark relevant rows, and their shares of the relevant rows and of the others.

        More than a share `least` of the rows with such a value are relevant, in the other half of the queries: an id
        that stands in one query marks nothing.
        """
        marked = np.zeros(len(codes), bool)
        for here in (self.is_even, ~self.is_even):
            n = np.bincount(codes[~here], minlength=codes.max() + 1)
            n_relevant = np.bincount(codes[~here], self.relevant[~here], len(n))
            marked[here] = (n_relevant > least * n)[codes[here]]
        return marked, float(marked[self.relevant].mean()), float(marked[~self.relevant].mean())


def _codes(values: Floats) -> Ints:
    """Return a number for each value; if there are many, whether it is another than the most frequent one."""
    kinds, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return codes if len(kinds) <= _MOST_KINDS else (codes != counts.argmax()).astype(np.int64)


def _shown(values: Floats, marked: NDArray[np.bool_], texts: Sequence[Any] | None) -> str:
    """Return what the values of the marked rows have in common."""

    def name(value: float) -> str:
        if np.isnan(value) or (texts is not None and value < 0):
            return "missing"
        return f"{value:g}" if texts is None else shown(texts[int(value)])

    kinds, (others, counts) = np.unique(values[marked]), np.unique(values[~marked], return_counts=True)
    if texts is None and np.nan_to_num(others[counts.argmax()]) == 0.0 and np.nan_to_num(kinds).all():
        return "nonzero"
    if len(others) == 1 and (len(kinds) > _MOST_SHOWN or name(others[0]) == "missing"):
        return f"not {name(others[0])}"
    return " or ".join([*map(name, kinds[:_MOST_SHOWN]), *["others"] * (len(kinds) > _MOST_SHOWN)])


def _grows(parts: Sequence[Floats]) -> bool:
    """Return whether almost all values of each part are above those of the part before."""
    ends = [np.nanquantile(values, (_TAIL, 1.0 - _TAIL)) for values in parts if not np.isnan(values).all()]
    return len(ends) == len(parts) and all(low[1] < high[0] for low, high in pairwise(ends))
