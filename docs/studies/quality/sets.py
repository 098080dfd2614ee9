"""The public data sets of the studies, each as five folds: where its files lie, and how it is cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData, load_fold
from studies.movielens import load_movielens
from studies.sources import N_FOLDS, Fifths, LetorFolds, Source, Split, joined, rotated

__all__ = ["SETS", "DataSet", "Fold", "cut", "movielens", "share_of", "with_one_relevant"]

Fold = tuple[CheckedInputs, CheckedInputs, CheckedInputs]

_CUT_SEED = 2026  # of what is cut into fifths here


def with_one_relevant(fold: Fold, rng: np.random.Generator) -> Fold:
    """Return a fold with one of the best documents of each query as the only relevant one."""
    train, valid, test = (_one_relevant(part, rng) for part in fold)
    return train, valid, test


def _one_relevant(part: CheckedInputs, rng: np.random.Generator) -> CheckedInputs:
    grades, boundaries = part.queries.labels, part.queries.boundaries
    labels = np.zeros(len(grades))
    for start, stop in pairwise(boundaries):
        best = grades[start:stop].max(initial=0.0)
        if best > 0:
            labels[start + rng.choice(np.flatnonzero(grades[start:stop] == best))] = 1.0
    return CheckedInputs(part.X, Queries(labels, group=part.group))


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
    """

    name: str
    folder: str
    title: str
    load_all: Callable[[Path], list[Fold]]

    def load(self, folder: Path, fold: int) -> Fold:
        """Return a fold, from 0; the set that was read last is at hand."""
        return _folds(self, folder)[fold]


@lru_cache(maxsize=1)
def _folds(data: DataSet, folder: Path) -> list[Fold]:
    return data.load_all(folder)


def share_of(part: CheckedInputs, share: float) -> CheckedInputs:
    """Return a share of the queries of a part, one at least: larger shares hold the smaller ones."""
    if share == 1.0:
        return part
    n = part.queries.n_queries
    order = np.random.default_rng(_CUT_SEED).permutation(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[order[: max(1, round(share * n))]] = True
    rows = np.repeat(chosen, part.group)
    return CheckedInputs(part.X[rows], Queries(part.queries.labels[rows], group=part.group[chosen]))


def _from(source: Source) -> Callable[[Path], list[Fold]]:
    """Return a loader of the folds of a source."""

    def load(folder: Path) -> list[Fold]:
        loaded = source.load(folder)
        if loaded is None:
            raise FileNotFoundError(f"{folder} holds no {source.wanted}; name the folder that holds the data sets")
        return _parts(loaded.splits)

    return load


def _parts(splits: Sequence[Split]) -> list[Fold]:
    def part(data: RankingData) -> CheckedInputs:
        return CheckedInputs(data.X, Queries(data.y, group=data.group))

    return [(part(split.train), part(split.vali), part(split.test)) for split in splits]


def cut(data: RankingData) -> list[Fold]:
    """Return the folds of queries that are cut here into five parts of a like number, drawn at random."""
    of_query = np.random.default_rng(_CUT_SEED).permutation(data.n_queries) % N_FOLDS
    of_row = np.repeat(of_query, data.group)
    fifths = [
        RankingData(X=data.X[of_row == k], y=data.y[of_row == k], group=data.group[of_query == k])
        for k in range(N_FOLDS)
    ]
    return _parts(rotated(fifths))


def _mslr(folder: Path) -> list[Fold]:
    return cut(joined(load_fold(folder / "mslr_sample")))


_LEAST_RATINGS = 100  # of a user who is a query
_LEAST_TASKS = 0.25  # share of the queries of which a user knows half of the films, to be a feature


def movielens(folder: Path, least: int = _LEAST_RATINGS) -> list[Fold]:
    """Return users as queries, their films as rows, other users' ratings of them as features, NaN where there is none.

    A query is a user with at least `least` ratings. As in the replication of RankBoost+, where each user has features
    of their own; here all have the same: users who have rated half of the films of at least a quarter of the queries. A
    user's own ratings are no feature of theirs.
    """
    ratings = load_movielens(folder / "ml-100k")
    users, row = np.unique(ratings["user"], return_inverse=True)
    films, column = np.unique(ratings["item"], return_inverse=True)
    table = np.full((len(users), len(films)), np.nan, dtype=np.float32)
    table[row, column] = ratings["rating"]
    has = ~np.isnan(table)
    queries = np.flatnonzero(has.sum(axis=1) >= least)
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
    return cut(RankingData(X=np.concatenate(X), y=np.concatenate(y), group=group))


_YANDEX = _from(Fifths(("yandex",), edges=(0.07, 0.14, 0.41, 0.61)))
_JESTER = _from(Fifths(("jester",), edges=(6.0, 10.0, 13.0, 16.0)))

SETS: dict[str, DataSet] = {
    data.name: data
    for data in (
        DataSet("mslr", "mslr_sample", "MSLR sample", _mslr),
        DataSet("mq2008", "mq2008", "MQ2008", _from(LetorFolds(("mq2008",)))),
        DataSet("ohsumed", "ohsumed", "OHSUMED", _from(LetorFolds(("ohsumed",)))),
        DataSet("yandex", "yandex", "Yandex, five grades", _YANDEX),
        DataSet("nfcorpus", "nfcorpus", "NFCorpus", _from(Fifths(("nfcorpus",)))),
        DataSet("jester", "jester", "Jester, five grades", _JESTER),
        DataSet("movielens", "ml-100k", "MovieLens", movielens),
    )
}
"""The data sets by name."""
