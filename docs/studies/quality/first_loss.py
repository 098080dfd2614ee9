"""Which loss the README names first: the rule of docs/results/protocol.md over trainings with five seeds.

``python -m studies.quality.first_loss CELLS RESULT.json PAGE.md`` adds up what `run` has kept, and fills the
tables of the page.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from boostplug.comparison.document import as_json, plain
from boostplug.comparison.significance import holm
from boostplug.comparison.training.store import head_of
from boostplug.core.files import write_file
from boostplug.losses import Loss
from boostplug.replication.tables import markdown, rounded
from studies.quality.protocol import FIVE_SEEDS, NAMED_FIRST, PARTS
from studies.quality.run import kept_cells
from studies.quality.sets import SETS
from studies.quality.summary import Arm, Cells, arms
from studies.tables import fill, with_interval

__all__ = ["Estimate", "document", "estimate", "tables"]

Floats = NDArray[np.float64]
Pair = tuple[Arm, Arm]

_MEASURES = {"NDCG@10": 0, "MAP": 1, "KendallTau": 3}  # the places of a set's metrics
_FRAMEWORKS = ("lightgbm", "xgboost")
_NORMAL = 1.96


@dataclass(frozen=True)
class Estimate:
    """A difference of two methods in the mean over seeds, with the noise of queries and that of seeds.

    Attributes
    ----------
    difference : float
    of_queries : float
        Standard error over queries, within folds of sets.
    of_seeds : float
        Standard error over seeds: their standard deviation over √n.
    n_queries : int
    """

    difference: float
    of_queries: float
    of_seeds: float
    n_queries: int

    @property
    def standard_error(self) -> float:
        """Of both together."""
        return sqrt(self.of_queries**2 + self.of_seeds**2)

    @property
    def z(self) -> float:
        """The difference in standard errors."""
        return self.difference / self.standard_error

    def told(self) -> dict[str, Any]:
        """Return what the page shows."""
        half = _NORMAL * self.standard_error
        interval = (self.difference - half, self.difference + half)
        return {**asdict(self), "z": self.z, "interval": interval}


def estimate(cells: Cells, pairs: Sequence[Pair], sets: Sequence[str], measure: int = 0) -> Estimate | None:
    """Return the mean over pairs of methods of how the first differs from the second; None where cells are missing.

    Every query of a pair counts the same, and every pair.
    """
    contributions: dict[tuple[str, int], Floats] = {}  # by set and fold: of each seed and query
    for ours, theirs in pairs:
        of_folds: dict[tuple[str, int], Floats] = {}
        for data in sets:
            a, b = (_values(cells, arm, data, measure) for arm in (ours, theirs))
            if not a or a.keys() != b.keys():
                return None
            of_folds |= {(data, fold): a[fold] - b[fold] for fold in a}
        n = sum(int(np.isfinite(found[0]).sum()) for found in of_folds.values())
        for key, found in of_folds.items():
            contributions[key] = contributions.get(key, 0.0) + found / (n * len(pairs))
    defined = {key: found[:, np.isfinite(found[0])] for key, found in contributions.items()}
    by_seed = np.sum([found.sum(axis=1) for found in defined.values()], axis=0)
    variance = sum(float(found.shape[1] * found.mean(axis=0).var(ddof=1)) for found in defined.values())
    return Estimate(
        difference=float(by_seed.mean()),
        of_queries=sqrt(variance),
        of_seeds=float(by_seed.std(ddof=1)) / sqrt(len(by_seed)),
        n_queries=sum(found.shape[1] for found in defined.values()),
    )


def _values(cells: Cells, arm: Arm, data: str, measure: int) -> dict[int, Floats]:
    """Return by fold a metric of each seed and test query."""
    metric = SETS[data].metrics[measure]
    found: dict[int, list[Floats]] = {}
    for job, cell in sorted(cells.of(arm, data), key=lambda pair: pair[0].seed):
        values = np.array(cell["per_query"][metric.name], dtype=np.float64)
        found.setdefault(job.fold, []).append(values if metric.greater_is_better else -values)
    return {fold: np.array(of_seeds) for fold, of_seeds in found.items()}


def document(cells: Cells) -> dict[str, Any] | None:
    """Return what the page shows of the five seeds; None where their cells are not whole."""
    rows = [row for loss in NAMED_FIRST if (row := _of_loss(cells, loss)) is not None]
    if len(rows) < len(NAMED_FIRST):
        return None
    least = min(len(row["behind"]) for row in rows)
    left = [row for row in rows if len(row["behind"]) == least]
    best = max(left, key=lambda row: row["overall"]["difference"])
    for row in rows:
        beside = None if row is best else estimate(cells, _beside(best["loss"], row["loss"]), _sets(FIVE_SEEDS[0]))
        row["to_best"] = None if beside is None else beside.told()
        row["tied"] = row in left and (beside is None or beside.difference < beside.standard_error)
    return {"losses": rows, "best": best["loss"], "regression": _regression(cells)}


def _of_loss(cells: Cells, loss: Loss) -> dict[str, Any] | None:
    places, behind = [], []
    for part in FIVE_SEEDS:
        for framework in _FRAMEWORKS:
            for data in _sets(part):
                found = estimate(cells, [_pair(part, framework, loss)], [data])
                if found is None:
                    return None
                places.append({"part": part, "framework": framework, "set": data} | found.told())
    for place, p in zip(places, holm([2.0 * float(norm.sf(abs(place["z"]))) for place in places]), strict=True):
        place["p_holm"] = float(p)
        if place["difference"] < 0.0 and p < 0.05:
            behind.append(f"{place['framework']}, {place['part']}, {place['set']}")
    sets = _sets(FIVE_SEEDS[0])
    settings = {(part, framework): [_pair(part, framework, loss)] for part in FIVE_SEEDS for framework in _FRAMEWORKS}
    pooled = {
        **{f"{framework}, {part}": pairs for (part, framework), pairs in settings.items()},
        **{framework: [_pair(part, framework, loss) for part in FIVE_SEEDS] for framework in _FRAMEWORKS},
        "all": [pair for pairs in settings.values() for pair in pairs],
    }
    told = {
        name: {measure: _told(cells, pairs, sets, place) for measure, place in _MEASURES.items()}
        for name, pairs in pooled.items()
    }
    return {
        "loss": loss.name,
        "behind": behind,
        "places": places,
        "pooled": told,
        "overall": told["all"]["NDCG@10"],
        "rounds_to_best": _rounds_to_best(cells, loss),
    }


def _told(cells: Cells, pairs: Sequence[Pair], sets: Sequence[str], measure: int) -> dict[str, Any]:
    found = estimate(cells, pairs, sets, measure)
    assert found is not None  # the first measure had its cells
    return found.told()


def _rounds_to_best(cells: Cells, loss: Loss) -> dict[str, float]:
    """Return by set the rounds until lambdarank's best validation value over lambdarank's, geometric mean over cells.

    All rounds, of a training that does not reach it.
    """
    found = {}
    for data in _sets(FIVE_SEEDS[0]):
        ours, theirs = (cells.of(arm, data) for arm in _pair(FIVE_SEEDS[0], "lightgbm", loss))
        by_place = {(job.fold, job.seed): cell for job, cell in theirs}
        shares = []
        for job, cell in ours:
            reference = by_place[job.fold, job.seed]
            reached = np.flatnonzero(np.array(cell["curve"]) >= max(reference["curve"]))
            rounds = int(reached[0]) + 1 if len(reached) else len(cell["curve"])
            shares.append(np.log(rounds / (int(np.argmax(reference["curve"])) + 1)))
        found[data] = float(np.exp(np.mean(shares)))
    return found


def _regression(cells: Cells) -> dict[str, Any] | None:
    """Return how regression differs from lambdarank in LightGBM, with the larger trees."""
    found = arms(PARTS[FIVE_SEEDS[0]], "lightgbm")
    result = estimate(cells, [(found[1], found[0])], _sets(FIVE_SEEDS[0]))
    return None if result is None else result.told()


def _beside(best: str, other: str) -> list[Pair]:
    """Return the pairs of two losses in the four settings."""
    named = {loss.name: loss for loss in NAMED_FIRST}
    return [
        (_pair(part, framework, named[best])[0], _pair(part, framework, named[other])[0])
        for part in FIVE_SEEDS
        for framework in _FRAMEWORKS
    ]


def _pair(part: str, framework: str, loss: Loss) -> Pair:
    """Return a loss and its framework's LambdaMART."""
    found = arms(PARTS[part], framework)
    return next(arm for arm in found if arm.method.objective == loss), found[0]


def _sets(part: str) -> tuple[str, ...]:
    return PARTS[part].sets


def tables(found: dict[str, Any]) -> dict[str, list[str]]:
    """Return the lines of each table of the page, by the name that the page marks."""
    titles = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
    settings = [f"{framework}, {part}" for framework in _FRAMEWORKS for part in FIVE_SEEDS]
    rule = [
        [
            f"**{row['loss']}**" if row["loss"] == found["best"] else row["loss"],
            _interval(row["overall"]),
            f"{row['overall']['z']:.1f}",
            *(_interval(row["pooled"][setting]["NDCG@10"]) for setting in settings),
            "; ".join(row["behind"]) or "nowhere",
            "–" if row["to_best"] is None else _interval(row["to_best"]),
            "yes" if row["tied"] else "no",
        ]
        for row in found["losses"]
    ]
    of_settings = [
        f"{titles[framework]}, {part.removeprefix('five seeds, ')}" for framework in _FRAMEWORKS for part in FIVE_SEEDS
    ]
    head = ["loss", "mean of four settings", "z", *of_settings, "significantly behind", "the first, beside it", "tied"]
    measures = [
        [row["loss"], titles[framework], *(_interval(row["pooled"][framework][name]) for name in _MEASURES)]
        for row in found["losses"]
        for framework in _FRAMEWORKS
    ]
    names = _sets(FIVE_SEEDS[0])
    of_sets = [
        [row["loss"], label, *(_interval(place) for place in row["places"] if _is_of(place, setting))]
        for row in found["losses"]
        for setting, label in zip(settings, of_settings, strict=True)
    ]
    rounds = [
        [row["loss"], *(f"{row['rounds_to_best'][name]:.2f}" for name in names), f"{_mean(row['rounds_to_best']):.2f}"]
        for row in found["losses"]
    ]
    set_titles = [SETS[name].title for name in names]
    return {
        "rule": markdown(head, rule),
        "measures": markdown(["loss", "in", "NDCG@10", "MAP", "Kendall's τ"], measures),
        "sets": markdown(["loss", "trees", *set_titles], of_sets),
        "rounds": markdown(["loss", *set_titles, "geometric mean"], rounds, numbers=True),
        "regression": markdown(
            ["regression beside lambdarank, 31 leaves", "z"],
            [[_interval(found["regression"]), f"{found['regression']['z']:.1f}"]],
        ),
        "versions": [", ".join(f"{name} {number}" for name, number in found["versions"].items()) + ".", ""],
    }


def _is_of(place: dict[str, Any], setting: str) -> bool:
    return f"{place['framework']}, {place['part']}" == setting


def _mean(shares: dict[str, float]) -> float:
    return float(np.exp(np.mean(np.log(list(shares.values())))))


def _interval(told: dict[str, Any]) -> str:
    return with_interval(told["difference"], told["interval"], p_holm=told.get("p_holm"))


def main(store: str, result: str, page: str) -> None:
    """Add up a store's cells, write the result, and fill a page."""
    found, head = document(Cells(kept_cells(Path(store)))), head_of(Path(store))
    if found is None or head is None:
        raise SystemExit(f"{store} does not hold all cells of {' and '.join(FIVE_SEEDS)}; run them first")
    found["versions"] = {name: number for name, number in head["versions"].items() if number}
    found = plain(rounded(found))
    write_file(Path(result), as_json(found))
    fill(Path(page), tables(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
