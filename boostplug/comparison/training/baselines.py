"""Baselines that need no framework: the score in use, the best single column, and the linear model."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from boostplug.comparison.inputs.columns import TODAY
from boostplug.comparison.inputs.features import last_where_missing, numbers_of_columns, score_of
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.training.frameworks import NO_FRAMEWORK
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.comparison.training.runs import Method, MethodRun, reason, values_of_run
from boostplug.core.arrays import Floats
from boostplug.core.extras import is_installed
from boostplug.data.tables import is_frame
from boostplug.estimators.inputs import with_float32_labels
from boostplug.estimators.linear_model import without_categories
from boostplug.metrics import Metric
from boostplug.rankers.linear import LinearRanker

COLUMN, LINEAR = "column", "linear"
OWN_BASELINES = (COLUMN, LINEAR)
"""Baselines without a framework."""


def best_columns(alone: Sequence[Mapping[str, float]], metric: Metric) -> list[str]:
    """Return the best column of each fold, from the value of each column on its validation part."""
    best = max if metric.greater_is_better else min
    return [best(of_fold, key=of_fold.__getitem__, default="") for of_fold in alone]


def methods_without_framework(data: LoadedData, columns: Sequence[str], wanted: Sequence[str]) -> list[Method]:
    """Return the score in use, which is the reference, and the wanted baselines; `columns` are the best of folds."""
    methods, train, today = [], data.folds[0][0], data.columns.today
    if today is not None:
        methods.append(Method(title_of_column(today), NO_FRAMEWORK, TODAY, is_reference=True))
    same = len(set(columns)) == 1
    if COLUMN in wanted and all(columns) and not (same and columns[0] == today):
        name = title_of_column(columns[0]) if same else "best single column"
        methods.append(Method(name, NO_FRAMEWORK, COLUMN))
    if LINEAR in wanted and not hasattr(train.X, "nnz") and train.queries.labelled_rows.any():
        methods.append(Method(LINEAR, NO_FRAMEWORK, LINEAR))
    return methods


def notes_on_columns(data: LoadedData, columns: Sequence[str]) -> list[str]:
    """Return what to know of the score in use and of the best columns of folds."""
    names, today, notes = [name for name, _ in numbers_of_columns(data.folds[0][0])], data.columns.today, []
    if today is not None and today.removeprefix("-") in names:
        notes.append(f"Column {today.removeprefix('-')!r}, the score in use, is a feature of the methods too.")
    if len(listed := dict.fromkeys(columns)) > 1:
        notes.append(f"The best single column differs between folds: {', '.join(listed)}.")
    elif today is not None and today in listed:
        notes.append(f"{title_of_column(today).capitalize()} is also the best single column.")
    return notes


def loss_of_linear(data: LoadedData) -> Literal["squared", "softmax"]:
    """Return the loss of the linear model: the conditional logit where no query has more than one relevant document."""
    return "softmax" if data.has_one_chosen else "squared"


def runs_without_framework(
    plan: TrainingPlan, data: LoadedData, columns: Sequence[str], method: Method, fold: int
) -> Iterator[MethodRun]:
    """Yield the runs of a method on a fold: the same for all seeds."""
    fields: dict[str, Any] = {**method.names, "fold": fold}
    try:
        valid, test, model = _scores(data, columns[fold], method, fold)
        probabilities = bool(model) and data.has_one_chosen
        fields |= values_of_run(plan, data.folds[fold], valid, test, probabilities=probabilities) | {"model": model}
    except Exception as error:  # noqa: BLE001 (the table reports it)
        fields["error"] = reason(error)
    yield from (MethodRun(seed=seed, **fields) for seed in plan.seeds)


def _scores(data: LoadedData, column: str, method: Method, fold: int) -> tuple[Floats, Floats, str]:
    """Return the scores of the validation and the test part, and the model as LightGBM's text, if there is one."""
    (train, *judging), text = data.folds[fold], ""
    if method.objective == TODAY:
        valid, test = (last_where_missing(part.queries.labels_by_name[TODAY]) for part in judging)
    elif method.objective == COLUMN:
        valid, test = (score_of(column, part) for part in judging)
    else:
        ranker, q = LinearRanker(loss=loss_of_linear(data)), with_float32_labels(train.queries, warn=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = without_categories(numbers_of(train.X))
            ranker.fit(X, q.labels, group=train.group, sample_weight=q.row_weight, labelled=q.labelled)
        valid, test = (ranker.predict(without_categories(numbers_of(part.X))) for part in judging)
        if is_installed("lightgbm"):
            text = ranker.model_.to_lightgbm().model_to_string()
    return valid, test, text


def numbers_of(X: Any) -> Any:
    """Return features without columns of categories, which the linear model does not read."""
    numbers = X.select_dtypes(exclude="category") if is_frame(X) else X
    return numbers if numbers.shape[1] else X


def notes_on_linear(data: LoadedData, methods: Sequence[Method]) -> list[str]:
    """Return a note on the columns that the linear model does not read."""
    if not (data.has_categories and LINEAR in [method.objective for method in methods]):
        return []
    names = data.folds[0][0].X.select_dtypes("category").columns
    return [f"The linear model does not read categories ({', '.join(map(str, names))}); the other methods do."]


def title_of_column(name: str) -> str:
    """Return a column's name in the table."""
    return "order of the rows" if name == "order" else f"column {name}"
