"""Trees and lines in LightGBM's text format for models (version 4); its boosters' leaves, estimated anew."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.weak_rankers.tree import Tree

_LOWEST = np.finfo(np.float64).min
_SMALLEST = np.finfo(np.float64).tiny
_MOST_COUNTED = 2**30  # LightGBM counts in 32 bits
_MISSING_IS_NAN, _DEFAULT_LEFT = 8, 2  # bits of decision_type


def lightgbm_model(
    trees: Sequence[Tree],
    lines: dict[int, float],
    feature_names: Sequence[str] | None,
    n_features: int,
    X: NDArray[np.floating] | None = None,
) -> str:
    """Return the model of a sum of trees and of slopes times features (missing: 0), with counts of the rows of X."""
    names = allowed_names(feature_names, r'[\s"\[\]{}:,\x00-\x1f]') or [f"Column_{k}" for k in range(n_features)]
    if not (trees or lines):
        trees = [Tree.from_steps(0, (), (0.0,))]
    blocks = [block_of(tree, X) for tree in trees] + [_line(feature, slope) for feature, slope in lines.items()]
    blocks = [f"Tree={i}\n{block}\n\n" for i, block in enumerate(blocks)]
    head = _lines(
        version="v4",
        num_class=1,
        num_tree_per_iteration=1,
        label_index=0,
        max_feature_idx=len(names) - 1,
        feature_names=" ".join(names),
        feature_infos=" ".join(["none"] * len(names)),
        tree_sizes=_row(len(block) for block in blocks),
    )
    return named(
        f"tree\n{head}\n{''.join(blocks)}end of trees\n\n"
        "parameters:\n[objective: custom]\nend of parameters\n\npandas_categorical:null\n"
    )


def named(text: str) -> str:
    """Return the text of a model of a custom objective, which converters refuse, with lambdarank as its objective.

    LightGBM's predictions are the scores themselves under both. A text stays as it is where it has an objective, and
    where converters that took it would misread it: they drop the slopes of linear trees, and see no zero as missing.
    """
    head, blank, rest = text.partition("\n\n")
    misread = "\nis_linear=1\n" in rest or "\n[zero_as_missing: 1]\n" in rest
    if misread or "\nobjective=" in head:
        return text
    head = head.replace("\nfeature_names=", "\nobjective=lambdarank\nfeature_names=", 1)
    return head + blank + rest.replace("\n[objective: custom]\n", "\n[objective: lambdarank]\n", 1)


def booster_of(text: str) -> Any:
    """Return the booster of a model's text, which knows its objective; LightGBM 4.6 leaves a text's parameters out."""
    import lightgbm as lgb

    booster = lgb.Booster(model_str=text)
    parameters = dict(re.findall(r"^\[(\w+): (.*)\]$", text, re.MULTILINE))
    booster.params.setdefault("objective", parameters.get("objective"))
    return booster


def allowed_names(names: Sequence[str] | None, forbidden: str) -> list[str] | None:
    """Return feature names without the characters that match `forbidden`, or that UTF-8 has not, all different."""
    if names is None:
        return None
    out: dict[str, None] = {}
    for k, name in enumerate(names):
        allowed = re.sub(rf"{forbidden}|[\ud800-\udfff]", "_", name)
        while not allowed or allowed in out:
            allowed += f"_{k}"
        out[allowed] = None
    return list(out)


def counts_at_nodes(tree: Tree, X: NDArray[np.floating] | None) -> tuple[NDArray[np.int64], int]:
    """Return counts, with which SHAP values weigh: rows of X at each node, times a unit; without X leaves below it.

    A leaf without rows counts as a thousandth of a row, because SHAP values divide by counts. The unit comes second.
    """
    count, unit = tree.leaf.astype(np.int64), 1
    if X is not None and len(X):
        leaf_of_row = replace(tree, value=np.arange(len(count), dtype=np.float64)).predict(X).astype(np.int64)
        unit = max(1, min(1000, _MOST_COUNTED // len(X)))
        count = np.maximum(count, unit * np.bincount(leaf_of_row, minlength=len(count)))
    for node in np.flatnonzero(~tree.leaf)[::-1]:
        count[node] = count[tree.left[node]] + count[tree.right[node]]
    return count, unit


def block_of(tree: Tree, X: NDArray[np.floating] | None = None) -> str:
    """Return a tree's lines in the model."""
    inner, leaf = np.flatnonzero(~tree.leaf), np.flatnonzero(tree.leaf)
    number = np.empty(len(tree.value), np.int64)  # inner nodes and leaves are counted apart, leaves as -1, -2, …
    number[inner], number[leaf] = np.arange(len(inner)), ~np.arange(len(leaf))
    count, _ = counts_at_nodes(tree, X)
    return _lines(
        num_leaves=len(leaf),
        num_cat=0,
        split_feature=_row(tree.feature[inner]),
        split_gain=_row(tree.changes[inner]),
        threshold=_row(np.maximum(tree.threshold[inner], _LOWEST)),
        decision_type=_row(np.where(tree.missing_left[inner], _MISSING_IS_NAN + _DEFAULT_LEFT, _MISSING_IS_NAN)),
        left_child=_row(number[tree.left[inner]]),
        right_child=_row(number[tree.right[inner]]),
        leaf_value=_row(tree.value[leaf]),
        leaf_weight=_row(count[leaf]),
        leaf_count=_row(count[leaf]),
        internal_value=_row(tree.value[inner]),
        internal_weight=_row(count[inner]),
        internal_count=_row(count[inner]),
        is_linear=0,
        shrinkage=1,
    )


def _line(feature: int, slope: float) -> str:
    if 0 < abs(slope) < _SMALLEST:  # LightGBM ends the process when it reads one
        raise ValueError(f"feature {feature} weighs {slope!r}, below what LightGBM reads; scale the weights")
    # Known values go right, to a linear leaf. (LightGBM does not read a linear tree of one leaf.)
    tree = Tree.from_steps(feature, (-np.inf,), (0.0, 0.0))
    linear = _lines(
        is_linear=1, leaf_const="0 0", num_features="0 1", leaf_features=f"{feature} ", leaf_coeff=f"{slope!r} "
    )
    return block_of(tree).replace("is_linear=0\n", linear)


def _lines(**entries: Any) -> str:
    return "".join(f"{name}={value}\n" for name, value in entries.items())


def _row(values: NDArray[Any] | Iterable[Any]) -> str:
    return " ".join(map(repr, values.tolist() if isinstance(values, np.ndarray) else values))
