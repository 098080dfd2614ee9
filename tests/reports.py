"""Reports of comparisons from documents as JSON has them, which tests can change; and results of invented runs."""

from dataclasses import is_dataclass
from enum import StrEnum
from typing import get_args, get_origin, get_type_hints

from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.report import page as pages
from boostplug.comparison.report import text as texts
from boostplug.comparison.result import CompareResult
from boostplug.comparison.summary import Comparison, Details
from boostplug.comparison.training.runs import Plan
from boostplug.comparison.training.trees import Trees


def dataclass_of(kind, value):
    """Return a value of a type from JSON's types."""
    inner = get_args(kind)
    if inner and inner[-1] is type(None):
        return None if value is None else dataclass_of(inner[0], value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: dataclass_of(hints[name], item) for name, item in value.items()})
    if isinstance(value, dict) and inner:
        return {name: dataclass_of(inner[1], item) for name, item in value.items()}
    if isinstance(value, list) and get_origin(kind) in {list, tuple}:
        return get_origin(kind)(dataclass_of(inner[0], item) for item in value)
    return kind(value) if isinstance(kind, type) and issubclass(kind, StrEnum) else value


def page(document, details=None, machine=None):
    found = None if details is None else dataclass_of(Details, details)
    return pages.page(dataclass_of(Comparison, document), found, machine)


def text(document):
    return texts.text(dataclass_of(Comparison, document))


def markdown(document):
    return texts.markdown(dataclass_of(Comparison, document))


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
