"""Sums of losses: ``0.7 * NDCGBoost() + 0.3 * SquaredError()`` is a loss."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import LARGEST_WEIGHT, check_instance, check_number, shown
from boostplug.core.naming import label
from boostplug.core.values import FACTOR, Range, Space, changed_parameters, parameters_of, takes_from
from boostplug.data.queries import Queries
from boostplug.losses.base.derivatives import zero_underflowed
from boostplug.losses.base.loss import LARGEST_VALUE, HessianKind, LabelRange, Loss
from boostplug.losses.composite.on_label import LossOnLabel


@takes_from("losses", "shift_invariant", "has_gradient_of_value", "takes_pairs", combine=all)
@takes_from("losses", "needs_position", "couples_queries", "ties_in_row_order", "compares_documents", combine=any)
@takes_from("losses", "n_sums", combine=sum)
class CombinedLoss(Loss):
    """A weighted sum of losses, whatever its parameters; a subclass says its parts and their weights in `weighted`."""

    @property
    @abstractmethod
    def weighted(self) -> list[tuple[Loss, float]]:
        """The parts, none of them a sum, and their weights."""

    @property
    def losses(self) -> list[Loss]:
        """The parts without their weights."""
        return [part for part, _ in self.weighted]

    @property
    def label_range(self) -> LabelRange:
        """The labels that all parts take."""
        least, most, binary = zip(*(part.label_range for part in self.losses), strict=True)
        return LabelRange(max(least), min(most), any(binary))

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return that of the first part that reads positions."""
        reading = [part for part in self.losses if part.needs_position]
        return reading[0].position_bias(scores, queries) if reading else super().position_bias(scores, queries)

    @property
    def hessian_kind(self) -> HessianKind:
        """The weakest of the parts (see Notes)."""
        kinds = {part.hessian_kind for part in self.losses}
        if len(kinds) == 1:
            return kinds.pop()
        return "bound" if kinds == {"bound", "global"} else "model"

    def reads(self, queries: Queries) -> Queries:
        """Return the queries with the labels that all parts read; as they are where parts read different ones."""
        read = [part.reads(queries) for part in self.losses]
        return read[0] if all(one is read[0] for one in read) else queries

    def why_no_order(self, queries: Queries) -> str | None:
        """Return that of the first part that has one."""
        return next(filter(None, (part.why_no_order(queries) for part in self.losses)), None)

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return numerators and denominators of the parts, one after the other."""
        numerators, denominators = zip(*(part.scale_terms(queries) for part in self.losses), strict=True)
        return np.concatenate(numerators), np.concatenate(denominators)

    def scale(self, queries: Queries) -> float:  # noqa: ARG002 (the value holds the scales)
        """Return 1."""
        return 1.0

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return Σ a_k s_k J_k of each query, the scales being those of these queries."""
        out = np.zeros(queries.n_queries)
        with np.errstate(over="ignore"):  # cut below
            for part, weight in self.weighted:
                out += weight * (part.scale(queries) * part.value(scores, queries))
        return np.minimum(out, LARGEST_VALUE)

    def _query_sums(self, scores: Floats, queries: Queries) -> Floats:
        return np.concatenate([part._query_sums(scores, queries) for part in self.losses])  # noqa: SLF001

    def _derivatives(self, scores: Floats, queries: Queries, sums: Floats | None) -> tuple[Floats, Floats]:
        """Return the weighted sum of the parts' derivatives."""
        gradient, hessian = np.zeros((2, queries.n_rows))
        first = 0
        for part, weight in self.weighted:
            own = None if sums is None else sums[first : first + part.n_sums]
            first += part.n_sums
            g, h = part._derivatives(scores, queries, own)  # noqa: SLF001 (a loss of losses)
            gradient += weight * g
            hessian += weight * h
        zero_underflowed(gradient, hessian)
        return gradient, hessian

    def _refuse_pairs(self, queries: Queries) -> None:
        for part in self.losses:
            part._refuse_pairs(queries)  # noqa: SLF001


@dataclass(frozen=True, kw_only=True, repr=False)
class LossSum(CombinedLoss):
    r"""A weighted sum of losses, each at its own scale.

    .. math:: J_q(F) = \sum_k a_k\, s_k\, J_{k,q}(F)

    with :math:`J_k` the parts, :math:`a_k` their `weights` and :math:`s_k` their scales (`Loss.scale`), by which a
    document stands for about 1 in each. So weights of .7 and .3 are those of what the parts teach, whatever their
    units. Write it as what it is: ``0.7 * NDCGBoost() + 0.3 * SquaredError()``, ``sum(losses)``.

    Parameters
    ----------
    parts : tuple of Loss
        At least one. A sum among them gives way to its own parts, times its weight. Equal parts stay apart.
    weights : tuple of float, optional
        One for each part, from 0 to 1e100. Default: 1 each. A part of weight 0 teaches nothing, but still needs the
        data that it learns from.

    Notes
    -----
    The value holds the scales, so the sum's own is 1; `scale_terms` has an entry for each part. Gradient and Hessian
    are the sums of :math:`a_k` times the parts' ones.

    Hessian kind: that of the parts where all have the same; "bound" where some are "bound" and others "global", since a
    quadratic that lies above everywhere has at least the curvature here; else "model": of an "exact" diagonal nothing
    is known beside the entries off it, so "exact" and "bound" together are neither.

    What holds for all parts holds for the sum: that it is shift-invariant, takes pairs and negative labels, has the
    gradient of its value. It couples queries if a part does.

    Parts and weights count from 1 in `parameters`: ``part_1``, ``weight_1``, ``part_1__preference_weight``.
    `boostplug.suggest` draws what it draws for the parts, and all weights but the first from an eighth to 8 times what
    they are: the balance counts.

    Examples
    --------
    >>> import boostplug as bp
    >>> loss = 0.7 * bp.NDCGBoost() + 0.3 * bp.SquaredError()
    >>> loss.name
    '.7 NDCGBoost + .3 SquaredError'
    >>> loss.hessian_kind
    'model'
    >>> loss.with_params(weight_2=0.1, part_1__sigmoid=2.0).name
    '.7 NDCGBoost(2) + .1 SquaredError'
    >>> bp.Loss.parse(".7*NDCGBoost() + .3*SquaredError()") == (loss,)
    True
    """

    parts: tuple[Loss, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name, value in (("parts", self.parts), ("weights", () if self.weights is None else self.weights)):
            if not isinstance(value, (tuple, list)):
                raise ValueError(f"LossSum: {name} must be a tuple; got {shown(value)}")
        weights = (1.0,) * len(self.parts) if self.weights is None else self.weights
        if not self.parts or len(weights) != len(self.parts):
            raise ValueError(
                f"LossSum: parts has {len(self.parts)} losses and weights has {len(weights)} numbers; give at least "
                "one loss, and a weight to each"
            )
        for part in self.parts:
            check_instance("LossSum: a part", part, Loss, "MPBoost()")
        flat: list[tuple[Loss, float]] = []
        for part, weight in zip(self.parts, weights, strict=True):
            factor = _checked(weight, part)
            flat += [(own, _checked(factor * by, own)) for own, by in parts_of(part)]
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

    def _numbered(self) -> dict[str, Any]:
        """Return parts and weights by their names."""
        numbered: dict[str, Any] = {}
        for k, (part, weight) in enumerate(self.weighted, 1):
            numbered |= {f"part_{k}": part, f"weight_{k}": weight}
        return numbered

    def parameters(self, deep: bool = True) -> dict[str, Any]:
        """Return `parts` and `weights`; if `deep`, those by their numbers and the parts' parameters too."""
        listed: dict[str, Any] = {"parts": self.parts, "weights": self.weights}
        if deep:
            listed |= self._numbered()
            for k, part in enumerate(self.parts, 1):
                listed |= {f"part_{k}__{rest}": inner for rest, inner in parameters_of(part).items()}
        return listed

    def with_params(self, /, **parameters: Any) -> Self:
        """Return the sum with other parts, weights, or parameters of parts, by the names in `parameters`.

        Raises
        ------
        ValueError
            If there is no such parameter, or the sum cannot have it.
        """
        whole = {name: parameters.pop(name) for name in ("parts", "weights") if name in parameters}
        base = replace(self, **whole)
        numbered = changed_parameters(base, base._numbered(), parameters)  # noqa: SLF001
        return type(self)(parts=tuple(numbered.values())[::2], weights=tuple(numbered.values())[1::2])

    @property
    def search_space(self) -> Space:
        """The search spaces of the parts, and the weights of all parts except the first."""
        space: dict[str, Range | tuple[Any, ...]] = {}
        for k, (part, weight) in enumerate(self.weighted, 1):
            space |= {f"part_{k}__{rest}": drawn for rest, drawn in part.search_space.items()}
            if k > 1 and weight > 0.0:
                space[f"weight_{k}"] = Range(weight / FACTOR, weight * FACTOR, log=True)
        return space


def _checked(weight: Any, part: Loss) -> float:
    return check_number(f"LossSum: the weight of {shown(part)}", weight, least=0.0, most=LARGEST_WEIGHT)


def parts_of(loss: Loss) -> list[tuple[Loss, float]]:
    """Return the parts of a sum and their weights; any other loss is its own part."""
    return loss.weighted if isinstance(loss, CombinedLoss) else [(loss, 1.0)]
