"""Labels that are clicks: the parts that they judge, and clicks weighed by propensities in their place."""

from collections.abc import Sequence

import numpy as np

from boostplug.comparison.inputs.columns import PARTS, DataFolds
from boostplug.core.arrays import Floats
from boostplug.core.values import label
from boostplug.data.inputs import CheckedInputs
from boostplug.data.positions import check_propensities
from boostplug.losses import Loss, RankNet, Unbiased
from boostplug.metrics import DCG, NDCG, Metric
from boostplug.metrics.metric import MetricOnLabel

IPS = "ips"  # the label that holds the weighed clicks
MAX_WEIGHT = 10.0  # of a click
_POWERS = (0.25, 0.5, 0.75, 1.0)  # of "ips"; 0 is clicks as labels
_RIDGES = (0.003, 0.03, 0.3)  # of "additive"


def clicked_parts(folds: DataFolds) -> tuple[str, ...]:
    """Return which of "valid" and "test" have positions, so that their labels are clicks on pages that were shown."""
    return tuple(name for name, parts in _judging(folds) if any(p.queries.position is not None for p in parts))


def notes_on_judgements(folds: DataFolds) -> list[str]:
    """Return a note on the parts that judge without positions, where the training part has them."""
    judged = [name for name in PARTS[1:] if name not in clicked_parts(folds)]
    if folds[0][0].queries.position is None or not judged:
        return []
    return [f"Only labels judge the parts without positions ({' and '.join(judged)}): they count as judgements."]


def weighed_by_propensity(folds: DataFolds, theta: Floats) -> DataFolds:
    """Return folds whose clicks on validation and test have the label `IPS` beside them; `theta` is by position.

    A click at position p weighs 1/θ_p, at most `MAX_WEIGHT` (Joachims, Swaminathan & Schnabel, WSDM 2017). Where this
    cuts a weight to w, the label is w × click + (1 - w θ_p) r, with r the rate Σ clicks / Σ θ of a part's documents at
    such positions. The labels are then right on average there, as in doubly robust estimates (Oosterhuis, TOIS 2023).
    """
    if all(part.queries.position is None for fold in folds for part in fold):
        raise ValueError(
            "propensity weighs clicks at positions, and no part has positions; name their column by position=, pass "
            "RankingData(X, y, qid=…, position=…), or leave out propensity"
        )
    return [[train, *(_weighed(part, theta) for part in judging)] for train, *judging in folds]


def _weighed(part: CheckedInputs, theta: Floats) -> CheckedInputs:
    queries = part.queries
    if queries.position is None:
        return part
    check_propensities(queries.position, len(theta))
    of_row = theta[queries.position - 1]
    weighed = queries.labels * np.minimum(1.0 / of_row, MAX_WEIGHT)
    cut = of_row * MAX_WEIGHT < 1.0
    if cut.any():
        weighed[cut] += (1.0 - MAX_WEIGHT * of_row[cut]) * queries.labels[cut].sum() / of_row[cut].sum()
    return part._replace(queries=queries.replaced(labels_by_name={**queries.labels_by_name, IPS: weighed}))


def losses_on_clicks(folds: DataFolds, theta: Sequence[float]) -> dict[str, Loss] | None:
    """Return losses from clicks as labels to a complete correction of the position bias, by the names in the table.

    None if a training part has no positions. `theta` is by position, for all positions of the training parts.
    """
    for train, *_ in folds:
        if train.queries.position is None:
            return None
        check_propensities(train.queries.position, len(theta))
    return {
        "RankNet": RankNet(),
        **{f"Unbiased(ips, power={label(p)})": Unbiased(method="ips", propensity=theta, power=p) for p in _POWERS},
        **{f"Unbiased(additive, ridge={label(r)})": Unbiased(method="additive", ridge=r) for r in _RIDGES},
    }


def notes_on_clicks(folds: DataFolds, theta: Floats) -> list[str]:
    """Return a note on the weighed clicks of each part that has some; `theta` is by position."""
    notes = []
    for name, parts in _judging(folds):
        weighed = [(p.queries.labels, p.queries.position) for p in parts if p.queries.position is not None]
        if not weighed:
            continue
        labels, position = map(np.concatenate, zip(*weighed, strict=True))
        times, of_click = labels[labels > 0], theta[position[labels > 0] - 1]
        weight = np.minimum(1.0 / of_click, MAX_WEIGHT)
        cut = times[of_click * MAX_WEIGHT < 1.0].sum()
        more = f"; for {cut:,.0f} the mean of such positions makes up for the rest" if cut else ""
        notes.append(
            f"{name} holds {times.sum():,.0f} clicks. Each counts 1/propensity of its position, at most "
            f"{MAX_WEIGHT:g} (largest: {weight.max(initial=0.0):.3g}{more}). The metrics estimate what users would "
            "find, if the propensities are right."
        )
    return notes


def _judging(folds: DataFolds) -> list[tuple[str, tuple[CheckedInputs, ...]]]:
    """Return "valid" and "test", each with its parts of all folds."""
    return list(zip(PARTS, zip(*folds, strict=True), strict=True))[1:]


def metric_of_clicks(metric: Metric) -> Metric | None:
    """Return the metric that weighed clicks estimate: DCG for NDCG, whose ideal is unknown; None for others."""
    if isinstance(metric, (NDCG, DCG)):
        return MetricOnLabel(DCG(metric.k, convention=metric.convention, gain="linear", ties=metric.ties), IPS)
    return metric if isinstance(metric, MetricOnLabel) else None


def shown_order(parts: Sequence[str]) -> str:
    """Return a warning that the labels of some parts favour the order that users saw, and what to pass."""
    named = " and ".join(parts)
    return (
        f"The labels of {named} come from lists that were shown (position), and favour the order there: what is in use "
        "looks better than it is, and a correction of the order cannot show its gain. Pass propensity= "
        "(--propensity 1,0.5,…), an array or what boostplug.clicks.propensity returns, or judge by parts without "
        "positions."
    )
