"""One chosen document per list, a booking, a purchase or a winner: which loss ranks it first, and which is calibrated.

``python -m studies.chosen train FOLDER STORE lightgbm xgboost catboost`` trains what STORE lacks, ``python -m
studies.chosen page STORE RESULT.json PAGE.md`` fills the page. FOLDER holds the data sets.

The protocol, fixed before the first training
---------------------------------------------
Sets: Yandex, NFCorpus, Jester, the sample of MSLR and MovieLens, in which one of the best documents of each query is
the chosen one, with label 1; and a simulation with a known conditional logit. All five folds of each: three fifths
train, one stops, one tests. Five seeds.

Trees: 24 leaves, learning rate .08, 80 % of rows and columns, else those of `compare`; at most 300 rounds, stopped
after 40 without a better NDCG@10 on the validation part. CatBoost has its own defaults and depth 5.

Measured on test: NDCG@10, MRR, whether the chosen document is first (hit rate), the log loss of the choice, the
calibration error of the probabilities (in ten bins of equal expected choices, their mean |chosen - expected| over the
number of lists), rounds, and seconds of processor, all in one thread.

Opponents, as users have them: lambdarank and rank:ndcg. Others: lambdarank without its norm, rank_xendcg, rank:map,
rank:pairwise, classification (binary, reg:logistic), and CatBoost's QuerySoftMax and YetiRank. Ours in both
frameworks: ListNet(target="labels"), QBRank, RankNet, NDCGBoost, and LambdaRank(metric=MRR()).

Differences are of queries, each with its mean over seeds. Pooled: the five real sets, every query counts the same, z is
the mean over its standard error.

Rule. The loss named first is the one of ours with the largest difference of NDCG@10 to LambdaMART as users have it,
pooled over both frameworks. Of losses within .001 of it, the one with the lowest log loss of the choice, pooled.

Lists in which nothing was chosen: on Yandex a list whose best grade is below 3 has no choice, as most have; in
the simulation "none of these" has a utility of its own, and wins three quarters of the lists. ListNet(target="labels")
passes such lists over. Beside it stand LogisticError, and sums with LogisticError weighted .1, .3 and 1, in LightGBM
with five seeds, judged on lists with a choice. A sum gains if it is ahead of ListNet with z of at least 2 on both sets.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import FRAMEWORKS, WITHOUT_NORM, DataPart, Watch
from boostplug.comparison.training.trees import Setting, Trees
from boostplug.data.queries import Queries
from boostplug.losses import LambdaRank, ListNet, LogisticError, Loss, NDCGBoost, QBRank, RankNet
from boostplug.metrics import MRR, NDCG, WTA, ChoiceLogLoss, Metric, choice_probabilities
from studies.drawing import drawn
from studies.quality.catboost import CatBoost
from studies.quality.sets import SETS, Fold, with_one_relevant
from studies.store import all_finished
from studies.tables import FRAMEWORK_TITLES, decimals, estimated, line_style, markdown, publish, with_z

Floats = NDArray[np.float64]

REAL = ("yandex", "nfcorpus", "jester", "mslr", "movielens")
SIMULATED = "simulated"
ALL = (*REAL, SIMULATED)
N_SEEDS, N_FOLDS, ROUNDS, PATIENCE = 5, 5, 300, 40
METRICS: tuple[Metric, ...] = (NDCG(10), MRR(), WTA(), ChoiceLogLoss())
OURS: dict[str, Loss] = {
    "ListNet(labels)": ListNet(target="labels"),
    "QBRank": QBRank(),
    "RankNet": RankNet(),
    "NDCGBoost": NDCGBoost(),
    "LambdaRank(MRR)": LambdaRank(metric=MRR()),
}
METHODS: dict[str, dict[str, Loss | str]] = {
    "lightgbm": {name: name for name in ("lambdarank", WITHOUT_NORM, "rank_xendcg", "binary")} | OURS,
    "xgboost": {name: name for name in ("rank:ndcg", "rank:map", "rank:pairwise", "reg:logistic")} | OURS,
    CatBoost.name: {name: name for name in ("QuerySoftMax", "YetiRank")},
}
_LABELS, _CLICKS = ListNet(target="labels"), LogisticError()
WITH_NOTHING: dict[str, Loss | str] = {
    "ListNet(labels)": _LABELS,
    "lambdarank": "lambdarank",
    "LogisticError": _CLICKS,
    **{f"ListNet(labels) + {w:g} LogisticError": _LABELS + w * _CLICKS for w in (0.1, 0.3, 1.0)},
}
_TREES = Trees(learning_rate=0.08, num_leaves=24, row_fraction=0.8, column_fraction=0.8)
_LEAST_BEST = 3.0  # grade of Yandex from which something was chosen
_SEED, _N_LISTS, _N_SHOWN, _NOTHING = 2027, 3000, 12, 3.6


class Job(NamedTuple):
    """All methods of a framework on one fold with one seed."""

    data: str
    fold: int
    seed: int
    framework: str
    nothing: bool = False
    """Whether lists without a choice are in the data."""

    @property
    def name(self) -> str:
        """The name of the file that keeps it."""
        return "-".join([self.data, str(self.fold), str(self.seed), self.framework, *["nothing"] * self.nothing])


def jobs(framework: str) -> Iterator[Job]:
    """Yield the jobs of a framework, all sets with the first seed first."""
    for seed in range(N_SEEDS):
        for data in ALL:
            for fold in range(N_FOLDS):
                yield Job(data, fold, seed, framework)
                if framework == "lightgbm" and data in ("yandex", SIMULATED):
                    yield Job(data, fold, seed, framework, nothing=True)


@cache
def folds_of(folder: Path, data: str, *, nothing: bool) -> list[Fold]:
    """Return the folds of a set, with one chosen document in each list, or in some."""
    if data == SIMULATED:
        return _rotated(_simulated(nothing=nothing))
    rng, found = np.random.default_rng(_SEED), SETS[data].load_all(folder)
    if nothing:
        found = [tuple(map(_without_low, fold)) for fold in found]  # type: ignore[misc]
    return [with_one_relevant(fold, rng) for fold in found]


def _without_low(part: DataPart) -> DataPart:
    """Return a part in whose lists nothing is relevant if the best grade is low."""
    queries = part.queries
    best = np.maximum.reduceat(queries.labels, queries.boundaries[:-1])[queries.query_of_row]
    return DataPart(part.X, Queries(np.where(best < _LEAST_BEST, 0.0, queries.labels), group=part.group))


def _simulated(*, nothing: bool) -> tuple[Floats, Floats]:
    """Return features and choices of lists: utilities with steps, interactions and a saturation, and Gumbel noise."""
    rng = np.random.default_rng(_SEED)
    X = rng.normal(size=(_N_LISTS, _N_SHOWN, 8))
    utility = np.tanh(2.0 * X[..., 0]) + 0.8 * X[..., 1] * (X[..., 2] > 0) - 0.6 * np.abs(X[..., 3]) + 0.4 * X[..., 4]
    noisy = utility + rng.gumbel(size=utility.shape)
    chosen = np.eye(_N_SHOWN)[noisy.argmax(axis=1)]
    if nothing:
        chosen *= (noisy.max(axis=1) > _NOTHING + rng.gumbel(size=_N_LISTS))[:, None]
    return X, chosen


def _rotated(data: tuple[Floats, Floats]) -> list[Fold]:
    X, y = data
    fifths = np.array_split(np.arange(len(X)), N_FOLDS)

    def part(*numbers: int) -> DataPart:
        rows = np.concatenate([fifths[n % N_FOLDS] for n in numbers])
        group = np.full(len(rows), X.shape[1])
        return DataPart(X[rows].reshape(-1, X.shape[2]), Queries(y[rows].ravel(), group=group))

    return [(part(k, k + 1, k + 2), part(k + 3), part(k + 4)) for k in range(N_FOLDS)]


def choice_bins(scores: Floats, queries: Queries, n_bins: int = 10) -> Floats:
    """Return documents, expected choices and choices made, in bins of the probability of equal expected choices.

    Of lists in which something was chosen; each of these counts once.

    Returns
    -------
    ndarray of shape (3, n_bins)
    """
    made = np.bincount(queries.query_of_row, queries.labels, queries.n_queries)[queries.query_of_row]
    p = choice_probabilities(scores, group=np.diff(queries.boundaries))
    rows = np.flatnonzero(made > 0.0)
    rows = rows[np.argsort(p[rows], kind="stable")]
    expected, chosen = p[rows], queries.labels[rows] / made[rows]
    middle = np.cumsum(expected) - 0.5 * expected
    place = np.minimum((middle / max(expected.sum(), 1e-300) * n_bins).astype(np.int64), n_bins - 1)
    return np.array([np.bincount(place, of_row, n_bins) for of_row in (np.ones(len(rows)), expected, chosen)])


def trained(folder: Path, job: Job) -> dict[Any, Any]:
    """Train the methods of a job, and return what is measured of each."""
    train, valid, test = folds_of(folder, job.data, nothing=job.nothing)[job.fold]
    kind: Any = {**FRAMEWORKS, CatBoost.name: CatBoost}[job.framework]
    framework, found = kind(train, valid, test, _TREES, 1), {}
    for name, objective in (WITH_NOTHING if job.nothing else METHODS[job.framework]).items():
        watch = Watch(NDCG(10), valid.queries, patience=PATIENCE, num_threads=1)
        start = process_time()
        scores = framework.run(Setting(objective), job.seed, ROUNDS, watch)
        of_query = {metric.name: metric.per_query(scores, test.queries) for metric in METRICS}
        found[name] = {
            "values": of_query,
            "bins": choice_bins(scores, test.queries)[1:],
            "rounds": watch.best_round,
            "seconds": process_time() - start,
        }
    return found


def train(folder: str, store: str, *frameworks: str) -> None:
    """Train what is missing in the store, on all cores."""
    wanted = [job for name in frameworks or FRAMEWORKS for job in jobs(name)]
    wanted.sort(key=lambda job: job.seed)
    all_finished(Path(store), {job.name: partial(trained, Path(folder), job) for job in wanted})


LAMBDAMART = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg", CatBoost.name: "lambdarank"}


class Results:
    """What the store holds, by query: each with its mean over seeds."""

    def __init__(self, store: Path) -> None:
        self._kept = {job: joblib.load(path) for job, path in self._paths(store) if path.is_file()}

    @staticmethod
    def _paths(store: Path) -> Iterator[tuple[Job, Path]]:
        for framework in METHODS:
            yield from ((job, store / f"{job.name}.joblib") for job in jobs(framework))

    def of(self, key: str, data: str, framework: str, method: str, *, nothing: bool = False) -> list[list[Any]]:
        """Return what is kept of a method on a set, by fold and seed."""
        return [
            [
                self._kept[job][method][key]
                for seed in range(N_SEEDS)
                if (job := Job(data, fold, seed, framework, nothing)) in self._kept
            ]
            for fold in range(N_FOLDS)
        ]

    def values(self, metric: str, sets: Iterable[str], framework: str, method: str, *, nothing: bool = False) -> Floats:
        """Return a metric of each test query, the mean over seeds."""
        runs = [fold for data in sets for fold in self.of("values", data, framework, method, nothing=nothing)]
        return np.concatenate([np.mean([run[metric] for run in fold], axis=0) for fold in runs])

    def gap(self, metric: str, sets: Iterable[str], framework: str, method: str, other: str, **options: Any) -> Floats:
        """Return the differences of a method and another of LightGBM or of its framework, by query."""
        where = "lightgbm" if framework == CatBoost.name else framework
        theirs = self.values(metric, sets, where, other, **options)
        return self.values(metric, sets, framework, method, **options) - theirs

    def calibration_error(self, data: str, framework: str, method: str) -> float:
        """Return the mean |made - expected| choices over the number of lists, by bins of the probability."""
        runs = [run for fold in self.of("bins", data, framework, method) for run in fold]
        return float(np.mean([np.abs(expected - made).sum() / made.sum() for expected, made in runs]))

    def seconds(self, framework: str, method: str) -> float:
        """Return the processor seconds of all trainings on the real sets."""
        return float(sum(sum(fold) for data in REAL for fold in self.of("seconds", data, framework, method)))


def summary(results: Results) -> dict[str, Any]:
    """Return the numbers of the page."""
    pooled, of_sets = [], []
    for framework, methods in METHODS.items():
        if not all(fold for data in ALL for fold in results.of("rounds", data, framework, next(iter(methods)))):
            continue  # not trained yet
        for method in methods:
            base = LAMBDAMART[framework]
            gap = partial(results.gap, framework=framework, method=method, other=base)
            row: dict[str, Any] = {"framework": framework, "method": method}
            for metric in METRICS:
                row[metric.name] = float(np.nanmean(results.values(metric.name, REAL, framework, method)))
                row[f"difference in {metric.name}"] = estimated(gap(metric.name, REAL)) if method != base else None
            row["calibration error"] = float(np.mean([results.calibration_error(d, framework, method) for d in REAL]))
            row["calibration error, simulated"] = results.calibration_error(SIMULATED, framework, method)
            where = "lightgbm" if framework == CatBoost.name else framework
            row["time"] = results.seconds(framework, method) / results.seconds(where, base)
            pooled.append(row)
            if method != base:
                of_set = {data: estimated(gap("NDCG@10", [data])) for data in ALL}
                of_sets.append({"framework": framework, "method": method, **of_set})
    normed = [
        {
            "method": method,
            **{d: estimated(results.gap("NDCG@10", [d], "lightgbm", method, WITHOUT_NORM)) for d in ALL},
            "pooled": estimated(results.gap("NDCG@10", REAL, "lightgbm", method, WITHOUT_NORM)),
        }
        for method in OURS
    ]
    return {"pooled": pooled, "sets": of_sets, "norm": normed, "both": _both(results), "nothing": _nothing(results)}


def _both(results: Results) -> list[dict[str, Any]]:
    """Return each of our losses over both frameworks: the rule reads this."""
    rows = []
    for method in OURS:
        gaps = [results.gap("NDCG@10", REAL, framework, method, LAMBDAMART[framework]) for framework in FRAMEWORKS]
        losses = [np.nanmean(results.values(ChoiceLogLoss().name, REAL, name, method)) for name in FRAMEWORKS]
        gap = estimated(np.mean(gaps, axis=0))
        rows.append({"method": method, "difference": gap, "log loss": float(np.mean(losses))})
    return rows


def named_first(both: list[dict[str, Any]]) -> str:
    """Return the loss that the rule names first."""
    best = max(row["difference"].mean for row in both)
    near = [row for row in both if row["difference"].mean >= best - 0.001]
    return str(min(near, key=lambda row: row["log loss"])["method"])


def _nothing(results: Results) -> list[dict[str, Any]]:
    """Return what losses gain on lists with a choice over ListNet, where others hold none."""
    first, *others = WITH_NOTHING
    rows = []
    for data in ("yandex", SIMULATED):
        own = partial(results.values, sets=[data], framework="lightgbm", nothing=True)
        rows.append({"set": data, "method": first, "NDCG@10": float(np.nanmean(own("NDCG@10", method=first)))})
        for method in others:
            values = own("NDCG@10", method=method)
            gap = estimated(values - own("NDCG@10", method=first))
            rows.append({"set": data, "method": method, "NDCG@10": float(np.nanmean(values)), "difference": gap})
    return rows


def tables(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the page's table; bold: at least three standard errors from 0."""
    body = [
        [
            row["method"],
            FRAMEWORK_TITLES[row["framework"]],
            *(with_z(row[f"difference in {name}"]) for name in ("NDCG@10", "MRR")),
            decimals(row["ChoiceLogLoss"], 3),
            decimals(row["time"], 2),
        ]
        for row in found["pooled"]
    ]
    return {"pooled": markdown(["loss", "framework", "NDCG@10", "MRR", "log loss", "time"], body, numbers=True)}


def _plot(rows: list[dict[str, Any]], axes: Any) -> None:
    """Draw the pooled differences with 95 % intervals, the best at the top."""
    rows = sorted(rows, key=lambda row: row["difference in NDCG@10"][0])
    for y, row in enumerate(rows):
        mean, z, *_ = row["difference in NDCG@10"]
        style = line_style([*FRAMEWORK_TITLES].index(row["framework"]))
        half = 1.96 * abs(mean / z)
        label = FRAMEWORK_TITLES[row["framework"]]
        known = axes.get_legend_handles_labels()[1]
        axes.errorbar(
            [mean], [y], xerr=[half], color=style["color"], marker=style["marker"],
            label=None if label in known else label,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [row["method"] for row in rows])
    axes.axvline(0.0, color="grey", linewidth=0.8)
    axes.set_xlabel("NDCG@10 beside LambdaMART: lambdarank, in XGBoost rank:ndcg")


def page(store: str, result: str, page: str) -> None:
    """Write the numbers, fill the page and draw."""
    found = summary(Results(Path(store)))
    found = publish({**found, "named first": named_first(found["both"])}, result, page, tables)
    rows = [row for row in found["pooled"] if row["difference in NDCG@10"]]
    drawn(partial(_plot, rows), "One chosen document per list", Path(page).parent / "figures" / "chosen", (8.0, 7.0))


COMMANDS: Mapping[str, Callable[..., None]] = {"train": train, "page": page}

if __name__ == "__main__":
    from studies import chosen  # noqa: PLW0406 (under its own name, so that other processes find what is in it)

    chosen.COMMANDS[sys.argv[1]](*sys.argv[2:])
