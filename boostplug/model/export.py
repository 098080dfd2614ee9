"""`export`: models as servers, converters and search engines take them, and `check_export`, which scores the texts."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from textwrap import indent
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import check_choice, check_instance, check_number, scores_of_rows, shown
from boostplug.core.warning import warn_user
from boostplug.data.tables import as_features
from boostplug.model.engines import ENGINES, Engine
from boostplug.model.ensemble import Ensemble
from boostplug.model.lightgbm import booster_of, named
from boostplug.model.readers import feature_values
from boostplug.model.trees import TreeModel, names_of
from boostplug.model.writers import Categories, all_trees, offset_above_zero
from boostplug.model.xgboost import booster_of_document, change_leaves, document_of, first_rounds, trees_of

_TOLERANCE = 1e-5  # of the largest absolute score: what sums of hundreds of trees in single precision cost


def export(
    model: Any,
    to: str | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
    name: str | None = None,
    store: str | None = None,
    offset: str | float | None = None,
    X: Any = None,
) -> Any:
    """Return a model as others read it: a plain booster, or with `to` the text that a search engine takes.

    Without `to`, a copy of a trained booster that converters to ONNX and the like can read.

    LightGBM saves a model of a custom objective as ``objective: custom``, which converters refuse. XGBoost's ranking
    objectives are taken for classifiers. The copy says lambdarank and reg:squarederror instead, whose predictions are
    the scores themselves, as those of our losses are. It holds the trees up to the best iteration, if training stopped
    early, and predicts the same, bit for bit. The weights of XGBoost's dart are in its leaves, since onnxmltools reads
    none; its predictions are the same to single precision.

    ``xgb.train(xgb_model=…)`` leaves the best iteration of an earlier training in a booster, and new trees come after
    it. `XGBRanker` clears it. After ``xgb.train`` clear it yourself: ``booster.set_attr(best_iteration=None)``.

    Other objectives keep their names, as their predictions may be no scores. So do LightGBM's linear trees and models
    trained with zero_as_missing: converters that took them would drop the slopes, or see zeros as numbers.

    With `to`, the text scores in the engine as `predict` does here plus `offset`, to single precision. Engines compute
    in it: thresholds are moved so that a single-precision number goes to the same side as in the model. The requests to
    send are in docs/guides/search_engines.md.

    Parameters
    ----------
    model : lightgbm.Booster or xgboost.Booster
        From ``lgb.train``, ``xgb.train``, a file, or a ranker (whose `export` returns a whole plain ranker). With `to`
        also a fitted ranker of either framework, a reference ranker, or an `Ensemble`.
    to : str, optional
        <engines>
    feature_names : sequence of str, optional
        The engine's names of the features, in the order of the columns. Default: those of the table that the ranker was
        fitted on. A booster has only its own names, in which LightGBM writes a blank as an underscore.
    missing : {"zero", "nan"}, optional
        What the engine holds where a feature is missing. "zero": 0, so a missing value goes where 0 goes. "nan": NaN,
        as OpenSearch since 3.8.0 and the plugin of Elasticsearch since 1.5.9, so it goes where the model sends it.
        Default: "zero", but a model that has learnt from missing values is refused. Vespa and XGBoost treat missing
        values as the model does.
    name : str, optional
        Of the model in Solr. Default: "boostplug".
    store : str, optional
        The feature store in which Solr looks for the model's features. Default: Solr's "_DEFAULT_".
    offset : "auto" or float, optional
        A constant that is added to all scores, as a tree of one leaf. "auto": the least one with which no sum of leaves
        is below 0, because Lucene takes no scores below 0 from queries. The order stays. Default: "auto" for
        <lifted>, else 0.
    X : array-like or DataFrame of shape (n_rows, n_features), optional
        Rows, as the model's `predict` takes them, on which `boostplug.testing.check_export` compares the text's scores
        with the model's.

    Returns
    -------
    lightgbm.Booster or xgboost.Booster
        Of the same features, names, categories and attributes. Its training set is gone: `refit` of LightGBM's would
        take the objective by its new name.
    str or xgboost.XGBRanker
        With `to`.

    Raises
    ------
    ValueError
        If the model is none of these, or has several scores per row. With `to`, for categorical splits (Vespa reads
        LightGBM's by texts), objectives whose predictions may not be the scores (Vespa applies the functions of some of
        LightGBM's), linear trees, LightGBM's zero_as_missing, XGBoost's `missing`, features as weak rankers, and names
        that an engine cannot tell apart.
    AssertionError
        If the text scores some rows of `X` otherwise.

    Warns
    -----
    UserWarning
        If missing values that the model knows count as 0, if values near 0 go to another side in Solr, which adds 1e-6
        to each threshold, or if rounds after the best iteration of an `xgboost.Booster` are left out.

    Examples
    --------
    >>> import boostplug as bp
    >>> import lightgbm as lgb
    >>> data = bp.datasets.make_ranking(n_queries=20, random_state=0)
    >>> train = lgb.Dataset(data.X, data.y, group=data.group)
    >>> booster = lgb.train({"objective": bp.MPBoost(), "num_leaves": 4, "verbose": -1}, train, 5)
    >>> "objective=lambdarank" in bp.export(booster).model_to_string()
    True
    """
    if to is None:
        if not all(given is None for given in (feature_names, missing, name, store, offset, X)):
            raise ValueError(
                "feature_names, missing, name, store, offset and X are of an export to an engine; pass to='solr', …"
            )
        return _without_later_rounds(model)
    options = {what: given for what, given in (("name", name), ("store", store)) if given is not None}
    engine = _engine(to, missing, offset, options)
    fitted = fitted_model(model)
    plain = fitted if isinstance(fitted, Ensemble) else _without_later_rounds(fitted, model)
    summary = getattr(model, "training_summary_", None)
    fitted_columns = summary and summary.schema
    names = (fitted_columns and fitted_columns.names) or ()
    if feature_names is None and [name.replace(" ", "_") for name in names] == names_of(plain):
        feature_names = names  # as the table has them, before LightGBM changed them
    names = _names(names_of(plain), feature_names, engine)
    known = (fitted_columns and fitted_columns.categories) or {}
    never_missing = summary is not None and not summary.has_missing
    exported, added = _written(plain, to, names, known, missing, offset, options, never_missing=never_missing)
    if X is not None:
        if summary is not None:
            X = model.select_features(X)
        X = as_features(X, fitted=fitted_columns)
        if not (engine.dump and hasattr(plain, "pandas_categorical")):  # else trees may split by LightGBM's categories
            X = feature_values(X).values
        if missing != "nan" and "zero" in engine.missing:
            X = np.nan_to_num(X, nan=0.0)
        of_xgboost = not isinstance(plain, Ensemble) and framework_of(plain) == "xgboost"
        rows = sys.modules["xgboost"].DMatrix(X, feature_names=plain.feature_names) if of_xgboost else X
        scores = plain.predict(rows) + added
        if engine.read is None:
            _check_scores(exported.predict(X), scores, to)
        else:
            check_export(exported, to, X, scores, feature_names=names, missing=missing, offset=0.0)
    return exported


def _engine(to: Any, missing: Any, offset: Any, options: dict[str, str]) -> Engine:
    """Return the row of an engine; raise for arguments that it does not take."""
    if not isinstance(to, str) or to not in ENGINES:
        raise ValueError(f"to must be one of {', '.join(ENGINES)}; got {shown(to)}")
    engine = ENGINES[to]
    for name, value in options.items():
        if name not in engine.options:
            takers = " or ".join(other.title for other in ENGINES.values() if name in other.options)
            raise ValueError(f"{name}={value!r} is of a model in {takers}; {to} takes none: leave it out")
    if engine.offset is None and offset is not None:
        raise ValueError(f"offset={offset!r}: {engine.title} takes scores below 0; leave it out")
    if missing not in (None, "zero", "nan"):
        raise ValueError(f"missing must be 'zero', 'nan' or None; got {shown(missing)}")
    if missing == "zero" and "zero" not in engine.missing:
        raise ValueError(f"missing='zero': {to} treats missing values as the trees do; pass missing=None")
    if missing == "nan" and "nan" not in engine.missing:
        raise ValueError(f"missing='nan': {to} fills missing values with 0; pass missing='zero', or None")
    return engine


def _names(own: list[str], feature_names: Sequence[str] | None, engine: Engine) -> list[str]:
    names = own if feature_names is None else list(feature_names)
    if len(names) != len(own):
        raise ValueError(f"feature_names must hold {len(own)} names, one per feature; got {len(names)}")
    taken, (pattern, why) = set[str](), engine.names
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or name in taken:
            why = "and engines find features by names; give each a printable name of its own"
        elif re.fullmatch(pattern, name):
            taken.add(name)
            continue
        raise ValueError(f"feature_names holds {shown(name)}, {why}")
    return names


def _written(
    plain: Any,
    to: str,
    names: list[str],
    known: Categories,
    missing: str | None,
    offset: Any,
    options: dict[str, str],
    *,
    never_missing: bool,
) -> tuple[Any, float]:
    """Return what the engine's writer makes of a model, and the constant that is added to its scores.

    `plain` is an ensemble, or a booster without later rounds; `known` are the categories of the training set.
    """
    engine = ENGINES[to]
    if isinstance(plain, Ensemble):
        model = TreeModel.from_ensemble(plain)
    elif framework_of(plain) == "lightgbm":
        if engine.dump:
            return engine.dump(plain, names, known), 0.0
        model = TreeModel.from_lightgbm(plain, known, names)
    else:
        model = TreeModel.from_xgboost(plain)
    if never_missing:  # a linear part sends missing values to the median, which no data has taught
        model = replace(model, learnt_missing=False)
    missing_is_zero = _fills_with_zero(model, to, missing)
    if engine.dump and isinstance(plain, Ensemble):
        return engine.dump(plain.to_lightgbm(), names, {}), 0.0
    offset = engine.offset if offset is None else offset
    added = offset_above_zero(model) if offset == "auto" else _number(offset)
    return engine.write(all_trees(model, missing_is_zero=missing_is_zero, offset=added), names, **options), added


def _number(offset: Any) -> float:
    return 0.0 if offset in (None, "auto") else check_number("offset", offset, otherwise=", 'auto', or None")


def _fills_with_zero(model: TreeModel, to: str, missing: str | None) -> bool:
    """Return whether missing values go where 0 goes; else the trees say where."""
    engine, fills = ENGINES[to], "zero" in ENGINES[to].missing
    if model.learnt_missing and not fills and engine.learnt:
        warn_user(f"the model has learnt from missing values where they go. {engine.learnt}")
    if model.learnt_missing and fills and missing is None:
        raise ValueError(
            f"missing=None: the model has learnt from missing values where they go, and {to} fills them with 0. Train "
            "with 0 in their place, or pass missing='zero', if scores may change"
            f"{engine.learnt and '; ' + engine.learnt}"
        )
    if model.learnt_missing and missing == "zero":
        changed = np.concatenate([(tree.missing_left != (tree.threshold >= 0.0))[~tree.leaf] for tree in model.trees])
        warn_user(
            f"missing values count as 0 in the export: at {changed.sum():,} of {len(changed):,} splits they go to "
            "another side than in the model"
        )
    return fills and missing != "nan"


def check_export(
    text: str,
    to: str,
    X: Any,
    scores: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
    offset: str | float | None = None,
) -> None:
    """Check that a search engine that loads an exported model will compute the same scores.

    The text is read as the engine reads it, and X is scored by the engine's arithmetic: its precision, its side for a
    value on a threshold, its treatment of missing values.

    Parameters
    ----------
    text : str
        Model in the engine's format, as `bp.export` returns it.
    to : str
        Search engine, as in `bp.export`; all but "xgboost", whose ranker is no text.
    X : array, sparse matrix or DataFrame
        Rows of features. NaN stands for a feature that the engine does not find. Categories of a DataFrame are texts in
        Vespa, and codes in the other engines.
    scores : array
        Scores of these rows by the model that was exported.
    feature_names : sequence of str, optional
        Names of the columns of X, by default those of a DataFrame, else those in the text (XGBoost's are f0, f1, …).
    missing : {"zero", "nan"}, optional
        Value of features that the engine does not find. Default: "nan" where the engine can hold it, else "zero". Pass
        "zero" for the plugin of Elasticsearch before 1.5.9, and for OpenSearch before 3.8.0.
    offset : float or "auto", optional
        What the engine's scores have on top of `scores`. "auto": what `export` has added as the first tree, so that no
        score is below 0. Default: such a tree or nothing where `export` adds one by default, else 0.

    Raises
    ------
    AssertionError
        If a score differs by more than 1e-5 of the largest absolute score. The message counts the rows and lists the
        first three.
    ValueError
        If the text is not in the engine's format, or names features that X does not have.

    Examples
    --------
    >>> import boostplug as bp
    >>> tree = '[{"nodeid": 0, "depth": 0, "split": "f0", "split_condition": 0.5, "yes": 1, "no": 2, "missing": 1,'
    >>> tree += ' "children": [{"nodeid": 1, "leaf": -1}, {"nodeid": 2, "leaf": 1}]}]'
    >>> bp.testing.check_export(tree, "opensearch-ltr", [[0.4], [0.5]], [-1.0, 1.0])
    """
    readers = {name: engine.read for name, engine in ENGINES.items() if engine.read is not None}
    check_choice("to", to, tuple(readers))
    check_instance("text", text, str, "what export returns")
    engine = ENGINES[to]
    if missing is not None:
        check_choice("missing", missing, engine.missing, f" for {to!r}")
    columns = feature_values(X, feature_names)
    expected = scores_of_rows(scores, len(columns.values), finite=False)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            model = readers[to](text, columns)
            found = model._replace(zero=model.zero or missing == "zero").scores(columns.values)
            first = [model.node(root) for root, _ in model.trees[:1]]
        except (LookupError, TypeError, ValueError, AttributeError, SyntaxError, RecursionError) as error:
            raise ValueError(f"text is no model that {to} reads ({type(error).__name__}: {error})") from error
    shifts = [_number(offset)]
    if offset == "auto" or (offset is None and engine.offset == "auto"):
        shifts += [value for value in first if isinstance(value, float)]  # what export adds, a tree of one leaf
    expected = max((expected + shift for shift in shifts), key=lambda shifted: _near(found, shifted).sum())
    if offset == "auto" and (found < 0.0).any():
        raise AssertionError(f"{(found < 0.0).sum()} of {len(found)} rows score below 0; pass offset='auto' to export")
    _check_scores(found, expected, to)


def _near(scores: NDArray[Any], expected: NDArray[Any]) -> Any:
    return np.isclose(scores, expected, rtol=0.0, atol=_TOLERANCE * np.abs(expected).max(initial=0.0))


def _check_scores(scores: NDArray[Any], expected: NDArray[Any], to: str) -> None:
    rows = np.flatnonzero(~_near(scores, expected)).tolist()
    if rows:
        listed = "; ".join(f"row {k}: {scores[k]:.9g} in {to}, {expected[k]:.9g} expected" for k in rows[:3])
        raise AssertionError(f"{len(rows)} of {len(scores)} rows differ: {listed}")


def _without_later_rounds(booster: Any, model: Any = None) -> Any:
    """Return a plain booster, with a warning if rounds of one that XGBoost trained itself are left out."""
    plain = plain_booster(booster)
    if type(booster if model is None else model).__module__.partition(".")[0] == "xgboost":
        kept, n_rounds = plain.num_boosted_rounds(), booster.num_boosted_rounds()
        if kept < n_rounds:
            what = f"the export has {kept} of {n_rounds} rounds, up to the best iteration of early stopping"
            remedy = "if a later training with xgb_model= added the others, call booster.set_attr(best_iteration=None)"
            warn_user(f"{what}; {remedy} and export again")
    return plain


def plain_booster(booster: Any) -> Any:
    """Return a copy of a booster as far as the best iteration, under an objective that converters know."""
    return _COPIES[framework_of(booster)](booster)


def framework_of(booster: Any) -> str:
    """Return the name of the module whose booster it is."""
    for framework in _COPIES:
        if isinstance(booster, getattr(sys.modules.get(framework), "Booster", ())):
            return framework
    raise ValueError(
        f"export takes a booster of LightGBM or XGBoost, and with to= a fitted ranker; got {shown(booster)}; pass its "
        "booster_ or get_booster(), or read a file by lgb.Booster(model_file=…) or xgb.Booster(model_file=…)"
    )


def _lightgbm(booster: Any) -> Any:
    _check_one_score(booster.num_model_per_iteration())
    copied = booster_of(named(booster.model_to_string()))
    copied.best_iteration, copied.best_score = booster.best_iteration, booster.best_score
    return copied


def _xgboost(booster: Any) -> Any:
    learner = json.loads(booster.save_config())["learner"]
    model = learner["learner_model_param"]
    _check_one_score(max(int(model["num_class"]), int(model.get("num_target", 1))))
    copied = _without_weights(up_to_best_iteration(booster))
    if learner["objective"]["name"].startswith("rank:"):
        copied.set_param({"objective": "reg:squarederror"})
    return copied


def up_to_best_iteration(booster: Any) -> Any:
    """Return a copy of XGBoost's booster with the rounds that `predict` of a ranker uses, and all its attributes."""
    best = booster.attr("best_iteration")
    kind = json.loads(booster.save_config())["learner"]["gradient_booster"]["name"]
    # gblinear has no rounds to cut.
    copied = booster.copy() if best is None or kind == "gblinear" else first_rounds(booster, int(best) + 1)
    copied.set_attr(**booster.attributes())
    return copied


def _check_one_score(n_scores: int) -> None:
    if n_scores > 1:
        raise ValueError(f"export takes a model of one score per row; got {n_scores}")


def _without_weights(booster: Any) -> Any:
    """Return a booster whose leaves are multiplied by their tree's weight, if it was trained with dropout."""
    if b"weight_drop" not in booster.save_raw("ubj"):
        return booster
    document = document_of(booster)
    boosted = document["learner"]["gradient_booster"]
    model = trees_of(document)
    weights = boosted.get("weight_drop") or model.pop("weight_drop", None)  # since XGBoost 3.4 in the model
    for tree, weight in zip(model["trees"], weights or [1.0] * len(model["trees"]), strict=True):
        change_leaves(tree, partial(np.multiply, np.float32(weight)))
    document["learner"]["gradient_booster"] = {"name": "gbtree", "model": model}
    return booster_of_document(document)


_COPIES = {"lightgbm": _lightgbm, "xgboost": _xgboost}


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


_LIST = ";\n".join(f'- "{to}", {engine.title}: {engine.text}' for to, engine in ENGINES.items()) + "."
_LIFTED = " and ".join(f'"{to}"' for to, engine in ENGINES.items() if engine.offset == "auto")
_DOC = (export.__doc__ or "").replace("<lifted>", _LIFTED)
export.__doc__ = re.sub("( *)<engines>", lambda found: indent(_LIST, found[1]), _DOC)
