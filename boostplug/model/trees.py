"""`TreeModel`: the trees of any model that scores by a sum of trees, as LightGBM, XGBoost and `Ensemble` hold them."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import shown
from boostplug.model.ensemble import Ensemble
from boostplug.model.xgboost import document_of
from boostplug.weak_rankers.tree import Tree, in_breadth

# Objectives whose predictions are the scores. LightGBM appends parameters that change them: "regression sqrt".
_LIGHTGBM = "custom lambdarank rank_xendcg regression regression_l1 huber fair quantile mape"
_XGBOOST = "rank:pairwise rank:ndcg rank:map reg:squarederror reg:squaredlogerror reg:pseudohubererror"
_MORE_OF_XGBOOST = "reg:absoluteerror reg:quantileerror binary:logitraw"
_PREDICT_SCORES = f"{_LIGHTGBM} {_XGBOOST} {_MORE_OF_XGBOOST}".split()

_Lines = dict[str, str]

CATEGORICAL, _DEFAULT_LEFT, _MISSING_TYPE = 1, 2, 2  # bits of LightGBM's decision_type, and where its type begins
_MISSING_IS_ZERO, _MISSING_IS_NAN = 1, 2
_ZERO = float(np.float32(1e-35))  # LightGBM takes numbers up to it for 0


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A sum of trees and a constant.

    Attributes
    ----------
    trees : list of Tree
    constant : float
    learnt_missing : bool
        Whether training data had missing values, as far as the trees show it.
    """

    trees: list[Tree]
    constant: float
    learnt_missing: bool

    @classmethod
    def from_ensemble(cls, model: Ensemble) -> "TreeModel":
        """Return the trees of an ensemble: of the stumps of a feature one tree.

        Training data had missing values in a feature that has a split if the ensemble says so, or if one holds missing
        values apart from all known ones.
        """
        trees, slopes = model.trees_and_slopes
        if slopes:
            raise ValueError(
                "export: the model adds up features (weak ranker Feature), and the format holds only trees; "
                "fit with stumps or trees as weak rankers"
            )
        missing = np.array(model.missing_features, np.int64)
        learnt = any((np.isneginf(tree.threshold) | np.isin(tree.feature, missing))[~tree.leaf].any() for tree in trees)
        return cls(trees, 0.0, learnt)

    @classmethod
    def from_lightgbm(cls, booster: Any, categorical: Collection[int], names: Sequence[str]) -> "TreeModel":
        """Return the trees of a `lightgbm.Booster`, which reads NaN as 0 where training data had none.

        `categorical` holds the indices of categorical columns: LightGBM splits ordered ones by code, like numbers.
        `names` are those of the features in messages.

        Raises
        ------
        ValueError
            For categorical splits, linear trees, zeros as missing values, and predictions that are no scores.
        """
        head, fields, splits = lightgbm_text(booster)
        split = {k for k, kind in splits if kind & CATEGORICAL or k in categorical}
        check_no_categories(names, split)
        scale = 1.0 / len(fields) if "average_output" in head else 1.0  # a random forest
        trees = [_lightgbm_tree(of_tree, scale) for of_tree in fields]
        return cls(trees, 0.0, any(kind >> _MISSING_TYPE == _MISSING_IS_NAN for _, kind in splits))

    @classmethod
    def from_xgboost(cls, booster: Any) -> "TreeModel":
        """Return the trees of an `xgboost.Booster`.

        All missing values of a model go to the same side, unless training data had some: tree methods without any
        give every split the same default.

        Raises
        ------
        ValueError
            For categorical splits, gblinear, and predictions that are no scores.
        """
        learner = document_of(booster)["learner"]
        _check_objective(learner["objective"]["name"])
        model = learner["gradient_booster"]["model"]
        if "trees" not in model:
            raise ValueError("export: the booster is gblinear, which has no trees; train with booster='gbtree'")
        names = names_of(booster)
        rows = [(tree["split_indices"], tree["split_type"], tree["left_children"]) for tree in model["trees"]]
        splits = {split for row in rows for split in zip(*row, strict=True)}
        check_no_categories(names, {k for k, is_category, child in splits if is_category and child >= 0})
        trees = [_xgboost_tree(tree) for tree in model["trees"]]
        directions = {bool(side) for tree in trees for side in tree.missing_left[~tree.leaf]}
        (constant,) = np.atleast_1d(json.loads(learner["learner_model_param"]["base_score"]))
        return cls(trees, float(np.float32(constant)), len(directions) > 1)


def names_of(model: Any) -> list[str]:
    """Return the names of the features of an ensemble or a booster; f0, f1, … where it has none."""
    if hasattr(model, "feature_name"):
        return list(model.feature_name())  # LightGBM's
    n_features = model.n_features if isinstance(model, Ensemble) else model.num_features()
    return list(model.feature_names or [f"f{k}" for k in range(n_features)])


def _check_objective(objective: str, applied: Collection[str] = ()) -> None:
    if objective not in (*_PREDICT_SCORES, *applied):
        raise ValueError(
            f"export: predictions of objective {objective!r} may be functions of the scores, which the engine does not "
            "apply; train with a ranking objective, a plain regression, or a loss"
        )


def check_no_categories(names: Sequence[str], split: Collection[int]) -> None:
    """Raise for columns of categories that trees split and an engine cannot."""
    if split:
        columns = shown([names[k] for k in sorted(split)])
        raise ValueError(
            f"export: the trees split by codes of the categories of {columns}, which the engine does not know; encode "
            "them as numbers before training"
        )


def lightgbm_text(booster: Any, applied: Collection[str] = ()) -> tuple[_Lines, list[_Lines], set[tuple[Any, ...]]]:
    """Return the lines of LightGBM's text, of its head and its trees, and the columns of splits with decision types.

    Raises ValueError for models that no engine reads; `applied` are objectives whose function of scores this one knows.
    """
    text = booster.model_to_string().partition("\nend of trees")[0]
    head, *trees = [_Lines(x.partition("=")[::2] for x in block.splitlines()) for block in text.split("\nTree=")]
    _check_objective(head.get("objective", "custom"), applied)
    if any(tree.get("is_linear") == "1" for tree in trees):
        raise ValueError("export: the trees are linear, and the format holds constant leaves; leave out linear_tree")
    rows = [(_row(tree, "split_feature", np.int64), _row(tree, "decision_type", np.int64)) for tree in trees]
    splits = {split for row in rows for split in zip(*row, strict=True)}
    if any(kind >> _MISSING_TYPE == _MISSING_IS_ZERO for _, kind in splits):
        raise ValueError("export: zeros are missing values in the model; train without zero_as_missing")
    return head, trees, splits


def _lightgbm_tree(fields: _Lines, scale: float) -> Tree:
    value = scale * _row(fields, "leaf_value", np.float64)
    n = len(value) - 1
    feature, kind = _row(fields, "split_feature", np.int64)[:n], _row(fields, "decision_type", np.int64)[:n]
    threshold = beyond_zero(np.minimum(_row(fields, "threshold", np.float64)[:n], np.finfo(np.float64).max))
    left, right = (_row(fields, name, np.int64)[:n] for name in ("left_child", "right_child"))
    left, right = (np.where(child < 0, n + ~child, child) for child in (left, right))
    to_left = np.where(kind >> _MISSING_TYPE == _MISSING_IS_NAN, kind & _DEFAULT_LEFT > 0, threshold >= 0.0)
    leaf = np.full(n + 1, -1)
    return Tree(
        feature=np.r_[feature, leaf],
        threshold=np.r_[threshold, np.zeros(n + 1)],
        left=np.r_[left, leaf],
        right=np.r_[right, leaf],
        value=np.r_[np.zeros(n), value],
        missing_left=np.r_[to_left, np.ones(n + 1, bool)],
    )


def beyond_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return thresholds that keep on one side all numbers that LightGBM takes for 0."""
    negative = (threshold >= -_ZERO) & (threshold < 0.0)
    below: NDArray[np.float64] = np.where(negative, np.nextafter(-_ZERO, -np.inf), threshold)
    return np.where((threshold >= 0.0) & (threshold < _ZERO), _ZERO, below)


def _row(fields: _Lines, name: str, kind: type) -> NDArray[Any]:
    return np.array(fields.get(name, "").split(), kind)


def _xgboost_tree(tree: dict[str, Any]) -> Tree:
    left, right = (np.array(tree[f"{side}_children"]) for side in ("left", "right"))
    leaf = left < 0
    feature = np.where(leaf, -1, tree["split_indices"])
    condition = np.array(tree["split_conditions"], np.float32)
    # x < condition in single precision: x is at most the number before
    below = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    order, left, right = in_breadth(left, right)
    return Tree(
        feature=feature[order],
        threshold=np.where(leaf, 0.0, below)[order],
        left=left,
        right=right,
        value=np.where(leaf, condition, 0.0).astype(np.float64)[order],
        missing_left=np.array(tree["default_left"], bool)[order],
    )
