"""Elements of the studies' pages: tables filled in, numbers in words, and differences with intervals."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.document import filled
from boostplug.comparison.report.drawing import COLOURS, DASHES, MARKERS
from boostplug.core.files import write_file
from studies.bootstrap import bootstrap_interval

FRAMEWORK_TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}

Floats = NDArray[np.float64]


def fill(page: Path, tables: Mapping[str, Sequence[str]]) -> None:
    """Write a page anew with the tables that it marks: ``<!-- table: NAME -->`` to ``<!-- end -->``."""
    marked = {f"table: {name}": lines for name, lines in tables.items()}
    write_file(page, filled(page.read_text(encoding="utf-8"), marked))


def decimals(value: float | None, digits: int = 4, sign: Literal["", "+"] = "") -> str:
    """Return a number without the zero before its point; – for none."""
    if value is None:
        return "–"
    return re.sub(r"^([+−]?)0\.", r"\1.", f"{value:{sign}.{digits}f}".replace("-", "−"))


def with_interval(mean: float, interval: Sequence[float], digits: int = 4, *, p_holm: float | None = None) -> str:
    """Return a difference with the ends of its interval; bold where it is significant after Holm's correction."""
    low, high = (decimals(end, digits, "+") for end in interval)
    text = f"{decimals(mean, 4, '+')} [{low}, {high}]"
    return f"**{text}**" if p_holm is not None and p_holm < 0.05 else text


def difference(ours: Sequence[Floats], theirs: Sequence[Floats]) -> tuple[float, tuple[float, float]]:
    """Return the mean difference over queries, and its 95 % interval; values are by fold, queries drawn within it."""
    gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
    folds = np.repeat(np.arange(len(gaps)), [len(gap) for gap in gaps])
    gap = np.concatenate(gaps)
    return float(np.nanmean(gap)), bootstrap_interval(gap, strata=folds)


def line_style(number: int) -> dict[str, str]:
    """Return colour, marker and dash of the line of some number: no two alike among the first 28."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number // len(COLOURS) % len(DASHES)],
    }
