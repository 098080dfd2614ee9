"""Few judged queries: what small trees, a linear start, and the mean of folds and seeds gain, by number of queries.

``python -m studies.few_queries train FOLDER STORE KIND …`` trains what STORE lacks; kinds are sizes, forest, in_all,
seeds, catboost and catboost_in_all. ``python -m studies.few_queries page STORE RESULT.json PAGE.md`` fills the page.
FOLDER holds the data sets.

The protocol, fixed before the first training
---------------------------------------------
Sets: Yandex, NFCorpus, Jester, MQ2008, OHSUMED, the sample of MSLR and MovieLens, each in five folds: three fifths
train, one stops, one tests. Five draws: draw k takes fold k, and n of its training queries at random, and n/3 of its
validation queries, at least 8. n is 25, 50, 100, 250, 500, 1,000 (the first three draws) and all (the first two).
Queries whose documents all have one grade are left out before drawing. A set without n such queries, or without n/3,
has no row. Test parts are complete. One seed a draw. Judged by NDCG@10 of each test query with a relevant document,
its mean over draws that test it; pooled: every query counts the same; z is the mean difference over its standard error.

Training: at most 500 rounds, stopped after 50 without a better NDCG@10 on the validation queries, which is NDCG@10 of
ours for every method. All else is the frameworks' default, but where a name says more:

- LightGBM: lambdarank as it comes; with 6 leaves and rate .05; with ``linear_tree`` and 6 leaves; tuned by optuna, 30
  settings of trees (leaves 4 to 63, rate .02 to .3, rows 1 to 100 a leaf, l2, rows and columns), up to 250 queries, the
  first two draws. CRR with 6, 12 and 24 leaves and rate .05; CRR and lambdarank with 6 leaves, and CRR with 24, from
  the linear model. `LinearRanker` alone.
- XGBoost: rank:ndcg as it comes; with 6 leaves (``lossguide``) and rate .05; tuned in the same way. CRR with 6 leaves,
  alone and from the linear model.
- CatBoost: YetiRank and QueryRMSE as they come, with the same rounds and stopping, at 100 queries, the first two draws.

Candidates for the start, at 100 queries, CRR with 6 leaves: the linear model; a random forest of LightGBM (100 trees of
15 leaves, 60 % of rows and columns) as it comes and scaled like the linear model; the sum of both. A candidate that
does not gain .001 pooled over the linear model is not built.

A hundred queries in all: 75 train and 25 stop; beside that `fit_folds` with four folds on the same 100. lambdarank
with 24 leaves and rate .07, CRR with 6 leaves from the linear model. The same with 800. CatBoost's two on the 75 and 25
of the first two draws.

Seeds at full size: lambdarank and CRR with 24 leaves, rate .07, 80 % of rows and columns: one seed, and the mean of
three models, on the first two draws.

Size of trees: for CRR and each n the leaves (6, 12 or 24) that are best pooled; the rule takes 6 leaves up to the
largest n where 6 are best, today's at numbers where 24 are best, and 12 between.
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

import boostplug as bp
from boostplug.comparison.training.frameworks import DataPart
from studies.drawing import drawn
from studies.quality.sets import SETS, Fold
from studies.store import all_finished
from studies.tables import Estimate, estimated, line_style, markdown, publish, with_z

Floats = NDArray[np.float64]

REAL = ("yandex", "nfcorpus", "jester", "mq2008", "ohsumed", "mslr", "movielens")
SIZES = (25, 50, 100, 250, 500, 1000, 0)  # 0: all
DRAWS = dict.fromkeys(SIZES, 5) | {1000: 3, 0: 2}
ROUNDS, PATIENCE, LEAST_VALID = 500, 50, 8
TRIALS, MOST_TUNED, TUNED_DRAWS = 30, 250, 2
NDCG10 = bp.NDCG(10)
_SEED = 2028


class Job(NamedTuple):
    """What is trained together on one draw of a set."""

    kind: str
    data: str
    size: int
    draw: int

    @property
    def name(self) -> str:
        """The name of the file that keeps it."""
        return "-".join(map(str, self))


def jobs(kind: str) -> Iterator[Job]:
    """Yield the jobs of a kind, small ones first."""
    sizes = {"sizes": SIZES, "in_all": (100, 800), "seeds": (0,)}.get(kind, (100,))
    for size in sizes:
        draws = {"sizes": DRAWS.get(size, 5), "seeds": 2, "catboost": 2, "catboost_in_all": 2}.get(
            kind, 5 if size <= 100 else 3
        )
        for draw in range(draws):
            for data in REAL:
                yield Job(kind, data, size, draw)


@cache
def _folds(folder: Path, data: str) -> list[Fold]:
    return [*SETS[data].load_all(folder)]


def queries_of(part: DataPart, wanted: NDArray[np.int64]) -> DataPart:
    """Return some queries of a part."""
    rows = np.flatnonzero(np.isin(part.queries.query_of_row, wanted))
    return DataPart(part.X[rows], part.queries.of_rows(rows, keep_empty=False))


def with_pairs(part: DataPart) -> NDArray[np.int64]:
    """Return the queries whose documents have different grades."""
    starts, labels = part.queries.boundaries[:-1], part.queries.labels
    return np.flatnonzero(np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts))


def drawn_fold(folder: Path, job: Job) -> Fold | None:
    """Return the training and validation queries of a draw, and the test part; None where the set is too small."""
    train, valid, test = _folds(folder, job.data)[job.draw]
    rng = np.random.default_rng([_SEED, job.draw])
    known, held = rng.permutation(with_pairs(train)), rng.permutation(with_pairs(valid))
    if job.kind.endswith("in_all"):
        n_valid = job.size // 4
        if len(known) < job.size:
            return None
        return queries_of(train, known[n_valid : job.size]), queries_of(train, known[:n_valid]), test
    n_valid = max(LEAST_VALID, job.size // 3)
    if job.size and (len(known) < job.size or len(held) < n_valid):
        return None
    if job.size:
        known, held = known[: job.size], held[:n_valid]
    return queries_of(train, known), queries_of(valid, held), test


SMALL = {"num_leaves": 6, "learning_rate": 0.05}
_XGB_SMALL = {"max_leaves": 6, "max_depth": 0, "grow_policy": "lossguide", "learning_rate": 0.05}
_MIDDLE = {"num_leaves": 24, "learning_rate": 0.07}
_SAMPLED = {"subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.8}


def _lightgbm(objective: Any, **params: Any) -> Any:
    return bp.LGBMRanker(objective=objective, n_estimators=ROUNDS, n_jobs=1, verbose=-1, random_state=0, **params)


def _xgboost(objective: Any, **params: Any) -> Any:
    return bp.XGBRanker(
        objective=objective, n_estimators=ROUNDS, n_jobs=1, random_state=0, early_stopping_rounds=PATIENCE,
        eval_metric=[NDCG10], **params,
    )  # fmt: skip


def fitted(ranker: Any, fold: Fold) -> Any:
    """Return a ranker fitted on a fold with early stopping."""
    train, valid, _ = fold
    given = {"group": train.group, "eval_set": [(valid.X, valid.queries.labels)], "eval_group": [valid.group]}
    if isinstance(ranker, bp.LGBMRanker):
        import lightgbm as lgb

        stop = lgb.early_stopping(PATIENCE, verbose=False)
        return ranker.fit(train.X, train.queries.labels, **given, eval_metric=[NDCG10], callbacks=[stop])
    return ranker.fit(train.X, train.queries.labels, **given, verbose=False)


def _tuned(framework: str, fold: Fold) -> Any:
    """Return the best of 30 settings on the validation part, the framework's own the first."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kept: dict[int, Any] = {}

    def value(trial: Any) -> float:
        leaves = trial.suggest_int("leaves", 4, 63, log=True)
        params = {
            "learning_rate": trial.suggest_float("rate", 0.02, 0.3, log=True),
            "reg_lambda": trial.suggest_float("l2", 0.01, 30.0, log=True),
            "subsample": trial.suggest_float("rows", 0.5, 1.0),
            "colsample_bytree": trial.suggest_float("columns", 0.3, 1.0),
        }
        least = trial.suggest_int("least", 1, 100, log=True)
        if framework == "lightgbm":
            ranker = _lightgbm("lambdarank", num_leaves=leaves, min_child_samples=least, subsample_freq=1, **params)
        else:
            ranker = _xgboost(
                "rank:ndcg", max_leaves=leaves, max_depth=0, grow_policy="lossguide", min_child_weight=least / 10,
                **params,
            )  # fmt: skip
        kept[trial.number] = fitted(ranker, fold)
        valid = fold[1]
        return float(NDCG10(np.asarray(kept[trial.number].predict(valid.X), np.float64), valid.queries))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    defaults = {"leaves": 31, "rate": 0.1, "l2": 0.01, "rows": 1.0, "columns": 1.0, "least": 20}
    study.enqueue_trial(defaults if framework == "lightgbm" else defaults | {"rate": 0.3, "l2": 1.0, "least": 10})
    study.optimize(value, n_trials=TRIALS)
    return kept[study.best_trial.number]


METHODS: dict[str, Callable[[Fold], Any]] = {
    "lambdarank": partial(fitted, _lightgbm("lambdarank")),
    "lambdarank, small": partial(fitted, _lightgbm("lambdarank", **SMALL)),
    "lambdarank, linear trees": partial(fitted, _lightgbm("lambdarank", linear_tree=True, **SMALL)),
    "LinearRanker": lambda fold: bp.LinearRanker().fit(fold[0].X, fold[0].queries.labels, group=fold[0].group),
    "CRR, 6 leaves": partial(fitted, _lightgbm(bp.CRR(), **SMALL)),
    "CRR, 12 leaves": partial(fitted, _lightgbm(bp.CRR(), **SMALL | {"num_leaves": 12})),
    "CRR, 24 leaves": partial(fitted, _lightgbm(bp.CRR(), **SMALL | {"num_leaves": 24})),
    "CRR, 6 leaves, from linear": partial(fitted, _lightgbm(bp.CRR(), start="linear", **SMALL)),
    "CRR, 24 leaves, from linear": partial(fitted, _lightgbm(bp.CRR(), start="linear", **SMALL | {"num_leaves": 24})),
    "lambdarank, small, from linear": partial(fitted, _lightgbm("lambdarank", start="linear", **SMALL)),
    "lambdarank, tuned": partial(_tuned, "lightgbm"),
    "rank:ndcg": partial(fitted, _xgboost("rank:ndcg")),
    "rank:ndcg, small": partial(fitted, _xgboost("rank:ndcg", **_XGB_SMALL)),
    "CRR, 6 leaves (XGBoost)": partial(fitted, _xgboost(bp.CRR(), **_XGB_SMALL)),
    "CRR, 6 leaves, from linear (XGBoost)": partial(fitted, _xgboost(bp.CRR(), start="linear", **_XGB_SMALL)),
    "rank:ndcg, tuned": partial(_tuned, "xgboost"),
}
FOREST = ("linear", "forest", "both")
IN_ALL = {
    "lambdarank": _lightgbm("lambdarank", **_MIDDLE),
    "CRR, 6 leaves, from linear": _lightgbm(bp.CRR(), start="linear", **SMALL),
}
SEEDS = {
    "lambdarank": partial(_lightgbm, "lambdarank", **_MIDDLE, **_SAMPLED),
    "CRR": partial(_lightgbm, bp.CRR(), **_MIDDLE, **_SAMPLED),
}
CATBOOST = ("YetiRank", "QueryRMSE")


def _forest(fold: Fold) -> Any:
    """Return a random forest of labels centred within queries."""
    import lightgbm as lgb

    queries = fold[0].queries
    mean = np.bincount(queries.query_of_row, queries.labels) / np.diff(queries.boundaries)
    data = lgb.Dataset(fold[0].X, queries.labels - mean[queries.query_of_row])
    params = {"objective": "regression", "boosting": "rf", "num_leaves": 15, "bagging_fraction": 0.6, "bagging_freq": 1}
    params |= {"feature_fraction": 0.6, "num_threads": 1, "verbose": -1, "seed": 0}
    return lgb.train(params, data, 100)


def _from_start(kind: str, fold: Fold) -> Any:
    """Return CRR from a candidate for the start."""
    if kind == "linear":
        return METHODS["CRR, 6 leaves, from linear"](fold)
    start: Any = _forest(fold)
    if kind == "both":
        from boostplug.model.export import export
        from boostplug.model.trees import TreeModel

        X, n_features = fold[0].X, fold[0].X.shape[1]
        linear = METHODS["LinearRanker"](fold).model_
        trees = bp.Ensemble(
            [[(tree, 1.0) for tree in TreeModel.from_lightgbm(export(start)).trees]], n_features=n_features
        )
        parts = [
            (weak, weight / (part.predict(X).std() or 1.0)) for part in (linear, trees) for weak, weight in part.terms
        ]
        start = bp.Ensemble([parts], n_features=n_features)
    return fitted(_lightgbm(bp.CRR(), start=start, **SMALL), fold)


def _catboost(objective: str, fold: Fold) -> Any:
    """Return CatBoost's model, of the round that is best on the validation queries by NDCG@10 of ours."""
    import catboost

    train, valid, _ = (
        catboost.Pool(part.X, part.queries.labels, group_id=part.queries.query_of_row, thread_count=1) for part in fold
    )
    model = catboost.CatBoost(
        {"loss_function": objective, "iterations": ROUNDS, "random_seed": 0, "thread_count": 1, "verbose": False}
        | {"allow_writing_files": False}
    ).fit(train)
    stages = model.staged_predict(valid)
    values = [NDCG10(np.asarray(scores, np.float64), fold[1].queries) for scores in stages]
    best = next((k for k in range(len(values)) if max(values[k + 1 : k + 1 + PATIENCE], default=0.0) <= values[k]), 0)
    model.shrink(best + 1)
    return model


def _whole(fold: Fold) -> DataPart:
    """Return the training and validation queries of a draw as one part."""
    train, valid, _ = fold
    labels = np.concatenate([train.queries.labels, valid.queries.labels])
    return DataPart(np.concatenate([train.X, valid.X]), bp.Queries(labels, group=np.r_[train.group, valid.group]))


def _standardised(scores: Floats, part: DataPart) -> Floats:
    """Return scores over the standard deviation within queries, so that models of several folds count alike."""
    query = part.queries.query_of_row
    centred = scores - (np.bincount(query, scores) / np.bincount(query))[query]
    return centred / (centred.std() or 1.0)


def methods_of(kind: str, fold: Fold, *, few: bool, draw: int) -> Iterator[tuple[str, list[Any]]]:
    """Yield the methods of a kind of job, each with its models, whose mean is judged."""
    if kind == "sizes":
        for name, method in METHODS.items():
            if "tuned" not in name or (few and draw < TUNED_DRAWS):
                yield name, [method(fold)]
    elif kind == "forest":
        yield from ((name, [_from_start(name, fold)]) for name in FOREST)
    elif kind == "seeds":
        for name, ranker in SEEDS.items():
            for n in (1, 3):
                yield f"{name}, {n}", [fitted(ranker().set_params(random_state=seed), fold) for seed in range(n)]
    elif kind == "in_all":
        whole = _whole(fold)
        given = {"group": whole.group, "n_splits": 4, "early_stopping_rounds": PATIENCE, "eval_metric": [NDCG10]}
        for name, ranker in IN_ALL.items():
            yield name, [fitted(ranker, fold)]
            yield f"{name}, mean of folds", [bp.fit_folds(ranker, whole.X, whole.queries.labels, **given)]
    else:
        yield from ((name, [_catboost(name, fold)]) for name in CATBOOST)


def trained(folder: Path, job: Job) -> dict[Any, Any]:
    """Train the methods of a job, and return what is measured of each; nothing where the set is too small."""
    fold = drawn_fold(folder, job)
    if fold is None:
        return {}
    test, found = fold[2], {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = 0 < job.size <= MOST_TUNED
        for name, models in methods_of(job.kind, fold, few=few, draw=job.draw):
            scores = [np.asarray(model.predict(test.X), np.float64) for model in models]
            scores = scores if len(scores) == 1 else [_standardised(one, test) for one in scores]
            found[name] = {"values": NDCG10.per_query(np.mean(scores, axis=0), test.queries)}
    return found


def train(folder: str, store: str, *kinds: str) -> None:
    """Train what is missing in the store, on all cores."""
    wanted = [job for kind in kinds for job in jobs(kind)]
    all_finished(Path(store), {job.name: partial(trained, Path(folder), job) for job in wanted})


class Results:
    """What the store holds: NDCG@10 of each test query."""

    def __init__(self, store: Path) -> None:
        kinds = ("sizes", "forest", "in_all", "seeds", "catboost", "catboost_in_all")
        paths = {job: store / f"{job.name}.joblib" for kind in kinds for job in jobs(kind)}
        self._kept = {job: joblib.load(path) for job, path in paths.items() if path.is_file()}

    def gap(
        self, kind: str, size: int, method: str, other: tuple[str, str], data: str | None = None
    ) -> Estimate | None:
        """Return the difference of a method to another one, (kind, name), pooled over sets, or of one set.

        A query counts once for each draw that tests it, as each fold is drawn once; None where nothing is known.
        """
        gaps = []
        for job, found in self._kept.items():
            if job.kind == kind and job.size == size and data in (None, job.data) and method in found:
                theirs = self._kept.get(job._replace(kind=other[0]), {})
                if other[1] in theirs:
                    gaps.append(found[method]["values"] - theirs[other[1]]["values"])
        return estimated(np.concatenate(gaps)) if gaps else None


LIGHTGBM = ("sizes", "lambdarank")
XGBOOST = ("sizes", "rank:ndcg")
OF_XGBOOST = ("rank:ndcg, small", "rank:ndcg, tuned", "CRR, 6 leaves (XGBoost)", "CRR, 6 leaves, from linear (XGBoost)")
OF_LIGHTGBM = [name for name in METHODS if name not in OF_XGBOOST and name not in ("lambdarank", "rank:ndcg")]
BEST = "CRR, 6 leaves, from linear"


def summary(results: Results) -> dict[str, Any]:
    """Return the numbers of the page."""
    gap, folds = results.gap, f"{BEST}, mean of folds"
    compared = [(method, LIGHTGBM) for method in OF_LIGHTGBM] + [(method, XGBOOST) for method in OF_XGBOOST]
    return {
        "sizes": [
            {"method": one, "beside": base[1], **{str(n or "all"): gap("sizes", n, one, base) for n in SIZES}}
            for one, base in [*compared, ("rank:ndcg", LIGHTGBM)]
        ],
        "sets": [
            {"method": method, **{data: gap("sizes", 100, method, LIGHTGBM, data) for data in REAL}}
            for method in OF_LIGHTGBM
        ],
        "catboost": [
            {
                "method": method,
                "beside lambdarank": gap("catboost", 100, method, LIGHTGBM),
                "ours beside it": _turned(gap("catboost", 100, method, ("sizes", BEST))),
            }
            for method in CATBOOST
        ],
        "start": [
            {"method": name, "beside linear": gap("forest", 100, name, ("forest", "linear"))} for name in FOREST[1:]
        ],
        "in all": [
            {"size": size, "method": title, "difference": gap(kind, size, method, ("in_all", "lambdarank"))}
            for kind, size, title, method in _in_all()
        ],
        "in all, beside CatBoost": [
            {"method": name, "ours beside it": _turned(gap("catboost_in_all", 100, name, ("in_all", folds)))}
            for name in CATBOOST
        ],
        "seeds": [
            {"method": name, "difference": gap("seeds", 0, f"{name}, 3", ("seeds", f"{name}, 1"))} for name in SEEDS
        ],
    }


def _in_all() -> Iterator[tuple[str, int, str, str]]:
    """Yield kind, number of queries, title and name of the methods that get queries to train and to stop in one."""
    for size in (100, 800):
        for method in [f"{name}{end}" for name in IN_ALL for end in ("", ", mean of folds")][1:]:
            yield "in_all", size, method, method
    yield from (("catboost_in_all", 100, f"CatBoost's {name}", name) for name in CATBOOST)


def _turned(found: Estimate | None) -> Estimate | None:
    return None if found is None else Estimate(-found.mean, -found.z, found.n)


def tables(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the page's table; bold: at least three standard errors from 0."""
    columns = [str(size or "all") for size in SIZES]
    body = [[row["method"], row["beside"], *(with_z(row[column]) for column in columns)] for row in found["sizes"]]
    return {"sizes": markdown(["method", "beside", *columns], body, numbers=True)}


DRAWN = ("lambdarank, small", "LinearRanker", "CRR, 6 leaves", "CRR, 24 leaves", BEST, "CRR, 24 leaves, from linear")


def _plot(rows: list[dict[str, Any]], axes: Any) -> None:
    """Draw the differences to lambdarank against the number of queries, a line a method."""
    columns = [str(size or "all") for size in SIZES]
    for number, method in enumerate(DRAWN):
        row = next(row for row in rows if row["method"] == method)
        known = [at for at, column in enumerate(columns) if row[column] is not None]
        axes.plot(known, [row[columns[at]][0] for at in known], label=method, **line_style(number))
    axes.set_xticks(range(len(columns)), columns)
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_xlabel("training queries")
    axes.set_ylabel("NDCG@10 beside lambdarank as it comes")


def page(store: str, result: str, page: str) -> None:
    """Write the numbers, fill the page and draw."""
    found = publish(summary(Results(Path(store))), result, page, tables)
    path = Path(page).parent / "figures" / "few_queries"
    drawn(partial(_plot, found["sizes"]), "Few judged queries", path, (8.0, 5.0))


COMMANDS: Mapping[str, Callable[..., None]] = {"train": train, "page": page}

if __name__ == "__main__":
    from studies import few_queries  # noqa: PLW0406 (under its own name, so that other processes find what is in it)

    few_queries.COMMANDS[sys.argv[1]](*sys.argv[2:])
