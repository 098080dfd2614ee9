"""Check the statistics of `compare` against a known truth: p under an exact null, intervals, and other seeds.

``python -m studies.calibration null`` exchanges the results of two methods at random: p ≤ .05 must come in
5 % of the trials. ``… coverage`` draws test sets of two rankers whose true difference is known: 95 % of the
intervals must hold it. ``… trainings`` compares one loss with itself under other seeds, on real data.
Every trial goes through `CompareResult`, as a user's comparison does.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.compare import compare
from boostplug.comparison.comparison import Comparison
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.comparison.training.runs import Method, MethodRun
from boostplug.comparison.training.trees import Trees
from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData, load_bundled, make_ranking
from boostplug.losses import MPBoost, QBRank
from boostplug.metrics import NDCG
from studies.quality.sets import SETS, share_of
from studies.tables import decimals, markdown, publish, with_error

__all__ = [
    "DESIGNS",
    "Design",
    "Estimate",
    "Pool",
    "Sample",
    "coverage",
    "estimate",
    "null",
    "part_of",
    "pool",
    "trainings",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_METRIC = NDCG(10)
_METHODS = (Method("lambdarank", "lightgbm", "lambdarank", is_reference=True), Method("QBRank", "lightgbm", QBRank()))
_LEVEL = 0.05
_compared = partial(compare, frameworks="lightgbm", metrics=_METRIC, progress=False)


class Estimate(NamedTuple):
    """What `compare` says of two methods."""

    difference: float
    low: float
    high: float
    p: float
    z: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval does."""
        return self.low > 0.0 or self.high < 0.0


class Sample(NamedTuple):
    """The test queries of a fold, with the values of two methods there.

    `ours` and `theirs` have the shape (n_seeds, n_queries); NaN where the metric is undefined.
    """

    ids: Integers
    ours: Floats
    theirs: Floats
    weight: Floats | None = None


def estimate(folds: Sequence[Sample]) -> Estimate:
    """Return what `compare` says where two methods have these values; equal ids are equal queries."""
    n_seeds = len(folds[0].ours)
    data = LoadedData([[part] * 3 for part in map(part_of, folds)])
    plan = TrainingPlan(_METRIC, _METRIC, [_METRIC], Trees(), 1, None, 1, 0, range(n_seeds))
    runs = []
    for number, fold in enumerate(folds):
        for method, values in zip(_METHODS, (fold.theirs, fold.ours), strict=True):
            for seed in range(n_seeds):
                mean = {_METRIC.name: float(np.nanmean(values[seed]))}
                named = {"framework": method.framework, "method": method.name, "fold": number, "seed": seed}
                on_test = {"test": mean, "per_query": {_METRIC.name: values[seed]}}
                runs.append(MethodRun(**named, rounds=1, **on_test))
    found = Comparison(data, plan, _METHODS, runs).rows[_METHODS[1]]
    low, high = found["interval"]
    return Estimate(found["difference"], low, high, found["p"], found["z"])


def part_of(fold: Sample) -> CheckedInputs:
    """Return a test part in which each query is one document; an undefined one has no relevant document."""
    n = len(fold.ids)
    labels = np.where(np.isnan(fold.ours[0]), 0.0, 1.0)
    queries = Queries(labels, group=np.ones(n, np.int64), weight=fold.weight)
    return CheckedInputs(fold.ids[:, None].astype(np.float64), queries, fold.ids)


@dataclass(frozen=True, eq=False)
class Pool:
    """Values of two methods on fresh queries, by method, fold, seed and query; NaN where the metric is undefined."""

    values: Floats
    weight: Floats

    def sample(self, design: "Design", rng: np.random.Generator) -> list[Sample]:
        """Return test queries for each fold of a design, drawn without replacement."""
        own = design.n_queries // design.n_folds
        drawn = rng.choice(self.values.shape[-1], design.n_folds * own + design.n_shared, replace=False)
        shared = drawn[design.n_folds * own :]
        folds = []
        for f in range(design.n_folds):
            ids = np.concatenate([drawn[f * own : (f + 1) * own], shared])
            ours, theirs = self.values[:, self._fold(f), : design.n_seeds, ids].transpose(1, 2, 0)
            folds.append(Sample(ids, ours, theirs, self.weight[ids] if design.weighted else None))
        return folds

    def difference(self, design: "Design") -> float:
        """Return the difference over all queries, each fold weighing the same: what a design estimates."""
        weight = self.weight if design.weighted else np.ones_like(self.weight)
        of_folds = []
        for f in range(design.n_folds):
            ours, theirs = self.values[:, self._fold(f), : design.n_seeds].mean(axis=1)
            defined = ~np.isnan(ours)
            of_folds.append(np.average((ours - theirs)[defined], weights=weight[defined]))
        return float(np.mean(of_folds))

    def _fold(self, number: int) -> int:
        return number % len(self.values[0])


def pool(n_queries: int, *, n_folds: int = 3, n_seeds: int = 3, n_train: int = 150, rounds: int = 30) -> Pool:
    """Return two built-in objectives of LightGBM on fresh queries of the data that they were trained on.

    Each fold has `n_train` training queries, and a third as many validate.
    """
    methods = ("regression", "lambdarank")  # the second is the reference
    sizes = [n_train, n_train // 3] * n_folds + [n_queries]
    *parts, fresh = _cut(make_ranking(sum(sizes), mean_list_size=8, random_state=25), sizes)
    values = np.empty((2, n_folds, n_seeds, n_queries))
    for f in range(n_folds):
        own = (*parts[2 * f : 2 * f + 2], fresh)
        found = _compared(*own, losses=[], baselines=methods, rounds=rounds, seeds=n_seeds, early_stopping_rounds=None)
        for cell in found.outcomes.runs:
            values[methods.index(cell.method), f, cell.seed] = cell.per_query[_METRIC.name]
    rng = np.random.default_rng(0)
    weight = np.exp(0.6 * rng.normal(size=n_queries)) * np.sqrt(fresh.group / fresh.group.mean())
    return Pool(values, weight)


def _cut(data: RankingData, sizes: Sequence[int]) -> list[RankingData]:
    """Return so many queries each, in order."""
    edges = data.queries.boundaries[np.cumsum([0, *sizes])]
    return [
        RankingData(data.X[start:end], data.y[start:end], qid=data.qid[start:end]) for start, end in pairwise(edges)
    ]


@dataclass(frozen=True)
class Design:
    """The size of a comparison; `n_shared` test queries stand in every fold, beside `n_queries` that stand in one."""

    n_queries: int
    n_folds: int = 1
    n_seeds: int = 1
    weighted: bool = False
    n_shared: int = 0


DESIGNS = (
    Design(35),
    Design(35, weighted=True, n_seeds=3),
    Design(100, n_seeds=3),
    Design(100, n_folds=5, n_seeds=3),
    Design(100, n_folds=5, weighted=True),
    Design(300, weighted=True, n_seeds=3),
    Design(300, n_folds=5, weighted=True, n_seeds=3),
)
"""Sizes whose intervals are checked."""
_SHARED = (
    Design(60, n_folds=3, n_seeds=2, n_shared=30),
    Design(150, n_folds=5, n_seeds=2, weighted=True, n_shared=50),
    Design(0, n_folds=10, n_shared=100),
)


def exchanged(folds: Sequence[Sample], rng: np.random.Generator) -> list[Sample]:
    """Exchange two methods in half of the queries, at random; a query in all its seeds and folds together."""
    ids = np.unique(np.concatenate([fold.ids for fold in folds]))
    exchange = rng.random(len(ids)) < 0.5
    result = []
    for fold in folds:
        here = exchange[np.searchsorted(ids, fold.ids)]
        ours, theirs = np.where(here, fold.theirs, fold.ours), np.where(here, fold.ours, fold.theirs)
        result.append(fold._replace(ours=ours, theirs=theirs))
    return result


def null(values: Pool, designs: Sequence[Design], trials: int, *, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield for each design how often two methods that are exchanged at random differ significantly."""
    for design in designs:
        rng = np.random.default_rng([seed, *asdict(design).values()])
        found = [estimate(exchanged(values.sample(design, rng), rng)) for _ in range(trials)]
        yield {**asdict(design), "trials": trials, **_rejections(found)}


def coverage(values: Pool, designs: Sequence[Design], trials: int, *, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield for each design how often the interval holds the difference over all queries of the pool."""
    for design in designs:
        rng = np.random.default_rng([seed, *asdict(design).values()])
        true = values.difference(design)
        found = [estimate(values.sample(design, rng)) for _ in range(trials)]
        below, above = sum(one.high < true for one in found), sum(one.low > true for one in found)
        yield {
            **asdict(design),
            "trials": trials,
            "true_difference": true,
            "below": below / trials,
            "above": above / trials,
            "coverage": 1.0 - (below + above) / trials,
            "width": float(np.mean([one.high - one.low for one in found])),
        }


_SETS = {"mslr": 2, "mq2008": 2, "ohsumed": 3, "yandex": 1, "nfcorpus": 1, "jester": 1}  # and how many folds
_LOSSES = (QBRank(), MPBoost())
_MOST_TRAINED = 400  # queries of a fold
_TOGETHER = 3  # seeds whose mean is compared
_ROUNDS = {None: 20, 10: 60}  # at most, by how long early stopping waits for a better one
_PARAMS = {"num_leaves": 7}


def trainings(folder: Path | None, n_pairs: int) -> Iterator[dict[str, Any]]:
    """Yield for each set and loss how often trainings differ significantly that differ in their seeds.

    Without a folder of data sets it takes the bundled set. No training is in two of the `n_pairs` pairs.
    """
    sets = {name: n for name, n in _SETS.items() if folder is not None and (folder / SETS[name].folder).is_dir()}
    for name in sets or ["bundled"]:
        if folder is None or name not in sets:
            folds: list[Any] = [load_bundled()]
        else:
            folds = [_as_data(SETS[name].load(folder, f)) for f in range(sets[name])]
        for patience, rounds in _ROUNDS.items():
            for row in _other_seeds(folds, n_pairs, patience, rounds):
                yield {"data": name, "stopping": patience is not None, "n_folds": len(folds), **row}


def _other_seeds(folds: list[Any], n_pairs: int, patience: int | None, rounds: int) -> Iterator[dict[str, Any]]:
    """Train each loss with many seeds, and compare single seeds, and means of several, with others."""
    more = {"seeds": 2 * n_pairs, "early_stopping_rounds": patience, "params": _PARAMS}
    found = _compared(folds, losses=_LOSSES, baselines=[], rounds=rounds, **more)
    for method in found.outcomes.methods:
        of_runs = {run: cell.per_query[_METRIC.name] for run, cell in found.outcomes.finished(method).items()}
        for n_seeds in (1, _TOGETHER):
            judged = _pairs_of_seeds(of_runs, len(folds), 2 * n_pairs, n_seeds)
            if judged:
                yield {"loss": method.name, "n_seeds": n_seeds, "trials": len(judged), **_rejections(judged)}


def _as_data(fold: tuple[CheckedInputs, CheckedInputs, CheckedInputs]) -> tuple[RankingData, ...]:
    """Return a fold of the study as `compare` takes it, large ones with fewer queries to train on."""
    train, valid, test = fold
    train = share_of(train, min(1.0, _MOST_TRAINED / train.queries.n_queries))
    return tuple(RankingData(part.X, part.queries.labels, group=part.group) for part in (train, valid, test))


def _pairs_of_seeds(of_runs: dict[tuple[int, int], Floats], n_folds: int, n_all: int, n_seeds: int) -> list[Estimate]:
    """Compare the first `n_seeds` seeds with the next ones, and so on; no seed is used twice."""
    edges = np.cumsum([0, *(len(of_runs[f, 0]) for f in range(n_folds))])
    ids = [np.arange(start, end) for start, end in pairwise(edges)]
    found = []
    for first in range(0, n_all - 2 * n_seeds + 1, 2 * n_seeds):
        ours, theirs = (range(start, start + n_seeds) for start in (first, first + n_seeds))
        folds = [
            Sample(ids[f], np.array([of_runs[f, s] for s in ours]), np.array([of_runs[f, s] for s in theirs]))
            for f in range(n_folds)
        ]
        found.append(estimate(folds))
    return found


def _rejections(found: Sequence[Estimate]) -> dict[str, float]:
    """Return the shares of the trials in which two methods are called different."""
    return {
        "p": float(np.mean([one.p <= _LEVEL for one in found])),
        "interval": float(np.mean([one.excludes_zero for one in found])),
        "z": float(np.mean([abs(one.z) > 1.96 for one in found])),
    }


_EXPECTED = {"p": _LEVEL, "interval": _LEVEL, "coverage": 1.0 - _LEVEL}
_LINES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("nothing differs: p ≤ .05", "null", "p", {}),
    ("nothing differs: interval without 0", "null", "interval", {}),
    ("a true difference: interval holds it", "coverage", "coverage", {}),
    *(
        (
            f"one loss, other seeds, {seeds}{stopped}: p ≤ .05",
            "trainings",
            "p",
            {"stopping": bool(stopped), "n_seeds": n},
        )
        for stopped in ("", ", early stopping")
        for n, seeds in ((1, "single trainings"), (_TOGETHER, "means of three"))
    ),
)
"""Lines of the page's table: the study, the share, and the rows that count."""


def tables(found: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, list[str]]:
    """Return the page's table: each share over all trials, and the lowest and highest over the rows of the study."""
    body = []
    for title, study, name, kind in _LINES:
        rows = [row for row in found.get(study, ()) if kind.items() <= row.items()]
        if rows:
            shares, trials = [row[name] for row in rows], [row["trials"] for row in rows]
            ends = f"{_percent(min(shares))} to {_percent(max(shares))}"
            mean = float(np.average(shares, weights=trials))
            body.append([title, f"{sum(trials):,}", _percent(mean), ends, _percent(_EXPECTED[name])])
    heads = ["what is counted", "trials", "share", "by row", "expected"]
    return {"shares": markdown(heads, body, numbers=True), "changes": _changes(found.get("changes", ()))}


def _changes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table of complete comparisons, from `studies.verdicts`."""
    body = []
    for row in rows:
        means = [decimals(row[name][0], 4, "+") if any(row[name]) else "0" for name in ("promised", "true")]
        share = f"{row['advised']} of {row['trials']}, {_percent(row['advised'] / row['trials'])}"
        held = _percent(row["covered"][0] / row["covered"][1])
        body.append([row["design"], f"{row['queries']:.0f}", *means, with_error(row["promised - true"]), share, held])
    heads = [
        "design",
        "test queries",
        "promised",
        "true",
        "promised − true",
        "a change is advised",
        "the interval holds",
    ]
    return markdown(heads, body, numbers=True)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main(arguments: list[str] | None = None) -> None:
    """Run one of the studies, and print its shares."""
    parser = argparse.ArgumentParser(prog="python -m studies.calibration", description=__doc__)
    parser.add_argument("study", choices=["null", "coverage", "trainings"])
    parser.add_argument("--trials", type=int, help="of each design, default 1000; pairs of each set and loss, 10")
    parser.add_argument("--write", nargs=2, metavar=("RESULT.json", "PAGE.md"), help="files to write the shares to")
    given = parser.parse_args(arguments)
    rows = [*_study(given.study, given.trials or (10 if given.study == "trainings" else 1000))]
    sys.stdout.write("\n".join(tables({given.study: rows})["shares"]))
    if given.write is not None:
        result, page = given.write
        publish({**json.loads(Path(result).read_text(encoding="utf-8")), given.study: rows}, result, page, tables)


def _study(study: str, trials: int) -> Iterator[dict[str, Any]]:
    if study == "trainings":
        folder = os.environ.get("BOOSTPLUG_DATA")
        yield from trainings(Path(folder) if folder else None, trials)
    elif study == "null":
        yield from null(pool(5_000), (*DESIGNS, *_SHARED), trials)
    else:
        yield from coverage(pool(100_000), DESIGNS, trials)


if __name__ == "__main__":
    main()
