"""Fitted models of all kinds, with a table that each reads, and how exactly its contributions add up."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from adapters.harness import lgb, xgb
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import boostplug as bp
from boostplug.weak_rankers import Feature, Stump

N_QUERIES, SIZE = 40, 12
QID = np.repeat(np.arange(N_QUERIES), SIZE)
GROUP = np.full(N_QUERIES, SIZE)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_QUERIES * SIZE, 5)).round(2)
X[:, 2] = np.repeat(RNG.normal(size=N_QUERIES), SIZE)  # the same for all documents of a query
X[:, 3] = 1.5  # constant
Y = np.clip(np.round(X[:, 0] - X[:, 1] * (X[:, 2] > 0) + RNG.normal(size=len(X)) * 0.5 + 1.0), 0, 4)
HOLES = np.where((RNG.random(X.shape) < 0.15) & (X[0, 3] != X), np.nan, X)
FILLED = np.nan_to_num(HOLES, nan=-9.0)
COLOURS = RNG.choice(["red", "green", "blue"], len(X))
FRAME = pd.DataFrame(X, columns=["price", "age in days", "season", "one", "noise"])
FRAME.insert(1, "colour", pd.Categorical(COLOURS))
NAMED = FRAME.drop(columns="colour").assign(qid=QID, grade=Y)
OF_COLOUR = Y + 2.0 * (COLOURS == "green")

SMALL = {"n_estimators": 12, "n_jobs": 1}
OF_LIGHTGBM = {**SMALL, "num_leaves": 7, "min_child_samples": 5, "verbose": -1}
OF_XGBOOST = {**SMALL, "max_depth": 3}
DOUBLE, SINGLE = 1e-9, 1e-5  # of the largest score


def lightgbm(rows=X, y=Y, *, plain=False, objective=None, fit=None, **params):
    make = lgb.LGBMRanker if plain else partial(bp.LGBMRanker, objective=objective)
    ranker = make(**OF_LIGHTGBM | params)
    return ranker.fit(rows, y, **({"group": GROUP} if plain else {"qid": QID}), **fit or {})


def xgboost(rows=X, y=Y, *, plain=False, objective="rank:ndcg", fit=None, **params):
    ranker = (xgb if plain else bp).XGBRanker(objective=objective, **OF_XGBOOST | params)
    return ranker.fit(rows, y, qid=QID, verbose=False, **fit or {})


def stopped(fit, **params):
    held = QID >= 20
    return fit(
        X[~held],
        Y[~held],
        qid=QID[~held],
        eval_set=[(X[held], Y[held])],
        eval_qid=[QID[held]],
        **params,
    )


def early_lightgbm():
    ranker = bp.LGBMRanker(**OF_LIGHTGBM | {"n_estimators": 200, "learning_rate": 0.5})
    return stopped(ranker.fit, callbacks=[lgb.early_stopping(3, verbose=False)])


def early_xgboost():
    ranker = bp.XGBRanker(**OF_XGBOOST | {"n_estimators": 200, "learning_rate": 0.9}, early_stopping_rounds=3)
    return stopped(ranker.fit, verbose=False)


def loaded_lightgbm():
    return lgb.Booster(model_str=lightgbm(FRAME.drop(columns="colour"), plain=True).booster_.model_to_string())


def loaded_xgboost():
    return xgb.Booster(model_file=bytearray(xgboost(plain=True).get_booster().save_raw()))


def folds(ranker, **params):
    return bp.fit_folds(ranker, HOLES, Y, qid=QID, n_splits=3, early_stopping_rounds=5, **params)


def gblinear():
    params = {"booster": "gblinear", "nthread": 1, "objective": "rank:pairwise"}
    return xgb.train(params, xgb.DMatrix(X, Y, group=GROUP), 10)


def polars_frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame(FRAME.assign(colour=COLOURS)).with_columns(polars.col("colour").cast(polars.Categorical))


def arrow_table():
    return pytest.importorskip("pyarrow").Table.from_pandas(FRAME.drop(columns="colour"))


@cache
def fitted(name):
    """Return a model and a table that it reads."""
    return MODELS[name]()


ENSEMBLE = bp.Ensemble([[(Stump(0, 0.5), 2.0), (Feature(1), 0.5)], [(Stump(0, -0.5), 1.0)]], n_features=5)
OF_CATEGORIES = {"min_data_per_group": 5, "cat_smooth": 1.0}
CATEGORICAL = {"enable_categorical": True}

# Name -> model and table
LIGHTGBM = {
    "lightgbm": lambda: (lightgbm(plain=True), X),
    "lightgbm, a frame": lambda: (lightgbm(FRAME.drop(columns="colour"), plain=True), FRAME.drop(columns="colour")),
    "lightgbm, booster from a file": lambda: (loaded_lightgbm(), FRAME.drop(columns="colour")),
    "lightgbm, a loss": lambda: (lightgbm(objective=bp.QBRank()), X),
    "lightgbm, missing values": lambda: (lightgbm(HOLES, objective=bp.RankNet()), HOLES),
    "lightgbm, stopped early": lambda: (early_lightgbm(), X),
    "lightgbm, dart": lambda: (lightgbm(boosting_type="dart", drop_rate=0.5, random_state=0), X),
    "lightgbm, categories": lambda: (lightgbm(FRAME, OF_COLOUR, **OF_CATEGORIES), FRAME),
    "lightgbm, exported categories": lambda: (fitted("lightgbm, categories")[0].export(), FRAME),
    "lightgbm, polars": lambda: (lightgbm(polars_frame(), OF_COLOUR, **OF_CATEGORIES), polars_frame()),
    "lightgbm, pyarrow": lambda: (lightgbm(arrow_table()), arrow_table()),
    "lightgbm, sparse": lambda: (lightgbm(sparse.csr_matrix(X)), sparse.csr_matrix(X)),
    "lightgbm, columns by name": lambda: (
        bp.LGBMRanker(**OF_LIGHTGBM, features=["noise", "price"]).fit(NAMED, "grade"),
        NAMED,
    ),
    "lightgbm, mean": lambda: (bp.mean_model([lightgbm(random_state=s, extra_trees=True) for s in (1, 2)]), X),
    "lightgbm, folds": lambda: (folds(bp.LGBMRanker(**OF_LIGHTGBM)), HOLES),
    "lightgbm, folds and linear": lambda: (folds(bp.LGBMRanker(**OF_LIGHTGBM), linear=True), HOLES),
}
XGBOOST = {
    "xgboost": lambda: (xgboost(plain=True), X),
    "xgboost, a frame": lambda: (xgboost(FRAME.drop(columns="colour"), plain=True), FRAME.drop(columns="colour")),
    "xgboost, booster from a file": lambda: (loaded_xgboost(), X),
    "xgboost, a loss": lambda: (xgboost(objective=bp.QBRank()), X),
    "xgboost, missing values": lambda: (xgboost(HOLES, objective=bp.RankNet()), HOLES),
    "xgboost, missing=-9": lambda: (xgboost(FILLED, missing=-9), FILLED),
    "xgboost, stopped early": lambda: (early_xgboost(), X),
    "xgboost, regression": lambda: (xgboost(objective="reg:squarederror"), X),
    "xgboost, dart": lambda: (xgboost(booster="dart", rate_drop=0.5, random_state=0), X),
    "xgboost, gblinear": lambda: (gblinear(), X),
    "xgboost, gblinear of a ranker": lambda: (xgboost(HOLES, booster="gblinear", max_depth=None), HOLES),
    "xgboost, trees of a round": lambda: (xgboost(num_parallel_tree=3, subsample=0.5, random_state=0), X),
    "xgboost, categories": lambda: (xgboost(FRAME, OF_COLOUR, **CATEGORICAL), FRAME),
    "xgboost, exported categories": lambda: (bp.export(fitted("xgboost, categories")[0].get_booster()), FRAME),
    "xgboost, polars": lambda: (xgboost(polars_frame(), OF_COLOUR, **CATEGORICAL), polars_frame()),
    "xgboost, sparse": lambda: (xgboost(sparse.csr_matrix(X)), sparse.csr_matrix(X)),
    "xgboost, columns by name": lambda: (
        bp.XGBRanker(**OF_XGBOOST, features=["noise", "price"]).fit(NAMED, "grade"),
        NAMED,
    ),
    "xgboost, mean": lambda: (bp.mean_model([xgboost(random_state=s, subsample=0.5) for s in (1, 2)]), X),
    "xgboost, folds": lambda: (folds(bp.XGBRanker(**OF_XGBOOST)), HOLES),
    "xgboost, folds and linear": lambda: (folds(bp.XGBRanker(**OF_XGBOOST), linear=True), HOLES),
}
REFERENCE = {
    "RankBoost": bp.RankBoostRanker(n_estimators=10),
    "AdaRank": bp.AdaRankRanker(n_estimators=10),
    "MPBoost": bp.MPBoostRanker(n_estimators=10),
    "NDCGBoost": bp.NDCGBoostRanker(n_estimators=10),
    "NDCGBoost, trees": bp.NDCGBoostRanker(
        n_estimators=5, classifier=DecisionTreeClassifier(max_depth=3), random_state=0
    ),
    "QBRank": bp.QBRankRanker(n_estimators=10),
    "quadratic bounds": bp.QuadraticBoundRanker(
        n_estimators=10, regressor=DecisionTreeRegressor(max_depth=3), random_state=0
    ),
    "linear": bp.LinearRanker(),
}
RANKERS = {name: lambda ranker=ranker: (ranker.fit(HOLES, Y, qid=QID), HOLES) for name, ranker in REFERENCE.items()}
RANKERS["an ensemble"] = lambda: (ENSEMBLE, HOLES)
MODELS = LIGHTGBM | XGBOOST | RANKERS


def scores_of(name):
    """Return the scores of the model by its own `predict`."""
    model, rows = fitted(name)
    if isinstance(model, xgb.Booster):
        return model.predict(xgb.DMatrix(rows, enable_categorical=True), output_margin=True).astype(np.float64)
    return np.asarray(model.predict(rows), np.float64)


def tolerance(name, scores):
    return (SINGLE if name in XGBOOST else DOUBLE) * np.abs(scores).max()
