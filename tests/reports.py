"""Reports of comparisons from documents as JSON has them, which tests can change; and results of invented runs."""

from boostplug.comparison.report import page as pages
from boostplug.comparison.report import text as texts
from boostplug.comparison.result import CompareResult
from boostplug.comparison.summary import Comparison, Data, Details, Settings, Size, from_json
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


def render(document, console, options):
    return texts.render(from_json(Comparison, document), console, options)


def result_of(methods, part, metric, *, seeds=(0,), **more):
    """Return a result on one fold without runs."""
    size = Size(queries=part.queries.n_queries, documents=part.queries.n_rows)
    data = Data(name="made", folds=1, features=2, train=size, valid=size, test=size)
    settings = Settings(
        metric=metric.name,
        metrics=[metric.name],
        greater_is_better=metric.greater_is_better,
        lower_is_better=[] if metric.greater_is_better else [metric.name],
        seeds=list(seeds),
        rounds=9,
        early_stopping_rounds=3,
        params=vars(Trees()),
        tune=0,
        num_threads=1,
        jobs=1,
    )
    return CompareResult(data, settings, methods, [part], metric, metrics=[metric], **more)
