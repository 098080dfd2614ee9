"""The papers that can be replicated."""

from boostplug.replicate.adarank import ADARANK
from boostplug.replicate.mpboost import MPBOOST
from boostplug.replicate.ndcg_boost import NDCG_BOOST
from boostplug.replicate.protocol import Protocol
from boostplug.replicate.qbrank import QBRANK
from boostplug.replicate.rankboost_plus import RANKBOOST_PLUS

__all__ = ["PAPERS"]

PAPERS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (RANKBOOST_PLUS, ADARANK, QBRANK, MPBOOST, NDCG_BOOST)
}
"""By their names on the command line."""
