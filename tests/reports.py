"""Reports of comparisons from documents as JSON has them, which tests can change; and results of invented runs."""

from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.report import page as pages
from boostplug.comparison.report import text as texts
from boostplug.comparison.result import CompareResult
from boostplug.comparison.summary import Comparison, Details, from_json
from boostplug.comparison.training.runs import Plan
from boostplug.comparison.training.trees import Trees


def page(document, details=None, machine=None):
    found = None if details is None else from_json(Details, details)
    return pages.page(from_json(Comparison, document), found, machine)


def text(document):
    return texts.text(from_json(Comparison, document))


def markdown(document):
    return texts.markdown(from_json(Comparison, document))


def latex(document):
    return texts.latex(from_json(Comparison, document))


def result_of(methods, test, metric, *, valid=None, seeds=(0,)):
    """Return a result on one fold without runs."""
    data = LoadedData([[test, test if valid is None else valid, test]], name="made")
    return CompareResult(data, Plan(metric, [metric], Trees(), 9, 3, 1, 0, seeds), methods)


def without_times(result):
    """Return a result's document without times, and without how many processes and minutes it was given."""
    document = result.document
    for name in ("jobs", "minutes"):
        del document["settings"][name]
    for method in document["methods"]:
        for run in [method, *method["runs"]]:
            del run["seconds_per_round"]
    return document
