"""Checks of what trains: comparisons, commands, cross-validation, continued trainings and exports; and their data."""

import itertools
import json
import re
import shutil
import sys
import traceback
from contextlib import chdir, contextmanager
from pathlib import Path
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
import xgboost as xgb
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli import app

QUICK = {"frameworks": "lightgbm", "rounds": 2, "seeds": 1, "num_threads": 1, "progress": False, "metric": "NDCG@3"}
_SECONDS = re.compile(r"seconds|time", re.IGNORECASE)
_BIDIRECTIONAL = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")


# Data


def part(seed=0, sizes=(3, 4, 2), *, form="array", grades=(0, 1, 2), weight=None, value=None, first=0, **options):
    """Return one part of a data set, small and with features that say something of the labels.

    `form` is "tuple", "mapping", "labelled" (a DataFrame that holds everything) or one of `_as_form`. `weight` is a
    number, or "query" or "row". `value` stands in the first row. `first` is the first query id. `options`:
    `categories`, `columns`.
    """
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    y = rng.choice(np.array(grades, dtype=float), n)
    level = np.searchsorted(np.unique(grades), y)
    X = np.stack([np.round(level + rng.normal(size=n)), rng.integers(0, 3, n)], axis=1).astype(float)
    if value is not None and n:
        X[0, 0] = value
    qid = np.repeat(np.arange(len(sizes)) + first, sizes)
    if isinstance(weight, str):
        weight = rng.choice([0.5, 1.0, 3.0], len(sizes) if weight == "query" else n)
    elif weight is not None:
        weight = np.full(len(sizes), weight, dtype=float)
    if form == "tuple":
        return X, y, qid
    if form == "mapping":
        return {"X": X, "y": y, "qid": qid, "weight": weight}
    X = _as_form(X, form, **options)
    if form == "labelled":
        frame = X.assign(y=y, qid=qid)
        return frame if weight is None else frame.assign(w=weight if len(weight) == n else np.repeat(weight, sizes))
    return bp.RankingData(X, y, qid=qid, weight=weight)


def _as_form(X, form, *, categories="abc", columns=("a", "b")):
    frame = pd.DataFrame(X, columns=list(columns))
    if form in {"categorical", "ordered"}:
        places = np.array([categories.find(name) for name in "abc"])[X[:, 1].astype(int)]  # -1: missing
        kind = pd.CategoricalDtype(list(categories), ordered=form == "ordered")
        return frame.assign(**{columns[1]: pd.Categorical.from_codes(places, dtype=kind)})
    made = {
        "array": lambda: X,
        "single": lambda: X.astype(np.float32),
        "csr": lambda: scipy.sparse.csr_matrix(X),
        "csc": lambda: scipy.sparse.csc_array(X),
        "polars": lambda: pl.DataFrame(dict(zip(columns, X.T, strict=True))),
        "arrow": lambda: pa.table(dict(zip(columns, X.T, strict=True))),
    }
    return made.get(form, lambda: frame)()


def letor(seed=0, sizes=(3, 4, 2), *, first=0, grades=(0, 1, 2), end="\n"):
    """Return the bytes of a file of LETOR lines of these queries."""
    data = part(seed, sizes, first=first, grades=grades, form="tuple")
    lines = [f"{y:g} qid:{q} 1:{x[0]:g} 2:{x[1]:g}" for x, y, q in zip(*data, strict=True)]
    return "".join(line + end for line in lines).encode()


# Comparisons


def check_comparison(result, folder=None, *, same_data=False):
    """Check that a result renders, and that its numbers are finite or absent.

    `same_data`: two of its parts are one, which it must say wherever it is shown.
    """
    document = _document(result)
    assert json.loads(json.dumps(document)) == document
    for method in document["methods"]:
        assert method["runs_finished"] <= method["runs_planned"]
        if method["interval"] is not None and method["interval"] != [None, None]:
            low, high = method["interval"]
            assert low <= high, method["interval"]
        for p in (method["p"], method["p_holm"]):
            assert p is None or 0 <= p <= 1, method
        for run in method["runs"]:
            assert run["error"] or all(value is not None for value in run["test"].values()), run
            assert run["error"] is None or "Traceback" not in run["error"]
    for text in (str(result), repr(result), result.to_markdown(), result.to_latex(), result.recommendation):
        assert text
        assert not _BIDIRECTIONAL.search(text), text
    assert len(result.table) == len(document["methods"])
    assert len(result.per_query) or not any(method["runs_finished"] for method in document["methods"])
    shown = [str(result), result.to_markdown(), result.to_latex()]
    if folder is not None:
        result.to_html(folder / "result.html")
        page = (folder / "result.html").read_text(encoding="utf-8")
        shown.append(page)
        assert page.lower().startswith("<!doctype html>")
        assert "<img src=x" not in page
        assert "<img src=x" not in result.to_markdown()
        result.to_json(folder / "result.json")
        assert _strict(folder / "result.json") == document
    for text in shown if same_data else ():
        assert "hold the same data" in " ".join(text.replace("%", "").split()), text


def _document(result):
    """Return a result's document as JSON has it: without NaN."""
    from boostplug.comparison.summary import to_json

    return to_json(result.document, finite=True)


def _strict(path):
    """Return what stands in a file of JSON that holds no NaN."""

    def refuse(name):
        raise AssertionError(f"{path.name} holds {name}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def check_resumed(parts, how, **given):
    """Check that a comparison goes on from what it kept, intact or damaged, with the results of one that kept nothing.

    `how`: as `spoil_store` takes it; "loss", "seeds": more of them.
    """
    store = _fresh("store")
    bp.compare(*parts, store=store, **given)
    if how == "loss":
        given["losses"] = [bp.RankNet(), given["losses"]]
    elif how == "seeds":
        given["seeds"] = 2
    else:
        spoil_store(store, how)
    again = bp.compare(*parts, store=store, resume=True, **given)
    check_comparison(again)
    whole = bp.compare(*parts, **given)
    for one, other in zip(_document(again)["methods"], _document(whole)["methods"], strict=True):
        for key in ("framework", "method", "test", "validation", "difference", "interval", "p"):
            assert _without(one[key], "spread") == _without(other[key], "spread"), (one["method"], key)


def _without(value, key):
    return {k: v for k, v in value.items() if k != key} if isinstance(value, dict) else value


def spoil_store(store, how):
    """Damage the files of a store: "cut", "more", "empty", "gone", "text" or ""."""
    for path in [path for path in sorted(Path(store).glob("*")) if path.is_file()]:
        content = path.read_bytes()
        changed = {
            "cut": content[: len(content) // 2],
            "more": content + b"garbage\n",
            "empty": b"",
            "text": b"not a store\n",
        }
        if how == "gone":
            path.unlink()
        elif how in changed:
            path.write_bytes(changed[how])


def _fresh(name):
    """Return a folder of this process that does not exist yet."""
    from fuzz.prelude import folder

    where = folder() / name
    shutil.rmtree(where, ignore_errors=True)
    return where


# The command line

_INPUTS = ("--data", "--train", "--valid", "--test")


def command(*arguments, files=None, keep=False):
    """Run `boostplug` in a folder of these files. It ends with an exit status, and its inputs are as before.

    A value in `files` is the bytes, or where a symbolic link ("-> train.txt") leads to.
    """
    where = _fresh("command") if not keep else _fresh("x").with_name("command")
    where.mkdir(exist_ok=True)
    for name, content in (files or {}).items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.symlink_to(content[3:])
    before, inputs = _contents(where), _inputs(where, arguments)
    with chdir(where):
        done = CliRunner().invoke(app, list(arguments), prog_name="boostplug")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in {0, 1, 2}, (done.exit_code, done.output)
    assert "Traceback" not in done.output, done.output
    assert done.exit_code == 0 or done.output.strip(), "it failed without a message"
    after = _contents(where)
    assert before.keys() <= after.keys(), f"gone: {before.keys() - after.keys()}"
    assert {path for path in inputs if after[path] != before[path]} == set(), "inputs were changed"
    assert [path for path in after if path.suffix == ".new"] == [], "left behind"
    for path in after.keys() - before.keys():
        assert done.exit_code != 2 or path.suffix == ".results", f"refused, but wrote {path}"
        if after[path][:1] == b"{":
            _strict(path)
    return SimpleNamespace(code=done.exit_code, output=done.output, folder=where)


def _inputs(where, arguments):
    """Return the files that a command reads."""
    found = set()
    for option, value in itertools.pairwise(arguments):
        if option in _INPUTS and len(value) < 200:
            path = where / value
            found |= {file.resolve() for file in (path.glob("t*.txt*") if path.is_dir() else [path]) if file.is_file()}
    return {path for path in found if path.is_relative_to(where.resolve())}


def _contents(where):
    return {path: path.read_bytes() for path in sorted(where.resolve().rglob("*")) if path.is_file()}


# Cross-validation, continued trainings, exports


@contextmanager
def refused_by_lightgbm():
    """Take what LightGBM itself refuses as a ValueError: its own functions raise it, and it is none of ours."""
    try:
        yield
    except (lgb.basic.LightGBMError, IndexError, OverflowError) as error:
        if any("boostplug" in frame.filename for frame in traceback.extract_tb(error.__traceback__)):
            raise
        raise ValueError(str(error)) from error


def check_cv(found, boosters=None, X=None, queries=None, folds=None, metric=None):
    """Check cross-validated results: finite; and, of LightGBM's, what its boosters have on each test part."""
    values = {name: np.asarray(of_rounds, dtype=float) for name, of_rounds in dict(found).items()}
    assert values
    for name, of_rounds in values.items():
        assert np.isfinite(of_rounds).all(), (name, of_rounds)
    if boosters is None:
        return
    means = []
    for booster, (_, test) in zip(boosters, folds, strict=True):
        rows = np.zeros(queries.n_rows, dtype=bool)
        rows[test] = True
        of_fold = queries.of_rows(rows)
        means.append(metric(booster.predict(X[np.flatnonzero(rows)], raw_score=True), of_fold))
    name = f"valid {metric.name}-mean"
    np.testing.assert_allclose(values[name][-1], np.mean(means), rtol=1e-9, err_msg=name)


def early_stopped(kind, X, y, qid, *, rounds=12, patience=1, fit=None, **params):
    """Return a ranker that early stopping has ended, most times: validated on labels that say the opposite.

    `fit`: what its fit gets besides.
    """
    metric = bp.NDCG(3)
    if kind is bp.XGBRanker:
        model = kind(n_estimators=rounds, n_jobs=1, early_stopping_rounds=patience, eval_metric=metric, **params)
        return model.fit(X, y, qid=qid, eval_set=[(X, y.max() - y)], eval_qid=[qid], verbose=False, **(fit or {}))
    model = kind(n_estimators=rounds, n_jobs=1, min_child_samples=1, verbosity=-1, **params)
    stop = lgb.early_stopping(patience, first_metric_only=True, verbose=False)
    opposite = {"eval_set": [(X, y.max() - y)], "eval_qid": [qid], "eval_metric": metric}
    return model.fit(X, y, qid=qid, callbacks=[stop], **opposite, **(fit or {}))


def _booster(model):
    if isinstance(model, xgb.XGBModel):
        return model.get_booster()
    return model.booster_ if isinstance(model, lgb.LGBMModel) else model


def _n_rounds(model):
    booster = _booster(model)
    return booster.num_boosted_rounds() if isinstance(booster, xgb.Booster) else booster.current_iteration()


def _predict(model, X, rounds=None):
    """Return raw scores by the first rounds, by default by those that the model itself uses."""
    if isinstance(model, xgb.Booster):
        X = X if isinstance(X, xgb.DMatrix) else xgb.DMatrix(X, enable_categorical=True, nthread=1)
        of_rounds = {} if rounds is None else {"iteration_range": (0, rounds)}
        return model.predict(X, output_margin=True, **of_rounds)
    if isinstance(model, xgb.XGBModel):
        of_rounds = {} if rounds is None else {"iteration_range": (0, rounds)}
        return model.predict(X, output_margin=True, **of_rounds)
    return model.predict(X, raw_score=True, **({} if rounds is None else {"num_iteration": rounds}))


def check_continued(start, second, X, *, X_second=None, rescales=False, stopped=False):
    """Check a model that continues another.

    Its first rounds predict as before, of `X_second` too, which is `X` in other words; without early stopping of its
    own (`stopped`) it predicts by all its trees; and so does its export. `rescales`: dart changes earlier trees.
    """
    X_second = X if X_second is None else X_second
    rounds, before = _n_rounds(second), min(_n_rounds(start), _best(start))
    assert rounds >= before > 0, f"{rounds} rounds, and {before} before"
    if not rescales:
        expected = _predict(start, X, before)
        np.testing.assert_allclose(_predict(second, X_second, before), expected, rtol=1e-5, atol=1e-6)
    every = _predict(second, X_second, min(rounds, _best(second)) if stopped else rounds)
    np.testing.assert_array_equal(_predict(second, X_second), every, err_msg="it predicts by some of its trees")
    check_export(second, X_second)


def _best(model):
    """Return the best round of early stopping; without it any number of rounds."""
    booster = _booster(model)
    found = booster.attr("best_iteration") if isinstance(booster, xgb.Booster) else booster.best_iteration - 1
    return int(found) + 1 if found not in {None, -1, -2} else sys.maxsize


def check_export(model, X):
    """Check that the exported booster and, of a ranker, the plain ranker predict as the model does."""
    stopped = isinstance(model, xgb.Booster) and _best(model) <= _n_rounds(model)  # by itself it predicts by all
    expected = _predict(model, X, _best(model) if stopped else None)
    assert np.isfinite(expected).all()
    dart = isinstance(_booster(model), xgb.Booster) and "dart" in _booster(model).save_config()
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dart else {"rtol": 0, "atol": 0}
    if np.isnan(getattr(model, "missing", np.nan)):  # a booster does not know what a ranker takes as missing
        np.testing.assert_allclose(_predict(bp.export(_booster(model)), X), expected, **tolerance)
    if hasattr(model, "export"):
        np.testing.assert_allclose(_predict(model.export(), X), expected, **tolerance)
