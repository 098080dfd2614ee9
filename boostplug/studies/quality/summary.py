"""What the study's cells add up to: differences with intervals, pooled tests, and what the protocol's rule picks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.significance import bootstrap_interval, holm, pooled_test, randomisation_test
from boostplug.comparison.training.runs import Method
from boostplug.metrics import Metric
from boostplug.studies.quality.protocol import PARTS, PEERS, Job, StudyPart, jobs_of
from boostplug.studies.quality.sets import SETS

__all__ = [
    "FLIPS",
    "POOLED",
    "Arm",
    "Cells",
    "Difference",
    "Overall",
    "against_peers",
    "arms",
    "averaged",
    "peers_of",
    "with_holm",
]

Floats = NDArray[np.float64]

FLIPS, _RESAMPLES = 10_000, 2_000
POOLED = tuple(name for name, data in SETS.items() if data.pooled)


@dataclass(frozen=True)
class Arm:
    """A method with one size of trees: what is compared.

    Attributes
    ----------
    part : str
        Of the study.
    method : Method
    share : float
        Of the training queries.
    """

    part: str
    method: Method
    share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How one arm differs from another on one set."""

    difference: float
    interval: tuple[float, float]
    p: float
    p_holm: float | None = None

    @property
    def is_behind(self) -> bool:
        """Whether it is behind, significantly."""
        return self.difference < 0 and self.p_holm is not None and self.p_holm < 0.05


@dataclass(frozen=True, kw_only=True)
class Overall:
    """How one arm differs from another over all sets: every query the same, and every set the same."""

    difference: float
    z: float
    p: float
    interval: tuple[float, float]
    n_queries: int
    of_sets: float
    of_sets_p: float
    ahead_on: int
    n_sets: int
    worst_set: str
    worst_z: float

    @property
    def standard_error(self) -> float:
        """Of the difference."""
        return abs(self.difference / self.z) if self.z else 0.0


class Cells:
    """The kept cells, by what they are of.

    Parameters
    ----------
    kept : mapping of str to dict
        As `run` keeps them, by the keys of jobs.
    """

    def __init__(self, kept: Mapping[str, Mapping[str, Any]]) -> None:
        self._kept = kept
        self._values: dict[tuple[Any, ...], list[Floats] | None] = {}
        self._jobs: dict[tuple[Arm, str], list[Job]] = {}
        for part in PARTS.values():
            for job in jobs_of(part):
                self._jobs.setdefault((Arm(part.name, job.method, job.share), job.data), []).append(job)

    def of(self, arm: Arm, data: str) -> list[tuple[Job, Mapping[str, Any]]]:
        """Return the finished cells of an arm on a set; none where one of them is missing or failed."""
        jobs = self._jobs.get((arm, data), [])
        found = [(job, self._kept[job.key]) for job in jobs if job.key in self._kept]
        whole = len(found) == len(jobs) and all(cell["error"] is None for _, cell in found)
        return found if whole else []

    def per_query(self, arm: Arm, data: str, metric: Metric | None = None) -> list[Floats] | None:
        """Return a metric of each fold's test queries, averaged over seeds; None where cells are missing.

        Higher is better: metrics of which lower is better are turned around. Default: the set's first.
        """
        metric = metric or SETS[data].metrics[0]
        key = (arm, data, metric.name)
        if key not in self._values:
            by_fold: dict[int, list[Floats]] = {}
            for job, cell in self.of(arm, data):
                by_fold.setdefault(job.fold, []).append(np.array(cell["per_query"][metric.name], dtype=np.float64))
            sign = 1.0 if metric.greater_is_better else -1.0
            self._values[key] = [sign * np.mean(values, axis=0) for _, values in sorted(by_fold.items())] or None
        return self._values[key]

    def mean(self, arm: Arm, data: str, metric: Metric | None = None) -> float | None:
        """Return the mean over all test queries on which the metric is defined, every query the same."""
        values = self.per_query(arm, data, metric)
        return None if values is None else float(np.nanmean(np.concatenate(values)))

    def difference(self, ours: Arm, theirs: Arm, data: str, metric: Metric | None = None) -> Difference | None:
        """Return how two arms differ on a set; None where cells are missing."""
        a, b = self.per_query(ours, data, metric), self.per_query(theirs, data, metric)
        if a is None or b is None:
            return None
        folds = np.repeat(np.arange(len(a)), [len(values) for values in a])
        x, y = np.concatenate(a), np.concatenate(b)
        return Difference(
            difference=float(np.nanmean(x - y)),
            interval=bootstrap_interval(x - y, strata=folds),
            p=randomisation_test(x, y, flips=FLIPS),
        )

    def overall(
        self, ours: Arm, theirs: Arm, sets: Sequence[str] = POOLED, metric: int = 0, flips: int = FLIPS
    ) -> Overall | None:
        """Return how two arms differ over sets on which both are whole; None where there is none.

        `metric` is the place among a set's metrics.
        """
        return averaged(self, [(ours, theirs)], sets, metric, flips)


def _overall(both: Mapping[str, tuple[Floats, Floats]], flips: int) -> Overall:
    a, b = zip(*both.values(), strict=True)
    queries = pooled_test(a, b, interval="bca", flips=flips, n_resamples=_RESAMPLES)
    sets = pooled_test(a, b, counts="sets", flips=flips)
    of_each = {data: pooled_test([x], [y], flips=1) for data, (x, y) in both.items()}
    worst = min(of_each, key=lambda data: of_each[data].z)
    return Overall(
        **queries._asdict(),
        of_sets=sets.difference,
        of_sets_p=sets.p,
        ahead_on=sum(found.difference > 0 for found in of_each.values()),
        n_sets=len(of_each),
        worst_set=worst,
        worst_z=of_each[worst].z,
    )


def averaged(
    cells: Cells, pairs: Sequence[tuple[Arm, Arm]], sets: Sequence[str] = POOLED, metric: int = 0, flips: int = FLIPS
) -> Overall | None:
    """Return how arms differ from others over sets, the mean of several pairs of them on the same queries."""
    both = {}
    for data in sets:
        of = SETS[data].metrics[metric]
        found = [(cells.per_query(ours, data, of), cells.per_query(theirs, data, of)) for ours, theirs in pairs]
        whole = [(np.concatenate(a), np.concatenate(b)) for a, b in found if a is not None and b is not None]
        if len(whole) == len(pairs):
            x, y = (np.mean(side, axis=0) for side in zip(*whole, strict=True))
            both[data] = (x, y)
    return _overall(both, flips) if both else None


def with_holm(found: Mapping[Any, Difference | None]) -> dict[Any, Difference]:
    """Return the differences that there are, with p-values corrected over all of them."""
    there = {key: difference for key, difference in found.items() if difference is not None}
    corrected = holm([difference.p for difference in there.values()])
    return {
        key: replace(difference, p_holm=float(p)) for (key, difference), p in zip(there.items(), corrected, strict=True)
    }


def against_peers(cells: Cells, ours: Arm, peers: Sequence[Arm]) -> dict[tuple[str, str], Difference]:
    """Return how an arm differs from each peer on each set, by peer's name and set, corrected over all of them."""
    return with_holm({(peer.method.name, data): cells.difference(ours, peer, data) for peer in peers for data in SETS})


def arms(part: StudyPart, framework: str, share: float = 1.0) -> list[Arm]:
    """Return the arms of a part in a framework, the built-in ones first."""
    return [Arm(part.name, method, share) for method in part.methods(framework)]


def peers_of(part: StudyPart, framework: str) -> list[Arm]:
    """Return the built-in ones."""
    return [arm for arm in arms(part, framework) if arm.method.name in PEERS[framework]]
