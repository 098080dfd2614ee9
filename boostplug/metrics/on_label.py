"""A metric that judges by one of several labels: ``NDCG(10).on("sale")``."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_instance
from boostplug.core.values import takes_from
from boostplug.data.named_labels import check_label_name
from boostplug.data.queries import Queries
from boostplug.metrics.metric import Metric


@dataclass(frozen=True, repr=False)
@takes_from("metric", "greater_is_better", "couples_queries", "has_per_query")
class MetricOnLabel(Metric):
    """A metric whose labels are those of one name, in place of the data's `y`; `Metric.on` makes it.

    Its values are the metric's on data whose labels are these. A row without such a label (NaN) is not judged.

    Parameters
    ----------
    metric : Metric
    label : str
        A name in `Queries.labels_by_name`.
    """

    metric: Metric
    label: str

    def __post_init__(self) -> None:
        check_instance("MetricOnLabel: metric", self.metric, Metric, "NDCG(10)")
        if isinstance(self.metric, MetricOnLabel):
            raise ValueError(f"{self.metric!r} reads the label {self.metric.label!r} already; bind the metric in it")
        check_label_name(self.label)

    def __repr__(self) -> str:
        return f"{self.metric!r}.on({self.label!r})"

    @property
    def name(self) -> str:
        """The metric's, and its label: "NDCG@10.on(sale)"."""
        return f"{self.metric.name}.on({self.label})"

    def reads(self, queries: Queries) -> Queries:
        """Return the queries with the label of that name."""
        return queries.on(self.label)

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the metric's."""
        return self.metric.compute_per_query(scores, self.reads(queries))

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the metric's."""
        return self.metric.sum_and_count(scores, self.reads(queries))

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the metric's, or what a framework expects of one."""
        return self.metric(scores, self.reads(data)) if isinstance(data, Queries) else super().__call__(scores, data)
