"""Ranking data sets: readers of the LETOR family of formats, and synthetic data.

>>> from boostplug.datasets import make_ranking
>>> make_ranking(50, n_features=8, random_state=0)
RankingData(n_queries=50, n_rows=1558, n_features=8)
"""

from boostplug.datasets.batches import QueryBatches, batches_by_query
from boostplug.datasets.letor import load_fold, load_folds, load_letor
from boostplug.datasets.ranking_data import Fold, RankingData
from boostplug.datasets.synthetic import load_bundled, make_ranking

__all__ = [
    "Fold",
    "QueryBatches",
    "RankingData",
    "batches_by_query",
    "load_bundled",
    "load_fold",
    "load_folds",
    "load_letor",
    "make_ranking",
]
