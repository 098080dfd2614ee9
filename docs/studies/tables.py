"""Elements of the studies' pages: tables filled in, numbers in words, and differences with intervals."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.summary import as_json, to_json
from boostplug.core.files import write_file
from studies.bootstrap import bootstrap_interval
from studies.documents import filled
from studies.drawing import COLOURS, DASHES, MARKERS

FRAMEWORK_TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}

Floats = NDArray[np.float64]


def markdown(head: Sequence[str], body: Sequence[Sequence[str]], *, numbers: bool = False) -> list[str]:
    """Return the lines of a Markdown table and a blank line, or nothing without rows.

    With `numbers` all columns except the first are aligned right.
    """
    rule = "|---|" + ("---:|" if numbers else "---|") * (len(head) - 1)
    lines = [f"| {' | '.join(cells)} |" for cells in body]
    return [f"| {' | '.join(head)} |", rule, *lines, ""] if lines else []


def _five_decimals(value: float) -> float:
    return round(value, 5)


def rounded(value: Any, digits: Callable[[float], float] = _five_decimals) -> Any:
    """Return a document with `digits` applied to its numbers."""
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    return digits(value) if isinstance(value, float) else value


def fill(page: Path, tables: Mapping[str, Sequence[str]]) -> None:
    """Write a page anew with the tables that it marks: ``<!-- table: NAME -->`` to ``<!-- end -->``."""
    marked = {f"table: {name}": lines for name, lines in tables.items()}
    write_file(page, filled(page.read_text(encoding="utf-8"), marked))


def publish(found: Any, result: str, page: str, tables: Callable[[Any], Mapping[str, Sequence[str]]]) -> Any:
    """Store the numbers of a study, fill its page from them, and return them as they are stored."""
    stored = to_json(rounded(found), finite=True)
    write_file(Path(result), as_json(stored))
    fill(Path(page), tables(stored))
    return stored


class Estimate(NamedTuple):
    """A mean over queries, its number of standard errors from 0, and the number of queries."""

    mean: float
    z: float
    n: int


def estimated(values: Floats) -> Estimate:
    """Return the mean of the values that are not NaN, with its number of standard errors."""
    known = values[~np.isnan(values)]
    return Estimate(float(known.mean()), float(known.mean() / known.std() * np.sqrt(len(known))), len(known))


def with_z(stored: Sequence[float] | None) -> str:
    """Return an estimate as a cell of a table: bold from three standard errors on, – for none."""
    if stored is None:
        return "–"
    text = f"{decimals(stored[0], 4, '+')} ({decimals(stored[1], 1)})"
    return f"**{text}**" if abs(stored[1]) >= 3.0 else text


def decimals(value: float | None, digits: int = 4, sign: Literal["", "+"] = "") -> str:
    """Return a number without the zero before its point; – for none."""
    if value is None:
        return "–"
    return re.sub(r"^([+−]?)0\.", r"\1.", f"{value:{sign}.{digits}f}".replace("-", "−"))


def with_error(found: Sequence[float]) -> str:
    """Return a mean and its standard error as a cell of a table."""
    return f"{decimals(found[0], 4, '+')} ± {decimals(found[1], 4)}"


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
