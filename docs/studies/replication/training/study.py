"""A study as data, fixed before anything is trained: splits, learners and measures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from boostplug.datasets import RankingData
from boostplug.metrics import Metric
from boostplug.rankers import ReferenceRanker
from studies.sources import Source

PARTS = ("train", "vali", "test")


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A ranker with its parameters, and a grid of those chosen on the validation part.

    Attributes
    ----------
    name : str
    ranker : type
    params : mapping
    grid : tuple of mapping
        Candidates, each added to `params`; every measure uses the best candidate on validation.
    use : callable, optional
        Maps the training part to arguments of ``fit``, such as `Use`; default: the complete part.
    """

    name: str
    ranker: type[ReferenceRanker]
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[Mapping[str, Any], ...] = ({},)
    use: Callable[[RankingData], Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Measure:
    """A column of the results.

    Attributes
    ----------
    name : str
        Unique within `group`.
    metric : Metric
    chosen_by : Metric, optional
        Metric that chooses candidate and round on the validation part; default: `metric`.
    group : str
        Measures of a group share a table; its name is their convention in words.
    """

    name: str
    metric: Metric
    chosen_by: Metric | None = None
    group: str = ""

    @property
    def key(self) -> str:
        """The name, unique within a study."""
        return f"{self.name}, {self.group}" if self.group else self.name


@dataclass(frozen=True, kw_only=True)
class Study:
    """One data set of a paper, its learners and measures.

    Attributes
    ----------
    name : str
    source : Source
        Source of the splits: tasks (a user, a query, or the complete set), each in folds.
    rounds : int
        Largest number of rounds of every learner.
    learners : tuple of Learner
    measures : tuple of Measure
    traces : tuple of str
        Entries of `history_` to keep, by round; after `task.STEADY`, whether one has climbed steadily.
    published : mapping of str to mapping of str to float
        Published values by row (a learner of ours or another) and measure (its `key`).
    """

    name: str
    source: Source
    rounds: int
    learners: tuple[Learner, ...]
    measures: tuple[Measure, ...]
    traces: tuple[str, ...] = ()
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
