"""Values of a comparison's trainings: the plan, the methods, and the outcome of each run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.summary import Setting, Settings
from boostplug.comparison.training.trees import Trees
from boostplug.losses import Loss
from boostplug.metrics import Metric

Floats = NDArray[np.float64]

CUTOFFS = (1, 2, 3, 5, 10, 20, 50)
"""Cut-offs of the NDCG that each run keeps."""


@dataclass(frozen=True)
class Method:
    """An objective in a framework; a reference is the method with which the framework's other methods are compared."""

    name: str
    framework: str
    objective: Loss | str
    is_reference: bool = False


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """The outcome of one run: one method, one fold, one seed."""

    method: Method
    fold: int
    seed: int
    rounds: int = 0
    rounds_trained: int = 0
    seconds_per_round: float | None = None
    """None where others kept the processor busy."""
    validation: float = 0.0
    test: dict[str, float] = field(default_factory=dict)
    per_query: dict[str, Floats] = field(default_factory=dict)
    error: str | None = None
    tuned: Setting | None = None
    notes: tuple[str, ...] = ()
    validation_per_query: Floats | None = None
    curve: Floats | None = None
    """The metric on the validation part after each round."""
    gains: Floats | None = None
    """Gains of each feature's splits in the model at its best round; None if the framework has none."""
    cutoffs: Floats | None = None
    """NDCG on the test part at each of `CUTOFFS`; None where the grades allow none."""
    reliability: Floats | None = None
    """`bin_sums` of the test part, flattened; None if no metric judges probabilities."""
    position_bias: Floats | None = None
    """Click probability by position on the validation part, relative to the first; None for other losses."""
    seconds: float | None = None
    """Seconds of the complete training, with the metric after each round."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Settings that all runs of a comparison share."""

    metric: Metric
    metrics: Sequence[Metric]
    trees: Trees
    rounds: int
    patience: int | None
    num_threads: int
    tune: int
    seeds: Sequence[int]
    choosing: Metric | None = None
    """Of the validation part, where it is another than `metric`: one of the two parts holds weighed clicks."""

    @property
    def valid_metric(self) -> Metric:
        """The metric that stops trainings and chooses methods."""
        return self.choosing or self.metric

    def settings(self, jobs: int, minutes: float | None) -> Settings:
        """Return the settings for the summary."""
        return Settings(
            metric=self.metric.name,
            validation_metric=self.valid_metric.name,
            metrics=[m.name for m in self.metrics],
            greater_is_better=self.metric.greater_is_better,
            lower_is_better=[m.name for m in self.metrics if not m.greater_is_better],
            seeds=list(self.seeds),
            rounds=self.rounds,
            early_stopping_rounds=self.patience,
            params=asdict(self.trees),
            tune=self.tune,
            num_threads=self.num_threads,
            jobs=jobs,
            minutes=minutes,
        )
