"""Replications of the papers: each is a protocol, run by the same code.

The files in reading order; a file imports only from files before it::

    movielens sources
    training/  study preferences baselines feature_steps task
    judging/  study_results verdicts claims curve_claims groups
    figures protocol
    papers/
    tables report result run page

>>> from boostplug.replication import PAPERS
>>> PAPERS["adarank"].paper
'Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.'
"""

from boostplug.replication.papers import PAPERS
from boostplug.replication.result import ReplicationResult
from boostplug.replication.run import replicate

__all__ = ["PAPERS", "ReplicationResult", "replicate"]
