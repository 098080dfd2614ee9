"""The papers that can be replicated."""

from boostplug.replication.papers.adarank import ADARANK
from boostplug.replication.papers.mpboost import MPBOOST
from boostplug.replication.papers.ndcg_boost import NDCG_BOOST
from boostplug.replication.papers.qbrank import QBRANK
from boostplug.replication.papers.rankboost_plus import RANKBOOST_PLUS
from boostplug.replication.protocol import Protocol

__all__ = ["PAPERS"]

PAPERS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (RANKBOOST_PLUS, ADARANK, QBRANK, MPBOOST, NDCG_BOOST)
}
"""By their names on the command line."""
