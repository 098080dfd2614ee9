"""Replications of the papers: a protocol each, run by one machine.

>>> from boostplug.experiments.replicate import PAPERS
>>> PAPERS["adarank"].paper
'Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.'
"""

from boostplug.experiments.replicate.papers import PAPERS
from boostplug.experiments.replicate.result import ReplicationResult
from boostplug.experiments.replicate.run import replicate

__all__ = ["PAPERS", "ReplicationResult", "replicate"]
