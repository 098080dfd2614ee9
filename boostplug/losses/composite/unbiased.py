"""Losses on pairs that learn from clicks: what positions do to clicks is weighed or added away."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import (
    check_choices,
    check_integer,
    check_number,
    frozen,
    scores_of_rows,
    shown,
)
from boostplug.core.values import Range, Space
from boostplug.data.grade_groups import GradeGroups
from boostplug.data.positions import (
    as_propensities,
    check_propensities,
    check_several_positions,
    places_of,
    positions_for,
)
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.clicks.by_position import HALF, PlacedDocuments, pairs_by_position, placed_documents
from boostplug.losses.base.loss import LARGEST_VALUE, Loss
from boostplug.losses.base.pair_loss import PairFunction, PairLoss
from boostplug.losses.base.traits import Traits
from boostplug.losses.composite.position_bias import PositionPairs, additive_bias, click_ratios
from boostplug.losses.lambda_rank import LambdaRank
from boostplug.losses.ranknet import RankNet

Method = Literal["additive", "unbiased_lambdamart", "ips"]

_MAX_PAGE = 2000  # documents; all pairs of them are 2 million
_DOCUMENTS, _LEAST_RIDGE, _MOST_RIDGE = 8_000.0, 0.003, 10.0  # of the default ridge


class _PositionData(NamedTuple):
    """What depends on the data alone.

    Attributes
    ----------
    place : ndarray of int
        Position from 0, those past the last one as the last: of each row ("additive"), or each document in pairs.
    documents : PlacedDocuments, or None
        Those at the positions that estimates are made for; None where propensities are known.
    groups : GradeGroups
        The documents in pairs, weighing by known propensities.
    """

    place: NDArray[np.int32]
    documents: PlacedDocuments | None
    groups: GradeGroups


@dataclass(frozen=True, kw_only=True)
class Unbiased(Loss):
    r"""A loss on pairs of clicks that corrects the position bias: users look at the top first.

    Labels are clicks: 1 or 0 for each document that was shown, or grades such as 2 for a purchase. Pass where it was
    shown as `position`: to ``fit``, `Queries` or `boostplug.set_positions`. A query is one result page.

    Parameters
    ----------
    base : Loss, default RankNet()
        A loss on pairs: `RankNet`, `LambdaRank`, `MPBoost`, `QBRank`, `NDCGBoost` or a `PairwiseLoss`. A sum of losses,
        such as `CRR`, is refused. Of `QBRank` the pairs are corrected, and the labels' own term is not.
    method : {"additive", "unbiased_lambdamart", "ips"}, default "additive"
        "ips" needs propensities. "unbiased_lambdamart" and "additive" estimate the bias themselves. "additive" ranked
        better in our studies.
    propensity : array-like of shape (n_positions,), optional
        How likely users look at position 1, 2, …, relative to the first: above 0. Or what
        `boostplug.clicks.propensity` returns. Required by "ips", refused by the others.
    max_weight : float, default 10.0
        The largest weight of a click divided by that of one at position 1, at least 1. Larger ones are clipped: less
        variance, and some bias.
    max_position : int, default 20
        Estimates are made for the positions up to here. Those further down take that of the last one.
    power : float, default 1.0
        How much of the bias is corrected, from 0, nothing, to 1. "ips" takes propensities to this power.
        "unbiased_lambdamart" raises its ratios to it (1/(p + 1) in the paper), "additive" multiplies its biases by it.
        Short logs carry less correction: `boostplug.clicks.correction` proposes a power.
    ridge : float, optional
        For "additive": holds biases near 0. Smaller values correct more, and cost more where there is no bias. It is
        relative to the number of pairs: a log ten times as long has the same biases. Default: 8,000 over the number of
        documents on pages that hold a pair, from .003 to 10. So short logs are corrected less (see
        `boostplug.clicks.correction`).

    Notes
    -----
    "ips" (Joachims, Swaminathan, Schnabel, WSDM 2017): a pair weighs 1/θ of its winner's position.

    "unbiased_lambdamart" (Hu et al., WWW 2019): a pair weighs :math:`1 / (t^+_i t^-_j)`, by the positions of the
    clicked document i and the unclicked one j. :math:`t_1 = 1`. The others are estimated from the current scores, by
    what pairs at a position cost beside those at the first (see `position_bias`). A position without clicks takes the
    ratio of the last one above that has some. Relevant documents that already stand on top make clicks further down
    rare, too. That is corrected as if it were bias.

    "additive" is the model of LightGBM's ``position``: documents are compared by score plus a bias of their position.
    The bias that explains the pairs best is solved anew from the current scores. There the scores may count up to ten
    times, other than in LightGBM. Early in a training they are small, and what they order rightly is no bias.

    The last two keep no state between rounds. Each call estimates from the current scores of all pages. So you can
    resume training: 4 rounds and 1 more give the model of 5. One page's weights then depend on all others
    (`couples_queries`), summed over the workers of a job. Within a call weights and biases are constants. So the
    gradient is not that of a function, and the Hessian's kind is "model".

    Estimates count the pairs in 81 classes of their score difference, narrow near 0. Each is taken at its mean. With
    logistic and hinge losses that costs less than .2 %. With `MPBoost` it is 1 % where differences reach 8, 11 % where
    they reach 12, and more beyond. If more than 100,000 documents stand at the positions up to `max_position`, only
    pages at regular distances count: every second, every third, and so on. Each worker of a job chooses its own pages.
    So two workers with more documents than that equal one machine in the mean only. A query that holds more than 2,000
    such documents is refused.

    The scale is the base's if the propensity of position 1 is 1.

    References
    ----------
    Hu, Wang, Peng, Li. Unbiased LambdaMART: an unbiased pairwise learning-to-rank algorithm. WWW 2019.

    Joachims, Swaminathan, Schnabel. Unbiased learning-to-rank with biased feedback. WSDM 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import boostplug as bp
    >>> pages = bp.Queries([0, 1, 1, 0], group=[2, 2], position=[1, 2, 1, 2])
    >>> loss = bp.Unbiased(method="ips", propensity=[1.0, 0.5])
    >>> loss.gradient_hessian(np.zeros(4), pages)[0]  # the click at position 2 weighs 2
    array([ 2., -2., -1.,  1.])
    >>> lambdamart = bp.Unbiased(base=bp.LambdaRank(), method="unbiased_lambdamart")
    >>> lambdamart.position_bias(np.zeros(4), pages)["clicked"]
    array([1., 1.])
    """

    base: Loss = field(default_factory=RankNet)
    method: Method = "additive"
    propensity: Any = None
    max_weight: float = 10.0
    max_position: int = 20
    power: float = 1.0
    ridge: float | None = None

    def __post_init__(self) -> None:
        check_choices(self)
        if not isinstance(self.base, (PairLoss, LambdaRank)):
            raise ValueError(f"Unbiased: base must be a loss on pairs, such as RankNet(); got {shown(self.base)}")
        if getattr(self.base, "hessian", "") == "global":
            raise ValueError(
                f"Unbiased: base={self.base!r} has a Hessian that ignores weights of pairs; pass hessian='bound'"
            )
        check_number("Unbiased: max_weight", self.max_weight, least=1.0, most=1e9)
        power = check_number("Unbiased: power", self.power, least=0.0, most=1.0)
        if not isinstance(self.power, (int, float)):  # a fraction, which kernels do not take
            object.__setattr__(self, "power", power)
        if self.ridge is not None:
            if self.method != "additive":
                raise ValueError(f"Unbiased: ridge is for method='additive'; method={self.method!r} takes power")
            check_number("Unbiased: ridge", self.ridge, least=1e-9, most=1e9)
        object.__setattr__(
            self, "max_position", check_integer("Unbiased: max_position", self.max_position, 1, most=200)
        )
        object.__setattr__(self, "propensity", self._checked_propensity())

    def _checked_propensity(self) -> tuple[float, ...] | None:
        """Return the propensities as a tuple, which is hashable. Refuse them where they are not used."""
        if (self.propensity is None) == (self.method == "ips"):
            raise ValueError(
                "Unbiased: method='ips' needs propensity, how likely users look at each position; "
                f"the other methods take none; got method={self.method!r}, propensity={shown(self.propensity)}"
            )
        return None if self.propensity is None else tuple(as_propensities(self.propensity).tolist())

    @property
    def _theta(self) -> Floats:
        """The propensities, to the power."""
        theta: Floats = np.array(self.propensity) ** self.power
        return theta

    @property
    def _pair(self) -> PairFunction:
        assert isinstance(self.base, (PairLoss, LambdaRank))
        return self.base.scaled_pair_function

    @property
    def traits(self) -> Traits:
        """The base's for "ips", whose weights are constants. Others estimate the bias from all pages."""
        known, base = self.method == "ips", self.base.traits
        traits: Traits = replace(
            base,
            hessian=base.hessian if known else "model",
            gradient_of_value=known and base.gradient_of_value,
            pairs=False,
            positions=True,
            couples_queries=not known,
            n_totals=2 if known else 2 + math.prod(self._shape_of_table),
        )
        return traits

    @property
    def search_space(self) -> Space:
        """The base's search space and the parameters of this method. The method itself is not searched."""
        drawn = {
            name: space if isinstance(space, Range) else tuple(choice for choice in space if self._takes(name, choice))
            for name, space in super().search_space.items()
            if name.startswith("base")
        }
        ridge: Space = {"ridge": Range(1e-3, 1.0, log=True)}
        weight: Space = {"max_weight": Range(2.0, 100.0, log=True)}
        return {**drawn, "power": Range(0.25, 1.0), **(ridge if self.method == "additive" else weight)}

    def _takes(self, name: str, choice: Any) -> bool:
        """Return whether the loss takes one of the base's choices."""
        try:
            self.with_params(**{name: choice})
        except ValueError:
            return False
        return True

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return the base's."""
        self._prepared(queries)
        return self.base.scale_terms(queries)

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return what is known of each position at these scores, by name, ready for a DataFrame.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries

        Returns
        -------
        dict of str to ndarray of shape (n_positions,)
            "position", from 1, and "clicked" and "unclicked", t⁺ and t⁻, for "unbiased_lambdamart"; "bias", added to
            scores, 0 at the first position, for "additive"; "propensity" for the others. The power is in all of them.

        Raises
        ------
        ValueError
            If scores or positions are missing or wrong.
        """
        checked = scores_of_rows(scores, queries.n_rows, finite=True)
        tables = self._bias(self._table(checked, queries), self._terms(queries)[0])
        if self.method == "unbiased_lambdamart":
            named = {"clicked": tables[0], "unclicked": tables[1]}
        else:
            named = {"bias" if self.method == "additive" else "propensity": tables[0]}
        assert queries.position is not None
        n = min(len(tables[0]), int(queries.position.max(initial=1)))
        return {"position": np.arange(1, n + 1), **{name: values[:n] for name, values in named.items()}}

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return the base's value of each page, with these weights or biases."""
        bias = self._bias(self._table(scores, queries), self._terms(queries)[0])
        value = self.base.value(*self._corrected(scores, queries, bias))
        return np.clip(value, -LARGEST_VALUE, LARGEST_VALUE)

    @property
    def _shape_of_table(self) -> tuple[int, ...]:
        return self.max_position, self.max_position, 2 * HALF + 1, 2

    def gradient_hessian(
        self, scores: ArrayLike, queries: Queries, *, totals: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the base's derivatives with corrected weights or scores; see `Loss.gradient_hessian`."""
        checked = scores_of_rows(scores, queries.n_rows, finite=True)
        if totals is None:
            terms, table = self._terms(queries), self._table(checked, queries)
        else:
            terms, table = totals[:2], None if len(totals) == 2 else totals[2:].reshape(self._shape_of_table)
        corrected = self._corrected(checked, queries, self._bias(table, terms[0]))
        return self.base.gradient_hessian(*corrected, totals=terms)

    def totals(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return the base's two, and the table of pairs by position if the bias is estimated."""
        terms, table = self._terms(queries), self._table(scores_of_rows(scores, queries.n_rows, finite=True), queries)
        if table is None:
            return terms
        of_all_positions = np.zeros(self._shape_of_table)
        of_all_positions[: len(table), : len(table)] = table
        return np.concatenate([terms, of_all_positions.ravel()])

    def _prepared(self, queries: Queries) -> _PositionData:
        """Return what depends on the data only, checked and built once. A sum of such losses asks for several."""
        return queries.remember((Unbiased, self), lambda: self._prepare(queries), limit=32)

    def _prepare(self, queries: Queries) -> _PositionData:
        groups, method = queries.grade_groups, self.method
        needs_rank = None if method == "additive" else f"method={method!r}"
        position = positions_for("Unbiased", queries.position, is_rank=queries.position_is_rank, needs_rank=needs_rank)
        if self.propensity is not None:
            check_propensities(position, len(self.propensity))
        elif queries.n_rows > queries.n_queries:
            why = "so nothing can be learned about other positions; pass where each document stood on its page"
            check_several_positions(position, f"{why}, or train on the base loss")
        n = self.max_position if self.propensity is None else len(self.propensity)
        place = places_of(position if method == "additive" else position[groups.rows], n)
        if self.propensity is None:
            return _PositionData(place, self._placed(queries, position), groups)
        weight = 1.0 / self._theta
        weight = np.clip(weight, 0.0, max(self.max_weight * weight[0], 1.0))  # clipped relative to that of position 1
        return _PositionData(place, None, _weighted(groups, weight, np.ones(n), place))

    def _table(self, scores: Floats, queries: Queries) -> Floats | None:
        """Return the counts of pairs by position that the estimates need; None where propensities are known."""
        documents = self._prepared(queries).documents
        if documents is None:
            return None
        table = pairs_by_position(documents, frozen(scores.view()), self._pair.steepness)
        table *= queries.grade_groups.unweighted().unit
        return table

    def _placed(self, queries: Queries, position: NDArray[np.int64]) -> PlacedDocuments:
        """Return the documents at the positions that estimates are made for."""
        n = min(self.max_position, int(position.max(initial=1)))
        page_sizes = np.bincount(queries.query_of_row[position <= n], minlength=queries.n_queries)
        if (page_sizes > _MAX_PAGE).any():
            q = int(np.argmax(page_sizes))
            raise ValueError(
                f"query {q} holds {page_sizes[q]:,} documents with positions up to {n}, and a page shows few: pass "
                "each result page as a query of its own, with one document at each position"
            )
        return placed_documents(queries.grade_groups.unweighted().view, position, n)

    def _bias(self, table: Floats | None, n_documents: float) -> tuple[Floats, ...]:
        """Return θ, t⁺ and t⁻, or the added bias, by position. `n_documents` are on pages that hold a pair."""
        if table is None:
            return (self._theta,)
        pairs, function = PositionPairs.from_table(table, self.max_position), self._pair
        if self.method == "additive":
            by_size = min(max(_DOCUMENTS / max(n_documents, 1.0), _LEAST_RIDGE), _MOST_RIDGE)
            return (self.power * additive_bias(pairs, function, by_size if self.ridge is None else self.ridge),)
        return click_ratios(pairs, function, self.power, 1.0 / self.max_weight)

    def _corrected(self, scores: Floats, queries: Queries, bias: tuple[Floats, ...]) -> tuple[Floats, Queries]:
        """Return scores and queries with weights or biases of positions, for the base."""
        place, _, weighted = self._prepared(queries)
        if self.method == "additive":
            return frozen(bias[0][place] + scores), queries
        if self.method == "unbiased_lambdamart":
            weighted = _weighted(weighted, 1.0 / bias[0], 1.0 / bias[1], place)
        return scores, queries.with_grade_groups(weighted)


def _weighted(groups: GradeGroups, winner: Floats, loser: Floats, place: NDArray[np.int32]) -> GradeGroups:
    """Return the documents in pairs, weighing by the position of the winner and of the loser."""
    root = groups.sqrt_weight if len(groups.sqrt_weight) else 1.0
    return groups.weighted(winner[place] * root, loser[place] * root)
