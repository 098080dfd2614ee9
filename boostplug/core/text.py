"""Escaping of invisible characters in texts."""

import unicodedata
from typing import Any

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # Unicode's categories of controls, formats, surrogates and line separators


def visible(value: Any) -> Any:
    r"""Return a text with its invisible characters escaped, such as ``\u202e``. Tabs and line feeds stay.

    Such characters may change the direction of the text around them, hide it, or control a terminal. In a dictionary,
    list or tuple, all texts are escaped; other values are returned unchanged.
    """
    if isinstance(value, str):
        return value if value.isprintable() else "".join(map(_visible_character, value))
    if isinstance(value, dict):
        return {visible(key): visible(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [visible(item) for item in value]
    return value


def _visible_character(character: str) -> str:
    hidden = character not in "\t\n" and unicodedata.category(character) in _HIDDEN
    return character.encode("unicode_escape").decode() if hidden else character
