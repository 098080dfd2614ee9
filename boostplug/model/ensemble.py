"""`Ensemble`: a fitted model, the frozen weighted sum of weak rankers."""

import json
import os
import re
import secrets
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import chain
from math import fsum, inf, isfinite
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import check_integer
from boostplug.kernels.trees import trees_and_line
from boostplug.model.lightgbm import lightgbm_model
from boostplug.model.xgboost import xgboost_lines, xgboost_trees
from boostplug.threads import run_over_queries
from boostplug.weak_rankers import Feature, Fitted, Stump, Tree, WeakRanker
from boostplug.weak_rankers.tree import joined

__all__ = ["Ensemble", "load"]

Floats = NDArray[np.float64]

_FORMAT, _VERSION = "boostplug.Ensemble", 1


@dataclass(frozen=True, init=False, repr=False)
class Ensemble:
    """A fitted model: a weighted sum of weak rankers, in the rounds in which they were added.

    Parameters
    ----------
    rounds : sequence of sequences of (weak ranker, weight)
        What each round added; weights are finite. Weak rankers are `Stump`, `Feature`, `Tree`, and
        `Fitted`: other estimators, which are in no format but pickle.
    n_features : int
        Columns of X.
    feature_names : sequence of str, optional
        Their names; a DataFrame's columns must match them.

    Raises
    ------
    ValueError
        If a round holds anything else, a feature is not among X's columns, or scores could overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug.weak_rankers import Stump
    >>> model = Ensemble([[(Stump(0, 0.5), 2.0)], [(Stump(1, 0.0), 1.0)]], n_features=2)
    >>> model.predict(np.array([[1.0, -1.0], [np.nan, 3.0]]))
    array([2., 1.])
    """

    rounds: tuple[tuple[tuple[WeakRanker, float], ...], ...]
    n_features: int = field(kw_only=True)
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)

    def __init__(
        self,
        rounds: Sequence[Sequence[tuple[WeakRanker, float]]],
        *,
        n_features: int,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        check_integer("n_features", n_features, 1)
        if feature_names is not None:
            feature_names = tuple(feature_names)
            for name in feature_names:
                if not isinstance(name, str):
                    raise ValueError(f"feature_names must be strings; got {name!r}")
            if len(feature_names) != n_features:
                raise ValueError(f"feature_names must be {n_features} names, one per feature; got {len(feature_names)}")
            feature_names = tuple(map(str, feature_names))  # numpy's strings are of a class of their own
        checked = tuple(
            tuple(_term(term, f"rounds[{i}]", n_features) for term in terms) for i, terms in enumerate(rounds)
        )
        reach = sum(abs(weight) * _size(weak) for weak, weight in chain.from_iterable(checked))
        if not isfinite(2.0 * reach):
            raise ValueError(
                "scores could overflow: the weights are too large together; divide all of them by a number"
            )
        self.__dict__.update(rounds=checked, n_features=int(n_features), feature_names=feature_names)

    def __len__(self) -> int:
        """How many rounds there are."""
        return len(self.rounds)

    def __repr__(self) -> str:
        kinds = ", ".join(sorted({type(weak).__name__ for weak, _ in self.terms}))
        return (
            f"<Ensemble: {len(self)} rounds, {len(self.terms)} weak rankers{kinds and f' ({kinds})'}, "
            f"{self.n_features} features>"
        )

    def __reduce__(self) -> Any:  # what is derived stays out of pickles
        return partial(Ensemble, n_features=self.n_features, feature_names=self.feature_names), (self.rounds,)

    @cached_property
    def terms(self) -> tuple[tuple[WeakRanker, float], ...]:
        """Each weak ranker once, in order of first appearance, with its summed weight; without those that sum to 0."""
        weights: dict[WeakRanker, list[float]] = {}
        for weak, weight in chain.from_iterable(self.rounds):
            weights.setdefault(weak, []).append(weight)
        summed = ((weak, fsum(parts)) for weak, parts in weights.items())
        return tuple((weak, weight) for weak, weight in summed if weight)

    def first(self, n: int) -> Self:
        """Return the ensemble of the first `n` rounds.

        Raises
        ------
        ValueError
            If there are fewer.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 <= n <= len(self):
            raise ValueError(f"n must be an integer from 0 to {len(self)}, the number of rounds; got {n!r}")
        return type(self)(self.rounds[:n], n_features=self.n_features, feature_names=self.feature_names)

    def predict(self, X: Any) -> Floats:
        """Return scores, higher is better.

        The stumps of one feature are looked up together: the time hangs on the number of features used, hardly on that
        of rounds. Equal to the sum of the terms up to the rounding of their sum.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_features)
            Finite, or NaN where missing.

        Returns
        -------
        ndarray of shape (n_rows,), float64

        Raises
        ------
        ValueError
            If X does not have the model's columns, or holds infinite values.
        """
        features = self._checked(X)
        scores = np.empty(len(features))
        run_over_queries(
            lambda first, last: trees_and_line(features, first, last, *self._compiled, scores),
            np.arange(len(features) + 1),
        )
        for fitted, weight in self._fitted:
            scores += weight * fitted.predict(features)
        return scores

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the scores after each round, each a new array of shape (n_rows,); for `X` see `predict`."""
        features = self._checked(X)

        def stages() -> Iterator[Floats]:
            scores = np.zeros(len(features))
            for terms in self.rounds:
                scores = scores.copy()
                for weak, weight in terms:
                    scores += weight * weak.predict(features)
                yield scores

        return stages()

    @property
    def feature_importances(self) -> Floats:
        """How much each feature moves the scores, as shares of 1, of shape (n_features,); all 0 if nothing does.

        A stump counts with its range, abs(weight · (above - below)); a split of a tree with abs(weight) times the
        difference between the means on its two sides; a feature as a ranker as if it ranged from 0 to 1, as LETOR's
        normalised features do: with abs(weight). Raises ValueError if there are other estimators (`Fitted`).
        """
        self._refuse_fitted("feature_importances")
        moved = np.zeros(self.n_features)
        for weak, weight in self.terms:
            match weak:
                case Stump():
                    moved[weak.feature] += abs(weight * (weak.above - weak.below))
                case Feature():
                    moved[weak.feature] += abs(weight)
                case Tree():
                    np.add.at(moved, weak.feature[~weak.leaf], abs(weight) * weak.changes[~weak.leaf])
        total = moved.sum()
        return moved / total if total else moved

    def to_dict(self) -> dict[str, Any]:
        """Return the model in types that JSON has; see `save`."""
        self._refuse_fitted("save and to_dict", chain.from_iterable(self.rounds))
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "n_features": self.n_features,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "rounds": [[_term_to_dict(weak, weight) for weak, weight in terms] for terms in self.rounds],
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Return the model that `to_dict` gave.

        Raises
        ------
        ValueError
            If anything in it is unknown, missing, or of a wrong type or value.
        """
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise ValueError(f'not a saved ensemble: there is no "format": "{_FORMAT}"')
        version = _integer(data.get("version"), "version")
        if version != _VERSION:
            raise ValueError(f"version {version} of the format is unknown, this boostplug reads {_VERSION}; upgrade it")
        _refuse_other_keys(data, {"format", "version", "n_features", "feature_names", "rounds"}, "the model")
        names = data["feature_names"]
        return cls(
            [
                [_term_from_dict(term, f"rounds[{i}][{j}]") for j, term in enumerate(_list(terms, f"rounds[{i}]"))]
                for i, terms in enumerate(_list(data["rounds"], "rounds"))
            ],
            n_features=_integer(data["n_features"], "n_features"),
            feature_names=None if names is None else _list(names, "feature_names"),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, whole or not at all.

        Numbers come back bit for bit. The format carries a version; -inf is the string "-inf".
        """
        target = Path(path)
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
        try:
            temporary.write_text(text + "\n", encoding="utf-8")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote. Nothing in the file is executed.

        Raises
        ------
        ValueError
            If it is no such file, or from a newer version of the format.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
            data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
            return cls.from_dict(data)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    def to_lightgbm(self) -> Any:
        """Return the model as a `lightgbm.Booster`.

        Its predictions equal this model's within 1e-12 of the summed abs(weight), and numbers of either precision fall
        on the same side of every threshold, missing ones included. It has one tree per feature with stumps, one per
        `Tree`, and one with a linear leaf per `Feature`, in no order of rounds: convert ``first(n)`` for fewer rounds.

        LightGBM itself takes numbers within ±1e-35 for 0, so a threshold between 0 and such a number cannot be seen.
        Its feature names have no blanks and none of ``"[]{}:,``: each such character becomes an underscore, and a name
        that is then empty or taken gets the column's number. Split gains are what a split moves the scores; leaf counts
        are 1.

        Raises
        ------
        ImportError
            If LightGBM is not installed.
        """
        try:
            import lightgbm as lgb
        except ImportError as error:
            raise ImportError("Ensemble.to_lightgbm needs LightGBM: pip install 'boostplug[lightgbm]'") from error
        self._refuse_fitted("to_lightgbm")
        names = _allowed_names(self.feature_names, r'[\s"\[\]{}:,\x00-\x1f]')
        names = names or [f"Column_{k}" for k in range(self.n_features)]
        trees, slopes = self._sum
        if not (trees or slopes):
            trees = [Tree.steps(0, (), (0.0,))]
        return lgb.Booster(model_str=lightgbm_model(trees, slopes, names))

    def to_xgboost(self) -> Any:
        """Return the model as an `xgboost.Booster`.

        XGBoost reads X and adds up scores in single precision. It gets one tree per feature with stumps and one per
        `Tree`, in an order that rounds little. Predictions of T trees differ from this model's by at most
        (T/4 + 2) · 2⁻²³ of the summed abs(weight) times the largest value of its weak ranker (stumps: 1), which is
        1e-6 for 25 trees; as errors cancel, it was below 1e-7 for 2000. A number falls on the same side of every
        threshold that stands where single precision rounds, as those of all rankers here do.

        Ensembles of `Feature` alone become ``booster="gblinear"``, which XGBoost has deprecated: the warning about that
        is silenced here, not where the booster is loaded again. In feature names, each of ``[]<`` becomes an
        underscore, and a name that is then empty or taken gets the column's number.

        Raises
        ------
        ImportError
            If XGBoost is not installed.
        ValueError
            If features as rankers are mixed with stumps or trees: XGBoost has no such model; or if the weights are
            beyond single precision.
        """
        try:
            import xgboost as xgb
        except ImportError as error:
            raise ImportError("Ensemble.to_xgboost needs XGBoost: pip install 'boostplug[xgboost]'") from error
        self._refuse_fitted("to_xgboost")
        trees, slopes = self._sum
        if trees and slopes:
            raise ValueError(
                "XGBoost has no model that adds features (weak ranker Feature) to stumps or trees; "
                "use to_lightgbm(), or convert two ensembles and add their predictions"
            )
        reach = sum(abs(slope) for slope in slopes.values()) + sum(np.abs(tree.value).max() for tree in trees)
        if reach and not 1e-30 < reach < 1e38:
            raise ValueError(f"scores of size {reach:.3g} are beyond single precision; scale the weights")
        names = _allowed_names(self.feature_names, r"[\[\]<]")
        if slopes:
            model = xgboost_lines(slopes, names, self.n_features)
        else:
            model = xgboost_trees(trees, names, self.n_features)
        booster = xgb.Booster()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"(?s).*booster=gblinear. is deprecated")
            booster.load_model(bytearray(model))
            booster.save_config()  # now, not at the first prediction, XGBoost warns
        return booster

    @cached_property
    def _sum(self) -> tuple[list[Tree], dict[int, float]]:
        """The same function as one step function per feature with stumps, scaled trees, and slopes of features."""
        jumps: dict[int, dict[float, list[float]]] = {}
        below: dict[int, list[float]] = {}
        trees: list[Tree] = []
        slopes: dict[int, float] = {}
        for weak, weight in self.terms:
            match weak:
                case Stump():
                    at = jumps.setdefault(weak.feature, {}).setdefault(weak.threshold, [])
                    at += [weight * weak.above, -weight * weak.below]
                    below.setdefault(weak.feature, []).append(weight * weak.below)
                case Feature():
                    slopes[weak.feature] = weight
                case Tree():
                    trees.append(weak.times(weight))
        steps = []
        for feature, by_threshold in sorted(jumps.items()):
            thresholds = sorted(by_threshold)
            values = np.cumsum([fsum(below[feature]), *(fsum(by_threshold[at]) for at in thresholds)])
            steps.append(Tree.steps(feature, thresholds, values))
        return steps + trees, slopes

    @cached_property
    def _fitted(self) -> tuple[tuple[Fitted, float], ...]:
        return tuple((weak, weight) for weak, weight in self.terms if isinstance(weak, Fitted))

    def _refuse_fitted(self, what: str, terms: Iterable[tuple[WeakRanker, float]] | None = None) -> None:
        for weak, _ in self._fitted if terms is None else terms:
            if isinstance(weak, Fitted):
                raise ValueError(f"{what}: not for an ensemble with {weak!r}; use trees or stumps as weak rankers")

    @cached_property
    def _compiled(self) -> tuple[NDArray[Any], ...]:
        trees, slopes = self._sum
        return (*joined(trees), np.array(list(slopes), np.int64), np.array(list(slopes.values()), np.float64))

    def _checked(self, X: Any) -> NDArray[np.floating]:
        from sklearn.utils import check_array

        columns = getattr(X, "column_names", None)  # pyarrow, whose `columns` are the data
        columns = getattr(X, "columns", None) if columns is None else columns
        if columns is not None and self.feature_names is not None:
            for k, (given, name) in enumerate(zip(columns, self.feature_names, strict=False)):
                if given != name:
                    raise ValueError(
                        f"X's column {k} is {given!r}, the model's is {name!r}; pass the columns of feature_names"
                    )
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up X to see whether all is finite
            features: NDArray[np.floating] = check_array(
                X,
                dtype=(np.float64, np.float32),
                order="C",
                ensure_all_finite="allow-nan",
                ensure_min_samples=0,
                ensure_min_features=0,
                input_name="X",
            )
        if features.shape[1] != self.n_features:
            raise ValueError(f"X has {features.shape[1]} columns, the model {self.n_features} features")
        return features


def _term(term: Any, where: str, n_features: int) -> tuple[WeakRanker, float]:
    """Return a term of a round, checked."""
    try:
        weak, weight = term
    except (TypeError, ValueError):
        raise ValueError(f"{where} must hold pairs (weak ranker, weight); got {term!r}") from None
    if not isinstance(weak, WeakRanker):
        raise ValueError(f"{where}: a weak ranker is a Stump, Feature, Tree or Fitted; got {weak!r}")
    if isinstance(weight, bool) or not isinstance(weight, (int, float, np.integer, np.floating)):
        raise ValueError(f"{where}: the weight of {weak!r} must be a number; got {weight!r}")
    if not isfinite(weight):
        raise ValueError(f"{where}: the weight of {weak!r} must be finite; got {weight!r}")
    feature = -1 if isinstance(weak, Fitted) else int(np.max(weak.feature))
    if feature >= n_features:
        raise ValueError(f"{where}: {weak!r} is of feature {feature}, but n_features is {n_features}")
    return weak, float(weight)


def _size(weak: WeakRanker) -> float:
    """Return the largest score of a weak ranker; for a feature, per unit; for an estimator, unknown: 1."""
    match weak:
        case Stump():
            return max(abs(weak.below), abs(weak.above))
        case Feature() | Fitted():
            return 1.0
        case Tree():
            return float(np.abs(weak.value).max())


def _allowed_names(names: Sequence[str] | None, forbidden: str) -> list[str] | None:
    """Return feature names without the characters that match `forbidden`, all different."""
    if names is None:
        return None
    out: dict[str, None] = {}
    for k, name in enumerate(names):
        allowed = re.sub(forbidden, "_", name)
        while not allowed or allowed in out:
            allowed += f"_{k}"
        out[allowed] = None
    return list(out)


# What the JSON format holds


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


load = Ensemble.load
