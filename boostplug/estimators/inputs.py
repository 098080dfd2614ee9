"""Input of both rankers: queries from ids, sizes or columns, checked before any training."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import as_floats, check_instance, check_no_class, check_order, check_values, shown
from boostplug.core.warning import warn_user
from boostplug.data.inputs import FIT, CheckedInputs, Inputs, columns_to_judge, selected
from boostplug.data.queries import Queries
from boostplug.data.tables import Schema, as_features, check_computed, check_unique, is_frame, without_columns
from boostplug.estimators.parameter_names import is_own_metric
from boostplug.losses import LOSSES, Loss
from boostplug.metrics import METRICS, NDCG, Metric
from boostplug.selection.cut_queries import TrainingSummary, query_sizes, warn_of_cut_queries

_Set = TypeVar("_Set", Inputs, CheckedInputs)
START = MappingProxyType({"lightgbm": "init_score", "xgboost": "base_margin"})
"""The frameworks' arguments for the scores that boosting starts from."""
_CLASSES = {type(loss).__name__ for variants in LOSSES.values() for loss in variants}
_INFINITE = 1e38  # to LightGBM, and next to what single precision holds


def loss_of(objective: Any) -> Loss | None:
    """Return a ranker's objective if it is a loss of ours, or spells one; refuse the class in place of an instance.

    A text is ours if it is a name in our registry or of a class, or has parentheses: "qbrank", "LambdaRank",
    "QBRank(preference_weight=.3)". All others are the framework's names.
    """
    check_no_class("objective", objective, Loss)
    text = objective.strip() if isinstance(objective, str) else ""
    if text.lower() == "lambdarank" and text not in ("lambdarank", "LambdaRank"):  # LightGBM reads it in any case
        raise ValueError(
            f"objective={text!r} may be LightGBM's 'lambdarank' or boostplug's 'LambdaRank'; pass one of them"
        )
    if "(" in text or text in _CLASSES or text.lower() in LOSSES:
        parsed = Loss.parse(objective)
        if len(parsed) > 1:
            listed = ", ".join(map(repr, parsed))
            raise ValueError(f"objective={objective!r} stands for several losses; pass one of them: {listed}")
        return parsed[0]
    return objective if isinstance(objective, Loss) else None


def metrics_of(eval_metric: Any, framework: str = "") -> list[Any]:
    """Return a ranker's metrics as a list, refusing losses, classes, and what is no metric.

    A text is ours if it is spelt as a class of ours ("NDCG@10"), else the framework's ("ndcg") if that has it, else
    what `score` reads in it ("ndcg@10" with LightGBM). Functions are metrics to a framework only.
    """
    metrics = [_metric_of(one.strip(), framework) if isinstance(one, str) else one for one in _each(eval_metric)]
    for metric in metrics:
        check_no_class("eval_metric", metric, Metric)
        if not isinstance(metric, (Metric, str)) and (not (framework and callable(metric)) or isinstance(metric, Loss)):
            raise ValueError(f"eval_metric must hold metrics such as boostplug.NDCG(10); got {shown(metric)}")
    check_unique([metric.name for metric in metrics if isinstance(metric, Metric)], "eval_metric")
    return metrics


def _each(metrics: Any) -> list[Any]:
    """Return all metrics in nested lists, and in texts with commas between names."""
    if isinstance(metrics, (list, tuple)):
        return [one for several in metrics for one in _each(several)]
    return re.split(r",(?![^(]*\))", metrics) if isinstance(metrics, str) else [] if metrics is None else [metrics]


def _metric_of(text: str, framework: str) -> Metric | str:
    """Return the metric of ours that a text spells, or the framework's name as it is."""
    if framework and text.partition("@")[0].partition("(")[0] not in METRICS and is_own_metric(framework, text):
        return text
    try:
        return Metric.parse(text)
    except ValueError as error:
        raise ValueError(f"eval_metric={text!r} is no metric{f' of {framework}' * bool(framework)}: {error}") from None


def callbacks_of(callbacks: Any) -> list[Any]:
    """Return callbacks as a new list."""
    if callbacks is not None and not isinstance(callbacks, (list, tuple)):
        raise ValueError(f"callbacks must be a list; got {shown(callbacks)}; pass [callback]")
    return list(callbacks or ())


def check_set(inputs: Inputs, fitted: Schema | None = None) -> CheckedInputs:
    """Return a training or validation set, which has rows; `fitted` decides the types of its columns."""
    given = inputs.check(fitted)
    if not given.queries.n_rows:
        raise ValueError(f"{inputs.where}X and its labels have no rows")
    return given


def name_for_sets(framework: str, name: str) -> str:
    """Return the argument of a fit that holds an entry of `name` for each validation set."""
    return f"{name}_eval_set" if framework == "xgboost" and name in {"sample_weight", "base_margin"} else f"eval_{name}"


def sets_of_fit(
    framework: str,
    given: Inputs,
    start: Any,
    continued: Callable[[CheckedInputs], tuple[Any, CheckedInputs]],
    eval_set: Any,
    *,
    uses: tuple[Any, Loss | None, Sequence[Any]],
    starts: Any,
    **per_set: Any,
) -> tuple[Any, CheckedInputs, list[CheckedInputs]]:
    """Return the model that a fit goes on from, its training set and its validation sets, checked.

    Parameters
    ----------
    framework : str
    given : Inputs
        The training set as the user passes it.
    start : array-like or None
        Scores that boosting starts from.
    continued : callable
        Returns the model to go on from, and the training set as that model knows it.
    eval_set, **per_set
        As for `validation_sets`.
    uses : (objective, Loss or None, metrics)
        Objective of the fit, the loss if it is one of ours, and metrics.
    starts : list of array-like or None
        Scores that each validation set starts from.
    """
    objective, loss, metrics = uses
    train = starting_from(START[framework], start, check_set(given))
    check_uses(objective, loss, given, metrics, per_set["labelled"])
    model, train = continued(train._replace(queries=with_float32_labels(train.queries)))
    check = partial(check_set, fitted=train.schema)
    sets = validation_sets(eval_set, given, train, check, framework, **per_set)
    sets = each_starting_from(framework, starts, sets, train)
    warn_of_idle_part(loss, train.queries)
    return model, train, sets


def validation_sets(
    eval_set: Any, given: Inputs, train: _Set, check: Callable[[Inputs], _Set], framework: str = "", **per_set: Any
) -> list[_Set]:
    """Return the checked validation sets of a fit; `train` where one is the training set itself.

    Parameters
    ----------
    eval_set : pair (X, y) or list of them, or None
        A DataFrame that holds the columns named for training needs no y.
    given, train
        The training set before and after its checks.
    check : callable
        Returns the checked set of the arguments of one.
    framework : str, optional
        The one whose arguments these are.
    **per_set : list or None
        An entry per set for each field of `Inputs`, such as ``qid`` for the argument ``eval_qid``.
    """
    pairs = _pairs_of(eval_set, named="y" in train.columns)
    entries = {
        field: one_per_set(name_for_sets(framework, FIT.get(field, field)), values, len(pairs))
        for field, values in per_set.items()
    }
    sets = []
    for place, (X, y) in enumerate(pairs):
        own = {field: values[place] for field, values in entries.items()}
        nothing_else = all(one is None or (field == "qid" and one is given.qid) for field, one in own.items())
        if X is given.X and y is given.y and nothing_else:
            sets.append(train)
            continue
        where, arguments = f"eval_set[{place}]'s ", {**given.arguments, "qid": "eval_qid", "group": "eval_group"}
        arguments["labelled"] = "eval_labelled" * ("labelled" in per_set)
        more = {"features": given.features, "where": where, "arguments": arguments}
        try:
            sets.append(check(Inputs(X=X, y=y, **own, **more, **columns_to_judge(train.columns))))
        except ValueError as error:
            raise ValueError(f"{'' if where in str(error) else f'in the validation set {place}: '}{error}") from None
    return sets


def fitted_position_bias(
    loss: Loss | None, predict: Callable[[Any], Any], train: CheckedInputs
) -> dict[str, NDArray[Any]] | None:
    """Return the loss's `position_bias` at the fitted scores of the training set; None of losses without positions."""
    if loss is None or not loss.traits.positions:
        return None
    start = 0.0 if train.start is None else np.ravel(train.start)
    return loss.position_bias(np.asarray(predict(train.X), np.float64) + start, train.queries)


def _pairs_of(eval_set: Any, *, named: bool) -> list[Any]:
    """Return fit's validation sets as a list of pairs; with `named` labels, DataFrames may stand alone."""
    if eval_set is None:
        return []
    single = isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple)
    single = single and not (named and is_frame(eval_set[1]) and eval_set[1].shape[1] > 1)
    sets = [eval_set] if single or is_frame(eval_set) else eval_set  # LightGBM takes a single pair
    if isinstance(sets, (list, tuple)):
        sets = [(one, None) if named and is_frame(one) else one for one in sets]
        if all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in sets):
            return sets
    raise ValueError(f"eval_set must be a list of pairs (X, y); got {shown(eval_set)}; pass [(X, y)]")


def one_per_set(name: str, values: Any, n_sets: int) -> list[Any]:
    """Return fit's argument that holds an entry per validation set; None for each where it is None."""
    if values is None:
        return [None] * n_sets
    if not isinstance(values, (list, tuple)) or len(values) != n_sets:
        raise ValueError(f"{name} must be a list of one entry per validation set ({n_sets}); got {shown(values)}")
    return list(values)


def starting_from(name: str, values: Any, given: CheckedInputs) -> CheckedInputs:
    """Return a set with the scores that boosting starts from, one finite number per row; None where it is None."""
    if values is None:
        return given._replace(start=None)
    n_rows = given.queries.n_rows
    check_order(**{"X": given.X, name: values})
    scores = as_floats(name, np.ravel(values) if np.shape(values) == (n_rows, 1) else values)
    if len(scores) != n_rows:
        raise ValueError(f"{name} must hold one score per row ({n_rows}), got {len(scores)} values")
    why = "is not finite in single precision; pass numbers below 1e38"
    check_values(name, ~(np.abs(scores) < _INFINITE), scores, why)
    return given._replace(start=scores)


def each_starting_from(
    framework: str, values: Any, sets: Sequence[CheckedInputs], train: CheckedInputs
) -> list[CheckedInputs]:
    """Return a framework's validation sets with the scores that each starts from; the training set keeps its own.

    Warns of sets that start from 0 where the training set does not.
    """
    name, prepared = name_for_sets(framework, START[framework]), []
    for i, (start, one) in enumerate(zip(one_per_set(name, values, len(sets)), sets, strict=True)):
        check_finite_labels(one.queries, f"eval_set[{i}]'s labels")
        is_train = start is None and one.queries is train.queries
        prepared.append(train if is_train else starting_from(f"{name}[{i}]", start, one))
        if train.start is not None and prepared[i].start is None:
            what = f"metrics and early stopping judge eval_set[{i}] by the trees only; pass {name}=[…]"
            warn_user(f"{START[framework]} is given, and {name} is not: {what}")
    return prepared


def is_training_set(one: CheckedInputs, train: CheckedInputs) -> bool:
    """Return whether a validation set is the training set itself, with the same scores to start from."""
    starts: Any = (one.start, train.start)
    return one.queries is train.queries and np.array_equal(*starts)


def check_finite_labels(queries: Queries, name: str = "labels") -> None:
    """Raise for labels that are infinite in single precision."""
    why = "is beyond single precision (1e38), in which the frameworks keep labels; rescale the labels"
    check_values(name, np.abs(queries.labels) >= _INFINITE, queries.labels, why)


def with_float32_labels(queries: Queries, *, warn: bool = True) -> Queries:
    """Return queries whose labels are those that the frameworks' datasets hold: rounded to single precision.

    All else of them stays. Queries whose labels single precision holds are returned as they are. `warn` is False where
    the user has been warned before.

    Warns
    -----
    UserWarning
        If labels that differ within a query no longer do.

    Raises
    ------
    ValueError
        If a label is beyond single precision.
    """
    labels = queries.labels
    check_finite_labels(queries)
    rounded = labels.astype(np.float32).astype(np.float64)
    if np.array_equal(rounded, labels):
        return queries
    groups = queries.grade_groups
    below, above = groups.group_grade[:-1], groups.group_grade[1:]
    merged = below.astype(np.float32) == above.astype(np.float32)
    merged[groups.query_group[1:-1] - 1] = False  # there the next query begins
    if warn and merged.any():
        at = int(np.argmax(merged))
        warn_user(
            f"labels such as {below[at]!s} and {above[at]!s} are equal in single precision, in which the frameworks "
            "keep them; subtract an offset from all labels, or rescale them"
        )
    return queries.replaced(labels=rounded)


def relative_weight(weight: Floats | None) -> Floats | None:
    """Return weights over their mean: XGBoost places the bins of features by sums of them in single precision."""
    return None if weight is None else weight / (weight.mean() or 1.0)


def weight_for(loss: Loss | None, weight: Floats | None) -> Floats | None:
    """Return the weights that the framework gets: for a loss of ours, which reads its own, relative ones."""
    return weight if loss is None else relative_weight(weight)


def warn_of_idle_part(loss: Loss | None, queries: Queries) -> None:
    """Warn if a part of a loss has nothing to learn from; if all of it has not, the training warns."""
    fault = None if loss is None else loss.fault_of_order(queries)
    if loss is not None and fault and loss.gradient_hessian(np.zeros(queries.n_rows), queries)[0].any():
        warn_user(fault)


def has_labels(sets: list[CheckedInputs]) -> bool:
    """Return whether there are validation sets, and each has a row with a label."""
    return bool(sets) and all(bool(one.queries.labelled_rows.any()) for one in sets)


def check_uses(objective: Any, loss: Loss | None, given: Inputs, metrics: Sequence[Any], eval_labelled: Any) -> None:
    """Raise for pairs and rows without label that are beyond the objective; warn of positions that it does not read."""
    others = [objective] if loss is None else [metric for metric in metrics if not isinstance(metric, Metric)]
    if others and not (given.labelled is None and eval_labelled is None):
        what = f"labelled has no effect on {shown(others[0])}, which reads every label"
        raise ValueError(f"{what}; pass a loss and metrics of boostplug, or leave those rows out")
    if given.pairs is not None and (loss is None or not loss.traits.pairs):
        raise ValueError(f"pairs cannot be used by objective {objective!r}; pass a loss that takes them, as MPBoost()")
    if given.position is not None and (loss is None or not loss.traits.positions):
        warn_user(
            f"position is not used by objective {objective!r}, which trains as without it; take boostplug.Unbiased"
        )


def inputs_of(ranker: Any, **arguments: Any) -> Inputs:
    """Return arguments of a ranker's fit, with the columns that are features."""
    return Inputs(features=ranker.features, arguments={**FIT, "labelled": "labelled"}, **arguments)


def inputs_to_judge(ranker: Any, **arguments: Any) -> Inputs:
    """Return arguments of a ranker's `score`, with the columns that its fit has named."""
    return inputs_of(ranker, **arguments, **columns_to_judge(ranker.training_summary_.columns))


def metric_of_score(metric: Metric | str | None) -> Metric:
    """Return the metric of a ranker's `score`."""
    parsed = NDCG(10) if metric is None else Metric.parse(metric) if isinstance(metric, str) else metric
    check_instance("metric", parsed, Metric, "NDCG(10)")
    return parsed


class RankingScore:
    """Mixin for the `score` of a ranker."""

    def score(
        self,
        X: Any,
        y: ArrayLike | str | None = None,
        sample_weight: ArrayLike | str | None = None,
        *,
        qid: ArrayLike | str | None = None,
        group: ArrayLike | None = None,
        metric: Metric | str | None = None,
        labels: Mapping[str, ArrayLike] | None = None,
        labelled: ArrayLike | None = None,
    ) -> float:
        """Return a metric of the predictions: `metric`, such as "NDCG@5", by default NDCG@10.

        Higher is better by default, whatever `eval_metric` is; of an error such as `LogLoss` the value has no minus, as
        that of `make_scorer` has. A metric on one of several labels, such as "NDCG@5.on(sale)", needs `labels`, as
        `fit` takes them; rows that nobody has judged need `labelled`. Arguments may be names of columns of X, and those
        that `fit` was given by name need not be repeated.

        Warns
        -----
        UserWarning
            If `fit` has had other rows of the queries, as where a fold has cut them.
        """
        inputs = inputs_to_judge(
            self, X=X, y=y, qid=qid, group=group, weight=sample_weight, labels=labels, labelled=labelled
        )
        judge = metric_of_score(metric)
        checked = inputs.check(self.training_summary_.schema)
        warn_of_cut_queries(self.training_summary_.sizes, query_sizes(X, checked.qid, checked.queries.boundaries))
        return float(judge(np.asarray(self.predict(checked.X)), checked.queries))  # type: ignore[attr-defined]

    framework = ""
    """The framework that trains, if one does."""
    features: Sequence[Any] | None = None
    """Parameter: names of the columns that are features."""
    training_summary_ = TrainingSummary()
    """Features of the training set, its columns that are no features, and the sizes of its queries."""

    def _keep(self, X: Any, train: CheckedInputs, loss: Loss | None, *, has_split: bool, cause: str | None) -> None:
        """Keep what is to be known of the training set after a training; `X` is as `fit` got it.

        Warns where no tree has a split, with the cause if it is known; not where the loss has nothing to learn.
        """
        if cause is None and loss is not None and loss.why_no_order(train.queries) is None:
            cause = (
                "no split gains enough; check the labels, rescale them so that their gaps are about 1, or lower "
                "min_child_weight, min_sum_hessian_in_leaf and the like"
            )
        if cause is not None and not has_split:
            warn_user(f"the model is constant: {cause}")
        schema = train.schema._replace(reader=type(self).__name__)
        sizes = query_sizes(X, train.qid, train.queries.boundaries)
        self.training_summary_ = TrainingSummary(schema, {"qid": "qid", **train.columns}, sizes)
        self.position_bias_ = fitted_position_bias(loss, self.predict, train)  # type: ignore[attr-defined]

    def select_features(self, X: Any) -> Any:
        """Return a table to predict from without the columns that are no features."""
        check_computed(X)
        taken = self.training_summary_.columns.values()
        return selected(without_columns(X, taken), self.features, taken)

    def _features_of(self, X: Any, fitted: Schema | None) -> Any:
        """Return features to predict from, without the columns that `fit` has taken out."""
        return as_features(self.select_features(X), fitted=fitted)
