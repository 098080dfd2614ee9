"""The data sets of the study, each as five folds: where its files lie, how it is cut, what is measured on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import Part
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData, load_fold
from boostplug.metrics import MAP, NDCG, KendallTau, Metric, PairError
from boostplug.studies.movielens import load_movielens
from boostplug.studies.quality.situations import altered, balanced, with_clicks, with_one_relevant
from boostplug.studies.sources import N_FOLDS, Fifths, LetorFolds, Source, Split, joined, rotated

__all__ = ["SETS", "DataSet", "share_of"]

Floats = NDArray[np.float64]
Fold = tuple[Part, Part, Part]

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


def share_of(part: Part, share: float) -> Part:
    """Return a share of the queries of a part, one at least: larger shares hold the smaller ones."""
    if share == 1.0:
        return part
    n = part.queries.n_queries
    order = np.random.default_rng(_CUT_SEED).permutation(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[order[: max(1, round(share * n))]] = True
    rows = np.repeat(chosen, part.group)
    return Part(part.X[rows], Queries(part.queries.labels[rows], group=part.group[chosen]))


def _from(source: Source) -> Callable[[Path], list[Fold]]:
    """Return a loader of the folds of a source."""

    def load(folder: Path) -> list[Fold]:
        loaded = source.load(folder)
        if loaded is None:
            raise FileNotFoundError(f"{folder} holds no {source.wanted}; name the folder that holds the data sets")
        return _parts(loaded.splits)

    return load


def _parts(splits: Sequence[Split]) -> list[Fold]:
    def part(data: RankingData) -> Part:
        return Part(data.X, Queries(data.y, group=data.group))

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
    users, row = np.unique(ratings.user, return_inverse=True)
    films, column = np.unique(ratings.item, return_inverse=True)
    table = np.full((len(users), len(films)), np.nan, dtype=np.float32)
    table[row, column] = ratings.rating
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
