# ruff: noqa: F401 (what a call finds)
"""Arguments as source text, valid and hostile, by the name and the annotation of a parameter.

A text is evaluated in `NAMESPACE`. So a failure prints a call that anybody can repeat after
``from fuzz.values import *``, with the folders of the package and of the tests on the path.
"""

import gzip
import itertools
import json
import re
import tempfile
from array import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

import dask.dataframe as dd
import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse
import xgboost as xgb
from losses.functions import FUNCTIONS

import boostplug as bp
from boostplug.weak_rankers import Feature, Stump

FOLDER = tempfile.TemporaryDirectory(prefix="boostplug-fuzz-")
QUIET = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 1}


def read_only(values):
    out = np.array(values)
    out.setflags(write=False)
    return out


def refusing(*args):
    raise ValueError("the user's function refuses")


def too_long(values, *args):
    return np.zeros(np.size(values) + 1)


def file(content, name):
    """Return the path of a file of these bytes, or of a Parquet file of these columns."""
    path = Path(FOLDER.name, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        pq.write_table(pa.table(content), path)
    else:
        path.write_bytes(content)
    return path


def folds(content):
    """Return a folder with one fold of three files."""
    for name in ("train", "vali", "test"):
        file(content, f"folds/Fold1/{name}.txt")
    return Path(FOLDER.name, "folds")


class Constant:
    """A model that gives each row the same score."""

    def predict(self, X):
        return np.zeros(len(X))


class Trial:
    """A trial of optuna that always chooses the lowest value."""

    def suggest_float(self, name, low, high, *, log=False):
        return low

    suggest_int = suggest_float

    def suggest_categorical(self, name, choices):
        return choices[0]


NAMESPACE = dict(globals())

# One value of any kind, in place of an argument

BIG = ("2**63", "-2**70", "10**400", "1e16", "1e308", "np.uint64(2**64 - 1)")
HOSTILE = (
    *("None", "True", "0", "-1", "2", "2.5", "-0.0", "np.nan", "np.inf", "-np.inf", "5e-324", "1e-300", *BIG),
    *("np.int8(3)", "np.float16(2)", "np.longdouble(1)", "Fraction(1, 2)", "Decimal('0.5')", "1j", "''", "'x'"),
    *("'NEWTON'", "np.str_('rows')", "b'rows'", "'\\x00'", "()", "[]", "{}", "[1.0, 2.0]", "{'a': 1}", "{1, 2}"),
    *("np.array(1.0)", "np.array(['none', 'rows'])", "np.zeros((2, 2))", "np.zeros(0)", "np.ma.masked", "pd.NA"),
    *("pd.Series([1.0, 2.0])", "pd.DataFrame({'a': [1.0]})", "np.datetime64('2020-01-01')", "object()", "int", "len"),
    *("np.sqrt", "np.negative", "refusing", "too_long", "(lambda x: x * np.nan)", "(lambda x: 1.0)", "range(3)"),
    *("iter([1, 2])", "bp.NDCG(3)", "bp.MPBoost", "bp.MPBoost()", "bp.LogDistance()", "lgb.Dataset"),
    *("bp.Queries([1, 0], group=[2])", "bp.Pairs([0], [1])"),
)
# Containers of numbers: {0} is the text of a list. Those that mean the same, and others.
ALIKE = (
    *("{0}", "np.array({0})", "tuple({0})", "np.array({0}, dtype='>f8')", "np.array({0}, dtype=object)"),
    *("read_only({0})", "np.array({0})[::-1].copy()[::-1]", "np.repeat({0}, 2)[::2]", "np.ma.array({0})"),
    *("pd.Series({0})", "pd.Series({0}, index=['a'] * len({0}))", "pl.Series({0})", "pa.array({0})"),
    *("pa.chunked_array([{0}])", "array('d', {0})", "memoryview(np.array({0}, dtype=float))"),
    *("np.array({0}, dtype=np.float32)", "np.array({0}, dtype=np.longdouble)"),
)
ODD = (
    *("{0}[:-1]", "{0} + {0}", "[{0}]", "[{0}, {0}[:-1]]", "np.array({0})[:, None]", "np.array({0}, dtype=float) + 1j"),
    *("np.array({0}).astype(str)", "np.array({0}, dtype=float).astype('S8')", "np.arange(len({0})).astype('M8[s]')"),
    *("np.zeros(len({0}), dtype=[('a', 'f8')])", "[None] * len({0})", "[[]] * len({0})", "[{{}}] * len({0})"),
    *("np.ma.masked_all(len({0}))", "pd.Series([1] * len({0}), dtype='Int64').mask([True] * len({0}))"),
    *("pd.Series({0}, dtype='string')", "pd.Series(pd.Categorical({0}))", "pd.DataFrame({{'a': {0}}})"),
    *("pa.table({{'a': {0}}})", "scipy.sparse.csr_array(np.array([{0}], dtype=float))", "set({0})", "iter({0})"),
    *("dict.fromkeys({0})", "(x for x in {0})"),
)
NAUGHTY = (
    *("np.nan", "np.inf", "-np.inf", "1e308", "-1e308", "5e-324", "1e40", "1e200", "2**63", "10**400", "-1", "0.5"),
    *("True", "None", "'a'", "'1'", "b'1'", "1j", "np.float16(1)", "np.timedelta64(1, 's')", "Fraction(1, 3)"),
    *("Decimal('0.1')", "[]", "[1.0]", "np.ma.masked", "pd.NA", "pd.NaT"),
)

# Valid values by the name of a parameter, beside what its annotation lists

SIMPLE = ("bp.MPBoost()", "bp.QBRank()", "bp.NDCGBoost()", "bp.RankNet()", "bp.LambdaRank()", "bp.SquaredError()")
LISTED = {  # by annotation
    bool: ("False", "True"),
    NoneType: ("None",),
    int: ("1", "2", "3", "10"),
    float: ("0.5", "1.0", "2", "0.01", "20.0"),
}
FUNCTIONS_OF_GAPS = ("np.sqrt", "np.log1p", "(lambda x: 1e-3 * x)")
VALID = {
    "sigmoid": ("1.0", "0.5", "3", "20.0"),
    "distance": ("bp.LogDistance(lam=1e-3)", "bp.LinearDistance(alpha=5.0)", "bp.BinaryDistance()", *FUNCTIONS_OF_GAPS),
    "gain": FUNCTIONS_OF_GAPS[:2],
    "relevant": ("1", "2", "0.5", "0"),
    "max_grade": ("4", "10"),
    "p": ("0.8", "0.5"),
    "margin": ("0.0", "1.0", "0.25", "100"),
    "epsilon": ("1.0", "0.01"),
    "preference_weight": ("0.5", "0.0", "1.0"),
    "list_weight": ("0.5", "0.0", "1.0"),
    "confidence": ("0.5", "0.9"),
    "missing": ("0", "0.05"),
    "empty_queries": ("0", "0.5"),
    "learning_rate": ("0.05", "1.0"),
    "eta": ("0", "1.0"),
    "noise": ("0", "0.1"),
    "random_state": ("None", "0", "7"),
    "metric": ("bp.NDCG()", "bp.NDCG(2, gain='linear')", "bp.MAP()", "bp.DCG(3)", "bp.ERR()"),
    "eval_metric": ("bp.NDCG(3)", "None"),
    "metrics": ("'NDCG@2'", "[bp.MAP(), 'MRR']", "()"),
    "loss": SIMPLE,
    "objective": SIMPLE,
    "base": SIMPLE,
    "pair_loss": ("bp.RankNet()", "bp.MPBoost()"),
    "label_loss": ("bp.SquaredError()",),
    "parts": ("(bp.RankNet(), bp.SquaredError())", "(bp.MPBoost(), bp.QBRank())"),
    "weights": ("None", "(1, 2)", "[0.5, 0]"),
    "losses": (*SIMPLE[:2], "['mpboost', 'ranknet']", "{'<img src=x>': bp.RankNet()}"),
    "baselines": ("'lambdarank'", "[]"),
    "frameworks": ("'lightgbm'",),
    "dataset": ("dataset",),
    "trial": ("Trial()",),
    "prefix": ("''", "'loss__'"),
    "regressor": ("None",),
    "classifier": ("None",),
    "n_estimators": ("2",),
    "rounds": ("2",),
    "seeds": ("1", "[7]"),
    "n_queries": ("3", "1"),
    "n_features": ("2", "3"),
    "sessions": ("20",),
    "n_bootstrap": ("2", "3"),
    "early_stopping_rounds": ("1", "None"),
    "tune": ("0",),
    "jobs": ("1",),
    "num_threads": ("1",),
    "n": ("None",),
    "progress": ("None", "False"),
    "verbose": ("False",),
    "params": ("{'num_leaves': 3, 'min_rows': 1}", "{'lightgbm': {'boosting': 'dart'}}"),
    "store": ("None",),
    "model": ("'position'", "'cascade'", "'dbn'"),
    "ranker": ("'random'",),
    "name": ("'mpboost'", "'NDCG@10'", "'.7*NDCGBoost()+.3*QBRank()'", "'RankNet(sigmoid=2)'", "'ERR(max_grade=4)@3'"),
    "label": ("'y'",),
    "features": ("['x']", "None"),
    "tag": ("'t'",),
    "npartitions": ("1", "2"),
    "client": ("None",),
    "position_is_rank": ("False", "True"),
    "propensity": ("[1.0, 0.5, 0.3, 0.2, 0.2]", "1 / np.arange(1.0, 50.0)"),
    "log": ("bp.clicks.simulate(bp.datasets.make_ranking(4, random_state=0), sessions=30, random_state=1)",),
    "booster": ("lgb.train({**QUIET}, lgb.Dataset(np.eye(9), np.arange(9.0), params=QUIET), 2)",),
    "function": ("FUNCTIONS['logistic'][0]",),
    "first": ("FUNCTIONS['logistic'][1]",),
    "second": ("FUNCTIONS['logistic'][2]",),
    "rng": ("np.random.default_rng(0)",),
    "document": ('{"format": "boostplug.Ensemble", "version": 1, "n_features": 1, "rounds": []}',),
}
OF_FUNCTION = {  # arguments with another meaning than elsewhere: names of columns, for example
    "load_clicks": {"clicked": ("'clicked'",), "position": ("'position'",), "qid": ("'qid'",)},
    "batches_by_query": {"label": ("'y'",), "qid": ("'qid'",), "weight": ("None",)},
    "from_frame": {"label": ("'y'",), "qid": ("'qid'",), "weight": ("None",)},
    "partition_by_query": {"qid": ("'qid'",)},
    "check_partitions": {"qid": ("'qid'",)},
    "Ensemble": {"rounds": ("[[(Stump(0, 0.5), 1.0)], [(Feature(1), 2.0)]]", "[]")},
    "PairwiseLoss": {"weight": ("None", "(lambda a, b: a - b)", "np.subtract")},
    "load_bundled": {},
}
FRAMEWORKS = {
    "LGBMRanker": "n_estimators=2, num_leaves=3, min_child_samples=1, n_jobs=1, verbosity=-1",
    "XGBRanker": "n_estimators=2, max_depth=2, n_jobs=1, verbosity=0",
}
FIT = {"X", "y", "group", "qid", "sample_weight", "pairs", "labelled", "position", "labels", "eval_set", "eval_qid"}
FIT |= {"eval_group", "eval_metric", "early_stopping_rounds"}
# Numbers of trainings, of processes, of bytes: whoever passes a large one waits as long as it takes.
COUNTS = {
    "n_estimators",
    "rounds",
    "sessions",
    "n_bootstrap",
    "n_queries",
    "n_features",
    "mean_list_size",
    "n_negatives",
}
COUNTS |= {"tune", "jobs", "num_threads", "seeds", "n", "npartitions", "time_out", "bins", "max_bin"}

MODEL = bp.Ensemble([[(Stump(0, 0.5), 1.0)], [(Feature(1), 2.0)]], n_features=2)
CONTENTS = {  # of files, by the function that reads them
    "load_letor": (b"2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1\n1 qid:2 2:3 # doc\n0 qid:2 1:NULL 2:1e-3\n", "data.txt"),
    "load_run": (b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1e-3 t\n2 Q0 a 1 7 t\n", "a.run"),
    "load_qrels": (b"1 0 a 1\n1 0 b 0\n2 0 a -1\n", "qrels"),
    "load_clicks": (b"qid,position,clicked\na,1,0\na,2,1\nb,1,0\nb,2,1\n", "log.csv"),
    "load": (json.dumps(MODEL.to_dict()).encode(), "model.json"),
}
GRADES = (("0", "1", "2", "3", "4"), ("0", "1"), ("0.5", "1.25", "2.0"), ("1e-17", "3e-17", "0"), ("7",))
SCORES = (("0.0", "1.0", "-0.5"), ("0.0",), ("30.0", "-30.0", "3.0"), ("1e6", "1e6 + 1e-9"))
WEIGHTS = (("1.0",), ("0", "1", "2.5"), ("1e-12", "1", "1e12"), ("1e-30", "3e-30"))
BAD_COLUMNS = (  # of a Parquet file
    *("['a', 'b', 'a', 'd']", "[None] * 4", "[[1], [2], [3], [4]]", "[b'a'] * 4", "[1e300, -1e300, 0.0, np.inf]"),
    *("[np.nan, 1.0, 2.0, 3.0]", "[1, 2, 1, 2]", "['a', 'b', 'a', None]", "[0.5, 0.5, 1e17, 3.0]", "[{'a': 1}] * 4"),
    *("pd.date_range('2020', periods=4)", "[Decimal('1.5')] * 4", "pa.nulls(4)", "pa.array([2**63] * 4, pa.uint64())"),
)
TOKENS = (*(b"", b"nan", b"1e999", b"-1", b"x", b"9" * 50, b"null", b"[]", b"\x00", b"\xff", b"0.5", b'"'), b"\n", b"#")


class Dice:
    """A source of choices for one call; the first option is the simplest one."""

    def __init__(self, draw, integers):
        self._draw = draw
        self._integers = integers

    def below(self, n):
        return self._draw(self._integers(0, n - 1))

    def one(self, options):
        return options[self.below(len(options))]

    def percent(self, p):
        return self.below(100) >= 100 - p


class Ranking:
    """Ranking data as texts: one list of numbers for each column."""

    def __init__(self, dice):
        self.dice = dice
        self.sizes = dice.one(((2, 3), (3,), (1,), (4, 1), (0, 3), (5, 2, 0, 1), (8, 5), (12,), ()))
        self.n = sum(self.sizes)
        grades, scores, weights = map(dice.one, (GRADES, SCORES, WEIGHTS))
        self.y, self.scores, self.weight = self.values(grades), self.values(scores), self.values(weights)
        self.clicked, self.labelled = self.values(("0", "1")), self.values(("True", "False", "True"))
        self.group = list(map(str, self.sizes))
        kind = dice.one(("{}", "7 * {}", "'q{}'"))
        self.qid = [kind.format(q) for q, size in enumerate(self.sizes, 1) for _ in range(size)]
        self.position = [str(place) for size in self.sizes for place in range(1, size + 1)]
        features = self.values(("0.0", "1.0", "2.0", "-1.0", "np.nan"))
        rows = [f"[{one}, {two}]" for one, two in zip(features, self.values(("0.5", "3.0")), strict=True)]
        self.X = f"np.array({listed(rows)}, dtype=float).reshape(-1, 2)"

    def values(self, pool):
        return [self.dice.one(pool) for _ in range(self.n)]

    def column(self, name):
        """Return the numbers of an array argument, None for any other parameter."""
        by_name = {"labels": self.y, "sample_weight": self.weight, "qid_or_queries": self.qid, "consumed": self.clicked}
        if name in {"winner", "loser"}:
            return ["0", "2", "3"] if name == "winner" else ["1", "0", "1"]
        names = {"y", "scores", "weight", "labelled", "clicked", "group", "qid", "position"}
        return by_name.get(name, getattr(self, name, None) if name in names else None)

    def datasets(self):
        given = f"{self.X}, {listed(self.y)}, group={listed(self.group)}"
        return f"xgb.DMatrix({given}, nthread=1)", f"lgb.Dataset({given}, params=QUIET){'.construct()' * bool(self.n)}"

    def made(self, name):
        """Return the valid texts of an argument that is made from the data."""
        group, y = f"group={listed(self.group)}", listed(self.y)
        pairs = "bp.Pairs([0], [1])" if self.n > 1 else "bp.Pairs([], [])"
        data = f"bp.RankingData({self.X}, {y}, {group})"
        frame = f"pd.DataFrame({{'x': {self.X}[:, 0], 'y': {y}, 'qid': {listed(self.qid)}}})"
        X = (
            self.X,
            f"{self.X}.tolist()",
            f"pd.DataFrame({self.X}, columns=['a', 'b'])",
            f"{self.X}.astype(np.float32)",
        )
        by_name = {
            "X": X,
            "pairs": (pairs, "None"),
            "queries": (f"bp.Queries({y}, {group})",),
            "data": (data, frame),
            "frame": (frame, f"pl.from_pandas({frame})"),
            "ddf": (f"dd.from_pandas({frame}, npartitions=2, sort=False)",),
            "mapping": (f"{{'sale': {y}}}",),
            "eval_set": (f"[({self.X}, {y})]",),
            "eval_qid": (f"[{listed(self.qid)}]",),
            "eval_group": (f"[{listed(self.group)}]",),
            "doc_ids": (listed([f"'d{i}'" for i in range(self.n)]),),
            **dict.fromkeys(("train", "valid", "test"), (data, f"({self.X}, {y}, {listed(self.qid)})")),
        }
        return by_name.get(name, ())


def listed(texts):
    return f"[{', '.join(texts)}]"


def spoilt_column(dice, texts):
    """Return an array argument with one bad number, or in a bad container."""
    if texts and dice.percent(50):
        at = dice.below(len(texts))
        changed = listed([*texts[:at], dice.one(NAUGHTY), *texts[at + 1 :]])
        return dice.one(("{0}", "np.array({0}, dtype=object)")).format(changed)
    return dice.one(ODD).format(listed(texts)) if dice.percent(50) else dice.one(HOSTILE)


def spoilt_bytes(dice, content):
    """Return the content of a file with one token replaced, cut, doubled, or in another encoding."""
    tokens = re.findall(rb'[^\s:,"#]+|[\s:,"#]', content)
    at = dice.below(len(tokens))
    changed = b"".join([*tokens[:at], dice.one(TOKENS), *tokens[at + 1 :]])
    how = dice.one(("{0}", "{0}", "{0}", "{1}", "{2} * 2", "gzip.compress({2})[:-5]", "{2}.decode().encode('utf-16')"))
    return how.format(repr(changed), repr(content[: dice.below(len(content))]), repr(content))


def path_of(dice, function, *, spoilt):
    """Return the text of a path argument: a file, or a folder, of a valid or a spoilt content."""
    if spoilt and dice.percent(10):
        return dice.one(HOSTILE)
    if function.startswith("save"):
        return f"Path(FOLDER.name, 'saved{dice.one(('', '.gz'))}')"
    if function == "batches_by_query":
        columns = {"y": "[2, 0, 1, 0]", "qid": "['a', 'a', 'b', 'c']", "x": "[0.5, 1.0, None, 2.0]"}
        if spoilt:
            columns[dice.one(("y", "qid", "x"))] = dice.one(BAD_COLUMNS)
        return f"file({{{', '.join(f'{name!r}: {text}' for name, text in columns.items())}}}, 'rows.parquet')"
    content, name = CONTENTS["load_letor" if "fold" in function else function]
    text = spoilt_bytes(dice, content) if spoilt else repr(content)
    if "fold" in function:
        return f"folds({text})" + ("" if function == "load_folds" else " / 'Fold1'")
    return f"file({text}, {name!r})"


def texts_of(hint):
    """Return the texts of the values that an annotation lists."""
    if isinstance(hint, type) and hint in LISTED:
        return LISTED[hint]
    if get_origin(hint) is Callable:
        return ()
    if get_origin(hint) is Literal:
        return tuple(map(repr, get_args(hint)))
    return tuple(itertools.chain.from_iterable(map(texts_of, get_args(hint))))


def valid(dice, data, function, name, hint):
    """Return the text of one argument as its documentation wants it."""
    of_function = OF_FUNCTION.get(function, {})
    if name not in of_function and (column := data.column(name)) is not None:
        return dice.one(ALIKE if dice.percent(30) else ALIKE[:2]).format(listed(column))
    known = of_function.get(name) or data.made(name) or VALID.get(name, ())
    return dice.one((*known, *texts_of(hint)) or HOSTILE)


def spoilt(dice, data, function, name):
    """Return the text of one argument that is not as its documentation wants it, in most cases."""
    if name not in OF_FUNCTION.get(function, {}) and (column := data.column(name)) is not None:
        return spoilt_column(dice, column)
    return dice.one([text for text in HOSTILE if name not in COUNTS or text not in BIG])


def arguments(dice, data, function, called, *, spoil=True):
    """Return the text of a call's arguments, one of which is spoilt in most cases."""
    try:
        hints = get_type_hints(called.__init__ if isinstance(called, type) else called)
    except NameError:  # a type that only type checkers import
        hints = {}
    kinds = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    parameters = [p for p in signature(called).parameters.values() if p.kind not in kinds and p.name != "self"]
    if fixed := FRAMEWORKS.get(function, ""):  # all other parameters are the framework's
        parameters = [p for p in parameters if p.name == "objective"]
    if function == "fit":
        parameters = [p for p in parameters if p.name in FIT]
    left_out = dice.one(("group", "qid"))
    names = {p.name for p in parameters}
    chosen = [p for p in parameters if p.default is Parameter.empty or dice.percent(30)]
    if {"group", "qid"} <= names:
        chosen = [p for p in parameters if (p in chosen or p.name in {"group", "qid"}) and p.name != left_out]
    bad = dice.one([p.name for p in chosen]) if chosen and spoil and dice.percent(75) else ""
    given = [fixed] if fixed else []
    for parameter in chosen:
        name = parameter.name
        if name in {"path", "directory"}:
            text = path_of(dice, function, spoilt=name == bad)
        else:
            make = spoilt if name == bad else partial(valid, hint=hints.get(name))
            text = make(dice, data, function, name)
        given.append(text if parameter.kind is Parameter.POSITIONAL_ONLY else f"{name}={text}")
    return ", ".join(given)
