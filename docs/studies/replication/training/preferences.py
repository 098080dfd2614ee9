"""Preferences beside labels: a learner's choice of both, and a synthetic set with both."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData
from studies.sources import Loaded, Source, Split

_N_TRAITS = 6
_N_NOISE = 8
_CUTS = (0.5, 0.75, 0.9, 0.97)  # shares of the documents below grades 1 to 4
_FEW = 10  # documents of a query with a single grade


@dataclass(frozen=True)
class Use:
    """The queries of a training part that a learner uses: L1 has the queries of a single grade, L2 the others.

    Attributes
    ----------
    labels : {"L1", "L2", "all"}
        The queries whose labels count. A learner of only pairs takes them from these grades: P2 from L2.
    preferences : bool, default False
        Use P2 as explicit pairs, with grade gaps as margins, beside the labels and instead of pairs from grades.
    """

    labels: Literal["L1", "L2", "all"]
    preferences: bool = False

    def __call__(self, part: RankingData) -> dict[str, Any]:
        """Return the arguments of ``fit``, with only the queries in use."""
        l2 = _has_pairs(part)
        labelled = {"L1": ~l2, "L2": l2, "all": np.ones_like(l2)}[self.labels]
        used = labelled | l2 if self.preferences else labelled
        rows, group = np.repeat(used, part.group), part.group[used]
        X, y = part.X[rows], part.y[rows]
        if not self.preferences:
            return {"X": X, "y": y, "group": group}
        pairs = _preferences(y, group)
        return {"X": X, "y": y, "group": group, "pairs": pairs, "labelled": np.repeat(labelled[used], group)}


def _has_pairs(part: RankingData) -> NDArray[np.bool_]:
    """Return a mask of the queries with different grades."""
    return np.isin(np.arange(part.n_queries), part.queries.grade_groups.query)


def _preferences(y: Floats, group: Ints) -> Pairs:
    """Return all pairs of different grades within queries, by winner and then loser, with the grade gap as margin."""
    runs = Queries(y, group=group).grade_groups
    blocks = list(runs.pairs())
    winner, loser = (runs.rows[np.concatenate(places)] for places in zip(*blocks, strict=True))
    order = np.lexsort((loser, winner))
    winner, loser = winner[order], loser[order]
    return Pairs(winner, loser, margin=y[winner] - y[loser])


@dataclass(frozen=True)
class SharedGrades(Source):
    """Synthetic sets with the same meaning of grades in all queries, each a task: L1, L2, validation queries, L3.

    Grades come from a utility that all queries share, so that labels can be compared across queries, like those of
    judges with written guidelines. Queries of L1 keep a few documents of their best grade ("a few ideal results") or of
    their worst ("bad ranking cases").

    Attributes
    ----------
    n_tasks : int
    n_queries : tuple of int
        Numbers of queries of L1, L2, validation and L3. Queries of the last three with a single grade are left out.
    size : int
        Number of documents of a query of L2, validation or L3.
    small : bool
        Whether this is the set for runs without a folder, or the one for runs with the folder's data.
    """

    n_tasks: int
    n_queries: tuple[int, int, int, int]
    size: int = 30
    small: bool = False
    seed: int = 0

    def load(self, folder: Path | None) -> Loaded | None:
        """Return the tasks, of one fold each."""
        if self.small != (folder is None):
            return None
        splits = [self._split(i) for i in range(self.n_tasks)]
        train, test = [split.train for split in splits], [split.test for split in splits]
        means = (_mean_size("L1", train, False), _mean_size("L2", train, True), _mean_size("L3", test, True))
        return Loaded(splits, (f"Synthetic, {self.n_tasks} seeds; on average {'; '.join(means)}.",))

    def _split(self, task: int) -> Split:
        rng = np.random.default_rng((self.seed, task))
        X, y = _world(rng, sum(self.n_queries), self.size)
        l1, *others = np.split(np.arange(len(y)).reshape(-1, self.size), np.cumsum(self.n_queries[:-1]))
        single = [_few_of_one_grade(rng, rows, y) for rows in l1]
        l2, vali, test = ([rows for rows in part if y[rows].min() < y[rows].max()] for part in others)
        return Split(f"seed {task}", 1, *(_of_queries(X, y, part, self.size) for part in (single + l2, vali, test)))


def _mean_size(name: str, parts: list[RankingData], l2: bool) -> str:
    """Return the mean numbers of queries and documents of parts, of L2 or of L1, in words."""
    sizes = [part.group[_has_pairs(part) == l2] for part in parts]
    queries, documents = np.mean([(len(group), group.sum()) for group in sizes], axis=0)
    return f"{name} of {queries:.0f} queries, {documents:.0f} documents"


def _few_of_one_grade(rng: np.random.Generator, rows: Ints, y: Floats) -> Ints:
    grade = y[rows].max() if rng.random() < 0.5 else y[rows].min()
    kept: Ints = np.sort(rng.permutation(rows[y[rows] == grade])[:_FEW])
    return kept


def _of_queries(X: NDArray[np.float32], y: Floats, queries: list[Ints], size: int) -> RankingData:
    rows = np.concatenate(queries)
    return RankingData(X=X[rows], y=y[rows], qid=rows // size, group=np.array([len(query) for query in queries]))


def _world(rng: np.random.Generator, n_queries: int, size: int) -> tuple[NDArray[np.float32], Floats]:
    """Return features and grades of `n_queries` queries of `size` documents."""
    n_rows = n_queries * size
    shared = np.repeat(rng.normal(size=(n_queries, _N_TRAITS)), size, axis=0)
    traits = 0.7 * shared + 0.7 * rng.normal(size=(n_rows, _N_TRAITS))
    a, b, c, d, e, f = traits.T
    utility = a + 0.8 * np.abs(b) + 0.6 * c * (d > 0) + 0.5 * np.minimum(a, e) + 0.4 * np.tanh(2.0 * f)
    utility += 0.6 * rng.normal(size=n_rows)
    y = np.searchsorted(np.quantile(utility, _CUTS), utility).astype(np.float64)
    blend = np.eye(_N_TRAITS) + 0.4 * rng.normal(size=(_N_TRAITS, _N_TRAITS))
    views = (
        traits @ blend + 0.3 * rng.normal(size=traits.shape),
        traits + 0.8 * rng.normal(size=traits.shape),
        rng.normal(size=(n_rows, _N_NOISE)),
    )
    return np.hstack(views).astype(np.float32), y
