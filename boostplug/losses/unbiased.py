"""Losses on pairs that learn from clicks: what positions do to clicks is weighed or added away."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import (
    check_choices,
    check_integer,
    check_number,
    frozen,
    numbers,
    refuse_where,
    scores_of_rows,
    shown,
)
from boostplug.core.values import Range, Space
from boostplug.data.grade_groups import GradeRuns
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.kernels.base.rows import looked_up
from boostplug.kernels.pairs.positions import HALF, pairs_by_position, placed_documents
from boostplug.losses.base.loss import LARGEST_VALUE, DerivativesFromSums, HessianKind, Loss, Outputs
from boostplug.losses.base.pair_loss import PairLoss, runs_of
from boostplug.losses.base.position_bias import PairCurve, PositionPairs, additive_bias, click_ratios
from boostplug.losses.base.relative import ScaledDerivatives, writable
from boostplug.losses.base.sums import added
from boostplug.losses.lambda_rank import LambdaRank
from boostplug.losses.ranknet import RankNet

__all__ = ["Unbiased"]

Floats = NDArray[np.float64]
_T = TypeVar("_T")
Method = Literal["unbiased_lambdamart", "ips", "kurennoy", "additive"]

_KNOWN = ("ips", "kurennoy")
_MOST = 1e3  # of a propensity relative to the first position's
_CROWD = 2000  # documents of a page; all pairs of them are 2 million
_NOTHING = 1e-12  # of a weight, beside one of a click at position 1


@dataclass(frozen=True, kw_only=True)
class Unbiased(Loss):
    r"""A loss on pairs that learns relevance from clicks, of which documents at the top get more.

    Labels are clicks: 1 or 0 for each document that was shown. Pass where it was shown as `position`: to ``fit``,
    `Queries` or `boostplug.set_positions`. A query is one result page.

    Parameters
    ----------
    base : Loss, default RankNet()
        A loss on pairs: `RankNet`, `LambdaRank`, `MPBoost`, `QBRank`, `NDCGBoost` or a `PairwiseLoss`. Of `QBRank` the
        pairs are corrected, and the labels' own term is not.
    method : {"unbiased_lambdamart", "ips", "kurennoy", "additive"}
        "unbiased_lambdamart" and "additive" estimate the bias, "ips" and "kurennoy" are told it (see Notes).
    propensity : array-like of shape (n_positions,), optional
        How likely users look at position 1, 2, …, relative to the first: above 0. Or what
        `boostplug.clicks.propensity` returns. Required by "ips" and "kurennoy", refused by the others. "kurennoy" takes
        those above 1 for 1.
    max_weight : float, default 10.0
        The largest weight of a click relative to one at position 1, at least 1. Larger ones are cut: less variance, and
        some bias.
    max_position : int, default 20
        Estimates are made for the positions up to here; those further down take that of the last one.
    p : float, default 0.0
        For "unbiased_lambdamart": ratios are raised to 1/(p + 1), so that larger values correct less.
    ridge : float, default 0.03
        For "additive": holds biases near 0. Smaller values correct more, and cost more where there is no bias.
    examination : {"any", "independent"}
        For "kurennoy": what is known of looks at two positions of a page. "any" is the paper's, and right however users
        look. "independent" weighs more, and is exact where each position is looked at independently of the others.

    Notes
    -----
    "ips" (Joachims, Swaminathan, Schnabel, WSDM 2017): a pair weighs 1/θ of its winner's position.

    "kurennoy" (Kurennoy et al., ICTIR 2022): a clicked document i over an unclicked one weighs :math:`1/θ_i`, as with
    "ips". But an unclicked document may be relevant and unseen, more often so further down: of two relevant documents
    the upper one wins too much. So of two clicked ones i over j weighs :math:`1/θ_i - 1/θ_j < 0` where i was looked at
    more, and j over i nothing. In the mean two relevant documents then weigh as much one over the other as the other
    way round, whether looks at them depend on each other or not. That is "any". With "independent", i over j weighs
    :math:`1/θ_i - 1/(θ_i θ_j)`, and j over i likewise: in the mean, relevant documents over irrelevant ones alone are
    left. Pairs of negative weight enter the Hessian with its absolute value: the kind is "model", and the Hessian lies
    above the exact one. Labels must be 0 or 1. Memory grows with the square of a page's clicks, of which there may be
    2,000. Weights, correction and Hessian of "any" are those of the authors' code. There they stand in LambdaRank, and
    the experiments leave the correction out, which is "ips" here. "independent" is ours.

    "unbiased_lambdamart" (Hu et al., WWW 2019): a pair weighs :math:`1 / (t^+_i t^-_j)`, by the positions of the
    clicked document i and the unclicked one j. :math:`t_1 = 1`; the others are estimated from the current scores, by
    what pairs at a position cost beside those at the first (see `position_bias`). A position without clicks takes the
    ratio of the last one above that has some. Where relevant documents already stand on top, they too make clicks
    further down rare, and that is corrected as if it were bias.

    "additive" is the model of LightGBM's ``position``: documents are compared by score plus a bias of their position.
    The bias that explains the pairs best is solved anew from the current scores. There the scores may count up to ten
    times, other than in LightGBM: early in a training they are small, and what they order rightly is no bias.

    The two that estimate have no memory: each call looks at all pages at the current scores, so that training can be
    resumed, and 4 rounds and 1 more give the model of 5. One page's weights then depend on all others
    (`couples_queries`), summed over the workers of a job. Within a call weights and biases are constants; so the
    gradient is not that of a function, and the Hessian's kind is "model".

    Estimates count the pairs in 81 classes of their score difference, narrow near 0, each taken at its mean. With
    logistic and hinge losses that costs less than .2 %. With `MPBoost` it is 1 % where differences reach 8, 11 % where
    they reach 12, and more beyond. Of more than 100,000 documents at the positions up to `max_position`, pages at
    regular distances are looked at: every second, every third, and so on. A query that holds more than 2,000 such
    documents is refused.

    Weights of 1 are those of a click at position 1, so the scale is the base's.

    References
    ----------
    Hu, Wang, Peng, Li. Unbiased LambdaMART: an unbiased pairwise learning-to-rank algorithm. WWW 2019.
    Joachims, Swaminathan, Schnabel. Unbiased learning-to-rank with biased feedback. WSDM 2017.
    Kurennoy, Coleman, Harris, Lynch, Mac Fhearaí, Tsatsoulis. A general framework for pairwise unbiased learning to
    rank. ICTIR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> import boostplug as bp
    >>> pages = bp.Queries([0, 1, 1, 0], group=[2, 2], position=[1, 2, 1, 2])
    >>> loss = bp.Unbiased(method="ips", propensity=[1.0, 0.5])
    >>> loss.gradient_hessian(np.zeros(4), pages)[0]  # the click at position 2 weighs 2
    array([ 2., -2., -1.,  1.])
    >>> bp.Unbiased(base=bp.LambdaRank()).position_bias(np.zeros(4), pages)["clicked"]
    array([1., 1.])
    """

    base: Loss = field(default_factory=RankNet)
    method: Method = "unbiased_lambdamart"
    propensity: Any = None
    max_weight: float = 10.0
    max_position: int = 20
    p: float = 0.0
    ridge: float = 0.03
    examination: Literal["any", "independent"] = "any"

    needs_position = True

    def __post_init__(self) -> None:
        check_choices(self)
        if not isinstance(self.base, (PairLoss, LambdaRank)):
            raise ValueError(f"Unbiased: base must be a loss on pairs, such as RankNet(); got {shown(self.base)}")
        if getattr(self.base, "hessian", "") == "global":
            raise ValueError(f"Unbiased: base={self.base!r} has a Hessian that knows no weights; take hessian='bound'")
        if self.method == "kurennoy" and not (self.base.takes_pairs and self._normalizes_queries):
            raise ValueError(
                f"Unbiased: method='kurennoy' compares clicked documents too, which {self.base!r} cannot; take "
                "RankNet(), MPBoost() or QBRank()"
            )
        check_number("Unbiased: max_weight", self.max_weight, least=1.0, most=1e9)
        check_number("Unbiased: p", self.p, least=0.0, most=1e9)
        check_number("Unbiased: ridge", self.ridge, least=1e-9, most=1e9)
        object.__setattr__(
            self, "max_position", check_integer("Unbiased: max_position", self.max_position, 1, most=200)
        )
        object.__setattr__(self, "propensity", self._checked_propensity())

    def _checked_propensity(self) -> tuple[float, ...] | None:
        """Return the propensities as a tuple, which is hashable; refuse them where they are not used."""
        if self.propensity is None:
            if self.method in _KNOWN:
                raise ValueError(
                    f"Unbiased: method={self.method!r} needs propensity, how likely users look at position 1, 2, …; "
                    "estimate it with boostplug.clicks.propensity, or take method='unbiased_lambdamart' or 'additive'"
                )
            return None
        if self.method not in _KNOWN:
            raise ValueError(
                f"Unbiased: method={self.method!r} estimates the bias itself; leave out propensity, or take "
                "method='ips' or 'kurennoy'"
            )
        values = numbers("propensity", getattr(self.propensity, "propensity", self.propensity))
        possible = (values > 0.0) & (values <= _MOST)
        refuse_where("propensity", ~possible, values, "is no chance of being looked at; pass numbers above 0")
        if not len(values):
            raise ValueError("Unbiased: propensity is empty; pass one number for each position")
        return tuple(values.tolist())

    @property
    def _pair_curve(self) -> PairCurve:
        assert isinstance(self.base, (PairLoss, LambdaRank))
        return self.base.pair_curve

    @property
    def _normalizes_queries(self) -> bool:
        return getattr(self.base, "normalization", "") in ("none", "rows", "query")

    @property
    def search_space(self) -> Space:
        """What the base says, and the parameters of this method; the method itself stays."""
        of_methods: dict[str, Space] = {
            "unbiased_lambdamart": {"p": Range(0.0, 3.0)},
            "additive": {"ridge": Range(1e-3, 1.0, log=True)},
            "kurennoy": {"examination": ("any", "independent")},
        }
        drawn = {name: space for name, space in super().search_space.items() if name.startswith("base")}
        weight = {} if self.method == "additive" else {"max_weight": Range(2.0, 100.0, log=True)}
        return {**drawn, **weight, **of_methods.get(self.method, {})}

    @property
    def hessian_kind(self) -> HessianKind:
        """The base's for "ips", whose weights are constants; else "model"."""
        return self.base.hessian_kind if self.method == "ips" else "model"

    @property
    def couples_queries(self) -> bool:  # type: ignore[override]
        """Whether the bias is estimated from all pages."""
        return self.method not in _KNOWN

    @property
    def has_gradient_of_value(self) -> bool:
        """Whether no weight depends on scores, nor any of the base."""
        return self.method in _KNOWN and self.base.has_gradient_of_value

    @property
    def binary_labels(self) -> bool:
        """Whether labels must be 0 or 1."""
        return self.method == "kurennoy"

    @property
    def takes_negative_labels(self) -> bool:
        """Whether the base does."""
        return self.base.takes_negative_labels

    @property
    def shift_invariant(self) -> bool:
        """Whether the base is."""
        return self.base.shift_invariant

    @property
    def accuracy(self) -> float:
        """The base's."""
        return self.base.accuracy

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return the base's; pages on which all documents were clicked count by their clicked pairs, for "kurennoy"."""
        self._positions(queries)
        number, weight = self.base.scale_terms(queries)
        both = self._clicked_pairs(queries)
        if both is None or both.alone is None:
            return number, weight
        more = self.base.scale_terms(both.alone)
        return number + more[0], weight + more[1]

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return what is known of each position at these scores, by name; a DataFrame can be made of it.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        queries : Queries

        Returns
        -------
        dict of str to ndarray of shape (n_positions,)
            "position", from 1, and "clicked" and "unclicked", t⁺ and t⁻, for "unbiased_lambdamart"; "bias", added to
            scores, 0 at the first position, for "additive"; "propensity" for the others.

        Raises
        ------
        ValueError
            If scores or positions are missing or wrong.
        """
        checked = scores_of_rows(scores, queries.n_rows, finite=True)
        found = self._bias(self._table(checked, queries))
        if self.method == "unbiased_lambdamart":
            named = {"clicked": found[0], "unclicked": found[1]}
        else:
            named = {"bias" if self.method == "additive" else "propensity": found[0]}
        n = min(len(found[0]), int(self._positions(queries).max(initial=1)))
        return {"position": np.arange(1, n + 1), **{name: values[:n] for name, values in named.items()}}

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return the base's value of each page, with these weights or biases."""
        bias = self._bias(self._table(scores, queries))
        value = self.base.compute_value(*self._seen_by_base(scores, queries, bias))
        both = self._clicked_pairs(queries)
        if both is not None:
            value = value - self.base.compute_value(frozen(scores[both.rows]), both.queries)
        return np.clip(value, -LARGEST_VALUE, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> Outputs:
        """Return the base's derivatives, with these weights or biases, estimated from these pages alone."""
        return self._derivatives(scores, queries, scale, self._table(scores, queries))

    def _reduction_terms(self, scores: Floats, queries: Queries) -> tuple[Floats, DerivativesFromSums]:
        """Learn the pairs by position of all machines from the same question as the base's scale."""
        table = self._table(scores, queries)

        def answered(scales: Floats, told: Floats) -> Outputs:
            return self._derivatives(scores, queries, float(scales[0]), told.sum(axis=0))

        return table, answered

    def _derivatives(self, scores: Floats, queries: Queries, scale: float, table: Floats) -> Outputs:
        outputs = self.base._computed(*self._seen_by_base(scores, queries, self._bias(table)), scale)  # noqa: SLF001
        both = self._clicked_pairs(queries)
        if both is None:
            return outputs
        negative = self.base._computed(frozen(scores[both.rows]), both.queries, scale)  # noqa: SLF001
        if not isinstance(outputs, ScaledDerivatives) or not isinstance(negative, ScaledDerivatives):
            return _without(outputs, both.rows, negative)
        if not (outputs.shift.any() or negative.shift.any()):
            gradient, hessian = _without(outputs, both.rows, negative)
            return ScaledDerivatives(gradient, hessian, outputs.shift, outputs.top + negative.top)
        everywhere = np.zeros((2, queries.n_rows))
        everywhere[:, both.rows] = -negative.gradient, negative.hessian
        negative = negative._replace(gradient=everywhere[0], hessian=everywhere[1])
        return added([outputs, negative], [1.0, 1.0], queries)

    def _positions(self, queries: Queries) -> NDArray[np.int64]:
        """Return the positions, checked once for these queries."""
        return self._kept(queries, "position", self.method, self.propensity, build=self._checked_positions)

    def _checked_positions(self, queries: Queries) -> NDArray[np.int64]:
        position = queries.position
        if position is None:
            raise ValueError(
                f"{type(self).__name__} learns from clicks at positions, and there are none; pass position= to fit, "
                "Queries or RankingData, or call boostplug.set_positions(dataset, positions)"
            )
        if not queries.position_is_rank and self.method != "additive":
            raise ValueError(
                f"method={self.method!r} needs to know which position is the first, and lgb.Dataset(position=…) keeps "
                "categories in the order of appearance; call boostplug.set_positions(dataset, positions)"
            )
        if self.propensity is not None:
            refuse_where(
                "position",
                position > len(self.propensity),
                position,
                f"has no propensity, which ends at position {len(self.propensity)}; pass one for each, or leave "
                "out documents further down",
            )
        elif queries.n_rows > queries.n_queries and position.max() == 1:
            raise ValueError(
                "position is 1 in all rows, so that nothing can be learnt of other positions; pass where each document "
                "stood on its page, or train on the base loss"
            )
        if self.binary_labels:
            y = queries.labels
            refuse_where("labels", queries.judged & (y != 0) & (y != 1), y, "is no click; pass 0 or 1, or method='ips'")
        return position

    def _table(self, scores: Floats, queries: Queries) -> Floats:
        """Return the counts of pairs by position that the estimates need; nothing where the propensities are known."""
        position = self._positions(queries)
        if self.propensity is not None:
            return np.zeros(0)
        deepest = self._kept(queries, "deepest", build=lambda _: int(position.max(initial=1)))
        runs, n = queries.grade_runs.unweighted(), min(self.max_position, deepest)
        self._kept(queries, "crowds", n, build=lambda _: _refuse_crowds(queries, position <= n, f"positions up to {n}"))
        documents = self._kept(queries, "documents", n, build=lambda _: placed_documents(runs.view, position, n))
        table = np.zeros((self.max_position, self.max_position, 2 * HALF + 1, 2))
        table[:n, :n] = pairs_by_position(documents, frozen(scores.view()), self._pair_curve.scale)
        table *= runs.unit
        return table.ravel()

    def _bias(self, table: Floats) -> tuple[Floats, ...]:
        """Return θ, t⁺ and t⁻, or the added bias, by position."""
        if self.propensity is not None:
            return (np.array(self.propensity),)
        pairs, curve = PositionPairs.of_table(table, self.max_position), self._pair_curve
        if self.method == "additive":
            return (additive_bias(pairs, curve, self.ridge),)
        return click_ratios(pairs, curve, self.p, 1.0 / self.max_weight)

    def _seen_by_base(self, scores: Floats, queries: Queries, bias: tuple[Floats, ...]) -> tuple[Floats, Queries]:
        """Return the scores and the queries of which the base is to be reckoned."""
        n = len(bias[0])
        if self.method == "additive":
            of_row = self._kept(queries, "rows", n, build=lambda _: _places(self._positions(queries), n))
            moved = looked_up(bias[0], of_row)
            moved += scores
            return frozen(moved), queries
        runs = queries.grade_runs
        place = self._kept(queries, "pairs", n, build=lambda _: _places(self._positions(queries)[runs.rows], n))
        if self.method == "unbiased_lambdamart":
            return scores, queries.with_grade_runs(_weighted(runs, 1.0 / bias[0], 1.0 / bias[1], place))
        cut = np.clip(1.0 / bias[0], 1.0 if self.binary_labels else 0.0, self.max_weight)
        known = self._kept(
            queries,
            "weighted",
            self.propensity,
            self.max_weight,
            build=lambda _: _weighted(runs, cut, np.ones(n), place),
        )
        return scores, queries.with_grade_runs(known)

    def _kept(self, queries: Queries, *key: Hashable, build: Callable[[Queries], _T]) -> _T:
        """Return what depends on the data alone, built once; a sum of such losses asks for several of each."""
        return queries.remember((Unbiased, *key), lambda: build(queries), limit=32)

    def _clicked_pairs(self, queries: Queries) -> "_ClickedPairs | None":
        """Return the pairs of two clicked documents, weighing what they do without its sign; None if there are none."""
        return self._kept(queries, "clicked", self, build=self._list_clicked_pairs) if self.binary_labels else None

    def _list_clicked_pairs(self, queries: Queries) -> "_ClickedPairs | None":
        weights = np.clip(1.0 / np.array(self.propensity), 1.0, self.max_weight)[self._positions(queries) - 1]
        clicked = queries.judged & (queries.labels > 0)
        n_clicked = np.bincount(queries.query_of_row[clicked], minlength=queries.n_queries)
        _refuse_crowds(queries, clicked, "clicks")
        rows = np.flatnonzero(clicked & (n_clicked[queries.query_of_row] > 1))
        sizes = np.where(n_clicked > 1, n_clicked, 0)
        n_others = np.repeat(sizes, sizes)
        winner = np.repeat(np.arange(len(rows)), n_others)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)  # of the same page
        loser = np.arange(len(winner)) - np.repeat(np.cumsum(n_others) - n_others, n_others) + first[winner]
        w = weights[rows]
        if self.examination == "independent":
            by = w[winner] * (w[loser] - 1.0)
        else:
            by = np.maximum(w[loser] - w[winner], 0.0)
        kept = (by > _NOTHING) & (winner != loser)
        if not kept.any():
            return None
        weight = None if queries.row_weight is None else queries.row_weight[rows]
        winner, loser = winner[kept], loser[kept]
        equal = Queries(None, group=sizes, weight=weight, pairs=Pairs(winner, loser))
        page = equal.query_of_row[winner]
        by = by[kept] * self._relative_factor(queries, equal)[page]
        alone = ~np.isin(page, queries.grade_runs.query)

        def of_pairs(chosen: NDArray[np.bool_]) -> Queries:
            pairs = Pairs(winner[chosen], loser[chosen], weight=by[chosen])
            return Queries(None, group=sizes, weight=weight, pairs=pairs)

        every = of_pairs(np.ones(len(by), bool))
        return _ClickedPairs(rows, every, of_pairs(alone) if alone.any() else None)

    def _relative_factor(self, queries: Queries, both: Queries) -> Floats:
        """Return by what each page's clicked pairs are to weigh more, to have the factor of its other pairs."""
        assert isinstance(self.base, PairLoss)
        own, others = np.ones((2, queries.n_queries))
        for factors, among in ((own, both), (others, queries)):
            runs = runs_of(among)
            factors[runs.query] = self.base.factors(among) / runs.unit
        has_others = np.zeros(
            queries.n_queries, bool
        )  # pages on which all documents were clicked keep their own factor
        has_others[queries.grade_runs.query] = True
        return np.where(has_others, others / own, 1.0)


class _ClickedPairs(NamedTuple):
    """Clicked documents of pages with several clicks: their rows, and these alone as queries, with pairs.

    `alone` has the pairs of pages on which all documents were clicked.
    """

    rows: NDArray[np.int64]
    queries: Queries
    alone: Queries | None


def _without(outputs: Outputs, rows: NDArray[np.int64], negative: Outputs) -> tuple[Floats, Floats]:
    """Return the derivatives with those of some rows taken back; the Hessian of what is negative counts as positive."""
    gradient, hessian = writable(outputs)
    gradient[rows] -= negative[0]
    hessian[rows] += negative[1]
    return gradient, hessian


def _refuse_crowds(queries: Queries, counted: NDArray[np.bool_], what: str) -> None:
    """Raise for a query of so many documents that it is no page, and that pairs of them would take minutes."""
    found = np.bincount(queries.query_of_row[counted], minlength=queries.n_queries)
    if (found > _CROWD).any():
        q = int(np.argmax(found))
        raise ValueError(
            f"query {q} holds {found[q]:,} documents with {what}, and a page shows few: pass each result page as a "
            "query of its own, with one document at each position"
        )


def _places(position: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """Return positions from 0, those past the n-th as the n-th."""
    return frozen((np.minimum(position, n) - 1).astype(np.int32))


def _weighted(runs: GradeRuns, winner: Floats, loser: Floats, place: NDArray[np.int32]) -> GradeRuns:
    """Return the documents in pairs, weighing by the position of the winner and of the loser."""
    of_winner, of_loser = looked_up(winner, place), looked_up(loser, place)
    if len(runs.sqrt_weight):
        of_winner, of_loser = of_winner * runs.sqrt_weight, of_loser * runs.sqrt_weight
    return runs.weighted(of_winner, of_loser)
