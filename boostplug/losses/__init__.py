"""Losses. `LOSSES` is the registry: tests, command line and documentation take every loss from here."""

from boostplug.losses.base.loss import Loss, LossOnLabel, LossSum
from boostplug.losses.base.traits import LabelRange, Traits
from boostplug.losses.calibrated_softmax import CalibratedSoftmax
from boostplug.losses.click_log_loss import ClickLogLoss
from boostplug.losses.composite.adarank import AdaRank
from boostplug.losses.composite.crr import CRR
from boostplug.losses.composite.unbiased import Unbiased
from boostplug.losses.correlation import Correlation
from boostplug.losses.directed_distance import (
    BinaryDistance,
    DirectedDistance,
    LinearDistance,
    LogDistance,
    LogisticDistance,
)
from boostplug.losses.lambda_rank import LambdaRank
from boostplug.losses.list_net import ListNet
from boostplug.losses.logistic_error import LogisticError
from boostplug.losses.mpboost import MPBoost
from boostplug.losses.ndcg_boost import NDCGBoost
from boostplug.losses.pairwise import PairwiseLoss
from boostplug.losses.qbrank import QBRank
from boostplug.losses.ranknet import RankNet
from boostplug.losses.squared_error import SquaredError
from boostplug.metrics import MAP, METRICS

__all__ = [
    "CRR",
    "LOSSES",
    "AdaRank",
    "BinaryDistance",
    "CalibratedSoftmax",
    "ClickLogLoss",
    "Correlation",
    "DirectedDistance",
    "LabelRange",
    "LambdaRank",
    "LinearDistance",
    "ListNet",
    "LogDistance",
    "LogisticDistance",
    "LogisticError",
    "Loss",
    "LossOnLabel",
    "LossSum",
    "MPBoost",
    "NDCGBoost",
    "PairwiseLoss",
    "QBRank",
    "RankNet",
    "SquaredError",
    "Traits",
    "Unbiased",
]

_BY_RANK = tuple(1.0 / place for place in range(1, 11))

LOSSES: dict[str, tuple[Loss, ...]] = {
    "mpboost": (
        *(MPBoost(distance=d) for d in (LogDistance(), BinaryDistance(), LinearDistance(), LogisticDistance())),
        MPBoost(normalization="none"),
    ),
    "qbrank": (
        QBRank(),
        QBRank(preference_weight=0.3),
        QBRank(normalization="none"),
        QBRank(preference_weight=0.9, normalization="documents"),
    ),
    "ndcg-boost": (NDCGBoost(),),
    "adarank": (AdaRank(), AdaRank(base=NDCGBoost())),
    "ranknet": (RankNet(),),
    "lambda-rank": (LambdaRank(), LambdaRank(metric=MAP())),
    "listnet": (ListNet(), ListNet(target="labels")),
    "squared-error": (SquaredError(), SquaredError(centred=True)),
    "crr": (CRR(),),
    "logistic-error": (LogisticError(max_grade=4.0),),
    "calibrated-softmax": (CalibratedSoftmax(max_grade=4.0),),
    "click-log-loss": (ClickLogLoss(propensity=_BY_RANK),),
    "correlation": (Correlation(),),
    "unbiased": (
        Unbiased(),
        Unbiased(method="unbiased_lambdamart"),
        Unbiased(method="ips", propensity=_BY_RANK),
    ),
}
"""Name -> the variants that ``boostplug compare --losses all`` trains, the default first."""
Loss.register(
    LOSSES,
    *METRICS.values(),
    *(BinaryDistance, LinearDistance, LogDistance, LogisticDistance),
    *(LossSum, PairwiseLoss),
)
