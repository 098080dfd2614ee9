"""`fit_folds`: the mean of models of several folds, each stopped on the fold that it has not seen."""

import copy
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_flag, check_integer, shown
from boostplug.core.extras import imported
from boostplug.core.randomness import RandomState, generator
from boostplug.core.threads import get_num_threads
from boostplug.data.inputs import CheckedInputs
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame, rows_of
from boostplug.estimators.inputs import (
    START,
    callbacks_of,
    check_finite_labels,
    check_set,
    fitted_position_bias,
    inputs_of,
    loss_of,
    name_for_sets,
    starting_from,
)
from boostplug.estimators.linear_model import N_BINS, linear_model, without_categories
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES, XGBOOST_ALIASES, check_parameter_names, given_as
from boostplug.estimators.parameters import given_names
from boostplug.losses import Loss
from boostplug.model.boosters import set_booster
from boostplug.model.mean import mean_model, plus_trees
from boostplug.selection.folds import group_folds
from boostplug.selection.starting import has_one_chosen

_THREADS = {"lightgbm": LIGHTGBM_ALIASES["num_threads"], "xgboost": XGBOOST_ALIASES["nthread"]}
_OF_ALL_SETS = ("eval_metric", "eval_at", "eval_names")


def fit_folds(
    ranker: Any,
    X: Any,
    y: ArrayLike | str | None,
    *,
    qid: ArrayLike | str | None = None,
    group: ArrayLike | None = None,
    sample_weight: ArrayLike | str | None = None,
    pairs: Pairs | None = None,
    labels: Mapping[str, ArrayLike | str] | None = None,
    labelled: ArrayLike | None = None,
    position: ArrayLike | str | None = None,
    n_splits: int = 5,
    n_repeats: int = 1,
    random_state: RandomState = 0,
    early_stopping_rounds: int = 50,
    linear: bool = False,
    **fit_params: Any,
) -> Any:
    """Return a fitted ranker whose model is the mean of models of several folds: for up to several thousand queries.

    The queries are divided into folds. One model is trained without each fold, and stopped early on it; so every query
    trains models, and every query stops one. The mean of these models ranks better than one model that was trained on
    most of the queries and stopped on the others. It costs `n_splits` × `n_repeats` trainings, and the mean holds the
    trees of all, so a prediction takes as many times as long as that of one model.

    Parameters
    ----------
    ranker : LGBMRanker or XGBRanker
        Of boostplug; it stays as it is, and a clone is fitted on each fold. Its `n_jobs` threads are shared: as many
        trainings as there are threads run at once, each with an equal share of at least one.
    X, y, qid, group, sample_weight, pairs, labels, labelled, position
        The data, as for the ranker's `fit`; `y` is needed. Pairs of queries in different folds are left out.
    n_splits : int, default 5
        Number of folds, from 2 to the number of queries with different labels, of which each fold has its share.
    n_repeats : int, default 1
        Number of times that the folds are drawn.
    random_state : int, Generator or RandomState, default 0
        Draws the folds: ``group_folds(Queries(y, qid=qid), n_splits, shuffle=True, random_state=random_state)``, and
        those of more repeats from the same generator after them.
    early_stopping_rounds : int, default 50
        Rounds without a better value on the fold that ends a training; a number given to the ranker has precedence.
    linear : bool, default False
        Add the linear model of `LinearRanker`, which learns from all queries. It is one part of the scores and the
        trees are two parts, each over its standard deviation within queries; the trees' scale stays. This gained
        .0045 in NDCG@10 with 30 queries and .0009 with 100 (docs/results/fitting_trees.md). Its trees are ordinary
        ones, one for each feature. It reads dense features, leaves categories to the other trees, and keeps no monotone
        constraints.
    **fit_params
        More arguments of the ranker's `fit`, the same for each fold, such as `eval_metric`. Scores to start from
        (`init_score`, `base_margin`) are divided among the folds; validation sets are refused. With `callbacks`, which
        may keep a state, the folds are trained one after another.

    Returns
    -------
    LGBMRanker or XGBRanker
        Its booster is `mean_model` of the folds' models, an ordinary one. These attributes come on top:
        ``out_of_fold_scores_``, of shape (n_rows,), the scores of each row by the trees that have not seen it, over
        repeats their mean, so ``metric.score(y, ranker.out_of_fold_scores_, qid=qid)`` is the quality of the single
        models without a test set, except that each was stopped on its fold; the mean is better than they are.
        ``fold_rankers_``, the rankers of the folds.

    Raises
    ------
    ValueError
        If the ranker is none of ours, or an argument is wrong.

    Notes
    -----
    The model is the same for any `n_jobs` up to `n_splits` × `n_repeats`, with which each training has one thread.
    With more threads, sums of the framework may differ in their last digits, as in its own `fit`.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(n_queries=40, random_state=0)
    >>> ranker = bp.LGBMRanker(objective=bp.CRR(), num_leaves=6, n_estimators=20, n_jobs=1, verbose=-1)
    >>> mean = bp.fit_folds(ranker, data.X, data.y, qid=data.qid)
    >>> len(mean.fold_rankers_), mean.out_of_fold_scores_.shape == data.y.shape
    (5, True)
    """
    framework = getattr(ranker, "framework", "")
    if framework not in START:
        raise ValueError(f"ranker must be a boostplug.LGBMRanker or XGBRanker; got {shown(ranker)}")
    check_integer("early_stopping_rounds", early_stopping_rounds, 1)
    check_integer("n_repeats", n_repeats, 1)
    check_flag("linear", linear)
    if y is None:
        raise ValueError("fit_folds stops each training by labels, and y is None; pass y, or call the ranker's fit")
    more = dict(fit_params)
    for name in more:
        if ("eval_" in name or name.endswith("_eval_set")) and name not in _OF_ALL_SETS:
            raise ValueError(f"fit_folds evaluates each model on the fold that it has not seen; leave out {name}")
    inputs = inputs_of(
        ranker, X=X, y=y, qid=qid, group=group, weight=sample_weight, pairs=pairs, labels=labels, labelled=labelled,
        position=position,
    )  # fmt: skip
    name_of_start = START[framework]
    given = starting_from(name_of_start, more.pop(name_of_start, None), check_set(inputs))
    check_finite_labels(given.queries)
    if linear:
        _check_linear(ranker, name_of_start, given)
    draw = partial(group_folds, given.queries, n_splits, shuffle=True, random_state=generator(random_state))
    folds = [fold for _ in range(n_repeats) for fold in draw()]
    if (n_pairs := len(given.queries.grade_groups.query)) < n_splits and labels is None:
        raise ValueError(f"n_splits={n_splits}, but {n_pairs} queries hold two different labels; pass fewer folds")
    parameters = ranker.get_params(deep=False)
    # Not in threads, because it catches warnings. XGBoost keeps unknown names as kwargs.
    check_parameter_names(framework, given_names(getattr(ranker, "kwargs", None) or {}))
    threads, n_threads = _threads_of(parameters, framework)
    n_workers = 1 if more.get("callbacks") else min(n_threads, len(folds))
    part, ended = partial(_part, given, name_of_start), Event()

    def trained(fold: tuple[Ints, Ints]) -> tuple[Any, Any]:
        train, held = fold
        one = clone(ranker).set_params(**{threads: n_threads // n_workers})
        judged = part(held)
        judged.pop("position", None)
        evaluation = {"eval_set": [(judged.pop("X"), judged.pop("y"))]}
        evaluation |= {name_for_sets(framework, name): [value] for name, value in judged.items()}
        one.fit(**part(train), **evaluation, **_stopping(one, framework, early_stopping_rounds, more, ended))
        return one, one.predict(rows_of(given.X, held))

    fitted, scores = [], np.zeros(given.queries.n_rows)
    for (_, held), (one, of_held) in zip(folds, _each_trained(trained, folds, n_workers, ended), strict=True):
        scores[held] += of_held / n_repeats
        fitted.append(one)
    for one in fitted:
        one.set_params(**{name: parameters[name] for name in ({threads, "callbacks"} & parameters.keys())})
    booster = mean_model(fitted)
    if linear:
        booster, scores = _with_linear(booster, scores, given, loss_of(ranker.objective), folds, n_repeats)
    mean = _mean_ranker(ranker, fitted, booster, given)
    mean.out_of_fold_scores_, mean.fold_rankers_ = scores, fitted
    return mean


def _threads_of(parameters: Mapping[str, Any], framework: str) -> tuple[str, int]:
    """Return the name under which a ranker has its number of threads, and the number."""
    name = next((alias for alias in _THREADS[framework] if parameters.get(alias) is not None), "n_jobs")
    given = parameters.get(name) or -1
    return name, given if given > 0 else max(1, get_num_threads() + 1 + given)


def _each_trained(train: Callable[[Any], Any], folds: Sequence[Any], n_workers: int, ended: Event) -> list[Any]:
    """Return the training of each fold, several at once in threads; after an error in one of them all end."""
    if n_workers == 1:
        return [train(fold) for fold in folds]
    with ThreadPoolExecutor(n_workers) as pool:
        try:
            trainings = [pool.submit(train, fold) for fold in folds]
            wait(trainings, return_when=FIRST_EXCEPTION)
            return [training.result() for training in trainings if training.done()]
        finally:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _check_linear(ranker: Any, name_of_start: str, given: CheckedInputs) -> None:
    """Raise for what a linear model of the labels does not keep."""
    parameters = ranker.get_params()
    constraints = given_as(parameters, "monotone_constraints")
    loss = loss_of(ranker.objective)
    refused = {
        "X, which is sparse": hasattr(given.X, "nnz"),
        "pairs": given.queries.pairs is not None,
        name_of_start: given.start is not None,
        f"an objective that corrects positions, {shown(ranker.objective)}": loss is not None and loss.traits.positions,
        **dict.fromkeys(constraints, True),
    }
    for what, there in refused.items():
        if there:
            raise ValueError(f"linear=True adds a linear model of the labels, and cannot keep {what}; leave out linear")


def _with_linear(
    booster: Any,
    scores: Floats,
    given: CheckedInputs,
    loss: Loss | None,
    folds: Sequence[tuple[Ints, Ints]],
    n_repeats: int,
) -> tuple[Any, Floats]:
    """Return a booster, and scores of rows that it has not seen, with a third of a linear model."""
    queries = given.queries if loss is None else loss.with_own_labels(given.queries)
    X = np.asarray(without_categories(given.X), np.float32)
    fit = partial(linear_model, softmax=has_one_chosen(queries), alpha=None, n_bins=N_BINS)
    of_linear = np.zeros(len(scores))
    for train, held in folds:
        _, _, trees = fit(X[train], queries.of_rows(train, keep_empty=False))
        of_linear[held] += sum((tree.predict(X[held]) for tree in trees), np.zeros(len(held))) / n_repeats
    spread, own = (_spread(part, queries) for part in (scores, of_linear))
    factor = spread / own / 3.0 if own else 0.0
    booster = plus_trees(booster, 2.0 / 3.0, [tree.times(factor) for tree in fit(X, queries)[2]], X)
    return booster, 2.0 / 3.0 * scores + factor * of_linear


def _spread(scores: Floats, queries: Queries) -> float:
    """Return the standard deviation of scores within queries."""
    query = queries.query_of_row
    return float((scores - (np.bincount(query, scores) / np.maximum(np.bincount(query), 1))[query]).std())


def _mean_ranker(ranker: Any, fitted: Sequence[Any], booster: Any, given: CheckedInputs) -> Any:
    """Return a ranker with the parameters of `ranker` and the mean of the fitted ones as its booster."""
    mean = copy.copy(fitted[0])
    vars(mean).update({name: value for name, value in vars(ranker).items() if name in ranker.get_params()})
    set_booster(mean, booster)
    for name in ("_best_iteration", "_best_score", "_evals_result", "evals_result_"):
        if name in vars(mean):
            vars(mean)[name] = -1 if name == "_best_iteration" else {}
    missing = given.X.isna().to_numpy() if is_frame(given.X) else hasattr(given.X, "nnz") or np.isnan(given.X)
    of_all = {"columns": {"qid": "qid", **given.columns}, "has_missing": bool(np.any(missing))}
    mean.training_summary_ = mean.training_summary_._replace(**of_all)
    loss = loss_of(getattr(mean, "objective_", ranker.objective))
    mean.position_bias_ = fitted_position_bias(loss, mean.predict, given)
    return mean


def _part(given: CheckedInputs, name_of_start: str, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return the arguments of a fit on some rows."""
    queries = given.queries.of_rows(rows, keep_empty=False)
    pairs = given.queries.pairs
    arguments = {
        "X": rows_of(given.X, rows),
        "y": queries.labels,
        "group": queries.group,
        "sample_weight": queries.row_weight,
        "pairs": None if pairs is None else pairs.of_rows(rows, given.queries.n_rows)[0],
        "labels": dict(queries.labels_by_name) or None,
        "labelled": queries.labelled,
        "position": queries.position,
        name_of_start: None if given.start is None else given.start[rows],
    }
    return {name: value for name, value in arguments.items() if value is not None}


def _stopping(one: Any, framework: str, rounds: int, fit_params: Mapping[str, Any], ended: Event) -> dict[str, Any]:
    """Return arguments of fit with early stopping, unless the ranker stops by a number of its own.

    A training also stops once `ended` is set.
    """
    module = imported(framework, "fit_folds needs")
    if framework == "xgboost":

        class Ending(module.callback.TrainingCallback):  # type: ignore[name-defined]
            def after_iteration(self, *_: Any) -> bool:
                return ended.is_set()

        if one.early_stopping_rounds is None:
            one.set_params(early_stopping_rounds=rounds)
        one.set_params(callbacks=[*callbacks_of(one.callbacks), Ending()])
        return {"verbose": False, **fit_params}

    def ending(round_: Any) -> None:
        if ended.is_set():
            raise module.callback.EarlyStopException(round_.iteration, round_.evaluation_result_list)

    given = [ending, *callbacks_of(fit_params.get("callbacks"))]
    if not any(one.get_params().get(alias) for alias in LIGHTGBM_ALIASES["early_stopping_round"]):
        given.append(module.early_stopping(rounds, verbose=False))
    return {**fit_params, "callbacks": given}
