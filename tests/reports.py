"""Quick comparisons, results of invented runs, and documents without what differs between equal comparisons."""

from dataclasses import replace

import numpy as np

import boostplug as bp
from boostplug.comparison.comparison import Comparison
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.result import CompareResult
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.comparison.training.trees import Trees
from boostplug.data.inputs import CheckedInputs
from boostplug.datasets import make_ranking

QUICK = {"rounds": 3, "seeds": 1, "num_threads": 1}
"""Options of `compare` for a few small trees."""

ONE = {**QUICK, "losses": bp.RankNet(), "baselines": "lambdarank", "frameworks": "lightgbm"}
"""The same of one loss beside LightGBM's lambdarank."""

TREES = {"num_leaves": 6, "learning_rate": 0.05, "row_fraction": 0.9, "column_fraction": 0.9}
"""Trees that tuning improves."""

THREE = {"split": (0.6, 0.2, 0.2)}
"""One table in three parts, where the default is folds."""


def compare_one(*data, framework, objective, **options):
    """Compare one objective only: a loss, or the name of a built-in one."""
    built_in = isinstance(objective, str)
    methods = {"losses": () if built_in else objective, "baselines": objective if built_in else ()}
    return bp.compare(*data, **methods, frameworks=framework, **{**QUICK, **options})


def write_letor(path, data):
    """Write a file of lines in LETOR's form."""
    rows = zip(data.y, data.qid, data.X, strict=True)
    lines = [f"{y:g} qid:{q} " + " ".join(f"{i}:{x!s}" for i, x in enumerate(X, 1)) for y, q, X in rows]
    path.write_text("\n".join(lines).replace("nan", "NULL"))


def row_of(result, method):
    """Return the row of a result's document with the name of a method."""
    return next(row for row in result.document["methods"] if row["method"] == method)


def names_of(result):
    """Return the names of the methods, as the rows of the document have them."""
    return [row["method"] for row in result.document["methods"]]


def part_of(n, random_state, **given):
    """Return a part of a data set whose queries have ids of their own."""
    data = make_ranking(n, random_state=random_state, **given)
    return CheckedInputs(data.X, data.queries, data.qid + 1000 * (random_state + 1))


def result_of(methods, tests, metric, runs=(), *, valid=None, seeds=(0,), interrupted=False):
    """Return a result with invented runs, on a fold for each test part; those without scores get equal ones."""
    other = part_of(10, 99, n_features=2, mean_list_size=6)
    data = LoadedData([[other, other if valid is None else valid, test] for test in tests], name="made")
    plan = TrainingPlan(metric, metric, [metric], Trees(), 9, 3, 1, 0, seeds)
    scored = [r if len(r.scores) else replace(r, scores=np.zeros(tests[r.fold].queries.n_rows)) for r in runs]
    return CompareResult(Comparison(data, plan, methods, scored, interrupted=interrupted))


def without_times(result):
    """Return a result's document without times, and without how many processes it was given."""
    document = result.document
    del document["call"], document["settings"]["jobs"]
    for method in document["methods"]:
        for run in [method, *method["runs"]]:
            del run["seconds_per_round"]
    return document
