"""Bad input and the message it gets.

`python tests/test_bad_input.py` writes the messages of all cases to bad_input.json, and the usual ones to
docs/bad_input.md.
"""

import datetime as dt
import gzip
import json
import re
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from optuna.trial import FixedTrial
from scipy.sparse import csr_matrix
from sklearn import config_context
from versions import version_of

import boostplug as bp
from boostplug.datasets import (
    Run,
    join_trec,
    load_fold,
    load_folds,
    load_letor,
    load_qrels,
    load_run,
    save_qrels,
    save_run,
)
from boostplug.weak_rankers import Stump

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

MESSAGES = Path(__file__).with_name("bad_input.json")
PAGE = Path(__file__).parents[1] / "docs" / "bad_input.md"
GROUP = [4, 3, 5]
N = sum(GROUP)
QID = np.repeat([1, 2, 3], GROUP)
X = np.random.default_rng(0).normal(size=(N, 2))
Y = np.array([0.0, 1, 2, 0, 1, 0, 3, 2, 2, 0, 1, 4])
ZERO = np.zeros(N)
FRAME = pd.DataFrame(X, columns=["a", "b"])
KINDS = FRAME.assign(b=pd.Categorical(np.where(Y > 1, "high", "low")))
OTHER_KINDS = FRAME.assign(b=pd.Categorical(["z"] * N))
LOSS = bp.MPBoost()
LGB = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 1}
XGB = {"nthread": 1, "objective": "rank:pairwise"}
ONE_TREE = {"objective": LOSS, "n_estimators": 1, "verbose": -1, "n_jobs": 1, "min_child_samples": 1}
VALID = {"eval_set": [(X, Y)], "eval_qid": [QID]}
OF_LIGHTGBM = {"eval_X": (X,), "eval_y": (Y,)} if version_of("lightgbm") >= (4, 7) else {"eval_set": [(X, Y)]}
THREE = (X, Y, QID)


TABLE = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 2)), columns=["a", "b"]).assign(
    grade=np.arange(60) % 3, query=np.repeat(np.arange(12), 5)
)


def at(values, row, value):
    """Return a copy with one value replaced."""
    out = np.array(values, dtype=float)
    out[row] = value
    return out


def queries(labels=Y, **keywords):
    return bp.Queries(labels, **({"group": GROUP} if not keywords.keys() & {"group", "qid"} else {}), **keywords)


def gradient(loss, labels=Y, scores=ZERO):
    return loss.gradient_hessian(scores, queries(labels))


def far_apart():
    with np.errstate(over="ignore"):
        return gradient(bp.MPBoost(distance=bp.LinearDistance(alpha=1e10)), at(Y, 0, 1e300))


def train_lgb(params=None, valid=None, **data):
    dataset = lgb.Dataset(**{"data": X, "label": Y, "group": GROUP, "free_raw_data": False, **data})
    more = {"valid_sets": [valid(dataset)], "feval": bp.NDCG()} if valid else {}
    return lgb.train({**LGB, "objective": LOSS, **(params or {})}, dataset, 2, **more)


def train_xgb(params=None, valid=None, objective=LOSS, **data):
    dmatrix = xgb.DMatrix(**{"data": X, "label": Y, "group": GROUP, "nthread": 1, **data})
    more = {"evals": [(valid, "v")], "custom_metric": bp.NDCG()} if valid else {}
    return xgb.train({**XGB, **(params or {})}, dmatrix, 2, obj=objective, verbose_eval=False, **more)


def of_dask(frame):
    """Return a DataFrame in two partitions."""
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=2)


def dmatrix():
    return xgb.DMatrix(X, Y > 1, group=GROUP)


def having(attach, values, dataset=None):
    """Return a data set to which values are attached."""
    dataset = dmatrix() if dataset is None else dataset
    attach(dataset, values)
    return dataset


RUN = Run(["1", "1"], ["d0", "d1"], [2.0, 1.0], "bm25")


def joined(table, **changes):
    """Return rows of features with those of a TREC file."""
    own = {"qid": QID, "doc_ids": [f"d{row}" for row in range(N)]}
    return join_trec(bp.RankingData(X, Y, **{**own, **changes}), table)


OF_LOSS = {**LGB, "objective": LOSS}


def whole():
    return lgb.Dataset(X, Y, group=GROUP, params=LGB).construct()


def fit_lgb(objective=LOSS, ranker=None, **fit):
    model = bp.LGBMRanker(
        objective=objective, n_estimators=2, verbose=-1, n_jobs=1, min_child_samples=1, **(ranker or {})
    )
    return model.fit(**{"X": X, "y": Y, "qid": QID, **fit})


def fit_xgb(objective=LOSS, ranker=None, **fit):
    model = bp.XGBRanker(objective=objective, n_estimators=2, n_jobs=1, **(ranker or {}))
    return model.fit(**{"X": X, "y": Y, "qid": QID, "verbose": False, **fit})


def compare(frame=TABLE, **options):
    given = {"label": "grade", "qid": "query", "rounds": 1, "seeds": 1, "losses": [LOSS], "frameworks": "lightgbm"}
    return bp.compare(frame, **given | options)


@cache
def folder():
    """Return a temporary folder that lives as long as this module."""
    return tempfile.TemporaryDirectory(prefix="boostplug-bad-input-")


def file(name, content, **sides):
    path = Path(folder().name) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for suffix, text in sides.items():
        path.with_name(f"{name}.{suffix}").write_text(text)
    return path


GOOD_LINES = "1 qid:1 1:0.5\n0 qid:1 1:0.1\n"


def fold(train):
    """Return the folder of a fold whose training file holds some lines."""
    for part in ("vali", "test"):
        file(f"folds/Fold1/{part}.txt", GOOD_LINES)
    return file("folds/Fold1/train.txt", train).parent


def requested():
    with config_context(enable_metadata_routing=True):
        SCORER.set_score_request(margin=True)


def saved(save, values, **ids):
    save(Path(folder().name) / "out", values, **{"qid": QID, **ids})


def from_frame(frame):
    return bp.RankingData.from_frame(frame, label="grade", qid="query")


PAIRS = bp.Pairs([0], [1])


def log_of(*clicks, **changes):
    return bp.datasets.ClickLog(clicks, **{"group": [2], "position": [1, 2], **changes})


LOG, CLICKED, NO_CLICKS, GAP = log_of(0, 1), log_of(1, 0), log_of(0, 0), log_of(1, 0, group=[1, 1], position=[1, 3])
SCORER = bp.make_scorer(bp.NDCG())
METRIC_IN_XGB = bp.XGBRanker(eval_metric=bp.NDCG())
TWO_QUERIES = pd.DataFrame({"qid": list("aabbb")})


def batches(columns=None, **options):
    table = pd.DataFrame(columns or {"y": [1, 0], "q": [1, 1], "x": [0.0, 1.0]})
    path = Path(folder().name, "rows.parquet")
    table.to_parquet(path)
    return [*bp.datasets.batches_by_query(path, **{"label": "y", "qid": "q", **options})]


def from_clicks(clicked=(0, 1, 0), **changes):
    return bp.Pairs.from_clicks(clicked, **{"group": [3], "position": [1, 2, 3], **changes})


def clicks_of(lines, **columns):
    return bp.datasets.load_clicks(file("log.csv", f"qid,position,clicked\n1,1,0\n{lines}"), **columns)


def on_clicks(method="unbiased_lambdamart", clicks=(1, 0, 0, 1), position=(1, 2, 1, 2), **given):
    """Call `Unbiased` on two pages."""
    pages = bp.Queries(clicks, group=[2, 2], position=position)
    return bp.Unbiased(method=method, **given).gradient_hessian(np.zeros(4), pages)


def click_log_loss(clicks=(1, 0, 0, 1), position=(1, 2, 1, 2)):
    """Call `ClickLogLoss` on two pages."""
    pages = bp.Queries(clicks, group=[2, 2], position=position)
    return bp.ClickLogLoss(propensity=[1.0, 0.5]).gradient_hessian(np.zeros(4), pages)


def on_categories(loss=bp.Unbiased(method="unbiased_lambdamart")):  # noqa: B008 (immutable)
    """Call a loss on a Dataset whose positions LightGBM keeps as categories."""
    data = lgb.Dataset(np.zeros((4, 1)), [1, 0, 0, 1], group=[2, 2], position=[3, 1, 1, 3], params={"verbosity": -1})
    return loss(np.zeros(4), data.construct())


def on_fixed_order():
    """Estimate propensities from 40 pages with one order as if they were shuffled."""
    ids = {"query": [0] * 80, "document": ["a", "b"] * 40}
    log = bp.clicks.ClickLog([1, 0] * 40, group=[2] * 40, position=[1, 2] * 40, **ids)
    return bp.clicks.propensity(log, method="randomised")


def on_two_machines():
    """Return a Dataset as each of two machines has it; there is no network until it is trained on."""
    data = lgb.Dataset(X, Y, group=GROUP, params={"verbosity": -1}).construct()
    data.params["num_machines"] = 2
    return data


CASES = {
    "The usual mistakes": {
        "`compare`: a name that is no column": lambda: compare(label="grades"),
        "`compare`: another column as query ids": lambda: compare(qid="a"),
        "ranker: rows of a query apart": lambda: fit_lgb(qid=np.tile([1, 2], 6)),
        "`compare`: a label is missing": lambda: compare(TABLE.assign(grade=at(TABLE.grade, 7, np.nan))),
        "`compare`: negative labels": lambda: compare(TABLE.assign(grade=TABLE.grade - 1), metric="NDCG@10"),
        "`compare`: labels as text": lambda: compare(TABLE.assign(grade=np.where(TABLE.grade > 1, "good", "bad"))),
        "`compare`: one query": lambda: compare(TABLE.assign(query=1)),
        "ranker: an empty validation set": lambda: fit_lgb(eval_set=[(X[:0], Y[:0])], eval_group=[[]]),
        "`compare`: a validation part of nothing": lambda: compare(split=(0.8, 0.0, 0.2)),
        "ranker: query ids as text left in X": lambda: fit_lgb(X=FRAME.assign(user=[f"u{q}" for q in QID])),
        "`compare`: a column that puts queries into several parts": lambda: compare(
            TABLE.assign(part=np.resize(["train", "valid", "test"], 60)), split="part"
        ),
        "`compare`: all weights 0": lambda: compare(TABLE.assign(w=0.0), weight="w"),
        "`compare`: a part without rows": lambda: compare(TABLE, valid=TABLE[:0], test=TABLE),
        "`compare`: a column of dates": lambda: compare(TABLE.assign(day=pd.Timestamp("2026-01-01"))),
        "`compare`: a column of durations": lambda: compare(TABLE.assign(age=pd.Timedelta("1h"))),
        "`compare`: a column of times of the day": lambda: compare(TABLE.assign(at=dt.time(12))),
        "`compare`: a column of lists": lambda: compare(TABLE.assign(tags=[["x"]] * len(TABLE))),
        "ranker: a column of dates": lambda: fit_lgb(X=FRAME.assign(day=dt.date(2026, 1, 1))),
        "`compare`: many columns, and none of the name": lambda: compare(
            TABLE.join(pd.DataFrame(0.0, TABLE.index, [f"feature {k}" for k in range(40)])), qid="qury"
        ),
        "`compare`: today='order' and a column of that name": lambda: compare(
            TABLE.assign(order=TABLE.a), today="order"
        ),
        "`compare`: today='-a' and columns a and -a": lambda: compare(TABLE.assign(**{"-a": TABLE.a}), today="-a"),
        "`compare`: an infinite feature in XGBoost": lambda: compare(
            TABLE.assign(a=at(TABLE.a, 4, -np.inf)), frameworks="xgboost"
        ),
        "`compare`: sparse rows for training, and dense ones": lambda: bp.compare(
            (csr_matrix(X), Y, QID), THREE, THREE, losses=LOSS, frameworks="lightgbm"
        ),
        "`compare`: a misspelt baseline": lambda: compare(baselines="lambdarnk"),
        "`compare`: misspelt parameters of trees": lambda: compare(params={"max_dept": 3}),
        "`compare`: misspelt parameters of LightGBM": lambda: compare(params={"lightgbm": {"num_leafs": 3}}),
        "`compare`: a CSV file in UTF-16": lambda: bp.compare(file("utf16.csv", "a,b\n1,2\n".encode("utf-16"))),
        "`compare`: a CSV file whose first line is for Excel": lambda: bp.compare(file("sep.csv", "sep=;\na;b\n1;2\n")),
        "`compare`: a file of JSON lines": lambda: bp.compare(file("rows.jsonl", '{"a": 1}\n')),
        "`compare`: a folder of CSV files": lambda: bp.compare(file("parts/part-0.csv", "a,b\n1,2\n").parent),
        "ranker: the labels left in X (a warning)": lambda: fit_lgb(X=FRAME.assign(grade=Y)),
        "`compare`: two columns of one name": lambda: compare(TABLE.rename(columns={"b": "a"})),
        "`compare`: a column is missing in one part": lambda: compare(
            TABLE, valid=TABLE[["a", "grade", "query"]], test=TABLE
        ),
    },
    "Labels": {
        "`ListNet(target='labels')`: a label below 0": lambda: bp.ListNet(target="labels").value(ZERO, queries(Y - 1)),
        "`LogisticError`: a label above `max_grade`": lambda: bp.LogisticError().value(ZERO, queries()),
        "`Metric.score`: an infinite grade": lambda: bp.NDCG().score(at(Y, 0, np.inf), ZERO, qid=QID),
        "a NaN label": lambda: queries(at(Y, 2, np.nan)),
        "an infinite label": lambda: queries(at(Y, 2, np.inf)),
        "no labels: `Queries(None, …)`": lambda: queries(None),
        "strings as labels": lambda: queries(["good"] * N),
        "masked labels": lambda: queries(np.ma.masked_array(Y, mask=Y > 2)),
        "a column of labels, shape (n, 1)": lambda: queries(Y[:, None]),
    },
    "Queries": {
        "neither group nor qid": lambda: bp.Queries(Y),
        "both group and qid": lambda: bp.Queries(Y, group=GROUP, qid=QID),
        "sizes that do not add up": lambda: queries(group=[4, 3]),
        "query ids passed as `group`": lambda: queries(group=QID),
        "a negative size": lambda: queries(group=[-1, N + 1]),
        "qid of another length": lambda: queries(qid=QID[1:]),
        "a query in two places": lambda: queries(qid=[1, 1, 2, 2, 1, 1, 3, 3, 3, 3, 3, 3]),
        "a NaN id": lambda: queries(qid=at(QID, 3, np.nan)),
        "ids that single precision rounds": lambda: queries(qid=np.float32(at(QID, 0, 2**24))),
        "labels in another order than the ids": lambda: queries(
            pd.Series(Y, index=range(12)), qid=pd.Series(QID, index=range(11, -1, -1))
        ),
        "a missing id of pandas": lambda: queries(qid=pd.Series([1] * 11 + [pd.NA], dtype=object)),
        "a missing id in `split_queries`": lambda: bp.split_queries(FRAME, qid=["a"] * 11 + [np.nan]),
        "sizes by query id": lambda: queries(group=pd.Series([3, 5, 4], index=[2, 3, 1])),
    },
    "`RankingData`": {
        "a NaN label": lambda: bp.RankingData(X, at(Y, 1, np.nan), qid=QID),
        "`from_frame`: labels that are missing": lambda: from_frame(TABLE.assign(grade=np.nan)),
        "no queries": lambda: bp.RankingData(X, Y),
        "a row too few": lambda: bp.RankingData(X[1:], Y, qid=QID),
        "ids and sizes that disagree": lambda: bp.RankingData(X, Y, qid=QID, group=[3, 4, 5]),
        "ids as an argument and as a column": lambda: bp.RankingData(FRAME.assign(qid=QID), Y, qid=QID),
        "a name too few": lambda: bp.RankingData(X, Y, qid=QID, feature_names=["a"]),
        "a column that is not there": lambda: bp.RankingData.from_frame(FRAME.assign(qid=QID), label="grade"),
        "a DataFrame without `label=` in `compare`": lambda: bp.compare(FRAME.assign(qid=QID, y=Y), THREE, THREE),
    },
    "Weights and labelled": {
        "weights of another length": lambda: queries(weight=[1, 2]),
        "a negative weight": lambda: queries(weight=[1, -1, 1]),
        "a weight of 1e-150": lambda: queries(weight=[1, 1e-150, 1]),
        "a NaN weight": lambda: queries(weight=[1, np.nan, 1]),
        "weights by other ids": lambda: queries(weight=pd.Series([1.0, 2, 3], index=[2, 3, 7]), qid=QID),
        "labelled as 0 and 1": lambda: queries(labelled=[1] * N),
    },
    "Scores": {
        "an infinite score": lambda: gradient(LOSS, scores=at(ZERO, 1, np.inf)),
        "`Loss.value`: scores of another length": lambda: LOSS.value(np.zeros(3), queries()),
        "`Loss.value`: an infinite score": lambda: LOSS.value(at(ZERO, 1, np.inf), queries()),
        "`AdaRank.factors`: a NaN score": lambda: bp.AdaRank().factors(at(ZERO, 1, np.nan), queries()),
        "`AdaRank.factors`: scores of another length": lambda: bp.AdaRank().factors(np.zeros(3), queries()),
        "`Metric.per_query`: words as scores": lambda: bp.NDCG().per_query(["high"] * N, queries()),
        "`Metric.per_query`: labels in place of `Queries`": lambda: bp.NDCG().per_query(ZERO, Y),
        "`Metric.score`: scores of another length": lambda: bp.NDCG().score(Y, np.zeros(3), qid=QID),
        "`Metric.score`: a NaN score": lambda: bp.NDCG().score(Y, at(ZERO, 1, np.nan), qid=QID),
        "scores of another length": lambda: gradient(LOSS, scores=np.zeros(3)),
        "a matrix of scores": lambda: gradient(LOSS, scores=np.zeros((N, 3))),
        "a NaN score": lambda: gradient(LOSS, scores=at(ZERO, 1, np.nan)),
        "a NaN score in a metric": lambda: bp.NDCG()(at(ZERO, 1, np.nan), queries()),
        "scores of another length in a metric": lambda: bp.NDCG()(np.zeros(3), queries()),
        "`metric.score` without queries": lambda: bp.NDCG().score(Y, ZERO),
        "`metric.score` of rows in any order": lambda: bp.NDCG().score(Y, ZERO, qid=np.roll(QID, 1)),
        "`RBP(p=1)`": lambda: bp.RBP(1),
    },
    "Losses and distances": {
        "`MPBoost(normalization=None)`": lambda: bp.MPBoost(normalization=None),
        "`MPBoost(distance=LogDistance)`, the class": lambda: bp.MPBoost(distance=bp.LogDistance),
        "`LogDistance(lam=0)`": lambda: bp.LogDistance(lam=0),
        "`LambdaRank(metric=DCG())`": lambda: bp.LambdaRank(metric=bp.DCG()),
        "`LambdaRank(truncation=0)`": lambda: bp.LambdaRank(truncation=0),
        "pairs for `LambdaRank`": lambda: bp.LambdaRank().value(np.zeros(N), queries(pairs=bp.Pairs([0], [1]))),
        "a label above `max_grade`": lambda: bp.CalibratedSoftmax().value(np.zeros(2), bp.Queries([0, 4], group=[2])),
        "`CRR(pair_loss='ranknet')`": lambda: bp.CRR(pair_loss="ranknet"),
        "`PairwiseLoss` of a hinge, whose second derivative is 0": lambda: bp.PairwiseLoss(
            lambda d: np.maximum(0, 1 - d), lambda d: -1.0 * (d < 1), np.zeros_like
        ),
        "a distance that is negative": lambda: gradient(bp.MPBoost(distance=np.negative)),
        "a distance that does not grow (a warning)": lambda: gradient(bp.MPBoost(distance=np.ones_like)),
        "grades whose distance overflows": far_apart,
        "the class as objective, `LGBMRanker(objective=MPBoost)`": lambda: fit_lgb(bp.MPBoost),
    },
    "Sums of losses, and losses as text": {
        "a weight that the sum refuses": lambda: (bp.MPBoost() + bp.RankNet()).with_params(weight_1=-1),
        "a negative weight": lambda: bp.NDCGBoost() + -0.3 * bp.SquaredError(),
        "a class as a part": lambda: 0.7 * bp.NDCGBoost() + bp.QBRank,
        "pairs for a part that takes none": lambda: (bp.MPBoost() + bp.NDCGBoost()).value(
            ZERO, queries(pairs=bp.Pairs([0], [1]))
        ),
        "a parameter of no part": lambda: (bp.MPBoost() + bp.RankNet()).with_params(sigmoid=2.0),
        "a sum of unknown names": lambda: bp.Loss.parse(".7*ndgc+.3*qbrank"),
        "code in a text": lambda: bp.Loss.parse("RankNet(sigmoid=min(1, 2))"),
    },
    "Metrics, folds, threads": {
        "a request of a scorer, without routing": lambda: SCORER.set_score_request(qid=True),
        "a request of a scorer for a word that it does not take": requested,
        "a single fold": lambda: bp.group_folds(QID, 1),
        "folds of queries in two places": lambda: bp.group_folds([1, 2, 1], 2),
        "folds of a ranker that is none of ours": lambda: bp.fit_folds(bp.AdaRankRanker(), X, Y, qid=QID),
        "the name of a loss, with a trial": lambda: bp.suggest(FixedTrial({}), "ranknet"),
        "a trial that is none of optuna's": lambda: bp.suggest(None, bp.RankNet()),
        "`split_queries`: a name that is no column": lambda: bp.split_queries(TABLE, qid="user"),
        "`split_queries`: ids of other rows": lambda: bp.split_queries(TABLE, qid=QID),
        "`split_queries`: two queries": lambda: bp.split_queries(TABLE[:10], qid="query"),
        "a made set without queries": lambda: bp.datasets.make_ranking(n_queries=0),
        "`NDCG(0)`": lambda: bp.NDCG(0),
        '`NDCG(convention="trec")`': lambda: bp.NDCG(convention="trec"),
        "negative grades in NDCG": lambda: bp.NDCG()(ZERO, queries(Y - 1)),
        "a grade of 1000 in NDCG": lambda: bp.NDCG()(ZERO, queries(Y + 1000)),
        "a validation set without any relevant document": lambda: train_lgb(
            valid=lambda d: d.create_valid(X, ZERO, group=GROUP)
        ),
        "our metric in the plain `lightgbm.LGBMRanker`": lambda: lgb.LGBMRanker(**ONE_TREE).fit(
            X, Y, group=GROUP, **OF_LIGHTGBM, eval_group=[GROUP], eval_metric=bp.NDCG()
        ),
        '`make_scorer("ndcg")`': lambda: bp.make_scorer("ndcg"),
        "more folds than queries": lambda: bp.group_folds(QID, 4),
        "starting parameters of another framework": lambda: bp.starting_params(Y, qid=QID, framework="catboost"),
        "starting parameters of another kind of label": lambda: bp.starting_params(Y, qid=QID, labels="clicks"),
        "a linear part beside pairs": lambda: bp.fit_folds(bp.LGBMRanker(), X, Y, qid=QID, pairs=PAIRS, linear=True),
        "a seed without shuffle": lambda: bp.group_folds(QID, 2, random_state=0),
        "folds made for other rows": lambda: lgb.cv(
            OF_LOSS, lgb.Dataset(X, Y, group=GROUP), folds=bp.group_folds([1, 2], 2)
        ),
    },
    "LightGBM's Dataset and parameters": {
        "no group": lambda: train_lgb(group=None),
        "no label (a warning: LightGBM makes zeros of them)": lambda: train_lgb(label=None),
        "all labels equal (a warning)": lambda: train_lgb(label=ZERO + 3),
        "all weights 0 (a warning)": lambda: train_lgb(weight=ZERO),
        "a validation set without group": lambda: train_lgb(valid=lambda d: d.create_valid(X, Y)),
        "`lgb.cv` without folds of whole queries": lambda: lgb.cv(
            OF_LOSS, lgb.Dataset(X, Y, group=GROUP), 2, nfold=3, stratified=False
        ),
        "`Dataset.subset` that cuts a query": lambda: lgb.train(OF_LOSS, whole().subset([1, 2, 3, 4, 5, 6]), 2),
        "`Dataset.subset` that repeats a row": lambda: lgb.train(OF_LOSS, whole().subset([0, 0, 2, 3, 4, 5, 6]), 2),
        "a subset of a Dataset with pairs": lambda: LOSS(
            np.zeros(4), having(bp.set_pairs, PAIRS, whole()).subset([0, 1, 2, 3]).construct()
        ),
        "pairs that all weigh 0 (a warning)": lambda: fit_lgb(pairs=bp.Pairs([0, 5], [1, 4], weight=[0, 0])),
        "`num_class=3`": lambda: train_lgb({"num_class": 3}),
        "`bagging_by_query` with bagging": lambda: train_lgb(
            {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}
        ),
        "an option of lambdarank": lambda: fit_lgb(ranker={"lambdarank_truncation_level": 30}),
        "`label_gain` without LightGBM's own ndcg": lambda: fit_lgb(ranker={"label_gain": [0, 1, 3]}),
        "`position=…` in the Dataset": lambda: train_lgb(position=np.arange(N, dtype=np.int32)),
        "a ranking loss in `LGBMRegressor`": lambda: lgb.LGBMRegressor(**ONE_TREE).fit(X, Y),
    },
    "XGBoost's DMatrix and parameters": {
        "no queries": lambda: train_xgb(group=None),
        "labels of 1e-5 for a loss in their unit (a warning)": lambda: fit_xgb(y=1e-5 * Y, objective=bp.QBRank()),
        "no label": lambda: train_xgb(label=None),
        "all labels equal (a warning)": lambda: train_xgb(label=ZERO + 3),
        "a slice, which has lost its groups": lambda: xgb.train(
            XGB, xgb.DMatrix(X, Y, group=GROUP).slice(list(range(7)), allow_groups=True), 2, obj=LOSS
        ),
        "a NaN `base_margin`": lambda: train_xgb(base_margin=at(ZERO, 1, np.nan)),
        "a slice of a DMatrix with pairs": lambda: having(bp.set_pairs, PAIRS).slice([0, 1]),
        "`num_class=3`": lambda: train_xgb({"num_class": 3}),
        "an option of rank:ndcg": lambda: fit_xgb(ranker={"lambdarank_pair_method": "topk"}),
        "a validation set without queries": lambda: train_xgb(valid=xgb.DMatrix(X, Y)),
    },
    "LGBMRanker and XGBRanker": {
        **{
            what: run
            for name, fit in (("LGBMRanker", fit_lgb), ("XGBRanker", fit_xgb))
            for what, run in {
                f"{name}: a NaN label": lambda fit=fit: fit(y=at(Y, 2, np.nan)),
                f"{name}: neither qid nor group": lambda fit=fit: fit(qid=None),
            }.items()
        },
        "a qid column and qid": lambda: fit_xgb(X=pd.DataFrame({"a": Y, "qid": QID})),
        "X with fewer rows than labels": lambda: fit_xgb(X=X[1:]),
        "LGBMRanker: fewer rows than two leaves need": lambda: bp.LGBMRanker(objective=LOSS, verbose=-1, n_jobs=1).fit(
            X, Y, qid=QID
        ),
        "no ids for the validation set": lambda: fit_lgb(eval_set=[(X[1:], Y[1:])]),
        "a list of ids for two validation sets": lambda: fit_xgb(eval_set=[(X, Y), (X, Y)], eval_qid=[QID]),
        "`eval_set=[X, y]`": lambda: fit_xgb(eval_set=[X, Y], eval_qid=[QID, QID]),
        "a NaN label in the validation set": lambda: fit_xgb(eval_set=[(X, at(Y, 1, np.nan))], eval_qid=[QID]),
        **{
            what: run
            for name, fit in (("LGBMRanker", fit_lgb), ("XGBRanker", fit_xgb))
            for what, run in {
                f"{name}: X of one dimension": lambda fit=fit: fit(X=X[:, 0]),
                f"{name}: X of words": lambda fit=fit: fit(X=X.astype(str)),
                f"{name}: a masked X": lambda fit=fit: fit(X=np.ma.masked_array(X, X > 0)),
                f"{name}: permuted columns in `predict`": lambda fit=fit: fit(X=FRAME).predict(FRAME[["b", "a"]]),
                f"{name}: other columns in `eval_set`": lambda fit=fit: fit(
                    X=FRAME, eval_set=[(FRAME.rename(columns={"b": "c"}), Y)], eval_qid=[QID]
                ),
                f"{name}: a category in `predict` only": lambda fit=fit: fit(X=FRAME).predict(KINDS),
                f"{name}: a word as sample_weight": lambda fit=fit: fit(sample_weight="balanced"),
            }.items()
        },
        "a misspelt parameter of LightGBM": lambda: fit_lgb(ranker={"bagging_fracton": 0.5}),
        "a misspelt parameter of XGBoost": lambda: fit_xgb(ranker={"max_dept": 3}),
        "`LGBMRanker(num_machines=2)`": lambda: fit_lgb(ranker={"num_machines": 2}),
        "`LGBMRanker(alpha=.5)` beside a loss": lambda: fit_lgb(ranker={"alpha": 0.5}),
        "a callback in place of a list": lambda: fit_lgb(callbacks=lgb.log_evaluation),
        "a callback in place of a list, XGBRanker": lambda: fit_xgb(ranker={"callbacks": 3}),
        "feature_weights of another length": lambda: fit_xgb(feature_weights=[1, 2, 3]),
        "`eval_at=0`": lambda: fit_lgb(eval_at=[0], **VALID),
        "a place of the column of ids": lambda: fit_lgb(X=FRAME.assign(qid=QID), qid=None, categorical_feature=[2]),
        "`fit_folds` with an `eval_set`": lambda: bp.fit_folds(bp.LGBMRanker(), X, Y, qid=QID, eval_set=[(X, Y)]),
        "`fit_folds` of pairs without labels": lambda: bp.fit_folds(bp.LGBMRanker(), X, None, qid=QID, pairs=PAIRS),
        "more folds than queries with different labels": lambda: bp.fit_folds(
            bp.LGBMRanker(), X, ZERO, qid=QID, n_splits=2
        ),
        "folds that cut queries (a warning)": lambda: fit_xgb(X=FRAME[::2], y=Y[::2], qid=QID[::2]).score(
            FRAME[1::2], Y[1::2], qid=QID[1::2]
        ),
        "new categories in `predict` (a warning)": lambda: fit_lgb(X=KINDS).predict(OTHER_KINDS),
        "new categories beside `xgb_model`": lambda: fit_xgb(
            X=OTHER_KINDS,
            ranker={"enable_categorical": True},
            xgb_model=fit_xgb(X=KINDS, ranker={"enable_categorical": True}),
        ),
        "early stopping with dart in XGBoost's ranker": lambda: fit_xgb(
            ranker={"booster": "dart", "early_stopping_rounds": 3}, **VALID
        ),
        "`class_weight` with a loss": lambda: fit_lgb(ranker={"class_weight": "balanced"}),
        "a NaN in `eval_init_score`": lambda: fit_lgb(**VALID, eval_init_score=[at(ZERO, 1, np.nan)]),
        "a loss as `eval_metric`": lambda: fit_lgb(**VALID, eval_metric=LOSS),
        "a NaN `init_score` (of which LightGBM makes 0)": lambda: fit_lgb(init_score=at(ZERO, 1, np.nan)),
        "the class as metric, `eval_metric=NDCG`": lambda: fit_lgb(**VALID, eval_metric=bp.NDCG),
        "base margins for another number of validation sets": lambda: fit_xgb(
            **VALID, base_margin_eval_set=[ZERO, ZERO]
        ),
        "cross-validation that does not know the queries": lambda: bp.make_scorer(bp.NDCG())(fit_lgb(), X, Y),
    },
    "Parameters of losses, metrics and distances": {
        "`with_params` of a value that the loss refuses": lambda: LOSS.with_params(hessian="bogus"),
        "`set_params` of a metric's unknown parameter": lambda: METRIC_IN_XGB.set_params(eval_metric__margin=1),
        "`set_params` of an unknown parameter of a ranker": lambda: bp.RankBoostRanker().set_params(margin=1),
        "a parameter that the loss does not have, `set_params(objective__margin=1)`": lambda: bp.LGBMRanker(
            objective=LOSS
        ).set_params(objective__margin=1),
        "a value that the loss refuses, `set_params(objective__hessian='bogus')`": lambda: bp.XGBRanker(
            objective=LOSS
        ).set_params(objective__hessian="bogus"),
        "a parameter of a built-in objective, `LGBMRanker(objective__hessian='bound')`": lambda: bp.LGBMRanker(
            objective__hessian="bound"
        ),
        "`set_params` of the loss itself": lambda: LOSS.set_params(hessian="bound"),
    },
    "Files": {
        "`load_folds`: a file with a malformed value": lambda: load_folds(fold("1 qid:1 1:x\n").parent),
        "`load_fold`: a file with a malformed value": lambda: load_fold(fold("1 qid:1 1:x\n")),
        "`load_folds`: a fold without vali.txt": lambda: load_folds(
            file("Fold/Fold1/train.txt", GOOD_LINES).parents[1]
        ),
        "`load_fold`: no folder": lambda: load_fold(Path(folder().name) / "no"),
        "an empty file": lambda: load_letor(file("empty.txt", "")),
        "a NaN grade": lambda: load_letor(file("nan.txt", "nan qid:1 1:2\n")),
        "a row without query": lambda: load_letor(file("part.txt", "1 qid:1 1:2\n0 1:3\n")),
        "a feature of a wrong number": lambda: load_letor(file("dense.txt", "1 qid:1 1:2\n0 qid:1 900000000:3\n")),
        "a value beyond float32 (a warning)": lambda: load_letor(file("big.txt", "1 qid:1 1:1.79769313486e+308\n")),
        "no such file": lambda: load_letor(Path(folder().name) / "no.txt"),
        "lines without qid": lambda: load_letor(file("noqid.txt", "1 1:0.5\n0 1:1\n")),
        "a malformed value": lambda: load_letor(file("value.txt", "1 qid:1 1:x\n")),
        "a grade that is no number": lambda: load_letor(file("grade.txt", "good qid:1 1:2\n")),
        "a file in UTF-16": lambda: load_letor(file("utf16.txt", GOOD_LINES.encode("utf-16"))),
        "a feature twice": lambda: load_letor(file("twice.txt", "1 qid:1 1:2 1:3\n")),
        "a query in two places": lambda: load_letor(file("again.txt", GOOD_LINES + "1 qid:2 1:2\n1 qid:1 1:2\n")),
        "a `.query` file that does not add up": lambda: load_letor(file("side.txt", "1 1:0.5\n0 1:1\n", query="3\n")),
        "a `.query` file that contradicts the qids": lambda: load_letor(file("contra.txt", GOOD_LINES, query="1\n1\n")),
        "a `.weight` file that is too short": lambda: load_letor(file("short.txt", GOOD_LINES, weight="1\n")),
        "a `.position` file that counts from 0": lambda: load_letor(file("zero.txt", GOOD_LINES, position="0\n1\n")),
        "a `.gz` file that is cut short": lambda: load_letor(
            file("cut.txt.gz", gzip.compress(GOOD_LINES.encode() * 99, mtime=0)[:-20])
        ),
        "more features than `n_features`": lambda: load_letor(file("wide.txt", "1 qid:1 7:2\n"), n_features=5),
        "a folder in place of a file": lambda: load_letor(folder().name),
        "a fold without vali.txt": lambda: load_fold(file("Fold9/train.txt", GOOD_LINES).parent),
        "a folder without folds": lambda: load_folds(file("none/x.txt", GOOD_LINES).parent),
    },
    "Click logs": {
        "a column of another length": lambda: from_clicks(position=[1, 2]),
        "a negative number of clicks": lambda: from_clicks([0, -1, 0], impressions=[1, 1, 1]),
        "half a click": lambda: from_clicks([0, 0.5, 0], impressions=[1, 1, 1]),
        "sizes of other rows in `from_implicit`": lambda: bp.Pairs.from_implicit([0, 1, 1], group=[2]),
        "no file of clicks": lambda: bp.datasets.load_clicks(Path(folder().name) / "no.csv"),
        "a missing id in a file": lambda: clicks_of(",1,0\n"),
        "a click that is neither 0 nor 1": lambda: from_clicks([0, 2, 0]),
        "more clicks than impressions": lambda: from_clicks([0, 2, 0], impressions=[1, 1, 1]),
        "no position": lambda: from_clicks(position=None),
        "a position of 0": lambda: from_clicks(position=[0, 1, 2]),
        "one position in all rows": lambda: from_clicks(position=[1, 1, 1]),
        "a position twice on a page": lambda: from_clicks(position=[1, 2, 2]),
        "a missing id of a document": lambda: bp.datasets.ClickLog([1], group=[1], position=[1], document=[None]),
        "propensities by positions from 0": lambda: from_clicks(propensity=pd.Series([0.5, 0.3, 1.0], index=[1, 2, 0])),
        "a propensity of 0": lambda: from_clicks(propensity=[1.0, 0.5, 0.0]),
        "propensities without positions": lambda: from_clicks(rule="all_unclicked", position=None, propensity=[1.0]),
        "`min_impressions=2` without `impressions`": lambda: from_clicks(min_impressions=2),
        "a `ClickLog` and its positions": lambda: bp.Pairs.from_clicks(LOG, position=[1, 2]),
        "a negative amount in `from_implicit`": lambda: bp.Pairs.from_implicit([0, -1], group=[2]),
        "a column that a log's file lacks": lambda: clicks_of("", qid="session"),
        "text as a position in a file": lambda: clicks_of("2,top,0\n"),
    },
    "Losses on clicks": {
        "a propensity above 1 of position 1": lambda: bp.ClickLogLoss(propensity=[2.0, 1.0]),
        "the position bias of a loss without positions": lambda: bp.RankNet().position_bias(ZERO, queries()),
        "the position bias without positions": lambda: bp.Unbiased().position_bias(ZERO, queries(Y > 1)),
        "the position bias at a NaN score": lambda: bp.Unbiased().position_bias(
            at(ZERO, 1, np.nan), queries(Y > 1, position=np.arange(1, N + 1))
        ),
        "positions of a table": lambda: bp.set_positions(X, [1]),
        "a missing position": lambda: bp.set_positions(dmatrix(), at(ZERO + 1, 0, np.nan)),
        "half a position": lambda: bp.set_positions(dmatrix(), at(ZERO + 1, 0, 1.5)),
        "positions of other rows": lambda: bp.Unbiased()(ZERO, having(bp.set_positions, [1])),
        "a log without a position between others": lambda: bp.clicks.propensity(GAP, method="em"),
        "a correction of a log without clicks": lambda: bp.clicks.correction(NO_CLICKS, propensity=[1, 0.5]),
        "a correction that harvests without documents": lambda: bp.clicks.correction(CLICKED),
        "users of no ranker": lambda: bp.clicks.simulate(bp.RankingData(X, Y, group=GROUP), ranker="best"),
        "an evaluation on no clicks": lambda: bp.clicks.evaluate([1, 2], NO_CLICKS, propensity=[1, 0.5]),
        "an evaluation without a propensity": lambda: bp.clicks.evaluate([1, 2], LOG, propensity=[1]),
        "`Unbiased` without positions": lambda: on_clicks(position=None),
        "positions that LightGBM keeps as categories": on_categories,
        '`method="ips"` without propensities': lambda: bp.Unbiased(method="ips"),
        "propensities for a method that estimates": lambda: bp.Unbiased(propensity=[1.0, 0.5]),
        "a base that is no loss on pairs": lambda: bp.Unbiased(base=bp.SquaredError()),
        "`ClickLogLoss` without positions": lambda: click_log_loss(position=None),
        "grades in place of clicks for `ClickLogLoss`": lambda: click_log_loss(clicks=(2, 0, 0, 1)),
        "a position without a propensity for `ClickLogLoss`": lambda: click_log_loss(position=(1, 3, 1, 2)),
        "a position below 1": lambda: bp.set_positions(xgb.DMatrix(X, Y, group=GROUP), np.zeros(len(Y))),
        "harvesting without documents": lambda: bp.clicks.propensity(CLICKED, method="harvesting"),
        "propensities of a log with one position": lambda: bp.clicks.propensity(
            log_of(1, 0, group=[1, 1], position=[1, 1]), method="em"
        ),
        "propensities of a log without clicks at the first position": lambda: bp.clicks.propensity(
            log_of(0, 1), method="em"
        ),
        "a correction without a propensity": lambda: bp.clicks.correction(CLICKED, propensity=[1.0]),
        "a correction with scores of other rows": lambda: bp.clicks.correction(CLICKED, propensity=[1, 1], scores=[1]),
        "pages in a fixed order as shuffled ones": on_fixed_order,
        "NDCG of clicks": lambda: bp.clicks.evaluate([1, 2], LOG, metric=bp.NDCG(10), propensity=[1, 1]),
        "a metric in which a click counts nothing": lambda: bp.clicks.evaluate(
            [1, 2], LOG, metric=bp.Precision(5, relevant=2), propensity=[1, 1]
        ),
        "a negative value of a click": lambda: bp.clicks.evaluate([1, 2], LOG, propensity=[1, 1], click_value=[-1, -1]),
        "clicks without a value": lambda: bp.clicks.evaluate([1, 2], LOG, propensity=[1, 1], click_value=[0, 0]),
        "users for negative labels": lambda: bp.clicks.simulate(
            bp.RankingData(X, Y - 1.0, group=GROUP), ranker="random"
        ),
        "a log that counts impressions as training data": lambda: bp.RankingData.from_clicks(
            X, log_of(1, 0, impressions=[3, 3])
        ),
    },
    "Pairs": {
        "winners and losers of other lengths": lambda: bp.Pairs([0, 1], [1]),
        "a negative row": lambda: bp.Pairs([-1], [0]),
        "half a row": lambda: bp.Pairs([0.5], [1]),
        "a row paired with itself": lambda: bp.Pairs([0], [0]),
        "a negative weight": lambda: bp.Pairs([0], [1], weight=[-1]),
        "a NaN margin": lambda: bp.Pairs([0], [1], margin=[np.nan]),
        "`set_pairs` of a table": lambda: bp.set_pairs(X, PAIRS),
        "`set_pairs`: a list of tuples": lambda: bp.set_pairs(dmatrix(), [(0, 1)]),
        "`set_pairs`: a row beyond the data": lambda: LOSS(ZERO, having(bp.set_pairs, bp.Pairs([N], [0]))),
    },
    "Models": {
        "export of a number": lambda: bp.export(3, to="solr"),
        "export before `fit`, LGBMRanker": lambda: bp.LGBMRanker().export(),
        "export before `fit`, XGBRanker": lambda: bp.XGBRanker().export(),
        "a weak ranker that is none": lambda: bp.Ensemble([[(1, 1.0)]], n_features=2),
        "weights beyond XGBoost's numbers": lambda: bp.Ensemble([[(Stump(0, 0.5), 1e39)]], n_features=1).to_xgboost(),
        "no saved ensemble": lambda: bp.Ensemble.load(Path(folder().name) / "no.json"),
        "`why` of a class": lambda: bp.why(bp.LGBMRanker, X, 0, 1),
        "`why` of a row beyond X": lambda: bp.why(bp.Ensemble([], n_features=2), X, 0, N),
        "`importance` of a class": lambda: bp.importance(bp.XGBRanker, X, group=GROUP),
        "`importance` without queries": lambda: bp.importance(bp.Ensemble([], n_features=2), X),
        "an infinite feature": lambda: bp.Ensemble([], n_features=2).predict(np.full((1, 2), np.inf)),
    },
    "Several labels": {
        "a name with a space": lambda: bp.RankNet().on("a b"),
        "a metric on a label, on another one": lambda: bp.NDCG().on("sale").on("click"),
        "a metric on a name with a space": lambda: bp.NDCG().on("a b"),
        "`set_labels`: a name with a space": lambda: bp.set_labels(dmatrix(), {"a b": Y}),
        "`set_labels`: an infinite label": lambda: bp.set_labels(dmatrix(), a=at(Y, 1, np.inf)),
        "`set_labels`: a name twice": lambda: bp.set_labels(dmatrix(), {"a": Y}, a=Y),
        "`set_labels`: values of other rows": lambda: LOSS.on("a")(ZERO, having(bp.set_labels, {"a": [1.0]})),
        "a label that the data lack": lambda: bp.RankNet().on("sales").value(ZERO, queries(labels_by_name={"a": Y})),
        "a label of another length": lambda: queries(labels_by_name={"sale": Y[1:]}),
        "an infinite label by name": lambda: queries(labels_by_name={"sale": at(Y, 1, np.inf)}),
        "a loss on a label, on another one": lambda: bp.RankNet().on("sale").on("click"),
    },
    "Reference rankers": {
        "no round": lambda: bp.RankBoostRanker(n_estimators=0).fit(X, Y, qid=QID),
        "pairs for `AdaRankRanker`": lambda: bp.AdaRankRanker().fit(X, Y, qid=QID, pairs=PAIRS),
        "labels without a pair": lambda: bp.RankBoostRanker().fit(X, ZERO, qid=QID),
        "`MPBoostRanker(step='half')`": lambda: bp.MPBoostRanker(step="half").fit(X, Y, qid=QID),
        "a loss that is the gradient of no value, in `QuadraticBoundRanker`": lambda: bp.QuadraticBoundRanker(
            loss=bp.QBRank(normalization="documents")
        ).fit(X, Y, qid=QID),
    },
    "TREC's files": {
        "no file of a run": lambda: load_run(Path(folder().name) / "no.run"),
        "no file of qrels": lambda: load_qrels(Path(folder().name) / "no.qrels"),
        "empty qrels": lambda: load_qrels(file("empty.qrels", "")),
        "a NaN in qrels": lambda: load_qrels(file("nan.qrels", "1 0 a nan\n")),
        "qrels that are not UTF-8": lambda: load_qrels(file("latin.qrels", b"1 0 \xff 1\n")),
        "a run of five columns": lambda: load_run(file("five.run", "1 Q0 a 1 2\n")),
        "a document twice in a run": lambda: load_run(file("twice.run", "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n")),
        "a run that is not UTF-8": lambda: load_run(file("latin.run", b"1 Q0 \xff 1 2 t\n")),
        "negative grades, as qrels": lambda: saved(save_qrels, Y - 1),
        "grades of other rows, as qrels": lambda: saved(save_qrels, Y[1:]),
        "blanks in a document's name, as qrels": lambda: saved(save_qrels, Y, doc_ids=["a b"] * N),
        "a query that reads as a comment, as qrels": lambda: saved(save_qrels, Y, qid=["#1"] * N),
        "a document twice, as qrels": lambda: saved(save_qrels, Y, doc_ids=["a"] * N),
        "scores beyond 1e100, as a run": lambda: saved(save_run, ZERO + 1e101),
        "scores of other rows, as a run": lambda: saved(save_run, ZERO[1:]),
        "a query that reads as a comment, as a run": lambda: saved(save_run, ZERO, qid=["#1"] * N),
        "a document twice, as a run": lambda: saved(save_run, ZERO, doc_ids=["a"] * N),
        "joined: a run of other ids": lambda: joined(RUN._replace(qid=["q1", "q1"])),
        "joined: a document twice in the run": lambda: joined(RUN._replace(doc_ids=["d0", "d0"])),
        "joined: a document twice in the data": lambda: joined(RUN, doc_ids=["d0"] * N),
        "joined: a row of the data without a document": lambda: joined(RUN, doc_ids=[""] * N),
        "joined: data without documents": lambda: joined(RUN, doc_ids=None),
        "joined: a run with the name of a column": lambda: joined(RUN._replace(tag="1")),
        "joined: a fold in place of its parts": lambda: join_trec(bp.datasets.load_bundled(), RUN),
        "joined: the path of a run": lambda: joined("bm25.run"),
        "joined: a run that lacks rows (a warning)": lambda: joined(RUN),
        "an empty run": lambda: load_run(file("empty.run", "")),
        "a run in place of qrels": lambda: load_qrels(file("a.run", "1 Q0 a 1 2.5 t\n")),
        "a NaN in a run": lambda: load_run(file("nan.run", "1 Q0 a 1 nan t\n")),
        "a document twice": lambda: load_qrels(file("twice.txt", "1 0 a 1\n1 0 b 0\n1 0 a 2\n")),
        "blanks in a document's name": lambda: saved(save_run, ZERO, doc_ids=["a b"] * N),
        "grades that are not whole, as qrels": lambda: saved(save_qrels, at(Y, 2, 0.5)),
        "a run over a file of data": lambda: save_run(file("data.txt", GOOD_LINES), ZERO, qid=QID),
    },
    "Files larger than memory": {
        "no such file": lambda: bp.datasets.batches_by_query(Path(folder().name) / "no", label="y", qid="q"),
        "a column that the file lacks": lambda: batches(qid="user"),
        "a missing label": lambda: batches({"y": [1, None], "q": [1, 1], "x": [0.0, 1.0]}),
        "no column named for the labels": lambda: batches(label=None),
    },
    "Several machines": {
        "`to_local` before `fit`, XGBRanker": lambda: bp.dask.XGBRanker().to_local(),
        "`to_local` before `fit`, LGBMRanker": lambda: bp.dask.LGBMRanker().to_local(),
        "a query in two partitions": lambda: bp.dask.check_partitions(of_dask(TWO_QUERIES), "qid"),
        "a column of ids that is not there": lambda: bp.dask.partition_by_query(of_dask(FRAME), "qid"),
        "`group=` with collections": lambda: bp.dask.XGBRanker().fit(X, Y, group=GROUP),
        "`pairs=` with collections": lambda: bp.dask.XGBRanker().fit(X, Y, pairs=PAIRS),
        "`set_labels` on a collection": lambda: bp.set_labels(of_dask(FRAME), a=[1.0]),
        "a function as a metric of all workers": lambda: bp.dask.XGBRanker(objective=LOSS, eval_metric=len).fit(X, Y),
        "AdaRank in LightGBM": lambda: bp.dask.LGBMRanker(objective=bp.AdaRank()).fit(X, Y),
        "early stopping in LightGBM": lambda: bp.dask.LGBMRanker(objective=LOSS).fit(X, Y, early_stopping_rounds=5),
        "LightGBM's own interface to several machines": lambda: LOSS(ZERO, on_two_machines()),
    },
}
# The usual mistakes, and what to do where the message does not say it.
ON_PAGE = {
    "The usual mistakes": {
        "`compare`: a name that is no column": 'Pass the name of a column: `label="grade"`.',
        "`compare`: another column as query ids": "",
        "ranker: rows of a query apart": 'In pandas: `frame.sort_values("qid", kind="stable")`.',
        "`compare`: a label is missing": 'In pandas: `frame.dropna(subset=["grade"])`.',
        "`compare`: negative labels": "",
        "`compare`: labels as text": 'Give each word a grade: `frame.grade.map({"bad": 0, "good": 1})`.',
        "`compare`: one query": "",
        "ranker: query ids as text left in X": "Drop the column from X, and pass it as `qid=`.",
        "`compare`: a column that puts queries into several parts": "",
        "ranker: the labels left in X (a warning)": "",
        "`compare`: a column is missing in one part": "",
    },
    "Queries": {"query ids passed as `group`": ""},
    "Losses and distances": {"the class as objective, `LGBMRanker(objective=MPBoost)`": ""},
    "LightGBM's Dataset and parameters": {
        "all labels equal (a warning)": "Check the column of labels; a ranker needs queries with two different grades.",
        "`lgb.cv` without folds of whole queries": "",
        "a ranking loss in `LGBMRegressor`": "",
    },
    "LGBMRanker and XGBRanker": {
        "LGBMRanker: neither qid nor group": "Call `fit(X, y, qid=…)`.",
        "no ids for the validation set": "Pass `eval_qid=[…]`, one array for each set.",
        "LGBMRanker: permuted columns in `predict`": "",
        "a misspelt parameter of LightGBM": "",
    },
}
ALL = [(section, what) for section, cases in CASES.items() for what in cases]
IDS = [re.sub(r"[^\w=.]+", "-", f"{section}: {what}").strip("-") for section, what in ALL]


def message(section, what):
    """Return the error of a case, with paths shortened."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            CASES[section][what]()
        except Exception as error:  # noqa: BLE001 (any of them is a message)
            text = f"{type(error).__name__}: {error}".replace(folder().name, "FOLDER")
            text = re.sub(r" at 0x[0-9a-f]+", "", text)  # where a function lies
            return " ".join(text.split())
    raise AssertionError(f"accepted: {what}")


def stored():
    """Return the messages of all cases by section and input."""
    return json.loads(MESSAGES.read_text(encoding="utf-8"))


def page(messages):
    """Return the documentation page."""
    shown = [
        (what, messages[section][what].replace("|", "\\|"), ON_PAGE[section][what] or "–")
        for section, what in ALL
        if what in ON_PAGE.get(section, {})
    ]
    return "\n".join(
        [
            "# Bad input and the message it gets\n",
            f"Look up {len(shown)} usual mistakes with data, and the message that each gets. No mistake trains a model",
            "silently: each raises an error, or a warning where the table says so. The last column says what to do",
            "where the message does not. The command line prints the messages of `compare`.\n",
            f"The tests run {len(ALL)} cases of bad input: [bad_input.json](../tests/bad_input.json) has all messages.",
            "[What gets in](guides/what_gets_in.md) says what becomes of each kind of column.\n",
            "## The usual mistakes\n",
            "| input | message | what to do |",
            "|---|---|---|",
            *(f"| {what} | `` {text} `` | {advice} |" for what, text, advice in shown),
            "",
        ]
    )


@pytest.mark.parametrize(("section", "what"), ALL, ids=IDS)
def test_bad_input_gets_the_stored_message(section, what):
    found = message(section, what)
    assert found == stored()[section][what], "if it is meant to be, run: python tests/test_bad_input.py"


def test_the_file_holds_each_case_once():
    assert len(set(IDS)) == len(ALL)
    assert {(section, what) for section, cases in stored().items() for what in cases} == {*ALL}
    assert {(section, what) for section, cases in ON_PAGE.items() for what in cases} <= {*ALL}


def test_the_page_shows_the_usual_cases():
    assert PAGE.read_text(encoding="utf-8") == page(stored())


if __name__ == "__main__":
    found = {section: {what: message(section, what) for what in cases} for section, cases in CASES.items()}
    MESSAGES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")
    print(f"{len(ALL)} cases written to {MESSAGES}, the usual ones to {PAGE}", file=sys.stderr)
