"""A sweep of `compare`: sums of two losses along a grid of weights, and the Pareto front of two metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostplug.comparison.inputs.clicks import required_metric_of_clicks
from boostplug.comparison.summary import MethodName, MethodSummary, TradeOff
from boostplug.core.checks import check_instance, shown
from boostplug.core.naming import distinct_names
from boostplug.losses import Loss, LossOnLabel
from boostplug.metrics import Metric
from boostplug.metrics.on_label import MetricOnLabel

GRID = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True)
class Sweep:
    """Two losses, and the metric for each of them."""

    losses: tuple[Loss, Loss]
    metrics: tuple[Metric, Metric]

    def on_clicks(self) -> "Sweep":
        """Return the sweep with its metrics estimated from weighted clicks."""
        first, second = map(required_metric_of_clicks, self.metrics)
        return Sweep(self.losses, (first, second))

    def sums(self) -> list[Loss]:
        """Return the losses of the grid, from only the first to only the second."""
        first, second = self.losses
        return [first, *((1.0 - w) * first + w * second for w in GRID[1:-1]), second]

    def beside(self, others: Mapping[str, Loss]) -> dict[str, Loss]:
        """Return other losses and the losses of the grid, by name."""
        more = [loss for loss in self.sums() if loss not in others.values()]
        return {**others} | dict(zip(distinct_names(more), more, strict=True))


def sweep_of(given: Any, metrics: Sequence[Metric], main: Metric) -> Sweep:
    """Return the checked sweep from `compare`'s argument.

    The metric of a loss is `main` on the label that it reads. For two losses on one label, it is each of the first two
    of `metrics`.

    Raises
    ------
    ValueError
        If `given` is not a pair of losses, or there is only one metric for both.
    """
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"sweep must be two losses, such as (bp.QBRank(), bp.QBRank().on('sale')); got {shown(given)}")
    first, second = (_loss(loss) for loss in given)
    labels = (_label(first), _label(second))
    if labels[0] != labels[1]:
        judging = main.metric if isinstance(main, MetricOnLabel) else main
        a, b = (judging if label is None else judging.on(label) for label in labels)
    elif len(metrics) > 1:
        a, b = metrics[:2]
    else:
        raise ValueError("sweep has two losses on one label; pass two metrics by which they are judged")
    return Sweep((first, second), (a, b))


def _loss(given: Any) -> Loss:
    if isinstance(given, str):
        found = Loss.parse(given)
        if len(found) > 1:
            raise ValueError(f"sweep: {given!r} stands for several losses; pass one, such as {found[0]!r}")
        return found[0]
    loss: Loss = check_instance("a loss of sweep", given, Loss, "MPBoost()")
    return loss


def _label(loss: Loss) -> str | None:
    """Return the label that all parts of a loss read; None for y."""
    found = {part.label if isinstance(part, LossOnLabel) else None for part in getattr(loss, "parts", (loss,))}
    return found.pop() if len(found) == 1 else None


def front_of(methods: Sequence[MethodSummary], sweep: Sweep) -> TradeOff:
    """Return the methods that no other method beats on both metrics, by means on the test part."""
    names = [metric.name for metric in sweep.metrics]
    signs = np.array([1.0 if metric.greater_is_better else -1.0 for metric in sweep.metrics])
    values = [[method.test[name].mean for name in names] for method in methods]
    complete = [i for i, pair in enumerate(values) if None not in pair]
    points = signs * np.array([values[i] for i in complete], dtype=np.float64).reshape(-1, 2)
    front = [
        MethodName(framework=methods[i].framework, method=methods[i].method)
        for i, own in zip(complete, points, strict=True)
        if not ((points >= own).all(axis=1) & (points > own).any(axis=1)).any()
    ]
    return TradeOff(metrics=names, front=front)
