"""Trees that fit the labels: how much a tree should learn from graded queries and from single choices, by their number.

``python -m studies.fitting_trees train FOLDER STORE HALF KIND SIZE`` trains what STORE lacks; halves are tune and look,
kinds are graded and choice. ``python -m studies.fitting_trees page STORE RESULT.json PAGE.md`` fills the page. FOLDER
holds the data sets.

The protocol, fixed before the first training
---------------------------------------------
Sets, in two halves by name. Tune: Jester, LightGBM's example, MovieLens, MQ2008. Look: MSLR sample, NFCorpus, OHSUMED,
Yandex; and for choices a simulation with a known conditional logit. Each in five folds: three fifths train, one stops,
one tests. A MovieLens user's films are cut into lists of 20. `starting_params` is made from the first half alone; the
second half is trained once, with what it returns.

Draws: draw k, of three, takes fold k, and n of its queries at random; two seeds each, one at 2,000 queries and 6,000
lists. Queries whose documents all have one grade are left out before drawing. A set with fewer queries has no row. Test
parts are complete. Judged by NDCG@10 of each test query with a relevant document, its mean over seeds; pooled: every
query of every draw counts the same; z is the mean difference over its standard error.

Graded queries: n is 30, 100, 400 and 2,000 in all. *one*: three quarters train, one quarter stops. *folds*: the mean of
five models, each trained without a fold and stopped by it.

Choices: one of the best documents of each query is the chosen one. n lists train, n/2 more stop; n is 300, 1,500 and
6,000. Also measured is the log loss of the choice. In one training the best rounds by NDCG@10 and by the log loss are
both found, and both models are judged. Lists for 6,000: Jester's users in three lists each, and the simulation.

Trainings have at most 1,000 rounds, and stop 50 after the best value of the judge. As they come: lambdarank and
rank:ndcg with the framework's own trees, CatBoost's QueryRMSE, YetiRank and QuerySoftMax, stopped in the same way by
CatBoost's own NDCG or log loss. Time is that of the processor, one thread.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import chain, product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

import boostplug as bp
from boostplug.core.best_round import BestRound
from boostplug.data.inputs import CheckedInputs
from studies.drawing import drawn
from studies.quality.sets import SETS, Fold, with_one_relevant
from studies.store import all_finished
from studies.tables import estimated, line_style, markdown, publish, with_z

Floats = NDArray[np.float64]

HALVES = {
    "tune": ("jester", "lightgbm_example", "movielens", "mq2008"),
    "look": ("mslr", "nfcorpus", "ohsumed", "yandex", "simulated"),
}
SIZES = {"graded": (30, 100, 400, 2000), "choice": (300, 1500, 6000)}
N_DRAWS, N_FOLDS, ROUNDS, PATIENCE = 3, 5, 1000, 50
JUDGES: dict[str, Any] = {"NDCG": bp.NDCG(10), "log loss": bp.ChoiceLogLoss()}
_SEED = 2029


class Job(NamedTuple):
    """What is trained together: all methods on one draw of a set, with one seed."""

    kind: str
    data: str
    size: int
    draw: int
    seed: int

    @property
    def name(self) -> str:
        """The name of the file that keeps it."""
        return "-".join(map(str, self))


class Method(NamedTuple):
    """An objective with trees in a framework."""

    framework: str
    objective: Any = None
    """Default: that of `starting_params`."""
    params: Mapping[str, Any] = {}
    fits: bool = False
    """Whether the parameters are added to those of `starting_params` for the training set."""
    how: str = "one"
    """One training, or the mean of "folds", or of "folds and linear", or "three times folds"."""


def grown(method: Method, train: CheckedInputs) -> tuple[Any, dict[str, Any]]:
    """Return objective and parameters of a method on a training set."""
    given: dict[str, Any] = {}
    if method.fits:
        sizes = {"group": train.group, "n_features": train.X.shape[1], "framework": method.framework}
        given = bp.starting_params(train.queries.labels, **sizes)
    objective = method.objective or given["objective"]
    own = {
        name: value
        for name, value in given.items()
        if name not in {"objective", "n_estimators", "metric", "eval_metric", "verbose"}
    }
    changed = {name: value(own[name]) if callable(value) else value for name, value in method.params.items()}
    return objective, {name: value for name, value in (own | changed).items() if value is not None}


def jobs(half: str, kind: str, size: int) -> Iterator[Job]:
    """Yield the jobs of a size, set by set within a draw."""
    for seed in range(1 if size >= 2000 else 2):
        for draw in range(N_DRAWS):
            for data in HALVES[half]:
                if (data == "simulated") <= (kind == "choice"):
                    yield Job(kind, data, size, draw, seed)


# The data


@cache
def folds_of(folder: Path, data: str, kind: str, lists: int) -> list[Fold]:
    """Return the folds of a set, with one chosen document in each list for choices."""
    if data == "simulated":
        return _simulated()
    found = _lightgbm_example(folder) if data == "lightgbm_example" else SETS[data].load_all(folder)
    if data == "movielens":
        found = [tuple(_in_lists(part, most=20) for part in fold) for fold in found]  # type: ignore[misc]
    if kind == "choice" and data == "jester" and lists > 1500:
        found = [(_in_lists(train, most=13), _in_lists(valid, most=13), test) for train, valid, test in found]
    if kind == "graded":
        return found
    rng = np.random.default_rng(_SEED)
    return [with_one_relevant(fold, rng) for fold in found]


def _in_lists(part: CheckedInputs, most: int) -> CheckedInputs:
    """Return a part with each query's documents, in random order, in lists of at most some length."""
    rng = np.random.default_rng(_SEED)
    rows, sizes = [], []
    for first, last in zip(part.queries.boundaries[:-1], part.queries.boundaries[1:], strict=True):
        lists = np.array_split(rng.permutation(np.arange(first, last)), -(-(last - first) // most))
        rows += lists
        sizes += map(len, lists)
    at = np.concatenate(rows)
    return CheckedInputs(np.asarray(part.X)[at], bp.Queries(part.queries.labels[at], group=sizes))


def _lightgbm_example(folder: Path) -> list[Fold]:
    """Return LightGBM's own example of ranking, training and test queries together, in five folds."""
    from studies.quality.sets import cut

    train, test = (
        bp.datasets.load_letor(folder / "lightgbm_example" / f"rank.{part}", n_features=300)
        for part in ("train", "test")
    )
    return cut(
        bp.RankingData(
            np.concatenate([np.nan_to_num(train.X), np.nan_to_num(test.X)]),
            np.concatenate([train.y, test.y]),
            group=np.concatenate([train.group, test.group]),
        )
    )


def _simulated() -> list[Fold]:
    """Return 15,000 lists of 12: utilities with steps, interactions and a saturation, and Gumbel noise."""
    rng = np.random.default_rng(_SEED)
    X = rng.normal(size=(15_000, 12, 8))
    utility = np.tanh(2.0 * X[..., 0]) + 0.8 * X[..., 1] * (X[..., 2] > 0) - 0.6 * np.abs(X[..., 3]) + 0.4 * X[..., 4]
    y = np.eye(12)[(utility + rng.gumbel(size=utility.shape)).argmax(axis=1)]

    def part(*fifths: int) -> CheckedInputs:
        rows = np.concatenate([np.arange(3000) + 3000 * (k % N_FOLDS) for k in fifths])
        return CheckedInputs(X[rows].reshape(-1, 8), bp.Queries(y[rows].ravel(), group=np.full(len(rows), 12)))

    return [(part(k, k + 1, k + 2), part(k + 3), part(k + 4)) for k in range(N_FOLDS)]


def with_pairs(part: CheckedInputs) -> NDArray[np.int64]:
    """Return the queries whose documents have different grades."""
    starts, labels = part.queries.boundaries[:-1], part.queries.labels
    return np.flatnonzero(np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts))


def _joined(a: CheckedInputs, b: CheckedInputs) -> CheckedInputs:
    labels = np.concatenate([a.queries.labels, b.queries.labels])
    return CheckedInputs(np.concatenate([a.X, b.X]), bp.Queries(labels, group=np.r_[a.group, b.group]))


Parts = list[tuple[CheckedInputs, CheckedInputs]]


def drawn_of(folder: Path, job: Job) -> tuple[Parts, list[Parts], CheckedInputs] | None:
    """Return training and validation part of one training, those of three divisions into folds, and the test part.

    None where the set is too small.
    """
    train, valid, test = folds_of(folder, job.data, job.kind, job.size)[job.draw]
    rng = np.random.default_rng([_SEED, job.draw])
    if job.kind == "choice":
        known, held = rng.permutation(with_pairs(train)), rng.permutation(with_pairs(valid))
        if len(known) < job.size:
            return None
        one = train.take_queries(known[: job.size]), valid.take_queries(held[: job.size // 2])
        whole = _joined(*one)
        drawn = rng.permutation(whole.queries.n_queries)
    else:
        whole = _joined(train, valid)
        drawn = rng.permutation(with_pairs(whole))[: job.size]
        if len(drawn) < job.size:
            return None
        one = whole.take_queries(drawn[job.size // 4 :]), whole.take_queries(drawn[: job.size // 4])
    folds, numbers = [], np.arange(len(drawn)) % N_FOLDS
    for of_query in (numbers, rng.permutation(numbers), rng.permutation(numbers)):
        cuts = [(drawn[of_query != k], drawn[of_query == k]) for k in range(N_FOLDS)]
        folds.append([(whole.take_queries(most), whole.take_queries(rest)) for most, rest in cuts])
    return [one], folds, test


# The methods


def _beside(framework: str, **more: Any) -> Iterator[tuple[str, Method]]:
    """Yield what `starting_params` returns, and trees that differ from it in one thing."""
    leaves, random = {
        "lightgbm": ("num_leaves", {"extra_trees": None, "feature_fraction_bynode": None}),
        "xgboost": ("max_leaves", {"colsample_bynode": None}),
    }[framework]
    changes: dict[str, dict[str, Any]] = {
        "": {},
        ", half the leaves": {leaves: lambda n: max(2, n // 2)},
        ", twice the leaves": {leaves: lambda n: 2 * n},
        ", not random": random,
        ", all rows and columns": dict.fromkeys(("subsample", "subsample_freq", "colsample_bytree")),
    }
    for name, params in changes.items():
        yield name, Method(framework, params=params, fits=True, **more)


def methods_of(job: Job) -> dict[str, Method]:
    """Return the methods of a job by name; with most queries fewer."""
    found = _graded(job) if job.kind == "graded" else _choice(job)
    return {name: method for name, method in found.items() if job.size < 2000 or name not in _LEFT_OUT}


_LEFT_OUT = {
    *(f"XGBoost{how}{name}" for how in ("", ", folds") for name in (", half the leaves", ", twice the leaves")),
    *("XGBoost, folds, all rows and columns", "XGBoost, all rows and columns", "linear, folds", "QueryRMSE"),
    *("ours, folds and linear", "QBRank, the same trees, folds", "QBRank, the same trees", "rank_xendcg"),
    *("XGBoost, folds, not random", "ours, folds, all rows and columns", "lambdarank, the same trees, folds"),
}


def _graded(job: Job) -> dict[str, Method]:
    ours = partial(Method, "lightgbm", fits=True)
    found = {"lambdarank": Method("lightgbm", "lambdarank"), "rank:ndcg": Method("xgboost", "rank:ndcg")}
    found |= {"lambdarank, folds": Method("lightgbm", "lambdarank", how="folds"), "ours": ours()}
    found |= {f"ours, folds{name}": method for name, method in _beside("lightgbm", how="folds")}
    found |= {f"XGBoost, folds{name}": method for name, method in _beside("xgboost", how="folds")}
    found["XGBoost"] = Method("xgboost", fits=True)
    found["linear, folds"] = Method("linear", how="folds")
    found["ours, folds and linear"] = ours(how="folds and linear")
    losses: dict[str, Any] = {"lambdarank": "lambdarank", "QBRank": bp.QBRank()}
    found |= {f"{name}, the same trees, folds": ours(loss, how="folds") for name, loss in losses.items()}
    if job.size <= 100:
        found["ours, folds three times"] = ours(how="three times folds")
    for loss in ("QueryRMSE", "YetiRank")[: 2 if job.size <= 400 else 1]:
        found |= {loss: Method("catboost", loss), f"{loss}, folds": Method("catboost", loss, how="folds")}
    return found


def _choice(job: Job) -> dict[str, Method]:
    ours = partial(Method, "lightgbm", fits=True)
    found = {"lambdarank": Method("lightgbm", "lambdarank"), "rank:ndcg": Method("xgboost", "rank:ndcg")}
    found["lambdarank(norm=False)"] = Method("lightgbm", "lambdarank", {"lambdarank_norm": False})
    found["rank_xendcg"] = Method("lightgbm", "rank_xendcg")
    found |= {f"ours{name}": method for name, method in _beside("lightgbm")}
    found |= {f"XGBoost{name}": method for name, method in _beside("xgboost")}
    losses: dict[str, tuple[Any, dict[str, Any]]] = {
        "lambdarank(norm=False)": ("lambdarank", {"lambdarank_norm": False}),
        "RankNet": (bp.RankNet(), {}),
        "QBRank": (bp.QBRank(), {}),
        "NDCGBoost": (bp.NDCGBoost(), {}),
        "LambdaRank(MRR)": (bp.LambdaRank(metric=bp.MRR()), {}),
    }
    found |= {f"{name}, the same trees": ours(*pair) for name, pair in losses.items()}
    old = {"num_leaves": 24, "learning_rate": 0.08, "bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8}
    for loss in (bp.ListNet(target="labels"), bp.RankNet(), bp.NDCGBoost()):
        found[f"{type(loss).__name__}, 24 leaves"] = Method("lightgbm", loss, old)
    found["QuerySoftMax"] = Method("catboost", "QuerySoftMax")
    if job.size < 6000:
        found["ours, folds"] = ours(how="folds")
    if job.size == 300 and job.seed == 0:
        found["QuerySoftMax, folds"] = Method("catboost", "QuerySoftMax", how="folds")
    return found


# The trainings


class Followed:
    """The best round of a training by each judge."""

    def __init__(self, judges: Mapping[str, Any], valid: CheckedInputs) -> None:
        self.valid = valid
        self.best = {
            name: (one, BestRound(greater_is_better=one.greater_is_better, patience=PATIENCE))
            for name, one in judges.items()
        }

    def add(self, scores: Any) -> None:
        """Take the validation scores of a round."""
        scores = np.asarray(scores, np.float64)
        for metric, best in self.best.values():
            best.add(float(metric(scores, self.valid.queries)))

    @property
    def stops(self) -> bool:
        """Whether no judge waits for more."""
        return all(best.stops for _, best in self.best.values())

    @property
    def rounds(self) -> dict[str, int]:
        """The best round by judge."""
        return {name: best.number for name, (_, best) in self.best.items()}


def _lightgbm(
    method: Method, train: CheckedInputs, valid: CheckedInputs, test: CheckedInputs, seed: int, judges: Any
) -> Any:
    import lightgbm as lgb

    objective, own = grown(method, train)
    params = {"num_threads": 1, "verbosity": -1, "seed": seed, "metric": "None", "force_col_wise": True, **own}
    data = lgb.Dataset(train.X, train.queries.labels, group=train.group, params=params)
    held = data.create_valid(valid.X, valid.queries.labels, group=valid.group)
    followed = Followed(judges, valid)

    def feval(scores: Any, _: Any) -> tuple[str, float, bool]:
        followed.add(scores)
        return "watched", 0.0, True

    n_trees: list[int] = []  # after each round: a round that finds no split adds none

    def stop(env: Any) -> None:
        n_trees.append(env.model.num_trees())
        if followed.stops:
            raise lgb.callback.EarlyStopException(env.iteration, [])

    booster = lgb.train({**params, "objective": objective}, data, ROUNDS, [held], feval=feval, callbacks=[stop])
    return followed.rounds, lambda n: booster.predict(
        test.X, raw_score=True, num_iteration=n_trees[n - 1], num_threads=1
    )


def _xgboost(
    method: Method, train: CheckedInputs, valid: CheckedInputs, test: CheckedInputs, seed: int, judges: Any
) -> Any:
    import xgboost as xgb

    data = xgb.QuantileDMatrix(train.X, train.queries.labels, group=train.group, nthread=1)
    held = xgb.DMatrix(valid.X, valid.queries.labels, group=valid.group, nthread=1)
    objective, own = grown(method, train)
    followed, ours = Followed(judges, valid), not isinstance(objective, str)
    params = {"nthread": 1, "seed": seed, "disable_default_eval_metric": True, **own}
    params |= {"base_score": 0.0} if ours else {"objective": objective}

    class Stop(xgb.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, *_: Any) -> bool:
            return followed.stops

    def judge(scores: Any, _: Any) -> tuple[str, float]:
        followed.add(scores)
        return "watched", 0.0

    booster = xgb.train(
        params, data, ROUNDS, evals=[(held, "valid")], obj=objective if ours else None, custom_metric=judge,
        callbacks=[Stop()], verbose_eval=False,
    )  # fmt: skip
    tested = xgb.DMatrix(test.X, nthread=1)
    return followed.rounds, lambda n: booster.predict(tested, output_margin=True, iteration_range=(0, n))


def _catboost(
    method: Method, train: CheckedInputs, valid: CheckedInputs, test: CheckedInputs, seed: int, judges: Any
) -> Any:
    import catboost

    train_pool, valid_pool, test_pool = (
        catboost.Pool(p.X, p.queries.labels, group_id=p.queries.query_of_row, thread_count=1)
        for p in (train, valid, test)
    )
    own = {} if "log loss" in judges else {"eval_metric": "NDCG:top=10;type=Exp"}
    model = catboost.CatBoost(
        {"loss_function": method.objective, "iterations": ROUNDS, "random_seed": seed, "thread_count": 1}
        | {
            "allow_writing_files": False,
            "verbose": False,
            "od_type": "Iter",
            "od_wait": PATIENCE,
            **own,
            **method.params,
        }
    ).fit(train_pool, eval_set=valid_pool, use_best_model=True)
    best = dict.fromkeys(judges, model.tree_count_)
    return best, lambda n: model.predict(test_pool, ntree_end=n)


def _linear(method: Method, train: CheckedInputs, _: CheckedInputs, test: CheckedInputs, __: int, judges: Any) -> Any:
    ranker = bp.LinearRanker(**method.params).fit(train.X, train.queries.labels, group=train.group)
    return dict.fromkeys(judges, 1), lambda _: ranker.predict(test.X)


_TRAINED: dict[str, Callable[..., Any]] = {
    "lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost, "linear": _linear,
}  # fmt: skip


def scores_of(method: Method, parts: Parts, test: CheckedInputs, seed: int, judges: Any) -> Any:
    """Return the mean of the test scores of trainings, and the mean best round, by judge."""
    found = [_TRAINED[method.framework](method, train, valid, test, seed, judges) for train, valid in parts]
    scores = {
        judge: np.mean([np.asarray(predict(rounds[judge]), np.float64) for rounds, predict in found], axis=0)
        for judge in judges
    }
    if method.how == "folds and linear":  # one part linear model, two parts trees, standardised within queries
        linear = scores_of(Method("linear", how="folds"), parts, test, seed, judges)
        scores = {
            judge: 2 * _standardised(scores[judge], test) + _standardised(linear[judge][0], test) for judge in judges
        }
    return {judge: (scores[judge], float(np.mean([rounds[judge] for rounds, _ in found]))) for judge in judges}


def _standardised(scores: Floats, part: CheckedInputs) -> Floats:
    """Return scores over the standard deviation within queries."""
    query = part.queries.query_of_row
    centred = scores - (np.bincount(query, scores) / np.bincount(query))[query]
    return centred / (centred.std() or 1.0)


def trained(folder: Path, job: Job) -> dict[Any, Any]:
    """Train the methods of a job, and return what is measured of each; nothing where the set is too small."""
    parts_of_draw = drawn_of(folder, job)
    if parts_of_draw is None:
        return {}
    one, folds, test = parts_of_draw
    judges = JUDGES if job.kind == "choice" else {"NDCG": JUDGES["NDCG"]}
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, method in methods_of(job).items():
            begin = process_time()
            parts = {"one": one, "three times folds": [*chain(*folds)]}.get(method.how, folds[0])
            scores = scores_of(method, parts, test, job.seed, judges)
            found[name] = {"seconds": process_time() - begin} | {
                judge: {"rounds": rounds}
                | {key: metric.per_query(of_judge, test.queries).astype(np.float32) for key, metric in judges.items()}
                for judge, (of_judge, rounds) in scores.items()
            }
    return found


def train(folder: str, store: str, half: str, kind: str, *sizes: str) -> None:
    """Train what is missing in the store, on all cores."""
    wanted = [job for size in sizes or SIZES[kind] for job in jobs(half, kind, int(size))]
    all_finished(Path(store), {job.name: partial(trained, Path(folder), job) for job in wanted})


# The page


class Results:
    """What the store holds."""

    def __init__(self, store: Path) -> None:
        wanted = [job for half in HALVES for kind in SIZES for size in SIZES[kind] for job in jobs(half, kind, size)]
        paths = {job: store / f"{job.name}.joblib" for job in wanted}
        self._kept = {job: joblib.load(path) for job, path in paths.items() if path.is_file()}

    def of(self, half: str, kind: str, size: int, method: str) -> dict[tuple[str, int], list[Any]]:
        """Return what is kept of a method, a list over seeds for each set and draw."""
        found: dict[tuple[str, int], list[Any]] = {}
        for job in jobs(half, kind, size):
            if method in self._kept.get(job, {}):
                found.setdefault((job.data, job.draw), []).append(self._kept[job][method])
        return found

    def gap(self, of: tuple[str, str, int], ours: str, theirs: str, key: str = "NDCG", data: str = "") -> Any:
        """Return the difference of two methods, pooled over sets, or of one set; None where nothing is known.

        A method's name may end with the judge that stopped it, after a bar: "ours|log loss".
        """
        gaps = []
        (a, judge), (b, other) = ((*one.split("|"), "NDCG")[:2] for one in (ours, theirs))
        first, second = self.of(*of, a), self.of(*of, b)
        for draw in first.keys() & second.keys():
            if data == draw[0] or (not data and (draw[0] != "simulated" or of[2] == 6000)):
                means = [
                    np.mean([run[by][key] for run in runs[draw]], axis=0)
                    for runs, by in ((first, judge), (second, other))
                ]
                gaps.append(means[0] - means[1])
        return estimated(np.concatenate(gaps)) if gaps else None

    def cost(self, of: tuple[str, str, int], method: str, judge: str) -> tuple[float, float]:
        """Return the median best round, and the processor seconds of all trainings."""
        runs = [run for draw in self.of(*of, method).values() for run in draw]
        return float(np.median([run[judge]["rounds"] for run in runs])), sum(run["seconds"] for run in runs)


def summary(results: Results) -> dict[str, Any]:
    """Return the numbers of the page."""
    rows = []
    for half, kind in product(HALVES, SIZES):
        for size in SIZES[kind]:
            of = half, kind, size
            for method in methods_of(Job(kind, "", size, 0, 0)):
                for judge in JUDGES if kind == "choice" else ("NDCG",):
                    name = f"{method}|{judge}"
                    gap = None if name == "lambdarank|NDCG" else results.gap(of, name, "lambdarank")
                    if gap is None:
                        continue
                    rounds, seconds = results.cost(of, method, judge)
                    row = {"half": half, "kind": kind, "size": size, "method": method, "stopped by": judge}
                    row |= {"NDCG@10": gap, "rounds": rounds, "seconds": seconds}
                    row["sets"] = {data: results.gap(of, name, "lambdarank", data=data) for data in HALVES[half]}
                    if kind == "choice":
                        row["log loss"] = results.gap(of, name, "lambdarank", "log loss")
                    rows.append(row)
    beside = [
        {"half": half, "kind": kind, "size": size, "ours": ours, "theirs": theirs, "NDCG@10": gap}
        | ({"log loss": results.gap((half, kind, size), ours, theirs, "log loss")} if kind == "choice" else {})
        for half, (kind, sizes, ours, others) in product(HALVES, _BESIDE)
        for size, theirs in product(sizes or SIZES[kind], others)
        if (gap := results.gap((half, kind, size), ours, theirs)) is not None
    ]
    return {"rows": rows, "beside": beside}


_BESIDE: tuple[tuple[str, tuple[int, ...], str, tuple[str, ...]], ...] = (
    ("graded", (), "ours, folds", ("lambdarank, folds", "QueryRMSE, folds", "YetiRank, folds", "rank:ndcg")),
    ("graded", (), "ours, folds and linear", ("ours, folds", "QueryRMSE, folds", "YetiRank, folds")),
    ("graded", (), "ours, folds three times", ("ours, folds",)),
    ("graded", (), "XGBoost, folds", ("rank:ndcg", "QueryRMSE, folds", "XGBoost, folds, not random")),
    *(("choice", (), f"ours|{judge}", ("lambdarank(norm=False)", "QuerySoftMax")) for judge in JUDGES),
    ("choice", (), "XGBoost|log loss", ("rank:ndcg", "QuerySoftMax", "XGBoost, not random|log loss")),
    ("choice", (), "ours, folds|log loss", ("QuerySoftMax", "QuerySoftMax, folds")),
)


def tables(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the page's tables; bold: at least three standard errors from 0."""
    made = {}
    for kind, sizes in SIZES.items():
        rows = [row for row in found["rows"] if row["half"] == "look" and row["kind"] == kind]
        names = list(dict.fromkeys((row["method"], row["stopped by"]) for row in rows if row["method"] != "lambdarank"))
        cells = {(row["method"], row["stopped by"], row["size"]): with_z(row["NDCG@10"]) for row in rows}
        shown = [name for name in names if kind == "graded" or (name[1] == "log loss") != (name[0] in _BY_NDCG)]
        shown += [name for name in names if kind == "choice" and name in {("ours", "NDCG"), ("XGBoost", "NDCG")}]
        body = [
            [
                method
                + (" (stopped by NDCG)" if method not in _BY_NDCG and kind == "choice" and judge == "NDCG" else ""),
                *(cells.get((method, judge, size), "–") for size in sizes),
            ]
            for method, judge in shown
        ]
        made[f"look {kind}"] = markdown(["method", *(f"{size:,}" for size in sizes)], body, numbers=True)
    for kind, sizes in SIZES.items():
        rows = [row for row in found["beside"] if row["half"] == "look" and row["kind"] == kind]
        pairs = list(dict.fromkeys((row["ours"], row["theirs"]) for row in rows))
        by = {(row["ours"], row["theirs"], row["size"]): with_z(row["NDCG@10"]) for row in rows}
        body = [[_title(pair[0]), _title(pair[1]), *(by.get((*pair, size), "–") for size in sizes)] for pair in pairs]
        made[f"beside {kind}"] = markdown(["", "beside", *(f"{size:,}" for size in sizes)], body, numbers=True)
    rows = [row for row in found["rows"] if (row["half"], row["kind"], row["size"]) == ("look", "choice", 1500)]
    body = [
        [row["method"], with_z(row["log loss"]), f"{row['rounds']:.0f}", f"{row['seconds']:.0f}"]
        for row in rows
        if row["stopped by"] == "log loss" and row["log loss"] is not None
    ]
    made["log loss"] = markdown(["method", "log loss", "rounds", "seconds"], body, numbers=True)
    return made


_BY_NDCG = ("rank:ndcg", "lambdarank(norm=False)", "rank_xendcg")


def _title(name: str) -> str:
    method, _, judge = name.partition("|")
    return f"{method}, stopped by the log loss" if judge == "log loss" else method


_DRAWN = {
    "graded": ("lambdarank, folds", "QueryRMSE, folds", "ours", "ours, folds", "ours, folds and linear"),
    "choice": ("lambdarank(norm=False)", "QuerySoftMax", "ours", "ours, folds"),
}


def _plot(found: Mapping[str, Any], axes: Any) -> None:
    """Draw the differences to lambdarank by kind and number of labels, a line for each method."""
    ticks: list[str] = []
    styles = {name: line_style(number) for number, name in enumerate(dict.fromkeys(chain(*_DRAWN.values())))}
    labelled: set[str] = set()
    for kind, names in _DRAWN.items():
        at = len(ticks)
        ticks += [f"{size:,}\n{'queries' if kind == 'graded' else 'choices'}" for size in SIZES[kind]]
        for name in names:
            judge = "log loss" if kind == "choice" and name.startswith("ours") else "NDCG"
            by_size = {
                row["size"]: row["NDCG@10"][0]
                for row in found["rows"]
                if (row["half"], row["kind"], row["method"], row["stopped by"]) == ("look", kind, name, judge)
            }
            known = [(at + place, by_size[size]) for place, size in enumerate(SIZES[kind]) if size in by_size]
            label = "_" if name in labelled else name
            labelled.add(name)
            axes.plot(*zip(*known, strict=True), label=label, **styles[name])
    axes.set_xticks(range(len(ticks)), ticks)
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_ylabel("NDCG@10 beside lambdarank as it comes")


def page(store: str, result: str, page: str) -> None:
    """Write the numbers, fill the page and draw."""
    found = publish(summary(Results(Path(store))), result, page, tables)
    drawn(
        partial(_plot, found), "Trees that fit the labels", Path(page).parent / "figures" / "fitting_trees", (8.0, 5.0)
    )


COMMANDS: Mapping[str, Callable[..., None]] = {"train": train, "page": page}

if __name__ == "__main__":
    from studies import fitting_trees  # noqa: PLW0406 (under its own name, so that other processes find what is in it)

    fitting_trees.COMMANDS[sys.argv[1]](*sys.argv[2:])
