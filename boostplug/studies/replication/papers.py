"""The papers that can be replicated."""

from boostplug.studies.replication.adarank import ADARANK
from boostplug.studies.replication.mpboost import MPBOOST
from boostplug.studies.replication.ndcg_boost import NDCG_BOOST
from boostplug.studies.replication.protocol import Protocol
from boostplug.studies.replication.qbrank import QBRANK
from boostplug.studies.replication.rankboost_plus import RANKBOOST_PLUS

__all__ = ["PAPERS"]

PAPERS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (RANKBOOST_PLUS, ADARANK, QBRANK, MPBOOST, NDCG_BOOST)
}
"""By their names on the command line."""
