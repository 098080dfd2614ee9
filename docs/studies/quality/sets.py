"""The data sets of the study, each as five folds: where its files lie, how it is cut, what is measured on it.

Some are made from others: what a user has who has clicks in place of judgements, or one relevant document per query.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import DataPart
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData, load_fold
from boostplug.metrics import MAP, NDCG, KendallTau, Metric, PairError
from boostplug.replication.movielens import load_movielens
from boostplug.replication.sources import N_FOLDS, Fifths, LetorFolds, Source, Split, joined, rotated

__all__ = ["SETS", "DataSet", "balanced", "share_of", "with_clicks", "with_one_relevant"]

Fold = tuple[DataPart, DataPart, DataPart]
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


def _clicked(part: DataPart, rng: np.random.Generator, *, fair: bool) -> DataPart:
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
    return DataPart(part.X, Queries(np.minimum(clicks, _MOST_CLICKS), group=part.group, pairs=pairs))


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


def _one_relevant(part: DataPart, rng: np.random.Generator) -> DataPart:
    grades, boundaries = part.queries.labels, part.queries.boundaries
    labels = np.zeros(len(grades))
    for start, stop in pairwise(boundaries):
        best = grades[start:stop].max(initial=0.0)
        if best > 0:
            labels[start + rng.choice(np.flatnonzero(grades[start:stop] == best))] = 1.0
    return DataPart(part.X, Queries(labels, group=part.group))


def balanced(fold: Fold, _rng: np.random.Generator) -> Fold:
    """Return a fold whose training documents weigh so that a query's relevant ones weigh what its others do."""
    part, valid, test = fold
    queries = part.queries
    relevant = queries.labels > 0
    n_relevant = np.add.reduceat(relevant, queries.boundaries[:-1])[queries.query_of_row]
    n = np.repeat(part.group, part.group)
    weight = np.where(relevant, n / np.maximum(2 * n_relevant, 1), n / np.maximum(2 * (n - n_relevant), 1))
    weight[(n_relevant == 0) | (n_relevant == n)] = 1.0
    return DataPart(part.X, Queries(queries.labels, group=part.group, weight=weight)), valid, test


Floats = NDArray[np.float64]

_CUT_SEED = 2026  # of what is cut into fifths here


@dataclass(frozen=True)
class DataSet:
    """A data set.

    Attributes
    ----------
    name, title : str
    folder : str
        Where it lies in the folder of all data.
    load_all : callable
        ``load_all(folder)`` returns its folds.
    n_folds : int
        The first so many of the five are used: all of a small set, by default two of a large one.
    n_seeds : int
    relevant : float
        The least grade that is relevant, for MAP.
    gain : {"exp2", "linear"}
        Of NDCG; "linear" where grades are real-valued.
    pooled : bool
        Whether it counts where queries of several sets are taken together; not where another set has them too.
    """

    name: str
    folder: str
    title: str
    load_all: Callable[[Path], list[Fold]]
    n_folds: int = 2
    n_seeds: int = 1
    relevant: float = 1
    gain: str = "exp2"
    pooled: bool = True

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What is measured; the first stops training early, and is what differences are of."""
        return (
            NDCG(10, gain=self.gain),  # type: ignore[arg-type]
            MAP(relevant=self.relevant),
            PairError(ties="half"),
            KendallTau(),
        )

    def load(self, folder: Path, fold: int) -> Fold:
        """Return a fold, from 0; the set that was read last is at hand."""
        return _folds(self, folder)[fold]


@lru_cache(maxsize=1)
def _folds(data: DataSet, folder: Path) -> list[Fold]:
    return data.load_all(folder)


def share_of(part: DataPart, share: float) -> DataPart:
    """Return a share of the queries of a part, one at least: larger shares hold the smaller ones."""
    if share == 1.0:
        return part
    n = part.queries.n_queries
    order = np.random.default_rng(_CUT_SEED).permutation(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[order[: max(1, round(share * n))]] = True
    rows = np.repeat(chosen, part.group)
    return DataPart(part.X[rows], Queries(part.queries.labels[rows], group=part.group[chosen]))


def _from(source: Source) -> Callable[[Path], list[Fold]]:
    """Return a loader of the folds of a source."""

    def load(folder: Path) -> list[Fold]:
        loaded = source.load(folder)
        if loaded is None:
            raise FileNotFoundError(f"{folder} holds no {source.wanted}; name the folder that holds the data sets")
        return _parts(loaded.splits)

    return load


def _parts(splits: Sequence[Split]) -> list[Fold]:
    def part(data: RankingData) -> DataPart:
        return DataPart(data.X, Queries(data.y, group=data.group))

    return [(part(split.train), part(split.vali), part(split.test)) for split in splits]


def _cut(data: RankingData) -> list[Fold]:
    """Return the folds of queries that are cut here into five parts of a like number, drawn at random."""
    of_query = np.random.default_rng(_CUT_SEED).permutation(data.n_queries) % N_FOLDS
    of_row = np.repeat(of_query, data.group)
    fifths = [
        RankingData(X=data.X[of_row == k], y=data.y[of_row == k], group=data.group[of_query == k])
        for k in range(N_FOLDS)
    ]
    return _parts(rotated(fifths))


def _mslr(folder: Path) -> list[Fold]:
    return _cut(joined(load_fold(folder / "mslr_sample")))


_LEAST_RATINGS = 100  # of a user who is a query
_LEAST_TASKS = 0.25  # share of the queries of which a user knows half of the films, to be a feature


def _movielens(folder: Path) -> list[Fold]:
    """Return users as queries, their films as rows, other users' ratings of them as features, NaN where there is none.

    As in the replication of RankBoost+, where each user has features of their own; here all have the same: users who
    have rated half of the films of at least a quarter of the queries. A user's own ratings are no feature of theirs.
    """
    ratings = load_movielens(folder / "ml-100k")
    users, row = np.unique(ratings["user"], return_inverse=True)
    films, column = np.unique(ratings["item"], return_inverse=True)
    table = np.full((len(users), len(films)), np.nan, dtype=np.float32)
    table[row, column] = ratings["rating"]
    has = ~np.isnan(table)
    queries = np.flatnonzero(has.sum(axis=1) >= _LEAST_RATINGS)
    knows_half = 2 * (has[queries].astype(int) @ has.T.astype(int)) >= has[queries].sum(axis=1)[:, None]
    features = np.flatnonzero(knows_half.mean(axis=0) >= _LEAST_TASKS)
    X, y = [], []
    for u in queries:
        rated = np.flatnonzero(has[u])
        of_films = table[np.ix_(features, rated)].T
        of_films[:, features == u] = np.nan
        X.append(of_films)
        y.append(table[u, rated].astype(np.float64))
    group = np.array([len(labels) for labels in y])
    return _cut(RankingData(X=np.concatenate(X), y=np.concatenate(y), group=group))


_EDGES = (0.07, 0.14, 0.41, 0.61)
_YANDEX = _from(Fifths(("yandex",), edges=_EDGES))
_NFCORPUS = _from(Fifths(("nfcorpus",)))
_JESTER = _from(Fifths(("jester",), edges=(6.0, 10.0, 13.0, 16.0)))

SETS: dict[str, DataSet] = {
    data.name: data
    for data in (
        DataSet("mslr", "mslr_sample", "MSLR sample", _mslr, N_FOLDS, 3),
        DataSet("mq2008", "mq2008", "MQ2008", _from(LetorFolds(("mq2008",))), N_FOLDS, 3),
        DataSet("ohsumed", "ohsumed", "OHSUMED", _from(LetorFolds(("ohsumed",))), N_FOLDS, 3),
        DataSet("yandex", "yandex", "Yandex, five grades", _YANDEX),
        DataSet(
            "yandex-real",
            "yandex",
            "Yandex, real-valued",
            _from(Fifths(("yandex",))),
            relevant=_EDGES[0],
            gain="linear",
            pooled=False,
        ),
        DataSet("nfcorpus", "nfcorpus", "NFCorpus", _NFCORPUS),
        DataSet("jester", "jester", "Jester, five grades", _JESTER, relevant=3),
        DataSet("movielens", "ml-100k", "MovieLens", _movielens, relevant=4),
        *(
            DataSet(name, folder, title, altered(load, alter), pooled=False)
            for name, folder, title, load, alter in (
                ("clicks", "yandex", "Yandex, simulated clicks", _YANDEX, with_clicks),
                ("fair-pairs", "yandex", "Yandex, fair pairs", _YANDEX, partial(with_clicks, fair=True)),
                ("one-relevant", "nfcorpus", "NFCorpus, one relevant document", _NFCORPUS, with_one_relevant),
                ("nfcorpus-balanced", "nfcorpus", "NFCorpus, relevant weigh half", _NFCORPUS, balanced),
            )
        ),
    )
}
"""The sets of the study by name."""
