"""`LinearRanker`: a linear model of the features' quantiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from boostplug.core.checks import check_choice, check_integer, check_number
from boostplug.core.extras import imported
from boostplug.core.warning import warn_user
from boostplug.data.queries import why_nothing_is_learnt
from boostplug.estimators.linear_model import N_BINS, linear_model
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training

_MOST_BINS = 65536


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRanker(ReferenceRanker):
    r"""A linear model of the features' quantiles: a strong ranker where few queries are judged.

    The score is :math:`\sum_j c_j\, q_j(x_j)`. The quantile q_j of a feature rises from -1 to 1 in at most `n_bins`
    steps. So outliers and units do not matter. With ``loss="squared"`` c minimises

    .. math:: \sum_i w_i\, \big(\tilde y_i - \textstyle\sum_j c_j\, \tilde q_{ij}\big)^2 + \alpha \sum_j c_j^2

    where labels and quantiles are centred within each query, by their means with the row weights w (ridge regression,
    Hoerl and Kennard 1970). With ``loss="softmax"`` c minimises the conditional logit (McFadden 1974),

    .. math:: -\sum_q \bar w_q \sum_i P_i \log p_i + \frac\alpha2 \sum_j c_j^2

    with p the softmax of a list's scores, P its labels as shares, and :math:`\bar w_q` the query's mean weight.

    Parameters
    ----------
    alpha : float, optional
        The penalty α > 0. By default five folds choose one of eleven penalties, from 1e-4 to 10 times the mean of Σ w
        q̃² over features. Its models have the best NDCG@10 on queries that they have not seen.
    n_bins : int, default 64
        Most steps of a feature, from 2 to 65536.
    loss : {"squared", "softmax"}
        "softmax" for lists of which one document was chosen: bought, booked, the winner. Labels are then ≥ 0.
    features : list of str, optional
        Columns of a DataFrame that are features, as for `LGBMRanker`. Default: all without another use.

    Attributes
    ----------
    model_ : Ensemble
        One `Tree` of steps per feature, so it goes into both frameworks and all engines.
    coef_ : ndarray of shape (n_features,)
        c: what the feature adds from its median to its largest value. 0 for constant features.
    alpha_ : float
        The penalty.
    history_ : dict of ndarray of shape (1,)
        ``alpha``.

    Notes
    -----
    A missing value stands at the feature's median. Rows without label or weight are left out. NDCG@10 has linear gains
    where labels are below 0 or above 30. Explicit pairs are refused.

    Cost: O(n F²) for each fold, whatever the number of penalties. For softmax it is O(n F²) for each of Newton's steps,
    some three for each fold and penalty.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(n_queries=30, random_state=0)
    >>> ranker = bp.LinearRanker().fit(data.X, data.y, qid=data.qid)
    >>> ranker.coef_.shape == (data.X.shape[1],)
    True
    """

    alpha: float | None = None
    n_bins: int = N_BINS
    loss: Literal["squared", "softmax"] = "squared"
    features: Sequence[Any] | None = None

    n_estimators = 1  # the one round; no parameter

    def _check(self) -> None:
        super()._check()
        if self.alpha is not None:
            check_number("alpha", self.alpha, above=0.0, otherwise=", or None to choose one by folds")
        check_integer("n_bins", self.n_bins, 2, most=_MOST_BINS)
        check_choice("loss", self.loss, ("squared", "softmax"))

    @property
    def coefficients_(self) -> Any:
        """Features and coefficients, a DataFrame with the largest coefficients first; needs pandas."""
        names = getattr(self, "feature_names_in_", [f"f{j}" for j in range(len(self.coef_))])
        frame = imported("pandas", "coefficients_ needs").DataFrame({"feature": names, "coefficient": self.coef_})
        return frame.sort_values("coefficient", key=abs, ascending=False, kind="stable", ignore_index=True)

    def _rounds(self, training: Training) -> Rounds:
        queries = training.queries
        if queries.pairs is not None:
            raise ValueError("LinearRanker learns from labels and takes no pairs; leave them out, or take QBRankRanker")
        if why := why_nothing_is_learnt(queries):
            message = f"LinearRanker has nothing to learn from: {why}; the model stays constant"
            warn_user(message)
        self.alpha_, self.coef_, trees = linear_model(
            training.X, queries, softmax=self.loss == "softmax", alpha=self.alpha, n_bins=self.n_bins
        )
        yield Round(tuple((tree, 1.0) for tree in trees), {"alpha": self.alpha_})
        return "the model is one round"
