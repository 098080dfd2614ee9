"""`Loss`: the interface and the conventions of all losses; `LossOnLabel` and `LossSum`, which its operators make."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.adapters.calling import derivatives_for_framework
from boostplug.core.arrays import Floats
from boostplug.core.checks import LARGEST_WEIGHT, as_result, check_instance, check_number, scores_of_rows, shown
from boostplug.core.naming import read_value
from boostplug.core.values import FACTOR, Range, Space, Value, changed_parameters, label, parameters_of
from boostplug.data.named_labels import check_label_name
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.losses.base.traits import HessianKind, Traits, combined

LARGEST_VALUE = 1e299  # of a query's loss: a sum over all queries still fits float64
_KEPT_SCALES = 256  # losses whose scale is kept with the data, as a grid search trains them
_FORMER = {
    "hessian_kind": "hessian",
    "label_range": "labels",
    "shift_invariant": "shift_invariant",
    "compares_documents": "compares_documents",
    "has_gradient_of_value": "gradient_of_value",
    "ties_in_row_order": "ties_in_row_order",
    "takes_pairs": "pairs",
    "needs_position": "positions",
    "couples_queries": "couples_queries",
}
"""Attributes of a class of losses that `Traits` holds now."""
_SMALLEST_HESSIAN = 1e-300  # below it a Hessian has lost digits: such a row takes no step
_OWN = "boostplug.losses."  # modules whose losses' outputs are not checked again


class Loss(Value, ABC):
    r"""A ranking loss: a value per query and derivatives per row, over plain arrays.

    Its mathematics knows no framework. `__call__` serves the frameworks. It reads scores and `Queries` from what they
    pass, and returns the derivatives as float32.

    A loss is a frozen, hashable, picklable value. It keeps no state, so the frameworks may copy it as they please.
    Subclasses are frozen dataclasses that state their `traits`. They write `compute_value` and
    `compute_gradient_hessian`, which get checked scores. If the scale is not 1, they write `scale_terms` too. A loss
    made of others writes `gradient_hessian` and `totals`, from those of its parts, in place of
    `compute_gradient_hessian`.

    Conventions, for all losses:

    - scores: shape (n_rows,), finite, higher ranks first; never changed.
    - `value`: shape (n_queries,), float64, 0 for a query without pairs or labels to learn from.
    - `gradient_hessian`: two arrays of shape (n_rows,), float64: `scale` times the derivatives of ``value(…).sum()`` by
      each score. The Hessian is diagonal, ≥ 0, and > 0 wherever the gradient is not 0.
    - a row's weight multiplies what it contributes; the pair (i, j) weighs :math:`\sqrt{w_i w_j}`; weight 0 removes the
      row. Weights are relative. All of them times c give the same gradient and Hessian, and c times the value. A sum's
      value stays: it holds the scales.
    - `normalization`, in losses on pairs, says what the pairs of a query weigh together, before row weights and what
      else the loss gives a pair: "none": their number :math:`P_q` (the factor :math:`c_q` is 1), so long lists
      dominate; "rows": the number :math:`n_q` of the query's judged documents (:math:`c_q = n_q / P_q`); "query": 1
      (:math:`c_q = 1 / P_q`).

    `parameters` lists the parameters, rankers have them as own (``objective__sigmoid``), ``with_params(sigmoid=2.0)``
    returns a new value. A subclass may say what `boostplug.suggest` draws them from, in
    ``search_ranges: ClassVar = {"sharpness": boostplug.core.values.Range(0.1, 10.0, log=True)}``.

    An instance is the objective itself: pass it as ``lgb.train({"objective": loss}, …)``,
    ``lgb.LGBMRanker(objective=loss)``, ``xgb.train(…, obj=loss)`` or to `boostplug.LGBMRanker`, `boostplug.XGBRanker`.

    Sums are losses too: ``0.7 * NDCGBoost() + 0.3 * SquaredError()`` (see `LossSum`).

    Attributes
    ----------
    traits : Traits
        What holds for the loss on any data: the kind of its Hessian, the labels that it takes. A class attribute, or a
        property where parameters decide.
    """

    registry: ClassVar[Mapping[str, tuple["Loss", ...]]] = {}
    readable: ClassVar[Mapping[str, type]] = {}
    __array_ufunc__ = None  # NumPy's numbers leave ``number * loss`` to the loss
    __call__ = derivatives_for_framework

    def __init_subclass__(cls, **options: Any) -> None:
        """Take the traits that a class states one by one, as before `Traits` was there."""
        super().__init_subclass__(**options)
        stated = [name for name in _FORMER if name in vars(cls)]
        inherited: Any = Traits(hessian="model") if cls.traits is Loss.traits else cls.traits

        def traits(self: Loss) -> Traits:
            others = inherited.__get__(self) if isinstance(inherited, property) else inherited
            own = {_FORMER[name]: getattr(self, name) for name in stated}
            own.setdefault("compares_documents", own.get("shift_invariant", others.compares_documents))
            changed: Traits = replace(others, **own)
            return changed

        if stated:
            cls.traits = property(traits)  # type: ignore[method-assign, assignment]

    @classmethod
    def register(cls, registry: Mapping[str, tuple["Loss", ...]], *readable: type) -> None:
        """Set the losses that `parse` knows by name, and the other classes that its expressions may hold."""
        losses = {type(loss) for variants in registry.values() for loss in variants}
        cls.registry, cls.readable = registry, {kind.__name__.lower(): kind for kind in (*losses, *readable)}

    @classmethod
    def parse(cls, name: str) -> tuple["Loss", ...]:
        """Return the variants of a loss by its name in the registry, or the one that an expression spells.

        Parameters
        ----------
        name : str
            "qbrank", "ndcg-boost": all variants of that name. Else what ``repr`` of a loss shows, with class names in
            any case, and sums: "QBRank(preference_weight=0.3)", ".7*NDCGBoost() + .3*QBRank(normalization='rows')".

        Raises
        ------
        ValueError
            If there is no such loss, and the message lists those that are; or if the text is no such expression.
        """
        if isinstance(name, str) and name.strip().lower() in cls.registry:
            return cls.registry[name.strip().lower()]
        loss = read_value(name, cls.readable, "loss", ", ".join(cls.registry))
        if not isinstance(loss, Loss):
            several = "; pass several as a list" if isinstance(loss, tuple) else ""
            raise ValueError(f"{shown(name)} is not a loss; there are: {', '.join(cls.registry)}{several}")
        return (loss,)

    def __add__(self, other: "Loss") -> "Loss":
        """Return the sum of two losses."""
        return LossSum(parts=(self, other))

    def __radd__(self, other: Any) -> "Loss":
        """Return the loss itself for 0, with which ``sum(losses)`` begins."""
        return self if isinstance(other, int) and other == 0 else LossSum(parts=(other, self))

    def __mul__(self, weight: float) -> "Loss":
        """Return the loss with a weight, a sum of one."""
        return LossSum(parts=(self,), weights=(weight,))

    __rmul__ = __mul__

    def on(self, label: str) -> "Loss":
        """Return the loss on one of several labels: it reads `Queries.labels_by_name`, in place of the labels `y`.

        ``bp.QBRank().on("click") + 2 * bp.QBRank().on("sale")`` learns from both.

        Parameters
        ----------
        label : str
            As `set_labels`, ``Queries(labels_by_name=…)`` and ``fit(labels=…)`` name it.

        Raises
        ------
        ValueError
            If the loss reads another label already, or the name holds spaces or signs that logs do not take.
        """
        return LossOnLabel(self, label)

    def with_own_labels(self, queries: Queries) -> Queries:
        """Return the queries with the labels that the loss reads: these, unless it is bound to others (`on`)."""
        return queries

    @property
    @abstractmethod
    def traits(self) -> Traits:
        """What holds for the loss on any data. It is a class attribute if no parameter decides."""

    @property
    def hessian_kind(self) -> HessianKind:
        """The kind of the diagonal Hessian: see `Traits`."""
        return self.traits.hessian

    @property
    def couples_queries(self) -> bool:
        """Whether one query's derivatives depend on the scores of other queries."""
        return self.traits.couples_queries

    def why_no_order(self, queries: Queries) -> str | None:
        """Return why no pair or list of these queries teaches an order, or None."""
        return why_nothing_is_learnt(self.with_own_labels(queries)) if self.traits.compares_documents else None

    def fault_of_order(self, queries: Queries) -> str | None:
        """Return the warning that pairs or lists teach nothing in a loss that also learns from labels."""
        cause = self.why_no_order(queries)
        if cause is None:
            return None
        return f"a part of {self!r} has nothing to learn from: {cause}; only the rest of it trains the model"

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return numerators and denominators of the scale, an entry for each part of the loss (one, but for sums).

        Each is a sum over the queries, so that those of several machines add up. They depend on the data alone, never
        on scores. Where a denominator is 0, the scale is 1. Weights are relative: a denominator grows with them as the
        value does, a numerator counts documents. Here: the number of the rows to learn from (the judged ones, and those
        in explicit pairs), and their total weight.
        """
        rows = queries.judged
        if queries.pairs is not None:
            rows = rows.copy()
            rows[queries.listed_pairs.winner] = rows[queries.listed_pairs.loser] = True
        number = np.array([float(np.count_nonzero(rows))])
        return number, number.copy() if queries.row_weight is None else np.array([queries.row_weight[rows].sum()])

    def scale(self, queries: Queries) -> float:
        """Return the factor between the derivatives of the value and what `gradient_hessian` returns.

        The ratio of `scale_terms`; 1 for a sum of losses, whose value holds the parts' scales. It brings the outputs to
        the order of 1 per document, whatever the unit of the weights. The frameworks' absolute parameters
        (``min_child_weight``, ``lambda_l2``, …) are made for that.
        """
        numerator, denominator = self._terms(queries)
        return float(numerator / denominator) if denominator else 1.0

    def value(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return the loss of each query.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries

        Returns
        -------
        ndarray of shape (n_queries,)
            At most 1e299: larger values are cut there.

        Raises
        ------
        ValueError
            If scores have another shape or hold NaN or infinity.
        """
        self._check_pairs(queries)
        value = self.compute_value(scores_of_rows(scores, queries.n_rows, finite=True), queries)
        if type(self).__module__.startswith(_OWN):
            return value
        return as_result(f"{type(self).__name__}.compute_value", "query", value, (queries.n_queries,))

    def gradient_hessian(
        self, scores: ArrayLike, queries: Queries, *, totals: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return `scale` times the derivatives of ``value(scores, queries).sum()``.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries
        totals : ndarray of shape (n_totals,), optional
            If the queries are those of one worker: the sum of all workers' `totals` at these scores.

        Returns
        -------
        gradient, hessian : ndarray of shape (n_rows,)
            New arrays.

        Raises
        ------
        ValueError
            If scores have another shape or hold NaN or infinity.
        """
        checked = scores_of_rows(scores, queries.n_rows, finite=True)
        build = partial(self._built_terms, queries)  # as `_terms`, without a call more in each round
        terms = queries.remember(("scale", self), build, limit=_KEPT_SCALES) if totals is None else totals
        scale = float(terms[0] / terms[1]) if terms[1] else 1.0  # no pair to learn from
        outputs: Any = self.compute_gradient_hessian(checked, queries, scale)
        if type(self).__module__.startswith(_OWN):
            gradient, hessian = outputs
            return gradient, hessian
        what = f"{type(self).__name__}.compute_gradient_hessian"
        if not isinstance(outputs, (tuple, list)) or len(outputs) != 2:
            raise ValueError(f"{what} must return two arrays, gradient and Hessian; got {shown(outputs)}")
        gradient, hessian = (as_result(what, "row", output, (queries.n_rows,)) for output in outputs)
        return gradient, hessian

    def totals(self, scores: ArrayLike, queries: Queries) -> Floats:  # noqa: ARG002 (other losses need the scores)
        """Return the sums over the queries that the derivatives depend on. Those of several workers add up.

        The two `scale_terms`. Losses that couple queries add sums that depend on the scores.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries

        Returns
        -------
        ndarray of shape (n_totals,)
        """
        return self._terms(queries)

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:  # noqa: ARG002 (the default)
        """Return the position bias that a loss on clicks corrects, by position (see `Unbiased`).

        Raises
        ------
        ValueError
            If the loss reads no positions.
        """
        raise ValueError(f"{self!r} reads no positions; take boostplug.Unbiased")

    @abstractmethod
    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return the loss of each query. Scores are checked, contiguous and read-only."""

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the derivatives of the value, as new arrays. Scores are checked and read-only.

        `scale` is that of all workers together.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compute_gradient_hessian(scores, queries, scale)")

    def _terms(self, queries: Queries) -> Floats:
        """Return `scale_terms` as one array, computed once for each data."""
        return queries.remember(("scale", self), partial(self._built_terms, queries), limit=_KEPT_SCALES)

    def _built_terms(self, queries: Queries) -> Floats:
        self._check_pairs(queries)
        terms = np.concatenate(self.scale_terms(queries))
        if len(terms) != 2:
            raise ValueError(f"{shown(self)}.scale_terms must return two arrays of one number each; got {terms}")
        return terms

    def _check_pairs(self, queries: Queries) -> None:
        if queries.pairs is not None and not self.traits.pairs:
            raise ValueError(f"{type(self).__name__} learns from grades and cannot use pairs; remove pairs=")


@dataclass(frozen=True, repr=False)
class LossOnLabel(Loss):
    """A loss whose labels are those of one name, in place of the data's `y`; `Loss.on` makes it.

    Its parts, its base and its metric read that label too, unless they are bound to another one. Value, gradient,
    Hessian and scale are the loss's own, on data with these labels. A row without such a label (NaN) counts as not
    labelled. Explicit pairs are left aside, as they stand for `y`.

    Parameters
    ----------
    loss : Loss
    label : str
        A name in `Queries.labels_by_name`.
    """

    loss: Loss
    label: str

    def __post_init__(self) -> None:
        check_instance("LossOnLabel: loss", self.loss, Loss, "MPBoost()")
        if isinstance(self.loss, LossOnLabel):
            raise ValueError(f"{self.loss!r} reads the label {self.loss.label!r} already; bind the loss in it")
        check_label_name(self.label)

    def __repr__(self) -> str:
        return f"{self.loss!r}.on({self.label!r})"

    @property
    def name(self) -> str:
        """Label of the loss, and the data's label: "QBRank.on(sale)"."""
        return f"{self.loss.name}.on({self.label})"

    def with_own_labels(self, queries: Queries) -> Queries:
        """Return the queries with the label of that name."""
        return queries.on(self.label)

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return the loss's."""
        return self.loss.scale_terms(self.with_own_labels(queries))

    def scale(self, queries: Queries) -> float:
        """Return the loss's."""
        return self.loss.scale(self.with_own_labels(queries))

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return the loss's."""
        return self.loss.position_bias(scores, self.with_own_labels(queries))

    @property
    def traits(self) -> Traits:
        """The loss's; explicit pairs may be there, and it does not read them."""
        traits: Traits = replace(self.loss.traits, pairs=True)
        return traits

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return the loss's."""
        return self.loss.value(scores, self.with_own_labels(queries))

    def gradient_hessian(
        self, scores: ArrayLike, queries: Queries, *, totals: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the loss's."""
        return self.loss.gradient_hessian(scores, self.with_own_labels(queries), totals=totals)

    def totals(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return the loss's."""
        return self.loss.totals(scores, self.with_own_labels(queries))


class CombinedLoss(Loss):
    """A weighted sum of losses, whatever its parameters. A subclass says its parts and their weights in `weighted`."""

    @property
    @abstractmethod
    def weighted(self) -> list[tuple[Loss, float]]:
        """The parts, none of them a sum, and their weights."""

    @property
    def losses(self) -> list[Loss]:
        """The parts without their weights."""
        return [part for part, _ in self.weighted]

    @property
    def traits(self) -> Traits:
        """What the parts have together: see `combined`."""
        return combined([part.traits for part in self.losses])

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return that of the first part that reads positions."""
        reading = [part for part in self.losses if part.traits.positions]
        return reading[0].position_bias(scores, queries) if reading else super().position_bias(scores, queries)

    def with_own_labels(self, queries: Queries) -> Queries:
        """Return the queries with the labels that all parts read; as they are where parts read different ones."""
        read = [part.with_own_labels(queries) for part in self.losses]
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

    def gradient_hessian(
        self, scores: ArrayLike, queries: Queries, *, totals: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the weighted sum of the parts' derivatives; parameters as of `Loss.gradient_hessian`."""
        gradient, hessian = np.zeros((2, queries.n_rows))
        first = 0
        for part, weight in self.weighted:
            own = None if totals is None else totals[first : first + part.traits.n_totals]
            first += part.traits.n_totals
            g, h = part.gradient_hessian(scores, queries, totals=own)
            gradient += weight * g
            hessian += weight * h
        gradient[hessian < _SMALLEST_HESSIAN] = 0.0
        hessian[hessian < _SMALLEST_HESSIAN] = 0.0
        return gradient, hessian

    def totals(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return the totals of the parts, one after the other."""
        return np.concatenate([part.totals(scores, queries) for part in self.losses])

    def _check_pairs(self, queries: Queries) -> None:
        """Leave it to the parts."""


@dataclass(frozen=True, kw_only=True, repr=False)
class LossSum(CombinedLoss):
    r"""A weighted sum of losses, each at its own scale.

    .. math:: J_q(F) = \sum_k a_k\, s_k\, J_{k,q}(F)

    with :math:`J_k` the parts, :math:`a_k` their `weights` and :math:`s_k` their scales (`Loss.scale`). By its scale, a
    document stands for about 1 in each part. So weights of .7 and .3 are those of what the parts teach, whatever their
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
    The value holds the scales, so the sum's own is 1. `scale_terms` has an entry for each part. Gradient and Hessian
    are the sums of :math:`a_k` times the parts' ones.

    Hessian kind: that of the parts if all have the same. It is "bound" if some are "bound" and others "global", since a
    quadratic that lies above everywhere has at least the curvature here. Else it is "model": an "exact" diagonal says
    nothing about the entries off it.

    If all parts are shift-invariant, so is the sum. The same holds for pairs, negative labels, and a gradient that is
    the value's. It couples queries if a part does.

    Parts and weights count from 1 in `parameters`: ``part_1``, ``weight_1``, ``part_1__preference_weight``.
    `boostplug.suggest` draws what it draws for the parts. It draws all weights but the first from an eighth to 8 times
    what they are: the balance counts.

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
            factor = _checked_weight(weight, part)
            flat += [(own, _checked_weight(factor * by, own)) for own, by in parts_of(part)]
        object.__setattr__(self, "parts", tuple(part for part, _ in flat))
        object.__setattr__(self, "weights", tuple(weight for _, weight in flat))

    def on(self, label: str) -> "LossSum":
        """Return the sum of the parts on one of several labels. Those that read another one already stay."""
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

    def parameters(self, deep: bool = True) -> dict[str, Any]:
        """Return `parts` and `weights`; if `deep`, those by their numbers and the parts' parameters too."""
        listed: dict[str, Any] = {"parts": self.parts, "weights": self.weights}
        if deep:
            listed |= _numbered(self)
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
        numbered = changed_parameters(base, _numbered(base), parameters)
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


def _numbered(loss: LossSum) -> dict[str, Any]:
    """Return parts and weights by their names."""
    numbered: dict[str, Any] = {}
    for k, (part, weight) in enumerate(loss.weighted, 1):
        numbered |= {f"part_{k}": part, f"weight_{k}": weight}
    return numbered


def _checked_weight(weight: Any, part: Loss) -> float:
    return check_number(f"LossSum: the weight of {shown(part)}", weight, least=0.0, most=LARGEST_WEIGHT)


def parts_of(loss: Loss) -> list[tuple[Loss, float]]:
    """Return the parts of a sum and their weights; any other loss is its own part."""
    return loss.weighted if isinstance(loss, CombinedLoss) else [(loss, 1.0)]
