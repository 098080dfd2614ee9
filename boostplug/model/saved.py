"""The file format of `Ensemble`: JSON in which each number comes back bit for bit, read without executing anything."""

import json
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.weak_rankers import Feature, Stump, Tree, WeakRanker

__all__ = ["from_document", "read", "to_document", "write"]

_FORMAT = "boostplug.Ensemble"
_VERSION = 1

Terms = Sequence[tuple[WeakRanker, float]]


def to_document(rounds: Sequence[Terms], n_features: int, feature_names: Sequence[str] | None) -> dict[str, Any]:
    """Return a model in types that JSON has."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "n_features": n_features,
        "feature_names": None if feature_names is None else list(feature_names),
        "rounds": [[_term_to_dict(weak, weight) for weak, weight in terms] for terms in rounds],
    }


def from_document(data: Any) -> dict[str, Any]:
    """Return the arguments of `Ensemble` that `to_document` was given, refusing what is unknown, missing or wrong."""
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ValueError(f'not a saved ensemble: there is no "format": "{_FORMAT}"')
    version = _integer(data.get("version"), "version")
    if version != _VERSION:
        raise ValueError(f"version {version} of the format is unknown, this boostplug reads {_VERSION}; upgrade it")
    _refuse_other_keys(data, {"format", "version", "n_features", "feature_names", "rounds"}, "the model")
    names = data["feature_names"]
    return {
        "rounds": [
            [_term_from_dict(term, f"rounds[{i}][{j}]") for j, term in enumerate(_list(terms, f"rounds[{i}]"))]
            for i, terms in enumerate(_list(data["rounds"], "rounds"))
        ],
        "n_features": _integer(data["n_features"], "n_features"),
        "feature_names": None if names is None else _list(names, "feature_names"),
    }


def write(path: str | os.PathLike[str], document: dict[str, Any]) -> None:
    """Write a document to a file, whole or not at all."""
    target = Path(path)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> Any:
    """Return the document in a file."""
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no number of a saved ensemble")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError(f"a key stands twice among {[key for key, _ in pairs]}")
    return out


def _refuse_other_keys(data: dict[str, Any], keys: set[str], where: str) -> None:
    if data.keys() != keys:
        missing, unknown = sorted(keys - data.keys()), sorted(data.keys() - keys)
        raise ValueError(f"{where}: missing keys {missing}, unknown keys {unknown}")


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{where} must be a list; got {value!r}")
    return value


def _integer(value: Any, where: str) -> int:
    if type(value) is not int or abs(value) >= 2**63:
        raise ValueError(f"{where} must be an integer; got {value!r}")
    return value


def _number(value: Any, where: str) -> float:
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{where} must be a finite number; got {value!r}")
    return float(value)


def _threshold(value: Any, where: str) -> float:
    return -inf if value == "-inf" else _number(value, where)


def _boolean(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{where} must be true or false; got {value!r}")
    return value


Reader = Callable[[Any, str], Any]


def _each(read: Reader) -> Reader:
    return lambda values, where: [read(value, f"{where}[{i}]") for i, value in enumerate(_list(values, where))]


_KINDS: dict[str, tuple[Callable[..., WeakRanker], dict[str, Reader]]] = {
    "stump": (Stump, {"feature": _integer, "threshold": _threshold, "below": _number, "above": _number}),
    "feature": (Feature, {"feature": _integer}),
    "tree": (
        Tree,
        {
            "feature": _each(_integer),
            "threshold": _each(_threshold),
            "left": _each(_integer),
            "right": _each(_integer),
            "value": _each(_number),
            "missing_left": _each(_boolean),
        },
    ),
}


def _term_to_dict(weak: WeakRanker, weight: float) -> dict[str, Any]:
    kind = next(name for name, (make, _) in _KINDS.items() if make is type(weak))
    out: dict[str, Any] = {"weight": weight, "kind": kind}
    for entry in fields(weak):
        value = np.asarray(getattr(weak, entry.name)).tolist()
        if entry.name == "threshold":
            value = [_encoded(at) for at in value] if isinstance(value, list) else _encoded(value)
        out[entry.name] = value
    return out


def _encoded(threshold: float) -> float | str:
    return "-inf" if threshold == -inf else threshold


def _term_from_dict(data: Any, where: str) -> tuple[WeakRanker, float]:
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"{where} must have a kind, one of {list(_KINDS)}; got {kind!r}")
    make, readers = _KINDS[kind]
    _refuse_other_keys(data, {"weight", "kind", *readers}, where)
    try:
        weak = make(**{name: read(data[name], f"{where}.{name}") for name, read in readers.items()})
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return weak, _number(data["weight"], f"{where}.weight")
