"""Ranking metrics. One line here for each: tests, docs, exports and the command line read `METRICS`."""

from boostplug.metrics.bpref import Bpref as Bpref
from boostplug.metrics.calibration import ECE as ECE
from boostplug.metrics.calibration import LogLoss as LogLoss
from boostplug.metrics.choice import ChoiceLogLoss as ChoiceLogLoss
from boostplug.metrics.choice import choice_probabilities as choice_probabilities
from boostplug.metrics.correlation import KendallTau as KendallTau
from boostplug.metrics.correlation import SpearmanRho as SpearmanRho
from boostplug.metrics.dcg import DCG as DCG
from boostplug.metrics.dcg import NDCG as NDCG
from boostplug.metrics.dcg import MeanNDCG as MeanNDCG
from boostplug.metrics.metric import Metric as Metric
from boostplug.metrics.metric import MetricOnLabel
from boostplug.metrics.pairwise import PairError as PairError
from boostplug.metrics.precision import MAP as MAP
from boostplug.metrics.precision import WTA as WTA
from boostplug.metrics.precision import Precision as Precision
from boostplug.metrics.precision import Recall as Recall
from boostplug.metrics.precision import RPrecision as RPrecision
from boostplug.metrics.rank_biased import RBP as RBP
from boostplug.metrics.reciprocal_rank import ERR as ERR
from boostplug.metrics.reciprocal_rank import MRR as MRR

METRICS: dict[str, type[Metric]] = {
    name: value
    for name, value in globals().items()
    if isinstance(value, type) and issubclass(value, Metric) and value not in {Metric, MetricOnLabel}
}
"""Each metric by its public name."""
Metric.registry = METRICS
