"""Bad input and the message it gets. `python tests/test_bad_input.py` writes docs/bad_input.md from the same list."""

import bz2
import gzip
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import boostplug as bp
from boostplug.datasets import load_fold, load_folds, load_letor, load_qrels, load_run, save_qrels, save_run

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

from boostplug.estimators.lightgbm import _validation_data  # noqa: E402 (it needs LightGBM)

PAGE = Path(__file__).parents[1] / "docs" / "bad_input.md"
GROUP = [4, 3, 5]
N = sum(GROUP)
QID = np.repeat([1, 2, 3], GROUP)
X = np.random.default_rng(0).normal(size=(N, 2))
Y = np.array([0.0, 1, 2, 0, 1, 0, 3, 2, 2, 0, 1, 4])
ZERO = np.zeros(N)
FRAME = pd.DataFrame(X, columns=["a", "b"])
KINDS = FRAME.assign(b=pd.Categorical(np.where(Y > 1, "high", "low")))
LOSS = bp.MPBoost()
LGB = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 1}
XGB = {"nthread": 1, "objective": "rank:pairwise"}


@dataclass(frozen=True)
class Case:
    """One bad input."""

    what: str
    run: Callable[[], object]
    match: str
    kind: type[Exception] | tuple[type[Exception], ...] = ValueError
    shown: str = ""  # of a framework's own message only this much is on the page, since it changes with versions


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


def fit_lgb(objective=LOSS, ranker=None, **fit):
    model = bp.LGBMRanker(
        objective=objective, n_estimators=2, verbose=-1, n_jobs=1, min_child_samples=1, **(ranker or {})
    )
    return model.fit(**{"X": X, "y": Y, "qid": QID, **fit})


def fit_xgb(objective=LOSS, ranker=None, **fit):
    model = bp.XGBRanker(objective=objective, n_estimators=2, n_jobs=1, **(ranker or {}))
    return model.fit(**{"X": X, "y": Y, "qid": QID, "verbose": False, **fit})


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

PAIRS = bp.Pairs([0], [1])
TWO_QUERIES = pd.DataFrame({"qid": list("aabbb")})


def batches(columns=None, **options):
    table = pd.DataFrame(columns or {"y": [1, 0], "q": [1, 1], "x": [0.0, 1.0]})
    path = Path(folder().name, "rows.parquet")
    table.to_parquet(path)
    return bp.datasets.batches_by_query(path, **{"label": "y", "qid": "q", **options})


def on_two_machines():
    """Return a Dataset as each of two machines has it; there is no network until it is trained on."""
    data = lgb.Dataset(X, Y, group=GROUP, params={"verbosity": -1}).construct()
    data.params["num_machines"] = 2
    return data


CASES = {
    "Labels": [
        Case("a NaN label", lambda: queries(at(Y, 2, np.nan)), r"labels\[2\] = nan is not finite; drop such rows"),
        Case("an infinite label", lambda: queries(at(Y, 2, np.inf)), r"labels\[2\] = inf is not finite"),
        Case("two bad labels", lambda: queries(at(at(Y, 2, np.nan), 5, -np.inf)), r"labels\[2\] = nan .*\(1 more\)"),
        Case("no labels: `Queries(None, …)`", lambda: queries(None), "labels is None; pass the grade of each row"),
        Case("strings as labels", lambda: queries(["good"] * N), "labels must hold real numbers, got dtype"),
        Case(
            "strings of digits as labels, dtype object",
            lambda: queries(np.array(["1"] * N, dtype=object)),
            "labels must hold real numbers, got strings",
        ),
        Case("None among the labels", lambda: queries([None, *Y[1:]]), r"labels\[0\] = nan is not finite"),
        Case("complex labels", lambda: queries(Y + 1j), "labels must hold real numbers, got dtype complex128"),
        Case(
            "an integer label past 1e308",
            lambda: queries([10**400, *Y[1:]]),
            r"labels\[0\] = 1000.*…0000.* is no real number within ±1\.8e308; convert it first",
        ),
        Case(
            "labels of several lengths",
            lambda: queries([[1, 2], *Y[1:]]),
            "labels must be one-dimensional, but its entries are of several lengths",
        ),
        Case(
            "masked labels",
            lambda: queries(np.ma.masked_array(Y, mask=Y > 2)),
            "labels has 2 masked values; drop such rows, or fill them",
        ),
        Case(
            "a column of labels, shape (n, 1)", lambda: queries(Y[:, None]), r"one-dimensional.*pass labels\.ravel\(\)"
        ),
        Case(
            "a single number as labels",
            lambda: queries(3.0),
            r"labels must be one-dimensional, got shape \(\), the single value 3\.0",
        ),
    ],
    "Queries": [
        Case("neither group nor qid", lambda: bp.Queries(Y), "give exactly one of group .* and qid .*; got neither"),
        Case("both group and qid", lambda: bp.Queries(Y, group=GROUP, qid=QID), "; got both"),
        Case("sizes that do not add up", lambda: queries(group=[4, 3]), "group must add up to the number of rows"),
        Case("ids passed as group", lambda: queries(group=QID), "group must add up .* or the id of each row as qid"),
        Case("a negative size", lambda: queries(group=[-1, N + 1]), r"group\[0\] = -1\.0 is not a size ≥ 0"),
        Case(
            "a size past 2^62",
            lambda: queries(group=[2**62, 2**62]),
            "its 2 sizes add up to 9223372036854775808, labels has 12 rows",
        ),
        Case(
            "a size that no data set has, without labels",
            lambda: queries(None, group=[2**40], pairs=bp.Pairs([0], [1])),
            "group adds up to 1099511627776 rows, more than a data set can have; pass the sizes of queries",
        ),
        Case("a fractional size", lambda: queries(group=[3.5, N - 3.5]), r"group\[0\] = 3\.5 is not a size ≥ 0"),
        Case("a NaN size", lambda: queries(group=[np.nan, N]), r"group\[0\] = nan is not a size ≥ 0"),
        Case("one size as a number", lambda: queries(group=N), "group must be one-dimensional"),
        Case("qid of another length", lambda: queries(qid=QID[1:]), "qid must have one id per row: got 11 ids for 12"),
        Case(
            "a query in two places",
            lambda: queries(qid=[1, 1, 2, 2, 1, 1, 3, 3, 3, 3, 3, 3]),
            "qid must be contiguous: 1 appears again in row 4 .* sort the rows by qid",
        ),
        Case(
            "an id of 5,000 digits in two places",
            lambda: queries(qid=[10**5000] + [1] * 10 + [10**5000]),
            "qid must be contiguous: an int of 16610 bits appears again in row 11",
        ),
        Case("a NaN id", lambda: queries(qid=at(QID, 3, np.nan)), r"qid\[3\] = nan is not an id"),
        Case(
            "ids that single precision rounds",
            lambda: queries(qid=np.float32(at(QID, 0, 2**24))),
            r"qid\[0\] = 16777216.0 is too large an id for float32",
        ),
        Case(
            "labels in another order than the ids",
            lambda: queries(pd.Series(Y, index=range(12)), qid=pd.Series(QID, index=range(11, -1, -1))),
            "qid and labels have the same index in different orders",
        ),
        Case("None as an id", lambda: queries(qid=["a"] * 11 + [None]), r"qid\[11\] = None is not an id"),
        Case(
            "a missing id of pandas",
            lambda: queries(qid=pd.Series([1] * 11 + [pd.NA], dtype=object)),
            r"qid\[11\] = <NA> is not an id",
        ),
        Case(
            "ids of several types",
            lambda: queries(qid=np.array([1] * 6 + ["a"] * 6, dtype=object)),
            "qid mixes types that cannot be compared; convert the ids to one type",
        ),
    ],
    "`RankingData`": [
        Case("no queries", lambda: bp.RankingData(X, Y), "qid or group is missing: pass the query id of each row"),
        Case("a NaN grade", lambda: bp.RankingData(X, at(Y, 2, np.nan), qid=QID), r"y\[2\] = nan is not finite"),
        Case("a row too few", lambda: bp.RankingData(X[1:], Y, qid=QID), "X has 11 rows, y 12; pass one grade per row"),
        Case(
            "ids and sizes that disagree",
            lambda: bp.RankingData(X, Y, qid=QID, group=[3, 4, 5]),
            r"qid and group say different things: qid changes after \[4, 3, 5\] rows, group is \[3, 4, 5\]",
        ),
        Case(
            "ids as an argument and as a column",
            lambda: bp.RankingData(FRAME.assign(qid=QID), Y, qid=QID),
            "the queries are given twice: by X's column 'qid' and by qid; leave one out",
        ),
        Case(
            "a name too few",
            lambda: bp.RankingData(X, Y, qid=QID, feature_names=["a"]),
            "feature_names has 1 names for 2 features; pass one for each",
        ),
        Case(
            "a column that is not there",
            lambda: bp.RankingData.from_frame(FRAME.assign(qid=QID), label="grade"),
            r"there is no column 'grade' for label; the columns are \['a', 'b', 'qid'\]",
        ),
        Case(
            "a DataFrame without `label=` in `compare`",
            lambda: bp.compare(FRAME.assign(qid=QID, y=Y), (X, Y, QID), (X, Y, QID)),
            "train: the column of the grades is not known: pass its name as label",
        ),
    ],
    "Weights and labelled": [
        Case("weights of another length", lambda: queries(weight=[1, 2]), r"one value per query \(3\) or one per row"),
        Case(
            "a negative weight", lambda: queries(weight=[1, -1, 1]), r"weight\[1\] = -1\.0 is not a finite weight ≥ 0"
        ),
        Case(
            "a weight of 1e-150",
            lambda: queries(weight=[1, 1e-150, 1]),
            r"weight\[1\] = 1e-150 is beyond 1e-100 to 1e100; pass 0 to leave it out, or multiply all of them",
        ),
        Case(
            "a pair's margin of 1e150",
            lambda: bp.Pairs([0], [1], margin=[1e150]),
            r"margin\[0\] = 1e\+150 is beyond 1e-100 to 1e100",
        ),
        Case("a NaN weight", lambda: queries(weight=[1, np.nan, 1]), r"weight\[1\] = nan is not a finite weight ≥ 0"),
        Case(
            "an infinite weight", lambda: queries(weight=at(Y, 0, np.inf)), r"weight\[0\] = inf is not a finite weight"
        ),
        Case("labelled as 0 and 1", lambda: queries(labelled=[1] * N), "labelled must hold one bool per row"),
        Case("labelled of another length", lambda: queries(labelled=[True]), r"one bool per row \(12\), got 1 values"),
    ],
    "Scores": [
        Case("scores of another length", lambda: gradient(LOSS, scores=np.zeros(3)), r"scores must have shape \(12,\)"),
        Case("a matrix of scores", lambda: gradient(LOSS, scores=np.zeros((N, 3))), "a ranking model has one output"),
        Case("a NaN score", lambda: gradient(LOSS, scores=at(ZERO, 1, np.nan)), r"scores\[1\] is NaN .*init_score"),
        Case(
            "an infinite score", lambda: gradient(LOSS, scores=at(ZERO, 1, np.inf)), r"scores\[1\] = inf is not finite"
        ),
        Case("strings as scores", lambda: gradient(LOSS, scores=["a"] * N), "scores must hold real numbers"),
        Case(
            "a NaN score in a metric",
            lambda: bp.NDCG()(at(ZERO, 1, np.nan), queries()),
            r"scores\[1\] is NaN and has no rank",
        ),
        Case(
            "scores of another length in a metric",
            lambda: bp.NDCG()(np.zeros(3), queries()),
            r"scores must have shape \(12,\), one per row",
        ),
        Case(
            "a NaN grade in `metric.score`",
            lambda: bp.NDCG().score(at(Y, 1, np.nan), ZERO, qid=QID),
            r"y\[1\] = nan is not finite; drop such rows",
        ),
        Case(
            "`metric.score` without queries", lambda: bp.NDCG().score(Y, ZERO), "give exactly one of group .* and qid"
        ),
        Case(
            "`metric.score` of rows in any order",
            lambda: bp.NDCG().score(Y, ZERO, qid=np.roll(QID, 1)),
            "qid must be contiguous: 3 appears again in row 8",
        ),
        Case("`RBP(p=1)`", lambda: bp.RBP(1), "p must be a finite number above 0 and below 1"),
        Case(
            "`RBP(relevant=2, max_grade=4)`",
            lambda: bp.RBP(relevant=2, max_grade=4),
            "relevant=2 says nothing where max_grade is given",
        ),
    ],
    "Losses and distances": [
        Case('`MPBoost(hessian="exact")`', lambda: bp.MPBoost(hessian="exact"), "hessian must be one of 'newton'"),
        Case(
            "`MPBoost(normalization=None)`",
            lambda: bp.MPBoost(normalization=None),
            "normalization must be one of 'none', 'rows', 'query'; got None",
        ),
        Case('`MPBoost(distance="log")`', lambda: bp.MPBoost(distance="log"), "distance must be a distance such as"),
        Case(
            "`MPBoost(distance=LogDistance)`, the class",
            lambda: bp.MPBoost(distance=bp.LogDistance),
            r"distance must be a distance such as LogDistance\(lam=3\.0\)",
        ),
        Case("`LogDistance(lam=0)`", lambda: bp.LogDistance(lam=0), "lam must be a finite number above 0; got 0"),
        Case(
            "`LinearDistance(alpha=-1)`", lambda: bp.LinearDistance(alpha=-1), "alpha must be a finite number above 0"
        ),
        Case("`QBRank(margin=10**400)`", lambda: bp.QBRank(margin=10**400), "margin must be a finite number of at"),
        Case(
            "`LambdaRank(metric=DCG())`",
            lambda: bp.LambdaRank(metric=bp.DCG()),
            r"metric must be an NDCG or a MAP, such as NDCG\(10\); got DCG",
        ),
        Case(
            "`LambdaRank(truncation=0)`",
            lambda: bp.LambdaRank(truncation=0),
            "truncation must be an integer of at least 1, or None for all pairs of a list; got 0",
        ),
        Case(
            "`LambdaRank(norm=True)` without a truncation",
            lambda: bp.LambdaRank(norm=True),
            "norm=True divides every single pair, .*; give a truncation too, such as truncation=30",
        ),
        Case(
            "pairs for `LambdaRank`",
            lambda: bp.LambdaRank().value(np.zeros(N), queries(pairs=bp.Pairs([0], [1]))),
            "LambdaRank learns from grades and cannot use pairs; remove pairs=",
        ),
        Case("`ListNet(target='mse')`", lambda: bp.ListNet(target="mse"), "target must be one of 'softmax', 'xendcg'"),
        Case(
            "`ListNet(random_state=-1)`",
            lambda: bp.ListNet(target="xendcg", random_state=-1),
            "random_state must be an integer of at least 0, or None for no noise; got -1",
        ),
        Case(
            "negative grades in `ListNet(target='xendcg')`",
            lambda: bp.ListNet(target="xendcg").value(np.zeros(2), bp.Queries([1, -1], group=[2])),
            r"labels\[1\] = -1\.0 is negative, .*; shift the grades to start at 0, or pass target='softmax'",
        ),
        Case("`SquaredError(centred=1)`", lambda: bp.SquaredError(centred=1), "centred must be True or False; got 1"),
        Case("`LogisticDistance(beta=nan)`", lambda: bp.LogisticDistance(beta=np.nan), "beta must be a finite number"),
        Case(
            "`LogDistance(lam=True)`", lambda: bp.LogDistance(lam=True), "lam must be a finite number above 0; got True"
        ),
        Case(
            "a distance that is negative",
            lambda: gradient(bp.MPBoost(distance=np.negative)),
            r"distance must be positive and finite for gaps > 0 .*: distance\(.*\) = -",
        ),
        Case(
            "a distance that returns one number",
            lambda: gradient(bp.MPBoost(distance=np.sum)),
            "distance must return one real number per gap",
        ),
        Case(
            "a distance that does not grow (a warning)",
            lambda: gradient(bp.MPBoost(distance=np.ones_like)),
            r"distance does not grow strictly \(the paper's condition 4\)",
            UserWarning,
        ),
        Case(
            "grades whose distance overflows",
            far_apart,
            "of the largest grade gap is inf, so large that its square leaves float64's range; rescale the labels",
        ),
        Case(
            "the class as objective, `LGBMRanker(objective=MPBoost)`",
            lambda: fit_lgb(bp.MPBoost),
            r"objective is the class MPBoost; pass an instance, MPBoost\(\)",
        ),
        Case(
            "the dataset before the scores",
            lambda: LOSS(lgb.Dataset(X, Y, group=GROUP), ZERO),
            r"the dataset came first: call loss\(scores, dataset\)",
            TypeError,
        ),
    ],
    "Sums of losses, and losses as text": [
        Case(
            "a negative weight", lambda: bp.NDCGBoost() + -0.3 * bp.SquaredError(), r"weight of SquaredError.*got -0\.3"
        ),
        Case("a weight that is no number", lambda: [0.7, 0.3] * bp.NDCGBoost(), r"finite number .*got \[0\.7, 0\.3\]"),
        Case("a number as a part", lambda: bp.NDCGBoost() + 0.3, "what is added to a loss must be a Loss .*got 0.3"),
        Case("a class as a part", lambda: 0.7 * bp.NDCGBoost() + bp.QBRank, r"pass an instance, QBRank\(\)"),
        Case("no weight above 0", lambda: (0 * bp.RankNet()).value(ZERO, queries()), "give a part a weight above 0"),
        Case(
            "pairs for a part that takes none",
            lambda: (bp.MPBoost() + bp.NDCGBoost()).value(ZERO, queries(pairs=bp.Pairs([0], [1]))),
            r"^NDCGBoost .*cannot use pairs; remove pairs=, or that part of MPBoost",
        ),
        Case(
            "a parameter of no part",
            lambda: (bp.MPBoost() + bp.RankNet()).with_params(sigmoid=2.0),
            r"Invalid parameter 'sigmoid' .*'ranknet__sigmoid'",
        ),
        Case(
            "a sum of unknown names", lambda: bp.Loss.parse(".7*ndgc+.3*qbrank"), "no loss 'ndgc'; there are: mpboost"
        ),
        Case("another parameter in a text", lambda: bp.Loss.parse("QBRank(w=0.3)"), "its parameters are: margin, pref"),
        Case("code in a text", lambda: bp.Loss.parse("RankNet(sigmoid=min(1, 2))"), "there is no loss 'min'"),
    ],
    "Metrics, folds, threads": [
        Case("`NDCG(0)`", lambda: bp.NDCG(0), "k must be an integer of at least 1, or None for the whole list; got 0"),
        Case("`MAP(10**30)`", lambda: bp.MAP(10**30), "k must be an integer below 2\\^63"),
        Case("`NDCG(2.5)`", lambda: bp.NDCG(2.5), "k must be an integer of at least 1"),
        Case('`NDCG(convention="trec")`', lambda: bp.NDCG(convention="trec"), "convention must be one of 'standard'"),
        Case('`NDCG(gain="exp")`', lambda: bp.NDCG(gain="exp"), "gain must be one of 'exp2', 'linear', or a callable"),
        Case("`NDCG(ties=None)`", lambda: bp.NDCG(ties=None), "ties must be one of 'average', 'order'; got None"),
        Case("`NDCG(empty=2)`", lambda: bp.NDCG(empty=2), 'empty must be "skip", 0, 1, or None for the default; got 2'),
        Case("`MAP(relevant=nan)`", lambda: bp.MAP(relevant=np.nan), "relevant must be a finite number"),
        Case("negative grades in NDCG", lambda: bp.NDCG()(ZERO, queries(Y - 1)), r"labels\[0\] = -1\.0 is negative"),
        Case("a grade of 1000 in NDCG", lambda: bp.NDCG()(ZERO, queries(Y + 1000)), "is too large: sums of the gain"),
        Case(
            "labels in place of Queries",
            lambda: bp.NDCG()(ZERO, Y),
            r"NDCG@10 got ndarray as its second argument; it takes \(scores, Queries\)",
            TypeError,
        ),
        Case(
            "a validation set without any relevant document",
            lambda: train_lgb(valid=lambda d: d.create_valid(X, ZERO, group=GROUP)),
            "NDCG@10 is undefined on every query of a validation set",
        ),
        Case(
            "our metric in the plain `lightgbm.LGBMRanker`",
            lambda: lgb.LGBMRanker(objective=LOSS, n_estimators=1, verbose=-1, n_jobs=1, min_child_samples=1).fit(
                X, Y, group=GROUP, **_validation_data([(X, Y)]), eval_group=[GROUP], eval_metric=bp.NDCG()
            ),
            r"pass it as eval_metric to boostplug\.LGBMRanker",
            TypeError,
        ),
        Case('`make_scorer("ndcg")`', lambda: bp.make_scorer("ndcg"), "metric must be a Metric such as NDCG"),
        Case("more folds than queries", lambda: bp.group_folds(QID, 4), "n_splits=4 folds need as many queries"),
        Case("one fold", lambda: bp.group_folds(QID, 1), "n_splits must be an integer of at least 2; got 1"),
        Case(
            "a seed without shuffle",
            lambda: bp.group_folds(QID, 2, random_state=0),
            "random_state=0 has no effect without shuffle=True",
        ),
        Case(
            "folds made for other rows",
            lambda: lgb.cv({**LGB, "objective": LOSS}, lgb.Dataset(X, Y, group=GROUP), folds=bp.group_folds([1, 2], 2)),
            "the folds were made for 2 rows, the data has 12",
        ),
        Case("`set_num_threads(0)`", lambda: bp.set_num_threads(0), "n must be an integer of at least 1"),
        Case("`warmup(True)`", lambda: bp.warmup(True), "progress must be a callable"),
    ],
    "LightGBM's Dataset and parameters": [
        Case("no group", lambda: train_lgb(group=None), r"the lgb\.Dataset has no group; pass group=sizes"),
        Case(
            "no label (a warning: LightGBM makes zeros of them)",
            lambda: train_lgb(label=None),
            "all labels are 0, which is what LightGBM makes of missing",
            UserWarning,
        ),
        Case(
            "all labels equal (a warning)",
            lambda: train_lgb(label=ZERO + 3),
            "has nothing to learn from: none of the 3 queries holds two documents of different grades",
            UserWarning,
        ),
        Case(
            "all weights 0 (a warning)",
            lambda: train_lgb(weight=ZERO),
            "has nothing to learn from: all row weights are 0",
            UserWarning,
        ),
        Case(
            "an infinite label", lambda: train_lgb(label=at(Y, 2, np.inf)), r"label\[2\] = .* is infinite to LightGBM"
        ),
        Case(
            "an infinite weight", lambda: train_lgb(weight=at(Y, 2, np.inf)), r"weight\[2\] = .* is infinite to Light"
        ),
        Case(
            "a negative weight", lambda: train_lgb(weight=at(Y, 2, -1)), r"weight\[2\] = -1\.0 is not a finite weight"
        ),
        Case("a negative size", lambda: train_lgb(group=[-1, N + 1]), r"group\[0\] = -1\.0 is not a size ≥ 0"),
        Case(
            "sizes that do not add up",
            lambda: train_lgb(group=[4, 3]),
            r"Sum of query counts",
            lgb.basic.LightGBMError,
            "LightGBM: … Sum of query counts …",
        ),
        Case(
            "a validation set without group",
            lambda: train_lgb(valid=lambda d: d.create_valid(X, Y)),
            r"the lgb\.Dataset has no group",
        ),
        Case(
            "an infinite `init_score`",
            lambda: train_lgb(init_score=at(ZERO, 1, np.inf)),
            "a score is infinite to LightGBM .*check init_score",
        ),
        Case(
            "`lgb.cv` without folds of whole queries",
            lambda: lgb.cv({**LGB, "objective": LOSS}, lgb.Dataset(X, Y, group=GROUP), 2, nfold=3, stratified=False),
            r"the subset cuts \d+ queries in two .*folds=boostplug\.group_folds",
        ),
        Case(
            "`Dataset.subset` that cuts a query",
            lambda: lgb.train(
                {**LGB, "objective": LOSS},
                lgb.Dataset(X, Y, group=GROUP, params=LGB).construct().subset([1, 2, 3, 4, 5, 6]),
                2,
            ),
            r"the subset cuts 1 queries in two \(query 0: 3 of 4 rows\)",
        ),
        Case(
            "`Dataset.subset` that repeats a row",
            lambda: lgb.train(
                {**LGB, "objective": LOSS},
                lgb.Dataset(X, Y, group=GROUP, params=LGB).construct().subset([0, 0, 2, 3, 4, 5, 6]),
                2,
            ),
            r"the subset repeats 1 rows \(row 0 stands in it 2 times\)",
        ),
        Case(
            "pairs that all weigh 0 (a warning)",
            lambda: fit_lgb(pairs=bp.Pairs([0, 5], [1, 4], weight=[0, 0])),
            "has nothing to learn from: all 2 pairs weigh 0",
            UserWarning,
        ),
        Case("`num_class=3`", lambda: train_lgb({"num_class": 3}), "leave num_class and multi-output parameters"),
        Case(
            "`bagging_by_query` with bagging",
            lambda: train_lgb({"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}),
            "bagging_by_query=True trains a constant model",
        ),
        Case(
            '`boosting="rf"`',
            lambda: train_lgb({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}),
            "custom objective",
            (ValueError, lgb.basic.LightGBMError),
            "LightGBM: … do not support custom objective …",
        ),
        Case(
            "an option of lambdarank",
            lambda: train_lgb({"lambdarank_truncation_level": 30}),
            "lambdarank_truncation_level=30 is an option of LightGBM's own objectives, without effect",
        ),
        Case(
            "`sigmoid` beside the loss",
            lambda: train_lgb({"sigmoid": 2.0}),
            r"sigmoid=2\.0 is an option of LightGBM's own objectives, .*RankNet\(sigmoid=…\)",
        ),
        Case(
            "`label_gain` without LightGBM's own ndcg",
            lambda: fit_lgb(ranker={"label_gain": [0, 1, 3]}),
            r"label_gain=\[0, 1, 3\] is an option of LightGBM's own objectives, .*NDCG\(gain=…\)",
        ),
        Case(
            "`position=…` in the Dataset",
            lambda: train_lgb(position=np.arange(N, dtype=np.int32)),
            r"the lgb\.Dataset has position=…",
        ),
        Case(
            "a ranking loss in `LGBMRegressor`",
            lambda: lgb.LGBMRegressor(objective=LOSS, n_estimators=1, verbose=-1, n_jobs=1, min_child_samples=1).fit(
                X, Y
            ),
            "group is missing: a ranking objective needs the queries",
        ),
    ],
    "XGBoost's DMatrix and parameters": [
        Case("no queries", lambda: train_xgb(group=None), r"the xgb\.DMatrix has no queries; pass qid=ids"),
        Case(
            "labels of 1e-5 for a loss in their unit (a warning)",
            lambda: train_xgb(label=1e-5 * Y, objective=bp.QBRank()),
            "learns little or nothing from numbers of this size: XGBoost makes no split that gains 1e-06 or less",
            UserWarning,
        ),
        Case(
            "labels of 1e-40 (a warning)",
            lambda: train_xgb(label=1e-40 * Y),
            r"label\[.\] = .* is below 1\.2e-38, where the framework's float32 loses digits",
            UserWarning,
        ),
        Case("no label", lambda: train_xgb(label=None), r"the xgboost\.DMatrix has no label; pass label=grades"),
        Case(
            "all labels equal (a warning)",
            lambda: train_xgb(label=ZERO + 3),
            "has nothing to learn from: none of the 3 queries",
            UserWarning,
        ),
        Case(
            "a NaN label",
            lambda: train_xgb(label=at(Y, 2, np.nan)),
            "Label contains NaN, infinity",
            xgb.core.XGBoostError,
            "XGBoost: … Label contains NaN, infinity or a value too large.",
        ),
        Case(
            "a negative weight",
            lambda: train_xgb(weight=[1, -1, 1]),
            "Weights must be positive",
            xgb.core.XGBoostError,
            "XGBoost: … Weights must be positive values.",
        ),
        Case(
            "weights per row (`bp.XGBRanker` takes them)",
            lambda: train_xgb(weight=np.ones(N)),
            "must equal to the number of query groups",
            xgb.core.XGBoostError,
            "XGBoost: … Size of weight must equal to the number of query groups when ranking group is used.",
        ),
        Case(
            "sizes that do not add up",
            lambda: train_xgb(group=[4, 3]),
            "Invalid query group structure",
            xgb.core.XGBoostError,
            "XGBoost: … Invalid query group structure …",
        ),
        Case(
            "a slice, which has lost its groups",
            lambda: xgb.train(
                XGB, xgb.DMatrix(X, Y, group=GROUP).slice(list(range(7)), allow_groups=True), 2, obj=LOSS
            ),
            "has no queries; .*call set_group",
        ),
        Case(
            "a NaN `base_margin`",
            lambda: train_xgb(base_margin=at(ZERO, 1, np.nan)),
            r"scores\[1\] is NaN",
        ),
        Case(
            "`xgb.cv` with query weights, which it drops",
            lambda: xgb.cv(XGB, xgb.DMatrix(X, Y, group=GROUP, weight=[1, 2, 3]), 2, nfold=2, obj=LOSS),
            r"xgb\.cv drops the query weights",
        ),
        Case("`num_class=3`", lambda: train_xgb({"num_class": 3}), "leave num_class and multi-output parameters"),
        Case(
            "an option of rank:ndcg",
            lambda: train_xgb({"lambdarank_pair_method": "topk"}),
            "lambdarank_pair_method='topk' is an option of XGBoost's own objectives, without effect",
        ),
        Case(
            "a validation set without queries",
            lambda: train_xgb(valid=xgb.DMatrix(X, Y)),
            r"the xgb\.DMatrix has no queries",
        ),
    ],
    "LGBMRanker and XGBRanker": [
        *(
            case
            for name, fit in (("LGBMRanker", fit_lgb), ("XGBRanker", fit_xgb))
            for case in (
                Case(f"{name}: a NaN label", lambda fit=fit: fit(y=at(Y, 2, np.nan)), r"labels\[2\] = nan is not fin"),
                Case(f"{name}: neither qid nor group", lambda fit=fit: fit(qid=None), "qid or group is missing: pass"),
            )
        ),
        Case(
            "a qid column and qid",
            lambda: fit_xgb(X=pd.DataFrame({"a": Y, "qid": QID})),
            "the queries are given twice: by X's column 'qid' and by qid; leave one out",
        ),
        Case("X with fewer rows than labels", lambda: fit_xgb(X=X[1:]), "X has 11 rows, its labels 12"),
        Case("a negative weight", lambda: fit_lgb(sample_weight=[1, -1, 1]), r"weight\[1\] = -1\.0 is not a finite"),
        Case("ids in two places", lambda: fit_lgb(qid=np.roll(QID, 2)), "qid must be contiguous: 3 appears again"),
        Case(
            "no ids for the validation set", lambda: fit_lgb(eval_set=[(X[1:], Y[1:])]), "eval_qid or eval_group is mis"
        ),
        Case(
            "a list of ids for two validation sets",
            lambda: fit_xgb(eval_set=[(X, Y), (X, Y)], eval_qid=[QID]),
            r"eval_qid must hold one entry per validation set \(2\), got 1",
        ),
        Case(
            "`eval_set=[X, y]`",
            lambda: fit_xgb(eval_set=[X, Y], eval_qid=[QID, QID]),
            r"eval_set must hold pairs \(X, y\), got a ndarray in it; pass \[\(X, y\)\]",
        ),
        Case(
            "a NaN label in the validation set",
            lambda: fit_xgb(eval_set=[(X, at(Y, 1, np.nan))], eval_qid=[QID]),
            r"in the validation set 0: labels\[1\] = nan is not finite",
        ),
        *(
            case
            for name, fit in (("LGBMRanker", fit_lgb), ("XGBRanker", fit_xgb))
            for case in (
                Case(f"{name}: X of one dimension", lambda fit=fit: fit(X=X[:, 0]), r"X must be a table of shape"),
                Case(f"{name}: X without columns", lambda fit=fit: fit(X=X[:, :0]), r"X has no features"),
                Case(
                    f"{name}: X of words", lambda fit=fit: fit(X=X.astype(str)), "X must hold real numbers, got dtype"
                ),
                Case(
                    f"{name}: a masked X",
                    lambda fit=fit: fit(X=np.ma.masked_array(X, X > 0)),
                    r"X has \d+ masked values; pass X\.filled\(numpy\.nan\)",
                ),
                Case(
                    f"{name}: permuted columns in `predict`",
                    lambda fit=fit: fit(X=FRAME).predict(FRAME[["b", "a"]]),
                    "X has the training set's columns in another order: column 0 is 'b', in the training set 'a'",
                ),
                Case(
                    f"{name}: other columns in `eval_set`",
                    lambda fit=fit: fit(X=FRAME, eval_set=[(FRAME.rename(columns={"b": "c"}), Y)], eval_qid=[QID]),
                    r"eval_set\[0\]'s X's columns are not those of the training set: missing \['b'\], unknown \['c'\]",
                ),
                Case(
                    f"{name}: fewer features in `eval_set`",
                    lambda fit=fit: fit(eval_set=[(X[:, :1], Y)], eval_qid=[QID]),
                    r"eval_set\[0\]'s X has 1 features, the training set 2",
                ),
                Case(f"{name}: `eval_set=5`", lambda fit=fit: fit(eval_set=5), r"eval_set must be a list of pairs"),
                Case(
                    f"{name}: ids of one set for `eval_qid`",
                    lambda fit=fit: fit(eval_set=[(X, Y)], eval_qid=QID),
                    r"eval_qid must hold one entry per validation set \(1\), got 12; pass \[eval_qid\] for one set",
                ),
                Case(f"{name}: a size of -1", lambda fit=fit: fit(qid=None, group=[-1, 13]), r"group\[0\] = -1"),
                Case(f"{name}: a word as sample_weight", lambda fit=fit: fit(sample_weight="balanced"), "'balanced'"),
            )
        ),
        Case(
            "labels beyond single precision",
            lambda: fit_xgb(y=at(Y, 2, 1e40)),
            r"labels\[2\] = 1e\+40 is beyond single precision .*rescale the labels",
        ),
        Case(
            "labels that single precision makes one (a warning)",
            lambda: fit_lgb(y=Y + 1e9),
            "subtract an offset from all labels",
            UserWarning,
        ),
        Case(
            "a misspelt parameter of LightGBM",
            lambda: fit_lgb(ranker={"bagging_fracton": 0.5}),
            "bagging_fracton is no parameter of LightGBM; did you mean bagging_fraction?",
        ),
        Case(
            "a misspelt parameter of XGBoost",
            lambda: fit_xgb(ranker={"subsampel": 0.5}),
            "subsampel is no parameter of XGBoost; did you mean subsample?",
        ),
        Case(
            "an infinite feature in XGBoost's ranker",
            lambda: fit_xgb(X=FRAME.replace(FRAME.iloc[3, 1], np.inf)),
            "X holds inf in row 3, column 'b', which is infinite to XGBoost",
        ),
        Case(
            "a sparse matrix in `predict` of XGBoost's ranker, after a dense one",
            lambda: fit_xgb().predict(csr_matrix(X)),
            r"X is sparse and the training set is dense: .*pass X\.toarray\(\), or missing=0",
        ),
        Case(
            "another categorical column in `predict`",
            lambda: fit_lgb(X=FRAME).predict(FRAME.assign(b=pd.Categorical(Y))),
            "in X, column 'b' is categorical",
        ),
        Case(
            "new categories in `predict` (a warning)",
            lambda: fit_lgb(X=KINDS).predict(KINDS.assign(b=pd.Categorical(["z"] * N))),
            r"in X, column 'b' holds categories that the training set does not have \('z'\)",
            UserWarning,
        ),
        Case(
            "new categories beside `xgb_model`",
            lambda: fit_xgb(
                X=KINDS.assign(b=pd.Categorical(["z"] * N)),
                ranker={"enable_categorical": True},
                xgb_model=fit_xgb(X=KINDS, ranker={"enable_categorical": True}),
            ),
            r"in X beside xgb_model, column 'b' has categories that the model does not know, \['z'\]",
        ),
        Case(
            "another `base_score` than that of `xgb_model`",
            lambda: fit_xgb(ranker={"base_score": 0.5}, xgb_model=fit_xgb()),
            "base_score=0.5 beside xgb_model",
        ),
        Case(
            "early stopping with dart in XGBoost's ranker",
            lambda: fit_xgb(ranker={"booster": "dart", "early_stopping_rounds": 3}, eval_set=[(X, Y)], eval_qid=[QID]),
            "booster='dart' has no best round",
        ),
        Case(
            "`class_weight` with a loss",
            lambda: fit_lgb(ranker={"class_weight": "balanced"}),
            "class_weight='balanced' has no meaning for MPBoost",
        ),
        Case(
            "a NaN in `eval_init_score`",
            lambda: fit_lgb(eval_set=[(X, Y)], eval_qid=[QID], eval_init_score=[at(ZERO, 1, np.nan)]),
            r"eval_init_score\[0\]\[1\] = nan is not finite",
        ),
        Case(
            "a number as `eval_metric`",
            lambda: fit_lgb(eval_set=[(X, Y)], eval_qid=[QID], eval_metric=5),
            "eval_metric must hold names, metrics or functions; got 5",
            TypeError,
        ),
        Case(
            "a loss as `eval_metric`",
            lambda: fit_lgb(eval_set=[(X, Y)], eval_qid=[QID], eval_metric=LOSS),
            "eval_metric holds the loss MPBoost",
        ),
        Case("a number as `callbacks`", lambda: fit_lgb(callbacks=5), "callbacks must be a list of", TypeError),
        Case(
            "`eval_X` without `eval_y`",
            lambda: fit_lgb(eval_X=X, eval_qid=[QID]),
            "give eval_X and eval_y together, or eval_set alone",
        ),
        Case(
            "a NaN `init_score` (of which LightGBM makes 0)",
            lambda: fit_lgb(init_score=at(ZERO, 1, np.nan)),
            r"init_score\[1\] = nan is not finite in single precision",
        ),
        Case(
            "early stopping without a validation set",
            lambda: fit_lgb(callbacks=[lgb.early_stopping(3, verbose=False)]),
            "at least one dataset and eval metric is required",
            shown="LightGBM: … at least one dataset and eval metric is required for evaluation",
        ),
        Case(
            "the class as metric, `eval_metric=NDCG`",
            lambda: fit_lgb(eval_set=[(X, Y)], eval_qid=[QID], eval_metric=bp.NDCG),
            r"eval_metric is the class NDCG; pass an instance, NDCG\(\)",
        ),
        Case("no rows", lambda: fit_xgb(X=X[:0], y=[], qid=[]), "X and its labels have no rows"),
        Case(
            "two objectives",
            lambda: fit_lgb(ranker={"application": "regression"}),
            "the objective is given twice: as objective and as application",
        ),
        Case(
            "a function as objective of XGBRanker",
            lambda: fit_xgb(lambda y, s: (s - y, s)),
            r"derive a boostplug\.Loss, or call xgb\.train with obj=",
        ),
        Case(
            "an `eval_metric` that is none",
            lambda: fit_xgb(ranker={"eval_metric": [5]}),
            "eval_metric must hold names, metrics or functions; got 5",
            TypeError,
        ),
        Case(
            "base margins for another number of validation sets",
            lambda: fit_xgb(eval_set=[(X, Y)], eval_qid=[QID], base_margin_eval_set=[ZERO, ZERO]),
            "base_margin_eval_set must hold one entry per validation set",
        ),
        Case(
            "cross-validation that does not know the queries",
            lambda: bp.make_scorer(bp.NDCG())(fit_lgb(), X, Y),
            "NDCG@10 needs the query of each row",
        ),
    ],
    "Parameters of losses, metrics and distances": [
        Case(
            "a parameter that the loss does not have, `set_params(objective__margin=1)`",
            lambda: bp.LGBMRanker(objective=LOSS).set_params(objective__margin=1),
            r"Invalid parameter 'margin' for MPBoost\(.*Valid parameters are: \['distance', 'hessian'",
        ),
        Case(
            "a value that the loss refuses, `set_params(objective__hessian='bogus')`",
            lambda: bp.XGBRanker(objective=LOSS).set_params(objective__hessian="bogus"),
            "MPBoost: hessian must be one of 'newton', 'gentle', 'bound'; got 'bogus'",
        ),
        Case(
            "a parameter of a built-in objective, `LGBMRanker(objective__hessian='bound')`",
            lambda: bp.LGBMRanker(objective__hessian="bound"),
            "'objective__hessian' for LGBMRanker, whose objective is None and has no parameters; set objective",
        ),
        Case(
            "the same in the plain `lightgbm.LGBMRanker`",
            lambda: lgb.LGBMRanker(objective=LOSS, objective__hessian="bound", min_child_samples=1, verbose=-1).fit(
                X, Y, group=GROUP
            ),
            "objective__hessian is no parameter of LightGBM, whose own rankers take any name and do nothing with it",
        ),
        Case(
            "`set_params` of the loss itself",
            lambda: LOSS.set_params(hessian="bound"),
            r"is a frozen value and cannot be changed in place; make a new one, value\.with_params\(hessian=…\)",
            TypeError,
        ),
        Case(
            "the class, `suggest(trial, MPBoost)`",
            lambda: bp.suggest(None, bp.MPBoost),
            r"loss is the class MPBoost; pass an instance, MPBoost\(\)",
        ),
    ],
    "Files": [
        Case("no such file", lambda: load_letor(Path(folder().name) / "no.txt"), "there is no file", FileNotFoundError),
        Case("an empty file", lambda: load_letor(file("empty.txt", "")), "holds no rows; each line must read"),
        Case(
            "lines without qid", lambda: load_letor(file("noqid.txt", "1 1:0.5\n0 1:1\n")), "line 1: no qid; write qid:"
        ),
        Case(
            "one line without qid", lambda: load_letor(file("one.txt", GOOD_LINES + "1 1:2\n")), "line 3: no qid, but"
        ),
        Case(
            "a malformed value", lambda: load_letor(file("value.txt", "1 qid:1 1:x\n")), "line 1: malformed token '1:x'"
        ),
        Case(
            "a grade that is no number",
            lambda: load_letor(file("grade.txt", "good qid:1 1:2\n")),
            "the grade is 'good'",
        ),
        Case(
            "a NaN grade",
            lambda: load_letor(file("nan.txt", "nan qid:1 1:2\n")),
            "the grade is nan, which is not finite",
        ),
        Case(
            "lines ended by a form feed",
            lambda: load_letor(file("feed.txt", "1 qid:1 1:2 # a\x0c1 qid:1 1:3\n")),
            "line 1: there is a form feed; end lines by LF, CR LF or CR",
        ),
        Case(
            "lines ended by U+2028",
            lambda: load_letor(file("u2028.txt", "1 qid:1 1:2 # a\u20281 qid:1 1:3\n")),
            r"line 1: there is a line separator \(U\+2028\); end lines by LF",
        ),
        Case(
            "a file compressed by bzip2",
            lambda: load_letor(file("train.txt.bz2", bz2.compress(GOOD_LINES.encode()))),
            "is compressed by bzip2; decompress it, or compress it by gzip",
        ),
        Case(
            "a file in UTF-16",
            lambda: load_letor(file("utf16.txt", GOOD_LINES.encode("utf-16"))),
            "is UTF-16; save it as UTF-8",
        ),
        Case(
            "a query id of 5,000 digits",
            lambda: load_letor(file("long.txt", f"1 qid:{'7' * 5000} 1:2\n")),
            "line 1: the query's id, '7{39}…7{19}', has 5000 bytes; number the queries",
        ),
        Case(
            "a feature of a hundred million",
            lambda: load_letor(file("far.txt", "1 qid:1 1:2\n0 qid:1 100000000:1\n")),
            "line 2: feature 100000000 asks for a dense X of 2 rows .* if it is wrong, else pass sparse=True",
        ),
        Case("a feature twice", lambda: load_letor(file("twice.txt", "1 qid:1 1:2 1:3\n")), "feature 1 stands twice"),
        Case("a negative feature", lambda: load_letor(file("neg.txt", "1 qid:1 -1:2\n")), "has a negative feature"),
        Case(
            "a query in two places",
            lambda: load_letor(file("again.txt", GOOD_LINES + "1 qid:2 1:2\n1 qid:1 1:2\n")),
            "line 4: qid:1 appears again after other queries",
        ),
        Case(
            "a `.query` file that does not add up",
            lambda: load_letor(file("side.txt", "1 1:0.5\n0 1:1\n", query="3\n")),
            "its 1 sizes add up to 3, but side.txt has 2 rows",
        ),
        Case(
            "a `.query` file that contradicts the qids",
            lambda: load_letor(file("contra.txt", GOOD_LINES, query="1\n1\n")),
            "its sizes differ from those of the qids",
        ),
        Case(
            "a `.gz` file that is cut short",
            lambda: load_letor(file("cut.txt.gz", gzip.compress(GOOD_LINES.encode() * 99, mtime=0)[:-20])),
            "is damaged or cut short",
        ),
        Case(
            "more features than `n_features`",
            lambda: load_letor(file("wide.txt", "1 qid:1 7:2\n"), n_features=5),
            "feature 7 is beyond the last of n_features=5, 5; pass n_features=7",
        ),
        Case(
            "`n_features=0`",
            lambda: load_letor(file("good.txt", GOOD_LINES), n_features=0),
            "n_features must be an int",
        ),
        Case(
            "`zero_based=2`",
            lambda: load_letor(file("good.txt", GOOD_LINES), zero_based=2),
            'zero_based must be True, False or "auto", got 2',
        ),
        Case(
            "a folder in place of a file",
            lambda: load_letor(folder().name),
            "load it with load_fold",
            IsADirectoryError,
        ),
        Case(
            "a fold without vali.txt",
            lambda: load_fold(file("Fold9/train.txt", GOOD_LINES).parent),
            "has none of vali.txt, vali.txt.gz, valid.txt, valid.txt.gz, only train.txt; rename the file",
            FileNotFoundError,
        ),
        Case(
            "a folder without folds",
            lambda: load_folds(file("none/x.txt", GOOD_LINES).parent),
            r"has no folder Fold\*, only x\.txt",
            FileNotFoundError,
        ),
        Case(
            "a file in place of a fold",
            lambda: load_fold(file("good.txt", GOOD_LINES)),
            "is a file; load it with load_letor",
            NotADirectoryError,
        ),
    ],
    "TREC's files": [
        Case("an empty run", lambda: load_run(file("empty.run", "")), "holds no rows; each line must read"),
        Case("a column too few", lambda: load_run(file("5.run", "1 Q0 a 1 2.5\n")), "line 1: .* has 5 columns, not 6"),
        Case("a run in place of qrels", lambda: load_qrels(file("a.run", "1 Q0 a 1 2.5 t\n")), "has 6 columns, not 4"),
        Case("a NaN in a run", lambda: load_run(file("nan.run", "1 Q0 a 1 nan t\n")), "line 1: the score 'nan' is no"),
        Case(
            "a document twice",
            lambda: load_qrels(file("twice.txt", "1 0 a 1\n1 0 b 0\n1 0 a 2\n")),
            "line 3: document 'a' of query '1' stands on line 1 already",
        ),
        Case(
            "a run of other queries than the qrels",
            lambda: load_run(file("a.run", "1 Q0 a 1 2.5 t\n")).judge(load_qrels(file("q.txt", "q1 0 a 1\n"))),
            "no query of the run is judged: it has '1', the qrels have 'q1'",
        ),
        Case(
            "blanks in a document's name",
            lambda: save_run(Path(folder().name) / "out", ZERO, qid=QID, doc_ids=["a b"] * N),
            r"doc_ids\[0\] = 'a b' is missing or no single word",
        ),
        Case(
            "grades that are not whole, as qrels",
            lambda: save_qrels(Path(folder().name) / "out", at(Y, 2, 0.5), qid=QID),
            r"y\[2\] = 0.5 is no whole number",
        ),
    ],
    "Files larger than memory": [
        Case("no column named for the labels", lambda: batches(label=None), "label is missing"),
        Case("a column that is not there", lambda: batches(qid="query_id"), "query_id"),
        Case(
            "a query that appears again",
            lambda: batches({"y": [1, 0, 2], "q": ["a", "b", "a"], "x": [0.0, 1.0, 2.0]}),
            "query 'a' appears again after other queries",
        ),
        Case(
            "strings as a feature",
            lambda: batches({"y": [1, 0], "q": [1, 1], "x": ["de", "fr"]}),
            "the column 'x' holds (large_)?string, and features are numbers",
            shown="ValueError: FOLDER/rows.parquet: the column 'x' holds string, and features are numbers (integers, "
            "floats, decimals, booleans); write numbers in its place (codes of categories, say), or name the features "
            "that you want, features=[…]",
        ),
        Case("no rows in a batch", lambda: batches(rows=0), "rows"),
    ],
    "Several machines": [
        Case(
            "a query in two partitions",
            lambda: bp.dask.check_partitions(dd.from_pandas(TWO_QUERIES, npartitions=2), "qid"),
            "1 of 2 queries lie in several partitions: 'b' in 0 and 1",
        ),
        Case(
            "a frame in memory",
            lambda: bp.dask.partition_by_query(FRAME, "a"),
            "must be a dask.dataframe.DataFrame",
            TypeError,
        ),
        Case(
            "a column of ids that is not there",
            lambda: bp.dask.partition_by_query(dd.from_pandas(FRAME, npartitions=2), "qid"),
            "qid must name a column of ddf; got 'qid'",
        ),
        Case("`group=` with collections", lambda: bp.dask.XGBRanker().fit(X, Y, group=GROUP), "group is not taken"),
        Case("`pairs=` with collections", lambda: bp.dask.XGBRanker().fit(X, Y, pairs=PAIRS), "pairs on collections"),
        Case(
            "`set_pairs` on a collection",
            lambda: bp.set_pairs(dd.from_pandas(FRAME, npartitions=2), PAIRS),
            "collection",
            (TypeError, ValueError),
        ),
        Case(
            "a function as a metric of all workers",
            lambda: bp.dask.XGBRanker(objective=LOSS, eval_metric=len).fit(X, Y),
            "eval_metric holds the function",
        ),
        Case("AdaRank in LightGBM", lambda: bp.dask.LGBMRanker(objective=bp.AdaRank()).fit(X, Y), "AdaRank.*XGBRanker"),
        Case(
            "early stopping in LightGBM",
            lambda: bp.dask.LGBMRanker(objective=LOSS).fit(X, Y, early_stopping_rounds=5),
            "early_stopping_rounds is not taken",
        ),
        Case(
            "LightGBM's own interface to several machines",
            lambda: LOSS(ZERO, on_two_machines()),
            "boostplug.dask.LGBMRanker",
        ),
    ],
}
ALL = [(f"{section}: {case.what}", case) for section, cases in CASES.items() for case in cases]
IDS = [re.sub(r"[^\w=.]+", "-", name).strip("-") for name, _ in ALL]


def message(case):
    """Return the message of a case, with paths shortened."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            case.run()
        except Exception as error:  # noqa: BLE001 (which one, the tests say)
            text = case.shown or str(error)
            text = text.replace(folder().name, "FOLDER")
            text = re.sub(r" at 0x[0-9a-f]+", "", text)  # where a function lies
            return text if case.shown else f"{type(error).__name__}: {text}"
    raise AssertionError(f"accepted: {case.what}")


def page():
    """Return the documentation page."""
    out = [
        "# Bad input and the message it gets\n",
        "None of these trains a model silently: each raises, or warns where that is said.",
        "Written by `python tests/test_bad_input.py` from the list that the tests run.\n",
    ]
    for section, cases in CASES.items():
        out += [f"## {section}\n", "| input | message |", "|---|---|"]
        for case in cases:
            text = " ".join(message(case).split()).replace("|", "\\|")
            out.append(f"| {case.what} | `` {text} `` |")
        out.append("")
    return "\n".join(out)


@pytest.mark.parametrize("case", [case for _, case in ALL], ids=IDS)
def test_bad_input(case):
    with pytest.raises(case.kind, match=case.match):
        case.run()


def test_no_case_stands_twice():
    assert len({name for name, _ in ALL}) == len(ALL) >= 40


@pytest.mark.skipif(not PAGE.parent.is_dir(), reason="runs where the documentation is")
def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tests/test_bad_input.py"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(ALL)} cases written to {PAGE}", file=sys.stderr)
