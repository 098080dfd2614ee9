"""Order against calibration: NDCG@10 beside log loss and ECE, for losses whose scores are probabilities and others.

``python -m studies.calibrated_ranking DATA RESULT.json PAGE.md`` trains in some minutes, fills the table of
the page, and draws a figure beside it. DATA is the folder that holds the data sets.
"""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from boostplug.losses import CRR, CalibratedSoftmax, LogisticError, Loss, QBRank
from boostplug.metrics import ECE, NDCG, LogLoss
from studies.drawing import drawn
from studies.quality.sets import SETS
from studies.tables import decimals, line_style, markdown, publish
from studies.trainings import trainings

__all__ = ["draw", "main", "measured", "tables"]

Floats = NDArray[np.float64]

_SETS = {"yandex": 4.0, "mslr": 4.0, "nfcorpus": 3.0}  # with the top of their labels
_FOLDS = 2
_MEASURES = ("NDCG@10", "LogLoss", "ECE")


def methods(top: float) -> dict[str, Loss | str]:
    """Return what is compared on labels from 0 to `top`."""
    softmax = {f"CalibratedSoftmax({w:g})": CalibratedSoftmax(list_weight=w, max_grade=top) for w in (0.5, 0.9, 0.99)}
    return {
        "lambdarank": "lambdarank",
        "regression": "regression",
        "QBRank": QBRank(),
        "CRR": CRR(),
        "LogisticError": LogisticError(max_grade=top),
        **softmax,
        "CRR with LogisticError": CRR(label_loss=LogisticError(max_grade=top)),
    }


def measured(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the measures of each method on a set, as they are and after an isotonic step, the mean over runs."""
    top, found = _SETS[name], dict[str, list[list[float]]]()
    for fold in range(_FOLDS):
        parts = SETS[name].load(folder, fold)
        valid, test = (part.queries for part in parts[1:])
        for done in trainings(parts, methods(top), NDCG(10)):
            assert done.watch.scores is not None
            step = IsotonicRegression(y_min=1e-6, y_max=1.0 - 1e-6, out_of_bounds="clip")
            step.fit(done.watch.scores, valid.labels / top)
            both = _probabilities(done.method, done.scores, top), _logit(step.predict(done.scores))
            of_labels = [metric(p, test) for p in both for metric in (LogLoss(top), ECE(max_grade=top))]
            found.setdefault(done.method, []).append([NDCG(10)(done.scores, test), *of_labels])
    rows = []
    for method, runs in found.items():
        means = dict(zip((*_MEASURES, "LogLoss, isotonic", "ECE, isotonic"), np.mean(runs, axis=0), strict=True))
        rows.append({"set": name, "method": method, **means})
    return rows


def _probabilities(method: str, scores: Floats, top: float) -> Floats:
    """Return logits: of regressions, whose scores are labels, those of label / max_grade."""
    return _logit(np.clip(scores / top, 1e-3, 1.0 - 1e-3)) if method in {"regression", "CRR", "QBRank"} else scores


def _logit(p: Floats) -> Floats:
    values: Floats = np.log(p / (1.0 - p))
    return values


def tables(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the page's table; bold: no other method is better in NDCG@10 and in log loss on the set."""
    of_set = {name: {row["method"]: row for row in rows if row["set"] == name} for name in _SETS}
    body = []
    for method in of_set["yandex"]:
        cells = []
        for own in of_set.values():
            mark = "**" if _is_on_front(own[method], [*own.values()]) else ""
            cells += [f"{mark}{decimals(own[method][measure])}{mark}" for measure in ("NDCG@10", "LogLoss")]
        body.append([method, *cells])
    head = [f"{SETS[name].title}, {measure}" for name in _SETS for measure in ("NDCG@10", "log loss")]
    return {"sets": markdown(["loss", *head], body, numbers=True)}


def _is_on_front(row: Mapping[str, Any], rows: list[dict[str, Any]]) -> bool:
    return not any(
        other["NDCG@10"] >= row["NDCG@10"] and other["LogLoss"] <= row["LogLoss"] and other is not row for other in rows
    )


def _plot(rows: list[dict[str, Any]], axes: Any) -> None:
    shown = [row for row in rows if row["method"] != "lambdarank"]  # far to the right: its scores are no probabilities
    for i, row in enumerate(shown):
        axes.plot([row["LogLoss"]], [row["NDCG@10"]], label=row["method"], **line_style(i) | {"linestyle": ""})
    axes.set_xlabel("log loss on test, lower is better")
    axes.set_ylabel("NDCG@10 on test")


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """Draw NDCG@10 against log loss on Yandex."""
    own = [row for row in rows if row["set"] == "yandex"]
    drawn(partial(_plot, own), f"{SETS['yandex'].title}: order against calibration", folder / "calibrated-yandex")


def main(folder: str, result: str, page: str) -> None:
    """Train, keep the figures, fill the page and draw."""
    rows = publish([row for name in _SETS for row in measured(Path(folder), name)], result, page, tables)
    draw(rows, Path(page).parent / "figures")


if __name__ == "__main__":
    main(*sys.argv[1:])
