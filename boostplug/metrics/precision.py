"""Metrics of what stands at the top: `Precision` and `WTA`."""

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import check_choice
from boostplug.kernels import positions
from boostplug.metrics.average_precision import check_relevant, relevant_rows
from boostplug.metrics.metric import Metric, check_cutoff, check_empty
from boostplug.queries import Queries
from boostplug.threads import run_over_queries

__all__ = ["WTA", "Precision"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Precision(Metric):
    r"""Share of relevant documents among the best k.

    .. math:: \frac1k \#\{j \le k : \mathrm{rel}_j\}

    A list shorter than k is filled up with documents that are not relevant: the divisor stays k, as in `trec_eval` and
    the script of LETOR 4.0 (the script of LETOR 3.0 counts 0 for such a query).

    Parameters
    ----------
    k : int, default=10
        Cut-off.
    relevant : float, default=1
        Documents of at least this grade are relevant (MSLR's script: 2).
    ties : {"average", "order"}, default="average"
        "average": the expected value over a random order of the tied documents, in closed form (McSherry & Najork,
        ECIR 2008). "order": documents with tied scores stay in file order, as in the scripts of LETOR and MSLR.
    empty : {"skip", 0, 1} or None, default=None
        Value of a query without relevant documents: left out of the mean (NaN in `per_query`), 0 (the scripts,
        `trec_eval`, ir-measures), or 1. None is "skip", as for `MAP`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> Precision(2).per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([0.5, nan])
    >>> Precision(5)([3.0, 2.0, 1.0, 0.5], queries)
    0.4
    """

    k: int = 10
    relevant: float = 1
    _: KW_ONLY
    ties: Literal["average", "order"] = "average"
    empty: Literal["skip", 0, 1] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_cutoff(self.k, whole_list=False))
        object.__setattr__(self, "relevant", check_relevant(self.relevant))
        object.__setattr__(self, "empty", check_empty(self.empty))
        check_choice("ties", self.ties, ("average", "order"))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the precision of each query."""
        return _precision(scores, queries, self.k, self.relevant, self.ties == "average", self.empty)


@dataclass(frozen=True)
class WTA(Metric):
    r"""Winner takes all: 1 if the best document is relevant, else 0.

    As Burges, Ragno & Le define it ("Learning to rank with nonsmooth cost functions", NIPS 2006: the cost is 0 if the
    top document is relevant, else 1), and the AdaRank paper uses it: a metric of binary relevance. With grades, choose
    what counts as relevant. It is `Precision` at 1.

    Parameters
    ----------
    relevant : float, default=1
        Documents of at least this grade are relevant.
    ties : {"average", "order"}, default="average"
        "average": the share of relevant documents among those that tie for the best score. "order": the first of them
        in the file counts.
    empty : {"skip", 0, 1} or None, default=None
        Value of a query without relevant documents: left out of the mean (NaN in `per_query`), 0, or 1. None is
        "skip", as for `MAP`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> WTA().per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([ 1., nan])
    >>> WTA(relevant=2)([3.0, 2.0, 1.0, 0.5], queries)
    0.0
    """

    relevant: float = 1
    _: KW_ONLY
    ties: Literal["average", "order"] = "average"
    empty: Literal["skip", 0, 1] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "relevant", check_relevant(self.relevant))
        object.__setattr__(self, "empty", check_empty(self.empty))
        check_choice("ties", self.ties, ("average", "order"))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the value of each query."""
        return _precision(scores, queries, 1, self.relevant, self.ties == "average", self.empty)


def _precision(
    scores: Floats, queries: Queries, k: int, grade: float, average: bool, empty: Literal["skip", 0, 1] | None
) -> Floats:
    relevant = relevant_rows(queries, grade)
    out = np.empty(queries.n_queries)
    starts = queries.boundaries
    run_over_queries(lambda a, b: positions.precision(scores, relevant, starts, k, average, a, b, out), starts)
    if empty in {0, 1}:
        out[np.isnan(out)] = empty
    return out
