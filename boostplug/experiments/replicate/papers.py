"""The papers that can be replicated."""

from boostplug.experiments.replicate.adarank import ADARANK
from boostplug.experiments.replicate.mpboost import MPBOOST
from boostplug.experiments.replicate.ndcg_boost import NDCG_BOOST
from boostplug.experiments.replicate.protocol import Protocol
from boostplug.experiments.replicate.qbrank import QBRANK
from boostplug.experiments.replicate.rankboost_plus import RANKBOOST_PLUS

__all__ = ["PAPERS"]

PAPERS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (RANKBOOST_PLUS, ADARANK, QBRANK, MPBOOST, NDCG_BOOST)
}
"""By their names on the command line."""
