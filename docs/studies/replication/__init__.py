"""Replications of the papers: each is a protocol, run by the same code.

`studies.sources` reads the data. The files in reading order::

    training/  study task rankboost precision_at_percent preferences baselines feature_steps
    judging/  study_results verdicts claims curve_claims groups
    figures protocol
    papers/
    tables report result run page

>>> from studies.replication import PAPERS
>>> PAPERS["adarank"].paper
'Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.'
"""

from studies.replication.papers import PAPERS
from studies.replication.result import ReplicationResult
from studies.replication.run import replicate

__all__ = ["PAPERS", "ReplicationResult", "replicate"]
