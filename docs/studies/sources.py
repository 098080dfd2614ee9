"""Data of a study: folders of known data sets, or the bundled set; tasks and their folds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np

from boostplug.datasets import Fold, RankingData, load_bundled, load_fold, load_folds
from boostplug.datasets.letor import load_files
from studies.movielens import load_movielens, user_tasks

N_FOLDS = 5
_DEPTH = 3  # levels of folders that are searched


@dataclass(frozen=True, eq=False)
class Split:
    """One fold of one task."""

    task: str
    fold: int
    train: RankingData
    vali: RankingData
    test: RankingData


@dataclass(frozen=True, eq=False)
class Loaded:
    """The splits of a study, tasks in order and the folds of each.

    Attributes
    ----------
    splits : list of Split
    notes : tuple of str
    as_published : bool
        Whether these are the data of the published figures.
    """

    splits: list[Split]
    notes: tuple[str, ...] = ()
    as_published: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of all values."""
        sha = sha256()
        for split in self.splits:
            for part in (split.train, split.vali, split.test):
                for array in (part.X, part.y, part.group):
                    sha.update(np.ascontiguousarray(array).data)
        return sha.hexdigest()


class Source(ABC):
    """A data set, and its division into tasks and folds.

    Attributes
    ----------
    real : bool
        Whether the data were measured, not simulated.
    wanted : str
        Content that a folder must have; empty for the bundled set.
    """

    real: ClassVar[bool] = False

    @property
    def wanted(self) -> str:
        """Content that a folder must have; empty for the bundled set."""
        return ""

    @abstractmethod
    def load(self, folder: Path | None) -> Loaded | None:
        """Return the splits; None where the folder does not hold the data set. Without folder: the bundled set."""


def rotated(blocks: Sequence[RankingData]) -> list[Split]:
    """Return 5 folds of five parts as one task."""
    return _folds("", lambda fifths: joined([blocks[k] for k in fifths]))


def _folds(task: str, part: Callable[[list[int]], RankingData]) -> list[Split]:
    """Return 5 folds of fifths: 3 to train, 1 to validate and 1 to test, rotating as in LETOR."""

    def of(f: int, *offsets: int) -> RankingData:
        return part([(f + offset) % N_FOLDS for offset in offsets])

    return [Split(task, f + 1, of(f, 0, 1, 2), of(f, 3), of(f, 4)) for f in range(N_FOLDS)]


def joined(parts: Sequence[RankingData]) -> RankingData:
    """Return several sets as one; queries are renumbered if files use the same ids."""
    X, y, qid, group = (np.concatenate([part[name] for part in parts]) for name in ("X", "y", "qid", "group"))
    own_ids = len(np.unique(qid)) == np.count_nonzero(group)
    return RankingData(X=X, y=y, qid=qid if own_ids else None, group=group)


def split_rows(data: RankingData, task: str, seed: Sequence[int]) -> list[Split]:
    """Return 5 folds of the rows of a query.

    The split depends only on `seed` and the number of rows.
    """
    fifth = np.random.default_rng(seed).permutation(data.n_rows) % N_FOLDS

    def rows(fifths: list[int]) -> RankingData:
        kept = np.flatnonzero(np.isin(fifth, fifths))
        return RankingData(X=data.X[kept], y=data.y[kept], qid=data.qid[kept], group=np.array([len(kept)]))

    return _folds(task, rows)


def most_pairs(parts: Sequence[RankingData], most: int, below: int) -> list[RankingData]:
    """Return the queries with the most pairs of different grades, but fewer than `below`, each as its own set.

    At most `most` queries, by descending number of pairs; the first ones of ties.
    """
    singles = [single for part in parts for single in _singles(part)]
    pairs = np.array([_n_pairs(single) for single in singles])
    order = np.argsort(-pairs, kind="stable")
    return [singles[i] for i in order if 0 < pairs[i] < below][:most]


def _singles(data: RankingData) -> Iterator[RankingData]:
    for start, stop in pairwise(data.queries.boundaries):
        rows = slice(start, stop)
        yield RankingData(X=data.X[rows], y=data.y[rows], qid=data.qid[rows], group=np.array([stop - start]))


def _n_pairs(data: RankingData) -> int:
    return int(data.queries.grade_groups.n_pairs.sum())


@dataclass(frozen=True)
class _InFolder(Source):
    """A data set in a folder, found by its name at or below the folder of all data.

    Attributes
    ----------
    folders : tuple of str
        Possible names of its folder, as only lower-case letters and digits.
    """

    folders: tuple[str, ...]

    real: ClassVar[bool] = True
    content: ClassVar[str]

    @property
    def wanted(self) -> str:
        """Names and content of the folder."""
        return f"{' or '.join(self.folders)} (with {self.content})"

    def holds(self, path: Path) -> bool:
        """Return whether a folder has the files: train, vali and test, or those in Fold1."""
        return all(any(path.glob(f"{part}*.txt*")) for part in ("train", "val", "test"))

    @abstractmethod
    def of(self, path: Path) -> Loaded:
        """Return the splits."""

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the splits; None where the folder does not hold the data set."""
        pending = [] if folder is None else [(folder.resolve(), 0)]
        while pending:
            path, depth = pending.pop(0)
            own = [part.name for part in (path, *path.parents)][: depth + 2]  # the name may be that of a fold's parent
            names = {"".join(c for c in part.lower() if c.isalnum()) for part in own}
            if names & {*self.folders} and self.holds(path):
                return self.of(path)
            if depth < _DEPTH:
                pending += [(child, depth + 1) for child in sorted(path.iterdir()) if child.is_dir()]
        return None


@dataclass(frozen=True)
class LetorFolds(_InFolder):
    """A LETOR set in its own folds: one task.

    Attributes
    ----------
    folders
    n_queries : int
        Number of queries in the data of the published figures.
    """

    n_queries: int = 0

    content: ClassVar[str] = "Fold1, Fold2, …"

    def holds(self, path: Path) -> bool:
        """Return whether a folder has several folds."""
        return len([fold for fold in path.glob("Fold*") if fold.is_dir()]) > 1

    def of(self, path: Path) -> Loaded:
        """Return the folds."""
        folds = load_folds(path)
        splits = [Split("", f, *fold) for f, fold in enumerate(folds, 1)]
        n_queries = sum(fold.test.n_queries for fold in folds)
        if n_queries == self.n_queries:
            return Loaded(splits, as_published=True)
        note = f"{n_queries:,} queries; the published figures are of {self.n_queries:,}, and do not apply."
        return Loaded(splits, (note,))


@dataclass(frozen=True)
class OwnSplit(_InFolder):
    """A LETOR set in its own training, validation and test part, or in those of Fold1: one task with one fold."""

    content: ClassVar[str] = "train, vali and test file, or Fold1"

    def of(self, path: Path) -> Loaded:
        """Return the split."""
        return Loaded([Split("", 1, *load_fold(path))])


@dataclass(frozen=True)
class SingleQueries(_InFolder):
    """The queries of a set with the most critical pairs: each is a task, with its documents in 5 folds.

    Attributes
    ----------
    folders
    most : int
        Number of queries; a quarter of all if there are fewer than four times as many.
    below : int
        Queries with this number of pairs or more are left out.
    """

    most: int = 300
    below: int = 50_000
    seed: int = 0

    content: ClassVar[str] = OwnSplit.content

    def of(self, path: Path) -> Loaded:
        """Return the folds of the chosen queries."""
        return self.of_parts(load_fold(path))

    def of_parts(self, parts: Fold | Sequence[RankingData]) -> Loaded:
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
class _InTexts(_InFolder):
    """A set in LETOR files without folds."""

    def holds(self, path: Path) -> bool:
        """Return whether there is a file."""
        return bool(self.texts(path))

    def texts(self, path: Path) -> list[Path]:
        """Return the LETOR files of a folder; if a file is also there compressed, only the plain one."""
        plain = [text for text in path.glob("*.txt") if text.is_file()]
        packed = [text for text in path.glob("*.txt.gz") if text.is_file() and text.with_suffix("") not in plain]
        return sorted(plain + packed)


@dataclass(frozen=True)
class QueryFolds(_InTexts):
    """A set without folds, its queries in 5 random folds: one task.

    Attributes
    ----------
    folders
    n_queries : int
        Number of queries in the data of the published figures.
    seed : int
    """

    n_queries: int = 0
    seed: int = 0

    content: ClassVar[str] = "LETOR files *.txt"

    def of(self, path: Path) -> Loaded:
        """Return the folds of all queries in all files."""
        singles = [single for part in load_files(self.texts(path)) for single in _singles(part)]
        if len(singles) < N_FOLDS:
            raise ValueError(f"{path} holds {len(singles)} queries, too few for {N_FOLDS} folds; pass the whole set")
        order = np.random.default_rng(self.seed).permutation(len(singles))
        blocks = [joined([singles[i] for i in order[f::N_FOLDS]]) for f in range(N_FOLDS)]
        return Loaded(rotated(blocks), as_published=len(singles) == self.n_queries)


@dataclass(frozen=True)
class Fifths(_InTexts):
    """A set in five files of queries, S1 to S5, in folds by LETOR's rule: one task.

    Fold f is trained on three files from Sf on, validated on the next and tested on the one after that.

    Attributes
    ----------
    folders
    scale : float
        Factor of grades; metrics with a gain of 2^grade - 1 depend on it.
    edges : tuple of float
        A grade is the number of edges that a judgement reaches; default: the judgement itself.
    """

    scale: float = 1.0
    edges: tuple[float, ...] = ()

    content: ClassVar[str] = "S1.txt to S5.txt, plain or compressed by gzip"

    def holds(self, path: Path) -> bool:
        """Return whether all five files exist."""
        return len(self.texts(path)) == N_FOLDS

    def texts(self, path: Path) -> list[Path]:
        """Return the existing files among S1 to S5."""
        names = {f"S{number}{suffix}" for number in range(1, N_FOLDS + 1) for suffix in (".txt", ".txt.gz")}
        return [text for text in super().texts(path) if text.name in names]

    def of(self, path: Path) -> Loaded:
        """Return the folds."""
        fifths = [self._graded(part) for part in load_files(self.texts(path))]
        y = np.concatenate([part.y for part in fifths])
        note = (
            f"{sum(part.n_queries for part in fifths):,} queries, {len(y):,} documents, {len(np.unique(y))} different "
            f"grades from {y.min():g} to {y.max():g}."
        )
        return Loaded(rotated(fifths), (note,))

    def _graded(self, data: RankingData) -> RankingData:
        y = np.digitize(data.y, self.edges).astype(np.float64) if self.edges else self.scale * data.y
        return replace(data, y=y)


@dataclass(frozen=True)
class MovieLensUsers(Source):
    """Each user of MovieLens-100k with enough ratings is a task, with films in 5 folds.

    Attributes
    ----------
    n_ratings : int
        Number of ratings in the data of the published figures.
    seed : int
    """

    n_ratings: int = 100_000
    seed: int = 0

    wanted: ClassVar[str] = "u.data of MovieLens-100k"
    real: ClassVar[bool] = True

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds of all users that have a feature."""
        found = [] if folder is None else [path for at in ("", "*/") for path in sorted(folder.glob(f"{at}u.data"))]
        if not found:
            return None
        ratings = load_movielens(found[0])
        tasks = user_tasks(ratings)
        with_features = [task for task in tasks if task.n_features]
        if not with_features:
            raise ValueError(f"{found[0]}: no user has 100 ratings; pass the whole u.data")
        splits = [
            split
            for task in with_features
            for split in split_rows(task, f"user {task.qid[0]}", (self.seed, int(task.qid[0])))
        ]
        note = (
            f"{len(tasks)} users have at least 100 ratings; {len(tasks) - len(with_features)} of them have no feature "
            "(no other user has rated 50% of their films) and make no task."
        )
        return Loaded(splits, (note,), as_published=len(ratings) == self.n_ratings)


@dataclass(frozen=True)
class BundledFolds(Source):
    """The bundled set, its queries in 5 folds: one task."""

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds."""
        if folder is not None:
            return None
        singles = [single for part in load_bundled() for single in _singles(part)]
        return Loaded(rotated([joined(singles[f::N_FOLDS]) for f in range(N_FOLDS)]))


@dataclass(frozen=True)
class BundledQueries(Source):
    """The queries of the bundled set with the most pairs: each is a task, with documents in 5 folds."""

    most: int

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the folds of the chosen queries."""
        if folder is not None:
            return None
        return replace(SingleQueries((), most=self.most).of_parts(load_bundled()), as_published=False)
