"""What `export` makes of a model for each place that it goes to: checks, the trees, and the writer."""

import json
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from math import inf, isnan, nextafter
from typing import Any

import numpy as np

from boostplug.core.checks import check_number, shown
from boostplug.core.extras import imported
from boostplug.model import engines
from boostplug.model.ensemble import Ensemble
from boostplug.model.trees import CATEGORICAL, TreeModel, beyond_zero, lightgbm_text, names_of, refuse_categories
from boostplug.model.xgboost import xgboost_model

TARGETS = ("solr", "elasticsearch-ltr", "opensearch-ltr", "ranklib", "vespa", "xgboost")
_WITH_DIRECTIONS = ("elasticsearch-ltr", "opensearch-ltr", "vespa", "xgboost")
"""Targets where a missing value may go where the trees send it."""
ABOVE_ZERO = ("elasticsearch-ltr", "opensearch-ltr")
"""Targets whose queries must not score below 0."""
_OF_VESPA = re.compile(r"[A-Za-z_$@][\w$@]*(\([\w$@.,]*\))?(\.[A-Za-z_$@][\w$@]*(\([\w$@.,]*\))?)*", re.ASCII)
_WORDS_OF_VESPA = ("if", "in", "true", "false")
_VESPA_APPLIES = ("binary sigmoid:1", "cross_entropy", "poisson", "gamma", "tweedie")
"""LightGBM's objectives whose functions of the scores Vespa applies."""

_Categories = Mapping[int, Sequence[Any]]  # of columns, by their index


def converted(
    plain: Any,
    to: str,
    feature_names: Sequence[str] | None,
    missing: str | None,
    known: _Categories,
    *,
    name: str | None = None,
    store: str | None = None,
    offset: str | float | None = None,
) -> tuple[Any, float]:
    """Return a model as `to` reads it, a text or a ranker, and the constant that is added to its scores.

    `plain` is an ensemble, or a booster that `export` made; `known` are the categories of the training set.
    """
    for what, value in (("name", name), ("store", store)):
        if value is not None and to != "solr":
            raise ValueError(f"{what}={value!r} is of a model in Solr; {to} takes none: leave it out")
    if to == "vespa" and offset is not None:
        raise ValueError(f"offset={offset!r}: Vespa takes scores below 0; leave it out")
    if to == "vespa" and _framework(plain) == "lightgbm":
        return _dumped(plain, feature_names, missing, known), 0.0
    names = _names(names_of(plain), feature_names, to)
    model = _tree_model(plain, known, names)
    keeps = _keeps_directions(model, to, missing)
    if to == "vespa" and isinstance(plain, Ensemble):
        return _dumped(plain.to_lightgbm(), names, missing, {}), 0.0
    added = _offset(model, offset if offset is not None or to not in ABOVE_ZERO else "auto")
    trees = engines.all_trees(model, missing_is_zero=not keeps, offset=added)
    if to == "xgboost":
        return _xgboost_ranker(trees, names), added
    if to == "solr":
        return engines.solr(trees, names, "boostplug" if name is None else name, store), added
    return engines.ranklib(trees) if to == "ranklib" else engines.xgboost_dump(trees, names), added


def _offset(model: TreeModel, offset: str | float | None) -> float:
    """Return the constant to add to all scores."""
    if offset == "auto":
        return engines.offset_above_zero(model)
    return 0.0 if offset is None else check_number("offset", offset, otherwise=", 'auto', or None")


def _framework(plain: Any) -> str:
    return type(plain).__module__.partition(".")[0]


def _tree_model(plain: Any, known: _Categories, names: Sequence[str]) -> TreeModel:
    if isinstance(plain, Ensemble):
        return TreeModel.from_ensemble(plain)
    is_lightgbm = _framework(plain) == "lightgbm"
    return TreeModel.from_lightgbm(plain, known, names) if is_lightgbm else TreeModel.from_xgboost(plain)


def _dumped(booster: Any, feature_names: Sequence[str] | None, missing: str | None, known: _Categories) -> str:
    """Return LightGBM's own dump, in which Vespa finds categories too."""
    _check_missing("vespa", missing)
    _, _, splits = lightgbm_text(booster, _VESPA_APPLIES)
    document = booster.dump_model()
    names = _names(document["feature_names"], feature_names, "vespa")
    refuse_categories(names, {k for k, kind in splits if not kind & CATEGORICAL and k in known})
    _name_categories(document, names, sorted({k for k, kind in splits if kind & CATEGORICAL}), known)
    share = 1.0 / len(document["tree_info"]) if document.get("average_output") else 1.0  # a random forest
    document["average_output"] = False
    for tree in document["tree_info"]:
        _as_vespa_reads(tree["tree_structure"], share)
    return json.dumps(document, ensure_ascii=False)


def _name_categories(document: dict[str, Any], names: list[str], split: list[int], known: _Categories) -> None:
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
    document.update(feature_names=names, pandas_categorical=[*held.values()] if lists else [])


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


def _names(own: list[str], feature_names: Sequence[str] | None, to: str) -> list[str]:
    names = own if feature_names is None else list(feature_names)
    if len(names) != len(own):
        raise ValueError(f"feature_names must hold {len(own)} names, one per feature; got {len(names)}")
    taken = set[str]()
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or name in taken:
            raise ValueError(
                f"feature_names holds {shown(name)}, and engines find features by names; give each a printable name of "
                "its own"
            )
        if to == "vespa" and (not _OF_VESPA.fullmatch(name) or name in _WORDS_OF_VESPA):
            raise ValueError(
                f"feature_names holds {name!r}, which Vespa refuses or reads as a number or a formula; give each the "
                "name of a rank feature or function, such as title_bm25, bm25(title) or fieldMatch(title).completeness"
            )
        taken.add(name)
    return names


def _keeps_directions(model: TreeModel, to: str, missing: str | None) -> bool:
    """Return whether the directions of missing values are kept; else they go where 0 goes."""
    _check_missing(to, missing)
    if to == "xgboost" and model.learnt_missing:
        warnings.warn(
            "the model has learnt from missing values where they go. XGBoost keeps that, and eland does not: fill them "
            "with 0 in training for Elastic",
            stacklevel=4,
        )
    if to in ("vespa", "xgboost"):
        return True
    if missing is None and model.learnt_missing:
        newer = (
            "OpenSearch since 3.8.0, missing='nan'" if to == "opensearch-ltr" else "plugins since 1.5.9, missing='nan'"
        )
        remedy = f"; for {newer}" if to in _WITH_DIRECTIONS else ""
        raise ValueError(
            f"missing=None: the model has learnt from missing values where they go, and {to} fills them with 0. Train "
            f"with 0 in their place, or pass missing='zero', if scores may change{remedy}"
        )
    if missing == "zero" and model.learnt_missing:
        changed = sum(int((tree.missing_left != (tree.threshold >= 0.0))[~tree.leaf].sum()) for tree in model.trees)
        total = sum(int((~tree.leaf).sum()) for tree in model.trees)
        warnings.warn(
            f"missing values count as 0 in the export: at {changed:,} of {total:,} splits they go to another side than "
            "in the model",
            stacklevel=4,
        )
    return missing == "nan"


def _check_missing(to: str, missing: str | None) -> None:
    if missing not in (None, "zero", "nan"):
        raise ValueError(f"missing must be 'zero', 'nan' or None; got {shown(missing)}")
    if missing == "zero" and to in ("vespa", "xgboost"):
        raise ValueError(f"missing='zero': {to} treats missing values as the trees do; pass missing=None")
    if missing == "nan" and to not in _WITH_DIRECTIONS:
        raise ValueError(f"missing='nan': {to} fills missing values with 0; pass missing='zero', or None")


def _xgboost_ranker(trees: Sequence[Any], names: Sequence[str]) -> Any:
    xgb = imported("xgboost", "export(to='xgboost') needs")
    booster = xgb.Booster()
    booster.load_model(bytearray(xgboost_model(trees, names, len(names))))
    booster.save_config()  # now, not at the first prediction, XGBoost warns
    # eland adds base_score, and .5 where there is none
    ranker = xgb.XGBRanker(objective="rank:ndcg", n_estimators=len(trees), base_score=0.0)
    ranker._Booster = booster  # noqa: SLF001 (load_model would take the booster's objective)
    return ranker


def fitted_model(model: Any) -> Any:
    """Return the booster of a fitted ranker of either framework, the ensemble of a reference ranker, or `model`."""
    if hasattr(model, "model_"):
        return model.model_
    if hasattr(model, "get_booster"):
        missing = getattr(model, "missing", np.nan)
        if missing is not None and not isnan(missing):
            raise ValueError(
                f"export: the ranker reads {missing!r} as missing (its parameter missing), which engines do not; train "
                "with NaN in its place"
            )
        return model.get_booster()
    return model.booster_ if hasattr(model, "booster_") else model
