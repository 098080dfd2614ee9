"""Sets made from others: what a user has who has clicks in place of judgements, or one relevant document per query."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.comparison.training.frameworks import Part
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries

__all__ = ["altered", "balanced", "with_clicks", "with_one_relevant"]

Fold = tuple[Part, Part, Part]
Load = Callable[[Path], list[Fold]]

_SEED = 2026
_SESSIONS = 10  # a query was shown so often
_NOISE = 1.0  # of the ranker that showed it, in standard deviations of the grade
_BY_MISTAKE = 0.1  # share of the irrelevant documents that are clicked when looked at
_MOST_CLICKS = 4  # that the label says: LightGBM's gains double with each


def altered(load: Load, alter: Callable[[Fold, np.random.Generator], Fold]) -> Load:
    """Return a loader of altered folds."""

    def loaded(folder: Path) -> list[Fold]:
        rng = np.random.default_rng(_SEED)
        return [alter(fold, rng) for fold in load(folder)]

    return loaded


def with_clicks(fold: Fold, rng: np.random.Generator, *, fair: bool = False) -> Fold:
    """Return a fold whose training and validation parts have simulated clicks in place of grades.

    A ranker that knows the grades up to noise shows each query ten times. The k-th document is looked at with
    probability 1/k, and then clicked with .1 + .9 (2^r - 1) / (2^4 - 1), as in Joachims et al. (WSDM 2017). Labels
    are numbers of clicks, 4 at most; pairs are those of a click over a document above it that was looked at and not
    clicked ("skip above"), each as often as it happened. Test parts keep their grades.

    With `fair`, neighbours change places at random before a query is shown. Pairs are then those of such neighbours of
    which the lower was clicked and the upper not: FairPairs (Radlinski and Joachims, AAAI 2006), in which either would
    have been the lower one as often.
    """
    train, valid, test = fold
    return _clicked(train, rng, fair=fair), _clicked(valid, rng, fair=fair), test


def _clicked(part: Part, rng: np.random.Generator, *, fair: bool) -> Part:
    grades, boundaries = part.queries.labels, part.queries.boundaries
    clicks = np.zeros(len(grades))
    winners: list[Any] = []
    losers: list[Any] = []
    attraction = _BY_MISTAKE + (1.0 - _BY_MISTAKE) * (2.0**grades - 1.0) / 15.0
    shown_by = -grades + _NOISE * grades.std() * rng.normal(size=len(grades))
    for start, stop in pairwise(boundaries):
        ranked = start + np.argsort(shown_by[start:stop], kind="stable")
        places = np.arange(1, len(ranked) + 1)
        for _ in range(_SESSIONS):
            upper = np.arange(rng.integers(2), len(ranked) - 1, 2) if fair else places[:0]
            order = _neighbours_swapped(ranked, upper, rng) if fair else ranked
            seen = rng.random(len(order)) < 1.0 / places
            clicked = seen & (rng.random(len(order)) < attraction[order])
            clicks[order[clicked]] += 1
            if fair:
                told = upper[clicked[upper + 1] & ~clicked[upper]]
                winners.append(order[told + 1])
                losers.append(order[told])
                continue
            for at in np.flatnonzero(clicked):
                above = order[:at][(seen & ~clicked)[:at]]
                winners.append(np.full(len(above), order[at]))
                losers.append(above)
    pairs = Pairs(np.concatenate(winners), np.concatenate(losers))
    return Part(part.X, Queries(np.minimum(clicks, _MOST_CLICKS), group=part.group, pairs=pairs))


def _neighbours_swapped(ranked: Any, upper: Any, rng: np.random.Generator) -> Any:
    """Return a list in which each of the neighbours (k, k + 1) have changed places or not, as likely as not."""
    swapped = upper[rng.random(len(upper)) < 0.5]
    order = ranked.copy()
    order[swapped], order[swapped + 1] = ranked[swapped + 1], ranked[swapped]
    return order


def with_one_relevant(fold: Fold, rng: np.random.Generator) -> Fold:
    """Return a fold with one of the best documents of each query as the only relevant one."""
    train, valid, test = (_one_relevant(part, rng) for part in fold)
    return train, valid, test


def _one_relevant(part: Part, rng: np.random.Generator) -> Part:
    grades, boundaries = part.queries.labels, part.queries.boundaries
    labels = np.zeros(len(grades))
    for start, stop in pairwise(boundaries):
        best = grades[start:stop].max(initial=0.0)
        if best > 0:
            labels[start + rng.choice(np.flatnonzero(grades[start:stop] == best))] = 1.0
    return Part(part.X, Queries(labels, group=part.group))


def balanced(fold: Fold, _rng: np.random.Generator) -> Fold:
    """Return a fold whose training documents weigh so that a query's relevant ones weigh what its others do."""
    part, valid, test = fold
    queries = part.queries
    relevant = queries.labels > 0
    n_relevant = np.add.reduceat(relevant, queries.boundaries[:-1])[queries.query_of_row]
    n = np.repeat(part.group, part.group)
    weight = np.where(relevant, n / np.maximum(2 * n_relevant, 1), n / np.maximum(2 * (n - n_relevant), 1))
    weight[(n_relevant == 0) | (n_relevant == n)] = 1.0
    return Part(part.X, Queries(queries.labels, group=part.group, weight=weight)), valid, test
