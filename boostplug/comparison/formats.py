"""Numbers as the report writes them. None and NaN are missing values."""

from collections.abc import Sequence

MISSING = "–"

Number = float | None


def is_missing(value: Number) -> bool:
    """Return whether there is no value."""
    return value is None or value != value  # noqa: PLR0124 (NaN)


def short(value: Number) -> str:
    """Return four decimals without a leading zero: ".4567"."""
    return MISSING if is_missing(value) else without_zero(f"{value:.4f}")


def signed(value: Number) -> str:
    """Return four decimals with their sign: "+.0123"."""
    return MISSING if value is None or is_missing(value) else without_zero(f"{round(value, 4) + 0.0:+.4f}")


def decimals(value: float, digits: int, sign: str = "") -> str:
    """Return a rounded number as "1,840" or ".25", with the sign "+" as "+.25"."""
    return without_zero(f"{round(value, digits) + 0.0:{sign},.{digits}f}")


def interval(ends: Sequence[Number] | None) -> str:
    """Return the ends of an interval in brackets, or an empty text if they are unknown, as with one query."""
    return f"[{', '.join(map(signed, ends))}]" if ends and not any(map(is_missing, ends)) else ""


def probability(value: Number) -> str:
    """Return three decimals: ".012", or "<.001"."""
    if value is None or is_missing(value):
        return MISSING
    return "<.001" if value < 0.0005 else without_zero(f"{value:.3f}")


def without_zero(number: str) -> str:
    """Return a number's text without the zero before its point."""
    sign = number[:1] if number[:1] in "+-" else ""
    return sign + number.removeprefix(sign).removeprefix("0") if "." in number else number


def value(value: object) -> str:
    """Return a value of the data: a number with six digits, or the start of a text."""
    if value is None or value != value:  # noqa: PLR0124 (NaN)
        return MISSING
    return shortened(f"{value:.6g}" if isinstance(value, float) else str(value), 24)


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters, the last one "…" if it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: "1 seed", "2 seeds"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"
