"""Models in the formats of search engines, one writer each, from the trees of a `TreeModel`.

Engines compare in single precision. There, x ≤ t of a tree is x ≤ b and x < a: b is the largest single-precision number
up to t, and a the next one above b.
"""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.model.trees import TreeModel
from boostplug.weak_rankers.stump import largest_single
from boostplug.weak_rankers.tree import Tree

Singles = NDArray[np.float32]

_LARGEST = np.finfo(np.float32).max
_SLACK = np.float32(1e-6)  # Solr adds it to each threshold when it loads a model
_NEXT_TO_ZERO = np.float32(1.1e-35)  # just above what LightGBM takes for 0
_STEPS = 2  # by which rounding may miss the threshold that gives the wanted sum


def all_trees(model: TreeModel, *, missing_is_zero: bool, offset: float = 0.0) -> list[Tree]:
    """Return the trees, the first of them the offset, if any, and then the constant.

    With `missing_is_zero`, missing values go where 0 goes.
    """
    trees, constants = model.trees, [value for value in (offset, model.constant) if value]
    if missing_is_zero:
        trees = [replace(tree, missing_left=tree.threshold >= 0.0) for tree in trees]
    return [*(Tree.from_steps(0, (), (value,)) for value in constants or [0.0] * (not trees)), *trees]


def offset_above_zero(model: TreeModel) -> float:
    """Return the constant that, added to all scores, leaves no sum of leaves below 0 in single precision."""
    leaves = [tree.value[tree.leaf] for tree in model.trees]
    lowest = model.constant + sum(float(of_tree.min()) for of_tree in leaves)
    largest = abs(model.constant) + sum(float(np.abs(of_tree).max()) for of_tree in leaves)
    rounding = (len(leaves) + 1) * float(np.finfo(np.float32).eps) * 2.0 * largest
    return max(0.0, rounding - lowest) if lowest < 0.0 else 0.0


def solr(trees: Sequence[Tree], names: Sequence[str], name: str, store: str | None) -> str:
    """Return the JSON of Solr's `MultipleAdditiveTreesModel`; numbers are texts, which every version reads."""
    less_slack = [_less_slack(tree) for tree in trees]
    _warn_of_slack(trees, names, less_slack)

    def node(at: int, left: Any, right: Any, tree: Tree, threshold: Singles) -> dict[str, Any]:
        split = {"feature": names[tree.feature[at]], "threshold": str(threshold[at])}
        return {**split, "left": left, "right": right} if left else {"value": str(np.float32(tree.value[at]))}

    roots = [_nested(tree, node, threshold) for tree, threshold in zip(trees, less_slack, strict=True)]
    return _json(
        {
            "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
            "name": name,
            **({} if store is None else {"store": store}),
            "features": [{"name": feature} for feature in names],
            "params": {"trees": [{"weight": "1", "root": root} for root in roots]},
        }
    )


def xgboost_dump(trees: Sequence[Tree], names: Sequence[str]) -> str:
    """Return the JSON dump of XGBoost's trees, as the plugins of Elasticsearch and OpenSearch read it, and Vespa."""

    def node(at: int, left: Any, right: Any, tree: Tree, bound: NDArray[np.float64]) -> dict[str, Any]:
        if not left:
            return {"nodeid": at, "leaf": float(np.float32(tree.value[at]))}
        yes, no = left["nodeid"], right["nodeid"]
        return {
            "nodeid": at,
            "depth": int(depth[at]),
            "split": names[tree.feature[at]],
            "split_condition": float(bound[at]),
            "yes": yes,
            "no": no,
            "missing": yes if tree.missing_left[at] else no,
            "children": [left, right],
        }

    roots = []
    for tree in trees:
        depth = _depth(tree)
        bound = largest_single(tree.threshold)
        bound = np.minimum(bound, np.nextafter(_LARGEST, np.float32(0.0)))  # so that a number is above it
        roots.append(_nested(tree, node, np.nextafter(bound, np.float32(np.inf)).astype(np.float64)))
    return _json(roots)


def ranklib(trees: Sequence[Tree]) -> str:
    """Return RankLib's XML of an ensemble; features are numbered from 1."""

    def node(at: int, left: Any, right: Any, tree: Tree, bound: Singles) -> str:
        if not left:
            return f"<output> {np.float32(tree.value[at])} </output>"
        split = f"<feature> {tree.feature[at] + 1} </feature><threshold> {bound[at]} </threshold>"
        return f'{split}<split pos="left">{left}</split><split pos="right">{right}</split>'

    roots = [_nested(tree, node, np.maximum(largest_single(tree.threshold), -_LARGEST)) for tree in trees]
    lines = [f'<tree id="{k}" weight="1">\n<split>{root}</split>\n</tree>' for k, root in enumerate(roots, start=1)]
    return "\n".join(["## LambdaMART", f"## No. of trees = {len(trees)}", "", "<ensemble>", *lines, "</ensemble>", ""])


def _nested(tree: Tree, node: Callable[..., Any], numbers: NDArray[Any]) -> Any:
    """Return the root of a tree as `node` makes it of a place, its children's nodes, the tree and its numbers."""
    made: list[Any] = [None] * len(tree.value)
    for at in range(len(made) - 1, -1, -1):  # children come after their parents
        below = (None, None) if tree.leaf[at] else (made[tree.left[at]], made[tree.right[at]])
        made[at] = node(at, *below, tree, numbers)
    return made[0]


def _depth(tree: Tree) -> NDArray[np.int64]:
    depth = np.zeros(len(tree.value), np.int64)
    for at in np.flatnonzero(~tree.leaf):
        depth[[tree.left[at], tree.right[at]]] = depth[at] + 1
    return depth


def _less_slack(tree: Tree) -> Singles:
    """Return the largest threshold whose sum with Solr's slack is at most the wanted bound."""
    bound = np.maximum(largest_single(tree.threshold), -_LARGEST)
    chosen: Singles = bound - _SLACK
    for _ in range(_STEPS):
        chosen = np.where(chosen + _SLACK > bound, np.nextafter(chosen, -_LARGEST), chosen)
    for _ in range(_STEPS):
        above = np.nextafter(chosen, _LARGEST)
        chosen = np.where(above + _SLACK <= bound, above, chosen)
    return chosen


def _warn_of_slack(trees: Sequence[Tree], names: Sequence[str], less_slack: Sequence[Singles]) -> None:
    """Warn of features with values near 0 that go to the other side, as no threshold and slack sum to the bound."""
    features = set[str]()
    for tree, threshold in zip(trees, less_slack, strict=True):
        bound = np.maximum(largest_single(tree.threshold), -_LARGEST)
        missed = ~tree.leaf & (threshold + _SLACK < bound) & (np.abs(bound) > _NEXT_TO_ZERO)
        features.update(names[feature] for feature in tree.feature[missed])
    if features:
        what = "Solr adds 1e-6 to thresholds, so some values near 0 go to the other side of a split"
        remedy = "multiply these features by 1,000 before training, or see by X=rows whether it matters"
        warnings.warn(f"{what} on {', '.join(map(repr, sorted(features)))}; {remedy}", UserWarning, stacklevel=4)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise ValueError("export: a tree is too deep for JSON; train with max_depth up to 100") from None
