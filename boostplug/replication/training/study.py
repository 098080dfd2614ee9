"""A study as data, fixed before anything is trained: splits, learners and measures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from boostplug.datasets import RankingData
from boostplug.metrics import Metric
from boostplug.rankers import ReferenceRanker
from boostplug.replication.sources import Source

PARTS = ("train", "vali", "test")


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A ranker with its parameters, and those to be chosen on the validation part.

    Attributes
    ----------
    name : str
    ranker : type
    params : mapping
    grid : tuple of mapping
        Candidates, each added to `params`; every measure takes the one that is best on validation.
    use : callable, optional
        Returns the arguments of ``fit`` that the training part becomes, such as `Use`; default: all of it.
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
        What picks candidate and round on the validation part; default: `metric`.
    group : str
        Measures of a group share a table; its convention in words.
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
        Where the splits come from: tasks (a user, a query, or the whole set), each in folds.
    rounds : int
        Of every learner, at most.
    learners : tuple of Learner
    measures : tuple of Measure
    traces : tuple of str
        Entries of `history_` to keep, by round; after `task.STEADY`, whether one has climbed steadily.
    published : mapping of str to mapping of str to float
        By row (a learner of ours or another) and measure (its `key`).
    """

    name: str
    source: Source
    rounds: int
    learners: tuple[Learner, ...]
    measures: tuple[Measure, ...]
    traces: tuple[str, ...] = ()
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
