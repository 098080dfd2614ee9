"""`Queries`: the documents of a ranking data set with their grades, queries and weights."""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.cached import cached_property
from boostplug.core.checks import Immutable, as_floats, as_vector, check_order, check_values, frozen, shown
from boostplug.data.boundaries import boundaries_of, row_weight_of, sizes_of
from boostplug.data.grade_groups import GradeGroups, JudgedLists, ListedPairs, distinct, roots_and_unit
from boostplug.data.named_labels import named_labels
from boostplug.data.pairs import Pairs
from boostplug.data.positions import as_positions

_R = TypeVar("_R")
_NOTHING: Any = object()
_LEAST_SHARE = 1e-300  # lower bound of a pair's weight relative to the largest, so that no positive weight becomes 0


@final
class Queries(Immutable):
    """Grades, query boundaries and weights of a ranking data set. Immutable.

    Parameters
    ----------
    labels : array-like of shape (n_rows,), or None
        Grades: finite real numbers, higher is better. They may be negative, fractional or huge. None: no row is
        labelled, and `pairs` or `labels_by_name` must be given.
    group : array-like of shape (n_queries,), optional
        Sizes of the queries in row order. Exactly one of `group` and `qid` is given.
    qid : array-like of shape (n_rows,), optional
        Query id of each row (numbers or strings). The rows of a query must be contiguous.
    weight : array-like of shape (n_queries,) or (n_rows,), optional
        Weights per query or per row (per row if both fit), each 0 or from 1e-100 to 1e100. The weight of the pair
        (i, j) is √(w_i w_j); weight 0 removes a row. A pandas Series of weights per query whose index holds the ids in
        `qid` is matched by them.
    pairs : Pairs, optional
        Explicit preference pairs of rows. Losses on pairs then use them in place of pairs from the grades.
    labelled : array-like of bool of shape (n_rows,), optional
        False for rows without a label. Losses and metrics ignore them where they read labels. In `labels` they may have
        NaN or None, which becomes 0. Default: all True.
    labels_by_name : mapping of str to array-like of shape (n_rows,), optional
        Additional labels of the rows, such as clicks and sales. A loss or metric reads one of them after
        ``loss.on("sale")``. NaN: the row has no such label.
    position : array-like of int of shape (n_rows,), optional
        Position of each row on the page that the user saw, from 1; for losses that learn from clicks (`Unbiased`).

    Attributes
    ----------
    n_queries, n_rows : int
    boundaries : ndarray of shape (n_queries + 1,), int64
        Query q holds the rows ``boundaries[q]:boundaries[q + 1]``.
    group : ndarray of shape (n_queries,), int64
        Their sizes.
    labels : ndarray of shape (n_rows,), float64
    row_weight : ndarray of shape (n_rows,), float64, or None
        None if all weights are 1.
    labelled : ndarray of shape (n_rows,), bool, or None
        None if every row is labelled.
    pairs : Pairs or None
    labels_by_name : mapping of str to ndarray of shape (n_rows,), float64
    position : ndarray of shape (n_rows,), int64, or None

    Raises
    ------
    ValueError
        If an argument has the wrong shape or an invalid value; the message names argument, value and remedy.

    Examples
    --------
    >>> queries = Queries([2, 0, 1, 1], group=[3, 1])
    >>> queries
    Queries(n_queries=2, n_rows=4)
    >>> queries.boundaries
    array([0, 3, 4])
    """

    n_queries: int
    n_rows: int
    boundaries: Ints
    labels: Floats
    row_weight: Floats | None
    labelled: NDArray[np.bool_] | None
    pairs: Pairs | None
    labels_by_name: Mapping[str, Floats]
    position: Ints | None
    position_is_rank: bool
    """False for LightGBM's ``Dataset(position=…)``, which keeps positions as categories in order of appearance."""

    def __init__(
        self,
        labels: ArrayLike | None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        pairs: Pairs | None = None,
        labelled: ArrayLike | None = None,
        labels_by_name: Mapping[str, ArrayLike] | None = None,
        position: ArrayLike | None = None,
    ) -> None:
        if pairs is not None and not isinstance(pairs, Pairs):
            raise ValueError(f"pairs must be a boostplug.Pairs(winner, loser), got {type(pairs).__name__}")
        rows = {"labelled": labelled, "labels_by_name": labels_by_name, "position": position}
        check_order(labels=labels, qid=qid, weight=weight, **rows)
        if labels is None:
            if pairs is None and not labels_by_name:
                raise ValueError("labels is None; pass the grade of each row, or pairs= or labels_by_name=")
            n_rows = _n_rows(group, qid)
            mask = as_labelled(labelled, n_rows)
            if labelled is not None and (mask is None or mask.any()) and n_rows:
                raise ValueError("labelled is True for some rows, but labels is None; pass the labels")
            y, labelled = np.zeros(n_rows), np.zeros(n_rows, bool)
        else:
            y = as_labels("labels", labels, labelled)
        boundaries = boundaries_of(group, qid, len(y))
        self.__dict__.update(
            labels=frozen(y),
            boundaries=boundaries,
            n_rows=len(y),
            n_queries=len(boundaries) - 1,
            row_weight=row_weight_of(weight, boundaries, qid),
            labelled=as_labelled(labelled, len(y)),
            pairs=pairs,
            labels_by_name=MappingProxyType(named_labels({} if labels_by_name is None else labels_by_name, len(y))),
            position=None if position is None else as_positions(position, len(y)),
            position_is_rank=True,
        )
        if pairs is not None:
            pairs.check_rows(len(y))

    def __repr__(self) -> str:
        weighted = "" if self.row_weight is None else ", weighted"
        paired = "" if self.pairs is None else f", n_pairs={len(self.pairs)}"
        return f"Queries(n_queries={self.n_queries}, n_rows={self.n_rows}{paired}{weighted})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Queries, **self._arguments()), (), {"position_is_rank": self.position_is_rank}

    def _arguments(self) -> dict[str, Any]:
        return {
            "labels": self.labels,
            "group": self.group,
            "weight": self.row_weight,
            "pairs": self.pairs,
            "labelled": self.labelled,
            "labels_by_name": dict(self.labels_by_name),
            "position": self.position,
        }

    def replaced(self, **arguments: Any) -> "Queries":
        """Return a copy with other arguments of the constructor."""
        out = Queries(**self._arguments() | arguments)
        out.__dict__["position_is_rank"] = self.position_is_rank
        return out

    def on(self, label: str) -> "Queries":
        """Return the same queries with one of `labels_by_name` as their labels, and without pairs; cached.

        Raises
        ------
        ValueError
            If there is no such label; the message lists the existing ones.
        """
        return self.remember(("on", label), lambda: self._on(label), limit=64)

    def _on(self, label: str) -> "Queries":
        if label not in self.labels_by_name:
            there = ", ".join(map(repr, self.labels_by_name)) or "none: pass labels= or call boostplug.set_labels"
            raise ValueError(f"there is no label {shown(label)}; the data has {there}")
        y = self.labels_by_name[label]
        missing = np.isnan(y)
        return self.replaced(labels=np.where(missing, 0.0, y), labelled=~missing, pairs=None)

    def with_positions(self, position: ArrayLike | None, *, is_rank: bool = True) -> "Queries":
        """Return the same queries with other positions."""
        out = object.__new__(Queries)
        positions = None if position is None else as_positions(position, self.n_rows)
        out.__dict__.update(self.__dict__, position=positions, position_is_rank=is_rank)
        out.__dict__.pop("_kept", None)  # cached values may depend on the positions
        return out

    def of_rows(self, kept: NDArray[Any], *, keep_empty: bool = True) -> "Queries":
        """Return the queries with only the chosen rows, without pairs.

        The rows are given as a mask, or as numbers, those of a query together. Queries without rows stay, with size 0,
        unless `keep_empty` is False.
        """
        sizes = np.bincount(self.query_of_row[kept], minlength=self.n_queries)
        of_rows = {"weight": self.row_weight, "labelled": self.labelled, "position": self.position}
        return self.replaced(
            labels=self.labels[kept],
            group=sizes if keep_empty else sizes[sizes > 0],
            pairs=None,
            labels_by_name={name: y[kept] for name, y in self.labels_by_name.items()},
            **{name: None if values is None else values[kept] for name, values in of_rows.items()},
        )

    def with_grade_groups(self, groups: GradeGroups) -> "Queries":
        """Return the same queries with other `grade_groups`, derived from their own by `GradeGroups.weighted`.

        They share what is remembered, so what is built for `remember` does not depend on these weights of pairs.
        """
        out = object.__new__(Queries)
        out.__dict__.update(self.__dict__, _kept=self.__dict__.setdefault("_kept", {}), grade_groups=groups)
        return out

    def remember(self, key: tuple[Hashable, ...], build: Callable[[], _R], *, limit: int = 8) -> _R:
        """Return ``build()``, cached as long as these queries live, for values that depend only on the data.

        At most `limit` values are kept per first element of `key`, the newest ones. So a new lambda in every round does
        not fill the memory.
        """
        # No lock, which a forked child could inherit locked; each of these operations on a dictionary is atomic.
        kept: dict[tuple[Hashable, ...], Any] = self.__dict__.setdefault("_kept", {})
        cached: _R = kept.get(key, _NOTHING)
        if cached is not _NOTHING:
            return cached
        built = kept[key] = build()
        same_kind = [other for other in list(kept) if other[0] == key[0]]
        for other in same_kind[:-limit]:
            kept.pop(other, None)
        return built

    @cached_property
    def group(self) -> Ints:
        """Sizes of the queries, of shape (n_queries,)."""
        return frozen(np.diff(self.boundaries))

    @cached_property
    def query_of_row(self) -> Ints:
        """Index of each row's query, of shape (n_rows,)."""
        return frozen(np.repeat(np.arange(self.n_queries), self.group))

    @cached_property
    def labelled_rows(self) -> NDArray[np.bool_]:
        """True for labelled rows, of shape (n_rows,): `labelled`, or all True if it is None."""
        return frozen(np.ones(self.n_rows, bool)) if self.labelled is None else self.labelled

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """True for rows that are labelled and have a positive weight, of shape (n_rows,). Losses learn from them."""
        if self.row_weight is None:
            return self.labelled_rows
        return frozen(self.labelled_rows & (self.row_weight > 0))

    @cached_property
    def query_weight(self) -> Floats | None:
        """Weight of each query in metrics, of shape (n_queries,): the mean weight of its rows; None if all are 1."""
        if self.row_weight is None:
            return None
        sizes = self.group
        sums = np.bincount(self.query_of_row, weights=self.row_weight, minlength=self.n_queries)
        return frozen(np.divide(sums, sizes, out=np.zeros(self.n_queries), where=sizes > 0))

    @cached_property
    def grade_groups(self) -> GradeGroups:
        """Documents in pairs of different grades, by query and grade; cached."""
        rows = np.flatnonzero(self.judged)
        rows = rows[np.lexsort((self.labels[rows], self.query_of_row[rows]))]
        n_judged = np.bincount(self.query_of_row[rows], minlength=self.n_queries)
        n_groups = np.bincount(self.query_of_row[rows[self._group_starts(rows)]], minlength=self.n_queries)

        rows = rows[n_groups[self.query_of_row[rows]] >= 2]
        starts = self._group_starts(rows)
        query = np.flatnonzero(n_groups >= 2)
        group_start = np.r_[starts, len(rows)]
        sizes = np.diff(group_start).astype(np.float64)
        same_grade = np.bincount(self.query_of_row[rows[starts]], weights=sizes**2, minlength=self.n_queries)
        roots, unit = roots_and_unit(None if self.row_weight is None else self.row_weight[rows])
        return GradeGroups(
            rows=frozen(rows),
            group_start=frozen(group_start),
            group_grade=frozen(self.labels[rows[starts]]),
            query_group=frozen(np.r_[0, np.cumsum(n_groups[query])]),
            query=frozen(query),
            n_pairs=frozen((n_judged[query] ** 2 - same_grade[query]) / 2),
            n_judged=frozen(n_judged[query].astype(np.float64)),
            sqrt_weight=roots,
            unit=unit,
        )

    @cached_property
    def judged_lists(self) -> JudgedLists:
        """Judged documents by query, which may all have the same grade; cached."""
        rows = np.flatnonzero(self.judged)
        n_judged = np.bincount(self.query_of_row[rows], minlength=self.n_queries)
        query = np.flatnonzero(n_judged)
        return JudgedLists(
            rows=frozen(rows),
            grade=frozen(self.labels[rows]),
            weight=frozen(np.ones(len(rows)) if self.row_weight is None else self.row_weight[rows]),
            start=frozen(np.r_[0, np.cumsum(n_judged[query])]),
            query=frozen(query),
        )

    @cached_property
    def listed_pairs(self) -> ListedPairs:
        """Explicit pairs by the query of their winner; cached. Only available if `pairs` is given."""
        pairs = self.pairs
        assert pairs is not None
        weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
        root, unit = roots_and_unit(self.row_weight)
        if len(root):
            weight = weight * root[pairs.winner] * root[pairs.loser]
        kept = np.flatnonzero(weight > 0)
        if pairs.weight is not None:
            heaviest = float(weight.max(initial=0.0)) or 1.0
            unit, weight = unit * heaviest, weight / heaviest
            weight[kept] = np.maximum(weight[kept], _LEAST_SHARE)
        of_pair = self.query_of_row[pairs.winner[kept]]
        kept = kept[np.argsort(of_pair, kind="stable")]
        winner, loser = pairs.winner[kept], pairs.loser[kept]
        query, n_pairs = np.unique(self.query_of_row[winner], return_counts=True)
        place = np.repeat(np.arange(len(query)), n_pairs)
        documents = distinct(np.r_[place, place] * self.n_rows + np.r_[winner, loser])
        n_judged = np.bincount(documents // max(1, self.n_rows), minlength=len(query))
        return ListedPairs(
            winner=frozen(winner),
            loser=frozen(loser),
            weight=frozen(weight[kept]),
            margin=frozen(np.ones(len(kept)) if pairs.margin is None else pairs.margin[kept]),
            start=frozen(np.r_[0, np.cumsum(n_pairs)]),
            query=frozen(query),
            n_pairs=frozen(n_pairs.astype(np.float64)),
            n_judged=frozen(n_judged.astype(np.float64)),
            crosses=bool((self.query_of_row[winner] != self.query_of_row[loser]).any()),
            unit=unit,
        )

    def _group_starts(self, rows: Ints) -> Ints:
        """Return the indices in `rows` (sorted by query and grade) at which query or grade change."""
        query, grade = self.query_of_row[rows], self.labels[rows]
        changes = (query[1:] != query[:-1]) | (grade[1:] != grade[:-1])
        starts: Ints = np.r_[np.zeros(min(1, len(rows)), np.int64), np.flatnonzero(changes) + 1]
        return starts


def row_weights(queries: Queries) -> Floats:
    """Return the weight of each row, 1 where `Queries.row_weight` is None."""
    return np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight


def why_nothing_is_learnt(queries: Queries) -> str | None:
    """Return why `queries` contain no pair to learn from; None if there is one."""
    weight, pairs = queries.row_weight, queries.pairs
    if weight is not None and not weight.any():
        return "all row weights are 0"
    if pairs is not None:
        if not len(pairs):
            return "pairs= is empty"
        if pairs.weight is not None and not pairs.weight.any():
            return f"all {len(pairs)} pairs have weight 0"
        return None if len(queries.listed_pairs.winner) else f"each of the {len(pairs)} pairs has a row of weight 0"
    if not queries.labelled_rows.any():
        return "no row is labelled"
    if not queries.judged.any():
        return "every labelled row has weight 0"
    query, labels = queries.query_of_row[queries.judged], queries.labels[queries.judged]
    if ((query[1:] == query[:-1]) & (labels[1:] != labels[:-1])).any():
        return None
    if np.bincount(query).max() == 1:
        return f"none of the {queries.n_queries} queries holds two judged documents"
    return f"none of the {queries.n_queries} queries holds two documents of different grades (with positive weight)"


def _n_rows(group: ArrayLike | None, qid: ArrayLike | None) -> int:
    """Return the number of rows, from group or qid, if there are no labels."""
    if qid is not None:
        return len(as_vector("qid", qid))
    if group is None:
        return 0
    return int(sizes_of(group).sum())


def as_labels(name: str, values: ArrayLike, labelled: ArrayLike | None, argument: str = "labelled") -> Floats:
    """Return labels as finite numbers, 0 for rows that are not labelled and hold none.

    `argument` is the name under which the caller takes `labelled`, for the message; empty if it takes none.
    """
    y = as_vector(name, values)
    if (mask := as_labelled(labelled, len(y))) is not None:
        no_number = ~np.isfinite(y) if y.dtype.kind == "f" else y.dtype.kind == "O"
        y = np.where(~mask & no_number, 0, y)
    y = as_floats(name, y)
    check_values(name, ~np.isfinite(y), y, f"is not finite; drop such rows{or_unjudged(argument)}")
    return y


def or_unjudged(argument: str) -> str:
    """Return the remedy for rows without a label, after another one: the argument that says so, if there is one."""
    return f", or pass {argument}= with False where a row is not judged" if argument else ""


def as_labelled(labelled: ArrayLike | None, n_rows: int) -> NDArray[np.bool_] | None:
    """Return which rows have a label; None if all have."""
    if labelled is None:
        return None
    mask = as_vector("labelled", labelled)
    if mask.dtype != np.bool_ or len(mask) != n_rows:
        raise ValueError(
            f"labelled must hold one bool per row ({n_rows}), got {len(mask)} values of dtype {mask.dtype}"
        )
    return None if mask.all() else frozen(mask.copy())
