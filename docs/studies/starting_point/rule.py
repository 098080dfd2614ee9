"""The rule that chooses a setting, and the differences that it reads."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from boostplug.comparison.significance import holm
from studies.starting_point.trainings import DATA_SETS, DEFAULT, FOLDS, LOSSES, SEEDS, SETTINGS, Job

__all__ = ["Arm", "Estimate", "chosen", "difference", "estimate", "gain", "p_of_sets", "settings_of", "survives"]

Floats = NDArray[np.float64]
Gaps = Mapping[str, list[list[Floats]]]

_LEAST_Z = 2.77  # two-sided .05 over nine settings
_SIGNIFICANT_Z = 1.96


class Arm(NamedTuple):
    """A method with a setting of the trees."""

    framework: str
    setting: str
    method: str


class Estimate(NamedTuple):
    """A mean difference and its standard error."""

    mean: float
    error: float

    @property
    def z(self) -> float:
        """The mean in standard errors; 0 without any difference."""
        return self.mean / self.error if self.error > 0.0 else 0.0


def estimate(gaps: Gaps) -> Estimate:
    """Return the pooled mean of differences by set, fold and seed, and its standard error over queries and seeds.

    Every query counts the same, as the mean of its seeds.
    """
    of_folds = [np.array(seeds) for folds in gaps.values() for seeds in folds]
    of_folds = [one[:, np.isfinite(one).all(axis=0)] for one in of_folds]  # queries that have a relevant document
    of_query = [one.mean(axis=0) for one in of_folds]
    pooled, by_seed = np.concatenate(of_query), np.concatenate(of_folds, axis=1).mean(axis=1)
    of_queries = sum(float(((one - one.mean()) ** 2).sum()) for one in of_query) / len(pooled) ** 2
    of_seeds = float(by_seed.var(ddof=1)) / len(by_seed) if len(by_seed) > 1 else 0.0
    return Estimate(float(pooled.mean()), float(np.sqrt(of_queries + of_seeds)))


def difference(stage: str, found: Mapping[Job, Any], ours: Arm, theirs: Arm) -> Gaps:
    """Return NDCG@10 of one arm minus that of another, of each query, by set, fold and seed.

    The seeds are those that both were trained with.
    """
    seeds = [seed for seed in SEEDS[stage] if all(_is_trained(stage, found, arm, seed) for arm in (ours, theirs))]

    def values(arm: Arm, data: str, fold: int, seed: int) -> Floats:
        of_query: Floats = found[Job(data, fold, seed, arm.framework, arm.setting)][arm.method]["values"]
        return of_query

    return {
        data: [
            [values(ours, data, fold, seed) - values(theirs, data, fold, seed) for seed in seeds]
            for fold in FOLDS[stage]
        ]
        for data in DATA_SETS
    }


def _is_trained(stage: str, found: Mapping[Job, Any], arm: Arm, seed: int) -> bool:
    jobs = (Job(data, fold, seed, arm.framework, arm.setting) for data in DATA_SETS for fold in FOLDS[stage])
    return all(job in found for job in jobs)


def _mean(gaps: Iterable[Gaps]) -> Gaps:
    """Return the mean of several differences, query by query."""
    listed = [*gaps]
    return {
        data: [
            [np.mean([one[data][f][s] for one in listed], axis=0) for s in range(len(listed[0][data][f]))]
            for f in range(len(listed[0][data]))
        ]
        for data in listed[0]
    }


def gain(stage: str, found: Mapping[Job, Any], framework: str, setting: str, base: str = DEFAULT) -> Gaps:
    """Return how far a setting is ahead of another: the mean over `QBRank` and `CRR`."""
    return _mean(difference(stage, found, Arm(framework, setting, name), Arm(framework, base, name)) for name in LOSSES)


def chosen(gains: Mapping[str, Estimate]) -> str | None:
    """Return the setting that the rule takes after the screening; None if none qualifies."""
    qualified = {name: one.mean for name, one in gains.items() if one.z >= _LEAST_Z}
    return max(qualified, key=qualified.__getitem__) if qualified else None


def p_of_sets(of_sets: Mapping[str, Estimate]) -> dict[str, float]:
    """Return the p-value of each set's difference, after Holm's correction over the sets."""
    p = holm([2.0 * float(norm.sf(abs(one.z))) for one in of_sets.values()])
    return dict(zip(of_sets, p.tolist(), strict=True))


def survives(gaps: Gaps) -> bool:
    """Return whether a setting is confirmed: significantly ahead when pooled, and significantly behind on no set."""
    of_sets = {data: estimate({data: folds}) for data, folds in gaps.items()}
    p = p_of_sets(of_sets)
    behind = any(one.mean < 0.0 and p[data] < 0.05 for data, one in of_sets.items())
    return estimate(gaps).z >= _SIGNIFICANT_Z and not behind


def settings_of(framework: str) -> list[str]:
    """Return the settings beside the default."""
    return [setting for setting in SETTINGS[framework] if setting != DEFAULT]
