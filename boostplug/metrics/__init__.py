"""Ranking metrics. One file and one line here for each: tests, docs, exports and the command line read `METRICS`."""

from boostplug.metrics.average_precision import MAP as MAP
from boostplug.metrics.dcg import NDCG as NDCG
from boostplug.metrics.metric import Metric as Metric

METRICS: dict[str, type[Metric]] = {
    name: value
    for name, value in globals().items()
    if isinstance(value, type) and issubclass(value, Metric) and value is not Metric
}
"""Each metric by its public name."""
