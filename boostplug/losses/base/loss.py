"""`Loss`: the interface and the conventions of all losses."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.adapters.adapter import Adapter
from boostplug.adapters.reading import adapter_of, read
from boostplug.adapters.workers import NO_QUERIES, Workers, in_step
from boostplug.core.arrays import Floats
from boostplug.core.checks import returned, scores_of_rows, shown
from boostplug.core.naming import Named, read_value
from boostplug.core.threads import threads_of_framework
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.single_precision import as_float32

LARGEST_VALUE = 1e299  # of a query's loss: a sum over all queries still fits float64
_KEPT_SCALES = 256  # losses whose scale is kept with the data, as a grid search trains them
HessianKind = Literal["exact", "bound", "global", "model"]


class LabelRange(NamedTuple):
    """Labels from `least` to `most`; only 0 and 1 if they are `binary`."""

    least: float = -np.inf
    most: float = np.inf
    binary: bool = False


class Loss(Named, ABC):
    r"""A ranking loss: a value per query and derivatives per row, over plain arrays.

    Its mathematics knows no framework. `__call__` serves the frameworks: it reads scores and `Queries` from what they
    pass, and returns the derivatives as float32.

    A loss is a frozen, hashable, picklable value. It keeps no state, so the frameworks may copy it as they please.
    Subclasses are frozen dataclasses that say their `hessian_kind` and write `compute_value` and
    `compute_gradient_hessian`, which get checked scores, and `scale_terms` where the scale is not 1.

    Conventions, for all losses:

    - scores: shape (n_rows,), finite, higher ranks first; never changed.
    - `value`: shape (n_queries,), float64, 0 for a query without pairs or labels to learn from.
    - `gradient_hessian`: two arrays of shape (n_rows,), float64: `scale` times the derivatives of ``value(…).sum()``
      by each score; the Hessian is diagonal, ≥ 0, and > 0 wherever the gradient is not 0.
    - a row's weight multiplies what it contributes; the pair (i, j) weighs :math:`\sqrt{w_i w_j}`; weight 0 removes the
      row. Weights are relative: all of them times c give c times the value (a sum's stays: it holds the scales), and
      the same gradient and Hessian.
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
    couples_queries : bool
        Whether one query's derivatives depend on the scores of other queries. Default: False.
    takes_pairs : bool
        Whether the loss can learn from `Queries.pairs`; others refuse them. Default: False.
    """

    registry: ClassVar[Mapping[str, tuple["Loss", ...]]] = {}  # what `parse` knows; boostplug.losses fills it
    _readable: ClassVar[Mapping[str, type]] = {}  # beside the classes in the registry; filled there too
    _sum: ClassVar[Callable[..., "Loss"]]  # `LossSum`; set there too
    _on_label: ClassVar[Callable[..., "Loss"]]  # `LossOnLabel`; set there too
    couples_queries: bool = False
    takes_pairs: bool = False
    __array_ufunc__ = None  # NumPy's numbers leave ``number * loss`` to the loss

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
        known = {kind.lower(): made for kind, made in cls._readable.items()}
        known |= {type(loss).__name__.lower(): type(loss) for variants in cls.registry.values() for loss in variants}
        loss = read_value(name, known, "loss", ", ".join(cls.registry))
        if not isinstance(loss, Loss):
            several = "; pass several as a list" if isinstance(loss, tuple) else ""
            raise ValueError(f"{shown(name)} is not a loss; there are: {', '.join(cls.registry)}{several}")
        return (loss,)

    def __add__(self, other: "Loss") -> "Loss":
        """Return the sum of two losses."""
        return self._sum(parts=(self, other))

    def __radd__(self, other: Any) -> "Loss":
        """Return the loss itself for 0, with which ``sum(losses)`` begins."""
        return self if isinstance(other, int) and other == 0 else self._sum(parts=(other, self))

    def __mul__(self, weight: float) -> "Loss":
        """Return the loss with a weight, a sum of one."""
        return self._sum(parts=(self,), weights=(weight,))

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
        return self._on_label(self, label)

    def reads(self, queries: Queries) -> Queries:
        """Return the queries with the labels that the loss reads: these, unless it is bound to others (`on`)."""
        return queries

    # These are properties, since they depend on parameters in some losses. Others write a class attribute.

    @property
    @abstractmethod
    def hessian_kind(self) -> HessianKind:
        """The kind of the diagonal Hessian h, compared with the true second derivatives ∇².

        "exact": h = ∂g_i/∂F_i. "bound": diag(h) - ∇² is positive semidefinite at the point. "global": value(F + e) ≤
        value(F) + gᵀe + ½ eᵀ diag(h) e for every e. "model": a formula of its own, stated by the loss.
        """

    @property
    def shift_invariant(self) -> bool:
        """Whether adding a constant to all scores of a query changes nothing, so that its gradients sum to 0."""
        return True

    @property
    def compares_documents(self) -> bool:
        """Whether the documents of a query are compared, in pairs or lists; not so if each label counts by itself."""
        return self.shift_invariant

    def why_no_order(self, queries: Queries) -> str | None:
        """Return why no pair or list of these queries teaches an order; None if one does, or none is asked for."""
        return why_nothing_is_learnt(self.reads(queries)) if self.compares_documents else None

    def fault_of_order(self, queries: Queries) -> str | None:
        """Return the warning that pairs or lists teach nothing in a loss that also learns from labels."""
        cause = self.why_no_order(queries)
        if cause is None:
            return None
        return f"a part of {self!r} has nothing to learn from: {cause}; only the rest of it trains the model"

    @property
    def has_gradient_of_value(self) -> bool:
        """Whether the gradient is that of the value, and not a formula of its own."""
        return True

    @property
    def ties_in_row_order(self) -> bool:
        """Whether tied documents are ranked in row order, so that another order of rows gives other outputs."""
        return False

    @property
    def label_range(self) -> LabelRange:
        """The labels that the loss takes."""
        return LabelRange()

    @property
    def needs_position(self) -> bool:
        """Whether the loss reads `Queries.position`, and refuses data without."""
        return False

    @property
    def n_sums(self) -> int:
        """Number of entries of `query_sums`."""
        return 2

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
        the order of 1 per document, whatever the unit of the weights, which is what the frameworks' absolute
        parameters (``min_child_weight``, ``lambda_l2``, …) are made for.
        """
        return ratio(self._terms(queries))

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
        self._refuse_pairs(queries)
        value = self.compute_value(scores_of_rows(scores, queries.n_rows, finite=True), queries)
        return returned(f"{type(self).__name__}.compute_value", "query", value, (queries.n_queries,))

    def gradient_hessian(
        self, scores: ArrayLike, queries: Queries, *, sums: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return `scale` times the derivatives of ``value(scores, queries).sum()``.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries
        sums : ndarray of shape (n_sums,), optional
            If the queries are those of one worker: the sum of all workers' `query_sums` at these scores.

        Returns
        -------
        gradient, hessian : ndarray of shape (n_rows,)
            New arrays.

        Raises
        ------
        ValueError
            If scores have another shape or hold NaN or infinity.
        """
        self._refuse_pairs(queries)
        return self._derivatives(scores_of_rows(scores, queries.n_rows, finite=True), queries, sums)

    def query_sums(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return the sums over queries that the derivatives depend on; those of several workers add up.

        The two `scale_terms`. Losses that couple queries add sums that depend on the scores.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries

        Returns
        -------
        ndarray of shape (n_sums,)
        """
        return self._query_sums(scores_of_rows(scores, queries.n_rows, finite=True), queries)

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
        """Return the loss of each query; scores are checked, contiguous and read-only."""

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the derivatives of the value, as new arrays; scores are checked and read-only.

        `scale` is that of all workers together. Losses made of other losses override `_derivatives` instead.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compute_gradient_hessian(scores, queries, scale)")

    def _query_sums(self, scores: Floats, queries: Queries) -> Floats:  # noqa: ARG002 (other losses need the scores)
        return self._terms(queries)

    def _terms(self, queries: Queries) -> Floats:
        """Return `scale_terms` as one array, computed once for each data."""

        def compute() -> Floats:
            terms = np.concatenate(self.scale_terms(queries))
            if len(terms) != 2:
                raise ValueError(f"{shown(self)}.scale_terms must return two arrays of one number each; got {terms}")
            return terms

        return queries.remember(("scale", self), compute, limit=_KEPT_SCALES)

    def _derivatives(self, scores: Floats, queries: Queries, sums: Floats | None) -> tuple[Floats, Floats]:
        """Return the scaled derivatives at checked scores; `sums` are those of all workers, or None."""
        scale = ratio(self._terms(queries) if sums is None else sums)
        outputs: Any = self.compute_gradient_hessian(scores, queries, scale)
        what = f"{type(self).__name__}.compute_gradient_hessian"
        if not isinstance(outputs, (tuple, list)) or len(outputs) != 2:
            raise ValueError(f"{what} must return two arrays, gradient and Hessian; got {shown(outputs)}")
        gradient, hessian = (returned(what, "row", output, (queries.n_rows,)) for output in outputs)
        return gradient, hessian

    def _refuse_pairs(self, queries: Queries) -> None:
        if queries.pairs is not None and not self.takes_pairs:
            raise ValueError(f"{type(self).__name__} learns from grades and cannot use pairs; remove pairs=")

    def __call__(self, a: Any, b: Any, weight: Any = None, group: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return gradient and Hessian to a framework.

        Parameters
        ----------
        a, b : array and dataset, or two arrays
            (scores, ``lgb.Dataset`` or ``xgb.DMatrix``) as ``lgb.train`` and ``xgb.train`` call it, or (labels, scores)
            as ``lgb.LGBMRanker`` does.
        weight, group : array, optional
            Row weights and query sizes, from ``lgb.LGBMRanker``.

        Returns
        -------
        gradient, hessian : ndarray of shape (n_rows,), float32
        """
        adapter = adapter_of(b)
        workers = None if adapter is None else adapter.workers()
        if workers is not None:
            return self._on_worker(workers, adapter, a, b)
        call = read(adapter, a, b, weight, group)
        if not call.queries.position_is_rank and not self.needs_position:
            raise ValueError(
                f"the lgb.Dataset has position=…, which {self!r} does not read; train boostplug.Unbiased(base=…), or "
                "pass a Dataset without it"
            )
        with threads_of_framework(call.n_threads):
            gradient, hessian = self.gradient_hessian(call.scores, call.queries)
        g, h, learns = as_float32(self, gradient, hessian)
        if not learns:
            self._warn_of_nothing(call.queries)
        return g, h

    def _on_worker(
        self, workers: Workers, adapter: Adapter | None, scores: Any, dataset: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return gradient and Hessian of one worker's rows; an error of one worker is raised on all."""
        with in_step(workers, 1 + self.n_sums, 1) as exchange:
            call = read(adapter, scores, dataset)
            with threads_of_framework(call.n_threads):
                own = self.query_sums(call.scores, call.queries)
                total = exchange.sum(np.r_[call.queries.n_queries, own])
                if not total[0]:
                    raise ValueError(NO_QUERIES)
                gradient, hessian = self.gradient_hessian(call.scores, call.queries, sums=total[1:])
            g, h, learns = as_float32(self, gradient, hessian)
            learns = bool(exchange.sum(np.array([float(learns)]))[0])
        if not learns and call.queries.n_rows:
            self._warn_of_nothing(call.queries)
        return g, h

    def _warn_of_nothing(self, queries: Queries) -> None:
        """Warn, once for each loss and data, why the gradient is 0 in all rows."""
        cause = why_nothing_is_learnt(self.reads(queries)) or "its gradient has vanished at these scores"
        if queries.pairs is None and not queries.labels.any():
            cause += "; all labels are 0, LightGBM's replacement for missing and NaN labels"
        text = f"{self!r} has nothing to learn from: {cause}; the model stays constant"
        queries.remember(("nothing to learn", self), lambda: warnings.warn(text, UserWarning, stacklevel=5))


def ratio(terms: Floats) -> float:
    """Return numerator / denominator, 1 where the denominator is 0."""
    return float(terms[0] / terms[1]) if terms[1] else 1.0
