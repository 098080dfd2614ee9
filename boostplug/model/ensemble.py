"""`Ensemble`: a fitted model, the frozen weighted sum of weak rankers."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import chain
from math import fsum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.cached import cached_property
from boostplug.core.checks import check_integer, check_number, shown
from boostplug.core.extras import imported
from boostplug.data.tables import Schema, as_features
from boostplug.model import saved
from boostplug.model.lightgbm import booster_of, lightgbm_model
from boostplug.model.xgboost import xgboost_model
from boostplug.weak_rankers import Feature, Stump, Tree, WeakRanker
from boostplug.weak_rankers.forest import Forest, scores_of
from boostplug.weak_rankers.tree import joined

_MOST_FEATURES = 10_000_000  # predict reads dense rows; importances and LightGBM's models have an entry for each


@dataclass(frozen=True, repr=False)
class Ensemble:
    """A fitted model: a weighted sum of weak rankers, in the rounds in which they were added.

    Parameters
    ----------
    rounds : sequence of sequences of (weak ranker, weight)
        What each round added; weights are finite. Weak rankers are `Stump`, `Feature` and `Tree`.
    n_features : int
        Columns of X, at most 10,000,000.
    feature_names : sequence of str, optional
        Their names; a DataFrame's columns must match them.
    missing_features : sequence of int, default ()
        Features with missing values in training; `boostplug.export` asks what becomes of them.

    Raises
    ------
    ValueError
        If a round holds anything else, or a feature is not among X's columns.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug.weak_rankers import Stump
    >>> model = Ensemble([[(Stump(0, 0.5), 2.0)], [(Stump(1, 0.0), 1.0)]], n_features=2)
    >>> model.predict(np.array([[1.0, -1.0], [np.nan, 3.0]]))
    array([2., 1.])
    """

    rounds: Sequence[Sequence[tuple[WeakRanker, float]]]
    _: KW_ONLY
    n_features: int
    feature_names: Sequence[str] | None = None
    missing_features: Sequence[int] = ()

    def __post_init__(self) -> None:
        """Check the parameters, and keep them as numbers and tuples."""
        n, names = check_integer("n_features", self.n_features, 1, most=_MOST_FEATURES), self.feature_names
        if names is not None:
            names = tuple(names)
            if len(names) != n or not all(isinstance(name, str) for name in names):
                raise ValueError(f"feature_names must be {n} strings; got {shown([*names])}")
            names = tuple(map(str, names))  # numpy's strings are of a class of their own
        rounds = [tuple(_term(term, f"rounds[{i}]", n) for term in terms) for i, terms in enumerate(self.rounds)]
        missing = [check_integer("missing_features", one, 0, most=n - 1) for one in self.missing_features]
        self.__dict__.update(rounds=tuple(rounds), n_features=n, feature_names=names, missing_features=tuple(missing))

    def __len__(self) -> int:
        """Return the number of rounds."""
        return len(self.rounds)

    def __repr__(self) -> str:
        kinds = ", ".join(sorted({type(weak).__name__ for weak, _ in self.terms}))
        return (
            f"<Ensemble: {len(self)} rounds, {len(self.terms)} weak rankers{kinds and f' ({kinds})'}, "
            f"{self.n_features} features>"
        )

    def __reduce__(self) -> Any:  # what is derived stays out of pickles
        more: dict[str, Any] = {"feature_names": self.feature_names, "missing_features": self.missing_features}
        return partial(Ensemble, n_features=self.n_features, **more), (self.rounds,)

    @cached_property
    def terms(self) -> tuple[tuple[WeakRanker, float], ...]:
        """Each weak ranker once, in order of first appearance, with its summed weight; without those that sum to 0."""
        weights: dict[WeakRanker, list[float]] = {}
        for weak, weight in chain.from_iterable(self.rounds):
            weights.setdefault(weak, []).append(weight)
        summed = ((weak, fsum(parts)) for weak, parts in weights.items())
        return tuple((weak, weight) for weak, weight in summed if weight)

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
        return scores_of(self._checked(X), self._compiled)

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
        """Importance of each feature as shares of 1, of shape (n_features,); all 0 if nothing moves the scores.

        A stump counts with its range, abs(weight · (above - below)); a split of a tree with abs(weight) times the
        difference between the means on its two sides; a feature as a ranker as if it ranged from 0 to 1, as LETOR's
        normalised features do: with abs(weight).
        """
        moved = np.zeros(self.n_features)
        for weak, weight in self.terms:
            match weak:
                case Stump():
                    moved[weak.feature] += abs(weight * weak.above - weight * weak.below)
                case Feature():
                    moved[weak.feature] += abs(weight)
                case Tree():
                    np.add.at(moved, weak.feature[~weak.leaf], weak.times(weight).changes[~weak.leaf])
        total = moved.sum()
        return moved / total if total else moved

    def to_dict(self) -> dict[str, Any]:
        """Return the model in types that JSON has; see `save`."""
        return saved.to_document(self.rounds, self.n_features, self.feature_names, self.missing_features)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Return the model that `to_dict` gave.

        Raises
        ------
        ValueError
            If anything in it is unknown, missing, or of a wrong value.
        """
        return cls(**saved.from_document(data))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, whole or not at all.

        Numbers come back bit for bit. The format carries a version; -inf is the string "-inf".

        Raises
        ------
        FileExistsError
            If `path` holds something else than a saved model.
        """
        saved.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote. Nothing in the file is executed.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is no such file, or from a newer version of the format. The message names the file.
        """
        try:
            return cls.from_dict(saved.read(path))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    def to_lightgbm(self, X: Any = None) -> Any:
        """Return the model as a `lightgbm.Booster`.

        Its predictions equal this model's within 1e-12 of the summed abs(weight), and numbers of either precision fall
        on the same side of every threshold, missing ones included. It has one tree per feature with stumps, one per
        `Tree`, and one with a linear leaf per `Feature`, in no order of rounds: convert ``first(n)`` for fewer rounds.

        LightGBM itself takes numbers within ±1e-35 for 0, so a threshold between 0 and such a number cannot be seen.
        Its feature names have no blanks and none of ``"[]{}:,``: each such character becomes an underscore, and a name
        that is then empty or taken gets the column's number. Split gains are what a split moves the scores. It names
        the objective lambdarank, so that it converts to ONNX and the like; with a `Feature` it names none, as
        converters would drop the linear leaf.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_features), optional
            Rows that are counted at each leaf, such as the training set. SHAP values weigh by the counts, which are the
            rows times a number up to 1000. Default: each leaf counts 1.

        Raises
        ------
        ImportError
            If LightGBM is not installed.
        ValueError
            If a feature as a ranker weighs less than 2.3e-308, which LightGBM does not read, or X has other columns.
        """
        rows = None if X is None else self._checked(X)
        text = lightgbm_model(*self.trees_and_slopes, self.feature_names, self.n_features, rows)
        imported("lightgbm", "Ensemble.to_lightgbm needs")
        return booster_of(text)

    def to_xgboost(self) -> Any:
        """Return the model as an `xgboost.Booster`.

        XGBoost reads X and adds up scores in single precision. It gets one tree per feature with stumps and one per
        `Tree`, in an order that rounds little. Predictions of T trees differ from this model's by at most
        (T/4 + 2) · 2⁻²³ of the summed abs(weight) times the largest value of its weak ranker (stumps: 1), which is
        1e-6 for 25 trees; as errors cancel, it was below 1e-7 for 2000. A number falls on the same side of every
        threshold that stands where single precision rounds, as those of all rankers here do.

        In feature names, each of ``[]<`` becomes an underscore, and a name that is then empty or taken gets the
        column's number. The objective is reg:squarederror, which converters know. Nodes count leaves in place of rows:
        for SHAP values take ``to_lightgbm(X)``.

        Raises
        ------
        ImportError
            If XGBoost is not installed.
        ValueError
            If a weak ranker is a `Feature`, or if the weights are beyond single precision.
        """
        xgb = imported("xgboost", "Ensemble.to_xgboost needs")
        trees, slopes = self.trees_and_slopes
        if slopes:
            raise ValueError("to_xgboost: XGBoost has no trees that add up features (Feature); use to_lightgbm()")
        booster = xgb.Booster(model_file=bytearray(xgboost_model(trees, self.feature_names, self.n_features)))
        booster.save_config()  # now, not at the first prediction, XGBoost warns
        return booster

    @cached_property
    def trees_and_slopes(self) -> tuple[list[Tree], dict[int, float]]:
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
            steps.append(Tree.from_steps(feature, thresholds, values))
        return steps + trees, slopes

    @cached_property
    def _compiled(self) -> Forest:
        return joined(*self.trees_and_slopes)

    def _checked(self, X: Any) -> NDArray[np.floating]:
        from sklearn.utils import check_array

        names = None if self.feature_names is None else tuple(self.feature_names)
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums X up to see whether it is finite
            features: NDArray[np.floating] = check_array(
                as_features(X, least=0, fitted=Schema(self.n_features, names)),
                dtype=(np.float64, np.float32),
                order="C",
                ensure_all_finite="allow-nan",
                ensure_min_samples=0,
                ensure_min_features=0,
                input_name="X",
            )
        return features


def _term(term: Any, where: str, n_features: int) -> tuple[WeakRanker, float]:
    """Return a term of a round, checked."""
    weak, weight = term if isinstance(term, (tuple, list)) and len(term) == 2 else (term, None)
    if not isinstance(weak, WeakRanker):
        raise ValueError(f"{where}: a weak ranker is a Stump, Feature or Tree; got {shown(weak)}")
    feature = int(np.max(weak.feature))
    if feature >= n_features:
        raise ValueError(f"{where}: {weak!r} is of feature {feature}, but n_features is {n_features}")
    return weak, check_number(f"{where}: the weight", weight)


load = Ensemble.load
