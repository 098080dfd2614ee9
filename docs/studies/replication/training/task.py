"""One task, a learner on one split: training, measures after every round, choice of the round on validation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from boostplug.comparison.summary import to_json
from boostplug.core.arrays import Floats, Ints
from boostplug.core.best_round import BestRound, rounding
from boostplug.core.threads import threads_of_framework
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData
from boostplug.metrics import Metric
from boostplug.rankers import ReferenceRanker
from studies.replication.training.study import PARTS, Learner, Study
from studies.sources import Split

TaskResult = dict[str, Any]

STEADY = "steady climb of "
"""Before the name of a trace: 1 where it has never fallen before its highest so far, which is not its first, else 0."""

_BLOCKS = 20  # blocks of queries, for metrics that are not means over queries
_DIGITS = 6  # of curves, which are only drawn


@dataclass(frozen=True, eq=False)
class Job:
    """Input of a task for its process."""

    study: Study
    split: Split
    learner: Learner
    seed: int

    @property
    def key(self) -> str:
        """Unique within a protocol."""
        return f"{self.study.name} | {self.split.task} | fold {self.split.fold} | {self.learner.name}"


def marks(rounds: int) -> list[int]:
    """Return the rounds at which curves are recorded: 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, …, the last."""
    steps = [1, 2, 3, 5, 7, *(m * 10**e for e in range(1, len(str(rounds))) for m in (1, 1.5, 2, 3, 5, 7))]
    return [int(step) for step in steps if step < rounds] + [rounds]


def run(job: Job) -> TaskResult:
    """Return the outcome of a task, in plain types; an error is an outcome too.

    Returns
    -------
    dict
        Either ``error`` or ``value``, a dict. By measure it has ``round``, ``candidate`` (of the grid), and for each
        part the values. ``curves`` are by part, measure and mark. ``per_query`` is by measure, on the test part; for a
        metric that pools queries it is by block of queries (see `_units`). ``rounds`` and ``stop`` are those of the
        first candidate. NaN is None.
    """
    try:
        with threads_of_framework(1):
            return {"value": to_json(_run(job), finite=True)}
    except Exception as error:  # noqa: BLE001 (the result reports it, and other tasks continue)
        return {"error": f"{type(error).__name__}: {error}"}


def _run(job: Job) -> dict[str, Any]:
    study, split = job.study, job.split
    fits = [_fit(job.learner, params, study.rounds, job.seed, split.train) for params in job.learner.grid]
    on_vali = [_Stages.of(ranker, split.vali) for ranker in fits]
    judges = {measure.key: measure.chosen_by or measure.metric for measure in study.measures}
    best = {judge: _choose(judge, on_vali) for judge in set(judges.values())}
    chosen = {key: best[judge] for key, judge in judges.items()}
    out: dict[str, Any] = {
        "rounds": len(fits[0].model_.rounds),
        "stop": fits[0].stop_reason_,
        "candidate": {key: candidate for key, (candidate, _) in chosen.items()},
        "round": {key: last for key, (_, last) in chosen.items()},
        "curves": {},
        "per_query": {},
    }
    for part in PARTS:
        data: RankingData = getattr(split, part)
        values, curves = {}, {}
        for candidate, ranker in enumerate(fits):
            mine = [measure for measure in study.measures if chosen[measure.key][0] == candidate]
            at = [min(mark, len(ranker.model_.rounds)) for mark in marks(study.rounds)]
            wanted = sorted({*at, *(chosen[measure.key][1] for measure in mine)})
            stages = on_vali[candidate].at(wanted) if part == "vali" else _Stages.of(ranker, data, wanted)
            for measure in mine:
                by_round = dict(zip(wanted, stages.values(measure.metric), strict=True))
                last = chosen[measure.key][1]
                values[measure.key] = by_round[last]
                curves[measure.key] = [round(by_round[r], _DIGITS) for r in at]
                if part == "test" and data.n_queries > 1:
                    scores = stages.scores[wanted.index(last)]
                    out["per_query"][measure.key] = _units(measure.metric, scores, data.queries).tolist()
        out[part] = {measure.key: values[measure.key] for measure in study.measures}
        out["curves"][part] = {measure.key: curves[measure.key] for measure in study.measures}
    history = fits[0].history_
    for trace in study.traces:
        record = history.get(trace.removeprefix(STEADY))
        if record is not None and len(record):
            record = steady(record) if trace.startswith(STEADY) else record
            at = [min(mark, len(record)) for mark in marks(study.rounds)]
            out["curves"].setdefault("trace", {})[trace] = [round(float(record[r - 1]), _DIGITS) for r in at]
    return out


def steady(values: Floats) -> Floats:
    """Return `STEADY` round by round; it depends on all rounds, not only on the recorded ones."""
    falls = [after < before - rounding(before, after) for before, after in pairwise(values)]
    fallen = np.cumsum([False, *falls])
    rises = np.r_[True, values[1:] > np.maximum.accumulate(values)[:-1]]
    highest = np.maximum.accumulate(np.where(rises, np.arange(len(values)), 0))
    steady: Floats = ((highest > 0) & (fallen[highest] == 0)).astype(np.float64)
    return steady


def pools_queries(metric: Metric) -> bool:
    """Return whether a metric is not a mean over queries, so that its units are blocks of queries."""
    return bool(metric.couples_queries or getattr(metric, "pooled", False))


def by_block(values: Floats) -> Floats:
    """Return values for blocks of a test part's queries, with the mean of the defined queries."""
    defined = ~np.isnan(values)
    sums = np.bincount(_blocks(len(values)), np.where(defined, values, 0.0))
    return sums * (len(sums) / defined.sum()) if defined.any() else np.full(len(sums), np.nan)


def _blocks(n_queries: int) -> Ints:
    """Return the block of each query."""
    return np.arange(n_queries) % min(_BLOCKS, n_queries)


def _units(metric: Metric, scores: Floats, queries: Queries) -> Floats:
    """Return a metric of each query, or values for blocks of queries if it is not a mean over queries.

    Block values are the jackknife's pseudo-values for 20 blocks, g θ - (g - 1) θ_(-i), shifted to the mean θ. They vary
    as θ does (Efron and Tibshirani, "An introduction to the bootstrap", 1993, Section 11.5).
    """
    if not pools_queries(metric):
        return metric.per_query(scores, queries)
    of_query = _blocks(queries.n_queries)
    block, n_blocks = np.repeat(of_query, np.diff(queries.boundaries)), of_query.max() + 1
    whole = float(metric(scores, queries))
    without = np.array([metric(scores[block != b], queries.of_rows(block != b)) for b in range(n_blocks)])
    values: Floats = whole - (n_blocks - 1) * (without - without.mean())
    return values


def _fit(learner: Learner, params: Mapping[str, Any], rounds: int, seed: int, train: RankingData) -> ReferenceRanker:
    settings = {**learner.params, **params}
    ranker = learner.ranker(**{"n_estimators": rounds, "random_state": seed, **settings})
    if learner.use is not None:
        return ranker.fit(**learner.use(train))
    return ranker.fit(train.X, train.y, group=train.group)


@dataclass(frozen=True, eq=False)
class _Stages:
    """The scores of a model after some of its rounds, on one part."""

    rounds: Sequence[int]
    scores: Floats  # (rounds, rows)
    data: RankingData
    _copies: Queries | None

    @classmethod
    def of(cls, ranker: ReferenceRanker, data: RankingData, rounds: Sequence[int] | None = None) -> "_Stages":
        """Return the scores after `rounds`; default: all rounds, or round 0 with scores 0 if the model has none."""
        n_rounds = len(ranker.model_.rounds)
        rounds = range(min(1, n_rounds), n_rounds + 1) if rounds is None else rounds
        kept = set(rounds)
        scores = [np.zeros(data.n_rows)] if 0 in kept else []
        scores += [stage for r, stage in enumerate(ranker.staged_predict(data.X), 1) if r in kept]
        return cls._new(rounds, np.array(scores), data)

    @classmethod
    def _new(cls, rounds: Sequence[int], scores: Floats, data: RankingData) -> "_Stages":
        copies = None
        if data.n_queries == 1:  # all rounds at once, as queries of one set
            copies = Queries(np.tile(data.y, len(scores)), group=np.full(len(scores), data.n_rows))
        return cls(rounds, scores, data, copies)

    def at(self, rounds: Sequence[int]) -> "_Stages":
        """Return the stages of some of the rounds."""
        return self._new(rounds, self.scores[[self.rounds.index(r) for r in rounds]], self.data)

    def values(self, metric: Metric) -> Floats:
        """Return a metric after each of the rounds."""
        if self._copies is not None:
            return metric.per_query(self.scores.ravel(), self._copies)
        return np.array([metric(stage, self.data.queries) for stage in self.scores])


def _choose(metric: Metric, stages: Sequence[_Stages]) -> tuple[int, int]:
    """Return candidate and round of the best validation value, the first of ties; the last round if undefined."""
    best = BestRound(greater_is_better=metric.greater_is_better)
    for of_candidate in stages:
        for value in of_candidate.values(metric):
            best.add(value)
    places = [(candidate, last) for candidate, of_candidate in enumerate(stages) for last in of_candidate.rounds]
    return places[best.number - 1] if best.number else (0, stages[0].rounds[-1])
