"""The file format of `Ensemble`: JSON in which each number comes back bit for bit, read without executing anything."""

import json
import os
import sys
from collections.abc import Callable, Sequence
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
_LONGEST_INTEGER = 20  # digits; what is longer is no number of the format, and Python refuses some

_OTHERS = (  # how files of other kinds begin, and what they are
    (b"tree\nversion=", "a model of LightGBM; load it with lightgbm.Booster(model_file=…)"),
    (b"{L\0", "a model of XGBoost; load it with xgboost.Booster(model_file=…)"),
    (b"binf", "a model of XGBoost; load it with xgboost.Booster(model_file=…)"),
    (b"\x80", "a pickle; load it with pickle or joblib, if you trust its origin"),
    (b"\x1f\x8b", "compressed by gzip; decompress it first"),
    (b"BZh", "compressed by bzip2; decompress it first"),
    (b"\xfd7zXZ", "compressed by xz; decompress it first"),
    (b"PK\3\4", "a zip archive; unpack it first"),
    (b"\xff\xfe", "in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "in UTF-16; save it as UTF-8"),
)
_FOREIGN_KEYS = (
    ("learner", "a model of XGBoost; load it with xgboost.Booster(model_file=…)"),
    ("tree_info", "a dump of a LightGBM model, which nothing reads; save its booster with save_model"),
)

_WRITE = "pass what Ensemble.save wrote"

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
    if not isinstance(data, dict):
        raise ValueError(f"not a saved ensemble, but {shown(data)}; pass what Ensemble.to_dict and save write")
    if data.get("format") != _FORMAT:
        for key, what in _FOREIGN_KEYS:
            if key in data:
                raise ValueError(f"not a saved ensemble, but {what}")
        raise ValueError(f'not a saved ensemble: there is no "format": "{_FORMAT}"; pass what Ensemble.save wrote')
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
    """Write a document to a file in one step."""
    # A lone surrogate of a name, which UTF-8 lacks, becomes the escape that JSON has for it.
    write_file(path, json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


def read(path: str | os.PathLike[str]) -> Any:
    """Return the document in a file, refusing what is none with the kind of file that it seems to be."""
    with Path(path).open("rb") as file:
        head = file.read(64)  # what is no document is not read on: it may be large, or without end
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        for magic, what in _OTHERS:
            if start.startswith(magic):
                raise ValueError(f"not a saved ensemble, but {what}")
        if head and start and not start.startswith((b"{", b"[", b'"', b"n")):
            raise ValueError(f"not a saved ensemble: no JSON, but {shown(start[:40])}; {_WRITE}")
        content = head + file.read()
    try:
        text = content.decode("utf-8-sig")
        del content
        return json.loads(text, parse_constant=_refuse_constant, parse_int=_whole, object_pairs_hook=_without_repeats)
    except UnicodeDecodeError as error:
        raise ValueError(f"not a saved ensemble: no text in UTF-8 ({error}); {_WRITE}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON, or cut short: {error}; {_WRITE}") from None
    except RecursionError:
        raise ValueError(f"not a saved ensemble: nested deeper than any; {_WRITE}") from None


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise ValueError(f"{shown(digits)} is no number of a saved ensemble; {_WRITE}")
    return int(digits)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no number of a saved ensemble; {_WRITE}")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError(f"a key stands twice among {shown([key for key, _ in pairs])}")
    return out


def _refuse_other_keys(data: dict[str, Any], keys: set[str], where: str) -> None:
    if data.keys() != keys:
        missing, unknown = (shown(sorted(some, key=str)) for some in (keys - data.keys(), data.keys() - keys))
        raise ValueError(f"{where}: missing keys {missing}, unknown keys {unknown}")


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{where} must be a list; got {shown(value)}")
    return value


def _integer(value: Any, where: str) -> int:
    if type(value) is not int or abs(value) >= 2**63:
        raise ValueError(f"{where} must be an integer; got {shown(value)}")
    return value


def _number(value: Any, where: str) -> float:
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{where} must be a finite number; got {shown(value)}")
    return float(value)


def _threshold(value: Any, where: str) -> float:
    return -inf if value == "-inf" else _number(value, where)


def _boolean(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{where} must be true or false; got {shown(value)}")
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
        raise ValueError(f"{where} must have a kind, one of {list(_KINDS)}; got {shown(kind)}")
    make, readers = _KINDS[kind]
    _refuse_other_keys(data, {"weight", "kind", *readers}, where)
    values = {name: read(data[name], f"{where}.{name}") for name, read in readers.items()}
    try:
        weak = make(**values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return weak, _number(data["weight"], f"{where}.weight")
