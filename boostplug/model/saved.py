"""The file format of `Ensemble`: JSON in which each number comes back bit for bit, read without executing anything."""

import json
import os
from collections.abc import Sequence
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.core.checks import shown
from boostplug.core.files import write_file
from boostplug.weak_rankers import Feature, Stump, Tree, WeakRanker

_FORMAT = "boostplug.Ensemble"
_VERSION = 1
_KINDS: dict[str, Any] = {"stump": Stump, "feature": Feature, "tree": Tree}
_WRITE = "pass what Ensemble.save wrote"
_LOAD = f"{_WRITE}, or load with lightgbm.Booster(model_file=…) or xgboost.Booster(model_file=…) what these saved"

Terms = Sequence[tuple[WeakRanker, float]]


def to_document(
    rounds: Sequence[Terms], n_features: int, feature_names: Sequence[str] | None, missing_features: Sequence[int]
) -> dict[str, Any]:
    """Return a model in types that JSON has."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "n_features": n_features,
        "feature_names": None if feature_names is None else list(feature_names),
        **({"missing_features": list(missing_features)} if missing_features else {}),
        "rounds": [[_term_to_dict(weak, weight) for weak, weight in terms] for terms in rounds],
    }


def from_document(data: Any) -> dict[str, Any]:
    """Return the arguments of `Ensemble` that `to_document` was given; `Ensemble` checks them."""
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ValueError(f"not a saved ensemble, but {shown(data)}; {_LOAD}")
    if data.get("version") != _VERSION:
        raise ValueError(f"version {shown(data.get('version'))} of the format is unknown; upgrade boostplug")
    try:
        names = data["feature_names"]
        return {
            "rounds": [[_term_from_dict(term) for term in terms] for terms in data["rounds"]],
            "n_features": data["n_features"],
            "feature_names": None if names is None else list(names),
            "missing_features": list(data.get("missing_features", ())),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a damaged ensemble ({type(error).__name__}: {error}); {_WRITE}") from None


def write(path: str | os.PathLike[str], document: dict[str, Any]) -> None:
    """Write a document to a file in one step."""
    # A lone surrogate of a name, which UTF-8 lacks, becomes the escape that JSON has for it.
    write_file(path, json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


def read(path: str | os.PathLike[str]) -> Any:
    """Return the document in a file."""
    content = Path(path).read_bytes()
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a saved ensemble ({error}); {_LOAD}") from None


def _term_to_dict(weak: WeakRanker, weight: float) -> dict[str, Any]:
    kind = next(name for name, make in _KINDS.items() if make is type(weak))
    out: dict[str, Any] = {"weight": weight, "kind": kind}
    for entry in fields(weak):
        value = np.asarray(getattr(weak, entry.name)).tolist()
        if entry.name == "threshold":
            value = _each(value, -inf, "-inf")
        out[entry.name] = value
    return out


def _term_from_dict(data: Any) -> tuple[WeakRanker, float]:
    values = dict(data)
    weight, make = values.pop("weight"), _KINDS[values.pop("kind")]
    if "threshold" in values:
        values["threshold"] = _each(values["threshold"], "-inf", -inf)
    return make(**values), weight


def _each(values: Any, old: Any, new: Any) -> Any:
    """Return a value, or each of a list, with one replaced; JSON has no infinity."""
    if isinstance(values, list):
        return [_each(value, old, new) for value in values]
    return new if values == old else values
