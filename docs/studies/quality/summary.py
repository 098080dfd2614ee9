"""Summary of the study's cells: differences, pooled tests, and the choices by docs/results/protocol.md.

The rules look at nothing but the finished cells, so whoever has these gets the same answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.significance import holm, pooled_test, randomisation_test
from boostplug.comparison.training.runs import Method
from boostplug.losses import Loss, QBRank
from boostplug.metrics import Metric
from studies.bootstrap import bootstrap_interval
from studies.quality.protocol import BEFORE, PARTS, PEERS, QBRANKS, Job, StudyPart, jobs_of
from studies.quality.sets import SETS
from studies.tables import difference

__all__ = [
    "FLIPS",
    "POOLED",
    "Arm",
    "Candidate",
    "Cells",
    "Difference",
    "Overall",
    "Variant",
    "against_peers",
    "arms",
    "averaged",
    "candidates",
    "chosen",
    "peers_of",
    "variants",
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

    def difference(self, ours: Arm, theirs: Arm, data: str) -> Difference | None:
        """Return how two arms differ on a set; None where cells are missing."""
        a, b = self.per_query(ours, data), self.per_query(theirs, data)
        if a is None or b is None:
            return None
        mean, interval = difference(a, b)
        p = randomisation_test(np.concatenate(a), np.concatenate(b), flips=FLIPS)
        return Difference(difference=mean, interval=interval, p=p)

    def overall(
        self, ours: Arm, theirs: Arm, sets: Sequence[str] = POOLED, metric: int = 0, flips: int = FLIPS
    ) -> Overall | None:
        """Return how two arms differ over sets on which both are whole; None where there is none.

        `metric` is the place among a set's metrics.
        """
        return averaged(self, [(ours, theirs)], sets, metric, flips)


def _overall(both: Mapping[str, tuple[Floats, Floats]], flips: int) -> Overall:
    a, b = zip(*both.values(), strict=True)
    gaps = [x - y for x, y in both.values()]
    strata = np.repeat(np.arange(len(gaps)), [len(gap) for gap in gaps])
    interval = bootstrap_interval(np.concatenate(gaps), strata=strata, n_resamples=_RESAMPLES)
    queries = pooled_test(a, b, flips=flips)._replace(interval=interval)
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


_SETTINGS = tuple((part, framework) for part in ("24 leaves", "8 leaves") for framework in ("lightgbm", "xgboost"))


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A candidate, and how it does beside its frameworks' LambdaMART in the mean of the settings.

    Attributes
    ----------
    loss : Loss
    behind : tuple of str
        The places where it is significantly behind a peer: ``"xgboost, 24 leaves, nfcorpus: rank:ndcg"``.
    overall : Overall
    """

    loss: Loss
    behind: tuple[str, ...]
    overall: Overall


def candidates(cells: Cells, losses: Sequence[Loss] = QBRANKS) -> list[Candidate]:
    """Return the candidates whose cells are whole, in the order of the protocol."""
    found = []
    for loss in losses:
        pairs, behind = [], []
        for name, framework in _SETTINGS:
            part = PARTS[name]
            ours = next(arm for arm in arms(part, framework) if arm.method.objective == loss)
            peers = peers_of(part, framework)
            pairs.append((ours, peers[0]))
            behind += [
                f"{framework}, {name}, {data}: {peer}"
                for (peer, data), difference in against_peers(cells, ours, peers).items()
                if difference.is_behind
            ]
        overall = averaged(cells, pairs)
        if overall is not None:
            found.append(Candidate(loss=loss, behind=tuple(behind), overall=overall))
    return found


def chosen(found: Sequence[Candidate]) -> Candidate:
    """Return the one that the rule picks."""
    least = min(len(candidate.behind) for candidate in found)
    left = [candidate for candidate in found if len(candidate.behind) == least]
    best = max(left, key=lambda candidate: candidate.overall.difference)
    close = [
        candidate
        for candidate in left
        if best.overall.difference - candidate.overall.difference < candidate.overall.standard_error
    ]
    return min(close, key=_distance_from_the_middle)


def _distance_from_the_middle(candidate: Candidate) -> tuple[float, bool, float]:
    loss = candidate.loss
    assert isinstance(loss, QBRank)
    return round(abs(loss.preference_weight - 0.5), 9), loss.normalization != "none", -candidate.overall.difference


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A variant of a loss beside today's default, in the mean of the settings that have both.

    Attributes
    ----------
    overall : Overall
    p_holm : float
        Over the variants of its loss.
    of_settings : tuple of float
        The pooled difference in each.
    """

    loss: Loss
    default: Loss
    overall: Overall
    p_holm: float
    of_settings: tuple[float, ...]

    @property
    def takes_over(self) -> bool:
        """Whether the rule makes it the default."""
        return min(self.of_settings) > 0 and self.p_holm < 0.01


def variants(cells: Cells) -> list[Variant]:
    """Return the variants of the losses that had a default before, where their cells are whole."""
    found: dict[type[Loss], list[Variant]] = {}
    for default in BEFORE:
        for loss in PARTS["24 leaves"].losses:
            if type(loss) is not type(default) or loss == default:
                continue
            frameworks = ("lightgbm", "xgboost")
            pairs = [(_arm(framework, loss), _arm(framework, default)) for framework in frameworks]
            overall, each = averaged(cells, pairs), [cells.overall(*pair) for pair in pairs]
            if overall is not None:
                of_settings = tuple(one.difference for one in each if one is not None)
                variant = Variant(loss=loss, default=default, overall=overall, p_holm=np.nan, of_settings=of_settings)
                found.setdefault(type(loss), []).append(variant)
    return [
        replace(variant, p_holm=float(p))
        for of_loss in found.values()
        for variant, p in zip(of_loss, holm([variant.overall.p for variant in of_loss]), strict=True)
    ]


def _arm(framework: str, loss: Loss) -> Arm:
    return next(arm for arm in arms(PARTS["24 leaves"], framework) if arm.method.objective == loss)
