"""Labels that are clicks: the parts that they judge, and clicks weighed by propensities in their place."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boostplug.clicks.propensity import effective_size
from boostplug.comparison.inputs.frames import PARTS
from boostplug.comparison.training.frameworks import DataPart
from boostplug.data.positions import propensities_of, refuse_without_propensity
from boostplug.metrics import DCG, NDCG, Metric
from boostplug.metrics.on_label import MetricOnLabel

IPS = "ips"  # the label that holds the weighed clicks
MAX_WEIGHT = 10.0  # of a click, as in `Unbiased`

Folds = Sequence[Sequence[DataPart]]


def clicked_parts(folds: Folds) -> tuple[str, ...]:
    """Return which of "valid" and "test" have positions, so that their labels are clicks on pages that were shown."""
    judging = list(zip(PARTS, zip(*folds, strict=True), strict=True))[1:]
    return tuple(name for name, parts in judging if any(part.queries.position is not None for part in parts))


def weighed_by_propensity(folds: Folds, propensity: Any) -> tuple[Folds, list[str]]:
    """Return folds in which clicks that judge have the label `IPS` beside them, and a note on each such part.

    A click at position p weighs 1/θ_p, at most `MAX_WEIGHT` (Joachims, Swaminathan & Schnabel, WSDM 2017).
    """
    theta = propensities_of(propensity)
    named = clicked_parts(folds)
    if not named:
        raise ValueError(
            "propensity weighs clicks of the validation and test parts, and neither has positions; name their column "
            "by position=, pass RankingData(X, y, qid=…, position=…), or leave out propensity"
        )
    weighed, clicks, weights = [], dict[str, list[Any]](), dict[str, list[Any]]()
    for train, *judging in folds:
        parts = [train]
        for name, part in zip(PARTS[1:], judging, strict=True):
            queries = part.queries
            if queries.position is not None:
                refuse_without_propensity(queries.position, len(theta))
                weight = np.minimum(1.0 / theta[queries.position - 1], MAX_WEIGHT)
                labels = {**queries.labels_by_name, IPS: queries.labels * weight}
                part = replace(part, queries=queries.replaced(labels_by_name=labels))  # noqa: PLW2901
                clicks.setdefault(name, []).append(queries.labels)
                weights.setdefault(name, []).append(weight)
            parts.append(part)
        weighed.append(parts)
    notes = []
    for name, of_folds in clicks.items():
        times, weight = np.concatenate(of_folds), np.concatenate(weights[name])
        largest = weight[times > 0].max(initial=0.0)
        notes.append(
            f"{name} holds {times.sum():,.0f} clicks. Each counts 1/propensity of its position, at most "
            f"{MAX_WEIGHT:g} (largest: {largest:.3g}); effective sample size: {effective_size(weight, times):,.0f} "
            "clicks. The metrics estimate what users would find, if the propensities are right."
        )
    return weighed, notes


def metric_of_clicks(metric: Metric) -> Metric | None:
    """Return the metric that weighed clicks estimate: DCG for NDCG, whose ideal they do not tell; None for others."""
    if isinstance(metric, (NDCG, DCG)):
        return MetricOnLabel(DCG(metric.k, convention=metric.convention, gain="linear", ties=metric.ties), IPS)
    return metric if isinstance(metric, MetricOnLabel) else None


def required_metric_of_clicks(metric: Metric) -> Metric:
    """Return `metric_of_clicks`, refusing a metric that weighed clicks cannot estimate."""
    found = metric_of_clicks(metric)
    if found is None:
        raise ValueError(f"metric={metric.name!r}: clicks weighed by propensity tell DCG alone; pass metric='DCG@10'")
    return found


def biased_verdict(parts: Sequence[str]) -> str:
    """Return why clicks on some parts give no verdict, and what to pass."""
    return (
        f"Clicks judge the {' and the '.join(_LONG[name] for name in parts)} part{'s' * (len(parts) > 1)}, and they "
        "favour the order that was shown: no method is recommended by them. Pass propensity=, an array or what "
        "boostplug.clicks.propensity returns, or parts with judgements and without positions."
    )


_LONG = {"valid": "validation", "test": "test"}
