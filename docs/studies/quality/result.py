"""The study's result as JSON: every figure that the pages show, and nothing that they do not."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.comparison.summary import to_json
from boostplug.losses import Loss, QBRank
from boostplug.replication.tables import rounded
from studies.quality.protocol import DEFAULTS, PARTS, PEERS, TWINS, StudyPart
from studies.quality.sets import SETS
from studies.quality.summary import (
    FLIPS,
    POOLED,
    Arm,
    Cells,
    against_peers,
    arms,
    candidates,
    chosen,
    peers_of,
    variants,
    with_holm,
)

__all__ = ["SCHEMA", "document"]

SCHEMA = "boostplug.quality/1"

_MEASURES = ("NDCG@10", "MAP", "PairError", "KendallTau")  # the places of a set's metrics


def document(cells: Cells, head: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return all of it in JSON's types.

    Parameters
    ----------
    cells : Cells
    head : dict
        Of the store, for the versions.
    folder : Path
        Holds the data sets, which are counted.
    """
    found = {
        "schema": SCHEMA,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": head["versions"],
        "sets": [_counted(name, folder) for name in SETS],
        "rows": [row for part in PARTS.values() for row in _rows(cells, part)],
        "pooled": [row for part in PARTS.values() for row in _pooled(cells, part)],
        "peers": [row for part in PARTS.values() for row in _default_beside_peers(cells, part)],
        "rule": _rule(cells),
        "twins": [*_twins(cells)],
        "variants": [
            vars(variant)
            | {"loss": variant.loss.name, "default": variant.default.name}
            | {"overall": vars(variant.overall), "takes_over": variant.takes_over}
            for variant in variants(cells)
        ],
    }
    return dict(to_json(rounded(found), finite=True))


def _counted(name: str, folder: Path) -> dict[str, Any]:
    data = SETS[name]
    tests = [data.load(folder, fold)[2] for fold in range(data.n_folds)]
    metric = data.metrics[0]
    defined = sum(
        int((~np.isnan(metric.per_query(np.zeros(test.queries.n_rows), test.queries))).sum()) for test in tests
    )
    whole = data.load(folder, 0)
    return {
        "name": name,
        "title": data.title,
        "metric": metric.name,
        "queries": sum(part.queries.n_queries for part in whole),
        "documents": sum(part.queries.n_rows for part in whole),
        "features": int(whole[0].X.shape[1]),
        "folds": data.n_folds,
        "seeds": data.n_seeds,
        "test_queries": defined,
    }


def _rows(cells: Cells, part: StudyPart) -> Iterator[dict[str, Any]]:
    """Yield each arm on each set: its means, and its difference to the framework's LambdaMART."""
    for framework in PEERS:
        for share in part.shares:
            found = arms(part, framework, share)
            for data in part.sets:
                reference = found[0] if found else None
                differences = with_holm(
                    {arm: cells.difference(arm, reference, data) for arm in found[1:] if reference is not None}
                )
                for arm in found:
                    if not cells.of(arm, data):
                        continue
                    yield {
                        **_named(arm),
                        "set": data,
                        "means": [cells.mean(arm, data, metric) for metric in SETS[data].metrics],
                        "rounds": float(np.mean([cell["rounds"] for _, cell in cells.of(arm, data)])),
                        "tuned": [cell["tuned"] for _, cell in cells.of(arm, data)] if part.tune else None,
                        "difference": vars(differences[arm]) if arm in differences else None,
                    }


def _pooled(cells: Cells, part: StudyPart) -> Iterator[dict[str, Any]]:
    """Yield each arm over the sets, beside the framework's LambdaMART, by each measure."""
    sets = [name for name in part.sets if name in POOLED]
    if len(sets) < 2:
        return
    for framework in PEERS:
        for share in part.shares:
            found = arms(part, framework, share)
            for arm in found[1:]:
                by_measure = {}
                for i, name in enumerate(_MEASURES):
                    one = cells.overall(arm, found[0], sets, metric=i, flips=1 if i else FLIPS)
                    if one is not None:  # of the other measures z alone is kept, not the p of a test of one flip
                        by_measure[name] = {k: v for k, v in vars(one).items() if not i or k not in {"p", "of_sets_p"}}
                if _MEASURES[0] in by_measure:
                    yield {**_named(arm), "reference": found[0].method.name, "by_measure": by_measure}


def _default_beside_peers(cells: Cells, part: StudyPart) -> Iterator[dict[str, Any]]:
    """Yield the default `QBRank` beside each peer on each set, its own framework's and CatBoost's."""
    for framework in ("lightgbm", "xgboost"):
        ours = [arm for arm in arms(part, framework) if arm.method.objective == QBRank()]
        for arm in ours if part.shares == (1.0,) else ():
            for of, peers in ((framework, peers_of(part, framework)), ("catboost", peers_of(part, "catboost"))):
                for (peer, data), difference in against_peers(cells, arm, peers).items():
                    row = {"part": part.name, "framework": framework, "peer": peer, "of": of, "set": data}
                    yield {**row, "difference": vars(difference)}


def _twins(cells: Cells) -> Iterator[dict[str, Any]]:
    """Yield those of our losses that are built in too, beside them."""
    by_objective = {arm.method.objective: arm for arm in arms(PARTS["24 leaves"], "lightgbm")}
    for built_in, ours in TWINS.items():
        if ours not in by_objective:
            continue
        overall = cells.overall(by_objective[ours], by_objective[built_in])
        if overall is not None:
            yield {"loss": ours.name, "built_in": built_in, "overall": vars(overall)}


def _rule(cells: Cells) -> dict[str, Any] | None:
    found = candidates(cells)
    if not found:
        return None
    return {
        "candidates": [
            {"loss": _settings(one.loss), "behind": one.behind, "overall": vars(one.overall)} for one in found
        ],
        "chosen": _settings(chosen(found).loss),
    }


def _settings(loss: Loss) -> str:
    assert isinstance(loss, QBRank)
    return f"QBRank({loss.preference_weight:g}, {loss.normalization})".replace("0.", ".")


def _named(arm: Arm) -> dict[str, Any]:
    objective = arm.method.objective
    return {
        "part": arm.part,
        "framework": arm.method.framework,
        "method": arm.method.name,
        "objective": repr(objective) if isinstance(objective, Loss) else objective,
        "share": arm.share,
        "plain": isinstance(objective, str) or objective in DEFAULTS,
    }
