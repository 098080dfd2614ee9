"""Tables of a replication, for a page and for a terminal."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def markdown(head: Sequence[str], body: Sequence[Sequence[str]], *, numbers: bool = False) -> list[str]:
    """Return a table and a blank line, nothing without rows; columns but the first stand to the right if `numbers`."""
    rule = "|---|" + ("---:|" if numbers else "---|") * (len(head) - 1)
    lines = [f"| {' | '.join(cells)} |" for cells in body]
    return [f"| {' | '.join(head)} |", rule, *lines, ""] if lines else []


def rich_table(head: Sequence[str], rows: Iterable[Iterable[str]], *, dim: str = "") -> "Table":
    """Return a table of numbers for a terminal; rows whose name ends with `dim` are shown faintly."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(head):
        table.add_column(name, justify="right" if i else "left")
    for row in rows:
        name, *cells = row
        table.add_row(name, *cells, style="dim" if dim and name.endswith(dim) else None)
    return table


def _five_decimals(value: float) -> float:
    return round(value, 5)


def rounded(value: Any, digits: Callable[[float], float] = _five_decimals) -> Any:
    """Return a document with its numbers as `digits` returns them."""
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    return digits(value) if isinstance(value, float) else value
