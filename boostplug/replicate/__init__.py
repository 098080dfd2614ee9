"""Replications of the papers: a protocol each, run by one machine.

>>> from boostplug.replicate import PAPERS
>>> PAPERS["adarank"].paper
'Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.'
"""

from boostplug.replicate.papers import PAPERS
from boostplug.replicate.result import ReplicationResult
from boostplug.replicate.run import replicate

__all__ = ["PAPERS", "ReplicationResult", "replicate"]
