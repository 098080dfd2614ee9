"""ListNet: softmax cross entropy over whole lists (Cao et al., ICML 2007), and Bruch's XE-NDCG."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_choice, check_integer, frozen, refuse_where
from boostplug.core.threads import run_over_queries
from boostplug.data.grade_groups import JudgedLists
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.lists import softmax as kernels
from boostplug.losses.base.lists import sums_over_lists
from boostplug.losses.base.loss import HessianKind, LabelRange, Loss

Floats = NDArray[np.float64]
Target = Literal["softmax", "xendcg"]

_NO_BITS = frozen(np.zeros(0, np.uint64))


@dataclass(frozen=True, kw_only=True)
class ListNet(Loss):
    r"""Cross entropy between a distribution over the list that grades make and the softmax of its scores.

    .. math:: J_q(F) = -\bar v_q \sum_i P_i \log p_i, \qquad p_i = \frac{v_i\, e^{F_i}}{\sum_j v_j\, e^{F_j}}

    over the judged documents of a query, with v the row weights. A list counts once, whatever its length. Labels may be
    grades or real numbers.

    Parameters
    ----------
    target : {"softmax", "xendcg"}
        "softmax": :math:`P_i \propto v_i\, e^{r_i}`, ListNet's top-one probabilities. Labels may be any real numbers.
        Their unit matters: a gap of 1 makes a document e times as likely to be the best. "xendcg":
        :math:`P_i \propto v_i\, (2^{r_i} - \gamma_i)`, with Bruch's steps (see Notes), as in LightGBM's
        ``rank_xendcg``. Labels are ≥ 0.
    random_state : int, optional
        For the γ of "xendcg"; "softmax" ignores it. None: all γ are ½, their mean, and nothing is random. A seed ≥ 0:
        they are uniform from 0 to 1 and new in every round, as in LightGBM, with other numbers.

    Notes
    -----
    "softmax": the gradient is :math:`p - P`, the Hessian :math:`p\,(1 - p)`, the second derivative (kind "exact"). It
    is the same with "xendcg", where the gradient is not J's but adds two more terms, which stand for the Hessian's
    inverse (kind "model"):

    .. math:: g = t^1 + t^2 + t^3, \quad t^1_i = p_i - P_i, \quad
              t^{k+1}_i = p_i \sum_{j \ne i} \frac{t^k_j}{1 - p_j} .

    They sum to 0 as well. LightGBM divides by 0 where p is 1 to the last bit. Here 1 - p is the sum of the other
    documents' shares, so all is finite for scores of any size. Where the Hessian vanishes beside the gradient, it is
    held at 1e-16 of the gradient, as XGBoost does.

    Weights: a document of weight v stands in its list v times. So a document drawn with probability 1/v stands for
    those that were not. The list itself weighs :math:`\bar v = \sum v^2 / \sum v`, which is the weight of each of its
    documents if they all weigh the same. Weight 0 removes the document.

    Equal grades teach too: P is then uniform (in proportion to weights), and the scores are pulled together. A document
    alone in its list gets no step.

    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q \bar v_q` over the lists of two documents and more. A
    document then stands for about 1. LightGBM has no such factor.

    With a seed, γ depends on the seed, the row's number and the bits of its score alone. Equal calls return equal
    numbers, with any number of threads. But γ changes with the order of rows, with rows left out, with a constant added
    to the scores, and between machines.

    Cost: O(n), an exponential for each document.

    References
    ----------
    Cao, Qin, Liu, Tsai, Li. Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    Bruch. An alternative cross entropy loss for learning-to-rank. WWW 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import ListNet, Queries
    >>> queries = Queries([1, 0], group=[2])
    >>> ListNet().value(np.zeros(2), queries) / np.log(2.0)
    array([1.])
    >>> gradient, hessian = ListNet(target="xendcg").gradient_hessian(np.zeros(2), queries)
    >>> gradient  # P is 3/4 and 1/4, the terms are -1/4, -1/4, -1/4, times 2 documents a list
    array([-0.5,  0.5])
    >>> hessian
    array([0.5, 0.5])
    """

    target: Target = "softmax"
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_choice("ListNet: target", self.target, get_args(Target))
        if self.random_state is not None:
            check_integer("ListNet: random_state", self.random_state, 0, ", or None for no noise")

    @property
    def hessian_kind(self) -> HessianKind:
        """The kind of Hessian: "exact" for softmax, "model" for xendcg, whose gradient is not the value's."""
        return "exact" if self.target == "softmax" else "model"

    @property
    def has_gradient_of_value(self) -> bool:
        """False for xendcg, which adds terms of a second-order step."""
        return self.target == "softmax"

    @property
    def label_range(self) -> LabelRange:
        """From 0 for xendcg: 2^r - γ may be negative for lower ones."""
        return LabelRange() if self.target == "softmax" else LabelRange(0.0)

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ n_q and Σ v̄_q over the lists of two documents and more."""
        n = np.diff(queries.judged_lists.start)
        return np.array([float(n[n > 1].sum())]), np.array([_weights(queries)[n > 1].sum()])

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        return sums_over_lists(kernels.values, scores, queries, self._shares(scores, queries), _weights(queries)).value

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J, or Bruch's, and p (1 - p)."""
        shares, factor = self._shares(scores, queries), scale * _weights(queries)
        _, gradient, hessian = sums_over_lists(
            kernels.derivatives, scores, queries, shares, factor, self.target == "xendcg"
        )
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _shares(self, scores: Floats, queries: Queries) -> Floats:
        """Return P of the judged documents."""
        judged = queries.judged_lists
        lists = judged.view
        if self.target == "softmax":
            return queries.remember((ListNet, "softmax"), lambda: frozen(_over_lists(judged, kernels.targets, lists)))
        gains = queries.remember((ListNet, "gains"), lambda: _gains(queries))
        if self.random_state is None:
            return queries.remember(
                (ListNet, "xendcg"),
                lambda: frozen(_over_lists(judged, kernels.exp2_targets, lists, *gains, _NO_BITS, np.uint64(0))),
            )
        seed = np.uint64(int(self.random_state))
        return _over_lists(judged, kernels.exp2_targets, lists, *gains, scores.view(np.uint64), seed)


def _over_lists(judged: JudgedLists, kernel: Callable[..., None], *arguments: Any) -> Floats:
    """Return a number for each judged document, which a kernel writes."""
    out = np.empty(len(judged.rows))
    run_over_queries(lambda first, last: kernel(*arguments, first, last, out), judged.start)
    return out


def _gains(queries: Queries) -> tuple[Floats, Floats]:
    """Return 2^r of each judged document over the largest of its list, and one over that largest of each list."""
    why = "is negative, and so may be its gain 2^r - γ; shift the grades to start at 0, or pass target='softmax'"
    refuse_where("labels", queries.labelled_rows & (queries.labels < 0), queries.labels, why)
    judged = queries.judged_lists
    if not len(judged.query):
        return frozen(np.zeros(0)), frozen(np.zeros(0))
    best = np.maximum.reduceat(judged.grade, judged.start[:-1])
    return frozen(np.exp2(judged.grade - np.repeat(best, np.diff(judged.start)))), frozen(np.exp2(-best))


def _weights(queries: Queries) -> Floats:
    """Return v̄ of each list."""

    def compute() -> Floats:
        judged = queries.judged_lists
        if queries.row_weight is None or not len(judged.query):
            return frozen(np.ones(len(judged.query)))
        total, square = (np.add.reduceat(x, judged.start[:-1]) for x in (judged.weight, judged.weight**2))
        return frozen(square / total)

    return queries.remember((ListNet, "weights"), compute)
