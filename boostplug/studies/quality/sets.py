"""The data sets of the study, each as five folds: where its files lie, how it is cut, what is measured on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import Part
from boostplug.data.queries import Queries
from boostplug.datasets import load_fold, load_folds, load_letor
from boostplug.datasets.movielens import load_movielens
from boostplug.metrics import MAP, NDCG, KendallTau, Metric, PairError
from boostplug.studies.quality.situations import balanced, with_clicks, with_fair_pairs, with_one_relevant

__all__ = ["SETS", "DataSet", "share_of"]

Floats = NDArray[np.float64]
Fold = tuple[Part, Part, Part]

_N_FOLDS = 5
_CUT_SEED = 2026  # of what is cut into fifths here


@dataclass(frozen=True, eq=False)
class Rows:
    """Whole queries."""

    X: Any
    y: Floats
    group: NDArray[np.int64]

    @property
    def part(self) -> Part:
        """They as a part of a fold."""
        return Part(self.X, Queries(self.y, group=self.group))


@dataclass(frozen=True, kw_only=True)
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
        The first so many of the five are used: all of a small set, two of a large one.
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
    n_folds: int = _N_FOLDS
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
        return _loaded(self, folder)[fold]


@cache
def _folds(data: DataSet, folder: Path) -> list[Fold]:
    return data.load_all(folder)


def _loaded(data: DataSet, folder: Path) -> list[Fold]:
    if _folds.cache_info().currsize > 1:
        _folds.cache_clear()
    return _folds(data, folder)


def share_of(part: Part, share: float) -> Part:
    """Return a share of the queries of a part, one at least: larger shares hold the smaller ones."""
    if share == 1.0:
        return part
    n = part.queries.n_queries
    order = np.random.default_rng(_CUT_SEED).permutation(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[order[: max(1, round(share * n))]] = True
    rows = np.repeat(chosen, part.group)
    return Rows(part.X[rows], part.queries.labels[rows], part.group[chosen]).part


def _by_letor_rule(fifths: Sequence[Rows]) -> list[Fold]:
    """Return the folds: three fifths to train, one to validate, one to test, each fifth tested once."""
    folds = []
    for f in range(_N_FOLDS):
        train, vali, test = ([fifths[(f + j) % _N_FOLDS] for j in which] for which in ((0, 1, 2), (3,), (4,)))
        folds.append((_joined(train).part, _joined(vali).part, _joined(test).part))
    return folds


def _joined(parts: Sequence[Rows]) -> Rows:
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "group")))


def _cut(rows: Rows) -> list[Rows]:
    """Return queries in five parts of a like number, drawn at random."""
    of_query = np.random.default_rng(_CUT_SEED).permutation(len(rows.group)) % _N_FOLDS
    of_row = np.repeat(of_query, rows.group)
    return [Rows(rows.X[of_row == k], rows.y[of_row == k], rows.group[of_query == k]) for k in range(_N_FOLDS)]


def _rows(data: Any) -> Rows:
    return Rows(data.X, data.y, data.group)


def _letor(name: str) -> Callable[[Path], list[Fold]]:
    def load(folder: Path) -> list[Fold]:
        loaded = load_folds(folder / name)
        return [tuple(_rows(part).part for part in (fold.train, fold.vali, fold.test)) for fold in loaded]  # type: ignore[misc]

    return load


def _mslr(folder: Path) -> list[Fold]:
    fold = load_fold(folder / "mslr_sample")
    return _by_letor_rule(_cut(_joined([_rows(part) for part in (fold.train, fold.vali, fold.test)])))


def _fifths(name: str, edges: tuple[float, ...] = ()) -> Callable[[Path], list[Fold]]:
    def load(folder: Path) -> list[Fold]:
        fifths = [_rows(load_letor(folder / name / f"S{k}.txt.gz")) for k in range(1, _N_FOLDS + 1)]
        width = max(rows.X.shape[1] for rows in fifths)
        fifths = [replace(rows, X=_widened(rows.X, width)) for rows in fifths]
        if edges:
            fifths = [replace(rows, y=np.digitize(rows.y, edges).astype(np.float64)) for rows in fifths]
        return _by_letor_rule(fifths)

    return load


def _widened(X: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    return np.pad(X, ((0, 0), (0, width - X.shape[1])))


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
    return _by_letor_rule(_cut(Rows(np.concatenate(X), np.concatenate(y), group)))


_YANDEX = (0.07, 0.14, 0.41, 0.61)
_JESTER = (6.0, 10.0, 13.0, 16.0)

SETS: dict[str, DataSet] = {
    data.name: data
    for data in (
        DataSet(name="mslr", folder="mslr_sample", title="MSLR sample", load_all=_mslr, n_seeds=3),
        DataSet(name="mq2008", folder="mq2008", title="MQ2008", load_all=_letor("mq2008"), n_seeds=3),
        DataSet(name="ohsumed", folder="ohsumed", title="OHSUMED", load_all=_letor("ohsumed"), n_seeds=3),
        DataSet(
            name="yandex", folder="yandex", title="Yandex, five grades", load_all=_fifths("yandex", _YANDEX), n_folds=2
        ),
        DataSet(
            name="yandex-real",
            folder="yandex",
            title="Yandex, real-valued",
            load_all=_fifths("yandex"),
            n_folds=2,
            relevant=_YANDEX[0],
            gain="linear",
            pooled=False,
        ),
        DataSet(name="nfcorpus", folder="nfcorpus", title="NFCorpus", load_all=_fifths("nfcorpus"), n_folds=2),
        DataSet(
            name="jester",
            folder="jester",
            title="Jester, five grades",
            load_all=_fifths("jester", _JESTER),
            n_folds=2,
            relevant=3,
        ),
        DataSet(name="movielens", folder="ml-100k", title="MovieLens", load_all=_movielens, n_folds=2, relevant=4),
        DataSet(
            name="clicks",
            folder="yandex",
            title="Yandex, simulated clicks",
            load_all=with_clicks(_fifths("yandex", _YANDEX)),
            n_folds=2,
            pooled=False,
        ),
        DataSet(
            name="fair-pairs",
            folder="yandex",
            title="Yandex, fair pairs",
            load_all=with_fair_pairs(_fifths("yandex", _YANDEX)),
            n_folds=2,
            pooled=False,
        ),
        DataSet(
            name="one-relevant",
            folder="nfcorpus",
            title="NFCorpus, one relevant document",
            load_all=with_one_relevant(_fifths("nfcorpus")),
            n_folds=2,
            pooled=False,
        ),
        DataSet(
            name="nfcorpus-balanced",
            folder="nfcorpus",
            title="NFCorpus, relevant weigh half",
            load_all=balanced(_fifths("nfcorpus")),
            n_folds=2,
            pooled=False,
        ),
    )
}
"""The sets of the study by name."""
