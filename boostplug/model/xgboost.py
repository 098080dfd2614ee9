"""Trees in XGBoost's JSON format for models."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.extras import imported
from boostplug.model.lightgbm import allowed_names, counts_at_nodes
from boostplug.weak_rankers.stump import largest_single
from boostplug.weak_rankers.tree import Tree, in_breadth

Singles = NDArray[np.float32]

_LOWEST = np.finfo(np.float32).min
_NO_PARENT = 2**31 - 1


def xgboost_model(trees: Sequence[Tree], feature_names: Sequence[str] | None, n_features: int) -> bytes:
    """Return the model of a sum of trees."""
    reach = sum(np.abs(tree.value).max() for tree in trees)
    if reach and not 1e-30 < reach < 1e38:
        raise ValueError(f"scores of size {reach:.3g} are beyond single precision; scale the weights")
    if not trees:
        trees = [Tree.from_steps(0, (), (0.0,))]  # converters know no model without trees
    learner = {
        "attributes": {},
        "feature_names": allowed_names(feature_names, r"[\[\]<]") or [],
        "feature_types": [],
        "gradient_booster": _gbtree(trees, n_features),
        "learner_model_param": {
            "base_score": "0E0",
            "boost_from_average": "0",
            "num_class": "0",
            "num_feature": str(n_features),
            "num_target": "1",
        },
        "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
    }
    return json.dumps({"learner": learner, "version": [3, 0, 0]}, ensure_ascii=False).encode()


def _gbtree(trees: Sequence[Tree], n_features: int) -> dict[str, Any]:
    """Return the booster of a sum of trees.

    XGBoost adds in single precision. So that little is rounded, each tree is centred, the trees with the smallest
    range come first, and the last one takes the constant.
    """
    values = [tree.value[tree.leaf] for tree in trees]
    ranges = [np.ptp(leaves) for leaves in values]
    centres = [leaves.min() + 0.5 * width for leaves, width in zip(values, ranges, strict=True)]
    order = np.argsort(ranges, kind="stable")
    shifts = -np.array(centres)
    if len(order):
        shifts[order[-1]] += np.sum(centres)
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": list(range(len(trees) + 1)),
        "tree_info": [0] * len(trees),
        "trees": [entry_of(trees[at], shifts[at], i, n_features) for i, at in enumerate(order)],
    }
    return {"name": "gbtree", "model": model}


def entry_of(
    tree: Tree, shift: float, at: int, n_features: int, X: NDArray[np.floating] | None = None
) -> dict[str, Any]:
    """Return a tree as an entry of the model, its leaves moved by `shift`, with counts of the rows of X."""
    # XGBoost goes left where float32(x) < condition.
    with np.errstate(over="ignore"):
        condition = np.nextafter(largest_single(tree.threshold), np.float32(np.inf))
    # No single is above: the same as none below, the children exchanged.
    leaf = tree.leaf
    swapped = ~leaf & (condition == np.inf)
    condition[swapped] = _LOWEST
    left, right = np.where(swapped, [tree.right, tree.left], [tree.left, tree.right])
    # In XGBoost's own trees a right child comes next after the left one, and parts of XGBoost rely on it.
    order, left, right = in_breadth(left, right)
    leaf = leaf[order]
    inner = np.flatnonzero(~leaf)
    parents = np.full(len(order), _NO_PARENT)
    parents[left[inner]] = parents[right[inner]] = inner
    value, (count, unit) = tree.value[order] + shift, counts_at_nodes(tree, X)
    return {
        "base_weights": singles(value),
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": (tree.missing_left != swapped)[order].astype(int).tolist(),
        "id": at,
        "left_children": left.tolist(),
        "loss_changes": singles(tree.changes[order]),
        "parents": parents.tolist(),
        "right_children": right.tolist(),
        "split_conditions": singles(np.where(leaf, value, condition[order])),
        "split_indices": np.where(leaf, 0, tree.feature[order]).tolist(),
        "split_type": [0] * len(order),
        "sum_hessian": (count[order] / unit).tolist(),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(len(order)),
            "size_leaf_vector": "1",
        },
    }


def first_rounds(booster: Any, n_rounds: int) -> Any:
    """Return a copy of a booster's first rounds. It keeps categories, which slices of XGBoost lose (xgboost#12462)."""
    sliced = booster[:n_rounds]
    categories = "c" in (booster.feature_types or ()) and trees_of(document_of(booster)).get("cats")
    if not categories:  # which boosters know since XGBoost 3.1
        return sliced
    document = document_of(sliced)
    trees_of(document)["cats"] = categories
    copied = booster_of_document(document)
    copied.load_config(sliced.save_config())
    return copied


def set_categories(booster: Any, categories: Mapping[int, Sequence[Any]] | None) -> None:
    """Write the categories by the places of their columns into an attribute `category_lists`, in JSON.

    XGBoost up to 3.2 damages texts beyond ASCII in its own lists (xgboost#12371), and before 3.1 keeps none.
    """
    if categories:
        booster.set_attr(category_lists=json.dumps(dict(categories), default=np.generic.item))


def trees_of(document: dict[str, Any]) -> Any:
    """Return the trees of a booster in XGBoost's JSON, with what belongs to them."""
    boosted = document["learner"]["gradient_booster"]
    return boosted.get("gbtree", boosted)["model"]  # dart holds them within its own


def document_of(booster: Any) -> dict[str, Any]:
    """Return a booster as XGBoost's JSON."""
    return dict(json.loads(bytes(booster.save_raw("json"))))


def booster_of_document(document: Mapping[str, Any]) -> Any:
    """Return the booster of XGBoost's JSON."""
    content = json.dumps(document, ensure_ascii=False).encode()
    return imported("xgboost", "models of XGBoost need").Booster(model_file=bytearray(content))


def change_leaves(tree: dict[str, Any], changed: Callable[[Singles], NDArray[Any]]) -> None:
    """Replace the leaves of a tree in XGBoost's JSON by what a function makes of them."""
    values = np.array(tree["split_conditions"], np.float32)  # of a leaf: its value
    leaves = np.equal(tree["left_children"], -1)
    tree["split_conditions"] = singles(np.where(leaves, changed(values), values))


def singles(values: NDArray[np.floating]) -> list[float]:
    """Return the shortest decimals of the values in single precision: what XGBoost reads exactly."""
    return [float(str(value)) for value in values.astype(np.float32)]
