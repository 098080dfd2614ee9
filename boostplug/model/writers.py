"""Models in the formats of search engines, one writer each: of trees, or of a booster of LightGBM.

Engines compare in single precision. There, x ≤ t of a tree is x ≤ b and x < a: b is the largest single-precision number
up to t, and a the next one above b.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import shown
from boostplug.core.extras import imported
from boostplug.core.warning import warn_user
from boostplug.model.boosters import set_booster
from boostplug.model.trees import CATEGORICAL, TreeModel, beyond_zero, check_no_categories, lightgbm_text
from boostplug.model.xgboost import xgboost_model
from boostplug.weak_rankers.stump import largest_single
from boostplug.weak_rankers.tree import Tree

Singles = NDArray[np.float32]
Categories = Mapping[int, Sequence[Any]]  # of columns, by their index

_LARGEST = np.finfo(np.float32).max
_SLACK = np.float32(1e-6)  # Solr adds it to each threshold when it loads a model
_NEXT_TO_ZERO = np.float32(1.1e-35)  # just above what LightGBM takes for 0
_VESPA_APPLIES = ("binary sigmoid:1", "cross_entropy", "poisson", "gamma", "tweedie")  # as functions of scores
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


def solr(trees: Sequence[Tree], names: Sequence[str], name: str = "boostplug", store: str | None = None) -> str:
    """Return the JSON of Solr's `MultipleAdditiveTreesModel`; numbers are texts, which every version reads.

    Warns of features with values near 0 that go to the other side, as no threshold and slack sum to the bound.
    """

    def node(at: int, left: Any, right: Any, tree: Tree, threshold: Singles) -> dict[str, Any]:
        split = {"feature": names[tree.feature[at]], "threshold": str(threshold[at])}
        return {**split, "left": left, "right": right} if left else {"value": str(np.float32(tree.value[at]))}

    written, features = [], set[str]()
    for tree in trees:
        bound = np.maximum(largest_single(tree.threshold), -_LARGEST)
        threshold = _less_slack(bound)
        written.append({"weight": "1", "root": _nested(tree, node, threshold)})
        missed = ~tree.leaf & (threshold + _SLACK < bound) & (np.abs(bound) > _NEXT_TO_ZERO)
        features.update(names[feature] for feature in tree.feature[missed])
    if features:
        what = "Solr adds 1e-6 to thresholds, so some values near 0 go to the other side of a split"
        remedy = "multiply these features by 1,000 before training, or see by X=rows whether it matters"
        warn_user(f"{what} on {', '.join(map(repr, sorted(features)))}; {remedy}")
    model = {"class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel", "name": name}
    model |= {} if store is None else {"store": store}
    return _json({**model, "features": [{"name": each} for each in names], "params": {"trees": written}})


def xgboost_dump(trees: Sequence[Tree], names: Sequence[str]) -> str:
    """Return the JSON dump of XGBoost's trees, as the plugins of Elasticsearch and OpenSearch read it, and Vespa."""

    def node(at: int, left: Any, right: Any, tree: Tree, bound: NDArray[np.float64]) -> dict[str, Any]:
        if not left:
            return {"nodeid": at, "leaf": float(np.float32(tree.value[at]))}
        yes, no = left["nodeid"], right["nodeid"]
        split = {"split": names[tree.feature[at]], "split_condition": float(bound[at]), "yes": yes, "no": no}
        missing = yes if tree.missing_left[at] else no
        return {"nodeid": at, "depth": int(depth[at]), **split, "missing": missing, "children": [left, right]}

    roots = []
    for tree in trees:
        depth = np.zeros(len(tree.value), np.int64)
        for at in np.flatnonzero(~tree.leaf):
            depth[[tree.left[at], tree.right[at]]] = depth[at] + 1
        bound = largest_single(tree.threshold)
        bound = np.minimum(bound, np.nextafter(_LARGEST, np.float32(0.0)))  # so that a number is above it
        roots.append(_nested(tree, node, np.nextafter(bound, np.float32(np.inf)).astype(np.float64)))
    return _json(roots)


def ranklib(trees: Sequence[Tree], _names: Sequence[str]) -> str:
    """Return RankLib's XML of an ensemble; features are numbered from 1."""

    def node(at: int, left: Any, right: Any, tree: Tree, bound: Singles) -> str:
        if not left:
            return f"<output> {np.float32(tree.value[at])} </output>"
        split = f"<feature> {tree.feature[at] + 1} </feature><threshold> {bound[at]} </threshold>"
        return f'{split}<split pos="left">{left}</split><split pos="right">{right}</split>'

    roots = [_nested(tree, node, np.maximum(largest_single(tree.threshold), -_LARGEST)) for tree in trees]
    lines = [f'<tree id="{k}" weight="1">\n<split>{root}</split>\n</tree>' for k, root in enumerate(roots, start=1)]
    return "\n".join(["## LambdaMART", f"## No. of trees = {len(trees)}", "", "<ensemble>", *lines, "</ensemble>", ""])


def xgboost_ranker(trees: Sequence[Tree], names: Sequence[str]) -> Any:
    """Return a plain `xgboost.XGBRanker`."""
    xgb = imported("xgboost", "export(to='xgboost') needs")
    ranker = xgb.XGBRanker(n_estimators=len(trees), base_score=0.0)  # eland adds it, and .5 where there is none
    set_booster(ranker, xgb.Booster(model_file=bytearray(xgboost_model(trees, names, len(names)))))
    return ranker


def vespa(booster: Any, names: Sequence[str], known: Categories) -> str:
    """Return LightGBM's own dump, in which Vespa finds categories too; `known` are those of the training set."""
    _, _, splits = lightgbm_text(booster, _VESPA_APPLIES)
    document = booster.dump_model()
    check_no_categories(names, {k for k, kind in splits if not kind & CATEGORICAL and k in known})
    _name_categories(document, names, sorted({k for k, kind in splits if kind & CATEGORICAL}), known)
    share = 1.0 / len(document["tree_info"]) if document.get("average_output") else 1.0  # a random forest
    document["average_output"] = False
    for tree in document["tree_info"]:
        _as_vespa_reads(tree["tree_structure"], share)
    return json.dumps(document, ensure_ascii=False)


def _name_categories(document: dict[str, Any], names: Sequence[str], split: list[int], known: Categories) -> None:
    """Keep the lists of categories of the columns that trees split: Vespa gives one to each column with values.

    LightGBM's dump lists the categories without their columns. They are known where all these have values.
    """
    infos = [document["feature_infos"].get(name, {}) for name in document["feature_names"]]
    lists, coded = document["pandas_categorical"] or [], [k for k, info in enumerate(infos) if info.get("values")]
    if not known and len(lists) == len(coded):
        known = {k: texts for k, texts in zip(coded, lists, strict=True) if infos[k]["max_value"] < len(texts)}
    held = {k: known.get(k, [None]) for k in split}
    wrong = [names[k] for k, texts in held.items() if not all(isinstance(text, str) for text in texts)]
    if lists and wrong:
        raise ValueError(
            f"export: Vespa reads categories that are texts, and those of {shown(wrong)} are others, or unknown beside "
            "ordered ones and columns of one value; drop these, and write .astype(str).astype('category') in training"
        )
    infos = [info if k in held else {**info, "values": []} for k, info in enumerate(infos)]
    document["feature_infos"] = dict(zip(names, infos, strict=True))
    document.update(feature_names=[*names], pandas_categorical=[*held.values()] if lists else [])


def _as_vespa_reads(root: dict[str, Any], share: float) -> None:
    """Change a tree's dump, which Vespa reads in another way than LightGBM.

    Vespa sends what is below a threshold left, LightGBM also what equals it. Vespa sends missing values by default
    where LightGBM takes them for 0. And it adds up all leaves, of which a random forest counts a `share` each.
    """
    waiting = [root]
    for node in waiting:
        if "threshold" not in node:
            node["leaf_value"] *= share
            continue
        waiting += [node["left_child"], node["right_child"]]
        if node["decision_type"] == "<=":
            if node["missing_type"] == "None":
                node["default_left"] = node["threshold"] >= 0.0
            at_most = float(beyond_zero(np.array(node["threshold"])))
            node["threshold"] = min(nextafter(at_most, inf), sys.float_info.max)


def _nested(tree: Tree, node: Callable[..., Any], numbers: NDArray[Any]) -> Any:
    """Return the root of a tree as `node` makes it of a place, its children's nodes, the tree and its numbers."""
    made: list[Any] = [None] * len(tree.value)
    for at in range(len(made) - 1, -1, -1):  # children come after their parents
        below = (None, None) if tree.leaf[at] else (made[tree.left[at]], made[tree.right[at]])
        made[at] = node(at, *below, tree, numbers)
    return made[0]


def _less_slack(bound: Singles) -> Singles:
    """Return the largest thresholds whose sum with Solr's slack is at most the wanted bound."""
    chosen: Singles = bound - _SLACK
    for _ in range(_STEPS):
        chosen = np.where(chosen + _SLACK > bound, np.nextafter(chosen, -_LARGEST), chosen)
    for _ in range(_STEPS):
        above = np.nextafter(chosen, _LARGEST)
        chosen = np.where(above + _SLACK <= bound, above, chosen)
    return chosen


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise ValueError("export: a tree is too deep for JSON; train with max_depth up to 100") from None
