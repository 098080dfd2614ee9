"""A loss that reads one of several labels: ``QBRank().on("sale")``."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_instance
from boostplug.core.values import takes_from
from boostplug.data.named_labels import check_label_name
from boostplug.data.queries import Queries
from boostplug.losses.base.loss import Loss


@dataclass(frozen=True, repr=False)
@takes_from("loss", "shift_invariant", "has_gradient_of_value", "label_range", "needs_position", "couples_queries")
@takes_from("loss", "ties_in_row_order", "compares_documents", "n_sums", "hessian_kind")
class LossOnLabel(Loss):
    """A loss whose labels are those of one name, in place of the data's `y`; `Loss.on` makes it.

    All of the loss reads that label: its parts, its base and its metric, unless they are bound to another one.
    Everything else is the loss's own: value, gradient, Hessian and scale are those on data whose labels are these. A
    row without such a label (NaN) counts as not labelled. Explicit pairs are left aside, as they stand for `y`.

    Parameters
    ----------
    loss : Loss
    label : str
        A name in `Queries.labels_by_name`.
    """

    loss: Loss
    label: str

    takes_pairs = True  # it does not read them

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

    def reads(self, queries: Queries) -> Queries:
        """Return the queries with the label of that name."""
        return queries.on(self.label)

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return the loss's."""
        return self.loss.scale_terms(self.reads(queries))

    def scale(self, queries: Queries) -> float:
        """Return the loss's."""
        return self.loss.scale(self.reads(queries))

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return the loss's."""
        return self.loss.position_bias(scores, self.reads(queries))

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return the loss's."""
        return self.loss.compute_value(scores, self.reads(queries))

    def _query_sums(self, scores: Floats, queries: Queries) -> Floats:
        return self.loss._query_sums(scores, self.reads(queries))  # noqa: SLF001 (a loss of a loss)

    def _derivatives(self, scores: Floats, queries: Queries, sums: Floats | None) -> tuple[Floats, Floats]:
        return self.loss._derivatives(scores, self.reads(queries), sums)  # noqa: SLF001 (as above)

    def _refuse_pairs(self, queries: Queries) -> None:
        pass
