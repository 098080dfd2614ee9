"""Losses. `LOSSES` is the registry: tests, command line and documentation take every loss from here."""

from boostplug.losses.directed_distance import (
    BinaryDistance,
    DirectedDistance,
    LinearDistance,
    LogDistance,
    LogisticDistance,
)
from boostplug.losses.loss import Loss
from boostplug.losses.mpboost import MPBoost
from boostplug.losses.qbrank import QBRank

__all__ = [
    "LOSSES",
    "BinaryDistance",
    "DirectedDistance",
    "LinearDistance",
    "LogDistance",
    "LogisticDistance",
    "Loss",
    "MPBoost",
    "QBRank",
]

LOSSES: dict[str, tuple[Loss, ...]] = {
    "mpboost": tuple(
        MPBoost(distance=d) for d in (BinaryDistance(), LinearDistance(), LogDistance(), LogisticDistance())
    ),
    "qbrank": (QBRank(), QBRank(preference_weight=0.9, normalization="documents")),
}
"""Name -> the variants that `boostplug compare` trains."""
