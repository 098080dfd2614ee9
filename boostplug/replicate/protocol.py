"""What a replication consists of, as data: fixed before anything is trained."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from boostplug.metrics import Metric
from boostplug.rankers import ReferenceRanker
from boostplug.replicate.claims import Claim
from boostplug.replicate.figures import Figure
from boostplug.replicate.preferences import Use
from boostplug.replicate.sources import Source

__all__ = ["Learner", "Measure", "Protocol", "Study"]


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
    use : Use, optional
        What it is given of the training part; default: all of it.
    """

    name: str
    ranker: type[ReferenceRanker]
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[Mapping[str, Any], ...] = ({},)
    use: Use | None = None


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
    """One data set of a paper: what is trained on it, and measured.

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
        Entries of `history_` to keep, by round.
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


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A paper: its studies, what it claims of them, and where ours differ.

    Attributes
    ----------
    name : str
        On the command line.
    paper : str
    studies : tuple of Study
        Those are run whose data the folder holds; without folder, those on the bundled set.
    claims : tuple of Claim
    deviations : tuple of str
        What differs from the paper, and why.
    figures : tuple of Figure
    seed : int
        Of every ranker.
    """

    name: str
    paper: str
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...]
    deviations: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    seed: int = 0
