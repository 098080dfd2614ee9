"""`PairLoss`: what all losses on preference pairs share: normalization, Hessian kinds, scale, checks of choices."""

from abc import ABC
from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choices
from boostplug.data.grade_groups import GradeGroups, ListedPairs
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.sampling import Function
from boostplug.losses.base.loss import HessianKind, Loss

Normalization = Literal["none", "rows", "query"]


class PairCurve(NamedTuple):
    """A loss of one pair whose labels are 1 and 0, by ``scale`` times the difference of their scores."""

    scale: float
    value: Function
    first: Function
    second: Function


class PairLoss(Loss, ABC):
    """A loss on the pairs of different grades of each query, or on explicit pairs if it takes them.

    A subclass is a frozen dataclass with a field `normalization` (see `Loss`) and, if it offers several Hessians, a
    field `hessian`. Fields annotated as ``Literal`` are checked.

    Attributes
    ----------
    hessian_kinds : dict
        The kind of each choice of the field `hessian`.
    """

    normalization: str
    hessian_kinds: ClassVar[Mapping[str, HessianKind]] = {}

    def __post_init__(self) -> None:
        check_choices(self)

    @property
    def pair_curve(self) -> PairCurve:
        """The loss of one pair whose grades differ by 1, by the scaled difference of the scores."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a single pair costs")

    @property
    def hessian_kind(self) -> HessianKind:
        """The kind of the Hessian that the parameter `hessian` chooses."""
        return self.hessian_kinds[self.hessian]  # type: ignore[attr-defined]

    def pair_weight_of_queries(self, queries: Queries) -> Floats | None:  # noqa: ARG002 (the default)
        """Return the weight of each query's pairs together, over the unit of weights; None: by their row weights."""
        return None

    def normalization_factors(self, queries: Queries) -> Floats:
        """Return c_q of each query that holds a pair, times the unit of weights."""
        return factor_of(self.normalization, pairs_to_learn(queries))

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ_q n_q and Σ_q c_q W_q over the queries that hold a pair (see Notes)."""
        groups, weight = pairs_to_learn(queries), self.pair_weight_of_queries(queries)
        of_query = groups.pair_weight_of_queries if weight is None else weight
        return np.array([groups.n_judged.sum()]), np.array([(self.normalization_factors(queries) * of_query).sum()])


def pairs_to_learn(queries: Queries) -> GradeGroups | ListedPairs:
    """Return the pairs to learn from: the explicit ones if there are any."""
    return queries.grade_groups if queries.pairs is None else queries.listed_pairs


def factor_of(normalization: str, groups: GradeGroups | ListedPairs) -> Floats:
    """Return c_q of each query that holds a pair, times the unit of weights that `groups` leave out of their sums.

    c_q is 1 for "none", n_q/P_q for "rows", 1/P_q for "query".
    """
    if normalization == "rows":
        return groups.unit * (groups.n_judged / groups.n_pairs)
    if normalization == "query":
        return groups.unit / groups.n_pairs
    return np.full(len(groups.n_pairs), groups.unit)
