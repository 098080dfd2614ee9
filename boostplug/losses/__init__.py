"""Losses. `LOSSES` is the registry: tests, command line and documentation take every loss from here."""

from boostplug.losses.adarank import AdaRank
from boostplug.losses.directed_distance import (
    BinaryDistance,
    DirectedDistance,
    LinearDistance,
    LogDistance,
    LogisticDistance,
)
from boostplug.losses.list_net import ListNet
from boostplug.losses.loss import Loss
from boostplug.losses.mpboost import MPBoost
from boostplug.losses.ndcg_boost import NDCGBoost
from boostplug.losses.pairwise import PairwiseLoss
from boostplug.losses.qbrank import QBRank
from boostplug.losses.ranknet import RankNet
from boostplug.losses.squared_error import SquaredError

__all__ = [
    "LOSSES",
    "AdaRank",
    "BinaryDistance",
    "DirectedDistance",
    "LinearDistance",
    "ListNet",
    "LogDistance",
    "LogisticDistance",
    "Loss",
    "MPBoost",
    "NDCGBoost",
    "PairwiseLoss",
    "QBRank",
    "RankNet",
    "SquaredError",
]

LOSSES: dict[str, tuple[Loss, ...]] = {
    "mpboost": tuple(
        MPBoost(distance=d) for d in (BinaryDistance(), LinearDistance(), LogDistance(), LogisticDistance())
    ),
    "qbrank": (
        QBRank(),
        QBRank(preference_weight=0.3, normalization="rows"),
        QBRank(preference_weight=0.9, normalization="documents"),
    ),
    "ndcg-boost": (NDCGBoost(),),
    "adarank": (AdaRank(),),
    "ranknet": (RankNet(),),
    "listnet": (ListNet(), ListNet(target="xendcg")),
    "squared-error": (SquaredError(), SquaredError(centred=True)),
}
"""Name -> the variants that `boostplug compare` trains."""
Loss.registry = LOSSES
