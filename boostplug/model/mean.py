"""`mean_model`: the mean of several models as one ordinary booster."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import shown
from boostplug.model.export import fitted_model, framework_of, plain_booster
from boostplug.model.lightgbm import block_of, booster_of
from boostplug.model.xgboost import booster_of_document, change_leaves, document_of, entry_of
from boostplug.weak_rankers import Tree

_LEAVES = re.compile(r"^(leaf_value|internal_value|leaf_const|leaf_coeff)=(.*)$", re.MULTILINE)


def mean_model(models: Iterable[Any]) -> Any:
    """Return one ordinary booster whose scores are the mean of the models' scores.

    It holds the trees of all models, with their leaves divided by the number of models, and needs boostplug no more
    than these do. The mean of models of several seeds, or of several folds, ranks a little better than each of them.

    Parameters
    ----------
    models : iterable of Booster, LGBMRanker or XGBRanker
        Fitted models of one framework on the same features. Each counts as far as its best iteration.

    Returns
    -------
    lightgbm.Booster or xgboost.Booster
        As `export` returns it: under an objective that converters know, without a best iteration. Scores equal the mean
        up to rounding, 1e-12 in LightGBM and 1e-5 in XGBoost, which has single precision.

    Raises
    ------
    ValueError
        If there is no model, or models differ in framework, features, categories or objective, or are no sums of trees.

    Examples
    --------
    >>> import boostplug as bp
    >>> train = bp.datasets.load_bundled().train
    >>> rankers = [bp.LGBMRanker(n_estimators=3, random_state=s, n_jobs=1, verbose=-1) for s in (1, 2)]
    >>> mean = bp.mean_model([ranker.fit(train.X, train.y, qid=train.qid) for ranker in rankers])
    >>> mean.num_trees()
    6
    """
    if isinstance(models, (str, bytes)) or not isinstance(models, Iterable):
        raise ValueError(f"models must be a list of fitted rankers or boosters; got {shown(models)}")
    boosters = [fitted_model(model) for model in models]
    for number, booster in enumerate(boosters):
        if type(booster).__name__ != "Booster":
            what = "must be a fitted LGBMRanker or XGBRanker, or a booster"
            raise ValueError(f"models[{number}] {what}; got {shown(booster)}")
    if not boosters:
        raise ValueError("models holds no model; pass fitted rankers or boosters")
    plain = [plain_booster(booster) for booster in boosters]
    frameworks = {framework_of(booster) for booster in plain}
    if len(frameworks) > 1:
        raise ValueError(f"models are of {' and '.join(sorted(frameworks))}; pass models of one framework")
    return _SUMS[frameworks.pop()](plain, 1.0 / len(plain))


def plus_trees(booster: Any, weight: float, trees: Sequence[Tree], X: NDArray[np.floating]) -> Any:
    """Return a plain booster with its scores times `weight`, and with more trees, whose nodes count the rows of X."""
    return _SUMS[framework_of(booster)]([booster], weight, trees, X)


def _check_same(what: str, values: Sequence[Any]) -> None:
    """Raise where the models do not agree."""
    for number, value in enumerate(values):
        if value != values[0]:
            raise ValueError(
                f"models differ in their {what}: {shown(values[0])} and, in models[{number}], {shown(value)}; train "
                "them on the same columns with the same objective"
            )


def _lightgbm(boosters: Sequence[Any], weight: float, more: Sequence[Tree] = (), X: Any = None) -> Any:
    texts = [booster.model_to_string() for booster in boosters]
    if any("\naverage_output\n" in text for text in texts):
        raise ValueError("models hold a random forest, which averages its trees by itself; pass boosted trees")
    _check_same("feature names", [booster.feature_name() for booster in boosters])
    _check_same("objective", [re.findall(r"^objective=(.*)$", text, re.MULTILINE) for text in texts])
    _check_same("categories", [booster.pandas_categorical for booster in boosters])

    def scaled(match: re.Match[str]) -> str:
        return f"{match[1]}=" + re.sub(r"\S+", lambda number: repr(float(number[0]) * weight), match[2])

    blocks = []
    for text in texts:
        _, *trees = re.split(r"^Tree=\d+\n", text.partition("\nend of trees\n")[0], flags=re.MULTILINE)
        blocks += [_LEAVES.sub(scaled, tree).rstrip("\n") for tree in trees]
    blocks += [block_of(tree, X).rstrip("\n") for tree in more]
    blocks = [f"Tree={i}\n{block}\n\n\n" for i, block in enumerate(blocks)]
    head = texts[0].partition("\n\n")[0]
    sizes = " ".join(str(len(block.encode())) for block in blocks)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", head, flags=re.MULTILINE)
    end = texts[0][texts[0].index("\nparameters:\n") :]
    return booster_of(f"{head}\n\n{''.join(blocks)}end of trees\n{end}")


def _xgboost(boosters: Sequence[Any], weight: float, more: Sequence[Tree] = (), X: Any = None) -> Any:
    documents = [document_of(booster) for booster in boosters]
    learners = [document["learner"] for document in documents]
    boosted = [learner["gradient_booster"] for learner in learners]
    if any(one["name"] != "gbtree" for one in boosted):
        raise ValueError("models hold linear boosters (gblinear); pass boosted trees")
    models = [one["model"] for one in boosted]
    _check_same("features", [[one["feature_names"], one["feature_types"]] for one in learners])
    _check_same("number of features", [one["learner_model_param"]["num_feature"] for one in learners])
    _check_same("objective", [one["objective"]["name"] for one in learners])
    _check_same("trees of a round", [one["gbtree_model_param"]["num_parallel_tree"] for one in models])
    _check_same("categories", [one.get("cats") for one in models])
    base = [float(np.ravel(json.loads(one["learner_model_param"]["base_score"]))[0]) for one in learners]
    if learners[0]["objective"]["name"] != "reg:squarederror":  # whose base score is a score
        _check_same("base score", base)
    mean = models[0]
    trees = [tree for model in models for tree in model["trees"]]
    for number, tree in enumerate(trees):
        change_leaves(tree, lambda values: values * weight)
        tree["id"] = number
    n_boosted, step = len(trees), int(mean["gbtree_model_param"]["num_parallel_tree"])
    n_features = int(learners[0]["learner_model_param"]["num_feature"])
    trees += [entry_of(tree, 0.0, n_boosted + number, n_features, X) for number, tree in enumerate(more)]
    mean["trees"], mean["tree_info"] = trees, [0] * len(trees)
    mean["gbtree_model_param"]["num_trees"] = str(len(trees))
    mean["iteration_indptr"] = [*range(0, n_boosted + 1, step), *range(n_boosted + 1, len(trees) + 1)]
    learners[0]["learner_model_param"]["base_score"] = str(float(np.mean(base) * (weight * len(base))))
    learners[0]["attributes"] = {k: v for k, v in learners[0]["attributes"].items() if k == "category_lists"}
    return booster_of_document(documents[0])


_SUMS = {"lightgbm": _lightgbm, "xgboost": _xgboost}
