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

>>> from boostplug.replicate import PAPERS
>>> PAPERS["adarank"].paper
'Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.'
"""

from boostplug.replicate.papers import PAPERS
from boostplug.replicate.result import ReplicationResult
from boostplug.replicate.run import replicate

__all__ = ["PAPERS", "ReplicationResult", "replicate"]
