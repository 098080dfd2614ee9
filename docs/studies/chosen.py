"""One chosen document per list, a booking, a purchase or a winner: which loss ranks it first, and which is calibrated.

``python -m studies.chosen train FOLDER STORE [CATBOOST]`` trains what STORE lacks, ``python -m studies.chosen page
FOLDER STORE RESULT.json PAGE.md`` fills the page. FOLDER holds the data sets.

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
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import FRAMEWORKS, WITHOUT_NORM, DataPart, Watch
from boostplug.comparison.training.trees import Trees
from boostplug.data.queries import Queries
from boostplug.losses import LambdaRank, ListNet, LogisticError, Loss, NDCGBoost, QBRank, RankNet
from boostplug.metrics import MRR, NDCG, WTA, ChoiceLogLoss, Metric
from boostplug.metrics.choice import choice_bins
from studies.quality.run import CatBoost
from studies.quality.sets import SETS, Fold, with_one_relevant
from studies.store import finished

Floats = NDArray[np.float64]

REAL = ("yandex", "nfcorpus", "jester", "mslr", "movielens")
SIMULATED = "simulated"
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
        for data in (*REAL, SIMULATED):
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


def trained(folder: Path, job: Job) -> dict[Any, Any]:
    """Train the methods of a job, and return what is measured of each."""
    train, valid, test = folds_of(folder, job.data, nothing=job.nothing)[job.fold]
    kind: Any = {**FRAMEWORKS, CatBoost.name: CatBoost}[job.framework]
    framework, found = kind(train, valid, test, _TREES, 1), {}
    for name, objective in (WITH_NOTHING if job.nothing else METHODS[job.framework]).items():
        watch = Watch(NDCG(10), valid.queries, patience=PATIENCE, num_threads=1)
        start = process_time()
        scores = framework.run(objective, job.seed, ROUNDS, watch)
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
    Path(store).mkdir(parents=True, exist_ok=True)
    wanted = [job for name in frameworks or FRAMEWORKS for job in jobs(name)]
    wanted.sort(key=lambda job: job.seed)
    work: Callable[..., Any] = joblib.delayed(finished)
    joblib.Parallel(n_jobs=-1)(work(Path(store), job.name, partial(trained, Path(folder), job)) for job in wanted)


COMMANDS: Mapping[str, Callable[..., None]] = {"train": train}

if __name__ == "__main__":
    from studies import chosen  # noqa: PLW0406 (under its own name, so that other processes find what is in it)

    chosen.COMMANDS[sys.argv[1]](*sys.argv[2:])
