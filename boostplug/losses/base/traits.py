"""`Traits`: what holds for a loss on any data, stated once by its class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

HessianKind = Literal["exact", "bound", "global", "model"]


class LabelRange(NamedTuple):
    """Labels from `least` to `most`; only 0 and 1 if they are `binary`."""

    least: float = -np.inf
    most: float = np.inf
    binary: bool = False


_ANY_LABEL = LabelRange()


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What holds for a loss on any data.

    Attributes
    ----------
    hessian : {"exact", "bound", "global", "model"}
        The kind of the diagonal Hessian h, compared with the true second derivatives ∇². "exact": h = ∂g_i/∂F_i.
        "bound": diag(h) - ∇² is positive semidefinite at the point. "global": value(F + e) ≤ value(F) + gᵀe +
        ½ eᵀ diag(h) e for every e. "model": a formula of its own, stated by the loss.
    labels : LabelRange
        The labels that the loss takes.
    shift_invariant : bool
        Whether adding a constant to all scores of a query changes nothing, so that its gradients sum to 0.
    compares_documents : bool
        Whether the documents of a query are compared, in pairs or lists; not so if each label counts by itself.
        Default: as `shift_invariant`; `dataclasses.replace` keeps what it was.
    gradient_of_value : bool
        Whether the gradient is that of the value, and not a formula of its own.
    ties_in_row_order : bool
        Whether tied documents are ranked in row order, so that another order of rows gives other outputs.
    pairs : bool
        Whether the loss can learn from `Queries.pairs`; others refuse them.
    positions : bool
        Whether the loss reads `Queries.position`, and refuses data without.
    couples_queries : bool
        Whether one query's derivatives depend on the scores of other queries.
    n_totals : int
        Number of entries of `Loss.totals`.
    """

    hessian: HessianKind
    labels: LabelRange = _ANY_LABEL
    shift_invariant: bool = True
    compares_documents: bool | None = None
    gradient_of_value: bool = True
    ties_in_row_order: bool = False
    pairs: bool = False
    positions: bool = False
    couples_queries: bool = False
    n_totals: int = 2

    def __post_init__(self) -> None:
        if self.compares_documents is None:
            object.__setattr__(self, "compares_documents", self.shift_invariant)


def combined(parts: Sequence[Traits]) -> Traits:
    """Return the traits of a sum of losses from those of its parts.

    Its Hessian is the weakest. "exact" and "bound" together are neither, as an "exact" diagonal says nothing about the
    entries off it.
    """
    kinds = {part.hessian for part in parts}
    return Traits(
        hessian=kinds.pop() if len(kinds) == 1 else "bound" if kinds == {"bound", "global"} else "model",
        labels=LabelRange(
            max(part.labels.least for part in parts),
            min(part.labels.most for part in parts),
            any(part.labels.binary for part in parts),
        ),
        shift_invariant=all(part.shift_invariant for part in parts),
        compares_documents=any(part.compares_documents for part in parts),
        gradient_of_value=all(part.gradient_of_value for part in parts),
        ties_in_row_order=any(part.ties_in_row_order for part in parts),
        pairs=all(part.pairs for part in parts),
        positions=any(part.positions for part in parts),
        couples_queries=any(part.couples_queries for part in parts),
        n_totals=sum(part.n_totals for part in parts),
    )
