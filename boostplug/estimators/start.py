"""`linear_start`, and `start=` of both rankers: trees that go on from a linear model, a score in use, another model."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from sklearn.base import clone

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice, column_names, shown
from boostplug.data.inputs import CheckedInputs, Inputs
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame
from boostplug.estimators.inputs import FIT, checked_set, loss_of, with_float32_labels
from boostplug.estimators.linear_model import Steps, linear_model
from boostplug.losses import Loss, RankNet, SquaredError
from boostplug.model.ensemble import Ensemble
from boostplug.model.export import plain_booster
from boostplug.model.formats import fitted_model
from boostplug.model.trees import TreeModel
from boostplug.model.xgboost import booster_of_document, document_of
from boostplug.weak_rankers import Tree

_RANKING = ("lambdarank", "rank_xendcg", "rank:ndcg", "rank:pairwise", "rank:map")
_STAND_INS: dict[str, Loss] = {**dict.fromkeys(_RANKING, RankNet())}
_STAND_INS |= dict.fromkeys(("regression", "reg:squarederror"), SquaredError())
"""Losses by which starts are scaled for built-in objectives."""
_COLUMN_STEPS = 1024
_LARGEST = 3.4e38  # of single precision
_FARTHEST = 1e3  # standard deviations of the start's scores
_FLAT = 1e-9  # share of the gradient's size below which a slope is rounding
_TURNS = 5  # of factor and constant, each at its minimum with the other held


def linear_start(
    X: Any,
    y: ArrayLike | str,
    *,
    qid: ArrayLike | str | None = None,
    group: ArrayLike | None = None,
    sample_weight: ArrayLike | str | None = None,
    objective: Any,
    framework: str | None = None,
) -> Any:
    """Return a linear model as the booster from which ``lgb.train`` or ``xgb.train`` goes on.

    It is `LinearRanker`, scaled so that `objective` is least along it, with a tree for each feature. Where few queries
    are judged, trees that go on from it rank better than trees alone.

    Parameters
    ----------
    X, y, qid, group, sample_weight
        The training set, as `LGBMRanker.fit` takes it. Categories are left to the trees.
    objective : Loss or str
        That of the training. For built-in ranking objectives `RankNet` stands in, for regression `SquaredError`.
    framework : {"lightgbm", "xgboost"}, optional
        Whose booster to return. Default: XGBoost's if `objective` is one of its names, such as "rank:ndcg", else
        LightGBM's.

    Returns
    -------
    lightgbm.Booster or xgboost.Booster
        For ``lgb.train(…, init_model=…)``, whose Dataset keeps its raw data (``free_raw_data=False``), or
        ``xgb.train(…, xgb_model=…)``, from a DMatrix: a QuantileDMatrix would round the features. In LightGBM each tree
        counts as a round, in XGBoost all together are one.

    Raises
    ------
    ValueError
        If an argument is wrong, X is sparse, or the objective is another built-in one.

    Examples
    --------
    >>> import boostplug as bp
    >>> import lightgbm as lgb
    >>> data, loss = bp.datasets.make_ranking(n_queries=30, random_state=0), bp.CRR()
    >>> start = bp.linear_start(data.X, data.y, qid=data.qid, objective=loss)
    >>> train = lgb.Dataset(data.X, data.y, group=data.group, free_raw_data=False)
    >>> booster = lgb.train({"objective": loss, "num_leaves": 6, "verbose": -1}, train, 10, init_model=start)
    >>> booster.num_trees() - start.num_trees()
    10
    """
    if framework is None:
        framework = "xgboost" if isinstance(objective, str) and ":" in objective else "lightgbm"
    check_choice("framework", framework, ("lightgbm", "xgboost"))
    given = checked_set(Inputs(X=X, y=y, qid=qid, group=group, weight=sample_weight, arguments=FIT))
    given = given._replace(queries=with_float32_labels(given.queries))
    return as_booster(start_of("linear", given, objective), framework)


def start_of(start: Any, train: CheckedInputs, objective: Any) -> Ensemble:
    """Return the model that a training begins from: `start` times a factor, plus a constant, where the loss is least.

    Parameters
    ----------
    start : str, Booster, Ensemble, or ranker
        As `LGBMRanker` takes it.
    train : CheckedInputs
    objective : Loss, str or None
        None is LightGBM's lambdarank.
    """
    loss = loss_of(objective) or _STAND_INS.get("lambdarank" if objective is None else str(objective))
    if loss is None:
        raise ValueError(f"start cannot be scaled to the objective {shown(objective)}; pass a loss, such as CRR()")
    model = _model_of(start, train, loss)
    scores = model.predict(dense(train.X))
    mean, unit = float(scores.mean()), float(scores.std()) or 1.0
    along, ones = (scores - mean) / unit, np.ones(len(scores))
    factor, constant = 0.0, 0.0
    for _ in range(_TURNS):
        factor += _step(loss, train.queries, factor * along + constant, along)
        constant += _step(loss, train.queries, factor * along + constant, ones)
    factor /= unit
    constant -= factor * mean
    if factor <= 0.0:
        warnings.warn(
            f"start={shown(start)} is left out: by itself it ranks the training queries no better than by chance",
            UserWarning,
            stacklevel=3,
        )
        factor = 0.0
    terms = [(weak, factor * weight) for weak, weight in model.terms] if factor else []
    terms.append((Tree.from_steps(0, (), (constant,)), 1.0))
    return Ensemble([terms], n_features=model.n_features, feature_names=model.feature_names)


def as_booster(start: Ensemble, framework: str) -> Any:
    """Return a start as a booster; XGBoost counts it as one round."""
    if framework == "lightgbm":
        return start.to_lightgbm()
    document = document_of(start.to_xgboost())
    model = document["learner"]["gradient_booster"]["model"]
    model["iteration_indptr"] = [0, len(model["trees"])]
    return booster_of_document(document)


def refuse_two_starts(start: Any, **others: Any) -> None:
    """Raise where `start` and another argument both say where training begins."""
    for name, value in others.items():
        if start is not None and value is not None:
            raise ValueError(f"start={shown(start)} and {name} both say where training begins; leave one out")


def dense(X: Any) -> Any:
    """Return features that a start reads: without categories, and within single precision."""
    if hasattr(X, "nnz"):
        raise ValueError("start reads dense features, and X is sparse; pass X.toarray(), or leave start out")
    if is_frame(X):
        X = X.copy()
        X[X.columns[[hasattr(kind, "categories") for kind in X.dtypes]]] = np.nan
        return X.astype(np.float64).clip(-_LARGEST, _LARGEST)
    return np.clip(np.asarray(X, np.float64), -_LARGEST, _LARGEST)


def _model_of(start: Any, train: CheckedInputs, loss: Loss) -> Ensemble:
    """Return the unscaled model that `start` stands for."""
    queries, schema = loss.reads(train.queries), train.schema
    ensemble = partial(Ensemble, n_features=schema.n_columns, feature_names=schema.names)
    if isinstance(start, Ensemble):
        return start
    if isinstance(start, str):
        X = np.asarray(dense(train.X), np.float32)
        if start == "linear":
            if not queries.judged.any():
                raise ValueError(
                    "start='linear' learns from labels, and the training set has pairs alone; leave it out"
                )
            trees = linear_model(X, queries, softmax=_one_chosen(queries)).trees
        else:
            name = start if start in column_names(train.X) else start.removeprefix("-")
            if name not in column_names(train.X):
                raise ValueError(
                    f"start={start!r} is neither 'linear' nor a feature; X has {shown(column_names(train.X))}"
                )
            at = list(column_names(train.X)).index(name)
            trees = [Steps.of(X[:, at], _COLUMN_STEPS).tree(at, 1.0 if name == start else -1.0)]
        return ensemble([[(tree, 1.0) for tree in trees]])
    if hasattr(start, "fit") and hasattr(start, "staged_predict") and not hasattr(start, "model_"):
        start = clone(start).fit(
            dense(train.X), queries.labels, group=np.diff(queries.boundaries), sample_weight=queries.row_weight,
            labelled=queries.labelled,
        )  # fmt: skip
    fitted = fitted_model(start)
    if isinstance(fitted, Ensemble):
        return fitted
    booster = plain_booster(fitted)  # as far as the best iteration
    read = TreeModel.from_lightgbm if type(booster).__module__.startswith("lightgbm") else TreeModel.from_xgboost
    return ensemble([[(tree, 1.0) for tree in read(booster).trees]])


def _one_chosen(queries: Queries) -> bool:
    """Return whether labels are shares: no query has more than one label that is not 0, and none is below."""
    labels = np.where(queries.judged, queries.labels, 0.0)
    most = np.bincount(queries.query_of_row, labels > 0.0).max(initial=0.0)
    return bool(labels.min(initial=0.0) >= 0.0 and most == 1.0)


def _step(loss: Loss, queries: Queries, scores: Floats, direction: Floats) -> float:
    """Return the step along a direction, or against it, to where the loss is least."""

    def slope(step: float) -> float:
        return float(loss.gradient_hessian(scores + step * direction, queries)[0] @ direction)

    gradient = loss.gradient_hessian(scores, queries)[0]
    if abs(float(gradient @ direction)) <= _FLAT * float(np.abs(gradient) @ np.abs(direction)):
        return 0.0
    way = -float(np.sign(gradient @ direction))
    far = 1.0
    while way * slope(way * far) < 0.0 and far < _FARTHEST:
        far *= 2.0
    if way * slope(way * far) < 0.0:
        return float(way * far)
    return float(way * brentq(lambda step: way * slope(way * step), 0.0, far, rtol=1e-9))
