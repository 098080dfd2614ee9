"""Invisible characters are shown wherever people read."""

import pytest

from boostplug.core.text import visible

HIDDEN = "\u202e\u2066\u2069\u200e\u200f\u061c\u200b\ufeff\x1b\r\x9b\u2028"


@pytest.mark.parametrize("character", HIDDEN, ids=ascii)
def test_hidden_characters_are_escaped(character):
    shown_as = character.encode("unicode_escape").decode()
    assert visible(f"a{character}b") == f"a{shown_as}b"
    assert visible({f"a{character}": [f"{character}", 1.5, None]}) == {f"a{shown_as}": [shown_as, 1.5, None]}


def test_what_is_seen_stays():
    text = "Größe ≥ 5 °C, 日本語, שלום 🙂\n\tnext\xa0line"
    assert visible(text) is text or visible(text) == text
