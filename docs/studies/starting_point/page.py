"""The page of the study: its figures as JSON, and its tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from boostplug.replication.tables import markdown
from studies.quality.sets import SETS
from studies.starting_point.rule import Arm, Estimate, difference, estimate, gain, p_of_sets, settings_of
from studies.starting_point.trainings import (
    CATBOOST,
    DATA_SETS,
    DEFAULT,
    FOLDS,
    LAMBDAMART,
    LOSSES,
    OF_COMPARE,
    SEEDS,
    SETTINGS,
    Job,
)
from studies.tables import FRAMEWORK_TITLES, decimals, with_interval

__all__ = ["arms", "of_compare", "of_confirmation", "of_screening", "tables"]

Gaps = Mapping[str, Any]
Row = dict[str, Any]

_PEERS = (
    *(Arm(framework, DEFAULT, "LambdaMART") for framework in LAMBDAMART),
    *(Arm("catboost", DEFAULT, name) for name in CATBOOST),
)
_BOTH = "mean of both losses"


def _row(gaps: Gaps, **about: Any) -> Row:
    """Return the pooled difference and that on each set, as means and standard errors."""
    of_sets = {data: [*estimate({data: folds})] for data, folds in gaps.items()}
    return {**about, "pooled": [*estimate(gaps)], "sets": of_sets}


def _means(found: Mapping[Job, Any], arm: Arm) -> dict[str, float]:
    """Return the mean NDCG@10 of an arm on each set."""
    values: dict[str, list[float]] = {}
    for job, outcomes in found.items():
        if (job.framework, job.setting) == (arm.framework, arm.setting):
            values.setdefault(job.data, []).append(float(np.nanmean(outcomes[arm.method]["values"])))
    return {data: float(np.mean(own)) for data, own in values.items()}


def _settings(
    stage: str, found: Mapping[Job, Any], settings: Mapping[str, Iterable[str]], base: str = DEFAULT
) -> list[Row]:
    """Return how far each setting is ahead of `base`, for each method and the mean of our two losses."""
    rows = []
    for framework, names in settings.items():
        for setting in names:
            for method in ("LambdaMART", *LOSSES):
                gaps = difference(stage, found, Arm(framework, setting, method), Arm(framework, base, method))
                rows.append(_row(gaps, framework=framework, setting=setting, method=method))
            gaps = gain(stage, found, framework, setting, base)
            rows.append(_row(gaps, framework=framework, setting=setting, method=_BOTH))
    return rows


def arms(taken: Mapping[str, str | None]) -> list[Arm]:
    """Return what the confirmation trains: defaults, the chosen settings, CatBoost."""
    ours = [
        Arm(framework, setting, method)
        for framework, chosen in taken.items()
        for setting in dict.fromkeys((DEFAULT, chosen or DEFAULT))
        for method in ("LambdaMART", *LOSSES)
    ]
    return [*ours, *(Arm("catboost", DEFAULT, name) for name in CATBOOST)]


def of_screening(found: Mapping[Job, Any]) -> list[Row]:
    """Return how far all settings are ahead of the defaults on the folds of the screening."""
    return _settings("screen", found, {framework: settings_of(framework) for framework in SETTINGS})


def of_confirmation(found: Mapping[Job, Any], taken: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the figures of the confirmation."""
    listed = arms(taken)
    return {
        "confirm": _settings("confirm", found, {name: [setting] for name, setting in taken.items() if setting}),
        "beside": [
            _row(difference("confirm", found, arm, peer), arm=[*arm], beside=[*peer])
            for arm in listed
            for peer in _PEERS
            if arm != peer
        ],
        "NDCG@10": [{"arm": [*arm], "sets": _means(found, arm)} for arm in listed],
        "rounds": [{"arm": [*arm], "sets": _rounds(found, arm)} for arm in listed],
    }


def of_compare(found: Mapping[Job, Any]) -> list[Row]:
    """Return how far the setting is ahead of the trees of `compare` as they are."""
    base, setting = OF_COMPARE
    return _settings("confirm", found, {"xgboost": [setting]}, base)


def _rounds(found: Mapping[Job, Any], arm: Arm) -> dict[str, int]:
    """Return an arm's best round on each set, on the first fold of the confirmation with the first seed."""
    fold, seed = FOLDS["confirm"][0], SEEDS["confirm"][0]
    return {data: found[Job(data, fold, seed, arm.framework, arm.setting)][arm.method]["rounds"] for data in DATA_SETS}


def tables(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the tables of the page by name."""
    made: dict[str, list[str]] = {}
    for framework in SETTINGS:
        own = [row for row in found["screen"] if row["framework"] == framework]
        made[f"screen, {framework}"] = _pooled_settings(own)
        made[f"screen on sets, {framework}"] = _on_sets(_by_setting(own))
    if "confirm" in found:
        made |= {
            "confirm": _pooled_settings(found["confirm"]),
            "confirm on sets": _on_sets(_by_setting(found["confirm"])),
            "peers": _beside(found["beside"]),
            "NDCG@10": markdown(
                ["", *(SETS[data].title for data in DATA_SETS)],
                [[_name(row["arm"]), *(decimals(row["sets"][data]) for data in DATA_SETS)] for row in found["NDCG@10"]],
                numbers=True,
            ),
        }
        for peer in (*CATBOOST, "LambdaMART"):
            made[f"sets beside {peer}"] = _on_sets(_beside_peer(found["beside"], peer))
    if "compare" in found:
        made["compare"] = _pooled_settings(found["compare"])
        made["compare on sets"] = _on_sets(_by_setting(found["compare"]))
    if "times" in found:
        made["times"] = _times(found["times"])
    if "curves" in found:
        made["curves"] = _curves(found["curves"])
    return made


def _interval(values: Sequence[float], *, p_holm: float | None = None) -> str:
    mean, error = values
    return with_interval(mean, (mean - 1.96 * error, mean + 1.96 * error), p_holm=p_holm)


def _z(values: Sequence[float]) -> str:
    return decimals(Estimate(*values).z, 1, "+")


def _name(arm: Sequence[str]) -> str:
    framework, setting, method = arm
    if framework == "catboost":
        return f"{method}, CatBoost"
    method = LAMBDAMART[framework] if method == "LambdaMART" else method
    return f"{method}, {FRAMEWORK_TITLES[framework]}" + ("" if setting == DEFAULT else f", {setting}")


def _pooled_settings(rows: Sequence[Row]) -> list[str]:
    """Return each setting beside the default, pooled over the sets, by method."""
    methods = (_BOTH, *LOSSES, "LambdaMART")
    by = {(row["framework"], row["setting"], row["method"]): row["pooled"] for row in rows}
    body = []
    for framework, setting in dict.fromkeys((row["framework"], row["setting"]) for row in rows):
        own = [by[framework, setting, method] for method in methods]
        body.append([f"{FRAMEWORK_TITLES[framework]}, {setting}", _z(own[0]), *map(_interval, own)])
    return markdown(["setting", "z", *methods], body, numbers=True)


def _on_sets(rows: Mapping[str, Row]) -> list[str]:
    """Return differences on each set by the names of their rows; bold: significant after Holm's correction."""
    body = []
    for name, row in rows.items():
        p = p_of_sets({data: Estimate(*row["sets"][data]) for data in DATA_SETS})
        body.append([name, *(_interval(row["sets"][data], p_holm=p[data]) for data in DATA_SETS)])
    return markdown(["", *(SETS[data].title for data in DATA_SETS)], body, numbers=True)


def _by_setting(rows: Sequence[Row]) -> dict[str, Row]:
    return {f"{row['setting']}: {row['method']}": row for row in rows}


def _beside_peer(rows: Sequence[Row], method: str) -> dict[str, Row]:
    """Return the rows of our losses beside a peer; beside LambdaMART: that of their framework."""
    found = {}
    for row in rows:
        framework, _, own = row["arm"]
        other, _, peer = row["beside"]
        if own in LOSSES and peer == method and other in (framework, "catboost"):
            found[_name(row["arm"])] = row
    return found


def _beside(rows: Sequence[Row]) -> list[str]:
    """Return each arm beside LambdaMART with default trees and CatBoost's two, pooled."""
    by = {(tuple(row["arm"]), tuple(row["beside"])): row["pooled"] for row in rows}
    body = []
    for arm in dict.fromkeys(tuple(row["arm"]) for row in rows):
        cells = (by.get((arm, tuple(peer))) for peer in _PEERS)
        body.append([_name(arm), *("–" if own is None else f"{_interval(own)}, z {_z(own)}" for own in cells)])
    return markdown(["", *(f"beside {_name(peer)}" for peer in _PEERS)], body, numbers=True)


def _times(rows: Sequence[Row]) -> list[str]:
    """Return the seconds to the best round on each set, and their geometric mean beside lambdarank's."""
    by: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        by.setdefault(tuple(row["arm"]), {})[row["set"]] = row
    base = by[tuple(Arm("lightgbm", DEFAULT, "LambdaMART"))]
    body = []
    for arm, own in by.items():
        ratio = float(np.exp(np.mean([np.log(own[data]["seconds"] / base[data]["seconds"]) for data in DATA_SETS])))
        cells = (f"{own[data]['seconds']:.2f} ({own[data]['rounds']})" for data in DATA_SETS)
        body.append([_name(arm), f"{ratio:.2f}", *cells])
    return markdown(["", "of lambdarank's", *(SETS[data].title for data in DATA_SETS)], body, numbers=True)


def _curves(rows: Sequence[Row]) -> list[str]:
    """Return NDCG@10 by the number of documents trained on."""
    by: dict[tuple[str, ...], dict[int, Row]] = {}
    for row in rows:
        by.setdefault(tuple(row["arm"]), {})[row["documents"]] = row
    sizes = sorted({row["documents"] for row in rows})
    body = [
        [_name(arm), *(f"{decimals(own[size]['NDCG@10'])} ({own[size]['rounds']})" for size in sizes)]
        for arm, own in by.items()
    ]
    return markdown(["", *(f"{size:,}" for size in sizes)], body, numbers=True)
