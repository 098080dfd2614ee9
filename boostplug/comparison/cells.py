"""`Method`, `RunOutcome`, `Runs`: what a comparison trains, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.summary import DataPart, Setting, Settings
from boostplug.comparison.training import Part
from boostplug.losses import Loss
from boostplug.metrics import Metric

__all__ = ["CUTOFFS", "Method", "Origin", "RunOutcome", "Runs"]

Floats = NDArray[np.float64]

CUTOFFS = (1, 2, 3, 5, 10, 20, 50)
"""Of the NDCG that is kept of each run."""


@dataclass(frozen=True)
class Method:
    """An objective in a framework; the reference is what the framework's other methods are compared with."""

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
    seconds_per_round: float = 0.0
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
    """Of each feature: the gains of its splits in the model at its best round; None where the framework has none."""
    cutoffs: Floats | None = None
    """NDCG on the test part at each of `CUTOFFS`; None where the grades allow none."""
    seconds: float | None = None
    """Of the whole training, with the metric after each round."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the data of a comparison come from, and what they are."""

    paths: Mapping[str, str] | None = None
    """By the options of ``boostplug compare``: data, or train, valid and test; empty for the bundled set; None where
    the data are no files."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What `compare` was told of DataFrames' columns."""
    parts: Sequence[DataPart] = ()
    """Each part of each fold, with a digest of its values."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What a comparison has trained, on what, and by which metrics."""

    methods: Sequence[Method]
    cells: Sequence[RunOutcome]
    tests: Sequence[Part]
    metric: Metric
    metrics: Sequence[Metric]
    settings: Settings
    origin: Origin
    codes: Sequence[NDArray[np.int64]] | None = None
    """For each fold a number for each test query: the same where it is the same query. None: all are different."""

    def finished(self, method: Method) -> dict[tuple[int, int], RunOutcome]:
        """Return the runs of a method that have not failed, by fold and seed."""
        return {(cell.fold, cell.seed): cell for cell in self.cells if cell.method == method and cell.error is None}

    def reference_of(self, method: Method) -> Method | None:
        """Return what a method is compared with: its framework's own LambdaMART, where that is among them."""
        return next((m for m in self.methods if m.is_reference and m.framework == method.framework), None)
