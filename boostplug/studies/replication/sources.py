"""Where the data of a study come from: folders of known data sets, or the bundled set; tasks and their folds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from boostplug.datasets import Fold, RankingData, load_bundled, load_fold, load_folds
from boostplug.datasets.letor import load_files
from boostplug.datasets.movielens import load_movielens, user_tasks
from boostplug.studies.replication.study import Loaded, Split

__all__ = [
    "BundledFolds",
    "BundledQueries",
    "Fifths",
    "LetorFolds",
    "MovieLensUsers",
    "OwnSplit",
    "QueryFolds",
    "SingleQueries",
    "most_pairs",
    "split_rows",
]

_FOLDS = 5
_DEPTH = 3  # of the folders that are searched


def split_rows(data: RankingData, task: str, seed: Sequence[int]) -> list[Split]:
    """Return 5 folds of the rows of a query: 3 parts to train on, 1 to validate, 1 to test, rotating as LETOR's do.

    The split of a task depends on `seed` and its number of rows alone.
    """
    part = np.random.default_rng(seed).permutation(data.n_rows) % _FOLDS

    def rows(f: int, *offsets: int) -> RankingData:
        kept = np.flatnonzero(np.isin(part, [(f + offset) % _FOLDS for offset in offsets]))
        return RankingData(X=data.X[kept], y=data.y[kept], qid=data.qid[kept], group=np.array([len(kept)]))

    return [Split(task, f + 1, rows(f, 0, 1, 2), rows(f, 3), rows(f, 4)) for f in range(_FOLDS)]


def most_pairs(parts: Sequence[RankingData], most: int, below: int) -> list[RankingData]:
    """Return the queries with the most pairs of different grades, but fewer than `below`, each as a set of its own.

    By descending number of pairs, at most `most` of them; among equals the first.
    """
    singles = [single for part in parts for single in _singles(part)]
    pairs = np.array([_n_pairs(single) for single in singles])
    order = np.argsort(-pairs, kind="stable")
    return [singles[i] for i in order if 0 < pairs[i] < below][:most]


def _singles(data: RankingData) -> Iterator[RankingData]:
    starts = data.queries.boundaries
    for q, size in enumerate(data.group):
        rows = slice(starts[q], starts[q + 1])
        yield RankingData(X=data.X[rows], y=data.y[rows], qid=data.qid[rows], group=np.array([size]))


def _n_pairs(data: RankingData) -> int:
    return int(data.queries.grade_runs.n_pairs.sum())


def _find(folder: Path | None, names: Sequence[str], holds: Callable[[Path], bool]) -> Path | None:
    """Return the folder of what is wanted, at or below one of the given names, from `folder` on to some depth."""
    pending = [] if folder is None else [(folder.resolve(), 0)]
    while pending:
        path, depth = pending.pop(0)
        own = [part.name for part in (path, *path.parents)][: depth + 2]  # a fold's parent may bear the name
        if any("".join(c for c in part.lower() if c.isalnum()) in names for part in own) and holds(path):
            return path
        if depth < _DEPTH:
            pending += [(child, depth + 1) for child in sorted(path.iterdir()) if child.is_dir()]
    return None


def _has_folds(path: Path) -> bool:
    return len([fold for fold in path.glob("Fold*") if fold.is_dir()]) > 1


def _has_parts(path: Path) -> bool:
    return all(any(path.glob(f"{part}*.txt*")) for part in ("train", "val", "test"))


def _texts(path: Path) -> list[Path]:
    """Return the LETOR files of a folder: of one that stands there plain and compressed, the plain one."""
    plain = [text for text in path.glob("*.txt") if text.is_file()]
    packed = [text for text in path.glob("*.txt.gz") if text.is_file() and text.with_suffix("") not in plain]
    return sorted(plain + packed)


def _has_texts(path: Path) -> bool:
    return bool(_texts(path))


@dataclass(frozen=True)
class LetorFolds:
    """A LETOR set in its own folds: one task.

    Attributes
    ----------
    folder : str
        Name of its folder, in lower-case letters and digits alone.
    n_queries, n_rows : int
        What the published figures were measured on.
    """

    folder: str
    n_queries: int
    n_rows: int

    real: ClassVar[bool] = True

    @property
    def wanted(self) -> str:
        """Name and content of the folder."""
        return f"{self.folder} (with Fold1, Fold2, …)"

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds."""
        path = _find(folder, (self.folder,), _has_folds)
        if path is None:
            return None
        folds = load_folds(path)
        splits = [Split("", f, *fold) for f, fold in enumerate(folds, 1)]
        n_queries, n_rows = sum(fold.test.n_queries for fold in folds), sum(fold.test.n_rows for fold in folds)
        if (n_queries, n_rows) == (self.n_queries, self.n_rows):
            return Loaded(splits, as_published=True)
        note = (
            f"The test parts hold {n_queries:,} queries and {n_rows:,} documents; the published figures are of "
            f"{self.n_queries:,} and {self.n_rows:,}, and do not apply."
        )
        return Loaded(splits, (note,))


@dataclass(frozen=True)
class MovieLensUsers:
    """Each user of MovieLens-100k with enough ratings is a task, its films in 5 folds.

    Attributes
    ----------
    min_ratings, max_missing
        As in `user_tasks`.
    n_ratings : int
        What the published figures were measured on.
    seed : int
    examples : tuple of (int, int)
        Users and folds that are taken alone; default: all.
    """

    min_ratings: int = 100
    max_missing: float = 0.5
    n_ratings: int = 100_000
    seed: int = 0
    examples: tuple[tuple[int, int], ...] = ()

    real: ClassVar[bool] = True

    @property
    def wanted(self) -> str:
        """Name of the file."""
        return "u.data of MovieLens-100k"

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds of all users that have a feature."""
        path = (
            None if folder is None else next((f for at in ("", "*/") for f in sorted(folder.glob(f"{at}u.data"))), None)
        )
        if path is None:
            return None
        ratings = load_movielens(path)
        tasks = user_tasks(ratings, min_ratings=self.min_ratings, max_missing=self.max_missing)
        if not tasks:
            raise ValueError(f"{path}: no user has {self.min_ratings} ratings; pass the whole u.data")
        splits = [
            split
            for task in tasks
            if task.n_features
            for split in split_rows(task, f"user {task.qid[0]}", (self.seed, int(task.qid[0])))
            if not self.examples or (int(task.qid[0]), split.fold) in self.examples
        ]
        if self.examples:
            if len(splits) < len(self.examples):
                return None  # of other ratings
            return Loaded(splits, as_published=len(ratings) == self.n_ratings)
        without = sum(not task.n_features for task in tasks)
        note = (
            f"{len(tasks)} users have at least {self.min_ratings} ratings; {without} of them have no feature (no other "
            f"user has rated {1 - self.max_missing:.0%} of their films) and make no task."
        )
        return Loaded(splits, (note,), as_published=len(ratings) == self.n_ratings)


@dataclass(frozen=True)
class _OwnParts:
    """A LETOR set in its own training, validation and test part, or in those of Fold1.

    Attributes
    ----------
    folders : tuple of str
        Names that its folder may have, as in `LetorFolds`.
    """

    folders: tuple[str, ...]

    real: ClassVar[bool] = True

    @property
    def wanted(self) -> str:
        """Names and content of the folder."""
        return f"{' or '.join(self.folders)} (with train, vali and test file, or Fold1)"

    def _parts(self, folder: Path | None) -> Fold | None:
        path = _find(folder, self.folders, _has_parts)
        return None if path is None else load_fold(path)


@dataclass(frozen=True)
class SingleQueries(_OwnParts):
    """Queries of a set with the most critical pairs, each a task of its own, its documents in 5 folds.

    Attributes
    ----------
    folders : tuple of str
        Names that its folder may have, as in `LetorFolds`.
    most : int
        So many queries, or a quarter of all where they are fewer than four times as many.
    below : int
        Queries of so many pairs and more are left out.
    """

    most: int = 300
    below: int = 50_000
    seed: int = 0

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds of the chosen queries."""
        parts = self._parts(folder)
        return None if parts is None else self.of(parts)

    def of(self, parts: Sequence[RankingData]) -> Loaded:
        """Return the folds of the chosen queries of the parts of a set."""
        n_queries = sum(part.n_queries for part in parts)
        chosen = most_pairs(parts, min(self.most, n_queries // 4), self.below)
        if not chosen:
            raise ValueError(
                f"a quarter of the {n_queries} queries of {' or '.join(self.folders)} is none with pairs of different "
                "grades; pass the whole set"
            )
        splits = [
            split
            for i, query in enumerate(chosen)
            for split in split_rows(query, f"query {query.qid[0]}", (self.seed, i))
        ]
        pairs = [_n_pairs(query) for query in chosen]
        note = (
            f"The {len(chosen)} of {n_queries:,} queries with the most pairs below {self.below:,}: from {min(pairs):,} "
            f"to {max(pairs):,}."
        )
        return Loaded(splits, (note,), as_published=len(chosen) == self.most)


@dataclass(frozen=True)
class BundledFolds:
    """The bundled set, its queries in 5 folds: one task."""

    wanted: ClassVar[str] = ""
    real: ClassVar[bool] = False

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds."""
        if folder is not None:
            return None
        return Loaded(_query_folds([single for part in load_bundled() for single in _singles(part)]))


@dataclass(frozen=True)
class OwnSplit(_OwnParts):
    """A LETOR set in its own parts: one task of one fold."""

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the split."""
        parts = self._parts(folder)
        return None if parts is None else Loaded([Split("", 1, *parts)])


@dataclass(frozen=True)
class QueryFolds:
    """A set without folds, its queries in 5 folds at random: one task.

    Attributes
    ----------
    folders : tuple of str
        Names that its folder may have, as in `LetorFolds`.
    n_queries : int
        What the published figures were measured on.
    seed : int
    """

    folders: tuple[str, ...]
    n_queries: int
    seed: int = 0

    real: ClassVar[bool] = True

    @property
    def wanted(self) -> str:
        """Names and content of the folder."""
        return f"{' or '.join(self.folders)} (with LETOR files *.txt)"

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds of all queries in all files."""
        path = _find(folder, self.folders, _has_texts)
        if path is None:
            return None
        singles = [single for part in load_files(_texts(path)) for single in _singles(part)]
        if len(singles) < _FOLDS:
            raise ValueError(f"{path} holds {len(singles)} queries, too few for {_FOLDS} folds; pass the whole set")
        order = np.random.default_rng(self.seed).permutation(len(singles))
        return Loaded(_query_folds([singles[i] for i in order]), as_published=len(singles) == self.n_queries)


@dataclass(frozen=True)
class Fifths:
    """A set in five files of queries, S1 to S5, made into folds by LETOR's rule: one task.

    Fold f is trained on three of them from Sf on, validated on the next and tested on the one after that.

    Attributes
    ----------
    folder : str
        Name of its folder, in lower-case letters and digits alone.
    scale : float
        What grades are multiplied by; metrics with a gain of 2^grade - 1 depend on it.
    edges : tuple of float
        Grades are the number of these that a judgement reaches, in place of its own value; default: its own value.
    """

    folder: str
    scale: float = 1.0
    edges: tuple[float, ...] = ()

    real: ClassVar[bool] = True

    @property
    def wanted(self) -> str:
        """Name and content of the folder."""
        return f"{self.folder} (with S1.txt to S5.txt, plain or compressed by gzip)"

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds."""
        path = _find(folder, (self.folder,), _has_fifths)
        if path is None:
            return None
        fifths = [self._graded(part) for part in load_files(_fifths(path))]
        y = np.concatenate([part.y for part in fifths])
        note = (
            f"{sum(part.n_queries for part in fifths):,} queries, {len(y):,} documents, {len(np.unique(y))} different "
            f"grades from {y.min():g} to {y.max():g}."
        )
        return Loaded(_rotated(fifths), (note,))

    def _graded(self, data: RankingData) -> RankingData:
        y = np.digitize(data.y, self.edges).astype(np.float64) if self.edges else self.scale * data.y
        return replace(data, y=y)


def _fifths(path: Path) -> list[Path]:
    """Return those of S1 to S5 that are there."""
    names = {f"S{number}{suffix}" for number in range(1, _FOLDS + 1) for suffix in (".txt", ".txt.gz")}
    return [text for text in _texts(path) if text.name in names]


def _has_fifths(path: Path) -> bool:
    return len(_fifths(path)) == _FOLDS


def _query_folds(singles: Sequence[RankingData]) -> list[Split]:
    """Return 5 folds of queries: 3 parts to train on, 1 to validate, 1 to test, rotating as LETOR's do."""
    return _rotated([_joined(singles[f::_FOLDS]) for f in range(_FOLDS)])


def _rotated(blocks: Sequence[RankingData]) -> list[Split]:
    """Return 5 folds of five parts: 3 to train on, 1 to validate, 1 to test, rotating as LETOR's do."""

    def of(f: int, *offsets: int) -> RankingData:
        return _joined([blocks[(f + offset) % _FOLDS] for offset in offsets])

    return [Split("", f + 1, of(f, 0, 1, 2), of(f, 3), of(f, 4)) for f in range(_FOLDS)]


def _joined(parts: Sequence[RankingData]) -> RankingData:
    """Return several sets as one; their queries are numbered anew where files use the same ids."""
    X, y, qid, group = (np.concatenate([part[name] for part in parts]) for name in ("X", "y", "qid", "group"))
    own_ids = len(np.unique(qid)) == np.count_nonzero(group)
    return RankingData(X=X, y=y, qid=qid if own_ids else None, group=group)


@dataclass(frozen=True)
class BundledQueries:
    """Queries of the bundled set with the most pairs, each a task, its documents in 5 folds."""

    most: int

    wanted: ClassVar[str] = ""
    real: ClassVar[bool] = False

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds of the chosen queries."""
        if folder is not None:
            return None
        loaded = SingleQueries((), most=self.most).of(load_bundled())
        return Loaded(loaded.splits, loaded.notes)
