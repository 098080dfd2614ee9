"""The papers that can be replicated."""

from studies.replication.papers.adarank import ADARANK
from studies.replication.papers.mpboost import MPBOOST
from studies.replication.papers.ndcg_boost import NDCG_BOOST
from studies.replication.papers.qbrank import QBRANK
from studies.replication.papers.rankboost_plus import RANKBOOST_PLUS
from studies.replication.protocol import Protocol

__all__ = ["PAPERS"]

PAPERS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (RANKBOOST_PLUS, ADARANK, QBRANK, MPBOOST, NDCG_BOOST)
}
"""By their names on the command line."""
