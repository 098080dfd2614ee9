"""LambdaRank: pairs weigh what the metric loses when they change places (Burges, 2010)."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_flag, check_integer, check_number, frozen, shown
from boostplug.core.values import Range, Space
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.base.views import ListSums
from boostplug.kernels.lists.lambdas import Pairing, RowWeights, sum_lists
from boostplug.kernels.pairs.masses import gap_sums
from boostplug.losses.base.gains import ideal_dcg, rising_gains
from boostplug.losses.base.lists import sums_over_lists
from boostplug.losses.base.logistic import LOGISTIC
from boostplug.losses.base.loss import LARGEST_VALUE, Loss
from boostplug.losses.base.pair_loss import PairFunction
from boostplug.losses.base.traits import LabelRange, Traits
from boostplug.metrics import MAP, MRR, NDCG
from boostplug.metrics.gains import discounts


@dataclass(frozen=True, kw_only=True)
class LambdaRank(Loss):
    r"""Logistic loss of pairs that weigh what the metric loses by their swap.

    .. math:: J_q(F) = \sum_{r_i > r_j} \sqrt{v_i v_j}\; |\Delta_{ij}|\; \log\left(1 + e^{-s\,(F_i - F_j)}\right)

    :math:`\Delta_{ij}` is the difference of the metric when the documents i and j change places in the current order.
    It counts as a constant. s is `sigmoid`, v the row weights. Burges et al. (2006); LambdaMART's gradient in Burges
    (2010).

    NDCG: :math:`|\Delta_{ij}| = |G_i - G_j|\,|D_i - D_j| / Z_q`, with :math:`D = 1/\log_2(1 + \mathrm{rank})` down the
    whole list. The metric's k cuts the ideal DCG :math:`Z_q` and nothing else, as in LightGBM. So a document below rank
    k still learns how far it has to go.

    MAP: relevant documents (`MAP.relevant`) against the others. The swap also moves all relevant documents between the
    two. Here k does cut: ranks below k are worth nothing to AP@k.

    MRR: relevant documents (`MRR.relevant`) against the others. Only the first relevant document counts, and k cuts.
    With one relevant document per list it is NDCG with the discount 1/rank. Among tied documents the first relevant one
    counts at the last of their places.

    Parameters
    ----------
    metric : NDCG, MAP or MRR, default NDCG(10)
        Its `gain`, `convention`, `relevant` and `k` count; its `ties` and `empty` do not.
    truncation : int, optional
        Only pairs count whose better-ranked document is among the best so many, as with LightGBM's
        ``lambdarank_truncation_level``. Default: all pairs. Lists of more than some 5,000 documents need one
        (see Notes).
    sigmoid : float, default 1.0
        Multiplies score differences; from 1e-100 to 1e100.
    norm : bool, default False
        LightGBM's ``lambdarank_norm``. Each pair's weight is divided by
        :math:`0.01 + |F_i - F_j|`, unless all scores of the list are equal. Then the list's gradient and Hessian are
        multiplied by :math:`\log_2(1 + \Sigma)/\Sigma`. Σ is twice the sum of its pairs' gradients, in units of the
        list's mean row weight.

    Notes
    -----
    Gradient: with :math:`w_{ij} = \sqrt{v_i v_j}\, |\Delta_{ij}|`, it is
    :math:`g_i = -s \sum_j w_{ij}\, \sigma(-s\,(F_i - F_j))` over the documents of lower grades, and the same with
    the other sign over higher ones. Hessian: :math:`h_i = s^2 \sum_j w_{ij}\, \sigma (1 - \sigma)`, LightGBM's own
    formula, never below 1e-16 of the gradient. Its kind is "model", since the weights jump with the ranks.

    ``LambdaRank(metric=NDCG(30), truncation=30, norm=True)`` is LightGBM's default ``lambdarank``, up to the scale. It
    takes lists of any length and real-valued grades. It has :math:`\sqrt{v_i v_j}` where LightGBM has :math:`v_i`.

    Ties: over the whole list, tied documents count by their expected value over a random order. With a truncation they
    stand in row order, as in LightGBM. So the order of rows matters there (`ties_in_row_order`). Ranks are those among
    the judged documents of positive weight.

    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q W_q` over the queries with documents of different
    grades. :math:`n_q` is the number of documents, :math:`W_q` what the pairs weigh in a random order (without `norm`;
    for MRR as if one of the relevant documents were the first). A document then stands for about 1.

    Cost: O(n²) time for a list of n documents, O(n T) with a truncation T, and O(n) memory. A list takes one thread
    some 1.5 ms with 1,000 documents, 25 ms with 5,000 and 400 ms with 20,000. With ``truncation=30`` it takes 30 ms for
    100,000 documents.

    References
    ----------
    Burges, Ragno, Le. Learning to rank with nonsmooth cost functions. NIPS 2006.

    Burges. From RankNet to LambdaRank to LambdaMART: an overview. MSR-TR-2010-82.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import MAP, LambdaRank, Queries
    >>> queries = Queries([0, 1, 0], group=[3])
    >>> gradient, hessian = LambdaRank(metric=MAP()).gradient_hessian(np.array([2.0, 1.0, 0.0]), queries)
    >>> gradient.round(3)  # the first place is worth more than the second
    array([ 1.346, -1.511,  0.165])
    >>> LambdaRank(truncation=30, norm=True).name
    'LambdaRank(30, norm=True)'
    """

    metric: NDCG | MAP | MRR = field(default_factory=lambda: NDCG(10))
    truncation: int | None = None
    sigmoid: float = 1.0
    norm: bool = False

    search_ranges: ClassVar = {"sigmoid": Range(0.25, 4.0, log=True)}  # around lambdarank's 1

    def __post_init__(self) -> None:
        if not isinstance(self.metric, (NDCG, MAP, MRR)):
            raise ValueError(
                f"LambdaRank: metric must be an NDCG, a MAP or an MRR, such as NDCG(10); got {shown(self.metric)}"
            )
        if self.truncation is not None:
            otherwise = ", or None for all pairs of a list"
            object.__setattr__(
                self, "truncation", check_integer("LambdaRank: truncation", self.truncation, 1, otherwise)
            )
        check_number("LambdaRank: sigmoid", self.sigmoid, least=1e-100, most=1e100)
        object.__setattr__(self, "norm", check_flag("LambdaRank: norm", self.norm))

    @property
    def search_space(self) -> Space:
        """`search_ranges` and the metric's; with a truncation also truncations from 5 to 100, and the norm."""
        space = dict(super().search_space)
        if self.truncation is None:
            del space["norm"]
        else:
            space["truncation"] = Range(5, 100, log=True)
        return space

    @property
    def traits(self) -> Traits:
        """Weights count as constants, and jump; with a truncation ties are ranked by row (see Notes)."""
        any_label = not isinstance(self.metric, NDCG) or callable(self.metric.gain)
        return Traits(
            hessian="model",
            labels=LabelRange() if any_label else LabelRange(0.0),
            gradient_of_value=False,
            ties_in_row_order=self.truncation is not None,
        )

    @property
    def scaled_pair_function(self) -> PairFunction:
        """That of `RankNet`: the loss of a pair without its weight."""
        return replace(LOGISTIC, steepness=float(self.sigmoid))

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ_q n_q and Σ_q W_q (see Notes)."""
        groups = queries.grade_groups
        weight = groups.unit * self._swap_weights(queries).pair_weight_of_queries.sum()
        return np.array([groups.n_judged.sum()]), np.array([weight])

    def _swap_weights(self, queries: Queries) -> "_SwapWeights":
        key = (LambdaRank, self.metric, self.truncation)
        return queries.remember(key, lambda: _SwapWeights(queries, self.metric, self.truncation))

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        value = np.minimum(self._sums(scores, queries, with_value=True).value, LARGEST_VALUE)
        return np.minimum(value * queries.grade_groups.unit, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J, its weights held constant, and the Hessian."""
        sums = self._sums(scores, queries, with_value=False)
        factor = scale * queries.grade_groups.unit * float(self.sigmoid)
        gradient, hessian = sums.gradient, sums.hessian
        gradient *= factor
        hessian *= factor * float(self.sigmoid)
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _sums(self, scores: Floats, queries: Queries, *, with_value: bool) -> ListSums:
        """Return the sums in the unit of weights, by the score times sigmoid."""
        weights = self._swap_weights(queries)
        top = queries.n_rows if self.truncation is None else self.truncation
        only_first = isinstance(self.metric, MRR)
        pairing = Pairing(weights.discount, only_first, weights.cutoff, top, self.truncation is None, self.norm)
        arguments = float(self.sigmoid), weights.of_rows(queries), queries.grade_groups.unit, pairing, with_value
        return sums_over_lists(sum_lists, frozen(scores.view()), queries, *arguments)


class _SwapWeights:
    """Values that depend only on the data and the metric.

    Attributes
    ----------
    level : ndarray
        Of each row: its gain over Z_q, or its relevance (MAP: over the number of relevant documents); 0 without pairs.
    discount, cutoff
        See `Pairing`.
    pair_weight_of_queries : ndarray
        W_q of each query that holds a pair, over the unit of weights.
    """

    def __init__(self, queries: Queries, metric: NDCG | MAP | MRR, truncation: int | None) -> None:
        groups = queries.grade_groups
        longest = int(groups.n_documents.max(initial=0))
        if isinstance(metric, NDCG):
            level = rising_gains("LambdaRank", queries, metric.gain)
            ideal = ideal_dcg(groups, level, metric.k, metric.convention)
            if metric.convention == "letor" and metric.k is not None:
                ideal[groups.n_documents < metric.k] = 0.0  # the scripts count such a query 0
            level -= level[groups.query_group[:-1]][groups.query_of_group]  # gaps count alone
            discount = discounts(longest, metric.convention)
            self.discount, self.cutoff = discount, 0
            mean_distance = _mean_distance(discount, truncation)[groups.n_documents]
        else:
            level = (groups.group_grade >= metric.relevant).astype(np.float64)
            sizes = np.diff(groups.group_start)
            ideal = np.bincount(groups.query_of_group, level * sizes, len(groups.query)).astype(np.float64)
            k = longest if metric.k is None else metric.k
            self.discount, self.cutoff = frozen(np.zeros(0)), k
            # At random ranks: u = ρ ([j ≤ k] - Σ 1/j), v = u + [j ≤ k]/j, with ρ the share of relevant documents.
            inverse = np.where(np.arange(longest) < k, 1.0 / np.arange(1.0, longest + 1.0), 0.0)
            n = groups.n_documents
            of_share = _mean_distance(np.where(np.arange(longest) < k, 1.0, 0.0) - np.cumsum(inverse), truncation)
            mean_distance = of_share[n] * (ideal / n) + 0.5 * _mean_distance(inverse, truncation)[n]
            if isinstance(metric, MRR):
                mean_distance = _mean_distance(inverse, truncation)[n] / np.maximum(ideal, 1.0)
                ideal = np.minimum(ideal, 1.0)
            elif metric.divisor == "reachable":
                ideal = np.minimum(ideal, k)
        known = ideal > 0
        of_group = ideal[groups.query_of_group]
        level = np.divide(level, of_group, out=np.zeros_like(level), where=of_group > 0)
        gaps = np.zeros(len(level))
        gap_sums(groups.query_group, frozen(level), groups.mass, gaps)
        of_pairs = 0.5 * np.bincount(groups.query_of_group, gaps * groups.mass, len(groups.query))
        self.pair_weight_of_queries = frozen(np.where(known, mean_distance * of_pairs, 0.0))
        self.level = _of_rows(queries, np.repeat(level, np.diff(groups.group_start)))

    def of_rows(self, queries: Queries) -> RowWeights:
        """Return the level of each row and its weights in pairs."""
        groups = queries.grade_groups
        root = groups.sqrt_weight if len(groups.sqrt_weight) else np.ones(len(groups.rows))
        winner, loser = groups.pair_weight_of_documents or (root, root)
        return RowWeights(self.level, _of_rows(queries, winner), _of_rows(queries, loser))


def _of_rows(queries: Queries, of_documents: Floats) -> Floats:
    """Return a number of each row, from those of the documents in pairs; 0 for the other rows."""
    out = np.zeros(queries.n_rows)
    out[queries.grade_groups.rows] = of_documents
    return frozen(out)


def _mean_distance(values: Floats, truncation: int | None) -> Floats:
    """Return, for lists of 0 … n documents, how far apart two of them are expected to be in a random order.

    `values` of the positions 1 … n, which do not rise. Pairs that both stand past the truncation count 0.
    """
    n = np.arange(len(values) + 1.0)
    above = n[:-1] if truncation is None else np.minimum(n[:-1], truncation)  # those that count beside position j
    passed = np.r_[0.0, np.cumsum(values)][above.astype(np.int64)]
    total = np.r_[0.0, np.cumsum(passed - above * values)]
    mean: Floats = np.divide(2.0 * total, n * (n - 1.0), out=np.zeros(len(n)), where=n > 1)
    return mean
