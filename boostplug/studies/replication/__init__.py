"""Replications of the papers: a protocol each, run by one machine.

The files from the ground floor up; each imports from lines above its own alone, at its top::

    study
    sources preferences trees ranksvm simple feature_steps
    letor task
    outcome
    verdicts checked figures
    claims
    curve_claims groups protocol
    adarank mpboost ndcg_boost qbrank rankboost_plus
    papers report
    result page
    run

>>> from boostplug.studies.replication import PAPERS
>>> PAPERS["adarank"].paper
'Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.'
"""

from boostplug.studies.replication.papers import PAPERS
from boostplug.studies.replication.result import ReplicationResult
from boostplug.studies.replication.run import replicate

__all__ = ["PAPERS", "ReplicationResult", "replicate"]
