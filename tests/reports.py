"""Results of invented runs, and documents without what differs between equal comparisons."""

from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.outcomes import Outcomes
from boostplug.comparison.result import CompareResult
from boostplug.comparison.training.trees import Plan, Trees


def result_of(methods, test, metric, runs=(), *, valid=None, seeds=(0,), interrupted=False):
    """Return a result on one fold with invented runs."""
    data = LoadedData([[test, test if valid is None else valid, test]], name="made")
    plan = Plan(metric, metric, [metric], Trees(), 9, 3, 1, 0, seeds)
    return CompareResult(Outcomes(data, plan, methods, runs, interrupted=interrupted))


def without_times(result):
    """Return a result's document without times, and without how many processes it was given."""
    document = result.document
    del document["call"], document["settings"]["jobs"]
    for method in document["methods"]:
        for run in [method, *method["runs"]]:
            del run["seconds_per_round"]
    return document
