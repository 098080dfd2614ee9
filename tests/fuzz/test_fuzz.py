"""Hostile calls of every public name: a result that holds, or an error on purpose that names an argument.

The arguments are drawn by the names and annotations of the signature, so that a new public name needs nothing here.
A short run by default. ``pytest -m fuzz`` makes 100,000 calls (`BOOSTPLUG_FUZZ_CALLS`), with another seed each time.
"""

import linecache
import os
import re
import traceback
import warnings
from inspect import signature
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boostplug as bp
from boostplug import clicks, datasets

pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

from fuzz import checks, values

PACKAGE = Path(bp.__file__).parent
CALLS = int(os.environ.get("BOOSTPLUG_FUZZ_CALLS", "100000"))
RESULTS = {"Fold", "Qrels", "QueryBatches", "Run"}  # which functions return
RESULTS |= {"Correction", "Estimate", "Evaluation", "Propensity"}
NOT_CALLED = RESULTS | {"Loss", "Metric", "warmup", "load_bundled"}  # abstract, or without arguments
SLOW = {"bp.compare"}
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


def follow_up(dice, data, name, called):
    """Return the text of what a result is used for."""
    scores = values.spoilt_column(dice, data.scores) if dice.percent(20) else values.listed(data.scores)
    if isinstance(called, type) and issubclass(called, bp.Loss | bp.Metric):
        kind = "derivatives" if issubclass(called, bp.Loss) else "metric"
        queries = values.arguments(dice, data, "Queries", bp.Queries, spoil=False)
        return f"check_value(result)\nqueries = bp.Queries({queries})\ncheck_{kind}(result, {scores}, queries)"
    if hasattr(called, "fit"):
        return f"result.fit({values.arguments(dice, data, 'fit', called.fit)})\ncheck_ranker(result, {data.X})"
    if name.startswith("set_") and "dataset" in signature(called).parameters:
        loss = {"set_positions": "bp.Unbiased()", "set_labels": "bp.MPBoost().on('sale')"}.get(name, "bp.RankNet()")
        return f"assert np.isfinite({loss}({scores}, dataset)).all()"
    if name == "make_scorer":
        return f"assert type(result(Constant(), {data.X}, {values.listed(data.y)}, group={data.sizes})) is float"
    return "check(result)"


@st.composite
def calls(draw, name):
    """Draw the text of a call."""
    dice, called = values.Dice(draw, st.integers), TARGETS[name]
    data = values.Ranking(dice)
    short = name.rpartition(".")[2]
    given = values.arguments(dice, data, short, called)
    text = f"dataset = {dice.one(data.datasets())}\n" if re.match("dataset|.*=dataset", given) else ""
    return f"{text}result = {name}({given})\n{follow_up(dice, data, short, called)}\n"


def fault_of(text, names):
    """Return what is wrong with a call, "" if its result holds or a deliberate error names an argument."""
    linecache.cache["<call>"] = (len(text), None, text.splitlines(keepends=True), "<call>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # the documented ones
        try:
            exec(compile(text, "<call>", "exec"), {**values.NAMESPACE, **vars(checks)})  # noqa: S102 (the text is ours)
        except (ValueError, TypeError, OverflowError, OSError, ImportError) as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            of_python = isinstance(error, TypeError) and re.search("argument|itera|keywords|index|scalar", str(error))
            if Path(last.filename).is_relative_to(PACKAGE) and not of_python:
                if not last.line.startswith("raise"):
                    return f"raised by accident: {error!r}"
                if values.FOLDER.name not in str(error) and not names & {*re.findall(r"\w+", str(error))}:
                    return f"names no argument: {error!r}"
    return ""


def names_of(name):
    """Return how an error may name what is wrong: by an argument, by the class, by the file."""
    called = TARGETS[name]
    functions = [called, bp.Queries, *([called.fit] if hasattr(called, "fit") else [])]
    names = {parameter for function in functions for parameter in signature(function).parameters}
    return {*names, "scores", *name.split("."), "loss", "metric", "label", "loser", "y", "documents", "partitions"}


def make_calls(name, n, **options):
    @settings(max_examples=n, database=None, deadline=None, suppress_health_check=list(HealthCheck), **options)
    @given(calls(name))
    def call(text):
        fault = fault_of(text, names_of(name))
        assert not fault, f"{fault}\n\nfrom fuzz.values import *\n\n{text}"

    call()


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in SLOW])
def test_a_few_hostile_calls(name):
    make_calls(name, 8, derandomize=True)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", TARGETS)
def test_many_hostile_calls(name):
    make_calls(name, CALLS // len(TARGETS))
