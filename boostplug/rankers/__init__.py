"""Reference rankers: the papers' own boosting algorithms as scikit-learn estimators, a file each.

To add one, add its file and an entry in `RANKERS`, from which the conformance tests and the documentation read.
"""

from sklearn.tree import DecisionTreeClassifier

from boostplug.losses import BinaryDistance, LogDistance, RankNet
from boostplug.metrics import NDCG
from boostplug.rankers.adarank import AdaRankRanker
from boostplug.rankers.base import ReferenceRanker
from boostplug.rankers.linear import LinearRanker
from boostplug.rankers.mpboost import MPBoostRanker
from boostplug.rankers.ndcg_boost import NDCGBoostRanker
from boostplug.rankers.quadratic_bound import QBRankRanker, QuadraticBoundRanker
from boostplug.rankers.rankboost import RankBoostRanker

__all__ = [
    "RANKERS",
    "AdaRankRanker",
    "LinearRanker",
    "MPBoostRanker",
    "NDCGBoostRanker",
    "QBRankRanker",
    "QuadraticBoundRanker",
    "RankBoostRanker",
    "ReferenceRanker",
]

# Name -> settings that the conformance tests run.
RANKERS: dict[str, tuple[ReferenceRanker, ...]] = {
    "RankBoostRanker": (
        RankBoostRanker(),
        RankBoostRanker(variant="discrete"),
        RankBoostRanker(variant="continuous"),
    ),
    "AdaRankRanker": (AdaRankRanker(), AdaRankRanker(metric=NDCG(5), stop="paper", no_repeat=False, negated=False)),
    "MPBoostRanker": (
        MPBoostRanker(),
        MPBoostRanker(distance=BinaryDistance()),
        MPBoostRanker(distance=LogDistance(lam=3.0)),
    ),
    "NDCGBoostRanker": (
        NDCGBoostRanker(),
        NDCGBoostRanker(classifier=DecisionTreeClassifier(max_depth=1)),
    ),
    "QBRankRanker": (QBRankRanker(), QBRankRanker(normalization="documents")),
    "LinearRanker": (LinearRanker(), LinearRanker(loss="softmax", alpha=1.0, n_bins=8)),
    "QuadraticBoundRanker": (QuadraticBoundRanker(), QuadraticBoundRanker(loss=RankNet(), learning_rate=0.3)),
}
