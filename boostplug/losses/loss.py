"""`Loss`: what every loss is, said once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.checks import scores_of_rows
from boostplug.naming import Named
from boostplug.queries import Queries

__all__ = ["LARGEST_VALUE", "HessianKind", "Loss"]

Floats = NDArray[np.float64]
LARGEST_VALUE = 1e299  # of a query's loss: a sum over all queries still fits float64
HessianKind = Literal["exact", "bound", "global", "model"]


class Loss(Named, ABC):
    """A ranking loss: a value per query and derivatives per row, over plain arrays; it knows no framework.

    A loss is a frozen, hashable, picklable value. It keeps no state, so the frameworks may copy it as they please.
    Subclasses are frozen dataclasses that implement `_value` and `_gradient_hessian`, which get checked scores.

    Conventions, for all losses:

    - scores: shape (n_rows,), finite, higher ranks first; never changed.
    - `value`: shape (n_queries,), float64, 0 for a query without pairs or labels to learn from.
    - `gradient_hessian`: two arrays of shape (n_rows,), float64: `scale` times the derivatives of ``value(…).sum()``
      by each score; the Hessian is diagonal, ≥ 0, and > 0 wherever the gradient is not 0.
    - a row's weight multiplies what it contributes; the pair (i, j) weighs √(w_i w_j); weight 0 removes the row.

    An instance is the objective itself: pass it as ``lgb.train({"objective": loss}, …)``,
    ``lgb.LGBMRanker(objective=loss)``, ``xgb.train(…, obj=loss)`` or to `boostplug.LGBMRanker`, `boostplug.XGBRanker`.
    """

    registry: ClassVar[Mapping[str, tuple["Loss", ...]]] = {}  # what `parse` knows; boostplug.losses fills it

    @property
    def name(self) -> str:
        """Short: the class, its directed distance, and what differs from the defaults: "QBRank(.3, rows)"."""
        return self.short_name()

    @classmethod
    def parse(cls, name: str) -> tuple["Loss", ...]:
        """Return the variants of a loss by its name in the registry: "qbrank", "ndcg-boost".

        Raises
        ------
        ValueError
            If there is no such loss; the message lists those that are.
        """
        try:
            return cls.registry[name.lower()]
        except KeyError:
            raise ValueError(f"there is no loss {name!r}; there are: {', '.join(cls.registry)}") from None

    @property
    @abstractmethod
    def hessian_kind(self) -> HessianKind:
        """What the diagonal Hessian h is, beside the true second derivatives ∇².

        "exact": h = ∂g_i/∂F_i. "bound": diag(h) - ∇² is positive semidefinite at the point. "global": value(F + e) ≤
        value(F) + gᵀe + ½ eᵀ diag(h) e for every e. "model": a formula of its own, stated by the loss.
        """

    @property
    def couples_queries(self) -> bool:
        """Whether one query's derivatives depend on the scores of other queries."""
        return False

    @property
    def shift_invariant(self) -> bool:
        """Whether adding a constant to all scores of a query changes nothing, so that its gradients sum to 0."""
        return True

    @property
    def has_gradient_of_value(self) -> bool:
        """Whether the gradient is that of the value, and not a formula of its own."""
        return True

    @property
    def takes_negative_labels(self) -> bool:
        """Whether labels may be below 0."""
        return True

    @property
    def takes_pairs(self) -> bool:
        """Whether the loss can learn from `Queries.pairs`; others refuse them."""
        return False

    def scale(self, queries: Queries) -> float:  # noqa: ARG002 (subclasses use it)
        """Return the factor between the derivatives of the value and what `gradient_hessian` returns.

        It depends on the data alone, never on scores, and brings the outputs to the order of 1 per document, which is
        what the frameworks' absolute parameters (``min_child_weight``, ``lambda_l2``, …) are made for.
        """
        return 1.0

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
        return np.asarray(self._value(scores_of_rows(scores, queries.n_rows, finite=True), queries), dtype=np.float64)

    def gradient_hessian(self, scores: ArrayLike, queries: Queries) -> tuple[Floats, Floats]:
        """Return `scale` times the derivatives of ``value(scores, queries).sum()``.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries

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
        gradient, hessian = self._gradient_hessian(scores_of_rows(scores, queries.n_rows, finite=True), queries)
        return np.asarray(gradient, dtype=np.float64), np.asarray(hessian, dtype=np.float64)

    def _refuse_pairs(self, queries: Queries) -> None:
        if queries.pairs is not None and not self.takes_pairs:
            raise ValueError(f"{type(self).__name__} learns from grades and cannot use pairs; remove pairs=")

    @abstractmethod
    def _value(self, scores: Floats, queries: Queries) -> Floats: ...

    @abstractmethod
    def _gradient_hessian(self, scores: Floats, queries: Queries) -> tuple[Floats, Floats]: ...

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
        from boostplug.plug import call as plug

        return plug.objective(self, a, b, weight, group)
