"""What the runs of a comparison are given: the plan that all share, and a setting of each method's own."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from boostplug.comparison.training.trees import Trees
from boostplug.losses import Loss
from boostplug.metrics import Metric


@dataclass(frozen=True, eq=False)
class TrainingPlan:
    """Settings that all runs of a comparison share."""

    metric: Metric
    valid_metric: Metric
    """Stops trainings and chooses methods; another than `metric` where one of the two parts holds weighed clicks."""
    metrics: Sequence[Metric]
    trees: Trees
    rounds: int
    patience: int | None
    num_threads: int
    tune: int
    seeds: Sequence[int]
    about_trees: str = ""
    """What the trees follow from."""


@dataclass(frozen=True)
class Setting:
    """A setting of a method: its objective, and parameters of the framework that replace those of the trees.

    `failed` is the number of other settings whose training failed; `failure` is the first one's reason.
    """

    objective: Loss | str
    parameters: dict[str, Any] = field(default_factory=dict)
    failed: int = 0
    failure: str = ""
