"""`CalibratedLoss`: what losses share whose scores are logits of label / max_grade."""

from abc import ABC

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_number
from boostplug.core.values import Space
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.base.views import ListSums
from boostplug.kernels.lists.calibrated import calibrated_softmax
from boostplug.losses.base.lists import sums_over_lists
from boostplug.losses.base.loss import Loss
from boostplug.losses.base.traits import LabelRange, Traits
from boostplug.metrics.grades import check_on_scale


class CalibratedLoss(Loss, ABC):
    """A cross entropy of each label and, with a `list_weight`, one of each list: see `CalibratedSoftmax`."""

    max_grade: float
    list_weight: float = 0.0

    def __post_init__(self) -> None:
        check_number(f"{type(self).__name__}: list_weight", self.list_weight, least=0.0, most=1.0)
        check_number(f"{type(self).__name__}: max_grade", self.max_grade, least=1e-100, most=1e100)

    @property
    def search_space(self) -> Space:
        """The parameters' search space without `max_grade`, which the data determine."""
        space = dict(super().search_space)
        del space["max_grade"]
        return space

    @property
    def traits(self) -> Traits:
        """Labels from 0 to `max_grade`; with a list part documents are compared, and the Hessian is a bound."""
        lists = self.list_weight > 0.0
        return Traits(
            hessian="bound" if lists else "exact",
            labels=LabelRange(0.0, float(self.max_grade)),
            shift_invariant=False,
            compares_documents=lists,
        )

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        return self._sums(scores, queries, 1.0).value

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian."""
        _, gradient, hessian = self._sums(scores, queries, scale)
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _sums(self, scores: Floats, queries: Queries, scale: float) -> ListSums:
        top, of_list = float(self.max_grade), float(self.list_weight)
        queries.remember((CalibratedLoss, top), lambda: check_on_scale(queries, top))
        return sums_over_lists(calibrated_softmax, scores, queries, 1.0 - of_list, of_list, 1.0 / top, float(scale))
