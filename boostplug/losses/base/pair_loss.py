"""`PairLoss`: what all losses on preference pairs share: normalization, Hessian kinds, scale, checks of choices."""

from abc import ABC
from dataclasses import dataclass
from typing import Literal

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.cached import cached_property
from boostplug.core.checks import check_choices
from boostplug.data.grade_groups import GradeGroups, ListedPairs
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.sampling import Function, Sampled, sampled
from boostplug.losses.base.loss import Loss

Normalization = Literal["none", "rows", "query"]


@dataclass(frozen=True, eq=False)
class PairFunction:
    """A function ρ of the score difference of a pair, the higher grade's less the lower grade's.

    Attributes
    ----------
    value, first, second : callable
        ρ, ρ' and ρ'', or what a loss takes for ρ'': from a float64 array of differences to one of the same shape.
    largest_second : float
        The largest ``abs`` of the second derivative, for Hessians that bound the loss everywhere.
    kind : int, optional
        A kernel that knows the derivatives, if there is one.
    least_second : float
        The least second derivative, if it is below 0.
    steepness : float
        Multiplies score differences.
    """

    value: Function
    first: Function
    second: Function
    largest_second: float = np.inf
    kind: int | None = None
    least_second: float = 0.0
    steepness: float = 1.0

    @cached_property
    def grids(self) -> tuple[Sampled, Sampled] | None:
        """The value, and both derivatives, on a grid of score differences; None if no grid describes them."""
        grid = sampled((self.value, self.first, self.second))
        if grid is None:
            return None
        value, derivatives = (
            grid._replace(values=grid.values[functions], tails=grid.tails[functions])
            for functions in (slice(0, 1), slice(1, 3))
        )
        return value, derivatives


class PairLoss(Loss, ABC):
    """A loss on the pairs of different grades of each query, or on explicit pairs if it takes them.

    A subclass is a frozen dataclass with a field `normalization` (see `Loss`). If it offers several Hessians, it has a
    field `hessian`. Fields annotated as ``Literal`` are checked.
    """

    normalization: str

    def __post_init__(self) -> None:
        check_choices(self)

    @property
    def scaled_pair_function(self) -> PairFunction:
        """The loss of one pair whose grades differ by 1, by the scaled difference of the scores."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a single pair costs")

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
