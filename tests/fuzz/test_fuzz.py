"""Hostile calls of every public name: a finite result, or an error on purpose that names an argument.

A call has valid arguments, by the names and annotations of the signature, except one, which is of another kind. A few
calls of each name run by default, all of them with ``pytest -m fuzz``.
"""
# ruff: noqa: F401 (what a call finds)

import itertools
import json
import linecache
import random
import re
import tempfile
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
from losses.functions import FUNCTIONS

import boostplug as bp
from boostplug import clicks, datasets
from boostplug.weak_rankers import Feature, Stump

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

PACKAGE = Path(bp.__file__).parent
RESULTS = {"Fold", "Qrels", "QueryBatches", "Run", "Correction", "Estimate", "Evaluation", "Propensity"}  # of functions
NOT_CALLED = RESULTS | {"Loss", "Metric", "warmup", "load_bundled", "compare", "suggest"}  # slow, or without arguments
METHODS = ("Loss.parse", "Metric.parse", "Pairs.from_clicks", "Pairs.from_implicit", "RankingData.from_frame")
TARGETS = {
    f"{module.__name__.replace('boostplug', 'bp')}.{name}": getattr(module, name)
    for module in (bp, datasets, clicks)
    for name in module.__all__
    if name not in NOT_CALLED and callable(getattr(module, name))
}
TARGETS |= {f"bp.{name}": getattr(getattr(bp, name.split(".")[0]), name.split(".")[1]) for name in METHODS}
TARGETS |= {f"bp.dask.{name}": getattr(bp.dask, name) for name in ("check_partitions", "partition_by_query")}
TARGETS["bp.testing.check_loss"] = bp.testing.check_loss

# --- valid arguments, as texts ------------------------------------------------------------------------------------

FOLDER = tempfile.TemporaryDirectory(prefix="boostplug-fuzz-")
QUIET = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 1}
X = np.array([[0.0, 0.5], [1.0, 3.0], [2.0, 0.5], [-1.0, 3.0], [0.0, 3.0], [2.0, 0.5]])
Y, GROUP, QID, SCORES = [2, 0, 1, 1, 0, 3], [2, 4], [1, 1, 2, 2, 2, 2], [0.0, 1.0, -0.5, 0.0, 30.0, 1e6]
FRAME = pd.DataFrame({"x": X[:, 0], "y": Y, "qid": QID})
LISTED = {bool: ("False", "True"), NoneType: ("None",), int: ("1", "2"), float: ("0.5", "1.0", "2")}  # by annotation
SIMPLE = ("bp.MPBoost()", "bp.QBRank()", "bp.RankNet()", "bp.LambdaRank()", "bp.SquaredError()")
VALID = {  # by name, beside what the annotation lists
    **dict.fromkeys(("labels", "y", "grades"), ("Y", "np.array(Y)", "np.array(Y, dtype='>f8')")),
    **dict.fromkeys(("clicked", "consumed"), ("[0, 1, 0, 1, 0, 1]",)),
    **dict.fromkeys(("loss", "objective", "base"), SIMPLE),
    **dict.fromkeys(("epsilon", "list_weight", "preference_weight"), ("0.5", "1.0")),
    **dict.fromkeys(("train", "valid", "test", "data"), ("bp.RankingData(X, Y, group=GROUP)",)),
    **dict.fromkeys(("n_estimators", "rounds", "n_queries", "n_bootstrap"), ("2",)),
    "baselines": ("[]",),
    "booster": ("booster()",),
    "classifier": ("None",),
    "client": ("None",),
    "confidence": ("0.5",),
    "dataset": ("lgb.Dataset(X, Y, group=GROUP, params=QUIET)", "xgb.DMatrix(X, Y, group=GROUP)"),
    "ddf": ("of_dask(FRAME)",),
    "distance": ("bp.LogDistance(lam=1e-3)", "bp.BinaryDistance()", "np.sqrt"),
    "doc_ids": ("list('abcdef')",),
    "document": ('{"format": "boostplug.Ensemble", "version": 1, "n_features": 1, "rounds": []}',),
    "eval_metric": ("bp.NDCG(3)", "None"),
    "eval_qid": ("[QID]",),
    "eval_set": ("[(X, Y)]",),
    "features": ("['x']",),
    "first": ("FUNCTIONS['logistic'][1]",),
    "frame": ("FRAME",),
    "function": ("FUNCTIONS['logistic'][0]",),
    "gain": ("np.sqrt",),
    "group": ("GROUP",),
    "label": ("'y'",),
    "labelled": ("[True, False, True, True, True, False]",),
    "log": ("log()",),
    "loser": ("[1, 3]",),
    "mapping": ("{'sale': Y}",),
    "max_grade": ("4",),
    "max_position": ("3",),
    "metric": ("bp.NDCG()", "bp.NDCG(2, gain='linear')"),
    "metrics": ("'NDCG@2'",),
    "model": ("'position'", "'cascade'"),
    "n_features": ("2",),
    "name": ("'mpboost'", "'NDCG@10'", "'RankNet(sigmoid=2)'"),
    "num_threads": ("1",),
    "pairs": ("bp.Pairs([0], [1])", "None"),
    "parts": ("(bp.RankNet(), bp.SquaredError())",),
    "positions": ("[1, 2, 1, 2, 3, 4]",),
    "position": ("[1, 2, 1, 2, 3, 4]",),
    "propensity": ("1 / np.arange(1.0, 50.0)",),
    "qid": ("QID", "np.array(QID)"),
    "qid_or_queries": ("QID",),
    "queries": ("bp.Queries(Y, group=GROUP)",),
    "ranker": ("'random'",),
    "regressor": ("None",),
    "rng": ("np.random.default_rng(0)",),
    "sample_weight": ("[1, 1, 2, 2, 2, 2]",),
    "scores": ("SCORES",),
    "second": ("FUNCTIONS['logistic'][2]",),
    "sessions": ("20",),
    "weight": ("[1, 1, 2, 2, 2, 2]", "None"),
    "weights": ("(1, 2)", "[0.5, 0]"),
    "winner": ("[0, 2]",),
    "X": ("X", "X.tolist()", "FRAME[['x']]"),
}
OF_FUNCTION = {  # arguments with another meaning than elsewhere: names of columns, for example
    "batches_by_query": {"label": ("'y'",), "qid": ("'qid'",), "weight": ("None",)},
    "from_frame": {"label": ("'y'",), "qid": ("'qid'",), "weight": ("None",), "labels": ("()",), "position": ("None",)},
    "RankingData": {"labels": ("{'sale': Y}",)},
    "correction": {"log": ("log()",)},
    "evaluate": {"log": ("log()",), "scores": ("range(log().n_rows)",), "metric": ("bp.DCG(2)",)},
    "check_partitions": {"qid": ("'qid'",)},
    "fit_folds": {
        "ranker": ("bp.LGBMRanker(objective=bp.CRR(), n_estimators=2, min_child_samples=1, verbose=-1)",),
        "n_splits": ("2",),
        "group": ("None",),
        "pairs": ("None",),
        "position": ("None",),
        "labels": ("None",),
        "random_state": ("0",),
    },
    "why": {
        "ranker": ("bp.Ensemble([[(Stump(0, 0.5), 1.0)]], n_features=2)",),
        "X": ("X", "X.tolist()"),
        "above": ("0", "5"),
        "below": ("1", "None"),
        "plot": ("None",),
    },
    "importance": {
        "ranker": ("bp.Ensemble([[(Stump(0, 0.5), 1.0)]], n_features=2)",),
        "X": ("X", "X.tolist()"),
        "group": ("None",),
        "n_repeats": ("2",),
        "random_state": ("0",),
        "plot": ("None",),
    },
    "split_queries": {
        "data": ("FRAME.assign(qid=[1, 1, 2, 2, 3, 3])",),
        "qid": ("'qid'",),
        "split": ("(0.6, 0.2, 0.2)",),
        "folds": ("None",),
        "label": ("None",),
    },
    "mean_model": {"models": ("[booster(), booster()]",)},
    "export": {"model": ("booster()",), "to": ("None", "'treelite'"), "feature_names": ("None",), "X": ("None",)},
    "make_ranking": {"mean_list_size": ("2.5",), "missing": ("0", "0.05"), "empty_queries": ("0", "0.5")},
    "parse": {"text": ("'NDCG@10'",)},
    "propensity": {"method": ("'em'",), "X": ("None",)},
    "save_qrels": {"labelled": ("None",)},
    "Unbiased": {"propensity": ("None",), "method": ("'additive'",)},
    "set_pairs": {"pairs": ("bp.Pairs([0], [1])",)},
    "time_folds": {"time": ("QID",), "n_splits": ("1",)},
    "group_folds": {"n_splits": ("2",), "random_state": ("None",)},
    "Ensemble": {"rounds": ("[[(Stump(0, 0.5), 1.0)], [(Feature(1), 2.0)]]",)},
    "load_clicks": {"clicked": ("'clicked'",), "position": ("'position'",), "qid": ("'qid'",)},
    "Pairs": {"weight": ("[0.5, 1]",), "margin": ("[1, 2]",)},
    "PairwiseLoss": {"weight": ("None", "np.subtract")},
    "partition_by_query": {"qid": ("'qid'",)},
}
FITTED = {"X", "y", "qid", "sample_weight", "pairs", "labelled", "eval_set", "eval_qid", "eval_metric"}
CONTENTS = {  # of files, by the function that reads them
    "load_letor": b"2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1\n1 qid:2 2:3 # doc\n0 qid:2 1:NULL 2:1e-3\n",
    "load_run": b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1e-3 t\n2 Q0 a 1 7 t\n",
    "load_qrels": b"1 0 a 1\n1 0 b 0\n2 0 a -1\n",
    "load_clicks": b"qid,position,clicked\na,1,0\na,2,1\nb,1,0\nb,2,1\n",
    "load": json.dumps(bp.Ensemble([[(Stump(0, 0.5), 1.0)], [(Feature(1), 2.0)]], n_features=2).to_dict()).encode(),
}
CONTENTS["load_fold"] = CONTENTS["load_folds"] = CONTENTS["load_letor"]


@cache
def booster():
    return lgb.train(QUIET, lgb.Dataset(np.eye(9), np.arange(9.0), params=QUIET), 2)


@cache
def log():
    return clicks.simulate(datasets.make_ranking(4, random_state=0), sessions=300, ranker="random", random_state=1)


def of_dask(frame):
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=1)


def file(content, function):
    """Return the path of a file, or a folder, for a function that reads it."""
    if function == "batches_by_query":
        FRAME.to_parquet(path := Path(FOLDER.name, "rows.parquet"))
        return path
    for name in ("train", "vali", "test"):
        path = Path(FOLDER.name, "folds", "Fold1", f"{name}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return {"load_folds": path.parent.parent, "load_fold": path.parent}.get(function, path)


def texts_of(hint):
    """Return the texts of the values that an annotation lists."""
    if isinstance(hint, type) and hint in LISTED:
        return LISTED[hint]
    if get_origin(hint) is Literal:
        return tuple(map(repr, get_args(hint)))
    return tuple(itertools.chain.from_iterable(map(texts_of, get_args(hint))))


def valid(function, name, hint):
    """Return the texts of one argument as its documentation wants it."""
    if name in {"path", "directory"}:
        if function.startswith("save"):
            return (f"Path(FOLDER.name, {f'saved by {function}'!r})",)
        return (f"file({CONTENTS.get(function)!r}, {function!r})",)
    return OF_FUNCTION.get(function, {}).get(name) or VALID.get(name) or texts_of(hint)


# --- hostile arguments --------------------------------------------------------------------------------------------

NUMBERS = ("None", "True", "0", "-1", "2.5", "np.nan", "-np.inf", "5e-324", "1j", "''", "b'1'", "[]", "{}", "pd.NA")
BIG = ("2**63", "10**400", "1e308", "np.uint64(2**64 - 1)")
HOSTILE = (
    *("np.float16(2)", "Fraction(1, 2)", "Decimal('0.5')", "'x'", "np.str_('rows')", "'\\x00'", "()", "[1.0, 2.0]"),
    *("{'a': 1}", "{1, 2}", "np.array(1.0)", "np.zeros((2, 2))", "np.zeros(0)", "np.ma.masked", "range(3)", "object()"),
    *("pd.Series([1.0, 2.0])", "np.datetime64('2020-01-01')", "int", "len", "np.negative", "(lambda x: x * np.nan)"),
    *("iter([1, 2])", "bp.NDCG(3)", "bp.MPBoost", "bp.MPBoost()", "bp.Queries([1, 0], group=[2])", "lgb.Dataset"),
)
IN_PLACE_OF_A_LIST = ("{0}[1:]", "[{0}]", "np.array({0})[:, None]", "np.array({0}, str)", "iter({0})", "set({0})")
TOKENS = (b"", b"nan", b"1e999", b"-1", b"x", b"9" * 50, b"null", b"\x00", b"\xff", b'"', b"\n", b"#")
# Numbers of trainings, of processes, of bytes: whoever passes a large one waits as long as it takes.
COUNTS = {"n_estimators", "sessions", "n_bootstrap", "n_queries", "n_features", "mean_list_size", "n_negatives"}
COUNTS |= {"num_threads", "n", "npartitions", "time_out", "bins", "max_bin"}


def hostile(function, name, text):
    """Return texts to put in the place of a valid argument."""
    out = [*NUMBERS, *HOSTILE, *(BIG if name not in COUNTS else ())]
    content = CONTENTS.get(function)
    if name in {"path", "directory"} and content:
        parts = re.split(rb'([\s:,"#]+)', content)
        changed = [b"".join([*parts[:at], token, *parts[at + 1 :]]) for at in range(len(parts)) for token in TOKENS]
        changed += [content[: len(content) // 2], content * 2, content.decode().encode("utf-16")]
        out += [f"file({one!r}, {function!r})" for one in changed]
    elif text in {"Y", "GROUP", "QID", "SCORES"}:
        out += [form.format(text) for form in IN_PLACE_OF_A_LIST]
        out += [f"[*{text}[:-1], {one}]" for one in (*NUMBERS, *BIG)]
    return out


# --- calls --------------------------------------------------------------------------------------------------------


def arguments(function, called):
    """Return the valid texts of the arguments of a call, by their names; those without one are left out."""
    try:
        hints = get_type_hints(called.__init__ if isinstance(called, type) else called)
    except NameError:  # a type that only type checkers import
        hints = {}
    kinds = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    out = {}
    for name, parameter in signature(called).parameters.items():
        if parameter.kind in kinds or name == "self" or (function == "fit" and name not in FITTED):
            continue
        texts = valid(function, name, hints.get(name))
        if texts or parameter.default is Parameter.empty:
            out[name] = texts or ("None",)
    if {"group", "qid"} <= out.keys():
        del out["group"]
    if function in {"LGBMRanker", "XGBRanker"}:  # all other parameters are the framework's
        out = {"objective": SIMPLE, "n_estimators": ("2",), "n_jobs": ("1",)}
    return out


def written(called, chosen):
    """Return the text of arguments."""
    parameters = signature(called).parameters.values()
    only = {one.name for one in parameters if one.kind is Parameter.POSITIONAL_ONLY}
    return ", ".join(text if name in only else f"{name}={text}" for name, text in chosen.items())


def follow_up(called):
    """Return the text of what a result is used for."""
    if isinstance(called, type) and issubclass(called, bp.Loss):
        queries = "bp.Queries([1, 0, 0, 1], group=[2, 2], position=[1, 2, 1, 2])"
        return f"assert np.isfinite(result.gradient_hessian([0.0, 1.0, 30.0, -1.0], {queries})).all()"
    if isinstance(called, type) and issubclass(called, bp.Metric):
        return "assert isinstance(result([0.0, 1.0, 2.0], bp.Queries([1, 0, 0], group=[3])), float)"
    return "repr(result)"


def calls(name):
    """Return the texts of calls: the first with valid arguments, the others with one that is of another kind."""
    called, short, dice = TARGETS[name], name.rpartition(".")[2], random.Random(name)  # noqa: S311
    given = arguments(short, called)
    optional = {one.name for one in signature(called).parameters.values() if one.default is not Parameter.empty}
    kept = given.keys() - (
        optional
        - {"qid", "mapping", "n_splits", "propensity", "max_position", "n_estimators", "n_jobs", "position", "sessions"}
    )

    def call(bad="", text=""):
        chosen = {one: dice.choice(texts) for one, texts in given.items() if one in kept or dice.random() < 0.3}
        return f"result = {name}({written(called, chosen | {bad: text} if bad else chosen)})"

    yield f"{call()}\n{follow_up(called)}\n"
    for bad, texts in given.items():
        if (short, bad) == ("save_qrels", "labelled"):  # its length is not checked yet
            continue
        for text in hostile(short, bad, texts[0]):
            yield f"{call(bad, text)}\n{follow_up(called)}\n"
    if hasattr(called, "fit"):
        fitted = arguments("fit", called.fit)
        for bad, texts in fitted.items():
            for text in hostile("fit", bad, texts[0]):
                chosen = {one: dice.choice(fitted[one]) for one in ("X", "y", "qid")} | {bad: text}
                check = f"assert np.isfinite(result.predict({chosen['X']})).all()"
                yield f"{call()}.fit({written(called.fit, chosen)})\n{check}\n"


def fault_of(text, names):
    """Return what is wrong with a call, "" if its result holds or a deliberate error names an argument."""
    linecache.cache["<call>"] = (len(text), None, text.splitlines(keepends=True), "<call>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # the documented ones
        try:
            exec(compile(text, "<call>", "exec"), globals().copy())  # noqa: S102 (the text is ours)
        except Exception as error:  # noqa: BLE001 (any of them is an outcome)
            if type(error).__name__ == "LightGBMError":
                return ""  # LightGBM's own words
            if not isinstance(error, (ValueError, TypeError, OverflowError, OSError, ImportError)):
                return f"raised by accident: {error!r}"
            last = traceback.extract_tb(error.__traceback__)[-1]
            of_python = isinstance(error, TypeError) and re.search("argument|itera|keywords|index|scalar", str(error))
            if Path(last.filename).is_relative_to(PACKAGE) and not of_python:
                if not last.line.startswith("raise"):
                    return f"raised by accident: {error!r}"
                if names and not names & {*re.findall(r"\w+", str(error))}:
                    return f"names no argument: {error!r}"
    return ""


def names_of(name):
    """Return how an error may name what is wrong: by an argument, by the class; nothing where it names a file."""
    called = TARGETS[name]
    functions = [called, bp.Queries, lgb.LGBMRanker, *([called.fit] if hasattr(called, "fit") else [])]
    names = {parameter for function in functions for parameter in signature(function).parameters}
    if names & {"path", "directory"}:
        return set()
    return {*names, "scores", *name.split("."), "loss", "metric", "label", "loser", "y", "documents", "partitions"}


@pytest.fixture(autouse=True)
def _in_the_folder(monkeypatch):
    """Let calls that write a file do so where it is removed."""
    monkeypatch.chdir(FOLDER.name)


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_hostile_calls(name):
    first, *others = calls(name)
    exec(compile(first, "<call>", "exec"), globals().copy())  # noqa: S102 (the text is ours)
    chosen = random.Random(1).sample(others, min(len(others), 12))  # noqa: S311 (nothing secret)
    for text in chosen:
        assert not (fault := fault_of(text, names_of(name))), f"{fault}\n\n{text}"


@pytest.mark.fuzz
@pytest.mark.parametrize("name", TARGETS)
def test_all_hostile_calls(name):
    faults = {text: fault for text in calls(name) if (fault := fault_of(text, names_of(name)))}
    assert not faults, "\n\n".join(f"{fault}\n{text}" for text, fault in faults.items())
