"""Mean average precision: `MAP`."""

from dataclasses import KW_ONLY, dataclass
from math import isfinite
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.checks import check_choice
from boostplug.kernels import positions
from boostplug.metrics.metric import Metric, check_cutoff, check_empty
from boostplug.queries import Queries
from boostplug.threads import run_over_queries

__all__ = ["MAP", "check_relevant", "relevant_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MAP(Metric):
    r"""Mean over the relevant documents of the precision at their rank.

    .. math:: \frac1R \sum_{j \le k} \mathrm{rel}_j \frac{\#\{i \le j : \mathrm{rel}_i\}}{j}

    R counts all relevant documents of the query, also with a cut-off (`trec_eval`'s ``map_cut``, ir-measures' AP@k).

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None for the whole list.
    relevant : float, default=1
        Documents of at least this grade are relevant (MSLR's script: 2).
    ties : {"average", "order"}, default="average"
        "average": the expected value over a random order of the tied documents, in closed form (McSherry & Najork,
        "Computing information retrieval performance measures efficiently in the presence of tied scores", ECIR 2008).
        "order": documents with tied scores stay in file order, as in the scripts of LETOR and MSLR.
    empty : {"skip", 0, 1} or None, default=None
        Value of a query without relevant documents: left out of the mean (NaN in `per_query`), 0 (the scripts of
        LETOR and MSLR), or 1. None is "skip", as for the standard `NDCG`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> MAP().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.8333,    nan])
    >>> MAP(relevant=2, empty=0).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.3333, 0.    ])
    """

    k: int | None = None
    relevant: float = 1
    _: KW_ONLY
    ties: Literal["average", "order"] = "average"
    empty: Literal["skip", 0, 1] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "k", check_cutoff(self.k))
        object.__setattr__(self, "relevant", check_relevant(self.relevant))
        object.__setattr__(self, "empty", check_empty(self.empty))
        check_choice("ties", self.ties, ("average", "order"))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the average precision of each query."""
        relevant = relevant_rows(queries, self.relevant)
        out = np.empty(queries.n_queries)
        starts = queries.boundaries
        k = max(queries.n_rows, 1) if self.k is None else self.k
        average = self.ties == "average"
        run_over_queries(
            lambda a, b: positions.average_precision(scores, relevant, starts, k, average, a, b, out), starts
        )
        if self.empty in {0, 1}:
            out[np.isnan(out)] = self.empty
        return out


def check_relevant(relevant: float) -> float:
    """Return the lowest relevant grade, as an int where it is whole."""
    if isinstance(relevant, (bool, np.bool_)) or not isinstance(relevant, Real) or not isfinite(relevant):
        raise ValueError(f"relevant must be a finite number, the lowest grade that is relevant; got {relevant!r}")
    grade = float(relevant)
    return int(grade) if grade.is_integer() else grade


def relevant_rows(queries: Queries, grade: float) -> NDArray[np.bool_]:
    """Return which rows are labelled with at least `grade`."""
    relevant: NDArray[np.bool_] = queries.labels >= grade
    if queries.labelled is not None:
        relevant &= queries.labelled
    return relevant
