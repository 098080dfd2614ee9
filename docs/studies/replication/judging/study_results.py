"""Results of a study over all its tasks: means, ranks over tasks, curves."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from boostplug.core.arrays import Floats
from studies.replication.training.study import PARTS, Learner, Study
from studies.replication.training.task import TaskResult, by_block, marks, pools_queries
from studies.sources import Loaded

_LEVEL = 0.05
_EQUAL = 10  # decimals; values that differ only by rounding share a rank


class StudyResults:
    """The finished tasks of a study.

    Ranks are of tasks, by their means over folds; in a study of one task, of its folds. A task is left out for all
    learners if one has not finished it, or if the measure is undefined on it.

    Parameters
    ----------
    study : Study
    loaded : Loaded
    results : mapping of (task, fold, learner) to dict
        The return values of `task.run`.
    """

    def __init__(self, study: Study, loaded: Loaded, results: Mapping[tuple[str, int, str], TaskResult]) -> None:
        self.study, self.loaded, self._results = study, loaded, results
        self.learners = [learner.name for learner in study.learners]
        self.tasks = list(dict.fromkeys(split.task for split in loaded.splits))
        self.folds = sorted({split.fold for split in loaded.splits})
        self._metrics = {measure.key: measure.metric for measure in study.measures}

    def sign(self, measure: str) -> float:
        """Return 1 if greater values of a measure are better, else -1."""
        return 1.0 if self._metrics[measure].greater_is_better else -1.0

    def table(self, learner: str, measure: str, part: str = "test") -> Floats:
        """Return values of shape (n_tasks, n_folds), NaN for missing ones."""
        return np.array(
            [
                [_number(self._value(task, fold, learner).get(part, {}).get(measure)) for fold in self.folds]
                for task in self.tasks
            ]
        )

    def _value(self, task: str, fold: int, learner: str) -> dict[str, Any]:
        value: dict[str, Any] = self._results.get((task, fold, learner), {}).get("value", {})
        return value

    def units(self, measure: str) -> Floats:
        """Return values of shape (n_units, n_learners), for the units with a value of every learner."""
        tables = [self.table(learner, measure) for learner in self.learners]
        columns = [_mean(table, axis=1) if len(self.tasks) > 1 else table[0] for table in tables]
        values = np.array(columns).T
        complete: Floats = values[~np.isnan(values).any(axis=1)]
        return complete

    def in_blocks(self, measure: str) -> bool:
        """Return whether the units of a measure are blocks of queries in a study of one task."""
        return pools_queries(self._metrics[measure])

    def unit_values(
        self, learner: str, measure: str, part: str = "test", *, blocks: bool = False
    ) -> tuple[Floats, Floats]:
        """Return the value of each unit (NaN where undefined), and the fold of each.

        Units are tasks, by their means over folds, all of fold 0. In a study of one task, they are the queries of the
        test parts. For a metric that pools queries, or with `blocks`, they are blocks of queries. For another part, or
        if a test part is one query, they are the folds, also all of fold 0.
        """
        table = self.table(learner, measure, part)
        if len(self.tasks) > 1:
            values: Floats = _mean(table, axis=1)
            return values, np.zeros(len(values))
        found = [self._value(self.tasks[0], fold, learner).get("per_query", {}).get(measure) for fold in self.folds]
        if part != "test" or None in found:
            return table[0], np.zeros(len(self.folds))
        of_folds = [np.array([_number(value) for value in own]) for own in found]
        if blocks and not self.in_blocks(measure):
            of_folds = [by_block(own) for own in of_folds]
        return np.concatenate(of_folds), np.repeat(np.array(self.folds, float), [len(own) for own in of_folds])

    def split_curves(self, learner: str, part: str, name: str) -> Floats:
        """Return the curve of each split that has one, at each of `marks`."""
        return np.array([curve for _, curve in self._curves(learner, part, name)])

    def unit_curves(self, learner: str, part: str, name: str) -> Floats:
        """Return the curves of each task, or of each fold in a study of one task: of shape (n_units, n_marks).

        A task's curve is the mean over its folds, or for a trace the median, because traces may be unbounded. Missing
        curves are NaN.
        """
        by_unit: dict[Any, list[Floats]] = {unit: [] for unit in (self.tasks if len(self.tasks) > 1 else self.folds)}
        for (task, fold), curve in self._curves(learner, part, name):
            by_unit[task if len(self.tasks) > 1 else fold].append(curve)
        none = np.full(len(marks(self.study.rounds)), np.nan)
        centre = np.median if part == "trace" else np.mean
        return np.array([centre(own, axis=0) if own else none for own in by_unit.values()])

    def _curves(self, learner: str, part: str, name: str) -> Iterator[tuple[tuple[str, int], Floats]]:
        for split in self.loaded.splits:
            curve = self._value(split.task, split.fold, learner).get("curves", {}).get(part, {}).get(name)
            if curve:
                yield (split.task, split.fold), np.array([_number(value) for value in curve])

    def chosen(self, learner: str, measure: str) -> list[Mapping[str, Any]]:
        """Return the chosen parameters of the grid, by split."""
        grid = next(one.grid for one in self.study.learners if one.name == learner)
        splits = [self._value(split.task, split.fold, learner) for split in self.loaded.splits]
        return [grid[value["candidate"][measure]] for value in splits if value]

    def mean(self, learner: str, measure: str, part: str = "test") -> float:
        """Return the mean over folds, then tasks."""
        return float(_mean(_mean(self.table(learner, measure, part), axis=1), axis=0))

    def ranks(self, measure: str) -> Floats:
        """Return ranks of shape (n_units, n_learners), 1 the best; equal values share a rank."""
        ranks: Floats = stats.rankdata(np.round(-self.sign(measure) * self.units(measure), _EQUAL), axis=1)
        return ranks

    def mean_ranks(self, measure: str) -> dict[str, float]:
        """Return mean ranks over units."""
        return dict(zip(self.learners, _mean(self.ranks(measure), axis=0).tolist(), strict=True))

    def critical_difference(self, measure: str) -> float:
        """Return the difference of mean ranks that is significant for two learners at .05 (Nemenyi; Demšar 2006)."""
        k, n = len(self.learners), len(self.units(measure))
        q = stats.studentized_range.ppf(1.0 - _LEVEL, k, np.inf) / np.sqrt(2.0)
        return float(q * np.sqrt(k * (k + 1) / (6.0 * n))) if n else float("nan")

    def curve(self, learner: str, part: str, name: str) -> Floats:
        """Return the mean over tasks and folds at each of `marks`, NaN where nothing was recorded.

        For a trace it is the median, because traces may be unbounded: the E2 of discrete RankBoost exceeds 1e50.
        """
        rows = self.split_curves(learner, part, name)
        if not len(rows):
            return np.full(len(marks(self.study.rounds)), np.nan)
        if part == "trace":
            defined = [column[~np.isnan(column)] for column in rows.T]
            return np.array([np.median(column) if len(column) else np.nan for column in defined])
        mean: Floats = _mean(rows, axis=0)
        return mean

    @property
    def errors(self) -> dict[str, str]:
        """Errors by task, fold and learner."""
        failed = {key: result["error"] for key, result in self._results.items() if "error" in result}
        return {f"{task} fold {fold} {learner}".strip(): error for (task, fold, learner), error in failed.items()}

    @property
    def document(self) -> dict[str, Any]:
        """The results in JSON's types, except for NaN."""
        measures = [measure.key for measure in self.study.measures]
        curves = dict.fromkeys(PARTS, measures) | {"trace": list(self.study.traces)}
        return {
            "name": self.study.name,
            "source": repr(self.study.source),
            "tasks": len(self.tasks),
            "folds": len(self.folds),
            "rounds": self.study.rounds,
            "notes": list(self.loaded.notes),
            "published_applies": self.loaded.as_published,
            "real": self.study.source.real,
            "data_sha256": self.loaded.digest,
            "measures": [
                {
                    "key": measure.key,
                    "metric": repr(measure.metric),
                    "chosen_by": repr(measure.chosen_by or measure.metric),
                    "greater_is_better": measure.metric.greater_is_better,
                }
                for measure in self.study.measures
            ],
            "published": {name: dict(row) for name, row in self.study.published.items()},
            "learners": [
                {
                    "name": learner.name,
                    "ranker": learner.ranker.__name__,
                    "params": {key: repr(value) for key, value in learner.params.items()},
                    "grid": [{key: repr(value) for key, value in params.items()} for params in learner.grid],
                    **{part: {key: self.mean(learner.name, key, part) for key in measures} for part in PARTS},
                    "round": {key: self._mean_round(learner.name, key) for key in measures},
                    "candidate": self._candidates(learner, measures),
                    "mean_rank": {key: self.mean_ranks(key)[learner.name] for key in measures},
                    "curves": {
                        part: {name: self.curve(learner.name, part, name).tolist() for name in names}
                        for part, names in curves.items()
                    },
                }
                for learner in self.study.learners
            ],
            "curve_rounds": marks(self.study.rounds),
            "critical_difference": {key: self.critical_difference(key) for key in measures},
            "errors": self.errors,
        }

    def _mean_round(self, learner: str, measure: str) -> float:
        return float(_mean(self.table(learner, measure, "round"), axis=None))

    def _candidates(self, learner: Learner, measures: Sequence[str]) -> dict[str, list[int]]:
        """Return how often each candidate of a grid was chosen, by measure; empty without a choice."""
        if len(learner.grid) == 1:
            return {}
        chosen = {key: self.chosen(learner.name, key) for key in measures}
        return {
            key: [sum(own is params for own in picked) for params in learner.grid] for key, picked in chosen.items()
        }


def fold_weights(folds: Floats) -> Floats:
    """Return a weight for each unit, so that folds have equal weights."""
    _, of_fold, counts = np.unique(folds, return_inverse=True, return_counts=True)
    weight: Floats = 1.0 / counts[of_fold]
    return weight


def extent(study: Mapping[str, Any]) -> str:
    """Return the tasks and folds behind the averages of a study's document, in words."""
    folds = f"{study['folds']} folds" if study["folds"] > 1 else "1 fold"
    if study["tasks"] > 1:
        return f"{study['tasks']} tasks" if study["folds"] == 1 else f"{study['tasks']} tasks of {folds}"
    return folds


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _mean(values: Floats | Sequence[Any], axis: int | None) -> Any:
    """Return the mean of the defined values, NaN if there are none."""
    array = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(array)
    count = defined.sum(axis=axis)
    total = np.where(defined, array, 0.0).sum(axis=axis)
    return np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
