"""Results of invented runs, and documents without what differs between equal comparisons."""

from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.result import CompareResult
from boostplug.comparison.training.runs import Plan
from boostplug.comparison.training.trees import Trees


def result_of(methods, test, metric, *, valid=None, seeds=(0,)):
    """Return a result on one fold without runs."""
    data = LoadedData([[test, test if valid is None else valid, test]], name="made")
    return CompareResult(data, Plan(metric, [metric], Trees(), 9, 3, 1, 0, seeds), methods)


def without_times(result):
    """Return a result's document without times, and without the call: how many processes and minutes it was given."""
    document = result.document
    del document["call"]
    for name in ("jobs", "minutes"):
        del document["settings"][name]
    for method in document["methods"]:
        for run in [method, *method["runs"]]:
            del run["seconds_per_round"]
    return document
