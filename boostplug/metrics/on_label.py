"""Where other folders still import `MetricOnLabel` from."""

from boostplug.metrics.metric import MetricOnLabel

__all__ = ["MetricOnLabel"]
