"""The papers that can be replicated."""

from boostplug.studies.replication.papers.adarank import ADARANK
from boostplug.studies.replication.papers.mpboost import MPBOOST
from boostplug.studies.replication.papers.ndcg_boost import NDCG_BOOST
from boostplug.studies.replication.papers.qbrank import QBRANK
from boostplug.studies.replication.papers.rankboost_plus import RANKBOOST_PLUS
from boostplug.studies.replication.protocol import Protocol

__all__ = ["PAPERS"]

PAPERS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (RANKBOOST_PLUS, ADARANK, QBRANK, MPBOOST, NDCG_BOOST)
}
"""By their names on the command line."""
