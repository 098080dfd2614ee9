"""Ranking data sets: readers of the LETOR family of formats, TREC's runs and qrels, click logs, synthetic data.

>>> from boostplug.datasets import make_ranking
>>> make_ranking(50, n_features=8, random_state=0)
RankingData(n_queries=50, n_rows=1558, n_features=8)
"""

from boostplug.data.click_log import ClickLog
from boostplug.datasets.batches import QueryBatches, batches_by_query
from boostplug.datasets.clicks import load_clicks
from boostplug.datasets.letor import load_fold, load_folds, load_letor
from boostplug.datasets.ranking_data import Fold, RankingData
from boostplug.datasets.synthetic import load_bundled, make_ranking
from boostplug.datasets.trec import Qrels, Run, join_trec, load_qrels, load_run, save_qrels, save_run

__all__ = [
    "ClickLog",
    "Fold",
    "Qrels",
    "QueryBatches",
    "RankingData",
    "Run",
    "batches_by_query",
    "join_trec",
    "load_bundled",
    "load_clicks",
    "load_fold",
    "load_folds",
    "load_letor",
    "load_qrels",
    "load_run",
    "make_ranking",
    "save_qrels",
    "save_run",
]
