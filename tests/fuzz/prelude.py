# ruff: noqa: F401 (what a call finds)
"""What a call finds: ``from fuzz.prelude import *`` and its text is all that is needed to make it again.

With the folders of the package and of the tests on the path: ``PYTHONPATH=.:tests python``.
"""

import atexit
import gzip
import tempfile
import warnings
from array import array
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

import dask
import dask.dataframe as dd
import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse
import sklearn
import xgboost as xgb
from fuzz.checks import *  # noqa: F403 (what a call finds)
from fuzz.run_checks import *  # noqa: F403 (likewise)
from losses.functions import FUNCTIONS
from sklearn.dummy import DummyRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import boostplug as bp
from boostplug import datasets, testing
from boostplug.weak_rankers import Feature, Stump, Tree

QUIET = {"verbose": -1, "num_threads": 1, "feature_pre_filter": False}


class Subclass(np.ndarray):
    """An array of a class of one's own."""


def read_only(values):
    out = np.array(values)
    out.setflags(write=False)
    return out


def backwards(values):
    return np.array(values)[::-1].copy()[::-1]


def strided(values):
    return np.repeat(np.array(values), 2, axis=0)[::2]


def with_infinities(scores, values):
    """Return the scores with these in place of their first ones; what is no array as it is."""
    if not hasattr(scores, "__len__") or len(np.shape(scores)) != 1 or not len(scores):
        return scores
    try:
        if np.iscomplexobj(scores):
            return scores
        out = np.array(scores, dtype=float).copy()
    except (TypeError, ValueError, OverflowError):
        return scores
    values = np.atleast_1d(values)[: len(out)]
    out[: len(values)] = values
    return out


def spoilt(X, value):
    """Return X with a value in place of its first."""
    out = X.astype(object)
    if out.size:
        out.flat[0] = value
    return out


class Trial:
    """A trial of optuna's that draws the lowest, the highest, the middle, or what makes no sense."""

    def __init__(self, which):
        self.which = which

    def suggest_float(self, name, low, high, *, log=False):
        assert isinstance(name, str)
        return (low, high, 0.5 * (low + high), np.nan)[self.which]

    def suggest_int(self, name, low, high, *, log=False):
        return (low, high, (low + high) // 2, -1)[self.which]

    def suggest_categorical(self, name, choices):
        return (*choices[:1], *choices[-1:], choices[len(choices) // 2], None)[self.which]


# Functions that users may pass


def nothing(*args):
    """Return None."""


def refusing(*args):
    raise ValueError("the user's function refuses")


def too_long(values, *args):
    return np.zeros(np.size(values) + 1)


def tiny(gap):
    return 1e-3 * gap


def shifted(gap):
    return 1.0 + gap


def halved(values):
    return values / 2


LOGISTIC, SQUARED, HYPERBOLIC = (FUNCTIONS[name] for name in ("logistic", "squares", "pseudo-Huber"))


class Constant:
    """A model that scores every row alike."""

    def predict(self, X):
        if not hasattr(X, "shape") and not isinstance(X, (list, tuple)):
            raise ValueError("the user's model refuses X")
        return np.zeros(X.shape[0] if hasattr(X, "shape") else len(X))


@dataclass(frozen=True)
class Wrong(bp.Loss):
    """A user's loss, squared error but for what `what` names."""

    what: str = ""

    shift_invariant = False

    @property
    def hessian_kind(self):
        return "exact" if self.what != "kind" else "exactly"

    def compute_value(self, scores, queries):
        scores = np.clip(scores, -1e50, 1e50)
        with np.errstate(all="ignore"):
            squares = 0.5 * self._factor(queries) * (scores - queries.labels) ** 2
        value = np.bincount(queries.query_of_row, squares, queries.n_queries)
        return {"value nan": value * np.nan, "value short": value[:-1], "value negative": -value}.get(self.what, value)

    def compute_gradient_hessian(self, scores, queries, scale):
        h = self._factor(queries)
        with np.errstate(all="ignore"):
            return self._changed(h * (scores - queries.labels), h, scores)

    def _changed(self, g, h, scores):
        if self.what == "writes":
            scores += 1.0
        if self.what == "raises":
            raise ZeroDivisionError("the user's loss fails")
        outputs = {
            "gradient nan": (g * np.nan, h),
            "gradient turned": (-g, h),
            "gradient of order": (g * np.arange(len(g)), h),
            "gradient huge": (g * 1e200, h),
            "hessian zero": (g, 0.0 * h),
            "hessian negative": (g, -h),
            "hessian infinite": (g, h * np.inf),
            "hessian double": (g, 2.0 * h),
            "short": (g[:-1], h[:-1]),
            "one": g,
            "three": (g, h, h),
            "nothing": None,
            "strings": (g.astype(str), h.astype(str)),
            "columns": (g[:, None], h[:, None]),
            "lists": (g.tolist(), h.tolist()),
            "integers": (np.sign(g).astype(int), h.astype(int)),
        }
        return outputs.get(self.what, (g, h))

    def _factor(self, queries):
        labelled = queries.labelled_rows * 1.0
        if self.what == "weights" or queries.row_weight is None:
            return labelled
        return labelled * queries.row_weight


# Files


@cache
def folder():
    """Return a folder that goes with the process."""
    made = tempfile.TemporaryDirectory(prefix="boostplug-fuzz-")
    atexit.register(made.cleanup)
    return Path(made.name)


def parquet(*tables):
    """Return a folder of a file for each table, a dict of columns."""
    where = folder() / "parquet"
    where.mkdir(exist_ok=True)
    for old in where.iterdir():
        old.unlink()
    for number, table in enumerate(tables):
        pq.write_table(pa.table(table), where / f"{number}.parquet")
    return where


def file(content, name="data.txt", **sides):
    """Return the path of a file of these bytes; `sides`: texts of files beside it, by what is added to its name."""
    path = folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    path.write_bytes(content)
    for suffix, text in sides.items():
        path.with_name(f"{path.name}.{suffix}").write_bytes(text)
    return path
