"""Rows that need no framework: the score in use, the best single column, and the linear model."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from boostplug.comparison.inputs.columns import columns_of, last_where_missing, score_of, values_alone
from boostplug.comparison.inputs.frames import TODAY
from boostplug.comparison.training.frameworks import WITHOUT_FRAMEWORK, Folds
from boostplug.comparison.training.runs import Method, Run, judged, reason
from boostplug.comparison.training.trees import Plan
from boostplug.core.arrays import Floats
from boostplug.core.extras import is_installed
from boostplug.estimators.inputs import with_float32_labels
from boostplug.estimators.linear_model import without_categories
from boostplug.metrics import Metric
from boostplug.rankers.linear import LinearRanker

LinearLoss = Literal["squared", "softmax"]

COLUMN, LINEAR = "column", "linear"
FLOORS = (COLUMN, LINEAR)
"""Baselines without a framework."""


class Floors:
    """The rows of a comparison that need no framework.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    metric : Metric
        That of the validation part.
    one_chosen : bool
        Whether the linear model is the conditional logit.
    """

    def __init__(self, folds: Folds, metric: Metric, *, one_chosen: bool) -> None:
        self.folds = folds
        self.loss: LinearLoss = "softmax" if one_chosen else "squared"
        self.alone = [values_alone(valid, metric) for _, valid, _ in folds]
        """The value of each column on the validation part of each fold."""
        best = max if metric.greater_is_better else min
        self.columns = [best(of_fold, key=of_fold.__getitem__, default="") for of_fold in self.alone]
        """The best column of each fold."""

    @property
    def mean_alone(self) -> dict[str, float]:
        """The value of each column, mean over the folds that have one."""
        names = dict.fromkeys(name for of_fold in self.alone for name in of_fold)
        values = {name: [of[name] for of in self.alone if name in of] for name in names}
        return {name: sum(of_folds) / len(of_folds) for name, of_folds in values.items()}

    def methods(self, wanted: Sequence[str], today: str | None) -> list[Method]:
        """Return the methods: the score in use, which is the reference, and the wanted baselines."""
        methods = []
        if today is not None:
            methods.append(Method(title_of_column(today), WITHOUT_FRAMEWORK, TODAY, is_reference=True))
        same = len(set(self.columns)) == 1
        if COLUMN in wanted and all(self.columns) and not (same and self.columns[0] == today):
            name = title_of_column(self.columns[0]) if same else "best single column"
            methods.append(Method(name, WITHOUT_FRAMEWORK, COLUMN))
        train = self.folds[0][0]
        if LINEAR in wanted and not hasattr(train.X, "nnz") and train.queries.labelled_rows.any():
            methods.append(Method(LINEAR, WITHOUT_FRAMEWORK, LINEAR))
        return methods

    def notes(self, today: str | None) -> list[str]:
        """Return what to know of the columns of the rows."""
        names = [name for name, _ in columns_of(self.folds[0][0])]
        notes = []
        if today is not None and today.removeprefix("-") in names:
            notes.append(f"Column {today.removeprefix('-')!r}, the score in use, is a feature of the methods too.")
        if len(listed := dict.fromkeys(self.columns)) > 1:
            notes.append(f"The best single column differs between folds: {', '.join(listed)}.")
        elif today is not None and today in listed:
            notes.append(f"{title_of_column(today).capitalize()} is also the best single column.")
        return notes

    def runs(self, plan: Plan, method: Method, fold: int) -> Iterator[Run]:
        """Yield the runs of a method on a fold: the same for all seeds."""
        fields: dict[str, Any] = {**method.names, "fold": fold}
        try:
            valid, test, model = self._scores(method, fold)
            probabilities = bool(model) and self.loss == "softmax"
            fields |= judged(plan, self.folds[fold], valid, test, probabilities=probabilities) | {"model": model}
        except Exception as error:  # noqa: BLE001 (the table reports it)
            fields["error"] = reason(error)
        yield from (Run(seed=seed, **fields) for seed in plan.seeds)

    def _scores(self, method: Method, fold: int) -> tuple[Floats, Floats, str]:
        """Return the scores of the validation and the test part, and the model as LightGBM's text, if there is one."""
        (train, *judging), text = self.folds[fold], ""
        if method.objective == TODAY:
            valid, test = (last_where_missing(part.queries.labels_by_name[TODAY]) for part in judging)
        elif method.objective == COLUMN:
            valid, test = (score_of(self.columns[fold], part) for part in judging)
        else:
            ranker, q = LinearRanker(loss=self.loss), with_float32_labels(train.queries, warn=False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                X = without_categories(train.X)
                ranker.fit(X, q.labels, group=train.group, sample_weight=q.row_weight, labelled=q.labelled)
            valid, test = (ranker.predict(without_categories(part.X)) for part in judging)
            if is_installed("lightgbm"):
                text = ranker.model_.to_lightgbm().model_to_string()
        return valid, test, text


def title_of_column(name: str) -> str:
    """Return a column's name in the table."""
    return "order of the rows" if name == "order" else f"column {name}"
