"""Sums of losses: ``0.7 * NDCGBoost() + 0.3 * SquaredError()`` is a loss."""

import inspect
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.adapters import call as framework_call
from boostplug.core.checks import check_instance, check_number, shown
from boostplug.core.naming import label
from boostplug.core.values import (
    Range,
    Space,
    invalid_parameter,
    is_value,
    no_parameters,
    parameters_of,
    replaced,
    split_names,
)
from boostplug.data.queries import Queries
from boostplug.losses.base.derivatives import writable, zero_underflowed
from boostplug.losses.base.loss import LARGEST_VALUE, LARGEST_WEIGHT, HessianKind, Loss
from boostplug.losses.composite.on_label import LossOnLabel

Floats = NDArray[np.float64]

_SMALL = 1e-9  # a weight below it may take the last digits of a small Hessian
_FACTOR = 8.0  # a weight is searched from an eighth of it to 8 times it


def _over_parts(combine: Callable[[Iterator[Any]], Any], name: str) -> Any:
    """Return a property of a sum: what `combine` makes of the attribute `name` of its parts."""
    return property(
        lambda self: combine(getattr(part, name) for part, _ in self._parts_above_0),
        doc=f"`{name}` of the parts whose weight is above 0, taken together.",
    )


class CombinedLoss(Loss):
    """A weighted sum of losses, whatever its parameters; a subclass says its parts and their weights in `weighted`."""

    @property
    @abstractmethod
    def weighted(self) -> list[tuple[Loss, float]]:
        """The parts, none of them a sum, and their weights."""

    shift_invariant = _over_parts(all, "shift_invariant")
    has_gradient_of_value = _over_parts(all, "has_gradient_of_value")
    takes_negative_labels = _over_parts(all, "takes_negative_labels")
    takes_pairs = _over_parts(all, "takes_pairs")
    binary_labels = _over_parts(any, "binary_labels")
    needs_position = _over_parts(any, "needs_position")
    couples_queries = _over_parts(any, "couples_queries")
    ties_in_row_order = _over_parts(any, "ties_in_row_order")
    largest_label = _over_parts(partial(min, default=np.inf), "largest_label")
    accuracy = _over_parts(partial(max, default=1e-9), "accuracy")

    @property
    def _parts_above_0(self) -> list[tuple[Loss, float]]:
        """The parts of weight above 0."""
        return [(part, weight) for part, weight in self.weighted if weight > 0.0]

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return that of the first part that reads positions."""
        reading = [part for part, _ in self._parts_above_0 if part.needs_position]
        return reading[0].position_bias(scores, queries) if reading else super().position_bias(scores, queries)

    @property
    def hessian_kind(self) -> HessianKind:
        """The weakest of the parts (see Notes)."""
        kinds = {part.hessian_kind for part, _ in self._parts_above_0}
        if len(kinds) <= 1:
            return kinds.pop() if kinds else "exact"
        return "bound" if kinds == {"bound", "global"} else "model"

    def reads(self, queries: Queries) -> Queries:
        """Return the queries with the labels that all parts read; as they are where parts read different ones."""
        read = [part.reads(queries) for part, _ in self._parts_above_0]
        return read[0] if read and all(one is read[0] for one in read) else queries

    @property
    def n_sums(self) -> int:
        """Those of the parts."""
        return sum(part.n_sums for part, _ in self._parts_above_0)

    @property
    def _value_is_scaled(self) -> bool:
        return True

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return numerators and denominators of the parts, one after the other."""
        self._refuse_nothing()
        terms = [part.scale_terms(queries) for part, _ in self._parts_above_0]
        numerators, denominators = map(np.concatenate, zip(*terms, strict=True))
        return numerators, denominators

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return Σ a_k s_k J_k of each query, the scales being those of these queries."""
        self._refuse_nothing()
        out = np.zeros(queries.n_queries)
        with np.errstate(over="ignore"):  # cut below
            for part, weight in self._parts_above_0:
                out += weight * (part.scale(queries) * part.value(scores, queries))
        return np.minimum(out, LARGEST_VALUE)

    def _query_sums(self, scores: Floats, queries: Queries) -> Floats:
        self._refuse_nothing()
        return np.concatenate([part._query_sums(scores, queries) for part, _ in self._parts_above_0])  # noqa: SLF001

    def _derivatives(self, scores: Floats, queries: Queries, sums: Floats | None) -> tuple[Floats, Floats]:
        """Return the weighted sum of the parts' derivatives."""
        self._refuse_nothing()
        gradient, hessian = np.zeros((2, 0))
        first = 0
        for k, (part, weight) in enumerate(self._parts_above_0):
            own = None if sums is None else sums[first : first + part.n_sums]
            first += part.n_sums
            g, h = writable(part._derivatives(scores, queries, own))  # noqa: SLF001 (a loss of losses)
            g *= weight
            h *= weight
            gradient, hessian = (g, h) if k == 0 else (gradient + g, hessian + h)
        if min(weight for _, weight in self._parts_above_0) < _SMALL:
            zero_underflowed(gradient, hessian)
        return gradient, hessian

    def _refuse_nothing(self) -> None:
        if not self._parts_above_0:
            raise ValueError(f"all weights of {shown(self)} are 0; give a part a weight above 0")

    def _refuse_pairs(self, queries: Queries) -> None:
        for part, _ in self._parts_above_0:
            try:
                part._refuse_pairs(queries)  # noqa: SLF001
            except ValueError as error:
                raise ValueError(f"{error}, or that part of {shown(self)}") from None


@dataclass(frozen=True, kw_only=True, repr=False)
class LossSum(CombinedLoss):
    r"""A weighted sum of losses, each at its own scale.

    .. math:: J_q(F) = \sum_k a_k\, s_k\, J_{k,q}(F)

    with :math:`J_k` the parts, :math:`a_k` their `weights` and :math:`s_k` their scales (`Loss.scale`), by which a
    document stands for about 1 in each. So weights of .7 and .3 are those of what the parts teach, whatever their
    units. Write it as what it is: ``0.7 * NDCGBoost() + 0.3 * SquaredError()``, ``sum(losses)``, ``loss / 2``.

    Parameters
    ----------
    parts : tuple of Loss
        At least one. A sum among them gives way to its own parts, times its weight. Equal parts stay apart.
    weights : tuple of float, optional
        One for each part, from 0 to 1e100. A part of weight 0 is not there. Where all are 0, as ``0 * loss`` is, the
        sum can stand in another one, but a call of it is refused. Default: 1 each.

    Notes
    -----
    The value holds the scales, so the sum's own is 1; `scale_terms` has an entry for each part. Gradient and Hessian
    are the sums of :math:`a_k` times the parts' ones.

    Hessian kind: that of the parts where all have the same; "bound" where some are "bound" and others "global", since a
    quadratic that lies above everywhere has at least the curvature here; else "model": of an "exact" diagonal nothing
    is known beside the entries off it, so "exact" and "bound" together are neither.

    What holds for all parts holds for the sum: that it is shift-invariant, takes pairs and negative labels, has the
    gradient of its value. It couples queries if a part does, and its accuracy is that of the least accurate.

    Parameters of parts have the name of the part's class in small letters, numbered where there are several of it:
    ``qbrank__preference_weight``, ``mpboost_2__distance__lam``; weights are ``qbrank_weight``. These names are those of
    the parts that the sum has now: with another class in a place, its name is another. `boostplug.suggest` draws what
    it draws for the parts, and all weights but the first from an eighth to 8 times what they are: the balance counts.

    Examples
    --------
    >>> import boostplug as bp
    >>> loss = 0.7 * bp.NDCGBoost() + 0.3 * bp.SquaredError()
    >>> loss.name
    '.7 NDCGBoost + .3 SquaredError'
    >>> loss.hessian_kind
    'model'
    >>> loss.with_params(squarederror_weight=0.1, ndcgboost__sigmoid=2.0).name
    '.7 NDCGBoost(2) + .1 SquaredError'
    >>> bp.Loss.parse(".7*ndcg-boost + .3*SquaredError()") == (loss,)
    True
    """

    parts: tuple[Loss, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        parts = _several("parts", self.parts)
        weights = [1.0] * len(parts) if self.weights is None else _several("weights", self.weights)
        for part in parts:
            check_instance("LossSum: a part", part, Loss, "MPBoost()")
        if not parts:
            raise ValueError("LossSum: parts is empty; give it at least one loss")
        if len(weights) != len(parts):
            raise ValueError(
                f"LossSum: weights has {len(weights)} numbers and parts has {len(parts)} losses; give one to each"
            )
        flat: list[tuple[Loss, float]] = []
        for part, weight in zip(parts, weights, strict=True):
            inner = part.weighted if isinstance(part, CombinedLoss) else [(part, 1.0)]
            by = check_number(f"LossSum: the weight of {shown(part)}", weight, least=0.0, most=LARGEST_WEIGHT)
            flat += [(own, by * factor) for own, factor in inner]
        if max(weight for _, weight in flat) > LARGEST_WEIGHT:
            raise ValueError(f"LossSum: the weights of sums within sums multiply to more than {LARGEST_WEIGHT:g}")
        object.__setattr__(self, "parts", tuple(part for part, _ in flat))
        object.__setattr__(self, "weights", tuple(weight for _, weight in flat))

    def on(self, label: str) -> "LossSum":
        """Return the sum of the parts on one of several labels; those that read another one already stay."""
        parts = tuple(part if isinstance(part, LossOnLabel) else part.on(label) for part in self.parts)
        return LossSum(parts=parts, weights=self.weights)

    @property
    def weighted(self) -> list[tuple[Loss, float]]:
        """The parts and their weights."""
        assert self.weights is not None
        return list(zip(self.parts, self.weights, strict=True))

    def __repr__(self) -> str:
        single = len(self.parts) == 1
        return " + ".join(
            f"{part!r}" if weight == 1.0 and not single else f"{weight!r} * {part!r}" for part, weight in self.weighted
        )

    @property
    def name(self) -> str:
        """Labels of the parts with their weights: ".7 NDCGBoost + .3 SquaredError"."""
        single = len(self.parts) == 1
        return " + ".join(f"{label(weight)} " * (weight != 1.0 or single) + part.name for part, weight in self.weighted)

    # Parameters: the parts' stand under the parts' names.

    def _names(self) -> list[str]:
        """Return the names of the parts, none of which is that of another parameter."""
        kinds = [re.sub("_+", "_", type(part).__name__).strip("_").lower() or "part" for part in self.parts]
        names: list[str] = []
        for i, kind in enumerate(kinds):
            alone = kinds.count(kind) == 1 and kind not in ("parts", "weights")
            name = kind if alone else f"{kind}_{kinds[: i + 1].count(kind)}"
            while any({name, f"{name}_weight"} & {other, f"{other}_weight"} for other in names):
                name += "_x"
            names.append(name)
        return names

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return `parts` and `weights`; if `deep`, each part by its name, its weight, and its parameters too."""
        if framework_call.called_by_get_params(inspect.currentframe()):
            return {}
        listed: dict[str, Any] = {"parts": self.parts, "weights": self.weights}
        for name, (part, weight) in zip(self._names(), self.weighted, strict=True) if deep else ():
            listed |= {name: part, f"{name}_weight": weight}
            listed |= {f"{name}__{rest}": inner for rest, inner in parameters_of(part).items()}
        return listed

    def with_params(self, /, **parameters: Any) -> Self:
        """Return the sum with other parts, weights, or parameters of parts, by the names in `get_params`.

        Raises
        ------
        ValueError
            If there is no such parameter, or the sum cannot have it.
        """
        whole, within = split_names(parameters)
        base = self
        if {"parts", "weights"} & whole.keys():
            base = type(self)(parts=whole.pop("parts", self.parts), weights=whole.pop("weights", self.weights))
        parts, weights = map(list, zip(*base.weighted, strict=True))
        places = {name: k for k, name in enumerate(base._names())}  # noqa: SLF001
        for name, value in whole.items():
            if name in places:
                parts[places[name]] = check_instance(f"LossSum: {name}", value, Loss, "MPBoost()")
            elif name.removesuffix("_weight") in places:
                weights[places[name.removesuffix("_weight")]] = value
            else:
                invalid_parameter(name, shown(base), base.get_params())
        for name, inner in within.items():
            if name not in places:
                invalid_parameter(f"{name}__{next(iter(inner))}", shown(base), base.get_params())
            part = parts[places[name]]
            if not is_value(part):
                no_parameters(name, part, inner, base)
            parts[places[name]] = replaced(part, inner)
        return type(self)(parts=tuple(parts), weights=tuple(weights))

    @property
    def search_space(self) -> Space:
        """The search spaces of the parts, and the weights above 0 of all parts except the first."""
        space: dict[str, Range | tuple[Any, ...]] = {}
        for k, (name, (part, weight)) in enumerate(zip(self._names(), self.weighted, strict=True)):
            space |= {f"{name}__{rest}": drawn for rest, drawn in part.search_space.items()}
            if k and weight > 0.0:
                space[f"{name}_weight"] = Range(weight / _FACTOR, min(weight * _FACTOR, LARGEST_WEIGHT), log=True)
        return space


def _several(name: str, values: Any) -> list[Any]:
    no_tuple = ValueError(f"LossSum: {name} must be a tuple; got {shown(values)}")
    if isinstance(values, (str, bytes, Mapping)):
        raise no_tuple
    try:
        return list(values)
    except TypeError:  # arrays of no dimension have __iter__ too
        raise no_tuple from None
