"""Elements of HTML and SVG from Python values: text is escaped unless it is `Markup`, which only `el` makes.

Invisible characters of texts are shown escaped.
"""

from html import escape
from typing import TYPE_CHECKING, TypeAlias

from boostplug.core.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID = {"br", "input", "meta"}
_OF_SVG = {"circle", "line", "path", "polyline", "rect"}  # elements without an end tag


class Markup(str):
    """Complete markup, inserted into a page without escaping."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"


def text_of(child: Child) -> Markup:
    """Return children as markup, one after the other; other texts are escaped."""
    if child is None:
        return Markup()
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return Markup(escape(visible(child), quote=False))
    return Markup("".join(map(text_of, child)))


def el(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Return an element.

    Parameters
    ----------
    name : str
        The tag, and after a dot its classes: "span", "p.note", "li.row head".
    *children : str, Markup, iterable of these, None
        Strings are escaped.
    **attributes : str, number, bool or None
        A trailing underscore is dropped, others become hyphens (``class_``, ``aria_label``). None and False leave an
        attribute out, True writes only its name. Values are escaped.
    """
    tag, _, classes = name.partition(".")
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(visible(_attribute(value)))}"')
        for key, value in {"class": classes or None, **attributes}.items()
        if value is not None and value is not False
    )
    if tag in _VOID:
        return Markup(f"<{tag}{written}>")
    if tag in _OF_SVG and not children:
        return Markup(f"<{tag}{written}/>")
    return Markup(f"<{tag}{written}>{text_of(children)}</{tag}>")


def _attribute(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
